"""From an open recording to the 16-bit samples of a clip."""

import hashlib
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from oruk_leaderboard.audio.opening import open_recording
from oruk_leaderboard.audio.recording import Recording, Samples, frame_at
from oruk_leaderboard.classes import MAX_SAMPLES, SAMPLE_RATE
from oruk_leaderboard.errors import AudioError

RULE_VERSION = 1
"""Version of the audio rule; whatever could change one bit of a clip changes it."""

READ_SECONDS = MAX_SAMPLES // SAMPLE_RATE + 1
"""Seconds decoded at most: 16 s, and one more so that the filter's edge does not reach the clip."""

SEGMENT_SLACK_S = 0.5
"""Seconds by which an annotated segment may reach beyond the end of its recording."""

CLIPPED_SHARE = 0.001
"""Share of samples at full scale from which a clip is called clipped."""

FULL_SCALE = np.float32(32768)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A clip as the audio rule gives it.

    Attributes:
        samples: int16, shape (n,), 16 kHz, 1 ≤ n ≤ 256,000.
        clip_sha256: SHA-256 of the samples as little-endian int16, hexadecimal.
        source_rate: Sampling rate of the recording in Hz.
        source_channels: Channels of the recording.
        source_frames: Frames of the recording by its header, or None where the header does not say.
        container: File format of the recording.
        lossless: Whether every decoder gives the same samples, so that ``clip_sha256`` is the same on every machine.
        notes: What is odd about the sound: ``silent``, ``clipped``.
    """

    samples: npt.NDArray[np.int16]
    clip_sha256: str
    source_rate: int
    source_channels: int
    source_frames: int | None
    container: str
    lossless: bool
    notes: tuple[str, ...] = ()


def render(
    file: Path | BinaryIO, *, start_s: float | None = None, end_s: float | None = None, channel: int | None = None
) -> Rendered:
    """Render one clip of a recording.

    Args:
        file: Path or seekable binary file.
        start_s: Start of the clip in s; None for the start of the recording.
        end_s: End of the clip in s; None for the end of the recording.
        channel: Zero-based channel; None for the mean of all.

    Raises:
        AudioError: The recording does not give this clip; ``reason`` says why.
        MissingExtraError: A video container, and PyAV is not installed.
        OSError: The file cannot be opened or read.
    """
    with open_recording(file) as recording:
        return render_recording(recording, start_s=start_s, end_s=end_s, channel=channel)


def render_recording(
    recording: Recording, *, start_s: float | None = None, end_s: float | None = None, channel: int | None = None
) -> Rendered:
    """As `render`, from a recording that is already open: several segments cost one opening."""
    start, count = _span(recording, start_s, end_s)
    limit = READ_SECONDS * recording.rate
    wanted = limit if count is None else min(count, limit)
    mono = recording.read(start, wanted, channel)
    if recording.frames is None and count is not None and wanted - len(mono) > SEGMENT_SLACK_S * recording.rate:
        raise _outside(f"{start / recording.rate:.3f} to {end_s} s", found_s=(start + len(mono)) / recording.rate)
    if not len(mono):
        raise AudioError("the recording is empty", reason="empty", found="0 frames")
    samples, notes = quantise(mono, recording.rate)
    digest = hashlib.sha256(samples.data).hexdigest()
    return Rendered(
        samples,
        digest,
        source_rate=recording.rate,
        source_channels=recording.channels,
        source_frames=recording.frames,
        container=recording.container,
        lossless=recording.lossless,
        notes=notes,
    )


def _span(recording: Recording, start_s: float | None, end_s: float | None) -> tuple[int, int | None]:
    """First frame and number of frames of a segment; None where the recording's end is not known."""
    start = frame_at(start_s or 0.0, recording.rate)
    end = None if end_s is None else frame_at(end_s, recording.rate)
    if recording.frames is not None:
        beyond = (end or 0) - recording.frames
        if start >= recording.frames or beyond > SEGMENT_SLACK_S * recording.rate:
            raise _outside(f"{start_s or 0} to {end_s} s", found_s=recording.frames / recording.rate)
        end = recording.frames if end is None else min(end, recording.frames)
    if (end is not None and end <= start) or start < 0:
        raise AudioError("the segment is empty", reason="empty", found=f"{start_s or 0} to {end_s} s")
    return start, None if end is None else end - start


def _outside(segment: str, *, found_s: float) -> AudioError:
    return AudioError(
        "the segment is outside the recording",
        reason="segment-outside",
        expected=segment,
        found=f"a recording of {found_s:.3f} s",
    )


def quantise(mono: Samples, rate: int) -> tuple[npt.NDArray[np.int16], tuple[str, ...]]:
    """Resample mono float32 samples, keep the first 16 s, and round them to 16 bits (half to even).

    Returns:
        int16 samples of shape (n,), little-endian, and the notes ``silent`` or ``clipped`` where they apply.

    Raises:
        AudioError: ``not-finite`` where there is a NaN or an infinity; ``empty`` where nothing is left.
    """
    if rate != SAMPLE_RATE:
        mono = soxr.resample(mono, rate, SAMPLE_RATE, quality="VHQ")
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = mono[:MAX_SAMPLES] * FULL_SCALE
    if not len(scaled):
        raise AudioError("the recording is shorter than one sample at 16 kHz", reason="empty", found="0 samples")
    np.rint(scaled, out=scaled)
    low, high = float(scaled.min()), float(scaled.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise AudioError("the recording contains NaN or infinite samples", reason="not-finite")
    if low < -32768 or high > 32767:
        np.clip(scaled, -32768, 32767, out=scaled)
    samples = scaled.astype("<i2")
    if low == high == 0:
        return samples, ("silent",)
    if low <= -32768 or high >= 32767:
        at_rails = np.count_nonzero((samples == -32768) | (samples == 32767))
        if at_rails >= CLIPPED_SHARE * len(samples):
            return samples, ("clipped",)
    return samples, ()


def encode_flac(samples: npt.NDArray[np.int16]) -> bytes:
    """16 kHz mono 16-bit FLAC of int16 samples of shape (n,)."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


__all__ = ["RULE_VERSION", "Rendered", "encode_flac", "quantise", "render", "render_recording"]
