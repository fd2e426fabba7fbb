"""What a system said about one clip, before its label is mapped to a class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "refused", "error", "abstained"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said about one clip, before its label is mapped to a class.

    Attributes:
        label: Native label, or None where the system gave none.
        scores: Native label to score (probabilities that sum to 1), or None.
        status: ``ok``, ``refused``, ``error`` or ``abstained``.
        raw: The answer as it came, for the receipt.
    """

    label: str | None
    scores: Mapping[str, float] | None = None
    status: Status = "ok"
    raw: str | None = None


def top_answer(scores: Mapping[str, float]) -> Answer:
    """The answer that a score for every native label stands for: the highest one; ties go to the first."""
    label = max(scores, key=lambda name: scores[name])
    return Answer(label=label, scores=dict(scores), raw=label)
