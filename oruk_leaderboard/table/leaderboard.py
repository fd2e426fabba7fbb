"""The leaderboard: which rows, in which groups, ranked how, with which caveats and what is not held."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.errors import RecordError, did_you_mean
from oruk_leaderboard.records.caveats import CAVEATS, caveats_of
from oruk_leaderboard.records.families import FAMILIES
from oruk_leaderboard.records.record import (
    PUBLISHED,
    REBUILT,
    Record,
    by_score,
    default_records,
    load_composition,
    load_records,
    set_key,
)
from oruk_leaderboard.table.configs import leaderboard_row

if TYPE_CHECKING:
    import pandas as pd

MIXED = (
    "full_set (64,384 clips) and subsample_5k (5,000) are ranked together because --mixed asks for it; they are not "
    "interchangeable: rescoring open models on the subsample moves them by less than two points."
)
"""Said wherever the two are ranked together."""


REBUILT_NOTE = (
    "These sets were rebuilt: equivalents of the original evaluation, not the same clips. Rows are ranked only among "
    "results on the same manifest, partial sets only among results on the same set, never with the published table."
)
"""Said below rows of rebuilt sets, where the published table's coverage would mean nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """A ranked row.

    Attributes:
        rank: Place in its group, 1 is best; rows with equal printed macro-F1 share it.
        record: The record.
        marks: Caveats that apply, keys of ``CAVEATS``.
        interval: 95 % interval, of the accuracy in percent for a published row and of macro-F1 for a rebuilt set; None
            where not asked or not known.
        close: Ranks of the group's rows that it cannot be told from, or None where not asked.
    """

    rank: int
    record: Record
    marks: tuple[str, ...]
    interval: tuple[str, str] | None = None
    close: tuple[int, ...] | None = None

    @property
    def like_for_like(self) -> bool:
        """Whether the system is not known to be trained on the evaluation's corpora."""
        return self.record.system.in_distribution is not True

    def to_dict(self) -> dict[str, Any]:
        """The card's seven fields, rank, marks, exact digits and where the figure comes from."""
        record = self.record
        return {
            "rank": self.rank,
            **leaderboard_row(record),
            "system_id": record.system.id,
            "snapshot": record.snapshot,
            "accuracy_digits": record.accuracy,
            "macro_f1_digits": record.macro_f1,
            "like_for_like": self.like_for_like,
            "marks": list(self.marks),
            "accuracy_interval": self.interval if record.scored_on in PUBLISHED else None,
            "macro_f1_interval": None if record.scored_on in PUBLISHED else self.interval,
            "close_ranks": self.close,
        }


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that may be ranked against each other.

    Attributes:
        title: ``scored_on`` value, both of them when mixed, with the digest that names the clips for rebuilt sets.
        rows: Best first.
    """

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the published table is held here.

    Attributes:
        held: Systems held.
        total: Systems of the published table.
        families: Family to (held, total), in the card's order by size.
    """

    held: int
    total: int
    families: Mapping[str, tuple[int, int]]

    def sentence(self) -> str:
        """Coverage and its reason in one sentence."""
        parts = ", ".join(f"{held}/{total} {family}" for family, (held, total) in self.families.items())
        if self.held >= self.total:
            return f"All {self.total} systems of the published table are held here ({parts})."
        return (
            f"{self.held} of {self.total} systems are held here ({parts}): those whose figures a source states by "
            "name; ranks count these rows only. "
            "The other rows are in the published table only; `oruk-leaderboard sync` reads them from the Hub."
        )


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A selection of the leaderboard, ranked.

    Attributes:
        snapshot: Snapshot date, or None for the newest attested figure of each system.
        groups: One group a ``scored_on`` value, or one for both when mixed.
        coverage: How much of the published table is held; None for rebuilt sets, which are not part of it.
        warning: What mixing means, or None.
        resolution: What the clips can resolve, where ties were asked for, or None.
        leaders: Per group which row is best and whether it is better than the second, where ties were asked for.
    """

    snapshot: str | None
    groups: tuple[Group, ...]
    coverage: Coverage | None
    warning: str | None = None
    resolution: str | None = None
    leaders: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group.rows]

    @property
    def tested(self) -> str:
        """Name of the metric that the intervals are of."""
        return "accuracy" if self.coverage else "macro_f1"

    @property
    def closing(self) -> str:
        """What the rows are a part of: the coverage, or that they are of rebuilt sets."""
        return self.coverage.sentence() if self.coverage else REBUILT_NOTE

    @property
    def caveats(self) -> dict[str, str]:
        """Caveats that apply to a row shown, the gravest first."""
        shown = {mark for row in self.rows for mark in row.marks}
        return {mark: caveat.sentence for mark, caveat in CAVEATS.items() if mark in shown}

    @property
    def overlap(self) -> bool:
        """Whether a row shown is marked for the overlap of its training data with the manifest."""
        return any(mark.startswith("overlap") for mark in self.caveats)

    def to_dict(self) -> dict[str, Any]:
        """The selection as JSON."""
        return {
            "snapshot": self.snapshot,
            "groups": [
                {"scored_on": group.title, "rows": [row.to_dict() for row in group.rows]} for group in self.groups
            ],
            "caveats": self.caveats,
            "coverage": asdict(self.coverage) if self.coverage else None,
            "note": self.closing,
            "warning": self.warning,
            "resolution": self.resolution,
            "leaders": list(self.leaders),
        }


def coverage(records: Sequence[Record]) -> Coverage:
    """How much of the published table ``records`` (all of them) give."""
    composition = load_composition()
    held = [record.system.family for record in default_records(records)]
    families = {family: (held.count(family), total) for family, total in composition["families"].items()}
    return Coverage(len(held), composition["systems"], families)


def leaderboard(
    *,
    systems: Sequence[str] = (),
    snapshot: str | None = None,
    family: str | None = None,
    scored_on: str | None = None,
    mixed: bool = False,
    ties: bool = False,
    records: Sequence[Record] | None = None,
) -> Leaderboard:
    """Select and rank rows by macro-F1, each ``scored_on`` value on its own.

    Args:
        systems: Keep the rows whose system's name or id contains one of these, in any case; ranks are those of the
            whole group.
        snapshot: Date of a snapshot; by default each system's newest attested figure.
        family: Keep one of ``FAMILIES``; ranks are those of the whole group.
        scored_on: Keep one of ``full_set``, ``subsample_5k`` or, for sets rebuilt here, of ``REBUILT``.
        mixed: Rank ``full_set`` and ``subsample_5k`` together; the result then carries a warning. One ``scored_on``
            value leaves nothing to mix.
        ties: Add the accuracy's interval to each row and the ranks it cannot be told from.
        records: All records; the shipped ones by default.

    Raises:
        RecordError: There is no such system, snapshot, family or ``scored_on`` value.
    """
    everything = load_records() if records is None else records
    _known("family", family, FAMILIES)
    _known("scored_on", scored_on, (*PUBLISHED, *REBUILT))
    _known("snapshot", snapshot, sorted({record.snapshot for record in everything}))
    wanted = REBUILT if scored_on in REBUILT else PUBLISHED
    mixed = mixed and scored_on is None
    if snapshot is not None:
        chosen = [record for record in everything if record.snapshot == snapshot and record.scored_on in wanted]
    else:
        chosen = default_records(everything, scored_on=wanted)
    groups: dict[str, list[Record]] = {}
    for value in wanted:
        for record in chosen:
            if record.scored_on == value and scored_on in (None, value):
                groups.setdefault(" + ".join(PUBLISHED) if mixed else _group(record), []).append(record)
    _known_systems(systems, [record for members in groups.values() for record in members])
    kept = []
    for title, members in groups.items():
        ranked = _with_ties(_ranked(members)) if ties else _ranked(members)
        rows = tuple(
            row
            for row in ranked
            if family in (None, row.record.system.family)
            and (not systems or any(_named(row.record, text) for text in systems))
        )
        if rows:
            kept.append(Group(title, rows))
    # Counted before the family filter: a rank may come from rows that are not shown.
    both = mixed and len({record.scored_on for record in chosen}) > 1
    return Leaderboard(
        snapshot,
        tuple(kept),
        coverage(everything) if wanted == PUBLISHED else None,
        warning=MIXED if both else None,
        **(_answers({group.title: groups[group.title] for group in kept}, wanted == PUBLISHED) if ties else {}),
    )


def _answers(groups: Mapping[str, Sequence[Record]], published: bool) -> dict[str, Any]:
    """Which row of each group is best, and how certain that is."""
    from oruk_leaderboard.table.uncertainty import leader, resolution

    leaders = tuple(leader(title, by_score(members)) for title, members in groups.items())
    return {"resolution": resolution(published=published), "leaders": leaders}


def load_leaderboard(*, snapshot: str | None = None) -> "pd.DataFrame":
    """The table as a pandas frame with the card's seven fields, sorted within each ``scored_on`` value.

    Args:
        snapshot: Date of a snapshot; by default each system's newest attested figure.

    Raises:
        RecordError: There is no such snapshot.
    """
    import pandas as pd

    return pd.DataFrame([leaderboard_row(row.record) for row in leaderboard(snapshot=snapshot).rows])


def _named(record: Record, text: str) -> bool:
    return any(text.casefold() in name.casefold() for name in (record.system.name, record.system.id))


def _known_systems(systems: Sequence[str], records: Sequence[Record]) -> None:
    for text in systems:
        if not any(_named(record, text) for record in records):
            ids = [record.system.id for record in records]
            raise RecordError("no such system in the table", where=text, do=did_you_mean(text, ids, see="table"))


def marks(record: Record) -> tuple[str, ...]:
    """Keys of the caveats that tables mark."""
    return tuple(caveat.key for caveat in caveats_of(record) if caveat.footnote)


def _ranked(records: Sequence[Record]) -> list[Row]:
    ordered = by_score(records)
    scores = [Decimal(record.macro_f1) for record in ordered]
    return [Row(scores.index(Decimal(record.macro_f1)) + 1, record, marks(record)) for record in ordered]


def _with_ties(rows: Sequence[Row]) -> list[Row]:
    from oruk_leaderboard.table.uncertainty import indistinct, interval

    return [
        replace(
            row,
            interval=interval(row.record),
            close=tuple(other.rank for other in rows if other is not row and indistinct(row.record, other.record)),
        )
        for row in rows
    ]


def _group(record: Record) -> str:
    """Only results on the same clips are ranked together."""
    return record.scored_on if record.scored_on in PUBLISHED else f"{record.scored_on} of {' '.join(set_key(record))}"


def _known(what: str, value: str | None, allowed: Sequence[str]) -> None:
    if value is not None and value not in allowed:
        raise RecordError(f"no such {what}", found=value, expected=" | ".join(allowed))
