"""The protocol files: what they may say, and reading them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import OrukError, nearest
from oruk_leaderboard.labels import AliasTable, alias_table

TABLES = Path(__file__).parent / "tables"

BENCHMARK = "oruk-bench"
"""Name of the protocol that is used unless another one is asked for."""

Kind: TypeAlias = Literal["classes", "labels", "dimensions"]
"""What a clip has: one class, any number of labels, or real numbers. A protocol has the metrics of its kind."""

OnError: TypeAlias = Literal["neutral", "wrong"]
"""What a clip without an answer counts as: a prediction of neutral, or of no class."""

_SPACES: Mapping[Kind, tuple[str, ...]] = {
    "classes": ("classes",),
    "labels": ("labels", "label_prefix"),
    "dimensions": ("dimensions",),
}
"""Keys that can define the label space of each kind of protocol; exactly one of them does."""

_KEYS = frozenset(
    {
        *("name", "version", "task", "dataset", "kind", "classes", "labels", "label_prefix", "dimensions"),
        *("space", "aliases", "on_error", "clips", "metrics"),
    }
)
_METRIC_KEYS = frozenset({"name", "figure", "formula", "assumed", "fold", "only", "without", "dimension"})


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a leaderboard.

    Attributes:
        name: The column's name, as the leaderboard spells it.
        figure: Key of the metric (``metrics.REGISTRY``).
        formula: The same in words, with averaging, folds, subset and dimension.
        assumed: Why this reading, where the leaderboard does not define the name; None where it does.
        fold: Column of the gold file whose values are folds: the figure is the mean over them.
        only: Column of the gold file to the value that clips must have.
        without: Classes that are left out of the average.
        dimension: Column that has the ratings.
    """

    name: str
    figure: str
    formula: str
    assumed: str | None = None
    fold: str | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    dimension: str | None = None

    @property
    def plain(self) -> bool:
        """Whether the column is the metric of all clips and classes."""
        return not (self.fold or self.only or self.without or self.dimension)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedClips:
    """The clips of a protocol whose ids and labels follow from a corpus's file names, so that it needs no gold file.

    Attributes:
        id: Pattern of the clip ids with ``{speaker}`` and ``{ending}``.
        speakers: First and last speaker, whole numbers; there is a clip for each speaker and ending.
        endings: Ending to class.
        corpus: Corpus of all clips.
        language: Their language (BCP 47).
        elicitation: How their emotions were elicited.
    """

    id: str
    speakers: tuple[int, int]
    endings: Mapping[str, str]
    corpus: str
    language: str
    elicitation: str


@dataclass(frozen=True, slots=True)
class Protocol:
    """How predictions are scored: the benchmark, its diagnostic, or one leaderboard of the literature.

    Attributes:
        name: Name for ``score --protocol``; a leaderboard's own.
        task: Task of the leaderboard.
        dataset: Data set, as the leaderboard spells it.
        kind: ``classes``, ``labels`` or ``dimensions``.
        space: What the label space or the dimensions are, and why.
        metrics: Columns, in the leaderboard's order; the first ranks.
        version: Version of a protocol whose results are records. None for a leaderboard of the literature, of which
            only its columns are computed.
        classes: Classes in index order (``classes``).
        labels: Labels, each a column of 0 and 1 (``labels``); empty where there is a ``label_prefix``.
        label_prefix: Beginning of the names of the label columns, or None.
        dimensions: Dimensions, each a column of numbers (``dimensions``).
        aliases: Spellings of this protocol to classes, such as a map of emotions to sentiments.
        on_error: What clips without an answer count as.
        clips: The clips, where the protocol names them; None where they come from a rebuilt set or a gold file.
    """

    name: str
    task: str
    dataset: str
    kind: Kind
    space: str
    metrics: tuple[Column, ...]
    version: str | None = None
    classes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    label_prefix: str | None = None
    dimensions: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    on_error: OnError = "wrong"
    clips: NamedClips | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that the gold file needs beside ``clip_id``; label columns with a prefix are not among them."""
        own = ("label",) if self.kind == "classes" else self.labels or self.dimensions
        extra = [column for metric in self.metrics for column in (metric.fold, *metric.only) if column]
        return tuple(dict.fromkeys((*own, *extra)))

    def alias_table(self, native: Mapping[str, str | bool] = MappingProxyType({})) -> AliasTable:
        """Spellings of its classes: the shipped table's, a system's and its own.

        Args:
            native: Native label of a system to a class of the benchmark, or to False. A class that this protocol lacks
                (``surprise`` where there are six) makes it a label without a class.
        """
        return alias_table().declared(native).for_classes(self.classes).declared(self.aliases)

    @property
    def figures(self) -> tuple[str, ...]:
        """Keys of its metrics, the ranking one first."""
        return tuple(dict.fromkeys(column.figure for column in self.metrics))


@cache
def names() -> tuple[str, ...]:
    """Names of all protocols, sorted."""
    return tuple(sorted(path.stem for path in TABLES.glob("*.toml")))


def load(protocol: "Protocol | str | None" = None) -> Protocol:
    """Read a protocol by its name; the benchmark's by default. A protocol comes back as it is.

    Raises:
        OrukError: There is no such protocol (the message suggests the nearest), or its file is not sound.
    """
    if isinstance(protocol, Protocol):
        return protocol
    name = protocol or BENCHMARK
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
        OrukError: An unknown key, a missing one, a metric that its kind does not have, or values that do not fit
            together; the message names it.
    """
    _keys(document, _KEYS, ("name", "task", "dataset", "kind", "space", "metrics"), where)
    if document["kind"] not in _SPACES:
        raise OrukError("unknown kind", where=where, expected=", ".join(_SPACES), found=document["kind"])
    spaces = _SPACES[document["kind"]]
    if sum(key in document for key in spaces) != 1:
        raise OrukError("no label space", where=where, expected=" or ".join(spaces))
    protocol = Protocol(
        **{
            **document,
            **{key: tuple(document.get(key, ())) for key in ("classes", "labels", "dimensions")},
            "metrics": tuple(_column(entry, where) for entry in document["metrics"]),
            "clips": _clips(document["clips"], where) if "clips" in document else None,
        }
    )
    known = {*protocol.classes, *protocol.labels, *protocol.dimensions}
    for column in protocol.metrics:
        _check_column(column, protocol, known, f"{where}, {column.name}")
    named = protocol.clips.endings if protocol.clips else {}
    if strays := {*protocol.aliases.values(), *named.values()} - known:
        raise OrukError("an alias of no class", where=where, expected=", ".join(sorted(known)), found=sorted(strays)[0])
    if protocol.on_error not in get_args(OnError) or (protocol.on_error == "neutral" and "neutral" not in known):
        raise OrukError("bad on_error", where=where, expected="wrong, or neutral if it is a class")
    if protocol.version is not None:
        _check_recorded(protocol, where)
    return protocol


def _check_column(column: Column, protocol: Protocol, known: set[str], where: str) -> None:
    if column.figure not in (usable := metrics.of_kind(protocol.kind)):
        raise OrukError("unknown figure", where=where, expected=", ".join(sorted(usable)), found=column.figure)
    asked = {*column.without, *([column.dimension] if column.dimension else [])}
    if asked - known or (protocol.kind == "dimensions") != (column.dimension is not None):
        raise OrukError("not of the label space", where=where, expected=", ".join(sorted(known)))
    if column.without and "over" not in signature(usable[column.figure].function).parameters:
        raise OrukError("the metric is not a mean over a set of classes", where=where, found=column.figure)


def _check_recorded(protocol: Protocol, where: str) -> None:
    """A protocol with a version makes records, which state fixed figures of all clips and classes."""
    if protocol.kind != "classes":
        raise OrukError("only a protocol of classes has a version", where=where, found=protocol.kind)
    if strays := [column.name for column in protocol.metrics if column.figure not in metrics.recorded()]:
        expected = ", ".join(metrics.recorded())
        raise OrukError("records do not have the figure", where=where, expected=expected, found=strays[0])
    if parts := [column.name for column in protocol.metrics if not column.plain]:
        raise OrukError("records have figures of all clips and classes only", where=where, found=parts[0])


def _column(entry: Mapping[str, Any], where: str) -> Column:
    _keys(entry, _METRIC_KEYS, ("name", "figure", "formula"), f"{where}, {entry.get('name')}")
    return Column(**{**entry, "without": tuple(entry.get("without", ()))})


def _clips(entry: Mapping[str, Any], where: str) -> NamedClips:
    needed = ("id", "speakers", "endings", "corpus", "language", "elicitation")
    _keys(entry, frozenset(needed), needed, f"{where}, clips")
    first, last = entry["speakers"]
    return NamedClips(**{**entry, "speakers": (first, last)})


def _keys(entry: Mapping[str, Any], known: frozenset[str], needed: tuple[str, ...], where: str) -> None:
    if unknown := sorted(set(entry) - known):
        raise OrukError("unknown key", where=where, expected=", ".join(sorted(known)), found=unknown[0])
    if missing := [key for key in needed if key not in entry]:
        raise OrukError("a key is missing", where=where, expected=missing[0])
