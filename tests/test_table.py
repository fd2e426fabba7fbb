"""The table: groups, ranks, marks, coverage, formats, hostile names."""

import csv
import io
import json
from dataclasses import replace

import pandas as pd
import pytest

import oruk_leaderboard
from oruk_leaderboard.cells import csv_cell, latex_cell, markdown_cell
from oruk_leaderboard.cli import main
from oruk_leaderboard.records.record import load_records
from oruk_leaderboard.table.formats import FORMATS
from oruk_leaderboard.table.leaderboard import leaderboard


def test_groups_are_ranked_apart():
    board = leaderboard()
    assert [group.title for group in board.groups] == ["full_set", "subsample_5k"]
    assert [len(group.rows) for group in board.groups] == [20, 13]
    for group in board.groups:
        scores = [float(row.record.macro_f1) for row in group.rows]
        assert scores == sorted(scores, reverse=True)
        assert group.rows[0].rank == 1
    assert board.groups[0].rows[0].record.system.name == "Spectra 1"
    assert board.groups[1].rows[0].record.system.id == "audiollm-emotionthinker"
    assert board.warning is None


def test_mixed_says_so(capsys):
    board = leaderboard(mixed=True)
    assert [len(group.rows) for group in board.groups] == [33]
    assert "not interchangeable" in board.warning
    for form in ("text", "markdown", "json"):
        assert "interchangeable" in FORMATS[form](board)
    assert main(["table", "--mixed", "--format", "csv"]) == 0
    assert "not interchangeable" in capsys.readouterr().err
    assert leaderboard(mixed=True, scored_on="full_set").warning is None


def test_ranks_survive_a_family_filter():
    whole = {row.record.system.id: row.rank for row in leaderboard().rows}
    shown = leaderboard(family="text only").rows
    assert len(shown) == 3
    assert all(row.rank == whole[row.record.system.id] for row in shown)


def test_equal_figures_share_a_rank():
    first, second, third = load_records()[:3]
    same = [replace(record, scored_on="full_set", macro_f1="0.5") for record in (first, second)]
    board = leaderboard(records=[*same, replace(third, scored_on="full_set", macro_f1="0.40")])
    assert [row.rank for row in board.rows] == [1, 1, 3]


def test_snapshots():
    july = leaderboard(snapshot="2026-07-12")
    assert len(july.rows) == 32
    assert july.rows[0].record.system.name == "oruk-spectra"
    assert len(leaderboard(snapshot="2026-09-06").rows) == 3


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("snapshot", [None, "2026-07-12"])
def test_every_format_marks_the_oruk_row(form, snapshot):
    text = FORMATS[form](leaderboard(snapshot=snapshot))
    assert "like-for-like" in text or "like_for_like" in text
    if form not in ("csv", "json"):
        line = next(line for line in text.splitlines() if "Spectra 1" in line or "oruk-spectra" in line)
        assert "†" in line or r"\textsuperscript{a" in line


def test_coverage():
    coverage = leaderboard().coverage
    assert (coverage.held, coverage.total) == (33, 64)
    assert "19/29 open, 4/18 audio LLM, 6/11 API, 3/5 text only, 1/1 ours" in coverage.sentence()
    for form in ("text", "markdown", "latex"):
        assert "33 of 64" in FORMATS[form](leaderboard())


def test_csv_has_the_digits_of_the_source():
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](leaderboard(snapshot="2026-07-12")))))
    assert len(rows) == 32
    by_name = {row["system"]: row for row in rows}
    assert by_name["emotion2vec-plus-large"]["macro_f1"] == "0.6770"
    assert by_name["oruk-spectra"]["like_for_like"] == "false"
    assert all(row["is_oruk"] in ("true", "false") for row in rows)


def test_latex_escapes_and_lists_only_caveats_shown():
    text = FORMATS["latex"](leaderboard(family="API"))
    assert r"openai\_gpt-audio-1.5\textsuperscript{a}" in text
    assert "in-distribution" not in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    body = [line for line in text.splitlines() if line.endswith(r"\\") and r"\multicolumn" not in line]
    assert {line.count("&") - line.count(r"\&") for line in body} == {4}


def test_json_is_one_document(capsys):
    assert main(["table", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [group["scored_on"] for group in document["groups"]] == ["full_set", "subsample_5k"]
    assert document["groups"][0]["rows"][0]["like_for_like"] is False
    assert document["coverage"]["families"]["open"] == [19, 29]


@pytest.mark.parametrize("name", ["=cmd()", "+1+1", "-2", "@x", "\tx", "<img onerror=alert(1)>", "a|b", "1_%&#{}~^\\"])
def test_hostile_names_are_text(name):
    record = load_records()[0]
    hostile = replace(record, system=replace(record.system, name=name))
    rows = list(csv.reader(io.StringIO(FORMATS["csv"](leaderboard(records=[hostile])))))
    assert rows[1][1] == ("'" + name if name[0] in "=+@\t" else name)
    markdown = FORMATS["markdown"](leaderboard(records=[hostile]))
    assert "<img" not in markdown
    assert all(line.replace(r"\|", "").count("|") == 6 for line in markdown.splitlines() if line.startswith("|"))
    assert all(len(line.split("  ")) > 3 for line in FORMATS["text"](leaderboard(records=[hostile])).splitlines()[4:5])


@pytest.mark.parametrize(
    ("value", "cell"), [("-0.5", "-0.5"), ("-x", "'-x"), ("+1e5", "+1e5"), (None, ""), (True, "true"), ("=1", "'=1")]
)
def test_csv_cells(value, cell):
    assert csv_cell(value) == cell


def test_cell_escapes():
    assert latex_cell("run `a_b`") == r"run \texttt{a\_b}"
    assert latex_cell("a_b\\ 50%~") == r"a\_b\textbackslash{} 50\%\textasciitilde{}"
    assert markdown_cell("a|b <i>*x*</i>\n c") == r"a\|b &lt;i&gt;\*x\*&lt;/i&gt; c"


def test_ties_are_marked_on_request():
    assert all(row.close is None for row in leaderboard().rows)
    board = leaderboard(ties=True)
    by_id = {row.record.system.id: row for row in board.rows}
    assert by_id["emotion2vec-plus-base"].close == (3, 4)  # 68.52 against 68.69 and 68.59 on 64,384 clips
    assert by_id["spectra-1"].close == ()
    assert by_id["spectra-1"].interval == ("77.48", "78.12")
    text = FORMATS["text"](board)
    assert "68.16–68.88" in text
    assert "Smallest possible uncertainty" in text
    assert "wider" in text and "by macro-F1, which has no interval without the answers" in text.replace("\n", " ")
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](board))))
    assert rows[0]["accuracy_low"] == "77.48"
    assert rows[1]["close_ranks"] == "3 4"
    assert r"68.16--68.88 & 3--4 \\" in FORMATS["latex"](board)
    header = next(line for line in FORMATS["markdown"](board).splitlines() if line.startswith("| rank"))
    assert header.count("|") == 8


def test_ranks_are_close_where_their_intervals_overlap():
    for group in leaderboard(ties=True).groups:
        for one in group.rows:
            low, high = map(float, one.interval)
            overlapping = [
                other.rank
                for other in group.rows
                if other is not one and float(other.interval[0]) <= high and low <= float(other.interval[1])
            ]
            assert list(one.close) == overlapping


def test_sets_are_never_tied_with_each_other():
    mixed = leaderboard(ties=True, mixed=True)
    by_rank = {row.rank: row for row in mixed.rows}
    for row in mixed.rows:
        assert all(by_rank[rank].record.scored_on == row.record.scored_on for rank in row.close)


@pytest.mark.parametrize("option", [["--family", "closed"], ["--scored-on", "all"], ["--snapshot", "2020-01-01"]])
def test_unknown_choices_end_with_2(option, capsys):
    assert main(["table", *option]) == 2
    assert "expected" in capsys.readouterr().err


def test_load_leaderboard_is_the_default_table():
    frame = oruk_leaderboard.load_leaderboard()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["system", "family", "accuracy", "macro_f1", "scored_on", "is_oruk", "note"]
    assert len(frame) == 33
    assert frame.loc[frame.is_oruk, "macro_f1"].tolist() == [0.816]


def test_mixed_ranks_say_so_whatever_is_shown_of_them():
    board = leaderboard(mixed=True, family="API")
    assert [row.rank for row in board.rows] != list(range(1, len(board.rows) + 1))
    assert "not interchangeable" in board.warning


def rebuilt(name: str, *, scored_on: str = "partial", in_distribution: bool | None = False, **evaluation):
    """A record of a rebuilt set."""
    first = load_records()[0]
    named = {"manifest_digest": "a" * 64, "set_digest": "b" * 64, "profile": "open"}
    system = replace(first.system, id=name, name=name, family="open", modality="audio", in_distribution=in_distribution)
    return replace(first, system=system, scored_on=scored_on, evaluation=named | evaluation, failures={"abstained": 3})


def test_rebuilt_rows_are_ranked_on_the_same_clips_only():
    two = [rebuilt("one"), rebuilt("other", set_digest="c" * 64), rebuilt("one", set_digest="c" * 64)]
    board = leaderboard(scored_on="partial", records=two)
    assert [group.title for group in board.groups] == ["partial of set " + "b" * 64, "partial of set " + "c" * 64]
    assert [len(group.rows) for group in board.groups] == [1, 2]
    drawn = [rebuilt(name, scored_on="rebuilt_subsample", profile=name) for name in ("open", "full")]
    assert len(leaderboard(scored_on="rebuilt_subsample", records=drawn).groups) == 2
    whole = [rebuilt(name, scored_on="rebuilt_open", manifest_digest=name * 64) for name in "ab"]
    assert len(leaderboard(scored_on="rebuilt_open", records=whole, mixed=True).groups) == 2


def test_caveats_of_rebuilt_rows_claim_nothing_of_the_published_table():
    records = [rebuilt("trained", in_distribution=True), rebuilt("unknown", in_distribution=None), rebuilt("clean")]
    board = leaderboard(scored_on="partial", records=records)
    assert {row.record.system.id: row.marks for row in board.rows} == {
        "trained": ("contaminated", "unanswered"),
        "unknown": ("undeclared", "unanswered"),
        "clean": ("unanswered",),
    }
    assert [row.like_for_like for row in board.rows if row.record.system.id == "trained"] == [False]
    for form in ("text", "markdown", "latex", "json"):
        text = FORMATS[form](board)
        assert "Resonance" not in text and "zero-shot" not in text and "full_set" not in text


def test_an_empty_selection_says_so():
    for form in ("text", "markdown", "latex"):
        assert "No row is held here" in FORMATS[form](leaderboard(family="ours", scored_on="subsample_5k"))
