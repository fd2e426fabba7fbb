"""The demonstration goes the whole way, and says what it is."""

import json
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.clipset import open_clipset


def test_demo_makes_finds_rebuilds_scores_and_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kept"
    assert main(["demo", "--json", "--keep", str(folder)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [step["command"].split()[1] for step in shown["steps"]] == [
        "corpora",
        "validate",
        "reconstruct",
        "run",
        "score",
    ]
    assert shown["steps"][1]["result"] == "oreau: 434 unpinned"
    scored = shown["steps"][-1]["result"]
    assert "published full_set" in " ".join(scored.split())
    assert "demonstration" in shown["remark"]
    clips = open_clipset(folder / "clips")
    assert (len(clips), clips.report["partial"]) == (434, True)
    assert main(["demo", "--keep", str(folder)]) == 2


def test_a_run_on_a_cluster_gives_the_same_predictions(tmp_path: Path) -> None:
    import oruk_leaderboard
    from oruk_leaderboard.demo import CORPUS, SYSTEM, make_corpus

    make_corpus(tmp_path / "corpora" / CORPUS)
    oruk_leaderboard.reconstruct(tmp_path / "corpora", out=tmp_path / "clips", limit=70)
    here = oruk_leaderboard.run(SYSTEM, clips=tmp_path / "clips", out=tmp_path / "here.csv")
    there = oruk_leaderboard.run(SYSTEM, clips=tmp_path / "clips", out=tmp_path / "there.csv", engine="ray", workers=2)
    assert here.counts == there.counts == {"ok": 70}
    assert there.predictions.read_bytes() == here.predictions.read_bytes()
