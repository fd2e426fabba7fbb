"""Community evals: the benchmark's file, results for model repositories, checks that the Hub's classes do not make."""

import json
from dataclasses import replace

import pytest
import yaml

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.hub import evals
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.records.record import Record, default_records, load_records
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.table.configs import SPLIT
from tests.scored import scored_record

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def records():
    return load_records()


def test_eval_yaml_is_fresh_valid_and_says_what_comes_first(records):
    text = (checkout_root() / evals.NAME).read_text(encoding="utf-8")
    assert text == evals.eval_text(records)
    assert all(step in text for step in evals.STEPS)
    tasks = yaml.safe_load(text)["tasks"]
    assert [task["id"] for task in tasks][:2] == ["full-set", "subsample-5k"]
    assert {task["split"] for task in tasks} == {SPLIT}
    assert "allow-list" in text
    assert "framework" in evals.held_back()[evals.NAME]


@pytest.mark.parametrize(
    "task", [{"config": "none"}, {"split": "test"}, {"id": "Full Set"}, {"lower_is_better": False}]
)
def test_wrong_eval_yaml_is_refused(records, task):
    document = evals.eval_document(records)
    document["tasks"][0] |= task
    with pytest.raises(RecordError):
        evals.check_eval(document)
    twice = evals.eval_document(records)
    twice["tasks"] *= 2
    with pytest.raises(RecordError, match="twice"):
        evals.check_eval(twice)


def exported(name, records):
    return evals.eval_results(name, records, revision=SHA)


def known(records):
    """Systems that have a model repository on the Hub and a row of the default table."""
    return [record.system.id for record in default_records(records) if record.system.hub == "hf"]


def test_results_of_a_model(records):
    from huggingface_hub import parse_eval_result_entries

    found = evals.eval_results("hubert-large-superb-er", records, revision=SHA)
    assert [(entry["dataset"], entry["value"], entry["date"]) for entry in found] == [
        ({"id": "oruk/oruk-bench-leaderboard", "task_id": "full-set", "revision": SHA}, 0.249, "2026-09-06")
    ]
    assert "public sources name corpora of this package's manifest" in found[0]["notes"]
    entry = parse_eval_result_entries(found)[0]
    assert (entry.value, entry.dataset_revision, entry.source_url) == (0.249, SHA, found[0]["source"]["url"])


def test_a_rebuilt_result_is_a_task_of_its_own(records):
    made = Record.from_dict(scored_record())
    system = replace(made.system, id="hubert-large-superb-er", hub="hf", model_id="superb/hubert-large-superb-er")
    found = evals.eval_results("hubert-large-superb-er", [*records, replace(made, system=system)], revision=SHA)
    assert [entry["dataset"]["task_id"] for entry in found] == ["full-set", "rebuilt-open"]
    assert found[1]["source"]["url"].endswith(f"/tree/{SHA}")
    assert "b" * 64 in found[1]["notes"]
    assert "training corpora not declared" in found[1]["notes"]
    assert not any("zero-shot" in str(entry) for name in known(records) for entry in exported(name, records))
    partial = replace(made, system=replace(system, id="other"), scored_on="partial")
    with pytest.raises(RecordError, match="are in no table"):
        evals.eval_results("other", [partial], revision=SHA)


@pytest.mark.parametrize(
    "change",
    [
        {"value": "abc"},
        {"value": 68.0},
        {"date": "6 September"},
        {"notes": ""},
        {"source": {"name": "x"}},
        {"dataset": {"id": evals.REPO, "task_id": "full-set", "revision": "main"}},
    ],
)
def test_entries_that_the_hubs_classes_let_pass_are_refused(records, change):
    entry = evals.eval_results("hubert-large-superb-er", records, revision=SHA)[0]
    with pytest.raises(RecordError):
        check([entry | change], "eval-results")


def test_model_index(records):
    index = evals.model_index("hubert-large-superb-er", records, revision=SHA)["model-index"]
    results = index[0]["results"][0]
    assert results["dataset"]["revision"] == SHA
    assert [(metric["type"], metric["value"]) for metric in results["metrics"]] == [("f1", 0.249), ("accuracy", 0.409)]


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("nobody", SHA, "no such system"),
        ("gemini-gemini-2.5-pro", SHA, "no model repository"),
        ("hubert-large-superb-er", "main", "40 hex digits"),
    ],
)
def test_what_cannot_be_exported(records, name, revision, message):
    for export in (evals.eval_results, evals.model_index):
        with pytest.raises(RecordError, match=message):
            export(name, records, revision=revision)


def test_command(tmp_path, capsys):
    assert main(["export-eval-results", "hubert-large-superb-er", "--revision", SHA, "--out", str(tmp_path)]) == 0
    assert yaml.safe_load((tmp_path / evals.RESULTS_NAME).read_text())[0]["value"] == 0.249
    assert "the Hub ignores" in capsys.readouterr().err
    (tmp_path / evals.RESULTS_NAME).write_text("mine")
    again = ["export-eval-results", "hubert-large-superb-er", "--revision", SHA, "--out", str(tmp_path)]
    assert main(again) == 2 and (tmp_path / evals.RESULTS_NAME).read_text() == "mine"
    assert "is there already" in capsys.readouterr().err
    assert main([*again, "--force"]) == 0 and "0.249" in (tmp_path / evals.RESULTS_NAME).read_text()
    capsys.readouterr()
    assert main(["export-eval-results", "hubert-large-superb-er", "--revision", SHA, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["dataset"]["revision"] == SHA
    options = ["--revision", SHA, "--format", "model-index"]
    assert main(["export-eval-results", "hubert-large-superb-er", *options]) == 0
    assert "model-index" in yaml.safe_load(capsys.readouterr().out)
    assert main(["export-eval-results", "nobody", "--revision", SHA]) == 2
