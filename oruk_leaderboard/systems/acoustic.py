"""Acoustic baselines: features of the sound and a class-balanced logistic regression.

For each corpus of the set the regression is fitted on the set's other corpora, so it never sees the corpus it answers.
Features: ``numpy`` (own, ``acoustic_features``) or ``egemaps`` (eGeMAPS v02 functionals of openSMILE, whose licence
allows research and personal use only).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard import __version__
from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.audio.stored import decode_stored
from oruk_leaderboard.classes import CLASSES, SAMPLE_RATE
from oruk_leaderboard.clipset import ClipSet, open_clipset
from oruk_leaderboard.errors import MissingExtraError, OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options, Waveform

Features = Callable[[Waveform], NDArray[np.float64]]


class Acoustic(LocalSystem):
    """Logistic regression on acoustic features, leave one corpus out."""

    def __init__(self, card: SystemCard, features: Features, clips: ClipSet, linear_model: Any) -> None:
        self.card, self.revision = card, __version__
        self.identity = {"features": card.model_id, "fitted_on": "the set's other corpora"}
        self._linear_model = linear_model
        self._corpora = np.array(clips.table.column("corpus").to_pylist(), dtype=object)
        self._labels = np.array(clips.table.column("label").to_pylist(), np.int64)
        ids, digests = (clips.table.column(name).to_pylist() for name in ("clip_id", "clip_sha256"))
        self._row = {clip_id: at for at, clip_id in enumerate(ids)}
        digest_of = dict(zip(ids, digests, strict=True))
        rows = [
            features(decode_stored(flac, clip_sha256=digest_of[clip_id], where=clip_id))
            for clip_id, flac in clips.recordings()
        ]
        self._features = np.stack(rows)
        self._models: dict[str, Any] = {}

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """A probability for each class that the other corpora have."""
        answers = []
        for item in items:
            mean, scale, model = self._model(item.corpus)
            row = (self._features[self._row[item.clip_id]] - mean) / scale
            shares = model.predict_proba(row[None])[0]
            answers.append(
                Answer(scores={CLASSES[at]: float(share) for at, share in zip(model.classes_, shares, strict=True)})
            )
        return answers

    def _model(self, corpus: str) -> tuple[NDArray[np.float64], NDArray[np.float64], Any]:
        if corpus not in self._models:
            others = self._corpora != corpus
            seen, labels = self._features[others], self._labels[others]
            if len(np.unique(labels)) < 2:
                raise OrukError(
                    "this baseline learns from other corpora",
                    where=self.card.id,
                    expected="a set of 2 or more corpora with 2 or more classes each way",
                    found=f"{len(seen)} clips outside {corpus}",
                )
            mean, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-9
            model = self._linear_model.LogisticRegression(C=0.1, class_weight="balanced", max_iter=2000)
            self._models[corpus] = (mean, scale, model.fit((seen - mean) / scale, labels))
        found: tuple[NDArray[np.float64], NDArray[np.float64], Any] = self._models[corpus]
        return found


def _egemaps(card: SystemCard) -> Features:
    try:
        import opensmile
    except ImportError as error:
        raise MissingExtraError("this baseline needs opensmile", extra="acoustic", where=card.id) from error
    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)

    def features(wave: Waveform) -> NDArray[np.float64]:
        row: NDArray[np.float64] = np.nan_to_num(smile.process_signal(wave, SAMPLE_RATE).to_numpy(np.float64)[0])
        return row

    return features


def load(card: SystemCard, options: Options) -> Acoustic:
    """Compute the features of the whole set; the regressions are fitted when their corpus is asked about.

    Raises:
        OrukError: A library is missing, there is no such kind of features, or no set to learn from.
    """
    try:
        from sklearn import linear_model
    except ImportError as error:
        raise MissingExtraError("this baseline needs scikit-learn", extra="acoustic", where=card.id) from error
    if options.clips is None:
        raise OrukError("this baseline learns from the set it is run on", where=card.id, expected="a rebuilt set")
    if card.model_id == "egemaps":
        return Acoustic(card, _egemaps(card), open_clipset(options.clips), linear_model)
    if card.model_id != "numpy":
        raise OrukError("no such features", where=card.id, expected="numpy or egemaps", found=card.model_id)
    from oruk_leaderboard.systems.acoustic_features import features

    return Acoustic(card, features, open_clipset(options.clips), linear_model)
