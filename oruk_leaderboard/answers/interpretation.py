"""From an answer to a class and a status: the only place where this happens.

``run`` interprets the receipts it has just written and ``replay`` interprets saved ones, both through
``receipts.read_receipts``, so the two cannot give different figures for the same answers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from oruk_leaderboard.answers.answer import Answer, Status
from oruk_leaderboard.labels import AliasTable, is_refusal, parse_answer
from oruk_leaderboard.metrics.probabilistic import SUM_TOLERANCE


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an answer means.

    Attributes:
        status: ``ok`` exactly where there is a class.
        label: Class name, or None.
        scores: Class to probability, summing to 1; None for an answer without scores.
        unmapped: Share of the score mass (0 to 1) on native labels that have no class.
        unmapped_on_top: Whether the native label with the highest score has no class.
        spelling: What was said that names no class, where an answer is ``abstained`` for that; else None.
        reason: Why there is no class, or None.
    """

    status: Status
    label: str | None = None
    scores: Mapping[str, float] | None = None
    unmapped: float = 0.0
    unmapped_on_top: bool = False
    spelling: str | None = None
    reason: str | None = None


def interpret(answer: Answer, table: AliasTable) -> Meaning:
    """Class and status of an answer.

    Scores decide where there are any, else the text, else the native label. Of several native labels of one class the
    highest score counts, and score mass on labels without a class is left out (protocol 0.1.0). An answer that names
    no class is ``abstained``; scores that are not probabilities are an ``error``.

    Args:
        answer: What the system said.
        table: Alias table, with what the system's card declares.
    """
    if answer.status != "ok":
        return Meaning(answer.status, reason=answer.reason)
    if answer.scores:
        return _of_scores(answer.scores, table)
    if answer.raw is not None:
        label = parse_answer(answer.raw, table)
    elif answer.label is not None:
        label = table.resolve(answer.label)
    else:
        return Meaning("error", reason="the answer is empty")
    if label is not None:
        return Meaning("ok", label)
    if answer.raw is not None and is_refusal(answer.raw):
        return Meaning("refused", reason="the answer refuses")
    said = answer.label if answer.raw is None else answer.raw
    return Meaning("abstained", spelling=said, reason="the answer names no class")


def _of_scores(native: Mapping[str, float], table: AliasTable) -> Meaning:
    if fault := score_fault(native):
        return Meaning("error", reason=fault)
    best: dict[str, float] = {}
    unmapped = 0.0
    for spelling, score in native.items():
        name = table.resolve(spelling)
        if name is None:
            unmapped += score
        else:
            best[name] = max(score, best.get(name, 0.0))
    top = max(native, key=lambda name: native[name])
    on_top = table.resolve(top) is None
    total = sum(best.values())
    if total <= 0:
        return Meaning("abstained", None, None, unmapped, on_top, top, "no score on a label that has a class")
    scores = {name: score / total for name, score in best.items()}
    return Meaning("ok", max(scores, key=lambda name: scores[name]), scores, unmapped, on_top)


def score_fault(scores: Mapping[str, float]) -> str | None:
    """Why scores are not probabilities, or None where they are."""
    values = list(scores.values())
    if not all(math.isfinite(value) for value in values):
        return "a score is NaN or infinite"
    if min(values) < 0:
        return 'a score is negative: logits need scores = "logits" in the system\'s card'
    if abs(sum(values) - 1) > SUM_TOLERANCE:
        return f"the scores sum to {sum(values):g} instead of 1"
    return None


def independent_fault(scores: Mapping[str, float]) -> str | None:
    """Why scores are not independent values of 0 to 1 per label, or None where they are."""
    values = list(scores.values())
    if not all(0 <= value <= 1 for value in values):
        return "a score is outside 0 to 1"
    return None if any(values) else "every score is 0"
