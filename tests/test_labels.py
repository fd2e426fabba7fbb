"""Native labels and free answers: what is a class, what is an abstention, what is never guessed."""

import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import alias_table, clean, parse_answer

# The alias table of protocol 0.1.0, its misspelling included (public harness 0.1.1, `core.LABEL_ALIASES`).
PROTOCOL = {
    "anger": "anger angry ang",
    "happiness": "happiness happy hap joy",
    "sadness": "sadness sad",
    "fear": "fear fearful fea",
    "disgust": "disgust disgusted dis",
    "surprise": "surprise surprised sur suprised",
    "neutral": "neutral neu calm",
}


@pytest.mark.parametrize(("name", "spellings"), PROTOCOL.items())
def test_protocol_aliases(name, spellings):
    for spelling in spellings.split():
        for form in (spelling, spelling.upper(), f" {spelling.title()}. ", f"<|{spelling.upper()}|>", f'"{spelling}";'):
            assert alias_table().resolve(form) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Ang.", "anger"),
        ("anger;", "anger"),
        ("neutral.", "neutral"),
        ("anger\n", "anger"),
        ("sadness\u200b", "sadness"),
        ("生气/angry", "anger"),
        ("开心/happy", "happiness"),
        ("厌恶/disgusted", "disgust"),
        ("恐惧/fearful", "fear"),
        ("中立/neutral", "neutral"),
        ("难过/sad", "sadness"),
        ("吃惊/surprised", "surprise"),
        ("happy/excited", "happiness"),
        ("joy/other", "happiness"),
        ("happiness/joy", "happiness"),
        ("pleasant_surprise", "surprise"),
        ("ps", "surprise"),
        ("ＡＮＧＲＹ", "anger"),
    ],
)
def test_spelling_has_a_class(spelling, name):
    assert alias_table().resolve(spelling) == name


@pytest.mark.parametrize(
    "spelling",
    [
        "其他/other", "other", "unk", "<unk>", "<|EMO_UNKNOWN|>", "contempt", "fru", "frustration", "exc", "excited",
        "boredom", "enthusiasm", "anxiety", "fearfull", "feliz", "A", "0", "no_emotion", "angry/sad", "",
    ],
)  # fmt: skip
def test_spelling_is_an_abstention(spelling):
    assert alias_table().resolve(spelling) is None


def test_card_declares_digits_and_letters():
    table = alias_table().declared({"0": "anger", "A": "ang", "W": "anger", "other": False})
    assert [table.resolve(label) for label in ("0", "a", "W.", "1", "other")] == ["anger", "anger", "anger", None, None]
    assert alias_table().resolve("0") is None


def test_card_that_names_no_class_is_refused():
    with pytest.raises(PredictionError, match=r"stands for no class.*'rage'"):
        alias_table().declared({"0": "rage"})


def test_every_class_is_its_own_spelling_and_each_spelling_has_one_meaning():
    assert [alias_table().resolve(name) for name in CLASSES] == list(CLASSES)
    assert all(clean(spelling) == spelling for spelling in alias_table().known)


def test_label_space_of_a_protocol():
    table = alias_table().for_classes(("joy", "anger", "frustration"))
    assert [table.resolve(label) for label in ("Joy", "ang", "frustration", "sad", "happy")] == [
        "joy", "anger", "frustration", None, "joy"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("sadness", "sadness"),
        ("ANGRY", "anger"),
        ('{"emotion": "fearful", "confidence": 0.8}', "fear"),
        ("Label: happy", "happiness"),
        ("The speaker sounds sad.", "sadness"),
        ("She is angry, very angry!", "anger"),
        ("The speaker is not happy; she sounds sad.", None),
        ("Sad, not angry.", None),
        ("I don't hear any anger", None),
        ("neutral? maybe fear", None),
        ("It is a calm but fearful voice", None),
        ("anger: 0.1, happiness: 0.9", None),
        ("I cannot help with that.", None),
        ("c'est sur", None),
        ("other", None),
        ("", None),
    ],
)
def test_free_answers_are_never_guessed(answer, name):
    assert parse_answer(answer) == name
