"""Damaged recordings for the fuzz test, and what must hold of each; runs in worker processes."""

import io
import random
import resource
import signal
from collections import Counter

import numpy as np
import soundfile

from oruk_leaderboard.audio import render
from oruk_leaderboard.errors import AudioError
from tests.sounds import FORMATS, VIDEO_FORMATS, encode, encode_video, voice

LIMIT_S = 20
"""Seconds after which a recording counts as a hang; the process is then killed, which fails the test."""

MEMORY = 3 << 30
"""Bytes of address space a worker may take."""

_NUMBERS = [0, 1, 2, 7, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]


def originals() -> dict[str, bytes]:
    """A short recording of each format."""
    found = {}
    for name, (container, subtype) in FORMATS.items():
        rate = 24_000 if container == "OGG" else 22_050
        found[name] = encode(voice(0.2, rate, 2), rate, container, subtype)
    for name, (container, codec) in VIDEO_FORMATS.items():
        rate = 48_000 if codec == "libopus" else 44_100
        found[f"video {name}"] = encode_video(voice(0.2, rate, 2), rate, container, codec)
    return found


def damage(data: bytes, chance: random.Random) -> bytes:
    """Change a few bytes, numbers or pieces of a file, most often in its header."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        end = min(len(changed), chance.choice((16, 64, 256, len(changed))))
        at = chance.randrange(max(1, end))
        kind = chance.randrange(7)
        if kind == 0:
            changed[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            changed[at : at + 1] = bytes([changed[at] ^ (1 << chance.randrange(8))]) if changed else b""
        elif kind == 2:
            number = chance.choice(_NUMBERS)
            changed[at : at + 4] = number.to_bytes(4, chance.choice(("little", "big")))
        elif kind == 3:
            del changed[chance.randrange(len(changed) + 1) :]
        elif kind == 4:
            del changed[at : at + chance.randrange(1, 64)]
        elif kind == 5:
            changed[at:at] = chance.randbytes(chance.randrange(1, 64))
        else:
            changed[at : at + 32] = bytes(min(32, len(changed) - at))
        if not changed:
            return b""
    return bytes(changed)


def limit() -> None:
    """Limits of a worker process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def try_many(name: str, data: bytes, seeds: range) -> Counter[str]:
    """Render damaged copies; counts what became of them.

    Raises:
        AssertionError: A clip is not what the rule gives for those bytes, or its length does not fit the header.
    """
    told: Counter[str] = Counter()
    for seed in seeds:
        damaged = damage(data, random.Random(f"{name} {seed}"))
        signal.alarm(LIMIT_S)
        try:
            rendered = render(io.BytesIO(damaged))
        except AudioError as error:
            told[error.reason] += 1
        else:
            told["clip"] += 1
            assert 0 < len(rendered.samples) <= 256_000, (name, seed)
            if name.startswith("video"):
                assert np.array_equal(render(io.BytesIO(damaged)).samples, rendered.samples), (name, seed)
            else:
                _check(damaged, rendered.samples, f"{name} {seed}")
        signal.alarm(0)
    return told


def _check(damaged: bytes, samples: np.ndarray, where: str) -> None:
    import soxr

    with soundfile.SoundFile(io.BytesIO(damaged)) as file:
        rate, frames = file.samplerate, file.frames
        if frames < 1 << 40:
            length = frames / rate * 16_000
            assert abs(len(samples) - min(length, 256_000)) <= 1, where
        if file.format == "MP3":
            file.seek(0)
        # soundfile seeks after a read, which damaged FLAC may refuse although the samples were read.
        file.seekable = lambda: False
        everything = file.read(min(frames, 20 * rate), dtype="float32", always_2d=True)
    mono = everything[:, 0].copy()
    for column in everything.T[1:]:
        mono += column
    if everything.shape[1] > 1:
        mono *= np.float32(1 / everything.shape[1])
    if rate != 16_000:
        mono = soxr.resample(mono, rate, 16_000, quality="VHQ")
    expected = np.clip(np.rint(mono[:256_000] * np.float32(32768)), -32768, 32767).astype("<i2")
    assert np.array_equal(samples, expected), where
