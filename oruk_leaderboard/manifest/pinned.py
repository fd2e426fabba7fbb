"""The manifest as the rest of the package uses it: its version, its digest, and the rows of the corpora asked for."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.rows import COLUMNS, PROFILES, ManifestRow
from oruk_leaderboard.manifest.unselected import UNSELECTED_FILE, read_unselected

VERSION = "1.1.0"
"""Version that ``manifest build`` writes. A released version never changes: a correction is a new one, with a diff."""


class RowSource(Protocol):
    """Where the rows of a manifest come from."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of rows of each corpus, corpora in code-point order."""

    def rows(self, corpora: Iterable[str]) -> Sequence[ManifestRow]:
        """Rows of some corpora, sorted by clip id."""

    def ids(self, flag: str) -> Iterable[str]:
        """Clip ids of the rows in which a boolean column is true."""


class MemoryRows:
    """Rows that are already there."""

    def __init__(self, rows: Sequence[ManifestRow]) -> None:
        self._rows = rows
        self.counts: Mapping[str, int] = dict(sorted(Counter(row.corpus for row in rows).items()))

    def rows(self, corpora: Iterable[str]) -> Sequence[ManifestRow]:
        """As the protocol says."""
        wanted = frozenset(corpora)
        if wanted >= self.counts.keys():
            return self._rows
        return tuple(row for row in self._rows if row.corpus in wanted)

    def ids(self, flag: str) -> Iterable[str]:
        """As the protocol says."""
        return (row.clip_id for row in self._rows if getattr(row, flag))


class Manifest:
    """The pinned evaluation clips of one version. Two manifests are equal if their versions and digests are.

    Attributes:
        version: Version of the manifest.
        label_digests: Corpus under an agreement to the digest of its labels (see ``labels_digest``).
        folder: Where the files of the manifest are that are not rows, or None.
    """

    __slots__ = ("_digests", "_rows", "_source", "folder", "label_digests", "version")

    def __init__(
        self,
        version: str,
        source: RowSource,
        label_digests: Mapping[str, str],
        digests: Mapping[str, str],
        *,
        folder: Path | None = None,
    ) -> None:
        """Take rows that may still have to be read.

        Args:
            version: Version of the manifest.
            source: The rows.
            label_digests: As the attribute.
            digests: Profile to the digest of its rows; a digest that is not given is computed from the rows.
            folder: Where the files of the manifest are that are not rows; None where there are none.
        """
        self.version = version
        self.label_digests = {corpus: label_digests[corpus] for corpus in source.counts if corpus in label_digests}
        self._source, self._digests = source, dict(digests)
        self.folder = folder
        self._rows: tuple[ManifestRow, ...] | None = None

    @classmethod
    def of(
        cls,
        rows: Iterable[ManifestRow],
        label_digests: Mapping[str, str],
        *,
        version: str = VERSION,
        folder: Path | None = None,
    ) -> "Manifest":
        """Manifest of some rows, in any order.

        Raises:
            ManifestError: Duplicate clip id.
        """
        ordered = tuple(sorted(rows, key=attrgetter("clip_id")))
        for before, after in pairwise(ordered):
            if before.clip_id == after.clip_id:
                raise ManifestError("duplicate clip id", where=after.clip_id)
        return cls(version, MemoryRows(ordered), label_digests, {}, folder=folder)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Manifest):
            return NotImplemented
        return (self.version, self.digest) == (other.version, other.digest)

    def __hash__(self) -> int:
        return hash((self.version, self.digest))

    def __len__(self) -> int:
        return sum(self._source.counts.values())

    def __repr__(self) -> str:
        return f"Manifest(version={self.version!r}, digest={self.digest!r}, clips={len(self)})"

    @property
    def digest(self) -> str:
        """sha256 over all rows and label digests: the one hash that two papers compare. The version is not part."""
        if "full" not in self._digests:
            self._digests["full"] = _digest(self.rows, self.label_digests)
        return self._digests["full"]

    @property
    def rows(self) -> tuple[ManifestRow, ...]:
        """All rows, sorted by clip id in code-point order."""
        if self._rows is None:
            self._rows = tuple(self._source.rows(self._source.counts))
        return self._rows

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of clips of each corpus, corpora in code-point order."""
        return self._source.counts

    @property
    def corpora(self) -> tuple[str, ...]:
        """Ids of the corpora, in code-point order."""
        return tuple(self._source.counts)

    def of_corpora(self, *corpora: str) -> Sequence[ManifestRow]:
        """Rows of some corpora, sorted by clip id. Rows of other corpora are not read."""
        return self._source.rows(corpora)

    def unselected(self, corpus: str) -> Sequence[ManifestRow]:
        """Rows of a corpus's recordings whose digests are known and that the manifest does not choose."""
        return () if self.folder is None else read_unselected(self.folder / UNSELECTED_FILE, corpus)

    def subsample(self, profile: str) -> frozenset[str]:
        """Clip ids of the protocol's subsample of a profile: pinned, not drawn from what a user has."""
        return frozenset(self._source.ids(f"subsample_{profile}"))

    def profile(self, name: str) -> "Manifest":
        """The clips of one profile, with the digest of that selection.

        Raises:
            ManifestError: There is no such profile.
        """
        if name not in PROFILES:
            raise ManifestError("no such profile", where=name, expected=" or ".join(PROFILES))
        if name == "full":
            return self
        digests = {"full": self._digests[name]} if name in self._digests else {}
        return Manifest(self.version, _OpenRows(self._source), self.label_digests, digests, folder=self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Version, digest and counts."""
        return {"version": self.version, "digest": self.digest, "clips": len(self), "corpora": len(self.counts)}


class _OpenRows:
    """The rows of profile ``open``."""

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self._ids = frozenset(source.ids("open"))
        opened = Counter(clip_id.partition("/")[0] for clip_id in self._ids)
        self.counts: Mapping[str, int] = {corpus: opened[corpus] for corpus in source.counts if opened[corpus]}

    def rows(self, corpora: Iterable[str]) -> Sequence[ManifestRow]:
        return tuple(row for row in self._source.rows(corpora) if row.open)

    def ids(self, flag: str) -> Iterable[str]:
        return (clip_id for clip_id in self._source.ids(flag) if clip_id in self._ids)


def _digest(rows: Iterable[ManifestRow], label_digests: Mapping[str, str]) -> str:
    digest = hashlib.sha256(csv_of(rows).encode())
    for corpus, labels in label_digests.items():
        digest.update(f"{corpus}\t{labels}\n".encode())
    return digest.hexdigest()


def csv_of(rows: Iterable[ManifestRow]) -> str:
    """CSV text of rows, as the reviewable files have it and the digest covers it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row.cells() for row in rows)
    return text.getvalue()
