"""The manifest on disk: one reviewable CSV a corpus, their sums, and the parquet file built from them."""

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.rows import COLUMNS, PROFILES, TYPES, ManifestRow, row_from_cells
from oruk_leaderboard.paths import data_dir

VERSION = "1.0.0"
"""Version that ``manifest build`` writes. A released one never changes: a correction is the next one, with a diff."""

SUMS = "SHA256SUMS"
LABELS = "LABELS.tsv"
_SUMS_TITLE = "# oruk-bench manifest "


@dataclass(frozen=True, slots=True)
class Manifest:
    """The pinned evaluation clips of one version.

    Attributes:
        version: Of the manifest.
        rows: Sorted by clip id in code-point order.
        label_digests: Corpus under an agreement to the digest of its labels (see ``labels_digest``).
        digest: sha256 of everything above but the version: the one hash that two papers compare.
    """

    version: str
    rows: tuple[ManifestRow, ...]
    label_digests: Mapping[str, str]
    digest: str

    @classmethod
    def of(cls, rows: Iterable[ManifestRow], label_digests: Mapping[str, str], *, version: str = VERSION) -> "Manifest":
        """Manifest of some rows; sorts them and computes the digest.

        Raises:
            ManifestError: A clip id is there twice.
        """
        ordered = tuple(sorted(rows, key=attrgetter("clip_id")))
        for before, after in pairwise(ordered):
            if before.clip_id == after.clip_id:
                raise ManifestError("clip id is there twice", where=after.clip_id)
        there = {row.corpus for row in ordered}
        digests = {corpus: digest for corpus, digest in sorted(label_digests.items()) if corpus in there}
        return cls(version, ordered, digests, _digest(ordered, digests))

    @property
    def corpora(self) -> tuple[str, ...]:
        """Ids of the corpora, in code-point order."""
        return tuple(sorted({row.corpus for row in self.rows}))

    def of_corpus(self, corpus: str) -> tuple[ManifestRow, ...]:
        """Rows of one corpus."""
        return tuple(row for row in self.rows if row.corpus == corpus)

    def subsample(self, profile: str) -> frozenset[str]:
        """Clip ids of the protocol's subsample of a profile, which is pinned and not drawn from what is there."""
        return frozenset(row.clip_id for row in self.rows if getattr(row, f"subsample_{profile}"))

    def profile(self, name: str) -> "Manifest":
        """The clips of one profile, with the digest of that selection.

        Raises:
            ManifestError: There is no such profile.
        """
        if name not in PROFILES:
            raise ManifestError("no such profile", where=name, expected=" or ".join(PROFILES))
        if name == "full":
            return self
        return Manifest.of((row for row in self.rows if row.open), self.label_digests, version=self.version)

    def to_dict(self) -> dict[str, Any]:
        """Version, digest and counts."""
        return {"version": self.version, "digest": self.digest, "clips": len(self.rows), "corpora": len(self.corpora)}


def labels_digest(labels: Mapping[str, str]) -> str:
    """sha256 over the lines ``clip_id TAB label``, sorted: confirms a user's labels without telling them.

    One digest for all clips of a corpus, since that of a single clip is undone in seven tries.
    """
    lines = (f"{clip_id}\t{label}\n" for clip_id, label in sorted(labels.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest(rows: Iterable[ManifestRow], label_digests: Mapping[str, str]) -> str:
    digest = hashlib.sha256(_csv_text(rows).encode())
    for corpus, labels in label_digests.items():
        digest.update(f"{corpus}\t{labels}\n".encode())
    return digest.hexdigest()


def _csv_text(rows: Iterable[ManifestRow]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row.cells() for row in rows)
    return text.getvalue()


def csv_texts(manifest: Manifest) -> dict[str, str]:
    """File name to text of the CSV files, one a corpus: the reviewable source."""
    by_corpus = sorted(manifest.rows, key=lambda row: (row.corpus, row.clip_id))
    return {f"{corpus}.csv": _csv_text(rows) for corpus, rows in groupby(by_corpus, attrgetter("corpus"))}


def write_manifest(manifest: Manifest, folder: Path, *, beside: Mapping[str, str]) -> None:
    """Write the CSV files, the label digests, the sums, and the parquet file next to the folder.

    Args:
        manifest: What to write.
        folder: Where, usually ``data/manifest``; CSV files that are no part of the manifest are removed from it.
        beside: Further files of the folder that the sums cover (``SOURCES.tsv``, ``RULE.md``): name to text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = csv_texts(manifest) | dict(beside)
    texts[LABELS] = "corpus\tlabels_sha256\n" + "".join(f"{c}\t{d}\n" for c, d in manifest.label_digests.items())
    for stale in set(folder.glob("*.csv")) - {folder / name for name in texts}:
        stale.unlink()
    sums = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(texts.items()))
    for name, text in (texts | {SUMS: f"{_SUMS_TITLE}{manifest.version}\n{sums}"}).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write_parquet(manifest, folder.with_name(f"{folder.name}.parquet"))


def read_folder(folder: Path, *, version: str | None = None) -> Manifest:
    """Manifest of a folder of CSV files.

    Args:
        folder: The folder.
        version: Take the files as they are now, as this new version. None reads a released version, whose files must be
            those that ``SHA256SUMS`` names.

    Raises:
        ManifestError: The folder is no manifest, or a file is not the one that ``SHA256SUMS`` names.
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
    return Manifest.of(rows, digests, version=version or released)


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

    path.write_bytes(serialize(to_table(manifest)))


def read_parquet(path: Path) -> Manifest:
    """Manifest of a parquet file; its digest is taken from the file's metadata, as ``manifest build`` computed it.

    Raises:
        ManifestError: The file is no manifest.
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
    values = zip(*(table.column(column).to_pylist() for column in COLUMNS), strict=True)
    prefix = "labels_sha256/"
    digests = {key.removeprefix(prefix): value for key, value in metadata.items() if key.startswith(prefix)}
    return Manifest(
        metadata["manifest_version"], tuple(ManifestRow(*row) for row in values), digests, metadata["manifest_digest"]
    )


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
