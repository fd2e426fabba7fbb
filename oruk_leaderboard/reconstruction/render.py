"""What a worker does: from jobs to the FLAC bytes of their clips, and never an exception for a bad recording."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from oruk_leaderboard.audio import (
    Recording,
    Rendered,
    encode_flac,
    open_recording,
    render_recording,
    source_digest,
    versions,
)
from oruk_leaderboard.classes import MAX_SAMPLES, SAMPLE_RATE
from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora import Root
from oruk_leaderboard.errors import AudioError, MissingExtraError
from oruk_leaderboard.manifest.check import DIFFERS, MISSING, UNPINNED

FAILED = "failed"
"""State of a clip whose recording is there, is not pinned, and cannot be turned into a clip."""

_LONG_BYTES = 16 << 20
"""Bytes from which a recording's digest is kept for the next segment of it."""

_USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "WAV": (".wav", ".wave"),
    "WAVEX": (".wav", ".wave"),
    "RF64": (".wav", ".rf64"),
    "NIST": (".sph", ".wav", ".nist", ".wv1", ".wv2"),
    "FLAC": (".flac",),
    "OGG": (".ogg", ".oga", ".opus"),
    "MP3": (".mp3",),
    "AIFF": (".aiff", ".aif", ".aifc"),
    "AU": (".au", ".snd"),
    "MOV": (".mp4", ".m4a", ".mov", ".3gp"),
    "MATROSKA": (".webm", ".mkv", ".mka"),
    "AVI": (".avi",),
    "FLV": (".flv",),
}


@dataclass(frozen=True, slots=True)
class Job:
    """One clip to render.

    Attributes:
        clip: The clip, with the label it gets in the set.
        root: Location of the corpora root that ``clip.media`` is below.
        state: What validation found: ``exact``, ``same-audio`` or ``unpinned``.
        source_sha256: What the file must be, or None where it is not pinned.
        clip_sha256: What the clip must be, or None where it is not pinned.
        known_source: Source of a clip that an earlier run made and that may be taken over, or None.
    """

    clip: Clip
    root: str
    state: str = UNPINNED
    source_sha256: str | None = None
    clip_sha256: str | None = None
    known_source: str | None = None

    def part(self) -> tuple[float | None, float | None, int | None]:
        """Which part of the recording: start, end, channel."""
        return self.clip.start_s, self.clip.end_s, self.clip.channel


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job.

    Attributes:
        state: The job's state, or ``failed``, ``differs`` or ``missing`` where there is no clip.
        reason: Why there is no clip, or what is odd about it.
        source_sha256: Of the recording as it was read.
        clip_sha256: Of the samples; None where there is no clip.
        num_samples: At 16 kHz.
        audio: FLAC file; None where there is no clip, or where it is reused.
        reused: The clip that an earlier run made is still right.
    """

    state: str
    reason: str | None = None
    source_sha256: str | None = None
    clip_sha256: str | None = None
    num_samples: int = 0
    audio: bytes | None = None
    reused: bool = False


class Renderer:
    """Renders jobs from the roots of one run; safe to use from several threads."""

    def __init__(self, open_root: Callable[[str], Root]) -> None:
        self._open_root = open_root
        self._digests: dict[tuple[str, str, int | None], str] = {}
        self._lock = Lock()

    def __call__(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Outcomes in the order of the jobs; a recording is opened once for all its segments."""
        by_recording: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for index, job in enumerate(jobs):
            by_recording[job.root, job.clip.media].append(index)
        outcomes: list[Outcome] = [Outcome(FAILED)] * len(jobs)
        for (root, media), indices in by_recording.items():
            try:
                found = self._recording(self._open_root(root), media, [jobs[index] for index in indices])
            except FileNotFoundError:
                found = [Outcome(MISSING, "the file went away during the run")] * len(indices)
            except OSError as error:
                found = [_failure(jobs[index], f"unreadable: {error.strerror or error}") for index in indices]
            for index, outcome in zip(indices, found, strict=True):
                outcomes[index] = outcome
        return outcomes

    def _recording(self, root: Root, media: str, jobs: Sequence[Job]) -> list[Outcome]:
        with ExitStack() as stack:
            path = root.local_path(media)
            file: Path | BinaryIO = path if path is not None else stack.enter_context(root.open(media))
            source = self._digest(root, media, file)
            opened: list[Recording] = []
            outcomes = []
            for job in jobs:
                if job.source_sha256 not in (None, source):
                    outcomes.append(Outcome(DIFFERS, "changed during the run", source))
                elif job.known_source == source:
                    outcomes.append(Outcome(job.state, source_sha256=source, reused=True))
                else:
                    outcomes.append(self._clip(job, file, source, opened, stack))
            return outcomes

    def _digest(self, root: Root, media: str, file: Path | BinaryIO) -> str:
        # A long recording is read by many jobs and hashed once.
        key = root.location, media, root.size(media)
        known = self._digests.get(key)
        if known is None:
            known, size = source_digest(file)
            if size > _LONG_BYTES:
                with self._lock:
                    self._digests[key] = known
        return known

    def _clip(self, job: Job, file: Path | BinaryIO, source: str, opened: list[Recording], stack: ExitStack) -> Outcome:
        try:
            if not opened:
                opened.append(stack.enter_context(open_recording(file)))
            start, end, channel = job.part()
            rendered = render_recording(opened[0], start_s=start, end_s=end, channel=channel)
        except AudioError as error:
            return _failure(job, f"{error.reason}: {error}", source)
        except MissingExtraError as error:
            return _failure(job, str(error), source)
        if job.clip_sha256 not in (None, rendered.clip_sha256) and rendered.lossless:
            tools = ", ".join(f"{name} {version}" for name, version in versions().items())
            return Outcome(DIFFERS, f"the rebuilt clip is not the pinned one, with {tools}", source)
        if _is_clip_already(job, opened[0]):
            with self._open_root(job.root).open(job.clip.media) as same:
                audio = same.read()
        else:
            audio = encode_flac(rendered.samples)
        reason = _odd(job, opened[0], rendered)
        return Outcome(job.state, reason, source, rendered.clip_sha256, len(rendered.samples), audio)


def _failure(job: Job, reason: str, source: str | None = None) -> Outcome:
    return Outcome(FAILED if job.source_sha256 is None else DIFFERS, reason, source)


def _is_clip_already(job: Job, recording: Recording) -> bool:
    """Whether the file is what would be encoded from it: 16 kHz mono 16-bit FLAC of at most 16 s."""
    return (
        job.part() == (None, None, None)
        and (recording.container, recording.subtype) == ("FLAC", "PCM_16")
        and (recording.rate, recording.channels) == (SAMPLE_RATE, 1)
        and recording.frames is not None
        and recording.frames <= MAX_SAMPLES
    )


def _odd(job: Job, recording: Recording, rendered: Rendered) -> str | None:
    """What a user should know of an unpinned clip; a pinned one is what it is by the manifest's choice."""
    if job.state != UNPINNED:
        return None
    odd = list(rendered.notes)
    suffix = Path(job.clip.media).suffix.lower()
    if suffix not in _USUAL_NAMES.get(recording.container, (suffix,)):
        odd.append(f"wrong-extension: {recording.container} in a {suffix or 'nameless'} file")
    return "; ".join(odd) or None
