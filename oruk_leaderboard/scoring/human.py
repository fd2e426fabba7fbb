"""The human line: how well one listener does on the clips that a system is scored on.

Two lines, always both, because they answer different questions. *Intended*: the listener's answer against the label of
the corpus, which for acted speech is what the actor was asked to express. *Others*: the same answer against the class
that most of the other listeners of the clip chose; ratings whose others tie are left out and counted.

The system is scored on the very same ratings: a clip counts as often as listeners rated it, and against the others it
faces the target that each listener faced. Reference for leaving one rater out: Cao et al. (2014), "CREMA-D:
Crowd-sourced Emotional Multimodal Actors Dataset", doi:10.1109/TAFFC.2014.2336244, has one listener at 40.9 % of the
intended labels from the voice alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.answers.votes import Votes
from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.metrics.agreement import agreement_sums, alpha_from_sums, majority_of_others
from oruk_leaderboard.metrics.checks import Ints
from oruk_leaderboard.scoring.intervals import Intervals, Settings
from oruk_leaderboard.scoring.sampling import Clustering
from oruk_leaderboard.scoring.tally import scored_outcomes

LINES: tuple[str, ...] = ("intended", "others")
"""What an answer is held against."""

WHO: tuple[str, ...] = ("listener", "system")
"""Whose answer it is; a record has ``system`` only where a system was scored."""


@dataclass(frozen=True, slots=True)
class _Rated:
    """Clips of a set that have votes.

    Attributes:
        clips: Their positions in the set, shape (n,).
        votes: Votes for each class that listeners could choose, shape (n, m).
        intended: Label as an index into these classes, shape (n,).
    """

    clips: Ints
    votes: Ints
    intended: Ints


def human_sums(
    votes: Votes, gold: Gold, drawn: Clustering, predictions: Predictions | None = None, *, on_error: str
) -> list[dict[str, Any]]:
    """Ratings counted by corpus, cluster, target and answer.

    Args:
        votes: Votes of listeners; those of clips that are not in the set are not used.
        gold: The set.
        drawn: Cluster of each clip.
        predictions: A system's predictions of all clips, or None.
        on_error: How the system's failed clips count.

    Returns:
        One entry per corpus with rated clips: what :func:`evaluate_human` needs, as JSON values. Empty where the votes
        are shares, of which no single listener can be left out.
    """
    if not votes.whole:
        return []
    found = []
    corpora = gold.attributes["corpus"]
    place = {clip_id: at for at, clip_id in enumerate(gold.clip_ids)}
    rows = np.array([place.get(clip_id, -1) for clip_id in votes.clip_ids], np.int64)
    class_of = np.array([votes.classes.index(name) if name in votes.classes else -1 for name in gold.classes])
    said = None if predictions is None else _said(gold, predictions, votes.classes, on_error)
    for code in np.unique(corpora.codes[rows[rows >= 0]]).tolist():
        here = np.flatnonzero((rows >= 0) & (corpora.codes[rows] == code))
        offered = class_of[gold.labels[rows[here]]] >= 0
        here = here[offered]
        if not here.size:
            continue
        rated = _Rated(rows[here], votes.counts[here].astype(np.int64), class_of[gold.labels[rows[here]]])
        targets = majority_of_others(rated.votes)
        found.append(
            {
                "corpus": corpora.values[code],
                "classes": list(votes.classes),
                "clips": len(here),
                "clips_without_votes": int((corpora.codes == code).sum()) - len(here),
                "ratings": int(rated.votes.sum()),
                "tied": int(rated.votes[targets < 0].sum()),
                "agreement": _agreement(rated.votes),
                "counts": _counts(rated, targets, drawn.clusters.codes, said),
            }
        )
    return found


def _said(gold: Gold, predictions: Predictions, classes: Sequence[str], on_error: str) -> Ints:
    """The system's answer to each clip as an index into the listeners' classes; their number for no such class."""
    none = len(classes)
    index = [classes.index(name) if name in classes else none for name in gold.classes]
    return np.array([*index, none])[scored_outcomes(gold, predictions, on_error)]


def _agreement(votes: Ints) -> dict[str, Any]:
    """What Krippendorff's alpha follows from."""
    by_class, pairs = agreement_sums(votes)
    return {"by_class": by_class, "pairs": {str(raters): value for raters, value in pairs.items()}}


def _counts(rated: _Rated, targets: Ints, cluster: Ints, said: Ints | None) -> list[int]:
    """``cluster, line, who, target, answer, ratings, …`` of the cells above 0, flat, as a record has them."""
    n, m = rated.votes.shape
    clip, answer = np.divmod(np.arange(n * m), m)
    ratings, where = rated.votes.reshape(-1), cluster[rated.clips][clip]
    cells = []
    for line, target in enumerate((rated.intended[clip], targets.reshape(-1))):
        for who, given in enumerate((answer, None if said is None else said[rated.clips][clip])):
            if given is not None:
                used = (ratings > 0) & (target >= 0)
                unique, place = np.unique(((where * m + target) * (m + 1) + given)[used], return_inverse=True)
                total = np.bincount(place, weights=ratings[used]).astype(np.int64)
                at, said_as = np.divmod(unique, m + 1)
                same = np.full(len(unique), line), np.full(len(unique), who)
                cells.append(np.stack([at // m, *same, at % m, said_as, total], axis=1))
    flat: list[int] = np.concatenate(cells).reshape(-1).tolist()
    return flat


def evaluate_human(sums: Mapping[str, Any], clusters: Sequence[str], settings: Settings) -> dict[str, Any]:
    """Both lines of one corpus, with intervals from draws of its clusters.

    Args:
        sums: An entry of :func:`human_sums`, or of a record.
        clusters: Names of the set's clusters.
        settings: Kind of cluster, draws and intervals.
    """
    m = len(sums["classes"])
    cells = np.array(sums["counts"], np.int64).reshape(-1, 6)
    used, unit = np.unique(cells[:, 0], return_inverse=True)
    counts = np.zeros((len(LINES), len(WHO), len(used), m, m + 1), np.int64)
    np.add.at(counts, (cells[:, 1], cells[:, 2], unit, cells[:, 3], cells[:, 4]), cells[:, 5])
    units = np.arange(len(used))
    intervals = Intervals([clusters[at] for at in used], units, np.zeros_like(units), settings, kind=settings.cluster)
    document: dict[str, Any] = {"alpha": _alpha(sums)}
    for line, against in enumerate(LINES):
        document[against] = {
            name: _line(intervals, counts[line, who]) for who, name in enumerate(WHO) if counts[line, who].any()
        }
    listener = counts[1, 0].sum(axis=0)
    right = int(np.trace(listener))
    # A rating whose others tie has no right answer; counted as wrong it lowers the figure without any new evidence.
    document["others_ties_wrong"] = right / (int(listener.sum()) + sums["tied"]) if right else 0.0
    return document


def _line(intervals: Intervals, counts: NDArray[np.int64]) -> dict[str, Any]:
    total = metrics.margins(counts.sum(axis=0))
    figures = metrics.ranking()
    rests_on = intervals.part(counts, figures)
    return {
        "ratings": int(counts.sum()),
        "figures": {name: float(metric.function(total)) for name, metric in figures.items()},
        **rests_on,
    }


def _alpha(sums: Mapping[str, Any]) -> float | None:
    """Krippendorff's alpha of the corpus's ratings; None where it is undefined."""
    pairs = {int(raters): value for raters, value in sums["agreement"]["pairs"].items()}
    try:
        return alpha_from_sums(sums["agreement"]["by_class"], pairs)
    except MetricError:
        return None


def human_lines(evaluation: Mapping[str, Any]) -> list[str]:
    """The human line for people: both lines, listener beside system, and what is not known."""
    clips = {row["value"]: row["n"] for row in evaluation["slices"].get("corpus", ())}
    human = evaluation["human_line"]
    rest = {name: n for name, n in clips.items() if name not in {part["corpus"] for part in human}}
    if not human:
        return ["Human line: no ceiling known (add a corpus's file of votes: --votes FILE)."]
    words = {"intended": "the intended label", "others": "the majority of the other listeners"}
    found = []
    for against, text in words.items():
        parts = [_beside(part, against) for part in human]
        found.append(f"Macro-F1 against {text}: {'; '.join(parts)}.")
    if rest:
        found[-1] = f"{found[-1][:-1]}; no ceiling known for {len(rest)} other corpora ({sum(rest.values()):,} clips)."
    return found


def _beside(part: Mapping[str, Any], against: str) -> str:
    texts = []
    for who in WHO:
        if who in part[against]:
            ends = part[against][who]["intervals"]["macro_f1"]
            interval = "" if ends is None else f" ({ends[0]:.3f} to {ends[1]:.3f})"
            texts.append(
                f"{'one listener' if who == 'listener' else who} "
                f"{part[against][who]['figures']['macro_f1']:.3f}{interval}"
            )
    return f"{', '.join(texts)} on {part['corpus']}"
