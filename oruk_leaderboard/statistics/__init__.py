"""How sure a figure is: draws of clusters, intervals, paired tests, ranks and what a set of clips can resolve."""

from oruk_leaderboard.statistics.intervals import (
    FEW,
    FEWEST,
    METHODS,
    RESCALED,
    UNIT,
    Bounds,
    Ends,
    Method,
    bca,
    mean_error,
    percentile,
    standard_error,
    t_interval,
    wilson,
)
from oruk_leaderboard.statistics.paired import McNemar, holm, mcnemar, t_p
from oruk_leaderboard.statistics.power import minimum_detectable_difference
from oruk_leaderboard.statistics.ranks import RankSets, cliques, probability_of_first, rank_sets, ranks
from oruk_leaderboard.statistics.resampling import Design, Draws, Support, support
from oruk_leaderboard.statistics.student import t_quantile, t_sf

__all__ = [
    "FEW",
    "FEWEST",
    "METHODS",
    "RESCALED",
    "UNIT",
    "Bounds",
    "Design",
    "Draws",
    "Ends",
    "McNemar",
    "Method",
    "RankSets",
    "Support",
    "bca",
    "cliques",
    "holm",
    "mcnemar",
    "mean_error",
    "minimum_detectable_difference",
    "percentile",
    "probability_of_first",
    "rank_sets",
    "ranks",
    "standard_error",
    "support",
    "t_interval",
    "t_p",
    "t_quantile",
    "t_sf",
    "wilson",
]
