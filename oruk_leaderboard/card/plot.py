"""The table as a picture for the card."""

from collections.abc import Sequence

from oruk_leaderboard.pictures.dot_plot import Dots, dot_plot
from oruk_leaderboard.records.families import FAMILIES
from oruk_leaderboard.records.record import Record
from oruk_leaderboard.table.leaderboard import Group, Row, leaderboard
from oruk_leaderboard.table.uncertainty import accuracy_interval

NAME = "dataset_card/leaderboard.svg"

NOTES = (
    "Bars: 95 % interval of the accuracy for independent clips (Wilson); clips of one corpus or speaker go together,",
    "so the true ones are wider. Macro-F1 has none without the answers. † in-distribution, not like-for-like.",
)


def svg(records: Sequence[Record]) -> str:
    """Macro-F1 and accuracy of every row by rank, coloured by family, the two sets of clips apart."""
    board = leaderboard(records=records)
    return dot_plot(
        "oruk-bench leaderboard: macro-F1 ● and accuracy ○ by rank",
        [(_heading(group), [_dots(row) for row in group.rows]) for group in board.groups],
        legend=FAMILIES,
        notes=NOTES,
        label=f"Macro-F1 and accuracy of {len(board.rows)} systems by rank, coloured by family, full set and subsample "
        "apart; the README's table gives the same figures.",
    )


def _heading(group: Group) -> str:
    clips = {"full_set": "64,384 clips", "subsample_5k": "5,000 clips"}[group.title]
    return f"{group.title}: {clips}"


def _dots(row: Row) -> Dots:
    record = row.record
    low, high = (float(end) / 100 for end in accuracy_interval(record) or (record.accuracy,) * 2)
    return Dots(
        rank=row.rank,
        name=shorten(record.system.name, 36) + (" †" if "in-distribution" in row.marks else ""),
        series=FAMILIES.index(record.system.family),
        value=float(record.macro_f1),
        other=float(record.accuracy) / 100,
        interval=(low, high),
        note=record.macro_f1,
    )


def shorten(text: str, most: int) -> str:
    """Text on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
