"""One file against its pinned row: which state it is in, and why; reads no more of the file than the answer needs."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from oruk_leaderboard.corpora.roots import Root, is_lfs_pointer
from oruk_leaderboard.errors import AudioError, MissingExtraError
from oruk_leaderboard.manifest.rows import ManifestRow

if TYPE_CHECKING:
    from oruk_leaderboard.audio import PcmDigest

EXACT, SAME_AUDIO, UNPINNED, DIFFERS, MISSING, EXTRA = "exact", "same-audio", "unpinned", "differs", "missing", "extra"
STATES = (EXACT, SAME_AUDIO, UNPINNED, DIFFERS, MISSING, EXTRA)
"""States of a clip or file. Of several files for one clip the one whose state comes first here is taken."""

_HEADER_BYTES = 44
"""Smallest header of a recording (WAV); a shorter file is the rest of one."""


class FileFacts:
    """What is known of a file; every fact is read when it is first asked for, and once.

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


class Pins:
    """The pinned files of one corpus by content: tells whose content a file holds."""

    def __init__(self, rows: Iterable[ManifestRow]) -> None:
        pinned = [row for row in rows if row.source_sha256 is not None]
        self._sizes = {row.source_bytes for row in pinned}
        self._ids: Mapping[str | None, str] = {row.source_sha256: row.clip_id for row in reversed(pinned)}

    def clip_of(self, file: FileFacts) -> str | None:
        """Clip whose pinned file has this content; only a file of a pinned size is hashed."""
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
        return UNPINNED, None
    if file.size == row.source_bytes and file.sha256() == row.source_sha256:
        return EXACT, None
    if (other := pins.clip_of(file)) is not None:
        return DIFFERS, f"content of {other}"
    return _check_audio(row, file)


def _check_audio(row: ManifestRow, file: FileFacts) -> tuple[str, str | None]:
    """The bytes differ: the same sound in another file, or how the sound differs where sample counts are pinned."""
    if row.pcm_sha256 is None:
        return DIFFERS, "changed"
    if file.size is not None and file.size < _HEADER_BYTES:
        return DIFFERS, "truncated"
    same_size = file.size == row.source_bytes
    try:
        found = file.pcm()
    except AudioError as error:
        return DIFFERS, "changed" if same_size else error.reason
    except MissingExtraError as error:
        return DIFFERS, f"changed; {error}"
    if (found.pcm_sha256, found.channels, found.sampling_rate) == (row.pcm_sha256, row.channels, row.sampling_rate):
        return SAME_AUDIO, None
    if same_size:
        # A damaged header can tell any rate or length; the file itself was neither resampled nor cut.
        return DIFFERS, "changed"
    if found.sampling_rate != row.sampling_rate:
        return DIFFERS, "resampled"
    if row.num_samples is not None and found.num_samples < row.num_samples:
        return DIFFERS, "truncated"
    return DIFFERS, "changed"
