"""The files that a run leaves beside its predictions file, and what they say about it."""

import hashlib
from pathlib import Path
from typing import Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard

WROTE = "predictions_sha256"
"""Key of the digest of the predictions file, which is there once a run has ended."""

ADDED = ("observed", WROTE)
"""Keys that are only known when a run ends; they do not tell runs apart."""

_RECEIPTS = ".receipts.jsonl"


def run_file(out: Path) -> Path:
    """``FILE.run.json`` beside the predictions file ``FILE``."""
    return out.with_name(out.name + ".run.json")


def receipts_of(out: Path) -> Path:
    """``FILE.receipts.jsonl`` beside the predictions file ``FILE``."""
    return out.with_name(out.name + _RECEIPTS)


def calls_of(out: Path) -> Path:
    """``FILE.calls.jsonl`` beside the predictions file ``FILE``: the attempts of runs with a budget."""
    return out.with_name(out.name + ".calls.jsonl")


def read_run(path: Path) -> dict[str, Any] | None:
    """What a ``run.json`` says, or None where there is none.

    Raises:
        OrukError: It is not the file of a run.
    """
    try:
        return dict(jsontext.parse(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (TypeError, ValueError) as error:
        raise OrukError(
            "not the run.json of a run", where=path, found=error, do="remove it, or start again with --restart"
        ) from error


def card_of_run(out: Path) -> SystemCard | None:
    """Card of the system that ``run`` asked, where ``run.json`` has the digest of the predictions file ``out``.

    Raises:
        OrukError: ``run.json`` is not the file of a run.
    """
    run = read_run(run_file(out))
    if run is None or not out.is_file() or run.get(WROTE) != hashlib.sha256(out.read_bytes()).hexdigest():
        return None
    return SystemCard.from_dict(run["system"])


def card_of_receipts(receipts: Path) -> SystemCard | None:
    """Card of the system that ``run`` asked, by ``FILE.run.json`` beside ``FILE.receipts.jsonl``.

    Raises:
        OrukError: ``run.json`` is not the file of a run.
    """
    out = receipts.with_name(receipts.name.removesuffix(_RECEIPTS))
    run = None if out.name == receipts.name else read_run(run_file(out))
    return None if run is None else SystemCard.from_dict(run["system"])
