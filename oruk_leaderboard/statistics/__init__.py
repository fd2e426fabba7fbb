"""How sure a figure is: cluster bootstrap, intervals, paired tests, ranks and what a set of clips can resolve."""

from oruk_leaderboard.statistics.intervals import Interval, bca, bootstrap, interval, percentile, wilson
from oruk_leaderboard.statistics.paired import (
    McNemar,
    Paired,
    holm,
    mcnemar,
    paired_bootstrap,
    tail_p,
    two_sided_p,
)
from oruk_leaderboard.statistics.power import Floor, minimum_detectable_difference, resolution_floor
from oruk_leaderboard.statistics.ranks import cliques, display_ranks, probability_of_first, rank_intervals, ranks
from oruk_leaderboard.statistics.resampling import Clusters, Draws, clusters, leave_one_out, resample

__all__ = [
    "Clusters",
    "Draws",
    "Floor",
    "Interval",
    "McNemar",
    "Paired",
    "bca",
    "bootstrap",
    "cliques",
    "clusters",
    "display_ranks",
    "holm",
    "interval",
    "leave_one_out",
    "mcnemar",
    "minimum_detectable_difference",
    "paired_bootstrap",
    "percentile",
    "probability_of_first",
    "rank_intervals",
    "ranks",
    "resample",
    "resolution_floor",
    "tail_p",
    "two_sided_p",
    "wilson",
]
