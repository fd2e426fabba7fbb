"""emotion2vec (a score for each label) and SenseVoice (a tag in the transcript) through FunASR."""

import re
from collections.abc import Sequence
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import require, stated
from oruk_leaderboard.systems.base import Waveform

_TAG = re.compile(r"<\|([A-Z_]+)\|>")
_EMOTION_TAGS = {"HAPPY", "SAD", "ANGRY", "NEUTRAL", "FEARFUL", "DISGUSTED", "SURPRISED", "EMO_UNKNOWN"}
"""Tags of SenseVoice's emotion field; other tags name language, event and formatting."""


class FunAsrSystem:
    """One call of FunASR's ``generate`` a clip."""

    def __init__(self, card: SystemCard, model: Any, revision: str) -> None:
        self.card, self.revision, self._model = card, revision, model

    def predict(self, batch: Sequence[Waveform]) -> list[Answer]:
        """Answers with scores (emotion2vec) or with the emotion tag (SenseVoice)."""
        return [
            self._answer(self._model.generate(wave, granularity="utterance", extract_embedding=False)) for wave in batch
        ]

    def _answer(self, result: list[dict[str, Any]]) -> Answer:
        first = result[0]
        if "labels" in first:
            return Answer(scores=dict(zip(first["labels"], map(float, first["scores"]), strict=True)))
        # The rest of the text is the transcript, whose words must not be taken for an answer.
        tag = next((tag for tag in _TAG.findall(str(first.get("text", ""))) if tag in _EMOTION_TAGS), None)
        return Answer(status="abstained", reason="no emotion tag") if tag is None else Answer(label=tag)


def load(card: SystemCard, *, revision: str | None, device: str) -> FunAsrSystem:
    """Load a FunASR model from its hub.

    Raises:
        OrukError: ``funasr`` is not installed, or no revision is named.
    """
    funasr, named = require("funasr", card=card), stated(revision, card=card)
    hub = {"hf": "hf", "modelscope": "ms", None: "hf"}[card.hub]
    model = funasr.AutoModel(model=card.model_id, hub=hub, model_revision=named, device=device, disable_update=True)
    return FunAsrSystem(card, model, named)
