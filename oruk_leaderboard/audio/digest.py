"""What identifies a file, and what identifies the sound in it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from oruk_leaderboard.audio.opening import SPOOL_CHUNK, open_recording
from oruk_leaderboard.audio.recording import truncated
from oruk_leaderboard.errors import AudioError


@dataclass(frozen=True, slots=True)
class PcmDigest:
    """The decoded samples of a recording, before any resampling. Equal whatever container they came in.

    Attributes:
        pcm_sha256: SHA-256 of the samples as int16 little-endian with the channels interleaved, hexadecimal.
        num_samples: Frames.
        sampling_rate: Hz.
        channels: Channels.
        container: Short name of the file format, such as ``WAV``.
        lossless: Whether every decoder gives the same samples.
    """

    pcm_sha256: str
    num_samples: int
    sampling_rate: int
    channels: int
    container: str = field(compare=False)
    lossless: bool = field(compare=False)


def source_digest(file: Path | BinaryIO) -> tuple[str, int]:
    """SHA-256 (hexadecimal) and length in bytes of a file.

    Raises:
        OSError: The file cannot be opened or read.
    """
    if isinstance(file, Path):
        with file.open("rb", buffering=0) as handle:
            return source_digest(handle)
    file.seek(0)
    digest, size = hashlib.sha256(), 0
    while chunk := file.read(SPOOL_CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def pcm_digest(file: Path | BinaryIO) -> PcmDigest:
    """Digest of all samples of a recording as stored, so that a lossless repack has the digest of its original.

    Samples of 16 bits or fewer are taken as they are; others are rounded to 16 bits, half to even.

    Raises:
        AudioError: The recording cannot be decoded whole; ``reason`` says why.
        MissingExtraError: A video container, and PyAV is not installed.
        OSError: The file cannot be opened or read.
    """
    with open_recording(file) as recording:
        digest, frames = hashlib.sha256(), 0
        for block in recording.blocks(0, None):
            with np.errstate(over="ignore", invalid="ignore"):
                scaled = np.rint(block * np.float32(32768))
            if not np.isfinite(scaled).all():
                raise AudioError("the recording contains NaN or infinite samples", reason="not-finite")
            digest.update(np.clip(scaled, -32768, 32767).astype("<i2").data)
            frames += len(block)
        if recording.frames is not None and frames != recording.frames:
            raise truncated(recording.frames, frames)
        return PcmDigest(
            digest.hexdigest(), frames, recording.rate, recording.channels, recording.container, recording.lossless
        )
