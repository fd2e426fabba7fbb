"""Two values of each row on one axis, with an interval, as SVG: the leaderboard at a glance."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from oruk_leaderboard.pictures.svg import document, themed

_WIDTH, _LINE, _LEFT, _RIGHT, _TOP, _GAP = 920, 19, 300, 850, 84, 46
_LIGHT = ("#8a3ffc", "#0f62fe", "#b32d0f", "#00664f", "#7a5200")
_DARK = ("#be95ff", "#78a9ff", "#ff8f73", "#3ddbb0", "#e8b04a")
"""Colours of the series."""

_STYLE = """.grid {{ stroke: {grid}; stroke-width: 1 }}
.end {{ text-anchor: end }} .middle {{ text-anchor: middle }} """


@dataclass(frozen=True, slots=True)
class Dots:
    """One line of the plot.

    Attributes:
        rank: Written first.
        name: Written next.
        series: Index of its colour.
        value: Filled dot, 0 to 1.
        other: Open dot, 0 to 1.
        interval: Ends of the bar behind the open dot, 0 to 1.
        note: Written last.
    """

    rank: int
    name: str
    series: int
    value: float
    other: float
    interval: tuple[float, float]
    note: str


def dot_plot(
    title: str, groups: Sequence[tuple[str, Sequence[Dots]]], *, legend: Sequence[str], notes: Sequence[str], label: str
) -> str:
    """SVG of groups below each other.

    Args:
        title: Above the picture.
        groups: Heading of each group and its lines.
        legend: Names of the series, at most five.
        notes: Lines below the picture.
        label: What a screen reader says instead of the picture.
    """
    parts, y = [_legend(title, legend)], _TOP
    for heading, rows in groups:
        parts.append(_group(heading, rows, y))
        y += _GAP + _LINE * len(rows)
    parts += [f'<text class="quiet" x="16" y="{y + 2 + 16 * i}">{escape(note)}</text>' for i, note in enumerate(notes)]
    ring = ".open { fill: none; stroke-width: 1.6 }"
    colour = ".f{number} {{ fill: {colour}; stroke: {colour} }} "
    styles = themed(_STYLE, _LIGHT, _DARK, colour=colour, rest=ring)
    return document(label, width=_WIDTH, height=y + 34, styles=styles, parts=parts)


def _legend(title: str, names: Sequence[str]) -> str:
    parts, x = [f'<text class="title" x="16" y="26">{escape(title)}</text>'], 16
    for number, name in enumerate(names):
        parts.append(f'<circle class="f{number}" cx="{x + 5}" cy="46" r="4.5"/>')
        parts.append(f'<text x="{x + 15}" y="50">{escape(name)}</text>')
        x += 40 + 7 * len(name)
    return "\n".join(parts)


def _group(heading: str, rows: Sequence[Dots], y: int) -> str:
    bottom = y + _LINE * len(rows) + 4
    parts = [f'<text class="title" x="16" y="{y}">{escape(heading)}</text>']
    # Above the ticks, of which the last one reaches into its column.
    parts.append(f'<text class="quiet end" x="{_WIDTH - 16}" y="{y - 16}">macro-F1</text>')
    for tick in range(0, 11, 2):
        x = _x(tick / 10)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{y + 6}" y2="{bottom}"/>')
        parts.append(f'<text class="quiet middle" x="{x}" y="{y}">{tick / 10:.1f}</text>')
    parts += [_row(row, y + 18 + _LINE * index) for index, row in enumerate(rows)]
    return "\n".join(parts)


def _row(row: Dots, y: int) -> str:
    colour, (low, high) = f"f{row.series}", map(_x, row.interval)
    name = f'<text class="quiet end" x="34" y="{y}">{row.rank}</text><text x="42" y="{y}">{escape(row.name)}</text>'
    return "\n".join(
        [
            name,
            f'<rect class="{colour}" x="{low}" y="{y - 5}" width="{high - low:.1f}" height="2" stroke="none"/>',
            f'<circle class="{colour} open" cx="{_x(row.other)}" cy="{y - 4}" r="4"/>',
            f'<circle class="{colour}" cx="{_x(row.value)}" cy="{y - 4}" r="4"/>',
            f'<text class="quiet end" x="{_WIDTH - 16}" y="{y}">{escape(row.note)}</text>',
        ]
    )


def _x(share: float) -> float:
    """Place of a share on the axis in px, one decimal."""
    return round(_LEFT + share * (_RIGHT - _LEFT), 1)
