"""The public harness's prediction files: one prediction a position, no ids.

A position means a clip only in one set in one order, so the user has to name it: by the set's digest, or by the
``order.csv`` that a set in the harness layout has.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oruk_leaderboard import jsontext
from oruk_leaderboard.answers.predictions import ABSTAINED, OK, Predictions
from oruk_leaderboard.answers.tabular import kind, printable, read_npz, read_rows, read_text
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import AliasTable, alias_table, is_no_text

SUFFIXES = (".json", ".txt", ".npz")
"""Kinds of positional files."""

NPZ_KEYS = ("preds", "y_pred", "pred", "predictions")
"""Names the harness's tools give the array of predictions."""


def read_order(order: str, clip_ids: Sequence[str], digest: str | None) -> list[int]:
    """Place in the set of each position.

    Args:
        order: Digest of the set (64 hex digits; positions are the set's own order), or path of its ``order.csv``.
        clip_ids: Clips of the set, in the set's order.
        digest: Digest of the set, or None for a gold file.

    Raises:
        PredictionError: The digest is another set's, or the order does not name each clip of the set once.
    """
    named = order
    ids: Sequence[str] = clip_ids
    if not (len(order) == 64 and set(order) <= set("0123456789abcdef")):
        path = Path(order)
        try:
            named = jsontext.parse((path.parent / "report.json").read_text(encoding="utf-8"))["digest"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PredictionError(
                "the order does not say which set it is of",
                where=order,
                expected="the set's digest (64 hex digits), or an order.csv beside the set's report.json",
                found=error,
            ) from error
        ids = read_rows(path).need("clip_id")
    if named != digest:
        raise PredictionError(
            "the positions are those of another set",
            where=f"--order {order}",
            expected=f"digest {digest}",
            found=named,
            do="score against the set that the predictions were made from",
        )
    place = {clip_id: at for at, clip_id in enumerate(clip_ids)}
    if sorted(ids) != sorted(clip_ids):
        raise PredictionError(
            "the order does not name each clip of the set once", where=order, expected=len(clip_ids), found=len(ids)
        )
    return [place[clip_id] for clip_id in ids]


def read_positional(
    path: Path, places: Sequence[int], *, classes: tuple[str, ...], table: AliasTable | None = None
) -> Predictions:
    """Read a harness file: a JSON list, a text file of one label a line, or an npz array.

    Here an integer 0 to k - 1 is a class index, since that is what the harness writes; in files by clip id it is not.

    Raises:
        PredictionError: Another length than the set, a value that is no class, a boolean, a float, a blank line.
    """
    values = _values(path)
    if len(values) != len(places):
        raise PredictionError(
            "another number of predictions than clips", where=path, expected=len(places), found=len(values)
        )
    table = table or alias_table()
    labels, status = np.full(len(places), -1, np.int64), np.full(len(places), OK, np.int8)
    spellings: dict[str, int] = {}
    for position, (place, value) in enumerate(zip(places, values, strict=True)):
        if isinstance(value, str) and value.strip() and (table.knows(value) or not is_no_text(value)):
            name = table.resolve(value)
            if name is None:
                status[place] = ABSTAINED
                spellings[printable(value)] = spellings.get(printable(value), 0) + 1
            else:
                labels[place] = classes.index(name)
        elif type(value) is int and 0 <= value < len(classes):
            labels[place] = value
        else:
            raise PredictionError(
                "no class",
                where=f"{path}:{position + 1}" if kind(path) == ".txt" else f"{path} item {position + 1}",
                expected=f"a class name, or an integer 0 to {len(classes) - 1}",
                found=repr(value),
            )
    return Predictions(labels, status, None, dict(sorted(spellings.items())), path.name)


def _values(path: Path) -> list[Any]:
    if kind(path) == ".txt":
        lines = read_text(path).replace("\r\n", "\n").removesuffix("\n").split("\n")
        return [int(line) if line.strip().isascii() and line.strip().isdigit() else line for line in lines]
    if kind(path) == ".json":
        try:
            values = jsontext.parse(read_text(path))
        except ValueError as error:
            raise PredictionError("damaged JSON", where=path, found=error) from error
        if not isinstance(values, list):
            raise PredictionError("no list of predictions", where=path, expected="a JSON list, one item a clip")
        return values
    arrays = read_npz(path)
    found = [name for name in NPZ_KEYS if name in arrays]
    if len(found) != 1 or arrays[found[0]].ndim != 1:
        shapes = {name: array.shape for name, array in arrays.items()}
        raise PredictionError(
            "no array of predictions", where=path, expected=f"one of {', '.join(NPZ_KEYS)}, shape (n,)", found=shapes
        )
    values = arrays[found[0]].tolist()
    return list(values)
