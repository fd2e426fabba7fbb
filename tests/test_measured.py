"""What the package measured itself: which records count, the sentences and table from them, and the picture."""

import copy
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from oruk_leaderboard.card import measured
from oruk_leaderboard.records.record import Record
from oruk_leaderboard.systems import registry
from tests.scored import made_columns, scored_record

BASELINES = ("baseline-acoustic", "baseline-loudness", "baseline-majority", "baseline-prior")


@cache
def _document() -> dict:
    columns = made_columns(600, speakers=24)
    pairs = zip(columns["corpus"], columns["speaker"], strict=True)
    columns["speaker"] = [f"x{int(name) % 2}" if corpus == "corpus2" else name for corpus, name in pairs]
    return scored_record(columns)


def made(identifier: str, macro_f1: str = "0.7000", *, digest: str = "a" * 64, n: int | None = None) -> Record:
    """A record of a made set, under another system's id."""
    document = copy.deepcopy(_document())
    document["system"] |= {"id": identifier, "name": registry()[identifier].name if identifier in registry() else "x"}
    document["evaluation"] |= {"set_digest": digest, "n": n or document["evaluation"]["n"]}
    return replace(Record.from_dict(document), macro_f1=macro_f1, scored_on="partial")


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [made(name, f"0.{at}000") for at, name in enumerate(BASELINES, start=3)]


def texts(document: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(document).iter() if node.tag.endswith("text")]


def test_nothing_is_said_or_drawn_where_nothing_was_measured() -> None:
    others = [made("somebody-elses-system")]
    assert measured.svg(others) is None
    assert (measured.summary(others), measured.table(others)) == ("", "")


def test_the_largest_set_counts_and_each_system_once(records: list[Record]) -> None:
    small = made("baseline-prior", "0.9000", digest="c" * 64, n=50)
    older = replace(made("baseline-prior", "0.9000"), snapshot="2026-01-01")
    found = measured.measured([small, older, made("somebody-elses-system", "0.9500"), *records])
    assert [record.system.id for record in found] == [*reversed(BASELINES)]
    assert [record.macro_f1 for record in found] == ["0.6000", "0.5000", "0.4000", "0.3000"]


def short(record: Record) -> str:
    """Name in a sentence that begins with "Baselines"."""
    return record.system.name.removesuffix(" (baseline)")


def test_sentences_and_table_give_the_records_figures(records: list[Record]) -> None:
    best = records[-1]
    low, high = best.evaluation["intervals"]["macro_f1"]
    other = best.evaluation["other_corpora"]["intervals"]["macro_f1"]
    assert other is None, "three corpora are too few for an interval"
    summary, table = " ".join(measured.summary(records).split()), measured.table(records)
    assert f"600 clips of 3 corpora, manifest 1.0.0, set {'a' * 12}, the floor" in summary
    assert f"{short(best)} 0.6000 macro-F1 ({low:.4f} to {high:.4f} for other speakers" in summary
    assert "same corpora, none for other corpora)" in summary
    assert measured.NAME in summary
    for record in records:
        assert f"| {record.accuracy} | {record.macro_f1} | {low:.4f} to {high:.4f} | none |" in table
        assert short(record) in summary
    assert max(map(len, measured.summary(records).splitlines())) <= 120


def test_the_picture_has_a_row_per_corpus_and_a_point_per_system(records: list[Record]) -> None:
    document = measured.svg(records)
    assert document is not None
    assert document == measured.svg(records[::-1])
    shown = texts(document)
    assert next(name for name in shown if name in ("all corpora", "corpus0", "corpus1", "corpus2")) == "all corpora"
    for record in records:
        assert f"{record.system.name}: {record.macro_f1}" in shown
    circles, bars = document.count("<circle"), document.count("<rect") - 1
    assert circles == 4 + 4 * 4, "a legend of 4, and 4 systems on all clips and on each of 3 corpora"
    assert bars == 4 * 3, "corpus2 has two speakers, so that it has no interval"
    assert any("leave one corpus out" in line for line in shown)
    assert "prefers-color-scheme: dark" in document


def test_points_stand_where_their_values_are(records: list[Record]) -> None:
    document = measured.svg(records) or ""
    root = ElementTree.fromstring(document)
    marks = [node for node in root.iter() if node.get("class") == "quiet middle"]
    ticks = {node.text: float(node.get("x", "0")) for node in marks}
    left, right = ticks["0.0"], ticks["0.5"]
    first = next(node for node in root.iter() if node.tag.endswith("circle") and node.get("r") == "3.6")
    assert float(first.get("cx", "0")) == pytest.approx(left + (right - left) * 0.6 / 0.5, abs=0.1)
