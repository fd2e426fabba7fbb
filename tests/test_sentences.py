"""Words or voice: weights by hand, a classifier of the sentence alone at chance, and records that verify."""

import json
import re

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import Predictions
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.corpora import registry
from oruk_leaderboard.manifest import load_manifest
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.sentences import sentence_lines, sentence_weights, sentences_of
from oruk_leaderboard.scoring.verification import verify
from tests.scored import made_set


def crema_d(seed: int = 0, speakers: int = 8):
    """Clips named as CREMA-D names them: two sentences in all six classes, unevenly, and one in two classes only."""
    rng = np.random.default_rng(seed)
    codes = {"ANG": 0, "HAP": 1, "SAD": 2, "FEA": 3, "DIS": 4, "NEU": 6}
    names, labels = [], []
    for speaker in range(1001, 1001 + speakers):
        for code, label in codes.items():
            for sentence, chance in (("IEO", 1.0), ("TIE", 0.3 + 0.1 * label), ("WSI", 1.0 if label < 2 else 0.0)):
                if rng.random() < chance:
                    names.append(f"{speaker}_{sentence}_{code}_XX")
                    labels.append(label)
    n = len(names)
    columns = {"clip_id": [f"crema_d/{name}" for name in names], "corpus": ["crema_d"] * n, "label": labels}
    columns |= {"speaker": [name[:4] for name in names], "language": ["en-US"] * n, "gender": ["female"] * n}
    columns |= {"elicitation": ["acted"] * n, "clip_sha256": ["0" * 64] * n, "duration_s": [2.0] * n}
    return gold_of_set(made_set(columns))


def test_weights_by_hand():
    labels = np.array([0, 0, 1, 0, 1, 1])
    sentences = ["x/a", "x/a", "x/a", "x/b", "x/c", None]
    weights, part, chance = sentence_weights(labels, np.zeros(6, np.int64), sentences)
    # Sentence a has both classes, three clips: the single clip of class 1 weighs as much as the two of class 0.
    assert weights.tolist() == [0.75, 0.75, 1.5, 1.5, 0.75, 0.75]
    assert part.tolist() == [0, 0, 0, 1, 1, 1]
    assert chance.tolist() == [0.5, 0.5, 0.5, 0, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_a_classifier_of_the_sentence_alone_is_at_chance_there_and_better_elsewhere(seed):
    gold = crema_d(seed)
    sentences = sentences_of(gold)
    rng = np.random.default_rng(seed)
    table = {name: int(rng.choice([0, 1, 2, 3, 4, 6])) for name in sorted(set(sentences))}
    table["crema_d/WSI"] = 0
    said = Predictions(np.array([table[name] for name in sentences]), np.zeros(len(sentences), np.int8))
    found = score(said, gold=gold, n_boot=20).evaluation["sentences"]
    assert found["same_words"]["accuracy"] == pytest.approx(1 / 6)
    assert found["chance"] == pytest.approx(1 / 6)
    assert found["rest"]["accuracy"] == pytest.approx(1 / 2)
    assert found["corpora"] == ["crema_d"] and found["sentences"] == 2


def test_a_system_that_hears_the_voice_is_above_chance_with_an_interval():
    gold = crema_d()
    rng = np.random.default_rng(3)
    labels = np.where(rng.random(len(gold.labels)) < 0.7, gold.labels, 6)
    found = score(Predictions(labels, np.zeros(len(labels), np.int8)), gold=gold, n_boot=20).evaluation["sentences"]
    low, high = found["same_words"]["interval"]
    assert 1 / 6 < low < found["same_words"]["accuracy"] < high
    assert "Words or voice: accuracy 0." in sentence_lines(found)[0] and "0.167" in sentence_lines(found)[0]


def test_sets_without_known_sentences_have_no_slice():
    from tests.scored import made_predictions

    gold = gold_of_set(made_set())
    assert score(made_predictions(gold), gold=gold, n_boot=20).evaluation["sentences"] is None
    assert sentence_lines(None) == []


def test_the_slice_verifies_and_forged_sums_do_not():
    gold = crema_d()
    predictions = Predictions(gold.labels.copy(), np.zeros(len(gold.labels), np.int8))
    document = json.loads(json.dumps(score(predictions, gold=gold, n_boot=20).to_dict()))
    assert verify(document).status == "consistent"
    edits = [
        (("same_words", "accuracy"), 0.5),
        (("rest", "interval"), [0.1, 0.2]),
        (("by_cluster", "rest_weight", 0), 99.0),
        (("by_cluster", "same_words_hits", 0), 99.0),
        (("by_cluster", "rest_hits"), []),
        (("clips",), 3),
        (("corpora", 0), "ravdess"),
    ]
    for path, value in edits:
        forged = json.loads(json.dumps(document))
        place = forged["evaluation"]["sentences"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        assert not verify(forged).ok, path


def test_shipped_patterns_fit_every_pinned_name():
    """Every clip of a corpus with a pattern has a sentence, and more than one clip speaks it."""
    specs = {name: spec for name, spec in registry().items() if spec.sentence is not None}
    assert len(specs) >= 15
    for row in load_manifest().of_corpora(*specs):
        assert specs[row.corpus].sentence.fullmatch(row.clip_id.partition("/")[2]), row.clip_id


def test_patterns_take_the_sentence_and_nothing_else():
    expected = {
        "crema_d/1001_DFA_ANG_XX": "DFA", "ravdess/03-01-05-01-02-01-18": "02", "emodb/03a01Fa": "a01",
        "cafe/01-C-1-2": "2", "emovo/dis-f1-b2": "b2", "jl_corpus/female1_angry_10a_2": "10a",
        "subesco/F_01_OISHI_S_10_ANGRY_2": "10", "tess/OAF_back_angry": "back", "oreau/07a01Ja": "a01",
        "mesd/Fear_M_A_basta_ya": "A_basta_ya", "polish_gut/m1.a_nie_2": "nie", "nemo/EB0_anger_79": "79",
        "turev_db/1157_hl_acik": "acik", "baved/0-m-21-0-1-105": "0",
        "thorsten_emotional/angry/01427ad0db65c1bf9a47636f1114d1b1": "01427ad0db65c1bf9a47636f1114d1b1",
    }  # fmt: skip
    for clip_id, sentence in expected.items():
        corpus, _, name = clip_id.partition("/")
        found = registry()[corpus].sentence.fullmatch(name)
        assert found[1] == sentence, clip_id
        # The class is in most names; the sentence must not carry it.
        assert not re.search("|".join(CLASSES), found[1])
