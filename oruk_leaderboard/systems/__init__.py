"""Systems that can be run on a rebuilt set: one TOML a system, one small module an adapter."""

import importlib
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.families import FAMILIES
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import System

ADAPTERS: Mapping[str, str] = {
    "baseline": "built in; no weights",
    "callable": "any Python function named module:function",
    "transformers": "audio classification heads of the transformers library",
    "ctc_frames": "wav2vec 2.0 checkpoints whose emotion logits come a frame",
    "funasr": "emotion2vec and SenseVoice through FunASR",
    "speechbrain": "SpeechBrain's IEMOCAP recogniser",
}
"""Adapter module to what it runs."""

HUBS = ("hf", "modelscope")
"""Where weights can be."""


@cache
def registry() -> Mapping[str, SystemCard]:
    """All shipped system cards by id, in code-point order."""
    folder = Path(__file__).parent
    return {path.stem: read_card(path) for path in sorted(folder.glob("*.toml"))}


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_Kind = tuple[Callable[[object], bool], str]
_TEXT: _Kind = (lambda value: isinstance(value, str), "text")
_KINDS: dict[str, _Kind] = {
    "family": (lambda value: value in FAMILIES, ", ".join(FAMILIES)),
    "hub": (lambda value: value in HUBS, " or ".join(HUBS)),
    "parameters_m": (lambda value: type(value) in (int, float), "a number of millions"),
    "classes": (_texts, "a list of class names"),
    "training_corpora": (_texts, "a list of corpus ids"),
    "native_labels": (
        lambda value: isinstance(value, dict) and _texts(list(value.values())),
        "a table of native labels to class names",
    ),
}
"""Key of a system spec to what its value must be; the other keys are text."""


def read_card(path: Path) -> SystemCard:
    """Read one system TOML.

    Raises:
        OrukError: The file is not TOML, or a key is missing, unknown or of the wrong kind.
    """
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OrukError("system spec cannot be read", where=path, found=error) from error
    known = set(SystemCard.__slots__) - {"id"}
    if unknown := sorted(set(table) - known):
        raise OrukError("unknown key in a system spec", where=path, expected=sorted(known), found=unknown)
    if missing := sorted({"name", "family", "adapter", "source"} - set(table)):
        raise OrukError("a system spec lacks a key", where=path, expected=missing)
    for name, value in table.items():
        fits, expected = _KINDS.get(name, _TEXT)
        if not fits(value):
            raise OrukError(
                "a system spec has a value of another kind",
                where=f"{path} {name}",
                expected=expected,
                found=repr(value),
            )
    if table["adapter"] not in ADAPTERS:
        raise OrukError("unknown adapter", where=path, expected=sorted(ADAPTERS), found=table["adapter"])
    targets = set(table.get("classes", ())) | set(table.get("native_labels", {}).values())
    if wrong := sorted(targets - set(CLASSES)):
        raise OrukError("a system spec names a class that is none", where=path, expected=CLASSES, found=wrong)
    for name in ("classes", "training_corpora"):
        if name in table:
            table[name] = tuple(table[name])
    return SystemCard(id=path.stem, **table)


def get_system(name: str) -> SystemCard:
    """Card of a shipped system, of a ``.toml`` file, or of a ``module:function`` of the user's.

    Raises:
        OrukError: No such system.
    """
    if name.endswith(".toml"):
        return read_card(Path(name))
    if ":" in name:
        return SystemCard(
            id=name.replace(":", "-").replace(".", "-"),
            name=name,
            family="open",
            adapter="callable",
            model_id=name,
            source="named on the command line",
        )
    if name not in registry():
        raise OrukError(
            "no such system",
            where=name,
            expected="an id of `systems list`, a .toml file or module:function",
            do="see: oruk-leaderboard systems list",
        )
    return registry()[name]


def load_system(card: SystemCard, *, revision: str | None = None, device: str = "cpu") -> System:
    """Load the weights and return something that predicts.

    Args:
        card: The system's card.
        revision: 40-hex revision to load; the card's where None.
        device: Torch device.

    Raises:
        OrukError: A library is missing (named), or no revision is known.
    """
    module = importlib.import_module(f"oruk_leaderboard.systems.{card.adapter}")
    return cast(System, module.load(card, revision=revision or card.revision, device=device))


def stated(revision: str | None, *, card: SystemCard) -> str:
    """The revision of loaded weights: answers of unknown weights could neither be resumed nor cited.

    Raises:
        OrukError: Nobody states it.
    """
    if revision is None:
        raise OrukError(
            "the revision of these weights is unknown",
            where=card.model_id,
            expected="a 40-hex commit",
            do="name it with --revision",
        )
    return revision


def require(package: str, *, card: SystemCard) -> Any:
    """Import a library that only some systems need.

    Raises:
        OrukError: It is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise OrukError(
            f"this system needs the package {package}",
            where=card.id,
            found=error,
            do=f"install it beside this package (python -m pip install {package.partition('.')[0]})",
        ) from error
