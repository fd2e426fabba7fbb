"""Comparison of systems: agreement with the single-pair functions and the harness, ties, prompts, shifts, figures."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import oruk_bench.stats as harness
import pytest
import scipy.stats

from oruk_leaderboard import metrics, statistics
from oruk_leaderboard.answers.gold import Gold, read_gold
from oruk_leaderboard.answers.predictions import ABSTAINED, ERROR, OK, Predictions
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import MetricError, OrukError, PredictionError
from oruk_leaderboard.pictures import plots
from oruk_leaderboard.scoring.comparison import Comparison, compare, failures, rank
from oruk_leaderboard.scoring.comparison_formats import as_latex, as_text, ensemble_text, shift_text
from oruk_leaderboard.scoring.panel import Panel, panel
from oruk_leaderboard.scoring.score_pictures import forest_picture
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.variation import ensemble, shift

N, SPEAKERS = 700, 50


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Gold:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("gold") / "gold.csv"
    lines = ["clip_id,label,corpus,speaker"]
    for clip in range(N):
        speaker = clip % SPEAKERS
        lines.append(f"c{speaker % 5}/{clip:04d},{CLASSES[rng.integers(7)]},c{speaker % 5},s{speaker}")
    path.write_text("\n".join(lines) + "\n")
    return read_gold(path)


def system(gold: Gold, accuracy: float, seed: int) -> Predictions:
    rng = np.random.default_rng(seed)
    right = rng.random(N) < np.clip(accuracy + rng.normal(0, 0.1, SPEAKERS)[np.arange(N) % SPEAKERS], 0, 1)
    labels = np.where(right, gold.labels, rng.integers(0, 7, N))
    return Predictions(labels, np.full(N, OK, np.int8))


@pytest.fixture(scope="module")
def board(gold: Gold) -> Panel:
    accuracies = {"poor": 0.2, "good": 0.72, "twin": 0.71, "fair": 0.5}
    systems = {name: system(gold, share, seed) for seed, (name, share) in enumerate(accuracies.items())}
    return panel(systems, gold, n_boot=300, seed=4)


@pytest.fixture(scope="module")
def comparison(board: Panel) -> Comparison:
    return rank(board)


def test_order_ranks_and_ties(comparison: Comparison) -> None:
    assert [standing.system for standing in comparison.standings][2:] == ["fair", "poor"]
    assert [standing.rank for standing in comparison.standings] == [1, 2, 3, 4]
    sets = [(standing.rank_low, standing.rank_high) for standing in comparison.standings]
    assert sets == [(1, 2), (1, 2), (3, 3), (4, 4)]
    assert [standing.may_be_first for standing in comparison.standings] == [True, True, False, False]
    assert comparison.pairs[0].p >= 0.05 > comparison.pairs[3].p  # neighbours: first and second, second and third
    assert comparison.groups == (tuple(standing.system for standing in comparison.standings[:2]),)
    assert sum(standing.p_first for standing in comparison.standings) == pytest.approx(1)
    assert (comparison.cluster, comparison.clusters, comparison.n) == ("speaker", SPEAKERS, N)
    assert comparison.effective == pytest.approx(50) and comparison.df == pytest.approx(45)  # ten speakers per corpus
    assert len(comparison.pairs) == 6


@pytest.mark.parametrize("metric", ["macro_f1", "accuracy"])
def test_every_difference_equals_the_harness_s_and_its_p_is_student_s(board: Panel, gold: Gold, metric: str) -> None:
    rows = dict(zip(board.names, board.outcomes, strict=True))
    result = rank(board, metric=metric)
    for pair in (result.pairs[0], result.pairs[-1]):
        theirs = harness.paired_bootstrap_test(
            gold.labels,
            rows[pair.first],
            rows[pair.second],
            np.array(gold.attributes["speaker"].values)[gold.attributes["speaker"].codes],
            metric,
            n_boot=500,
            seed=4,
        )
        assert pair.difference == theirs.delta
        quantile = scipy.stats.t.ppf(0.975, board.support.df)
        error = (pair.high - pair.low) / 2 / quantile
        assert pair.p == pytest.approx(2 * scipy.stats.t.sf(pair.difference / error, board.support.df), rel=1e-6)
        # The harness draws speakers across corpora; here the corpora are equal, so its interval is close.
        assert (pair.low, pair.high) == pytest.approx((theirs.ci_low, theirs.ci_high), abs=0.02)


def test_many_systems_are_told_apart_with_few_corpora(gold: Gold) -> None:
    # Twelve systems on five corpora: with 2,000 replicates a percentile p could never pass Holm over 66 pairs.
    runs = {f"s{number}": system(gold, 0.9 - 0.07 * number, number) for number in range(12)}
    result = rank(panel(runs, gold, n_boot=200))
    (extreme,) = (pair for pair in result.pairs if (pair.first, pair.second) == ("s0", "s11"))
    assert extreme.p_holm < 1e-6 and extreme.separated


def test_intervals_equal_those_of_a_score(board: Panel, gold: Gold, comparison: Comparison) -> None:
    for standing in comparison.standings:
        labels = board.outcomes[board.names.index(standing.system)]
        alone = score(Predictions(labels, np.full(N, OK, np.int8)), gold=gold, n_boot=300, seed=4).evaluation
        assert standing.figures["macro_f1"] == pytest.approx(alone["figures"]["macro_f1"], abs=1e-12)
        assert standing.intervals["macro_f1"] == pytest.approx(tuple(alone["intervals"]["macro_f1"]), abs=1e-12)


def test_mcnemar_counts(board: Panel, comparison: Comparison) -> None:
    pair = comparison.pairs[-1]
    rows = dict(zip(board.names, board.outcomes, strict=True))
    one, other = (rows[name] == board.gold.labels for name in (pair.first, pair.second))
    assert (pair.only_first, pair.only_second) == ((one & ~other).sum(), (other & ~one).sum())
    assert pair.mcnemar_p == statistics.mcnemar(pair.only_first, pair.only_second).p
    assert pair.mcnemar_holm >= pair.mcnemar_p and pair.p_holm < 0.05


def test_failures_count_as_asked(gold: Gold) -> None:
    status = np.full(N, OK, np.int8)
    status[:50], status[50:90] = ERROR, ABSTAINED
    labels = np.where(status == OK, gold.labels, -1)
    runs = {"broken": Predictions(labels, status), "whole": system(gold, 0.6, 1)}
    neutral = rank(panel(runs, gold, n_boot=50))
    wrong = rank(panel(runs, gold, n_boot=50, on_error="wrong"))
    by_chance = (gold.labels[:90] == CLASSES.index("neutral")).sum()
    assert wrong.standings[0].figures["accuracy"] == pytest.approx((N - 90) / N)
    assert neutral.standings[0].figures["accuracy"] == pytest.approx((N - 90 + by_chance) / N)
    assert failures(wrong) == ["broken: 50 error, 40 abstained of 700 clips"]


def test_panel_refuses(gold: Gold) -> None:
    nothing = Predictions(np.full(N, -1), np.full(N, ERROR, np.int8))
    for systems, options, message in (
        ({}, {}, "nothing to compare"),
        ({"a": nothing}, {}, "a: the run failed on every clip"),
        ({"a": Predictions(np.zeros(3, int), np.zeros(3, np.int8))}, {}, "a: not the same clips"),
        ({"a": system(gold, 0.5, 0)}, {"on_error": "drop"}, "on_error: bad option"),
    ):
        with pytest.raises(PredictionError, match=message):
            panel(systems, gold, **options)
    with pytest.raises(MetricError, match="n_boot"):
        panel({"a": system(gold, 0.5, 0)}, gold, n_boot=0)
    with pytest.raises(PredictionError, match="unknown metric"):
        rank(panel({"a": system(gold, 0.5, 0)}, gold, n_boot=5), metric="f2")


def test_clusters_are_as_asked(gold: Gold) -> None:
    runs = {"a": system(gold, 0.5, 0), "b": system(gold, 0.6, 1)}
    corpora = rank(panel(runs, gold, n_boot=50, cluster="corpus"))
    clips = rank(panel(runs, gold, n_boot=50, cluster="clip"))
    assert (corpora.clusters, clips.clusters, clips.loose_share) == (5, N, 1.0)
    assert rank(panel({"a": runs["a"]}, gold, n_boot=20)).pairs == ()


def test_ensemble_of_prompts(board: Panel) -> None:
    summary = ensemble(board)
    theirs = harness.prompt_ensemble_summary(list(board.outcomes), board.gold.labels, "macro_f1")
    assert list(summary.per_prompt.values()) == pytest.approx(theirs["per_prompt"], abs=1e-12)
    assert summary.mean == pytest.approx(theirs["mean"], abs=1e-12)
    assert summary.sd == pytest.approx(theirs["std"], abs=1e-12)
    assert summary.spread == pytest.approx(theirs["spread"], abs=1e-12)
    assert summary.low < summary.mean < summary.high
    assert "4 prompts: mean" in ensemble_text(summary)


def test_shift_to_a_subsample(board: Panel) -> None:
    keep = np.arange(N) % 3 == 0
    rows = shift(board, keep)
    for row, outcome in zip(rows, board.outcomes, strict=True):
        part = metrics.macro_f1(metrics.confusion(board.gold.labels[keep], outcome[keep], 7))
        assert row.subsample == pytest.approx(part, abs=1e-12)
        assert row.difference == row.subsample - row.full
        assert row.low < row.high and row.n_subsample == keep.sum()
    (whole, *_) = shift(board, np.ones(N, dtype=bool))
    assert (whole.difference, whole.low, whole.high) == (0, 0, 0)
    assert "shift" in shift_text(rows, "macro_f1")
    with pytest.raises(PredictionError, match="no clip of the set"):
        shift(board, np.zeros(N, dtype=bool))


def test_text_and_latex(comparison: Comparison) -> None:
    text = as_text(comparison)
    assert "same corpora, other speakers: 50 clusters, effectively 50.0" in text.replace("\n", " ")
    assert "not told apart:" in text and "may be first" in text
    assert max(map(len, text.splitlines()[2:])) <= 160
    latex = as_latex(comparison)
    assert latex.count(r"\\") == 5 and "_" not in latex.replace(r"\_", "")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_are_written_and_reproducible(comparison: Comparison, board: Panel, theme: str, tmp_path: Path) -> None:
    counts = metrics.confusion(board.gold.labels, board.outcomes[1], 7)
    scores = np.random.default_rng(0).dirichlet(np.full(7, 0.3), N)
    diagram = asdict(metrics.reliability(board.gold.labels, scores))
    drawn = {
        "forest": lambda: forest_picture(comparison, theme=theme),
        "confusion": lambda: plots.confusion_matrix(counts, CLASSES, [*CLASSES, "no class"], theme=theme),
        "bars": lambda: plots.bars(["de", "en"], [0.5, 0.7], [(0.4, 0.6), None], sizes=[90, 400], theme=theme),
        "reliability": lambda: plots.reliability_diagram(**diagram, theme=theme),
    }
    for name, draw in drawn.items():
        for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
            one, other = tmp_path / f"{name}{suffix}", tmp_path / f"{name}-again{suffix}"
            plots.save(draw(), one)
            plots.save(draw(), other)
            assert one.read_bytes().startswith(start)
            assert one.read_bytes() == other.read_bytes()


def test_figures_refuse(tmp_path: Path) -> None:
    with pytest.raises(OrukError, match=r"expected \.svg or \.png"):
        plots.save(plots.bars(["a"], [0.5], [None]), tmp_path / "a.pdf")
    with pytest.raises(MetricError, match="unknown theme"):
        plots.bars(["a"], [0.5], [None], theme="blue")
    with pytest.raises(MetricError, match="lengths differ"):
        plots.bars(["a", "b"], [0.5], [None])


@pytest.fixture
def files(tmp_path: Path, gold: Gold) -> Path:
    lines = ["clip_id,label,corpus,speaker"]
    speakers, corpora = gold.attributes["speaker"], gold.attributes["corpus"]
    for clip, label, speaker, corpus in zip(gold.clip_ids, gold.labels, speakers.codes, corpora.codes, strict=True):
        lines.append(f"{clip},{CLASSES[label]},{corpora.values[corpus]},{speakers.values[speaker].partition('/')[2]}")
    (tmp_path / "gold.csv").write_text("\n".join(lines) + "\n")
    for name, accuracy in (("a", 0.7), ("b", 0.4)):
        labels = system(gold, accuracy, 3).labels
        rows = [f"{clip},{CLASSES[label]}" for clip, label in zip(gold.clip_ids, labels, strict=True)]
        (tmp_path / f"{name}.csv").write_text("clip_id,label\n" + "\n".join(rows) + "\n")
    return tmp_path


def command(files: Path, *options: str) -> list[str]:
    return ["compare", str(files / "a.csv"), f"other={files / 'b.csv'}", "--gold", str(files / "gold.csv"), *options]


def test_command_line(files: Path, gold: Gold, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(files, "--n-boot", "100", "--json", "--plot", str(files / "ranks.svg"))) == 0
    document = json.loads(capsys.readouterr().out)
    runs = {"a": system(gold, 0.7, 3), "other": system(gold, 0.4, 3)}
    assert document.pop("outside_training") is None
    assert document == json.loads(json.dumps(compare(runs, gold=gold, n_boot=100).to_dict()))
    assert document["standings"][0]["system"] == "a" and document["pairs"][0]["separated"]
    assert (files / "ranks.svg").read_bytes().startswith(b"<?xml")
    (files / "subset.csv").write_text("clip_id\n" + "\n".join(gold.clip_ids[:200]) + "\n")
    assert main(command(files, "--n-boot", "50", "--subset", str(files / "subset.csv"), "--json")) == 0
    assert json.loads(capsys.readouterr().out)["shift"][0]["n_subsample"] == 200
    assert main(command(files, "--n-boot", "50", "--prompts", "--latex")) == 0
    text = capsys.readouterr().out
    assert r"\toprule" in text and "% 2 prompts: mean" in text
    after = text.rpartition(r"\end{table}")[2]
    assert all(line.startswith("%") for line in after.splitlines() if line)


def test_a_subsample_is_compared_on_the_clips_that_all_have(
    files: Path, gold: Gold, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (files / "b.csv").read_text().splitlines()
    (files / "b.csv").write_text("\n".join(rows[:301]) + "\n")
    assert main(command(files, "--n-boot", "30", "--json")) == 1
    whole = json.loads(capsys.readouterr().out)
    assert (whole["n"], whole["standings"][1]["counts"]["missing"]) == (N, 400)
    assert main(command(files, "--n-boot", "30", "--common", "--json")) == 0
    part = json.loads(capsys.readouterr().out)
    predicted = system(gold, 0.4, 3).labels[:300]
    figure = metrics.macro_f1(metrics.confusion(gold.labels[:300], predicted, 7))
    assert part["n"] == 300 and part["standings"][1]["figures"]["macro_f1"] == pytest.approx(figure, abs=1e-12)
    assert main(command(files, "--subset", "5k")) == 2
    assert "subsample" in capsys.readouterr().err


def test_command_line_counts_missing_clips_and_refuses(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (files / "a.csv").read_text().splitlines()
    (files / "a.csv").write_text("\n".join(rows[:-5]) + "\n")
    assert main(command(files, "--n-boot", "20")) == 1
    out, err = capsys.readouterr()
    assert "a: 5 missing of 700 clips" in err
    assert "Partial files: a answers 695 of 700 clips" in out and "--common" in out
    assert main(["compare", str(files / "a.csv"), str(files / "a.csv"), "--gold", str(files / "gold.csv")]) == 2
    assert "two systems of one name" in capsys.readouterr().err
    (files / "subset.csv").write_text("clip_id\nnowhere/1\n")
    assert main(command(files, "--subset", str(files / "subset.csv"))) == 2
    assert "not in the set" in capsys.readouterr().err
    assert main(command(files, "--n-boot", "0")) == 2
    assert "n_boot" in capsys.readouterr().err
