"""``UNSELECTED.tsv``: digests of recordings that public hash tables know and the manifest does not choose.

They are not part of the evaluation set or its digest. `validate` uses them to notice that the rest of a copy was
altered, and to say whose content a file has.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.rows import ManifestRow

UNSELECTED_FILE = "UNSELECTED.tsv"

COLUMNS = ("clip_id", "source_sha256", "source_bytes", "pcm_sha256", "num_samples", "sampling_rate", "channels")
"""Columns of the file."""


def unselected_text(rows: Iterable[ManifestRow]) -> str:
    """The file, sorted by clip id."""
    lines = ["\t".join(COLUMNS)]
    for row in sorted(rows, key=lambda row: row.clip_id):
        values = (getattr(row, column) for column in COLUMNS)
        lines.append("\t".join("" if value is None else str(value) for value in values))
    return "\n".join(lines) + "\n"


def read_unselected(path: Path, corpus: str) -> Sequence[ManifestRow]:
    """Rows of one corpus; none where there is no such file.

    Raises:
        ManifestError: A line does not have the columns of the file; names the line.
    """
    if not path.is_file():
        return ()
    text = path.read_text(encoding="utf-8")
    # The file is sorted: the lines of a corpus follow each other, and those of the others are not taken apart.
    start = text.find(f"\n{corpus}/") + 1
    end = text.find("\n", text.rfind(f"\n{corpus}/") + 1)
    rows: list[ManifestRow] = []
    for number, line in enumerate(text[start:end].splitlines() if start else (), text.count("\n", 0, start) + 1):
        try:
            clip_id, source, size, *sound = line.split("\t")
            pcm, samples, rate, channels = sound
            rows.append(
                ManifestRow(
                    clip_id,
                    corpus,
                    source_sha256=source,
                    source_bytes=int(size),
                    pcm_sha256=pcm or None,
                    num_samples=int(samples) if samples else None,
                    sampling_rate=int(rate) if rate else None,
                    channels=int(channels) if channels else None,
                )
            )
        except ValueError as error:
            raise ManifestError("not a line of digests", where=f"{path}:{number}", found=line) from error
    return rows
