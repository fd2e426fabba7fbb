"""Cells of exported tables: names and notes are text wherever they end up."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "≈": r"$\approx$",
    "^": r"\textasciicircum{}",
    **{char: "\\" + char for char in "&%$#_{}"},
}
_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def csv_cell(value: object) -> str:
    """A CSV cell that no spreadsheet runs as a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, tab or CR and is no number gets a leading apostrophe; None is
    empty, booleans are ``true`` and ``false``.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(text) else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV document: LF line ends, cells quoted where needed and made safe by :func:`csv_cell`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def latex_cell(text: str) -> str:
    """Text with LaTeX's special characters escaped, on one line; what stands in backticks as typewriter text."""
    escaped = "".join(_LATEX.get(char, char) for char in " ".join(text.split()))
    return re.sub(r"`([^`]*)`", r"\\texttt{\1}", escaped)


def markdown_cell(text: str) -> str:
    """Text that Markdown shows as it is, HTML included, on one line."""
    escaped = _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
