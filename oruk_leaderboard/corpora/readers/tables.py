"""Readers of delimited text."""

import csv
from collections.abc import Iterator

from oruk_leaderboard.corpora.readers.label_file import LabelFile, Row, reader
from oruk_leaderboard.errors import CorpusError


@reader("csv")
def delimited(file: LabelFile) -> Iterator[Row]:
    """Delimited text with a header line (or the spec's ``header``).

    The delimiter is the spec's, or the one of tab, semicolon and comma that is most frequent in the first line. Column
    names and values are stripped: nEMO pads its speakers with blanks, EMO-DB with no-break spaces.

    Raises:
        CorpusError: A row has more fields than the header.
    """
    lines = file.text()
    first = lines.readline()
    lines.seek(0)
    delimiter = file.rule.delimiter or max("\t;,", key=first.count)
    rows = csv.reader(lines, delimiter=delimiter, strict=False)
    header = list(file.rule.header) or [name.strip() for name in next(rows, [])]
    for fields in rows:
        if not fields:
            continue
        if len(fields) > len(header) and any(field.strip() for field in fields[len(header) :]):
            raise CorpusError(
                "a row has more fields than the header",
                where=f"{file.path} line {rows.line_num}",
                expected=len(header),
                found=len(fields),
            )
        values: list[str | None] = [field.strip() for field in fields[: len(header)]]
        values += [None] * (len(header) - len(values))
        yield dict(zip(header, values, strict=True))
