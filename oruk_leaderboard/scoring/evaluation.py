"""From counts to figures: everything a record states, as one function of its counts and settings.

``score`` runs it on fresh counts and ``verify`` on those of a record, so that a record is true exactly when its
counts give its figures again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics import Margins
from oruk_leaderboard.scoring.sampling import Part, as_margins, design_of, part_of
from oruk_leaderboard.scoring.tally import EXTRA_OUTCOMES, Tally
from oruk_leaderboard.statistics import (
    FEWEST,
    METHODS,
    RESCALED,
    UNIT,
    Bounds,
    Draws,
    Ends,
    Method,
    Support,
    bca,
    percentile,
    standard_error,
    t_interval,
)

Floats = NDArray[np.float64]

FIGURES: Mapping[str, Callable[[Margins], Floats]] = {
    "accuracy": metrics.accuracy,
    "macro_f1": metrics.macro_f1,
    "uar": metrics.uar,
    "weighted_f1": metrics.weighted_f1,
    "micro_f1": metrics.micro_f1,
    "mcc": metrics.mcc,
    "kappa": metrics.cohen_kappa,
}
"""Figures of a whole set; ``macro_f1`` is over all classes of the label space, present in the gold labels or not."""

BOUNDS: Mapping[str, Bounds] = dict.fromkeys(("mcc", "kappa"), Bounds(-1.0, 1.0))
"""Smallest and largest value of the figures that are no fractions."""

HEADLINE: tuple[str, ...] = ("accuracy", "macro_f1")
"""Figures that slices have too."""

SMALL = 100
"""Slices with fewer clips are flagged (the harness drops them)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What, beside the counts, decides a figure.

    Attributes:
        on_error: ``neutral`` or ``wrong``.
        cluster: ``speaker``, ``corpus`` or ``clip``.
        n_boot: Bootstrap replicates.
        seed: Seed of the draws.
        interval: How replicates become an interval (``statistics.METHODS``).
        alpha: One minus the coverage of the intervals.
        declared_classes: Classes the system can emit, or None where it can emit all or nobody has said.
    """

    on_error: str = "neutral"
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


def evaluate(tally: Tally, settings: Settings) -> dict[str, Any]:
    """Figures, intervals, per-class figures, slices, fair subset and confusion matrix of counts.

    Returns:
        JSON values; fractions unless a metric says otherwise; the keys are those of ``schema/record.schema.json``.
    """
    counts = tally.scored(settings.on_error)
    intervals = _Intervals(tally.clusters, tally.cluster, tally.stratum, settings, kind=settings.cluster)
    total = metrics.margins(counts.sum(axis=0))
    figures = {name: float(metric(total)) for name, metric in FIGURES.items()}
    present = metrics.present(total)
    headline = intervals.whole(counts)
    document: dict[str, Any] = {
        "n": int(counts.sum()),
        "figures": figures,
        "gold_classes": int(present.sum()),
        "macro_f1_present": float(metrics.macro_f1(total, over=present)),
        "intervals": headline.pop("intervals"),
        "support": headline,
        "other_corpora": _other_corpora(tally, counts, settings),
        "per_class": _per_class(tally.classes, total),
        "confusion": {
            "rows": list(tally.classes),
            "columns": [*tally.classes, *EXTRA_OUTCOMES],
            "counts": tally.counts.sum(axis=0).tolist(),
        },
        "undeclared": _undeclared(tally, settings),
        "fair_subset": _fair_subset(tally, counts, settings, intervals),
        "slices": {name: _slices(tally, counts, name, intervals) for name in tally.attributes},
    }
    document["slices"]["class"] = _class_slices(tally, counts, intervals)
    return document


class _Intervals:
    """Intervals of a set and its parts from one set of draws.

    A part takes its units' rows of the whole set's draws, so the number of its clips varies with the replicate, as it
    does in truth.
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
        self._design = design_of(names, cluster, stratum)
        self._draws = (
            Draws(self._design, n_boot=settings.n_boot, seed=settings.seed, rescaled=settings.interval in RESCALED)
            if self._design.counts.max() > 1
            else None
        )

    def whole(self, counts: NDArray[np.int64]) -> dict[str, Any]:
        """Intervals of all figures of the whole set."""
        return self._of_part(part_of(self._design, self._cluster, counts), FIGURES)

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
        part = part_of(self._design, self._cluster, counts, groups, over)
        point = Margins(total.tp[over], total.gold[over], total.predicted[over])
        headline = {name: FIGURES[name] for name in HEADLINE}
        n = int(counts.sum())
        return {
            "n": n,
            "classes": int(over.sum()),
            **{name: float(metric(point)) for name, metric in headline.items()},
            **self._of_part(part, headline),
            "small": n < SMALL,
        }

    def _of_part(self, part: Part, figures: Mapping[str, Callable[[Margins], Floats]]) -> dict[str, Any]:
        support, draws = part.support, self._draws
        enough = draws is not None and support.clusters >= FEWEST
        return {
            "intervals": self._ends(draws, part, figures) if draws is not None and enough else dict.fromkeys(figures),
            "cluster": "clip" if support.loose_share == 1 else self._kind,
            "clusters": support.clusters,
            "effective": support.effective,
            "df": support.df,
            "loose_share": support.loose_share,
        }

    def _ends(
        self, draws: Draws, part: Part, figures: Mapping[str, Callable[[Margins], Floats]]
    ) -> dict[str, list[float]]:
        total = part.table.sum(axis=0)
        sums = draws.sums(part.table, part.units)
        # A replicate may have no clip of a small part; it says nothing about it.
        k = part.table.shape[1] // 3
        sums = sums[sums[:, k : 2 * k].sum(axis=1) > 0]
        jackknife = as_margins(total - part.table) if self._settings.interval == "bca" else None
        found = {}
        for name, metric in figures.items():
            values, point = metric(as_margins(sums)), float(metric(as_margins(total)))
            left_out = None if jackknife is None else metric(jackknife)
            found[name] = list(self._interval(point, values, left_out, part.support, BOUNDS.get(name, UNIT)))
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


def _other_corpora(tally: Tally, counts: NDArray[np.int64], settings: Settings) -> dict[str, Any] | None:
    """Intervals for other corpora: corpora are drawn. None where the draws are not of speakers within corpora."""
    if len(tally.strata) < 2:
        return None
    one = np.zeros_like(tally.stratum)
    return _Intervals(tally.strata, tally.stratum, one, settings, kind="corpus").whole(counts)


def _per_class(classes: tuple[str, ...], total: Margins) -> dict[str, dict[str, float | int]]:
    figures = metrics.per_class(total)
    return {
        name: {
            "precision": float(figures.precision[at]),
            "recall": float(figures.recall[at]),
            "f1": float(figures.f1[at]),
            "support": int(figures.support[at]),
            "predicted": int(figures.predicted[at]),
        }
        for at, name in enumerate(classes)
    }


def _slices(tally: Tally, counts: NDArray[np.int64], name: str, intervals: _Intervals) -> list[dict[str, Any]]:
    """One row for each value of an attribute, in code-point order."""
    attribute = tally.attributes[name]
    rows = []
    for code, value in enumerate(attribute.values):
        groups = np.flatnonzero(attribute.codes == code)
        if groups.size:
            rows.append({"value": value, **intervals.slice(counts[groups], groups, over=None)})
    return rows


def _class_slices(tally: Tally, counts: NDArray[np.int64], intervals: _Intervals) -> list[dict[str, Any]]:
    """One row for each gold class that has clips; its accuracy is the class's recall."""
    rows = []
    for at, name in enumerate(tally.classes):
        groups = np.flatnonzero(counts[:, at].sum(axis=-1))
        if groups.size:
            part = np.zeros_like(counts[groups])
            part[:, at] = counts[groups, at]
            rows.append({"value": name, **intervals.slice(part, groups, over=None)})
    return rows


def _fair_subset(
    tally: Tally, counts: NDArray[np.int64], settings: Settings, intervals: _Intervals
) -> dict[str, Any] | None:
    """Figures on the clips whose gold class the system can emit, over those classes; None where it can emit all."""
    if settings.declared_classes is None or set(settings.declared_classes) >= set(tally.classes):
        return None
    able = np.array([name in settings.declared_classes for name in tally.classes])
    groups = np.flatnonzero(counts[:, able].sum(axis=(1, 2)))
    if not groups.size:
        return None
    part = counts[groups] * able[None, :, None]
    declared = [name for name in tally.classes if name in settings.declared_classes]
    return {"declared_classes": declared, **intervals.slice(part, groups, over=able)}


def _undeclared(tally: Tally, settings: Settings) -> dict[str, int]:
    """Predictions of classes that the system's card says it cannot emit."""
    predicted = tally.counts.sum(axis=(0, 1))
    return {
        name: int(predicted[at])
        for at, name in enumerate(tally.classes)
        if settings.declared_classes and name not in settings.declared_classes and predicted[at]
    }
