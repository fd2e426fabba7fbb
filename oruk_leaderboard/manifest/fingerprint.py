"""What identifies the recording of a clip, computed from a user's file: the columns that ``manifest pin`` fills."""

from collections.abc import Iterator, Mapping
from typing import Any

from oruk_leaderboard.audio import open_recording, pcm_digest, render, source_digest
from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora import FoundCorpus, Root
from oruk_leaderboard.corpora.suffixes import LOSSY, suffix_of
from oruk_leaderboard.manifest.rows import ManifestRow

TEXTS = ("source_sha256", "pcm_sha256", "clip_sha256")
"""Columns with a digest: of the file, of its samples, of the rebuilt clip."""

NUMBERS = ("source_bytes", "num_samples", "sampling_rate", "channels", "clip_num_samples")
"""Columns with a count that goes with a digest."""


def fingerprint(root: Root, clip: Clip) -> dict[str, Any]:
    """Columns of one clip.

    Raises:
        AudioError: The recording cannot be decoded.
        MissingExtraError: A video container, and PyAV is not installed.
        OSError: The file cannot be read.
    """
    return dict(_columns(root, clip))


def _columns(root: Root, clip: Clip) -> Iterator[tuple[str, Any]]:
    with root.open(clip.media) as file:
        yield from zip(("source_sha256", "source_bytes"), source_digest(file), strict=True)
        if suffix_of(clip.media) in LOSSY:
            # Decoders of lossy formats differ by one step, so their samples identify nothing; the header does.
            with open_recording(file) as recording:
                yield from (("sampling_rate", recording.rate), ("channels", recording.channels))
            return
        pcm = pcm_digest(file)
        yield from (("pcm_sha256", pcm.pcm_sha256), ("num_samples", pcm.num_samples))
        yield from (("sampling_rate", pcm.sampling_rate), ("channels", pcm.channels))
        rendered = render(file, start_s=clip.start_s, end_s=clip.end_s, channel=clip.channel)
        yield from (("clip_sha256", rendered.clip_sha256), ("clip_num_samples", len(rendered.samples)))


def other_container(corpus: FoundCorpus, row: ManifestRow, media: str) -> str | None:
    """Why a file cannot identify the release's recording, or None: it is a copy in another container."""
    # Only corpora that are recognised by file names have rows without a path, and those name their suffix.
    official = suffix_of(row.media) if row.media else corpus.spec.files[0].suffixes[0]
    found = suffix_of(media)
    return f"not pinned: a {found} copy, and the release has {official}" if found != official else None


def added(row: ManifestRow, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that the row lacks."""
    return {column: value for column, value in columns.items() if getattr(row, column) is None}


def conflicts(row: ManifestRow, columns: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Column to the row's value and the given one, where the two differ."""
    pairs = {column: (getattr(row, column), value) for column, value in columns.items()}
    return {column: pair for column, pair in pairs.items() if pair[0] not in (None, pair[1])}
