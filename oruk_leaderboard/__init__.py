"""The oruk-bench leaderboard: the table, the rebuilt evaluation set, the score.

Public names are imported when they are first used, so that importing the package stays cheap.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

_PUBLIC: dict[str, str] = {
    "clips": "oruk_leaderboard.corpora",
    "compare": "oruk_leaderboard.scoring.comparison",
    "find_corpora": "oruk_leaderboard.corpora",
    "get_corpus": "oruk_leaderboard.corpora",
    "cite": "oruk_leaderboard.card.cite",
    "leaderboard": "oruk_leaderboard.table.leaderboard",
    "load_leaderboard": "oruk_leaderboard.table.leaderboard",
    "load_manifest": "oruk_leaderboard.manifest",
    "load_records": "oruk_leaderboard.records.record",
    "open_clipset": "oruk_leaderboard.clipset",
    "publish": "oruk_leaderboard.release.publication",
    "read_predictions": "oruk_leaderboard.answers.predictions",
    "reconstruct": "oruk_leaderboard.reconstruction",
    "run": "oruk_leaderboard.systems.runner",
    "score": "oruk_leaderboard.scoring.scorer",
    "submit": "oruk_leaderboard.hub.submission",
    "sync": "oruk_leaderboard.hub.upstream",
    "validate": "oruk_leaderboard.manifest",
    "verify": "oruk_leaderboard.scoring.verification",
}
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


if TYPE_CHECKING:
    from oruk_leaderboard.answers.predictions import read_predictions as read_predictions
    from oruk_leaderboard.clipset import open_clipset as open_clipset
    from oruk_leaderboard.corpora import clips as clips
    from oruk_leaderboard.corpora import find_corpora as find_corpora
    from oruk_leaderboard.corpora import get_corpus as get_corpus
    from oruk_leaderboard.hub.submission import submit as submit
    from oruk_leaderboard.hub.upstream import sync as sync
    from oruk_leaderboard.manifest import load_manifest as load_manifest
    from oruk_leaderboard.manifest import validate as validate
    from oruk_leaderboard.reconstruction import reconstruct as reconstruct
    from oruk_leaderboard.records.record import load_records as load_records
    from oruk_leaderboard.release.publication import publish as publish
    from oruk_leaderboard.scoring.comparison import compare as compare
    from oruk_leaderboard.scoring.scorer import score as score
    from oruk_leaderboard.scoring.verification import verify as verify
    from oruk_leaderboard.systems.runner import run as run
    from oruk_leaderboard.table.leaderboard import leaderboard as leaderboard
    from oruk_leaderboard.table.leaderboard import load_leaderboard as load_leaderboard
