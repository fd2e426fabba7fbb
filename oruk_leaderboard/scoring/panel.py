"""Systems side by side on one set of clips: what comparisons start from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import MISSING, Predictions
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.metrics import Margins, Metric
from oruk_leaderboard.protocols import load
from oruk_leaderboard.scoring.sampling import Clustering, clustering, design_of
from oruk_leaderboard.scoring.tally import ON_ERROR, outcomes
from oruk_leaderboard.statistics import Draws, Support, support


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Predictions of several systems on one set, counted by cluster; what every comparison starts from.

    Attributes:
        names: Systems.
        gold: The set.
        outcomes: Scored class of each system and clip, shape (s, n), k for "no class".
        counts: Clips by status of each system.
        drawn: Cluster and stratum of each clip.
        draws: Rescaled draws of the clusters, the same for all.
        support: What a figure of the whole set rests on.
        on_error: How failed clips count.
    """

    names: tuple[str, ...]
    gold: Gold
    outcomes: NDArray[np.int64]
    counts: tuple[dict[str, int], ...]
    drawn: Clustering
    draws: Draws
    support: Support
    on_error: str

    def margins(self, keep: NDArray[np.bool_] | None = None) -> Margins:
        """Margins by system and cluster, shape (s, c, k); of the clips in ``keep`` if given."""
        chosen = slice(None) if keep is None else keep
        labels, clusters = self.gold.labels[chosen], self.drawn.clusters.codes[chosen]
        k = len(self.gold.classes)
        size = len(self.drawn.clusters.values) * k

        def by_cluster(classes: NDArray[np.int64], clips: NDArray[np.bool_]) -> NDArray[np.float64]:
            cells = clusters[clips] * k + classes[clips]
            return np.bincount(cells, minlength=size).reshape(-1, k).astype(np.float64)

        scored = self.outcomes[:, chosen]
        return Margins(
            tp=np.stack([by_cluster(row, row == labels) for row in scored]),
            gold=by_cluster(labels, np.ones(len(labels), dtype=bool)),
            predicted=np.stack([by_cluster(row, row < k) for row in scored]),
        )

    def replicates(self, clustered: Margins) -> Margins:
        """Margins of every system and replicate, shape (s, b, k), from margins by cluster."""
        systems, clusters, k = clustered.tp.shape
        parts = [np.moveaxis(part, 0, 1).reshape(clusters, -1) for part in (clustered.tp, clustered.predicted)]
        # One product for all systems: their columns share the cost of the draws.
        sums = self.draws.sums(np.concatenate([clustered.gold, *parts], axis=1))
        tp, predicted = (
            np.ascontiguousarray(np.moveaxis(part.reshape(-1, systems, k), 1, 0))
            for part in np.split(sums[:, k:], 2, axis=1)
        )
        return Margins(tp=tp, gold=sums[:, :k], predicted=predicted)


def common(systems: Mapping[str, Predictions], gold: Gold) -> tuple[dict[str, Predictions], Gold]:
    """Systems and set cut down to the clips that every system has a row for, so that a subsample can be compared.

    Without it a clip that a file lacks counts as failed. The cut set has no digest of its own.

    Raises:
        PredictionError: No clip is in all files.
    """
    keep = np.ones(len(gold.clip_ids), dtype=bool)
    for predictions in systems.values():
        keep &= predictions.status != MISSING
    if not keep.any():
        raise PredictionError("no clip is in all files", expected="at least one clip that every file has")
    return cut(systems, gold, keep)


def cut(systems: Mapping[str, Predictions], gold: Gold, keep: NDArray[np.bool_]) -> tuple[dict[str, Predictions], Gold]:
    """Systems and set cut down to the clips where ``keep`` is true. The cut set has no digest of its own."""
    kept = {
        name: replace(
            predictions,
            labels=predictions.labels[keep],
            status=predictions.status[keep],
            scores=None if predictions.scores is None else predictions.scores[keep],
        )
        for name, predictions in systems.items()
    }
    return kept, gold.subset(keep, set_digest=None, partial=True)


def panel(
    systems: Mapping[str, Predictions],
    gold: Gold,
    *,
    cluster: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    on_error: str | None = None,
) -> Panel:
    """Put systems side by side.

    Args:
        systems: Name to predictions of all clips of the set.
        gold: The set.
        cluster: ``speaker`` (within corpora, the default), ``corpus`` or ``clip``.
        n_boot: Bootstrap replicates.
        seed: Seed of the draws.
        on_error: What refused, failed and missing clips count as: ``neutral`` or ``wrong``; None for what the
            benchmark's protocol says.

    Raises:
        PredictionError: No systems, predictions of another number of clips, or a system that failed on every clip.
        MetricError: One cluster only, or options out of range.
    """
    if not systems:
        raise PredictionError("nothing to compare", expected="at least one predictions file")
    on_error = on_error or load().on_error
    if on_error not in ON_ERROR:
        raise PredictionError("bad option", where="on_error", expected=" or ".join(ON_ERROR), found=on_error)
    n, k = len(gold.clip_ids), len(gold.classes)
    failed = gold.classes.index("neutral") if on_error == "neutral" else k
    scored = []
    for name, predictions in systems.items():
        if len(predictions.labels) != n:
            raise PredictionError(
                "not the same clips", where=name, expected=f"{n} clips", found=len(predictions.labels)
            )
        if not predictions.counts["ok"]:
            raise PredictionError("the run failed on every clip", where=name, expected="at least one clip with a label")
        outcome = outcomes(gold, predictions)
        scored.append(np.where(outcome > k, failed, outcome))
    drawn = clustering(gold, cluster)
    design = design_of(drawn.clusters.values, drawn.clusters.codes, drawn.strata.codes)
    return Panel(
        names=tuple(systems),
        gold=gold,
        outcomes=np.stack(scored),
        counts=tuple(predictions.counts for predictions in systems.values()),
        drawn=drawn,
        draws=Draws(design, n_boot=n_boot, seed=seed, rescaled=True),
        support=support(design, np.bincount(drawn.clusters.codes).astype(np.float64)),
        on_error=on_error,
    )


def named(files: Sequence[Path | str]) -> dict[str, Path]:
    """Name to predictions file: ``NAME=PATH``, or the path's stem.

    Raises:
        PredictionError: Two files have one name.
    """
    paths: dict[str, Path] = {}
    for file in map(str, files):
        name, equals, path = file.partition("=")
        if not equals or "/" in name:
            name, path = Path(file).name.partition(".")[0], file
        if name in paths:
            raise PredictionError(
                "two systems of one name", where=file, found=name, do="name them: NAME=PATH for each file"
            )
        paths[name] = Path(path)
    return paths


def ranking_metric(key: str) -> Metric:
    """The metric of a key that systems can be ranked by.

    Raises:
        PredictionError: There is none.
    """
    if key not in (usable := metrics.ranking()):
        raise PredictionError("unknown metric", where="metric", expected=", ".join(usable), found=key)
    return usable[key]
