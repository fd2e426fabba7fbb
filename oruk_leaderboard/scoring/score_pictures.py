"""Pictures of results: of one record (confusion matrix, slices, reliability), and of a comparison."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.errors import OrukError
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


def rank_picture(comparison: "Comparison", *, theme: plots.Theme = "light") -> Any:
    """Each system's place with the confidence set of its rank, as a matplotlib figure."""
    standings, metric = comparison.standings, comparison.metric
    place = {standing.system: position for position, standing in enumerate(standings)}
    marks = [
        plots.RankMark(
            f"{standing.system}  {standing.figures[metric]:.3f}",
            standing.rank,
            standing.rank_low,
            standing.rank_high,
        )
        for standing in standings
    ]
    groups = [(place[group[0]], place[group[-1]]) for group in comparison.groups]
    joined = "; bars at the left join systems not told apart" if groups else ""
    label = f"rank by {metric}, {100 * (1 - comparison.alpha):g} % joint confidence sets{joined}"
    return plots.rank_plot(marks, groups, label=label, theme=theme)
