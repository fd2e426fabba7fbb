"""What a reader gets (a label file) and gives (rows of columns), and the register of readers."""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from oruk_leaderboard.corpora.roots import Root
from oruk_leaderboard.corpora.spec import TableRule
from oruk_leaderboard.errors import CorpusError

Row = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A label file as a reader sees it.

    Attributes:
        root: Corpora root.
        path: Path below the root.
        place: Path of the corpus's own root below the root, ``""`` or ending with ``/``.
        rule: The spec's ``[table]`` or ``[join]``, for delimiter, encoding and header.
        groups: Named groups of the path pattern.
    """

    root: Root
    path: str
    place: str
    rule: TableRule
    groups: Row

    def binary(self) -> BinaryIO:
        """The file, opened for reading.

        Raises:
            CorpusError: It cannot be opened.
        """
        try:
            return self.root.open(self.path)
        except OSError as error:
            raise CorpusError("the label file cannot be read", where=self.path, found=error.strerror) from error

    def text(self, encoding: str | None = None) -> TextIO:
        """The file's text: the encoding given here or in the spec, else UTF-8 or UTF-16 by its byte order mark.

        Line ends are kept, which the csv module requires.

        Raises:
            CorpusError: The bytes do not fit the encoding.
        """
        with self.binary() as file:
            data = file.read()
        marked = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else None
        name = marked or encoding or self.rule.encoding or "utf-8-sig"
        try:
            return io.StringIO(data.decode(name), newline="")
        except UnicodeDecodeError as error:
            raise CorpusError("the label file's text cannot be decoded", where=self.path, expected=name) from error


Reader = Callable[[LabelFile], Iterator[Row]]

READERS: dict[str, Reader] = {}
"""Name to reader."""


def reader(name: str) -> Callable[[Reader], Reader]:
    """Register a reader under a name."""

    def register(function: Reader) -> Reader:
        READERS[name] = function
        return function

    return register


def missing_column(path: str, columns: object, row: Row) -> CorpusError:
    """The error for a label file without a column that the spec uses."""
    return CorpusError(
        "the label file lacks a column",
        where=path,
        expected=columns,
        found=", ".join(sorted(str(column) for column in row)),
        do="compare the file with the official release",
    )
