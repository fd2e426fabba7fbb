"""Ranks with their uncertainty: joint rank sets, the probability of being first, runs of systems that do not differ."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.statistics.intervals import check_alpha
from oruk_leaderboard.statistics.student import t_quantile, t_sf

MAX_T_FROM = 60
"""Degrees of freedom from which on rank sets use the max-t quantile.

With fewer, the correlations between the differences are estimated from too little, and the quantile is too small: 20
equal systems on 30 clusters were covered jointly in 93 % of the runs (``benchmarks/coverage.py ranks``).
"""


def ranks(values: ArrayLike) -> Ints:
    """Rank of each system, 1 for the highest figure, equal figures sharing the better rank.

    Args:
        values: Figures, shape (s,) or (s, b) for replicates.

    Example:
        >>> ranks([0.6, 0.8, 0.6]).tolist()
        [2, 1, 2]
    """
    array = np.asarray(values)
    above: Ints = (array[None, ...] > array[:, None, ...]).sum(axis=1)
    return above + 1


@dataclass(frozen=True, slots=True, eq=False)
class RankSets:
    """Confidence sets for the ranks of all systems at once.

    Attributes:
        best: Best rank in each system's set, shape (s,).
        worst: Worst rank in it, shape (s,).
        better: Whether system i is surely better than system j, shape (s, s).
    """

    best: Ints
    worst: Ints
    better: NDArray[np.bool_]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Systems that may be the best, shape (s,)."""
        first: NDArray[np.bool_] = self.best == 1
        return first


def rank_sets(figures: Floats, replicates: Floats, *, df: float, alpha: float = 0.05) -> RankSets:
    """Sets that hold the ranks of ALL systems together with probability ``1 - alpha``.

    A system is surely better than another where their difference is above ``c`` standard errors, ``c`` being the
    ``1 - alpha`` quantile over replicates of the largest standardised difference of any pair (max-t). Differences
    that are settled are taken out and ``c`` is found again until nothing new is settled (step-down). The quantile is
    carried from the normal to the t scale, since standard errors of few clusters are uncertain. Below
    ``MAX_T_FROM`` degrees of freedom Bonferroni's t quantile is used instead.

    Args:
        figures: Figures on the whole set, shape (s,).
        replicates: Figures in b rescaled replicates of the same draws, shape (s, b).
        df: Degrees of freedom of the standard errors (``Support.df``).
        alpha: One minus the joint confidence.

    Reference: Mogstad, Romano, Shaikh & Wilhelm (2024), "Inference for ranks", doi:10.1093/restud/rdad006; Romano &
    Wolf (2005), doi:10.1111/j.1468-0262.2005.00615.x, for the step-down.

    Example:
        >>> figures = np.array([0.8, 0.5, 0.49])
        >>> noise = np.random.default_rng(0).normal(0, 0.02, (3, 1000))
        >>> sets = rank_sets(figures, figures[:, None] + noise, df=100)
        >>> sets.best.tolist(), sets.worst.tolist()
        ([1, 2, 2], [1, 3, 3])
    """
    check_alpha(alpha)
    size = len(figures)
    first, second = np.triu_indices(size, 1)
    gap = figures[first] - figures[second]
    centred = replicates - figures[:, None]
    error, deviation = np.zeros(len(first)), np.zeros((len(first), replicates.shape[-1]), np.float32)
    start = 0
    # One system at a time: all replicates of all pairs in float64 at once would be hundreds of MB for a leaderboard.
    for one in range(size - 1):
        differences = centred[one] - centred[one + 1 :]
        rows = slice(start, start + len(differences))
        error[rows] = differences.std(axis=1, ddof=1) if differences.shape[1] > 1 else 0.0
        spread = error[rows, None]
        np.divide(np.abs(differences), spread, out=deviation[rows], where=spread > 0, casting="same_kind")
        start += len(differences)
    # Two systems that never differ in any replicate cannot be told apart.
    size_of_gap = np.where(error > 0, np.abs(gap) / np.where(error > 0, error, 1), 0.0)
    open_, settled = np.ones(len(first), bool), np.zeros(len(first), bool)
    while open_.any():
        critical = _critical(deviation[open_], df, alpha)
        new = open_ & (size_of_gap > critical)
        if not new.any():
            break
        settled |= new
        open_ &= ~new
    better = np.zeros((size, size), bool)
    better[first[settled & (gap > 0)], second[settled & (gap > 0)]] = True
    better[second[settled & (gap < 0)], first[settled & (gap < 0)]] = True
    return RankSets(better.sum(axis=0) + 1, size - better.sum(axis=1), better)


def _critical(deviation: NDArray[np.float32], df: float, alpha: float) -> float:
    """Standard errors above which a difference is settled; ``deviation`` of the open pairs, shape (p, b)."""
    if df < MAX_T_FROM:
        return t_quantile(1 - alpha / (2 * len(deviation)), max(df, 1.0))
    return _on_t_scale(float(np.quantile(deviation.max(axis=0), 1 - alpha)), df)


def _on_t_scale(critical: float, df: float) -> float:
    """The t quantile with the tail that ``critical`` has under the normal distribution."""
    tail = t_sf(critical, float("inf"))
    return t_quantile(1 - tail, max(df, 1.0)) if tail > 1e-12 else critical


def probability_of_first(replicates: Floats) -> Floats:
    """Share of the replicates in which each system is first, shape (s,), summing to 1; a tie is split evenly.

    Example:
        >>> probability_of_first(np.array([[0.8, 0.6], [0.7, 0.6]])).tolist()
        [0.75, 0.25]
    """
    best = replicates == replicates.max(axis=0)
    share: Floats = (best / best.sum(axis=0)).mean(axis=-1)
    return share


def cliques(separated: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Longest runs of neighbours in which no two systems separate, as in a critical-difference diagram.

    Unlike shared ranks they do not chain: where the first equals the second and the second the third, the first and
    the third may still differ, and then two runs overlap. Reference: Demšar (2006), JMLR 7, 1-30.

    Args:
        separated: Whether each pair of systems, sorted from the best down, differs; shape (s, s), symmetric.

    Returns:
        First and last position of each run of at least two, none inside another.

    Example:
        >>> apart = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
        >>> cliques(apart)
        [(0, 1), (1, 2)]
    """
    size = len(separated)
    if separated.shape != (size, size):
        raise MetricError("not a square", where="separated", expected="shape (s, s)", found=f"shape {separated.shape}")
    runs: list[tuple[int, int]] = []
    for first in range(size):
        last = first
        while last + 1 < size and not separated[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
