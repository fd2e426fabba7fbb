"""The human line and soft labels: by hand, on made votes, on the real file where it is, and in records that verify."""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.answers.votes import Votes, read_votes
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.labels import alias_table
from oruk_leaderboard.scoring.human import evaluate_human, human_sums
from oruk_leaderboard.scoring.intervals import Settings
from oruk_leaderboard.scoring.sampling import clustering
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.verification import verify
from tests.scored import made_columns, made_set

FAST = Settings(on_error="neutral", n_boot=50)


def rated_set(clip_ids: list[str], labels: list[str], speakers: list[str]):
    """A set of one corpus with these clips."""
    n = len(clip_ids)
    same = {"corpus": clip_ids[0].partition("/")[0], "language": "en", "gender": None, "elicitation": "acted"}
    columns = {name: [value] * n for name, value in same.items()}
    columns |= {"clip_id": clip_ids, "speaker": speakers, "clip_sha256": ["0" * 64] * n, "duration_s": [2.0] * n}
    return gold_of_set(made_set({**columns, "label": [CLASSES.index(name) for name in labels]}, profile=None))


def human_of(votes: Votes, gold, predictions=None) -> dict:
    drawn = clustering(gold)
    (sums,) = human_sums(votes, gold, drawn, predictions, on_error="neutral")
    return {**sums, **evaluate_human(sums, drawn.clusters.values, FAST)}


def test_human_line_by_hand():
    gold = rated_set(["x/1", "x/2", "x/3"], ["anger", "fear", "fear"], ["a", "b", "c"])
    votes = Votes(["x/1", "x/2", "x/4"], ("anger", "fear"), np.array([[3, 1], [1, 1], [9, 9]]), True, "v.csv")
    said = Predictions(np.array([0, 0, 1]), np.zeros(3, np.int8))
    found = human_of(votes, gold, said)
    assert (found["clips"], found["clips_without_votes"], found["ratings"], found["tied"]) == (2, 1, 6, 0)
    # Intended: of x/1 three of four are right, of x/2 one of two.
    assert found["intended"]["listener"]["figures"]["accuracy"] == pytest.approx(4 / 6)
    assert found["intended"]["system"]["figures"]["accuracy"] == pytest.approx(4 / 6)
    # Others: of x/1, the three face anger and are right, the one faces anger and is wrong; of x/2 both are wrong. The
    # system says anger twice: it is right on x/1 (4 ratings), and on x/2 where the other listener said anger.
    assert found["others"]["listener"]["figures"]["accuracy"] == pytest.approx(3 / 6)
    assert found["others"]["system"]["figures"]["accuracy"] == pytest.approx(5 / 6)
    assert found["others"]["listener"]["intervals"] == {"accuracy": None, "macro_f1": None, "uar": None}


def test_ties_are_left_out_and_counted():
    gold = rated_set(["x/1"], ["anger"], ["a"])
    found = human_of(Votes(["x/1"], ("anger", "fear"), np.array([[2, 1]]), True, "v"), gold)
    assert (found["ratings"], found["tied"]) == (3, 2)
    assert found["others"]["listener"]["figures"]["accuracy"] == 0
    assert found["others"]["listener"]["ratings"] == 1
    assert found["others_ties_wrong"] == 0


def test_shares_have_no_single_listener():
    gold = rated_set(["x/1"], ["anger"], ["a"])
    votes = Votes(["x/1"], ("anger", "fear"), np.array([[0.5, 0.5]]), False, "v")
    assert human_sums(votes, gold, clustering(gold), on_error="wrong") == []


def test_a_system_may_say_what_listeners_could_not():
    gold = rated_set(["x/1", "x/2"], ["anger", "fear"], ["a", "b"])
    votes = Votes(["x/1", "x/2"], ("anger", "fear"), np.array([[2, 0], [0, 2]]), True, "v")
    said = Predictions(np.array([CLASSES.index("surprise"), CLASSES.index("fear")]), np.zeros(2, np.int8))
    system = human_of(votes, gold, said)["intended"]["system"]["figures"]
    assert system == {"accuracy": 0.5, "macro_f1": 0.5, "uar": 0.5}


@pytest.mark.skipif("CREMA_D_VOTES" not in os.environ, reason="CREMA_D_VOTES names no tabulatedVotes.csv")
def test_the_real_votes_of_crema_d_give_the_published_line():
    """Voice only: 0.400 / 0.400 against the intended label (paper: 40.9 %), 0.592 / 0.488 against the others."""
    votes = read_votes(Path(os.environ["CREMA_D_VOTES"]))
    names = [clip_id.partition("/")[2] for clip_id in votes.clip_ids]
    table = alias_table()
    labels = [str(table.resolve(name.split("_")[2])) for name in names]
    found = human_of(votes, rated_set(list(votes.clip_ids), labels, [name[:4] for name in names]))
    figures = {line: found[line]["listener"]["figures"] for line in ("intended", "others")}
    assert (found["clips"], found["ratings"], found["tied"]) == (7442, 68568, 6428)
    assert figures["intended"]["accuracy"] == pytest.approx(0.400, abs=5e-4)
    assert figures["intended"]["macro_f1"] == pytest.approx(0.400, abs=5e-4)
    assert figures["others"]["accuracy"] == pytest.approx(0.592, abs=5e-4)
    assert figures["others"]["macro_f1"] == pytest.approx(0.488, abs=5e-4)
    assert found["others_ties_wrong"] == pytest.approx(0.536, abs=5e-4)
    assert found["alpha"] == pytest.approx(0.281, abs=5e-4)
    assert found["others"]["listener"]["clusters"] == 91


def made_votes(n: int = 400, seed: int = 5) -> np.ndarray:
    """Votes of five to nine listeners who agree more on some clips than on others."""
    rng = np.random.default_rng(seed)
    labels = np.array(made_columns()["label"])
    chance = rng.dirichlet(np.ones(7), n)
    own = rng.random((n, 1))
    chance = (1 - own) * chance + own * np.eye(7)[labels]
    return np.stack([rng.multinomial(rng.integers(5, 10), row) for row in chance])


def test_a_made_file_against_a_loop_over_every_listener(tmp_path):
    """Each rating taken out by hand gives the line that the counts give."""
    table = made_votes()
    gold = gold_of_set(made_set())
    intended, others, tied = Counter(), Counter(), 0
    for clip, row in enumerate(table):
        for heard in np.repeat(np.arange(7), row):
            intended[gold.labels[clip] == heard] += 1
            rest = row.copy()
            rest[heard] -= 1
            leaders = np.flatnonzero(rest == rest.max())
            if len(leaders) > 1:
                tied += 1
            else:
                others[leaders[0] == heard] += 1
    sums = human_sums(Votes(gold.clip_ids, CLASSES, table, True, "v"), gold, clustering(gold), on_error="wrong")
    assert [entry["corpus"] for entry in sums] == ["corpus0", "corpus1", "corpus2"]
    entries = [{**entry, **evaluate_human(entry, clustering(gold).clusters.values, FAST)} for entry in sums]
    assert sum(entry["tied"] for entry in entries) == tied
    for line, expected in (("intended", intended), ("others", others)):
        parts = [entry[line]["listener"] for entry in entries]
        right = sum(part["figures"]["accuracy"] * part["ratings"] for part in parts)
        assert right == pytest.approx(expected[True])
        assert sum(part["ratings"] for part in parts) == sum(expected.values())


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A gold file with votes in its columns, the same votes as a file, and predictions with class scores."""
    folder = tmp_path_factory.mktemp("listeners")
    columns, table = made_columns(), made_votes()
    scores = np.random.default_rng(2).dirichlet(np.ones(7), 400).round(6)
    heard = ",".join(f"votes_{name}" for name in CLASSES)
    rows = [",".join(map(str, row)) for row in table]
    known = ("clip_id", "corpus", "speaker", "gender", "language", "elicitation")
    parts = zip(*(columns[name] for name in known), columns["label"], strict=True)
    head = [",".join("" if value is None else value for value in row[:-1]) + f",{CLASSES[row[-1]]}" for row in parts]
    texts = {
        "gold.csv": [",".join((*known, "label")), *head],
        "soft.csv": [",".join((*known, "label", heard)), *(f"{a},{b}" for a, b in zip(head, rows, strict=True))],
        "votes.csv": [f"clip_id,{heard}", *(f"{a},{b}" for a, b in zip(columns["clip_id"], rows, strict=True))],
        "p.csv": [
            "clip_id,label," + ",".join(CLASSES),
            *(
                f"{clip},{CLASSES[row.argmax()]}," + ",".join(map(str, row))
                for clip, row in zip(columns["clip_id"], scores, strict=True)
            ),
        ],
    }
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def evaluation(files) -> dict:
    return score(files / "p.csv", gold=files / "gold.csv", votes=[files / "votes.csv"], n_boot=50).evaluation


def test_soft_labels_are_the_metrics_of_the_votes(files, evaluation):
    soft, table = evaluation["soft_labels"], made_votes()
    scores = np.loadtxt(files / "p.csv", delimiter=",", skiprows=1, usecols=range(2, 9))
    scores /= scores.sum(axis=1, keepdims=True)
    expected = {
        "cross_entropy": metrics.cross_entropies(table, scores).mean(),
        "kl": metrics.kl_divergences(table, scores).mean(),
        "js": metrics.js_divergences(table, scores).mean(),
        "cosine": metrics.cosine_similarities(table, scores).mean(),
        "soft_accuracy": metrics.soft_accuracies(table, scores.argmax(axis=1)).mean(),
        "thresholded_macro_f1": metrics.macro_f1(metrics.thresholded(table, scores).sum()),
    }
    assert soft["figures"] == pytest.approx(expected)
    assert (soft["clips"], soft["scored"]) == (400, 400)
    for name, point in expected.items():
        low, high = soft["intervals"][name]
        assert low < point < high
    right = np.array(made_columns()["label"]) == scores.argmax(axis=1)
    assert sum(row["n"] for row in soft["by_entropy"]) == 400
    assert sum(row["n"] * row["accuracy"] for row in soft["by_entropy"]) == pytest.approx(right.sum())


def test_votes_in_a_gold_file_are_those_of_a_vote_file(files, evaluation):
    own = score(files / "p.csv", gold=files / "soft.csv", n_boot=50).evaluation
    assert own["soft_labels"] == evaluation["soft_labels"]
    assert own["human_line"] == evaluation["human_line"]
    assert (own["votes"][0]["sha256"], own["votes"][0]["clips"]) == (None, 400)


def test_without_scores_only_what_needs_none(files):
    labels = files / "labels.csv"
    lines = (files / "p.csv").read_text(encoding="utf-8").splitlines()
    labels.write_text("\n".join(",".join(line.split(",")[:2]) for line in lines) + "\n", encoding="utf-8")
    soft = score(labels, gold=files / "soft.csv", n_boot=50).evaluation["soft_labels"]
    assert soft["scored"] == 0 and soft["figures"]["kl"] is None and soft["figures"]["soft_accuracy"] > 0


def test_two_files_may_not_have_votes_for_one_clip(files, capsys):
    votes = str(files / "votes.csv")
    assert (
        main(["score", str(files / "p.csv"), "--gold", str(files / "gold.csv"), "--votes", votes, "--votes", votes])
        == 2
    )
    assert "a clip has votes in two files" in capsys.readouterr().err


def test_the_report_has_both_lines_side_by_side_and_no_ceiling_elsewhere(files, capsys):
    call = ["score", str(files / "p.csv"), "--gold", str(files / "gold.csv"), "--n-boot", "20"]
    main(call)
    assert "no ceiling known" in capsys.readouterr().out
    some = files / "some.csv"
    lines = (files / "votes.csv").read_text(encoding="utf-8").splitlines()
    some.write_text("\n".join([lines[0], *(line for line in lines if line.startswith("corpus1/"))]), encoding="utf-8")
    main([*call, "--votes", str(some)])
    text = " ".join(capsys.readouterr().out.split())
    assert "against the intended label: one listener 0." in text
    assert "against the majority of the other listeners: one listener 0." in text
    assert "system 0." in text and "no ceiling known for 2 other corpora" in text


def test_the_record_verifies_and_forged_votes_do_not(files, capsys, tmp_path):
    out = tmp_path / "record.json"
    answers = ["--gold", str(files / "gold.csv"), "--votes", str(files / "votes.csv")]
    main(["score", str(files / "p.csv"), *answers, "--n-boot", "50", "--out", str(out)])
    document = json.loads(out.read_text(encoding="utf-8"))
    assert verify(document).status == "consistent"
    capsys.readouterr()
    assert main(["verify", str(out), "--predictions", str(files / "p.csv"), *answers]) == 0
    assert "proven" in capsys.readouterr().out
    edits = [
        (("human_line", 0, "tied"), 7),
        (("human_line", 1, "intended", "listener", "figures", "macro_f1"), 0.9),
        (("human_line", 0, "alpha"), 0.9),
        (("human_line", 0, "counts", 5), 99),
        (("human_line", 0, "counts", 3), 9),
        (("human_line", 0, "corpus"), "corpus1"),
        (("soft_labels", "figures", "kl"), 0.01),
        (("soft_labels", "intervals", "js"), [0.1, 0.2]),
        (("soft_labels", "by_unit", "kl", 0), 99.0),
        (("soft_labels", "by_unit", "thirds", 0, 0), 99),
        (("soft_labels", "by_unit", "thresholded", 0, 0), 999),
        (("soft_labels", "units", 0), 999),
        (("soft_labels", "by_unit", "js"), []),
    ]
    for path, value in edits:
        forged = json.loads(json.dumps(document))
        place = forged["evaluation"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        assert not verify(forged).ok, path
