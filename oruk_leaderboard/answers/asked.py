"""Receipts of a run: one JSON line a clip, appended as answers come, so that a killed run goes on where it was.

``schema/receipt.schema.json`` describes a line; ``oruk-leaderboard replay`` scores them again without the system.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.errors import OrukError

_BEGINNING = b'{"clip_id"'
"""How a line begins."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One clip that a system was asked about.

    Attributes:
        clip_id: Id of the clip.
        input_sha256: Digest of the samples that were given.
        answer: What came back.
        reason: Why it failed, or None.
        seconds: How long it took, in s.
    """

    clip_id: str
    input_sha256: str
    answer: Answer
    reason: str | None
    seconds: float

    def line(self, *, model: str, revision: str) -> str:
        """The receipt as one line of JSON."""
        receipt = {
            "clip_id": self.clip_id,
            "input_sha256": self.input_sha256,
            "prompt_sha256": None,
            "model": model,
            "revision": revision,
            "answer": self.answer.raw,
            "scores": None if self.answer.scores is None else dict(self.answer.scores),
            "label": self.answer.label,
            "status": self.answer.status,
            "reason": self.reason,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 4),
        }
        return json.dumps(receipt, ensure_ascii=False, allow_nan=False) + "\n"


def read_receipts(path: Path, *, model: str, revision: str, inputs: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Clips that need not be asked again: clip id to receipt.

    A receipt counts when its system and revision are these and the clip still has the samples it was made from; an
    answer that failed is asked for again. A last line that a killed run left unfinished is cut off the file.

    Args:
        path: Receipts file; need not exist.
        model: Model the run asks.
        revision: Its revision.
        inputs: Clip id to digest of the samples, for every clip of the run.

    Raises:
        OrukError: A line is no receipt, or belongs to another system or revision.
    """
    if not path.exists():
        return {}
    data = path.read_bytes()
    *lines, cut = data.split(b"\n")
    done = {}
    for number, line in enumerate(lines, 1):
        try:
            receipt = jsontext.parse(line)
            asked, digest, status = (receipt["model"], receipt["revision"]), receipt["input_sha256"], receipt["status"]
            clip_id = receipt["clip_id"]
        except (ValueError, KeyError, TypeError) as error:
            raise OrukError("not a receipt", where=f"{path}:{number}", found=repr(line[:80])) from error
        if asked != (model, revision):
            raise OrukError(
                "the receipts belong to another system",
                where=f"{path}:{number}",
                expected=f"{model} at {revision}",
                found=f"{asked[0]} at {asked[1]}",
                do="choose another --out",
            )
        if status != "error" and inputs.get(clip_id) == digest:
            done[clip_id] = receipt
    if not lines and not cut.startswith(_BEGINNING[: len(cut)]):
        raise OrukError("not a receipts file", where=path, found=repr(cut[:80]), do="choose another --out")
    if cut:
        # A line that a killed run left unfinished; only now is it known that this file is one of receipts.
        path.write_bytes(data.removesuffix(cut))
    return done


def append(path: Path, lines: Iterable[str]) -> None:
    """Append lines and flush them, so that a receipt that is there was paid for once only."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
