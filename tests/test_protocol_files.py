"""The protocol file decides: editing or deleting the benchmark's TOML changes what `score` does."""

import dataclasses
import shutil

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import MISSING
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError, PredictionError
from oruk_leaderboard.protocols import BENCHMARK, load, spec
from oruk_leaderboard.scoring.comparison import compare
from oruk_leaderboard.scoring.report import short_report
from oruk_leaderboard.scoring.scorer import score
from tests.scored import made_predictions, made_set


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """The protocol files in a folder of the test's own."""
    shutil.copytree(spec.TABLES, tmp_path / "tables")
    monkeypatch.setattr(spec, "TABLES", tmp_path / "tables")
    spec.names.cache_clear()
    yield tmp_path / "tables"
    spec.names.cache_clear()


@pytest.fixture
def files(tmp_path):
    """Gold labels and predictions of which the last is missing."""
    (tmp_path / "gold.csv").write_text("clip_id,label\nc/1,anger\nc/2,fear\nc/3,neutral\n")
    (tmp_path / "said.csv").write_text("clip_id,label\nc/1,anger\nc/2,fear\n")
    return tmp_path


def accuracy(files, **options):
    return score(files / "said.csv", gold=files / "gold.csv", n_boot=5, **options).accuracy


def test_the_set_and_the_benchmark_have_the_same_classes_in_the_same_order():
    assert load().classes == CLASSES and load().name == BENCHMARK


def test_the_failure_rule_of_the_file_decides(tables, files):
    assert accuracy(files) == 1
    path = tables / "oruk-bench.toml"
    path.write_text(path.read_text().replace('on_error = "neutral"', 'on_error = "wrong"'))
    assert accuracy(files) == pytest.approx(2 / 3)
    assert compare([files / "said.csv"], gold=files / "gold.csv", n_boot=5).on_error == "wrong"


def test_the_classes_and_the_version_of_the_file_decide(tables, files):
    path = tables / "oruk-bench.toml"
    text = path.read_text().replace('version = "0.1.0"', 'version = "0.2.0"')
    path.write_text(text.replace('"anger", "happiness", "sadness", "fear"', '"fear", "anger", "happiness", "sadness"'))
    record = score(files / "said.csv", gold=files / "gold.csv", n_boot=5).to_dict()
    assert record["protocol"] == {"name": "oruk-bench", "version": "0.2.0"}
    assert record["evaluation"]["classes"][:2] == ["fear", "anger"]
    path.write_text(text.replace('"fear", ', ""))
    with pytest.raises(PredictionError, match=r"gold\.csv:3: the gold label is not a class"):
        accuracy(files)


def test_without_the_file_there_is_no_benchmark(tables, files, capsys):
    (tables / "oruk-bench.toml").unlink()
    with pytest.raises(OrukError, match="no such protocol"):
        accuracy(files)
    assert main(["score", str(files / "said.csv"), "--gold", str(files / "gold.csv")]) == 2
    assert "no such protocol" in capsys.readouterr().err


def test_a_protocol_of_ones_own_is_scored_like_the_benchmark():
    clips = made_set()
    gold = gold_of_set(clips)
    predictions = made_predictions(gold, status=np.where(np.arange(400) < 40, MISSING, 0).astype(np.int8))
    own = dataclasses.replace(load(), name="own", version="1", classes=CLASSES[::-1], on_error="wrong")
    turned = dataclasses.replace(predictions, labels=6 - predictions.labels)
    benchmark = score(predictions, clips=clips, n_boot=20).evaluation
    same_rule = score(turned, clips=clips, protocol=own, on_error="neutral", n_boot=20).evaluation
    assert same_rule["figures"] == pytest.approx(benchmark["figures"], abs=1e-12)
    result = score(turned, clips=clips, protocol=own, n_boot=20)
    assert result.record.protocol.name == "own" and result.evaluation["classes"] == list(CLASSES[::-1])
    assert result.accuracy < benchmark["figures"]["accuracy"]
    assert result.evaluation["orientation"] is None


def test_the_figures_of_the_protocol_lead_the_report():
    gold = gold_of_set(made_set())
    columns = load().metrics
    own = dataclasses.replace(load(), name="own", metrics=columns[::-1])
    result = score(made_predictions(gold), gold=gold, protocol=own, n_boot=20)
    shown = short_report(result.to_dict(), figures=result.protocol.figures)
    assert shown.index("UAR ") < shown.index("accuracy ") < shown.index("macro-F1 ")
    systems = {"a": made_predictions(gold), "b": made_predictions(gold, right=0.3)}
    assert compare(systems, gold=gold, protocol=own, n_boot=20).metric == "uar"
    assert compare(systems, gold=gold, n_boot=20).metric == "macro_f1"


def test_a_set_with_other_classes_than_the_protocol_is_refused():
    clips = made_set()
    with pytest.raises(
        PredictionError, match=r"the set's label is not a class.*expected 0 \(anger\).*found 5 \(surprise\)"
    ):
        score(made_predictions(gold_of_set(clips)), clips=clips, protocol="crema-d-ieo-lo")


def test_a_leaderboard_of_the_literature_makes_no_record():
    gold = gold_of_set(made_set())
    with pytest.raises(PredictionError, match="makes no record"):
        score(made_predictions(gold), gold=gold, protocol="speech-emotion-recognition-on-iemocap")


CLASSIC = {"name": "x", "task": "t", "dataset": "d", "kind": "classes", "space": "s", "classes": ["anger", "fear"]}
ACCURACY = {"name": "A", "figure": "accuracy", "formula": "f"}
NAMED = {"id": "c/{speaker}_{ending}", "speakers": [1, 2], "corpus": "c", "language": "en", "elicitation": "acted"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"on_error": "neutral"}, "bad on_error"),
        ({"on_error": "dropped"}, "bad on_error"),
        ({"metrics": [{**ACCURACY, "without": ["fear"]}]}, "not a mean over a set of classes"),
        ({"version": "1", "metrics": [{**ACCURACY, "figure": "macro_recall"}]}, "records do not have the figure"),
        ({"version": "1", "metrics": [{**ACCURACY, "fold": "fold"}]}, "figures of all clips"),
        ({"clips": NAMED}, "a key is missing; expected endings"),
        ({"clips": {**NAMED, "endings": {"X": "joy"}}}, "an alias of no class"),
        ({"clips": {**NAMED, "endings": {"X": "fear"}, "sentence": "IEO"}}, "unknown key"),
    ],
)
def test_unsound_files_are_refused(changes, message):
    with pytest.raises(OrukError, match=message):
        spec.parse({**CLASSIC, "metrics": [ACCURACY], **changes}, where="x.toml")
