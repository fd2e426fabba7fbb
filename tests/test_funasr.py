"""FunASR: the pinned folder is loaded, tensors alone, and nothing random; a tiny emotion2vec where it is installed."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.weights import tensors_only

torch = pytest.importorskip("torch", reason="torch is not installed")

TOKENS = ["生气/angry", "开心/happy", "中立/neutral", "其他/other", "难过/sad", "<unk>"]


class AutoModel:
    """As much of FunASR's as the adapter uses."""

    def __init__(self, model: str, **_: object) -> None:
        self.model = torch.nn.Linear(2, 2)
        self.kwargs = {
            "init_param": f"{model}/model.pt",
            "scope_map": ["d2v.", "none"],
            "tokenizer": SimpleNamespace(token_list=TOKENS),
        }
        torch.load(self.kwargs["init_param"], weights_only=False)


@pytest.fixture
def download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Stands in for FunASR and the Hub; gives the folder that is downloaded and the calls."""
    calls: list[tuple[str, str]] = []
    folder = tmp_path / "snapshot"
    folder.mkdir()

    def snapshot_download(model_id: str, *, revision: str) -> str:
        calls.append((model_id, revision))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    monkeypatch.setitem(sys.modules, "funasr", SimpleNamespace(AutoModel=AutoModel))
    return folder, calls


def test_the_pinned_revision_is_downloaded_and_its_folder_loaded(download) -> None:
    folder, calls = download
    torch.save({"model": {f"d2v.{name}": value for name, value in torch.nn.Linear(2, 2).state_dict().items()}},
               folder / "model.pt")  # fmt: skip
    card = get_system("emotion2vec-plus-base")
    assert load_system(card).revision == card.revision
    assert calls == [("emotion2vec/emotion2vec_plus_base", card.revision)]
    with pytest.raises(OrukError, match="torch cannot use this device"):
        load_system(card, Options(device="cuda:99"))
    with pytest.raises(OrukError, match="float32 only"):
        load_system(card, Options(dtype="float16"))


def test_weights_that_are_missing_are_refused_by_name(download) -> None:
    folder, _ = download
    torch.save({"weight": torch.zeros(2, 2)}, folder / "model.pt")
    with pytest.raises(OrukError, match=r"lacks weights.*found bias"):
        load_system(get_system("emotion2vec-plus-base"))


def test_weights_that_the_hub_does_not_give_are_one_line(download, monkeypatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError("401 Client Error: gated")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refused)
    with pytest.raises(OrukError, match=r"cannot be downloaded; found 401.*gated; .*HF_TOKEN"):
        load_system(get_system("emotion2vec-plus-base"))


def test_only_tensors_are_read(download, tmp_path: Path) -> None:
    folder, _ = download
    torch.save({"weight": torch.zeros(2, 2), "bias": torch.zeros(2), "more": Path("x")}, folder / "model.pt")
    with pytest.raises(OrukError, match=r"the model cannot be loaded.*[Ww]eights.only"):
        load_system(get_system("emotion2vec-plus-base"))
    with pytest.raises(Exception, match=r"[Ww]eights.only"), tensors_only():
        torch.load(folder / "model.pt", weights_only=False)
    assert torch.load(folder / "model.pt", weights_only=False)["more"] == Path("x")


def tiny(folder: Path) -> None:
    """Save a random emotion2vec in the layout of the published ones."""
    from funasr.models.emotion2vec.model import Emotion2vec

    rates = {"start_drop_path_rate": 0, "end_drop_path_rate": 0}
    audio = {
        **rates, "type": "AUDIO", "prenet_depth": 1, "prenet_layerdrop": 0, "prenet_dropout": 0, "num_extra_tokens": 2,
        "init_extra_token_zero": True, "mask_noise_std": 0, "mask_prob": 0, "inverse_mask": False,
        "mask_prob_adjust": 0, "keep_masked_pct": 0, "mask_length": 5, "add_masks": False, "remove_masks": False,
        "mask_dropout": 0, "encoder_zero_mask": True, "mask_channel_prob": 0, "mask_channel_length": 64,
        "local_grad_mult": 1, "use_alibi_encoder": True, "alibi_scale": 1, "learned_alibi": False,
        "alibi_max_pos": None, "learned_alibi_scale": True, "learned_alibi_scale_per_head": True,
        "learned_alibi_scale_per_layer": False, "num_alibi_heads": 2, "model_depth": 2, "decoder": None,
        "extractor_mode": "layer_norm", "feature_encoder_spec": "[(8, 10, 5), (8, 8, 4)]", "conv_pos_width": 5,
        "conv_pos_groups": 2, "conv_pos_depth": 1, "conv_pos_pre_ln": False,
    }  # fmt: skip
    model = {
        **rates, "loss_beta": 0, "loss_scale": None, "depth": 2, "num_heads": 2, "norm_eps": 1e-5, "norm_affine": True,
        "encoder_dropout": 0, "post_mlp_drop": 0, "attention_dropout": 0, "activation_dropout": 0, "dropout_input": 0,
        "layerdrop": 0, "embed_dim": 16, "mlp_ratio": 2, "layer_norm_first": False, "end_of_block_targets": False,
        "clone_batch": 1, "average_top_k_layers": 2, "normalize": True, "modalities": {"audio": audio},
    }  # fmt: skip
    words = {"tokenizer": "CharTokenizer", "tokenizer_conf": {"unk_symbol": "<unk>", "split_with_space": True}}
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump({"model": "Emotion2vec", "model_conf": model, **words}))
    (folder / "tokens.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    files = {"init_param": "model.pt", "config": "config.yaml", "tokenizer_conf": {"token_list": "tokens.txt"}}
    (folder / "configuration.json").write_text(json.dumps({"model": {"type": "funasr"}, "file_path_metas": files}))
    torch.manual_seed(0)
    torch.save({"model": Emotion2vec(model_conf=model, vocab_size=len(TOKENS)).state_dict()}, folder / "model.pt")


def test_a_tiny_emotion2vec_answers_alike_alone_and_in_a_batch(tmp_path: Path) -> None:
    pytest.importorskip("funasr", reason="funasr is not installed")
    tiny(tmp_path / "model")
    card = tmp_path / "mine.toml"
    card.write_text(
        f'name = "tiny"\nfamily = "open"\nadapter = "funasr"\nsource = "made here"\nmodel_id = "{tmp_path / "model"}"\n'
    )
    system = load_system(get_system(str(card)))
    rng = np.random.default_rng(0)
    items = [Item(f"c/{size}", rng.normal(0, 0.1, size).astype(np.float32), "c") for size in (4000, 9000, 16000)]
    answers = system.predict(items)
    assert [set(answer.scores) for answer in answers] == [set(TOKENS)] * 3
    assert answers == [system.predict([item])[0] for item in items]
    state = torch.load(tmp_path / "model" / "model.pt")["model"]
    torch.save({"model": {name: state[name] for name in state if name != "proj.weight"}}, tmp_path / "model/model.pt")
    with pytest.raises(OrukError, match=r"lacks weights.*found proj\.weight"):
        load_system(get_system(str(card)))
