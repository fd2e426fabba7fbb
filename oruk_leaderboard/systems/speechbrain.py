"""SpeechBrain's wav2vec 2.0 recogniser trained on IEMOCAP: four classes."""

from collections.abc import Sequence
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import require, stated
from oruk_leaderboard.systems.base import Waveform, by_label


class SpeechBrainSystem:
    """A recogniser loaded through the model repository's own ``custom_interface.py``."""

    def __init__(self, card: SystemCard, recogniser: Any, torch: Any, revision: str) -> None:
        self.card, self.revision, self._recogniser, self._torch = card, revision, recogniser, torch
        labels = recogniser.hparams.label_encoder
        self._labels = [labels.ind2lab[index] for index in range(len(labels))]

    def predict(self, batch: Sequence[Waveform]) -> list[Answer]:
        """Answers with a probability for each of the model's labels."""
        answers = []
        for wave in batch:
            with self._torch.inference_mode():
                probabilities = self._recogniser.classify_batch(self._torch.from_numpy(wave)[None])[0][0]
            answers.append(Answer(scores=by_label(self._labels, map(float, probabilities))))
        return answers


def load(card: SystemCard, *, revision: str | None, device: str) -> SpeechBrainSystem:
    """Load the recogniser.

    Raises:
        OrukError: ``speechbrain`` or ``torch`` is not installed, or no revision is named.
    """
    torch, interfaces = require("torch", card=card), require("speechbrain.inference.interfaces", card=card)
    named = stated(revision, card=card)
    recogniser = interfaces.foreign_class(
        source=card.model_id,
        pymodule_file="custom_interface.py",
        classname="CustomEncoderWav2vec2Classifier",
        run_opts={"device": device},
        revision=named,
    )
    return SpeechBrainSystem(card, recogniser, torch, named)
