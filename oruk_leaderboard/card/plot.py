"""The table as a picture for the card: an SVG that follows the reader's theme, the same bytes every time."""

from collections.abc import Sequence
from html import escape

from oruk_leaderboard.svg import document
from oruk_leaderboard.table.leaderboard import Group, Row, leaderboard
from oruk_leaderboard.table.records import FAMILIES, Record
from oruk_leaderboard.table.uncertainty import accuracy_interval

NAME = "dataset_card/leaderboard.svg"

_WIDTH, _LINE, _LEFT, _RIGHT, _TOP, _GAP = 920, 19, 300, 850, 84, 46
_LIGHT = ("#8a3ffc", "#0f62fe", "#b32d0f", "#00664f", "#7a5200")
_DARK = ("#be95ff", "#78a9ff", "#ff8f73", "#3ddbb0", "#e8b04a")

_STYLE = """text {{ font: 12px system-ui, sans-serif; fill: {ink} }} .title {{ font-size: 15px; font-weight: 600 }}
.quiet {{ fill: {quiet} }} .ground {{ fill: {ground} }} .grid {{ stroke: {grid}; stroke-width: 1 }}
.end {{ text-anchor: end }} .middle {{ text-anchor: middle }}"""


def svg(records: Sequence[Record]) -> str:
    """Macro-F1 and accuracy of every row by rank, coloured by family, the two sets of clips apart."""
    board = leaderboard(records=records)
    parts, y = [_legend()], _TOP
    for group in board.groups:
        parts.append(_group(group, y))
        y += _GAP + _LINE * len(group.rows)
    height = y + 34
    notes = (
        "Bars: 95 % interval of the accuracy for independent clips (Wilson); clips of one corpus or speaker go "
        "together,",
        "so the true ones are wider. Macro-F1 has none without the answers. † in-distribution, not like-for-like.",
    )
    parts += [f'<text class="quiet" x="16" y="{y + 2 + 16 * i}">{escape(note)}</text>' for i, note in enumerate(notes)]
    label = (
        f"Macro-F1 and accuracy of {len(board.rows)} systems by rank, coloured by family, full set and subsample "
        "apart; the README's table gives the same figures."
    )
    return document(label, width=_WIDTH, height=height, styles=_styles(), parts=parts)


def _styles() -> str:
    def theme(colours: Sequence[str], **rest: str) -> str:
        families = "".join(
            f".f{number} {{ fill: {colour}; stroke: {colour} }} " for number, colour in enumerate(colours)
        )
        return _STYLE.format(**rest) + families

    light = theme(_LIGHT, ink="#1f2328", quiet="#59636e", ground="#ffffff", grid="#d8dee4")
    dark = theme(_DARK, ink="#e6edf3", quiet="#9aa4af", ground="#0d1117", grid="#30363d")
    ring = ".open { fill: none; stroke-width: 1.6 }"
    return f"{light}{ring} @media (prefers-color-scheme: dark) {{ {dark}{ring} }}"


def _legend() -> str:
    parts = ['<text class="title" x="16" y="26">oruk-bench leaderboard: macro-F1 ● and accuracy ○ by rank</text>']
    x = 16
    for number, family in enumerate(FAMILIES):
        parts.append(f'<circle class="f{number}" cx="{x + 5}" cy="46" r="4.5"/>')
        parts.append(f'<text x="{x + 15}" y="50">{escape(family)}</text>')
        x += 40 + 7 * len(family)
    return "\n".join(parts)


def _group(group: Group, y: int) -> str:
    clips = {"full_set": "64,384 clips", "subsample_5k": "5,000 clips"}[group.title]
    bottom = y + _LINE * len(group.rows) + 4
    parts = [f'<text class="title" x="16" y="{y}">{escape(group.title)}: {clips}</text>']
    parts.append(f'<text class="quiet end" x="{_WIDTH - 16}" y="{y}">macro-F1</text>')
    for tick in range(0, 11, 2):
        x = _x(tick / 10)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{y + 6}" y2="{bottom}"/>')
        parts.append(f'<text class="quiet middle" x="{x}" y="{y}">{tick / 10:.1f}</text>')
    parts += [_row(row, y + 18 + _LINE * index) for index, row in enumerate(group.rows)]
    return "\n".join(parts)


def _row(row: Row, y: int) -> str:
    record = row.record
    family = f"f{FAMILIES.index(record.system.family)}"
    name = shorten(record.system.name, 36) + (" †" if "in-distribution" in row.marks else "")
    score, accuracy = _x(float(record.macro_f1)), _x(float(record.accuracy) / 100)
    low, high = (_x(float(end) / 100) for end in accuracy_interval(record) or (record.accuracy,) * 2)
    return "\n".join(
        [
            f'<text class="quiet end" x="34" y="{y}">{row.rank}</text><text x="42" y="{y}">{escape(name)}</text>',
            f'<rect class="{family}" x="{low}" y="{y - 5}" width="{high - low:.1f}" height="2" stroke="none"/>',
            f'<circle class="{family} open" cx="{accuracy}" cy="{y - 4}" r="4"/>',
            f'<circle class="{family}" cx="{score}" cy="{y - 4}" r="4"/>',
            f'<text class="quiet end" x="{_WIDTH - 16}" y="{y}">{record.macro_f1}</text>',
        ]
    )


def shorten(text: str, most: int) -> str:
    """Text on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _x(share: float) -> float:
    """Place of a share on the axis in px, one decimal."""
    return round(_LEFT + share * (_RIGHT - _LEFT), 1)
