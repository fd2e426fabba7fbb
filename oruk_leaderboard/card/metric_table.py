"""The registry of metrics as a table for the documentation."""

import math
from urllib.parse import quote

from oruk_leaderboard import metrics
from oruk_leaderboard.cells import markdown_cell
from oruk_leaderboard.metrics import Metric

USES = {
    "classes": "protocols with one class per clip",
    "labels": "protocols with any number of labels per clip",
    "dimensions": "protocols with ratings",
    "scores": "every record with class scores",
    "chosen": "every record with listeners' votes",
    "votes": "every record with listeners' votes and class scores",
    "thresholded": "every record with listeners' votes and class scores",
}
"""Kind of metric to where it is used."""


def metric_table() -> str:
    """All metrics in the registry's order, as Markdown."""
    lines = ["| key | metric | range | better | used in | DOI |", "|:---|:---|:---|:---|:---|:---|"]
    for key, metric in metrics.REGISTRY.items():
        ends = f"{metric.low:g} to {metric.high:g}" if math.isfinite(metric.high) else f"{metric.low:g} or more"
        better = "higher" if metric.higher_is_better else "lower"
        doi = f"[{markdown_cell(metric.doi)}](https://doi.org/{quote(metric.doi)})" if metric.doi else ""
        lines.append(f"| `{key}` | {markdown_cell(metric.title)} | {ends} | {better} | {_use(metric)} | {doi} |")
    return "\n".join(lines)


def _use(metric: Metric) -> str:
    if metric.ranks:
        return "every record; systems can be ranked by it"
    return "every record" if metric.recorded else USES[metric.kind]
