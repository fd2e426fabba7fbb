"""Arrow tables of the configs: rows checked by schema, files read back."""

from pathlib import Path
from typing import Any

from oruk_leaderboard.paths import share_root
from oruk_leaderboard.records.schemas import arrow_schema, check
from oruk_leaderboard.table.configs import Config, Rows


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
