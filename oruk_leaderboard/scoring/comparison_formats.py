"""A comparison of systems as text for a terminal and as a LaTeX table."""

import textwrap
from collections.abc import Sequence

from oruk_leaderboard.cells import latex_cell, latex_comment, text_table
from oruk_leaderboard.metrics import REGISTRY
from oruk_leaderboard.scoring.comparison import Comparison, Pair, Standing
from oruk_leaderboard.scoring.intervals import HEADLINE
from oruk_leaderboard.scoring.sampling import QUESTIONS, few_clusters
from oruk_leaderboard.scoring.variation import Ensemble, Shift

SHOWN_PAIRS = 20
"""Pairs listed as text: neighbours come first, ``--json`` has all."""

WIDTH = 100
"""Columns that running text is broken at."""

NOTES = (
    "Ranks: confidence sets that hold for all systems at once (Mogstad et al. 2024). p: Student's t on the bootstrap's "
    "standard error of the difference; p Holm is corrected for all pairs, and a pair differs where it is below "
    "{alpha:g}. McNemar's test takes clips as independent; where speakers go wrong together, p is the one to read."
)
"""How to read ranks and tests."""


def _interval(ends: tuple[float, float] | None) -> str:
    return "none" if ends is None else f"{ends[0]:.3f}–{ends[1]:.3f}"


def _ranking_row(standing: Standing, metric: str, others: Sequence[str]) -> tuple[object, ...]:
    return (
        standing.rank,
        standing.system,
        f"{standing.figures[metric]:.3f}",
        _interval(standing.intervals[metric]),
        *(f"{standing.figures[key]:.3f}" for key in others),
        f"{standing.rank_low}–{standing.rank_high}",
        "yes" if standing.may_be_first else "no",
    )


def _pair_row(pair: Pair) -> tuple[object, ...]:
    return (
        pair.first,
        pair.second,
        f"{pair.difference:+.4f}",
        f"[{pair.low:+.4f}, {pair.high:+.4f}]",
        _p(pair.p),
        _p(pair.p_holm),
        _p(pair.mcnemar_holm),
        "yes" if pair.separated else "no",
    )


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def basis(comparison: Comparison) -> str:
    """What the intervals and tests rest on, in one sentence."""
    warnings = few_clusters(comparison.clusters, comparison.effective, comparison.loose_share)
    return (
        f"{comparison.n} clips, ranked by {comparison.metric}; {100 * (1 - comparison.alpha):g} % intervals and tests "
        f"for {QUESTIONS[comparison.cluster]}: {comparison.clusters} clusters, effectively {comparison.effective:.1f}, "
        f"{comparison.n_boot} replicates, seed {comparison.seed}; Holm over {len(comparison.pairs)} pairs; failed "
        f"clips count as {comparison.on_error}" + "".join(f"; {warning}" for warning in warnings)
    )


def neighbours_first(comparison: Comparison) -> list[Pair]:
    """Pairs of adjacent systems, then the others, each in the order of the ranking."""
    place = {standing.system: position for position, standing in enumerate(comparison.standings)}
    return sorted(comparison.pairs, key=lambda pair: place[pair.second] - place[pair.first])


def _ranking_table(comparison: Comparison) -> str:
    metric = comparison.metric
    others = [key for key in comparison.standings[0].figures if key != metric]
    rows = [_ranking_row(standing, metric, others) for standing in comparison.standings]
    header = ("rank", "system", metric, f"{metric} interval", *others, "ranks", "may be first")
    return text_table(header, rows, right=("rank", metric, *others, "ranks", "may be first"))


def _heading(key: str) -> str:
    """Title of a metric as a table's heading: ``Macro-F1``."""
    title = REGISTRY[key].title
    return latex_cell(title[0].upper() + title[1:])


def as_text(comparison: Comparison) -> str:
    """Ranking, tests and ties for a terminal."""
    parts = [textwrap.fill(basis(comparison), WIDTH), *_partial(comparison), _ranking_table(comparison)]
    if comparison.pairs:
        pairs = neighbours_first(comparison)[:SHOWN_PAIRS]
        tests = ("first", "second", "difference", "interval", "p", "p Holm", "McNemar Holm", "differ")
        columns = ("difference", "p", "p Holm", "McNemar Holm")
        table = text_table(tests, [_pair_row(pair) for pair in pairs], right=columns)
        rest = len(comparison.pairs) - len(pairs)
        parts.append(table + (f"\n… and {rest} pairs more; --json lists all" if rest else ""))
    if comparison.groups:
        parts.append("\n".join(["not told apart:", *(f"  {' = '.join(group)}" for group in comparison.groups)]))
    parts.append(textwrap.fill(NOTES.format(alpha=comparison.alpha), WIDTH))
    return "\n\n".join(parts)


def _partial(comparison: Comparison) -> list[str]:
    """Which systems answer fewer clips than the set has; empty where none does."""
    answered = {
        standing.system: comparison.n - standing.counts["missing"]
        for standing in comparison.standings
        if standing.counts["missing"]
    }
    if not answered:
        return []
    counts = "; ".join(f"{name} answers {count:,} of {comparison.n:,} clips" for name, count in answered.items())
    text = (
        f"Partial files: {counts}. The clips without an answer count as {comparison.on_error}, so these systems rank "
        "too low. --common compares the clips that every file answers."
    )
    return [textwrap.fill(text, WIDTH)]


def as_latex(comparison: Comparison) -> str:
    """The ranking as a booktabs table that can be pasted into an article."""
    metric = comparison.metric
    others = [key for key in HEADLINE if key != metric]
    titles = " & ".join(["Rank", "System", _heading(metric), "Interval", *map(_heading, others), "Ranks", "First?"])
    lines = [
        r"% \usepackage{booktabs,array}",
        *(latex_comment(text) for text in _partial(comparison)),
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"  \caption{{{latex_cell(_caption(comparison))}}}",
        r"  \label{tab:oruk-comparison}",
        rf"  \begin{{tabular}}{{r>{{\raggedright\arraybackslash}}p{{0.24\linewidth}}{'r' * (4 + len(others))}}}",
        r"  \toprule",
        rf"  {titles} \\",
        r"  \midrule",
    ]
    for standing in comparison.standings:
        rank, name, *rest = _ranking_row(standing, metric, others)
        cells = (rank, latex_cell(str(name)), *rest)
        lines.append(rf"  {' & '.join(map(str, cells))} \\".replace("–", "--"))
    return "\n".join([*lines, r"  \bottomrule", r"  \end{tabular}", r"\end{table}"])


def _caption(comparison: Comparison) -> str:
    digest = (comparison.set_digest or "unknown")[:12]
    return f"Set {digest}, {basis(comparison)}. Ranks: {int(100 * (1 - comparison.alpha))} % joint confidence sets."


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


def outside_text(found: tuple[frozenset[str], Comparison] | None) -> str:
    """The ranking on the clips that no compared system has declared as training data; one line where none has."""
    if found is None:
        return textwrap.fill(
            "Outside training: no compared system has declared training corpora that split this set. Systems are "
            "looked up by name in data/training.csv; what is not declared is unknown, not none.",
            WIDTH,
        )
    corpora, comparison = found
    declared = ", ".join(sorted(corpora))
    head = f"Outside training: {comparison.n} clips of no corpus that a compared system has declared ({declared})"
    return f"{textwrap.fill(head, WIDTH)}\n{_ranking_table(comparison)}"
