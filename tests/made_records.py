"""Records for the tests of the page: the attested ones, and made ones beside them."""

from pathlib import Path

from oruk_leaderboard.records.record import (
    ProtocolVersion,
    Record,
    Source,
    SystemInfo,
    load_records,
    record_path,
    write_record,
)

HOSTILE = '<img src=x onerror=alert(1)></script><!-- "&'
FORMULA = '=HYPERLINK("http://example.invalid","x")'


def a_record(identifier: str, **changes: object) -> Record:
    fields: dict[str, object] = {
        "system": SystemInfo(id=identifier, name=str(changes.pop("name", identifier)), family="open", modality="audio"),
        "snapshot": "2026-07-12",
        "scored_on": "full_set",
        "accuracy": "50.00",
        "macro_f1": "0.5000",
        "protocol": ProtocolVersion(name="oruk-bench", version="0.1.0"),
        "source": Source(kind="harness", attested_by="a test"),
    }
    return Record(**{**fields, **changes})  # type: ignore[arg-type]


def attested() -> list[Record]:
    """The records that a public source attests; rows that a later sync adds change no expectation here."""
    return [record for record in load_records() if record.source.kind in ("card", "harness")]


def add(data: Path, *records: Record) -> None:
    for record in records:
        write_record(record, record_path(record, data / "records"))
