"""Recordings that libsndfile decodes: wav, flac, mp3, ogg, opus, aiff, sphere and more."""

import os
import re
from collections.abc import Iterator

import numpy as np
import soundfile

from oruk_leaderboard.audio.cuts import ogg_is_cut, video_is_cut
from oruk_leaderboard.audio.recording import Recording, Samples, bad_rate, cut_off, truncated, unreadable
from oruk_leaderboard.errors import AudioError

BLOCK_VALUES = 1 << 19
"""Values (frames times channels) read at once: bounds memory whatever a header claims."""

_UNKNOWN_FRAMES = 2**63 - 1
_STREAMED_BYTES = 0x7FFFF000  # writers to a pipe put this, or more, where the length belongs
_SHORT_DATA = re.compile(r"^\s*(?:data|SSND|Data Size|riff)\s*: (\d+) \(should be (\d+)\)", re.MULTILINE)
_WRONG_COUNT = re.compile(r"Calculated frame count \d+ does not match")
_SPHERE_COUNT = re.compile(rb"^sample_count -i (\d+)\s*$", re.MULTILINE)


def open_sndfile(descriptor: int, head: bytes) -> "SndfileRecording":
    """Open what libsndfile reads.

    Args:
        descriptor: Of the file; it stays the caller's to close.
        head: First bytes of the file.

    Raises:
        AudioError: libsndfile refuses the file; the reason is worked out from its first bytes.
    """
    try:
        return SndfileRecording(descriptor, head)
    except soundfile.LibsndfileError as error:
        raise _refused(error, descriptor, head) from error


class _Sequential(soundfile.SoundFile):  # type: ignore[misc]  # soundfile has no types
    """A file whose reads are not each followed by a seek.

    soundfile seeks to where it already is after every read; mpg123 then loses the frames that the next one builds on,
    so an mp3 read in two blocks differs from the same mp3 read in one.
    """

    def seekable(self) -> bool:
        """No, as far as soundfile's own book-keeping is concerned."""
        return False


class SndfileRecording(Recording):
    """A recording that libsndfile decodes."""

    def __init__(self, descriptor: int, head: bytes) -> None:
        self._descriptor = descriptor
        self._file, self._position = self._open(), 0
        self.rate, self.channels = self._file.samplerate, self._file.channels
        self.container, self.subtype = self._file.format, self._file.subtype
        self.frames = None if self._file.frames >= _UNKNOWN_FRAMES else self._file.frames
        self._check_length(head)

    def _open(self) -> _Sequential:
        # By descriptor: no guessing from the file's name, and no Python callback inside libsndfile, which would
        # swallow an exception (KeyboardInterrupt among them) and return too few samples.
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        file = _Sequential(self._descriptor, closefd=False)
        if file.format == "MP3":
            # mpg123's last float bit depends on whether it was ever told to seek; soundfile.read() always does.
            file.seek(0)
        return file

    def _check_length(self, head: bytes) -> None:
        """Compare what headers promise with what the file contains, where libsndfile corrects it without an error."""
        log = self._file.extra_info
        for promised, found in _SHORT_DATA.findall(log):
            if int(found) < int(promised) < _STREAMED_BYTES:
                raise AudioError(
                    "the recording is cut short",
                    reason="truncated",
                    expected=f"{promised} bytes by the header",
                    found=found,
                    do="get the file again",
                )
        if _WRONG_COUNT.search(log) or (self.container == "OGG" and ogg_is_cut(self._descriptor)):
            raise cut_off()
        sphere = _SPHERE_COUNT.search(head) if self.container == "NIST" else None
        if sphere and self.frames is not None and int(sphere[1]) > self.frames:
            raise truncated(int(sphere[1]), self.frames)

    def blocks(self, start: int, count: int | None) -> Iterator[Samples]:
        """As the base class says."""
        left = self.frames - start if self.frames is not None else None
        left = count if left is None else left if count is None else min(left, count)
        try:
            self._go_to(start)
            while left is None or left > 0:
                block = self._next(left)
                if not len(block):
                    break
                yield block
                left = None if left is None else left - len(block)
        except soundfile.LibsndfileError as error:
            raise unreadable(error.error_string) from error

    def _next(self, most: int | None) -> Samples:
        size = max(1, BLOCK_VALUES // self.channels)
        block: Samples = self._file.read(
            out=np.empty((size if most is None else min(size, most), self.channels), np.float32)
        )
        self._position += len(block)
        return block

    def _go_to(self, start: int) -> None:
        """Move to a frame so that the next one has the bits it has when everything before it is decoded too."""
        if start == self._position:
            return
        if self.container != "MP3":
            # Opus needs the packets before a frame to settle; one second is far more than enough.
            self._position = self._file.seek(max(0, start - self.rate) if self.container == "OGG" else start)
        elif start < self._position:
            self._file.close()
            self._file, self._position = self._open(), 0
        while self._position < start and len(self._next(start - self._position)):
            pass

    def close(self) -> None:
        """Close libsndfile's handle; the descriptor is the caller's."""
        self._file.close()


def _refused(error: soundfile.LibsndfileError, descriptor: int, head: bytes) -> AudioError:
    """Say why libsndfile did not open a file."""
    if head[:4] in (b"RIFF", b"RIFX") and head[8:12] == b"WAVE":
        at = head.find(b"fmt ")
        if 0 <= at <= len(head) - 16 and not any(head[at + 12 : at + 16]):
            return bad_rate(0)
    if video_is_cut(descriptor, head):
        return cut_off()
    return unreadable(error.error_string)
