"""The parts of the record's schema that follow from the registry of metrics."""

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.metrics import Metric

NAME = "schema/record.schema.json"

_PART = r'^    "{name}": \{{\n.*?^    \}},?$'
"""An entry of ``$defs`` that spans several lines."""


def record_schema_text(root: Path) -> str:
    """The schema with the definitions of figures made again; everything else as people wrote it.

    Raises:
        OrukError: The schema lacks one of these definitions.
    """
    text = (root / NAME).read_text(encoding="utf-8")
    for name, part in _definitions().items():
        pattern = re.compile(_PART.format(name=name), re.MULTILINE | re.DOTALL)
        found = pattern.search(text)
        if found is None:
            raise OrukError("a generated definition is missing", where=root / NAME, expected=f"$defs.{name}")
        comma = "," if found[0].endswith(",") else ""
        text = text[: found.start()] + _entry(name, part) + comma + text[found.end() :]
    return text


def _definitions() -> dict[str, Any]:
    """Entries of ``$defs`` by name."""
    scores = metrics.of_kind("scores")
    return {
        "figures": _object(metrics.recorded().values()),
        "ranking_figures": _object(metrics.ranking().values()),
        "score_figures": _object(scores.values()),
        "score_sums": {
            "type": "object",
            "additionalProperties": False,
            "required": ["clips", *scores],
            "description": "Sums over the clips with scores, one number per cluster of confusion_by_cluster.",
            "properties": {
                "clips": {"type": "array", "items": {"$ref": "#/$defs/count"}},
                **{key: {"type": "array", "items": _sum(metric)} for key, metric in scores.items()},
            },
        },
    }


def _object(chosen: Iterable[Metric]) -> dict[str, Any]:
    """An object that has exactly these metrics."""
    properties = {metric.key: _number(metric) for metric in chosen}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _number(metric: Metric) -> dict[str, Any]:
    ends = {"minimum": metric.low, "maximum": metric.high}
    limits = {key: int(end) for key, end in ends.items() if math.isfinite(end)}
    about = metric.summary if metric.kind == "classes" else metric.title
    return {"type": "number", **limits, "description": about}


def _sum(metric: Metric) -> dict[str, Any]:
    """A sum over clips: it has a lower limit only where every clip's value is 0 or more."""
    lowest = metric.low if metric.lowest_clip is None else metric.lowest_clip
    return {"type": "number", **({"minimum": 0} if lowest >= 0 else {})}


def _entry(name: str, part: dict[str, Any]) -> str:
    """An entry of ``$defs`` with one property per line, as the rest of the file is written."""
    properties = part.pop("properties")
    lines = [f'    "{name}": {{']
    lines += [f'      "{key}": {json.dumps(value)},' for key, value in part.items()]
    lines.append('      "properties": {')
    inner = [f'        "{key}": {_spaced(value)}' for key, value in properties.items()]
    return "\n".join([*lines, ",\n".join(inner), "      }", "    }"])


def _spaced(value: object) -> str:
    """JSON on one line, with a space inside the braces."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "{ " + ", ".join(f"{json.dumps(key)}: {_spaced(item)}" for key, item in value.items()) + " }"
