"""The columns of a leaderboard as text for a terminal and as LaTeX."""

import textwrap

from oruk_leaderboard.cells import latex_cell, text_table
from oruk_leaderboard.scoring.columns import LeaderboardScore

WIDTH = 100
"""Columns that running text is broken at."""


def as_text(score: LeaderboardScore) -> str:
    """Figures by the leaderboard's names; assumed ones are marked and their reasons listed below."""
    states = ", ".join(f"{count} {state}" for state, count in score.counts.items() if count)
    about = f"{score.task} on {score.dataset}: {score.n} clips, {states}; {score.space}"
    rows = [
        (metric.name, f"{metric.value:.4f}", "assumed" if metric.assumed else "", metric.n, metric.formula)
        for metric in score.metrics
    ]
    parts = [
        textwrap.fill(about, WIDTH),
        text_table(("metric", "value", "", "clips", "formula"), rows, right=("value", "clips")),
    ]
    notes: dict[str, list[str]] = {}
    for metric in score.metrics:
        if metric.note is not None:
            notes.setdefault(metric.note, []).append(metric.name)
    if notes:
        reasons = [f"assumed, {', '.join(names)}: {note}." for note, names in notes.items()]
        parts.append("\n".join(textwrap.fill(reason, WIDTH, subsequent_indent="  ") for reason in reasons))
    return "\n\n".join(parts)


def as_latex(score: LeaderboardScore) -> str:
    """The figures as a LaTeX table (booktabs), one row each; assumed readings carry a dagger."""
    caption, dagger = f"{score.protocol}, {score.n:,} clips.", r"$^\dagger$"
    if any(metric.assumed for metric in score.metrics):
        caption += " Dagger: a reading assumed here, see its protocol file."
    rows = [
        f"  {latex_cell(metric.name)}{dagger * metric.assumed} & {metric.value:.4f} & {metric.n:,} " + r"\\"
        for metric in score.metrics
    ]
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering\footnotesize",
        rf"  \caption{{{latex_cell(caption)}}}",
        r"  \label{tab:oruk-columns}",
        r"  \begin{tabular}{lrr}",
        r"  \toprule",
        r"  Metric & Value & Clips \\",
        r"  \midrule",
        *rows,
        r"  \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)
