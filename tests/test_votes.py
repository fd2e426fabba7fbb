"""Vote files: the published forms, our own, unusable rows; agreement against the reference package."""

from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.answers.votes import read_votes
from oruk_leaderboard.errors import MetricError, PredictionError
from oruk_leaderboard.metrics.agreement import krippendorff_alpha, majority_of_others

CREMA_D = """"","A","D","F","H","N","S","fileName","numResponses","agreement","emoVote"
"100001",0,0,0,1,10,0,"1001_IEO_NEU_XX",11,0.909,"N"
"100002",0,0,0,3,6,0,"1001_IEO_HAP_LO",9,0.667,"N"
"200001",9,0,0,0,0,0,"1001_IEO_NEU_XX",9,1,"A"
"300001",0,9,0,0,0,0,"1001_IEO_NEU_XX",9,1,"D"
"""
EMOZIONALMENTE = """file_name,evaluator,audio_quality,emotion_recognized
1612.wav,ab,good,joy
1612.wav,cd,bad,joy
1612.wav,ef,good,neutrality
1613.wav,ab,good,boredom
1614.wav,ab,good,anger
"""


def write(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_crema_d_votes_are_those_of_listeners_who_had_the_voice_only(tmp_path):
    votes = read_votes(write(tmp_path, CREMA_D))
    assert votes.clip_ids == ["crema_d/1001_IEO_NEU_XX", "crema_d/1001_IEO_HAP_LO"]
    assert votes.classes == ("anger", "happiness", "sadness", "fear", "disgust", "neutral")
    assert votes.counts.tolist() == [[0, 1, 0, 0, 0, 10], [0, 3, 0, 0, 0, 6]]
    assert votes.whole


def test_emozionalmente_votes_are_counted_by_rating(tmp_path):
    votes = read_votes(write(tmp_path, EMOZIONALMENTE))
    assert list(votes.clip_ids) == ["emozionalmente/1612", "emozionalmente/1614"]
    assert votes.counts.tolist() == [[0, 2, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0]]
    assert votes.unknown == {"boredom": 1}


def test_a_row_file_may_have_votes_or_shares(tmp_path):
    votes = read_votes(write(tmp_path, "clip_id,votes_fear,votes_anger\nx/1,2,\nx/2,0,3\n"))
    assert votes.classes == ("anger", "fear")
    assert votes.counts.tolist() == [[0, 2], [3, 0]] and votes.whole
    shares = read_votes(write(tmp_path, '{"clip_id": "x/1", "votes_fear": 0.25, "votes_anger": 0.75}\n', "v.jsonl"))
    assert not shares.whole


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip_id,label\nx/1,fear\n", "not a known vote file"),
        ("clip_id,votes_envy\nx/1,3\n", "names no class.*found envy"),
        ("clip_id,votes_fear\nx/1,-1\n", r"votes\.csv:2: not a number of votes"),
        ("clip_id,votes_fear\nx/1,many\n", r"votes\.csv:2: not a number of votes.*'many'"),
        ("clip_id,votes_fear,votes_anger\nx/1,1,0\nx/2,0,0\n", r"votes\.csv:3: the clip has no votes"),
        ("clip_id,votes_fear\nx/1,1\nx/1,1\n", "twice"),
        (CREMA_D.replace('"100002"', '"900002"'), r"votes\.csv:3: the row's name does not say how"),
        (CREMA_D.replace("HAP_LO", "NEU_XX"), r"votes\.csv:3: duplicate clip"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(PredictionError, match=message):
        read_votes(write(tmp_path, text))


def test_alpha_is_that_of_the_reference_package():
    import krippendorff

    rng = np.random.default_rng(3)
    for _ in range(20):
        votes = rng.multinomial(rng.integers(2, 9), rng.dirichlet(np.ones(4)), size=30)
        expected = krippendorff.alpha(value_counts=votes, level_of_measurement="nominal")
        assert krippendorff_alpha(votes) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(MetricError, match="undefined"):
        krippendorff_alpha([[3, 0], [2, 0]])
    with pytest.raises(MetricError, match="undefined"):
        krippendorff_alpha([[1, 0], [0, 1]])


def test_a_listener_is_held_against_the_majority_of_the_others_by_hand():
    targets = majority_of_others([[2, 1, 0], [3, 0, 0], [1, 0, 0], [2, 2, 0]])
    # 2:1: who voted for the first leaves a tie; who voted for the second faces two votes for the first.
    assert targets[0].tolist() == [-1, 0, 0]
    assert targets[1, 0] == 0
    assert targets[2, 0] == -1
    assert targets[3].tolist() == [1, 0, -1]
