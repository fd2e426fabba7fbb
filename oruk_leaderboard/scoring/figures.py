"""Figures as SVG or PNG: confusion matrix, bars with intervals, reliability diagram, rank plot.

Each function returns a matplotlib figure on an opaque ground with text of high contrast, so that it can be read on a
page of any colour; ``theme="dark"`` gives the dark ground. Files are the same bytes for the same figures.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError, MissingExtraError, OrukError
from oruk_leaderboard.metrics import Reliability
from oruk_leaderboard.metrics.checks import divide

if TYPE_CHECKING:
    from oruk_leaderboard.scoring.comparison import Comparison

Theme: TypeAlias = Literal["light", "dark"]
"""Colours of a figure."""

_THEMES: Mapping[str, Mapping[str, str]] = {
    "light": {"ground": "#ffffff", "ink": "#1f2328", "grid": "#d0d7de", "mark": "#0b5cad", "other": "#b35900"},
    "dark": {"ground": "#0d1117", "ink": "#e6edf3", "grid": "#3d444d", "mark": "#6cb6ff", "other": "#f0a868"},
}


def _figure(width: float, height: float, theme: str) -> tuple[Any, Any, Mapping[str, str]]:
    """Figure, axes and colours; width and height in inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtraError("figures need matplotlib", extra="plot") from error
    if theme not in _THEMES:
        raise MetricError("unknown theme", expected=" or ".join(_THEMES), found=theme)
    colours = _THEMES[theme]
    figure = Figure(figsize=(width, height), facecolor=colours["ground"], layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(colours["ground"])
    axes.tick_params(colors=colours["ink"], labelsize=10)
    for name, spine in axes.spines.items():
        spine.set_color(colours["grid"])
        spine.set_visible(name in ("left", "bottom"))
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_color(colours["ink"])
    return figure, axes, colours


def save(figure: Any, path: Path) -> None:
    """Write a figure; the suffix tells the format.

    Raises:
        OrukError: The suffix is neither .svg nor .png, or the file cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise OrukError("unknown kind of figure", where=path, expected=".svg or .png", found=kind or "no suffix")
    import matplotlib

    # Without a date, a software line and random ids the same figure is the same file.
    metadata: dict[str, str | None] = {"Date": None} if kind == ".svg" else {"Software": None}
    try:
        with matplotlib.rc_context({"svg.hashsalt": "oruk", "svg.fonttype": "path"}):
            figure.savefig(path, dpi=160, metadata=metadata, facecolor=figure.get_facecolor())
    except OSError as error:
        raise OrukError("the figure cannot be written", where=path, found=error.strerror) from error


def confusion_matrix(
    counts: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, title: str = "", theme: Theme = "light"
) -> Any:
    """Confusion matrix: colour and first line are the share of the gold class, the second line the clips.

    Args:
        counts: Clips, shape (rows, columns).
        rows: Gold classes.
        columns: Predicted classes, then outcomes that are no class.
        title: Above the matrix.
        theme: ``light`` or ``dark``.
    """
    table = np.asarray(counts)
    if table.shape != (len(rows), len(columns)):
        raise MetricError("shapes differ", where="counts", expected=(len(rows), len(columns)), found=table.shape)
    shares = divide(table, table.sum(axis=1, keepdims=True))
    figure, axes, colours = _figure(1.9 + 0.85 * len(columns), 1.4 + 0.62 * len(rows), theme)
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("share", [colours["ground"], colours["mark"]])
    axes.imshow(shares, cmap=scale, vmin=0, vmax=1, aspect="auto")
    for row, column in np.ndindex(table.shape):
        share = shares[row, column]
        ink = colours["ground"] if share > 0.55 else colours["ink"]
        axes.text(column, row, f"{share:.0%}\n{table[row, column]:,}", ha="center", va="center", color=ink, fontsize=9)
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel="predicted", ylabel="gold", title=title)
    return figure


def bars(
    names: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float] | None],
    *,
    sizes: Sequence[int] | None = None,
    label: str = "macro-F1",
    title: str = "",
    theme: Theme = "light",
) -> Any:
    """Horizontal bars with intervals, one for each slice (language, corpus, class), in the order given.

    Args:
        names: Slices, from top to bottom.
        values: Figure of each, 0 to 1.
        intervals: Ends of each interval, or None where there is none.
        sizes: Clips of each, shown behind its name.
        label: Name of the figure.
        title: Above the bars.
        theme: ``light`` or ``dark``.
    """
    if not len(names) == len(values) == len(intervals) or (sizes is not None and len(sizes) != len(names)):
        raise MetricError("lengths differ", where="bars", expected=f"{len(names)} values and intervals")
    figure, axes, colours = _figure(7.5, 1.1 + 0.32 * len(names), theme)
    places = range(len(names))
    axes.barh(places, values, color=colours["mark"], height=0.62, alpha=0.55)
    for place, value, ends in zip(places, values, intervals, strict=True):
        if ends is not None:
            axes.plot(ends, (place, place), color=colours["ink"], linewidth=1.4, solid_capstyle="butt")
        axes.text(1.02, place, f"{value:.3f}", va="center", color=colours["ink"], fontsize=10)
    labels = names if sizes is None else [f"{name}  (n={size:,})" for name, size in zip(names, sizes, strict=True)]
    axes.set_yticks(places, labels)
    axes.set(xlim=(0, 1), ylim=(len(names) - 0.4, -0.6), xlabel=label, title=title)
    axes.grid(axis="x", color=colours["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def reliability_diagram(diagram: Reliability, *, title: str = "", theme: Theme = "light") -> Any:
    """Accuracy against confidence in bins; the dashed line is perfect calibration, the numbers are clips."""
    figure, axes, colours = _figure(5.6, 5.2, theme)
    filled = diagram.count > 0
    width = np.diff(diagram.edges)
    axes.bar(
        diagram.edges[:-1][filled],
        diagram.accuracy[filled],
        width=width[filled],
        align="edge",
        color=colours["mark"],
        alpha=0.55,
        edgecolor=colours["ground"],
        label="accuracy of the bin",
    )
    axes.plot((0, 1), (0, 1), linestyle="--", color=colours["ink"], linewidth=1, label="perfect calibration")
    axes.scatter(
        diagram.confidence[filled],
        diagram.accuracy[filled],
        color=colours["other"],
        s=22,
        zorder=3,
        label="at the mean confidence",
    )
    for left, wide, height, count in zip(diagram.edges, width, diagram.accuracy, diagram.count, strict=False):
        if count:
            axes.text(
                left + wide / 2,
                height + 0.015,
                f"{count:,}",
                ha="center",
                color=colours["ink"],
                fontsize=7,
                rotation=90,
            )
    axes.set(xlim=(0, 1), ylim=(0, 1.12), xlabel="confidence", ylabel="accuracy", title=title)
    axes.legend(loc="upper left", frameon=False, labelcolor=colours["ink"], fontsize=9)
    return figure


def rank_plot(comparison: "Comparison", *, title: str = "", theme: Theme = "light") -> Any:
    """Critical-difference style plot: each system's mean rank over the replicates with its interval of ranks.

    Bars to the left join systems of which no two differ (Holm over all pairs). Reference for the form: Demšar (2006),
    JMLR 7, 1-30.
    """
    standings = comparison.standings
    figure, axes, colours = _figure(8.0, 1.2 + 0.32 * len(standings), theme)
    place = {standing.system: position for position, standing in enumerate(standings)}
    for position, standing in enumerate(standings):
        axes.plot(
            (standing.rank_low, standing.rank_high),
            (position, position),
            color=colours["mark"],
            linewidth=5,
            alpha=0.45,
            solid_capstyle="round",
        )
        axes.plot(standing.mean_rank, position, "o", color=colours["mark"], markersize=6)
    low = 0.5
    for column, group in enumerate(comparison.groups):
        # Runs overlap their neighbours, so they take turns in three columns.
        across = low - 0.5 - 0.45 * (column % 3)
        ends = (place[group[0]] - 0.22, place[group[-1]] + 0.22)
        axes.plot((across, across), ends, color=colours["other"], linewidth=3, solid_capstyle="butt")
    axes.set_yticks(
        range(len(standings)),
        [f"{standing.system}  {standing.figures[comparison.metric]:.3f}" for standing in standings],
    )
    axes.set(
        xlim=(low - (2.0 if comparison.groups else 0.2), len(standings) + 0.5),
        ylim=(len(standings) - 0.4, -0.6),
        xlabel=f"rank by {comparison.metric}, {100 * (1 - comparison.alpha):g} % interval"
        + ("; bars at the left join systems not told apart" if comparison.groups else ""),
        title=title,
    )
    step = max(1, len(standings) // 10)
    axes.set_xticks(range(1, len(standings) + 1, step))
    axes.grid(axis="x", color=colours["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    return figure
