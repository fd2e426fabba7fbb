"""SpeechBrain's wav2vec 2.0 recogniser trained on IEMOCAP: four classes."""

from collections.abc import Iterable, Sequence
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, by_label
from oruk_leaderboard.systems.checkpoint import cannot_load, check_labels, require
from oruk_leaderboard.systems.weights import pinned, refuse_dtype, snapshot, tensors_only


class SpeechBrainSystem(LocalSystem):
    """A recogniser loaded through the model repository's own ``custom_interface.py``."""

    def __init__(self, card: SystemCard, recogniser: Any, torch: Any, revision: str) -> None:
        self.card, self.revision, self._recogniser, self._torch = card, revision, recogniser, torch
        encoder = recogniser.hparams.label_encoder
        self._labels = [str(encoder.ind2lab[index]) for index in range(len(encoder))]
        check_labels(self._labels, card=card)

    def parts(self, items: Sequence[Item]) -> Iterable[Sequence[int]]:
        """Clip by clip: the encoder normalises over time, so padding would change answers."""
        return [[at] for at in range(len(items))]

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """Answers with a probability for each of the model's labels."""
        answers = []
        for item in items:
            with self._torch.inference_mode():
                probabilities = self._recogniser.classify_batch(self._torch.from_numpy(item.wave)[None])[0][0]
            answers.append(Answer(scores=by_label(self._labels, map(float, probabilities))))
        return answers


def load(card: SystemCard, options: Options) -> SpeechBrainSystem:
    """Download the pinned revision and load it from its folder.

    Raises:
        OrukError: A library is not installed, no revision is pinned, its code is not allowed, or it cannot be loaded.
    """
    torch = require("torch", extra="speechbrain", where=card.id)
    interfaces = require("speechbrain.inference.interfaces", extra="speechbrain", where=card.id)
    refuse_dtype(card, options)
    revision = pinned(card, options)
    if not options.trust_remote_code:
        raise OrukError(
            "the checkpoint needs code from its repository (custom_interface.py)",
            where=f"{card.model_id}@{revision}",
            do="read that code, then allow it with --trust-remote-code",
        )
    folder = str(snapshot(card, revision))
    try:
        with tensors_only():
            recogniser = interfaces.foreign_class(
                source=folder,
                pymodule_file="custom_interface.py",
                classname="CustomEncoderWav2vec2Classifier",
                run_opts={"device": options.device},
            )
    except Exception as error:  # the library raises whatever its parts raise
        raise cannot_load("the model", error, where=f"{card.model_id}@{revision}") from error
    return SpeechBrainSystem(card, recogniser, torch, revision)
