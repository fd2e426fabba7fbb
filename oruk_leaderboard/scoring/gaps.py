"""Gaps between groups of speakers, languages and ways of elicitation, within the corpora that have both groups.

Where a corpus has one group only, corpus and group are the same thing, and a difference between corpora would pass for
one between groups. So each gap compares clips of one corpus with clips of the same corpus and class, and averages over
corpora with the weights of Mantel and Haenszel:

    gap_c = Σ (hits_g · n_h - hits_h · n_g) / (n_g + n_h)  /  Σ n_g · n_h / (n_g + n_h)

over corpora, for the recall of class c, group g and all other groups h; the gap of the UAR is the mean over classes.
Reference: Greenland & Robins (1985), doi:10.2307/2530643 (the risk difference of sparse strata).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oruk_leaderboard.answers.gold import UNKNOWN
from oruk_leaderboard.metrics import Margins, uar
from oruk_leaderboard.metrics.checks import Floats, Ints, divide
from oruk_leaderboard.scoring.intervals import Intervals
from oruk_leaderboard.scoring.tally import Tally
from oruk_leaderboard.statistics import FEWEST, Bounds, Support, holm, standard_error, support, t_interval, t_p

ATTRIBUTES: tuple[str, ...] = ("gender", "language", "elicitation")
"""What groups are made by."""

GAP = Bounds(-1.0, 1.0)


def gaps(tally: Tally, counts: Ints, intervals: Intervals) -> dict[str, Any]:
    """Gaps by attribute.

    Args:
        tally: Counts of a set.
        counts: Its scored counts, shape (g, k, k + 1).
        intervals: Draws of the set's clusters.

    Returns:
        Attribute to its corpora, groups and gaps; an attribute without a corpus that has two groups has no groups.
    """
    if "corpus" not in tally.attributes:
        return {}
    return {name: _of_attribute(tally, counts, name, intervals) for name in ATTRIBUTES if name in tally.attributes}


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Hits and clips of one corpus by group and class.

    Attributes:
        groups: The groups that it has.
        units: Clusters of the corpus, shape (u,).
        clips: Clips of each of them, shape (u,).
        point: Hits and clips, shape (groups, 2, k).
        contrasts: Contrast of each group with the others, shape (2, k) each.
        drawn: The same in every replicate, shape (2, b, k) each; empty without draws.
    """

    groups: list[int]
    units: Ints
    clips: Floats
    point: Floats
    contrasts: list[Floats]
    drawn: list[Floats]


def _of_attribute(tally: Tally, counts: Ints, name: str, intervals: Intervals) -> dict[str, Any]:
    corpora, groups = tally.attributes["corpus"], tally.attributes[name]
    known = np.array([value != UNKNOWN for value in groups.values])[groups.codes]
    pairs = np.unique(np.stack([corpora.codes, groups.codes])[:, known], axis=1)[0]
    both = np.bincount(pairs, minlength=len(corpora.values)) > 1
    here = np.flatnonzero(known & both[corpora.codes])
    clips = counts.sum(axis=(1, 2))
    values = np.unique(groups.codes[here])
    rows = []
    if values.size:
        place = np.searchsorted(values, groups.codes[here])
        parts = [
            _corpus(tally, counts, here[chosen], place[chosen], intervals)
            for chosen in (np.flatnonzero(corpora.codes[here] == code) for code in np.flatnonzero(both).tolist())
        ]
        names = [groups.values[code] for code in values.tolist()]
        # Two groups have one gap: the second is its mirror image.
        rows = [
            {"value": value, "against": names[1] if len(names) == 2 else None, **_gap(tally, parts, at, intervals)}
            for at, value in enumerate(names if len(names) > 2 else names[:1])
        ]
    tested = [row for row in rows if row["p"] is not None]
    for row, adjusted in zip(tested, holm([row["p"] for row in tested]) if tested else (), strict=True):
        row["p_holm"] = float(adjusted)
    lowest = min(rows, key=lambda row: float(row["gap"]), default=None)
    mirrored = lowest is not None and lowest["against"] is not None and lowest["gap"] > 0
    return {
        "corpora": [corpora.values[code] for code in np.flatnonzero(both).tolist()],
        "n": int(clips[here].sum()),
        "n_elsewhere": int(clips.sum() - clips[here].sum()),
        "groups": rows,
        "worst": None if lowest is None else lowest["against"] if mirrored else lowest["value"],
    }


def _corpus(tally: Tally, counts: Ints, members: Ints, place: Ints, intervals: Intervals) -> _Corpus:
    """Hits and clips of a corpus, in the set and in every replicate.

    Args:
        tally: Counts of the set.
        counts: Its scored counts.
        members: Groups of the tally that are of the corpus, shape (m,).
        place: Which group of speakers each of them belongs to, shape (m,).
        intervals: Draws of the set's clusters.
    """
    k = len(tally.classes)
    units, unit = np.unique(tally.cluster[members], return_inverse=True)
    groups, column = np.unique(place, return_inverse=True)
    n = len(groups)
    table = np.zeros((len(units), n, 2, k))
    hits, clips = np.diagonal(counts[members], axis1=1, axis2=2), counts[members].sum(axis=2)
    np.add.at(table, (unit, column), np.stack([hits, clips], axis=1))
    point, drawn = table.sum(axis=0), []
    if intervals.draws is not None:
        sums = intervals.draws.sums(table.reshape(len(units), -1), units)
        drawn = _contrasts(np.moveaxis(sums.reshape(-1, n, 2, k), 0, 2))
    return _Corpus(groups.tolist(), units, table[:, :, 1].sum(axis=(1, 2)), point, _contrasts(point), drawn)


def _gap(tally: Tally, parts: Sequence[_Corpus], at: int, intervals: Intervals) -> dict[str, Any]:
    """Gap of one group to the others of its corpora."""
    k = len(tally.classes)
    own, rest, point = np.zeros((2, k)), np.zeros((2, k)), np.zeros((2, k))
    drawn = None if intervals.draws is None else np.zeros((2, intervals.draws.n_boot, k))
    used = [part for part in parts if at in part.groups]
    for part in used:
        row = part.groups.index(at)
        own, rest = own + part.point[row], rest + part.point.sum(axis=0) - part.point[row]
        point += part.contrasts[row]
        if drawn is not None:
            drawn += part.drawn[row]
    recall, mean = _combined(point)
    rests_on = support(
        intervals.design,
        np.concatenate([part.clips for part in used]),
        np.concatenate([part.units for part in used]),
    )
    replicates = _combined(drawn) if drawn is not None and rests_on.clusters >= FEWEST else None
    document: dict[str, Any] = {
        "n": int(own[1].sum()),
        "n_against": int(rest[1].sum()),
        "uar": float(uar(Margins(own[0], own[1], own[1]))),
        "uar_against": float(uar(Margins(rest[0], rest[1], rest[1]))),
        "gap": float(mean),
        "interval": None,
        "p": None,
        "p_holm": None,
        "clusters": rests_on.clusters,
        "effective": rests_on.effective,
        "loose_share": rests_on.loose_share,
        "recall": {},
    }
    if replicates is not None:
        error = _error(replicates[1])
        document["interval"] = _ends(float(mean), error, rests_on, intervals.alpha)
        document["p"] = t_p(float(mean), error, rests_on.df)
    for place, name in enumerate(tally.classes):
        if not np.isnan(recall[place]):
            gap, ends = float(recall[place]), None
            if replicates is not None:
                ends = _ends(gap, _error(replicates[0][:, place]), rests_on, intervals.alpha)
            document["recall"][name] = {"gap": gap, "interval": ends}
    return document


def _contrasts(table: Floats) -> list[Floats]:
    """Contrast of each group with the others, from hits and clips of shape (groups, 2, …, k)."""
    if len(table) == 2:
        first = _contrast(*table)
        return [first, np.stack([-first[0], first[1]])]
    total = table.sum(axis=0)
    return [_contrast(own, total - own) for own in table]


def _contrast(own: Floats, others: Floats) -> Floats:
    """Numerator and denominator of one corpus, shape (2, …, k), from hits and clips, each of shape (2, …, k)."""
    hits, clips = own
    other_hits, other_clips = others
    weight = divide(1.0, clips + other_clips)
    return np.stack([(hits * other_clips - other_hits * clips) * weight, clips * other_clips * weight])


def _combined(contrasts: Floats) -> tuple[Floats, Floats]:
    """Gap of the recall of each class, shape (…, k), NaN where no corpus has clips of both; and of the UAR, (…)."""
    top, bottom = contrasts
    recall = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    some = ~np.isnan(recall)
    mean = np.divide(
        np.where(some, recall, 0).sum(axis=-1), some.sum(axis=-1), out=np.zeros(top.shape[:-1]), where=some.any(axis=-1)
    )
    return recall, mean


def _error(replicates: Floats) -> float:
    return standard_error(replicates[~np.isnan(replicates)])


def _ends(point: float, error: float, rests_on: Support, alpha: float) -> list[float]:
    return list(t_interval(point, error, rests_on, alpha=alpha, bounds=GAP, logit=False))


def gap_lines(found: Mapping[str, Any]) -> Sequence[str]:
    """One sentence per attribute, for people."""
    lines = []
    for name, part in found.items():
        if not part["groups"]:
            lines.append(f"Gap by {name}: no corpus of the set has two groups; a gap would be one between corpora.")
            continue
        texts = []
        for row in part["groups"]:
            against = row["against"] or "the others"
            ends = "no interval" if row["interval"] is None else "{:+.3f} to {:+.3f}".format(*row["interval"])
            p = "" if row["p_holm"] is None else f", p {row['p_holm']:.3f} (Holm)"
            texts.append(f"{row['value']} against {against} {row['gap']:+.3f} ({ends}{p})")
        lines.append(
            f"Gap of UAR by {name}, within the {len(part['corpora'])} corpora that have both ({part['n']:,} clips): "
            f"{'; '.join(texts)}. Lowest: {part['worst']}."
        )
    return lines
