"""Plots as SVG or PNG with matplotlib: confusion matrix, bars with intervals, reliability diagram, forest plot.

Each function returns a matplotlib figure on an opaque ground with text of high contrast, so that it can be read on a
page of any colour; ``theme="dark"`` gives the dark ground. Files are the same bytes for the same figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from oruk_leaderboard.errors import MetricError, MissingExtraError, OrukError

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
    _dress(axes, colours)
    return figure, axes, colours


def _dress(axes: Any, colours: Mapping[str, str]) -> None:
    """Colours of the theme, and no frame above and at the right."""
    axes.set_facecolor(colours["ground"])
    axes.tick_params(colors=colours["ink"], labelsize=10)
    for name, spine in axes.spines.items():
        spine.set_color(colours["grid"])
        spine.set_visible(name in ("left", "bottom"))
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_color(colours["ink"])


def save(figure: Any, path: Path) -> None:
    """Write a figure; the suffix of the path names the format.

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
        columns: Predicted classes, then outcomes that are not a class.
        title: Above the matrix.
        theme: ``light`` or ``dark``.
    """
    table = np.asarray(counts)
    if table.shape != (len(rows), len(columns)):
        raise MetricError("shapes differ", where="counts", expected=(len(rows), len(columns)), found=table.shape)
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.zeros(table.shape), where=totals > 0)
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


def reliability_diagram(
    edges: ArrayLike,
    count: ArrayLike,
    confidence: ArrayLike,
    accuracy: ArrayLike,
    *,
    title: str = "",
    theme: Theme = "light",
) -> Any:
    """Accuracy against confidence in bins; the dashed line is perfect calibration, the numbers are clips.

    Args:
        edges: Ends of the bins, shape (bins + 1,), 0 to 1.
        count: Clips in each bin, shape (bins,).
        confidence: Mean confidence in each bin, 0 to 1.
        accuracy: Share of correct clips in each bin, 0 to 1.
        title: Above the diagram.
        theme: ``light`` or ``dark``.
    """
    ends, clips, certain, right = (np.asarray(values) for values in (edges, count, confidence, accuracy))
    figure, axes, colours = _figure(5.6, 5.2, theme)
    filled = clips > 0
    width = np.diff(ends)
    axes.bar(
        ends[:-1][filled],
        right[filled],
        width=width[filled],
        align="edge",
        color=colours["mark"],
        alpha=0.55,
        edgecolor=colours["ground"],
        label="accuracy of the bin",
    )
    axes.plot((0, 1), (0, 1), linestyle="--", color=colours["ink"], linewidth=1, label="perfect calibration")
    axes.scatter(
        certain[filled],
        right[filled],
        color=colours["other"],
        s=22,
        zorder=3,
        label="at the mean confidence",
    )
    for left, wide, height, inside in zip(ends, width, right, clips, strict=False):
        if inside:
            axes.text(
                left + wide / 2,
                height + 0.015,
                f"{inside:,}",
                ha="center",
                color=colours["ink"],
                fontsize=7,
                rotation=90,
            )
    axes.set(xlim=(0, 1), ylim=(0, 1.12), xlabel="confidence", ylabel="accuracy", title=title)
    axes.legend(loc="upper left", frameon=False, labelcolor=colours["ink"], fontsize=9)
    return figure


@dataclass(frozen=True, slots=True)
class ForestMark:
    """One line of a forest plot.

    Attributes:
        name: Written before it.
        value: The point.
        interval: Ends of the bar, or None where there is none.
        firm: Whether it is drawn filled: for a difference, whether the two are told apart.
    """

    name: str
    value: float
    interval: tuple[float, float] | None
    firm: bool = True


def forest_plot(
    values: Sequence[ForestMark],
    differences: Sequence[ForestMark],
    *,
    label: str,
    difference_label: str,
    theme: Theme = "light",
) -> Any:
    """Values with their intervals above, paired differences against zero below.

    Args:
        values: From top to bottom.
        differences: From top to bottom; none leaves the lower panel out.
        label: Name of the axis of the values.
        difference_label: Name of the axis of the differences.
        theme: ``light`` or ``dark``.
    """
    counts = [len(values), *([len(differences)] if differences else [])]
    figure, axes, colours = _figure(8.0, 0.9 * len(counts) + 0.34 * sum(counts), theme)
    panels = [axes]
    if differences:
        figure.delaxes(axes)
        panels = list(figure.subplots(2, 1, height_ratios=counts))
        for panel in panels:
            _dress(panel, colours)
    for panel, marks, name in zip(panels, (values, differences), (label, difference_label), strict=False):
        for place, mark in enumerate(marks):
            if mark.interval is not None:
                panel.plot(mark.interval, (place, place), color=colours["mark"], linewidth=1.8, solid_capstyle="butt")
            face = colours["mark"] if mark.firm else colours["ground"]
            panel.plot(
                mark.value, place, "o", markersize=6, markerfacecolor=face, markeredgecolor=colours["mark"], zorder=3
            )
        panel.set_yticks(range(len(marks)), [f"{mark.name}  {mark.value:.3f}" for mark in marks])
        panel.set(ylim=(len(marks) - 0.4, -0.6), xlabel=name)
        panel.grid(axis="x", color=colours["grid"], linewidth=0.6)
        panel.set_axisbelow(True)
    if differences:
        panels[1].axvline(0, color=colours["other"], linewidth=1.2)
    return figure
