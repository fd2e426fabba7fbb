"""What ``run`` recorded about the system of a submission: the revision that answered, checked instead of believed."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.records.record import Record

_SUFFIX = ".run.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def with_run(record: Record, path: Path, *, where: Path) -> Record:
    """The record with the identity that a run stated, after both were compared.

    A commit on a hub must be the one that ran. A private model is named by the sha256 of its files or of its module, a
    service by its endpoint and the date of the record.

    Args:
        record: A record of a rebuilt set.
        path: ``run.json`` beside the predictions that the record was scored from.
        where: The record's file, for messages.

    Raises:
        RecordError: The file is not of a run, or belongs to another system, set or predictions file than the record,
            or the record claims another revision than the one that ran.
    """
    run, evaluation, system = _read(path), record.evaluation or {}, record.system
    _same("another system", run["system"]["id"], system.id, path, where)
    _same("another set of clips", run["set"], evaluation["set_digest"], path, where)
    _same("another predictions file", _digest(path), evaluation["predictions"]["sha256"], path, where)
    revision = run["revision"]
    if revision is None:
        endpoint = run["identity"].get("endpoint", "a service")
        return replace(record, source=replace(record.source, locator=f"answers of {endpoint}, {record.snapshot}"))
    if not (_COMMIT.fullmatch(revision) or _DIGEST.fullmatch(revision)):
        return record  # a baseline, which the version of the package names
    if system.revision is not None:
        _same("another revision", revision, system.revision, path, where)
    return replace(record, system=replace(system, revision=revision))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        run: Mapping[str, Any] = jsontext.parse(path.read_text(encoding="utf-8"))
        named = isinstance(run["system"]["id"], str) and isinstance(run["identity"], dict)
        if not (named and isinstance(run["set"], str) and isinstance(run["revision"], str | None)):
            raise ValueError("an entry of the wrong kind")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            "not the file of a run", where=path, expected=f"FILE{_SUFFIX} beside the predictions FILE", found=error
        ) from error
    return run


def _digest(path: Path) -> str:
    predictions = path.with_name(path.name.removesuffix(_SUFFIX))
    try:
        return hashlib.sha256(predictions.read_bytes()).hexdigest()
    except OSError as error:
        raise RecordError(
            "the predictions of the run cannot be read",
            where=predictions,
            found=error.strerror,
            do=f"keep PREDICTIONS and PREDICTIONS{_SUFFIX} in one folder",
        ) from error


def _same(what: str, ran: object, stated: object, path: Path, where: Path) -> None:
    if ran != stated:
        raise RecordError(
            f"the run is of {what} than the record", where=where, expected=f"{ran} ({path})", found=stated
        )
