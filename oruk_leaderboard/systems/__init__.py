"""Systems that can be run on a rebuilt set: one TOML card per system, one small module per adapter."""

import importlib
import importlib.util
import os
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, cast

from oruk_leaderboard import tomltext
from oruk_leaderboard.errors import OrukError, did_you_mean
from oruk_leaderboard.records.schemas import faults
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Options, System

_API = ("httpx2", "tenacity", "aiolimiter")

ADAPTERS: Mapping[str, tuple[str, tuple[str, ...], str | None]] = {
    "baseline": ("rules that are built in; no weights", (), None),
    "acoustic": ("acoustic features and logistic regression", ("sklearn",), "acoustic"),
    "python": ("your own Python code, module:attribute", (), None),
    "transformers": ("audio classification heads of the transformers library", ("torch", "transformers"), "torch"),
    "ctc_frames": ("wav2vec 2.0 checkpoints with emotion logits per frame", ("torch", "transformers"), "torch"),
    "funasr": ("emotion2vec and SenseVoice through FunASR", ("funasr",), "funasr"),
    "chat": ("any OpenAI-compatible endpoint", _API, "api"),
    "gemini": ("Gemini's generateContent", _API, "api"),
    "anthropic": ("Anthropic's messages, text only", _API, "api"),
    "oruk": ("the emotion endpoint of the oruk Speech API", _API, "api"),
    "speechbrain": ("SpeechBrain's IEMOCAP recogniser", ("speechbrain",), "speechbrain"),
}
"""Adapter module to what it runs, the packages it imports, and the extra that installs them."""

WEIGHTS = ("transformers", "ctc_frames", "funasr", "speechbrain")
"""Adapters of trained weights, which are pinned by a revision."""

ENTRY_POINTS = "oruk_leaderboard.systems"
"""Entry points of other packages that name a system: id = ``module:attribute``."""

_CARDS = Path(__file__).parent / "cards"


@cache
def registry() -> Mapping[str, SystemCard]:
    """All shipped system cards by id, in code-point order."""
    return {path.stem: read_card(path) for path in sorted(_CARDS.glob("*.toml"))}


def read_card(path: Path) -> SystemCard:
    """Read one system card (``schema/system.schema.json``).

    Raises:
        OrukError: The file is not TOML, or breaks the schema.
    """
    try:
        table: dict[str, Any] = tomltext.parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OrukError("the system card cannot be read", where=path, found=error.strerror) from error
    except ValueError as error:
        raise OrukError("the system card cannot be read", where=path, found=error) from error
    if found := faults(table, "system"):
        raise OrukError("the system card breaks system.schema.json", where=path, found="; ".join(found[:3]))
    if (adapter := table.setdefault("adapter", None)) not in (None, *ADAPTERS):
        raise OrukError("unknown adapter", where=path, expected=", ".join(sorted(ADAPTERS)), found=adapter)
    if adapter is not None and "model_id" not in table:
        raise OrukError("the system card names no model", where=path, expected=f"model_id, for the adapter {adapter}")
    return SystemCard.from_dict({**table, "id": path.stem})


def get_system(name: str) -> SystemCard:
    """Card of a shipped system, of a ``.toml`` file, of a ``module:attribute``, or of an entry point.

    Raises:
        OrukError: No such system.
    """
    if name.endswith(".toml"):
        return read_card(Path(name))
    if ":" in name:
        return _python(name, name)
    if (path := _CARDS / f"{name}.toml").is_file() and path.parent == _CARDS:
        return read_card(path)
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            return _python(name, entry.value)
    raise OrukError(
        "no such system",
        where=name,
        expected="an id of `systems list`, a .toml file or module:attribute",
        do=did_you_mean(name, registry(), see="systems list"),
    )


def _python(name: str, target: str) -> SystemCard:
    return SystemCard(
        id=name.replace(":", "-").replace(".", "-"),
        name=name,
        family="open",
        adapter="python",
        model_id=target,
        source="named on the command line",
    )


def lacking(card: SystemCard) -> list[str]:
    """What has to be installed or stated before a system can run here; empty where it is ready."""
    if card.not_ready is not None or card.adapter is None:
        return [card.not_ready or "no adapter"]
    _, packages, extra = ADAPTERS[card.adapter]
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    found = [f'pip install "oruk-bench-leaderboard[{extra}]" ({", ".join(missing)})'] if missing else []
    if card.hub is not None and card.adapter in WEIGHTS and card.revision is None:
        found.append("--revision (unpinned)")
    if card.adapter == "python" and not _importable(card.model_id or ""):
        found.append(f"a module {card.model_id}, here or on the Python path")
    if extra == "api":
        found += _lacking_service(card)
    return found


def _importable(target: str) -> bool:
    """Whether the outermost package of ``module:attribute`` is there; nothing is imported."""
    name = target.partition(":")[0].partition(".")[0]
    if not name:
        return False
    return bool(importlib.util.find_spec(name) or PathFinder.find_spec(name, [str(Path.cwd())]))


def _lacking_service(card: SystemCard) -> list[str]:
    if card.endpoint is None:
        return ["--endpoint URL"]
    from oruk_leaderboard.systems.endpoint import key_variable

    variable = key_variable(card.endpoint)
    return [] if os.environ.get(variable) else [f"the environment variable {variable}"]


def load_system(card: SystemCard, options: Options = Options()) -> System:  # noqa: B008  frozen
    """Load the weights and return something that predicts.

    Args:
        card: The system's card.
        options: How it is loaded and asked.

    Raises:
        OrukError: No adapter can run it, a library is missing (named), or no revision is known.
    """
    if card.not_ready is not None or card.adapter is None:
        raise OrukError("no adapter can run this system", where=card.id, found=card.not_ready)
    module = importlib.import_module(f"oruk_leaderboard.systems.{card.adapter}")
    return cast(System, module.load(card, options))
