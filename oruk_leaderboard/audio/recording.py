"""Open a recording by what it contains, never by its name, and read float32 frames from any position."""

import contextlib
import io
import math
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import soundfile

from oruk_leaderboard.audio.cuts import ogg_is_cut, video_is_cut
from oruk_leaderboard.errors import AudioError

Samples = npt.NDArray[np.float32]

MIN_RATE, MAX_RATE = 1_000, 1_000_000
"""Sampling rates in Hz outside which a header is taken for damaged."""

BLOCK_VALUES = 1 << 19
"""Values (frames times channels) read at once: bounds memory whatever a header claims."""

SPOOL_CHUNK = 1 << 20
"""Bytes copied at once when a recording is not a file of its own."""

_UNKNOWN_FRAMES = 2**63 - 1
_STREAMED_BYTES = 0x7FFFF000  # writers to a pipe put this, or more, where the length belongs
_SHORT_DATA = re.compile(r"^\s*(?:data|SSND|Data Size|riff)\s*: (\d+) \(should be (\d+)\)", re.MULTILINE)
_WRONG_COUNT = re.compile(r"Calculated frame count \d+ does not match")
_SPHERE_COUNT = re.compile(rb"^sample_count -i (\d+)\s*$", re.MULTILINE)
_LOSSLESS = ("PCM_", "FLOAT", "DOUBLE", "ULAW", "ALAW", "ALAC", "FLAC", "DPCM")
_LFS = b"version https://git-lfs.github.com/spec/"


class Recording(ABC):
    """An open recording.

    Attributes:
        rate: Sampling rate in Hz.
        channels: Number of channels.
        frames: Number of frames by the header, or None where the header does not say.
        container: Short name of the file format, such as ``WAV``, ``FLAC``, ``MP4``.
        subtype: Coding of the samples as libsndfile names it, such as ``PCM_16``, or the codec's name.
    """

    rate: int
    channels: int
    frames: int | None
    container: str
    subtype: str

    @property
    def lossless(self) -> bool:
        """Whether every decoder gives the same samples."""
        return self.subtype.startswith(_LOSSLESS)

    @abstractmethod
    def blocks(self, start: int, count: int | None) -> Iterator[Samples]:
        """Float32 blocks of shape (n, channels) from frame ``start``; at most ``count`` frames, or all that follow."""

    def read(self, start: int, count: int | None, channel: int | None) -> Samples:
        """Mono float32 samples of frames ``start`` to ``start + count``, shape (n,): one channel, or the mean of all.

        The mean adds the channels in order and multiplies once, which is what fixes its bits.

        Raises:
            AudioError: ``truncated`` where fewer frames can be read than the header promises, ``unreadable``,
                ``no-channel``.
        """
        if channel is not None and not 0 <= channel < self.channels:
            raise AudioError(
                "no such channel", reason="no-channel", expected=f"0 to {self.channels - 1}", found=channel
            )
        parts = [_mono(block, channel) for block in self.blocks(start, count)]
        mono = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.float32), *parts])
        if self.frames is not None:
            promised = self.frames - start if count is None else min(count, self.frames - start)
            if len(mono) != promised:
                raise truncated(promised, len(mono))
        return mono


def _mono(block: Samples, channel: int | None) -> Samples:
    if channel is not None or block.shape[1] == 1:
        return np.ascontiguousarray(block[:, channel or 0])
    mono = block[:, 0].copy()
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused later
        for column in range(1, block.shape[1]):
            mono += block[:, column]
    mono *= np.float32(1 / block.shape[1])
    return mono


def truncated(promised: int, found: int) -> AudioError:
    """The error of a recording that is shorter than its header says (frames)."""
    return AudioError(
        "the recording is cut short",
        reason="truncated",
        expected=f"{promised} frames by the header",
        found=f"{found}",
        do="get the file again",
    )


def cut_off() -> AudioError:
    """The error of a recording whose container ends too early."""
    return AudioError(
        "the recording is cut short", reason="truncated", found="no end of the stream", do="get the file again"
    )


class _Sequential(soundfile.SoundFile):  # type: ignore[misc]  # soundfile has no types
    """A file whose reads are not each followed by a seek.

    soundfile seeks to where it already is after every read; mpg123 then loses the frames that the next one builds on,
    so an mp3 read in two blocks differs from the same mp3 read in one.
    """

    def seekable(self) -> bool:
        """No, as far as soundfile's own book-keeping is concerned."""
        return False


class _SndfileRecording(Recording):
    """What libsndfile decodes: wav, flac, mp3, ogg, opus, aiff, sphere and more."""

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
        """Compare what headers promise with what the file holds, where libsndfile corrects it without an error."""
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


def unreadable(detail: str) -> AudioError:
    """The error of a recording that its decoder refuses."""
    return AudioError("cannot be decoded", reason="unreadable", found=detail.strip(" .") or "damaged data")


@contextlib.contextmanager
def open_recording(file: Path | BinaryIO) -> Iterator[Recording]:
    """Open a recording from a path or a seekable binary file.

    A file object that is no file of the operating system (a member of an archive, an object of a store) is copied to
    an unnamed temporary file first, so that it is decoded exactly like a file on disk.

    Raises:
        AudioError: With ``reason`` ``empty``, ``lfs-pointer``, ``no-rate``, ``truncated`` or ``unreadable``.
        MissingExtraError: A video container, and PyAV is not installed.
        OSError: The file cannot be opened or read.
    """
    with contextlib.ExitStack() as stack:
        handle = stack.enter_context(file.open("rb", buffering=0)) if isinstance(file, Path) else file
        descriptor = _descriptor(handle, stack)
        head = os.pread(descriptor, 1024, 0)
        if not head:
            raise AudioError("the file is empty", reason="empty", found="0 bytes")
        if head.startswith(_LFS):
            raise AudioError(
                "a Git LFS pointer, not the recording", reason="lfs-pointer", do="run git lfs pull in the corpus"
            )
        yield _checked(_decoder(descriptor, head, stack))


def _descriptor(handle: BinaryIO, stack: contextlib.ExitStack) -> int:
    # Not every object with a fileno() is the file of that number: a decompressing one names the compressed file.
    if isinstance(getattr(handle, "raw", handle), io.FileIO):
        return handle.fileno()
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the stack closes it
    stack.callback(spool.close)
    handle.seek(0)
    shutil.copyfileobj(handle, spool, SPOOL_CHUNK)
    spool.flush()
    return spool.fileno()


def _decoder(descriptor: int, head: bytes, stack: contextlib.ExitStack) -> Recording:
    from oruk_leaderboard.audio.video import is_video

    if is_video(head):
        from oruk_leaderboard.audio.video import VideoRecording

        if video_is_cut(descriptor, head):
            raise cut_off()
        video = VideoRecording(stack.enter_context(os.fdopen(os.dup(descriptor), "rb")))
        stack.callback(video.close)
        return video
    try:
        recording = _SndfileRecording(descriptor, head)
    except soundfile.LibsndfileError as error:
        raise _refused(error, descriptor, head) from error
    stack.callback(recording.close)
    return recording


def _refused(error: soundfile.LibsndfileError, descriptor: int, head: bytes) -> AudioError:
    """Say why libsndfile did not open a file."""
    if head[:4] in (b"RIFF", b"RIFX") and head[8:12] == b"WAVE":
        at = head.find(b"fmt ")
        if 0 <= at <= len(head) - 16 and not any(head[at + 12 : at + 16]):
            return _bad_rate(0)
    if video_is_cut(descriptor, head):
        return cut_off()
    return unreadable(error.error_string)


def _bad_rate(rate: int) -> AudioError:
    return AudioError(
        "the header's sampling rate is impossible", reason="no-rate", expected=f"{MIN_RATE}..{MAX_RATE} Hz", found=rate
    )


def _checked(recording: Recording) -> Recording:
    if not MIN_RATE <= recording.rate <= MAX_RATE:
        raise _bad_rate(recording.rate)
    if recording.frames == 0:
        raise AudioError("the recording holds no samples", reason="empty", found="0 frames")
    return recording


def frame_at(seconds: float, rate: int) -> int:
    """Frame of a time in s: floor(s · rate + 0.5)."""
    return math.floor(seconds * rate + 0.5)
