"""Who has seen the pinned files: every source whose own copy has the digests that the manifest ships.

``data/manifest/WITNESSES.tsv`` has one line per corpus and source: the corpus, the digest of the table that the source
confirms (see `table_digest`), how many of its clips it has, the kind of source, and a reference to look it up. A source
whose table has another digest has another release; it is listed, and counts as no witness of the shipped one.
"""

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow

WITNESSES_FILE = "WITNESSES.tsv"

COLUMNS = ("corpus", "table_sha256", "clips", "kind", "reference")
"""Columns of the file."""

KINDS = ("official copy", "official pointers", "third-party copy", "third-party pointers", "checksums", "statement")
"""Kinds of source: audio hashed, Git LFS pointers or other checksums compared, or a holder's statement."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One source that has the files of a corpus.

    Attributes:
        corpus: Id of the corpus.
        table_sha256: Digest of the table that it confirms.
        clips: Number of the table's clips that it has, with the digest of the table.
        kind: One of ``KINDS``.
        reference: Where to look it up.
    """

    corpus: str
    table_sha256: str
    clips: int
    kind: str
    reference: str


def table_digest(digests: Mapping[str, str]) -> str:
    """sha256 over the lines ``clip_id TAB source_sha256``, sorted: one hash for all known files of a corpus."""
    lines = (f"{clip_id}\t{digest}\n" for clip_id, digest in sorted(digests.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def table_of(rows: Iterable[ManifestRow]) -> str:
    """Digest of the table of one corpus's rows; rows without a file digest are not part of it."""
    return table_digest({row.clip_id: row.source_sha256 for row in rows if row.source_sha256 is not None})


def read_witnesses(path: Path) -> list[Witness]:
    """Lines of the file; none where there is no such file.

    Raises:
        ManifestError: The columns are other ones, or a value is not of its column.
    """
    if not path.is_file():
        return []
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")), delimiter="\t", strict=True)
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise ManifestError("wrong columns", where=path, expected=", ".join(COLUMNS), found=rows.fieldnames)
    witnesses = []
    for row in rows:
        if not row["clips"].isdigit() or row["kind"] not in KINDS:
            raise ManifestError(
                "wrong value", where=f"{path}:{rows.line_num}", expected=f"a number, and {', '.join(KINDS)}", found=row
            )
        witnesses.append(Witness(row["corpus"], row["table_sha256"], int(row["clips"]), row["kind"], row["reference"]))
    return witnesses


def seen_by_two(witnesses: Sequence[Witness], table_sha256: str, size: int) -> int:
    """How many clips of a table at least two sources have, as far as the counts prove it.

    Args:
        witnesses: Of one corpus.
        table_sha256: Digest of the shipped table; witnesses of another one do not count.
        size: Number of clips in the table.
    """
    counts = sorted((witness.clips for witness in witnesses if witness.table_sha256 == table_sha256), reverse=True)
    if len(counts) < 2:
        return 0
    # Which clips a partial source has is not recorded: two of them share at least what does not fit beside each other.
    return max(0, min(counts[0], size) + min(counts[1], size) - size)


def seen_in(manifest: Manifest) -> dict[str, int]:
    """Corpus to the number of its chosen clips whose pinned file at least two sources have."""
    if manifest.folder is None:
        return {}
    groups: defaultdict[str, list[Witness]] = defaultdict(list)
    for witness in read_witnesses(manifest.folder / WITNESSES_FILE):
        groups[witness.corpus].append(witness)
    seen = {}
    for corpus, witnesses in groups.items():
        chosen = [row for row in manifest.of_corpora(corpus) if row.source_sha256 is not None]
        table = [*chosen, *manifest.unselected(corpus)]
        # Clips of the table that are not chosen may be among those that were seen.
        count = seen_by_two(witnesses, table_of(table), len(table)) - (len(table) - len(chosen))
        seen[corpus] = max(0, count)
    return seen
