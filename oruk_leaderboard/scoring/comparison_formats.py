"""A comparison of systems as text for a terminal and as a LaTeX table."""

import textwrap
from collections.abc import Sequence

from oruk_leaderboard.cells import latex_cell, text_table
from oruk_leaderboard.scoring.comparison import Comparison, Ensemble, Pair, Shift, Standing

SHOWN_PAIRS = 20
"""Pairs listed as text: neighbours come first, ``--json`` holds all."""

WIDTH = 100
"""Columns that running text is broken at."""

NOTES = (
    "Neighbours whose own test finds no difference (p) share a rank, as in the benchmark's protocol; shared ranks can "
    "chain, so the groups above and the column p Holm, corrected for all pairs, say who differs from whom. A p marked "
    "≤ is the smallest that so many replicates can show; Holm's correction then starts from the normal tail. McNemar's "
    "test takes clips as independent; where speakers go wrong together the cluster bootstrap decides."
)
"""How to read ranks and tests."""

_RANKING = ("rank", "system", "macro_f1", "interval", "accuracy", "uar", "ranks", "P(first)")


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3f}–{ends[1]:.3f}"


def _ranking_row(standing: Standing, metric: str) -> tuple[object, ...]:
    figures = standing.figures
    return (
        standing.rank,
        standing.system,
        f"{figures['macro_f1']:.3f}",
        _interval(standing.intervals[metric]),
        f"{figures['accuracy']:.3f}",
        f"{figures['uar']:.3f}",
        f"{standing.rank_low}–{standing.rank_high}",
        f"{standing.p_first:.3f}",
    )


def _pair_row(pair: Pair, floor: float) -> tuple[object, ...]:
    """Cells of a pair; ``floor`` is the smallest p that the replicates can show."""
    return (
        pair.first,
        pair.second,
        f"{pair.difference:+.4f}",
        f"[{pair.low:+.4f}, {pair.high:+.4f}]",
        f"≤{_p(pair.p)}" if pair.p <= floor else _p(pair.p),
        _p(pair.p_holm),
        _p(pair.mcnemar_holm),
        "yes" if pair.separated else "no",
    )


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def basis(comparison: Comparison) -> str:
    """What the intervals and tests rest on, in one sentence."""
    stage = "corpora, then their clusters," if comparison.two_stage else ""
    return (
        f"{comparison.n} clips, ranked by {comparison.metric}; {100 * (1 - comparison.alpha):g} % intervals and tests "
        f"from {comparison.n_boot} replicates of {comparison.n_clusters} clusters by {comparison.cluster}, {stage} "
        f"seed {comparison.seed}; Holm over {len(comparison.pairs)} pairs; failed clips count as {comparison.on_error}"
    ).replace("  ", " ")


def neighbours_first(comparison: Comparison) -> list[Pair]:
    """Pairs of adjacent systems, then the others, each in the order of the ranking."""
    place = {standing.system: position for position, standing in enumerate(comparison.standings)}
    return sorted(comparison.pairs, key=lambda pair: place[pair.second] - place[pair.first])


def as_text(comparison: Comparison) -> str:
    """Ranking, tests and ties for a terminal."""
    rows = [_ranking_row(standing, comparison.metric) for standing in comparison.standings]
    header = tuple(f"{comparison.metric} interval" if name == "interval" else name for name in _RANKING)
    numbers = ("rank", "macro_f1", "accuracy", "uar", "ranks", "P(first)")
    parts = [textwrap.fill(basis(comparison), WIDTH), text_table(header, rows, right=numbers)]
    if comparison.pairs:
        pairs = neighbours_first(comparison)[:SHOWN_PAIRS]
        floor = 2 / (comparison.n_boot + 1)
        tests = ("first", "second", "difference", "interval", "p", "p Holm", "McNemar Holm", "differ")
        columns = ("difference", "p", "p Holm", "McNemar Holm")
        table = text_table(tests, [_pair_row(pair, floor) for pair in pairs], right=columns)
        rest = len(comparison.pairs) - len(pairs)
        parts.append(table + (f"\n… and {rest} pairs more; --json lists all" if rest else ""))
    if comparison.groups:
        parts.append("\n".join(["not told apart:", *(f"  {' = '.join(group)}" for group in comparison.groups)]))
    parts.append(textwrap.fill(NOTES, WIDTH))
    return "\n\n".join(parts)


def as_latex(comparison: Comparison) -> str:
    """The ranking as a booktabs table."""
    lines = [
        r"\begin{table}",
        rf"  \caption{{{latex_cell(basis(comparison))}.}}",
        r"  \begin{tabular}{rlrrrrr}",
        r"  \toprule",
        r"  Rank & System & Macro-F1 & Interval & Accuracy & Ranks & $P$(first) \\",
        r"  \midrule",
    ]
    for standing in comparison.standings:
        rank, name, macro_f1, interval, accuracy, _, ranks, first = _ranking_row(standing, comparison.metric)
        cells = (rank, latex_cell(str(name)), macro_f1, interval, accuracy, ranks, first)
        lines.append(rf"  {' & '.join(map(str, cells))} \\".replace("–", "--"))
    return "\n".join([*lines, r"  \bottomrule", r"  \end{tabular}", r"\end{table}"])


def ensemble_text(summary: Ensemble) -> str:
    """Prompt ensemble for a terminal."""
    table = text_table(
        ("prompt", summary.metric), [(name, f"{value:.4f}") for name, value in summary.per_prompt.items()]
    )
    return (
        f"{table}\n\n{len(summary.per_prompt)} prompts: mean {summary.mean:.4f} [{summary.low:.4f}, "
        f"{summary.high:.4f}], sd {summary.sd:.4f}, spread {summary.spread:.4f}"
    )


def shift_text(shifts: Sequence[Shift], metric: str) -> str:
    """Shift from the whole set to a subsample for a terminal."""
    rows = [
        (
            row.system,
            f"{row.full:.4f}",
            f"{row.subsample:.4f}",
            f"{row.difference:+.4f}",
            f"[{row.low:+.4f}, {row.high:+.4f}]",
        )
        for row in shifts
    ]
    header = (
        "system",
        f"{metric} on {shifts[0].n_full} clips",
        f"on {shifts[0].n_subsample} clips",
        "shift",
        "interval",
    )
    return text_table(header, rows)
