"""The Python API mirrors the command line: natural arguments, frozen results that turn into JSON."""

import ast
import dataclasses
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import oruk_leaderboard as oruk
from oruk_leaderboard.errors import PredictionError
from tests.made_corpora import mixed, spec


def test_public_names_come_from_the_type_stub():
    stub = ast.parse(Path(oruk.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    listed = {
        alias.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert sorted(oruk.__all__) == sorted([*listed, "__version__"]) == dir(oruk)
    assert {"cite", "compare", "replay", "score", "verify"} <= listed.keys()
    for name, module in listed.items():
        assert getattr(oruk, name) is getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        oruk.nothing  # noqa: B018


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, oruk_leaderboard; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "pandas", "pyarrow", "datasets", "soundfile"} & set(ast.literal_eval(ran.stdout))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    corpus, toml = mixed(folder, 12), spec(folder)
    oruk.reconstruct(corpora={str(toml): corpus}, out=folder / "set", all_clips=True)
    for system in ("baseline-neutral", "baseline-loudness"):
        oruk.run(system, clips=folder / "set", out=folder / f"{system}.csv")
    return folder, corpus, toml


def results(folder, corpus, toml):
    systems = [folder / "baseline-neutral.csv", folder / "baseline-loudness.csv"]
    yield oruk.find_corpora(root=corpus, only=[str(toml)])
    yield oruk.find_corpora(corpus)
    yield oruk.clips(str(toml), corpus)
    yield oruk.validate(root=corpus)
    yield oruk.validate(root=corpus, corpora=[str(toml)])
    yield oruk.reconstruct(root=corpus, out=folder / "again", all_clips=True, corpora=[str(toml)])
    yield oruk.open_clipset(folder / "set")
    yield oruk.score(systems[0], clips=folder / "set", n_boot=20, cluster="clip")
    yield oruk.compare(systems, clips=folder / "set", n_boot=20, cluster="clip")


def test_results_are_frozen_and_turn_into_json(whole):
    for result in results(*whole):
        assert dataclasses.is_dataclass(result) and type(result).__dataclass_params__.frozen
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) is not None


def test_corpora_found_are_a_sequence(whole):
    _, corpus, toml = whole
    found = oruk.find_corpora(corpus, only=[str(toml)])
    assert len(found) == 1 and found[0].spec.id == "mixed" and found[:1] == (found[0],)
    assert found.to_dict() == {"corpora": [found[0].to_dict()]}
    assert not oruk.find_corpora(corpus)


def test_systems_are_named_by_their_files(whole):
    folder, _, _ = whole
    path = folder / "baseline-neutral.csv"
    compared = oruk.compare([path, f"other={path}"], clips=folder / "set", n_boot=20, cluster="clip")
    assert {standing.system for standing in compared.standings} == {"baseline-neutral", "other"}
    with pytest.raises(PredictionError, match="two systems of one name"):
        oruk.compare([path, path], clips=folder / "set")
