"""The literature's leaderboards beside the table: what others publish on the same corpora, readable offline.

The sources are the reviewable files of ``data/published/``, taken from four archived pages (CC BY-SA 4.0, see
``data/published/LICENSE.md``). Names, metric spellings and figures are the source's; links to the corpus registry,
modalities and flags on its errors are ours. Nothing of it is ranked with the benchmark's own table.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.records.schemas import check

KINDS: dict[str, str] = {
    "leaderboards": "published",
    "datasets": "published-datasets",
    "papers": "published-papers",
}
"""Source file below ``data/published`` to the config and schema of its rows."""

Row = Mapping[str, Any]


@cache
def source() -> Mapping[str, Any]:
    """Archive, snapshot, licence, attribution, changes made, and the pages with their counts."""
    document: Mapping[str, Any] = json.loads(_read("source"))
    return document


@cache
def rows(kind: str) -> Sequence[Row]:
    """Checked rows of one kind, with licence and snapshot in each, in the order of the source file.

    Args:
        kind: A key of ``KINDS``.

    Raises:
        RecordError: A row breaks its schema.
    """
    common = {name: source()[name] for name in ("licence", "snapshot")}
    found = [{**entry, **common} for entry in json.loads(_read(kind))]
    for number, row in enumerate(found):
        check(row, KINDS[kind], where=f"data/published/{kind}.json entry {number}")
    return found


def leaderboards(*, corpus: str | None = None, task: str | None = None) -> list[Row]:
    """Leaderboards of the literature.

    Args:
        corpus: Id in the corpus registry, or a name as the source spells it (``CREMA-D``).
        task: Task, in any case.

    Raises:
        OrukError: There is no such corpus or task.
    """
    found = list(rows("leaderboards"))
    if task is not None:
        tasks = sorted({row["task"] for row in found})
        if task.casefold() not in map(str.casefold, tasks):
            raise OrukError("no such task in the literature's leaderboards", where=task, expected=", ".join(tasks))
        found = [row for row in found if row["task"].casefold() == task.casefold()]
    if corpus is not None:
        wanted = corpus_id(corpus)
        found = [row for row in found if row["corpus"] == wanted]
    return found


def corpus_id(name: str) -> str:
    """Registry id of a corpus given by id or by a name that the source uses.

    Raises:
        CorpusError: There is no such corpus; the message suggests the nearest ids.
    """
    from oruk_leaderboard.corpora import get_corpus

    for row in rows("datasets"):
        if name.casefold() in (row["dataset"], row["name"].casefold()):
            return str(row["corpus"])
    return get_corpus(name.casefold().replace("-", "_")).id


NO_FIGURE = "no figure on the page"
"""Said where the source names a first system without a figure."""


def figures(row: Row) -> str:
    """Figures of a leaderboard's first row as the source writes them, without placeholders such as ``-``."""
    pairs = zip(row["first_metrics"], row["first_values"], strict=True)
    return ", ".join(f"{metric} {value}" for metric, value in pairs if any(map(str.isdigit, value))) or NO_FIGURE


def summary(row: Row) -> str:
    """One line about a leaderboard for people."""
    return f"{row['task']} on {row['dataset']}: {row['rows']} rows; first: {row['first_system']} ({figures(row)})"


def _read(name: str) -> str:
    return (data_dir() / "published" / f"{name}.json").read_text(encoding="utf-8")
