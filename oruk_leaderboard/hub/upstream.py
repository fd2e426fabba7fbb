"""Read the published table from the Hub, compare it with the attested records, and add the systems missing here.

Nothing is overwritten: a row that contradicts a record is shown as a conflict, and added rows become records whose
source is the exact revision that was read.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from oruk_leaderboard.errors import HubError, RecordError
from oruk_leaderboard.hub.client import Hub
from oruk_leaderboard.hub.upstream_table import Row, find_table, read_table_rows
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.records.addresses import REPO, WEB
from oruk_leaderboard.records.record import (
    ProtocolVersion,
    Record,
    Source,
    SystemInfo,
    default_records,
    load_records,
    record_path,
    write_record,
)
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.todict import ToDict

_RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
"""File names without their suffix that Windows keeps for devices."""


@dataclass(frozen=True, slots=True)
class TableDiff:
    """A published table against the records.

    Attributes:
        agree: Rows that say what a record says, to the last digit that both give.
        renamed: Row's name to the record that has its figures under another name.
        conflicts: Rows that contradict a record, each with what differs.
        missing: Rows without a record.
        only_here: Systems with a record and without a row.
    """

    agree: tuple[str, ...]
    renamed: Mapping[str, str]
    conflicts: tuple[Mapping[str, Any], ...]
    missing: tuple[Row, ...]
    only_here: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SyncReport(ToDict):
    """What ``sync`` read and did.

    Attributes:
        repo: Repository on the Hub.
        revision: The 40-hex commit that was read.
        table: The file that was read.
        rows: Rows in it.
        comparison: The rows against the records.
        added: Record files written, below the repository's root.
    """

    repo: str
    revision: str
    table: str
    rows: int
    comparison: TableDiff
    added: tuple[str, ...]


def sync(
    *,
    revision: str | None = None,
    repo: str = REPO,
    dry_run: bool = False,
    root: Path | None = None,
    endpoint: str | None = None,
    token: str | None = None,
) -> SyncReport:
    """Read, check and compare the published table; add records for the systems that have none.

    Args:
        revision: Branch, tag or commit; main by default. The commit behind it is what the records name.
        repo: Repository on the Hub.
        dry_run: Write nothing.
        root: The checkout; the one that the package runs from by default.
        endpoint: Another address than huggingface_hub's own.
        token: Another token than the one of the environment or the login.

    Raises:
        HubError: The table is missing, or breaks schema, types or composition; nothing is written then.
    """
    root = checkout_root() if root is None else root
    hub = Hub(repo, endpoint=endpoint, token=token)
    sha = hub.revision(revision)
    table = find_table(hub, sha)
    if table is None:
        raise HubError("no table in the repository", where=f"{repo}@{sha}", expected="a default config in README.md")
    rows = read_table_rows(hub.download(table, sha))
    composition = json.loads((root / "data" / "composition.json").read_text(encoding="utf-8"))
    check_composition(rows, composition, where=f"{repo}/{table}@{sha}")
    comparison = compare_rows(rows, load_records(root / "data" / "records"))
    _judge(comparison, where=f"{repo}/{table}@{sha}")
    source = Source(
        kind="hub",
        attested_by="Oruk AI, published table",
        reference=f"{WEB}/datasets/{repo}/blob/{sha}/{table}",
    )
    added = _places(new_records(comparison.missing, composition, source), root / "data" / "records")
    if not dry_run:
        for path, record in added.items():
            write_record(record, path)
    names = tuple(path.relative_to(root).as_posix() for path in added)
    return SyncReport(repo, sha, table, len(rows), comparison, names)


def _judge(comparison: TableDiff, *, where: str) -> None:
    """Refuse a table that contradicts more of the known rows than it confirms: its columns are not what they seem.

    Raises:
        HubError: Most known rows disagree.
    """
    agree, differ = len(comparison.agree), len(comparison.conflicts)
    if differ > agree:
        first = comparison.conflicts[0]
        raise HubError(
            "most rows of the published table contradict their records, so nothing of it is taken",
            where=where,
            expected="accuracy in percent and macro-F1 as a fraction, as in the records",
            found=f"{differ} rows that differ and {agree} that agree; {first['system']}: {first['differs']}",
        )


def _places(records: Sequence[Record], folder: Path) -> dict[Path, Record]:
    """File of each new record; all of them are checked before any is written."""
    places: dict[Path, Record] = {}
    for record in records:
        name = record.system.name
        try:
            check(record.to_dict(), "record", where=f"row {name[:80]}")
        except RecordError as error:
            raise HubError(f"a row of the published table makes no record: {error}") from error
        path = record_path(record, folder)
        if path in places or path.exists():
            other = f"row {places[path].system.name}" if path in places else path
            raise HubError("two systems would have one record", where=f"row {name}", found=other, do="rename one")
        places[path] = record
    return places


def check_composition(rows: Sequence[Row], composition: Mapping[str, Any], *, where: str) -> None:
    """Compare the counts of a table with those that the card states.

    Raises:
        HubError: The number of systems, families or ``scored_on`` values differs, or a name occurs twice.
    """
    names = Counter(row["system"] for row in rows)
    if twice := [name for name, count in names.items() if count > 1]:
        raise HubError("a system occurs twice in the published table", where=where, found=", ".join(twice))
    for key, expected in (("families", "family"), ("scored_on", "scored_on")):
        found = Counter(row[expected] for row in rows)
        if dict(found) != composition[key]:
            raise HubError(
                "the published table is not composed as the card says",
                where=where,
                expected=_counts(composition[key]),
                found=_counts(found),
                do="if the benchmark has grown, change data/composition.json first",
            )


def compare_rows(rows: Sequence[Row], records: Sequence[Record]) -> TableDiff:
    """Match rows with the records of the default table: by name or id, else by family, set and figures.

    A row whose figures are those of several records is shown as a conflict, because it may be any of them.
    """
    held = {record.system.id: record for record in default_records(records)}
    by_name = {key(name): record for record in held.values() for name in (record.system.name, record.system.id)}
    matched = {row["system"]: by_name[key(row["system"])] for row in rows if key(row["system"]) in by_name}
    renamed: dict[str, str] = {}
    conflicts: list[dict[str, Any]] = []
    for row in (row for row in rows if row["system"] not in matched):
        taken = {record.system.id for record in matched.values()}
        same = [record for id_, record in held.items() if id_ not in taken and not _differences(row, record)]
        if len(same) == 1:
            matched[row["system"]] = same[0]
            renamed[row["system"]] = same[0].system.id
        elif same:
            candidates = " or ".join(record.system.id for record in same)
            conflicts.append({"system": row["system"], "record": candidates, "differs": {"system": "name"}})
    ambiguous = {conflict["system"] for conflict in conflicts}
    conflicts += [
        {"system": name, "record": matched[name].system.id, "differs": differs}
        for row in rows
        if (name := row["system"]) in matched and (differs := _differences(row, matched[name]))
    ]
    contradicted = {conflict["system"] for conflict in conflicts}
    seen = {record.system.id for record in matched.values()}
    return TableDiff(
        agree=tuple(row["system"] for row in rows if row["system"] in matched.keys() - contradicted),
        renamed=renamed,
        conflicts=tuple(conflicts),
        missing=tuple(row for row in rows if row["system"] not in matched.keys() | ambiguous),
        only_here=tuple(sorted(held.keys() - seen)),
    )


def new_records(rows: Sequence[Row], composition: Mapping[str, Any], source: Source) -> list[Record]:
    """Records of rows that have none: what the row says and its place, and nothing else."""
    return [
        Record(
            system=SystemInfo(id=key(row["system"]), name=row["system"], family=row["family"], is_oruk=row["is_oruk"]),
            snapshot=composition["snapshot"],
            scored_on=row["scored_on"],
            accuracy=_digits(row["accuracy"]),
            macro_f1=_digits(row["macro_f1"]),
            protocol=ProtocolVersion(name="oruk-bench"),
            source=Source(
                kind=source.kind,
                attested_by=source.attested_by,
                reference=source.reference,
                locator=f"row {row['system']}",
                derived={"snapshot": "the table names none; the card's is taken"},
            ),
            note=row["note"],
        )
        for row in rows
    ]


def _differences(row: Row, record: Record) -> dict[str, list[Any]]:
    """Field to the row's and the record's value, where they contradict each other."""
    pairs = {
        "accuracy": (_digits(row["accuracy"]), record.accuracy),
        "macro_f1": (_digits(row["macro_f1"]), record.macro_f1),
    }
    found: dict[str, list[Any]] = {name: list(pair) for name, pair in pairs.items() if not agree(*pair)}
    same = {"family": record.system.family, "scored_on": record.scored_on, "is_oruk": record.system.is_oruk}
    return found | {name: [row[name], value] for name, value in same.items() if row[name] != value}


def agree(first: str, second: str) -> bool:
    """Whether two decimal strings are the same number as far as both are given.

    ``68.69`` and ``68.7`` agree; half a unit of the last common digit is allowed either way, because sources differ in
    how they round it.
    """
    one, two = Decimal(first), Decimal(second)
    coarsest = max(int(one.as_tuple().exponent), int(two.as_tuple().exponent))
    return abs(one - two) <= Decimal(5).scaleb(coarsest - 1)


def _digits(value: float) -> str:
    """The digits of a source that wrote a decimal number: twelve significant ones, without the noise of a float."""
    return f"{Decimal(f'{value:.12g}'):f}"


def key(name: str) -> str:
    """Name of a system as an id; two spellings of one name have one key, and every id is a file name on any system."""
    found = re.sub(r"[^a-z0-9.]+", "-", name.casefold().replace("+", "-plus-")).strip("-.")
    return f"system-{found}" if _RESERVED.fullmatch(found.partition(".")[0]) else found


def _counts(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values())} = " + " + ".join(f"{count} {name}" for name, count in sorted(counts.items()))
