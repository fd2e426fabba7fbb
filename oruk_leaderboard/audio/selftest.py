"""Test the audio rule on built-in signals before a long run depends on it."""

import hashlib
import io
from functools import cache
from importlib import metadata

import numpy as np
import soundfile
import soxr

from oruk_leaderboard.audio.rule import RULE_VERSION, encode_flac, render
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import AudioError


def _signal(frames: int, channels: int, step: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    """A rising sawtooth sweep in whole numbers, so that it has the same bits everywhere; int16, (frames, channels)."""
    index = np.arange(frames, dtype=np.int64)
    columns = [((index * index * (step + 3 * column) >> 9) % 40_000 - 20_000) for column in range(channels)]
    return np.stack(columns, 1).astype(np.int16)


_TRIALS = (
    # rate in Hz, frames, channels, step of the sweep, clip_sha256
    (44_100, 22_050, 1, 1, "27629832d5fb35fed5d56a577bb868803c4713e79f3e1c8c6c45023f95170145"),
    (48_000, 24_000, 2, 1, "a15f8b58012415526fa9f4b619242f3409e2879cc915f0ebfc7fa18163d149ac"),
    (24_414, 12_207, 1, 2, "018221ae275139f2cfe37419f8c06acce3188b768a35e30c6f2e9f7d78c4078d"),
    (8_000, 160_000, 1, 1, "d403b0a6819e5827bdbb26f70d5676e051fd975d81cdb939a148a6dab27517ab"),
)


@cache
def versions() -> dict[str, str]:
    """Versions of what can move a bit of a clip."""
    return {
        "audio_rule": str(RULE_VERSION),
        "libsndfile": soundfile.__libsndfile_version__,
        "soxr": soxr.__version__,
        "numpy": np.__version__,
        **_pyav(),
    }


def _pyav() -> dict[str, str]:
    try:
        return {"pyav": metadata.version("av")}
    except metadata.PackageNotFoundError:
        return {}


def self_test() -> None:
    """Render four synthetic recordings and compare with the digests that audio rule 1 gives for them.

    Raises:
        AudioError: This machine's libraries give other bits; the versions are named.
    """
    for rate, frames, channels, step, expected in _TRIALS:
        file = io.BytesIO()
        soundfile.write(file, _signal(frames, channels, step), rate, format="WAV", subtype="PCM_16")
        rendered = render(file)
        decoded, _ = soundfile.read(io.BytesIO(encode_flac(rendered.samples)), dtype="int16")
        for found in (rendered.clip_sha256, hashlib.sha256(decoded.astype("<i2").data).hexdigest()):
            if found != expected:
                named = ", ".join(f"{name} {version}" for name, version in versions().items())
                raise AudioError(
                    f"the audio rule gives other samples on this machine ({rate} Hz to {SAMPLE_RATE} Hz)",
                    reason="self-test",
                    expected=expected,
                    found=f"{found} with {named}",
                    do="install the versions that the README names; clips made here would not be the benchmark's",
                )
