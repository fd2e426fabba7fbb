"""The resampling that every interval, test and rank shares: what is drawn, and how often.

Clips of one speaker (or corpus) are not independent, so whole clusters are drawn with replacement. A replicate is then
a sum of the units' counts, each taken as often as it was drawn: one matrix product for all replicates, and a slice
takes the rows of its units from the same draws.

Two kinds of draws:

* *plain*: as many units as there are. In one stratum they are those of ``rng.integers(0, c, size=c)`` once per
  replicate from ``numpy.random.default_rng(seed)``, bit for bit those of the public harness (oruk-bench 0.1.1).
* *rescaled*: one unit fewer per stratum, each weighted ``c / (c - 1)``. The spread of the replicates is then unbiased
  however few units a stratum has. Reference: Rao & Wu (1988), doi:10.1080/01621459.1988.10478591.

Reference for the bootstrap of clusters: Davison & Hinkley (1997), "Bootstrap methods and their application", section
3.8.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.checks import Floats, Ints

CHUNK_CELLS = 250_000
"""Draws counted at once (2 MB as int64, the size of a cache)."""

EXACT_BELOW = 2**24
"""Sums of whole numbers below this are exact in float32, and twice as fast as in float64."""


@dataclass(frozen=True, eq=False)
class Design:
    """What can be drawn: units in strata.

    A unit is a cluster (a speaker, a corpus), or a block of clips that are taken as independent. A stratum of a single
    unit has no spread: the unit is drawn exactly once in every replicate.

    Attributes:
        stratum: Stratum of each unit, shape (u,), 0 to h - 1; draws stay within a stratum.
        loose: Whether each unit is a block of independent clips, shape (u,).
    """

    stratum: Ints
    loose: NDArray[np.bool_]

    @cached_property
    def counts(self) -> Ints:
        """Units of each stratum, shape (h,)."""
        return np.bincount(self.stratum)

    @classmethod
    def of_clusters(cls, n: int) -> "Design":
        """``n`` clusters in one stratum."""
        return cls(np.zeros(n, np.int64), np.zeros(n, bool))


@dataclass(frozen=True, slots=True)
class Support:
    """How many independent pieces of evidence an interval rests on.

    Attributes:
        clusters: Clusters, and clips of blocks, that have a part in it, G.
        effective: Effective number of equal clusters, G* = (Σn)² / Σn², n the clips of a cluster (1 for a clip of a
            block). Reference: Carter, Schnepel & Steigerwald (2017), doi:10.1162/REST_a_00639.
        df: Degrees of freedom of the standard error: that of the units' sizes, (Σn)² / Σn² - 1 and at least 1, in
            one stratum, and Satterthwaite's combination over strata.
        loose_share: Share of the clips that are in blocks, 0 to 1.
    """

    clusters: int
    effective: float
    df: float
    loose_share: float = 0.0


def support(design: Design, sizes: Floats, units: Ints | None = None) -> Support:
    """Support of a figure over some units of a design.

    Args:
        design: What is drawn.
        sizes: Clips of each unit, shape (u,), or those of ``units``.
        units: Indices of the units that are meant; None for all.

    Example:
        >>> support(Design.of_clusters(4), np.array([10.0, 10.0, 10.0, 10.0]))
        Support(clusters=4, effective=4.0, df=3.0, loose_share=0.0)
    """
    stratum, loose = (design.stratum, design.loose) if units is None else (design.stratum[units], design.loose[units])
    some = sizes > 0
    stratum, loose, clips = stratum[some], loose[some], np.asarray(sizes, np.float64)[some]
    if not clips.size:
        return Support(0, 0.0, 0.0)
    single = float(clips[loose].sum())
    # A stratum with one unit in this part adds no spread of its own, and no freedom.
    varies = np.bincount(stratum)[stratum] > 1
    spread = np.bincount(stratum[varies], weights=clips[varies] ** 2)
    total = np.bincount(stratum[varies], weights=clips[varies])
    here = spread > 0
    # However uneven two units are, their difference is one degree of freedom.
    freedom = np.maximum(total[here] ** 2 / spread[here] - 1, 1.0)
    return Support(
        clusters=int((~loose).sum() + single),
        effective=float(clips.sum() ** 2 / ((clips[~loose] ** 2).sum() + single)),
        df=float(spread.sum() ** 2 / (spread[here] ** 2 / freedom).sum()) if here.any() else 0.0,
        loose_share=single / float(clips.sum()),
    )


@dataclass(frozen=True, eq=False)
class Draws:
    """Seeded draws from a design; one object gives the same draws to every figure, slice and system.

    Attributes:
        design: What is drawn.
        n_boot: Number of replicates b, 1 or more.
        seed: Seed of ``numpy.random.default_rng``, 0 or more.
        rescaled: Whether one unit fewer is drawn per stratum (see the module's text).

    Raises:
        MetricError: Options out of range, or no stratum has two units to draw from.
    """

    design: Design
    n_boot: int = 2000
    seed: int = 0
    rescaled: bool = False
    _scale: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would give an interval without meaning."""
        if self.design.counts.max(initial=0) < 2:
            raise MetricError(
                "one cluster has no spread to resample",
                where="clusters",
                expected="at least 2",
                found=len(self.design.stratum),
                do="choose a smaller cluster, or report the figure without an interval",
            )
        for name, value, least in (("n_boot", self.n_boot, 1), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise MetricError("bad option", where=name, expected=f"an integer of {least} or more", found=value)
        counts = np.maximum(self.design.counts, 2)
        scale = np.where(self.design.counts > 1, counts / (counts - 1), 1.0)
        object.__setattr__(self, "_scale", scale if self.rescaled else np.ones(len(counts)))

    @cached_property
    def weights(self) -> NDArray[np.uint16]:
        """How often each unit is drawn, shape (u, b)."""
        drawn = np.zeros((len(self.design.stratum), self.n_boot), np.uint16)
        strata = len(self.design.counts)
        for stratum, size in enumerate(self.design.counts.tolist()):
            units = np.flatnonzero(self.design.stratum == stratum)
            rng = np.random.default_rng(self.seed if strata == 1 else [self.seed, stratum])
            n, chunk = max(size - 1, 1) if self.rescaled else size, max(1, CHUNK_CELLS // size)
            for start in range(0, self.n_boot, chunk):
                rows = min(chunk, self.n_boot - start)
                # One call for many replicates reads the same stream as one call per replicate.
                picked = rng.integers(0, size, size=(rows, n)) + np.arange(0, rows * size, size)[:, None]
                counted = np.bincount(picked.reshape(-1), minlength=rows * size).reshape(rows, size)
                drawn[units, start : start + rows] = counted.T
        return drawn

    def sums(self, table: Floats, units: Ints | None = None) -> Floats:
        """Sum of the units' counts in every replicate.

        Args:
            table: Whole numbers of each unit, shape (u, m).
            units: Indices of the units that the rows of ``table`` are; None for all in their order.

        Returns:
            Shape (b, m). The same bits on every machine: the products are of whole numbers, and the strata are added
            in their order.

        Raises:
            MetricError: The table has another number of units.
        """
        expected = len(self.design.stratum) if units is None else len(units)
        if table.ndim != 2 or len(table) != expected:
            raise MetricError("counts of other units", expected=f"shape ({expected}, m)", found=f"shape {table.shape}")
        weights = self.weights if units is None else self.weights[units]
        stratum = self.design.stratum if units is None else self.design.stratum[units]
        total = np.zeros((self.n_boot, table.shape[1]))
        largest = self.design.counts * table.max(initial=0)
        strata = np.unique(stratum).tolist()
        for here in strata:
            rows = slice(None) if len(strata) == 1 else np.flatnonzero(stratum == here)
            kind = np.float32 if largest[here] < EXACT_BELOW else np.float64
            total += self._scale[here] * (weights[rows].T.astype(kind) @ table[rows].astype(kind))
        return total
