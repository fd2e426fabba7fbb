"""Receipts: one line of JSON per answer, written as the answers come and interpreted later.

A receipt says what a system was given for one clip and what it answered (``schema/receipt.schema.json``). Both ``run``
and ``replay`` get their predictions from :func:`read_receipts`.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.answers.interpretation import interpret
from oruk_leaderboard.answers.predictions import (
    MISSING,
    OK,
    STATUSES,
    WRITABLE,
    Predictions,
    by_frequency,
    normal_id,
)  # fmt: skip
from oruk_leaderboard.answers.tabular import json_lines, printable
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import AliasTable

REQUIRED: tuple[str, ...] = (
    "clip_id", "input_sha256", "prompt_sha256", "model", "revision", "answer", "label", "status", "time"
)  # fmt: skip
"""Keys of every receipt (``schema/receipt.schema.json``)."""

_READ = (*REQUIRED, "scores", "reason", "transcript_source")
"""Keys that figures follow from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One clip that a system was asked about.

    Attributes:
        clip_id: Id of the clip.
        input_sha256: Digest of the samples that were given.
        answer: What came back.
        seconds: How long it took, in s.
        model: Model that was asked.
        revision: Its revision, or None where the service states none.
        prompt: Id and version of the prompt, or None for a system without one.
        prompt_sha256: SHA-256 of the prompt as UTF-8, or None.
        alias: Whether the service can point the model's name to other weights; the receipt then says when it was asked.
    """

    clip_id: str
    input_sha256: str | None
    answer: Answer
    seconds: float
    model: str
    revision: str | None
    prompt: str | None = None
    prompt_sha256: str | None = None
    alias: bool = False

    def line(self, table: AliasTable) -> str:
        """The receipt as one line of JSON; ``table`` gives the class that the answer is read as today."""
        answer = self.answer
        label = interpret(answer, table).label if answer.raw is not None or answer.scores else answer.label
        now = datetime.now(UTC)
        receipt = {
            "clip_id": self.clip_id,
            "input_sha256": self.input_sha256,
            "prompt_sha256": self.prompt_sha256,
            "model": self.model,
            "revision": self.revision,
            "answer": answer.raw,
            "scores": None if answer.scores is None else dict(answer.scores),
            "label": label,
            "status": answer.status,
            "reason": answer.reason,
            "time": now.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 4),
        }
        if self.prompt is not None:
            receipt["prompt"] = self.prompt
        if self.alias:
            receipt["alias_asked_on"] = now.date().isoformat()
        if answer.transcript_source is not None:
            receipt["transcript_source"] = answer.transcript_source
        if answer.call is not None:
            receipt |= asdict(answer.call)
        return json.dumps(receipt, ensure_ascii=False, allow_nan=False) + "\n"


@dataclass(frozen=True, slots=True)
class Unmapped:
    """Score mass on native labels that have no class.

    Attributes:
        clips: Clips whose answer has scores.
        share: Mean share of a clip's score mass on such labels, 0 to 1; 0 without clips.
        on_top: Clips where such a label has the highest score.
    """

    clips: int = 0
    share: float = 0.0
    on_top: int = 0


@dataclass(frozen=True, slots=True)
class Receipts:
    """Saved answers, interpreted.

    Attributes:
        predictions: What the answers say, in the set's order.
        said: Clip id to the answer that names no class, as printable text.
        reasons: Why clips have no class, with the number of clips each, the most frequent first.
        unmapped: Score mass on labels without a class.
        models: ``model@revision`` (revision ``unstated`` where the service gave none) to its clips.
        prompts: SHA-256 of the prompt to its clips; empty for a system without a prompt.
        transcripts: Where the words came from to its clips; empty for a system that hears.
        undeclared: Native label with a score that neither the card nor the alias table knows to its clips.
        first: Time of the first answer, as written.
        last: Time of the last one.
        changed: Clips whose answer is read as another label now than when it came.
    """

    predictions: Predictions
    said: Mapping[str, str]
    reasons: Mapping[str, int]
    unmapped: Unmapped
    models: Mapping[str, int]
    prompts: Mapping[str, int]
    transcripts: Mapping[str, int]
    undeclared: Mapping[str, int]
    first: str
    last: str
    changed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What a record says about the receipts."""
        return {
            "models": dict(self.models),
            "prompts": dict(self.prompts),
            "transcripts": dict(self.transcripts),
            "undeclared": dict(self.undeclared),
            "first": self.first,
            "last": self.last,
            "changed": len(self.changed),
            "unmapped": asdict(self.unmapped),
        }


def read_receipts(
    path: Path,
    clip_ids: Sequence[str],
    *,
    table: AliasTable,
    classes: tuple[str, ...],
    inputs: Sequence[str] | None = None,
) -> Receipts:
    """Read receipts and interpret their answers.

    A clip that failed with an error, or was rebuilt since, may have been asked again: its last line counts. Any other
    second line for a clip is refused.

    Args:
        path: JSON Lines.
        clip_ids: Clips of the set, in the set's order.
        table: Alias table, with what the system's card declares.
        classes: Label space, in index order.
        inputs: ``clip_sha256`` of each clip, to see that the answers are about these clips; None where unknown.

    Raises:
        PredictionError: A line breaks the schema, is for a clip that is not in the set, for another input, or a
            repeat.
    """
    place = {clip_id: at for at, clip_id in enumerate(clip_ids)}
    last = _last_lines(path, place, inputs)
    index = {name: at for at, name in enumerate(classes)}
    n = len(clip_ids)
    labels, status = np.full(n, -1, np.int64), np.full(n, MISSING, np.int8)
    scores = np.full((n, len(classes)), np.nan)
    unclear: dict[str, str] = {}
    reasons: Counter[str] = Counter()
    models: Counter[str] = Counter()
    prompts: Counter[str] = Counter()
    transcripts: Counter[str] = Counter()
    undeclared: Counter[str] = Counter()
    oldest = newest = ""
    changed, shares, on_top = [], [], 0
    for number, line in json_lines(path):
        clip_id = normal_id(line["clip_id"])
        at, where = place[clip_id], f"{path}:{number}"
        if last[at] != number:
            continue
        receipt = {name: line.get(name) for name in _READ}
        _check(receipt, where=where)
        time = str(receipt["time"])
        oldest, newest = min(oldest or time, time), max(newest, time)
        if inputs is not None and receipt["input_sha256"] not in (None, inputs[at]):
            raise PredictionError(
                "the receipt is of another input",
                where=where,
                expected=f"clip_sha256 {inputs[at]}",
                found=receipt["input_sha256"],
                do="replay against the set that the answers were given for",
            )
        if receipt["transcript_source"] is not None:
            transcripts[printable(receipt["transcript_source"])] += 1
        models[f"{receipt['model']}@{receipt['revision'] or 'unstated'}"] += 1
        if receipt["prompt_sha256"]:
            prompts[receipt["prompt_sha256"]] += 1
        answer = _answer(receipt)
        meaning = interpret(answer, table)
        status[at] = STATUSES.index(meaning.status)
        if answer.scores:
            shares.append(meaning.unmapped)
            undeclared.update(printable(label) for label in answer.scores if not table.knows(label))
            on_top += meaning.unmapped_on_top
        if meaning.label is not None:
            labels[at] = index[meaning.label]
            if meaning.scores is not None:
                scores[at] = [meaning.scores.get(name, 0.0) for name in classes]
        if meaning.spelling is not None:
            unclear[clip_id] = printable(meaning.spelling)
        if meaning.status != "ok":
            reasons[printable(meaning.reason or meaning.status, limit=200)] += 1
        if answer.status == "ok":
            saved = table.resolve(receipt["label"]) if receipt["label"] is not None else None
            if saved != meaning.label:
                changed.append(clip_id)
    scored = not np.isnan(scores[status == OK]).any() and bool((status == OK).any())
    predictions = Predictions(
        labels, status, scores if scored else None, by_frequency(Counter(unclear.values())), path.name
    )
    return Receipts(
        predictions,
        unclear,
        by_frequency(reasons),
        Unmapped(len(shares), sum(shares) / len(shares) if shares else 0.0, on_top),
        dict(models),
        dict(prompts),
        by_frequency(transcripts),
        by_frequency(undeclared),
        oldest,
        newest,
        tuple(changed),
    )


def _answer(receipt: Mapping[str, Any]) -> Answer:
    """The answer that a receipt saved; where its text was kept, what it was once read as does not count."""
    scores = {name: value for name, value in (receipt["scores"] or {}).items() if value is not None}
    raw = receipt["answer"]
    return Answer(raw, receipt["label"] if raw is None else None, scores or None, receipt["status"], receipt["reason"])


def _last_lines(path: Path, place: Mapping[str, int], inputs: Sequence[str] | None) -> NDArray[np.int64]:
    """Line that counts for each clip, from 1, shape (n,); 0 for a clip without a line."""
    last, answered = np.zeros(len(place), np.int64), np.zeros(len(place), np.bool_)
    keys: set[str] = set()
    for number, line in json_lines(path):
        keys.update(line)
        written, status, where = line.get("clip_id"), line.get("status"), f"{path}:{number}"
        at = place.get(normal_id(written)) if isinstance(written, str) else None
        if at is None:
            raise PredictionError(
                "the clip id is not in the set", where=where, expected="one of its clips", found=repr(written)
            )
        if answered[at]:
            raise PredictionError(
                "a second receipt for a clip that had an answer",
                where=where,
                found=f"{written}, first at {path}:{last[at]}",
                do="keep one line per clip",
            )
        if not isinstance(status, str) or status not in WRITABLE:
            raise PredictionError("unknown status", where=where, expected=", ".join(WRITABLE), found=repr(status))
        last[at] = number
        answered[at] = status != "error" and (inputs is None or line.get("input_sha256") in (None, inputs[at]))
    if missing := [name for name in REQUIRED if name not in keys]:
        raise PredictionError(
            "a column is missing", where=path, expected=missing[0], found=", ".join(sorted(keys)) or "no columns"
        )
    return last


def _check(receipt: Mapping[str, Any], *, where: str) -> None:
    """Refuse a value that a receipt cannot have."""

    def refuse(key: str, expected: str) -> None:
        raise PredictionError(f"invalid receipt: {key}", where=where, expected=expected, found=repr(receipt[key])[:80])

    for key in ("answer", "label", "revision", "reason", "transcript_source"):
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
