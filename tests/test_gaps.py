"""Gaps between groups: by hand, against confounding with corpora, and what has no gap."""

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.scoring.gaps import gap_lines
from oruk_leaderboard.scoring.scorer import score
from tests.scored import made_set


def evaluation_of(rows: list[tuple[str, str, str | None, int, int]], *, n_boot: int = 200) -> dict:
    """Evaluation of clips given as corpus, speaker, gender, gold class and predicted class."""
    corpus, speaker, gender, label, said = (list(column) for column in zip(*rows, strict=True))
    n = len(rows)
    columns = {"clip_id": [f"{name}/{at:05d}" for at, name in enumerate(corpus)], "corpus": corpus, "speaker": speaker}
    columns |= {"gender": gender, "label": label, "language": ["en"] * n, "elicitation": ["acted"] * n}
    columns |= {"clip_sha256": ["0" * 64] * n, "duration_s": [2.0] * n}
    predictions = Predictions(np.array(said), np.zeros(n, np.int8))
    return score(predictions, gold=gold_of_set(made_set(columns)), n_boot=n_boot).evaluation


def clips(corpus: str, gender: str | None, speakers: int, n: int, right: float, seed: int) -> list:
    """``n`` clips of each of some speakers, of two classes, right with some probability."""
    rng = np.random.default_rng(seed)
    found = []
    for speaker in range(speakers):
        for at in range(n):
            label = at % 2
            found.append((corpus, f"{gender}{speaker}", gender, label, label if rng.random() < right else 1 - label))
    return found


def test_a_gap_by_hand():
    rows = [("x", f"f{at}", "female", 0, 0) for at in range(6)] + [("x", f"f{at}", "female", 1, 0) for at in range(6)]
    rows += [("x", f"m{at}", "male", 0, 0 if at < 3 else 1) for at in range(6)]
    rows += [("x", f"m{at}", "male", 1, 1) for at in range(6)]
    found = evaluation_of(rows)["gaps"]["gender"]
    assert (found["corpora"], found["n"], found["n_elsewhere"]) == (["x"], 24, 0)
    (row,) = found["groups"]
    # Female: recall 1 and 0; male: recall 1/2 and 1.
    assert (row["value"], row["against"], row["uar"], row["uar_against"]) == ("female", "male", 0.5, 0.75)
    assert row["recall"]["anger"]["gap"] == pytest.approx(0.5)
    assert row["recall"]["happiness"]["gap"] == pytest.approx(-1)
    assert row["gap"] == pytest.approx(-0.25)
    assert found["worst"] == "female"
    assert row["interval"][0] < row["gap"] < row["interval"][1] and row["p_holm"] == row["p"]
    assert row["clusters"] == 12


def test_a_difference_between_corpora_is_no_gap_between_groups():
    """Women are mostly in the easy corpus, men in the hard one; within each corpus both do the same."""
    rows = clips("easy", "female", 40, 20, 0.9, 1) + clips("easy", "male", 10, 20, 0.9, 2)
    rows += clips("hard", "female", 10, 20, 0.5, 3) + clips("hard", "male", 40, 20, 0.5, 4)
    (row,) = evaluation_of(rows)["gaps"]["gender"]["groups"]
    assert row["uar"] - row["uar_against"] > 0.15
    assert abs(row["gap"]) < 0.03 and row["interval"][0] < 0 < row["interval"][1]


def test_a_real_gap_is_found_and_its_worst_group_named():
    rows = clips("x", "female", 20, 20, 0.9, 1) + clips("x", "male", 20, 20, 0.7, 2)
    found = evaluation_of(rows)["gaps"]["gender"]
    assert found["worst"] == "male"
    assert found["groups"][0]["p_holm"] < 0.01
    assert found["groups"][0]["interval"][0] > 0.1


def test_corpora_with_one_group_take_no_part_and_the_output_says_so():
    rows = clips("women", "female", 8, 10, 0.9, 1) + clips("men", "male", 8, 10, 0.5, 2)
    rows += clips("nobody", None, 8, 10, 0.5, 3)
    found = evaluation_of(rows)["gaps"]
    assert found["gender"] == {"corpora": [], "n": 0, "n_elsewhere": 240, "groups": [], "worst": None}
    assert "no corpus of the set has two groups" in gap_lines(found)[0]
    both = evaluation_of(rows + clips("both", "female", 6, 10, 0.5, 4) + clips("both", "male", 6, 10, 0.5, 5))["gaps"]
    assert (both["gender"]["corpora"], both["gender"]["n"], both["gender"]["n_elsewhere"]) == (["both"], 120, 240)


def test_more_than_two_groups_are_held_against_all_others_with_holm():
    rows = [row for at, group in enumerate(("child", "female", "male")) for row in clips("x", group, 8, 10, 0.6, at)]
    groups = evaluation_of(rows)["gaps"]["gender"]["groups"]
    assert [(row["value"], row["against"]) for row in groups] == [("child", None), ("female", None), ("male", None)]
    assert all(row["p_holm"] >= row["p"] for row in groups)
    assert max(row["p_holm"] for row in groups) > max(row["p"] for row in groups) - 1e-12


def test_few_speakers_have_a_gap_without_an_interval():
    rows = clips("x", "female", 2, 10, 0.9, 1) + clips("x", "male", 2, 10, 0.5, 2)
    (row,) = evaluation_of(rows)["gaps"]["gender"]["groups"]
    assert row["gap"] > 0 and row["interval"] is None and row["p"] is None and row["clusters"] == 4
