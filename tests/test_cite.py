"""Citing: valid BibTeX, exactly the corpora of a report, the methods paragraph, CFF."""

import json
import re
from dataclasses import replace

import pytest
import yaml

from oruk_leaderboard import __version__
from oruk_leaderboard.card.cite import citation_cff, cite, methods, system_entry
from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import registry
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.record import load_records


def balanced(bibtex):
    """Braces close, and only at the end."""
    depth = 0
    for position, char in enumerate(bibtex):
        depth += (char == "{") - (char == "}")
        assert depth >= 0
        assert depth > 0 or position < bibtex.index("{") or position == len(bibtex) - 1
    return depth == 0


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.json"
    document = {
        "report_version": "1.0.0",
        "digest": "d" * 64,
        "clips": 1234,
        "seconds": 7200.0,
        "layout": "parquet",
        "audio_rule": 1,
        "manifest": {"version": "1.0.0", "digest": "a" * 64, "profile": "open"},
        "partial": False,
        "corpora": {
            "crema_d": {"name": "CREMA-D", "clips": 1000, "citation": "x"},
            "my_own": {"name": "My own", "clips": 234, "citation": "@misc{my_own,\n  title = {Own}\n}"},
            "emodb": {"name": "EMO-DB", "clips": 0, "citation": "x"},
        },
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_default_is_benchmark_and_leaderboard(capsys):
    assert main(["cite"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^@misc\{([^,]+),", out, re.MULTILINE) == ["orukbench", "orukbench-leaderboard"]
    assert f"revision v{__version__}" in out
    assert "snapshot 2026-09-06" in out and r"across $\sim$20 languages" in out


def test_systems_and_corpora_by_id_or_name():
    entries = cite(["HuBERT-large SUPERB", "sensevoice-small", "ravdess"], revision="a" * 40)
    assert [(entry.kind, entry.id) for entry in entries[2:]] == [
        ("system", "hubert-large-superb-er"),
        ("system", "sensevoice-small"),
        ("corpus", "ravdess"),
    ]
    assert "a" * 40 in entries[1].bibtex
    assert "40.9" in entries[2].bibtex
    with pytest.raises(OrukError, match="neither a system of the table nor a corpus"):
        cite(["nothing"])


def test_report_cites_exactly_its_corpora(report):
    corpora = [entry for entry in cite(report=report) if entry.kind == "corpus"]
    assert [entry.id for entry in corpora] == ["crema_d", "my_own"]  # emodb gave no clip
    assert corpora[0].bibtex == registry()["crema_d"].citation.strip()
    assert corpora[1].bibtex.startswith("@misc{my_own,")


def test_every_entry_is_balanced_bibtex():
    for record in load_records():
        assert balanced(system_entry(record))
    for spec in registry().values():
        assert balanced(spec.citation.strip()), spec.id
    assert all(balanced(entry.bibtex) for entry in cite())


def test_hostile_names_are_escaped():
    record = load_records()[0]
    entry = system_entry(
        replace(record, system=replace(record.system, id="x", name="}, a = {b} & \\input{/etc/passwd}"))
    )
    assert balanced(re.sub(r"\\[{}]", "", entry))
    assert r"\input" not in entry.replace(r"\textbackslash{}input", "")


def test_methods_fill_in_the_numbers(report):
    text = methods(report=report, revision="v9.9.9")
    for part in ("v9.9.9", "33 of 64", "64,384", "1,234 clips", "2.0 h", "2 corpora (CREMA-D, My own)", "aaaaaaaaaaaa"):
        assert part in text
    assert "not ranked with" in text
    assert "rebuilt" not in methods()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"corpora": {}}'])
def test_no_report_is_an_error(tmp_path, content, capsys):
    path = tmp_path / "report.json"
    path.write_text(content, encoding="utf-8")
    assert main(["cite", "--report", str(path)]) == 2
    assert "report" in capsys.readouterr().err


def test_json_and_cff(capsys):
    assert main(["cite", "--json"]) == 0
    assert [entry["kind"] for entry in json.loads(capsys.readouterr().out)["entries"]] == ["benchmark", "leaderboard"]
    assert main(["cite", "--format", "cff"]) == 0
    document = yaml.safe_load(capsys.readouterr().out)
    assert document == yaml.safe_load(citation_cff())
    assert yaml.safe_load(citation_cff(revision="a" * 40))["commit"] == "a" * 40
    assert {"cff-version", "message", "title", "authors"} <= document.keys()


def test_what_cannot_hold_names_refuses_them(report, capsys):
    for arguments in (
        ["spectra-1", "--methods"],
        ["spectra-1", "--format", "cff"],
        ["--report", str(report), "--format", "cff"],
    ):
        assert main(["cite", *arguments]) == 2
        assert "BibTeX only" in capsys.readouterr().err


def test_methods_of_a_small_set(report):
    document = json.loads(report.read_text())
    used = {name: entry for name, entry in document["corpora"].items() if entry["clips"]}
    report.write_text(json.dumps(document | {"corpora": dict([*used.items()][:1]), "seconds": 132.0}))
    assert "copies of 1 corpus (" in methods(report=report)
    assert "2.2 min" in methods(report=report)


def test_a_result_on_a_rebuilt_set_is_not_cited_as_evaluated_by_the_benchmark():
    record = replace(load_records()[0], scored_on="rebuilt_open")
    assert "not on the original evaluation" in system_entry(record)
    assert "evaluated by oruk-bench" not in system_entry(record)
