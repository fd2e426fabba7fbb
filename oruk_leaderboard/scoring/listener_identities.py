"""Identities of the sums over listeners' votes in a record, in plain arithmetic."""

from collections.abc import Iterator, Mapping
from typing import Any

from oruk_leaderboard.scoring.human import LINES, WHO

TOLERANCE = 1e-9
"""How far two ways to the same sum may differ, per clip."""


def broken_listeners(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Contradictions in ``human_line`` and ``soft_labels`` of an evaluation that is valid by the record schema."""
    clusters = len(evaluation["confusion_by_cluster"]["clusters"])
    corpora = [entry["corpus"] for entry in evaluation["human_line"]]
    if len(set(corpora)) < len(corpora):
        yield "human_line has a corpus twice"
    for entry in evaluation["human_line"]:
        for fault in _human(entry, clusters):
            yield f"human_line of {entry['corpus']}: {fault}"
    if evaluation["soft_labels"] is not None:
        for fault in _soft(evaluation["soft_labels"], clusters, len(evaluation["classes"])):
            yield f"soft_labels: {fault}"


def _human(entry: Mapping[str, Any], clusters: int) -> Iterator[str]:
    flat, m = entry["counts"], len(entry["classes"])
    limits = (clusters, len(LINES), len(WHO), m, m + 1)
    rows = [flat[at : at + 6] for at in range(0, len(flat), 6)]
    if len(flat) % 6 or any(not all(code < limit for code, limit in zip(row, limits, strict=False)) for row in rows):
        yield "counts do not name a cluster, a line and two classes"
        return
    keys = [tuple(row[:5]) for row in rows]
    if len(set(keys)) < len(keys):
        yield "a cell is counted twice"
    expected = {"intended": entry["ratings"], "others": entry["ratings"] - entry["tied"]}
    for line, name in enumerate(LINES):
        for who in range(len(WHO)):
            total = sum(row[5] for row in rows if row[1:3] == [line, who])
            if total != expected[name] and (who == 0 or total):
                yield f"{WHO[who]} has {total} ratings against {name}, expected {expected[name]}"
    agreement = entry["agreement"]
    if len(agreement["by_class"]) != m or sum(agreement["by_class"]) > entry["ratings"]:
        yield "the ratings by class do not add up"
    if not all(raters.isdigit() and int(raters) > 1 for raters in agreement["pairs"]):
        yield "pairs of ratings need clips with two ratings or more"
    answers = [sum(row[5] for row in rows if row[1:3] == [0, 0] and row[4] == at) for at in range(m)]
    if any(some > every for some, every in zip(agreement["by_class"], answers, strict=False)):
        yield "alpha rests on more ratings of a class than there are"


def _soft(sums: Mapping[str, Any], clusters: int, k: int) -> Iterator[str]:
    units, by_unit = sums["units"], sums["by_unit"]
    size = len(units)
    if units != sorted(set(units)) or any(unit >= clusters for unit in units) or not size:
        yield "units are not ascending clusters of the record"
        return
    means = ("cross_entropy", "kl", "js", "cosine")
    lists = {"clips", "soft_accuracy"} | ({"scored", *means} if sums["scored"] else set())
    tables = {"thirds": (3, size), "right": (3, size)} | ({"thresholded": (size, 3 * k)} if sums["scored"] else {})
    if set(by_unit) != lists | set(tables):
        yield f"by_unit has {', '.join(sorted(by_unit))}"
        return
    for name in lists:
        if len(by_unit[name]) != size or not all(_is_number(value) and value >= 0 for value in by_unit[name]):
            yield f"{name} is not one number of 0 or more per cluster"
            return
    for name, (rows, columns) in tables.items():
        table = by_unit[name]
        shaped = len(table) == rows and all(isinstance(row, list) and len(row) == columns for row in table)
        if not shaped or not all(_is_number(value) and value >= 0 for row in table for value in row):
            yield f"{name} is not a table of {rows} by {columns} numbers"
            return
    if sum(by_unit["clips"]) != sums["clips"]:
        yield f"clips of the clusters add up to {sum(by_unit['clips'])}, stated are {sums['clips']}"
    if [sum(column) for column in zip(*by_unit["thirds"], strict=True)] != by_unit["clips"]:
        yield "the thirds do not add up to the clips"
    if any(
        hit > n
        for hits, ns in zip(by_unit["right"], by_unit["thirds"], strict=True)
        for hit, n in zip(hits, ns, strict=True)
    ):
        yield "a third has more right clips than clips"
    yield from _within(by_unit, "soft_accuracy", by_unit["clips"], 1.0)
    if sums["scored"]:
        if sum(by_unit["scored"]) != sums["scored"] or sums["scored"] > sums["clips"]:
            found = sum(by_unit["scored"])
            yield f"clips with scores add up to {found}, stated are {sums['scored']} of {sums['clips']}"
        yield from _within(by_unit, "js", by_unit["scored"], 1.0)
        yield from _within(by_unit, "cosine", by_unit["scored"], 1.0)
        if any(
            kl > ce + TOLERANCE * n
            for kl, ce, n in zip(by_unit["kl"], by_unit["cross_entropy"], by_unit["scored"], strict=True)
        ):
            yield "a divergence is larger than its cross-entropy"
        for row, n in zip(by_unit["thresholded"], by_unit["scored"], strict=True):
            hits, gold, said = row[:k], row[k : 2 * k], row[2 * k :]
            if any(hit > min(a, b) or max(a, b) > n for hit, a, b in zip(hits, gold, said, strict=True)):
                yield "thresholded hits exceed the clips that they are of"
                break


def _within(by_unit: Mapping[str, Any], name: str, clips: list[float], largest: float) -> Iterator[str]:
    if any(total > largest * n + TOLERANCE * n for total, n in zip(by_unit[name], clips, strict=True)):
        yield f"{name} has a mean above {largest:g}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
