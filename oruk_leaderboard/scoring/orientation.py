"""Between which published rows a figure would fall: an orientation, never a rank."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.todict import ToDict

EQUIVALENT = "a rebuilt set is an equivalent of the original 64,384 clips, not the original"
"""What has to be said whenever a figure of a rebuilt set is shown beside the published table."""


@dataclass(frozen=True, slots=True)
class Orientation(ToDict):
    """Neighbours of a macro-F1 in the published table.

    Attributes:
        macro_f1: The figure, 0 to 1.
        scored_on: Rows it was held against: ``full_set`` or ``subsample_5k``; the two are never mixed.
        above: Row with the next higher macro-F1, or None.
        below: Row with the next lower or equal macro-F1, or None.
        text: The sentence for people.
    """

    macro_f1: float
    scored_on: str
    above: str | None
    below: str | None
    text: str


def orient(
    macro_f1: float, *, scored_on: str = "full_set", partial: bool = False, table: Path | None = None
) -> Orientation:
    """Find the neighbours of a macro-F1 among the published rows.

    Args:
        macro_f1: The figure, 0 to 1.
        scored_on: Published rows to look at.
        partial: Whether the set lacks clips of its profile; the sentence then says so first.
        table: The table's parquet file; the shipped one by default.
    """
    import pyarrow.parquet as pq

    columns = ["system", "macro_f1", "scored_on", "is_oruk"]
    # Not read_table: it imports pandas where that is installed.
    rows = pq.ParquetFile(table or data_dir() / "leaderboard.parquet").read(columns).to_pylist()
    rows = sorted((row for row in rows if row["scored_on"] == scored_on), key=lambda row: -row["macro_f1"])
    higher = sum(row["macro_f1"] > macro_f1 for row in rows)
    above = rows[higher - 1] if higher else None
    below = rows[higher] if higher < len(rows) else None

    def name(row: dict[str, Any]) -> str:
        apart = ", trained in-distribution: not like-for-like" if row["is_oruk"] else ""
        return f"{row['system']} ({row['macro_f1']:g}{apart})"

    if above and below:
        where = f"between {name(above)} and {name(below)}"
    else:
        where = f"below {name(above)}" if above else f"above {name(below)}" if below else "beside no row"
    start = "Partial set, so only a hint: its" if partial else "Orientation, no rank: the"
    return Orientation(
        macro_f1=macro_f1,
        scored_on=scored_on,
        above=above["system"] if above else None,
        below=below["system"] if below else None,
        text=f"{start} macro-F1 {macro_f1:.4f} would fall {where} of the published {scored_on} rows; {EQUIVALENT}.",
    )
