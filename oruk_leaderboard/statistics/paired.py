"""Whether two systems differ on the same clips: paired cluster bootstrap, McNemar, Holm."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats
from oruk_leaderboard.metrics.classification import Counts, Margins, Metric, margins
from oruk_leaderboard.statistics.intervals import percentile
from oruk_leaderboard.statistics.resampling import Draws, resample
from oruk_leaderboard.todict import ToDict

EXACT_UP_TO = 1000
"""Discordant clips up to which McNemar's test is computed exactly."""

NORMAL_FROM = 30
"""Clusters from which on the normal tail stands in for p-values below the resolution of the replicates."""


@dataclass(frozen=True, slots=True)
class Paired(ToDict):
    """A difference between two systems, the first minus the second.

    Attributes:
        difference: Of the figures on the whole set.
        low: Lower end of its percentile interval.
        high: Upper end of its percentile interval.
        p: Two-sided p-value.
        alpha: One minus the confidence of the interval.
        n_boot: Replicates.
        n_clusters: Clusters resampled.
        seed: Seed of the draws.
    """

    difference: float
    low: float
    high: float
    p: float
    alpha: float
    n_boot: int
    n_clusters: int
    seed: int


def two_sided_p(differences: ArrayLike) -> Floats:
    """P-value of replicates of a difference over their last axis, above 0, at most 1.

    ``2·(min(#≤0, #≥0) + 1) / (b + 1)``, at most 1 (protocol 0.1.0).
    """
    values = np.asarray(differences)
    if not values.shape[-1]:
        raise MetricError("no replicates", where="differences", expected="at least one")
    fewer = np.minimum((values <= 0).sum(axis=-1), (values >= 0).sum(axis=-1))
    p: Floats = np.minimum(2 * (fewer + 1) / (values.shape[-1] + 1), 1.0)
    return p


def tail_p(differences: ArrayLike, difference: ArrayLike, *, n_clusters: int) -> Floats:
    """P-values that can be corrected for many tests, shape (…).

    The p-value of b replicates is never below ``2 / (b + 1)``; times the number of pairs of a leaderboard that exceeds
    any level, and no pair could ever separate. Where no replicate lies on the other side of 0, the two-sided normal
    tail of ``difference / sd(replicates)`` is taken if it is smaller; with fewer than ``NORMAL_FROM`` clusters the
    bootstrap's standard error is too uncertain for that, and the p-value stays as it is.

    Args:
        differences: Replicates of the differences, shape (…, b).
        difference: The differences on the whole set, shape (…).
        n_clusters: Number of clusters resampled.
    """
    values, centre = np.asarray(differences), np.asarray(difference)
    p = two_sided_p(values)
    spread = values.std(axis=-1, ddof=1) if values.shape[-1] > 1 else np.zeros(p.shape)
    extreme = (p <= 2 / (values.shape[-1] + 1)) & (spread > 0)
    if n_clusters < NORMAL_FROM or not extreme.any():
        return p
    z = np.abs(centre) / np.where(spread > 0, spread, 1)
    normal = np.reshape([math.erfc(value / math.sqrt(2)) for value in np.ravel(z)], p.shape)
    smaller: Floats = np.where(extreme, np.minimum(p, normal), p)
    return smaller


def paired_bootstrap(one: Counts, other: Counts, metric: Metric, *, draws: Draws, alpha: float = 0.05) -> Paired:
    """Compare two systems on identical clips, both on the same resampled clusters.

    Args:
        one: Confusion counts of each cluster of the first system, shape (c, k, k + 1), or margins.
        other: Those of the second system, on the same clips.
        metric: Metric of margins.
        draws: Draws of the c clusters.
        alpha: One minus the confidence of the interval.

    Raises:
        MetricError: Bad options, or the two do not hold the same gold labels in every cluster.
    """
    first, second = margins(one), margins(other)
    if first.gold.shape != second.gold.shape or (first.gold != second.gold).any():
        raise MetricError("systems were not scored on the same clips", expected="equal gold counts in every cluster")
    both = Margins(np.stack([first.tp, second.tp]), first.gold, np.stack([first.predicted, second.predicted]))
    points, values = metric(both.sum()), metric(resample(both, draws))
    differences = values[0] - values[1]
    low, high = percentile(differences, alpha=alpha)
    return Paired(
        difference=float(points[0] - points[1]),
        low=float(low),
        high=float(high),
        p=float(two_sided_p(differences)),
        alpha=alpha,
        n_boot=draws.n_boot,
        n_clusters=draws.n_clusters,
        seed=draws.seed,
    )


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of two systems' accuracies.

    Attributes:
        only_first: Clips that only the first system has right.
        only_second: Clips that only the second system has right.
        p: Two-sided p-value.
        method: ``exact`` or ``chi-square`` (with continuity correction).
    """

    only_first: int
    only_second: int
    p: float
    method: str


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """Test whether two systems are right equally often, from the clips that only one of them has right.

    Exact binomial up to 1,000 such clips, the chi-square with continuity correction above. It takes clips as
    independent, so where speakers go wrong together its p is too small: the cluster bootstrap decides.
    Reference: McNemar (1947), doi:10.1007/BF02295996.
    """
    if only_first < 0 or only_second < 0:
        raise MetricError("bad counts", where="mcnemar", expected="0 or more", found=(only_first, only_second))
    n, fewer = only_first + only_second, min(only_first, only_second)
    if n <= EXACT_UP_TO:
        term = total = 1
        for i in range(fewer):
            term = term * (n - i) // (i + 1)
            total += term
        return McNemar(only_first, only_second, min(1.0, 2 * total / 2**n), "exact")
    statistic = max(abs(only_first - only_second) - 1, 0) ** 2 / n
    return McNemar(only_first, only_second, math.erfc(math.sqrt(statistic / 2)), "chi-square")


def holm(p: ArrayLike) -> Floats:
    """P-values adjusted for all tests of a family, shape (m,), in the order given.

    Reference: Holm (1979), "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 65-70.

    Raises:
        MetricError: Not a row of probabilities.
    """
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise MetricError(
            "not p-values", where="holm", expected="shape (m,), each 0 to 1", found=f"shape {values.shape}"
        )
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
