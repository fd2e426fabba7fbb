"""Built-in baselines: what can be had without listening, and with the crudest listening."""

from collections.abc import Callable, Sequence

import numpy as np

from oruk_leaderboard import __version__
from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Waveform

LOUD = 0.1
"""Root mean square above which a clip counts as loud (full scale 1)."""

BRIGHT = 1200.0
"""Zero crossings a second above which a clip counts as bright."""


def always_neutral(wave: Waveform) -> str:
    """The class most clips of everyday speech have."""
    del wave
    return "neutral"


def loudness(wave: Waveform) -> str:
    """Four classes from loudness (RMS) and brightness (zero crossings a second); no training, no claim."""
    if wave.size < 2:
        return "neutral"
    loud = float(np.sqrt(np.mean(np.square(wave, dtype=np.float64)))) > LOUD
    crossings = np.count_nonzero(np.diff(np.signbit(wave))) * SAMPLE_RATE / wave.size
    if loud:
        return "happiness" if crossings > BRIGHT else "anger"
    return "neutral" if crossings > BRIGHT else "sadness"


RULES: dict[str, Callable[[Waveform], str]] = {"always_neutral": always_neutral, "loudness": loudness}
"""Model id of the spec to its rule."""


class Baseline:
    """A rule from a waveform to a class name."""

    def __init__(self, card: SystemCard) -> None:
        if card.model_id not in RULES:
            raise OrukError("no such baseline rule", where=card.id, expected=sorted(RULES), found=card.model_id)
        self.card, self.revision, self._rule = card, __version__, RULES[card.model_id]

    def predict(self, batch: Sequence[Waveform]) -> list[Answer]:
        """One class a waveform, without scores."""
        return [Answer(label=label) for label in map(self._rule, batch)]


def load(card: SystemCard, *, revision: str | None, device: str) -> Baseline:
    """A baseline; its revision is the package's version, and it runs where numpy runs."""
    del revision, device
    return Baseline(card)
