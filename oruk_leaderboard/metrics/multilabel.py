"""Metrics where a clip may have any number of labels: boolean matrices, shape (n, k), row clip, column label."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, divide, same_shape


def _pair(gold: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    sides = []
    for name, values in (("gold", gold), ("predicted", predicted)):
        array = np.asarray(values)
        if array.ndim != 2 or array.size == 0:
            raise MetricError("wrong shape", where=name, expected="(n, k), n > 0", found=f"shape {array.shape}")
        if array.dtype == object or not np.isin(array, (0, 1)).all():
            raise MetricError("not yes or no", where=name, expected="0, 1 or booleans", found=f"dtype {array.dtype}")
        sides.append(array.astype(bool))
    same_shape(sides[0], sides[1], what="predicted")
    return sides[0], sides[1]


def jaccard_accuracy(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Mean over clips of ``|gold ∩ predicted| / |gold ∪ predicted|``, 1 where both are empty; range 0 to 1.

    The "accuracy" of SemEval-2018 task 1 E-c. Reference: Mohammad et al. (2018), doi:10.18653/v1/S18-1001.

    Example:
        >>> jaccard_accuracy([[1, 1], [0, 0]], [[1, 0], [0, 0]])
        0.75
    """
    one, other = _pair(gold, predicted)
    union = (one | other).sum(axis=1)
    return float(np.where(union == 0, 1.0, divide((one & other).sum(axis=1), union)).mean())


def label_f1(gold: ArrayLike, predicted: ArrayLike) -> Floats:
    """F1 of each label, ``2·tp / (gold + predicted)``, shape (k,), range 0 to 1; 0 where a label never occurs.

    Example:
        >>> label_f1([[1, 1], [1, 0]], [[1, 0], [1, 0]]).tolist()
        [1.0, 0.0]
    """
    one, other = _pair(gold, predicted)
    return divide(2 * (one & other).sum(axis=0), one.sum(axis=0) + other.sum(axis=0))


def label_macro_f1(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Mean of the labels' F1, range 0 to 1.

    Example:
        >>> label_macro_f1([[1, 1], [1, 0]], [[1, 0], [1, 0]])
        0.5
    """
    return float(label_f1(gold, predicted).mean())


def label_micro_f1(gold: ArrayLike, predicted: ArrayLike) -> float:
    """F1 of all decisions pooled, ``2·Σ tp / (Σ gold + Σ predicted)``, range 0 to 1.

    Example:
        >>> label_micro_f1([[1, 1], [1, 0]], [[1, 0], [1, 0]])
        0.8
    """
    one, other = _pair(gold, predicted)
    return float(divide(2 * (one & other).sum(), one.sum() + other.sum()))


def label_weighted_f1(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Labels' F1 weighted by how many clips have the label, range 0 to 1.

    Example:
        >>> round(label_weighted_f1([[1, 1], [1, 0]], [[1, 0], [1, 0]]), 4)
        0.6667
    """
    one, other = _pair(gold, predicted)
    weights = one.sum(axis=0)
    return float(divide((label_f1(one, other) * weights).sum(), weights.sum()))


def label_accuracy(gold: ArrayLike, predicted: ArrayLike) -> Floats:
    """Share of clips on which a label's yes or no is right, shape (k,), range 0 to 1.

    Example:
        >>> label_accuracy([[1, 1], [1, 0]], [[1, 0], [1, 0]]).tolist()
        [1.0, 0.5]
    """
    one, other = _pair(gold, predicted)
    right: Floats = (one == other).mean(axis=0)
    return right


def balanced_binary_accuracy(gold: ArrayLike, predicted: ArrayLike) -> Floats:
    """Balanced accuracy of each label, CMU-MOSEI's "weighted accuracy", shape (k,), range 0 to 1.

    ``(tp·N/P + tn) / (2·N)`` with P clips that have the label and N that have not: the mean of true positive rate and
    true negative rate; a rate without clips counts 0. Reference: Tong et al. (2017), doi:10.18653/v1/P17-1142, taken
    over by Zadeh et al. (2018), doi:10.18653/v1/P18-1208.

    Example:
        >>> balanced_binary_accuracy([[1], [0], [0], [0]], [[1], [0], [0], [1]]).round(4).tolist()
        [0.8333]
    """
    one, other = _pair(gold, predicted)
    hits = divide((one & other).sum(axis=0), one.sum(axis=0))
    rejections = divide((~one & ~other).sum(axis=0), (~one).sum(axis=0))
    return (hits + rejections) / 2
