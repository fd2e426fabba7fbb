"""Prompts of prompted systems, one TOML per prompt: a version, the words, and a definition of each class."""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import OrukError


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it is sent.

    Attributes:
        name: Name and version, ``emotion@1.0.0``.
        text: The words.
        temperature: Sampling temperature.
    """

    name: str
    text: str
    temperature: float

    @property
    def sha256(self) -> str:
        """Digest of the words as UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_prompt(name: str, *, reads: bool) -> Prompt:
    """A shipped prompt.

    Args:
        name: File stem.
        reads: Whether the system reads a transcript instead of hearing audio.

    Raises:
        OrukError: There is no such prompt, or it does not define every class.
    """
    path = Path(__file__).parent / f"{name}.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = ", ".join(sorted(found.stem for found in path.parent.glob("*.toml")))
        raise OrukError("no such prompt", where=name, expected=known) from error
    if list(document["classes"]) != list(CLASSES):
        raise OrukError("the prompt does not define the classes", where=path, expected=CLASSES)
    classes = "\n".join(f"- {label}: {meaning}" for label, meaning in document["classes"].items())
    opening = document["text" if reads else "audio"].strip()
    text = f"{opening}\n{document['question'].strip().format(classes=classes)}"
    return Prompt(f"{name}@{document['version']}", text, float(document["temperature"]))
