"""Words or voice: the clips whose words say nothing of their class, beside the rest.

Where a corpus has the same sentences in every class, a system that reads the words alone is at chance on them. The
slice has the clips whose sentence occurs in every class of its corpus; within a sentence every class has the same
weight, so whatever depends on the sentence alone is right with exactly the weight of one class. The other clips stand
beside it, with equal weight for the classes of a corpus. Sentences are known where a corpus's clip names give them
(``sentence`` in its spec).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.metrics.checks import Floats, Ints
from oruk_leaderboard.scoring.intervals import Settings, mean_interval, some_units
from oruk_leaderboard.scoring.sampling import Clustering
from oruk_leaderboard.scoring.tally import Tally, scored_outcomes

PARTS: tuple[str, ...] = ("same_words", "rest")
"""Clips whose sentence occurs in every class of its corpus, and all others."""


TOLERANCE = 1e-9
"""How far sums of weights may be from whole clips, per clip."""


def sentences_of(gold: Gold) -> Sequence[str | None]:
    """Sentence of each clip with its corpus before it, None where the name does not give one."""
    from oruk_leaderboard.corpora import registry

    known = registry()
    corpora = gold.attributes["corpus"]
    patterns = [known[name].sentence if name in known else None for name in corpora.values]
    if not any(patterns):
        return [None] * len(gold.clip_ids)
    found: list[str | None] = []
    for clip_id, code in zip(gold.clip_ids, corpora.codes.tolist(), strict=True):
        pattern = patterns[code]
        match = pattern.fullmatch(clip_id.partition("/")[2]) if pattern else None
        found.append(f"{corpora.values[code]}/{match[1]}" if match else None)
    return found


def sentence_weights(labels: Ints, corpora: Ints, sentences: Sequence[str | None]) -> tuple[Floats, Ints, Floats]:
    """Weight of each clip, which part it is in, and its chance to be right by the sentence alone.

    Args:
        labels: Class of each clip, shape (n,).
        corpora: Corpus of each clip, shape (n,).
        sentences: Sentence of each clip, or None.

    Returns:
        Weights that add up to the clips of each part, shape (n,); index into ``PARTS``, shape (n,); and, for clips of
        the first part, one over the classes of their corpus, shape (n,), 0 for the others.
    """
    n, k = len(labels), int(labels.max()) + 1
    classes = np.bincount(np.unique(corpora * k + labels) // k)[corpora]
    names, sentence = np.unique([name or "" for name in sentences], return_inverse=True)
    per_sentence = np.bincount(np.unique(sentence * k + labels) // k, minlength=len(names))[sentence]
    known = np.array([name is not None for name in sentences])
    same = known & (per_sentence == classes) & (classes > 1)
    weights = np.empty(n)
    for group, chosen in ((sentence, same), (corpora, ~same)):
        members, cells = group[chosen], (group * k + labels)[chosen]
        if members.size:
            # Within a group each of its classes gets the same share of the group's clips.
            filled = np.bincount(np.unique(cells) // k)[members]
            weights[chosen] = np.bincount(members)[members] / (filled * np.bincount(cells)[cells])
    return weights, np.where(same, 0, 1), np.where(same, 1 / classes, 0.0)


def sentence_sums(
    gold: Gold, predictions: Predictions, drawn: Clustering, sentences: Sequence[str | None], *, on_error: str
) -> dict[str, Any] | None:
    """Weights and weighted hits by cluster; None where no clip's sentence occurs in every class.

    Args:
        gold: The set.
        predictions: Predictions of all its clips.
        drawn: Cluster of each clip.
        sentences: Sentence of each clip (:func:`sentences_of`).
        on_error: How failed clips count.
    """
    if not any(sentences):
        return None
    corpora = gold.attributes["corpus"]
    weights, part, chance = sentence_weights(gold.labels, corpora.codes, sentences)
    same = part == 0
    if not same.any():
        return None
    right = scored_outcomes(gold, predictions, on_error) == gold.labels
    units, unit = np.unique(drawn.clusters.codes, return_inverse=True)
    by_unit = {}
    for at, name in enumerate(PARTS):
        here = part == at
        for key, values in (("weight", weights), ("hits", weights * right)):
            total = np.bincount(unit[here], weights=values[here], minlength=len(units))
            by_unit[f"{name}_{key}"] = total.tolist()
    return {
        "corpora": [corpora.values[code] for code in np.unique(corpora.codes[same]).tolist()],
        "sentences": len({sentences[clip] for clip in np.flatnonzero(same).tolist()}),
        "clips": int(same.sum()),
        "chance": float((weights * chance).sum() / weights[same].sum()),
        "by_cluster": by_unit,
    }


def evaluate_sentences(sums: Mapping[str, Any], tally: Tally, settings: Settings) -> dict[str, Any]:
    """Accuracy of both parts from :func:`sentence_sums`, or from that part of a record."""
    found: dict[str, Any] = {}
    for name in PARTS:
        weight, hits = (np.array(sums["by_cluster"][f"{name}_{key}"], np.float64) for key in ("weight", "hits"))
        found[name] = None
        if weight.sum():
            units = np.flatnonzero(weight > 0)
            design = some_units(tally, units)
            accuracy, interval = mean_interval(hits[units], weight[units], design, settings)
            found[name] = {"accuracy": accuracy, "interval": interval}
    return found


def sentence_figures(
    gold: Gold, predictions: Predictions, drawn: Clustering, tally: Tally, settings: Settings
) -> dict[str, Any] | None:
    """Entry ``sentences`` of an evaluation; None where no clip's sentence occurs in every class of its corpus."""
    sums = sentence_sums(gold, predictions, drawn, sentences_of(gold), on_error=settings.on_error)
    return None if sums is None else {**sums, **evaluate_sentences(sums, tally, settings)}


def broken_sentences(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Contradictions in ``sentences`` of an evaluation that is valid by the record schema."""
    sums = evaluation["sentences"]
    if sums is None:
        return
    by_cluster, size = sums["by_cluster"], len(evaluation["confusion_by_cluster"]["clusters"])
    if any(len(values) != size for values in by_cluster.values()):
        yield "sentences: by_cluster is not one number per cluster"
        return
    for name, clips in zip(PARTS, (sums["clips"], evaluation["n"] - sums["clips"]), strict=True):
        weight, hits = by_cluster[f"{name}_weight"], by_cluster[f"{name}_hits"]
        if abs(sum(weight) - clips) > TOLERANCE * max(clips, 1):
            yield f"sentences: weights of {name} add up to {sum(weight):.6g}, not to its {clips} clips"
        if any(hit > total + TOLERANCE for hit, total in zip(hits, weight, strict=True)):
            yield f"sentences: hits of {name} exceed their weight"
    if strays := set(sums["corpora"]) - set(
        evaluation["confusion_by_cluster"]["attributes"].get("corpus", sums["corpora"])
    ):
        yield f"sentences: {', '.join(sorted(strays))} not in the set"


def sentence_lines(found: Mapping[str, Any] | None) -> list[str]:
    """The slice beside the rest, as one sentence."""
    if found is None:
        return []

    def text(part: Mapping[str, Any] | None) -> str:
        if part is None:
            return "none"
        ends = part["interval"]
        return f"{part['accuracy']:.3f}" + ("" if ends is None else f" ({ends[0]:.3f} to {ends[1]:.3f})")

    return [
        f"Words or voice: accuracy {text(found['same_words'])} on {found['clips']:,} clips of "
        f"{len(found['corpora'])} corpora whose sentence occurs in every class, where the words alone give "
        f"{found['chance']:.3f}; {text(found['rest'])} on the rest; classes weigh the same in both."
    ]
