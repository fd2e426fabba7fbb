"""Prediction files: every packing gives the same predictions, every fault names its line."""

import gzip
import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.answers import tabular
from oruk_leaderboard.answers.predictions import ABSTAINED, ERROR, MISSING, OK, REFUSED, UNRECOGNISED, read_predictions
from oruk_leaderboard.answers.tabular import read_rows
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import alias_table

IDS = [f"emodb/{name}" for name in ("a", "b", "c", "d")]
LABELS = ["anger", "neutral", "happy", "sad"]
EXPECTED = [0, 6, 1, 2]
CSV = "clip_id,label\n" + "".join(f"{clip},{label}\n" for clip, label in zip(IDS, LABELS, strict=True))
HALF = [0.5, 0.5, 0, 0, 0, 0, 0]


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_jsonl(folder, rows, name="p.jsonl"):
    return write(folder, name, "".join(json.dumps(row) + "\n" for row in rows))


def refused(path, *parts, ids=IDS, **options):
    with pytest.raises(PredictionError) as caught:
        read_predictions(path, ids, **options)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", CSV.encode()),
        ("p.csv", b"\xef\xbb\xbf" + CSV.encode()),
        ("p.csv", CSV.replace("\n", "\r\n").encode()),
        ("p.csv", CSV.encode("utf-16")),
        ("p.csv", CSV.replace("\n", "\n\n").encode()),
        ("p.csv", CSV.replace(",", ", ").encode()),
        ("p.csv", b'"clip_id","label"\n"emodb/a","anger"\nemodb/c,"happy"\nemodb/b,neutral\nemodb/d,sad'),
        ("p.tsv", CSV.replace(",", "\t").encode()),
        ("p.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("P.CSV", CSV.encode()),
        ("p.csv", CSV.replace(",", ";").encode()),
        ("p.csv", CSV.replace(",", "\t").encode("utf-16")),
        ("p.txt", CSV.replace(",", "\t").replace("\n", "\r\n").encode("utf-16")),
    ],
    ids=[
        "plain",
        "bom",
        "crlf",
        "utf-16",
        "blank lines",
        "blanks",
        "quotes",
        "tabs",
        "gzip",
        "upper case",
        "semicolons",
        "utf-16 tabs",
        "unicode text",
    ],
)
def test_text_packings_are_the_same(tmp_path, name, content):
    predictions = read_predictions(write(tmp_path, name, content), IDS)
    assert predictions.labels.tolist() == EXPECTED
    assert predictions.counts == {"ok": 4, "refused": 0, "error": 0, "abstained": 0, "missing": 0, "unrecognised": 0}


def test_binary_packings_are_the_same(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"clip_id": IDS[::-1], "label": LABELS[::-1]}), tmp_path / "p.parquet")
    np.savez(tmp_path / "p.npz", clip_id=np.array(IDS), label=np.array(LABELS))
    rows = [{"clip_id": clip, "label": label} for clip, label in zip(IDS, LABELS, strict=True)]
    for path in (tmp_path / "p.parquet", tmp_path / "p.npz", write_jsonl(tmp_path, rows)):
        assert read_predictions(path, IDS).labels.tolist() == EXPECTED


def test_ids_in_decomposed_form_are_the_same_clip(tmp_path):
    path = write(tmp_path, "p.csv", f"clip_id,label\n{unicodedata.normalize('NFD', 'cafe/é')},sad\n")
    assert read_predictions(path, ["cafe/é"]).labels.tolist() == [2]


def test_missing_rows_and_blank_labels_are_missing(tmp_path):
    predictions = read_predictions(write(tmp_path, "p.csv", "clip_id,label\nemodb/b,sad\nemodb/a,\n"), IDS)
    assert predictions.status.tolist() == [MISSING, OK, MISSING, MISSING]
    assert predictions.labels.tolist() == [-1, 2, -1, -1]


def test_unknown_spelling_is_unrecognised_and_counted(tmp_path):
    text = "clip_id,label\nemodb/a,feliz\nemodb/b,其他/other\nemodb/c,feliz \nemodb/d,sad\n"
    predictions = read_predictions(write(tmp_path, "p.csv", text), IDS)
    assert predictions.status.tolist() == [UNRECOGNISED, UNRECOGNISED, UNRECOGNISED, OK]
    assert predictions.labels.tolist() == [-1, -1, -1, 2]
    assert dict(predictions.spellings) == {"feliz": 2, "其他/other": 1}


def test_hostile_spellings_stay_on_one_line(tmp_path):
    labels = ["\x1b[2Jboo\nboo", "\ud800", "x" * 10_000, "sad"]
    rows = [{"clip_id": clip, "label": label} for clip, label in zip(IDS, labels, strict=True)]
    spellings = read_predictions(write_jsonl(tmp_path, rows), IDS).spellings
    assert list(spellings) == ["x" * 79 + "…", "\ufffd", "\ufffd[2Jboo\ufffdboo"]
    rows[0]["clip_id"] = "\x1b[2J"
    refused(write_jsonl(tmp_path, rows), r"'\x1b[2J'")


def test_too_large_a_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("oruk_leaderboard.answers.tabular.MAX_BYTES", 10)
    refused(write(tmp_path, "p.csv.gz", gzip.compress(CSV.encode())), "too large")


def test_a_file_that_unpacks_to_too_much_text_is_refused_before_it_is_held(tmp_path, monkeypatch):
    import tracemalloc

    bomb = write(tmp_path, "bomb.csv.gz", gzip.compress(b"clip_id,label\n" + bytes(64 << 20)))
    monkeypatch.setattr("oruk_leaderboard.answers.tabular.MAX_UNPACKED", 2**22)
    tracemalloc.start()
    refused(bomb, "unpacks to too much text")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
    # Many rows may be long in all.
    rows = "".join(f"emodb/{at},sad\n" for at in range(3))
    monkeypatch.setattr("oruk_leaderboard.answers.tabular.MAX_UNPACKED", 100)
    assert read_rows(write(tmp_path, "few.csv.gz", gzip.compress(("clip_id,label\n" + rows).encode()))).size == 3


def test_status_decides(tmp_path):
    text = "clip_id,label,status\nemodb/a,neutral,refused\nemodb/b,,Error\nemodb/c,0,abstained\nemodb/d,sad,\n"
    predictions = read_predictions(write(tmp_path, "p.csv", text), IDS)
    assert predictions.status.tolist() == [REFUSED, ERROR, ABSTAINED, OK]
    assert predictions.labels.tolist() == [-1, -1, -1, 2]
    # The label of an abstained row is the answer that named no class, here a number.
    assert dict(predictions.spellings) == {"0": 1}
    refused(write(tmp_path, "q.csv", text.replace("refused", "shy")), "q.csv:2", "unknown status", "'shy'")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("clip_id,label\nemodb/a,anger\nemodb/x,sad\n", (":3", "not in the set", "emodb/x")),
        ("clip_id,label\nemodb/a,anger\n\nemodb/a,sad\n", (":4", "there twice", "p.csv:2")),
        ("clip_id,label\nemodb/a,anger\nemodb/b,2\n", (":3", "not a class name", "'2'")),
        ("clip_id,label\nemodb/a,0.9\n", (":2", "not a class name", "'0.9'")),
        ("clip_id,label\nemodb/a,NaN\n", (":2", "not a class name", "'NaN'")),
        ("clip_id,label\nemodb/a,-1\n", (":2", "not a class name")),
        ("clip_id,label\nemodb/a,True\n", (":2", "not a class name", "'True'")),
        ("clip_id,label\n,anger\n", (":2", "is empty")),
        ("id,label\nemodb/a,anger\n", ("column is missing", "clip_id", "id, label")),
        ("clip_id,pred\nemodb/a,anger\n", ("column is missing", "label")),
        ("clip_id,label,label\nemodb/a,anger,sad\n", (":1", "there twice", "label")),
        ("clip_id,label\nemodb/a\n", (":2", "number of cells", "found 1")),
        ('clip_id,label\nemodb/a,"anger\n', ("damaged CSV",)),
        ("clip_id,label\n", ("no rows",)),
        ("", ("no rows",)),
        (b"clip_id,label\nemodb/a,\xff\xfa\n", (":2", "not UTF-8")),
        (CSV.encode("utf-16-le"), ("NUL",)),
    ],
)
def test_faults_in_csv_name_their_line(tmp_path, text, parts):
    refused(write(tmp_path, "p.csv", text), "p.csv", *parts)


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ({"clip_id": "emodb/b", "label": 1}, ("not a class name", "1")),
        ({"clip_id": "emodb/b", "label": True}, ("not a class name", "True")),
        ({"clip_id": "emodb/b", "label": float("nan")}, ("not a class name", "nan")),
        ({"clip_id": "emodb/b", "label": ["sad"]}, ("not a class name",)),
        ({"clip_id": 7, "label": "sad"}, ("not text", "7")),
        ({"label": "sad"}, ("not text", "None")),
        ({"clip_id": "emodb/b", "label": "sad", "status": 3}, ("unknown status", "3")),
        ({"clip_id": "emodb/b", "scores": HALF[:6]}, ("not one number a class",)),
        ({"clip_id": "emodb/b", "scores": [True, *HALF[1:]]}, ("not one number a class",)),
        ({"clip_id": "emodb/b", "scores": [*HALF[1:], float("nan")]}, ("NaN",)),
        ({"clip_id": "emodb/b", "scores": [0.5, 0.4, 0, 0, 0, 0, 0]}, ("do not sum to 1",)),
        ({"clip_id": "emodb/b", "scores": [1.5, -0.5, 0, 0, 0, 0, 0]}, ("out of range",)),
    ],
)
def test_faults_in_json_lines_name_their_line(tmp_path, row, parts):
    first = {"clip_id": "emodb/a", "label": "sad"} | ({"scores": HALF} if "scores" in row else {})
    refused(write_jsonl(tmp_path, [first, row]), "p.jsonl:2", *parts)


@pytest.mark.parametrize(
    "line",
    ['["emodb/b", "sad"]', "{'clip_id': 'emodb/b'}", '{"clip_id": "emodb', "[" * 100_000],
    ids=["list", "quotes", "cut", "deep"],
)
def test_line_that_is_no_object(tmp_path, line):
    refused(
        write(tmp_path, "p.jsonl", '{"clip_id": "emodb/a", "label": "sad"}\n\n' + line),
        "p.jsonl:3",
        "not a JSON object",
    )


def test_unusable_files_are_one_clear_error(tmp_path):
    refused(tmp_path / "none.csv", "none.csv", "cannot be read")
    refused(write(tmp_path, "p.doc", CSV), "unknown kind of file", ".jsonl")
    refused(write(tmp_path, "p.parquet", "PAR1broken"), "not a parquet file")
    refused(write(tmp_path, "p.npz", "PK"), "not an npz file")
    refused(write(tmp_path, "p.csv.gz", gzip.compress(CSV.encode())[:-9]), "cannot be read")
    np.savez(tmp_path / "o.npz", clip_id=np.array(IDS, object), label=np.array(LABELS, object))
    refused(tmp_path / "o.npz", "nothing pickled")
    np.savez(tmp_path / "l.npz", clip_id=np.array(IDS), label=np.array(LABELS[:3]))
    refused(tmp_path / "l.npz", "differ in length")
    np.savez(tmp_path / "f.npz", clip_id=np.array(IDS), label=np.array([0.9, 1.9, 2.9, 3.9]))
    refused(tmp_path / "f.npz", "row 1", "not a class name", "0.9")


def test_scores_give_labels_and_are_scaled(tmp_path):
    rows = [
        {"clip_id": "emodb/a", "scores": [0.1, 0.2, 0.3, 0.1, 0.1, 0.1, 0.101]},
        {"clip_id": "emodb/b", "label": "fear", "scores": dict(zip(CLASSES, HALF, strict=True))},
        {"clip_id": "emodb/c", "label": None, "status": "error"},
    ]
    predictions = read_predictions(write_jsonl(tmp_path, rows), IDS)
    assert predictions.labels.tolist() == [2, 3, -1, -1]
    assert predictions.status.tolist() == [OK, OK, ERROR, MISSING]
    assert predictions.scores[:2].sum(axis=1) == pytest.approx(1, abs=1e-15)
    assert np.isnan(predictions.scores[2:]).all()


def test_npz_of_probabilities(tmp_path):
    np.savez(tmp_path / "p.npz", clip_id=np.array(IDS), scores=np.eye(7)[[0, 6, 1, 2]])
    assert read_predictions(tmp_path / "p.npz", IDS).labels.tolist() == EXPECTED
    np.savez(tmp_path / "q.npz", clip_id=np.array(IDS), scores=np.eye(6)[[0, 5, 1, 2]])
    refused(tmp_path / "q.npz", "q.npz row 1", "not one number a class")


def test_score_columns(tmp_path):
    header = "clip_id," + ",".join(CLASSES)
    good = "emodb/a,0.1,0.9,0,0,0,0,0"
    predictions = read_predictions(write(tmp_path, "p.csv", f"{header}\n{good}\n"), IDS)
    assert predictions.labels.tolist() == [1, -1, -1, -1]
    for cell, what in (("", "a score is missing"), ("x", "not a number"), ("nan", "NaN"), ("0.2", "do not sum")):
        bad = f"emodb/b,0.1,0.9,{cell},0,0,0,0"
        refused(write(tmp_path, "q.csv", f"{header}\n{good}\n{bad}\n"), "q.csv:3", what)
    refused(write(tmp_path, "r.csv", "clip_id,label,anger\nemodb/a,sad,1\n"), "column for every class", "happiness")
    mixed = f"{header},label\n{good},happy\nemodb/b,,,,,,,,sad\n"
    refused(write(tmp_path, "s.csv", mixed), "s.csv:3", "no scores, others have")


def test_declared_digits(tmp_path):
    path = write(tmp_path, "p.csv", "clip_id,label\nemodb/a,0\nemodb/b,1\nemodb/c,X\n")
    table = alias_table().declared({"0": "sad", "1": None, "X": "fear"})
    predictions = read_predictions(path, IDS, table=table)
    assert predictions.labels.tolist() == [2, -1, 3, -1]
    assert predictions.status.tolist() == [OK, UNRECOGNISED, OK, MISSING]


def test_lines_of_quoted_cells_with_line_breaks(tmp_path):
    rows = read_rows(write(tmp_path, "p.csv", 'clip_id,label,note\na,sad,"two\nlines"\nb,sad,x\n'))
    assert [rows.where(row).rsplit(":", 1)[1] for row in range(2)] == ["2", "4"]


@pytest.mark.parametrize(
    "text",
    [
        "clip_id,label\nc/1,anger\nc/2,sad\n",
        "clip_id,label\r\nc/1,anger\r\nc/2,sad",
        '"clip_id","label"\n"c/1",anger\nc/2,"sad"\n',
        'clip_id,label\n"c/1","an""ger"\nc/2,"a,b"\n',
        'clip_id,label\nc/1,"two\nlines"\nc/2,\n',
        "clip_id, label\nc/1, anger\n\nc/2,sad\n",
        "clip_id,label\n,\nc/2,sad\n",
        'clip_id,label\nc/1,""\n"",sad\n',
        'clip_id,label,x\nc/1,"a,"b\n',
        'clip_id,label\nc/1,a"b\n',
        "clip_id,label\nc/1\nc/2,sad,more\n",
        "clip_id\nc/1\n",
        "é,label\nü,ö\n",
        "\nclip_id,label\nc/1,sad\n",
        "clip_id,label\n",
    ],
)
def test_the_fast_reader_of_plain_csv_agrees_with_the_csv_module(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(text.encode())

    def read() -> object:
        try:
            rows = tabular.read_rows(path)
        except PredictionError as error:
            return str(error)
        return (
            {name: list(column) for name, column in rows.columns.items()},
            list(rows.lines() if rows.lines else ()),
            rows.size,
        )

    fast = read()
    monkeypatch.setattr(tabular, "_plain_csv", lambda *_: None)
    assert fast == read()
