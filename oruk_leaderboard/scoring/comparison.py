"""Compare systems on identical clips: which differences are real, and how sure each rank is."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import statistics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import STATUSES, Predictions, read_predictions
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.scoring.panel import METRICS, Panel, known, named, panel
from oruk_leaderboard.scoring.scorer import resolve_gold
from oruk_leaderboard.todict import ToDict


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one system stands.

    Attributes:
        system: Its name.
        rank: Rank to show; adjacent systems whose own test gives ``p >= alpha`` share one (protocol 0.1.0).
        figures: Figure name to its value, 0 to 1.
        intervals: Figure name to the ends of its percentile interval.
        rank_low: Best rank within the interval of ranks.
        rank_high: Worst rank within it.
        p_first: Share of the replicates in which the system is first.
        mean_rank: Mean rank over the replicates.
        counts: Clips by status (ok, refused, error, abstained, missing).
    """

    system: str
    rank: int
    figures: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    rank_low: int
    rank_high: int
    p_first: float
    mean_rank: float
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference between two systems, the better one first.

    Attributes:
        first: Name of the better system.
        second: Name of the other.
        difference: First minus second, in the ranking figure.
        low: Lower end of its percentile interval.
        high: Upper end.
        p: Two-sided p-value of the paired cluster bootstrap (protocol 0.1.0).
        p_holm: Adjusted for all pairs; from the normal tail where p is below the resolution of the replicates.
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
        cluster: What was resampled: ``speaker``, ``corpus`` or ``clip``.
        two_stage: Whether corpora were drawn first, then their speakers.
        n_clusters: Number of clusters.
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
    two_stage: bool
    n_clusters: int
    n_boot: int
    seed: int
    alpha: float
    on_error: str
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Ensemble(ToDict):
    """One system asked by several prompts.

    Attributes:
        metric: The figure.
        per_prompt: Prompt to its figure.
        mean: Mean over prompts.
        low: Lower end of the interval of the mean, all prompts on the same resampled clusters.
        high: Upper end.
        sd: Standard deviation over prompts (n - 1), 0 for one prompt.
        spread: Highest minus lowest.
    """

    metric: str
    per_prompt: dict[str, float]
    mean: float
    low: float
    high: float
    sd: float
    spread: float


@dataclass(frozen=True, slots=True)
class Shift(ToDict):
    """How far a figure on a subsample is from the figure on the whole set.

    Attributes:
        system: Its name.
        full: Figure on all clips.
        subsample: Figure on the subsample.
        difference: Subsample minus full.
        low: Lower end of its percentile interval, both parts on the same resampled clusters.
        high: Upper end.
        n_full: Clips of the set.
        n_subsample: Clips of the subsample.
    """

    system: str
    full: float
    subsample: float
    difference: float
    low: float
    high: float
    n_full: int
    n_subsample: int


def compare(
    systems: Mapping[str, Predictions | Path | str] | Sequence[Path | str],
    *,
    clips: Any = None,
    gold: Gold | Path | str | None = None,
    metric: str = "macro_f1",
    alpha: float = 0.05,
    cluster: str | None = None,
    two_stage: bool = False,
    n_boot: int = 2000,
    seed: int = 0,
    on_error: str = "neutral",
) -> Comparison:
    """Compare systems on one set: read what is given as files, put it side by side, rank it.

    Args:
        systems: Name to predictions, read before or as a file; or files, each named by its stem.
        clips: Folder of a rebuilt set, or an open one.
        gold: Gold file instead of a rebuilt set, or gold labels read before.
        metric: As for :func:`rank`.
        alpha: As for :func:`rank`.
        cluster: As for :func:`panel.panel`, like the options that follow.
        two_stage: Draw corpora first, then clusters within each.
        n_boot: Bootstrap replicates.
        seed: Seed of the draws.
        on_error: ``neutral`` or ``wrong``.

    Raises:
        PredictionError: A file, a row or an option cannot be used.
        MetricError: Statistics options out of range, or one cluster only.
    """
    answers = resolve_gold(clips, gold)
    read = {
        name: given
        if isinstance(given, Predictions)
        else read_predictions(Path(given), answers.clip_ids, classes=answers.classes)
        for name, given in (systems if isinstance(systems, Mapping) else named(systems)).items()
    }
    board = panel(read, answers, cluster=cluster, two_stage=two_stage, n_boot=n_boot, seed=seed, on_error=on_error)
    return rank(board, metric=metric, alpha=alpha)


def rank(board: Panel, *, metric: str = "macro_f1", alpha: float = 0.05) -> Comparison:
    """Rank the systems of a panel and test all pairs, every figure from the same draws.

    Args:
        board: Systems on one set.
        metric: Figure to rank by, one of ``METRICS``.
        alpha: One minus the confidence of the intervals, and level of the tests.

    Raises:
        PredictionError: An unknown metric.
        MetricError: An alpha that is no probability.
    """
    known(metric)
    clustered = board.margins()
    whole, drawn = clustered.sum(), statistics.resample(clustered, board.draws)
    figures = {name: function(whole) for name, function in METRICS.items()}
    replicates = {name: function(drawn) for name, function in METRICS.items()}
    ends = {name: statistics.percentile(values, alpha=alpha) for name, values in replicates.items()}
    order = sorted(range(len(board.names)), key=lambda system: (-figures[metric][system], board.names[system]))
    ranked = replicates[metric][order]
    pairs = _pairs(board, order, figures[metric], ranked, alpha)
    apart = np.zeros((len(order), len(order)), dtype=bool)
    for (one, other), pair in zip(itertools.combinations(range(len(order)), 2), pairs, strict=True):
        apart[one, other] = apart[other, one] = pair.separated
    neighbour = {(pair.first, pair.second): pair.p < alpha for pair in pairs}
    ordered = [board.names[system] for system in order]
    shown = statistics.display_ranks([neighbour[names] for names in itertools.pairwise(ordered)])
    best, worst = statistics.rank_intervals(ranked, alpha=alpha)
    first, mean = statistics.probability_of_first(ranked), statistics.ranks(ranked).mean(axis=1)
    standings = tuple(
        Standing(
            system=board.names[system],
            rank=shown[place],
            figures={name: float(values[system]) for name, values in figures.items()},
            intervals={name: (float(low[system]), float(high[system])) for name, (low, high) in ends.items()},
            rank_low=int(best[place]),
            rank_high=int(worst[place]),
            p_first=float(first[place]),
            mean_rank=float(mean[place]),
            counts=board.counts[system],
        )
        for place, system in enumerate(order)
    )
    return Comparison(
        metric=metric,
        n=len(board.gold.clip_ids),
        set_digest=board.gold.origin.get("set_digest"),
        cluster=board.cluster,
        two_stage=board.draws.parents is not None,
        n_clusters=board.draws.n_clusters,
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


def _pairs(
    board: Panel, order: Sequence[int], figures: NDArray[np.float64], ranked: NDArray[np.float64], alpha: float
) -> tuple[Pair, ...]:
    """Tests of all pairs, the systems taken in ``order``; replicates ``ranked`` are already in it."""
    right = (board.outcomes[order] == board.gold.labels).astype(np.float32)
    both = right @ right.T  # whole numbers below 2^24: exact
    found = []
    for one, other in itertools.combinations(range(len(order)), 2):
        only_first, only_second = int(both[one, one] - both[one, other]), int(both[other, other] - both[one, other])
        found.append((one, other, statistics.mcnemar(only_first, only_second)))
    if not found:
        return ()
    values = np.asarray(figures)[order]
    first, second = np.array([entry[0] for entry in found]), np.array([entry[1] for entry in found])
    difference = values[first] - values[second]
    differences = ranked[first] - ranked[second]
    low, high = statistics.percentile(differences, alpha=alpha)
    p = statistics.two_sided_p(differences)
    adjusted = statistics.holm(statistics.tail_p(differences, difference, n_clusters=board.draws.n_clusters))
    mcnemar_adjusted = statistics.holm([test.p for _, _, test in found])
    return tuple(
        Pair(
            first=board.names[order[one]],
            second=board.names[order[other]],
            difference=float(difference[row]),
            low=float(low[row]),
            high=float(high[row]),
            p=float(p[row]),
            p_holm=float(adjusted[row]),
            separated=bool(adjusted[row] < alpha),
            only_first=test.only_first,
            only_second=test.only_second,
            mcnemar_p=test.p,
            mcnemar_holm=float(mcnemar_adjusted[row]),
            mcnemar_method=test.method,
        )
        for row, (one, other, test) in enumerate(found)
    )


def ensemble(board: Panel, *, metric: str = "macro_f1", alpha: float = 0.05) -> Ensemble:
    """Summarise one system asked by several prompts, each prompt a system of the panel."""
    known(metric)
    clustered = board.margins()
    values = METRICS[metric](clustered.sum())
    low, high = statistics.percentile(METRICS[metric](statistics.resample(clustered, board.draws)).mean(0), alpha=alpha)
    return Ensemble(
        metric=metric,
        per_prompt={name: float(value) for name, value in zip(board.names, values, strict=True)},
        mean=float(values.mean()),
        low=float(low),
        high=float(high),
        sd=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        spread=float(values.max() - values.min()),
    )


def shift(
    board: Panel, subsample: NDArray[np.bool_], *, metric: str = "macro_f1", alpha: float = 0.05
) -> tuple[Shift, ...]:
    """How far each system's figure moves from the whole set to a subsample of it.

    Args:
        board: Systems on the whole set.
        subsample: Whether each clip is in the subsample, shape (n,).
        metric: One of ``METRICS``.
        alpha: One minus the confidence of the intervals.

    Raises:
        PredictionError: The subsample holds none of the clips, or the metric is unknown.
    """
    known(metric)
    if len(subsample) != len(board.gold.clip_ids) or not subsample.any():
        raise PredictionError("the subsample holds no clip of the set", expected="at least one clip of the set")
    parts = board.margins(), board.margins(subsample)
    full, part = (METRICS[metric](clustered.sum()) for clustered in parts)
    drawn = [METRICS[metric](statistics.resample(clustered, board.draws)) for clustered in parts]
    low, high = statistics.percentile(drawn[1] - drawn[0], alpha=alpha)
    return tuple(
        Shift(
            system=name,
            full=float(full[row]),
            subsample=float(part[row]),
            difference=float(part[row] - full[row]),
            low=float(low[row]),
            high=float(high[row]),
            n_full=len(subsample),
            n_subsample=int(subsample.sum()),
        )
        for row, name in enumerate(board.names)
    )


def failures(comparison: Comparison) -> list[str]:
    """One line for each system with clips that were not answered."""
    lines = []
    for standing in comparison.standings:
        failed = [f"{standing.counts[name]} {name}" for name in STATUSES[1:] if standing.counts[name]]
        if failed:
            lines.append(f"{standing.system}: {', '.join(failed)} of {comparison.n} clips")
    return lines
