"""Clips of a rebuilt set, back to samples for a system."""

import hashlib
import io

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import ManifestError


def decode_stored(data: bytes, *, clip_sha256: str, where: object) -> NDArray[np.float32]:
    """Samples of a stored clip: float32, shape (n_samples,), 16 kHz mono, int16 / 32768.

    Args:
        data: FLAC of 16-bit samples, as in a rebuilt set.
        clip_sha256: Digest the set states for the samples.
        where: The clip, for the message.

    Raises:
        ManifestError: The samples are not those the set states.
    """
    import soundfile

    samples, rate = soundfile.read(io.BytesIO(data), dtype="int16")
    found = hashlib.sha256(samples.astype("<i2").tobytes()).hexdigest()
    if rate != SAMPLE_RATE or found != clip_sha256:
        raise ManifestError(
            "the stored clip is not what the set states",
            where=where,
            expected=clip_sha256,
            found=found,
            do="rebuild the set",
        )
    wave: NDArray[np.float32] = samples.astype(np.float32) / np.float32(32768)
    return wave
