"""A user's own system, ``module:attribute``: a function of one wave or of a batch, a class, or an object.

* ``def answer(wave)`` is called once per clip; ``def answer(waves)`` (or ``batch``) once per batch, and gives a list.
* A class is made once. An object with ``predict(waves)`` is asked by batch, any other callable clip by clip.
* Each may be ``async``.

An answer is a label or a sentence (text), a mapping of native label to probability, an ``Answer``, or None. Integers
count only where the module declares their order: ``LABELS = "set"`` for the order of the set's classes, or a list.
``FILES`` lists the files that decide the answers beside the source, such as weights.
"""

import asyncio
import hashlib
import importlib
import inspect
import json
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from oruk_leaderboard.answers.answer import Answer, failed
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, LocalSystem, Options
from oruk_leaderboard.systems.sources import module_files

_BATCH = ("waves", "batch")
"""Names of the first parameter of a function that takes a batch."""

_DECLARE = 'add the line LABELS = "set" (the set\'s class order) or LABELS = ["anger", …] to the module'


class PythonSystem(LocalSystem):
    """Calls the user's code with float32 waves, 16 kHz mono."""

    def __init__(self, card: SystemCard, target: Any, labels: Sequence[str] | None, options: Options) -> None:
        self.card, self._labels = card, labels
        made: Any = target() if inspect.isclass(target) else target
        method = getattr(made, "predict", None)
        self._call: Callable[[Any], Any] = method if callable(method) else made
        if not callable(self._call):
            raise OrukError("not something to call", where=card.model_id, expected="a function, a class or an object")
        self._batched = callable(method) or _first_parameter(self._call) in _BATCH
        self._loop: asyncio.Runner | None = None
        self.batch_size = options.batch_size or card.batch_size or LocalSystem.batch_size
        self._understood = False
        self.revision: str | None = None

    def parts(self, items: Sequence[Item]) -> Iterable[Sequence[int]]:
        """A batch for code that takes one, else clip by clip."""
        return [range(len(items))] if self._batched else [[at] for at in range(len(items))]

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in the order of the items; what a function raises for one wave is a failure of that clip alone."""
        waves = [item.wave for item in items]
        if not self._batched:
            return [self._one(wave) for wave in waves]
        values = self._run(self._call(waves))
        if isinstance(values, (str, Mapping)) or not hasattr(values, "__len__") or len(values) != len(waves):
            raise OrukError(
                "a batch function gave no list of answers",
                where=self.card.id,
                expected=f"{len(waves)} answers",
                found=repr(values)[:80],
            )
        return [self._answer(value) for value in values]

    def _one(self, wave: Any) -> Answer:
        try:
            value = self._run(self._call(wave))
        except OrukError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  foreign code: whatever it raises is a counted failure
            return failed(f"{type(error).__name__}: {error}")
        return self._answer(value)

    def _run(self, value: Any) -> Any:
        """The value, awaited where the user's code is async; one event loop serves the whole run."""
        if not inspect.isawaitable(value):
            return value

        async def awaited() -> Any:
            return await value

        self._loop = self._loop or asyncio.Runner()
        return self._loop.run(awaited())

    def _answer(self, value: object) -> Answer:
        try:
            answer = self._read(value)
        except OrukError as error:
            # An answer of an unknown kind is a mistake in the module when it comes first, a failed clip later.
            if not self._understood:
                raise
            return failed(str(error))
        self._understood = True
        return answer

    def _read(self, value: object) -> Answer:
        if value is None:
            return Answer(status="abstained", reason="the function returned None")
        if isinstance(value, Answer):
            return value
        if isinstance(value, str):
            return Answer(raw=value)
        if isinstance(value, Mapping) and value:
            return Answer(scores={self._name(name): float(score) for name, score in value.items()})
        if isinstance(value, numbers.Integral) or type(value).__name__ in ("bool", "bool_"):
            return Answer(label=self._name(value))
        raise OrukError(
            "a system returned something that is not an answer",
            where=self.card.id,
            expected="a label or sentence, a mapping of label to probability, an Answer, or None",
            found=f"{type(value).__name__} {value!r}"[:80],
        )

    def _name(self, value: object) -> str:
        """A native label as text; an integer by the declared order."""
        if isinstance(value, str):
            return value
        integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if integer and self._labels is None and str(value) in (self.card.native_labels or {}):
            return str(value)
        if not integer or self._labels is None:
            raise OrukError(
                "a system answered with a number" if integer else "a system answered with a boolean",
                where=self.card.id,
                expected="a label, or integers whose order is declared",
                found=repr(value),
                do=_DECLARE if integer else None,
            )
        index = int(value)  # type: ignore[call-overload]
        if not 0 <= index < len(self._labels):
            raise OrukError(
                "a class number out of range", where=self.card.id, expected=f"0 to {len(self._labels) - 1}", found=index
            )
        label: str = self._labels[index]
        return label


def _first_parameter(function: Callable[..., Any]) -> str | None:
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError):
        return None


def load(card: SystemCard, options: Options) -> PythonSystem:
    """Import ``module:attribute``, also from the current folder.

    The revision is the one given, or the digest of the module, the local modules it imports and its ``FILES``.

    Raises:
        OrukError: The module cannot be imported, has no such attribute, or declares what cannot be used.
    """
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    module_name, _, attribute = (card.model_id or "").partition(":")
    try:
        module = importlib.import_module(module_name)
        target = getattr(module, attribute)
    except (Exception, SystemExit) as error:
        raise OrukError(
            "the system cannot be imported",
            where=card.model_id,
            expected="module:attribute",
            found=f"{type(error).__name__}: {error}",
        ) from error
    files = module_files(module)
    system = PythonSystem(card, target, _labels(module, card), options)
    digest = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
    system.revision = options.revision or f"sha256:{digest}"
    system.identity = {"files": files, "files_declared": hasattr(module, "FILES")}
    return system


def _labels(module: Any, card: SystemCard) -> Sequence[str] | None:
    declared = getattr(module, "LABELS", None)
    if declared is None:
        return None
    if declared == "set":
        return CLASSES
    if not isinstance(declared, (list, tuple)) or not all(isinstance(name, str) for name in declared):
        raise OrukError(
            "LABELS cannot be read", where=card.model_id, expected='"set" or a list of labels', found=repr(declared)
        )
    return list(declared)
