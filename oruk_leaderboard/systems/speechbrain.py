"""SpeechBrain's wav2vec 2.0 recogniser trained on IEMOCAP: four classes."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, by_label
from oruk_leaderboard.systems.checkpoint import cannot_load, check_device, check_labels, require
from oruk_leaderboard.systems.weights import pinned, refuse_dtype, refuse_missing, snapshot, tensors_only

HYPERPARAMS = "hyperparams.yaml"
"""What a model consists of, and where its weights are."""

PRETRAINED_PATH = "pretrained_path"
"""Key of the hyperparams that says where the weights are: most name their own repository, so its newest commit."""


class SpeechBrainSystem(LocalSystem):
    """A recogniser loaded through the model repository's own ``custom_interface.py``."""

    def __init__(self, card: SystemCard, recogniser: Any, torch: Any, revision: str) -> None:
        self.card, self.revision, self._recogniser, self._torch = card, revision, recogniser, torch
        encoder = recogniser.hparams.label_encoder
        self._labels = [str(encoder.ind2lab[index]) for index in range(len(encoder))]
        if not self._labels:  # SpeechBrain goes on without the labels of a file that it cannot read
            raise OrukError("the labels of the model cannot be read", where=card.model_id, expected="label_encoder.txt")
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


def weights_of(folder: Path) -> dict[str, str]:
    """What to change in the hyperparams so that the weights of the folder itself are loaded.

    Raises:
        OrukError: The hyperparams cannot be read.
    """
    path = folder / HYPERPARAMS
    try:
        # Composed, not loaded: their tags make objects.
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise OrukError("the hyperparams of the model cannot be read", where=path, found=error) from error
    if not isinstance(node, yaml.MappingNode):
        raise OrukError("the hyperparams of the model cannot be read", where=path, expected="a mapping in YAML")
    return {PRETRAINED_PATH: str(folder)} if any(key.value == PRETRAINED_PATH for key, _ in node.value) else {}


def check_files(folder: Path, pretrainer: Any) -> None:
    """Refuse a model that was put together from other files than those of its folder.

    Raises:
        OrukError: It was; the first such file is named.
    """
    for name, path in pretrainer.paths.items():
        if not (Path(path).is_relative_to(folder) and Path(path).is_file()):
            raise OrukError(
                "the checkpoint lacks a file of the model",
                where=folder,
                expected=f"{name} below this folder",
                found=path,
                do=f"name it in {HYPERPARAMS} as <{PRETRAINED_PATH}>/FILE",
            )


def missing_weights(torch: Any, load: Any, recogniser: Any) -> Iterator[str]:
    """Weights of the model that none of its files has: SpeechBrain logs them and goes on with random ones.

    Args:
        torch: The library.
        load: SpeechBrain's function that reads a file of weights.
        recogniser: The model.
    """
    pretrainer, loaded = recogniser.hparams.pretrainer, set()
    for name, part in pretrainer.loadables.items():
        if isinstance(part, torch.nn.Module):
            there = load(pretrainer.paths[name])
            loaded |= {id(weight) for key, weight in part.state_dict(keep_vars=True).items() if key in there}
    for name, weight in recogniser.mods.state_dict(keep_vars=True).items():
        if id(weight) not in loaded:
            yield name


@contextlib.contextmanager
def _no_bytecode() -> Iterator[None]:
    """Inside, imports write nothing: a file beside ``custom_interface.py`` would change the digest of its folder."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def load(card: SystemCard, options: Options) -> SpeechBrainSystem:
    """Download the pinned revision and load it from its folder.

    Raises:
        OrukError: A library is not installed, no revision is pinned, its code is not allowed, or the model cannot be
            loaded, lacks weights or has labels without a class.
    """
    torch = require("torch", extra="speechbrain", where=card.id)
    interfaces = require("speechbrain.inference.interfaces", extra="speechbrain", where=card.id)
    checkpoints = require("speechbrain.utils.checkpoints", extra="speechbrain", where=card.id)
    refuse_dtype(card, options)
    check_device(torch, options.device)
    revision = pinned(card, options)
    where = f"{card.model_id}@{revision}"
    if not options.trust_remote_code:
        raise OrukError(
            "the checkpoint needs code from its repository (custom_interface.py)",
            where=where,
            do="read that code, then allow it with --trust-remote-code",
        )
    folder = snapshot(card, revision).absolute()
    changes = weights_of(folder)
    try:
        with tensors_only(), _no_bytecode():
            recogniser = interfaces.foreign_class(
                source=str(folder),
                pymodule_file="custom_interface.py",
                classname="CustomEncoderWav2vec2Classifier",
                overrides=changes,
                run_opts={"device": options.device},
            )
            check_files(folder, recogniser.hparams.pretrainer)
            missing = list(missing_weights(torch, checkpoints.torch_patched_state_dict_load, recogniser))
    except OrukError:
        raise
    except Exception as error:  # the library raises whatever its parts raise
        raise cannot_load("the model", error, where=where) from error
    refuse_missing(missing, where=where)
    return SpeechBrainSystem(card, recogniser, torch, revision)
