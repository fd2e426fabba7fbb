"""Replay: saved answers are parsed and scored again, with no network and no key."""

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.answers.receipts import Receipts, read_receipts
from oruk_leaderboard.answers.run_files import card_of_receipts
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.protocols import Protocol
from oruk_leaderboard.scoring.scorer import Score, alias_table_of, recorded_protocol, resolve_gold, score

if TYPE_CHECKING:
    from oruk_leaderboard.clipset import ClipSet
    from oruk_leaderboard.records.system_card import SystemCard


@dataclass(frozen=True, slots=True)
class Replay:
    """A score from receipts.

    Attributes:
        score: The score; its record names the receipts.
        receipts: The answers, parsed again.
    """

    score: Score
    receipts: Receipts

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON."""
        return self.score.to_dict()


def replay(
    receipts: Path | str,
    *,
    clips: "ClipSet | Path | str | None" = None,
    gold: Path | str | None = None,
    protocol: Protocol | str | None = None,
    system: "SystemCard | str | None" = None,
    **options: Any,
) -> Replay:
    """Parse and score receipts again.

    Args:
        receipts: JSON Lines file of receipts.
        clips: Folder of the rebuilt set, or an open one; its ``clip_sha256`` must be those of the receipts.
        gold: Gold file instead of a rebuilt set.
        protocol: A protocol or its name; those of the CREMA-D diagnostic name their clips and need neither.
        system: The system's card, an id of ``systems list`` or a spec file; None for the system that ``run.json``
            beside the receipts names, if there is one.
        options: As for ``scoring.score``.

    Raises:
        PredictionError: A line cannot be used, the run failed on every clip, or ``run.json`` names another system.
    """
    path = Path(receipts)
    ran = card_of_receipts(path) if system is None else None
    system = system if ran is None else ran
    rules = recorded_protocol(protocol)
    answers = resolve_gold(clips, gold, rules)
    parsed = read_receipts(
        path,
        answers.clip_ids,
        table=alias_table_of(system, rules),
        classes=answers.classes,
        inputs=answers.inputs,
    )
    if ran is not None and ran.asked not in {model.rpartition("@")[0] for model in parsed.models}:
        raise PredictionError(
            "the receipts are of another system than the run.json beside them",
            where=path,
            expected=ran.asked,
            found=", ".join(parsed.models),
            do="name their system with --system",
        )
    result = score(parsed.predictions, gold=answers, protocol=rules, system=system, **options)
    evaluation = {
        **result.evaluation,
        "predictions": {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
        "receipts": parsed.to_dict(),
    }
    record = dataclasses.replace(result.record, evaluation=evaluation)
    return Replay(Score(record, rules, (*result.findings, *_findings(parsed))), parsed)


def _findings(receipts: Receipts) -> tuple[str, ...]:
    found = []
    if receipts.changed:
        shown = ", ".join(receipts.changed[:3]) + (", …" if len(receipts.changed) > 3 else "")
        found.append(f"{len(receipts.changed)} answers parse to another label than was saved: {shown}")
    several = (
        ("models or revisions", receipts.models),
        ("prompts", receipts.prompts),
        ("sources of transcripts", receipts.transcripts),
    )
    for what, seen in several:
        if len(seen) > 1:
            found.append(f"{len(seen)} {what} in one file: {', '.join(seen)}")
    if receipts.undeclared:
        named = ", ".join(f"{label} ({clips:,} clips)" for label, clips in list(receipts.undeclared.items())[:5])
        found.append(f"{len(receipts.undeclared)} labels have no class and are not declared without one: {named}")
    if receipts.unmapped.on_top:
        mass = receipts.unmapped
        found.append(
            f"native labels without a class have {mass.share:.1%} of the score mass and score highest for "
            f"{mass.on_top:,} of {mass.clips:,} clips"
        )
    return tuple(found)
