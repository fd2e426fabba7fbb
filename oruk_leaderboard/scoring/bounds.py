"""The range that a reliability diagram leaves for the log loss and the Brier score.

A diagram gives, for each bin of confidence, its clips, its right predictions and its mean confidence. A clip whose
highest score is p has its gold class at p if it is right; if it is wrong, its gold score q obeys

    max(0, 1 - (k - 1)·p) <= q <= min(p, 1 - p),

because the other k - 1 scores are at most p and sum to 1 - p. That bounds both losses of the clip from below by convex
functions of p and from above by functions that are convex between the points 1, 1/2, ..., 1/k. Jensen's inequality
(below) and the concave envelope over those points (above) carry the bounds to the mean confidence of the right and of
the wrong clips of a bin; only the mean over both is known, so the last step searches the split between them.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TypeAlias

Loss: TypeAlias = Callable[[float, int], float]
"""Bound of a loss for one clip: its highest score p and the number of classes k to the loss."""

EPSILON = sys.float_info.epsilon
"""Scores below it count as it in the log loss."""

ROUNDING = 1e-9
"""How far rounding may move a gold score: near 0 the log loss would multiply the error of a mean confidence."""

STEPS = 40
"""Steps of the ternary search; each keeps two thirds of the range."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability diagram that has clips.

    Attributes:
        right: Clips whose highest score is the gold class.
        wrong: The other clips.
        confidence: Mean highest score of all of them.
        low: Smallest highest score that a clip of the bin can have: the lower edge, at least 1/k.
        high: Largest one: the upper edge.
    """

    right: int
    wrong: int
    confidence: float
    low: float
    high: float


def log_loss_range(bins: Sequence[Bin], classes: int) -> tuple[float, float]:
    """Smallest and largest sum of ``-ln(score of the gold class)`` over the clips, in nats.

    Example:
        >>> low, high = log_loss_range([Bin(right=1, wrong=0, confidence=0.5, low=0.4, high=0.6)], 7)
        >>> round(low, 4)  # a single right clip: -ln 0.5, and at most -ln 0.4 if its score is not the mean
        0.6931
    """
    low = _total(bins, classes, min, (lambda p, k: -math.log(p), lambda p, k: -_ln(min(p, 1 - p + ROUNDING))))
    high = _total(bins, classes, max, (lambda p, k: -math.log(p), lambda p, k: -_ln(1 - (k - 1) * p - ROUNDING)))
    return low, high


def brier_range(bins: Sequence[Bin], classes: int) -> tuple[float, float]:
    """Smallest and largest sum of ``Σ_c (score_c - [c is gold])²`` over the clips.

    Example:
        >>> brier_range([Bin(right=1, wrong=0, confidence=1.0, low=0.9, high=1.0)], 7)
        (0.0, 0.0)
    """
    low = _total(bins, classes, min, (lambda p, k: (1 - p) ** 2 * k / (k - 1), _brier_wrong_low))
    high = _total(
        bins,
        classes,
        max,
        (
            lambda p, k: 1 + _squares(p) - 2 * p,
            lambda p, k: 1 + _squares(p) - 2 * max(0.0, 1 - (k - 1) * p),
        ),
    )
    return low, high


def _ln(score: float) -> float:
    return math.log(max(score, EPSILON))


def _brier_wrong_low(p: float, k: int) -> float:
    """Smallest Brier score of a wrong clip: the gold class as high as it can be, the rest spread evenly."""
    q = min(p, 1 - p)
    rest = 1 - p - q
    return p**2 + (1 - q) ** 2 + (rest**2 / (k - 2) if rest > 0 else 0.0)


def _squares(p: float) -> float:
    """Largest sum of squares of scores of at most p that sum to 1: as many of p as fit, and the remainder."""
    whole = math.floor(1 / p + 1e-12)
    return whole * p**2 + (1 - whole * p) ** 2


def _total(
    bins: Sequence[Bin], classes: int, best: Callable[[float, float], float], losses: tuple[Loss, Loss]
) -> float:
    """Sum over the bins of the smallest or largest loss of their right and wrong clips."""
    return math.fsum(_of_bin(item, classes, best, losses) for item in bins)


def _of_bin(item: Bin, classes: int, best: Callable[[float, float], float], losses: tuple[Loss, Loss]) -> float:
    right, wrong = (_carried(loss, item, classes, best) for loss in losses)
    mean = min(max(item.confidence, item.low), item.high)
    if not item.right or not item.wrong:
        return item.right * right(mean) + item.wrong * wrong(mean)
    share = item.wrong / item.right

    def split(of_right: float) -> float:
        """Loss where the right clips have this mean confidence, and the wrong ones what is left for them."""
        of_wrong = min(max(mean + (mean - of_right) / share, item.low), item.high)
        return item.right * right(of_right) + item.wrong * wrong(of_wrong)

    # The mean of the wrong clips must lie in the bin too.
    low = max(item.low, mean - (item.high - mean) * share)
    high = min(item.high, mean + (mean - item.low) * share)
    ends = best(split(low), split(high))
    for _ in range(STEPS):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        first = split(one)
        low, high = (low, other) if best(first, split(other)) == first else (one, high)
    return best(ends, split((low + high) / 2))


def _carried(loss: Loss, item: Bin, classes: int, best: Callable[[float, float], float]) -> Callable[[float], float]:
    """The bound as a function of a mean: the convex function itself below, its concave envelope above."""
    if best is min:
        return lambda mean: loss(mean, classes)
    inner = (1 / j for j in range(1, classes + 1))
    points = sorted({item.low, item.high, *(point for point in inner if item.low < point < item.high)})
    values = {point: loss(point, classes) for point in points}

    def envelope(mean: float) -> float:
        return max(
            values[a] if a == b else values[a] + (values[b] - values[a]) * (mean - a) / (b - a)
            for a, b in combinations_with_replacement(points, 2)
            if a <= mean <= b
        )

    return envelope
