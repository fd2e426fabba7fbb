"""Parquet files of the configs: written byte-reproducibly with explicit types, read back as Arrow tables."""

from pathlib import Path
from typing import Any

from oruk_leaderboard.paths import share_root
from oruk_leaderboard.table.configs import Config, Rows
from oruk_leaderboard.table.schemas import arrow_schema, check


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


def serialize(table: Any) -> bytes:
    """Parquet bytes of a table, the same for the same table and release of pyarrow.

    Plain pyarrow, because parquet written by new releases of ``datasets`` or by pandas carries metadata or types that
    old releases of ``datasets`` cannot read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def same_table(first: bytes, second: bytes) -> bool:
    """Whether two parquet files hold the same table.

    Their bytes may still differ: the footer names the release of pyarrow that wrote it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        one, two = (pq.read_table(pa.BufferReader(content)) for content in (first, second))
    except pa.ArrowInvalid:
        return False
    return bool(one.schema.equals(two.schema, check_metadata=True) and one.equals(two))
