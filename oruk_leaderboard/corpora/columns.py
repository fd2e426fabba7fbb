"""The columns of a recording: what its path and its row say, and what ``[let]`` and joined tables make of it."""

from collections.abc import Mapping

from oruk_leaderboard.corpora.rules import Columns
from oruk_leaderboard.corpora.spec import CorpusSpec

Joined = Mapping[str, Mapping[str, Columns]]
"""Name of a joined table to its rows by key."""


def of_path(media: str) -> dict[str, str | None]:
    """The built-in columns ``file``, ``stem``, ``suffix`` and ``folder`` of a path."""
    folder, _, file = media.rpartition("/")
    stem, dot, suffix = file.rpartition(".")
    return {
        "file": file,
        "stem": stem if dot else file,
        "suffix": dot + suffix if dot else "",
        "folder": folder.rpartition("/")[2],
    }


def derived(spec: CorpusSpec, given: Columns, joined: Joined) -> dict[str, str | None]:
    """The columns with those of joined tables and of ``[let]``, as far as they are known by now."""
    columns = dict(given)
    for name, join in spec.joins.items():
        if joined.get(name) and (key := join.of.value(columns)) is not None:
            columns.update(joined[name].get(key.casefold(), {}))
    for name, rule in spec.let.items():
        columns[name] = rule.value(columns)
    return columns


def clip_name(spec: CorpusSpec, given: Columns, media: str) -> str:
    """What distinguishes a clip within its corpus: its id, or its file name where a label file is needed for the id.

    A stem alone is not an identity: it repeats within EmoV-DB, CASIA, MEAD and Thorsten.
    """
    name = spec.clip_id.value(derived(spec, {**of_path(media), **given}, {})) if spec.clip_id else None
    return name or media.rpartition("/")[2]
