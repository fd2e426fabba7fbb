"""Readers of label files: functions from a file to rows of columns.

A reader is registered by name and gets a `LabelFile`; it yields one mapping of column to text (or None) a row:

    @reader("my_format")
    def my_format(file: LabelFile) -> Iterator[Row]:
        for line in file.text():
            ...
            yield {"name": ..., "emotion": ...}

A column called like a field of a clip (``native_label``, ``start_s``, ``excluded`` …) fills that field. A reader that
needs another package imports it inside the function and raises `MissingExtraError`; the spec lists the extra in
``needs``. A spec names its reader with ``reader = "name"``; without it a label file is delimited text.
A user's own spec may name a function of its own: ``reader = "package.module:function"``, or
``reader = "file.py:function"`` for a file beside the spec. Nothing else is ever imported for a corpus.
"""

import csv
import importlib
import importlib.util
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oruk_leaderboard.corpora.readers import dialogues, structured, tables  # noqa: F401  they register themselves
from oruk_leaderboard.corpora.readers.label_file import READERS, LabelFile, Reader, Row, missing_column, reader
from oruk_leaderboard.errors import CorpusError

__all__ = ["LabelFile", "Reader", "Row", "find_reader", "label_rows", "missing_column", "reader"]

_MALFORMED = (
    *(
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        OSError,
        RuntimeError,
        SyntaxError,
        TypeError,
        ValueError,
    ),
    *(csv.Error, zipfile.BadZipFile, zlib.error),
)
"""What readers, and the packages they use, raise over a damaged label file."""


def find_reader(name: str, *, trusted: bool, origin: Path) -> Reader:
    """The reader of that name.

    Raises:
        CorpusError: There is none; or ``module:function`` cannot be imported, or is named by a built-in spec.
    """
    if ":" in name and not trusted:
        module, _, function = name.partition(":")
        try:
            found: Reader = getattr(_own_module(module, origin), function)
        except (ImportError, AttributeError, OSError, SyntaxError) as error:
            raise CorpusError("the spec's own reader cannot be imported", where=origin, found=str(error)) from error
        return found
    if name not in READERS:
        raise CorpusError("no such reader", where=origin, expected=", ".join(sorted(READERS)), found=name)
    return READERS[name]


def _own_module(module: str, origin: Path) -> Any:
    if not module.endswith(".py"):
        return importlib.import_module(module)
    spec = importlib.util.spec_from_file_location(f"{origin.stem}_reader", origin.parent / module)
    if spec is None or spec.loader is None:
        raise ImportError(f"{module} is not a Python file")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def label_rows(file: LabelFile, *, trusted: bool, origin: Path) -> Iterator[Row]:
    """Rows of a label file that its rule keeps, with the groups of its path as further columns.

    Raises:
        CorpusError: The file lacks a column that ``where`` asks for, or cannot be read.
    """
    read = find_reader(file.rule.reader or "csv", trusted=trusted, origin=origin)
    kept = file.rule.where or {}
    for row in _understood(read, file):
        if any(column not in row and column not in file.groups for column in kept):
            raise missing_column(file.path, set(kept) - set(row), row)
        columns = {**file.groups, **row}
        if all(columns[column] in values for column, values in kept.items()):
            yield columns


def _understood(read: Reader, file: LabelFile) -> Iterator[Row]:
    try:
        yield from read(file)
    except _MALFORMED as error:
        raise CorpusError(
            "the label file is not what its reader expects",
            where=file.path,
            found=f"{type(error).__name__}: {error}",
            do="compare the file with the official release",
        ) from error
