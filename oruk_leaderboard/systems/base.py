"""What an adapter has to provide: ``load(card, options)``, which gives a system that answers clips."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.budget import Budget
from oruk_leaderboard.systems.transcripts import CORPUS_ONLY, Transcripts

Waveform = NDArray[np.float32]
"""One clip: float32, shape (n_samples,), 16 kHz mono, range [-1, 1), at most 256,000 samples."""


@dataclass(frozen=True, slots=True)
class Item:
    """One clip as a system sees it.

    Attributes:
        clip_id: Id of the clip.
        wave: Its samples.
        corpus: Id of its corpus.
        transcript: Its words as the corpus gives them, or None.
        clip_sha256: Digest of its samples.
    """

    clip_id: str
    wave: Waveform
    corpus: str = ""
    transcript: str | None = None
    clip_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How a system is loaded and asked.

    Attributes:
        revision: 40-hex revision of the weights; the card's where None.
        device: ``cpu``, ``cuda`` or ``mps``.
        dtype: ``float32``, ``float16`` or ``bfloat16``; the card's where None.
        batch_size: Clips per call of a local model; the card's or the adapter's where None.
        trust_remote_code: Whether code from the model's repository may run; needs a pinned revision.
        endpoint: Base URL of a chat service, or None for the card's.
        allow_http: Whether plain HTTP to another host than this one is allowed.
        concurrency: Calls in flight, for services.
        rpm: Most calls per minute, or None.
        timeout: Longest wait for one answer of a service, in s.
        budget: What may be spent on calls, or None for no limit.
        transcripts: Words of clips, for systems that read instead of hearing.
        clips: Folder of the rebuilt set that is asked about, for baselines that learn from its other corpora.
    """

    revision: str | None = None
    device: str = "cpu"
    dtype: str | None = None
    batch_size: int | None = None
    trust_remote_code: bool = False
    endpoint: str | None = None
    allow_http: bool = False
    concurrency: int = 8
    rpm: int | None = None
    timeout: float = 120.0
    budget: Budget | None = None
    transcripts: Transcripts = CORPUS_ONLY
    clips: Path | None = None


class System(Protocol):
    """A loaded system.

    Attributes:
        card: What is known of it.
        revision: What answers: a 40-hex commit, a sha256, the package version of a built-in, or None where a service
            states none.
        identity: Everything else that decides its answers, as JSON values; it goes into ``run.json``.
        batch_size: Clips that are decoded together, and most clips per call of ``predict``.
        concurrency: Calls in flight; above 1 they come from as many threads, one clip each.
        prompt: Id and version of the prompt, or None.
        prompt_sha256: SHA-256 of the prompt as UTF-8, or None.
        observed: What only its answers show, as JSON values; added to ``run.json`` when the run ends.
    """

    card: SystemCard
    revision: str | None
    identity: Mapping[str, Any]
    batch_size: int
    concurrency: int
    prompt: str | None
    prompt_sha256: str | None

    @property
    def observed(self) -> Mapping[str, Any]:
        """See the attributes of the class."""
        ...

    def parts(self, items: Sequence[Item]) -> Iterable[Sequence[int]]:
        """Which items of a batch are given to ``predict`` together, by index; each answer is saved after its part."""
        ...

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item, in their order.

        Raises:
            OrukError: The run has to end (no access, no quota, answers of a kind that cannot be read). Any other
                exception counts as a failure of these items alone.
        """
        ...

    def close(self) -> None:
        """Release open resources; the run has ended."""
        ...


class LocalSystem:
    """Defaults of a system that runs here, without a prompt."""

    identity: Mapping[str, Any] = {}
    batch_size: int = 16
    concurrency: int = 1
    prompt: str | None = None
    prompt_sha256: str | None = None
    observed: Mapping[str, Any] = {}

    def parts(self, items: Sequence[Item]) -> Iterable[Sequence[int]]:
        """The whole batch at once."""
        return [range(len(items))]

    def close(self) -> None:
        """Nothing is held open."""


def by_label(labels: Iterable[str], scores: Iterable[float]) -> dict[str, float]:
    """Native label to score; the higher score where two outputs of a model have one label.

    Where that happens the scores are scaled to the sum they had, so that probabilities stay probabilities; which label
    scores highest does not change.
    """
    names, values = list(labels), list(scores)
    best: dict[str, float] = {}
    for label, score in zip(names, values, strict=True):
        best[label] = max(score, best.get(label, score))
    if len(best) == len(names):
        return best
    scale = math.fsum(values) / (math.fsum(best.values()) or 1.0)
    return {label: score * scale for label, score in best.items()}


def softmax(logits: Mapping[str, float]) -> dict[str, float]:
    """Probabilities of logits, summing to 1."""
    top = max(logits.values())
    powers = {name: math.exp(value - top) for name, value in logits.items()}
    total = math.fsum(powers.values())
    return {name: power / total for name, power in powers.items()}
