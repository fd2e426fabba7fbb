"""Built-in baselines: what can be had without listening, and with the crudest listening.

``majority`` and ``prior`` use the class frequencies of the set's other corpora, never those of the corpus they answer;
``prior`` and ``uniform`` draw one class per clip, seeded by the clip's id.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import __version__
from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.classes import CLASSES, SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, Waveform

LOUD = 0.1
"""Root mean square above which a clip counts as loud (full scale 1)."""

BRIGHT = 1200.0
"""Zero crossings per second above which a clip counts as bright."""

SEED = 0
"""Seed of the baselines that draw."""


def loudness(wave: Waveform) -> str:
    """Four classes from loudness (RMS) and brightness (zero crossings per second); no training, no claim."""
    if wave.size < 2:
        return "neutral"
    loud = float(np.sqrt(np.mean(np.square(wave, dtype=np.float64)))) > LOUD
    crossings = np.count_nonzero(np.diff(np.signbit(wave))) * SAMPLE_RATE / wave.size
    if loud:
        return "happiness" if crossings > BRIGHT else "anger"
    return "neutral" if crossings > BRIGHT else "sadness"


class Baseline(LocalSystem):
    """A rule from a clip to a class name."""

    def __init__(self, card: SystemCard, rule: Callable[[Item], str]) -> None:
        self.card, self.revision, self._rule = card, __version__, rule

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """One class per clip, without scores."""
        return [Answer(label=self._rule(item)) for item in items]


def draw(shares: NDArray[np.float64], clip_id: str) -> str:
    """A class drawn with these shares, the same for a clip in every run."""
    digest = hashlib.sha256(f"{SEED}:{clip_id}".encode()).digest()
    at = np.searchsorted(np.cumsum(shares), int.from_bytes(digest[:7]) / 2**56, side="right")
    return CLASSES[min(int(at), len(CLASSES) - 1)]


def shares_elsewhere(clips: Path, *, where: object) -> dict[str, NDArray[np.float64]]:
    """Class shares of all other corpora of a set, for each of its corpora.

    Raises:
        OrukError: The set has one corpus only.
    """
    from oruk_leaderboard.clipset import open_clipset

    table = open_clipset(clips).table
    counts: dict[str, NDArray[np.float64]] = {}
    for corpus, label in zip(table.column("corpus").to_pylist(), table.column("label").to_pylist(), strict=True):
        counts.setdefault(corpus, np.zeros(len(CLASSES)))[label] += 1
    if len(counts) < 2:
        raise OrukError("this baseline learns from other corpora", where=where, expected="a set of 2 or more corpora")
    total = sum(counts.values())
    return {corpus: (total - own) / (total - own).sum() for corpus, own in counts.items()}


def load(card: SystemCard, options: Options) -> Baseline:
    """A baseline; its revision is the package's version.

    Raises:
        OrukError: There is no such rule, or the set gives it nothing to learn from.
    """
    fixed: dict[str, Callable[[Item], str]] = {
        "always_neutral": lambda item: "neutral",
        "loudness": lambda item: loudness(item.wave),
        "uniform": lambda item: draw(np.full(len(CLASSES), 1 / len(CLASSES)), item.clip_id),
    }
    if card.model_id in fixed:
        return Baseline(card, fixed[card.model_id])
    if card.model_id not in ("majority", "prior"):
        raise OrukError(
            "no such baseline rule", where=card.id, expected=[*fixed, "majority", "prior"], found=card.model_id
        )
    if options.clips is None:
        raise OrukError("this baseline learns from the set it is run on", where=card.id, expected="a rebuilt set")
    shares = shares_elsewhere(options.clips, where=card.id)
    if card.model_id == "majority":
        return Baseline(card, lambda item: CLASSES[int(np.argmax(shares[item.corpus]))])
    return Baseline(card, lambda item: draw(shares[item.corpus], item.clip_id))
