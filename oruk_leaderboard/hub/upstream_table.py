"""The published table on the Hub: which file it is, and its rows, checked.

The card's front matter names the file of the default config; where it names none, the one small file that has the
seven columns is taken.
"""

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from oruk_leaderboard.errors import HubError, RecordError
from oruk_leaderboard.hub.client import Hub
from oruk_leaderboard.records.schemas import check, load_schema

Row = Mapping[str, Any]

LARGEST = 1_000_000
"""Bytes above which a file is not looked into when no config names the table."""


def find_table(hub: Hub, revision: str) -> str | None:
    """Path of the published table at a revision; None where there is none, or several that it could be.

    Raises:
        HubError: The card's front matter cannot be read, or the Hub refused.
    """
    files = hub.files(revision)
    patterns = _default_files(hub, revision) if "README.md" in files else []
    named = [path for path in files if any(fnmatchcase(path, pattern) for pattern in patterns)]
    if not patterns:
        named = [
            path
            for path, file in files.items()
            if Path(path).suffix in _READERS and file.size <= LARGEST and _is_table(hub.download(path, revision))
        ]
    return named[0] if len(named) == 1 else None


def _default_files(hub: Hub, revision: str) -> Sequence[str]:
    """Files of the default config, or of the only one, as the front matter writes them."""
    import yaml

    where = f"{hub.repo}@{revision}"
    try:
        text = hub.download("README.md", revision).read_text(encoding="utf-8")
        matter = re.match(r"---\s*\n(.*?)\n---", text, re.DOTALL)
        card = yaml.safe_load(matter[1]) if matter else None
    except (UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        raise HubError(f"the card's front matter cannot be read: {error}", where=where) from error
    configs = (card or {}).get("configs") or [] if isinstance(card or {}, Mapping) else card
    if not isinstance(configs, list) or not all(isinstance(config, Mapping) for config in configs):
        raise HubError(
            "the card's front matter is malformed",
            where=where,
            expected="a mapping with a list of configs, each a mapping",
            found=repr(card)[:200],
        )
    chosen = next((config for config in configs if config.get("default")), configs[0] if len(configs) == 1 else {})
    return _paths(chosen.get("data_files") or [], where=where)


def _paths(given: object, *, where: str) -> list[str]:
    """Paths of ``data_files``: a path, a list of paths, or entries with a split and a path."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return _paths(given.get("path") or [], where=where)
    if isinstance(given, list):
        return [path for item in given for path in _paths(item, where=where)]
    raise HubError("data_files of the card's front matter is malformed", where=where, found=repr(given)[:200])


def _is_table(path: Path) -> bool:
    try:
        rows = _READERS[path.suffix](path)
    except (OSError, ValueError):
        return False
    return bool(rows) and set(rows[0]) == set(load_schema("leaderboard")["properties"])


def read_table_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a published table (parquet, CSV or JSON Lines), each checked against the leaderboard schema.

    Raises:
        HubError: The file cannot be read, a column has another type, a row breaks the schema, or a figure is not
            a number.
    """
    if path.suffix not in _READERS:
        raise HubError("unknown kind of table", where=path.name, expected=", ".join(_READERS))
    try:
        rows = _READERS[path.suffix](path)
    except (OSError, ValueError) as error:
        raise HubError(f"the table cannot be read: {error}", where=path.name) from error
    for number, row in enumerate(rows, 1):
        try:
            check(row, "leaderboard", where=f"{path.name} row {number}")
        except RecordError as error:
            raise HubError(f"the published table breaks the schema: {error}") from error
        # JSON Schema lets NaN through every range.
        if not (math.isfinite(row["accuracy"]) and math.isfinite(row["macro_f1"])):
            raise HubError("a figure of the published table is not a number", where=f"{path.name} row {number}")
    return rows


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    for name, kind in load_schema("leaderboard")["properties"].items():
        if name in table.column_names:
            found = table.schema.field(name).type
            types = kind["type"] if isinstance(kind["type"], list) else [kind["type"]]
            fits = {"string": (pa.types.is_string, pa.types.is_large_string), "number": (pa.types.is_floating,)}
            tests = (*fits.get(types[0], (pa.types.is_boolean,)), *([pa.types.is_null] if "null" in types else []))
            if not any(test(found) for test in tests):
                raise ValueError(f"column {name} has type {found}, expected {' or '.join(types)}")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _read_csv(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows: list[dict[str, Any]] = list(csv.DictReader(lines))
    truth = {"true": True, "false": False}
    for row in rows:
        row |= {name: float(row[name]) for name in ("accuracy", "macro_f1") if name in row}
        row["is_oruk"] = truth.get(str(row.get("is_oruk")).lower())
        row["note"] = row.get("note") or None
    return rows


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


_READERS = {".parquet": _read_parquet, ".csv": _read_csv, ".jsonl": _read_lines}
