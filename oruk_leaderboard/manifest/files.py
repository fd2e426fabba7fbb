"""The manifest on disk: one reviewable CSV a corpus, their sums, and the parquet file built from them."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.pinned import Manifest, csv_of
from oruk_leaderboard.manifest.rows import COLUMNS, TYPES, ManifestRow, row_from_cells
from oruk_leaderboard.paths import data_dir, writing

SUMS = "SHA256SUMS"
LABELS = "LABELS.tsv"
_SUMS_TITLE = "# oruk-bench manifest "
_OPEN_DIGEST = "manifest_digest/open"


def labels_digest(labels: Mapping[str, str]) -> str:
    """sha256 over the lines ``clip_id TAB label``, sorted: confirms a user's labels without giving them away.

    One digest covers all clips of a corpus, since the digest of a single label could be guessed in seven tries.
    """
    lines = (f"{clip_id}\t{label}\n" for clip_id, label in sorted(labels.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def csv_texts(manifest: Manifest) -> dict[str, str]:
    """File name to text of the CSV files, one per corpus: the reviewable source."""
    by_corpus = sorted(manifest.rows, key=lambda row: (row.corpus, row.clip_id))
    return {f"{corpus}.csv": csv_of(rows) for corpus, rows in groupby(by_corpus, attrgetter("corpus"))}


def write_manifest(manifest: Manifest, folder: Path, *, beside: Mapping[str, str]) -> None:
    """Write the CSV files, the label digests, the sums, and the parquet file next to the folder.

    The sums cover every file of the folder.

    Args:
        manifest: What to write.
        folder: Where, usually ``data/manifest``; CSV files that are not part of the manifest are removed from it.
        beside: Further files of the folder, such as ``SOURCES.tsv`` and ``RULE.md``: name to text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = csv_texts(manifest) | dict(beside)
    texts[LABELS] = "corpus\tlabels_sha256\n" + "".join(f"{c}\t{d}\n" for c, d in manifest.label_digests.items())
    for stale in set(folder.glob("*.csv")) - {folder / name for name in texts}:
        stale.unlink()
    sums = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(texts.items()))
    for name, text in (texts | {SUMS: f"{_SUMS_TITLE}{manifest.version}\n{sums}"}).items():
        with writing(folder / name):
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write_parquet(manifest, folder.with_name(f"{folder.name}.parquet"))


def read_folder(folder: Path, *, version: str | None = None) -> Manifest:
    """Manifest of a folder of CSV files.

    Args:
        folder: The folder.
        version: Take the files as they are now, as this new version. None reads a released version, whose files must be
            those that ``SHA256SUMS`` names.

    Raises:
        ManifestError: The folder is not a manifest, or a file is not the one that ``SHA256SUMS`` names.
    """
    if not (folder / SUMS).is_file():
        raise ManifestError("no manifest here", where=folder, expected=f"the CSV files of a manifest and {SUMS}")
    title, *sums = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    released = title.removeprefix(_SUMS_TITLE)
    named = {name: digest for digest, _, name in (line.partition("  ") for line in sums)}
    contents = {name: (folder / name).read_bytes() for name in named if (folder / name).is_file()}
    contents |= {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    for name in sorted(named.keys() | contents.keys()) if version in (None, released) else ():
        if hashlib.sha256(contents.get(name, b"")).hexdigest() != named.get(name):
            raise ManifestError(
                f"the file is missing or is not the one that {SUMS} names",
                where=folder / name,
                expected=named.get(name, "no such file"),
                do="restore the file; a correction is a new version: manifest build --as-version X.Y.Z",
            )
    texts = {name: content.decode() for name, content in contents.items()}
    rows = [row for name, text in texts.items() if name.endswith(".csv") for row in read_csv(text, where=folder / name)]
    digests = dict(line.split("\t") for line in texts.get(LABELS, "").splitlines()[1:])
    return Manifest.of(rows, digests, version=version or released, folder=folder)


def read_csv(text: str, *, where: Path) -> list[ManifestRow]:
    """Rows of one CSV file.

    Raises:
        ManifestError: The columns are not those of a manifest, or a value is not of its column's type; names the line.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = next(reader, [])
    if tuple(header) != COLUMNS:
        raise ManifestError(
            "columns are not those of a manifest", where=where, expected=",".join(COLUMNS), found=",".join(header)
        )
    rows = []
    for cells in reader:
        if len(cells) != len(COLUMNS):
            raise ManifestError(
                "wrong number of cells", where=f"{where}:{reader.line_num}", expected=len(COLUMNS), found=len(cells)
            )
        rows.append(row_from_cells(dict(zip(COLUMNS, cells, strict=True)), where=f"{where}:{reader.line_num}"))
    return rows


def to_table(manifest: Manifest) -> Any:
    """Arrow table of config ``manifest``: every value by an explicit schema; version and digests as metadata."""
    import pyarrow as pa

    kinds = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
    required = {"clip_id", "corpus", *(column for column, kind in TYPES.items() if kind is bool)}
    metadata: dict[str | bytes, str | bytes] = {
        "manifest_version": manifest.version,
        "manifest_digest": manifest.digest,
        _OPEN_DIGEST: manifest.profile("open").digest,
    }
    metadata |= {f"labels_sha256/{corpus}": digest for corpus, digest in manifest.label_digests.items()}
    schema = pa.schema(
        [pa.field(column, kinds[kind], nullable=column not in required) for column, kind in TYPES.items()], metadata
    )
    columns = {column: [getattr(row, column) for row in manifest.rows] for column in COLUMNS}
    return pa.table(columns, schema=schema)


def write_parquet(manifest: Manifest, path: Path) -> None:
    """Write config ``manifest`` to a file, as ``build`` does."""
    from oruk_leaderboard.parquet import serialize

    with writing(path):
        path.write_bytes(serialize(to_table(manifest)))


def read_parquet(path: Path) -> Manifest:
    """Manifest of a parquet file. Its digests are those that ``manifest build`` wrote into the file's metadata.

    Raises:
        ManifestError: The file is not a manifest.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowInvalid) as error:
        raise ManifestError("not a readable parquet file", where=path, found=error) from error
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if tuple(table.column_names) != COLUMNS or "manifest_digest" not in metadata:
        raise ManifestError("not a manifest", where=path, expected=f"columns {', '.join(COLUMNS)} and their digest")
    prefix = "labels_sha256/"
    labels = {key.removeprefix(prefix): value for key, value in metadata.items() if key.startswith(prefix)}
    digests = {"full": metadata["manifest_digest"]}
    if _OPEN_DIGEST in metadata:
        digests["open"] = metadata[_OPEN_DIGEST]
    return Manifest(metadata["manifest_version"], _TableRows(table), labels, digests, folder=path.with_suffix(""))


class _TableRows:
    """Rows of an Arrow table, which is sorted by clip id: the rows of a corpus follow each other.

    Turning all rows into objects takes far longer than reading them, so only those asked for are.
    """

    def __init__(self, table: Any) -> None:
        self._table = table
        self._start: dict[str, int] = {}
        counts = Counter(table.column("corpus").to_pylist())
        start = 0
        for corpus in sorted(counts, key=lambda corpus: f"{corpus}/"):
            self._start[corpus] = start
            start += counts[corpus]
        self.counts: Mapping[str, int] = dict(sorted(counts.items()))

    def rows(self, corpora: Iterable[str]) -> Sequence[ManifestRow]:
        """Rows of some corpora, sorted by clip id."""
        wanted = frozenset(corpora)
        whole = wanted >= self.counts.keys()
        parts = [
            self._table.slice(start, self.counts[corpus]) for corpus, start in self._start.items() if corpus in wanted
        ]
        return tuple(row for part in ([self._table] if whole else parts) for row in _rows_of(part))

    def ids(self, flag: str) -> Iterable[str]:
        """Clip ids of the rows in which a boolean column is true."""
        flags = self._table.column(flag).to_pylist()
        return (clip_id for clip_id, true in zip(self._table.column("clip_id").to_pylist(), flags, strict=True) if true)


def _rows_of(table: Any) -> Iterable[ManifestRow]:
    values = zip(*(table.column(column).to_pylist() for column in COLUMNS), strict=True)
    return (ManifestRow(*row) for row in values)


def load_manifest(source: str | Path | None = None) -> Manifest:
    """The shipped manifest, or another one.

    Args:
        source: A version, a folder of CSV files, or a parquet file; None for the shipped manifest.

    Raises:
        ManifestError: There is no such manifest, or it is not what it claims to be.
    """
    shipped = data_dir() / "manifest.parquet"
    if source is None:
        return read_parquet(shipped)
    path = Path(source)
    if path.is_dir():
        return read_folder(path)
    if path.is_file():
        return read_parquet(path)
    manifest = read_parquet(shipped)
    if str(source) != manifest.version:
        raise ManifestError(
            "no such manifest",
            where=source,
            expected=f"version {manifest.version}, a folder of CSV files or a parquet file",
        )
    return manifest


def pinned_subsample(name: str, *, version: str, profile: str | None) -> frozenset[str]:
    """Clip ids of a subsample of a rebuilt set.

    Args:
        name: Name of the subsample: ``5k``.
        version: Version of the manifest that the set was made with.
        profile: Profile of the set; None where it was made without one.

    Raises:
        ManifestError: There is no such subsample.
    """
    if name != "5k" or profile is None:
        raise ManifestError("no such subsample", where=f"--subsample {name}", expected="5k, of a set with a profile")
    return load_manifest(version).subsample(profile)
