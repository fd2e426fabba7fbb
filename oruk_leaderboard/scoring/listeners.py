"""What listeners' votes add to a record: the human line and the figures against soft labels."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oruk_leaderboard.answers.gold import Gold
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.answers.votes import Votes, read_votes, votes_of_columns
from oruk_leaderboard.scoring.human import evaluate_human, human_sums
from oruk_leaderboard.scoring.intervals import Settings
from oruk_leaderboard.scoring.sampling import Clustering
from oruk_leaderboard.scoring.soft_labels import evaluate_soft, soft_sums, vote_shares
from oruk_leaderboard.scoring.tally import Tally


def listener_figures(
    files: Sequence[Path | str],
    gold: Gold,
    predictions: Predictions,
    drawn: Clustering,
    tally: Tally,
    settings: Settings,
) -> dict[str, Any]:
    """Entries ``votes``, ``human_line`` and ``soft_labels`` of an evaluation.

    Args:
        files: Vote files; votes in the columns of a gold file count too.
        gold: The set.
        predictions: Predictions of all its clips.
        drawn: Cluster of each clip.
        tally: Counts of the same set.
        settings: Draws and intervals.

    Raises:
        PredictionError: A file cannot be used, or two have votes for one clip.
    """
    read = [(read_votes(Path(path)), hashlib.sha256(Path(path).read_bytes()).hexdigest()) for path in files]
    own = None if gold.rows is None else votes_of_columns(gold.rows, gold.clip_ids)
    votes = [part for part, _ in read] + ([] if own is None else [own])
    if not votes:
        return {"votes": [], "human_line": [], "soft_labels": None}
    clips, shares = vote_shares(votes, gold)
    here = set(gold.clip_ids)
    sums = [entry for part in votes for entry in human_sums(part, gold, drawn, predictions, on_error=settings.on_error)]
    soft = soft_sums(clips, shares, gold, predictions, drawn, on_error=settings.on_error)
    return {
        "votes": [_origin(part, digest, here) for part, digest in [*read, *([] if own is None else [(own, None)])]],
        "human_line": [{**entry, **evaluate_human(entry, tally.clusters, settings)} for entry in sums],
        "soft_labels": None if soft is None else {**soft, **evaluate_soft(soft, tally, settings)},
    }


def _origin(votes: Votes, digest: str | None, here: set[str]) -> dict[str, Any]:
    used = sum(clip_id in here for clip_id in votes.clip_ids)
    return {
        "file": votes.source,
        "sha256": digest,
        "clips": used,
        "clips_elsewhere": len(votes.clip_ids) - used,
        "unknown": dict(votes.unknown),
    }


def recomputed(evaluation: Mapping[str, Any], tally: Tally, settings: Settings) -> dict[str, Any]:
    """What the sums of a record give again: its ``human_line`` and ``soft_labels`` without the sums themselves."""
    soft = evaluation["soft_labels"]
    return {
        "human_line": [evaluate_human(entry, tally.clusters, settings) for entry in evaluation["human_line"]],
        "soft_labels": None if soft is None else evaluate_soft(soft, tally, settings),
    }
