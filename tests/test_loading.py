"""Loading with the installed release of datasets: by name from a Hub on loopback, from a folder, by the builder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import oruk_bench_leaderboard as script
from oruk_leaderboard import __version__
from oruk_leaderboard.card.cite import RELEASED
from oruk_leaderboard.card.script import dtype
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.records.schemas import arrow_schema
from oruk_leaderboard.table.configs import shipped
from tests.card_header import read_header
from tests.fake_hub import FakeHub

ROOT = checkout_root()
FILES = ("README.md", "oruk_bench_leaderboard.py", "pyproject.toml", "croissant.json", "eval.yaml")
FOLDERS = ("data", "schema", "dataset_card", "tests")


def repository(target: Path) -> Path:
    """The files that the Hub repository has, ``tests/`` included: nothing may take it for a split."""
    for name in FILES:
        if (ROOT / name).is_file():
            target.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, target)
    for name in FOLDERS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def round_trip(python: str, work: Path) -> dict[str, object]:
    """Run every case of ``roundtrip.py`` in a fresh process and cache, and return what it reports."""
    work.mkdir(exist_ok=True)
    folder = repository(work / "repository")
    with FakeHub() as hub:
        hub.create_from("oruk/oruk-bench-leaderboard", folder, tag=f"v{__version__}")
        done = subprocess.run(
            [python, str(folder / "tests" / "roundtrip.py"), str(folder), str(work / "cases")],
            env={**os.environ, **hub.environment(work / "home", token=None), "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    report: dict[str, object] = json.loads((work / "cases" / "report.json").read_text(encoding="utf-8"))
    return report


def test_round_trip(tmp_path):
    report = round_trip(sys.executable, tmp_path / "work")
    assert "by_name" in report["held"]
    assert "stale_cache" in report["held"]


def test_schema_parquet_card_and_builder_agree():
    header = read_header(ROOT / "README.md")
    configs = shipped(ROOT)
    names = [config.name for config in configs]
    assert [entry["config_name"] for entry in header["configs"]] == names
    assert list(script.FILES) == list(script.COLUMNS) == names
    for config, entry in zip(configs, header["configs"], strict=True):
        assert entry["data_files"] == [{"split": script.SPLIT, "path": config.path}]
        assert script.FILES[config.name] == config.path
        kinds = {
            field.name: [dtype(field.type.value_type)] if str(field.type).startswith("list") else dtype(field.type)
            for field in arrow_schema(config.schema)
        }
        assert script.COLUMNS[config.name] == kinds
        built = script.builder(config.name, root=ROOT).info.features
        assert {name: dtype(kind) for name, kind in zip(built, built.arrow_schema.types, strict=True)} == {
            name: f"list<item: {kind[0]}>" if isinstance(kind, list) else kind for name, kind in kinds.items()
        }


def test_one_version():
    assert __version__ == script.VERSION
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert json.loads((ROOT / "croissant.json").read_text(encoding="utf-8"))["version"] == __version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
    assert f"## {__version__} ({RELEASED})" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("pretty_name: ", "pretty_name: x\npretty_name: ", 1), "twice"),
        (lambda text: text.replace("audio-emotion-recognition", "emotions", 1), "task_ids"),
        (lambda text: text.replace("- cc-by-4.0", "- nope", 1), "license"),
        (lambda text: text.replace("  default: true\n", "", 1), "configs"),
        (lambda text: text.replace("path: data/leaderboard.parquet", "path: data/*.parquet", 1), "path"),
        (lambda text: text.replace("config_name: default", "config_name: [", 1), "YAML"),
        (lambda text: text.replace("\n---\n", "\n", 1), "does not end"),
        (lambda text: text.removeprefix("---\n"), "None is not of type"),
    ],
)
def test_bad_headers_are_refused(tmp_path, change, message):
    path = tmp_path / "README.md"
    path.write_text(change((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(OrukError, match=message):
        read_header(path)
