"""Pictures of results: of one record (confusion matrix, slices, reliability), and of a comparison."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.metrics import REGISTRY
from oruk_leaderboard.pictures import plots

if TYPE_CHECKING:
    from oruk_leaderboard.scoring.comparison import Comparison

KINDS: tuple[str, ...] = (".svg", ".png")
"""Formats that every figure is written in."""

BARS: tuple[str, ...] = ("language", "corpus", "class")
"""Slices that get bars."""


def write_pictures(record: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the figures of a record.

    Args:
        record: A record with an evaluation, as JSON.
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
        "confusion": plots.confusion_matrix(
            confusion["counts"], confusion["rows"], confusion["columns"], title=f"{name}: confusion"
        )
    }
    for attribute in BARS:
        if rows := evaluation["slices"].get(attribute):
            drawn[attribute] = plots.bars(
                [row["value"] + (" *" if row["small"] else "") for row in rows],
                [row["macro_f1"] for row in rows],
                [row["intervals"]["macro_f1"] and tuple(row["intervals"]["macro_f1"]) for row in rows],
                sizes=[row["n"] for row in rows],
                title=f"{name}: macro-F1 by {attribute} (* fewer than 100 clips)",
            )
    if evaluation["class_scores"]:
        drawn["reliability"] = plots.reliability_diagram(
            **evaluation["class_scores"]["reliability"], title=f"{name}: reliability"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OrukError("the folder cannot be made", where=folder, found=error.strerror) from error
    written = []
    for stem, figure in drawn.items():
        for kind in KINDS:
            written.append(folder / f"{stem}{kind}")
            plots.save(figure, written[-1])
    return written


MOST_DIFFERENCES = 40
"""Differences that one picture shows; the first are those of neighbouring places."""


def forest_picture(comparison: "Comparison", *, theme: plots.Theme = "light") -> Any:
    """The ranking figure of each system with its interval, and the paired differences, as a matplotlib figure.

    All pairs are shown up to ``MOST_DIFFERENCES``, beyond that those of neighbouring places. A hollow mark is a
    difference that is not told apart from zero.
    """
    metric, level = comparison.metric, f"{100 * (1 - comparison.alpha):g} % interval"
    title = REGISTRY[metric].title
    values = [
        plots.ForestMark(standing.system, standing.figures[metric], standing.intervals.get(metric))
        for standing in comparison.standings
    ]
    place = {standing.system: position for position, standing in enumerate(comparison.standings)}
    pairs = list(comparison.pairs)
    if len(pairs) > MOST_DIFFERENCES:
        pairs = [pair for pair in pairs if abs(place[pair.first] - place[pair.second]) == 1]
    differences = [
        plots.ForestMark(f"{pair.first} − {pair.second}", pair.difference, (pair.low, pair.high), firm=pair.separated)
        for pair in pairs
    ]
    return plots.forest_plot(
        values,
        differences,
        label=f"{title}, {level}",
        difference_label=f"paired difference in {title}, {level}; filled: separated (Holm)",
        theme=theme,
    )
