"""Single-label classification metrics from confusion counts with any number of leading batch dimensions.

All of them depend on a confusion matrix only through three vectors over the classes, its :class:`Margins`: the hits
``tp_c``, the gold clips ``g_c`` and the predictions ``p_c``. The bootstrap therefore resamples margins (3·k numbers a
cluster) rather than whole matrices, and every function takes either.

Shapes: ``…`` are batch dimensions (systems, replicates, slices), ``k`` classes. Every figure is a fraction without
unit, range 0 to 1 unless its docstring says otherwise. References: Sokolova & Lapalme (2009), "A systematic analysis
of performance measures for classification tasks", doi:10.1016/j.ipm.2009.03.002, for precision, recall and F1 and
their averages; names agree with scikit-learn's.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints, divide, indices


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """What classification metrics need of a confusion matrix.

    Attributes:
        tp: Hits of each class, shape (…, k).
        gold: Gold clips of each class, shape (…, k); may have fewer batch dimensions than ``tp`` where systems share
            their gold labels.
        predicted: Predictions of each class, shape (…, k); predictions that name no class are in none of them.
    """

    tp: Floats
    gold: Floats
    predicted: Floats

    def sum(self, axis: int = -2) -> "Margins":
        """Sum over a batch axis (-2 is the last one): the margins of clusters become those of the whole set."""
        return Margins(self.tp.sum(axis), self.gold.sum(axis), self.predicted.sum(axis))


Counts: TypeAlias = "NDArray[np.integer] | NDArray[np.floating] | Margins"
"""Confusion counts, shape (…, k, k + 1) or (…, k, k), or their margins."""


def confusion(
    gold: ArrayLike,
    predicted: ArrayLike,
    n_classes: int,
    *,
    groups: ArrayLike | None = None,
    n_groups: int | None = None,
) -> Ints:
    """Count clips by gold class and predicted class.

    Args:
        gold: Class index of each clip, shape (n,), 0 to k - 1.
        predicted: Predicted index of each clip, shape (n,), 0 to k; k means "no class" (missing, refused, abstained,
            a class outside the label space).
        n_classes: Number of classes k of the label space.
        groups: Index of each clip's group (cluster, slice), shape (n,), or None.
        n_groups: Number of groups g; by default the largest index plus one.

    Returns:
        Counts, shape (k, k + 1), or (g, k, k + 1) with ``groups``; row gold, column predicted, last column "no class".

    Raises:
        MetricError: No clips, other lengths, floats or booleans as classes, or an index out of range.

    Example:
        >>> confusion([0, 0, 1], [0, 1, 2], 2).tolist()  # the last clip has no class
        [[1, 1, 0], [0, 0, 1]]
    """
    rows = indices(gold, below=n_classes, what="gold")
    columns = indices(predicted, below=n_classes + 1, what="predicted")
    if rows.shape != columns.shape:
        raise MetricError("lengths differ", where="predicted", expected=f"{rows.size} clips", found=columns.size)
    cells = rows * (n_classes + 1) + columns
    size = n_classes * (n_classes + 1)
    if groups is None:
        return np.bincount(cells, minlength=size).reshape(n_classes, n_classes + 1)
    members = indices(groups, below=np.iinfo(np.int64).max if n_groups is None else n_groups, what="groups")
    if members.shape != rows.shape:
        raise MetricError("lengths differ", where="groups", expected=f"{rows.size} clips", found=members.size)
    count = int(members.max()) + 1 if n_groups is None else n_groups
    counted = np.bincount(members * size + cells, minlength=count * size)
    return counted.reshape(count, n_classes, n_classes + 1)


def margins(counts: Counts) -> Margins:
    """Margins of confusion counts; margins come back as they are.

    Raises:
        MetricError: The last two dimensions are not (k, k + 1) or (k, k), or a count is negative or NaN.

    Example:
        >>> m = margins([[3, 1, 0], [1, 2, 1]])
        >>> m.tp.tolist(), m.gold.tolist(), m.predicted.tolist()
        ([3.0, 2.0], [4.0, 4.0], [4.0, 3.0])
    """
    if isinstance(counts, Margins):
        return counts
    array = np.asarray(counts, dtype=np.float64)
    if array.ndim < 2 or array.shape[-1] - array.shape[-2] not in (0, 1):
        raise MetricError(
            "no confusion matrix", expected="shape (…, k, k + 1) or (…, k, k)", found=f"shape {array.shape}"
        )
    if not (array >= 0).all():
        raise MetricError("confusion counts must be 0 or more", found="a negative count or NaN")
    k = array.shape[-2]
    return Margins(
        tp=np.ascontiguousarray(np.diagonal(array, axis1=-2, axis2=-1)),
        gold=array.sum(axis=-1),
        predicted=array[..., :k].sum(axis=-2),
    )


def present(counts: Counts) -> NDArray[np.bool_]:
    """Classes that have gold clips, shape (…, k): the classes a slice is scored over.

    Example:
        >>> present([[3, 1], [0, 0]]).tolist()
        [True, False]
    """
    return margins(counts).gold > 0


def _mean(values: Floats, over: ArrayLike | None) -> Floats:
    """Mean over all classes, or over a set of them."""
    if over is None:
        mean: Floats = values.mean(axis=-1)
        return mean
    chosen = np.asarray(over, dtype=bool)
    # Taking columns, not multiplying by a mask, keeps the order of summation of the harness: equal bit for bit.
    if chosen.ndim == 1:
        return values[..., chosen].mean(axis=-1) if chosen.any() else np.zeros(values.shape[:-1])
    return divide((values * chosen).sum(axis=-1), chosen.sum(axis=-1))


def _weighted(values: Floats, gold: Floats, over: ArrayLike | None) -> Floats:
    """Mean weighted by the gold clips of each class."""
    weights = gold if over is None else gold * np.asarray(over, dtype=bool)
    return divide((values * weights).sum(axis=-1), weights.sum(axis=-1))


def _recall(m: Margins) -> Floats:
    return divide(m.tp, m.gold)


def _precision(m: Margins) -> Floats:
    return divide(m.tp, m.predicted)


def _f1(m: Margins) -> Floats:
    return divide(2 * m.tp, m.gold + m.predicted)


def accuracy(counts: Counts) -> Floats:
    """Share of clips that are right, ``Σ tp_c / n``; "weighted accuracy" (WA) in speech emotion recognition.

    Example:
        >>> float(accuracy([[3, 1, 0], [1, 2, 1]]))
        0.625
    """
    m = margins(counts)
    return divide(m.tp.sum(axis=-1), m.gold.sum(axis=-1))


def macro_recall(counts: Counts, *, over: ArrayLike | None = None) -> Floats:
    """Mean recall over a fixed set of classes, ``mean_c tp_c / g_c``; a class without gold clips counts 0.

    Args:
        counts: Confusion counts or margins.
        over: Mask of the classes of the mean, shape (k,); None for all.

    Example:
        >>> float(macro_recall([[3, 1, 0], [1, 2, 1]]))
        0.625
    """
    return _mean(_recall(margins(counts)), over)


def uar(counts: Counts) -> Floats:
    """Unweighted average recall over the classes that have gold clips; UA or balanced accuracy in other papers.

    A class without gold clips has no recall and is left out, in a bootstrap replicate too. Reference: Schuller et al.
    (2009), "The INTERSPEECH 2009 Emotion Challenge".

    Example:
        >>> float(uar([[3, 1], [0, 0]]))  # the second class has no gold clips
        0.75
    """
    m = margins(counts)
    return _mean(_recall(m), m.gold > 0)


def macro_precision(counts: Counts, *, over: ArrayLike | None = None) -> Floats:
    """Mean precision over a fixed set of classes, ``mean_c tp_c / p_c``; a class never predicted counts 0.

    Example:
        >>> float(macro_precision([[3, 1, 0], [1, 3, 0]]))
        0.75
    """
    return _mean(_precision(margins(counts)), over)


def macro_f1(counts: Counts, *, over: ArrayLike | None = None) -> Floats:
    """Mean F1 over all classes of the label space, or a set of them, ``mean_c 2·tp_c / (g_c + p_c)``.

    The benchmark's headline figure.

    Args:
        counts: Confusion counts or margins.
        over: Mask of the classes of the mean, shape (k,) or (…, k); None for all classes of the label space. A class
            of the mean that has neither gold clips nor predictions counts 0 (protocol 0.1.0).

    Example:
        >>> round(float(macro_f1([[3, 1, 0], [1, 2, 1]])), 4)
        0.6607
    """
    return _mean(_f1(margins(counts)), over)


def weighted_f1(counts: Counts, *, over: ArrayLike | None = None) -> Floats:
    """F1 averaged with the gold clips of each class as weights, ``Σ g_c F1_c / Σ g_c``.

    Example:
        >>> float(weighted_f1([[3, 1, 0], [1, 3, 0]]))
        0.75
    """
    m = margins(counts)
    return _weighted(_f1(m), m.gold, over)


def micro_f1(counts: Counts, *, over: ArrayLike | None = None) -> Floats:
    """F1 of the pooled decisions, ``2·Σ tp_c / (Σ g_c + Σ p_c)`` over a set of classes.

    Over all classes, and with a class for every clip, it is the accuracy; without the majority class it is the count
    of the DailyDialog leaderboards (neutral left out of hits, gold and predictions, not out of the clips).

    Example:
        >>> round(float(micro_f1([[3, 1, 0], [1, 2, 1]])), 4)
        0.6667
    """
    m = margins(counts)
    chosen = np.ones(m.tp.shape[-1], dtype=bool) if over is None else np.asarray(over, dtype=bool)
    hits = (m.tp * chosen).sum(axis=-1)
    return divide(2 * hits, (m.gold * chosen).sum(axis=-1) + (m.predicted * chosen).sum(axis=-1))


def mcc(counts: Counts) -> Floats:
    """Matthews correlation of many classes, range -1 to 1; 0 where gold or predictions are all of one class.

    ``(n·Σ tp_c - Σ g_c p_c) / √((n² - Σ p_c²)(n² - Σ g_c²))``, predictions that name no class being a class of their
    own. Reference: Gorodkin (2004), doi:10.1016/j.compbiolchem.2004.09.006.

    Example:
        >>> round(float(mcc([[3, 1, 0], [1, 3, 0]])), 4)
        0.5
    """
    m = margins(counts)
    n = m.gold.sum(axis=-1)
    none = n - m.predicted.sum(axis=-1)
    top = n * m.tp.sum(axis=-1) - (m.gold * m.predicted).sum(axis=-1)
    spread = (n**2 - (m.predicted**2).sum(axis=-1) - none**2) * (n**2 - (m.gold**2).sum(axis=-1))
    return divide(top, np.sqrt(np.maximum(spread, 0)))


def cohen_kappa(counts: Counts) -> Floats:
    """Agreement beyond chance, ``(p_o - p_e) / (1 - p_e)``, range -1 to 1; 0 where chance alone would agree always.

    Reference: Cohen (1960), doi:10.1177/001316446002000104.

    Example:
        >>> float(cohen_kappa([[3, 1, 0], [1, 3, 0]]))
        0.5
    """
    m = margins(counts)
    n = m.gold.sum(axis=-1)
    observed = divide(m.tp.sum(axis=-1), n)
    chance = divide((m.gold * m.predicted).sum(axis=-1), n**2)
    return divide(observed - chance, 1 - chance)


@dataclass(frozen=True, slots=True, eq=False)
class PerClass:
    """Figures of each class, each of shape (…, k).

    Attributes:
        precision: ``tp_c / p_c``.
        recall: ``tp_c / g_c``.
        f1: ``2·tp_c / (g_c + p_c)``.
        support: Gold clips ``g_c``.
        predicted: Predictions ``p_c``.
    """

    precision: Floats
    recall: Floats
    f1: Floats
    support: Ints
    predicted: Ints


def per_class(counts: Counts) -> PerClass:
    """Precision, recall, F1, support and number of predictions of each class; zero division gives 0.

    Example:
        >>> per_class([[3, 1, 0], [1, 2, 1]]).recall.tolist()
        [0.75, 0.5]
    """
    m = margins(counts)
    return PerClass(_precision(m), _recall(m), _f1(m), m.gold.astype(np.int64), m.predicted.astype(np.int64))
