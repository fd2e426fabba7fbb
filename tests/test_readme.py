"""What the README's front says is so: verbs, counts, and the ten lines that fill a predictions file."""

import csv
import re
from pathlib import Path

import pytest

from oruk_leaderboard import paths
from oruk_leaderboard.cli import UNLISTED, VERBS, main
from oruk_leaderboard.demo import CORPUS, make_corpus
from oruk_leaderboard.reconstruction import reconstruct

README = (paths.share_root() / "README.md").read_text(encoding="utf-8")


def test_every_verb_is_in_the_table_of_verbs() -> None:
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in README.splitlines() if line.startswith("| `")]
    named = {word.split()[0] for row in rows for word in re.findall(r"`([^`]+)`", row)}
    assert set(VERBS) - set(UNLISTED) <= named


def test_the_front_page_is_short() -> None:
    header, body = README.removeprefix("---\n").split("\n---\n", 1)
    assert len(header.splitlines()) <= 80
    assert len(body.splitlines()) <= 256, "the measured results take 12 lines of them"


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


def test_the_output_shown_is_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Every command with output in a console block, in order; ``…`` stands for anything, a time or version for any."""
    monkeypatch.chdir(tmp_path)
    make_corpus(tmp_path / "demo" / "corpora" / CORPUS)
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    shown = [part.partition("\n") for block in blocks for part in block.split("$ oruk-leaderboard ")[1:]]
    assert len(shown) == 5
    for command, _, output in shown:
        main(command.split())
        pattern = re.sub(r"…\n?", ".*", re.escape(output.strip()).replace("\\\n", "\n"))
        pattern = re.sub(r"in\\ \d+\\\.\d\\ s", r"in [0-9.]+ s", pattern)
        pattern = re.sub(r"((?:libsndfile|soxr|numpy)\\ )[\d\\.]+", r"\1[0-9.]+", pattern)
        pattern = re.sub(r"(numpy\\ \[0-9\.\]\+)", r"\1(?:,? pyav [0-9.]+)?", pattern)  # an extra, where installed
        found = capsys.readouterr().out.strip()
        assert re.fullmatch(pattern, found, re.DOTALL), f"{command}\n{found}"
