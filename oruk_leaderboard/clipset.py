"""A rebuilt set, opened: what is known of its clips without touching audio, and the audio one clip after the other."""

import csv
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.cells import csv_value
from oruk_leaderboard.classes import CLASSES, INDEX
from oruk_leaderboard.errors import ManifestError

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa

COLUMNS: Mapping[str, str] = {
    "clip_id": "string",
    "label": "int64",
    "native_label": "string",
    "corpus": "string",
    "language": "string",
    "speaker": "string",
    "gender": "string",
    "elicitation": "string",
    "duration_s": "float64",
    "dialogue": "string",
    "turn": "string",
    "transcript": "string",
    "clip_sha256": "string",
    "source_sha256": "string",
}
"""Columns that every layout of a set has, apart from the audio, and their types."""

LABEL_NAME = "label_name"
"""Column of the parquet layout with the class's name; ``label`` is its index."""

SHARDS = "data"
"""Folder of a set in which the parquet layout has its shards, and nothing else: readers open it as one table."""

_REBUILD = "rebuild it with: oruk-leaderboard reconstruct"


@dataclass(frozen=True, slots=True)
class ClipSet:
    """A rebuilt set.

    Attributes:
        folder: Where it is.
        report: Content of ``report.json``.
        table: Columns of the set without the audio, in the set's order; ``label`` is the class index.
    """

    folder: Path
    report: Mapping[str, Any]
    table: "pa.Table"

    @property
    def digest(self) -> str:
        """SHA-256 over the lines ``clip_id TAB label TAB clip_sha256``."""
        return str(self.report["digest"])

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def rows(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Values of these columns, clip by clip in the set's order; a few at a time are in memory."""
        return _rows(self.table, names)

    def to_dict(self) -> dict[str, Any]:
        """Content of ``report.json``."""
        return dict(self.report)

    def to_dataset(self) -> "datasets.Dataset":
        """The set as a ``datasets.Dataset``; ``cast_column("audio", datasets.Audio())`` decodes.

        Raises:
            ManifestError: The set has another layout than ``parquet``.
        """
        if self.report["layout"] != "parquet":
            found = self.report["layout"]
            raise ManifestError(
                "not a set of rows", where=self.folder, expected="layout parquet", found=found, do=_REBUILD
            )
        import datasets

        return datasets.Dataset.from_parquet([str(path) for path in _shards(self.folder)])

    def recordings(self, clip_ids: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """Clip ids and FLAC files (16 kHz, mono, 16-bit) in the set's order; a few at a time are held in memory.

        Args:
            clip_ids: Clips to give; None for all.
        """
        layout = self.report["layout"]
        order = (clip_id for (clip_id,) in self.rows("clip_id"))
        if layout == "audiofolder":
            for clip_id in order:
                if clip_ids is None or clip_id in clip_ids:
                    yield clip_id, (self.folder / "audio" / f"{clip_id}.flac").read_bytes()
            return
        column = "audio" if layout == "parquet" else "audio_flac"
        stored = (value for path in _shards(self.folder) for value in _column(path, column))
        for clip_id, value in zip(order, stored, strict=True):
            if clip_ids is None or clip_id in clip_ids:
                audio = value.as_py()
                yield clip_id, audio["bytes"] if layout == "parquet" else audio


def open_clipset(folder: str | Path) -> ClipSet:
    """Open a rebuilt set of any layout.

    Raises:
        ManifestError: The folder contains no finished set, or not the one that its report describes.
    """
    folder = Path(folder)
    try:
        report = jsontext.parse((folder / "report.json").read_text(encoding="utf-8"))
        layout, digest = report["layout"], report["digest"]
    except FileNotFoundError as error:
        raise ManifestError(
            "no finished set here", where=folder, expected="report.json", do="run reconstruct to its end"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestError(
            "not the report of a set", where=folder / "report.json", found=error, do=_REBUILD
        ) from error
    table = _from_parquet(folder) if layout == "parquet" else _from_csv(folder, layout)
    found = _digest(table)
    if found != digest:
        raise ManifestError(
            "the set is not the one that its report describes", where=folder, expected=digest, found=found, do=_REBUILD
        )
    return ClipSet(folder, report, table)


def _shards(folder: Path) -> list[Path]:
    """Shards in order. Sets of package 1.0 and those of layout ``harness`` have them beside the report."""
    return sorted((folder / SHARDS).glob("clips-*.parquet")) or sorted(folder.glob("clips-*.parquet"))


def _column(path: Path, name: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, columns=[name]).column(name)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    kinds: dict[str, Any] = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64()}
    return pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])


def _from_parquet(folder: Path) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    try:
        # Not read_table: it imports pandas where that is installed, which takes longer than reading.
        tables = [pq.ParquetFile(path).read(schema.names).select(schema.names).cast(schema) for path in _shards(folder)]
    except (OSError, pa.ArrowException) as error:
        raise ManifestError("a shard cannot be read", where=folder, found=error, do=_REBUILD) from error
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _from_csv(folder: Path, layout: str) -> "pa.Table":
    import pyarrow as pa

    path = folder / ("metadata.csv" if layout == "audiofolder" else "order.csv")
    schema = _schema()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        columns = {name: [_value(row[name], name, schema.field(name).type) for row in rows] for name in schema.names}
    except (OSError, KeyError, ValueError) as error:
        raise ManifestError("the list of clips cannot be read", where=path, found=error, do=_REBUILD) from error
    return pa.table(columns, schema=schema)


def _value(cell: str, name: str, kind: "pa.DataType") -> object:
    import pyarrow as pa

    if cell == "":
        return None
    if name == "label":
        return INDEX[cell]
    if pa.types.is_floating(kind):
        return float(cell)
    return csv_value(cell)


def _digest(table: "pa.Table") -> str:
    return set_digest(_rows(table, ("clip_id", "label", "clip_sha256")))


def _rows(table: "pa.Table", names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for batch in table.select(list(names)).to_batches(max_chunksize=1024):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def set_digest(clips: Iterable[tuple[str, int, str]]) -> str:
    """sha256 over the lines ``clip_id TAB class TAB clip_sha256``: the one line that two users compare.

    Args:
        clips: Clip id, class index and digest of the clip's samples, in the set's order.
    """
    digest = hashlib.sha256()
    for clip_id, label, sha256 in clips:
        digest.update(f"{clip_id}\t{CLASSES[label]}\t{sha256}\n".encode())
    return digest.hexdigest()
