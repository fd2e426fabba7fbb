"""Figures of class scores: top-2 accuracy, losses and calibration over the clips that have scores.

A record has their sums by cluster, so that every figure and its interval can be computed again from the record.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.metrics.checks import Floats
from oruk_leaderboard.scoring.sampling import Clustering, design_of
from oruk_leaderboard.scoring.tally import Tally
from oruk_leaderboard.statistics import FEWEST, Bounds, mean_error, support, t_interval

MEANS: Mapping[str, Bounds] = {
    "top2": Bounds(),
    "log_loss": Bounds(0.0, float("inf")),
    "brier": Bounds(0.0, 2.0),
    "ece": Bounds(),
}
"""Figures, each a mean over clips, with their smallest and largest value."""


def score_sums(gold: Gold, predictions: Predictions, drawn: Clustering) -> dict[str, Any] | None:
    """Sums over the clips that have class scores, by cluster; None without scores.

    The sum of ``ece`` is that of ``± (right - confidence)`` with the sign of the clip's bin: its mean over all clips
    is the expected calibration error, and its spread by cluster gives the interval at these signs.
    """
    if predictions.scores is None:
        return None
    have = ~np.isnan(predictions.scores[:, 0])
    labels, scores, said = gold.labels[have], predictions.scores[have], predictions.labels[have]
    cluster, size = drawn.clusters.codes[have], len(drawn.clusters.values)
    diagram = metrics.reliability(labels, scores)
    confidence, top = scores.max(axis=1), scores.argmax(axis=1)
    bins = metrics.confidence_bins(confidence, diagram.edges)
    sign = np.sign(diagram.accuracy - diagram.confidence)[bins]
    values = {
        "top2": metrics.in_top_k(labels, scores, k=2),
        "log_loss": metrics.log_losses(labels, scores),
        "brier": metrics.brier_scores(labels, scores),
        "ece": sign * ((top == labels) - confidence),
    }
    return {
        "n": len(labels),
        "label_not_top": int((said != top).sum()),
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
    totals = {name: float(by_cluster[name].sum()) for name in MEANS}
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
        low, high = t_interval(figures[name], error, rests_on, alpha=alpha, bounds=MEANS[name])
        return [low, high]

    return {
        "n": sums["n"],
        "label_not_top": sums["label_not_top"],
        "top2_hits": round(totals["top2"]),
        "log_loss_sum": totals["log_loss"],
        "brier_sum": totals["brier"],
        "reliability": sums["reliability"],
        "by_cluster": sums["by_cluster"],
        "figures": figures,
        "intervals": {name: ends(name) for name in MEANS},
    }
