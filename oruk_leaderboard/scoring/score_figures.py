"""The figures of one record: confusion matrix, bars of its slices with intervals, reliability diagram."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.metrics import Reliability
from oruk_leaderboard.scoring import figures

KINDS: tuple[str, ...] = (".svg", ".png")
"""Formats that every figure is written in."""

BARS: tuple[str, ...] = ("language", "corpus", "class")
"""Slices that get bars."""


def write_figures(record: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the figures of a record.

    Args:
        record: A record with an evaluation, as JSON holds it.
        folder: Where to; made if it is not there, files of the same name are replaced.

    Returns:
        The files, SVG and PNG of each figure.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OrukError: The folder cannot be written to.
    """
    evaluation, name = record["evaluation"], record["system"]["name"]
    confusion = evaluation["confusion"]
    drawn = {
        "confusion": figures.confusion_matrix(
            confusion["counts"], confusion["rows"], confusion["columns"], title=f"{name}: confusion"
        )
    }
    for attribute in BARS:
        if rows := evaluation["slices"].get(attribute):
            drawn[attribute] = figures.bars(
                [row["value"] + (" *" if row["small"] else "") for row in rows],
                [row["macro_f1"] for row in rows],
                [tuple(row["intervals"]["macro_f1"]) for row in rows],
                sizes=[row["n"] for row in rows],
                title=f"{name}: macro-F1 by {attribute} (* fewer than 100 clips)",
            )
    if evaluation["class_scores"]:
        diagram = {key: np.array(values) for key, values in evaluation["class_scores"]["reliability"].items()}
        drawn["reliability"] = figures.reliability_diagram(Reliability(**diagram), title=f"{name}: reliability")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OrukError("the folder cannot be made", where=folder, found=error.strerror) from error
    written = []
    for stem, figure in drawn.items():
        for kind in KINDS:
            written.append(folder / f"{stem}{kind}")
            figures.save(figure, written[-1])
    return written
