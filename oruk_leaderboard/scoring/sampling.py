"""What the bootstrap draws on a set of clips, for the two questions that an interval can answer.

* *Same corpora, other speakers*: speakers are drawn within each corpus. A corpus with one known speaker or none has no
  speakers to draw, so its clips are: they are taken as independent and dealt at random into blocks, which are drawn.
  The interval is then a lower bound, and the share of such clips is stated. Clips without a speaker in any other
  corpus are one cluster.
* *Other corpora*: whole corpora are drawn; corpora that share recordings or people count as one.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import UNKNOWN, Attribute, Gold, encode
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.metrics import Margins
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.statistics import FEW, FEWEST, Design, Support, support

Cluster: TypeAlias = Literal["speaker", "corpus", "clip"]
"""What is drawn: speakers within corpora, corpora, or single clips."""

CLUSTERS: tuple[Cluster, ...] = get_args(Cluster)

QUESTIONS: dict[str, str] = {
    "speaker": "same corpora, other speakers",
    "corpus": "other corpora",
    "clip": "same speakers, other clips",
}
"""The question that an interval answers, by what was drawn."""


BLOCKS = 100
"""Blocks that independent clips are dealt into: enough for a standard error, few enough for a small record."""

BLOCK_MARK = "*"
"""Beginning of a block's name behind its corpus, where a speaker's name is otherwise: ``casia/*07``."""


def few_clusters(clusters: int, effective: float, loose_share: float) -> list[str]:
    """What a reader of an interval has to know of its clusters, beside their number; empty where all is well."""
    found = []
    if clusters < FEWEST:
        found.append(f"no interval: {clusters} cluster{'s' if clusters != 1 else ''}")
    elif effective < FEW:
        found.append(f"only {effective:.1f} effective clusters: the interval may be too short")
    if loose_share:
        found.append(
            f"a lower bound: {loose_share:.0%} of the clips are of corpora without at least two known speakers"
        )
    return found


@dataclass(frozen=True, slots=True)
class Clustering:
    """Cluster and stratum of every clip.

    Attributes:
        kind: What is drawn.
        clusters: Cluster of each clip: speaker, corpus or block.
        strata: Corpus (or joined corpora) of each clip; a single ``all`` where draws do not stay within corpora.
    """

    kind: Cluster
    clusters: Attribute
    strata: Attribute


def clustering(gold: Gold, kind: str | None = None) -> Clustering:
    """What to draw on a set.

    Args:
        gold: The set.
        kind: One of ``CLUSTERS``; None for speakers within corpora.

    Raises:
        PredictionError: An unknown kind, or corpora are asked for and there are fewer than two.
    """
    chosen = kind or "speaker"
    if chosen not in CLUSTERS:
        raise PredictionError("bad option", where="cluster", expected=" or ".join(CLUSTERS), found=chosen)
    strata = joined(gold.attributes["corpus"])
    if chosen == "corpus":
        if UNKNOWN in gold.attributes["corpus"].values:
            raise PredictionError("clips have no corpus", expected="a corpus for every clip", do="use --cluster clip")
        if len(strata.values) < 2:
            raise PredictionError(
                "one corpus has no spread to draw from", expected="at least 2 corpora", do="use --cluster speaker"
            )
        return Clustering("corpus", strata, _everything(gold))
    if chosen == "clip":
        blocks = _deal(gold.clip_ids, np.arange(len(gold.clip_ids)), "all")
        return Clustering("clip", encode(blocks), _everything(gold))
    speakers = gold.attributes["speaker"]
    named = np.array([not name.endswith(f"/{UNKNOWN}") for name in speakers.values])
    known = np.unique(np.stack([strata.codes, speakers.codes])[:, named[speakers.codes]], axis=1)[0]
    few = np.bincount(known, minlength=len(strata.values)) < 2
    if not few.any():
        return Clustering("speaker", speakers, strata)
    names = [speakers.values[code] for code in speakers.codes.tolist()]
    for stratum in np.flatnonzero(few).tolist():
        clips = np.flatnonzero(strata.codes == stratum)
        for clip, block in zip(clips.tolist(), _deal(gold.clip_ids, clips, strata.values[stratum]), strict=True):
            names[clip] = block
    return Clustering("speaker", encode(names), strata)


def _everything(gold: Gold) -> Attribute:
    return Attribute(np.zeros(len(gold.clip_ids), np.int64), ("all",))


def _deal(clip_ids: Sequence[str], clips: Ints, corpus: str) -> list[str]:
    """Block of each of some clips: by the digest of its id, so that neither order nor speaker nor class decides."""
    digests = [hashlib.sha256(clip_ids[clip].encode()).digest() for clip in clips.tolist()]
    blocks = np.empty(len(clips), np.int64)
    blocks[sorted(range(len(clips)), key=digests.__getitem__)] = np.arange(len(clips)) % BLOCKS
    return [f"{corpus}/{BLOCK_MARK}{block:02d}" for block in blocks.tolist()]


def joined(corpora: Attribute) -> Attribute:
    """Corpora that share recordings or people (their specs say so) as one: their clips are not independent draws.

    The relation is symmetric and transitive: it is enough that one spec names the other, and a corpus that shares
    with two others joins all three.
    """
    from oruk_leaderboard.corpora import registry

    known, here = registry(), corpora.values
    group = {name: {name} for name in here}
    for name in here:
        for other in known[name].shares_material_with if name in known else ():
            if other in group and group[other] is not group[name]:
                group[name] |= group[other]
                for member in group[other]:
                    group[member] = group[name]
    names = encode(["+".join(sorted(group[name])) for name in here])
    return Attribute(names.codes[corpora.codes], names.values)


def design_of(names: Sequence[str], cluster: Ints, stratum: Ints) -> Design:
    """Design of named clusters.

    Args:
        names: Names of the clusters.
        cluster: Cluster of each clip or group, each used at least once.
        stratum: Stratum of each clip or group.
    """
    home = np.zeros(len(names), np.int64)
    home[cluster] = stratum
    loose = np.array([name.rpartition("/")[2].startswith(BLOCK_MARK) for name in names], bool)
    return Design(np.unique(home, return_inverse=True)[1].astype(np.int64), loose)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the clips, counted by cluster.

    Attributes:
        units: Index of each cluster that has clips in the part, shape (r,).
        table: Margins (hits, gold, predicted, side by side) of each of them, shape (r, 3·k).
        support: What an interval of the part rests on.
    """

    units: Ints
    table: Floats
    support: Support


def part_of(
    design: Design, cluster: Ints, counts: Ints, groups: Ints | None = None, over: NDArray[np.bool_] | None = None
) -> Part:
    """Some of the clips, by cluster.

    Args:
        design: What is drawn.
        cluster: Cluster of each group, shape (g,).
        counts: Scored clips of the part's groups, shape (g', k, k + 1).
        groups: Index of these groups, shape (g',); None for all.
        over: Classes to keep, shape (k,); None for all.
    """
    units, place = np.unique(cluster if groups is None else cluster[groups], return_inverse=True)
    columns = _side_by_side(metrics.margins(counts), over)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(units)))
    table = np.add.reduceat(columns[order], starts, axis=0)
    sizes = np.add.reduceat(counts.sum(axis=(1, 2))[order], starts)
    some = sizes > 0
    return Part(units[some], table[some], support(design, sizes[some], units[some]))


def _side_by_side(margins: Margins, over: NDArray[np.bool_] | None) -> Floats:
    """Hits, gold and predictions of some classes as columns."""
    parts = (margins.tp, margins.gold, margins.predicted)
    table: Floats = np.concatenate([part if over is None else part[:, over] for part in parts], axis=1)
    return table


def as_margins(sums: Floats) -> Margins:
    """Margins from columns that :class:`Part` put side by side, shape (…, 3·k)."""
    return Margins(*np.split(sums, 3, axis=-1))
