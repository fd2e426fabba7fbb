"""The clips of a set outside the corpora that a system was trained on, as a slice of its score."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.gold import Attribute, Gold
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.records.training import training_ledger
from oruk_leaderboard.scoring.evaluation import evaluate
from oruk_leaderboard.scoring.intervals import Settings
from oruk_leaderboard.scoring.tally import Tally

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
        Corpus ids, in the set or not; None where nothing is declared, which is not the same as none.

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
    return replace(gold, attributes={**gold.attributes, TRAINING: _split(gold.attributes["corpus"], corpora)})


def declared_later(evaluation: Mapping[str, Any], corpora: Collection[str]) -> dict[str, Any]:
    """An evaluation as ``score`` would have made it, had these corpora been declared then.

    Args:
        evaluation: Evaluation of a record without the slice ``training``.
        corpora: Corpora that the system was trained on.
    """
    tally = Tally.from_dict(evaluation["confusion_by_cluster"])
    attributes = {**tally.attributes, TRAINING: _split(tally.attributes["corpus"], corpora)}
    tally = replace(tally, attributes=attributes)
    slices = evaluate(tally, Settings.from_dict(evaluation))["slices"]
    return {**evaluation, "slices": slices, "confusion_by_cluster": tally.to_dict()}


def _split(corpus: Attribute, corpora: Collection[str]) -> Attribute:
    """Whether each corpus is one of ``corpora``, as an attribute."""
    outside = np.array([value not in corpora for value in corpus.values], np.int64)[corpus.codes]
    used, codes = np.unique(outside, return_inverse=True)
    return Attribute(codes.astype(np.int64), tuple((DECLARED, OUTSIDE)[code] for code in used))


def outside_of(gold: Gold, corpora: Collection[str]) -> NDArray[np.bool_]:
    """Which clips are of none of these corpora, shape (n,)."""
    corpus = gold.attributes["corpus"]
    return np.array([value not in corpora for value in corpus.values])[corpus.codes]
