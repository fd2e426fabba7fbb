"""Bootstrap, intervals, tests and ranks against the harness, scipy, other packages and simulation."""

import re

import confidence_intervals
import numpy as np
import oruk_bench.stats as harness
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oruk_leaderboard import metrics, statistics
from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.paths import checkout_root

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


def table(gold: np.ndarray, predicted: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Margins by cluster, side by side."""
    margins = metrics.margins(metrics.confusion(gold, predicted, K, groups=cluster))
    return np.concatenate([margins.tp, margins.gold, margins.predicted], axis=1)


def figure(name: str, sums: np.ndarray) -> np.ndarray:
    return FIGURES[name](metrics.Margins(*np.split(sums, 3, axis=-1)))


def one_stratum(n: int, **options: object) -> statistics.Draws:
    return statistics.Draws(statistics.Design.of_clusters(n), **options)


FIGURES = {"accuracy": metrics.accuracy, "macro_f1": metrics.macro_f1}


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", FIGURES)
def test_plain_replicates_equal_the_harness_bit_for_bit(seed: int, name: str) -> None:
    gold, predicted, cluster = simulate(seed)
    theirs = harness.bootstrap_ci(gold, predicted, cluster, name, n_boot=60, seed=seed)
    ours = figure(name, one_stratum(40, n_boot=60, seed=seed).sums(table(gold, predicted, cluster)))
    assert ours.tolist() == theirs.replicates.tolist()
    assert statistics.percentile(ours) == (theirs.ci_low, theirs.ci_high)
    other = simulate(seed + 100)[1]
    test = harness.paired_bootstrap_test(gold, predicted, other, cluster, name, n_boot=60, seed=seed)
    drawn = figure(name, one_stratum(40, n_boot=60, seed=seed).sums(table(gold, other, cluster)))
    difference = ours - drawn
    # The p-value of protocol 0.1.0.
    assert min(2 * (min((difference <= 0).sum(), (difference >= 0).sum()) + 1) / (60 + 1), 1) == test.p_value


def test_draws_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = one_stratum(9, n_boot=50, seed=3).weights
    monkeypatch.setattr("oruk_leaderboard.statistics.resampling.CHUNK_CELLS", 20)
    assert (one_stratum(9, n_boot=50, seed=3).weights == whole).all()
    assert (whole.sum(axis=0) == 9).all()


def test_draws_stay_within_their_stratum() -> None:
    stratum = np.array([0, 0, 0, 1, 1, 2])
    design = statistics.Design(stratum, np.zeros(6, bool))
    plain, rescaled = (statistics.Draws(design, n_boot=400, rescaled=kind) for kind in (False, True))
    for draws, sizes in ((plain, [3, 2, 1]), (rescaled, [2, 1, 1])):
        for number, size in enumerate(sizes):
            assert (draws.weights[stratum == number].sum(axis=0) == size).all()
    # Every unit counts once on average, and the stratum of one unit always does.
    ones = np.eye(6)
    assert plain.sums(ones).mean(axis=0) == pytest.approx(np.ones(6), abs=0.15)
    assert rescaled.sums(ones).mean(axis=0) == pytest.approx(np.ones(6), abs=0.15)
    assert (rescaled.sums(ones)[:, 5] == 1).all()


def test_rescaled_draws_have_the_unbiased_spread_of_a_mean_by_strata() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, (9, 1)).astype(float)
    design = statistics.Design(np.repeat([0, 1, 2], [2, 3, 4]), np.zeros(9, bool))
    drawn = statistics.Draws(design, n_boot=60_000, rescaled=True).sums(values)[:, 0]
    # By the textbook: Σ n·s² over the strata, s² the sample variance.
    expected = sum(len(part) * part.var(ddof=1) for part in np.split(values[:, 0], [2, 5]))
    assert drawn.var() == pytest.approx(expected, rel=0.03)
    error = statistics.mean_error(values[:, 0], np.ones(9), design)
    assert (error * 9) ** 2 == pytest.approx(expected, rel=1e-9)


def test_sums_of_some_units_are_those_of_the_whole() -> None:
    draws = statistics.Draws(statistics.Design(np.repeat([0, 1], 4), np.zeros(8, bool)), n_boot=30, rescaled=True)
    numbers = np.arange(16.0).reshape(8, 2)
    units = np.array([1, 2, 6])
    masked = np.where(np.isin(np.arange(8), units)[:, None], numbers, 0)
    assert (draws.sums(numbers[units], units) == draws.sums(masked)).all()


def test_support_of_equal_unequal_and_loose_units() -> None:
    equal = statistics.support(statistics.Design.of_clusters(10), np.full(10, 7.0))
    assert (equal.clusters, equal.effective, equal.df) == (10, pytest.approx(10), pytest.approx(9))
    uneven = statistics.support(statistics.Design.of_clusters(3), np.array([8.0, 4.0, 4.0]))
    assert uneven.effective == pytest.approx(256 / 96) and uneven.df == pytest.approx(256 / 96 - 1)
    # Two strata of equal clusters: Satterthwaite gives the sum of their degrees of freedom.
    two = statistics.Design(np.repeat([0, 1], 5), np.zeros(10, bool))
    assert statistics.support(two, np.full(10, 3.0)).df == pytest.approx(8)
    loose = statistics.Design(np.array([0, 0, 1, 1]), np.array([False, False, True, True]))
    found = statistics.support(loose, np.array([10.0, 10.0, 6.0, 4.0]))
    assert (found.clusters, found.loose_share) == (12, pytest.approx(1 / 3))
    assert found.effective == pytest.approx(900 / 210)
    assert statistics.support(two, np.zeros(0), np.zeros(0, int)).clusters == 0


@pytest.mark.parametrize("df", [1, 2.5, 9, 30, 1e4, float("inf")])
def test_student_agrees_with_scipy(df: float) -> None:
    theirs = scipy.stats.t(df) if np.isfinite(df) else scipy.stats.norm
    for t in (-3.0, 0.0, 0.4, 2.0, 7.5):
        assert statistics.t_sf(t, df) == pytest.approx(theirs.sf(t), rel=1e-8)
    for probability in (0.01, 0.5, 0.9, 0.975, 0.9995):
        assert statistics.t_quantile(probability, df) == pytest.approx(theirs.ppf(probability), rel=1e-8, abs=1e-9)


def test_t_interval_from_its_formula_and_at_the_bounds() -> None:
    rests_on = statistics.Support(12, 10.0, 9.0)
    quantile = scipy.stats.t.ppf(0.975, 9)
    assert statistics.t_interval(0.6, 0.05, rests_on, logit=False) == pytest.approx(
        (0.6 - 0.05 * quantile, 0.6 + 0.05 * quantile)
    )
    low, high = statistics.t_interval(0.95, 0.05, rests_on)
    logit = scipy.special.logit(0.95)
    expected = scipy.special.expit([logit - quantile * 0.05 / 0.0475, logit + quantile * 0.05 / 0.0475])
    assert (low, high) == pytest.approx(tuple(expected))
    # All right: no spread, and still not "1.0000 to 1.0000".
    assert statistics.t_interval(1.0, 0.0, rests_on) == pytest.approx((statistics.wilson(1.0, 10.0)[0], 1.0))
    low, high = statistics.t_interval(-1.0, 0.0, rests_on, bounds=statistics.Bounds(-1.0, 1.0))
    assert low == -1.0 and high == pytest.approx(2 * statistics.wilson(0.0, 10.0)[1] - 1)
    low, high = statistics.t_interval(2.0, 0.1, rests_on, bounds=statistics.Bounds(0.0, float("inf")))
    assert (low, high) == pytest.approx((2 / np.exp(0.05 * quantile), 2 * np.exp(0.05 * quantile)))
    assert statistics.t_interval(0.0, 0.0, rests_on, bounds=statistics.Bounds(0.0, np.inf)) == (0.0, np.inf)


def test_percentile_agrees_with_confidence_intervals() -> None:
    values = np.random.default_rng(1).normal(size=999)
    assert statistics.percentile(values) == pytest.approx(confidence_intervals.get_conf_int(values, alpha=5), abs=1e-12)


def test_intervals_agree_with_confidence_intervals_within_the_noise_of_resampling() -> None:
    gold, predicted, _ = simulate(4)
    _, (low, high) = confidence_intervals.evaluate_with_conf_int(
        predicted, lambda labels, samples: float((labels == samples).mean()), gold, num_bootstraps=2000
    )
    rows = table(gold, predicted, np.arange(gold.size))
    ours = statistics.percentile(figure("accuracy", one_stratum(gold.size).sums(rows)))
    assert ours == pytest.approx((low, high), abs=0.005)


def test_bca_agrees_with_scipy() -> None:
    # The mean over clusters of one clip each: scipy draws with its own stream, so the noise of resampling remains.
    rng = np.random.default_rng(2)
    right = rng.random(150) < 0.9
    rows = table(np.zeros(150, dtype=int), np.where(right, 0, 1), np.arange(150))
    values = figure("accuracy", one_stratum(150, n_boot=20_000, seed=1).sums(rows))
    ours = statistics.bca(right.mean(), values, figure("accuracy", rows.sum(axis=0) - rows))
    theirs = scipy.stats.bootstrap(
        (right,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1), vectorized=True
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.007)
    assert ours[0] < statistics.percentile(values)[0]  # the share is near 1, so the correction moves the interval down


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
    with pytest.raises(MetricError, match="use --interval percentile"):
        statistics.bca(99.0, replicates, jackknife)


def test_intervals_of_few_unequal_clusters_cover() -> None:
    """The default covers the truth of 12 unequal clusters in at least 93 % of 400 sets; the percentile one does not."""
    rng = np.random.default_rng(11)
    sizes, prior = np.array([5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60]), np.full(K, 1 / K)
    cluster = np.repeat(np.arange(12), sizes)
    design = statistics.Design.of_clusters(12)
    plain, rescaled = (statistics.Draws(design, n_boot=300, rescaled=kind) for kind in (False, True))
    rests_on = statistics.support(design, sizes.astype(float))
    covered = dict.fromkeys(("default", "percentile"), 0)
    for _ in range(400):
        gold = rng.choice(K, cluster.size, p=prior)
        skill = rng.beta(3, 1.5, 12)[cluster]
        right = rng.random(cluster.size) < skill
        rows = table(gold, np.where(right, gold, (gold + 1) % K), cluster)
        point = float(figure("accuracy", rows.sum(axis=0)))
        error = statistics.standard_error(figure("accuracy", rescaled.sums(rows)))
        for name, (low, high) in {
            "default": statistics.t_interval(point, error, rests_on),
            "percentile": statistics.percentile(figure("accuracy", plain.sums(rows))),
        }.items():
            covered[name] += low <= 2 / 3 <= high
    assert covered["default"] >= 0.93 * 400 > covered["percentile"]


@given(st.integers(0, 500))
def test_order_of_clips_changes_nothing(seed: int) -> None:
    gold, predicted, cluster = simulate(seed, n=100, n_clusters=10)
    order = np.random.default_rng(seed).permutation(100)
    draws = one_stratum(10, n_boot=20, seed=seed)
    there, back = table(gold, predicted, cluster), table(gold[order], predicted[order], cluster[order])
    assert (draws.sums(there) == draws.sums(back)).all()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: one_stratum(1), "one cluster has no spread"),
        (lambda: one_stratum(5, n_boot=0), "n_boot: bad option"),
        (lambda: one_stratum(5, n_boot=True), "n_boot: bad option"),
        (lambda: one_stratum(5, seed=-1), "seed: bad option"),
        (lambda: one_stratum(5).sums(np.ones((4, 2))), "counts of other units"),
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


def test_holm() -> None:
    # Worked by hand: 0.01·4, 0.02·3, 0.03·2, 0.04·1, each at least the one before.
    assert statistics.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert statistics.holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert statistics.holm([]).tolist() == []


def test_t_p_agrees_with_scipy_and_has_no_floor() -> None:
    for difference, error, df in ((0.03, 0.01, 9), (-0.5, 0.02, 27), (0.0, 0.1, 5)):
        expected = 2 * scipy.stats.t.sf(abs(difference) / error, df)
        assert statistics.t_p(difference, error, df) == pytest.approx(expected, rel=1e-7)
    assert statistics.t_p(0.0, 0.0, 9) == 1.0


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
    found = statistics.minimum_detectable_difference(n, base)
    assert found == pytest.approx(PROTOCOL_FLOORS[n, base], rel=0.10)


def test_the_documented_differences_are_those_of_the_function() -> None:
    text = (checkout_root() / "docs" / "intervals.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| (0\.\d{4}) \| (0\.\d{4}) \|$", text, re.MULTILINE)
    assert len(rows) == 3
    for clips, *differences in rows:
        n = int(clips.replace(",", ""))
        assert differences == [f"{statistics.minimum_detectable_difference(n, base):.4f}" for base in (0.45, 0.77)]


def test_minimum_detectable_difference_solves_its_equation() -> None:
    d = statistics.minimum_detectable_difference(5000, 0.6, power=0.9, alpha=0.01, design_effect=3)
    z = scipy.stats.norm.ppf(0.995) + scipy.stats.norm.ppf(0.9)
    assert d == pytest.approx(z * np.sqrt(3 * (0.6 * 0.4 + (0.6 + d) * (0.4 - d)) / 5000))
    assert d > statistics.minimum_detectable_difference(5000, 0.6, power=0.9, alpha=0.01)


def test_ranks() -> None:
    assert statistics.ranks([0.3, 0.9, 0.3]).tolist() == [2, 1, 2]
    replicates = np.array([[3.0, 3, 1, 2], [2.0, 2, 2, 2], [1.0, 1, 3, 1]])
    assert statistics.probability_of_first(replicates).tolist() == [0.625, 0.125, 0.25]


def test_rank_sets_settle_what_is_clear_and_nothing_else() -> None:
    figures = np.array([0.9, 0.6, 0.59, 0.2])
    replicates = figures[:, None] + np.random.default_rng(0).normal(0, 0.02, (4, 2000))
    sets = statistics.rank_sets(figures, replicates, df=60)
    assert (sets.best.tolist(), sets.worst.tolist()) == ([1, 2, 2, 4], [1, 3, 3, 4])
    assert sets.first.tolist() == [True, False, False, False]
    equal = statistics.rank_sets(figures, np.repeat(figures[:, None], 50, axis=1), df=60)
    assert equal.worst.tolist() == [4] * 4  # no replicate differs, so nothing can be told apart


def test_rank_sets_hold_for_all_ranks_at_once() -> None:
    """Twelve systems in ties of three: all true ranks are covered together in at least 94 % of 300 sets."""
    rng, design = np.random.default_rng(1), statistics.Design.of_clusters(40)
    draws = statistics.Draws(design, n_boot=300, rescaled=True)
    chance = np.repeat([0.7, 0.65, 0.55, 0.5], 3)
    best = np.array([1 + (chance > value).sum() for value in chance])
    worst = np.array([(chance >= value).sum() for value in chance])
    held = 0
    for _ in range(300):
        skill = np.clip(chance + rng.normal(0, 0.1, (40, 1)) + rng.normal(0, 0.03, (40, 12)), 0, 1)
        hits = rng.binomial(50, skill).astype(float)
        sets = statistics.rank_sets(hits.mean(axis=0) / 50, draws.sums(hits).T / 2000, df=39)
        held += bool(((sets.best <= best) & (sets.worst >= worst)).all())
    assert held >= 0.94 * 300


def test_cliques_do_not_chain() -> None:
    apart = np.zeros((4, 4), dtype=bool)
    apart[0, 2:] = apart[1, 3] = True
    assert statistics.cliques(apart | apart.T) == [(0, 1), (1, 2), (2, 3)]
    assert statistics.cliques(~np.eye(3, dtype=bool)) == []
    assert statistics.cliques(np.zeros((3, 3), dtype=bool)) == [(0, 2)]
