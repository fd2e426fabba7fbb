"""Small made sets with predictions, for every test that needs something scored."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from oruk_leaderboard.answers.gold import Gold, gold_of_set
from oruk_leaderboard.answers.predictions import OK, Predictions
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.scoring.scorer import score

DIGEST = "a" * 64

FAST = {"n_boot": 100, "snapshot": "2026-11-30"}
"""Options of a score that tests need no close intervals from."""


def made_columns(n: int = 400, *, speakers: int = 12, corpora: int = 3, seed: int = 0) -> dict[str, list[Any]]:
    """Columns of a rebuilt set, audio aside; every corpus has its own speakers and language."""
    rng = np.random.default_rng(seed)
    speaker = rng.integers(0, speakers, n)
    corpus = speaker % corpora
    return {
        "clip_id": [f"corpus{c}/{at:05d}" for at, c in enumerate(corpus)],
        "label": rng.choice(7, n, p=[0.16, 0.17, 0.16, 0.08, 0.05, 0.05, 0.33]).tolist(),
        "corpus": [f"corpus{c}" for c in corpus],
        "language": [("de", "en", None)[c % 3] for c in corpus],
        "speaker": [f"{s:02d}" for s in speaker],
        "gender": [("female", "male")[s % 2] for s in speaker],
        "elicitation": [("acted", "spontaneous")[c % 2] for c in corpus],
        "clip_sha256": [f"{at:064x}" for at in range(n)],
        "duration_s": np.round(rng.uniform(0.5, 16, n), 3).tolist(),
    }


class MadeTable:
    """Just enough of an Arrow table."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns, self.column_names, self.num_rows = columns, list(columns), len(columns["clip_id"])

    def column(self, name: str) -> Any:
        return SimpleNamespace(to_pylist=lambda: self._columns[name])


def made_set(
    columns: dict[str, list[Any]] | None = None, *, partial: bool = False, profile: str | None = "open"
) -> Any:
    """An open rebuilt set, as ``clipset.open_clipset`` gives it."""
    report = {
        "digest": DIGEST,
        "manifest": {"version": "1.0.0", "digest": "b" * 64, "profile": profile},
        "partial": partial,
        "absent": {"corpus9": 7} if partial else {},
        "label_policy": None,
        "label_source": None,
        "audio_rule": 1,
    }
    return SimpleNamespace(table=MadeTable(columns or made_columns()), report=report)


def made_predictions(gold: Gold, *, right: float = 0.7, seed: int = 1, **changes: Any) -> Predictions:
    """Predictions that are right with probability ``right``, else any class."""
    rng = np.random.default_rng(seed)
    n = len(gold.labels)
    labels = np.where(rng.random(n) < right, gold.labels, rng.integers(0, len(gold.classes), n))
    status = np.zeros(n, np.int8)
    return Predictions(**{"labels": labels, "status": status, "source": "made.csv", **changes})


def scored_record(columns: dict[str, list[Any]] | None = None, **origin: Any) -> dict[str, Any]:
    """A record of a small made set; ``origin`` replaces entries of its evaluation that name the set."""
    clips = made_set(columns)
    gold = gold_of_set(clips)
    gold = Gold(gold.clip_ids, gold.labels, CLASSES, gold.attributes, {**gold.origin, **origin})
    return score(made_predictions(gold), gold=gold, n_boot=50, snapshot="2026-11-30").to_dict()


def gold_of(labels, **columns):
    """A set of these labels; one corpus and one speaker for each clip unless given otherwise."""
    n = len(labels)
    base = {
        "clip_id": [f"c/{at:04d}" for at in range(n)],
        "label": list(labels),
        "corpus": ["c"] * n,
        "language": ["en"] * n,
        "speaker": [str(at) for at in range(n)],
        "gender": [None] * n,
        "elicitation": [None] * n,
        "duration_s": [1.0] * n,
        "clip_sha256": ["0" * 64] * n,
    }
    return gold_of_set(made_set({**base, **columns}))


def said(labels, status=None, **extra):
    """Predictions of these class indices; other than -1 only where the status is ok."""
    labels = np.array(labels, np.int64)
    status = np.zeros(len(labels), np.int8) if status is None else np.array(status, np.int8)
    return Predictions(np.where(status == OK, labels, -1), status, **extra)
