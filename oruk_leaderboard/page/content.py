"""What the page shows: rows with their ranks and badges, groups, coverage and composition, all read from ``data/``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oruk_leaderboard.languages import base_language, language_name
from oruk_leaderboard.manifest.files import load_manifest, read_parquet
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.stats import Known, known
from oruk_leaderboard.manifest.witnesses import seen_in
from oruk_leaderboard.records.addresses import model_url
from oruk_leaderboard.records.caveats import caveats_of
from oruk_leaderboard.records.overlap import outside, sentence
from oruk_leaderboard.records.record import PUBLISHED, REBUILT, Record, by_score, default_records, set_key
from oruk_leaderboard.records.training import training_ledger
from oruk_leaderboard.table.leaderboard import leaderboard
from oruk_leaderboard.table.uncertainty import accuracy_interval, close_to, leader, macro_f1_interval

CURRENT = "current"
"""The view that shows each system once, with its newest figure; the other views are snapshots."""

GROUP_TITLES: Mapping[str, tuple[str, str]] = {
    "full_set": ("Full set", "all 64,384 held-out clips"),
    "subsample_5k": ("5,000-clip subsample", "label-stratified, seed 0; closed APIs and language models"),
    "rebuilt_full": ("Rebuilt set, full profile", "clips rebuilt from public corpora; not the original evaluation"),
    "rebuilt_open": ("Rebuilt set, open profile", "clips rebuilt from open corpora; not the original evaluation"),
    "rebuilt_subsample": ("Rebuilt subsample", "drawn from a rebuilt set; not the original evaluation"),
    "partial": ("Part of a rebuilt set", "not the original evaluation"),
}
"""``scored_on`` value to the heading of its group and what was scored."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A caveat shown beside a system's name.

    Attributes:
        kind: Style of the badge, also its key in the page's data.
        text: The badge itself.
        why: The sentence that the details give.
    """

    kind: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class RankingGroup:
    """Rows that may be ranked together: one ``scored_on`` value, and for rebuilt sets the same clips.

    Attributes:
        id: ``scored_on``, followed for a rebuilt set by ``:`` and the first 12 digits of what names its clips.
        title: Heading.
        detail: What was scored.
        published: Whether it is the original evaluation.
    """

    id: str
    title: str
    detail: str
    published: bool


@dataclass(frozen=True, slots=True)
class TrainingCell:
    """What public sources, or the submitter, state of a system's training data.

    Attributes:
        kind: ``stated``, ``implied``, ``in-distribution`` (corpora not named) or ``nothing``.
        outside: Share of the clips outside the named corpora, as the table shows it, or ``unknown``.
        sentence: The same for the details.
    """

    kind: str
    outside: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """One record as the page shows it.

    Attributes:
        key: ``<snapshot>/<id>``, preceded by the group for a rebuilt set; unique, used in the page's address.
        record: The record.
        group: Id of the group.
        ranks: View to the rank within the group and the rank across both published groups (the mixed one).
        badges: Caveats.
        citation: BibTeX of the row.
        training: What is known of its training data.
        accuracy_interval: Interval of the accuracy, or None.
        macro_f1_interval: Interval of macro-F1 of a result that was scored here, or None.
        close: View to the names of the other systems of its group that are too close to tell apart.
    """

    key: str
    record: Record
    group: str
    ranks: Mapping[str, tuple[int, int]]
    badges: tuple[Badge, ...]
    citation: str
    training: "TrainingCell"
    accuracy_interval: tuple[str, str] | None = None
    macro_f1_interval: tuple[str, str] | None = None
    close: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The row as the page's script reads it."""
        record, system = self.record, self.record.system
        return {
            "key": self.key,
            "group": self.group,
            "name": system.name,
            "id": system.id,
            "family": system.family,
            "modality": system.modality,
            "parameters_m": system.parameters_m,
            "model_id": system.model_id,
            "model_url": model_url(system),
            "revision": system.revision,
            "training_corpora": system.training_corpora,
            "in_distribution": system.in_distribution,
            "is_oruk": system.is_oruk,
            "accuracy": record.accuracy,
            "macro_f1": record.macro_f1,
            "scored_on": record.scored_on,
            "snapshot": record.snapshot,
            "note": record.note,
            "failures": record.failures,
            "protocol": {"name": record.protocol.name, "version": record.protocol.version},
            "source": {
                "kind": record.source.kind,
                "attested_by": record.source.attested_by,
                "reference": record.source.reference,
                "locator": record.source.locator,
                "derived": record.source.derived,
            },
            "superseded_by": record.superseded_by,
            "ranks": self.ranks,
            "badges": [badge.kind for badge in self.badges],
            "training": self.training.kind,
            "outside": self.training.outside,
            "training_sentence": self.training.sentence,
            "accuracy_interval": self.accuracy_interval,
            "macro_f1_interval": self.macro_f1_interval,
            "close": self.close,
            "evaluation": shown_evaluation(record.evaluation),
            "citation": self.citation,
        }


def shown_evaluation(evaluation: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The parts of an evaluation that the page draws; its counts and versions would only make the page heavy."""
    if evaluation is None:
        return None
    shown = {key: evaluation[key] for key in ("n", "set_digest", "intervals", "per_class") if key in evaluation}
    slices = {kind: parts for kind, parts in evaluation.get("slices", {}).items() if kind in ("corpus", "language")}
    if "language" in slices:
        slices["language"] = [{**part, "value": language_name(part["value"])} for part in slices["language"]]
    return {**shown, "slices": slices}


def badges_of(record: Record) -> tuple[Badge, ...]:
    """Caveats that apply to a record, the gravest first."""
    return tuple(
        Badge(caveat.key, caveat.badge_of(record), f"{caveat.sentence[0].upper()}{caveat.sentence[1:]}.")
        for caveat in caveats_of(record)
    )


def group_of(record: Record) -> RankingGroup:
    """Group that a record is ranked in."""
    title, detail = GROUP_TITLES[record.scored_on]
    if record.scored_on in PUBLISHED:
        return RankingGroup(record.scored_on, title, detail, published=True)
    named, digest = set_key(record)
    key = ":".join((record.scored_on, *named.split()[:-1], digest[:12]))
    evaluation = record.evaluation or {}
    corpora = len(evaluation.get("slices", {}).get("corpus", ()))
    size = f"{evaluation.get('n', 0):,} clips of {corpora} corpora"
    return RankingGroup(
        key, title, f"measured with this package: {size}, {named} {digest[:12]}; {detail}", published=False
    )


_KINDS: Mapping[str, str] = {"unnamed": "in-distribution", "nothing found": "nothing"}
"""Evidence of the ledger to the kind that the page filters by, where the two differ."""


def training_of(record: Record, manifest: Manifest) -> TrainingCell:
    """From the ledger for a published row, as a share of the manifest; else as the record declares it."""
    system = record.system
    if record.scored_on in PUBLISHED:
        found, evidence = outside(system.id, manifest), training_ledger().of(system.id).evidence
        text = sentence(system.id, manifest)
        share = "unknown" if found is None else f"{100 * found.share:.1f} %"
        return TrainingCell(_KINDS.get(evidence, evidence), share, f"{text[0].upper()}{text[1:]}.")
    if system.training_corpora is None:
        return TrainingCell("nothing", "unknown", "Training corpora not declared.")
    clips = {part["value"]: part["n"] for part in (record.evaluation or {})["slices"]["corpus"]}
    seen = [name for name in clips if name in system.training_corpora]
    share = 1 - sum(clips[name] for name in seen) / sum(clips.values())
    named = f"Declared: {', '.join(seen)}" if seen else "Declared: none of the corpora of this set"
    return TrainingCell("stated" if seen else "nothing", f"{100 * share:.1f} %", f"{named}.")


def leaders_of(records: Sequence[Record]) -> list[str]:
    """For each group: which row is best, and whether it is better than the second."""
    ranked: dict[str, list[Record]] = {}
    for record in default_records(records) + default_records(records, scored_on=REBUILT):
        ranked.setdefault(group_of(record).id, []).append(record)
    shown = (group for group in groups_of(records) if group.id in ranked)
    return [leader(group.title, by_score(ranked[group.id])).replace("`", "") for group in shown]


def views_of(records: Sequence[Record]) -> list[str]:
    """Views of the table: ``current``, then the snapshots with published rows, newest first."""
    return [CURRENT, *sorted({record.snapshot for record in records if record.scored_on in PUBLISHED}, reverse=True)]


def ranks_of(records: Sequence[Record]) -> dict[str, dict[str, tuple[int, int]]]:
    """Row key to view to the rank within the group and the rank across both published groups."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for view in views_of(records):
        snapshot = None if view == CURRENT else view
        together = leaderboard(snapshot=snapshot, mixed=True, records=records).rows
        mixed = {row_key(row.record): row.rank for row in together}
        for row in leaderboard(snapshot=snapshot, records=records).rows:
            key = row_key(row.record)
            found.setdefault(key, {})[view] = (row.rank, mixed[key])
    for kind in REBUILT:
        for row in leaderboard(scored_on=kind, records=records).rows:
            found[row_key(row.record)] = {CURRENT: (row.rank, row.rank)}
    return found


def rows_of(records: Sequence[Record], *, citation: Mapping[str, str]) -> list[PageRow]:
    """Every record as a row, best macro-F1 first.

    Args:
        records: All records of ``data/records``.
        citation: Row key to BibTeX.
    """
    manifest, ranks = load_manifest(), ranks_of(records)
    close = {view: close_to(_members(records, ranks, view)) for view in views_of(records)}
    return [
        PageRow(
            key=row_key(record),
            record=record,
            group=group_of(record).id,
            ranks=ranks.get(row_key(record), {}),
            badges=badges_of(record),
            citation=citation.get(row_key(record), ""),
            training=training_of(record, manifest),
            accuracy_interval=accuracy_interval(record),
            macro_f1_interval=macro_f1_interval(record),
            close={view: names[row_key(record)] for view, names in close.items() if row_key(record) in names},
        )
        for record in by_score(records)
    ]


def _members(
    records: Sequence[Record], ranks: Mapping[str, Mapping[str, tuple[int, int]]], view: str
) -> dict[str, dict[str, Record]]:
    """Group to row key to record, for the rows that a view ranks."""
    members: dict[str, dict[str, Record]] = {}
    for record in records:
        if view in ranks.get(row_key(record), {}):
            members.setdefault(group_of(record).id, {})[row_key(record)] = record
    return members


def row_key(record: Record) -> str:
    """Key of a record's row."""
    key = f"{record.snapshot}/{record.system.id}"
    return key if record.scored_on in PUBLISHED else f"{group_of(record).id}/{key}"


def groups_of(records: Iterable[Record]) -> list[RankingGroup]:
    """Groups that have rows: the two published ones first, then rebuilt sets."""
    groups = {group_of(record).id: group_of(record) for record in records}
    published = [groups[scored_on] for scored_on in PUBLISHED if scored_on in groups]
    return published + [groups[key] for key in sorted(groups) if not groups[key].published]


PARTS: Sequence[tuple[str, str, str]] = (
    ("corpus", "Corpora", "not stated"),
    ("language", "Languages", "not stated"),
    ("label", "Classes", "under an agreement"),
    ("elicitation", "Elicitation", "not stated"),
)
"""Column of the manifest, title of its picture, and what an empty cell means."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Clips by one property.

    Attributes:
        title: What they are counted by.
        known: Number of values, without the one for empty cells.
        items: ``(value, clips, hours or None)``, the largest first and empty cells last.
    """

    title: str
    known: int
    items: Sequence[tuple[str, int, float | None]]


@dataclass(frozen=True, slots=True)
class Composition:
    """The pinned evaluation clips in numbers.

    Attributes:
        clips: Number of clips.
        hours: Their sum in hours, or None where no duration is known.
        timed: Clips whose duration is known.
        known: How many are hashed, proven, and seen by two or more sources.
        parts: Clips by corpus, language, class and elicitation.
    """

    clips: int
    hours: float | None
    timed: int
    known: Known
    parts: Sequence[Breakdown]


def composition_of(data: Path) -> Composition | None:
    """Composition of ``data/manifest.parquet``, or None while there is no manifest."""
    path = data / "manifest.parquet"
    if not path.is_file():
        return None
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    manifest = read_parquet(path)
    table = pq.read_table(path, columns=[*(column for column, _, _ in PARTS), "duration_s"])
    tags = [tag and language_name(base_language(tag)) for tag in table["language"].to_pylist()]
    table = table.set_column(table.schema.get_field_index("language"), "language", [tags])
    seconds = table["duration_s"]
    return Composition(
        clips=table.num_rows,
        hours=_hours(pc.sum(seconds).as_py()),
        timed=len(seconds) - seconds.null_count,
        known=known(manifest.rows, seen_in(manifest)),
        parts=[_part(table, column, title, empty) for column, title, empty in PARTS],
    )


def _part(table: Any, column: str, title: str, empty: str) -> Breakdown:
    # One thread: the sums, and with them the page's bytes, must not depend on the order of the threads.
    sums = table.group_by(column, use_threads=False).aggregate([([], "count_all"), ("duration_s", "sum")]).to_pylist()
    sums.sort(key=lambda row: (row[column] is None, -row["count_all"], row[column]))
    items = [
        (empty if row[column] is None else row[column], row["count_all"], _hours(row["duration_s_sum"])) for row in sums
    ]
    return Breakdown(title, sum(row[column] is not None for row in sums), items)


def _hours(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 3600
