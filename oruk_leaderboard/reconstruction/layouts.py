"""How a set is laid out: shards of parquet, a folder of FLAC files, or the shards that the public harness reads."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from oruk_leaderboard.cells import csv_text
from oruk_leaderboard.classes import CLASSES, INDEX, SAMPLE_RATE
from oruk_leaderboard.clipset import COLUMNS, LABEL_NAME, SHARDS
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.reconstruction.journal import Entry
from oruk_leaderboard.reconstruction.render import Job
from oruk_leaderboard.reconstruction.store import HashingFile, Store, sync

Row = Mapping[str, Any]

ROW_GROUP = 64
"""Rows of a parquet row group: what is held in memory at once, and the least that streaming fetches."""


def row_of(job: Job, entry: Entry) -> Row:
    """The columns of one clip, without the audio."""
    clip = job.clip
    return {
        "clip_id": clip.clip_id,
        "label": INDEX[str(clip.label)],
        "native_label": clip.native_label,
        "corpus": clip.corpus,
        "language": clip.language,
        "speaker": clip.speaker,
        "gender": clip.gender,
        "elicitation": clip.elicitation,
        "duration_s": entry.num_samples / SAMPLE_RATE,
        "dialogue": clip.dialogue,
        "turn": clip.turn,
        "transcript": clip.transcript,
        "clip_sha256": entry.clip_sha256,
        "source_sha256": entry.source_sha256,
    }


class ShardWriter(Protocol):
    """Takes the clips of one shard in order."""

    def add(self, row: Row, flac: bytes) -> None:
        """Take one clip."""

    def close(self) -> Mapping[str, tuple[Path, str]]:
        """Finish; final name to staged file and its SHA-256."""


class Layout(Protocol):
    """One way to lay out a set.

    Attributes:
        name: Of the layout.
        writes: What decides the bytes of a shard apart from its rows and clips.
        data_files: Pattern that the set's card gives ``datasets``, or None where it finds the files by itself.
    """

    name: str
    writes: str
    data_files: str | None

    def writer(self, staging: Path, shard: str) -> ShardWriter:
        """Begin a shard."""

    def flac(self, store: Store, files: Sequence[str], position: int) -> bytes:
        """The FLAC bytes of a clip of a shard whose files are named, wherever these are."""

    def owns(self, name: str) -> bool:
        """Whether a final file of that name can only be a part of such a set."""

    def shared(self, rows: Iterable[Row]) -> Mapping[str, str]:
        """Files that the set as a whole has: name to text."""


def layout_of(name: str) -> Layout:
    """A layout by name.

    Raises:
        OrukError: There is no such layout.
    """
    if name not in LAYOUTS:
        raise OrukError("no such layout", where="--layout", expected=", ".join(LAYOUTS), found=name)
    return LAYOUTS[name]()


class _Parquet:
    """Parquet shards with the clips as Hugging Face Audio structs, or as the harness's columns."""

    name = "parquet"
    data_files: str | None = f"{SHARDS}/clips-*.parquet"
    audio_column = "audio"
    folder = f"{SHARDS}/"
    version = 2

    def __init__(self) -> None:
        import pyarrow as pa

        self.writes = f"{self.name} {self.version} pyarrow {pa.__version__}"
        self._groups: OrderedDict[tuple[str, int], Any] = OrderedDict()

    def schema(self) -> Any:
        """Arrow schema with the features that ``datasets`` reads, in types that all its versions know."""
        import pyarrow as pa

        kinds = {**COLUMNS, LABEL_NAME: "string"}
        features: dict[str, Any] = {name: {"dtype": kind, "_type": "Value"} for name, kind in kinds.items()}
        features["label"] = {"names": list(CLASSES), "_type": "ClassLabel"}
        # With decode true, reading any row would need torchcodec or librosa.
        features["audio"] = {"sampling_rate": SAMPLE_RATE, "decode": False, "_type": "Audio"}
        audio = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        fields: list[tuple[str, Any]] = [
            (name, audio if name == "audio" else _arrow(kinds[name])) for name in self._order()
        ]
        ordered = {name: features[name] for name in self._order()}
        return pa.schema(fields, {"huggingface": json.dumps({"info": {"features": ordered}})})

    def _order(self) -> list[str]:
        first, label, *others = COLUMNS
        return [first, "audio", label, LABEL_NAME, *others]

    def columns(self, row: Row, flac: bytes) -> Row:
        """The row as it is stored."""
        audio = {"bytes": flac, "path": f"{row['clip_id']}.flac"}
        return {**row, "audio": audio, LABEL_NAME: CLASSES[row["label"]]}

    def audio_bytes(self, value: Any) -> bytes:
        """FLAC bytes of a stored value of the audio column."""
        data: bytes = value["bytes"]
        return data

    def writer(self, staging: Path, shard: str) -> ShardWriter:
        return _ParquetWriter(staging / shard, f"{self.folder}{shard}.parquet", self.schema(), self.columns)

    def flac(self, store: Store, files: Sequence[str], position: int) -> bytes:
        key = files[0], position // ROW_GROUP
        if key not in self._groups:
            import pyarrow.parquet as pq

            with store.open(files[0]) as file, pq.ParquetFile(file) as parquet:
                group = parquet.read_row_group(key[1], columns=[self.audio_column])
            self._groups[key] = group.column(0)
            if len(self._groups) > 2:
                self._groups.popitem(last=False)
        return self.audio_bytes(self._groups[key][position % ROW_GROUP].as_py())

    def owns(self, name: str) -> bool:
        # Before version 2 the shards of both layouts were in the set's own folder.
        return name.removeprefix(self.folder).startswith("clips-") and name.endswith(".parquet")

    def shared(self, rows: Iterable[Row]) -> Mapping[str, str]:
        return {}


def _arrow(kind: str) -> Any:
    import pyarrow as pa

    return {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64()}[kind]


class _ParquetWriter:
    def __init__(self, path: Path, name: str, schema: Any, columns: Callable[[Row, bytes], Row]) -> None:
        import pyarrow.parquet as pq

        self._name, self._schema, self._columns = name, schema, columns
        self._file = HashingFile(path)
        sink: Any = self._file
        plain = [field.name for field in schema if field.name not in ("audio", "audio_flac")]
        # FLAC does not shrink further, and statistics or dictionaries of it would repeat it.
        options: dict[str, Any] = {"compression": "none", "use_dictionary": plain, "write_statistics": plain}
        self._parquet = pq.ParquetWriter(sink, schema, **options)
        self._rows: list[Row] = []

    def add(self, row: Row, flac: bytes) -> None:
        self._rows.append(self._columns(row, flac))
        if len(self._rows) == ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._parquet.write_table(pa.Table.from_pylist(self._rows, schema=self._schema), row_group_size=ROW_GROUP)
            self._rows = []

    def close(self) -> Mapping[str, tuple[Path, str]]:
        self._flush()
        self._parquet.close()
        self._file.close()
        return {self._name: (self._file.path, self._file.sha256)}


class _Harness(_Parquet):
    """Shards that the public harness reads unchanged, and beside them which clip is at which position."""

    name = "harness"
    data_files: str | None = None
    audio_column = "audio_flac"
    folder = ""
    version = 1

    def schema(self) -> Any:
        import pyarrow as pa

        fields: list[tuple[str, Any]] = [("audio_flac", pa.binary()), ("label", pa.int64())]
        fields += [("language", pa.string()), ("source_id", pa.string())]
        return pa.schema(fields)

    def columns(self, row: Row, flac: bytes) -> Row:
        return {
            "audio_flac": flac,
            "label": row["label"],
            "language": row["language"],
            "source_id": row["corpus"],
        }

    def audio_bytes(self, value: Any) -> bytes:
        data: bytes = value
        return data

    def shared(self, rows: Iterable[Row]) -> Mapping[str, str]:
        named = [name for name in COLUMNS if name != "clip_id"]
        lines = [[at, row["clip_id"], *(_cell(row, name) for name in named)] for at, row in enumerate(rows)]
        return {"order.csv": csv_text(["position", "clip_id", *named], lines)}


class _AudioFolder:
    """One FLAC file a clip below ``audio/``, and ``metadata.csv``."""

    name = "audiofolder"
    writes = "audiofolder 1"
    data_files: str | None = None

    def writer(self, staging: Path, shard: str) -> ShardWriter:
        return _FolderWriter(staging)

    def flac(self, store: Store, files: Sequence[str], position: int) -> bytes:
        with store.open(files[position]) as file:
            return file.read()

    def owns(self, name: str) -> bool:
        return name.startswith("audio/") and name.endswith(".flac")

    def shared(self, rows: Iterable[Row]) -> Mapping[str, str]:
        lines = [[_file_name(row), *(_cell(row, name) for name in COLUMNS)] for row in rows]
        return {"metadata.csv": csv_text(["file_name", *COLUMNS], lines)}


class _FolderWriter:
    def __init__(self, staging: Path) -> None:
        self._staging = staging
        self._written: dict[str, tuple[Path, str]] = {}

    def add(self, row: Row, flac: bytes) -> None:
        staged = self._staging / f"{len(self._written):05d}"
        staged.write_bytes(flac)
        self._written[_file_name(row)] = staged, hashlib.sha256(flac).hexdigest()

    def close(self) -> Mapping[str, tuple[Path, str]]:
        # After the last write rather than after each, so that the system can bundle them.
        for staged, _ in self._written.values():
            sync(staged)
        return self._written


def _file_name(row: Row) -> str:
    """Place of a clip's FLAC file.

    Raises:
        OrukError: The clip id would leave the folder.
    """
    path = PurePosixPath("audio", f"{row['clip_id']}.flac")
    if ".." in path.parts or "\0" in str(path) or len(path.parts) < 3:
        raise OrukError("the clip id is not a safe file name", where=row["clip_id"], do="take another --layout")
    return str(path)


def _cell(row: Row, name: str) -> object:
    return CLASSES[row[name]] if name == "label" else row[name]


LAYOUTS: Mapping[str, Callable[[], Layout]] = {"parquet": _Parquet, "audiofolder": _AudioFolder, "harness": _Harness}
"""Name to layout."""
