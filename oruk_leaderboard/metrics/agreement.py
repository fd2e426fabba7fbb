"""Agreement of listeners, from the number of votes that each class of a clip got."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import reals


def krippendorff_alpha(votes: ArrayLike) -> float:
    """Krippendorff's alpha of nominal ratings, at most 1; 0 is chance.

    ``1 - D_o / D_e``: observed over expected disagreement of pairs of ratings, pairs of one clip weighted by
    ``1 / (m - 1)``. Clips with one rating have no pair and do not count. Reference: Hayes & Krippendorff (2007),
    doi:10.1080/19312450709336664.

    Args:
        votes: Number of votes for each class, shape (clips, classes).

    Raises:
        MetricError: No clip has two ratings, or all ratings are of one class (alpha is undefined).

    Example:
        >>> round(krippendorff_alpha([[2, 0], [1, 1], [0, 2]]), 3)
        0.444
    """
    return alpha_from_sums(*agreement_sums(votes))


def agreement_sums(votes: ArrayLike) -> tuple[list[int], dict[int, int]]:
    """Whole numbers that alpha follows from, over the clips with at least two ratings.

    Args:
        votes: Number of votes for each class, shape (clips, classes).

    Returns:
        Ratings of each class; number of ratings of a clip ``m`` to the sum of ``m² - Σ votes²`` over such clips.

    Example:
        >>> agreement_sums([[2, 0], [1, 1]])
        ([3, 1], {2: 2})
    """
    counts = reals(votes, what="votes", ndim=2).astype(np.int64)
    raters = counts.sum(axis=1)
    counts, raters = counts[raters > 1], raters[raters > 1]
    pairs = raters**2 - (counts**2).sum(axis=1)
    by_class: list[int] = counts.sum(axis=0).tolist()
    return by_class, {m: int(pairs[raters == m].sum()) for m in np.unique(raters).tolist()}


def alpha_from_sums(by_class: Sequence[int], pairs: Mapping[int, int]) -> float:
    """Krippendorff's alpha of nominal ratings from :func:`agreement_sums`.

    Raises:
        MetricError: No clip has two ratings, or all ratings are of one class (alpha is undefined).

    Example:
        >>> round(alpha_from_sums([3, 3], {2: 2}), 3)
        0.444
    """
    total = sum(by_class)
    expected = total**2 - sum(ratings**2 for ratings in by_class)
    if not expected:
        raise MetricError("alpha is undefined", where="votes", expected="two ratings of a clip, and two classes")
    observed = sum(value / (m - 1) for m, value in pairs.items())
    return 1 - observed / (expected / (total - 1))


def majority_of_others(votes: ArrayLike) -> NDArray[np.int64]:
    """Class that most of the other listeners chose, for a listener of each clip and class, shape (clips, classes).

    The listener who voted for class ``c`` of a clip is left out of that clip's votes; -1 where the others tie, or where
    there is no other.

    Args:
        votes: Number of votes for each class, shape (clips, classes).

    Example:
        >>> majority_of_others([[2, 1, 0]]).tolist()
        [[-1, 0, 0]]
    """
    counts = reals(votes, what="votes", ndim=2)
    targets = np.empty(counts.shape, np.int64)
    for voted in range(counts.shape[1]):
        others = counts.copy()
        others[:, voted] = np.maximum(others[:, voted] - 1, 0)
        top = others.max(axis=1, keepdims=True)
        leaders = (others == top) & (top > 0)
        targets[:, voted] = np.where(leaders.sum(axis=1) == 1, others.argmax(axis=1), -1)
    return targets
