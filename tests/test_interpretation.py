"""From an answer to a class: one way, the same for a live run and for its saved receipts."""

import csv
import itertools
import json
import math

import pytest

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.answers.interpretation import Meaning, interpret
from oruk_leaderboard.labels import alias_table
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.scoring.replay import replay
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.systems.base import by_label
from oruk_leaderboard.systems.runner import run
from tests.made_corpora import mixed, rebuild, spec

SENTENCES = itertools.cycle(
    [
        "The speaker sounds angry.",
        '{"emotion": "happy"}',
        "I hear sadness",
        "mumbling",
        "neutral",
        "=1+1",
        "3",
        "not sad",
    ]
)


def sentences(wave):
    return next(SENTENCES)


def labels(wave):
    return ("angry", "hap", "开心", "jubilant")[int(abs(wave[:4000]).sum()) % 4]


def scores(wave):
    loud = float(abs(wave).mean())
    return {"ang": loud / 3, "angry": loud / 2, "hap": 0.07, "<unk>": 0.93 - loud * 5 / 6}


def mixed_answers(wave):
    kinds = [None, "sad", Answer(label="fear"), Answer(status="refused", reason="no"), Answer(scores={"neutral": 1.0})]
    return kinds[int(abs(wave[:4000]).sum()) % 5]


def fails(wave):
    if int(abs(wave[:4000]).sum()) % 2:
        raise ValueError("cannot hear this")
    return {"happy": math.nan} if int(abs(wave[:4000]).sum()) % 3 else "happy"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interpretation")
    rebuild(mixed(folder, 28), spec(folder), folder / "set", layout="parquet")
    return folder / "set"


@pytest.mark.parametrize(
    "system",
    ["baseline-neutral", "baseline-loudness"]
    + [f"tests.test_interpretation:{name}" for name in ("sentences", "labels", "scores", "mixed_answers", "fails")],
)
def test_predictions_of_a_run_score_like_its_receipts(rebuilt, tmp_path, system):
    done = run(system, clips=rebuilt, out=tmp_path / "p.csv")
    options = {"clips": rebuilt, "n_boot": 9, "snapshot": "2026-11-30", "cluster": "clip"}
    again, first = replay(done.receipts, **options), score(done.predictions, **options)
    for key in first.evaluation.keys() - {"predictions", "receipts"}:
        assert again.score.evaluation[key] == first.evaluation[key], key
    assert again.score.record.to_dict()["failures"] == first.record.to_dict()["failures"]
    assert again.receipts.changed == ()
    check(again.to_dict(), "record")
    for line in done.receipts.read_text(encoding="utf-8").splitlines():
        check(json.loads(line), "receipt")


def test_sentences_count_in_a_run(rebuilt, tmp_path):
    """A live run reads a sentence as replay does: 'She sounds angry.' is anger, not an unknown label."""
    done = run("tests.test_interpretation:sentences", clips=rebuilt, out=tmp_path / "p.csv")
    with done.predictions.open(encoding="utf-8") as file:
        said = {(row["label"], row["status"]) for row in csv.DictReader(file)}
    assert said == {
        ("anger", "ok"), ("happiness", "ok"), ("sadness", "ok"), ("neutral", "ok"),
        ("mumbling", "abstained"), ("'=1+1", "abstained"), ("3", "abstained"), ("not sad", "abstained"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "status", "label"),
    [
        (Answer(raw="She is angry."), "ok", "anger"),
        (Answer(label="She is angry."), "abstained", None),
        (Answer(label="hap"), "ok", "happiness"),
        (Answer(raw=""), "abstained", None),
        (Answer(raw="<think>It could be anger, or sadness.</think>\n\nsad"), "ok", "sadness"),
        (Answer(raw="maybe anger</think>fear"), "ok", "fear"),
        (Answer(raw="<think>anger, I am sure"), "abstained", None),
        (Answer(raw='```json\n{"emotion": "happiness"}\n```'), "ok", "happiness"),
        (Answer(raw='{"emotion": "anger"} {"emotion": "fear"}'), "abstained", None),
        (Answer(raw="Sad\n\nThe speaker is not happy and not angry."), "ok", "sadness"),
        (Answer(raw="anger, happiness, sadness, fear, disgust, surprise, neutral"), "abstained", None),
        (Answer(raw="I'm sorry, but I can't identify emotions from a voice."), "refused", None),
        (Answer(raw="I cannot help with that."), "refused", None),
        (Answer(), "error", None),
        (Answer(raw="sad", status="refused"), "refused", None),
        (Answer(raw="sad", scores={"happy": 1.0}), "ok", "happiness"),
        (Answer(scores={"happy": math.nan}), "error", None),
        (Answer(scores={"happy": math.inf}), "error", None),
        (Answer(scores={"happy": 2.0, "sad": -1.0}), "error", None),
        (Answer(scores={"happy": 2.0, "sad": 1.0}), "error", None),
        (Answer(scores={"happy": 0.6, "sad": 0.404}), "ok", "happiness"),
        (Answer(scores={"other": 1.0, "sad": 0.0}), "abstained", None),
        (Answer(scores={"sad": 0.5, "happy": 0.5}), "ok", "sadness"),
    ],
)
def test_what_an_answer_means(answer, status, label):
    meaning = interpret(answer, alias_table())
    assert (meaning.status, meaning.label) == (status, label)
    assert (meaning.reason is None) == (status == "ok" or answer.status != "ok")


def test_two_outputs_of_one_label_stay_probabilities():
    scores = by_label(["sad", "sad", "neu"], [0.4, 0.3, 0.3])
    assert scores == pytest.approx({"sad": 4 / 7, "neu": 3 / 7})
    assert interpret(Answer(scores=scores), alias_table()).label == "sadness"


def test_highest_native_score_of_a_class_counts_and_unmapped_mass_is_reported():
    meaning = interpret(Answer(scores={"生气/angry": 0.3, "joy": 0.1, "hap": 0.2, "<unk>": 0.4}), alias_table())
    assert meaning == Meaning(
        "ok", "anger", {"anger": 0.3 / 0.5, "happiness": 0.2 / 0.5}, unmapped=0.4, unmapped_on_top=True
    )
