"""What a set of clips can resolve: the smallest difference that a comparison of two systems would find."""

import math
from statistics import NormalDist

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.statistics.intervals import check_alpha


def minimum_detectable_difference(
    n: int, base: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> float:
    """Smallest gain in accuracy over ``base`` that is found with probability ``power``, range 0 to ``1 - base``.

    A two-sided z-test of two accuracies on the same clips with independent errors, by the normal approximation: it
    solves ``d = (z_{1-α/2} + z_{power})·√((a(1 - a) + b(1 - b)) / n)`` with ``a = base``, ``b = base + d``. Errors of
    two real systems go together, which makes smaller differences visible; clips of one speaker go together too, which
    hides larger ones (``design_effect``). Reference: Fleiss, Levin & Paik (2003), "Statistical methods for rates and
    proportions", chapter 4.

    Args:
        n: Number of clips.
        base: Accuracy of the weaker system, strictly between 0 and 1.
        power: Probability to find the difference.
        alpha: Level of the two-sided test.
        design_effect: Variance of the clustered figure over that of independent clips, 1 or more.

    Raises:
        MetricError: An option out of its range, or no difference up to ``1 - base`` would be found.

    Example:
        >>> round(minimum_detectable_difference(5000, 0.77), 4)
        0.0231
    """
    check_alpha(alpha)
    for name, value, fine in (
        ("n", n, n >= 1),
        ("base", base, 0 < base < 1),
        ("power", power, 0 < power < 1),
        ("design_effect", design_effect, design_effect >= 1),
    ):
        if not fine:
            raise MetricError("out of range", where=name, found=value)
    quantiles = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    factor = quantiles**2 * design_effect / n
    # d² = factor·(a(1-a) + b(1-b)) is a quadratic in d with one positive root.
    linear = factor * (1 - 2 * base)
    constant = 2 * factor * base * (1 - base)
    difference = (linear + math.sqrt(linear**2 + 4 * (1 + factor) * constant)) / (2 * (1 + factor))
    if difference > 1 - base:
        raise MetricError("too few clips to find any difference", where="n", found=n, expected="more clips")
    return difference
