"""The clips of a set outside the corpora that a system was trained on, as a slice of its score."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.gold import Attribute, Gold
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.records.training import training_ledger

TRAINING = "training"
"""Name of the slicing by training data; not one of ``gold.ATTRIBUTES``, since it depends on the system."""

DECLARED, OUTSIDE = "declared training corpora", "outside declared training corpora"


def declared_corpora(
    gold: Gold, *, system_id: str | None, own: Sequence[str] | None = None, excluded: Sequence[str] = ()
) -> frozenset[str] | None:
    """Corpora declared as training data: by the ledger, by the system's card, and by the user.

    Args:
        gold: The set.
        system_id: Id of the system, by which the ledger knows it, or None.
        own: What the system's card declares, or None where it declares nothing.
        excluded: Corpora of the set that the user declares.

    Returns:
        Corpus ids, in the set or not; None where nobody has declared anything, which is not the same as none.

    Raises:
        PredictionError: A corpus that the user declares is not in the set.
    """
    if unknown := sorted(set(excluded) - set(gold.attributes["corpus"].values)):
        raise PredictionError(
            "the set has no clip of this corpus",
            where="--exclude-corpus",
            expected=", ".join(gold.attributes["corpus"].values),
            found=", ".join(unknown),
        )
    ledger = training_ledger().of(system_id).corpora if system_id else {}
    if not ledger and own is None and not excluded:
        return None
    return frozenset({*ledger, *(own or ()), *excluded})


def with_training(gold: Gold, corpora: Collection[str]) -> Gold:
    """The set with the attribute ``training``, which splits it by whether a clip's corpus is one of ``corpora``."""
    outside = outside_of(gold, corpora).astype(np.int64)
    used, codes = np.unique(outside, return_inverse=True)
    values = tuple((DECLARED, OUTSIDE)[code] for code in used)
    return replace(gold, attributes={**gold.attributes, TRAINING: Attribute(codes.astype(np.int64), values)})


def outside_of(gold: Gold, corpora: Collection[str]) -> NDArray[np.bool_]:
    """Which clips are of none of these corpora, shape (n,)."""
    corpus = gold.attributes["corpus"]
    return np.array([value not in corpora for value in corpus.values])[corpus.codes]
