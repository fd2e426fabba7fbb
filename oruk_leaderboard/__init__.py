"""The oruk-bench leaderboard: the table, the rebuilt evaluation set, the score.

The public names are those of ``__init__.pyi``. Each is imported when it is first used, so that importing the package
stays cheap.
"""

import importlib
import re
from pathlib import Path
from typing import Any

__version__ = "1.1.0"

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_PUBLIC = {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as \2$", _STUB, re.MULTILINE)}
"""Public name to the module that defines it."""

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'oruk_leaderboard' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """Public names, for completion."""
    return sorted(__all__)
