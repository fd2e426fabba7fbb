"""Parquet files of the configs: written byte-reproducibly with explicit types, read back as Arrow tables."""

from pathlib import Path
from typing import Any

from oruk_leaderboard.configs import Config, Rows
from oruk_leaderboard.paths import share_root
from oruk_leaderboard.schemas import arrow_schema, check


def read_table(config: Config, root: Path | None = None) -> Any:
    """Arrow table of a config, without touching ``datasets`` or its cache.

    Args:
        config: The config.
        root: Repository's root; the shipped files by default.
    """
    import pyarrow.parquet as pq

    return pq.read_table((share_root() if root is None else root) / config.path)


def to_table(config: Config, rows: Rows) -> Any:
    """Arrow table of checked rows.

    Raises:
        RecordError: A row breaks the config's schema.
    """
    import pyarrow as pa

    for number, row in enumerate(rows):
        check(row, config.schema, where=f"{config.name} row {number}")
    return pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(config.schema))


def write_parquet(table: Any, path: Path) -> bool:
    """Write a parquet file unless the one there holds the same table.

    Other releases of pyarrow write other bytes for the same table (the footer names the writer), so a file is left
    alone when its content and schema are the same. Plain pyarrow, because parquet written by new releases of
    ``datasets`` or by pandas carries metadata or types that old releases of ``datasets`` cannot read.

    Returns:
        Whether the file was written.
    """
    import pyarrow.parquet as pq

    if path.is_file():
        old = pq.read_table(path)
        if old.schema.equals(table.schema, check_metadata=True) and old.equals(table):
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd", write_statistics=True)
    return True
