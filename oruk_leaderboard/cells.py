"""Cells of tables, printed or exported: names and notes are text wherever they end up."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "≈": r"$\approx$",
    "^": r"\textasciicircum{}",
    **{char: "\\" + char for char in "&%$#_{}"},
}
_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Code points that change the direction of text, with which one name can be shown as another."""

_REPLACED = dict.fromkeys(_DIRECTION, "\ufffd")
_ESCAPED = {code: f"\\u{code:04x}" for code in _DIRECTION}


def shown(text: str) -> str:
    """Text for people, with a replacement for each character that changes the direction of what follows it."""
    return text.translate(_REPLACED)


def shown_json(text: str) -> str:
    """JSON text of the same value, with those characters escaped."""
    return text.translate(_ESCAPED)


def csv_cell(value: object) -> str:
    """A CSV cell that no spreadsheet runs as a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, tab or CR and is not a number gets a leading apostrophe; None is
    empty, booleans are ``true`` and ``false``.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def csv_value(cell: str) -> str:
    """The text that :func:`csv_cell` made a cell of."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV document: LF line ends, cells quoted where needed and made safe by :func:`csv_cell`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def latex_comment(text: str) -> str:
    """Lines of text as comments of LaTeX."""
    return "\n".join(f"% {line}".rstrip() for line in text.splitlines())


def latex_cell(text: str) -> str:
    """Text with LaTeX's special characters escaped, on one line; text in backticks as typewriter text."""
    escaped = "".join(_LATEX.get(char, char) for char in " ".join(shown(text).split()))
    return re.sub(r"`([^`]*)`", r"\\texttt{\1}", escaped)


def markdown_cell(text: str) -> str:
    """Text that Markdown shows as it is, HTML included, on one line."""
    escaped = _MARKDOWN.sub(r"\\\1", " ".join(shown(text).split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def width(text: str) -> int:
    """Columns that a text takes in a terminal: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def text_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> str:
    """Lay out rows under a header with two blanks between columns.

    Args:
        header: Column names.
        rows: Cells; None is shown as ``–``.
        right: Names of the columns to align to the right.
    """
    cells = [["–" if cell is None else " ".join(shown(str(cell)).split()) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(header, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = []
        for name, cell, size in zip(header, row, widths, strict=True):
            blanks = " " * (size - width(cell))
            padded.append(blanks + cell if name in right else cell + blanks)
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["-" * size for size in widths]), *map(line, cells)])
