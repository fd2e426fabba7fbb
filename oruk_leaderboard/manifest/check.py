"""One file against its pinned row: which state it is in, and why. Reads no more of the file than the answer needs."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from oruk_leaderboard.corpora.roots import Root, is_lfs_pointer
from oruk_leaderboard.corpora.suffixes import LOSSY, suffix_of
from oruk_leaderboard.errors import AudioError, MissingExtraError
from oruk_leaderboard.manifest.rows import ManifestRow

if TYPE_CHECKING:
    from oruk_leaderboard.audio import PcmDigest

EXACT, SAME_AUDIO, UNPINNED, DIFFERS, MISSING, EXTRA = "exact", "same-audio", "unpinned", "differs", "missing", "extra"
STATES = (EXACT, SAME_AUDIO, UNPINNED, DIFFERS, MISSING, EXTRA)
"""States of a clip or file. Of several files for one clip, the one whose state comes first here is used."""

_HEADER_BYTES = 44
"""Size of the smallest header of a recording (WAV); a shorter file has been cut."""

_SLACK_S, _LOSSY_SLACK_S = 0.02, 0.2
"""Seconds by which a length may differ that a list or a resampler rounded, or that a lossy encoder padded."""

_DEEP_BYTES = 2.5
"""Bytes per sample above which a pinned uncompressed file has more than 16 bits per sample."""


class FileFacts:
    """What is known about a file. Every fact is read once, when it is first needed.

    One thread works on one file, so no lock is needed (``functools.cached_property`` of Python 3.11 holds one for all
    files, which would make hashing serial).
    """

    def __init__(self, root: Root, media: str) -> None:
        self.root, self.media = root, media
        self._size: int | None = None
        self._sha256: str | None = None
        self._pcm: PcmDigest | None = None

    @property
    def size(self) -> int | None:
        """Bytes, or None on a listing."""
        if self._size is None:
            self._size = self.root.size(self.media)
        return self._size

    def is_pointer(self) -> bool:
        """Whether the file is a Git LFS pointer."""
        return is_lfs_pointer(self.root, self.media, self.size)

    def sha256(self) -> str:
        """sha256 of the bytes."""
        if self._sha256 is None:
            from oruk_leaderboard.audio import source_digest

            path = self.root.local_path(self.media)
            if path is not None:
                self._sha256 = source_digest(path)[0]
            else:
                with self.root.open(self.media) as file:
                    self._sha256 = source_digest(file)[0]
        return self._sha256

    def pcm(self) -> "PcmDigest":
        """Digest of the decoded samples, their number, rate and channels."""
        if self._pcm is None:
            from oruk_leaderboard.audio import pcm_digest

            with self.root.open(self.media) as file:
                self._pcm = pcm_digest(file)
        return self._pcm

    def clip_sha256(self, row: ManifestRow) -> str:
        """Digest of the clip that would be rebuilt from this file for a row."""
        from oruk_leaderboard.audio import render

        with self.root.open(self.media) as file:
            return render(file, start_s=row.start_s, end_s=row.end_s).clip_sha256


class Pins:
    """The pinned files of one corpus by content."""

    def __init__(self, rows: Iterable[ManifestRow]) -> None:
        pinned = [row for row in rows if row.source_sha256 is not None]
        self._sizes = {row.source_bytes for row in pinned}
        self._ids: Mapping[str | None, str] = {row.source_sha256: row.clip_id for row in reversed(pinned)}

    def clip_of(self, file: FileFacts) -> str | None:
        """Clip whose pinned file has this content, or None. Only a file of a pinned size is hashed."""
        return self._ids.get(file.sha256()) if file.size in self._sizes else None


def check(row: ManifestRow, file: FileFacts, pins: Pins) -> tuple[str, str | None]:
    """State of the file that a corpus copy has for a clip, and the reason where it is not simply right.

    Args:
        row: The clip's row in the manifest.
        file: The file of that clip in the user's copy.
        pins: Pinned files of the corpus.
    """
    try:
        return _check(row, file, pins)
    except OSError as error:
        return DIFFERS, f"unreadable: {error.strerror or error}"


def _check(row: ManifestRow, file: FileFacts, pins: Pins) -> tuple[str, str | None]:
    if file.size is None:
        return UNPINNED, "a listing has names only"
    if file.size == 0:
        return DIFFERS, "empty"
    if file.is_pointer():
        return DIFFERS, "lfs-pointer"
    if row.source_sha256 is None:
        return UNPINNED, _lossy_copy(row, suffix_of(file.media))
    if file.size == row.source_bytes and file.sha256() == row.source_sha256:
        return EXACT, None
    if (other := pins.clip_of(file)) is not None:
        return DIFFERS, f"content of {other}"
    return _check_audio(row, file)


def _lossy_copy(row: ManifestRow, suffix: str) -> str | None:
    official = suffix_of(row.media or "")
    return f"lossy copy ({suffix})" if official and suffix in LOSSY and official not in LOSSY else None


def _check_audio(row: ManifestRow, file: FileFacts) -> tuple[str, str | None]:
    """State of a file that is not the pinned one byte for byte: the same sound in another file, or how it differs."""
    if file.size is not None and file.size < _HEADER_BYTES:
        return DIFFERS, "truncated"
    same_size = file.size == row.source_bytes
    try:
        found = file.pcm()
        if (found.pcm_sha256, found.channels, found.sampling_rate) == (row.pcm_sha256, row.channels, row.sampling_rate):
            return _same_samples(row, file)
        # A damaged header can state any rate or length; a file of the pinned size was neither resampled nor cut.
        return (DIFFERS, "changed") if same_size else _other_samples(row, file, found)
    except AudioError as error:
        return DIFFERS, "changed" if same_size else error.reason
    except MissingExtraError as error:
        return DIFFERS, f"changed; {error}"


def _same_samples(row: ManifestRow, file: FileFacts) -> tuple[str, str | None]:
    # The pinned digest is of 16-bit samples: a copy of a deeper recording can agree with it and still be rounded.
    size, count = row.source_bytes or 0, (row.num_samples or 0) * (row.channels or 0)
    if row.clip_sha256 is not None and size > _DEEP_BYTES * count and file.clip_sha256(row) != row.clip_sha256:
        return DIFFERS, "rounded to 16 bits"
    return SAME_AUDIO, None


def _other_samples(row: ManifestRow, file: FileFacts, found: "PcmDigest") -> tuple[str, str | None]:
    official = suffix_of(row.media or ".wav")
    if not found.lossless and official not in LOSSY:
        return DIFFERS, _joined(f"lossy copy ({found.container})", _other_length(row, found, slack_s=_LOSSY_SLACK_S))
    length = _other_length(row, found, slack_s=_SLACK_S)
    if row.sampling_rate not in (None, found.sampling_rate):
        return DIFFERS, _joined("resampled", length)
    if row.channels not in (None, found.channels):
        copy = {1: "mono copy", 2: "stereo copy"}.get(found.channels, f"copy with {found.channels} channels")
        same = row.clip_sha256 is not None and file.clip_sha256(row) == row.clip_sha256
        return (SAME_AUDIO, copy) if same else (DIFFERS, _joined(copy, length))
    if row.pcm_sha256 is None and not length and row.duration_s is not None:
        # The length is right and the size is not: with the same container the rate, or the depth, is another one.
        other = suffix_of(file.media) != official
        return DIFFERS, f"{found.container} copy; only the file is pinned" if other else "resampled"
    return DIFFERS, length or "changed"


def _other_length(row: ManifestRow, found: "PcmDigest", *, slack_s: float) -> str:
    """By how much a recording is cut or padded; empty where its length is right or the right one is not known."""
    length_s = found.num_samples / found.sampling_rate
    if row.num_samples is not None and row.sampling_rate is not None:
        pinned_s = row.num_samples / row.sampling_rate
        if row.sampling_rate == found.sampling_rate and found.lossless:
            slack_s = 0.0
    elif row.duration_s is not None and row.start_s is None:
        pinned_s = row.duration_s
    else:
        return ""
    if abs(length_s - pinned_s) <= slack_s:
        return ""
    verb, of = ("cut", "of") if length_s < pinned_s else ("padded", "from")
    if abs(length_s - pinned_s) < 0.01:
        return f"{verb} by {round(abs(length_s - pinned_s) * found.sampling_rate)} samples"
    return f"{verb} to {length_s:.2f} s {of} {pinned_s:.2f} s"


def _joined(*reasons: str) -> str:
    return ", ".join(filter(None, reasons))
