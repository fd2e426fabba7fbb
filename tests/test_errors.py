"""Errors say what, where, expected, found and what to do, and survive worker processes."""

import pickle

from oruk_leaderboard.errors import CorpusError, MissingExtraError, OrukError


def test_message_is_one_line_with_every_part() -> None:
    error = CorpusError("no such column", where="a.csv:1", expected="Emotion", found="emotion\nx", do="rename it")
    assert str(error) == "a.csv:1: no such column; expected Emotion; found emotion x; rename it"


def test_message_commands_no_terminal() -> None:
    assert str(CorpusError("bad", where="a\x1b[31m\x07\udcff.csv")) == "a\ufffd[31m\ufffd\ufffd.csv: bad"


def test_message_stays_readable_whatever_was_found() -> None:
    assert len(str(CorpusError("not a number", where="a.csv", found="1" * 100_000))) < 400


def test_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(CorpusError("bad", where="here", found=3)))
    assert isinstance(error, CorpusError)
    assert (error.what, error.where, error.found) == ("bad", "here", 3)
    extra = pickle.loads(pickle.dumps(MissingExtraError("needs PyAV", extra="video")))
    assert isinstance(extra, OrukError)
    assert "[video]" in str(extra)
