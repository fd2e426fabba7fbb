"""What this package measured itself: its baselines on the largest rebuilt set, as text, table and picture."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from oruk_leaderboard.cells import markdown_cell
from oruk_leaderboard.pictures.interval_rows import IntervalPoint, PointRow, interval_rows
from oruk_leaderboard.records.record import REBUILT, Record, by_score, default_records, set_key
from oruk_leaderboard.records.system_card import BUILT_IN
from oruk_leaderboard.systems import registry

NAME = "dataset_card/measured.svg"

MOST_SERIES = 7
"""Systems that the picture can tell apart by colour."""


def measured(records: Sequence[Record]) -> list[Record]:
    """Records of this package's own baselines on the set with most clips, best first; empty where there are none.

    Args:
        records: All records.
    """
    own = {card.id for card in registry().values() if card.source == BUILT_IN}
    sets: dict[object, list[Record]] = {}
    for record in default_records(records, scored_on=REBUILT):
        if record.system.id in own:
            sets.setdefault((record.scored_on, set_key(record)), []).append(record)
    largest = max(sets.values(), key=lambda members: (_evaluation(members[0])["n"], set_key(members[0])), default=[])
    return by_score(largest)[:MOST_SERIES]


def svg(records: Sequence[Record]) -> str | None:
    """Macro-F1 of the baselines per corpus with intervals, or None where nothing was measured."""
    rows = measured(records)
    if not rows:
        return None
    slices = [{part["value"]: part for part in _evaluation(record)["slices"]["corpus"]} for record in rows]
    corpora = sorted(slices[0], key=lambda name: (-slices[0][name]["n"], name))
    lines = [
        PointRow("all corpora", f"{_evaluation(rows[0])['n']:,} clips", [_point(_whole(record)) for record in rows]),
        *(PointRow(name, _size(slices[0][name]), [_point(of[name]) for of in slices]) for name in corpora),
    ]
    return interval_rows(
        "Measured with this package: baselines, macro-F1 per corpus",
        lines,
        legend=[f"{record.system.name}: {record.macro_f1}" for record in rows],
        axis="macro-F1 over the classes of the corpus",
        notes=(
            "Baselines that learn do so from the set's other corpora only (leave one corpus out). Bars: 95 % interval",
            f"for other speakers of the same corpora; none where the speakers are too few. {_set_sentence(rows[0])}",
        ),
        label=f"Macro-F1 of {len(rows)} baselines on {len(corpora)} corpora with 95 % intervals; the table in "
        "docs/leaderboard.md gives the figures over all of them.",
    )


def summary(records: Sequence[Record]) -> str:
    """The part of the README: what was measured, on what, and the picture; empty where nothing was."""
    rows = measured(records)
    if not rows:
        return ""
    best, others = rows[0], [f"{_short(record)} {record.macro_f1}" for record in rows[1:]]
    speakers, corpora = map(_ends, _pairs(best))
    facts = (
        f"Baselines on {_set_sentence(best).rstrip('.')}, the floor that any system has to beat: {_short(best)} "
        f"{best.macro_f1} macro-F1 ({speakers} for other speakers of the same corpora, {corpora} for other corpora)"
        + "".join(f"; {other}" for other in others)
        + ". Not the clips of the original evaluation, and not ranked with its rows: "
        "[figures](docs/leaderboard.md#measured-with-this-package)."
    )
    return f"""
## Measured with this package

{_wrapped(facts)}

![Macro-F1 of the baselines per corpus]({NAME})
"""


def table(records: Sequence[Record]) -> str:
    """Every figure of the baselines with both intervals, as Markdown; empty where nothing was measured."""
    rows = measured(records)
    if not rows:
        return ""
    lines = [
        "| system | accuracy (%) | macro-F1 | same corpora, other speakers | other corpora |",
        "|:---|---:|---:|:---|:---|",
    ]
    for record in rows:
        name, speakers, corpora = markdown_cell(record.system.name), *map(_ends, _pairs(record))
        lines.append(f"| {name} | {record.accuracy} | {record.macro_f1} | {speakers} | {corpora} |")
    text = "\n".join(lines)
    facts = (
        f"{_set_sentence(rows[0])} Intervals: 95 %, of macro-F1. These are not the clips of the original evaluation, "
        "and the rows are not ranked with its rows. The records, with counts per speaker, are in "
        "`data/records/rebuilt`; `oruk-leaderboard verify` recomputes their figures. [Repeating them](measured.md) "
        "takes a few commands."
    )
    return f"""
## Measured with this package

{text}

{_wrapped(facts)}
"""


def _evaluation(record: Record) -> Mapping[str, Any]:
    return record.evaluation or {}


def _short(record: Record) -> str:
    return record.system.name.removesuffix(" (baseline)")


def _whole(record: Record) -> dict[str, Any]:
    """The whole set in the form of one of its slices."""
    return {"macro_f1": float(record.macro_f1), "intervals": _evaluation(record)["intervals"]}


def _point(part: Mapping[str, Any]) -> IntervalPoint:
    pair = (part["intervals"] or {}).get("macro_f1")
    return IntervalPoint(part["macro_f1"], pair and (pair[0], pair[1]))


def _size(part: Mapping[str, Any]) -> str:
    unit = "speaker" if part["cluster"] == "speaker" else part["cluster"]
    clusters = "" if unit == "clip" else f", {part['clusters']} {unit}s"
    return f"{part['n']:,} clips{clusters}, {part['classes']} {'class' if part['classes'] == 1 else 'classes'}"


def _pairs(record: Record) -> tuple[Sequence[float] | None, Sequence[float] | None]:
    """Intervals of macro-F1: other speakers of the same corpora, other corpora."""
    evaluation = _evaluation(record)
    return evaluation["intervals"]["macro_f1"], evaluation["other_corpora"]["intervals"]["macro_f1"]


def _ends(pair: Sequence[float] | None) -> str:
    return "none" if pair is None else f"{pair[0]:.4f} to {pair[1]:.4f}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _set_sentence(record: Record) -> str:
    """The set: clips, corpora, manifest and digest."""
    evaluation = _evaluation(record)
    corpora = len(evaluation["slices"]["corpus"])
    return (
        f"{evaluation['n']:,} clips of {corpora} corpora, manifest {evaluation['manifest_version']}, set "
        f"{str(evaluation['set_digest'])[:12]}."
    )
