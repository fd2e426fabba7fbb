"""From counts to figures: everything a record states, as one function of its counts and settings.

``score`` runs it on fresh counts and ``verify`` on those of a record, so that a record is true exactly when its
counts give its figures again.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics import Margins
from oruk_leaderboard.scoring.tally import EXTRA_OUTCOMES, Tally
from oruk_leaderboard.statistics import Draws, bca, percentile

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
        interval: ``percentile`` or ``bca`` (the whole set's figures; slices have percentile intervals).
        alpha: One minus the coverage of the intervals.
        two_stage: Whether corpora are drawn first, then speakers within each drawn corpus.
        declared_classes: Classes the system can emit, or None where it can emit all or nobody has said.
    """

    on_error: str = "neutral"
    cluster: str = "clip"
    n_boot: int = 2000
    seed: int = 0
    interval: str = "percentile"
    alpha: float = 0.05
    two_stage: bool = False
    declared_classes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse what no interval can be made from."""
        if self.two_stage and self.cluster != "speaker":
            raise MetricError("two stages need speakers", where="cluster", expected="speaker", found=self.cluster)
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
    resampler = _Resampler(tally, settings)
    total = metrics.margins(counts.sum(axis=0))
    figures = {name: float(metric(total)) for name, metric in FIGURES.items()}
    present = metrics.present(total)
    document: dict[str, Any] = {
        "n": int(counts.sum()),
        "figures": figures,
        "gold_classes": int(present.sum()),
        "macro_f1_present": float(metrics.macro_f1(total, over=present)),
        "intervals": resampler.intervals(counts),
        "per_class": _per_class(tally.classes, total),
        "confusion": {
            "rows": list(tally.classes),
            "columns": [*tally.classes, *EXTRA_OUTCOMES],
            "counts": tally.counts.sum(axis=0).tolist(),
        },
        "undeclared": _undeclared(tally, settings),
        "fair_subset": _fair_subset(tally, counts, settings, resampler),
        "slices": {name: _slices(tally, counts, name, resampler) for name in tally.attributes},
    }
    document["slices"]["class"] = _class_slices(tally, counts, resampler)
    return document


class _Resampler:
    """Bootstrap replicates of margins; one set of draws serves every figure and slice.

    A slice takes its part of the whole set's draws (the clusters are drawn from the whole set, not from the slice), so
    the number of its clips varies with the replicate, as it does in truth. A slice within one cluster cannot be
    resampled that way: its clips are resampled instead and its row says so (``cluster: clip``).
    """

    def __init__(self, tally: Tally, settings: Settings) -> None:
        self._tally, self._settings = tally, settings
        # How often each cluster is drawn, shape (clusters, replicates): a slice takes rows of it.
        self._weights: NDArray[np.uint16] | None = None
        if len(tally.clusters) > 1:
            parents = None
            if settings.two_stage:
                # A speaker's cluster is named corpus/speaker.
                corpora = [name.partition("/")[0] for name in tally.clusters]
                parents = np.unique(corpora, return_inverse=True)[1].astype(np.int64)
            draws = Draws(len(tally.clusters), n_boot=settings.n_boot, seed=settings.seed, parents=parents)
            self._weights = np.empty((len(tally.clusters), settings.n_boot), np.uint16)
            start = 0
            for chunk in draws.weights():
                self._weights[:, start : start + len(chunk)] = chunk.T
                start += len(chunk)

    def intervals(self, counts: NDArray[np.int64]) -> dict[str, list[float]]:
        """Interval of each figure of the whole set."""
        by_cluster = _by_cluster(counts, self._tally.cluster, max(1, len(self._tally.clusters)))
        drawn = self._draw(by_cluster, np.ones(counts.shape[1], bool))
        total = metrics.margins(counts.sum(axis=0))
        found = {}
        for name, metric in FIGURES.items():
            values = metric(drawn.replicates)
            if self._settings.interval == "bca":
                left_out = Margins(
                    total.tp - drawn.units.tp, total.gold - drawn.units.gold, total.predicted - drawn.units.predicted
                )
                jackknife = np.repeat(metric(left_out), drawn.times)
                found[name] = list(bca(float(metric(total)), values, jackknife, alpha=self._settings.alpha))
            else:
                found[name] = self._percentile(values)
        return found

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
        chosen = _restrict(total, over)
        clusters, place = np.unique(self._tally.cluster[groups], return_inverse=True)
        drawn = self._draw(_by_cluster(counts, place, len(clusters)), over, clusters)
        replicates = drawn.replicates
        # A replicate may hold no clip of a small slice; it says nothing about it.
        some = replicates.gold.sum(axis=-1) > 0
        replicates = Margins(replicates.tp[some], replicates.gold[some], replicates.predicted[some])
        n = int(counts.sum())
        return {
            "n": n,
            "classes": int(over.sum()),
            **{name: float(FIGURES[name](chosen)) for name in HEADLINE},
            "intervals": {name: self._percentile(FIGURES[name](replicates)) for name in HEADLINE},
            "cluster": drawn.kind,
            "clusters": n if drawn.kind == "clip" else len(clusters),
            "small": n < SMALL,
        }

    def _percentile(self, values: Floats) -> list[float]:
        low, high = percentile(values, alpha=self._settings.alpha)
        return [float(low), float(high)]

    def _draw(
        self, by_cluster: NDArray[np.int64], over: NDArray[np.bool_], clusters: NDArray[np.int64] | None = None
    ) -> "_Drawn":
        """Draw clusters, or the clips of a part that lies within one.

        Args:
            by_cluster: Counts of each cluster, shape (c, k, k + 1).
            over: Classes to keep, shape (k,).
            clusters: Indices of the clusters in the tally, shape (c,); None for all.
        """
        weights: NDArray[np.float32]
        if self._weights is not None and len(by_cluster) > 1:
            whole = clusters is None or len(clusters) == len(self._weights)
            weights = (self._weights if whole else self._weights[clusters]).astype(np.float32)
            units = _restrict(metrics.margins(by_cluster), over)
            times, kind = np.ones(len(by_cluster), np.int64), self._settings.cluster
        else:
            # A multinomial over the cells of the confusion matrix is the bootstrap of its clips, and needs no more
            # than the matrix to be done again.
            cells = by_cluster.sum(axis=0)
            gold, outcome = np.nonzero(cells)
            times, kind = cells[gold, outcome], "clip"
            rng = np.random.default_rng(self._settings.seed)
            weights = rng.multinomial(cells.sum(), times / cells.sum(), self._settings.n_boot).astype(np.float32).T
            single = np.zeros((len(gold), *cells.shape))
            single[np.arange(len(gold)), gold, outcome] = 1
            units = _restrict(metrics.margins(single), over)
        columns = np.concatenate([units.tp, units.gold, units.predicted], axis=1)
        # Sums of whole numbers below 2^24 are exact in float32, and twice as fast.
        exact = times.sum() * columns.max(initial=0) < 2**24
        table = columns.T.astype(np.float32) if exact else columns.T
        sums = (table @ weights).T.astype(np.float64)
        return _Drawn(units, times, Margins(*np.split(sums, 3, axis=1)), kind)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What was resampled.

    Attributes:
        units: Margins of each unit (a cluster, or the clips of one cell), shape (u, k).
        times: How many of each unit there are, shape (u,).
        replicates: Margins of each replicate, shape (b, k), of the classes that were asked for.
        kind: ``speaker``, ``corpus`` or ``clip``.
    """

    units: Margins
    times: NDArray[np.int64]
    replicates: Margins
    kind: str


def _by_cluster(counts: NDArray[np.int64], cluster: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Counts of the groups summed by cluster, shape (n, k, k + 1)."""
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(n))
    return np.add.reduceat(counts[order], starts, axis=0)


def _restrict(margins: Margins, over: NDArray[np.bool_]) -> Margins:
    """Margins of some classes only."""
    return Margins(margins.tp[..., over], margins.gold[..., over], margins.predicted[..., over])


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


def _slices(tally: Tally, counts: NDArray[np.int64], name: str, resampler: _Resampler) -> list[dict[str, Any]]:
    """One row for each value of an attribute, in code-point order."""
    attribute = tally.attributes[name]
    rows = []
    for code, value in enumerate(attribute.values):
        groups = np.flatnonzero(attribute.codes == code)
        if groups.size:
            rows.append({"value": value, **resampler.slice(counts[groups], groups, over=None)})
    return rows


def _class_slices(tally: Tally, counts: NDArray[np.int64], resampler: _Resampler) -> list[dict[str, Any]]:
    """One row for each gold class that has clips; its accuracy is the class's recall."""
    rows = []
    for at, name in enumerate(tally.classes):
        groups = np.flatnonzero(counts[:, at].sum(axis=-1))
        if groups.size:
            part = np.zeros_like(counts[groups])
            part[:, at] = counts[groups, at]
            rows.append({"value": name, **resampler.slice(part, groups, over=None)})
    return rows


def _fair_subset(
    tally: Tally, counts: NDArray[np.int64], settings: Settings, resampler: _Resampler
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
    return {"declared_classes": declared, **resampler.slice(part, groups, over=able)}


def _undeclared(tally: Tally, settings: Settings) -> dict[str, int]:
    """Predictions of classes that the system's card says it cannot emit."""
    predicted = tally.counts.sum(axis=(0, 1))
    return {
        name: int(predicted[at])
        for at, name in enumerate(tally.classes)
        if settings.declared_classes and name not in settings.declared_classes and predicted[at]
    }


def score_sums(gold: Gold, predictions: Predictions) -> dict[str, Any] | None:
    """Sums over the clips that have class scores, from which their figures follow; None without scores."""
    if predictions.scores is None:
        return None
    have = ~np.isnan(predictions.scores[:, 0])
    labels, scores = gold.labels[have], predictions.scores[have]
    n = len(labels)
    diagram = metrics.reliability(labels, scores)
    return {
        "n": n,
        "top2_hits": round(metrics.top_k_accuracy(labels, scores, k=2) * n),
        "log_loss_sum": metrics.log_loss(labels, scores) * n,
        "brier_sum": metrics.brier(labels, scores) * n,
        "reliability": {
            "edges": diagram.edges.tolist(),
            "count": diagram.count.tolist(),
            "confidence": diagram.confidence.tolist(),
            "accuracy": diagram.accuracy.tolist(),
        },
    }


def evaluate_scores(sums: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of class scores beside the sums they follow from."""
    diagram = metrics.Reliability(**{name: np.array(values) for name, values in sums["reliability"].items()})
    figures = {
        "top2": sums["top2_hits"] / sums["n"],
        "log_loss": sums["log_loss_sum"] / sums["n"],
        "brier": sums["brier_sum"] / sums["n"],
        "ece": metrics.ece(diagram),
    }
    return {**sums, "figures": figures}
