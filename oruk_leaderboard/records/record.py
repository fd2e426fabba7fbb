"""Result records: one reviewable JSON file a system and snapshot, the source of every table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.jsontext import pretty
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.records.schemas import check, load_schema

RECORD_VERSION = "1.1.0"
"""Version of the record schema."""

PUBLISHED: tuple[str, ...] = ("full_set", "subsample_5k")
"""``scored_on`` values of the original evaluation, the only ones in the default table."""

REBUILT: tuple[str, ...] = ("rebuilt_full", "rebuilt_open", "rebuilt_subsample", "partial")
"""``scored_on`` values of sets rebuilt by this package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInfo:
    """What was evaluated; the fields are described in ``schema/record.schema.json``.

    Attributes:
        id: Stable id; the stem of the record's file.
        name: Name shown in tables.
        family: One of ``FAMILIES``.
        is_oruk: Whether it is a model of the benchmark's authors.
        modality: ``audio``, ``transcript-only`` or None where the source does not say.
        parameters_m: Parameters in millions, or None.
        model_id: Repository of the checkpoint, or None.
        hub: ``hf``, ``modelscope`` or None.
        revision: Commit of 40 hex digits, ``sha256:`` of the files of a model that is not public, or None.
        training_corpora: Corpus ids; None means undeclared, which is not the same as none.
        in_distribution: Whether it was trained on the evaluation's corpora; None means unknown.
        native_labels: Labels that it can emit, or None.
    """

    id: str
    name: str
    family: str
    is_oruk: bool = False
    modality: str | None = None
    parameters_m: float | None = None
    model_id: str | None = None
    hub: str | None = None
    revision: str | None = None
    training_corpora: Sequence[str] | None = None
    in_distribution: bool | None = None
    native_labels: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolVersion:
    """Rules that a figure was made by.

    Attributes:
        name: Name of the protocol.
        version: Its version, or None where the source names none.
    """

    name: str
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a figure comes from.

    Attributes:
        kind: ``card``, ``harness``, ``scored_here`` or ``hub``.
        reference: URL or file, or None.
        locator: Where in it, or None.
        attested_by: Who states the figure.
        derived: Field to the reason for its value, for what the source does not state outright; or None.
    """

    kind: str
    attested_by: str
    reference: str | None = None
    locator: str | None = None
    derived: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One system's figures in one snapshot.

    Attributes:
        system: What was evaluated.
        snapshot: Date of the snapshot, ISO 8601.
        scored_on: One of ``PUBLISHED`` or ``REBUILT``.
        accuracy: Percent (0-100) as a decimal string with the digits of the source.
        macro_f1: Fraction (0-1) as a decimal string with the digits of the source.
        protocol: Rules that the figures were made by.
        source: Where the figures come from.
        note: Snapshot and caveats, shown with the row.
        failures: Kind of failure to number of clips, or None where unknown.
        superseded_by: System whose row is in the default table instead of this earlier checkpoint's, or None.
        evaluation: Counts, intervals and versions of a figure scored here, else None.
        record_version: Version of the schema.
    """

    system: SystemInfo
    snapshot: str
    scored_on: str
    accuracy: str
    macro_f1: str
    protocol: ProtocolVersion
    source: Source
    note: str | None = None
    failures: Mapping[str, int] | None = None
    superseded_by: str | None = None
    evaluation: Mapping[str, Any] | None = None
    record_version: str = RECORD_VERSION

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON, keys in the order of the schema."""
        # Not asdict on the whole: it would copy an evaluation's counts, a hundred thousand numbers.
        parts = {name: asdict(getattr(self, name)) for name in ("system", "protocol", "source")}
        return {key: parts.get(key, getattr(self, key)) for key in load_schema("record")["required"]}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, where: object = None) -> "Record":
        """Record from parsed JSON.

        Raises:
            RecordError: The document breaks the schema; the message names the key.
        """
        check(document, "record", where=where)
        return cls._of_valid(document)

    @classmethod
    def _of_valid(cls, document: Mapping[str, Any]) -> "Record":
        parts = {"system": SystemInfo, "protocol": ProtocolVersion, "source": Source}
        return cls(**{key: parts[key](**value) if key in parts else value for key, value in document.items()})


_VALID: set[bytes] = set()
"""Digests of the files that this process has found valid: the check takes ten times as long as the reading."""


def read_record(path: Path) -> Record:
    """Read and check one record file.

    Raises:
        RecordError: The file cannot be read, is not JSON, repeats a key or breaks the schema.
    """
    text = _text(path)
    document, digest = _parse(text, path), sha256(text.encode()).digest()
    if digest not in _VALID:
        check(document, "record", where=path)
        _VALID.add(digest)
    return Record._of_valid(document)


def read_document(path: Path) -> dict[str, Any]:
    """Read a record file as JSON, without checking it against the schema.

    Raises:
        RecordError: The file cannot be read, is not a JSON object, or repeats a key.
    """
    return _parse(_text(path), path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> RecordError:
    return RecordError(f"record cannot be read: {error}", where=path, expected="one JSON object")


def _parse(text: str, path: Path) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if repeated := {key for key in keys if keys.count(key) > 1}:
            raise RecordError("key written twice", where=path, found=sorted(repeated))
        return dict(pairs)

    try:
        document = jsontext.parse(text, object_pairs_hook=unique)
    except ValueError as error:
        raise _unreadable(path, error) from error
    if not isinstance(document, dict):
        raise RecordError(
            "record cannot be read", where=path, expected="one JSON object", found=type(document).__name__
        )
    return document


def write_record(record: Record, path: Path) -> None:
    """Write one record file: checked, UTF-8, two blanks of indent, one newline at the end.

    Raises:
        RecordError: The record breaks the schema and nothing is written, or the file cannot be written.
    """
    document = record.to_dict()
    check(document, "record", where=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pretty(document) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise RecordError("the record cannot be written", where=path, found=error.strerror) from error


def record_path(record: Record, root: Path) -> Path:
    """File of a record below the records folder: ``<snapshot>/<id>.json``, or that below ``rebuilt/<set>``."""
    folder = root / "rebuilt" / record.scored_on if record.scored_on in REBUILT else root
    return folder / record.snapshot / f"{record.system.id}.json"


def load_records(root: Path | None = None) -> list[Record]:
    """Every record, sorted by file: published snapshots first, then rebuilt sets.

    Args:
        root: The records folder; the shipped one by default.

    Raises:
        RecordError: A file breaks the schema or is in the wrong place for its content.
    """
    root = data_dir() / "records" if root is None else root
    records = []
    for path in sorted(root.rglob("*.json"), key=lambda path: path.relative_to(root).as_posix()):
        record = read_record(path)
        place = record_path(record, root)
        if path != place:
            raise RecordError(
                "record is in the wrong place", where=path, expected=place.relative_to(root), do="move the file"
            )
        records.append(record)
    return records


def percent(fraction: str) -> str:
    """Decimal fraction as percent with the digits of the source: ``0.6869`` becomes ``68.69``."""
    return f"{Decimal(fraction).scaleb(2):f}"


def default_records(records: Sequence[Record], *, scored_on: Sequence[str] = PUBLISHED) -> list[Record]:
    """Records of the default table: each system once with its newest figure on the original evaluation.

    An earlier checkpoint that another row supersedes is left to its own snapshot.

    Args:
        records: All records.
        scored_on: Values to choose from; ``REBUILT`` gives each system's newest figure on the same rebuilt clips.
    """
    newest: dict[tuple[str, object], Record] = {}
    for record in sorted(records, key=lambda record: record.snapshot):
        if record.scored_on in scored_on and record.superseded_by is None:
            kind = None if record.scored_on in PUBLISHED else (record.scored_on, set_key(record))
            newest[record.system.id, kind] = record
    return list(newest.values())


def set_key(record: Record) -> tuple[str, str]:
    """What names the clips of a rebuilt set, and its digest: records are comparable where both are equal.

    A whole profile is named by its manifest; a subsample also by the profile that it was drawn from; a partial set only
    by its own digest, because two partial sets of one manifest may have no clip in common.
    """
    evaluation = record.evaluation or {}
    if record.scored_on == "partial":
        return "set", str(evaluation.get("set_digest"))
    drawn_from = f"{evaluation.get('profile')} " if record.scored_on == "rebuilt_subsample" else ""
    return f"{drawn_from}manifest", str(evaluation.get("manifest_digest"))


def by_score(records: Sequence[Record]) -> list[Record]:
    """Best macro-F1 first; then accuracy, then id."""
    return sorted(records, key=lambda record: (-Decimal(record.macro_f1), -Decimal(record.accuracy), record.system.id))


def load_composition() -> dict[str, Any]:
    """Composition of the published table as the dataset card states it."""
    composition: dict[str, Any] = json.loads((data_dir() / "composition.json").read_text(encoding="utf-8"))
    return composition
