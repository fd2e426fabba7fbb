"""Rows of points with intervals, several series per row, as SVG: one figure of several systems on several corpora."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from oruk_leaderboard.pictures.svg import DARK_SERIES, LIGHT_SERIES, document, themed

_WIDTH, _LEFT, _RIGHT, _TOP = 920, 250, 850, 60
_SERIES_LINE, _LEGEND_LINE, _GAP = 9, 18, 13

_STYLE = """.grid {{ stroke: {grid}; stroke-width: 1 }}
.end {{ text-anchor: end }} .middle {{ text-anchor: middle }} """


@dataclass(frozen=True, slots=True)
class IntervalPoint:
    """One value with its interval.

    Attributes:
        value: 0 to 1.
        interval: Ends of the bar, 0 to 1, or None where there is none.
    """

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class PointRow:
    """One row of the picture.

    Attributes:
        name: Written before it.
        note: Written below the name.
        points: One per series, in the order of the legend.
    """

    name: str
    note: str
    points: Sequence[IntervalPoint]


def interval_rows(
    title: str, rows: Sequence[PointRow], *, legend: Sequence[str], axis: str, notes: Sequence[str], label: str
) -> str:
    """SVG of the rows below each other, on one axis from 0 to the next tenth above the largest end.

    Args:
        title: Above the picture.
        rows: From top to bottom.
        legend: Names of the series, at most seven.
        axis: What the points show.
        notes: Lines below the picture.
        label: What a screen reader says instead of the picture.
    """
    ends = [point.interval[1] if point.interval else point.value for row in rows for point in row.points]
    tenths = min(10, max(1, math.ceil(10 * max(ends) - 1e-9)))
    scale = (_RIGHT - _LEFT) / (tenths / 10)
    height = _SERIES_LINE * len(legend) + _GAP
    top = _TOP + _LEGEND_LINE * len(legend) + 22
    bottom = top + height * len(rows)
    parts = [f'<text class="title" x="16" y="26">{escape(title)}</text>']
    for number, name in enumerate(legend):
        y = _TOP - 10 + _LEGEND_LINE * number
        parts.append(
            f'<circle class="s{number}" cx="21" cy="{y - 4}" r="4.5"/><text x="34" y="{y}">{escape(name)}</text>'
        )
    parts.append(f'<text class="quiet end" x="{_RIGHT}" y="{top - 24}">{escape(axis)}</text>')
    for tenth in range(tenths + 1):
        x = _n(_LEFT + scale * tenth / 10)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{top - 4}" y2="{bottom}"/>')
        parts.append(f'<text class="quiet middle" x="{x}" y="{top - 8}">{tenth / 10:.1f}</text>')
    for index, row in enumerate(rows):
        parts += _row(row, top + height * index, scale)
    parts += [
        f'<text class="quiet" x="16" y="{bottom + 22 + 16 * index}">{escape(note)}</text>'
        for index, note in enumerate(notes)
    ]
    colour = ".s{number} {{ fill: {colour} }} "
    return document(
        label,
        width=_WIDTH,
        height=bottom + 30 + 16 * len(notes),
        styles=themed(_STYLE, LIGHT_SERIES[:-1], DARK_SERIES[:-1], colour=colour),
        parts=parts,
    )


def _row(row: PointRow, y: int, scale: float) -> list[str]:
    """Name and note at the left, one line per series."""
    middle = y + _GAP / 2 + _SERIES_LINE * len(row.points) / 2
    parts = [
        f'<text class="end" x="{_LEFT - 14}" y="{_n(middle - 1)}">{escape(row.name)}</text>',
        f'<text class="quiet end" x="{_LEFT - 14}" y="{_n(middle + 13)}">{escape(row.note)}</text>',
    ]
    for number, point in enumerate(row.points):
        at = y + _GAP / 2 + _SERIES_LINE * (number + 0.5)
        if point.interval is not None:
            low, high = (_LEFT + scale * end for end in point.interval)
            size = f'width="{_n(high - low)}" height="2"'
            parts.append(f'<rect class="s{number}" x="{_n(low)}" y="{_n(at - 1)}" {size}/>')
        parts.append(f'<circle class="s{number}" cx="{_n(_LEFT + scale * point.value)}" cy="{_n(at)}" r="3.6"/>')
    return parts


def _n(value: float) -> str:
    """Number with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
