"""emotion2vec (a score for each label) and SenseVoice (a tag in the transcript) through FunASR."""

import re
from collections.abc import Sequence
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, by_label
from oruk_leaderboard.systems.checkpoint import check_labels, require
from oruk_leaderboard.systems.weights import pinned, snapshot

_TAG = re.compile(r"<\|([A-Z_]+)\|>")
_EMOTION_TAGS = {"HAPPY", "SAD", "ANGRY", "NEUTRAL", "FEARFUL", "DISGUSTED", "SURPRISED", "EMO_UNKNOWN"}
"""Tags of SenseVoice's emotion field; other tags name language, event and formatting."""


class FunAsrSystem(LocalSystem):
    """FunASR's ``generate`` over a list of waves, which it answers one by one."""

    def __init__(self, card: SystemCard, model: Any, revision: str) -> None:
        self.card, self.revision, self._model, self._checked = card, revision, model, False

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """Answers with scores (emotion2vec) or with the emotion tag (SenseVoice).

        Raises:
            OrukError: The model's labels are not all known.
        """
        waves = [item.wave for item in items]
        results = self._model.generate(waves, granularity="utterance", extract_embedding=False, disable_pbar=True)
        return [self._answer(result) for result in results]

    def _answer(self, result: dict[str, Any]) -> Answer:
        if "labels" in result:
            if not self._checked:
                check_labels(result["labels"], card=self.card)
                self._checked = True
            return Answer(scores=by_label(result["labels"], map(float, result["scores"])))
        # The rest of the text is the transcript, whose words must not be taken for an answer.
        tag = next((tag for tag in _TAG.findall(str(result.get("text", ""))) if tag in _EMOTION_TAGS), None)
        return Answer(status="abstained", reason="no emotion tag") if tag is None else Answer(label=tag)


def load(card: SystemCard, options: Options) -> FunAsrSystem:
    """Download the pinned revision and load it from its folder.

    Raises:
        OrukError: ``funasr`` is not installed, no revision is pinned, or the model cannot be loaded.
    """
    funasr = require("funasr", extra="funasr", where=card.id)
    revision = pinned(card, options)
    folder = snapshot(card, revision)
    try:
        model = funasr.AutoModel(model=str(folder), device=options.device, disable_update=True, disable_pbar=True)
    except Exception as error:  # the library raises whatever its parts raise
        raise OrukError("the model cannot be loaded", where=f"{card.model_id}@{revision}", found=error) from error
    return FunAsrSystem(card, model, revision)
