"""A picture as an SVG document of its own."""

from collections.abc import Iterable
from html import escape


def document(label: str, *, width: int, height: int, styles: str, parts: Iterable[str]) -> str:
    """SVG text with an accessible name, its styles and a ground that they colour."""
    return "\n".join(
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
