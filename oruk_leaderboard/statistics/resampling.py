"""Clusters and their draws: the resampling that every interval, test and rank here shares.

Clips of one speaker (or corpus) are not independent, so whole clusters are drawn with replacement. A replicate is then
a sum of the clusters' counts, each taken as often as it was drawn: one matrix product for all replicates. The draws
are those of ``rng.integers(0, c, size=c)`` once a replicate from ``numpy.random.default_rng(seed)``, so replicates are
bit for bit those of the public harness (oruk-bench 0.1.1). Reference: Davison & Hinkley (1997), "Bootstrap methods
and their application", section 3.8.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.metrics.classification import Margins

CHUNK_CELLS = 250_000
"""Draws counted at once (2 MB as int64, what a cache holds)."""

BLOCK_CELLS = 4_000_000
"""Counts multiplied at once (16 MB as float32): few and large products, whatever the number of replicates."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Which clips belong together.

    Attributes:
        names: Cluster ids in their own order (text by code point), c of them.
        index: Position in ``names`` of each clip's cluster, shape (n,).
        parents: Index of the larger group (corpus) that each cluster lies in, shape (c,), or None.
    """

    names: tuple[str, ...]
    index: Ints
    parents: Ints | None = None

    def __len__(self) -> int:
        return len(self.names)


def _missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def clusters(ids: Sequence[object], *, kind: str = "cluster", within: Sequence[object] | None = None) -> Clusters:
    """Number the clusters of the clips.

    Args:
        ids: Cluster id of each clip; ids must tell speakers of different corpora apart.
        kind: What the ids are (``speaker``, ``corpus``, ``clip``), for messages.
        within: Larger group of each clip for two-stage draws (corpus), or None.

    Raises:
        MetricError: No clips, a clip without an id, other lengths, or a cluster in two larger groups.
    """
    if not len(ids):
        raise MetricError("no clips", where=kind, expected="one id a clip")
    known = set(ids)
    if any(map(_missing, known)):
        row = next(row for row, value in enumerate(ids) if _missing(value))
        count = sum(map(_missing, ids))
        raise MetricError(
            f"{count} of {len(ids)} clips have no {kind}",
            where=f"{kind}, first at clip {row}",
            expected="an id for every clip",
            do="choose another cluster: clips without an id cannot be resampled by it",
        )
    try:
        names = sorted(known)  # type: ignore[type-var]
    except TypeError as error:
        found = ", ".join(sorted({type(value).__name__ for value in known}))
        raise MetricError("ids of several types", where=kind, expected="one type", found=found) from error
    lookup = {name: position for position, name in enumerate(names)}
    index = np.fromiter(map(lookup.__getitem__, ids), dtype=np.int64, count=len(ids))
    texts = tuple(map(str, names))
    if within is None:
        return Clusters(texts, index)
    outer = clusters(within, kind=f"group of {kind}")
    if len(outer.index) != len(index):
        raise MetricError("lengths differ", where=f"group of {kind}", expected=len(index), found=len(outer.index))
    parents = np.zeros(len(names), dtype=np.int64)
    parents[index] = outer.index
    strays = parents[index] != outer.index
    if strays.any():
        name = texts[int(index[strays][0])]
        raise MetricError(f"{kind} lies in two groups", where=name, expected="ids that are unique over the groups")
    return Clusters(texts, index, parents)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """A seeded sequence of draws of clusters; the same object gives the same draws to every metric and system.

    Attributes:
        n_clusters: Number of clusters c, at least 2.
        n_boot: Number of replicates b.
        seed: Seed of ``numpy.random.default_rng``.
        parents: Larger group of each cluster, shape (c,): groups are drawn first, then clusters within each drawn
            group. None draws clusters at once.
    """

    n_clusters: int
    n_boot: int = 2000
    seed: int = 0
    parents: Ints | None = None

    def __post_init__(self) -> None:
        """Refuse draws that would give an interval without meaning."""
        if self.n_clusters < 2:
            raise MetricError(
                "one cluster has no spread to resample",
                where="clusters",
                expected="at least 2",
                found=self.n_clusters,
                do="choose a smaller cluster, or report the figure without an interval",
            )
        for name, value, least in (("n_boot", self.n_boot, 1), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise MetricError("bad option", where=name, expected=f"an integer of {least} or more", found=value)
        if self.parents is not None:
            if len(self.parents) != self.n_clusters:
                raise MetricError("lengths differ", where="parents", expected=self.n_clusters, found=len(self.parents))
            if len(np.unique(self.parents)) < 2:
                raise MetricError("one larger group has no spread to resample", where="parents", expected="at least 2")

    def weights(self) -> Iterator[NDArray[np.float32]]:
        """How often each cluster is drawn, block by block: shape (rows, c), ``n_boot`` rows in all."""
        rng = np.random.default_rng(self.seed)
        chunk, block = max(1, CHUNK_CELLS // self.n_clusters), max(1, BLOCK_CELLS // self.n_clusters)
        for start in range(0, self.n_boot, block):
            counted = np.empty((min(block, self.n_boot - start), self.n_clusters), np.float32)
            for row in range(0, len(counted), chunk):
                part = counted[row : row + chunk]
                part[:] = self._counts(rng, len(part))
            yield counted

    def _counts(self, rng: np.random.Generator, rows: int) -> Ints:
        """Counts of the next ``rows`` replicates, shape (rows, c)."""
        c = self.n_clusters
        if self.parents is not None:
            return np.stack([self._two_stage(rng, self.parents) for _ in range(rows)])
        # One call for many replicates reads the same stream as a call a replicate.
        drawn = rng.integers(0, c, size=(rows, c))
        drawn += np.arange(0, rows * c, c)[:, None]
        return np.bincount(drawn.reshape(-1), minlength=rows * c).reshape(rows, c)

    def _two_stage(self, rng: np.random.Generator, parents: Ints) -> Ints:
        order = np.argsort(parents, kind="stable")
        sizes = np.bincount(parents)
        sizes, starts = sizes[sizes > 0], (np.cumsum(sizes) - sizes)[sizes > 0]
        groups = rng.integers(0, len(sizes), size=len(sizes))
        inner = rng.integers(0, np.repeat(sizes[groups], sizes[groups]))
        drawn = order[np.repeat(starts[groups], sizes[groups]) + inner]
        return np.bincount(drawn, minlength=self.n_clusters)


def resample(clustered: Margins, draws: Draws) -> Margins:
    """Margins of every replicate.

    Args:
        clustered: Margins of each cluster, shape (…, c, k); ``gold`` may be (c, k) for systems that share gold labels.
        draws: Draws of the c clusters.

    Returns:
        Margins of shape (…, b, k).

    Raises:
        MetricError: The margins hold another number of clusters than the draws.
    """
    parts = (clustered.tp, clustered.gold, clustered.predicted)
    for part in parts:
        if part.ndim < 2 or part.shape[-2] != draws.n_clusters:
            raise MetricError(
                "margins of other clusters", expected=f"shape (…, {draws.n_clusters}, k)", found=f"shape {part.shape}"
            )
    table = np.concatenate([np.moveaxis(part, -2, 0).reshape(draws.n_clusters, -1) for part in parts], axis=1)
    # Sums of whole numbers below 2^24 are exact in float32, and twice as fast.
    exact = draws.n_clusters * table.max(initial=0) < 2**24
    table = table.astype(np.float32 if exact else np.float64)
    sums = np.concatenate([weights.astype(table.dtype, copy=False) @ table for weights in draws.weights()])
    replicates, start = [], 0
    for part in parts:
        batch = (*part.shape[:-2], part.shape[-1])
        block = sums[:, start : start + math.prod(batch)].astype(np.float64).reshape(draws.n_boot, *batch)
        replicates.append(np.ascontiguousarray(np.moveaxis(block, 0, -2)))
        start += math.prod(batch)
    return Margins(*replicates)


def leave_one_out(clustered: Margins) -> Margins:
    """Margins of the set without each cluster in turn, shape (…, c, k): the jackknife of BCa."""
    parts: list[Floats] = [
        part.sum(axis=-2, keepdims=True) - part for part in (clustered.tp, clustered.gold, clustered.predicted)
    ]
    return Margins(*parts)
