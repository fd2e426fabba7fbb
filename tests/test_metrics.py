"""Metrics against scikit-learn, audmetric, golden values and properties that must hold for any input."""

import audmetric
import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import MetricError

K = 7


def labels(seed: int, n: int = 500, classes: int = K) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.choice(classes, n, p=rng.dirichlet(np.full(classes, 2.0)))
    predicted = np.where(rng.random(n) < 0.6, gold, rng.integers(0, classes, n))
    return gold, predicted


def close(value: object) -> object:
    return pytest.approx(value, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_classification_agrees_with_scikit_learn(seed: int) -> None:
    gold, predicted = labels(seed)
    counts = metrics.confusion(gold, predicted, K)
    names = list(range(K))

    def prf(average: str) -> tuple[float, float, float]:
        return sk.precision_recall_fscore_support(gold, predicted, labels=names, average=average, zero_division=0)[:3]

    assert counts[:, :K].tolist() == sk.confusion_matrix(gold, predicted, labels=names).tolist()
    assert metrics.accuracy(counts) == close(sk.accuracy_score(gold, predicted))
    assert metrics.uar(counts) == close(sk.balanced_accuracy_score(gold, predicted))
    assert (metrics.macro_precision(counts), metrics.macro_recall(counts), metrics.macro_f1(counts)) == close(
        prf("macro")
    )
    assert metrics.weighted_f1(counts) == close(prf("weighted")[2])
    assert metrics.micro_f1(counts) == close(prf("micro")[2])
    assert metrics.mcc(counts) == close(sk.matthews_corrcoef(gold, predicted))
    assert metrics.cohen_kappa(counts) == close(sk.cohen_kappa_score(gold, predicted))
    each = metrics.per_class(counts)
    expected = sk.precision_recall_fscore_support(gold, predicted, labels=names, zero_division=0)
    for ours, theirs in zip((each.precision, each.recall, each.f1, each.support), expected, strict=True):
        assert ours == close(theirs)


def test_averages_without_a_class_agree_with_scikit_learn() -> None:
    gold, predicted = labels(8)
    counts, rest = metrics.confusion(gold, predicted, K), list(range(K - 1))
    over = np.arange(K) < K - 1
    for average, ours in (("micro", metrics.micro_f1), ("macro", metrics.macro_f1), ("weighted", metrics.weighted_f1)):
        assert ours(counts, over=over) == close(sk.f1_score(gold, predicted, labels=rest, average=average))


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_audmetric(seed: int) -> None:
    gold, predicted = labels(seed)
    counts, names = metrics.confusion(gold, predicted, K), list(range(K))
    assert metrics.accuracy(counts) == close(audmetric.accuracy(gold, predicted))
    assert metrics.macro_f1(counts) == close(audmetric.unweighted_average_fscore(gold, predicted, labels=names))
    assert metrics.uar(counts) == close(audmetric.unweighted_average_recall(gold, predicted))
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=60), rng.normal(size=60)
    assert metrics.ccc(x, y) == close(audmetric.concordance_cc(x, y))
    assert metrics.pearson(x, y) == close(audmetric.pearson_cc(x, y))
    assert metrics.mae(x, y) == close(audmetric.mean_absolute_error(x, y))
    assert metrics.mse(x, y) == close(audmetric.mean_squared_error(x, y))


def test_no_class_is_wrong_but_no_false_positive() -> None:
    # 700 clips, all right but one that is no class: the figure hardly moves, and no eighth class appears.
    gold = np.arange(700) % K
    predicted = gold.copy()
    predicted[0] = K
    counts = metrics.confusion(gold, predicted, K)
    assert metrics.accuracy(counts) == close(699 / 700)
    assert metrics.macro_f1(counts) == close((6 + 2 * 99 / 199) / 7)
    assert metrics.per_class(counts).precision.tolist() == [1.0] * K
    assert metrics.micro_f1(counts) == close(2 * 699 / (700 + 699))
    assert metrics.mcc(counts) == close(sk.matthews_corrcoef(gold, predicted))
    assert metrics.cohen_kappa(counts) == close(sk.cohen_kappa_score(gold, predicted))


def test_absent_classes_follow_the_stated_rule() -> None:
    # Two gold classes, 347 of 350 right, the three others spread over absent classes.
    gold = np.repeat([0, 1], 175)
    predicted = gold.copy()
    predicted[:3] = [4, 5, 6]
    counts = metrics.confusion(gold, predicted, K)
    over = metrics.present(counts)
    assert over.tolist() == [True, True] + [False] * 5
    assert metrics.macro_f1(counts) == close((2 * 172 / 347 + 1) / 7)
    assert metrics.macro_f1(counts, over=over) == close((2 * 172 / 347 + 1) / 2)
    assert metrics.uar(counts) == close((172 / 175 + 1) / 2)
    # A perfect system reaches 1 only over the classes that are there.
    perfect = metrics.confusion(gold, gold, K)
    assert metrics.macro_f1(perfect, over=over) == 1
    assert metrics.macro_f1(perfect) == close(2 / 7)


def test_batch_dimensions_and_groups() -> None:
    gold, predicted = labels(3)
    groups = np.arange(gold.size) % 4
    stacked = metrics.confusion(gold, predicted, K, groups=groups, n_groups=5)
    assert stacked.shape == (5, K, K + 1)
    assert (stacked.sum(axis=0) == metrics.confusion(gold, predicted, K)).all()
    whole = metrics.margins(stacked).sum()
    assert metrics.macro_f1(whole) == metrics.macro_f1(stacked.sum(axis=0))
    for function in (
        metrics.accuracy,
        metrics.uar,
        metrics.macro_f1,
        metrics.weighted_f1,
        metrics.micro_f1,
        metrics.mcc,
        metrics.cohen_kappa,
    ):
        batched = function(stacked)
        assert batched.shape == (5,)
        assert batched[:4] == close([function(stacked[group]) for group in range(4)])
        assert batched[4] == 0  # an empty group
    masks = metrics.present(stacked)
    assert metrics.macro_f1(stacked, over=masks)[1] == close(metrics.macro_f1(stacked[1], over=masks[1]))


@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(1, 60))
def test_order_relabelling_and_an_added_class(seed: int, classes: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    gold, predicted = rng.integers(0, classes, n), rng.integers(0, classes + 1, n)
    counts = metrics.confusion(gold, predicted, classes)
    order, names = rng.permutation(n), np.append(rng.permutation(classes), classes)
    shuffled = metrics.confusion(gold[order], predicted[order], classes)
    assert (shuffled == counts).all()
    renamed = metrics.confusion(names[gold], names[predicted], classes)
    wider = metrics.confusion(gold, np.where(predicted == classes, classes + 1, predicted), classes + 1)
    for function in (metrics.accuracy, metrics.uar, metrics.weighted_f1, metrics.micro_f1, metrics.mcc):
        assert function(renamed) == close(function(counts))
        assert function(wider) == close(function(counts))
    assert metrics.macro_f1(renamed) == close(metrics.macro_f1(counts))
    # A class that never occurs joins the mean of the headline figure, and not that of a slice.
    assert metrics.macro_f1(wider) == close(metrics.macro_f1(counts) * classes / (classes + 1))
    slice_before = metrics.macro_f1(counts, over=metrics.present(counts))
    assert metrics.macro_f1(wider, over=metrics.present(wider)) == close(slice_before)
    assert 0 <= metrics.macro_f1(counts) <= 1 and -1 <= metrics.mcc(counts) <= 1


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([0, 1], [0, 8], "predicted, row 1: index out of range"),
        ([0, 1], [0, -1], "predicted, row 1: index out of range"),
        ([0, 7], [0, 1], "gold, row 1: index out of range"),
        ([0, 1], [0.9, 1.9], "not integers"),
        ([0, 1], [True, False], "not integers"),
        ([0, 1], [0, float("nan")], "not integers"),
        ([0, 1], [0], "lengths differ"),
        ([], [], "not one value a clip"),
    ],
)
def test_confusion_refuses(gold: list[float], predicted: list[float], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        metrics.confusion(gold, predicted, K)


def test_confusion_refuses_short_groups_and_margins_refuse_other_shapes() -> None:
    with pytest.raises(MetricError, match="groups: lengths differ"):
        metrics.confusion([0, 1], [0, 1], K, groups=[0])
    with pytest.raises(MetricError, match="no confusion matrix"):
        metrics.accuracy(np.ones((7, 9)))
    with pytest.raises(MetricError, match="0 or more"):
        metrics.accuracy(np.full((2, 2), -1))


def scores(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, K, n), rng.dirichlet(np.full(K, 0.5), n)


@pytest.mark.parametrize("seed", range(3))
def test_scores_agree_with_scikit_learn(seed: int) -> None:
    gold, rows = scores(seed)
    names = list(range(K))
    assert metrics.in_top_k(gold, rows).mean() == close(sk.top_k_accuracy_score(gold, rows, k=2, labels=names))
    assert metrics.log_losses(gold, rows).mean() == close(sk.log_loss(gold, rows, labels=names))
    assert metrics.brier_scores(gold, rows).mean() == close(
        sk.brier_score_loss(gold, rows, labels=names, scale_by_half=False)
    )


def test_top_1_is_accuracy_with_ties() -> None:
    gold, rows = [0, 1, 1], [[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]]
    assert metrics.in_top_k(gold, rows, k=1).mean() == close(2 / 3)
    assert metrics.in_top_k(gold, rows, k=2).mean() == 1


def test_calibration_golden() -> None:
    # Four clips, two bins: 0.4 right, 0.5 wrong (upper bound belongs to the bin), 0.8 right, 1.0 wrong.
    rows = [[0.4, 0.3, 0.3], [0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]]
    diagram = metrics.reliability([0, 1, 1, 0], rows, n_bins=2)
    assert diagram.count.tolist() == [2, 2]
    assert diagram.confidence == close([0.45, 0.9])
    assert diagram.accuracy == close([0.5, 0.5])
    assert metrics.ece(diagram) == close((2 * 0.05 + 2 * 0.4) / 4)
    assert metrics.log_losses([2], [[1.0, 0.0, 0.0]])[0] == close(-np.log(np.finfo(float).eps))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, np.nan]], "not a finite number"),
        ([[1.2, -0.2]], "row 0, column 1: negative value"),
        ([[0.5, 0.4]], "a sum of 1"),
        ([0.5, 0.5], "wrong shape"),
        ([["a", "b"]], "not numbers"),
    ],
)
def test_scores_refuse(rows: object, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        metrics.log_losses([0], rows)


def test_dimensional_golden_and_undefined() -> None:
    gold, predicted = [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]
    assert metrics.ccc(gold, predicted) == close(2 * (2 / 3) / (4 / 3 + 1))
    assert metrics.pearson(gold, predicted) == close(1)
    assert (metrics.mae(gold, predicted), metrics.mse(gold, predicted)) == (1, 1)
    assert metrics.ccc(gold, [2.0, 2.0, 2.0]) == 0
    for function, arguments, message in (
        (metrics.ccc, ([1.0, 1.0], [1.0, 1.0]), "CCC is undefined"),
        (metrics.pearson, (gold, [1.0, 1.0, 1.0]), "undefined"),
        (metrics.mae, (gold, [1.0, np.nan, 1.0]), "predicted, row 1: not a finite number"),
        (metrics.mse, (gold, [1.0, 2.0]), "shapes differ"),
        (metrics.ccc, ([True, False], [True, False]), "not numbers"),
    ):
        with pytest.raises(MetricError, match=message):
            function(*arguments)


@pytest.mark.parametrize("seed", range(3))
def test_multilabel_agrees_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, predicted = rng.random((80, 5)) < 0.3, rng.random((80, 5)) < 0.3
    both_empty = ~(gold | predicted).any(axis=1)
    jaccard = np.where(
        both_empty, 1.0, [sk.jaccard_score(g, p, zero_division=1) for g, p in zip(gold, predicted, strict=True)]
    )
    assert metrics.jaccard_accuracy(gold, predicted) == close(jaccard.mean())
    for average, ours in (
        ("micro", metrics.label_micro_f1),
        ("macro", metrics.label_macro_f1),
        ("weighted", metrics.label_weighted_f1),
    ):
        assert ours(gold, predicted) == close(sk.f1_score(gold, predicted, average=average, zero_division=0))
    for label in range(5):
        one, other = gold[:, label], predicted[:, label]
        assert metrics.label_f1(gold, predicted)[label] == close(sk.f1_score(one, other))
        assert metrics.label_accuracy(gold, predicted)[label] == close(sk.accuracy_score(one, other))
        balanced = metrics.balanced_binary_accuracy(gold, predicted)[label]
        assert balanced == close(sk.balanced_accuracy_score(one, other))
        positives, negatives = one.sum(), (~one).sum()
        tp, tn = (one & other).sum(), (~one & ~other).sum()
        assert balanced == close((tp * negatives / positives + tn) / (2 * negatives))


def test_multilabel_refuses() -> None:
    with pytest.raises(MetricError, match="not yes or no"):
        metrics.label_micro_f1([[0, 2]], [[0, 1]])
    with pytest.raises(MetricError, match="shapes differ"):
        metrics.label_micro_f1([[0, 1]], [[0, 1, 1]])


def test_softlabel_golden() -> None:
    targets, rows = [[2, 2], [0, 3]], [[1.0, 0.0], [0.25, 0.75]]
    assert metrics.cross_entropies(targets, rows) == close(np.array([-0.5 * np.log(1e-12), -np.log(0.75)]))
    assert metrics.kl_divergences(targets, rows) == close(np.array([-0.5 * np.log(1e-12) - np.log(2), -np.log(0.75)]))
    first = 0.5 * (np.log2(1 / 0.75)) + 0.5 * (0.5 * np.log2(0.5 / 0.75) + 0.5 * np.log2(0.5 / 0.25))
    second = 0.5 * (0.25 * np.log2(2) + 0.75 * np.log2(0.75 / 0.875)) + 0.5 * np.log2(1 / 0.875)
    assert metrics.js_divergences(targets, rows) == close(np.array([first, second]))
    assert metrics.cosine_similarities(targets, rows) == close(np.array([0.5**0.5, 0.75 / (0.0625 + 0.5625) ** 0.5]))
    assert metrics.soft_accuracies(targets, np.array([0, 1])).tolist() == [0.5, 1]
    assert metrics.soft_accuracies(targets, np.array([2, 2])).tolist() == [0, 0]
    assert metrics.js_divergences([[1, 0]], [[0.0, 1.0]]) == 1
    assert metrics.entropies(targets).tolist() == [1, 0]


def test_soft_labels_against_scipy_and_scikit_learn() -> None:
    from scipy.spatial.distance import cosine, jensenshannon
    from scipy.stats import entropy
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(1)
    one, other = rng.dirichlet(np.ones(5), 60), rng.dirichlet(np.ones(5), 60)
    assert metrics.kl_divergences(one, other) == close(entropy(one, other, axis=1))
    assert metrics.js_divergences(one, other) == close(jensenshannon(one, other, base=2, axis=1) ** 2)
    assert metrics.cosine_similarities(one, other) == close(
        np.array([1 - cosine(a, b) for a, b in zip(one, other, strict=True)])
    )
    expected = f1_score(one > 0.2, other > 0.2, average="macro", zero_division=0)
    assert metrics.macro_f1(metrics.thresholded(one, other).sum()) == close(expected)


@given(st.integers(0, 1000))
def test_js_divergence_stays_in_its_range_and_is_symmetric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.dirichlet(np.full(4, 0.1), 5), rng.dirichlet(np.full(4, 0.1), 5)
    there, back = metrics.js_divergences(one, other), metrics.js_divergences(other, one)
    assert (there >= 0).all() and (there <= 1).all() and there == close(back)
    assert metrics.js_divergences(one, one) == close(np.zeros(5))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[2.0, -1.0]], "negative value"),
        ([[0.0, 0.0]], "positive mass"),
        ([[np.nan, 1.0]], "not a finite number"),
        ([[1.0, 1.0, 1.0]], "shapes differ"),
    ],
)
def test_softlabel_refuses(targets: object, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        metrics.js_divergences(targets, [[0.5, 0.5]])


def test_krippendorff_alpha() -> None:
    # The worked example of Krippendorff (2011), "Computing Krippendorff's alpha-reliability", part C: 0.743.
    nan = np.nan
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    votes = [[sum(row[clip] == value for row in ratings) for value in range(1, 6)] for clip in range(12)]
    assert metrics.krippendorff_alpha(votes) == pytest.approx(0.743, abs=5e-4)
