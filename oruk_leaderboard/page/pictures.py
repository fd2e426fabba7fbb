"""Which pictures the page has and what they say; ``charts`` draws them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from oruk_leaderboard.page.content import CURRENT, GROUP_TITLES, PageRow
from oruk_leaderboard.pictures.scatter import Axis, Guide, Mark, scatter
from oruk_leaderboard.records.record import PUBLISHED

SCORE = Axis("macro-F1", 0.0, 0.9, [(tenth / 10, f"{tenth / 10:.1f}") for tenth in range(0, 10, 2)])
ACCURACY = Axis("accuracy, %", 0.0, 90.0, [(percent, str(percent)) for percent in range(0, 91, 10)])
SIZE = Axis(
    "parameters",
    50.0,
    20_000.0,
    [(100, "100 M"), (300, "300 M"), (1_000, "1 B"), (3_000, "3 B"), (10_000, "10 B")],
    log=True,
)
"""Axes of the scatter plots. The ranges cover every row of the table; ``fitted`` widens them for an unusual one."""

COMPRESSED = ("hubert-large-superb-er", "distilhubert-superb-er")
"""A model and its distilled student, the pair that the dataset card points out."""

WIDTHS = ((640, 430), (358, 340))
"""Width and height of each scatter plot for a wide and a narrow page; the style sheet shows one of them."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A scatter plot in both widths.

    Attributes:
        wide: For wide pages.
        narrow: For telephones.
        lead: A sentence about it, with figures of the data.
    """

    wide: Markup
    narrow: Markup
    lead: str


def shown_rows(rows: Sequence[PageRow]) -> list[PageRow]:
    """Rows of the pictures: each published system once, best last so that it is drawn on top."""
    return [row for row in reversed(rows) if CURRENT in row.ranks and row.record.scored_on in PUBLISHED]


def size_text(parameters_m: float | None) -> str:
    """Size of a model for people: ``90 M``, ``7 B``, or a dash where it is not published."""
    if parameters_m is None:
        return "–"
    if parameters_m < 1000:
        return f"{parameters_m:g} M"
    return f"{parameters_m / 1000:g} B"


def against_size(rows: Sequence[PageRow]) -> Picture:
    """Macro-F1 against the number of parameters; systems of unpublished size are in a strip of their own."""
    known = sum(row.record.system.parameters_m is not None for row in rows)
    spoken = (
        f"Scatter plot of macro-F1 against model size for {len(rows)} systems; {known} have a published size. "
        "The table above has every value."
    )
    small = [row for row in rows if (row.record.system.parameters_m or math.inf) <= 100]
    large = [row for row in rows if (row.record.system.parameters_m or 0) > 1000]
    lead = ""
    if small and large:
        best, other = max(small, key=_score), max(large, key=_score)
        lead = f"Best up to 100 M: {_figure(best)}. Best over 1 B: {_figure(other)}."
    return _both(rows, lambda row: row.record.system.parameters_m, SIZE, spoken, unknown="not stated", lead=lead)


def accuracy_against_f1(rows: Sequence[PageRow]) -> Picture:
    """Macro-F1 against accuracy: below the trend a system neglects the rarer classes."""
    spoken = f"Scatter plot of macro-F1 against accuracy for {len(rows)} systems. The table above has every value."
    guide = ((0.0, 0.0), (90.0, 0.9), "equal")
    return _both(rows, lambda row: float(row.record.accuracy), ACCURACY, spoken, unknown="", lead="", guide=guide)


def _both(
    rows: Sequence[PageRow],
    across: Callable[[PageRow], float | None],
    x: Axis,
    spoken: str,
    *,
    unknown: str,
    lead: str,
    guide: Guide | None = None,
) -> Picture:
    named = _named(rows)
    points = [
        Mark(
            key=row.key,
            name=row.record.system.name,
            family=row.record.system.family,
            x=across(row),
            y=float(row.record.macro_f1),
            hollow=row.record.scored_on == "subsample_5k",
            label=row.key in named,
            tip=f"{row.record.system.name}: macro-F1 {row.record.macro_f1}, accuracy {row.record.accuracy} %, "
            f"size {size_text(row.record.system.parameters_m)}",
        )
        for row in rows
    ]
    x = fitted(x, [point.x for point in points if point.x is not None])
    y = fitted(SCORE, [point.y for point in points])
    wide, narrow = (
        scatter(points, x=x, y=y, width=width, height=height, title=spoken, unknown=unknown, guide=guide)
        for width, height in WIDTHS
    )
    return Picture(wide, narrow, lead)


def _figure(row: PageRow) -> str:
    group = GROUP_TITLES[row.record.scored_on][0].lower()
    return f"{row.record.system.name}, {row.record.macro_f1} ({group})"


def _score(row: PageRow) -> Decimal:
    return Decimal(row.record.macro_f1)


def fitted(axis: Axis, values: Sequence[float]) -> Axis:
    """The axis, stretched where a value would fall outside."""
    low, high = min([axis.low, *values]), max([axis.high, *values])
    return Axis(axis.title, low, high, axis.ticks, axis.log)


def _named(rows: Sequence[PageRow]) -> set[str]:
    """Keys of the rows whose name is written: the best of each family, the best open one, and the compressed pair."""
    best: dict[str, PageRow] = {}
    for row in rows:
        family = row.record.system.family
        if family not in best or Decimal(row.record.macro_f1) > Decimal(best[family].record.macro_f1):
            best[family] = row
    return {row.key for row in best.values()} | {row.key for row in rows if row.record.system.id in COMPRESSED}


@dataclass(frozen=True, slots=True)
class CompressedPair:
    """The two compressed-model rows.

    Attributes:
        teacher: Row of the full model.
        student: Row of the distilled one.
        accuracy_lost: Percentage points.
        f1_lost: Macro-F1.
    """

    teacher: PageRow
    student: PageRow
    accuracy_lost: Decimal
    f1_lost: Decimal


def compressed_pair(rows: Sequence[PageRow]) -> CompressedPair | None:
    """The pair, where both rows are in the table."""
    found = {row.record.system.id: row for row in rows}
    if not all(identifier in found for identifier in COMPRESSED):
        return None
    teacher, student = (found[identifier] for identifier in COMPRESSED)
    return CompressedPair(
        teacher,
        student,
        Decimal(teacher.record.accuracy) - Decimal(student.record.accuracy),
        Decimal(teacher.record.macro_f1) - Decimal(student.record.macro_f1),
    )
