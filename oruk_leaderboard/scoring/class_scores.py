"""Figures of class scores: top-2 accuracy, losses and calibration over the clips that have scores.

A record has their sums by cluster, so that every figure and its interval can be computed again from the record.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.metrics.checks import Floats
from oruk_leaderboard.scoring.intervals import bounds_of
from oruk_leaderboard.scoring.sampling import Clustering, design_of
from oruk_leaderboard.scoring.tally import Tally
from oruk_leaderboard.statistics import FEWEST, mean_error, support, t_interval


def score_sums(gold: Gold, predictions: Predictions, drawn: Clustering) -> dict[str, Any] | None:
    """Sums over the clips that have class scores, by cluster; None without scores.

    The calibration error is a sum of signed gaps (``metrics.calibration_gaps``), whose spread by cluster gives its
    interval at these signs.
    """
    if predictions.scores is None:
        return None
    have = ~np.isnan(predictions.scores[:, 0])
    labels, scores, said = gold.labels[have], predictions.scores[have], predictions.labels[have]
    cluster, size = drawn.clusters.codes[have], len(drawn.clusters.values)
    diagram = metrics.reliability(labels, scores)
    values = {key: metric.function(labels, scores) for key, metric in metrics.of_kind("scores").items()}
    return {
        "n": len(labels),
        "label_not_top": int((said != scores.argmax(axis=1)).sum()),
        "reliability": {
            "edges": diagram.edges.tolist(),
            "count": diagram.count.tolist(),
            "confidence": diagram.confidence.tolist(),
            "accuracy": diagram.accuracy.tolist(),
        },
        "by_cluster": {
            "clips": np.bincount(cluster, minlength=size).tolist(),
            **{name: np.bincount(cluster, weights=part, minlength=size).tolist() for name, part in values.items()},
        },
    }


def evaluate_scores(sums: Mapping[str, Any], tally: Tally, *, alpha: float) -> dict[str, Any]:
    """Figures and intervals of class scores beside the sums they follow from.

    Args:
        sums: What :func:`score_sums` gave, or that part of a record.
        tally: Counts of the same clips; its clusters are those of the sums.
        alpha: One minus the coverage of the intervals.
    """
    diagram = metrics.Reliability(**{name: np.array(values) for name, values in sums["reliability"].items()})
    by_cluster = {name: np.array(values, np.float64) for name, values in sums["by_cluster"].items()}
    clips = by_cluster["clips"]
    means = metrics.of_kind("scores")
    totals = {name: float(by_cluster[name].sum()) for name in means}
    figures = {name: total / sums["n"] for name, total in totals.items()}
    figures["ece"] = metrics.ece(diagram)
    design = design_of(tally.clusters, tally.cluster, tally.stratum)
    units = np.flatnonzero(clips > 0)
    rests_on = support(design, clips[units], units)

    def ends(name: str) -> list[float] | None:
        if rests_on.clusters < FEWEST:
            return None
        part: Floats = by_cluster[name][units]
        error = mean_error(part, clips[units], design, units)
        low, high = t_interval(figures[name], error, rests_on, alpha=alpha, bounds=bounds_of(means[name]))
        return [low, high] if math.isfinite(high) else None

    return {
        "n": sums["n"],
        "label_not_top": sums["label_not_top"],
        "top2_hits": round(totals["top2"]),
        "log_loss_sum": totals["log_loss"],
        "brier_sum": totals["brier"],
        "reliability": sums["reliability"],
        "by_cluster": sums["by_cluster"],
        "figures": figures,
        "intervals": {name: ends(name) for name in means},
    }
