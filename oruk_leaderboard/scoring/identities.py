"""Identities between the parts of an evaluation, in plain arithmetic.

``verify`` recomputes a record with the scorer's own code. These checks do not use that code: they find a figure that
scorer and verifier would both get wrong, and they bound what no record can be recomputed from, the sums over class
scores. Formulas: Sokolova and Lapalme (2009), "A systematic analysis of performance measures for classification tasks",
doi:10.1016/j.ipm.2009.03.002.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oruk_leaderboard.scoring.bounds import Bin, brier_range, log_loss_range
from oruk_leaderboard.scoring.tally import EXTRA_OUTCOMES

TOLERANCE = 1e-9
"""How far two ways to the same figure may differ."""


def broken_identities(evaluation: Mapping[str, Any]) -> list[str]:
    """Contradictions between the values of an evaluation; empty where there are none.

    Args:
        evaluation: ``evaluation`` of a record, without ``broken_structure``.
    """
    found = [*_totals(evaluation), *_figures(evaluation)]
    found += [
        f"the interval of {name} ends before it begins: {interval[0]} to {interval[1]}"
        for name, interval in evaluation["intervals"].items()
        if interval and not interval[0] <= interval[1]
    ]
    scores = evaluation["class_scores"]
    return found if scores is None else [*found, *_class_scores(scores, evaluation)]


def broken_structure(evaluation: Mapping[str, Any]) -> list[str]:
    """Names and shapes that do not fit together; empty where they do.

    Args:
        evaluation: ``evaluation`` of a record that is valid by the schema.
    """
    found, scores = [*_names(evaluation), *_clusters(evaluation)], evaluation["class_scores"]
    if found or scores is None:
        return found
    clusters = len(evaluation["confusion_by_cluster"]["clusters"])
    for name, values in scores["by_cluster"].items():
        if len(values) != clusters:
            found.append(f"class_scores.by_cluster.{name} has {len(values)} sums for {clusters} clusters")
    if sum(scores["by_cluster"]["clips"]) != scores["n"]:
        found.append(f"the clusters have {sum(scores['by_cluster']['clips'])} clips with scores of {scores['n']}")
    if found:
        return found
    return list(_bins(scores["reliability"], scores["n"], len(evaluation["classes"])))


def _names(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Classes, outcomes, rows and columns are the same names in the same order."""
    classes, confusion = list(evaluation["classes"]), evaluation["confusion"]
    outcomes = [*classes, *EXTRA_OUTCOMES]
    stated = {
        "confusion.rows": (confusion["rows"], classes),
        "confusion.columns": (confusion["columns"], outcomes),
        "confusion_by_cluster.outcomes": (evaluation["confusion_by_cluster"]["outcomes"], outcomes),
        "per_class": (list(evaluation["per_class"]), classes),
    }
    for key, (names, expected) in stated.items():
        if names != expected:
            yield f"{key} is {', '.join(names)}; the classes require {', '.join(expected)}"
    if len(set(outcomes)) < len(outcomes):
        yield f"two classes share a name: {', '.join(outcomes)}"
    if evaluation["on_error"] == "neutral" and "neutral" not in classes:
        yield "failed clips count as neutral, which is not one of the classes"
    if strays := set(evaluation["declared_classes"] or ()) - set(classes):
        yield f"declared_classes names no class: {', '.join(sorted(strays))}"
    if any(len(row) != len(outcomes) for row in confusion["counts"]) or len(confusion["counts"]) != len(classes):
        yield f"the confusion matrix does not have {len(classes)} rows of {len(outcomes)} counts"


def _clusters(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Names of clusters and attribute values are unique, and every one of them has clips."""
    tally = evaluation["confusion_by_cluster"]
    lists = {"clusters": tally["clusters"], "strata": tally["strata"], **tally["attributes"]}
    width = 2 + len(tally["attributes"])
    codes = [*itertools.chain(*tally["groups"], *tally["counts"])]
    if any(len(group) != width for group in tally["groups"]) or not set(map(type, codes)) <= {int}:
        yield f"groups and counts of confusion_by_cluster are not lists of integers, {width} for each group"
        return
    for at, (name, values) in enumerate(lists.items()):
        if len(set(values)) < len(values):
            repeated = sorted({value for value in values if values.count(value) > 1})
            yield f"{name} of confusion_by_cluster has a name twice: {', '.join(repeated)}"
        used = {group[at] for group in tally["groups"]}
        if used != set(range(len(values))):
            yield f"{name} of confusion_by_cluster has {len(values)} names, its groups use {len(used)}"
    if present := set(evaluation["absent"]) & set(tally["attributes"].get("corpus", ())):
        yield f"absent corpora have clips: {', '.join(sorted(present))}"


def _totals(evaluation: Mapping[str, Any]) -> Iterator[str]:
    counts = evaluation["counts"]
    totals = {
        "n": evaluation["n"],
        "the confusion matrix": sum(map(sum, evaluation["confusion"]["counts"])),
        "the counts by status": sum(counts.values()),
    }
    if len(set(totals.values())) > 1:
        yield "clips do not add up: " + ", ".join(f"{name} {total}" for name, total in totals.items())
    without_class = counts["abstained"] + counts["unrecognised"]
    if (spelled := sum(evaluation["spellings"].values())) > without_class:
        yield f"{spelled} clips have an unknown spelling, but only {without_class} are abstained or unrecognised"
    supports = [evaluation["per_class"][name]["support"] for name in evaluation["classes"]]
    if supports != [sum(row) for row in evaluation["confusion"]["counts"]]:
        yield "the supports of the classes are not the rows of the confusion matrix"


def _figures(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Accuracy, macro-F1, UAR, weighted and micro-F1 follow from the confusion matrix."""
    classes = evaluation["classes"]
    counts = [list(row) for row in evaluation["confusion"]["counts"]]
    if evaluation["on_error"] == "neutral" and "neutral" in classes:
        at = classes.index("neutral")
        for row in counts:
            row[at], row[-1] = row[at] + row[-1], 0
    size, n = len(classes), sum(map(sum, counts))
    if not n:
        yield "the confusion matrix is empty"
        return
    right = [counts[at][at] for at in range(size)]
    gold = [sum(row) for row in counts]
    given = [sum(row[at] for row in counts) for at in range(size)]
    f1 = [2 * right[at] / (gold[at] + given[at]) if gold[at] + given[at] else 0.0 for at in range(size)]
    recalls = [right[at] / gold[at] for at in range(size) if gold[at]]
    expected = {
        "accuracy": sum(right) / n,
        "macro_f1": sum(f1) / size,
        "uar": sum(recalls) / len(recalls),
        "weighted_f1": sum(score * support for score, support in zip(f1, gold, strict=True)) / n,
        "micro_f1": 2 * sum(right) / (sum(gold) + sum(given)),
    }
    for name, figure in expected.items():
        if not math.isclose(evaluation["figures"][name], figure, rel_tol=0, abs_tol=TOLERANCE):
            yield f"{name} is {evaluation['figures'][name]}, its confusion matrix gives {figure}"


def _class_scores(scores: Mapping[str, Any], evaluation: Mapping[str, Any]) -> list[str]:
    """The sums over class scores are within what the bins of the reliability diagram allow."""
    classes, n, found = len(evaluation["classes"]), scores["n"], []
    if n > evaluation["counts"]["ok"]:
        found.append(f"{n} clips have class scores, but only {evaluation['counts']['ok']} have an answer")
    bins = _filled(scores["reliability"], classes)
    top1, top2 = sum(item.right for item in bins), scores["top2_hits"]
    if not (n if classes == 2 else top1) <= top2 <= n:
        found.append(f"top2_hits is {top2}; the bins have {top1} top-1 hits among {n} clips")
    for name, allowed in (("log_loss_sum", log_loss_range(bins, classes)), ("brier_sum", brier_range(bins, classes))):
        slack = TOLERANCE * n
        if not allowed[0] - slack <= scores[name] <= allowed[1] + slack:
            found.append(f"{name} is {scores[name]}; the bins allow {allowed[0]:.6g} to {allowed[1]:.6g}")
    return found


def _bins(diagram: Mapping[str, Sequence[float]], n: int, classes: int) -> Iterator[str]:
    """Every bin has whole numbers of clips and hits, and a mean confidence within its edges."""
    edges, count = diagram["edges"], diagram["count"]
    size = len(count)
    if not size or len(edges) != size + 1 or {len(diagram["confidence"]), len(diagram["accuracy"])} != {size}:
        yield "the arrays of the reliability diagram do not have one entry per bin"
        return
    if any(abs(edge - at / size) > TOLERANCE for at, edge in enumerate(edges)):
        yield f"the edges of the reliability diagram are not {size} equal bins from 0 to 1"
    if any(clips < 0 or clips != int(clips) for clips in count) or sum(count) != n:
        yield f"the bins of the reliability diagram have {sum(count)} clips of {n}"
        return
    for at, clips in enumerate(count):
        confidence, accuracy = diagram["confidence"][at], diagram["accuracy"][at]
        low, high = max(at / size, 1 / classes), (at + 1) / size
        if not clips:
            if confidence or accuracy:
                yield f"bin {at} has no clips, but a confidence or an accuracy"
        elif not low - TOLERANCE <= confidence <= high + TOLERANCE:
            yield f"the mean confidence {confidence} of bin {at} is outside {low:.6g} to {high:.6g}"
        elif not (0 <= accuracy <= 1 and abs(accuracy * clips - round(accuracy * clips)) <= TOLERANCE * clips):
            yield f"accuracy {accuracy} of bin {at} is not a whole number of its {clips} clips"


def _filled(diagram: Mapping[str, Sequence[float]], classes: int) -> list[Bin]:
    """The bins that have clips."""
    size = len(diagram["count"])
    bins = []
    for at, clips in enumerate(diagram["count"]):
        if clips:
            right = round(diagram["accuracy"][at] * clips)
            low = max(at / size, 1 / classes)
            bins.append(Bin(right, round(clips) - right, diagram["confidence"][at], low, (at + 1) / size))
    return bins
