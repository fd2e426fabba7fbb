"""The columns of a leaderboard, from columns of gold labels and predictions.

A protocol without a version is scored this way: exactly its columns, under its own names, and no record.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import gold_of_rows
from oruk_leaderboard.answers.predictions import predictions_of_rows, read_ids
from oruk_leaderboard.answers.tabular import Rows
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.protocols import Column, Protocol
from oruk_leaderboard.scoring.tally import scored_outcomes
from oruk_leaderboard.todict import ToDict

Clips = NDArray[np.bool_]
Computed = Callable[[Column, Clips], float]
"""The figure of a column on the chosen clips."""


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """The figure of one column.

    Attributes:
        name: Name of the leaderboard's column.
        value: Fractions 0 to 1 (CCC -1 to 1; MAE and MSE in rating units).
        assumed: Whether the name is computed by a reading that the leaderboard does not give.
        formula: What was computed.
        note: Why this reading, or None.
        n: Clips it is computed from.
    """

    name: str
    value: float
    assumed: bool
    formula: str
    note: str | None
    n: int


@dataclass(frozen=True, slots=True)
class LeaderboardScore(ToDict):
    """All columns of one leaderboard.

    Attributes:
        protocol: Its name.
        task: Task of the leaderboard.
        dataset: Data set of the leaderboard.
        space: What the label space or the dimensions are.
        n: Clips of the gold file.
        counts: Clips that are answered, abstained (an answer that names no class) and missing (no answer).
        metrics: Figures, in the table's order.
    """

    protocol: str
    task: str
    dataset: str
    space: str
    n: int
    counts: Mapping[str, int]
    metrics: tuple[ColumnValue, ...]


def score_columns(
    protocol: Protocol, gold: Rows | Mapping[str, Sequence[Any]], predictions: Rows | Mapping[str, Sequence[Any]]
) -> LeaderboardScore:
    """Compute exactly the figures that a leaderboard lists, under its own names.

    Args:
        protocol: The protocol.
        gold: ``clip_id`` and the columns of ``protocol.columns``.
        predictions: ``clip_id`` and ``label`` (classes), a column of 0 and 1 for each label, or a column of numbers
            for each dimension.

    Raises:
        PredictionError: A missing column, an id that is there twice or not in the gold file, a gold label outside the
            label space, a cell that is not a number, a clip without a predicted rating, or a subset without clips.
        MetricError: A figure that the data leave undefined.
    """
    answers, given = _rows(gold, "gold"), _rows(predictions, "predictions")
    # Both sides before anything is computed, so that the message is about the file and not about a figure.
    for column in protocol.columns:
        answers.need(column)
    ids = read_ids(answers)
    places = _places(ids, answers, given)
    readers = {"classes": _classes, "labels": _labels, "dimensions": _dimensions}
    compute, counts = readers[protocol.kind](protocol, answers, given, places)
    return LeaderboardScore(
        protocol=protocol.name,
        task=protocol.task,
        dataset=protocol.dataset,
        space=protocol.space,
        n=len(ids),
        counts=counts,
        metrics=tuple(_value(metric, answers, compute) for metric in protocol.metrics),
    )


def _rows(columns: Rows | Mapping[str, Sequence[Any]], name: str) -> Rows:
    if isinstance(columns, Rows):
        return columns
    return Rows(Path(name), columns, None, len(next(iter(columns.values()), ())))


def _places(ids: Sequence[str], gold: Rows, predictions: Rows) -> NDArray[np.int64]:
    """Row of each gold clip in the predictions, -1 where it is missing."""
    place = {clip_id: row for row, clip_id in enumerate(read_ids(predictions))}
    if strangers := set(place) - set(ids):
        row = min(place[clip_id] for clip_id in strangers)
        found = next(clip_id for clip_id in strangers if place[clip_id] == row)
        raise PredictionError(
            "the clip id is not in the gold file",
            where=predictions.where(row),
            expected=f"one of {len(ids)} clips of {gold.path}",
            found=found,
        )
    return np.array([place.get(clip_id, -1) for clip_id in ids], np.int64)


def _value(metric: Column, gold: Rows, compute: Computed) -> ColumnValue:
    """A figure on its subset, as the mean over its folds where it has them."""
    keep = np.ones(gold.size, dtype=bool)
    for column, wanted in metric.only.items():
        keep &= _text(gold, column) == wanted
    if not keep.any():
        subset = ", ".join(f"{column} = {wanted}" for column, wanted in metric.only.items())
        raise PredictionError("no clips", where=f"{gold.path}, {metric.name}", expected=f"clips with {subset}")
    if metric.fold is None:
        value = compute(metric, keep)
    else:
        folds = _text(gold, metric.fold)
        if (folds[keep] == "").any():
            row = int(np.flatnonzero(keep & (folds == ""))[0])
            raise PredictionError("a clip has no fold", where=gold.where(row), expected=f"a value of {metric.fold}")
        value = float(np.mean([compute(metric, keep & (folds == fold)) for fold in np.unique(folds[keep])]))
    return ColumnValue(
        metric.name, float(value), metric.assumed is not None, metric.formula, metric.assumed, int(keep.sum())
    )


def _text(rows: Rows, column: str) -> NDArray[np.str_]:
    """A column as text, blanks as ""; 1, 1.0 and "1" are the same fold."""
    cells = ["" if cell is None else str(cell).strip().removesuffix(".0") for cell in rows.need(column)]
    return np.array(cells, dtype=np.str_)


def _classes(
    protocol: Protocol, gold: Rows, predictions: Rows, places: NDArray[np.int64]
) -> tuple[Computed, dict[str, int]]:
    table = protocol.alias_table()
    answers = gold_of_rows(gold, classes=protocol.classes, table=table)
    given = predictions_of_rows(predictions, answers.clip_ids, table=table, classes=protocol.classes)
    predicted = scored_outcomes(answers, given, protocol.on_error)
    counts = given.counts
    abstained = counts["abstained"] + counts["unrecognised"]

    def compute(metric: Column, keep: Clips) -> float:
        confusion = metrics.confusion(answers.labels[keep], predicted[keep], len(protocol.classes))
        function = metrics.REGISTRY[metric.figure].function
        if not metric.without:
            return float(function(confusion))
        return float(function(confusion, over=[name not in metric.without for name in protocol.classes]))

    missing = len(given.labels) - counts["ok"] - abstained
    return compute, {"answered": counts["ok"], "abstained": abstained, "missing": missing}


def _labels(
    protocol: Protocol, gold: Rows, predictions: Rows, places: NDArray[np.int64]
) -> tuple[Computed, dict[str, int]]:
    names = protocol.labels
    if protocol.label_prefix is not None:
        names = tuple(name for name in gold.columns if name.startswith(protocol.label_prefix))
        if not names:
            raise PredictionError("a column is missing", where=gold.path, expected=f"{protocol.label_prefix}…")
    wanted = np.stack([_yes_or_no(gold, name) for name in names], axis=1)
    given = np.stack([_yes_or_no(predictions, name) for name in names], axis=1)
    # A clip without a row was given no label at all: wrong wherever it has one.
    aligned = np.where((places >= 0)[:, None], given[places], False)
    missing = int((places < 0).sum())

    def compute(metric: Column, keep: Clips) -> float:
        function = metrics.REGISTRY[metric.figure].function
        return float(np.mean(function(wanted[keep], aligned[keep])))

    return compute, {"answered": gold.size - missing, "abstained": 0, "missing": missing}


def _yes_or_no(rows: Rows, name: str) -> NDArray[np.bool_]:
    cells = [str(cell).strip().casefold() for cell in rows.need(name)]
    meaning = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
    for row, cell in enumerate(cells):
        if cell not in meaning:
            raise PredictionError("not yes or no", where=f"{rows.where(row)}, {name}", expected="0 or 1", found=cell)
    return np.array([meaning[cell] for cell in cells], dtype=bool)


def _dimensions(
    protocol: Protocol, gold: Rows, predictions: Rows, places: NDArray[np.int64]
) -> tuple[Computed, dict[str, int]]:
    if (places < 0).any():
        row = int(np.flatnonzero(places < 0)[0])
        raise PredictionError(
            f"{int((places < 0).sum())} of {gold.size} clips have no prediction",
            where=predictions.path,
            expected="a number for every clip: a missing rating has no right or wrong",
            found=f"none for {read_ids(gold)[row]}",
        )
    wanted = {name: _numbers(gold, name) for name in protocol.dimensions}
    given = {name: _numbers(predictions, name)[places] for name in protocol.dimensions}

    def compute(metric: Column, keep: Clips) -> float:
        name = metric.dimension or ""
        return float(metrics.REGISTRY[metric.figure].function(wanted[name][keep], given[name][keep]))

    return compute, {"answered": gold.size, "abstained": 0, "missing": 0}


def _numbers(rows: Rows, name: str) -> NDArray[np.float64]:
    values = np.full(rows.size, np.nan)
    for row, cell in enumerate(rows.need(name)):
        if not isinstance(cell, bool):
            try:
                values[row] = float(cell)
            except (TypeError, ValueError):
                values[row] = np.nan
        if not np.isfinite(values[row]):
            raise PredictionError("not a number", where=f"{rows.where(row)}, {name}", expected="a rating", found=cell)
    return values
