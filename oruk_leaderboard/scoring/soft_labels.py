"""Figures against what listeners said, where the set has their votes: soft labels.

Means over clips (divergences, cosine, soft accuracy), the thresholded macro-F1 of EMO-SUPERB, and the accuracy by how
much the listeners of a clip agreed. A record has the sums by cluster, so that each figure and its interval can be
computed again from the record.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.answers.votes import Votes
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.metrics import Metric
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.scoring.intervals import Settings, bounds_of, mean_interval, some_units
from oruk_leaderboard.scoring.sampling import Clustering, as_margins
from oruk_leaderboard.scoring.tally import Tally, scored_outcomes
from oruk_leaderboard.statistics import (
    FEWEST,
    UNIT,
    Design,
    Draws,
    standard_error,
    support,
    t_interval,
)

THIRDS: tuple[str, ...] = ("low", "middle", "high")
"""Thirds of the clips by the entropy of their votes: low is where listeners agree."""


def vote_shares(votes: Sequence[Votes], gold: Gold) -> tuple[Ints, Floats]:
    """Votes of a set's clips over the set's classes.

    Args:
        votes: Votes of one or several files.
        gold: The set.

    Returns:
        Positions of the clips that have votes, ascending, and their votes, shape (n, k).

    Raises:
        PredictionError: Two files have votes for one clip, or votes are for a class that the set does not have.
    """
    place = {clip_id: at for at, clip_id in enumerate(gold.clip_ids)}
    table = np.zeros((len(gold.clip_ids), len(gold.classes)))
    for part in votes:
        if strays := [name for name in part.classes if name not in gold.classes]:
            raise PredictionError(
                "votes for a class that the set does not have",
                where=part.source,
                expected=", ".join(gold.classes),
                found=strays[0],
            )
        rows = np.array([place.get(clip_id, -1) for clip_id in part.clip_ids], np.int64)
        here = rows[rows >= 0]
        if (again := here[table[here].sum(axis=1) > 0]).size:
            raise PredictionError("a clip has votes in two files", where=part.source, found=gold.clip_ids[again[0]])
        for column, name in enumerate(part.classes):
            table[here, gold.classes.index(name)] = part.counts[rows >= 0, column]
    clips = np.flatnonzero(table.sum(axis=1) > 0)
    return clips, table[clips]


def soft_sums(
    clips: Ints, shares: Floats, gold: Gold, predictions: Predictions, drawn: Clustering, *, on_error: str
) -> dict[str, Any] | None:
    """Sums over the clips that have votes, by cluster; None where no clip has.

    Args:
        clips: Positions of these clips, shape (n,).
        shares: Their votes, shape (n, k).
        gold: The set.
        predictions: Predictions of all its clips.
        drawn: Cluster of each clip.
        on_error: How failed clips count.
    """
    if not clips.size:
        return None
    said = scored_outcomes(gold, predictions, on_error)[clips]
    entropy = metrics.entropies(shares)
    limits = np.quantile(entropy, [1 / 3, 2 / 3])
    third = np.searchsorted(limits, entropy, side="left")
    units, unit = np.unique(drawn.clusters.codes[clips], return_inverse=True)
    right = said == gold.labels[clips]

    def by_unit(values: Floats | NDArray[np.bool_], where: Ints) -> list[float]:
        total: list[float] = np.bincount(where, weights=values, minlength=len(units)).tolist()
        return total

    sums: dict[str, Any] = {
        "clips": len(clips),
        "entropy_limits": limits.tolist(),
        "units": units.tolist(),
        "by_unit": {
            "clips": np.bincount(unit, minlength=len(units)).tolist(),
            **{key: by_unit(metric.function(shares, said), unit) for key, metric in metrics.of_kind("chosen").items()},
            "thirds": [by_unit(third == part, unit) for part in range(3)],
            "right": [by_unit(right & (third == part), unit) for part in range(3)],
        },
        "scored": 0,
    }
    if predictions.scores is None:
        return sums
    have = ~np.isnan(predictions.scores[clips, 0])
    targets, scores, where = shares[have], predictions.scores[clips[have]], unit[have]
    if not have.any():
        return sums
    values = {key: metric.function(targets, scores) for key, metric in metrics.of_kind("votes").items()}
    sums["scored"] = int(have.sum())
    sums["by_unit"] |= {"scored": np.bincount(where, minlength=len(units)).tolist()}
    sums["by_unit"] |= {name: by_unit(part, where) for name, part in values.items()}
    margins = metrics.thresholded(targets, scores)
    table = np.concatenate([margins.tp, margins.gold, margins.predicted], axis=1)
    totals = np.zeros((len(units), table.shape[1]), np.int64)
    np.add.at(totals, where, table.astype(np.int64))
    sums["by_unit"]["thresholded"] = totals.tolist()
    return sums


def evaluate_soft(sums: Mapping[str, Any], tally: Tally, settings: Settings) -> dict[str, Any]:
    """Figures and intervals of :func:`soft_sums`, or of that part of a record.

    Args:
        sums: The sums.
        tally: Counts of the same set; its clusters are those of the sums.
        settings: Draws and intervals.
    """
    units = np.array(sums["units"], np.int64)
    by_unit = {name: np.array(values, np.float64) for name, values in sums["by_unit"].items()}
    design = some_units(tally, units)
    figures: dict[str, float | None] = dict.fromkeys(_shown())
    intervals: dict[str, list[float] | None] = dict.fromkeys(figures)
    for key, metric in metrics.of_kind("chosen", "votes").items():
        if key in by_unit:
            clips = by_unit["clips" if metric.kind == "chosen" else "scored"]
            figures[key], intervals[key] = mean_interval(by_unit[key], clips, design, settings, bounds_of(metric))
    if "thresholded" in by_unit:
        figures["thresholded_macro_f1"], intervals["thresholded_macro_f1"] = _macro_f1(by_unit, design, settings)
    thirds = []
    for part, name in enumerate(THIRDS):
        clips = by_unit["thirds"][part]
        if clips.sum():
            accuracy, interval = mean_interval(by_unit["right"][part], clips, design, settings, UNIT)
            thirds.append({"third": name, "n": int(clips.sum()), "accuracy": accuracy, "interval": interval})
    rests_on = support(design, by_unit["clips"])
    return {
        "figures": figures,
        "intervals": intervals,
        "by_entropy": thirds,
        "support": {"clusters": rests_on.clusters, "effective": rests_on.effective, "df": rests_on.df},
    }


def _macro_f1(by_unit: Mapping[str, Floats], design: Design, settings: Settings) -> tuple[float, list[float] | None]:
    table = by_unit["thresholded"]
    point = float(metrics.macro_f1(as_margins(table.sum(axis=0))))
    here = np.flatnonzero(by_unit["scored"] > 0)
    rests_on = support(design, by_unit["scored"][here], here)
    if rests_on.clusters < FEWEST:
        return point, None
    draws = Draws(design, n_boot=settings.n_boot, seed=settings.seed, rescaled=True)
    error = standard_error(metrics.macro_f1(as_margins(draws.sums(table))))
    return point, list(t_interval(point, error, rests_on, alpha=settings.alpha))


def _shown() -> dict[str, Metric]:
    """Metrics of this part of a record by key."""
    return metrics.of_kind("chosen", "votes", "thresholded")


def soft_lines(soft: Mapping[str, Any] | None) -> list[str]:
    """The figures against soft labels as sentences; none where no clip has votes."""
    if soft is None:
        return []

    def text(point: float, ends: Sequence[float] | None) -> str:
        return f"{point:.3f}" if ends is None else f"{point:.3f} ({ends[0]:.3f} to {ends[1]:.3f})"

    figures = [
        f"{metric.title} {text(soft['figures'][key], soft['intervals'][key])}"
        for key, metric in _shown().items()
        if soft["figures"][key] is not None
    ]
    thirds = [f"{row['third']} {text(row['accuracy'], row['interval'])}" for row in soft["by_entropy"]]
    return [
        f"Against the votes of {soft['clips']:,} clips ({soft['scored']:,} with class scores): {'; '.join(figures)}.",
        f"Accuracy by entropy of the votes, in thirds: {', '.join(thirds)}.",
    ]
