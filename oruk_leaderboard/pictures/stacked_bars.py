"""Stacked horizontal bars with a legend, as SVG: how groups are composed."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from oruk_leaderboard.pictures.svg import DARK_SERIES, LIGHT_SERIES, document, themed

_STYLE = ".end {{ text-anchor: end }} "
_WIDTH, _LINE, _LEFT, _RIGHT, _TOP = 920, 19, 170, 800, 76


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        name: Written before it.
        parts: Sizes in the order of the legend.
        note: Written behind it.
    """

    name: str
    parts: Sequence[int]
    note: str


def stacked_bars(title: str, bars: Sequence[Bar], legend: Sequence[str], *, label: str) -> str:
    """SVG of the bars in their order.

    Args:
        title: Above the picture.
        bars: From top to bottom; the first one is the longest.
        legend: Names of the parts, at most eight.
        label: What a screen reader says instead of the picture.
    """
    scale = (_RIGHT - _LEFT) / sum(bars[0].parts)
    rows = [_row(bar, _TOP + _LINE * index, scale) for index, bar in enumerate(bars)]
    return document(
        label,
        width=_WIDTH,
        height=_TOP + _LINE * len(bars) + 12,
        styles=themed(
            ".end {{ text-anchor: end }} ", LIGHT_SERIES, DARK_SERIES, colour=".c{number} {{ fill: {colour} }} "
        ),
        parts=[f'<text class="title" x="16" y="26">{escape(title)}</text>', *_legend(legend), *rows],
    )


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], 16
    for number, name in enumerate(names):
        parts.append(f'<rect class="c{number}" x="{x}" y="41" width="10" height="10"/>')
        parts.append(f'<text x="{x + 15}" y="50">{escape(name)}</text>')
        x += 36 + 7 * len(name)
    return parts


def _row(bar: Bar, y: int, scale: float) -> str:
    parts, before = [f'<text class="end" x="{_LEFT - 8}" y="{y}">{escape(bar.name)}</text>'], 0
    for number, size in enumerate(bar.parts):
        if size:
            # Widths are differences of rounded places, so that neighbouring parts meet.
            start, end = (round(_LEFT + scale * total, 1) for total in (before, before + size))
            parts.append(f'<rect class="c{number}" x="{start}" y="{y - 10}" width="{end - start:.1f}" height="13"/>')
        before += size
    parts.append(f'<text class="quiet" x="{_LEFT + scale * before + 6:.1f}" y="{y}">{escape(bar.note)}</text>')
    return "\n".join(parts)
