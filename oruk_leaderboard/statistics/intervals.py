"""Confidence intervals: percentile and BCa from replicates, Wilson from a printed figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats
from oruk_leaderboard.metrics.classification import Counts, Metric, margins
from oruk_leaderboard.statistics.resampling import Draws, leave_one_out, resample
from oruk_leaderboard.todict import ToDict

Method: TypeAlias = Literal["percentile", "bca"]
"""How replicates become an interval."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval(ToDict):
    """A figure and its interval.

    Attributes:
        point: The figure on the whole set.
        low: Lower end of the interval.
        high: Upper end of the interval.
        alpha: One minus the confidence.
        method: ``percentile``, ``bca`` or ``wilson``.
        n_boot: Replicates, 0 for ``wilson``.
        n_clusters: Clusters resampled, or clips for ``wilson``.
        seed: Seed of the draws.
    """

    point: float
    low: float
    high: float
    alpha: float
    method: str
    n_boot: int
    n_clusters: int
    seed: int


def check_alpha(alpha: float) -> None:
    """Refuse an ``alpha`` that is no probability.

    Raises:
        MetricError: Not strictly between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise MetricError("bad option", where="alpha", expected="above 0 and below 1 (0.05 is 95 %)", found=alpha)


def percentile(replicates: ArrayLike, *, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Percentile interval over the last axis of replicates, linear between order statistics.

    Reference: Efron & Tibshirani (1993), "An introduction to the bootstrap", chapter 13.
    """
    check_alpha(alpha)
    low, high = np.percentile(np.asarray(replicates), [100 * alpha / 2, 100 * (1 - alpha / 2)], axis=-1)
    return low, high


def bca(point: float, replicates: Floats, jackknife: Floats, *, alpha: float = 0.05) -> tuple[float, float]:
    """Bias-corrected and accelerated interval.

    Args:
        point: Figure on the whole set.
        replicates: Shape (b,).
        jackknife: Figure without each cluster in turn, shape (c,).
        alpha: One minus the confidence.

    Raises:
        MetricError: The figure lies outside all replicates, so that its bias correction is infinite.

    Reference: Efron (1987), doi:10.1080/01621459.1987.10478410.
    """
    check_alpha(alpha)
    if np.ptp(replicates) == 0:
        return float(replicates[0]), float(replicates[0])
    below = float((replicates < point).mean() + (replicates == point).mean() / 2)
    if not 0 < below < 1:
        raise MetricError(
            "BCa is undefined: the figure lies outside all replicates",
            expected="more replicates",
            found=f"{len(replicates)} replicates",
            do="use the percentile method",
        )
    bias = _NORMAL.inv_cdf(below)
    gaps = jackknife.mean() - jackknife
    spread = float((gaps**2).sum()) ** 1.5
    acceleration = float((gaps**3).sum()) / (6 * spread) if spread else 0.0
    ends = []
    for tail in (alpha / 2, 1 - alpha / 2):
        shifted = bias + _NORMAL.inv_cdf(tail)
        ends.append(100 * _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted)))
    low, high = np.percentile(replicates, ends)
    return float(low), float(high)


def interval(
    clustered: Counts, metric: Metric, *, draws: Draws, alpha: float = 0.05, method: Method = "percentile"
) -> Interval:
    """A figure with its cluster-bootstrap interval; see :func:`bootstrap`."""
    return bootstrap(clustered, {"figure": metric}, draws=draws, alpha=alpha, method=method)["figure"]


def bootstrap(
    clustered: Counts,
    metrics: Mapping[str, Metric],
    *,
    draws: Draws,
    alpha: float = 0.05,
    method: Method = "percentile",
) -> dict[str, Interval]:
    """Cluster-bootstrap intervals of any number of metrics from the same draws.

    Args:
        clustered: Confusion counts of each cluster, shape (c, k, k + 1), or their margins.
        metrics: Name to metric of margins.
        draws: Draws of the c clusters.
        alpha: One minus the confidence, above 0 and below 1.
        method: ``percentile`` (the benchmark's) or ``bca``.

    Raises:
        MetricError: Bad options, counts of other clusters than the draws, or BCa without a value.
    """
    check_alpha(alpha)
    if method not in get_args(Method):
        raise MetricError("unknown method", expected=" or ".join(get_args(Method)), found=method)
    parts = margins(clustered)
    whole, replicates = parts.sum(), resample(parts, draws)
    intervals = {}
    for name, metric in metrics.items():
        point, values = float(metric(whole)), metric(replicates)
        if method == "bca":
            low, high = bca(point, values, metric(leave_one_out(parts)), alpha=alpha)
        else:
            low, high = (float(end) for end in percentile(values, alpha=alpha))
        intervals[name] = Interval(point, low, high, alpha, method, draws.n_boot, draws.n_clusters, draws.seed)
    return intervals


def wilson(share: ArrayLike, n: ArrayLike, *, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Wilson's score interval of a share of n independent clips, range 0 to 1.

    It knows nothing of clusters: clips of one speaker or corpus go wrong together, so the true interval is wider.
    Reference: Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Args:
        share: Share of right clips, 0 to 1.
        n: Number of clips.
        alpha: One minus the confidence.

    Raises:
        MetricError: A share outside 0 to 1, or no clips.
    """
    check_alpha(alpha)
    p, count = np.asarray(share, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise MetricError("not a share", where="share", expected="0 to 1", found=share)
    if not (count >= 1).all():
        raise MetricError("no clips", where="n", expected="1 or more", found=n)
    z = _NORMAL.inv_cdf(1 - alpha / 2)
    centre = (p + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(p * (1 - p) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    # The ends are 0 and 1 exactly where nothing or everything is right; rounding must not push them past.
    return np.where(p == 0, 0.0, np.maximum(centre - half, 0))[()], np.where(p == 1, 1.0, np.minimum(centre + half, 1))[
        ()
    ]
