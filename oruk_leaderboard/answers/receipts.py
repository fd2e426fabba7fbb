"""Receipts: one line a clip of what a system was given and what it answered; parsed again, never taken on trust."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oruk_leaderboard.answers.predictions import ABSTAINED, MISSING, OK, STATUSES, Predictions, normal_id
from oruk_leaderboard.answers.tabular import Rows, printable, read_rows
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import AliasTable, parse_answer

REQUIRED: tuple[str, ...] = (
    "clip_id", "input_sha256", "prompt_sha256", "model", "revision", "answer", "label", "status", "time"
)  # fmt: skip
"""Keys of every receipt (``schema/receipt.schema.json``)."""


@dataclass(frozen=True, slots=True)
class Receipts:
    """Saved answers, parsed again.

    Attributes:
        predictions: What the answers say now, in the set's order.
        models: ``model@revision`` (revision ``unstated`` where the service gave none) to its clips.
        prompts: SHA-256 of the prompt to its clips; empty for a system without a prompt.
        first: Time of the first answer, as written.
        last: Time of the last one.
        changed: Clips whose answer is parsed to another label now than when it came.
    """

    predictions: Predictions
    models: Mapping[str, int]
    prompts: Mapping[str, int]
    first: str
    last: str
    changed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What a record says of the receipts."""
        return {
            "models": dict(self.models),
            "prompts": dict(self.prompts),
            "first": self.first,
            "last": self.last,
            "changed": len(self.changed),
        }


def read_receipts(
    path: Path,
    clip_ids: Sequence[str],
    *,
    table: AliasTable,
    classes: tuple[str, ...],
    inputs: Sequence[str] | None = None,
) -> Receipts:
    """Read receipts and parse their answers again.

    A clip that failed with an error, or was rebuilt since, may have been asked again: its last line counts. Any other
    second line is refused.

    Args:
        path: JSON Lines.
        clip_ids: Clips of the set, in the set's order.
        table: Alias table, with what the system's card declares.
        classes: Label space, in index order.
        inputs: ``clip_sha256`` of each clip, to see that the answers are about these clips; None where unknown.

    Raises:
        PredictionError: A line breaks the schema, is of a clip that is not in the set, of another input, or a repeat.
    """
    rows = read_rows(path)
    columns = {name: rows.need(name) for name in REQUIRED}
    columns["scores"] = rows.columns.get("scores") or [None] * rows.size
    place = {clip_id: at for at, clip_id in enumerate(clip_ids)}
    last = _last_lines(rows, columns, place, inputs)
    index = {name: at for at, name in enumerate(classes)}
    n = len(clip_ids)
    labels, status = np.full(n, -1, np.int64), np.full(n, MISSING, np.int8)
    models: Counter[str] = Counter()
    prompts: Counter[str] = Counter()
    spellings: Counter[str] = Counter()
    changed = []
    for clip_id, row in last.items():
        receipt = {name: column[row] for name, column in columns.items()}
        _check(rows, row, receipt)
        at = place[clip_id]
        if inputs is not None and receipt["input_sha256"] not in (None, inputs[at]):
            raise PredictionError(
                "the receipt is of another input",
                where=rows.where(row),
                expected=f"clip_sha256 {inputs[at]}",
                found=receipt["input_sha256"],
                do="replay against the set that the answers were given for",
            )
        models[f"{receipt['model']}@{receipt['revision'] or 'unstated'}"] += 1
        if receipt["prompt_sha256"]:
            prompts[receipt["prompt_sha256"]] += 1
        status[at] = STATUSES.index(receipt["status"])
        if status[at] != OK:
            continue
        name = _parse(receipt, table)
        if name is None:
            status[at] = ABSTAINED
            spellings[printable(str(receipt["answer"] or receipt["label"]))] += 1
        else:
            labels[at] = index[name]
        saved = table.resolve(receipt["label"]) if receipt["label"] is not None else None
        if saved != name:
            changed.append(clip_id)
    times = sorted(columns["time"][row] for row in last.values())
    predictions = Predictions(
        labels, status, None, dict(sorted(spellings.items(), key=lambda item: (-item[1], item[0]))), path.name
    )
    return Receipts(predictions, dict(models), dict(prompts), times[0], times[-1], tuple(changed))


def _last_lines(
    rows: Rows, columns: Mapping[str, Sequence[Any]], place: Mapping[str, int], inputs: Sequence[str] | None
) -> dict[str, int]:
    """Row that counts for each clip."""

    def settled(clip_id: str) -> bool:
        row = last[clip_id]
        stale = inputs is not None and columns["input_sha256"][row] not in (None, inputs[place[clip_id]])
        return columns["status"][row] != "error" and not stale

    last: dict[str, int] = {}
    for row, (written, status) in enumerate(zip(columns["clip_id"], columns["status"], strict=True)):
        clip_id = normal_id(written) if isinstance(written, str) else ""
        if clip_id not in place:
            raise PredictionError(
                "the clip id is not in the set", where=rows.where(row), expected="one of its clips", found=repr(written)
            )
        if clip_id in last and settled(clip_id):
            raise PredictionError(
                "a second receipt of a clip that had an answer",
                where=rows.where(row),
                found=f"{clip_id}, first at {rows.where(last[clip_id])} with status {columns['status'][last[clip_id]]}",
                do="keep one line a clip",
            )
        last[clip_id] = row
        if not isinstance(status, str) or status not in STATUSES[:MISSING]:
            raise PredictionError(
                "unknown status", where=rows.where(row), expected=", ".join(STATUSES[:MISSING]), found=repr(status)
            )
    return last


def _check(rows: Rows, row: int, receipt: Mapping[str, Any]) -> None:
    """Refuse a value that a receipt cannot have."""

    def refuse(key: str, expected: str) -> None:
        raise PredictionError(
            f"no receipt: {key}", where=rows.where(row), expected=expected, found=repr(receipt[key])[:80]
        )

    for key in ("answer", "label", "revision"):
        if not (receipt[key] is None or isinstance(receipt[key], str)):
            refuse(key, "text or null")
    for key in ("model", "time"):
        if not isinstance(receipt[key], str) or not receipt[key]:
            refuse(key, "text")
    for key in ("input_sha256", "prompt_sha256"):
        digest = receipt[key]
        if digest is not None and not (isinstance(digest, str) and len(digest) == 64 and set(digest) <= _HEX):
            refuse(key, "64 hex digits or null")
    scores = receipt["scores"]
    if scores is not None and not (isinstance(scores, dict) and all(map(_is_score, scores.values()))):
        refuse("scores", "an object of native label to number, or null")
    if receipt["status"] == "ok" and receipt["answer"] is None and receipt["label"] is None and not scores:
        refuse("answer", "an answer, scores or a label, where the status is ok")


_HEX = frozenset("0123456789abcdef")


def _is_score(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and value == value)


def _parse(receipt: Mapping[str, Any], table: AliasTable) -> str | None:
    """Class of an answer: of the native label that scores highest among those that have a class, else of the text.

    A system that keeps no text of its answer has said its label.
    """
    scores = {name: value for name, value in (receipt["scores"] or {}).items() if value is not None}
    named = {name: value for name, value in scores.items() if table.resolve(name) is not None}
    if scores:
        return table.resolve(max(named, key=lambda name: named[name])) if named else None
    return table.resolve(receipt["label"]) if receipt["answer"] is None else parse_answer(receipt["answer"], table)
