"""Row files as people have them: CSV (with commas, semicolons or tabs), JSON Lines, parquet and npz become columns.

Text may carry a byte order mark, be UTF-8 or UTF-16, end its lines with LF or CRLF, and be compressed with gzip.
"""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oruk_leaderboard.errors import PredictionError

MAX_BYTES = 2**30
"""Largest decompressed text file that is read, in bytes."""

MAX_UNPACKED = 2**28
"""Most bytes of text that a compressed file may unpack to per million rows (or in all, below a million)."""

_GZIP = b"\x1f\x8b"
"""First bytes of a gzip file."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16."""

_CHUNK = 2**20
"""Bytes that are unpacked at once while the size is measured."""

_MOST_REPEATED = 4096
"""Different strings of a JSON Lines file that are looked up to be kept once."""

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".npz")
"""Suffixes of the row files that can be read; the text ones also with ``.gz`` behind."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of a file, with the place of each row for messages.

    Attributes:
        path: The file.
        columns: Column name (lower case) to its values, all of one length.
        lines: Gives the line of each row (the header is line 1); counted only when a message needs one. None where the
            format has no lines.
        size: Number of rows.
    """

    path: Path
    columns: Mapping[str, Sequence[Any]]
    lines: Callable[[], Sequence[int]] | None
    size: int

    def where(self, row: int) -> str:
        """``file:line`` of a row, or ``file row N`` (from 1) in a format without lines."""
        return f"{self.path}:{self.lines()[row]}" if self.lines is not None else f"{self.path} row {row + 1}"

    def need(self, name: str) -> Sequence[Any]:
        """A column that must be there.

        Raises:
            PredictionError: It is not.
        """
        if name not in self.columns:
            raise PredictionError(
                "a column is missing", where=self.path, expected=name, found=", ".join(self.columns) or "no columns"
            )
        return self.columns[name]


def printable(text: str, *, limit: int = 80) -> str:
    """Foreign text as it may go to a terminal or into a record: one line, no control characters, not endless."""
    safe = "".join(char if char.isprintable() else "\ufffd" for char in text.strip())
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def kind(path: Path) -> str:
    """Suffix that tells the format, in lower case and without ``.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")


def read_rows(path: Path) -> Rows:
    """Read a row file into columns.

    Raises:
        PredictionError: The file is not there, is empty, is damaged, has an unknown suffix, a repeated column or a row
            of another width; the message names the line.
    """
    readers = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".txt": _read_csv,
        ".jsonl": _read_json_lines,
        ".ndjson": _read_json_lines,
        ".parquet": _read_parquet,
        ".npz": _read_npz,
    }
    if kind(path) not in readers:
        raise PredictionError("unknown kind of file", where=path, expected=", ".join(SUFFIXES), found=path.name)
    rows = readers[kind(path)](path)
    if rows.size == 0:
        raise PredictionError("the file has no rows", where=path, expected="a header and at least one row")
    return rows


def read_bytes(path: Path) -> bytes:
    """Content of a file, decompressed where it is gzip.

    Raises:
        PredictionError: It cannot be read, is damaged, or is larger than ``MAX_BYTES``.
    """
    try:
        data = path.read_bytes()
        if data[:2] == _GZIP:
            _measure(data, path)
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise PredictionError("the file cannot be read", where=path, found=error) from error
    if len(data) > MAX_BYTES:
        raise PredictionError("the file is too large", where=path, expected=f"at most {MAX_BYTES} bytes of text")
    return data


def _measure(data: bytes, path: Path) -> None:
    """Refuse a small file that unpacks to a huge text, before it is held in memory."""
    size = rows = 0
    with gzip.open(io.BytesIO(data)) as stream:
        while chunk := stream.read(_CHUNK):
            size, rows = size + len(chunk), rows + chunk.count(b"\n")
            if size > MAX_UNPACKED * max(1.0, rows / 1e6):
                raise PredictionError(
                    "the compressed file unpacks to too much text",
                    where=path,
                    expected=f"at most {MAX_UNPACKED} bytes per million rows",
                    found=f"more than {size} bytes in {rows} rows",
                )


def read_text(path: Path) -> str:
    """Text of a file: UTF-8 or UTF-16, without its byte order mark.

    Raises:
        PredictionError: As ``read_bytes``, or the text is in no encoding that is known; the message names the line.
    """
    data = read_bytes(path)
    encoding = "utf-16" if data[:2] in _UTF_16 else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise PredictionError(
            "the text is not UTF-8", where=f"{path}:{line}", found=error.reason, do="save it as UTF-8"
        ) from error
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise PredictionError("the text contains a NUL character", where=f"{path}:{line}", do="save it as UTF-8")
    return text


def _read_csv(path: Path) -> Rows:
    text = read_text(path)
    header_line = text.lstrip().partition("\n")[0]
    # Spreadsheets write semicolons where the comma is the decimal sign, and tabs as "Unicode text".
    delimiter = "\t" if kind(path) == ".tsv" else max(",;\t", key=header_line.count)
    if (plain := _plain_csv(path, text, delimiter)) is not None:
        return plain

    def reader() -> Any:
        return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)

    def lines() -> list[int]:
        cells, found, before = reader(), [], 0
        for row in cells:
            if row:
                found.append(before + 1)
            before = cells.line_num
        return found[1:]

    cells = reader()
    try:
        rows: list[list[str]] = [row for row in cells if row]
    except csv.Error as error:
        raise PredictionError("damaged CSV", where=f"{path}:{cells.line_num}", found=error) from error
    if not rows:
        return Rows(path, {}, None, 0)
    header = [name.strip().casefold() for name in rows.pop(0)]
    if repeated := sorted({name for name in header if header.count(name) > 1}):
        raise PredictionError("a column is there twice", where=f"{path}:1", found=", ".join(repeated))
    if set(map(len, rows)) - {len(header)}:
        at = next(index for index, row in enumerate(rows) if len(row) != len(header))
        raise PredictionError(
            "a row has another number of cells than the header",
            where=f"{path}:{lines()[at]}",
            expected=f"{len(header)} ({', '.join(header)})",
            found=len(rows[at]),
        )
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return Rows(path, dict(zip(header, columns, strict=True)), lines, len(rows))


def _plain_csv(path: Path, text: str, delimiter: str) -> Rows | None:
    """A CSV where each line ends a row and each delimiter a cell, several times faster; None if it is not that plain.

    Cells may be quoted as a whole. What is not plain (delimiters, quotes or line ends inside quotes, blanks before a
    cell, blank lines, rows of another width) is left to the csv module, which also says what is wrong.
    """
    text = text.replace("\r\n", "\n")
    text = text if text.endswith("\n") else text + "\n"
    if "\r" in text or f"{delimiter} " in text or "\n " in text or text[0] in " \n":
        return None
    data = np.frombuffer(text.encode(), np.uint8)
    quote, end = ord('"'), ord("\n")
    stops = np.flatnonzero((data == ord(delimiter)) | (data == end))
    width = int(np.argmax(data[stops] == end)) + 1
    pattern = np.where(np.arange(width) == width - 1, end, ord(delimiter))
    if width < 2 or stops.size % width or (data[stops].reshape(-1, width) != pattern).any():
        return None
    starts = np.append(0, stops[:-1] + 1)
    opened = data[starts] == quote
    # The byte before a stop belongs to its cell: an empty cell would see its neighbour's, a delimiter, never a quote.
    if (opened != (data[stops - 1] == quote)).any() or np.count_nonzero(data == quote) != 2 * opened.sum():
        return None
    cells = text[:-1].replace('"', "").replace("\n", delimiter).split(delimiter)
    header = [name.strip().casefold() for name in cells[:width]]
    if len(set(header)) < width:
        return None
    size = len(cells) // width - 1
    columns = {name: cells[width + place :: width] for place, name in enumerate(header)}
    return Rows(path, columns, lambda: range(2, size + 2), size)


def _read_json_lines(path: Path) -> Rows:
    columns: dict[str, list[Any]] = {}
    lines: list[int] = []
    repeated: dict[str, str] = {}
    for number, record in json_lines(path):
        for name, value in record.items():
            if name not in columns:
                columns[name] = [None] * len(lines)
            columns[name].append(_kept_once(value, repeated))
        lines.append(number)
        if len(record) < len(columns):
            for column in columns.values():
                if len(column) < len(lines):
                    column.append(None)
    folded = [name.strip().casefold() for name in columns]
    if doubled := sorted({name for name in folded if folded.count(name) > 1}):
        raise PredictionError("a key is there in two spellings", where=path, found=", ".join(doubled))
    return Rows(path, dict(zip(folded, columns.values(), strict=True)), lambda: lines, len(lines))


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of each line, from 1, and its object; blank lines are passed over.

    Raises:
        PredictionError: As ``read_rows``; the message names the line.
    """
    decode = json.JSONDecoder().decode
    for number, text in enumerate(_lines(path), start=1):
        if not text or text.isspace():
            continue
        try:
            record = decode(text)
        except (ValueError, RecursionError) as error:
            raise PredictionError(
                "the line is not a JSON object", where=f"{path}:{number}", expected="one object per line", found=error
            ) from error
        if not isinstance(record, dict):
            raise PredictionError(
                "the line is not a JSON object", where=f"{path}:{number}", expected='{"clip_id": …}', found=text[:40]
            )
        yield number, record


def _lines(path: Path) -> Iterator[str]:
    """Lines of a text file, one in memory at a time where it is plain UTF-8.

    They end with LF only: a label may contain U+2028 and the like, which end no line of JSON.

    Raises:
        PredictionError: As ``read_text``.
    """
    try:
        with path.open("rb") as file:
            plain = file.read(2) not in (_GZIP, *_UTF_16) and path.stat().st_size <= MAX_BYTES
        if not plain:
            yield from read_text(path).split("\n")
            return
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for line in lines:
                if "\x00" in line:
                    read_text(path)  # names the line
                yield line
    except (OSError, UnicodeDecodeError) as error:
        read_text(path)  # names the line
        raise PredictionError("the file cannot be read", where=path, found=error) from error


def _kept_once(value: Any, repeated: dict[str, str]) -> Any:
    """The value, with strings that occur in many lines as one object: a receipt names model and prompt every time."""
    if isinstance(value, dict):
        return {_kept_once(name, repeated): part for name, part in value.items()}
    if not isinstance(value, str):
        return value
    return repeated.setdefault(value, value) if len(repeated) < _MOST_REPEATED else repeated.get(value, value)


def _read_parquet(path: Path) -> Rows:
    import pyarrow
    import pyarrow.parquet

    try:
        # Not read_table: it imports pandas where that is installed.
        table = pyarrow.parquet.ParquetFile(path).read()
    except (OSError, pyarrow.ArrowException) as error:
        raise PredictionError("not a parquet file", where=path, found=error) from error
    names = [name.casefold() for name in table.column_names]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise PredictionError("a column is there twice", where=path, found=", ".join(repeated))
    columns = {name: column.to_pylist() for name, column in zip(names, table.columns, strict=True)}
    return Rows(path, columns, None, table.num_rows)


def _read_npz(path: Path) -> Rows:
    arrays = read_npz(path)
    sizes = {name: len(array) if array.ndim else -1 for name, array in arrays.items()}
    if len(set(sizes.values())) > 1 or -1 in sizes.values():
        raise PredictionError("the arrays differ in length", where=path, expected="one row per clip", found=sizes)
    columns = {name.casefold(): array.tolist() for name, array in arrays.items()}
    return Rows(path, columns, None, next(iter(sizes.values()), 0))


def read_npz(path: Path) -> dict[str, Any]:
    """Arrays of an npz file by name; pickled ones are refused.

    Raises:
        PredictionError: The file is not an npz file, or an array in it is pickled.
    """
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise PredictionError(
            "not an npz file of plain arrays",
            where=path,
            expected="text as numpy 'U' arrays and numbers, nothing pickled",
            found=error,
        ) from error
