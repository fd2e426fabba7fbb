"""Results of the public harness (oruk-bench 0.1.x), run on a set in the harness layout.

``oruk-bench eval`` writes ``<model>.npz`` with one prediction per position and no clip ids: ``preds`` (class indices),
``labels`` (the gold indices it read) and ``order`` (positions in the shards, which are the positions in the set). The
gold indices have to be those of the set, so a result for another set or order is refused. Read in
``oruk_bench/adapters/open_models.py`` of version 0.1.1.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.predictions import MISSING, OK, Predictions
from oruk_leaderboard.answers.tabular import kind, read_npz
from oruk_leaderboard.errors import PredictionError

KEYS: tuple[str, ...] = ("preds", "labels", "order")
"""Arrays of a result, each of shape (n,) and integer."""


def is_harness_result(path: Path) -> bool:
    """Whether a file is an npz of the public harness rather than one with clip ids."""
    return kind(path) == ".npz" and "preds" in (arrays := read_npz(path)) and "clip_id" not in arrays


def read_harness_result(path: Path, gold: NDArray[np.int64], classes: tuple[str, ...]) -> Predictions:
    """Read the npz that ``oruk-bench eval`` wrote for one of its open models.

    The harness scores failed clips as neutral and keeps no mark of them, so every prediction is ``ok`` here.

    Args:
        path: The file.
        gold: Class index of each clip, shape (n,), in the set's order.
        classes: Label space, in index order.

    Raises:
        PredictionError: An array is missing or no array of indices, or the gold indices are not those of the set.
    """
    arrays: Mapping[str, Any] = read_npz(path)
    if missing := [name for name in KEYS if name not in arrays]:
        raise PredictionError(
            "not a result that can be matched with clips",
            where=path,
            expected=f"the arrays {', '.join(KEYS)}",
            found=f"no {', '.join(missing)}",
            do="write predictions by clip id (CSV, JSON Lines, parquet, npz)",
        )
    preds, labels, order = (arrays[name] for name in KEYS)
    kinds = {f"{arrays[name].dtype} {arrays[name].shape}" for name in KEYS}
    if any(arrays[name].dtype.kind not in "iu" for name in KEYS) or len({arrays[name].shape for name in KEYS}) > 1:
        raise PredictionError("the arrays are not indices of one length", where=path, expected="integers", found=kinds)
    if order.ndim != 1 or len(np.unique(order)) != order.size or (order < 0).any() or (order >= gold.size).any():
        raise PredictionError(
            "the positions are not those of the set", where=f"{path} order", expected=f"0 to {gold.size - 1}, each once"
        )
    if (wrong := np.flatnonzero(gold[order] != labels)).size:
        at = int(wrong[0])
        raise PredictionError(
            f"{wrong.size} gold labels are not those of the set",
            where=f"{path} labels[{at}]",
            expected=f"{gold[order[at]]} ({classes[gold[order[at]]]})",
            found=int(labels[at]),
            do="score against the set that the harness was run on",
        )
    if ((preds < 0) | (preds >= len(classes))).any():
        at = int(np.argmax((preds < 0) | (preds >= len(classes))))
        raise PredictionError(
            "the prediction is not a class",
            where=f"{path} preds[{at}]",
            expected=f"0 to {len(classes) - 1}",
            found=int(preds[at]),
        )
    all_labels, status = np.full(gold.size, -1, np.int64), np.full(gold.size, MISSING, np.int8)
    all_labels[order], status[order] = preds, OK
    return Predictions(all_labels, status, source=path.name)
