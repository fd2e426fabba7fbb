"""Audio inside video containers (mp4, m4a, mov, avi, flv, webm, mkv), decoded with PyAV."""

import itertools
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from oruk_leaderboard.audio.recording import Recording, Samples, truncated, unreadable
from oruk_leaderboard.errors import AudioError, MissingExtraError

SUFFIXES = (".mp4", ".m4a", ".mov", ".avi", ".flv", ".webm", ".mkv")
"""Names that such files usually have; what counts is the content."""

PRE_ROLL_S = 1.0
"""Seconds decoded before a segment: lossy decoders need frames before the first one that is kept."""

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
    """The first audio stream of a video container."""

    def __init__(self, handle: BinaryIO) -> None:
        self._av = require_pyav()
        handle.seek(0)
        try:
            self._input = self._av.open(handle)
        except (self._av.FFmpegError, ValueError, EOFError) as error:
            raise unreadable(str(error)) from error
        if not self._input.streams.audio:
            self._input.close()
            raise AudioError("the video has no audio stream", reason="unreadable")
        self._stream = self._input.streams.audio[0]
        context = self._stream.codec_context
        self.rate, self.channels = context.sample_rate, context.channels
        self.container = self._input.format.name.split(",")[-1].upper()
        self.subtype = context.name.upper()
        self.frames = None
        self._duration = self._stated_duration()

    def _stated_duration(self) -> float | None:
        """Duration of the audio stream in s by the container, or None."""
        if self._stream.duration is None:
            return None
        return float(self._stream.duration * self._stream.time_base)

    def blocks(self, start: int, count: int | None) -> Iterator[Samples]:
        """As the base class says; positions count from the first decoded sample."""
        origin, wanted, given = None, count, 0
        try:
            for frame, position in self._frames(start):
                block = self._floats(frame)
                origin = position if origin is None else origin
                skip = max(0, start - position)
                block = block[skip : None if wanted is None else skip + wanted]
                if len(block):
                    yield block
                given += len(block)
                wanted = None if wanted is None else wanted - len(block)
                if wanted == 0:
                    return
        except (self._av.FFmpegError, ValueError, EOFError) as error:
            raise unreadable(str(error)) from error
        self._check_length(start + given)

    def _check_length(self, decoded: int) -> None:
        """Compare the end of the stream with the duration the container states."""
        if self._duration is not None and self._duration - decoded / self.rate > LENGTH_SLACK_S:
            raise truncated(round(self._duration * self.rate), decoded)

    def _frames(self, start: int) -> Iterator[tuple[Any, int]]:
        """Decoded frames with the position of their first sample, beginning well before ``start``."""
        self._input.seek(0, stream=self._stream, any_frame=False)
        frames = self._input.decode(self._stream)
        first = next(frames, None)
        if first is None:
            return
        origin = self._position(first)
        if start > 2 * PRE_ROLL_S * self.rate and origin is not None:
            target = (origin + start) / self.rate - PRE_ROLL_S
            self._input.seek(int(target / self._stream.time_base), stream=self._stream, backward=True)
            again = self._input.decode(self._stream)
            first = next(again, None)
            if first is None:
                return
            frames = again
        position = 0 if origin is None else (self._position(first) or origin) - origin
        for frame in itertools.chain([first], frames):
            yield frame, position
            position += frame.samples

    def _position(self, frame: Any) -> int | None:
        return None if frame.pts is None else round(frame.pts * frame.time_base * self.rate)

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
