"""The seven classes of the benchmark, in the protocol's order."""

CLASSES: tuple[str, ...] = ("anger", "happiness", "sadness", "fear", "disgust", "surprise", "neutral")
"""Class names; the position is the class index (protocol 0.1.0)."""

INDEX: dict[str, int] = {name: index for index, name in enumerate(CLASSES)}
"""Class name to index."""

SAMPLE_RATE = 16_000
"""Sampling rate of an evaluation clip in Hz."""

MAX_SAMPLES = 256_000
"""Longest evaluation clip in samples: the first 16 s."""
