"""Intervals of a set and its parts, for one record: settings, figures, and one set of draws for all of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics import Margins, Metric
from oruk_leaderboard.metrics.checks import Ints
from oruk_leaderboard.scoring.sampling import Part, as_margins, design_of, part_of
from oruk_leaderboard.scoring.tally import Tally
from oruk_leaderboard.statistics import (
    FEWEST,
    METHODS,
    RESCALED,
    UNIT,
    Bounds,
    Design,
    Draws,
    Ends,
    Method,
    Support,
    bca,
    mean_error,
    percentile,
    standard_error,
    support,
    t_interval,
)

Floats = NDArray[np.float64]

HEADLINE: tuple[str, ...] = ("accuracy", "macro_f1")
"""Figures that every row of the leaderboard and every slice of a record has."""

SMALL = 100
"""Slices with fewer clips are flagged (the harness drops them)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What, beside the counts, decides a figure.

    Attributes:
        on_error: What failed clips count as: ``neutral`` or ``wrong``.
        cluster: ``speaker``, ``corpus`` or ``clip``.
        n_boot: Bootstrap replicates.
        seed: Seed of the draws.
        interval: How replicates become an interval (``statistics.METHODS``).
        alpha: One minus the coverage of the intervals.
        declared_classes: Classes the system can emit, or None where it can emit all or does not declare them.
    """

    on_error: str
    cluster: str = "speaker"
    n_boot: int = 2000
    seed: int = 0
    interval: Method = METHODS[0]
    alpha: float = 0.05
    declared_classes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse what no interval can be made from."""
        if self.interval not in METHODS:
            raise MetricError("bad option", where="interval", expected=" or ".join(METHODS), found=self.interval)
        for name, value, least in (("n_boot", self.n_boot, 1), ("seed", self.seed, 0)):
            if value < least:
                raise MetricError("bad option", where=name, expected=f"an integer of {least} or more", found=value)

    def to_dict(self) -> dict[str, Any]:
        """Field names to JSON values."""
        return {**asdict(self), "declared_classes": list(self.declared_classes) if self.declared_classes else None}

    @classmethod
    def from_dict(cls, evaluation: Mapping[str, Any]) -> "Settings":
        """Settings of a record's ``evaluation``."""
        values = {item.name: evaluation[item.name] for item in fields(cls)}
        return cls(**{**values, "declared_classes": tuple(values["declared_classes"] or ()) or None})


class Intervals:
    """Intervals of a set and its parts from one set of draws.

    A part takes its units' rows of the whole set's draws, so the number of its clips varies with the replicate, as it
    does in truth.

    Attributes:
        design: Clusters and strata of the set.
        draws: Draws from them; None where there is nothing to draw from.
        alpha: One minus the coverage of the intervals.
    """

    def __init__(
        self,
        names: Sequence[str],
        cluster: NDArray[np.int64],
        stratum: NDArray[np.int64],
        settings: Settings,
        *,
        kind: str,
    ) -> None:
        self._cluster, self._kind, self._settings = cluster, kind, settings
        self.alpha = settings.alpha
        self.design = design_of(names, cluster, stratum)
        self.draws = (
            Draws(self.design, n_boot=settings.n_boot, seed=settings.seed, rescaled=settings.interval in RESCALED)
            if self.design.counts.max() > 1
            else None
        )

    def whole(self, counts: NDArray[np.int64]) -> dict[str, Any]:
        """Intervals of all recorded figures of the whole set."""
        return self.part(counts, metrics.recorded())

    def part(self, counts: NDArray[np.int64], figures: Mapping[str, Metric]) -> dict[str, Any]:
        """Intervals of some figures, and what they rest on.

        Args:
            counts: Scored counts of the groups, shape (g, k, k + 1).
            figures: Metrics by key.
        """
        return self._of_part(part_of(self.design, self._cluster, counts), figures)

    def slice(
        self, counts: NDArray[np.int64], groups: NDArray[np.int64], *, over: NDArray[np.bool_] | None
    ) -> dict[str, Any]:
        """Figures of a part of the set with their intervals.

        Args:
            counts: Scored counts of the part's groups, shape (g, k, k + 1).
            groups: Index of these groups in the tally, shape (g,).
            over: Classes of the macro-F1, shape (k,); None for those that the part's gold labels have.
        """
        total = metrics.margins(counts.sum(axis=0))
        over = metrics.present(total) if over is None else over
        part = part_of(self.design, self._cluster, counts, groups, over)
        point = Margins(total.tp[over], total.gold[over], total.predicted[over])
        headline = {name: metrics.REGISTRY[name] for name in HEADLINE}
        n = int(counts.sum())
        return {
            "n": n,
            "classes": int(over.sum()),
            **{name: float(metric.function(point)) for name, metric in headline.items()},
            **self._of_part(part, headline),
            "small": n < SMALL,
        }

    def _of_part(self, part: Part, figures: Mapping[str, Metric]) -> dict[str, Any]:
        support, draws = part.support, self.draws
        enough = draws is not None and support.clusters >= FEWEST
        return {
            "intervals": self._ends(draws, part, figures) if draws is not None and enough else dict.fromkeys(figures),
            "cluster": "clip" if support.loose_share == 1 else self._kind,
            "clusters": support.clusters,
            "effective": support.effective,
            "df": support.df,
            "loose_share": support.loose_share,
        }

    def _ends(self, draws: Draws, part: Part, figures: Mapping[str, Metric]) -> dict[str, list[float]]:
        total = part.table.sum(axis=0)
        sums = draws.sums(part.table, part.units)
        # A replicate may have no clip of a small part; it says nothing about it.
        k = part.table.shape[1] // 3
        sums = sums[sums[:, k : 2 * k].sum(axis=1) > 0]
        jackknife = as_margins(total - part.table) if self._settings.interval == "bca" else None
        found = {}
        for name, metric in figures.items():
            values, point = metric.function(as_margins(sums)), float(metric.function(as_margins(total)))
            left_out = None if jackknife is None else metric.function(jackknife)
            found[name] = list(self._interval(point, values, left_out, part.support, bounds_of(metric)))
        return found

    def _interval(
        self, point: float, values: Floats, jackknife: Floats | None, support: Support, bounds: Bounds
    ) -> Ends:
        method, alpha = self._settings.interval, self._settings.alpha
        # At a bound every replicate is the same, and no resampling can say how far the truth is from it.
        if method in RESCALED or not bounds.low < point < bounds.high:
            error = standard_error(values)
            return t_interval(point, error, support, alpha=alpha, bounds=bounds, logit=method == "logit-t")
        if jackknife is not None:
            return bca(point, values, jackknife, alpha=alpha)
        low, high = percentile(values, alpha=alpha)
        return float(low), float(high)


def bounds_of(metric: Metric) -> Bounds:
    """Smallest and largest value of a metric, as intervals take them."""
    return Bounds(metric.low, metric.high)


def some_units(tally: Tally, units: Ints) -> Design:
    """Design of some of a set's clusters, shape (u,): what is known of their clips alone."""
    everything = design_of(tally.clusters, tally.cluster, tally.stratum)
    return Design(
        np.unique(everything.stratum[units], return_inverse=True)[1].astype(np.int64), everything.loose[units]
    )


def mean_interval(
    totals: Floats, clips: Floats, design: Design, settings: Settings, bounds: Bounds = UNIT
) -> tuple[float, list[float] | None]:
    """A mean over clips and its interval; no interval from too few clusters.

    Args:
        totals: Sum of the clips' values in each unit, shape (u,).
        clips: Clips of each unit, or their weight, shape (u,).
        design: The units.
        settings: Coverage of the interval.
        bounds: Smallest and largest mean.
    """
    here = np.flatnonzero(clips > 0)
    point = float(totals.sum() / clips.sum())
    rests_on = support(design, clips[here], here)
    if rests_on.clusters < FEWEST:
        return point, None
    error = mean_error(totals[here], clips[here], design, here)
    low, high = t_interval(point, error, rests_on, alpha=settings.alpha, bounds=bounds)
    return point, [low, high] if math.isfinite(high) else None
