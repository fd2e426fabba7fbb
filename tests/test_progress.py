"""Progress on stderr: a bar in a terminal, a line now and then elsewhere, nothing with ``--json``."""

import argparse
import sys

import pytest

from oruk_leaderboard.cli import output


def work(json: bool) -> None:
    with output.progress(argparse.Namespace(json=json)) as progress:
        for phase, total in (("checking clips", 3_000), ("reading lists", None)):
            advance = progress(phase, total)
            advance(1_000)
            advance(500)


def test_lines_outside_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    work(json=False)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(output, "REPORT_EVERY_S", 0.0)
    work(json=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "checking clips: 1,000 of 3,000 clips",
        "checking clips: 1,500 of 3,000 clips",
        "reading lists: 1,000 clips",
        "reading lists: 1,500 clips",
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
