"""``score`` and ``verify`` as people call them: exit codes, packings of the answer, one line for each mistake."""

import json

import numpy as np
import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.records.record import read_record
from tests.scored import made_columns


@pytest.fixture
def files(tmp_path):
    """A gold file of 400 clips and predictions that are right in two of three."""
    columns = made_columns()
    names = ["clip_id", "label", "corpus", "language", "speaker", "gender", "elicitation", "duration_s"]
    columns["label"] = [CLASSES[label] for label in columns["label"]]
    rows = zip(*(columns[name] for name in names), strict=True)
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows)
    (tmp_path / "gold.csv").write_text(",".join(names) + "\n" + text + "\n", encoding="utf-8")
    rng = np.random.default_rng(0)
    said = [label if rng.random() < 0.67 else "neutral" for label in columns["label"]]
    lines = [f"{clip},{label}" for clip, label in zip(columns["clip_id"], said, strict=True)]
    (tmp_path / "p.csv").write_text("clip_id,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


FAST = ("--n-boot", "50", "--snapshot", "2026-11-30")


def test_clean_run(files, capsys):
    out = files / "deep" / "record.json"
    call_it = ("score", files / "p.csv", "--gold", files / "gold.csv", *FAST, "--out")
    code, text, err = call(capsys, *call_it, files / "short.json")
    assert code == 0 and "record written" in err
    assert len(text.splitlines()) <= 20 and max(map(len, text.splitlines())) <= 80
    for part in ("macro-F1", "other corpora", "Human line", "Outside training", "--full"):
        assert part in text
    assert "gold \\ said" not in text
    code, text, err = call(capsys, *call_it, out, "--full")
    assert code == 0 and max(map(len, text.splitlines())) <= 80
    for part in ("macro-F1", "corpus0", "de", "female", "4-8 s", "speakers", "gold \\ said"):
        assert part in text
    record = read_record(out)
    assert record.snapshot == "2026-11-30" and record.system.id == "p"
    again = files / "again.json"
    call(capsys, "score", files / "p.csv", "--gold", files / "gold.csv", *FAST, "--out", again)
    assert out.read_bytes() == again.read_bytes()
    code, text, _ = call(capsys, "verify", out)
    assert code == 0 and "all the same" in text


def test_json_is_the_record(files, capsys):
    code, text, err = call(capsys, "score", files / "p.csv", "--gold", files / "gold.csv", *FAST, "--json")
    assert code == 0 and err == ""
    document = json.loads(text)
    assert document["evaluation"]["n"] == 400 and document["macro_f1"] == document["macro_f1"].strip()
    assert document["evaluation"]["counts"]["ok"] == 400
    assert max(map(len, text.splitlines())) < 5000


def test_forged_record_is_found(files, capsys):
    out = files / "record.json"
    call(capsys, "score", files / "p.csv", "--gold", files / "gold.csv", *FAST, "--out", out)
    out.write_text(out.read_text(encoding="utf-8").replace('"macro_f1": "0.', '"macro_f1": "0.9'), encoding="utf-8")
    code, text, _ = call(capsys, "verify", out, "--json")
    assert code == 1
    assert [item["key"] for item in json.loads(text)["mismatches"]] == ["macro_f1"]


def test_published_record_has_nothing_to_verify(capsys):
    from oruk_leaderboard.paths import data_dir

    record = next((data_dir() / "records").glob("*/*.json"))
    code, _, err = call(capsys, "verify", record)
    assert code == 2 and "nothing to recompute" in err


def test_findings_end_with_1_and_are_told(files, capsys):
    path = files / "p.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].split(",")[0] + ",feliz"
    path.write_text("\n".join(lines[:-2]) + "\n", encoding="utf-8")
    code, text, _ = call(capsys, "score", path, "--gold", files / "gold.csv", *FAST)
    assert (
        code == 1 and "2 missing" in text and "unrecognised label, counted as wrong: 1" in text and "'feliz' 1" in text
    )
    code, text, err = call(capsys, "score", path, "--gold", files / "gold.csv", *FAST, "--json")
    assert code == 1 and json.loads(text)["evaluation"]["spellings"] == {"feliz": 1} and "'feliz' 1" in err


def test_failed_clips_count_as_the_protocol_or_the_user_says(files, capsys):
    path = files / "p.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:200]) + "\n", encoding="utf-8")
    found = {}
    for on_error in ("neutral", "wrong"):
        options = ("--on-error", on_error, *FAST, "--json")
        found[on_error] = json.loads(call(capsys, "score", path, "--gold", files / "gold.csv", *options)[1])
    assert found["neutral"]["evaluation"]["counts"] == found["wrong"]["evaluation"]["counts"]
    assert float(found["neutral"]["accuracy"]) > float(found["wrong"]["accuracy"])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("corpus0/99999,sad", "not in the set"),
        ("{first},sad", "there twice"),
        ("{last},3", "not a class name"),
        ("{last},true", "not a class name"),
        ("{last},nan", "not a class name"),
    ],
)
def test_mistakes_end_with_2_and_name_the_line(files, capsys, line, what):
    path = files / "p.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    first, last = lines[1].split(",")[0], lines[-1].split(",")[0]
    path.write_text("\n".join([*lines[:-1], line.format(first=first, last=last)]) + "\n", encoding="utf-8")
    code, text, err = call(capsys, "score", path, "--gold", files / "gold.csv")
    assert (code, text) == (2, "")
    assert f"p.csv:{len(lines)}" in err and what in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("{p}",), "nothing to score against"),
        (("--gold", "{gold}"), "nothing to score"),
        (("{p}", "--gold", "{gold}", "--by", "mood"), "no such attribute"),
        (("{p}", "--gold", "{gold}", "--protocol", "x"), "no such protocol"),
        (("{p}", "--gold", "{gold}", "--n-boot", "0"), "n_boot"),
        (("{p}", "--gold", "{gold}", "--seed", "-1"), "seed"),
        (("{p}", "--gold", "{gold}", "--system", "nobody"), "no such system"),
        (("{p}", "--gold", "{gold}", "--subsample", "5k"), "no such subsample"),
        (("{p}", "--gold", "{gold}", "--snapshot", "yesterday"), "snapshot"),
        (("{p}", "--gold", "{p}x"), "unknown kind of file"),
        (("{p}", "--gold", "{gold}", "--out", "{gold}/r.json"), "cannot be written"),
        (("{p}", "--gold", "{gold}", "--figures", "{gold}/f"), "cannot be made"),
        (("{p}", "--gold", "{gold}", "--template", "t.csv"), "a template or a score"),
    ],
)
def test_bad_arguments_end_with_2(files, capsys, arguments, what):
    names = {"p": files / "p.csv", "gold": files / "gold.csv"}
    code, _, err = call(capsys, "score", *(argument.format(**names) for argument in arguments))
    assert code == 2 and what in err and err.count("\n") == 1


def test_run_without_an_answer_is_invalid(files, capsys):
    template = files / "t.csv"
    code, text, _ = call(capsys, "score", "--template", template, "--gold", files / "gold.csv")
    assert code == 0 and "400 clips" in text
    lines = template.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 401 and lines[0] == "clip_id,label" and lines[1].endswith(",")
    code, _, err = call(capsys, "score", template, "--gold", files / "gold.csv")
    assert code == 2 and "invalid" in err and "missing 400" in err
    code, _, err = call(capsys, "score", "--template", template, "--gold", files / "gold.csv")
    assert code == 2 and "a new file" in err


def test_latex_and_figures(files, capsys):
    code, text, err = call(
        capsys, "score", files / "p.csv", "--gold", files / "gold.csv", *FAST, "--latex", "--figures", files / "fig"
    )
    assert text.startswith("% \\usepackage{booktabs") and r"\textbf{p} & open & " in text
    assert code == 0 and r"\begin{tabular}" in text and "8 figures written" in err
    assert sorted(path.name for path in (files / "fig").iterdir()) == [
        "class.png", "class.svg", "confusion.png", "confusion.svg", "corpus.png", "corpus.svg", "language.png",
        "language.svg",
    ]  # fmt: skip


def test_speakers_on_request(files, capsys):
    text = call(capsys, "score", files / "p.csv", "--gold", files / "gold.csv", *FAST, "--full", "--by", "speaker")[1]
    assert "corpus0/00" in text and "none: G below 5" in text
