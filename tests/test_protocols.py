"""Protocols: every column of every published leaderboard, by its name, and what its files are refused for."""

import json
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics as sk

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.tabular import read_rows
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError, PredictionError
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.protocols import Protocol, load, names
from oruk_leaderboard.protocols.spec import parse
from oruk_leaderboard.scoring.columns import score_columns

PUBLISHED = json.loads((data_dir() / "published" / "leaderboards.json").read_text(encoding="utf-8"))
OWN = {"oruk-bench", "crema-d-ieo-lo", "crema-d-ieo-md", "crema-d-ieo-hi"}

# Names that no leaderboard defines; each must be marked wherever it stands (plain F1 and F1 score in any case).
UNDEFINED = {"UA CV", "WA CV", "1:1 Accuracy", "F1", "F1 Score", "F1 score", "Precision", "Recall", "CCC"}


def columns(protocol: Protocol, n: int = 240, seed: int = 0) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    """Gold columns and predictions of the kind that a protocol takes."""
    rng = np.random.default_rng(seed)
    gold: dict[str, list[object]] = {"clip_id": [f"c/{clip}" for clip in range(n)]}
    predictions: dict[str, list[object]] = {"clip_id": list(gold["clip_id"])}
    gold |= {"fold": [clip % 5 for clip in range(n)], "level": [("frame", "video")[clip % 2] for clip in range(n)]}
    gold["culture"] = [("Persian", "NA")[clip // 2 % 2] for clip in range(n)]
    if protocol.kind == "classes":
        labels = rng.integers(0, len(protocol.classes), n)
        guesses = np.where(rng.random(n) < 0.6, labels, rng.integers(0, len(protocol.classes), n))
        gold["label"] = [protocol.classes[label] for label in labels]
        predictions["label"] = [protocol.classes[label] for label in guesses]
    for label in protocol.labels or (("label_a", "label_b") if protocol.label_prefix else ()):
        gold[label] = (rng.random(n) < 0.3).astype(int).tolist()
        predictions[label] = (rng.random(n) < 0.3).astype(int).tolist()
    for dimension in protocol.dimensions:
        gold[dimension], predictions[dimension] = rng.random(n).tolist(), rng.random(n).tolist()
    return gold, predictions


def test_every_published_leaderboard_has_a_protocol_and_nothing_else_has() -> None:
    assert len(PUBLISHED) == 42
    assert set(names()) == {row["leaderboard"] for row in PUBLISHED} | OWN
    assert len({metric for row in PUBLISHED for metric in row["metrics"]}) == 40


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["leaderboard"])
def test_each_column_is_computed_under_its_name(row: dict[str, object]) -> None:
    protocol = load(str(row["leaderboard"]))
    result = score_columns(protocol, *columns(protocol))
    assert [metric.name for metric in result.metrics] == row["metrics"]
    assert protocol.task == row["task"] and protocol.dataset == row["dataset"]
    for metric in result.metrics:
        assert np.isfinite(metric.value) and metric.formula
        mosei = protocol.name == "emotion-classification-on-cmu-mosei"
        mfa = "-F1 score (" in metric.name
        if metric.name in UNDEFINED or mosei or mfa or metric.name == "Weighted Accuracy":
            assert metric.assumed and metric.note
        else:
            assert not metric.assumed and metric.note is None


def figures(name: str, **changes: object) -> dict[str, float]:
    protocol = load(name)
    gold, predictions = columns(protocol)
    result = score_columns(protocol, {**gold, **changes}, predictions)
    return {metric.name: metric.value for metric in result.metrics}


def test_iemocap_folds_against_scikit_learn() -> None:
    protocol = load("speech-emotion-recognition-on-iemocap")
    gold, predictions = columns(protocol)
    y, p, fold = (np.array(column) for column in (gold["label"], predictions["label"], gold["fold"]))
    found = figures(protocol.name)
    by_fold = [(sk.balanced_accuracy_score(y[fold == f], p[fold == f]), (y == p)[fold == f].mean()) for f in range(5)]
    assert (found["UA CV"], found["WA CV"]) == pytest.approx(tuple(np.mean(by_fold, axis=0)), abs=1e-12)
    assert found["UA"] == pytest.approx(sk.balanced_accuracy_score(y, p), abs=1e-12)
    assert found["WA"] == pytest.approx((y == p).mean(), abs=1e-12)
    assert found["F1"] == pytest.approx(sk.f1_score(y, p, average="macro"), abs=1e-12)


def test_micro_f1_of_dailydialog_leaves_neutral_out() -> None:
    protocol = load("emotion-recognition-in-conversation-on-3")
    gold, predictions = columns(protocol)
    rest = [name for name in protocol.classes if name != "neutral"]
    expected = sk.f1_score(gold["label"], predictions["label"], labels=rest, average="micro")
    assert figures(protocol.name)["Micro-F1"] == pytest.approx(expected, abs=1e-12)


def test_emowoz_with_and_without_neutral() -> None:
    protocol = load("emotion-recognition-in-conversation-on-emowoz")
    gold, predictions = columns(protocol)
    rest = [name for name in protocol.classes if name != "neutral"]
    found = figures(protocol.name)
    for average, name in (("macro", "Macro F1"), ("weighted", "Weighted F1")):
        whole = sk.f1_score(gold["label"], predictions["label"], average=average)
        part = sk.f1_score(gold["label"], predictions["label"], labels=rest, average=average)
        assert (found[name], found[f"{name} (w/o Neutral)"]) == pytest.approx((whole, part), abs=1e-12)


def test_mosei_is_binary_and_balanced() -> None:
    protocol = load("emotion-classification-on-cmu-mosei")
    gold, predictions = columns(protocol)
    pairs = [(gold[label], predictions[label]) for label in protocol.labels]
    found = figures(protocol.name)
    assert found["Accuracy"] == pytest.approx(np.mean([sk.accuracy_score(*pair) for pair in pairs]), abs=1e-12)
    balanced = np.mean([sk.balanced_accuracy_score(*pair) for pair in pairs])
    assert found["Weighted Accuracy"] == pytest.approx(balanced, abs=1e-12)


def test_mfa_subsets() -> None:
    protocol = load("emotion-classification-on-mfa")
    gold, predictions = columns(protocol)
    keep = [row for row in range(240) if gold["level"][row] == "video" and gold["culture"][row] == "Persian"]
    wanted = np.array([[gold[label][row] for label in ("label_a", "label_b")] for row in keep])
    given = np.array([[predictions[label][row] for label in ("label_a", "label_b")] for row in keep])
    result = score_columns(protocol, gold, predictions)
    found = next(metric for metric in result.metrics if metric.name == "V-F1 score (Persian)")
    assert found.value == pytest.approx(sk.f1_score(wanted, given, average="macro"), abs=1e-12)
    assert found.n == len(keep)


def test_dimensions_by_name() -> None:
    protocol = load("emotion-recognition-in-conversation-on-2")
    gold, predictions = columns(protocol)
    found = figures(protocol.name)
    assert found["MAE (Power)"] == metrics.mae(gold["power"], predictions["power"])


def test_sentiments_are_mapped_from_emotions() -> None:
    protocol = load("emotion-recognition-in-conversation-on-cped")
    gold = {"clip_id": ["c/1", "c/2", "c/3"], "label": ["grateful", "other-negative", "neutral"]}
    predictions = {"clip_id": ["c/3", "c/2", "c/1"], "label": ["neutral", "Angry", "positive"]}
    result = score_columns(protocol, gold, predictions)
    assert [metric.value for metric in result.metrics] == [1, 1]


def test_excited_is_happiness_or_a_class_of_its_own() -> None:
    ids = {"clip_id": ["c/1", "c/2"]}
    four = load("emotion-recognition-in-conversation-on-7")
    merged = score_columns(four, {**ids, "label": ["exc", "sad"]}, {**ids, "label": ["happy", "sad"]})
    assert merged.metrics[1].value == 1
    six = load("emotion-recognition-in-conversation-on")
    apart = score_columns(six, {**ids, "label": ["excited", "sad"]}, {**ids, "label": ["happy", "sad"]})
    assert apart.metrics[1].value == 0.5


def test_failures_stay_in_the_denominator() -> None:
    ids = {"clip_id": ["c/1", "c/2", "c/3", "c/4"]}
    gold = {**ids, "label": ["neutral", "neutral", "anger", "anger"]}
    predictions = {"clip_id": ["c/1", "c/3", "c/4"], "label": ["", "anger", "gibberish"]}
    literature = score_columns(load("emotion-recognition-in-conversation-on-meld"), gold, predictions)
    assert literature.metrics[1].value == 0.25
    assert literature.counts == {"answered": 1, "abstained": 1, "missing": 2}
    benchmark = score_columns(load("oruk-bench"), gold, predictions)
    assert {value.name: value.value for value in benchmark.metrics}["Accuracy"] == 0.75


@pytest.mark.parametrize(
    ("name", "gold", "predictions", "message"),
    [
        ("speech-emotion-recognition-on-iemocap", {"fold": None}, {}, "a column is missing; expected fold"),
        ("emotion-classification-on-mfa", {"culture": None}, {}, "a column is missing; expected culture"),
        ("emotion-classification-on-mfa", {"label_a": None, "label_b": None}, {}, "a column is missing"),
        ("emotion-classification-on-cmu-mosei", {}, {"fear": None}, "predictions: a column is missing; expected fear"),
        ("emotion-classification-on-cmu-mosei", {}, {"fear": [2] * 240}, "row 1, fear: not yes or no"),
        ("speech-emotion-recognition-on-msp-podcast", {"valence": None}, {}, "a column is missing; expected valence"),
        ("speech-emotion-recognition-on-msp-podcast", {}, {"valence": ["x"] * 240}, "row 1, valence: not a number"),
        ("speech-emotion-recognition-on-msp-podcast", {}, {"valence": [float("nan")] * 240}, "not a number"),
        ("speech-emotion-recognition-on-crema-d", {"label": ["surprise"] * 240}, {}, "the gold label is not a class"),
        ("speech-emotion-recognition-on-crema-d", {}, {"label": ["5"] * 240}, "the label is not a class name"),
        ("speech-emotion-recognition-on-crema-d", {}, {"label": [True] * 240}, "the label is not a class name"),
        ("speech-emotion-recognition-on-crema-d", {}, {"clip_id": ["c/x"] * 240}, "there twice"),
        ("speech-emotion-recognition-on-crema-d", {"clip_id": [f"d/{n}" for n in range(240)]}, {}, "not in the gold"),
        ("speech-emotion-recognition-on-iemocap", {"fold": [""] * 240}, {}, "a clip has no fold"),
        ("emotion-classification-on-mfa", {"level": ["clip"] * 240}, {}, "clips with level = frame"),
    ],
)
def test_refuses(name: str, gold: dict[str, object], predictions: dict[str, object], message: str) -> None:
    protocol = load(name)
    sides = []
    for columns_of_side, changes in zip(columns(protocol), (gold, predictions), strict=True):
        sides.append({key: value for key, value in {**columns_of_side, **changes}.items() if value is not None})
    with pytest.raises(PredictionError, match=message):
        score_columns(protocol, *sides)


def test_files_name_their_lines(tmp_path: Path) -> None:
    gold, predictions = tmp_path / "gold.csv", tmp_path / "pred.csv"
    gold.write_text("clip_id,label\nc/1,ANG\nc/2,sad\n")
    predictions.write_text("clip_id,label\nc/2,sad\nc/1,angry\n")
    protocol = load("speech-emotion-recognition-on-crema-d")
    result = score_columns(protocol, read_rows(gold), read_rows(predictions))
    assert result.metrics[0].value == 1
    assert json.loads(json.dumps(result.to_dict()))["dataset"] == "CREMA-D"
    gold.write_text("clip_id,label\nc/1,ANG\nc/2,boredom\n")
    with pytest.raises(PredictionError, match=r"gold\.csv:3: the gold label is not a class"):
        score_columns(protocol, read_rows(gold), read_rows(predictions))


def test_unknown_names_and_unsound_files_are_refused() -> None:
    with pytest.raises(OrukError, match="speech-emotion-recognition-on-iemocap"):
        load("speech-emotion-recognition-on-iemocp")
    sound = {"name": "x", "task": "t", "dataset": "d", "kind": "classes", "space": "s", "classes": ["a", "b"]}
    metric = {"name": "A", "figure": "accuracy", "formula": "f"}
    assert parse({**sound, "metrics": [metric]}, where="x").columns == ("label",)
    for document, message in (
        ({**sound, "metrics": [metric], "metric": []}, "unknown key"),
        (sound, "a key is missing; expected metrics"),
        ({**sound, "kind": "words", "metrics": []}, "unknown kind"),
        ({**sound, "kind": "labels", "metrics": []}, "no label space"),
        ({**sound, "metrics": [{**metric, "figure": "ccc"}]}, "x, A: unknown figure"),
        ({**sound, "metrics": [{**metric, "without": ["c"]}]}, "not of the label space"),
        ({**sound, "metrics": [metric], "aliases": {"z": "c"}}, "an alias of no class"),
    ):
        with pytest.raises(OrukError, match=message):
            parse(document, where="x")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    protocol = load("speech-emotion-recognition-on-iemocap")
    gold, predictions = columns(protocol)
    for name, side in (("gold", gold), ("pred", predictions)):
        rows = [",".join(map(str, row)) for row in zip(*side.values(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join(side), *rows]) + "\n")
    command = ["score", str(tmp_path / "pred.csv"), "--protocol", protocol.name]
    given = [*command, "--gold", str(tmp_path / "gold.csv")]
    assert main([*given, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(json.dumps(score_columns(protocol, gold, predictions).to_dict()))
    assert main(given) == 0
    text = capsys.readouterr().out
    assert "UA CV" in text and "assumed" in text and "240 clips" in text
    assert main(command) == 2
    assert "--gold FILE" in capsys.readouterr().err
    assert main([*given[:-3], "speech-emotion-recognition-on-iemocp", *given[-2:]]) == 2
    assert protocol.name in capsys.readouterr().err
    (tmp_path / "pred.csv").write_text("clip_id,label\nc/1,sad\n")
    assert main(given) == 1
    assert "239 missing" in capsys.readouterr().out
    (tmp_path / "gold.csv").write_text("clip_id,label\nc/1,sad\n")
    assert main(given) == 2
    assert "expected fold" in capsys.readouterr().err
