"""What a system is: a card that says what it is, and ``predict`` over a batch of waveforms."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.records.system_card import SystemCard

Waveform = NDArray[np.float32]
"""One clip: float32, shape (n_samples,), 16 kHz mono, range [-1, 1), at most 256,000 samples."""


class System(Protocol):
    """A loaded system."""

    card: SystemCard
    revision: str
    """Revision that is really loaded: a 40-hex commit, or the package version of a built-in."""

    def predict(self, batch: Sequence[Waveform]) -> list[Answer]:
        """One answer for each waveform, in their order."""
        ...


def by_label(labels: Iterable[str], scores: Iterable[float]) -> dict[str, float]:
    """Native label to score; the higher score where two outputs of a model have one label."""
    best: dict[str, float] = {}
    for label, score in zip(labels, scores, strict=True):
        best[label] = max(score, best.get(label, score))
    return best
