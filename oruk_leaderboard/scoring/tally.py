"""The counts of one scoring: what became of the clips of each cluster and slice, and nothing about single clips.

They are part of a record, so that anyone can recompute its figures without audio or predictions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.gold import Attribute, Gold
from oruk_leaderboard.answers.predictions import OK, UNRECOGNISED, Predictions
from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.protocols import OnError
from oruk_leaderboard.scoring.sampling import Clustering

EXTRA_OUTCOMES: tuple[str, ...] = ("unrecognised", "failed")
"""Outcomes after the classes: a label that names no class, and a failure (refused, error, abstained, missing)."""

ON_ERROR: tuple[OnError, ...] = get_args(OnError)
"""What failed clips count as: a prediction of neutral, or of no class."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Clips counted by group, gold class and outcome; a group is one cluster and one value of every attribute.

    Attributes:
        classes: Label space, k names.
        clusters: Names of the clusters in code-point order.
        cluster: Cluster of each group, shape (g,).
        strata: Names of the strata (corpora, joined where they share people) that draws stay within.
        stratum: Stratum of each group, shape (g,).
        attributes: Attribute of the slices to its value for each group.
        counts: Clips, shape (g, k, k + 2), int64: gold class by outcome (the classes, then ``EXTRA_OUTCOMES``).
    """

    classes: tuple[str, ...]
    clusters: tuple[str, ...]
    cluster: NDArray[np.int64]
    strata: tuple[str, ...]
    stratum: NDArray[np.int64]
    attributes: Mapping[str, Attribute]
    counts: NDArray[np.int64]

    def scored(self, on_error: str) -> NDArray[np.int64]:
        """Confusion counts of the groups, shape (g, k, k + 1); the last column is "no class".

        Args:
            on_error: ``neutral`` counts failed clips as predictions of neutral, ``wrong`` as no class. An
                unrecognised label is wrong either way: else a made-up label would score on neutral clips.
        """
        k = len(self.classes)
        scored = self.counts[:, :, : k + 1].copy()
        scored[:, :, self.classes.index("neutral") if on_error == "neutral" else k] += self.counts[:, :, k + 1]
        return scored

    def to_dict(self) -> dict[str, Any]:
        """JSON form: names once; for each group its codes, and ``gold, outcome, clips, …`` of its cells above 0."""
        group, gold, outcome = np.nonzero(self.counts)
        cells = np.stack([gold, outcome, self.counts[group, gold, outcome]], axis=1)
        starts = np.searchsorted(group, np.arange(1, len(self.counts)))
        parts = (self.cluster, self.stratum, *(attribute.codes for attribute in self.attributes.values()))
        members = np.stack(parts, axis=1)
        return {
            "clusters": list(self.clusters),
            "strata": list(self.strata),
            "attributes": {name: list(attribute.values) for name, attribute in self.attributes.items()},
            "outcomes": [*self.classes, *EXTRA_OUTCOMES],
            "groups": members.tolist(),
            "counts": [part.ravel().tolist() for part in np.split(cells, starts)],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, where: object = None) -> "Tally":
        """Counts of a record.

        Raises:
            RecordError: The parts do not fit together.
        """
        classes = tuple(document["outcomes"][: -len(EXTRA_OUTCOMES)])
        k, names = len(classes), list(document["attributes"])
        try:
            members = np.array(document["groups"], np.int64).reshape(-1, 2 + len(names))
            flat = [np.array(part, np.int64).reshape(-1, 3) for part in document["counts"]]
            group = np.repeat(np.arange(len(members)), [len(part) for part in flat])
            cells = np.concatenate(flat)
            if (cells < 0).any() or (members < 0).any():
                raise ValueError("a negative number")
            counts = np.zeros((len(members), k, k + len(EXTRA_OUTCOMES)), np.int64)
            np.add.at(counts, (group, cells[:, 0], cells[:, 1]), cells[:, 2])
            attributes = {
                name: Attribute(members[:, at], tuple(document["attributes"][name]))
                for at, name in enumerate(names, start=2)
            }
            inside = all(attribute.codes.max(initial=-1) < len(attribute.values) for attribute in attributes.values())
            for column, key in enumerate(("clusters", "strata")):
                inside &= members[:, column].max(initial=-1) < len(document[key])
            if not inside:
                raise ValueError("a group of no cluster, stratum or value")
        except (ValueError, IndexError, TypeError, OverflowError) as error:
            raise RecordError("the counts of the record do not fit together", where=where, found=error) from error
        strata = tuple(document["strata"])
        return cls(classes, tuple(document["clusters"]), members[:, 0], strata, members[:, 1], attributes, counts)


def outcomes(gold: Gold, predictions: Predictions) -> NDArray[np.int64]:
    """Outcome of each clip, shape (n,): its predicted class, k for an unrecognised label, k + 1 for a failure."""
    k = len(gold.classes)
    status = predictions.status
    return np.where(status == OK, predictions.labels, np.where(status == UNRECOGNISED, k, k + 1)).astype(np.int64)


def scored_outcomes(gold: Gold, predictions: Predictions, on_error: str) -> NDArray[np.int64]:
    """Class that each clip is scored as, shape (n,); k for none of them.

    Args:
        gold: The set.
        predictions: Predictions of all its clips.
        on_error: As for :meth:`Tally.scored`.
    """
    k = len(gold.classes)
    failed = gold.classes.index("neutral") if on_error == "neutral" else k
    return np.array([*range(k + 1), failed], np.int64)[outcomes(gold, predictions)]


def count(gold: Gold, predictions: Predictions, *, drawn: Clustering, slices: tuple[str, ...]) -> Tally:
    """Count the outcomes of predictions.

    Args:
        gold: The set.
        predictions: Predictions of all its clips.
        drawn: Cluster and stratum of each clip.
        slices: Attributes to keep apart.
    """
    chosen = {name: gold.attributes[name] for name in slices}
    cluster, strata = drawn.clusters, drawn.strata
    parts = [cluster, strata, *chosen.values()]
    key = np.zeros(len(gold.labels), np.int64)
    for part in parts:
        # Compacted at each step, so that the product of many attributes cannot overflow.
        key = np.unique(key * len(part.values) + part.codes, return_inverse=True)[1].astype(np.int64)
    n_groups = int(key.max()) + 1
    first = np.zeros(n_groups, np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    k = len(gold.classes)
    width = k + len(EXTRA_OUTCOMES)
    cells = (key * k + gold.labels) * width + outcomes(gold, predictions)
    return Tally(
        classes=gold.classes,
        clusters=cluster.values,
        cluster=cluster.codes[first],
        strata=strata.values,
        stratum=strata.codes[first],
        attributes={name: Attribute(part.codes[first], part.values) for name, part in chosen.items()},
        counts=np.bincount(cells, minlength=n_groups * k * width).reshape(n_groups, k, width),
    )
