"""SpeechBrain: a tiny recogniser in the layout of the published one is loaded from its pinned folder, or refused."""

from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import Item, Options

torch = pytest.importorskip("torch", reason="torch is not installed")
CategoricalEncoder = pytest.importorskip(
    "speechbrain.dataio.encoder", reason="speechbrain is not installed"
).CategoricalEncoder

LABELS = ("neu", "ang", "hap", "sad")

HYPERPARAMS = """\
pretrained_path: speechbrain/emotion-recognition-wav2vec2-IEMOCAP
classifier: !new:torch.nn.Linear {in_features: 2, out_features: 4}
label_encoder: !new:speechbrain.dataio.encoder.CategoricalEncoder
modules: {classifier: !ref <classifier>}
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
  loadables: {classifier: !ref <classifier>, label_encoder: !ref <label_encoder>}
  paths: {classifier: !ref <pretrained_path>/model.ckpt, label_encoder: !ref <pretrained_path>/label_encoder.txt}
"""

INTERFACE = """\
from speechbrain.inference.interfaces import Pretrained


class CustomEncoderWav2vec2Classifier(Pretrained):
    def classify_batch(self, waves):
        features = waves.abs().mean(1, keepdim=True), waves.abs().amax(1, keepdim=True)
        shares = self.mods.classifier(waves.new_tensor([[float(part[0]) for part in features]])).softmax(-1)
        return shares, shares.amax(-1), shares.argmax(-1), []
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder; the Hub cannot be reached."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "hyperparams.yaml").write_text(HYPERPARAMS)
    (folder / "custom_interface.py").write_text(INTERFACE)
    encoder = CategoricalEncoder()
    encoder.update_from_iterable(LABELS)
    encoder.save(folder / "label_encoder.txt")
    weight = torch.tensor([[0.0, 0.0], [9.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    torch.save({"weight": weight, "bias": torch.zeros(4)}, folder / "model.ckpt")
    return folder


def load(folder: Path):
    (card := folder.parent / "mine.toml").write_text(
        f'name = "tiny"\nfamily = "open"\nadapter = "speechbrain"\nsource = "made here"\nmodel_id = "{folder}"\n'
        '[native_labels]\nneu = "neutral"\nang = "anger"\nhap = "happiness"\nsad = "sadness"\n'
    )
    return load_system(get_system(str(card)), Options(trust_remote_code=True))


def test_the_weights_of_the_folder_answer(folder: Path) -> None:
    system = load(folder)
    wave = np.full(16_000, 0.5, np.float32)
    (answer,) = system.predict([Item("c/1", wave, "c")])
    logits = np.array([0, 5, 1.5, 0.5])
    assert list(answer.scores) == list(LABELS)
    assert list(answer.scores.values()) == pytest.approx(list(np.exp(logits) / np.exp(logits).sum()), abs=1e-6)
    assert load(folder).revision == system.revision, "loading a folder changes nothing in it"


def test_other_weights_than_those_of_the_folder_are_refused(folder: Path) -> None:
    torch.save({"bias": torch.zeros(4)}, folder / "model.ckpt")
    with pytest.raises(OrukError, match=r"lacks weights.*found classifier\.weight"):
        load(folder)
    (folder / "model.ckpt").unlink()
    with pytest.raises(OrukError, match=r"the model cannot be loaded.*model\.ckpt"):
        load(folder)


def test_a_model_without_its_labels_or_with_files_from_elsewhere_is_refused(folder: Path) -> None:
    path = folder / "label_encoder.txt"
    path.write_text(path.read_text()[:20])
    with pytest.raises(OrukError, match="labels of the model cannot be read"):
        load(folder)
    labels = path.rename(folder.parent / "labels.txt")
    with pytest.raises(OrukError, match=r"lacks a file of the model.*label_encoder below this folder"):
        load(folder)
    text = HYPERPARAMS.replace("<pretrained_path>/label_encoder.txt", "<elsewhere>/labels.txt")
    (folder / "hyperparams.yaml").write_text(f"elsewhere: {labels.parent}\n{text}")
    with pytest.raises(OrukError, match=r"lacks a file of the model.*found .*labels\.txt"):
        load(folder)


def test_hyperparams_that_cannot_be_read_are_refused(folder: Path) -> None:
    for text in ("a: [", "- 1", ""):
        (folder / "hyperparams.yaml").write_text(text)
        with pytest.raises(OrukError, match=r"hyperparams\.yaml: the hyperparams of the model cannot be read"):
            load(folder)
    (folder / "hyperparams.yaml").unlink()
    with pytest.raises(OrukError, match="hyperparams of the model cannot be read"):
        load(folder)
