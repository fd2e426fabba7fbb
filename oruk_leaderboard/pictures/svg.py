"""A picture as an SVG document of its own, which follows the reader's light or dark theme."""

from collections.abc import Iterable, Sequence
from html import escape

from oruk_leaderboard.cells import shown

_TEXT = """text {{ font: 12px system-ui, sans-serif; fill: {ink} }} .title {{ font-size: 15px; font-weight: 600 }}
.quiet {{ fill: {quiet} }} .ground {{ fill: {ground} }} """

_LIGHT = {"ink": "#1f2328", "quiet": "#59636e", "ground": "#ffffff", "grid": "#d8dee4"}
_DARK = {"ink": "#e6edf3", "quiet": "#9aa4af", "ground": "#0d1117", "grid": "#30363d"}

LIGHT_SERIES = ("#b32d0f", "#d9a404", "#0f62fe", "#8a3ffc", "#00664f", "#e0679c", "#6f7882", "#d8dee4")
DARK_SERIES = ("#ff8f73", "#f1c21b", "#78a9ff", "#be95ff", "#3ddbb0", "#ffafd2", "#a7b0ba", "#30363d")
"""Colours of up to eight series in each theme; the last one is for what is unknown."""


def document(label: str, *, width: int, height: int, styles: str, parts: Iterable[str]) -> str:
    """SVG text with an accessible name, its styles and a background that they colour."""
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">',
            f"<title>{escape(label)}</title>",
            f"<style>{styles}</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>',
            *parts,
            "</svg>\n",
        ]
    )
    return shown(text)


def themed(template: str, light: Sequence[str], dark: Sequence[str], *, colour: str, rest: str = "") -> str:
    """Style sheet for both themes.

    Args:
        template: Rules of the picture, with ``{ink}``, ``{quiet}``, ``{ground}`` and ``{grid}`` to be filled in.
        light: Colours of the series on a light background.
        dark: The same series on a dark background.
        colour: Rule of one series, with its ``{number}`` and ``{colour}``.
        rest: Rules that follow the colours of each theme.
    """

    def theme(inks: dict[str, str], colours: Sequence[str]) -> str:
        series = (colour.format(number=number, colour=value) for number, value in enumerate(colours))
        return (_TEXT + template).format(**inks) + "".join(series) + rest

    return f"{theme(_LIGHT, light)} @media (prefers-color-scheme: dark) {{ {theme(_DARK, dark)} }}"
