"""What predictions are scored against: the clips of a rebuilt set, or of a file of gold labels."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.predictions import read_ids
from oruk_leaderboard.answers.tabular import Rows, printable, read_rows
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import AliasTable, alias_table

if TYPE_CHECKING:
    from oruk_leaderboard.clipset import ClipSet

UNKNOWN = "unknown"
"""Value of an attribute that the corpus does not state."""

ATTRIBUTES: tuple[str, ...] = ("language", "corpus", "speaker", "elicitation", "gender", "duration")
"""What a set can be sliced by, besides the class."""

BANDS: tuple[tuple[float, str], ...] = ((2.0, "0-2 s"), (4.0, "2-4 s"), (8.0, "4-8 s"), (float("inf"), "8-16 s"))
"""Duration bands: upper end in s (not included) and name; a clip is at most 16 s."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One property of every clip.

    Attributes:
        codes: Index into ``values``, shape (n,), int64.
        values: Values in code-point order; ``unknown`` where the value is not known.
    """

    codes: NDArray[np.int64]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gold:
    """Clips with their gold labels.

    Attributes:
        clip_ids: Ids in the set's order.
        labels: Class index, shape (n,), int64.
        classes: Label space.
        attributes: Name (one of ``ATTRIBUTES``) to its value for every clip.
        origin: Where the set comes from: the keys of a record's ``evaluation`` that name it.
        rows: Rows of the gold file with all their columns, or None for a rebuilt set.
        inputs: ``clip_sha256`` of each clip, or None where there is no rebuilt set.
    """

    clip_ids: Sequence[str]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    origin: Mapping[str, Any] = field(default_factory=dict)
    rows: Rows | None = None
    inputs: Sequence[str] | None = None

    def subset(self, keep: NDArray[np.bool_], **origin: Any) -> "Gold":
        """The clips where ``keep`` is true, with other entries of ``origin``."""
        chosen = np.flatnonzero(keep).tolist()
        attributes = {}
        for name, attribute in self.attributes.items():
            used, codes = np.unique(attribute.codes[chosen], return_inverse=True)
            attributes[name] = Attribute(codes.astype(np.int64), tuple(attribute.values[code] for code in used))
        return Gold(
            clip_ids=[self.clip_ids[at] for at in chosen],
            labels=self.labels[chosen],
            classes=self.classes,
            attributes=attributes,
            origin={**self.origin, **origin},
            inputs=None if self.inputs is None else [self.inputs[at] for at in chosen],
        )


def encode(values: Sequence[object]) -> Attribute:
    """Codes of a column of text; None and blanks are ``unknown``."""
    if len(values) == 0:
        return Attribute(np.zeros(0, np.int64), ())
    names = {value: UNKNOWN if value is None else printable(str(value)) or UNKNOWN for value in set(values)}
    ordered = tuple(sorted(set(names.values())))
    place = {name: index for index, name in enumerate(ordered)}
    codes = {value: place[name] for value, name in names.items()}
    return Attribute(np.fromiter(map(codes.__getitem__, values), np.int64, len(values)), ordered)


def encode_duration(values: Sequence[float | None]) -> Attribute:
    """Duration band of each clip; ``values`` in s."""
    seconds = np.array([np.nan if value is None else value for value in values], np.float64)
    names = (*(name for _, name in BANDS), UNKNOWN)
    codes = np.searchsorted([end for end, _ in BANDS], np.nan_to_num(seconds), side="right")
    codes[np.isnan(seconds)] = len(BANDS)
    used, compact = np.unique(codes, return_inverse=True)
    return Attribute(compact.astype(np.int64), tuple(names[code] for code in used))


def combine(outer: Attribute, inner: Attribute) -> Attribute:
    """``outer/inner`` of each clip: a speaker's name is unique within its corpus only."""
    pairs = outer.codes * len(inner.values) + inner.codes
    used, codes = np.unique(pairs, return_inverse=True)
    names = [f"{outer.values[pair // len(inner.values)]}/{inner.values[pair % len(inner.values)]}" for pair in used]
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    return Attribute(rank[codes.astype(np.int64)], tuple(names[at] for at in order))


def _attributes(columns: Mapping[str, Sequence[Any]], n: int) -> dict[str, Attribute]:
    """All attributes of a set."""
    blank: list[Any] = [None] * n
    attributes = {
        name: encode(columns.get(name, blank)) for name in ("language", "corpus", "speaker", "elicitation", "gender")
    }
    attributes["speaker"] = combine(attributes["corpus"], attributes["speaker"])
    attributes["duration"] = encode_duration(columns.get("duration_s", blank))
    return attributes


def gold_of_set(clips: "ClipSet", classes: tuple[str, ...] = CLASSES) -> Gold:
    """Gold labels of a rebuilt set; the audio is not read.

    Args:
        clips: The set.
        classes: Label space, in index order.

    Raises:
        PredictionError: A label of the set is not one of the classes.
    """
    table = clips.table
    names = ("clip_id", "label", "corpus", "language", "speaker", "gender", "elicitation", "duration_s", "clip_sha256")
    columns = {name: table.column(name).to_pylist() for name in names}
    attributes = _attributes(columns, table.num_rows)
    index = {CLASSES.index(name): at for at, name in enumerate(classes) if name in CLASSES}
    if strays := set(columns["label"]) - set(index):
        at = columns["label"].index(next(iter(strays)))
        label = columns["label"][at]
        raise PredictionError(
            "the set's label is not a class",
            where=columns["clip_id"][at],
            expected=", ".join(f"{of_set} ({classes[own]})" for of_set, own in sorted(index.items())),
            found=f"{label} ({CLASSES[label]})" if label in range(len(CLASSES)) else repr(label),
        )
    return Gold(
        clip_ids=columns["clip_id"],
        labels=np.array([index[label] for label in columns["label"]], np.int64),
        classes=classes,
        attributes=attributes,
        origin=origin_of_report(clips.report),
        inputs=columns["clip_sha256"],
    )


def origin_of_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says about the set it was scored on, from the set's ``report.json``."""
    manifest = report.get("manifest") or {}
    return {
        "set_digest": report["digest"],
        "manifest_version": manifest.get("version"),
        "manifest_digest": manifest.get("digest"),
        "profile": manifest.get("profile"),
        "subsample": None,
        "partial": bool(report["partial"]),
        "absent": list(report.get("absent", ())),
        "label_policy": report.get("label_policy"),
        "label_source": report.get("label_source"),
        "audio_rule": report.get("audio_rule"),
    }


def read_gold(path: Path, *, classes: tuple[str, ...] = CLASSES, table: AliasTable | None = None) -> Gold:
    """Gold labels from a file: columns ``clip_id``, ``label``, and those of ``ATTRIBUTES`` that are known.

    Args:
        path: The file.
        classes: Label space, in index order.
        table: Alias table of these classes; the shipped one by default.

    Raises:
        PredictionError: A row cannot be used, for example because its label is not a class. The line is named.
    """
    return gold_of_rows(read_rows(path), classes=classes, table=table)


def gold_of_rows(rows: Rows, *, classes: tuple[str, ...] = CLASSES, table: AliasTable | None = None) -> Gold:
    """Gold labels from columns, as :func:`read_gold` reads them from a file."""
    ids = read_ids(rows)
    table = table or alias_table().for_classes(classes)
    index = {name: position for position, name in enumerate(classes)}
    labels = np.empty(rows.size, np.int64)
    meanings: dict[str, int] = {}
    for at, written in enumerate(rows.need("label")):
        if not isinstance(written, str) or (written not in meanings and table.resolve(written) is None):
            raise PredictionError(
                "the gold label is not a class", where=rows.where(at), expected=", ".join(classes), found=repr(written)
            )
        if written not in meanings:
            meanings[written] = index[table.resolve(written) or ""]
        labels[at] = meanings[written]
    columns = dict(rows.columns)
    columns["duration_s"] = [_seconds(rows, at, value) for at, value in enumerate(columns.get("duration_s", ()))] or [
        None
    ] * rows.size
    return gold_of_columns(ids, labels, classes, columns, rows=rows)


def gold_of_columns(
    clip_ids: Sequence[str],
    labels: NDArray[np.int64],
    classes: tuple[str, ...],
    columns: Mapping[str, Sequence[Any]],
    *,
    rows: Rows | None = None,
) -> Gold:
    """Gold labels of clips that belong to no rebuilt set.

    Args:
        clip_ids: Ids.
        labels: Class index of each clip, shape (n,).
        classes: Label space, in index order.
        columns: What is known of the clips: ``ATTRIBUTES``, with ``duration_s`` in s for the duration.
        rows: Rows of the gold file, if there is one.
    """
    origin = {**_no_set(), "gold_digest": gold_digest(clip_ids, labels, classes)}
    return Gold(clip_ids, labels, classes, _attributes(columns, len(clip_ids)), origin, rows)


def _no_set() -> dict[str, Any]:
    """``origin`` of gold labels that belong to no rebuilt set."""
    return {
        **dict.fromkeys(("set_digest", "manifest_version", "manifest_digest", "profile", "subsample")),
        "partial": True,
        "absent": [],
        **dict.fromkeys(("label_policy", "label_source", "audio_rule")),
    }


def gold_digest(clip_ids: Sequence[str], labels: NDArray[np.int64], classes: tuple[str, ...]) -> str:
    """SHA-256 over the lines ``clip_id TAB label LF`` in code-point order: names a gold file whatever its format."""
    lines = sorted(f"{clip_id}\t{classes[label]}\n" for clip_id, label in zip(clip_ids, labels.tolist(), strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _seconds(rows: Rows, at: int, value: object) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        seconds = float(value) if isinstance(value, (str, int, float)) else float("nan")
    except ValueError:
        seconds = float("nan")
    if not 0 <= seconds < float("inf"):
        raise PredictionError("no duration", where=rows.where(at), expected="duration_s in s", found=repr(value))
    return seconds
