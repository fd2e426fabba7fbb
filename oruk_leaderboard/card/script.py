"""The generated part of the loading script: version, files and columns of the configs."""

import json
from pathlib import Path
from typing import Any

from oruk_leaderboard import __version__
from oruk_leaderboard.card.blocks import fill
from oruk_leaderboard.records.schemas import arrow_schema
from oruk_leaderboard.table.configs import shipped

NAME = "oruk_bench_leaderboard.py"


def script_text(root: Path) -> str:
    """The loading script with its generated part made again."""
    configs = shipped(root)
    files = {config.name: config.path for config in configs}
    columns = {
        config.name: {field.name: _kind(field.type) for field in arrow_schema(config.schema)} for config in configs
    }
    block = "\n".join(
        [
            f'VERSION = "{__version__}"',
            f"FILES: dict[str, str] = {_literal(files)}",
            f"COLUMNS: dict[str, dict[str, Any]] = {_literal(columns)}",
        ]
    )
    path = root / NAME
    return fill(path.read_text(encoding="utf-8"), {"configs": block}, where=path)


def _kind(column: Any) -> str | list[str]:
    """Arrow type as the script and the card write it."""
    import pyarrow as pa

    return [dtype(column.value_type)] if pa.types.is_list(column) else dtype(column)


def dtype(column: Any) -> str:
    """Name of a scalar Arrow type as ``datasets.Value`` takes it."""
    return {"double": "float64"}.get(str(column), str(column))


def _literal(value: dict[str, Any], indent: int = 0) -> str:
    """Nested dictionaries as the formatter would lay them out."""
    blanks = " " * (indent + 4)
    lines = [
        f"{blanks}{json.dumps(key)}: {_literal(item, indent + 4) if isinstance(item, dict) else json.dumps(item)},\n"
        for key, item in value.items()
    ]
    return "{\n" + "".join(lines) + " " * indent + "}"
