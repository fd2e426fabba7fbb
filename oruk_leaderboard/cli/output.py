"""What verbs print: JSON documents, JSON Lines, text tables, progress."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any


def add_json(parser: Any) -> None:
    """Add the ``--json`` option that every verb takes."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of text")


def write_json(document: object) -> None:
    """Print one JSON document; NaN and infinity are refused because JSON has neither."""
    from oruk_leaderboard.jsontext import pretty

    sys.stdout.write(pretty(document) + "\n")


def write_json_lines(rows: Iterable[dict[str, Any]]) -> None:
    """Print one JSON object a line."""
    for row in rows:
        sys.stdout.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(text: str) -> None:
    """Print text for people, ending with one newline."""
    sys.stdout.write(text.rstrip("\n") + "\n")


def note(text: str) -> None:
    """Print a message to stderr."""
    sys.stderr.write(text.rstrip("\n") + "\n")


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
    cells = [["–" if cell is None else " ".join(str(cell).split()) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(header, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = []
        for name, cell, size in zip(header, row, widths, strict=True):
            blanks = " " * (size - width(cell))
            padded.append(blanks + cell if name in right else cell + blanks)
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["-" * size for size in widths]), *map(line, cells)])


def progress(total: int | None, *, unit: str, description: str) -> Any:
    """A tqdm bar on stderr: count, percent, rate and time left; silent when stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, desc=description, file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)
