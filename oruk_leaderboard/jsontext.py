"""JSON text: reading what users hand over, writing what people can review."""

import json
import math
from collections.abc import Callable
from typing import Any


def parse(text: str | bytes, *, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Content of a JSON text.

    Raises:
        ValueError: The text is not JSON (nor are NaN, infinity and numbers too large for a float), or is nested too
            deeply to be read.
    """
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook, parse_float=_finite, parse_constant=_finite)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a JSON number")
    return value


def pretty(document: Any, *, level: int = 0) -> str:
    """JSON text without a newline at the end: two blanks of indent, and a list of plain values on one line.

    Thousands of counts stay thousands of short lists, one per line, not one number per line.

    Args:
        document: What ``json.loads`` gives; NaN and infinity are refused because JSON has neither.
        level: Depth of indent.
    """
    inner, outer = "  " * (level + 1), "  " * level
    if isinstance(document, dict) and document:
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {pretty(value, level=level + 1)}"
            for key, value in document.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{outer}}}"
    if isinstance(document, (list, tuple)) and not {dict, list, tuple}.isdisjoint(map(type, document)):
        return "[\n" + ",\n".join(inner + pretty(value, level=level + 1) for value in document) + f"\n{outer}]"
    return json.dumps(document, ensure_ascii=False, allow_nan=False)
