"""From counts to figures: everything a record states, as one function of its counts and settings.

``score`` runs it on fresh counts and ``verify`` on those of a record, so that a record is true exactly when its
counts give its figures again.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.metrics import Margins
from oruk_leaderboard.scoring.gaps import gaps
from oruk_leaderboard.scoring.intervals import Intervals, Settings
from oruk_leaderboard.scoring.tally import EXTRA_OUTCOMES, Tally


def evaluate(tally: Tally, settings: Settings) -> dict[str, Any]:
    """Figures, intervals, per-class figures, slices, fair subset and confusion matrix of counts.

    Returns:
        JSON values; fractions unless a metric says otherwise; the keys are those of ``schema/record.schema.json``.
    """
    counts = tally.scored(settings.on_error)
    intervals = Intervals(tally.clusters, tally.cluster, tally.stratum, settings, kind=settings.cluster)
    total = metrics.margins(counts.sum(axis=0))
    figures = {name: float(metric.function(total)) for name, metric in metrics.recorded().items()}
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
    document["gaps"] = gaps(tally, counts, intervals)
    return document


def _other_corpora(tally: Tally, counts: NDArray[np.int64], settings: Settings) -> dict[str, Any] | None:
    """Intervals for other corpora: corpora are drawn. None where the draws are not of speakers within corpora."""
    if len(tally.strata) < 2:
        return None
    one = np.zeros_like(tally.stratum)
    return Intervals(tally.strata, tally.stratum, one, settings, kind="corpus").whole(counts)


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


def _slices(tally: Tally, counts: NDArray[np.int64], name: str, intervals: Intervals) -> list[dict[str, Any]]:
    """One row for each value of an attribute, in code-point order."""
    attribute = tally.attributes[name]
    rows = []
    for code, value in enumerate(attribute.values):
        groups = np.flatnonzero(attribute.codes == code)
        if groups.size:
            rows.append({"value": value, **intervals.slice(counts[groups], groups, over=None)})
    return rows


def _class_slices(tally: Tally, counts: NDArray[np.int64], intervals: Intervals) -> list[dict[str, Any]]:
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
    tally: Tally, counts: NDArray[np.int64], settings: Settings, intervals: Intervals
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
