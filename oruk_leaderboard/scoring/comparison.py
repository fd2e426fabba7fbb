"""Compare systems on identical clips: which differences are real, and how sure each rank is."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics, statistics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import STATUSES, Predictions, read_predictions
from oruk_leaderboard.protocols import Protocol, load
from oruk_leaderboard.scoring.panel import Panel, named, panel, ranking_metric
from oruk_leaderboard.scoring.scorer import resolve_gold
from oruk_leaderboard.statistics import Bounds, Support
from oruk_leaderboard.todict import ToDict

if TYPE_CHECKING:
    from oruk_leaderboard.clipset import ClipSet

Floats = NDArray[np.float64]

DIFFERENCE = Bounds(-1.0, 1.0)
"""Smallest and largest difference between two figures."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Place of one system in the ranking.

    Attributes:
        system: Its name.
        rank: Place by the figure alone; equal figures share one.
        figures: Metric to its value; the ranking metric is the first.
        intervals: Metric to the ends of its interval; None with fewer than ``statistics.FEWEST`` clusters.
        rank_low: Best rank in its confidence set; the sets of all systems hold together (``statistics.rank_sets``).
        rank_high: Worst rank in it.
        may_be_first: Whether the system may be the best of all.
        p_first: Share of the replicates in which the system is first.
        counts: Clips by status (ok, refused, error, abstained, missing).
    """

    system: str
    rank: int
    figures: dict[str, float]
    intervals: dict[str, tuple[float, float] | None]
    rank_low: int
    rank_high: int
    may_be_first: bool
    p_first: float
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference between two systems, the better one first.

    Attributes:
        first: Name of the better system.
        second: Name of the other.
        difference: First minus second, in the ranking figure.
        low: Lower end of its interval (Student's t on the standard error of the difference).
        high: Upper end.
        p: Two-sided p-value of the same t.
        p_holm: Adjusted for all pairs (Holm).
        separated: Whether ``p_holm`` is below alpha.
        only_first: Clips that only the first has right.
        only_second: Clips that only the second has right.
        mcnemar_p: McNemar's test of the accuracies, clips taken as independent.
        mcnemar_holm: Adjusted for all pairs.
        mcnemar_method: ``exact`` or ``chi-square``.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    separated: bool
    only_first: int
    only_second: int
    mcnemar_p: float
    mcnemar_holm: float
    mcnemar_method: str


@dataclass(frozen=True, slots=True)
class Comparison(ToDict):
    """Systems compared on the same clips.

    Attributes:
        metric: Ranking figure.
        n: Clips.
        set_digest: Digest of the rebuilt set, or None for a gold file.
        cluster: What was drawn: ``speaker`` (within corpora), ``corpus`` or ``clip``.
        clusters: Number of clusters.
        effective: Effective number of clusters.
        df: Degrees of freedom of the standard errors.
        loose_share: Share of the clips that were drawn as independent, for want of speakers.
        n_boot: Replicates.
        seed: Seed of the draws.
        alpha: One minus the confidence of all intervals and the level of all tests.
        on_error: How failed clips count: ``neutral`` or ``wrong``.
        standings: Systems from the best down.
        pairs: All pairs, in the order of the standings.
        groups: Runs of neighbours in which no two systems separate after Holm's correction.
    """

    metric: str
    n: int
    set_digest: str | None
    cluster: str
    clusters: int
    effective: float
    df: float
    loose_share: float
    n_boot: int
    seed: int
    alpha: float
    on_error: str
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]


def compare(
    systems: Mapping[str, Predictions | Path | str] | Sequence[Path | str],
    *,
    clips: "ClipSet | Path | str | None" = None,
    gold: Gold | Path | str | None = None,
    protocol: Protocol | str | None = None,
    metric: str | None = None,
    alpha: float = 0.05,
    cluster: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    on_error: str | None = None,
) -> Comparison:
    """Compare systems on one set: read what is given as files, put it side by side, rank it.

    Args:
        systems: Name to predictions, read before or as a file; or files, each named by its stem.
        clips: Folder of a rebuilt set, or an open one.
        gold: Gold file instead of a rebuilt set, or gold labels read before.
        protocol: A protocol or its name; the benchmark's by default.
        metric: As for :func:`rank`; None for the protocol's ranking metric.
        alpha: As for :func:`rank`.
        cluster: As for :func:`panel.panel`, like the options that follow.
        n_boot: Bootstrap replicates.
        seed: Seed of the draws.
        on_error: What failed clips count as, ``neutral`` or ``wrong``; None for what the protocol says.

    Raises:
        PredictionError: A file, a row or an option cannot be used.
        MetricError: Statistics options out of range, or one cluster only.
    """
    rules = load(protocol)
    answers = resolve_gold(clips, gold, rules)
    table = rules.alias_table()
    read = {
        name: given
        if isinstance(given, Predictions)
        else read_predictions(Path(given), answers.clip_ids, table=table, classes=answers.classes)
        for name, given in (systems if isinstance(systems, Mapping) else named(systems)).items()
    }
    board = panel(read, answers, cluster=cluster, n_boot=n_boot, seed=seed, on_error=on_error or rules.on_error)
    return rank(board, metric=metric or rules.figures[0], alpha=alpha)


def rank(board: Panel, *, metric: str = "macro_f1", alpha: float = 0.05) -> Comparison:
    """Rank the systems of a panel and test all pairs, every figure from the same draws.

    Args:
        board: Systems on one set.
        metric: Key of the metric to rank by (``metrics.ranking``).
        alpha: One minus the confidence of the intervals, and level of the tests.

    Raises:
        PredictionError: An unknown metric.
        MetricError: An alpha outside 0 to 1.
    """
    shown = {metric: ranking_metric(metric), **metrics.ranking()}
    clustered = board.margins()
    whole, drawn = clustered.sum(), board.replicates(clustered)
    figures = {key: item.function(whole) for key, item in shown.items()}
    replicates = {key: item.function(drawn) for key, item in shown.items()}
    order = sorted(range(len(board.names)), key=lambda system: (-figures[metric][system], board.names[system]))
    ranked = replicates[metric][order]
    pairs = _pairs(board, order, figures[metric], ranked, alpha)
    apart = np.zeros((len(order), len(order)), dtype=bool)
    for (one, other), pair in zip(itertools.combinations(range(len(order)), 2), pairs, strict=True):
        apart[one, other] = apart[other, one] = pair.separated
    sets = statistics.rank_sets(figures[metric][order], ranked, df=board.support.df, alpha=alpha)
    first, places = statistics.probability_of_first(ranked), statistics.ranks(figures[metric][order])
    standings = tuple(
        Standing(
            system=board.names[system],
            rank=int(places[place]),
            figures={name: float(values[system]) for name, values in figures.items()},
            intervals={
                name: _interval(float(values[system]), replicates[name][system], board.support, alpha)
                for name, values in figures.items()
            },
            rank_low=int(sets.best[place]),
            rank_high=int(sets.worst[place]),
            may_be_first=bool(sets.first[place]),
            p_first=float(first[place]),
            counts=board.counts[system],
        )
        for place, system in enumerate(order)
    )
    return Comparison(
        metric=metric,
        n=len(board.gold.clip_ids),
        set_digest=board.gold.origin.get("set_digest"),
        cluster=board.drawn.kind,
        clusters=board.support.clusters,
        effective=board.support.effective,
        df=board.support.df,
        loose_share=board.support.loose_share,
        n_boot=board.draws.n_boot,
        seed=board.draws.seed,
        alpha=alpha,
        on_error=board.on_error,
        standings=standings,
        pairs=pairs,
        groups=tuple(
            tuple(standing.system for standing in standings[start : end + 1])
            for start, end in statistics.cliques(apart)
        ),
    )


def _interval(point: float, replicates: Floats, support: Support, alpha: float) -> tuple[float, float] | None:
    """Interval of a figure as ``score`` gives it by default; None with too few clusters."""
    if support.clusters < statistics.FEWEST:
        return None
    return statistics.t_interval(point, statistics.standard_error(replicates), support, alpha=alpha)


def difference_ends(difference: float, replicates: Floats, support: Support, alpha: float) -> tuple[float, float]:
    """Interval of a difference, -1 to 1."""
    return statistics.t_interval(
        difference, statistics.standard_error(replicates), support, alpha=alpha, bounds=DIFFERENCE, logit=False
    )


def _pairs(board: Panel, order: Sequence[int], figures: Floats, ranked: Floats, alpha: float) -> tuple[Pair, ...]:
    """Tests of all pairs, the systems taken in ``order``; replicates ``ranked`` are already in it."""
    right = (board.outcomes[order] == board.gold.labels).astype(np.float32)
    both = right @ right.T  # whole numbers below 2^24: exact
    found = []
    for one, other in itertools.combinations(range(len(order)), 2):
        only_first, only_second = int(both[one, one] - both[one, other]), int(both[other, other] - both[one, other])
        difference, drawn = float(figures[order[one]] - figures[order[other]]), ranked[one] - ranked[other]
        error = statistics.standard_error(drawn)
        ends = difference_ends(difference, drawn, board.support, alpha)
        p = statistics.t_p(difference, error, board.support.df)
        found.append((one, other, difference, ends, p, statistics.mcnemar(only_first, only_second)))
    if not found:
        return ()
    adjusted = statistics.holm([p for *_, p, _ in found])
    mcnemar_adjusted = statistics.holm([test.p for *_, test in found])
    return tuple(
        Pair(
            first=board.names[order[one]],
            second=board.names[order[other]],
            difference=difference,
            low=ends[0],
            high=ends[1],
            p=p,
            p_holm=float(adjusted[row]),
            separated=bool(adjusted[row] < alpha),
            only_first=test.only_first,
            only_second=test.only_second,
            mcnemar_p=test.p,
            mcnemar_holm=float(mcnemar_adjusted[row]),
            mcnemar_method=test.method,
        )
        for row, (one, other, difference, ends, p, test) in enumerate(found)
    )


def failures(comparison: Comparison) -> list[str]:
    """One line for each system with clips that were not answered."""
    lines = []
    for standing in comparison.standings:
        failed = [f"{standing.counts[name]} {name}" for name in STATUSES[1:] if standing.counts[name]]
        if failed:
            lines.append(f"{standing.system}: {', '.join(failed)} of {comparison.n} clips")
    return lines
