"""Metrics of valence, arousal and dominance: one real number a clip, in the rating scale's own unit."""

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, reals, same_shape


def _pair(gold: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    one, other = reals(gold, what="gold"), reals(predicted, what="predicted")
    same_shape(one, other, what="predicted")
    return one, other


def ccc(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Concordance correlation coefficient, range -1 to 1.

    ``2·cov(x, y) / (var x + var y + (mean x - mean y)²)`` with variances over n. Reference: Lin (1989),
    doi:10.2307/2532051.

    Args:
        gold: Ratings, shape (n,).
        predicted: Predicted ratings, shape (n,).

    Raises:
        MetricError: NaN, other shapes, or gold and predictions are one and the same constant (0 / 0).

    Example:
        >>> ccc([1, 2, 3, 4], [2, 3, 4, 5])  # a constant shift lowers it
        0.7142857142857143
    """
    one, other = _pair(gold, predicted)
    covariance = ((one - one.mean()) * (other - other.mean())).mean()
    spread = one.var() + other.var() + (one.mean() - other.mean()) ** 2
    if spread == 0:
        raise MetricError("CCC is undefined", expected="ratings that vary", found=f"only the value {one[0]:g}")
    return float(2 * covariance / spread)


def pearson(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Pearson's correlation coefficient ``cov(x, y) / (sd x · sd y)``, range -1 to 1.

    Raises:
        MetricError: NaN, other shapes, or one side does not vary.

    Example:
        >>> round(pearson([1, 2, 3, 4], [2, 3, 4, 5]), 4)  # a constant shift does not matter
        1.0
    """
    one, other = _pair(gold, predicted)
    one, other = one - one.mean(), other - other.mean()
    spread = np.sqrt((one**2).sum()) * np.sqrt((other**2).sum())
    if spread == 0:
        raise MetricError("Pearson's r is undefined", expected="values that vary", found="a constant")
    return float(np.clip((one * other).sum() / spread, -1, 1))


def mae(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Mean absolute error ``mean |x - y|`` in rating units, 0 or more.

    Example:
        >>> mae([1, 2], [2, 4])
        1.5
    """
    one, other = _pair(gold, predicted)
    return float(np.abs(one - other).mean())


def mse(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Mean squared error ``mean (x - y)²`` in squared rating units, 0 or more.

    Example:
        >>> mse([1, 2], [2, 4])
        2.5
    """
    one, other = _pair(gold, predicted)
    return float(((one - other) ** 2).mean())
