"""A user's own system: a function from a waveform to a label, or to a score for each label."""

import hashlib
import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Waveform


class CallableSystem:
    """Calls the function once a waveform (float32, 16 kHz mono); it returns a label, or a mapping of label to score."""

    def __init__(self, card: SystemCard, function: Any, revision: str) -> None:
        self.card, self.revision, self._function = card, revision, function

    def predict(self, batch: Sequence[Waveform]) -> list[Answer]:
        """Answers in the order of the waveforms; None from the function is an abstention."""
        return [self._answer(self._function(wave)) for wave in batch]

    def _answer(self, value: object) -> Answer:
        if value is None:
            return Answer(status="abstained", reason="the function returned None")
        if isinstance(value, Answer):
            return value
        if isinstance(value, str):
            return Answer(raw=value)
        if isinstance(value, Mapping) and value:
            return Answer(scores={str(name): float(score) for name, score in value.items()})
        raise OrukError(
            "a system returned something that is no answer",
            where=self.card.id,
            expected="a label, a mapping of label to score, or None",
            found=type(value).__name__,
        )


def load(card: SystemCard, *, revision: str | None, device: str) -> CallableSystem:
    """Import ``module:function``, also from the current folder, where an installed command does not look by itself.

    The revision is the one given, the function's own attribute ``revision``, or the digest of its source file.

    Raises:
        OrukError: The module or the function is not there.
    """
    del device
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    module_name, _, function_name = (card.model_id or "").partition(":")
    try:
        function = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise OrukError("no such function", where=card.model_id, expected="module:function", found=error) from error
    return CallableSystem(card, function, revision or str(getattr(function, "revision", None) or _source(function)))


def _source(function: Any) -> str:
    """Digest of the file that defines the function, so that a resumed run takes over no answer of changed code."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        file = None
    if file is None:
        return "unstated"
    return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}"
