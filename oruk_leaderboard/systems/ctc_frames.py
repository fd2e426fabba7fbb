"""wav2vec 2.0 checkpoints with a CTC head over emotions: one row of logits per frame, averaged over the clip."""

from collections.abc import Mapping
from typing import Any

from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Options, Waveform
from oruk_leaderboard.systems.transformers import AudioClassifier, load_parts


class FrameClassifier(AudioClassifier):
    """Mean of the frame logits, then softmax."""

    def _together(self, one: Waveform, other: Waveform) -> bool:
        # Frames of padding would enter the mean.
        return one.size == other.size

    def _logits(self, features: Mapping[str, Any]) -> Any:
        return self._model(features["input_values"]).logits.double().mean(dim=1)


def load(card: SystemCard, options: Options) -> FrameClassifier:
    """Load a CTC checkpoint whose labels are the list of emotions."""
    model, extractor, torch, revision = load_parts(card, options, "Wav2Vec2ForCTC")
    return FrameClassifier(card, model, extractor, torch, revision, options)
