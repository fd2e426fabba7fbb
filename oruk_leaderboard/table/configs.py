"""The configs of the data set: name, file, row schema and the rows themselves; the one list that everything reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.manifest import load_manifest
from oruk_leaderboard.records.overlap import outside
from oruk_leaderboard.records.record import PUBLISHED, REBUILT, Record, by_score, default_records
from oruk_leaderboard.records.schemas import load_schema
from oruk_leaderboard.records.training import training_ledger
from oruk_leaderboard.table import published

SPLIT = "train"
"""The one split of every config."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Config:
    """One table of the data set.

    Attributes:
        name: Config name, as ``load_dataset`` takes it.
        path: Parquet file below the repository's root.
        schema: Name of the JSON Schema of a row.
        summary: One line for people.
        rows: From all records to the rows.
        table: From the repository's root to the Arrow table or None, for a config that is not made from rows.
    """

    name: str
    path: str
    schema: str
    summary: str
    rows: Callable[[Sequence[Record]], Rows] | None = None
    table: Callable[[Path], Any] | None = None


def leaderboard_row(record: Record) -> dict[str, Any]:
    """The card's seven fields of a record."""
    return {
        "system": record.system.name,
        "family": record.system.family,
        "accuracy": float(record.accuracy),
        "macro_f1": float(record.macro_f1),
        "scored_on": record.scored_on,
        "is_oruk": record.system.is_oruk,
        "note": record.note,
    }


def leaderboard_rows(records: Sequence[Record]) -> Rows:
    """Rows of a leaderboard: the full set first, each group by score."""
    return [
        leaderboard_row(record)
        for scored_on in PUBLISHED
        for record in by_score([record for record in records if record.scored_on == scored_on])
    ]


def _default(records: Sequence[Record]) -> Rows:
    return leaderboard_rows(default_records(records))


def _snapshot(date: str) -> Callable[[Sequence[Record]], Rows]:
    return lambda records: leaderboard_rows([record for record in records if record.snapshot == date])


def _row(record: Record, schema: str, **more: Any) -> dict[str, Any]:
    """Columns of a schema, each from the first that has it: what is given here, the system, the record."""
    document = record.to_dict()
    given = {
        "system_id": record.system.id,
        "system": record.system.name,
        "accuracy": float(record.accuracy),
        "macro_f1": float(record.macro_f1),
        "protocol": record.protocol.name,
        "protocol_version": record.protocol.version,
        **more,
    }
    sources = (given, document["system"], document)
    columns = load_schema(schema)["properties"]
    return {column: next(source[column] for source in sources if column in source) for column in columns}


def _systems(records: Sequence[Record]) -> Rows:
    shown = {id(record) for record in default_records(records)}
    rows, manifest = [], load_manifest()
    for record in records:
        if record.scored_on in PUBLISHED:
            derived = record.source.derived or {}
            training = training_ledger().of(record.system.id)
            named, found = training.corpora, outside(record.system.id, manifest)
            rows.append(
                _row(
                    record,
                    "systems",
                    in_default=id(record) in shown,
                    training_corpora=[corpus for corpus in named if corpus in manifest.counts] if named else None,
                    training_evidence=training.evidence,
                    clips_outside_training=found and found.clips,
                    share_outside_training=found and round(found.share, 4),
                    accuracy_digits=record.accuracy,
                    macro_f1_digits=record.macro_f1,
                    failures=None if record.failures is None else sum(record.failures.values()),
                    source_kind=record.source.kind,
                    source_reference=record.source.reference,
                    source_locator=record.source.locator,
                    attested_by=record.source.attested_by,
                    derived="; ".join(f"{field}: {reason}" for field, reason in derived.items()) or None,
                )
            )
    return rows


def _rebuilt(records: Sequence[Record]) -> Rows:
    from oruk_leaderboard.scoring.human import human_lines

    rows = []
    for record in by_score([record for record in records if record.scored_on in REBUILT]):
        evaluation = record.evaluation or {}
        speakers = evaluation["intervals"]["macro_f1"] or (None, None)
        corpora = evaluation["other_corpora"]["intervals"]["macro_f1"] or (None, None)
        rows.append(
            _row(
                record,
                "rebuilt",
                macro_f1_low=speakers[0],
                macro_f1_high=speakers[1],
                macro_f1_low_corpora=corpora[0],
                macro_f1_high_corpora=corpora[1],
                human_line=" ".join(human_lines(evaluation)) if evaluation["human_line"] else None,
                **{name: evaluation[name] for name in ("n", "manifest_version", "manifest_digest", "set_digest")},
            )
        )
    return rows


def _manifest(root: Path) -> Any:
    from oruk_leaderboard.manifest.files import read_folder, to_table

    folder = root / "data" / "manifest"
    return to_table(read_folder(folder)) if folder.is_dir() else None


CONFIGS: tuple[Config, ...] = (
    Config(
        "default",
        "data/leaderboard.parquet",
        "leaderboard",
        "the leaderboard: each system once, newest attested figure",
        _default,
    ),
    Config(
        "snapshot-2026-07-12",
        "data/snapshots/2026-07-12.parquet",
        "leaderboard",
        "the complete snapshot of 12 July 2026, names and digits as published",
        _snapshot("2026-07-12"),
    ),
    Config(
        "systems",
        "data/systems.parquet",
        "systems",
        "every record: exact figures, model ids, failures, source of each figure",
        _systems,
    ),
    Config(
        "rebuilt",
        "data/rebuilt.parquet",
        "rebuilt",
        "systems scored by this package on rebuilt sets, never ranked with the leaderboard",
        _rebuilt,
    ),
    Config(
        "manifest",
        "data/manifest.parquet",
        "manifest",
        "the clips of the equivalent evaluation set that this package rebuilds, with their digests",
        table=_manifest,
    ),
    Config(
        "published",
        "data/published.parquet",
        "published",
        "the literature's leaderboards on emotional speech and text (CC BY-SA 4.0), never ranked with this one",
        lambda records: published.rows("leaderboards"),
    ),
    Config(
        "published-datasets",
        "data/published_datasets.parquet",
        "published-datasets",
        "the data sets that the literature's task pages list, with modality (CC BY-SA 4.0)",
        lambda records: published.rows("datasets"),
    ),
    Config(
        "published-papers",
        "data/published_papers.parquet",
        "published-papers",
        "the papers of those pages (CC BY-SA 4.0)",
        lambda records: published.rows("papers"),
    ),
)
"""Every config in the order of the card; the first is the default one. A config without rows has no file."""


def shipped(root: Path) -> list[Config]:
    """Configs whose file is below a repository's root."""
    return [config for config in CONFIGS if (root / config.path).is_file()]
