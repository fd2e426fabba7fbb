"""The public harness's positional files, and the order that makes clips of their positions."""

import json

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.positional import read_order, read_positional
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.scoring.scorer import score
from tests.scored import DIGEST, made_columns, made_set

LABELS = [0, 6, 1, 2, 3]


@pytest.fixture
def clips():
    return made_set(made_columns(5))


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("order_kind", ["digest", "file"])
def test_every_packing(tmp_path, clips, order_kind):
    gold = gold_of_set(clips)
    expected = np.empty(5, int)
    if order_kind == "file":
        folder = tmp_path / "set"
        folder.mkdir()
        positions = [3, 1, 4, 0, 2]
        lines = "".join(f"{gold.clip_ids[at]}\n" for at in positions)
        (folder / "order.csv").write_text(f"clip_id\n{lines}")
        (folder / "report.json").write_text(json.dumps({"digest": DIGEST}))
        order = str(folder / "order.csv")
    else:
        positions, order = [0, 1, 2, 3, 4], DIGEST
    expected[positions] = LABELS
    names = [CLASSES[label] for label in LABELS]
    np.savez(tmp_path / "i.npz", preds=np.array(LABELS))
    np.savez(tmp_path / "s.npz", y_pred=np.array(names))
    files = [
        write(tmp_path, "i.json", json.dumps(LABELS)),
        write(tmp_path, "s.json", json.dumps(names)),
        write(tmp_path, "s.txt", "\n".join(names)),
        write(tmp_path, "b.txt", b"\xef\xbb\xbf" + "\r\n".join(names).encode() + b"\r\n"),
        write(tmp_path, "u.txt", "\n".join(names).encode("utf-16")),
        write(tmp_path, "i.txt", "\n".join(map(str, LABELS))),
        tmp_path / "i.npz",
        tmp_path / "s.npz",
    ]
    for path in files:
        places = read_order(order, gold.clip_ids, DIGEST)
        assert read_positional(path, places, classes=CLASSES).labels.tolist() == expected.tolist(), path.name
        assert score(path, clips=clips, order=order, n_boot=5).evaluation["counts"]["ok"] == 5


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.json", "[0, 1, 2, 3]", "another number of predictions.*expected 5; found 4"),
        ("p.json", "[true, false, true, false, true]", "item 1: no class.*True"),
        ("p.json", "[0, 1, 7, 3, 4]", "item 3: no class.*found 7"),
        ("p.json", "[0, 1, -1, 3, 4]", "item 3: no class.*found -1"),
        ("p.json", "[0, 1, 2.0, 3, 4]", "item 3: no class.*found 2.0"),
        ("p.json", "[0, 1, null, 3, 4]", "item 3: no class.*found None"),
        ("p.json", '["sad", "sad", "5", "sad", "sad"]', "item 3: no class.*found '5'"),
        ("p.json", '["anger", "ang', "damaged JSON"),
        ("p.json", '{"c0": "anger"}', "no list of predictions"),
        ("p.txt", "anger\n\nsad\nsad\nsad\n", "txt:2: no class"),
        ("p.txt", "anger\nsad\nsad\nsad\n", "another number of predictions"),
        ("p.txt", "", "another number of predictions"),
    ],
)
def test_faults(tmp_path, clips, name, content, message):
    with pytest.raises(PredictionError, match=message):
        score(write(tmp_path, name, content), clips=clips, order=DIGEST)


def test_faults_in_npz(tmp_path, clips):
    for name, array, message in (
        ("f", np.array([0.9, 1.9, 2.9, 3.9, 4.9]), "item 1: no class.*0.9"),
        ("b", np.array([True] * 5), "item 1: no class.*True"),
        ("p", np.eye(7)[:5], "no array of predictions"),
        ("o", np.array(["sad"] * 5, object), "nothing pickled"),
    ):
        np.savez(tmp_path / f"{name}.npz", preds=array)
        with pytest.raises(PredictionError, match=message):
            score(tmp_path / f"{name}.npz", clips=clips, order=DIGEST)


def test_position_means_nothing_without_its_set(tmp_path, clips):
    path = write(tmp_path, "p.json", json.dumps(LABELS))
    with pytest.raises(PredictionError, match="positional file needs --order"):
        score(path, clips=clips)
    with pytest.raises(PredictionError, match="those of another set"):
        score(path, clips=clips, order="f" * 64)
    with pytest.raises(PredictionError, match="does not say which set"):
        score(path, clips=clips, order=str(tmp_path / "order.csv"))
    (tmp_path / "order.csv").write_text("clip_id\nc/1\n")
    (tmp_path / "report.json").write_text(json.dumps({"digest": DIGEST}))
    with pytest.raises(PredictionError, match="does not name each clip"):
        score(path, clips=clips, order=str(tmp_path / "order.csv"))
    csv = write(tmp_path, "p.csv", "clip_id,label\n")
    with pytest.raises(PredictionError, match=r"no positional file.*leave out --order"):
        score(csv, clips=clips, order=DIGEST)


def test_unknown_spelling_is_an_abstention_there_too(tmp_path, clips):
    path = write(tmp_path, "p.json", json.dumps(["feliz", "sad", "sad", "sad", "feliz"]))
    evaluation = score(path, clips=clips, order=DIGEST, n_boot=5).evaluation
    assert evaluation["counts"]["abstained"] == 2
    assert evaluation["spellings"] == {"feliz": 2}
