"""Intervals of a score: two questions, clusters and strata, and where there is no interval."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import encode, gold_of_set
from oruk_leaderboard.scoring.report import text_report
from oruk_leaderboard.scoring.sampling import clustering, joined
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.statistics import METHODS
from tests.scored import FAST, gold_of, made_columns, made_predictions, made_set, said


@pytest.mark.parametrize("cluster", ["speaker", "corpus", "clip"])
@pytest.mark.parametrize("interval", METHODS)
def test_intervals_hold_the_figure_and_are_seeded(cluster, interval):
    gold = gold_of_set(made_set(made_columns(400, speakers=30, corpora=5)))
    predictions = made_predictions(gold)
    options = {"cluster": cluster, "interval": interval, **FAST}
    found = score(predictions, gold=gold, **options).evaluation
    assert found["cluster"] == found["support"]["cluster"] == cluster
    for name, (low, high) in found["intervals"].items():
        assert low < found["figures"][name] < high
    assert score(predictions, gold=gold, **options).evaluation == found
    assert score(predictions, gold=gold, seed=1, **options).evaluation["intervals"] != found["intervals"]


def test_percentile_interval_of_one_corpus_is_the_harness_s():
    from oruk_bench.stats import bootstrap_ci

    gold = gold_of_set(made_set(made_columns(500, speakers=40, corpora=1)))
    predictions = made_predictions(gold)
    speakers = gold.attributes["speaker"].codes
    for name in ("accuracy", "macro_f1"):
        peer = bootstrap_ci(gold.labels, predictions.labels, speakers, name, n_boot=200, seed=3)
        result = score(predictions, gold=gold, n_boot=200, seed=3, interval="percentile")
        assert result.evaluation["intervals"][name] == [peer.ci_low, peer.ci_high]


def test_two_questions_have_two_intervals():
    gold = gold_of_set(made_set(made_columns(600, speakers=30, corpora=5)))
    corpora = gold.attributes["corpus"].codes
    # Errors go with the corpus, so the interval for other corpora has to be much wider.
    share = np.array([9, 7, 5, 3, 1])[corpora]
    found = score(
        said(np.where(np.arange(600) % 10 < share, gold.labels, (gold.labels + 1) % 7)), gold=gold, **FAST
    ).evaluation
    same, other = found["intervals"]["accuracy"], found["other_corpora"]["intervals"]["accuracy"]
    assert other[1] - other[0] > 3 * (same[1] - same[0])
    assert (found["support"]["clusters"], found["other_corpora"]["clusters"]) == (30, 5)
    assert found["support"]["effective"] == pytest.approx(30, rel=0.05)
    assert score(said(gold.labels), gold=gold, cluster="corpus", **FAST).evaluation["other_corpora"] is None


def test_corpus_without_speakers_draws_its_clips_and_says_so():
    corpus, speaker = ["a"] * 200 + ["b"] * 100, [f"s{number % 10}" for number in range(200)] + [None] * 100
    gold = gold_of(np.arange(300) % 7, corpus=corpus, speaker=speaker)
    found = score(said(np.where(np.arange(300) % 3, gold.labels, 6)), gold=gold, **FAST).evaluation
    assert found["support"]["clusters"] == 10 + 100  # ten speakers, a hundred clips taken as independent
    assert found["support"]["loose_share"] == pytest.approx(1 / 3)
    rows = {row["value"]: row for row in found["slices"]["corpus"]}
    assert (rows["a"]["cluster"], rows["a"]["clusters"]) == ("speaker", 10)
    assert (rows["b"]["cluster"], rows["b"]["clusters"], rows["b"]["loose_share"]) == ("clip", 100, 1.0)
    # One blank speaker of many is a cluster of its own, and changes nothing else.
    one_blank = gold_of(np.arange(200) % 7, corpus=["a"] * 200, speaker=[None, *speaker[1:200]])
    assert score(said(one_blank.labels), gold=one_blank, **FAST).evaluation["support"]["clusters"] == 11


def test_blocks_of_clips_do_not_depend_on_their_order():
    gold = gold_of(np.arange(300) % 7, corpus=["a"] * 300, speaker=[None] * 300)
    drawn = clustering(gold)
    order = np.random.default_rng(0).permutation(300)
    moved = clustering(dataclasses.replace(gold, clip_ids=[gold.clip_ids[at] for at in order]))
    names = [drawn.clusters.values[code] for code in drawn.clusters.codes]
    assert [moved.clusters.values[code] for code in moved.clusters.codes] == [names[at] for at in order]
    assert np.bincount(drawn.clusters.codes).tolist() == [3] * 100


def test_few_clusters_get_a_warning_and_very_few_no_interval():
    for speakers, given in ((4, False), (5, True)):
        gold = gold_of_set(made_set(made_columns(400, speakers=speakers, corpora=1)))
        result = score(made_predictions(gold), gold=gold, **FAST)
        assert (result.evaluation["intervals"]["macro_f1"] is not None) == given
        text = " ".join(text_report(result.to_dict()).split())
        assert ("no interval: 4 clusters" in text, "effective clusters: the interval may be" in text) == (
            not given,
            given,
        )


def test_everything_right_has_no_interval_of_one_point():
    gold = gold_of_set(made_set(made_columns(400, speakers=20, corpora=2)))
    found = score(said(gold.labels), gold=gold, **FAST).evaluation
    for name, (low, high) in found["intervals"].items():
        assert high == 1.0 and low < 0.9, name


def test_corpora_that_share_people_are_one_whoever_says_so(monkeypatch):
    names = ("a", "b", "c", "d")
    specs = {name: SimpleNamespace(shares_material_with=()) for name in names}
    specs["b"].shares_material_with, specs["c"].shares_material_with = ("a",), ("b",)
    monkeypatch.setattr("oruk_leaderboard.corpora.registry", lambda: specs)
    found = joined(encode(["d", "c", "b", "a", "b"]))
    assert [found.values[code] for code in found.codes] == ["d", *["a+b+c"] * 4]
