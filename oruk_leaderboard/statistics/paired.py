"""Whether two systems differ on the same clips: paired tests over clusters, McNemar, Holm."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats
from oruk_leaderboard.statistics.student import t_sf

EXACT_UP_TO = 1000
"""Discordant clips up to which McNemar's test is computed exactly."""


def t_p(difference: float, error: float, df: float) -> float:
    """Two-sided p-value of a difference by Student's t, 0 to 1.

    Args:
        difference: Of the figures on the whole set.
        error: Its standard error, from rescaled replicates of the difference; 0 where the systems never differ.
        df: Degrees of freedom (``Support.df``).

    Example:
        >>> round(t_p(0.03, 0.01, 9), 4)
        0.015
    """
    if error == 0:
        return 1.0 if difference == 0 else 0.0
    return 2 * t_sf(abs(difference) / error, max(df, 1.0))


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

    Example:
        >>> mcnemar(9, 1)
        McNemar(only_first=9, only_second=1, p=0.021484375, method='exact')
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

    Example:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
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
