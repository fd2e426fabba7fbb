"""Ranks that say how sure they are: shared ranks, rank intervals, the probability of being first."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.statistics.intervals import check_alpha


def ranks(values: ArrayLike) -> Ints:
    """Rank of each system, 1 for the highest figure, equal figures sharing the better rank.

    Args:
        values: Figures, shape (s,) or (s, b) for replicates.
    """
    array = np.asarray(values)
    above: Ints = (array[None, ...] > array[:, None, ...]).sum(axis=1)
    return above + 1


def rank_intervals(replicates: Floats, *, alpha: float = 0.05) -> tuple[Ints, Ints]:
    """Lowest and highest rank of each system in the middle ``1 - alpha`` of the replicates, both shape (s,).

    Args:
        replicates: Figures of s systems in b replicates of the same draws, shape (s, b).
        alpha: One minus the confidence.

    Reference: Goldstein & Spiegelhalter (1996), doi:10.2307/2983325.
    """
    check_alpha(alpha)
    drawn = ranks(replicates)
    low, high = np.percentile(drawn, [100 * alpha / 2, 100 * (1 - alpha / 2)], axis=-1, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def probability_of_first(replicates: Floats) -> Floats:
    """Share of the replicates in which each system is first, shape (s,), summing to 1; a tie is split evenly."""
    best = replicates == replicates.max(axis=0)
    share: Floats = (best / best.sum(axis=0)).mean(axis=-1)
    return share


def display_ranks(separated: Sequence[bool]) -> list[int]:
    """Ranks to show: adjacent systems that do not separate share one (protocol 0.1.0).

    Args:
        separated: For systems sorted from the best down, whether each but the first differs from the one above it.

    Returns:
        One rank a system; the one after a tie of two on rank 1 has rank 3.
    """
    shown = [1]
    for position, apart in enumerate(separated, start=2):
        shown.append(position if apart else shown[-1])
    return shown


def cliques(separated: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Longest runs of neighbours in which no two systems separate, as in a critical-difference diagram.

    Unlike shared ranks they do not chain: where the first equals the second and the second the third, the first and
    the third may still differ, and then two runs overlap. Reference: Demšar (2006), JMLR 7, 1-30.

    Args:
        separated: Whether each pair of systems, sorted from the best down, differs; shape (s, s), symmetric.

    Returns:
        First and last position of each run of at least two, none inside another.
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
