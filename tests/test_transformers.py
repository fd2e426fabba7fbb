"""Tiny random checkpoints of every architecture: the same answers for any batch size, and refusals before a clip."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import Item, Options

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

torch.set_num_threads(1)  # tiny layers; more threads only wait for each other beside another test process

LABELS = {0: "ang", 1: "hap", 2: "neu", 3: "other"}
SPEECH = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16, "conv_dim": (8, 8),
    "conv_stride": (5, 4), "conv_kernel": (10, 4), "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2, "classifier_proj_size": 8, "id2label": LABELS,
}  # fmt: skip
LAYER = {"feat_extract_norm": "layer", "do_stable_layer_norm": True}


def waves(count: int = 12) -> list[Item]:
    """Clips of unlike length, three of them equal."""
    rng = np.random.default_rng(5)
    lengths = [4000, 9000, 4000, 16000, 6000, 4000, 12345, 8000, 7000, 5000, 20000, 3000]
    return [Item(f"c/{at}", rng.normal(0, 0.1, lengths[at]).astype(np.float32), "c") for at in range(count)]


def build(name: str, folder: Path) -> None:
    """Save a tiny checkpoint with its feature extractor."""
    torch.manual_seed(0)
    wave = transformers.Wav2Vec2FeatureExtractor
    kinds = {
        "wav2vec2-group": ("Wav2Vec2", "ForSequenceClassification", {}, wave(return_attention_mask=False)),
        "wav2vec2-layer": ("Wav2Vec2", "ForSequenceClassification", LAYER, wave(return_attention_mask=True)),
        "distilhubert": ("Hubert", "ForSequenceClassification", {}, wave(return_attention_mask=False)),
        "hubert": ("Hubert", "ForSequenceClassification", LAYER, wave(return_attention_mask=True)),
        "wavlm": ("WavLM", "ForSequenceClassification", LAYER, wave(return_attention_mask=True)),
        "unispeech-sat": ("UniSpeechSat", "ForSequenceClassification", LAYER, wave(return_attention_mask=True)),
        "data2vec": ("Data2VecAudio", "ForSequenceClassification", {}, wave(return_attention_mask=True)),
        "ctc": ("Wav2Vec2", "ForCTC", {"vocab_size": 4, "pad_token_id": 0}, wave(return_attention_mask=False)),
    }
    if name == "whisper":
        config = transformers.WhisperConfig(
            d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=16, decoder_ffn_dim=16, num_mel_bins=80, id2label=LABELS, classifier_proj_size=8,
            max_source_positions=1500,
        )  # fmt: skip
        model, extractor = transformers.WhisperForAudioClassification(config), transformers.WhisperFeatureExtractor()
    elif name == "ast":
        config = transformers.ASTConfig(
            hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, max_length=128,
            id2label=LABELS,
        )  # fmt: skip
        model, extractor = (
            transformers.ASTForAudioClassification(config),
            transformers.ASTFeatureExtractor(max_length=128),
        )
    elif name == "w2v-bert":
        config = transformers.Wav2Vec2BertConfig(
            hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, classifier_proj_size=8,
            conv_depthwise_kernel_size=3, id2label=LABELS,
        )  # fmt: skip
        model = transformers.Wav2Vec2BertForSequenceClassification(config)
        extractor = transformers.SeamlessM4TFeatureExtractor()
    else:
        family, head, changes, extractor = kinds[name]
        config = getattr(transformers, f"{family}Config")(**{**SPEECH, **changes})
        model = getattr(transformers, f"{family}{head}")(config)
    model.save_pretrained(folder)
    extractor.save_pretrained(folder)


def card(folder: Path, *, adapter: str = "transformers", extra: str = "") -> str:
    path = folder.parent / f"{folder.name}.toml"
    path.write_text(
        f'name = "tiny"\nfamily = "open"\nadapter = "{adapter}"\nsource = "made here"\nmodel_id = "{folder}"\n{extra}',
        encoding="utf-8",
    )
    return str(path)


KINDS = ["wav2vec2-group", "wav2vec2-layer", "hubert", "distilhubert", "wavlm", "unispeech-sat", "data2vec", "whisper",
         "ast", "w2v-bert", "ctc"]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_batch_size_changes_no_answer(tmp_path: Path, name: str) -> None:
    build(name, tmp_path / "model")
    spec = card(tmp_path / "model", adapter="ctc_frames" if name == "ctc" else "transformers")
    found = {}
    for size in (1, 8, 32):
        system = load_system(get_system(spec), Options(batch_size=size))
        found[size] = [answer.scores for answer in system.predict(waves())]
    for one, eight, many in zip(found[1], found[8], found[32], strict=True):
        assert set(one) == set(LABELS.values()) and sum(one.values()) == pytest.approx(1, abs=1e-9)
        assert max(one, key=one.get) == max(eight, key=eight.get) == max(many, key=many.get)
        for label in one:
            assert one[label] == pytest.approx(eight[label], abs=1e-5)
            assert one[label] == pytest.approx(many[label], abs=1e-5)
    assert len({tuple(scores.values()) for scores in found[1]}) > 1


def test_only_exact_padding_mixes_lengths(tmp_path: Path) -> None:
    shared = {}
    for name in ("wav2vec2-group", "wav2vec2-layer", "wavlm", "whisper"):
        build(name, tmp_path / name)
        system = load_system(get_system(card(tmp_path / name)), Options(batch_size=8))
        shared[name] = system._together(waves()[0].wave, waves()[1].wave)
    assert shared == {"wav2vec2-group": False, "wav2vec2-layer": True, "wavlm": False, "whisper": True}


def test_a_folder_is_its_files_whatever_revision_is_asked_for(tmp_path: Path) -> None:
    build("wav2vec2-group", tmp_path / "model")
    spec = get_system(card(tmp_path / "model"))
    first = load_system(spec).revision
    assert first is not None and first.startswith("sha256:")
    with pytest.raises(OrukError, match="not those of the revision"):
        load_system(spec, Options(revision="a" * 40))
    torch.manual_seed(1)
    config = transformers.Wav2Vec2Config(**SPEECH)
    transformers.Wav2Vec2ForSequenceClassification(config).save_pretrained(tmp_path / "model")
    assert load_system(spec).revision != first


def test_missing_weights_are_refused_by_name(tmp_path: Path) -> None:
    torch.manual_seed(0)
    folder = tmp_path / "headless"
    transformers.Wav2Vec2Model(transformers.Wav2Vec2Config(**SPEECH)).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(folder)
    with pytest.raises(OrukError, match=r"lacks weights.*classifier"):
        load_system(get_system(card(folder)))


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ({0: "Wut", 1: "Freude", 2: "Neutral", 3: "sad"}, "'Wut', 'Freude'"),
        (None, "'LABEL_0', 'LABEL_1'"),
    ],
)
def test_labels_without_a_class_are_refused_by_name(tmp_path: Path, labels, named: str) -> None:
    settings = {name: value for name, value in SPEECH.items() if name != "id2label"}
    settings |= {"id2label": labels} if labels else {"num_labels": 2}
    folder = tmp_path / "foreign"
    transformers.Wav2Vec2ForSequenceClassification(transformers.Wav2Vec2Config(**settings)).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(folder)
    with pytest.raises(OrukError, match=rf"have no class.*{named}.*\[native_labels\]"):
        load_system(get_system(card(folder)))
    if labels:
        declared = '[native_labels]\nWut = "anger"\nFreude = false\n'
        answer = load_system(get_system(card(folder, extra=declared))).predict(waves(1))[0]
        assert set(answer.scores) == set(labels.values())


def test_two_outputs_of_one_label_give_the_higher_score(tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    config = transformers.Wav2Vec2Config(**{**SPEECH, "id2label": {0: "sad", 1: "sad", 2: "neu", 3: "ang"}})
    transformers.Wav2Vec2ForSequenceClassification(config).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(folder)
    scores = load_system(get_system(card(folder))).predict(waves(1))[0].scores
    assert set(scores) == {"sad", "neu", "ang"} and sum(scores.values()) == pytest.approx(1)


def test_what_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    build("wav2vec2-group", tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    text = config.read_text()
    config.write_text(
        text.replace('"model_type": "wav2vec2"', '"model_type": "own", "auto_map": {"AutoConfig": "a.B"}')
    )
    with pytest.raises(OrukError, match=r"code from its repository|cannot be loaded") as caught:
        load_system(get_system(card(tmp_path / "model")))
    assert "\n" not in str(caught.value)
    shutil.rmtree(tmp_path / "model")
    unpinned = card(tmp_path / "model")
    with pytest.raises(OrukError, match="revision of these weights is unknown"):
        load_system(get_system(unpinned))
    with pytest.raises(OrukError, match=r"not a pinned revision.*found main"):
        load_system(get_system(unpinned), Options(revision="main", trust_remote_code=True))


def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    build("wav2vec2-group", tmp_path / "model")
    for device in ("cuda:99", "tpu"):
        with pytest.raises(OrukError, match=rf"--device {device}: torch cannot use this device; expected cpu, cuda"):
            load_system(get_system(card(tmp_path / "model")), Options(device=device))


def test_a_torchaudio_of_another_build_is_named_with_both_versions(tmp_path: Path, monkeypatch) -> None:
    """The library imports torchaudio late, while a checkpoint is loaded."""
    build("wav2vec2-group", tmp_path / "model")

    def broken(*_: object, **__: object) -> None:
        raise OSError("Could not load this library: /x/torchaudio/lib/_torchaudio.so")

    monkeypatch.setattr(transformers.AutoFeatureExtractor, "from_pretrained", broken)
    with pytest.raises(OrukError, match=r"with this torchaudio; found torch \S+, .*torchaudio.*same version and build"):
        load_system(get_system(card(tmp_path / "model")))


def test_other_rates_are_resampled(tmp_path: Path) -> None:
    build("wav2vec2-group", tmp_path / "model")
    transformers.Wav2Vec2FeatureExtractor(sampling_rate=8000).save_pretrained(tmp_path / "model")
    system = load_system(get_system(card(tmp_path / "model")))
    assert system._resampled(waves(1)[0].wave).size == 2000
    assert system.predict(waves(2))[0].status == "ok"
