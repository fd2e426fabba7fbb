"""Bootstrap, intervals, tests and ranks against the harness, scipy, other packages and simulation."""

import confidence_intervals
import numpy as np
import oruk_bench.stats as harness
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oruk_leaderboard import metrics, statistics
from oruk_leaderboard.errors import MetricError

K = 7


def simulate(
    seed: int, n: int = 600, n_clusters: int = 40, accuracy: float = 0.7
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gold, predictions and clusters whose error rates differ by cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, n - n_clusters)])
    gold = rng.integers(0, K, n)
    right = rng.random(n) < np.clip(accuracy + rng.normal(0, 0.15, n_clusters), 0.05, 0.95)[cluster]
    return gold, np.where(right, gold, rng.integers(0, K, n)), cluster


def counts(gold: np.ndarray, predicted: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    return metrics.confusion(gold, predicted, K, groups=statistics.clusters(cluster.tolist()).index)


FIGURES = {"accuracy": metrics.accuracy, "macro_f1": metrics.macro_f1}


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("figure", FIGURES)
def test_replicates_equal_the_harness_bit_for_bit(seed: int, figure: str) -> None:
    gold, predicted, cluster = simulate(seed)
    other = simulate(seed + 100)[1]
    draws = statistics.Draws(40, n_boot=60, seed=seed)
    clustered = counts(gold, predicted, cluster)
    theirs = harness.bootstrap_ci(gold, predicted, cluster, figure, n_boot=60, seed=seed)
    ours = FIGURES[figure](statistics.resample(metrics.margins(clustered), draws))
    assert ours.tolist() == theirs.replicates.tolist()
    interval = statistics.interval(clustered, FIGURES[figure], draws=draws)
    assert (interval.point, interval.low, interval.high) == (theirs.point, theirs.ci_low, theirs.ci_high)
    test = harness.paired_bootstrap_test(gold, predicted, other, cluster, figure, n_boot=60, seed=seed)
    paired = statistics.paired_bootstrap(clustered, counts(gold, other, cluster), FIGURES[figure], draws=draws)
    assert (paired.difference, paired.low, paired.high) == (test.delta, test.ci_low, test.ci_high)
    assert paired.p == test.p_value


def test_draws_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(statistics.Draws(9, n_boot=50, seed=3).weights()))
    monkeypatch.setattr("oruk_leaderboard.statistics.resampling.CHUNK_CELLS", 20)
    monkeypatch.setattr("oruk_leaderboard.statistics.resampling.BLOCK_CELLS", 70)
    pieces = list(statistics.Draws(9, n_boot=50, seed=3).weights())
    assert list(map(len, pieces)) == [7] * 7 + [1]
    assert (np.concatenate(pieces) == whole).all()
    assert (whole.sum(axis=1) == 9).all()


def test_percentile_agrees_with_confidence_intervals() -> None:
    values = np.random.default_rng(1).normal(size=999)
    assert statistics.percentile(values) == pytest.approx(confidence_intervals.get_conf_int(values, alpha=5), abs=1e-12)


def test_intervals_agree_with_confidence_intervals_within_the_noise_of_resampling() -> None:
    gold, predicted, _ = simulate(4)
    _, (low, high) = confidence_intervals.evaluate_with_conf_int(
        predicted, lambda labels, samples: float((labels == samples).mean()), gold, num_bootstraps=2000
    )
    clips = np.arange(gold.size)
    ours = statistics.interval(counts(gold, predicted, clips), metrics.accuracy, draws=statistics.Draws(gold.size))
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.005)


def test_bca_agrees_with_scipy() -> None:
    # The mean over clusters of one clip each: scipy draws with its own stream, so the noise of resampling remains.
    rng = np.random.default_rng(2)
    right = rng.random(150) < 0.9
    clustered = metrics.confusion(np.zeros(150, dtype=int), np.where(right, 0, 1), 2, groups=np.arange(150))
    draws = statistics.Draws(150, n_boot=20_000, seed=1)
    ours = statistics.interval(clustered, metrics.accuracy, draws=draws, method="bca")
    theirs = scipy.stats.bootstrap(
        (right,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1), vectorized=True
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.007)
    plain = statistics.interval(clustered, metrics.accuracy, draws=draws)
    assert ours.low < plain.low  # the share is near 1, so the correction moves the interval down


def test_bca_from_its_formula() -> None:
    rng = np.random.default_rng(5)
    replicates, jackknife = rng.normal(0.1, 1, 999), rng.normal(size=30) ** 2
    normal = scipy.stats.norm
    bias = normal.ppf((replicates < 0).mean())
    gaps = jackknife.mean() - jackknife
    a = (gaps**3).sum() / 6 / (gaps**2).sum() ** 1.5
    ends = [normal.cdf(bias + (bias + normal.ppf(q)) / (1 - a * (bias + normal.ppf(q)))) for q in (0.05, 0.95)]
    expected = np.percentile(replicates, 100 * np.array(ends))
    assert statistics.bca(0.0, replicates, jackknife, alpha=0.1) == pytest.approx(tuple(expected), abs=1e-12)
    assert statistics.bca(0.5, np.full(9, 0.5), jackknife) == (0.5, 0.5)
    with pytest.raises(MetricError, match="use the percentile method"):
        statistics.bca(99.0, replicates, jackknife)


def test_two_stage_draws_corpora_then_speakers() -> None:
    speakers = ["a/1", "a/2", "b/1", "b/2", "b/3", "c/1"] * 3
    found = statistics.clusters(speakers, kind="speaker", within=[name[0] for name in speakers])
    assert found.names == ("a/1", "a/2", "b/1", "b/2", "b/3", "c/1")
    assert found.parents is not None and found.parents.tolist() == [0, 0, 1, 1, 1, 2]
    draws = statistics.Draws(6, n_boot=4000, seed=0, parents=found.parents)
    weights = np.concatenate(list(draws.weights()))
    sizes = np.stack([weights[:, found.parents == group].sum(axis=1) for group in range(3)], axis=1)
    assert (sizes % [2, 3, 1] == 0).all()  # a drawn corpus brings as many speakers as it has
    assert ((sizes / [2, 3, 1]).sum(axis=1) == 3).all()  # as many corpora are drawn as there are
    assert weights.mean(axis=0) == pytest.approx(np.ones(6), abs=0.06)
    again = np.concatenate(list(statistics.Draws(6, n_boot=4000, seed=0, parents=found.parents).weights()))
    assert (weights == again).all()


def test_two_stage_is_wider_where_corpora_differ() -> None:
    rng = np.random.default_rng(3)
    corpus = np.repeat(np.arange(12), 100)
    speaker = np.repeat(np.arange(120), 10)
    gold = rng.integers(0, K, 1200)
    right = rng.random(1200) < np.linspace(0.3, 0.9, 12)[corpus]
    clustered = counts(gold, np.where(right, gold, (gold + 1) % K), speaker)
    parents = np.repeat(np.arange(12), 10)
    one = statistics.interval(clustered, metrics.accuracy, draws=statistics.Draws(120, n_boot=500))
    two = statistics.interval(clustered, metrics.accuracy, draws=statistics.Draws(120, n_boot=500, parents=parents))
    assert two.high - two.low > 1.5 * (one.high - one.low)


def test_coverage_of_the_interval() -> None:
    """The 95 % interval covers the truth in 93–97 % of 500 sets with clustered errors; one by clips does not."""
    n_sets, n_clusters, size = 500, 150, 12
    rng = np.random.default_rng(11)
    prior = np.array([0.16, 0.17, 0.16, 0.10, 0.08, 0.08, 0.25])
    groups = np.repeat(np.arange(n_clusters), size)
    # Truth: a speaker's accuracy is Beta(3, 1.5) with mean 2/3, an error is any class by its prior.
    share = 2 / 3
    tp = prior * (share + (1 - share) * prior)
    truth = {"accuracy": tp.sum(), "macro_f1": (2 * tp / (prior + share * prior + (1 - share) * prior)).mean()}
    covered, covered_by_clips = dict.fromkeys(truth, 0), 0
    for number in range(n_sets):
        gold = rng.choice(K, groups.size, p=prior)
        skill = rng.beta(3, 1.5, n_clusters)[groups]
        predicted = np.where(rng.random(groups.size) < skill, gold, rng.choice(K, groups.size, p=prior))
        clustered = metrics.confusion(gold, predicted, K, groups=groups)
        draws = statistics.Draws(n_clusters, n_boot=600, seed=number)
        for name, interval in statistics.bootstrap(clustered, FIGURES, draws=draws).items():
            covered[name] += interval.low <= truth[name] <= interval.high
        low, high = statistics.wilson((gold == predicted).mean(), groups.size)
        covered_by_clips += low <= truth["accuracy"] <= high
    for name, hits in covered.items():
        assert 0.93 <= hits / n_sets <= 0.97, f"{name}: {hits / n_sets}"
    assert covered_by_clips / n_sets < 0.85


@given(st.integers(0, 500), st.integers(2, 6))
def test_figures_do_not_depend_on_clustering_and_merging_only_moves_intervals(seed: int, merged: int) -> None:
    gold, predicted, cluster = simulate(seed, n=120, n_clusters=12)
    fine, coarse = counts(gold, predicted, cluster), counts(gold, predicted, cluster % merged)
    assert (fine.sum(axis=0) == coarse.sum(axis=0)).all()
    one = statistics.bootstrap(fine, FIGURES, draws=statistics.Draws(12, n_boot=30))
    two = statistics.bootstrap(coarse, FIGURES, draws=statistics.Draws(merged, n_boot=30))
    for name in FIGURES:
        assert one[name].point == two[name].point
        assert one[name].low <= one[name].high


@given(st.integers(0, 500))
def test_order_of_clips_changes_nothing(seed: int) -> None:
    gold, predicted, cluster = simulate(seed, n=100, n_clusters=10)
    order = np.random.default_rng(seed).permutation(100)
    draws = statistics.Draws(10, n_boot=20, seed=seed)
    there = statistics.bootstrap(counts(gold, predicted, cluster), FIGURES, draws=draws)
    back = statistics.bootstrap(counts(gold[order], predicted[order], cluster[order]), FIGURES, draws=draws)
    assert there == back


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: statistics.Draws(1), "one cluster has no spread"),
        (lambda: statistics.Draws(5, n_boot=0), "n_boot: bad option"),
        (lambda: statistics.Draws(5, n_boot=True), "n_boot: bad option"),
        (lambda: statistics.Draws(5, seed=-1), "seed: bad option"),
        (lambda: statistics.Draws(3, parents=np.array([0, 1])), "parents: lengths differ"),
        (lambda: statistics.Draws(3, parents=np.array([4, 4, 4])), "one larger group"),
        (lambda: statistics.clusters([]), "no clips"),
        (lambda: statistics.clusters(["a", None, "b", ""], kind="speaker"), "clip 1: 2 of 4 clips have no speaker"),
        (lambda: statistics.clusters(["a", float("nan")]), "1 of 2 clips have no cluster"),
        (lambda: statistics.clusters(["a", 1]), "several types"),
        (lambda: statistics.clusters(["a", "b"], within=["x"]), "lengths differ"),
        (lambda: statistics.clusters(["a", "a"], kind="speaker", within=["x", "y"]), "a: speaker lies in two groups"),
        (lambda: statistics.percentile([1.0, 2.0], alpha=2), "alpha: bad option"),
        (lambda: statistics.percentile([1.0, 2.0], alpha=float("nan")), "alpha: bad option"),
        (lambda: statistics.wilson(1.2, 10), "share: not a share"),
        (lambda: statistics.wilson(0.5, 0), "n: no clips"),
        (lambda: statistics.holm([0.5, 1.5]), "not p-values"),
        (lambda: statistics.mcnemar(-1, 2), "0 or more"),
        (lambda: statistics.minimum_detectable_difference(100, 0.0), "base: out of range"),
        (lambda: statistics.minimum_detectable_difference(2, 0.9), "too few clips"),
    ],
)
def test_refuses(action: object, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        action()


def test_bootstrap_refuses_other_clusters_other_clips_and_unknown_methods() -> None:
    gold, predicted, cluster = simulate(0)
    clustered = counts(gold, predicted, cluster)
    with pytest.raises(MetricError, match="margins of other clusters"):
        statistics.bootstrap(clustered, FIGURES, draws=statistics.Draws(39))
    with pytest.raises(MetricError, match="unknown method"):
        statistics.bootstrap(clustered, FIGURES, draws=statistics.Draws(40), method="normal")
    with pytest.raises(MetricError, match="not scored on the same clips"):
        moved = counts((gold + 1) % K, predicted, cluster)
        statistics.paired_bootstrap(clustered, moved, metrics.accuracy, draws=statistics.Draws(40))


def test_p_value_of_the_protocol() -> None:
    assert statistics.two_sided_p([1.0, 2.0, 3.0]) == 2 * 1 / 4
    assert statistics.two_sided_p([-1.0, 1.0, 0.0]) == 1.0
    assert statistics.two_sided_p([[0.5] * 1999, [-0.5] * 1999]).tolist() == [0.001, 0.001]


def test_holm() -> None:
    # Worked by hand: 0.01·4, 0.02·3, 0.03·2, 0.04·1, each at least the one before.
    assert statistics.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert statistics.holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert statistics.holm([]).tolist() == []


def test_tail_p_goes_below_the_resolution_of_the_replicates_where_it_may() -> None:
    replicates = np.random.default_rng(0).normal([[6.0], [0.5]], 1, (2, 1000))
    plain = statistics.two_sided_p(replicates)
    fine = statistics.tail_p(replicates, [6.0, 0.5], n_clusters=100)
    assert plain[0] == 2 / 1001 and fine[0] == pytest.approx(2 * scipy.stats.norm.sf(6), rel=0.6)
    assert fine[1] == plain[1]
    assert (statistics.tail_p(replicates, [6.0, 0.5], n_clusters=29) == plain).all()


@pytest.mark.parametrize(("one", "other"), [(0, 0), (3, 12), (40, 60), (480, 520)])
def test_mcnemar_exact_agrees_with_scipy(one: int, other: int) -> None:
    result = statistics.mcnemar(one, other)
    expected = scipy.stats.binomtest(one, one + other).pvalue if one + other else 1.0
    assert result.method == "exact" and result.p == pytest.approx(expected, rel=1e-9)


def test_mcnemar_of_many_clips() -> None:
    result = statistics.mcnemar(5000, 5300)
    assert result.method == "chi-square"
    assert result.p == pytest.approx(scipy.stats.chi2.sf(299**2 / 10300, 1), rel=1e-9)
    assert result.p == pytest.approx(scipy.stats.binomtest(5000, 10300).pvalue, rel=0.02)


def test_wilson_agrees_with_scipy() -> None:
    for right, n in ((0, 10), (7, 10), (10, 10), (44231, 64384)):
        expected = scipy.stats.binomtest(right, n).proportion_ci(method="wilson")
        assert statistics.wilson(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


# Accuracy, 80 % power, α 0.05; from the benchmark's own statistics notes (simulated there).
PROTOCOL_FLOORS = {
    (1000, 0.45): 0.0625,
    (1000, 0.77): 0.0488,
    (5000, 0.45): 0.0285,
    (5000, 0.77): 0.0246,
    (17823, 0.45): 0.0148,
    (17823, 0.77): 0.0121,
    (64384, 0.45): 0.0082,
    (64384, 0.77): 0.0070,
}


@pytest.mark.parametrize(("n", "base"), PROTOCOL_FLOORS)
def test_minimum_detectable_difference_agrees_with_the_protocol(n: int, base: float) -> None:
    floor = statistics.resolution_floor(n, base)
    assert floor.difference == pytest.approx(PROTOCOL_FLOORS[n, base], rel=0.10)
    assert "independent" in floor.method


def test_minimum_detectable_difference_solves_its_equation() -> None:
    d = statistics.minimum_detectable_difference(5000, 0.6, power=0.9, alpha=0.01, design_effect=3)
    z = scipy.stats.norm.ppf(0.995) + scipy.stats.norm.ppf(0.9)
    assert d == pytest.approx(z * np.sqrt(3 * (0.6 * 0.4 + (0.6 + d) * (0.4 - d)) / 5000))
    assert d > statistics.minimum_detectable_difference(5000, 0.6, power=0.9, alpha=0.01)


def test_ranks() -> None:
    assert statistics.ranks([0.3, 0.9, 0.3]).tolist() == [2, 1, 2]
    replicates = np.array([[3.0, 3, 1, 2], [2.0, 2, 2, 2], [1.0, 1, 3, 1]])
    low, high = statistics.rank_intervals(replicates)
    assert (low.tolist(), high.tolist()) == ([1, 1, 1], [3, 2, 3])
    assert statistics.probability_of_first(replicates).tolist() == [0.625, 0.125, 0.25]


def test_display_ranks_share_and_skip() -> None:
    assert statistics.display_ranks([]) == [1]
    assert statistics.display_ranks([False, True, False, False, True]) == [1, 1, 3, 3, 3, 6]


def test_cliques_do_not_chain() -> None:
    apart = np.zeros((4, 4), dtype=bool)
    apart[0, 2:] = apart[1, 3] = True
    assert statistics.cliques(apart | apart.T) == [(0, 1), (1, 2), (2, 3)]
    assert statistics.cliques(~np.eye(3, dtype=bool)) == []
    assert statistics.cliques(np.zeros((3, 3), dtype=bool)) == [(0, 2)]
