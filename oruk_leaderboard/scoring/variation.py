"""How far a figure moves with the prompt, or with the choice of clips."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import statistics
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.scoring.comparison import difference_ends
from oruk_leaderboard.scoring.panel import Panel, ranking_metric
from oruk_leaderboard.todict import ToDict


@dataclass(frozen=True, slots=True)
class Ensemble(ToDict):
    """One system asked by several prompts.

    Attributes:
        metric: The figure.
        per_prompt: Prompt to its figure.
        mean: Mean over prompts.
        low: Lower end of the interval of the mean, all prompts on the same resampled clusters.
        high: Upper end.
        sd: Standard deviation over prompts (n - 1), 0 for one prompt.
        spread: Highest minus lowest.
    """

    metric: str
    per_prompt: dict[str, float]
    mean: float
    low: float
    high: float
    sd: float
    spread: float


@dataclass(frozen=True, slots=True)
class Shift(ToDict):
    """How far a figure on a subsample is from the figure on the whole set.

    Attributes:
        system: Its name.
        full: Figure on all clips.
        subsample: Figure on the subsample.
        difference: Subsample minus full.
        low: Lower end of its interval (Student's t), both parts on the same resampled clusters.
        high: Upper end.
        n_full: Clips of the set.
        n_subsample: Clips of the subsample.
    """

    system: str
    full: float
    subsample: float
    difference: float
    low: float
    high: float
    n_full: int
    n_subsample: int


def ensemble(board: Panel, *, metric: str = "macro_f1", alpha: float = 0.05) -> Ensemble:
    """Summarise one system asked by several prompts, each prompt a system of the panel."""
    figure = ranking_metric(metric).function
    clustered = board.margins()
    values = figure(clustered.sum())
    drawn = figure(board.replicates(clustered)).mean(axis=0)
    error = statistics.standard_error(drawn)
    low, high = statistics.t_interval(float(values.mean()), error, board.support, alpha=alpha)
    return Ensemble(
        metric=metric,
        per_prompt={name: float(value) for name, value in zip(board.names, values, strict=True)},
        mean=float(values.mean()),
        low=low,
        high=high,
        sd=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        spread=float(values.max() - values.min()),
    )


def shift(
    board: Panel, subsample: NDArray[np.bool_], *, metric: str = "macro_f1", alpha: float = 0.05
) -> tuple[Shift, ...]:
    """How far each system's figure moves from the whole set to a subsample of it.

    Args:
        board: Systems on the whole set.
        subsample: Whether each clip is in the subsample, shape (n,).
        metric: As for :func:`rank`.
        alpha: One minus the confidence of the intervals.

    Raises:
        PredictionError: The subsample has none of the clips, or the metric is unknown.
    """
    figure = ranking_metric(metric).function
    if len(subsample) != len(board.gold.clip_ids) or not subsample.any():
        raise PredictionError("the subsample has no clip of the set", expected="at least one clip of the set")
    parts = board.margins(), board.margins(subsample)
    full, part = (figure(clustered.sum()) for clustered in parts)
    drawn = [figure(board.replicates(clustered)) for clustered in parts]
    found = []
    for row, name in enumerate(board.names):
        difference = float(part[row] - full[row])
        low, high = difference_ends(difference, drawn[1][row] - drawn[0][row], board.support, alpha)
        found.append(
            Shift(
                system=name,
                full=float(full[row]),
                subsample=float(part[row]),
                difference=difference,
                low=low,
                high=high,
                n_full=len(subsample),
                n_subsample=int(subsample.sum()),
            )
        )
    return tuple(found)
