"""Recordings in parquet files of the Hugging Face Hub as files of a corpora root.

The ``datasets`` library writes an audio column as a struct of ``bytes`` and ``path``
(https://huggingface.co/docs/datasets/about_dataset_features). Such a file is a packing like a zip: each row is one
recording, named by the path of its audio or by a column that names the file.
"""

import bisect
import io
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from oruk_leaderboard.corpora.archives import unsafe
from oruk_leaderboard.corpora.suffixes import MEDIA, suffix_of

_NAMES = ("path", "file", "file_name", "filename", "file_id", "name", "id")
"""Columns that name the recording of a row: RESD has ``path`` and ``name``, nEMO ``file_id``."""

_OURS = "clip_sha256"
"""Column of the sets that this package rebuilds: they are not corpora."""

_MAGIC = ((b"RIFF", ".wav"), (b"fLaC", ".flac"), (b"OggS", ".ogg"), (b"ID3", ".mp3"), (b"\xff\xfb", ".mp3"))


class _Rows:
    """The recordings of one parquet file, read one row group at a time."""

    def __init__(self, path: Path, column: str, sizes: Sequence[int]) -> None:
        self._path, self._column = path, column
        self._ends = list(accumulate(sizes))
        self._lock = threading.Lock()
        self._group = -1
        self._bytes: Any = None

    def read(self, row: int) -> bytes:
        """Bytes of a recording.

        Raises:
            OSError: The file cannot be read.
        """
        import pyarrow.parquet as pq

        group = bisect.bisect_right(self._ends, row)
        with self._lock:
            if group != self._group:
                table: Any = pq.ParquetFile(self._path).read_row_group(group, columns=[f"{self._column}.bytes"])
                self._group, self._bytes = group, table.column(0).combine_chunks().field("bytes")
            first = self._ends[group - 1] if group else 0
            value = self._bytes[row - first].as_py()
        return value or b""


@dataclass(frozen=True, slots=True)
class RowMember:
    """One recording of a parquet file."""

    rows: _Rows
    row: int

    @property
    def size(self) -> int:
        """Bytes of the recording."""
        return len(self.rows.read(self.row))

    def open(self) -> BinaryIO:
        """The recording as a seekable file."""
        return io.BytesIO(self.rows.read(self.row))


def recordings_in(path: Path) -> Sequence[tuple[str, RowMember]] | None:
    """Names and recordings of a parquet file; None where it has no audio column, or is a set of this package.

    Raises:
        OSError: The file is not parquet or cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file: Any = pq.ParquetFile(path)
        column = _audio_column(file.schema_arrow)
        if column is None or _OURS in file.schema_arrow.names:
            return None
        groups = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
        rows = _Rows(path, column, groups)
        named = [name for name in _NAMES if name in file.schema_arrow.names and name != column]
        text = file.read(columns=[*named, f"{column}.path"]).to_pylist()
        suffix = _suffix(rows) if text else ""
    except pa.ArrowException as error:
        raise OSError(f"not readable as parquet: {error}") from error
    names = [_name(row, named, column, suffix) or f"row {at}{suffix}" for at, row in enumerate(text)]
    return [(name, RowMember(rows, at)) for at, name in enumerate(names)]


def _audio_column(schema: Any) -> str | None:
    import pyarrow.types as types

    for field in schema:
        if types.is_struct(field.type):
            parts = {field.type.field(at).name: field.type.field(at).type for at in range(field.type.num_fields)}
            if "path" in parts and (types.is_binary(kind := parts.get("bytes")) or types.is_large_binary(kind)):
                return str(field.name)
    return None


def _suffix(rows: _Rows) -> str:
    head = rows.read(0)[:4]
    return next((suffix for magic, suffix in _MAGIC if head.startswith(magic)), ".wav")


def _name(row: Mapping[str, Any], named: Sequence[str], column: str, suffix: str) -> str | None:
    """The row's path: the first that has a folder, else the first there is; never one that leaves the file."""
    given = [(row.get(column) or {}).get("path"), *(row[name] for name in named)]
    texts = [str(value).replace("\\", "/") for value in given if value not in (None, "")]
    paths = [text if unsafe(text) is None else text.rpartition("/")[2] for text in texts]
    best = next((path for path in paths if "/" in path), next(iter(paths), None))
    return best if best is None or suffix_of(best) in MEDIA else best + suffix
