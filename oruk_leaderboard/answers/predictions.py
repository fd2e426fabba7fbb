"""Prediction files: what a system said about each clip, by clip id, checked row by row.

A row is a clip id and a label (a class, or a native label that the alias table knows), optionally a probability for
each class and a status. A number as a label or an unknown or repeated id is refused with its line. A label that names
no class is ``unrecognised``: it counts as wrong, and its spelling is reported.
"""

import csv
import itertools
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.tabular import Rows, printable, read_rows
from oruk_leaderboard.cells import csv_cell, csv_value
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import AliasTable, alias_table, is_no_text, is_number
from oruk_leaderboard.metrics.probabilistic import SUM_TOLERANCE
from oruk_leaderboard.paths import writing

STATUSES: tuple[str, ...] = ("ok", "refused", "error", "abstained", "missing", "unrecognised")
"""What became of a clip; the position is the code.

A file may state the first four. ``missing`` means that the file has no row (or a blank label) for the clip;
``unrecognised`` that its label names no class and no status says why.
"""

OK, REFUSED, ERROR, ABSTAINED, MISSING, UNRECOGNISED = range(len(STATUSES))

FAILURES: tuple[int, ...] = (REFUSED, ERROR, ABSTAINED, MISSING)
"""Codes of the failures of protocol 0.1.0, which ``--on-error`` decides about; an unrecognised label is wrong."""

WRITABLE: tuple[str, ...] = STATUSES[:MISSING]
"""Statuses that a file may state."""

_ROUNDING = 1e-9
"""Scores that sum to 1 within this are kept as they are, so that writing and reading scores changes no digit."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """One row a clip of the set, in the set's order.

    Attributes:
        labels: Class index, shape (n,), int64; -1 where the status is not ``ok``.
        status: Index into ``STATUSES``, shape (n,), int8.
        scores: Probability of each class, shape (n, k), NaN in rows without; or None where the file has none.
        spellings: Labels and answers that name no class, with the number of clips each.
        source: Name of the file.
    """

    labels: NDArray[np.int64]
    status: NDArray[np.int8]
    scores: NDArray[np.float64] | None = None
    spellings: Mapping[str, int] = field(default_factory=dict)
    source: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Clips by status."""
        counts = np.bincount(self.status, minlength=len(STATUSES))
        return {name: int(count) for name, count in zip(STATUSES, counts, strict=True)}


def read_predictions(
    path: Path, clip_ids: Sequence[str], *, table: AliasTable | None = None, classes: tuple[str, ...] = CLASSES
) -> Predictions:
    """Read predictions by clip id from CSV, TSV, JSON Lines, parquet or npz.

    Args:
        path: The file: columns ``clip_id``, ``label``, optionally one a class (or ``scores``) and ``status``.
        clip_ids: Clips of the set, in the set's order.
        table: Alias table, with what the system's card declares.
        classes: Label space, in index order.

    Returns:
        Predictions of all clips; scores are scaled to sum to 1 exactly.

    Raises:
        PredictionError: A row cannot be used; the message names file and line (the header is line 1).
    """
    return predictions_of_rows(read_rows(path), clip_ids, table=table, classes=classes)


def predictions_of_rows(
    rows: Rows, clip_ids: Sequence[str], *, table: AliasTable | None = None, classes: tuple[str, ...] = CLASSES
) -> Predictions:
    """Predictions from columns, as :func:`read_predictions` reads them from a file."""
    places = _places(rows, clip_ids)
    scores = _scores(rows, classes)
    status = _statuses(rows)
    table = table or alias_table()
    if scores is None:
        labels, spellings = _labels(rows, rows.need("label"), status, table, classes)
    else:
        written = rows.columns.get("label", [None] * rows.size)
        labels, spellings = _labels(rows, written, status, table, classes)
        # Scores without a label: the label is the class that scores highest, the first of equals.
        unlabelled = (labels < 0) & (status == MISSING) & ~np.isnan(scores[:, 0])
        labels[unlabelled], status[unlabelled] = np.argmax(scores[unlabelled], axis=1), OK
        if (bare := np.flatnonzero((status == OK) & np.isnan(scores[:, 0]))).size:
            raise PredictionError(
                "a row has no scores, others have",
                where=rows.where(int(bare[0])),
                expected="a score for each class in every row that is ok, or in none",
            )
    n = len(clip_ids)
    all_labels, all_status = np.full(n, -1, np.int64), np.full(n, MISSING, np.int8)
    all_labels[places], all_status[places] = labels, status
    all_scores = None
    if scores is not None:
        all_scores = np.full((n, len(classes)), np.nan)
        all_scores[places] = np.where((status == OK)[:, None], scores, np.nan)
    return Predictions(all_labels, all_status, all_scores, spellings, rows.path.name)


def by_frequency(spellings: Mapping[str, int]) -> dict[str, int]:
    """Spellings with their clips, the most frequent first, equals in code-point order."""
    return dict(sorted(spellings.items(), key=lambda item: (-item[1], item[0])))


def normal_id(clip_id: str) -> str:
    """A clip id as the set writes it: NFC."""
    return unicodedata.normalize("NFC", clip_id)


def read_ids(rows: Rows) -> list[str]:
    """Clip ids of a file, NFC, each once.

    Raises:
        PredictionError: The column is missing, an id is empty, no text, or there twice.
    """
    column = rows.need("clip_id")
    if set(map(type, column)) - {str}:
        at = next(index for index, value in enumerate(column) if not isinstance(value, str))
        raise PredictionError(
            "the clip id is not text", where=rows.where(at), expected="<corpus>/<name>", found=repr(column[at])
        )
    ids = [clip_id.strip() for clip_id in column]
    if not "".join(ids).isascii():
        ids = list(map(normal_id, ids))
    first = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    if "" in first:
        raise PredictionError("the clip id is empty", where=rows.where(first[""]), expected="<corpus>/<name>")
    if len(first) < len(ids):
        at = next(index for index, clip_id in enumerate(ids) if first[clip_id] != index)
        raise PredictionError(
            "the clip id is there twice",
            where=rows.where(at),
            found=f"{ids[at]!r} (first at {rows.where(first[ids[at]])})",
            do="keep one row per clip",
        )
    return ids


def _places(rows: Rows, clip_ids: Sequence[str]) -> NDArray[np.int64]:
    """Position in the set of each row's clip."""
    column = rows.need("clip_id")
    if list(column) == list(clip_ids):
        return np.arange(len(clip_ids))
    index = dict(zip(clip_ids, range(len(clip_ids)), strict=True))
    if set(map(type, column)) == {str}:
        known = np.fromiter(map(index.get, column, itertools.repeat(-1)), np.int64, len(column))
        if known.min() >= 0 and np.bincount(known).max() == 1:
            return known
    # Not every id is there as the set writes it: normalise, and say what is wrong.
    ids = read_ids(rows)
    places = [index.get(clip_id, -1) for clip_id in ids]
    if -1 in places:
        at = places.index(-1)
        raise PredictionError(
            "the clip id is not in the set",
            where=rows.where(at),
            expected=f"one of the set's {len(clip_ids)} clips, such as {clip_ids[0]}" if clip_ids else "no clip",
            found=repr(ids[at]),
            do="score --template FILE --clips DIR writes the ids",
        )
    return np.array(places, np.int64)


def _statuses(rows: Rows) -> NDArray[np.int8]:
    """Status of each row as written; a blank is ``ok``."""
    column = rows.columns.get("status")
    if column is None:
        return np.zeros(rows.size, np.int8)
    codes: dict[object, int] = {None: OK, "": OK, **{name: code for code, name in enumerate(WRITABLE)}}
    cleaned = [value.strip().casefold() if isinstance(value, str) else value for value in column]
    for at, value in enumerate(cleaned):
        if not (value is None or isinstance(value, str)) or value not in codes:
            raise PredictionError(
                "unknown status", where=rows.where(at), expected=", ".join(WRITABLE), found=repr(column[at])
            )
    return np.array([codes[value] for value in cleaned], np.int8)


def _labels(
    rows: Rows, column: Sequence[Any], status: NDArray[np.int8], table: AliasTable, classes: tuple[str, ...]
) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Class index of each row (-1 for none), and the spellings without a class; ``status`` is brought up to date.

    A blank label without a status is a prediction that was not made: ``missing``.
    """
    if set(map(type, column)) - {str, type(None)}:
        at = next(i for i, value in enumerate(column) if not (value is None or isinstance(value, str)))
        raise _no_label(rows, at, column[at])
    no_class, blank = -1, -2
    index = {name: position for position, name in enumerate(classes)}
    codes = {spelling: blank for spelling in set(column) if spelling is None or not spelling.strip()}
    for spelling in set(column) - set(codes):
        name = table.resolve(spelling)
        if name is None and is_no_text(spelling) and not table.knows(spelling):
            # In an `abstained` row the label is an answer, which may be a number.
            stated = [at for at, value in enumerate(column) if value == spelling and status[at] != ABSTAINED]
            if stated:
                raise _no_label(rows, stated[0], column[stated[0]])
        codes[spelling] = no_class if name is None else index[name]
    labels = np.fromiter(map(codes.__getitem__, column), np.int64, len(column))
    ok = status == OK
    status[ok & (labels == blank)] = MISSING
    status[ok & (labels == no_class)] = UNRECOGNISED
    # The label of a row with status `abstained` is the answer that named no class.
    unclear = (status == UNRECOGNISED) | ((status == ABSTAINED) & (labels == no_class))
    spellings = Counter(printable(csv_value(column[at])) for at in np.flatnonzero(unclear).tolist())
    return np.where(status == OK, labels, -1), by_frequency(spellings)


def _no_label(rows: Rows, at: int, value: object) -> PredictionError:
    return PredictionError(
        "the label is not a class name",
        where=rows.where(at),
        expected="a class name or a native label (digits only where the system's card declares them)",
        found=repr(value),
    )


def _scores(rows: Rows, classes: tuple[str, ...]) -> NDArray[np.float64] | None:
    """Scores, shape (rows, k), NaN in rows that have none; None where the file has none."""
    present = [name for name in classes if name in rows.columns]
    if "scores" in rows.columns and not present:
        return _checked(rows, _score_column(rows, classes), classes)
    if not present:
        return None
    if absent := [name for name in classes if name not in rows.columns]:
        raise PredictionError(
            "scores need a column for every class",
            where=rows.path,
            expected=", ".join(classes),
            found=f"none for {', '.join(absent)}",
            do="write 0 for a class that the system cannot emit",
        )
    return _checked(rows, np.stack([_numbers(rows, name) for name in classes], axis=1), classes)


def _score_column(rows: Rows, classes: tuple[str, ...]) -> NDArray[np.float64]:
    """The column ``scores``: a list in class order, or an object of class name to score."""
    values = np.full((rows.size, len(classes)), np.nan)
    for at, cell in enumerate(rows.columns["scores"]):
        if cell is None:
            continue
        row: Any = [cell.get(name) for name in classes] if isinstance(cell, Mapping) else cell
        right = isinstance(row, list) and len(row) == len(classes)
        if not right or any(type(value) not in (int, float) for value in row):
            raise PredictionError(
                "the scores are not one number a class",
                where=rows.where(at),
                expected=f"{len(classes)} numbers in the order {', '.join(classes)}",
                found=repr(cell)[:80],
            )
        values[at] = row
        if np.isnan(values[at]).any():
            raise _nan_score(rows, at)
    return values


def _numbers(rows: Rows, name: str) -> NDArray[np.float64]:
    """One column of scores; a blank is NaN for now."""
    column = rows.columns[name]
    cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in column]
    try:
        if bool in set(map(type, cells)):
            raise ValueError
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=object).astype(np.float64)
    except (ValueError, TypeError) as error:
        at = next(i for i, cell in enumerate(cells) if not _is_score(cell))
        raise PredictionError(
            "the score is not a number", where=rows.where(at), expected=f"{name} in 0..1", found=repr(column[at])
        ) from error
    for at in np.flatnonzero(np.isnan(values)).tolist():
        if cells[at] is not None:
            raise _nan_score(rows, at)
    return values


def _is_score(cell: object) -> bool:
    if isinstance(cell, bool):
        return False
    return cell is None or isinstance(cell, (int, float)) or (isinstance(cell, str) and is_number(cell))


def _nan_score(rows: Rows, at: int) -> PredictionError:
    return PredictionError("a score is NaN", where=rows.where(at), expected="numbers in 0..1")


def _checked(rows: Rows, scores: NDArray[np.float64], classes: tuple[str, ...]) -> NDArray[np.float64]:
    """Scores whose rows are whole, within 0..1 and sum to 1 (then scaled to it), or wholly blank."""
    blank = np.isnan(scores)
    whole = ~blank.any(axis=1)
    filled = np.where(blank, 0.0, scores)
    faults = (
        (blank.any(axis=1) & ~blank.all(axis=1), "a score is missing"),
        (((filled < 0) | (filled > 1)).any(axis=1), "a score is out of range"),
        (whole & (np.abs(filled.sum(axis=1) - 1) > SUM_TOLERANCE), "the scores do not sum to 1"),
    )
    for wrong, what in faults:
        if wrong.any():
            at = int(np.argmax(wrong))
            found = ", ".join(f"{name} {value:g}" for name, value in zip(classes, scores[at], strict=True))
            raise PredictionError(
                what, where=rows.where(at), expected=f"numbers in 0..1 with sum 1 ± {SUM_TOLERANCE}", found=found
            )
    total = scores.sum(axis=1, keepdims=True)
    scaled: NDArray[np.float64] = np.where(np.abs(total - 1) <= _ROUNDING, scores, scores / total)
    return scaled


def write_predictions(
    path: Path, clip_ids: Sequence[str], predictions: Predictions, said: Mapping[str, str], classes: tuple[str, ...]
) -> None:
    """Write a CSV that ``read_predictions`` reads back to the same predictions, whole or not at all.

    Args:
        path: File to write.
        clip_ids: Clips of the set, in the set's order.
        predictions: What to write; a clip that is ``missing`` gets no row.
        said: Clip id to the answer that named no class, written as the label of an ``abstained`` row.
        classes: Label space, in index order.
    """
    part = path.with_name(f".{path.name}.part")
    with writing(path), part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["clip_id", "label", "status", *(() if predictions.scores is None else classes)])
        for at in sorted(np.flatnonzero(predictions.status != MISSING).tolist(), key=clip_ids.__getitem__):
            clip_id, status = clip_ids[at], STATUSES[predictions.status[at]]
            row = [
                clip_id,
                classes[predictions.labels[at]] if status == "ok" else csv_cell(said.get(clip_id, "")),
                status,
            ]
            if predictions.scores is not None:
                row += [repr(score) if status == "ok" else "" for score in predictions.scores[at].tolist()]
            writer.writerow(row)
    part.replace(path)
