"""Metrics of class scores: one probability a class and clip, shape (n, k), rows summing to 1."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints, distributions, divide, indices

SUM_TOLERANCE = 5e-3
"""How far a row of scores may be from summing to 1: seven scores written with three digits stay within it."""


def _inputs(gold: ArrayLike, scores: ArrayLike) -> tuple[Ints, Floats]:
    rows = distributions(scores, what="scores", tolerance=SUM_TOLERANCE)
    labels = indices(gold, below=rows.shape[1], what="gold")
    if len(labels) != len(rows):
        raise MetricError("lengths differ", where="scores", expected=f"{len(labels)} rows", found=len(rows))
    return labels, rows


def in_top_k(gold: ArrayLike, scores: ArrayLike, *, k: int = 2) -> Ints:
    """Whether the gold class of each clip is among the ``k`` highest scores, shape (n,), 0 or 1.

    Of equal scores the class with the lower index comes first, as with argmax, so that the mean for ``k = 1`` is the
    accuracy.

    Example:
        >>> in_top_k([0, 2], [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]).tolist()
        [0, 0]
    """
    labels, rows = _inputs(gold, scores)
    own = rows[np.arange(len(labels)), labels][:, None]
    before = np.arange(rows.shape[1]) < labels[:, None]
    rank = ((rows > own) | ((rows == own) & before)).sum(axis=1)
    inside: Ints = (rank < k).astype(np.int64)
    return inside


def log_losses(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """``-ln(score of the gold class)`` of each clip in nats, shape (n,), 0 or more; scores below 2.2e-16 count as that.

    Example:
        >>> log_losses([0], [[1.0, 0.0]]).tolist()
        [0.0]
    """
    labels, rows = _inputs(gold, scores)
    own = rows[np.arange(len(labels)), labels]
    # Subtracted from 0, since the negative of ln 1 is -0.
    losses: Floats = 0.0 - np.log(np.maximum(own, np.finfo(np.float64).eps))
    return losses


def brier_scores(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """``Σ_c (score_c - [c is gold])²`` of each clip, shape (n,), range 0 to 2.

    Reference: Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2 (the original form of many classes).

    Example:
        >>> brier_scores([0], [[0.5, 0.5]]).tolist()
        [0.5]
    """
    labels, rows = _inputs(gold, scores)
    squares: Floats = ((rows - np.eye(rows.shape[1])[labels]) ** 2).sum(axis=1)
    return squares


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """A reliability diagram: clips binned by the score of their predicted class.

    Attributes:
        edges: Bounds of the bins, shape (b + 1,), from 0 to 1; a bin includes its upper bound, not its lower one.
        count: Clips in each bin, shape (b,).
        confidence: Mean score of the predicted class in each bin, 0 where empty.
        accuracy: Share of right predictions in each bin, 0 where empty.
    """

    edges: Floats
    count: Ints
    confidence: Floats
    accuracy: Floats


def reliability(gold: ArrayLike, scores: ArrayLike, *, n_bins: int = 15) -> Reliability:
    """Bin clips by confidence, ``n_bins`` bins of equal width; the predicted class is the first highest score.

    Raises:
        MetricError: Scores that are not distributions, other lengths, or fewer than one bin.

    Example:
        >>> diagram = reliability([0, 1], [[0.75, 0.25], [0.75, 0.25]], n_bins=2)
        >>> diagram.count.tolist(), diagram.confidence.tolist(), diagram.accuracy.tolist()
        ([0, 2], [0.0, 0.75], [0.0, 0.5])
    """
    if n_bins < 1:
        raise MetricError("no bins", where="n_bins", expected="1 or more", found=n_bins)
    labels, rows = _inputs(gold, scores)
    confidence = rows.max(axis=1)
    right = rows.argmax(axis=1) == labels
    edges = np.linspace(0, 1, n_bins + 1)
    bins = confidence_bins(confidence, edges)
    count = np.bincount(bins, minlength=n_bins)
    return Reliability(
        edges=edges,
        count=count,
        confidence=divide(np.bincount(bins, weights=confidence, minlength=n_bins), count),
        accuracy=divide(np.bincount(bins, weights=right, minlength=n_bins), count),
    )


def confidence_bins(confidence: Floats, edges: Floats) -> Ints:
    """Bin of each confidence, shape (n,): a bin has its upper edge, not its lower one.

    Example:
        >>> confidence_bins(np.array([0.5, 0.51, 1.0]), np.array([0.0, 0.5, 1.0])).tolist()
        [0, 1, 1]
    """
    return np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, len(edges) - 2)


def ece(diagram: Reliability) -> float:
    """Expected calibration error ``Σ_b (n_b / n)·|accuracy_b - confidence_b|``, range 0 to 1.

    Reference: Guo et al. (2017), "On calibration of modern neural networks", arXiv:1706.04599.

    Example:
        >>> ece(reliability([0, 1], [[0.75, 0.25], [0.75, 0.25]]))
        0.25
    """
    gaps = np.abs(diagram.accuracy - diagram.confidence)
    return float((diagram.count * gaps).sum() / diagram.count.sum())


def calibration_gaps(gold: ArrayLike, scores: ArrayLike) -> Floats:
    """Contribution of each clip to the expected calibration error, shape (n,), range -1 to 1: their mean is the error.

    ``± (right - confidence)`` with the sign of the clip's bin, so that a spread by cluster can be computed.

    Example:
        >>> calibration_gaps([0, 1], [[0.75, 0.25], [0.75, 0.25]]).tolist()
        [-0.25, 0.75]
    """
    diagram = reliability(gold, scores)
    # The scores as given: scaling them to sum 1 again, as the diagram does, would move the last digit.
    rows = np.asarray(scores, dtype=np.float64)
    confidence, right = rows.max(axis=1), rows.argmax(axis=1) == np.asarray(gold)
    bins = confidence_bins(confidence, diagram.edges)
    gaps: Floats = np.sign(diagram.accuracy - diagram.confidence)[bins] * (right - confidence)
    return gaps
