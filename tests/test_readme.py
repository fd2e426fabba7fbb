"""What the README's front says is so: verbs, counts, and the ten lines that fill a predictions file."""

import csv
import re
from pathlib import Path

import pytest

from oruk_leaderboard import paths
from oruk_leaderboard.cli import VERBS
from oruk_leaderboard.corpora import registry
from oruk_leaderboard.demo import CORPUS, make_corpus
from oruk_leaderboard.reconstruction import reconstruct

README = (paths.share_root() / "README.md").read_text(encoding="utf-8")


def test_every_verb_is_in_the_table_of_verbs() -> None:
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in README.splitlines() if line.startswith("| `")]
    named = {word.split()[0] for row in rows for word in re.findall(r"`([^`]+)`", row)}
    assert set(VERBS) <= named


def test_counts_of_adapters_and_languages() -> None:
    specs = [spec for spec in registry().values() if spec.state == "adapter"]
    languages = {language.partition("-")[0] for spec in specs for language in spec.languages} - {"zxx", "mul"}
    assert f"{len(specs)} adapters in {len(languages)} languages" in README


def test_the_ten_lines_fill_a_predictions_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "my_model" in block]
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)
    make_corpus(tmp_path / "corpora" / CORPUS)
    report = reconstruct(tmp_path / "corpora", out=tmp_path / "rebuilt", limit=20)
    exec(code, {"my_model": lambda wave: "anger" if abs(wave).max() > 0.3 else "neutral"})
    rows = list(csv.DictReader((tmp_path / "predictions.csv").open(encoding="utf-8")))
    assert len(rows) == report.document["clips"] == 20
    assert {row["label"] for row in rows} == {"anger", "neutral"}
