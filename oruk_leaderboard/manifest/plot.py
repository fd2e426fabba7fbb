"""The manifest as pictures for the card: SVG that follows the reader's theme, the same bytes every time."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.manifest.stats import NOT_SHIPPED, Group
from oruk_leaderboard.svg import document

_WIDTH, _LINE, _LEFT, _RIGHT, _TOP = 920, 19, 170, 800, 76

_LIGHT = ("#b32d0f", "#d9a404", "#0f62fe", "#8a3ffc", "#00664f", "#e0679c", "#6f7882", "#d8dee4")
_DARK = ("#ff8f73", "#f1c21b", "#78a9ff", "#be95ff", "#3ddbb0", "#ffafd2", "#a7b0ba", "#30363d")
"""Colours of the seven classes, and of the clips whose label is not shipped."""

_STYLE = """text {{ font: 12px system-ui, sans-serif; fill: {ink} }} .title {{ font-size: 15px; font-weight: 600 }}
.quiet {{ fill: {quiet} }} .ground {{ fill: {ground} }} .end {{ text-anchor: end }}"""


def plots(figures: Mapping[str, Iterable[Group]]) -> dict[str, str]:
    """File name to SVG: the clips of every corpus and of every language, by class.

    Args:
        figures: From `stats`; nothing is drawn where there are none.
    """
    return {
        f"manifest_by_{by}.svg": _svg(f"Clips of the manifest by {by}", [*figures[by]])
        for by in ("corpus", "language")
        if by in figures
    }


def _svg(title: str, groups: Sequence[Group]) -> str:
    ordered = sorted(groups, key=lambda group: (-group.clips, group.name))
    height = _TOP + _LINE * len(ordered) + 12
    scale = (_RIGHT - _LEFT) / ordered[0].clips
    rows = [_row(group, _TOP + _LINE * index, scale) for index, group in enumerate(ordered)]
    label = f"{title} and class; `oruk-leaderboard manifest stats` prints the same figures."
    return document(
        label,
        width=_WIDTH,
        height=height,
        styles=_styles(),
        parts=[f'<text class="title" x="16" y="26">{escape(title)}</text>', *_legend(), *rows],
    )


def _styles() -> str:
    def theme(colours: Sequence[str], **rest: str) -> str:
        return _STYLE.format(**rest) + " ".join(f".c{n} {{ fill: {colour} }}" for n, colour in enumerate(colours))

    light = theme(_LIGHT, ink="#1f2328", quiet="#59636e", ground="#ffffff")
    dark = theme(_DARK, ink="#e6edf3", quiet="#9aa4af", ground="#0d1117")
    return f"{light} @media (prefers-color-scheme: dark) {{ {dark} }}"


def _legend() -> list[str]:
    parts, x = [], 16
    for number, name in enumerate((*CLASSES, NOT_SHIPPED)):
        parts.append(f'<rect class="c{number}" x="{x}" y="41" width="10" height="10"/>')
        parts.append(f'<text x="{x + 15}" y="50">{name}</text>')
        x += 36 + 7 * len(name)
    return parts


def _row(group: Group, y: int, scale: float) -> str:
    parts, before = [f'<text class="end" x="{_LEFT - 8}" y="{y}">{escape(group.name)}</text>'], 0
    for number, name in enumerate((*CLASSES, NOT_SHIPPED)):
        count = group.classes.get(name, 0)
        if count:
            # Widths are differences of rounded places, so that bars of neighbours meet.
            start, end = (round(_LEFT + scale * clips, 1) for clips in (before, before + count))
            parts.append(f'<rect class="c{number}" x="{start}" y="{y - 10}" width="{end - start:.1f}" height="13"/>')
        before += count
    hours = f", {group.hours:.1f} h" if not group.unknown_durations else ""
    parts.append(f'<text class="quiet" x="{_LEFT + scale * group.clips + 6:.1f}" y="{y}">{group.clips:,}{hours}</text>')
    return "\n".join(parts)
