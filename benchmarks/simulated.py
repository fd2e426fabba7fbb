"""Simulated results with a known truth: clusters, systems that answer on their clips, and the two profiles.

Seven classes with the priors below. The chance of a right answer in a class is logistic(mean of the class + shift +
effect of the cluster N(0, sd) + N(0, 0.3)). The class shares of a cluster are Dirichlet(15 · priors). Half of the wrong
answers are neutral, the rest is spread evenly.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold, combine, encode
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.metrics import Margins
from oruk_leaderboard.scoring.sampling import clustering, design_of

PRIORS = np.array([0.17, 0.15, 0.17, 0.10, 0.10, 0.06, 0.25])
MEANS = np.array([0.9, 0.6, 0.8, 0.1, 0.0, -0.2, 1.0])
NEUTRAL = 6
MANIFEST = Path(__file__).parents[1] / "data" / "manifest.parquet"

Sizes = Callable[[np.random.Generator, int], NDArray[np.int64]]
"""Clips of each of a number of clusters."""

FIGURES = {"macro-F1": metrics.macro_f1, "accuracy": metrics.accuracy}


class World:
    """Draws clusters and the answers that systems give on their clips."""

    def __init__(self, seed: int, *, sd: float, shift: float = 0.0) -> None:
        self.rng, self.sd, self.shift = np.random.default_rng(seed), sd, shift

    def gold(self, sizes: NDArray[np.int64], loose: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Clips of each cluster by class, shape (g, 7); ``loose`` clusters are blocks of independent clips."""
        shares = self.rng.dirichlet(15 * PRIORS, size=len(sizes))
        if loose is not None:
            shares[loose] = PRIORS
        return self.rng.multinomial(sizes, shares)

    def effects(self, n: int) -> NDArray[np.float64]:
        """Effect of each cluster on the log-odds of a right answer."""
        return self.rng.normal(0, self.sd, n)

    def answers(
        self, gold: NDArray[np.int64], effects: NDArray[np.float64], loose: NDArray[np.bool_] | None = None
    ) -> NDArray[np.float64]:
        """Hits, gold and predictions of each cluster side by side, shape (g, 21)."""
        noise = self.rng.normal(0, 0.3, gold.shape)
        if loose is not None:
            noise[loose] = 0
        hits = self.rng.binomial(gold, 1 / (1 + np.exp(-(MEANS + self.shift + effects[:, None] + noise))))
        predicted = hits.copy()
        for at in range(len(PRIORS)):
            wrong = gold[:, at] - hits[:, at]
            neutral = self.rng.binomial(wrong, 0.5) if at != NEUTRAL else np.zeros_like(wrong)
            others = [other for other in range(len(PRIORS)) if other not in (at, NEUTRAL)]
            predicted[:, others] += self.rng.multinomial(wrong - neutral, np.full(len(others), 1 / len(others)))
            predicted[:, NEUTRAL] += neutral
        return np.concatenate([hits, gold, predicted], axis=1).astype(np.float64)

    def clusters(self, sizes: Sizes, g: int) -> NDArray[np.float64]:
        """Counts of ``g`` new clusters, shape (g, 21)."""
        return self.answers(self.gold(sizes(self.rng, g)), self.effects(g))


def balanced(rng: np.random.Generator, g: int) -> NDArray[np.int64]:
    """40 clips per cluster."""
    del rng
    return np.full(g, 40)


def unbalanced(rng: np.random.Generator, g: int) -> NDArray[np.int64]:
    """Sizes as uneven as those of speakers in the wild."""
    return np.maximum(np.rint(np.exp(rng.normal(3.2, 1.2, g))), 3).astype(np.int64)


def corpora(rng: np.random.Generator, g: int) -> NDArray[np.int64]:
    """Sizes of the open profile's corpora, drawn with replacement."""
    return rng.choice(np.bincount(profile("open").attributes["corpus"].codes), g)


@cache
def profile(name: str) -> Gold:
    """The clips of a profile with their corpora and speakers; their labels are simulated elsewhere."""
    columns = ["clip_id", "corpus", "speaker", "open"]
    rows = pq.read_table(MANIFEST, columns=columns).to_pydict()
    keep = [at for at, is_open in enumerate(rows["open"]) if is_open or name == "full"]
    clip_ids, corpus, speaker = ([rows[column][at] for at in keep] for column in columns[:3])
    attributes = {"corpus": encode(corpus)}
    attributes["speaker"] = combine(attributes["corpus"], encode(speaker))
    return Gold(clip_ids, np.zeros(len(keep), np.int64), CLASSES, attributes, 0)


def figure(sums: NDArray[np.float64], metric: Callable[[metrics.Margins], NDArray[np.float64]]) -> NDArray[np.float64]:
    """A figure of counts side by side, shape (…, 21)."""
    return metric(Margins(*np.split(sums, 3, axis=-1)))


def truth_of(table: NDArray[np.float64]) -> dict[str, float]:
    """Each figure of the sum of some units."""
    return {name: float(figure(table.sum(axis=0), metric)) for name, metric in FIGURES.items()}


class ProfileWorld:
    """The clips of a profile: corpora with effects of their own, speakers and loose clips in them."""

    def __init__(self, name: str) -> None:
        drawn = clustering(profile(name))
        self.design = design_of(drawn.clusters.values, drawn.clusters.codes, drawn.strata.codes)
        self.sizes = np.bincount(drawn.clusters.codes)
        self.corpora = len(self.design.counts)
        self.world = World(7, sd=0.6)
        self.effects = self.world.rng.normal(0, 0.8, self.corpora)

    def units(self, kind: str) -> NDArray[np.float64]:
        """Counts of every speaker and block of loose clips, drawn again, shape (u, 21)."""
        loose, home = self.design.loose, self.design.stratum
        effects = np.where(loose, 0, self.world.effects(len(self.sizes)))
        if kind == "hidden speaker":
            effects += np.where(loose, self.world.effects(self.corpora)[home], 0)
        effects += (self.world.rng.normal(0, 0.8, self.corpora) if kind == "other corpora" else self.effects)[home]
        return self.world.answers(self.world.gold(self.sizes, loose), effects, loose)

    def by_corpus(self, kind: str) -> NDArray[np.float64]:
        """The same by corpus, shape (c, 21)."""
        summed = np.zeros((self.corpora, 21))
        np.add.at(summed, self.design.stratum, self.units(kind))
        return summed
