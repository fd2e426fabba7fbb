"""Audio classification heads of the ``transformers`` library: one softmax per clip over the model's own labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, Waveform, by_label
from oruk_leaderboard.systems.checkpoint import cannot_load, check_device, check_labels, require
from oruk_leaderboard.systems.weights import local_folder, pinned, refuse_missing

DTYPES = ("float32", "float16", "bfloat16")
"""Number types a model can run in."""

LOOK_AHEAD = 8
"""Batches that are sorted by length together."""

FIXED_WINDOW = frozenset({"whisper", "audio-spectrogram-transformer"})
"""Architectures whose input has one length whatever the clip's: padding is part of the model."""

MASKED = frozenset({"wav2vec2", "hubert", "unispeech-sat", "unispeech", "wav2vec2-bert", "sew"})
"""Architectures that leave padding out of the answer where they normalise each frame by itself (layer norm) and get an
attention mask. WavLM (answers move by up to half of the logits' spread even with a mask) and data2vec (by 2e-5 on a
tiny checkpoint) are not among them."""


def pads_exactly(config: Any, extractor: Any) -> bool:
    """Whether clips of unlike length may share a batch without changing an answer.

    Group norm in the feature encoder (``feat_extract_norm = "group"``) averages over time and so over the padding.
    """
    kind = config.model_type
    if kind in FIXED_WINDOW or kind == "wav2vec2-bert":
        return True
    layer_norm = getattr(config, "feat_extract_norm", "layer") == "layer"
    return kind in MASKED and layer_norm and bool(getattr(extractor, "return_attention_mask", False))


class AudioClassifier(LocalSystem):
    """A checkpoint with a classification head."""

    def __init__(
        self, card: SystemCard, model: Any, extractor: Any, torch: Any, revision: str, options: Options
    ) -> None:
        self.card, self.revision = card, revision
        self._torch, self._device = torch, options.device
        self._dtype = getattr(torch, options.dtype or card.dtype or "float32")
        self._model, self._extractor = model.to(options.device, self._dtype).eval(), extractor
        self._rate = int(getattr(extractor, "sampling_rate", SAMPLE_RATE))
        self._labels = labels_of(model.config, card)
        self._inner = options.batch_size or card.batch_size or 8
        self._exact = pads_exactly(model.config, extractor)
        self.batch_size = self._inner * LOOK_AHEAD

    def parts(self, items: Sequence[Item]) -> Iterable[Sequence[int]]:
        """Clips by length, at most the batch size of them together, and only those that may share a batch."""
        part: list[int] = []
        for at in sorted(range(len(items)), key=lambda at: items[at].wave.size):
            if part and (len(part) == self._inner or not self._together(items[part[0]].wave, items[at].wave)):
                yield part
                part = []
            part.append(at)
        if part:
            yield part

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """A probability for every native label."""
        answers: dict[int, Answer] = {}
        for part in self.parts(items):
            rows = self._probabilities([self._resampled(items[at].wave) for at in part])
            answers |= {at: Answer(scores=by_label(self._labels, row)) for at, row in zip(part, rows, strict=True)}
        return [answers[at] for at in range(len(items))]

    def _together(self, one: Waveform, other: Waveform) -> bool:
        return self._exact or one.size == other.size

    def _resampled(self, wave: Waveform) -> Waveform:
        if self._rate == SAMPLE_RATE:
            return wave
        import soxr

        resampled: Waveform = soxr.resample(wave, SAMPLE_RATE, self._rate, quality="VHQ").astype(np.float32)
        return resampled

    def _probabilities(self, waves: Sequence[Waveform]) -> list[list[float]]:
        """Probabilities of each wave, shape (n_waves, n_labels)."""
        with self._torch.inference_mode():
            logits = self._logits(self._features(waves)).double()
        rows: list[list[float]] = self._torch.softmax(logits, dim=-1).cpu().tolist()
        return rows

    def _features(self, waves: Sequence[Waveform]) -> Mapping[str, Any]:
        batch: list[Waveform] | Waveform = list(waves) if len(waves) > 1 else waves[0]
        padding = {"padding": True} if len(waves) > 1 and not self._fixed() else {}
        features = self._extractor(batch, sampling_rate=self._rate, return_tensors="pt", **padding)
        return {
            name: tensor.to(self._device, self._dtype if tensor.is_floating_point() else None)
            for name, tensor in features.items()
        }

    def _fixed(self) -> bool:
        return self._model.config.model_type in FIXED_WINDOW

    def _logits(self, features: Mapping[str, Any]) -> Any:
        return self._model(**features).logits


def labels_of(config: Any, card: SystemCard) -> list[str]:
    """Native labels of a model by index.

    Raises:
        OrukError: The checkpoint names none, or names a label that has no class.
    """
    names = getattr(config, "id2label", None) or {}
    size = getattr(config, "num_labels", len(names))
    if not names or any(index not in names for index in range(size)):
        raise OrukError(
            "the checkpoint does not name its labels", where=card.model_id, expected=f"id2label with {size} entries"
        )
    labels = [str(names[index]) for index in range(size)]
    check_labels(labels, card=card)
    return labels


def load_parts(card: SystemCard, options: Options, auto_class: str) -> tuple[Any, Any, Any, str]:
    """Model, feature extractor, torch and revision of a checkpoint, checked before the first clip.

    Raises:
        OrukError: A library, the revision or a weight is missing, remote code is not allowed, or the checkpoint cannot
            be loaded.
    """
    torch = require("torch", extra="torch", where=card.id)
    transformers = require("transformers", extra="torch", where=card.id)
    revision = pinned(card, options)
    check_device(torch, options.device)
    if (dtype := options.dtype or card.dtype) not in (None, *DTYPES):
        raise OrukError("unknown number type", where=card.id, expected=", ".join(DTYPES), found=dtype)
    source: dict[str, Any] = {} if local_folder(card) is not None else {"revision": revision}
    source["trust_remote_code"] = options.trust_remote_code
    try:
        extractor = transformers.AutoFeatureExtractor.from_pretrained(card.model_id, **source)
        model, loading = getattr(transformers, auto_class).from_pretrained(
            card.model_id, output_loading_info=True, **source
        )
    except Exception as error:  # the library raises whatever its parts raise; all of it means "cannot be loaded"
        where = f"{card.model_id}@{revision}"
        if "trust_remote_code" in str(error) or "custom code" in str(error):
            raise OrukError(
                "the checkpoint needs code from its repository",
                where=where,
                found=f"{type(error).__name__}: {error}",
                do="read that code, then allow it with --trust-remote-code and a pinned --revision",
            ) from error
        raise cannot_load("the checkpoint", error, where=where) from error
    missing = [str(key) for kind in ("missing_keys", "mismatched_keys") for key in loading.get(kind) or ()]
    refuse_missing(missing, where=f"{card.model_id}@{revision}")
    return model, extractor, torch, revision


def load(card: SystemCard, options: Options) -> AudioClassifier:
    """Load weights and feature extractor from the Hub, or from a local folder."""
    model, extractor, torch, revision = load_parts(card, options, "AutoModelForAudioClassification")
    return AudioClassifier(card, model, extractor, torch, revision, options)
