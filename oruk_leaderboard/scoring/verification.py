"""Check a record with nothing but the record: do its counts give its figures?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.records.record import read_record
from oruk_leaderboard.scoring.evaluation import Settings, evaluate, evaluate_scores
from oruk_leaderboard.scoring.result import SCORER_VERSION, printed, scored_on
from oruk_leaderboard.scoring.tally import Tally

TOLERANCE = 1e-12
"""How far a recomputed figure may be from the stated one."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A figure that the counts do not give.

    Attributes:
        key: Path of the figure in the record.
        stated: What the record says.
        recomputed: What its counts say.
    """

    key: str
    stated: Any
    recomputed: Any


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of checking one record.

    Attributes:
        record: Name of the file or system.
        figures: Number of values that were recomputed.
        mismatches: Those that differ.
    """

    record: str
    figures: int
    mismatches: tuple[Mismatch, ...]

    @property
    def ok(self) -> bool:
        """Whether every figure follows from the counts."""
        return not self.mismatches

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "record": self.record,
            "ok": self.ok,
            "figures": self.figures,
            "mismatches": [
                {"key": item.key, "stated": item.stated, "recomputed": item.recomputed} for item in self.mismatches
            ],
        }


def verify(record: Mapping[str, Any] | Path | str, *, name: str | None = None) -> Verification:
    """Recompute every figure of a record from its own counts and settings.

    Args:
        record: A record as JSON holds it, or its file.
        name: What to call it in messages.

    Raises:
        RecordError: The file cannot be read or breaks the schema; the record holds no counts (a published figure), or
            they do not fit together.
    """
    if isinstance(record, (Path, str)):
        return verify(read_record(Path(record)).to_dict(), name=name or str(record))
    name = name or record["system"]["id"]
    stated = record["evaluation"]
    if stated is None:
        raise RecordError(
            "a published figure without counts: there is nothing to recompute",
            where=name,
            expected="a record that `score --out` wrote",
            found=f"source {record['source']['kind']}",
        )
    try:
        tally = Tally.from_dict(stated["confusion_by_cluster"], where=name)
        expected = evaluate(tally, Settings.from_dict(stated))
        if stated["class_scores"]:
            expected["class_scores"] = evaluate_scores(stated["class_scores"])
    except KeyError as error:
        raise RecordError("the evaluation lacks a key", where=name, expected=str(error)) from error
    failed = int(tally.counts[:, :, -1].sum())
    abstained = int(tally.counts[:, :, -2].sum())
    counts = stated["counts"]
    found = _Differences()
    found.compare("evaluation", {key: stated.get(key) for key in expected}, expected)
    accuracy, macro_f1 = printed(expected["figures"])
    found.compare("accuracy", record["accuracy"], accuracy)
    found.compare("macro_f1", record["macro_f1"], macro_f1)
    found.compare("scored_on", record["scored_on"], scored_on(stated))
    found.compare("evaluation.scorer", stated["scorer"], SCORER_VERSION)
    found.compare("evaluation.counts", sum(counts.values()), expected["n"])
    found.compare("evaluation.counts.abstained", counts["abstained"], abstained)
    found.compare("evaluation.counts.failed", counts["refused"] + counts["error"] + counts["missing"], failed)
    found.compare("failures", record["failures"], {key: counts[key] for key in counts if key != "ok"})
    return Verification(name, found.checked, tuple(found.mismatches))


class _Differences:
    """Walks two JSON values side by side."""

    def __init__(self) -> None:
        self.checked = 0
        self.mismatches: list[Mismatch] = []

    def compare(self, key: str, stated: Any, recomputed: Any) -> None:
        """Note every leaf that differs; numbers may differ by ``TOLERANCE``."""
        if isinstance(recomputed, dict) and isinstance(stated, dict) and set(stated) == set(recomputed):
            for name in recomputed:
                self.compare(f"{key}.{name}", stated[name], recomputed[name])
        elif isinstance(recomputed, list) and isinstance(stated, list) and len(stated) == len(recomputed):
            for index, (one, other) in enumerate(zip(stated, recomputed, strict=True)):
                label = other.get("value", index) if isinstance(other, dict) else index
                self.compare(f"{key}[{label}]", one, other)
        else:
            self.checked += 1
            if _is_number(stated) and _is_number(recomputed):
                same = abs(stated - recomputed) <= TOLERANCE
            else:
                same = stated == recomputed
            if not same:
                self.mismatches.append(Mismatch(key, stated, recomputed))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
