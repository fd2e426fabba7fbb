"""Metrics against what several listeners said: a distribution over the classes for each clip, shape (n, k).

Each metric has one value per clip; the figure of a set is their mean. References are given with each function; the
thresholded macro-F1 is that of EMO-SUPERB (Wu et al., 2024, arXiv:2402.13018).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.metrics.checks import Floats, distributions, same_shape
from oruk_leaderboard.metrics.classification import Margins
from oruk_leaderboard.metrics.probabilistic import SUM_TOLERANCE

FLOOR = 1e-12
"""Scores below it count as it, so that a class that was ruled out has a finite loss (as in the public harness)."""


def _pair(targets: ArrayLike, scores: ArrayLike) -> tuple[Floats, Floats]:
    wanted = distributions(targets, what="targets")
    given = distributions(scores, what="scores", tolerance=SUM_TOLERANCE)
    same_shape(wanted, given, what="scores")
    return wanted, given


def cross_entropies(targets: ArrayLike, scores: ArrayLike) -> Floats:
    """Cross-entropy ``-Σ_c t_c ln(s_c)`` of each clip in nats, 0 or more, shape (n,).

    Args:
        targets: Votes or shares of the listeners, shape (n, k); rows are scaled to sum 1.
        scores: Predicted distribution, shape (n, k); a hard prediction is a row with a single 1.

    Raises:
        MetricError: NaN, negative values, rows without mass, or other shapes.

    Example:
        >>> cross_entropies([[1, 1]], [[0.5, 0.5]]).round(4).tolist()
        [0.6931]
    """
    wanted, given = _pair(targets, scores)
    return np.asarray(-(wanted * np.log(np.maximum(given, FLOOR))).sum(axis=1))


def entropies(targets: ArrayLike) -> Floats:
    """Entropy of the votes of each clip in bits, 0 to log2(k), shape (n,); 0 where all listeners agree.

    Example:
        >>> entropies([[3, 0], [2, 2]]).tolist()
        [0.0, 1.0]
    """
    wanted = distributions(targets, what="targets")
    logs = np.log2(wanted, out=np.zeros_like(wanted), where=wanted > 0)
    # Adding 0 turns the -0 of a unanimous clip into 0.
    return np.asarray(0.0 - (wanted * logs).sum(axis=1))


def kl_divergences(targets: ArrayLike, scores: ArrayLike) -> Floats:
    """Kullback–Leibler divergence ``Σ_c t_c ln(t_c / s_c)`` of each clip in nats, 0 or more, shape (n,).

    Example:
        >>> kl_divergences([[1, 1]], [[0.5, 0.5]]).tolist()
        [0.0]
    """
    own = entropies(targets) * np.log(2)
    # Rounding can leave a tiny negative number where both are equal.
    return np.asarray(np.maximum(cross_entropies(targets, scores) - own, 0))


def js_divergences(targets: ArrayLike, scores: ArrayLike) -> Floats:
    """Jensen–Shannon divergence of each clip in bits, 0 to 1, shape (n,).

    ``½ KL(t ‖ m) + ½ KL(s ‖ m)`` with ``m = (t + s) / 2`` and base-2 logarithms. Reference: Lin (1991),
    doi:10.1109/18.61115.

    Example:
        >>> js_divergences([[1, 0]], [[0.0, 1.0]]).tolist()
        [1.0]
    """
    wanted, given = _pair(targets, scores)
    middle = (wanted + given) / 2

    def divergence(part: Floats) -> Floats:
        ratio = np.divide(part, middle, out=np.ones_like(part), where=part > 0)
        total: Floats = (part * np.log2(ratio)).sum(axis=1)
        return total

    return np.asarray(np.clip((divergence(wanted) + divergence(given)) / 2, 0, 1))


def cosine_similarities(targets: ArrayLike, scores: ArrayLike) -> Floats:
    """Cosine of the angle between votes and scores of each clip, 0 to 1, shape (n,).

    Example:
        >>> cosine_similarities([[1, 0]], [[0.0, 1.0]]).tolist()
        [0.0]
    """
    wanted, given = _pair(targets, scores)
    lengths = np.linalg.norm(wanted, axis=1) * np.linalg.norm(given, axis=1)
    return np.asarray(np.clip((wanted * given).sum(axis=1) / lengths, 0, 1))


def soft_accuracies(targets: ArrayLike, predicted: NDArray[np.int64]) -> Floats:
    """Share of a clip's listeners who chose the predicted class, 0 to 1, shape (n,).

    Args:
        targets: Votes or shares, shape (n, k).
        predicted: Predicted class, shape (n,), 0 to k; k is not a class and gets 0.

    Example:
        >>> soft_accuracies([[3, 1], [3, 1]], np.array([1, 2])).tolist()
        [0.25, 0.0]
    """
    wanted = distributions(targets, what="targets")
    padded = np.concatenate([wanted, np.zeros((len(wanted), 1))], axis=1)
    return np.asarray(padded[np.arange(len(wanted)), predicted])


def thresholded(targets: ArrayLike, scores: ArrayLike) -> Margins:
    """Margins of each clip for EMO-SUPERB's macro-F1, shape (n, k): every class above 1/k is said.

    A clip may so have several gold and several predicted classes; ``macro_f1`` of the summed margins is the figure.
    Reference: Wu et al. (2024), arXiv:2402.13018, and its code (emo-superb/expert.py).

    Example:
        >>> from oruk_leaderboard.metrics import macro_f1
        >>> float(macro_f1(thresholded([[1, 1, 0]], [[0.8, 0.1, 0.1]]).sum()))
        0.3333333333333333
    """
    wanted, given = _pair(targets, scores)
    bar = 1 / wanted.shape[1]
    gold, said = wanted > bar, given > bar
    return Margins((gold & said).astype(np.float64), gold.astype(np.float64), said.astype(np.float64))
