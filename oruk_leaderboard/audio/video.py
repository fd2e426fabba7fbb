"""Audio inside video containers (mp4, m4a, mov, avi, flv, webm, mkv), decoded with PyAV."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from oruk_leaderboard.audio.recording import Recording, Samples, truncated, unreadable
from oruk_leaderboard.errors import AudioError, MissingExtraError

SUFFIXES = (".mp4", ".m4a", ".mov", ".avi", ".flv", ".webm", ".mkv")
"""Names that such files usually have; what counts is the content."""

LENGTH_SLACK_S = 0.25
"""Seconds by which a container's stated duration may exceed what it decodes to (priming, rounding of clocks)."""


def is_video(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a container that libsndfile does not read."""
    return (
        head[4:8] == b"ftyp"
        or head[:4] == b"\x1aE\xdf\xa3"
        or head[:3] == b"FLV"
        or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")
    )


def require_pyav(where: object = None) -> Any:
    """PyAV.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import av
    except ImportError as error:
        raise MissingExtraError("audio inside video files needs PyAV", extra="video", where=where) from error
    return av


class VideoRecording(Recording):
    """The first audio stream of a video container.

    It is decoded forward only: lossy decoders carry state from frame to frame, so that a sample after a seek differs
    from the same sample in a run through the file. Going back means opening it again.
    """

    def __init__(self, handle: BinaryIO) -> None:
        self._av, self._handle = require_pyav(), handle
        self._open()
        context = self._stream.codec_context
        if context is None or not context.sample_rate:
            self._input.close()
            raise unreadable("an audio stream of an unknown kind")
        self.rate, self.channels = context.sample_rate, context.channels
        self.container = self._input.format.name.split(",")[0].upper()
        self.subtype = context.name.upper()
        self.frames = None

    def _open(self) -> None:
        self._handle.seek(0)
        try:
            self._input = self._av.open(self._handle)
        except (self._av.FFmpegError, ValueError) as error:
            raise unreadable(getattr(error, "strerror", None) or str(error)) from error
        if not self._input.streams.audio:
            self._input.close()
            raise AudioError("the video has no audio stream", reason="unreadable")
        self._stream = self._input.streams.audio[0]
        self._decoded = self._decode()
        self._position = 0
        self._rest: Samples | None = None

    def _decode(self) -> Iterator[Samples]:
        total = 0
        try:
            for frame in self._input.decode(self._stream):
                total += frame.samples
                yield self._floats(frame)
        except (self._av.FFmpegError, ValueError) as error:
            raise unreadable(getattr(error, "strerror", None) or str(error)) from error
        self._check_length(total)

    def _check_length(self, total: int) -> None:
        """Compare the end of the stream with the duration the container states."""
        if self._stream.duration is not None:
            stated = float(self._stream.duration * self._stream.time_base)
            if stated - total / self.rate > LENGTH_SLACK_S:
                raise truncated(round(stated * self.rate), total)

    def blocks(self, start: int, count: int | None) -> Iterator[Samples]:
        """As the base class says; positions count from the first decoded sample."""
        if start < self._position:
            self._input.close()
            self._open()
        end = None if count is None else start + count
        while end is None or self._position < end:
            block = self._rest if self._rest is not None else next(self._decoded, None)
            if block is None:
                return
            skip = min(len(block), max(0, start - self._position))
            stop = len(block) if end is None else min(len(block), end - self._position)
            self._rest = block[stop:] if stop < len(block) else None
            self._position += stop
            if skip < stop:
                yield block[skip:stop]

    def _floats(self, frame: Any) -> Samples:
        """Samples of a frame as float32 of shape (n, channels), full scale 1."""
        if frame.sample_rate != self.rate or len(frame.layout.channels) != self.channels:
            raise AudioError("rate or channels change within the stream", reason="unreadable")
        data: np.ndarray[Any, Any] = frame.to_ndarray()
        data = data.T if frame.format.is_planar else data.reshape(-1, self.channels)
        if data.dtype.kind == "f":
            return np.ascontiguousarray(data, np.float32)
        if data.dtype == np.uint8:
            return (data.astype(np.float32) - np.float32(128)) / np.float32(128)
        return data.astype(np.float32) / np.float32(-float(np.iinfo(data.dtype).min))

    def close(self) -> None:
        """Close the container."""
        self._input.close()
