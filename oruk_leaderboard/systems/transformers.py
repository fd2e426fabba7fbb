"""Audio classification heads of the ``transformers`` library: one softmax a clip over the model's own labels."""

from collections.abc import Sequence
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import require, stated
from oruk_leaderboard.systems.base import Waveform, by_label


class AudioClassifier:
    """A checkpoint with a sequence classification head.

    Clips are run one at a time: padding a batch changes the features of models that were trained without an
    attention mask (wav2vec 2.0 base), and so their answers.
    """

    def __init__(self, card: SystemCard, model: Any, extractor: Any, torch: Any, revision: str, device: str) -> None:
        self.card, self.revision = card, revision
        self._model, self._extractor, self._torch, self._device = model.to(device).eval(), extractor, torch, device
        self._labels = [model.config.id2label[index] for index in range(model.config.num_labels)]

    def predict(self, batch: Sequence[Waveform]) -> list[Answer]:
        """Answers with a probability for every native label."""
        return [Answer(scores=by_label(self._labels, self._probabilities(wave))) for wave in batch]

    def _probabilities(self, wave: Waveform) -> list[float]:
        features = self._extractor(wave, sampling_rate=SAMPLE_RATE, return_tensors="pt")
        with self._torch.inference_mode():
            logits = self._model(**{name: tensor.to(self._device) for name, tensor in features.items()}).logits
        return [float(value) for value in self._torch.softmax(logits.double(), dim=-1)[0]]


def load(card: SystemCard, *, revision: str | None, device: str) -> AudioClassifier:
    """Load weights and feature extractor from the Hub, or from a local folder.

    Raises:
        OrukError: ``transformers`` or ``torch`` is not installed, or the hub gave no revision to record.
    """
    transformers, torch = require("transformers", card=card), require("torch", card=card)
    # ONE revision for both parts; code from a model repository is never run.
    extractor = transformers.AutoFeatureExtractor.from_pretrained(card.model_id, revision=revision)
    model = transformers.AutoModelForAudioClassification.from_pretrained(card.model_id, revision=revision)
    loaded = stated(getattr(model.config, "_commit_hash", None) or revision, card=card)
    return AudioClassifier(card, model, extractor, torch, loaded, device)
