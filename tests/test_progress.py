"""Progress on stderr: a bar in a terminal, a line now and then elsewhere, nothing with ``--json``."""

import argparse
import importlib
import inspect
import itertools
import sys
from types import SimpleNamespace

import pytest

from oruk_leaderboard.cli import output


@pytest.mark.parametrize("verb", ["validate", "reconstruct", "run", "score", "publish", "build", "page"])
def test_long_verbs_report(verb: str) -> None:
    source = inspect.getsource(importlib.import_module(f"oruk_leaderboard.cli.{verb}"))
    assert "progress(" in source


def work(json: bool) -> None:
    with output.progress(argparse.Namespace(json=json)) as progress:
        for phase, total in (("checking clips", 3_000), ("reading lists", None)):
            advance = progress(phase, total)
            advance(1_000)
            advance(500, failed=3)


def test_lines_outside_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    work(json=False)
    assert capsys.readouterr() == ("", "")
    minutes = itertools.count(0, 60)
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: next(minutes)))
    work(json=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "checking clips: 1,000 of 3,000 clips, 16.7 per s, 2 min left",
        "checking clips: 1,500 of 3,000 clips, 12.5 per s, 2 min left, 3 failed",
        "reading lists: 1,000 clips, 16.7 per s",
        "reading lists: 1,500 clips, 12.5 per s, 3 failed",
    ]
    work(json=True)
    assert capsys.readouterr() == ("", "")


def test_bars_in_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    work(json=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert "checking clips" in err and "/3000" in err and "reading lists" in err
    work(json=True)
    assert capsys.readouterr() == ("", "")
