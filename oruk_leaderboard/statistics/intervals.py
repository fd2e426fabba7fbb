"""Confidence intervals: from replicates of a figure, from sums by cluster, and from a printed figure.

Which of them covers, and where, is measured by ``benchmarks/coverage.py``; ``docs/intervals.md`` has the table.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.statistics.resampling import Design, Support
from oruk_leaderboard.statistics.student import t_quantile

Method: TypeAlias = Literal["logit-t", "t", "percentile", "bca"]
"""How replicates become an interval; the first is the default."""

METHODS: tuple[Method, ...] = get_args(Method)

RESCALED: frozenset[str] = frozenset({"logit-t", "t"})
"""Methods that take the spread of rescaled draws; the others read plain draws, as the public harness does."""

FEWEST = 5
"""Clusters below which no interval is given, because its error cannot be estimated."""

FEW = 10
"""Effective clusters below which an interval comes with a warning."""

_NORMAL = NormalDist()

Ends: TypeAlias = tuple[float, float]
"""Lower and upper end of an interval."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Smallest and largest value that a figure can have."""

    low: float = 0.0
    high: float = 1.0


UNIT = Bounds()


def check_alpha(alpha: float) -> None:
    """Refuse an ``alpha`` outside 0 to 1.

    Raises:
        MetricError: Not strictly between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise MetricError("bad option", where="alpha", expected="above 0 and below 1 (0.05 is 95 %)", found=alpha)


def percentile(replicates: ArrayLike, *, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Percentile interval over the last axis of replicates, linear between order statistics.

    Reference: Efron & Tibshirani (1993), "An introduction to the bootstrap", chapter 13.

    Example:
        >>> low, high = percentile([0.1, 0.2, 0.3, 0.4, 0.5], alpha=0.5)
        >>> float(low), float(high)
        (0.2, 0.4)
    """
    check_alpha(alpha)
    low, high = np.percentile(np.asarray(replicates), [100 * alpha / 2, 100 * (1 - alpha / 2)], axis=-1)
    return low, high


def bca(point: float, replicates: Floats, jackknife: Floats, *, alpha: float = 0.05) -> Ends:
    """Bias-corrected and accelerated interval.

    Args:
        point: Figure on the whole set.
        replicates: Shape (b,).
        jackknife: Figure without each cluster in turn, shape (c,).
        alpha: One minus the confidence.

    Raises:
        MetricError: The figure is outside all replicates, so that its bias correction is infinite.

    Reference: Efron (1987), doi:10.1080/01621459.1987.10478410.

    Example:
        >>> replicates, jackknife = np.linspace(0.4, 0.8, 101), np.array([0.58, 0.6, 0.62])
        >>> low, high = bca(0.6, replicates, jackknife)
        >>> round(low, 3), round(high, 3)
        (0.409, 0.789)
    """
    check_alpha(alpha)
    if np.ptp(replicates) == 0:
        return float(replicates[0]), float(replicates[0])
    below = float((replicates < point).mean() + (replicates == point).mean() / 2)
    if not 0 < below < 1:
        raise MetricError(
            "BCa is undefined: the figure is outside all replicates",
            expected="more replicates",
            found=f"{len(replicates)} replicates",
            do="use --interval percentile",
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


def t_interval(
    point: float,
    error: float,
    support: Support,
    *,
    alpha: float = 0.05,
    bounds: Bounds = UNIT,
    logit: bool = True,
) -> Ends:
    """A figure plus and minus its standard error times a quantile of Student's t.

    On the logit scale (the default) the interval stays inside the figure's bounds and is longer towards the middle of
    the scale, which is where a figure near a bound is likely to be. At a bound, where the standard error says nothing,
    Wilson's interval of ``support.effective`` independent answers is used instead; where the other bound is infinite,
    so is that end.

    Args:
        point: Figure on the whole set, within ``bounds``.
        error: Its standard error, 0 or more.
        support: Clusters behind it; ``df`` gives the t quantile.
        alpha: One minus the confidence.
        bounds: Smallest and largest value of the figure; the upper one may be infinite.
        logit: Whether the logit scale is used (the logarithm where the upper bound is infinite).

    Example:
        >>> low, high = t_interval(0.6, 0.03, Support(clusters=10, effective=10.0, df=9.0))
        >>> round(low, 3), round(high, 3)
        (0.531, 0.666)
    """
    check_alpha(alpha)
    width = bounds.high - bounds.low
    if point <= bounds.low or point >= bounds.high:
        if math.isinf(width):
            return point, math.inf
        ends = wilson((point - bounds.low) / width, max(support.effective, 1.0), alpha=alpha)
        return bounds.low + width * float(ends[0]), bounds.low + width * float(ends[1])
    reach = t_quantile(1 - alpha / 2, max(support.df, 1.0)) * error
    if not logit:
        return max(point - reach, bounds.low), min(point + reach, bounds.high)
    if math.isinf(width):
        factor = math.exp(reach / (point - bounds.low))
        return bounds.low + (point - bounds.low) / factor, bounds.low + (point - bounds.low) * factor
    share = (point - bounds.low) / width
    centre, step = math.log(share / (1 - share)), reach / width / (share * (1 - share))
    low, high = (1 / (1 + math.exp(-end)) if end > -700 else 0.0 for end in (centre - step, centre + step))
    return bounds.low + width * low, bounds.low + width * high


def standard_error(replicates: Floats) -> float:
    """Standard deviation of replicates, shape (b,); 0 for a single one.

    Example:
        >>> round(standard_error(np.array([0.5, 0.6, 0.7])), 4)
        0.1
    """
    return float(replicates.std(ddof=1)) if len(replicates) > 1 else 0.0


def mean_error(totals: Floats, clips: Floats, design: Design, units: Ints | None = None) -> float:
    """Standard error of a mean over clips, ``Σ totals / Σ clips``, from sums by unit (linearised, by stratum).

    Args:
        totals: Sum of the clips' values in each unit, shape (u,).
        clips: Clips of each unit, shape (u,); units without clips take no part.
        design: What is drawn.
        units: Indices of the units; None for all.

    Reference: Särndal, Swensson & Wretman (1992), "Model assisted survey sampling", sections 5.5 and 5.6.

    Example:
        >>> right, clips = np.array([8.0, 6.0, 10.0]), np.array([10.0, 10.0, 10.0])
        >>> round(mean_error(right, clips, Design.of_clusters(3)), 4)  # standard error of the mean 0.8
        0.1155
    """
    stratum = design.stratum if units is None else design.stratum[units]
    n = clips.sum()
    deviation = totals - totals.sum() / n * clips
    c = np.bincount(stratum)
    here = c > 1
    squares, sums = np.bincount(stratum, weights=deviation**2)[here], np.bincount(stratum, weights=deviation)[here]
    variance = (c[here] / (c[here] - 1) * np.maximum(squares - sums**2 / c[here], 0)).sum()
    return float(np.sqrt(variance) / n)


def wilson(share: ArrayLike, n: ArrayLike, *, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Wilson's score interval of a share of n independent clips, range 0 to 1.

    It does not know of clusters: clips of one speaker or corpus go wrong together, so the true interval is wider.
    Reference: Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Args:
        share: Share of right clips, 0 to 1.
        n: Number of clips, or an effective number.
        alpha: One minus the confidence.

    Raises:
        MetricError: A share outside 0 to 1, or fewer than one clip.

    Example:
        >>> low, high = wilson(1.0, 10)
        >>> round(float(low), 4), float(high)
        (0.7225, 1.0)
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
    low = np.where(p == 0, 0.0, np.maximum(centre - half, 0))
    return low[()], np.where(p == 1, 1.0, np.minimum(centre + half, 1))[()]
