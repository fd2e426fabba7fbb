"""System cards, the built-in baselines and a user's own function."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems import ADAPTERS, get_system, load_system, read_card, registry, stated

RATE = 16_000


def tone(hertz: float, level: float) -> np.ndarray:
    wave: np.ndarray = (level * np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE)).astype(np.float32)
    return wave


def by_peak(wave: np.ndarray) -> object:
    """A user's system: silence abstains, loud gives scores, the rest a label."""
    peak = float(np.abs(wave).max())
    if peak == 0:
        return None
    return {"angry": 0.75, "sad": 0.25} if peak > 0.5 else "calm"


def test_every_shipped_card_reads_and_names_a_known_adapter() -> None:
    cards = registry()
    assert len(cards) >= 17
    assert {card.adapter for card in cards.values()} <= set(ADAPTERS)
    assert cards["emotion2vec-plus-large"].model_id == "emotion2vec/emotion2vec_plus_large"
    assert cards["hubert-large-superb-er"].classes == ("anger", "happiness", "sadness", "neutral")


@pytest.mark.parametrize(
    ("hertz", "level", "label"),
    [(200, 0.8, "anger"), (2000, 0.8, "happiness"), (200, 0.02, "sadness"), (2000, 0.02, "neutral")],
)
def test_loudness_baseline_tells_four_kinds_of_tone_apart(hertz: float, level: float, label: str) -> None:
    [answer] = load_system(get_system("baseline-loudness")).predict([tone(hertz, level)])
    assert (answer.label, answer.status) == (label, "ok")


def test_neutral_baseline_answers_in_order_and_for_an_empty_batch() -> None:
    system = load_system(get_system("baseline-neutral"))
    assert system.predict([]) == []
    assert [answer.label for answer in system.predict([tone(100, 0.1)] * 3)] == ["neutral"] * 3


def test_own_function_gives_labels_scores_and_abstentions() -> None:
    system = load_system(get_system("tests.test_systems:by_peak"))
    quiet, loud, silent = system.predict([tone(300, 0.1), tone(300, 0.9), tone(300, 0)])
    assert (quiet.raw, quiet.scores) == ("calm", None)
    assert (loud.raw, loud.scores) == (None, {"angry": 0.75, "sad": 0.25})
    assert (silent.label, silent.status) == (None, "abstained")


@pytest.mark.parametrize("name", ["no-such-system", "tests.test_systems:nothing", "no_such_module:f"])
def test_unknown_systems_are_named(name: str) -> None:
    with pytest.raises(OrukError, match=name.partition(":")[0]):
        load_system(get_system(name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "cannot be read"),
        ('name = "Émile"', "cannot be read"),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\n', "lacks a key"),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\ncolour = 1\n', "colour"),
        ('name = 3\nfamily = "open"\nadapter = "baseline"\nsource = "y"\n', "name: .* expected text; found 3"),
        ('name = "x"\nfamily = "closed"\nadapter = "baseline"\nsource = "y"\n', "expected ours, open"),
        ('name = "x"\nfamily = "open"\nadapter = []\nsource = "y"\n', "expected text"),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\nhub = "huggingface"\n', "hf or modelscope"),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\nparameters_m = true\n', "number"),
        (
            'name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\ntraining_corpora = "x"\n',
            "a list of corpus",
        ),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\nnative_labels = []\n', "a table of native"),
        ('name = "x"\nfamily = "open"\nadapter = "magic"\nsource = "y"\n', "unknown adapter"),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\nclasses = ["joy"]\n', "joy"),
    ],
)
def test_broken_cards_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(OrukError, match=message) as caught:
        read_card(path)
    assert "mine.toml" in str(caught.value)


def test_a_missing_library_is_named_with_what_to_install() -> None:
    card = get_system("emotion2vec-plus-large")
    with pytest.raises(OrukError, match="funasr"):
        load_system(card)


def test_every_shipped_card_makes_a_valid_record(tmp_path: Path) -> None:
    from oruk_leaderboard.answers.gold import gold_of_set
    from oruk_leaderboard.records.record import write_record
    from oruk_leaderboard.scoring.scorer import score
    from tests.scored import made_predictions, made_set

    gold = gold_of_set(made_set())
    for name in ("baseline-neutral", "baseline-loudness", "hubert-large-superb-er", "emotion2vec-plus-base"):
        result = score(made_predictions(gold), gold=gold, system=name, n_boot=10, snapshot="2026-11-30")
        write_record(result.record, tmp_path / f"{name}.json")
        assert result.record.system.id == name


def test_a_transformers_checkpoint_answers_with_its_own_labels(tmp_path: Path) -> None:
    """A tiny random checkpoint made here; the shipped cards' own weights were not tried."""
    pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, conv_dim=(8, 8),
        conv_stride=(5, 4), conv_kernel=(10, 4), num_feat_extract_layers=2, num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2, classifier_proj_size=8, id2label={0: "ang", 1: "hap", 2: "neu"},
    )  # fmt: skip
    transformers.Wav2Vec2ForSequenceClassification(config).save_pretrained(tmp_path)
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(tmp_path)
    text = f'name = "tiny"\nfamily = "open"\nadapter = "transformers"\nsource = "made here"\nmodel_id = "{tmp_path}"\n'
    (tmp_path / "tiny.toml").write_text(text, encoding="utf-8")
    system = load_system(get_system(str(tmp_path / "tiny.toml")), revision="a" * 40)
    first, second = system.predict([tone(300, 0.5), tone(800, 0.1)])
    assert system.revision == "a" * 40
    assert first.scores is not None and set(first.scores) == {"ang", "hap", "neu"}
    assert sum(first.scores.values()) == pytest.approx(1, abs=1e-9)
    assert first.scores != second.scores


def test_a_function_in_the_current_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "module_of_mine.py").write_text("def answer(wave):\n    return 'anger'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    assert load_system(get_system("module_of_mine:answer")).predict([None])[0].raw == "anger"


def test_own_function_is_told_apart_by_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for number, text in enumerate(("def listen(wave):\n    return 'sad'\n", "def listen(wave):\n    return 'angry'\n")):
        (tmp_path / f"mine_{number}.py").write_text(text, encoding="utf-8")
    first, second = (load_system(get_system(f"mine_{number}:listen")).revision for number in range(2))
    assert first != second
    assert first == f"sha256:{hashlib.sha256((tmp_path / 'mine_0.py').read_bytes()).hexdigest()}"
    assert load_system(get_system("mine_0:listen"), revision="v2").revision == "v2"


def test_weights_need_a_stated_revision() -> None:
    card = get_system("emotion2vec-plus-large")
    assert stated("a" * 40, card=card) == "a" * 40
    with pytest.raises(OrukError, match=r"emotion2vec/emotion2vec_plus_large: the revision .* --revision"):
        stated(None, card=card)
