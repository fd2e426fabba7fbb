"""emotion2vec (a score for each label) and SenseVoice (a tag in the transcript) through FunASR."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, by_label
from oruk_leaderboard.systems.checkpoint import cannot_load, check_device, check_labels, require
from oruk_leaderboard.systems.weights import pinned, refuse_dtype, refuse_missing, snapshot, tensors_only

_TAG = re.compile(r"<\|([A-Z_]+)\|>")
_EMOTION_TAGS = {"HAPPY", "SAD", "ANGRY", "NEUTRAL", "FEARFUL", "DISGUSTED", "SURPRISED", "EMO_UNKNOWN"}
"""Tags of SenseVoice's emotion field; other tags name language, event and formatting."""


class FunAsrSystem(LocalSystem):
    """FunASR's ``generate`` over a list of waves, which it answers one by one."""

    def __init__(self, card: SystemCard, model: Any, revision: str) -> None:
        self.card, self.revision, self._model = card, revision, model
        labels = getattr(model.kwargs.get("tokenizer"), "token_list", None) or sorted(_EMOTION_TAGS)
        # FunASR leaves labels of that beginning out of its answers.
        check_labels([label for label in labels if not label.startswith("unuse")], card=card)

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """Answers with scores (emotion2vec) or with the emotion tag (SenseVoice)."""
        waves = [item.wave for item in items]
        results = self._model.generate(waves, granularity="utterance", extract_embedding=False, disable_pbar=True)
        return [self._answer(result) for result in results]

    @staticmethod
    def _answer(result: dict[str, Any]) -> Answer:
        if "labels" in result:
            return Answer(scores=by_label(result["labels"], map(float, result["scores"])))
        # The rest of the text is the transcript, whose words must not be taken for an answer.
        tag = next((tag for tag in _TAG.findall(str(result.get("text", ""))) if tag in _EMOTION_TAGS), None)
        return Answer(status="abstained", reason="no emotion tag") if tag is None else Answer(label=tag)


def missing_weights(torch: Any, model: Any) -> Iterator[str]:
    """Weights of a FunASR model that its checkpoint has not, or has in another shape.

    FunASR prints a warning for each of them and goes on with random ones. Names are matched as its
    ``load_pretrained_model`` does: by ``scope_map``, pairs of a prefix in the file and a prefix in the model.
    """
    state = torch.load(model.kwargs["init_param"], map_location="cpu", weights_only=True)
    for key in ("state_dict", "model_state_dict", "model"):
        state = state.get(key, state)
    scopes = ["" if str(scope).lower() == "none" else scope for scope in model.kwargs.get("scope_map") or ()]
    pairs = [("", ""), ("module.", ""), *zip(scopes[::2], scopes[1::2], strict=False)]
    for name, tensor in model.model.state_dict().items():
        sources = [there + name.removeprefix(here) for there, here in pairs if name.startswith(here)]
        if not any(source in state and state[source].shape == tensor.shape for source in sources):
            yield name


def load(card: SystemCard, options: Options) -> FunAsrSystem:
    """Download the pinned revision and load it from its folder.

    Raises:
        OrukError: ``funasr`` is not installed, no revision is pinned, or the model cannot be loaded, lacks weights or
            has labels without a class.
    """
    torch = require("torch", extra="funasr", where=card.id)
    funasr = require("funasr", extra="funasr", where=card.id)
    refuse_dtype(card, options)
    check_device(torch, options.device)
    revision = pinned(card, options)
    folder, where = snapshot(card, revision), f"{card.model_id}@{revision}"
    try:
        with tensors_only():
            model = funasr.AutoModel(model=str(folder), device=options.device, disable_update=True, disable_pbar=True)
        missing = list(missing_weights(torch, model))
    except Exception as error:  # the library raises whatever its parts raise
        raise cannot_load("the model", error, where=where) from error
    refuse_missing(missing, where=where)
    return FunAsrSystem(card, model, revision)
