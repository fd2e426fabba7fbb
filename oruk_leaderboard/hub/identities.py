"""Identities that hold between the figures of one confusion matrix, worked out anew and in plain arithmetic.

``verify`` recomputes a record with the scorer's own code; this does not use that code, so a figure that breaks an
identity is caught even where scorer and verifier share a mistake. Formulas: Sokolova and Lapalme (2009), "A systematic
analysis of performance measures for classification tasks".
"""

import math
from collections.abc import Mapping
from typing import Any

TOLERANCE = 1e-9
"""How far two ways to the same figure may lie apart."""


def broken_identities(evaluation: Mapping[str, Any]) -> list[str]:
    """What does not fit together in an evaluation; empty when everything does.

    Args:
        evaluation: ``evaluation`` of a record: ``confusion`` with a column a class, one for abstained and one for
            failed clips, ``counts``, ``figures``, ``per_class`` and ``intervals``.
    """
    classes = evaluation["confusion"]["rows"]
    counts = [list(row) for row in evaluation["confusion"]["counts"]]
    found = _totals(evaluation, counts)
    if evaluation["on_error"] == "neutral" and "neutral" in classes:
        at = classes.index("neutral")
        for row in counts:
            row[at], row[-1] = row[at] + row[-1], 0
    expected = _figures(classes, counts)
    found += [
        f"{name} is {stated}, its confusion matrix gives {expected[name]}"
        for name, stated in evaluation["figures"].items()
        if name in expected and not math.isclose(stated, expected[name], rel_tol=0, abs_tol=TOLERANCE)
    ]
    supports = {name: evaluation["per_class"][name]["support"] for name in classes}
    if list(supports.values()) != [sum(row) for row in counts]:
        found.append("the supports of the classes are not the rows of the confusion matrix")
    for name, (low, high) in evaluation["intervals"].items():
        if not low <= high:
            found.append(f"the interval of {name} ends before it begins: {low} to {high}")
    return found


def _totals(evaluation: Mapping[str, Any], counts: list[list[int]]) -> list[str]:
    totals = {
        "n": evaluation["n"],
        "the confusion matrix": sum(map(sum, counts)),
        "the counts by status": sum(evaluation["counts"].values()),
    }
    if len(set(totals.values())) > 1:
        return ["clips do not add up: " + ", ".join(f"{name} {total}" for name, total in totals.items())]
    return []


def _figures(classes: list[str], counts: list[list[int]]) -> dict[str, float]:
    """Accuracy, macro-F1, UAR, weighted and micro-F1 of a confusion matrix (rows gold, columns predicted)."""
    size, n = len(classes), sum(map(sum, counts))
    right = [counts[at][at] for at in range(size)]
    gold = [sum(row) for row in counts]
    given = [sum(row[at] for row in counts) for at in range(size)]
    f1 = [2 * right[at] / (gold[at] + given[at]) if gold[at] + given[at] else 0.0 for at in range(size)]
    recalls = [right[at] / gold[at] for at in range(size) if gold[at]]
    return {
        "accuracy": sum(right) / n,
        "macro_f1": sum(f1) / size,
        "uar": sum(recalls) / len(recalls),
        "weighted_f1": sum(score * support for score, support in zip(f1, gold, strict=True)) / n,
        "micro_f1": 2 * sum(right) / (sum(gold) + sum(given)),
    }
