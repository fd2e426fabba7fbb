"""What an open recording is: float32 frames from any position, mixed to mono in one fixed way."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from oruk_leaderboard.errors import AudioError

Samples = npt.NDArray[np.float32]

MIN_RATE, MAX_RATE = 1_000, 1_000_000
"""Sampling rates in Hz outside which a header is taken for damaged."""

_LOSSLESS = ("PCM_", "FLOAT", "DOUBLE", "ULAW", "ALAW", "ALAC", "FLAC", "DPCM")


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


def unreadable(detail: str) -> AudioError:
    """The error of a recording that its decoder refuses."""
    return AudioError("cannot be decoded", reason="unreadable", found=detail.strip(" .") or "damaged data")


def bad_rate(rate: int) -> AudioError:
    """The error of a header whose sampling rate (Hz) cannot be right."""
    return AudioError(
        "the header's sampling rate is impossible", reason="no-rate", expected=f"{MIN_RATE}..{MAX_RATE} Hz", found=rate
    )


def frame_at(seconds: float, rate: int) -> int:
    """Frame of a time in s: floor(s · rate + 0.5)."""
    return math.floor(seconds * rate + 0.5)
