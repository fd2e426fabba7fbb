"""wav2vec 2.0 checkpoints with a CTC head over emotions: the logits come a frame and are averaged over the clip."""

from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import require, stated
from oruk_leaderboard.systems.base import Waveform
from oruk_leaderboard.systems.transformers import AudioClassifier


class FrameClassifier(AudioClassifier):
    """Mean of the frame logits, then softmax."""

    def _probabilities(self, wave: Waveform) -> list[float]:
        features = self._extractor(wave, sampling_rate=SAMPLE_RATE, return_tensors="pt")
        with self._torch.inference_mode():
            logits = self._model(features["input_values"].to(self._device)).logits.double().mean(dim=1)
        return [float(value) for value in self._torch.softmax(logits, dim=-1)[0]]


def load(card: SystemCard, *, revision: str | None, device: str) -> FrameClassifier:
    """Load a CTC checkpoint whose vocabulary is the list of emotions.

    Raises:
        OrukError: ``transformers`` or ``torch`` is not installed, or the revision is unknown.
    """
    transformers, torch = require("transformers", card=card), require("torch", card=card)
    extractor = transformers.AutoFeatureExtractor.from_pretrained(card.model_id, revision=revision)
    model = transformers.Wav2Vec2ForCTC.from_pretrained(card.model_id, revision=revision)
    loaded = stated(getattr(model.config, "_commit_hash", None) or revision, card=card)
    return FrameClassifier(card, model, extractor, torch, loaded, device)
