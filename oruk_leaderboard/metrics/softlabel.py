"""Metrics against what several raters said: a distribution over the classes for each clip, shape (n, k)."""

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError, MissingExtraError
from oruk_leaderboard.metrics.checks import Floats, distributions, same_shape
from oruk_leaderboard.metrics.probabilistic import SUM_TOLERANCE


def _pair(targets: ArrayLike, scores: ArrayLike) -> tuple[Floats, Floats]:
    wanted = distributions(targets, what="targets")
    given = distributions(scores, what="scores", tolerance=SUM_TOLERANCE)
    same_shape(wanted, given, what="scores")
    return wanted, given


def soft_cross_entropy(targets: ArrayLike, scores: ArrayLike, *, floor: float = 1e-12) -> float:
    """Mean ``-Σ_c t_c ln(s_c)`` in nats, 0 or more.

    Args:
        targets: Votes or shares of the raters, shape (n, k); rows are scaled to sum 1.
        scores: Predicted distribution, shape (n, k); a hard prediction is a row with a single 1.
        floor: Scores below it count as it, so that a hard prediction has a finite loss.

    Raises:
        MetricError: NaN, negative values, rows without mass, or other shapes.
    """
    wanted, given = _pair(targets, scores)
    return float(-(wanted * np.log(np.maximum(given, floor))).sum(axis=1).mean())


def js_divergence(targets: ArrayLike, scores: ArrayLike) -> float:
    """Mean Jensen–Shannon divergence in bits, range 0 to 1.

    ``½ KL(t ‖ m) + ½ KL(s ‖ m)`` with ``m = (t + s) / 2`` and base-2 logarithms. Reference: Lin (1991),
    doi:10.1109/18.61115.
    """
    wanted, given = _pair(targets, scores)
    middle = (wanted + given) / 2

    def divergence(part: Floats) -> Floats:
        ratio = np.divide(part, middle, out=np.ones_like(part), where=part > 0)
        total: Floats = (part * np.log2(ratio)).sum(axis=1)
        return total

    each = (divergence(wanted) + divergence(given)) / 2
    return float(np.clip(each, 0, 1).mean())


def soft_accuracy(targets: ArrayLike, scores: ArrayLike) -> float:
    """Mean share of the raters who chose the class that is predicted (the first highest score), range 0 to 1."""
    wanted, given = _pair(targets, scores)
    return float(wanted[np.arange(len(wanted)), given.argmax(axis=1)].mean())


Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
"""Level of measurement of ratings."""


def krippendorff_alpha(ratings: ArrayLike, *, level: Level = "nominal") -> float:
    """Agreement of raters, at most 1; 0 is chance. Computed by the ``krippendorff`` package.

    Reference: Hayes & Krippendorff (2007), doi:10.1080/19312450709336664.

    Args:
        ratings: Shape (raters, clips), NaN where a rater did not rate a clip.
        level: ``nominal``, ``ordinal``, ``interval`` or ``ratio``.

    Raises:
        MissingExtraError: The extra ``agreement`` is not installed.
        MetricError: Fewer than two raters or two different values, or an unknown level.
    """
    try:
        import krippendorff
    except ModuleNotFoundError as error:
        raise MissingExtraError("Krippendorff's alpha needs the krippendorff package", extra="agreement") from error
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2:
        raise MetricError("wrong shape", where="ratings", expected="(raters, clips), 2 raters", found=f"{table.shape}")
    if level not in get_args(Level):
        raise MetricError("unknown level", expected=", ".join(get_args(Level)), found=level)
    if len(np.unique(table[~np.isnan(table)])) < 2:
        raise MetricError("alpha is undefined", where="ratings", expected="at least two different values")
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement=level))
