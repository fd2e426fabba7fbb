"""LaTeX of the table and of one's own row: it compiles, and it fits the text width of the article class."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import MISSING
from oruk_leaderboard.card.cite import cite, methods
from oruk_leaderboard.corpora import registry
from oruk_leaderboard.protocols import load
from oruk_leaderboard.records.record import Record, load_records
from oruk_leaderboard.scoring.column_formats import as_latex as columns_as_latex
from oruk_leaderboard.scoring.columns import ColumnValue, LeaderboardScore
from oruk_leaderboard.scoring.comparison import compare
from oruk_leaderboard.scoring.comparison_formats import as_latex as compare_as_latex
from oruk_leaderboard.scoring.report import latex_report
from oruk_leaderboard.table.latex import as_latex, own_row, own_table, record_table
from oruk_leaderboard.table.leaderboard import leaderboard
from tests.scored import made_predictions, made_set, scored_record

TEX = r"\documentclass{article}\usepackage{booktabs,siunitx,array}\begin{document}%s\end{document}"
PACKAGES = ("booktabs.sty", "siunitx.sty", "array.sty")


def has_tex() -> bool:
    if not (shutil.which("pdflatex") and shutil.which("kpsewhich")):
        return False
    found = subprocess.run(["kpsewhich", *PACKAGES], capture_output=True, text=True, check=False).stdout
    return len(found.split()) == len(PACKAGES)


def with_row(table: str, row: str) -> str:
    """The table with lines pasted where their comment says."""
    return table.replace(r"  \bottomrule", row + r"  \bottomrule")


def assert_fits(folder: Path, body: str) -> None:
    """It compiles as part of an article, and no line is wider than the text."""
    (folder / "paper.tex").write_text(TEX % body, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert re.findall(r"Overfull \\hbox.*", ran.stdout) == []


needs_tex = pytest.mark.skipif(not has_tex(), reason="no TeX with booktabs and siunitx here")


@needs_tex
def test_tables_and_ones_own_rows_fit_an_article(tmp_path: Path) -> None:
    row = own_row("A_model & more", family="open", accuracy=51.2345, macro_f1=0.5)
    assert_fits(tmp_path, with_row(as_latex(leaderboard()), row) + as_latex(leaderboard(ties=True)))


@needs_tex
@pytest.mark.skipif(not shutil.which("bibtex"), reason="no BibTeX here")
def test_every_citation_and_the_methods_paragraph_compile(tmp_path: Path) -> None:
    systems = list({record.system.id: record for record in load_records()})
    entries = [entry.bibtex for entry in cite([*systems, *registry()])]
    (tmp_path / "refs.bib").write_text("\n\n".join(entries), encoding="utf-8")
    corpora = {"a": {"name": "Castro & Lima_1", "clips": 3}}
    report = {"report_version": "1.0.0", "corpora": corpora, "clips": 3, "seconds": 7200, "audio_rule": 1}
    report |= {"digest": "a" * 64, "partial": True, "manifest": {"version": "1", "profile": "open", "digest": "b" * 64}}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{url}\begin{document}"  # T1: an ogonek in a name
        + methods(report=tmp_path / "report.json")
        + r"\nocite{*}\bibliographystyle{plain}\bibliography{refs}\end{document}",
        encoding="utf-8",
    )
    tex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for command in (tex, ["bibtex", "paper"], tex):
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert ran.returncode == 0, ran.stdout[-1500:]
    assert (tmp_path / "paper.bbl").read_text(encoding="utf-8").count(r"\bibitem") == len(entries)


@needs_tex
def test_what_score_and_compare_print_is_pasted_as_it_is(tmp_path: Path) -> None:
    gold = gold_of_set(made_set())
    lacking = made_predictions(gold, seed=2)
    lacking.status[:150], lacking.labels[:150] = MISSING, -1
    systems = {"my_first & longest-name-of-a/system": made_predictions(gold), "50 % of it": lacking}
    ranking = compare_as_latex(compare(systems, gold=gold, n_boot=50))
    assert "50 % of it answers 250 of 400 clips" in ranking and r"\label{" in ranking
    record = scored_record()
    record["system"]["name"] = "my_model & 100 %"
    classes = latex_report(record)
    assert record["evaluation"]["set_digest"][:12] in classes and r"\label{" in classes
    own = record_table(Record.from_dict(record))
    many = load("emotion-classification-on-mfa").metrics
    values = tuple(ColumnValue(f"{metric.name} & %", 0.5, True, "", "", 9) for metric in many)
    columns = columns_as_latex(LeaderboardScore("p_1", "", "", "", 9, {}, values))
    assert columns.count(r"\dagger") == len(many) == 6
    assert_fits(tmp_path, f"{ranking}\n\n{own}\n{classes}\n\n{columns}")


def test_one_s_own_row_has_the_columns_of_the_table() -> None:
    record = Record.from_dict(scored_record())
    record = replace(record, system=replace(record.system, name="my_model & co"))
    text = record_table(record)
    row = next(line for line in text.splitlines() if r"\textbf" in line)
    rows = [line for line in as_latex(leaderboard()).splitlines() if " & " in line and "{Rank}" not in line]
    assert {row.replace(r"\&", "").count("&")} == {line.count("&") for line in rows} == {4}
    assert r"\textbf{my\_model \& co}" in row and row.strip().startswith("--")
    caption = next(line for line in text.splitlines() if r"\caption" in line)
    assert "not ranked with the published rows" in caption and "95 \\% interval of macro-F1" in caption
    assert str(record.evaluation["set_digest"])[:12] in caption and r"\label{tab:oruk-own}" in text
    both = own_table([own_row("a", family=None, accuracy=1, macro_f1=0.1)] * 2, "two")
    assert both.count(r"\\") == 3 and both.count("--") == 5


def test_ties_answer_first_which_row_is_best() -> None:
    board = leaderboard(ties=True)
    assert len(board.leaders) == len(board.groups) == 2
    first = board.leaders[0]
    assert "Spectra 1" in first and "not like for like" in first and "only allow accuracy" in first
    assert board.leaders[1].startswith("subsample_5k: the best macro-F1 is 0.5042 (audiollm-emotionthinker)")
    assert leaderboard().leaders == ()
