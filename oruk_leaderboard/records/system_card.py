"""What is known of a system before it runs: its card."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from oruk_leaderboard.todict import ToDict

BUILT_IN = "this package"
"""``source`` of the cards of this package's own baselines, which have no weights: the package's version names them."""


@dataclass(frozen=True, slots=True)
class Price(ToDict):
    """What a service charges, in USD: per million tokens (``input``, ``output``) or per minute of audio.

    Attributes:
        date: Day on which it was looked up, ISO 8601.
        source: Where it is stated.
        input: Per million tokens sent, or None.
        output: Per million tokens written, or None.
        audio: Per million tokens of audio sent; as ``input`` where None.
        minute: Per minute of audio, or None.
        audio_tokens_per_second: Tokens of one second of audio; needed to bound the cost before a call.
    """

    date: str
    source: str
    input: float | None = None
    output: float | None = None
    audio: float | None = None
    minute: float | None = None
    audio_tokens_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class SystemCard(ToDict):
    """What is known of a system before it runs; one TOML file per system.

    Attributes:
        id: Short name, also the file stem of the spec.
        name: Name as the table shows it.
        family: ``open``, ``audio LLM``, ``API`` or ``text only``.
        adapter: Module of ``oruk_leaderboard.systems`` that loads and runs it, or None where none can.
        model_id: Name of the weights on their hub, or None where there are none.
        hub: ``hf``, ``modelscope`` or None.
        revision: 40-hex revision of the weights, or None where the run has to state one.
        parameters_m: Parameters in millions, or None where unknown.
        licence: Licence of the weights, or None where unknown.
        classes: The benchmark classes it can emit, or None where only the loaded model can tell.
        native_labels: Native label to benchmark class, or to False where it has none.
        training_corpora: Corpora it was trained on, or None where they are not declared.
        source: Where these facts come from.
        scores: What the model's scores are: ``probabilities``; ``logits``, which become probabilities by softmax; or
            ``independent`` scores of 0 to 1 per label, which are scaled to the sum 1.
        batch_size: Clips per call, or None for the adapter's.
        dtype: Number type the weights run in, or None for ``float32``.
        prompt: Name of the prompt (``systems/prompts``), or None.
        endpoint: Base URL of the service, or None.
        max_tokens: Most tokens of an answer, or None.
        temperature: False where the service accepts no sampling temperature; the prompt's is sent otherwise.
        thinking: Most tokens of reasoning, or a level of it such as ``LOW``; None for the service's own.
        alias: Whether the service can point ``model_id`` to other weights; receipts then say when it was asked.
        price: What the service charges, or None where no public source is known.
        not_ready: Why no adapter can run it, or None.
    """

    id: str
    name: str
    family: str
    adapter: str | None
    source: str
    model_id: str | None = None
    hub: str | None = None
    revision: str | None = None
    parameters_m: float | None = None
    licence: str | None = None
    classes: tuple[str, ...] | None = None
    native_labels: Mapping[str, str | bool] | None = None
    training_corpora: tuple[str, ...] | None = None
    scores: str = "probabilities"
    batch_size: int | None = None
    dtype: str | None = None
    prompt: str | None = None
    endpoint: str | None = None
    max_tokens: int | None = None
    temperature: bool = True
    thinking: int | str | None = None
    alias: bool = False
    price: Price | None = None
    not_ready: str | None = None

    @property
    def asked(self) -> str:
        """Name of the model in receipts."""
        return self.model_id or self.id

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "SystemCard":
        """The card with these keys; keys of another version of the package are left out."""
        known = {item.name for item in fields(cls)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
        }
        if values.get("price") is not None:
            values["price"] = Price(**values["price"])
        return cls(**{name: value for name, value in values.items() if name in known})
