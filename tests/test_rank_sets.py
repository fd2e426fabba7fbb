"""Joint rank sets: what they settle, and that they hold together."""

import numpy as np
import pytest

from oruk_leaderboard.scoring.panel import panel
from oruk_leaderboard.statistics import Design, Draws, rank_sets, support, t_quantile
from tests.scored import gold_of_set, made_predictions, made_set


def replicates_around(figures: np.ndarray, error: float, *, b: int = 4000) -> np.ndarray:
    """Independent normal replicates, so that a difference has the standard error ``error·√2``."""
    return figures[:, None] + np.random.default_rng(0).normal(0, error, (len(figures), b))


@pytest.mark.parametrize("df", [4.0, 30.0, 59.0])
def test_few_degrees_of_freedom_take_bonferronis_t(df: float) -> None:
    figures = np.array([0.0, 0.0, 0.0])
    drawn = replicates_around(figures, 0.01)
    error = (drawn[0] - drawn[2]).std(ddof=1)
    critical = t_quantile(1 - 0.05 / (2 * 3), df)
    for factor, settled in ((0.999, False), (1.001, True)):
        moved = figures.copy()
        moved[0] = factor * critical * error
        assert rank_sets(moved, drawn + (moved - figures)[:, None], df=df).better[0, 2] == settled


def test_many_degrees_of_freedom_take_the_max_t_quantile() -> None:
    figures = np.zeros(3)
    drawn = replicates_around(figures, 0.01)
    pairs = [(0, 1), (0, 2), (1, 2)]
    largest = np.max([np.abs(drawn[i] - drawn[j]) / (drawn[i] - drawn[j]).std(ddof=1) for i, j in pairs], axis=0)
    error = (drawn[0] - drawn[2]).std(ddof=1)
    for factor, settled in ((0.999, False), (1.001, True)):
        moved = figures.copy()
        moved[0] = factor * float(np.quantile(largest, 0.95)) * error
        sets = rank_sets(moved, drawn + (moved - figures)[:, None], df=float("inf"))
        assert sets.better[0, 2] == settled


def test_settled_pairs_make_room_for_the_others() -> None:
    """Step-down: with the far system out of the way, the close pair is the only one left to test."""
    df, error = 30.0, 0.01
    between = (t_quantile(1 - 0.05 / 2, df) + t_quantile(1 - 0.05 / 6, df)) / 2
    figures = np.array([between * error * np.sqrt(2), 0.0, -1.0])
    sets = rank_sets(figures, replicates_around(figures, error), df=df)
    assert sets.best.tolist() == [1, 2, 3]
    assert sets.worst.tolist() == [1, 2, 3]


def test_systems_that_never_differ_share_all_ranks() -> None:
    figures = np.array([0.5, 0.5])
    sets = rank_sets(figures, np.tile(replicates_around(figures[:1], 0.01), (2, 1)), df=9.0)
    assert sets.first.all()
    assert sets.worst.tolist() == [2, 2]


@pytest.mark.parametrize("clusters", [30, 100])
def test_equal_systems_are_covered_together(clusters: int) -> None:
    """94 % in ``benchmarks/coverage.py ranks``; 300 runs have a standard error of 1.3 points."""
    rng, draws = np.random.default_rng(3), Draws(Design.of_clusters(clusters), n_boot=300, rescaled=True)
    held = 0
    for _ in range(300):
        scores = rng.normal(0, 1, (clusters, 12))
        figures = scores.mean(axis=0)
        held += not rank_sets(figures, draws.sums(scores).T / clusters, df=clusters - 1.0).better.any()
    assert held / 300 >= 0.92


def test_two_very_uneven_units_are_one_degree_of_freedom() -> None:
    assert support(Design.of_clusters(2), np.array([1000.0, 1.0])).df == 1.0


def test_a_panel_resamples_each_system_as_if_it_were_alone() -> None:
    gold = gold_of_set(made_set())
    board = panel({name: made_predictions(gold, seed=seed) for seed, name in enumerate("abc")}, gold, n_boot=50)
    clustered = board.margins()
    together = board.replicates(clustered)
    for system in range(3):
        assert (together.tp[system] == board.draws.sums(clustered.tp[system])).all()
        assert (together.predicted[system] == board.draws.sums(clustered.predicted[system])).all()
    assert (together.gold == board.draws.sums(clustered.gold)).all()
