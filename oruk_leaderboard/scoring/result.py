"""From an evaluation to its record: names, digits, date and what the set makes of it."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from oruk_leaderboard import __version__
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import STATUSES, Predictions
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.protocols import Protocol
from oruk_leaderboard.records.record import ProtocolVersion, Record, Source, SystemInfo

if TYPE_CHECKING:
    from oruk_leaderboard.records.system_card import SystemCard

SCORER_VERSION = "1.1.0"
"""Raised whenever the scorer can give another figure for the same predictions."""

SCORED_BY = "scored by oruk-bench-leaderboard "
"""Beginning of ``attested_by`` of a record made here; the package's version follows."""


def scored_on(origin: Mapping[str, Any]) -> str:
    """``scored_on`` of a record, from where its set comes from."""
    if origin["partial"] or origin["profile"] is None:
        return "partial"
    return "rebuilt_subsample" if origin["subsample"] else f"rebuilt_{origin['profile']}"


def printed(figures: Mapping[str, float]) -> tuple[str, str]:
    """Accuracy in percent and macro-F1 as a record prints them: four digits of the fraction, as the harness gives."""
    return f"{100 * figures['accuracy']:.2f}", f"{figures['macro_f1']:.4f}"


def record_of(
    gold: Gold,
    predictions: Predictions,
    card: "SystemCard | None",
    evaluation: dict[str, Any],
    *,
    snapshot: str | None,
    protocol: Protocol,
) -> Record:
    """The record of an evaluation.

    Args:
        gold: What it was scored against.
        predictions: What was scored.
        card: The system's card, or None.
        evaluation: Everything that was computed.
        snapshot: Date, ISO 8601; None for today in UTC.
        protocol: How it was scored.

    Raises:
        PredictionError: ``snapshot`` is not a date.
    """
    counts = evaluation["counts"]
    accuracy, macro_f1 = printed(evaluation["figures"])
    return Record(
        system=_system(card, predictions.source),
        snapshot=_date(snapshot),
        scored_on=scored_on(gold.origin),
        accuracy=accuracy,
        macro_f1=macro_f1,
        protocol=ProtocolVersion(name=protocol.name, version=protocol.version),
        source=Source(
            kind="scored_here",
            attested_by=f"{SCORED_BY}{__version__}",
            reference=predictions.source or None,
        ),
        failures={name: counts[name] for name in STATUSES[1:]},
        evaluation=evaluation,
    )


def _date(snapshot: str | None) -> str:
    if snapshot is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return date.fromisoformat(snapshot).isoformat()
    except ValueError as error:
        raise PredictionError("not a date", where="snapshot", expected="YYYY-MM-DD", found=repr(snapshot)) from error


def _system(card: "SystemCard | None", source: str) -> SystemInfo:
    """What is known of the system: its card's facts, or the name of the predictions file."""
    if card is None:
        stem = source.partition(".")[0] or "predictions"
        slug = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in stem.lower())
        return SystemInfo(id=slug.lstrip("._-") or "predictions", name=stem, family="open")
    spellings = list(card.native_labels) if card.native_labels else list(card.classes or ()) or None
    return SystemInfo(
        id=card.id,
        name=card.name,
        family=card.family,
        is_oruk=card.family == "ours",
        modality="transcript-only" if card.family == "text only" else "audio",
        parameters_m=card.parameters_m or None,
        model_id=card.model_id,
        hub=card.hub,
        revision=card.revision,
        training_corpora=None if card.training_corpora is None else list(card.training_corpora),
        native_labels=spellings,
    )
