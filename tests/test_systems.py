"""System cards and the built-in baselines."""

import csv
import hashlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from oruk_leaderboard.audio import encode_flac
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.labels import alias_table
from oruk_leaderboard.systems import ADAPTERS, get_system, lacking, load_system, read_card, registry
from oruk_leaderboard.systems.base import Item, Options
from tests.made_corpora import mixed, rebuild, spec

RATE = 16_000
CARD = 'name = "x"\nfamily = "open"\nadapter = "baseline"\nsource = "y"\n'


def tone(hertz: float, level: float) -> Item:
    wave = (level * np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE)).astype(np.float32)
    return Item("c/1", wave, "c")


def test_every_shipped_card_reads_and_its_labels_agree_with_its_classes() -> None:
    cards = registry()
    assert cards["emotion2vec-plus-large"].model_id == "emotion2vec/emotion2vec_plus_large"
    for card in cards.values():
        assert card.adapter in ADAPTERS or card.not_ready
        if card.native_labels:
            table = alias_table().declared(card.native_labels)
            meant = {table.resolve(label) for label in card.native_labels} - {None}
            assert card.classes is not None and meant == set(card.classes), card.id
            # A label that the alias table knows too must mean the same there.
            for label in card.native_labels:
                assert alias_table().resolve(label) in (None, table.resolve(label)), (card.id, label)


def test_every_open_system_of_the_harness_has_a_card() -> None:
    """All checkpoints of the harness's list of 12 July 2026 that are not prompted."""
    listed = {
        "emotion2vec-plus-large", "emotion2vec-plus-base", "emotion2vec-plus-seed", "emotion2vec-base-finetuned",
        "sensevoice-small", "wavlm-odyssey-msp-3loi", "wavlm-voxprofile-tiantiaf", "hubert-large-superb-er",
        "wav2vec2-base-superb-er", "xlsr-ravdess-ehcalabres", "whisper-large-v3-ser-firdhokk", "xlsr-ser-firdhokk",
        "xlsr-ser-hughlan1214", "w2v2-emotion-dpngtm", "xlsr-hatman", "wav2vec-english-ser-rf",
        "speechbrain-w2v2-iemocap", "xlsr-russian-aniemore", "distilhubert-superb-er",
    }  # fmt: skip
    assert listed <= set(registry())
    assert lacking(registry()["wavlm-voxprofile-tiantiaf"]) == ["its weights load with vox-profile's own code only"]
    assert "--revision (unpinned)" in lacking(registry()["whisper-large-v3-ser-firdhokk"])
    with pytest.raises(OrukError, match="no adapter can run"):
        load_system(registry()["distilhubert-superb-er"])


@pytest.mark.parametrize(
    ("hertz", "level", "label"),
    [(200, 0.8, "anger"), (2000, 0.8, "happiness"), (200, 0.02, "sadness"), (2000, 0.02, "neutral")],
)
def test_loudness_baseline_distinguishes_four_kinds_of_tone(hertz: float, level: float, label: str) -> None:
    [answer] = load_system(get_system("baseline-loudness")).predict([tone(hertz, level)])
    assert (answer.label, answer.status) == (label, "ok")


def test_neutral_baseline_answers_in_order_and_for_an_empty_batch() -> None:
    system = load_system(get_system("baseline-neutral"))
    assert system.predict([]) == []
    assert [answer.label for answer in system.predict([tone(100, 0.1)] * 3)] == ["neutral"] * 3


def test_uniform_draws_are_seeded_by_the_clip() -> None:
    system = load_system(get_system("baseline-uniform"))
    items = [Item(f"c/{at}", np.zeros(10, np.float32), "c") for at in range(7000)]
    labels = [answer.label for answer in system.predict(items)]
    assert labels[::-1] == [answer.label for answer in system.predict(items[::-1])]
    assert all(900 < labels.count(name) < 1100 for name in CLASSES)


class TwoCorpora:
    """A set in memory whose two corpora give the same pitch opposite labels."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.columns: dict[str, list] = {name: [] for name in ("clip_id", "clip_sha256", "corpus", "label")}
        self.sounds = []
        for at in range(40):
            corpus, high = ("a", "b")[at % 2], at // 2 % 2
            hertz = rng.uniform(300, 400) if high else rng.uniform(90, 130)
            wave = np.round(8000 * np.sin(2 * np.pi * hertz * np.arange(8000) / RATE)).astype(np.int16)
            self.sounds.append(wave)
            self.columns["clip_id"].append(f"{corpus}/{at}")
            self.columns["clip_sha256"].append(hashlib.sha256(wave.tobytes()).hexdigest())
            self.columns["corpus"].append(corpus)
            self.columns["label"].append(high if corpus == "a" else 1 - high)
        self.table = SimpleNamespace(column=lambda name: SimpleNamespace(to_pylist=lambda: self.columns[name]))

    def recordings(self):
        return zip(self.columns["clip_id"], map(encode_flac, self.sounds), strict=True)


def test_acoustic_baseline_never_fits_the_corpus_it_answers() -> None:
    """Fitted on the other corpus alone, whose labels are opposite, it has to be wrong everywhere."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    from oruk_leaderboard.systems.acoustic import Acoustic
    from oruk_leaderboard.systems.acoustic_features import features

    made = TwoCorpora()
    system = Acoustic(get_system("baseline-acoustic"), features, made, linear_model)
    items = [
        Item(i, w, c) for i, w, c in zip(made.columns["clip_id"], made.sounds, made.columns["corpus"], strict=True)
    ]
    answers = system.predict(items)
    said = [max(answer.scores, key=answer.scores.get) for answer in answers]
    assert said == [CLASSES[1 - label] for label in made.columns["label"]]
    assert all(sum(answer.scores.values()) == pytest.approx(1) for answer in answers)


def test_acoustic_features_are_finite_for_any_length_and_hear_pitch() -> None:
    from oruk_leaderboard.systems.acoustic_features import BANDS, features

    for samples in (0, 1, 399, 400, 16_000):
        found = features(np.zeros(samples, np.float32))
        assert found.shape == (4 * (BANDS + 6) + 1,) and np.isfinite(found).all()
    pitch = 4 * (BANDS + 5)
    for hertz in (100, 220, 400):
        assert np.exp(features(tone(hertz, 0.5).wave)[pitch]) == pytest.approx(hertz, rel=0.02)


@pytest.mark.parametrize("name", ["baseline-majority", "baseline-prior", "baseline-acoustic", "baseline-egemaps"])
def test_baselines_that_learn_need_other_corpora(tmp_path: Path, name: str) -> None:
    if name == "baseline-egemaps":
        pytest.importorskip("opensmile")
    rebuild(mixed(tmp_path, 7), spec(tmp_path), tmp_path / "set", layout="parquet")
    with pytest.raises(OrukError, match="learns from other corpora"):
        system = load_system(get_system(name), Options(clips=tmp_path / "set"))
        system.predict([Item("mixed/anger_0000", np.zeros(100, np.float32), "mixed")])
    with pytest.raises(OrukError, match="learns from the set"):
        load_system(get_system(name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "cannot be read"),
        ('name = "Émile"', "cannot be read"),
        ('name = "x"\nfamily = "open"\nadapter = "baseline"\n', "'source' is a required property"),
        ('name = "x"\nfamily = "open"\nsource = "y"\n', "not valid under any"),
        (CARD + "colour = 1\n", "colour"),
        (CARD.replace('"x"', "3"), "name: 3 is not of type 'string'"),
        (CARD.replace('"open"', '"closed"'), "family: 'closed' is not one of"),
        (CARD + 'hub = "huggingface"\n', "hub: 'huggingface'"),
        (CARD + 'revision = "main"\n', "revision: 'main' does not match"),
        (CARD + "parameters_m = true\n", "parameters_m: True is not of type 'number'"),
        (CARD + 'training_corpora = "x"\n', "training_corpora: 'x' is not of type 'array'"),
        (CARD + "native_labels = []\n", "native_labels: .* is not of type 'object'"),
        (CARD + '[native_labels]\njoy = "joy"\n', "native_labels/joy"),
        (CARD + "[native_labels]\njoy = true\n", "native_labels/joy"),
        (CARD.replace('"baseline"', '"magic"'), "unknown adapter"),
        (CARD + 'classes = ["joy"]\n', "classes/0: 'joy'"),
    ],
)
def test_broken_cards_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(OrukError, match=message) as caught:
        read_card(path)
    assert "mine.toml" in str(caught.value)


def test_a_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "funasr", None)
    with pytest.raises(OrukError, match=r"funasr.*oruk-bench-leaderboard\[funasr\]"):
        load_system(get_system("emotion2vec-plus-large"))


def test_a_library_that_does_not_load_is_named_with_the_versions(tmp_path: Path, monkeypatch) -> None:
    from oruk_leaderboard.systems.checkpoint import require

    (tmp_path / "torchaudio_of_another_build.py").write_text(
        "raise OSError('torchaudio.so: undefined symbol: _ZN3c10')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OrukError, match=r"cannot be loaded with this torchaudio; found torch .*undefined symbol"):
        require("torchaudio_of_another_build", extra="torch", where="baseline-neutral")


def test_another_package_may_bring_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brought_along.py").write_text("def answer(wave):\n    return 'anger'\n")
    information = tmp_path / "brought-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[oruk_leaderboard.systems]\nbrought = brought_along:answer\n")
    monkeypatch.syspath_prepend(tmp_path)
    card = get_system("brought")
    assert (card.id, card.model_id) == ("brought", "brought_along:answer")
    assert load_system(card).predict([tone(100, 0.1)])[0].raw == "anger"
    with pytest.raises(OrukError, match="no such system"):
        get_system("not-brought")


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


def test_systems_verbs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["systems", "list", "--family", "open", "--ready"]) == 0
    ready = capsys.readouterr().out
    assert "baseline-neutral" in ready and "wavlm-voxprofile-tiantiaf" not in ready
    assert main(["systems", "list"]) == 0
    assert "vox-profile's own code" in capsys.readouterr().out
    assert main(["systems", "show", "whisper-large-v3-ser-firdhokk"]) == 0
    whisper = capsys.readouterr().out
    assert "revision: unpinned" in whisper and "training_corpora: unknown" in whisper
    assert not {"endpoint", "price", "prompt", "dtype"} & keys(whisper)
    assert main(["systems", "show", "oruk-fourier"]) == 0
    fourier = capsys.readouterr().out
    assert "alias: yes" in fourier and "angry = anger, happy = happiness" in fourier
    assert "classes: anger, happiness, " in fourier and not {"revision", "dtype", "temperature"} & keys(fourier)
    assert main(["systems", "show", "gemini-gemini-2.5-flash"]) == 0
    assert "price: input 0.3, audio 1, output 2.5 USD per million tokens (2026-12-01," in capsys.readouterr().out
    assert main(["systems", "show", "no_such_module:answer"]) == 0
    assert "missing: a module no_such_module:answer" in capsys.readouterr().out


def keys(text: str) -> set[str]:
    """What ``systems show`` says something about."""
    return {line.partition(":")[0] for line in text.splitlines() if not line.startswith(" ")}


def test_systems_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CARD + 'model_id = "loudness"\ntraining_corpora = ["iemocap", "imocap"]\n', encoding="utf-8")
    assert main(["systems", "check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "mine: a valid card, ready to run" in said and "does not know: imocap\n" in said
    for line, message in (
        ("colour = 1", "colour"),
        ('[native_labels]\nsunny = "joyful"', "'joyful' is not one of ['anger', "),
        ("batch_size = 1", "names no model; expected model_id, for the adapter baseline"),
    ):
        path.write_text(f"{CARD}{line}\n", encoding="utf-8")
        assert main(["systems", "check", str(path)]) == 2
        assert message in capsys.readouterr().err
    assert main(["systems", "check", str(tmp_path / "none.toml")]) == 2
    assert "cannot be read; found No such file or directory" in capsys.readouterr().err


def test_run_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rebuild(mixed(tmp_path, 7), spec(tmp_path), tmp_path / "set", layout="parquet")
    out = tmp_path / "p.csv"
    command = ["run", "baseline-loudness", "--clips", str(tmp_path / "set"), "--out", str(out)]
    assert main([*command, "--dry-run"]) == 0
    assert "7 calls" in capsys.readouterr().out and not out.exists()
    service = ["run", "openai_gpt-audio-mini", *command[2:], "--dry-run"]
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(service) == 0
    assert "missing to start: the environment variable OPENAI_API_KEY" in capsys.readouterr().out
    (tmp_path / "reasons_of_mine.py").write_text("FILES = []\ndef answer(wave):\n    raise SystemExit('no GPU')\n")
    monkeypatch.syspath_prepend(tmp_path)
    failing = ["run", "reasons_of_mine:answer", *command[2:5], str(tmp_path / "f.csv")]
    assert main(failing) == 1
    assert "without a class: SystemExit: no GPU (7 clips)" in capsys.readouterr().out
    assert main([*failing, "--max-failures", "3"]) == 2
    assert "failed 3 times in a row; found SystemExit: no GPU" in capsys.readouterr().err
    assert main([*command, "--limit", "3"]) == 0
    assert "3 clips (0 from before): 3 ok" in capsys.readouterr().out
    assert main(command) == 0
    with out.open(encoding="utf-8") as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["ok"] * 7
    scored = ["score", str(out), "--clips", str(tmp_path / "set"), "--n-boot", "5", "--json"]
    capsys.readouterr()
    for system in ("baseline-loudness", "p"):
        assert main([*scored, "--cluster", "clip"]) == 0
        record = json.loads(capsys.readouterr().out)
        assert record["system"]["id"] == system
        out.write_text(out.read_text(encoding="utf-8") + "\n", encoding="utf-8")  # another file than the run wrote
    (tmp_path / "p.csv.run.json").write_text("[1]", encoding="utf-8")
    assert main(scored) == 2
    assert "p.csv.run.json: not the run.json of a run" in capsys.readouterr().err
