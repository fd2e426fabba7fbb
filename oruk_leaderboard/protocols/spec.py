"""The protocol files: what they may say, and reading them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import OrukError, nearest

TABLES = Path(__file__).parent / "tables"

KINDS: tuple[metrics.Kind, ...] = ("classes", "labels", "dimensions")
"""Kinds of protocol: one class per clip, any number of labels, real numbers. Each has the metrics of its kind."""

_KEYS = frozenset(
    {
        *("name", "task", "dataset", "kind", "classes", "labels", "label_prefix", "dimensions"),
        *("space", "aliases", "on_error", "metrics"),
    }
)
_METRIC_KEYS = frozenset({"name", "figure", "formula", "assumed", "fold", "only", "without", "dimension"})


@dataclass(frozen=True, slots=True)
class Figure:
    """One column of a leaderboard.

    Attributes:
        name: The column's name, as the table spells it.
        figure: Key of the metric (``metrics.REGISTRY``).
        formula: The same in words, with averaging, folds, subset and dimension.
        assumed: Why this reading, where the table does not define the name; None where it does.
        fold: Column of the gold file whose values are folds: the figure is the mean over them.
        only: Column of the gold file to the value that clips must have.
        without: Classes that are left out of the average.
        dimension: Column that holds the ratings.
    """

    name: str
    figure: str
    formula: str
    assumed: str | None = None
    fold: str | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    dimension: str | None = None


@dataclass(frozen=True, slots=True)
class Protocol:
    """How predictions are scored for one leaderboard.

    Attributes:
        name: Name for ``score --protocol``: the leaderboard's own.
        task: Task of the leaderboard.
        dataset: Data set, as the leaderboard spells it.
        kind: ``classes``, ``labels`` or ``dimensions``.
        space: What the label space or the dimensions are, and why.
        metrics: Columns, in the table's order.
        classes: Classes (``classes``).
        labels: Labels, each a column of 0 and 1 (``labels``); empty where ``label_prefix`` tells them.
        label_prefix: Beginning of the names of the label columns, or None.
        dimensions: Dimensions, each a column of numbers (``dimensions``).
        aliases: Spellings of this protocol to classes, such as a map of emotions to sentiments.
        on_error: What clips without an answer count as: ``wrong`` or ``neutral``.
    """

    name: str
    task: str
    dataset: str
    kind: metrics.Kind
    space: str
    metrics: tuple[Figure, ...]
    classes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    label_prefix: str | None = None
    dimensions: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    on_error: str = "wrong"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the gold file needs beside ``clip_id``; label columns with a prefix are not among them."""
        own = ("label",) if self.kind == "classes" else self.labels or self.dimensions
        extra = [column for metric in self.metrics for column in (metric.fold, *metric.only) if column]
        return tuple(dict.fromkeys((*own, *extra)))


@cache
def names() -> tuple[str, ...]:
    """Names of all protocols, sorted."""
    return tuple(sorted(path.stem for path in TABLES.glob("*.toml")))


def load(name: str) -> Protocol:
    """Read a protocol by its name.

    Raises:
        OrukError: There is no such protocol (the message suggests the nearest), or its file is not sound.
    """
    if name not in names():
        near = nearest(name, names()) or [other for other in names() if name in other][:3]
        raise OrukError(
            "no such protocol", where="--protocol", expected=", ".join(near) or "a leaderboard's name", found=name
        )
    path = TABLES / f"{name}.toml"
    return parse(tomllib.loads(path.read_text(encoding="utf-8")), where=path.name)


def parse(document: Mapping[str, Any], *, where: str) -> Protocol:
    """Check a protocol file.

    Raises:
        OrukError: An unknown key, a missing one, or a figure that its kind does not have; the message names it.
    """
    _keys(document, _KEYS, ("name", "task", "dataset", "kind", "space", "metrics"), where)
    if document["kind"] not in KINDS:
        raise OrukError("unknown kind", where=where, expected=", ".join(KINDS), found=document["kind"])
    spaces = {"classes": ("classes",), "labels": ("labels", "label_prefix"), "dimensions": ("dimensions",)}
    if sum(key in document for key in spaces[document["kind"]]) != 1:
        raise OrukError("no label space", where=where, expected=" or ".join(spaces[document["kind"]]))
    protocol = Protocol(
        **{
            **document,
            **{key: tuple(document.get(key, ())) for key in ("classes", "labels", "dimensions")},
            "metrics": tuple(_metric(entry, where) for entry in document["metrics"]),
        }
    )
    known = {*protocol.classes, *protocol.labels, *protocol.dimensions}
    for metric in protocol.metrics:
        if metric.figure not in (usable := metrics.of_kind(protocol.kind)):
            expected = ", ".join(sorted(usable))
            raise OrukError("unknown figure", where=f"{where}, {metric.name}", expected=expected, found=metric.figure)
        asked = {*metric.without, *([metric.dimension] if metric.dimension else [])}
        if asked - known or (protocol.kind == "dimensions") != (metric.dimension is not None):
            raise OrukError(
                "not of the label space", where=f"{where}, {metric.name}", expected=", ".join(sorted(known))
            )
    if strays := set(protocol.aliases.values()) - known:
        raise OrukError("an alias of no class", where=where, expected=", ".join(sorted(known)), found=sorted(strays)[0])
    return protocol


def _metric(entry: Mapping[str, Any], where: str) -> Figure:
    _keys(entry, _METRIC_KEYS, ("name", "figure", "formula"), f"{where}, {entry.get('name')}")
    return Figure(**{**entry, "without": tuple(entry.get("without", ()))})


def _keys(entry: Mapping[str, Any], known: frozenset[str], needed: tuple[str, ...], where: str) -> None:
    if unknown := sorted(set(entry) - known):
        raise OrukError("unknown key", where=where, expected=", ".join(sorted(known)), found=unknown[0])
    if missing := [key for key in needed if key not in entry]:
        raise OrukError("a key is missing", where=where, expected=missing[0])
