"""Native labels and free answers become classes: one versioned alias table, the same for every system.

Nothing is guessed: what the table (or the system's own card) does not know is an abstention, never class 0 and never
neutral, and its spelling is counted.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.paths import data_dir

_TAG = re.compile(r"<\|(.*?)\|>|<([^<>|]*)>")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_AROUND = " \t\r\n.,;:!?…。，；：！？、\"'`*()[]{}«»“”‘’„|"
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|none|without|isn'?t|doesn'?t|don'?t|hardly)\b|n['’]t\b")
_SHORTHAND = frozenset({"ang", "hap", "fea", "dis", "sur", "neu", "ps"})
_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_REFUSAL = re.compile(
    r"\b(?:i(?: am|['’]m)? (?:can['’]?t|cannot|can not|won['’]?t|unable|not able)|(?:sorry|apologi[sz]e),? (?:but )?i"
    r"|as an ai|i must decline)\b"
)
_FIELD = re.compile(r"[\"']?\b(?:label|emotion|answer|class)[\"']?\s*[:=]\s*[\"']?([^\"',\n}]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AliasTable:
    """Spellings that are known, and what they mean.

    Attributes:
        version: Version of the table; part of every record.
        known: Cleaned spelling to class name, or None where the label is known to have no class.
        classes: Class names a spelling may stand for.
    """

    version: str
    known: Mapping[str, str | None]
    classes: tuple[str, ...] = CLASSES

    def resolve(self, spelling: str) -> str | None:
        """Class that a native label stands for, or None: the system abstained.

        A label of several parts (``生气/angry``, ``happy/excited``, ``joy/other``) stands for the one class its parts
        name; parts without a class do not count, and parts of two classes name none.
        """
        cleaned = clean(spelling)
        if cleaned in self.known:
            return self.known[cleaned]
        if "/" not in cleaned:
            return None
        named = {self.known.get(clean(part)) for part in cleaned.split("/")} - {None}
        return named.pop() if len(named) == 1 else None

    def knows(self, spelling: str) -> bool:
        """Whether the spelling, or each part of it (``其他/other``), is in the table, with or without a class."""
        cleaned = clean(spelling)
        return cleaned in self.known or all(clean(part) in self.known for part in cleaned.split("/"))

    def declared(self, native: Mapping[str, str | bool | None]) -> "AliasTable":
        """The table with the labels that one system's card declares (also digits and single letters).

        Args:
            native: Native label to class name, or False or None where the card gives it no class.

        Raises:
            PredictionError: A native label stands for something that is not a class.
        """
        own: dict[str, str | None] = {}
        for spelling, meaning in native.items():
            name = self.resolve(meaning) if isinstance(meaning, str) else None
            if name is None and meaning not in (None, False):
                raise PredictionError(
                    "a native label of the system's card stands for no class",
                    where=f"native label {spelling!r}",
                    expected=f"one of {', '.join(self.classes)}, or false",
                    found=repr(meaning),
                )
            own[clean(spelling)] = name
        return AliasTable(self.version, {**self.known, **own}, self.classes)

    def for_classes(self, classes: tuple[str, ...]) -> "AliasTable":
        """The table of a protocol with its own label space.

        A class keeps the spellings of the class that its name stands for (``joy``: those of happiness), and its own.
        """
        if classes == self.classes:
            return self
        here = {self.resolve(name): name for name in classes}
        known = {spelling: None if name is None else here.get(name) for spelling, name in self.known.items()}
        return AliasTable(self.version, {**known, **{clean(name): name for name in classes}}, classes)


def clean(spelling: str) -> str:
    """A spelling without what varies between writers: form, case, invisible characters, marks and punctuation."""
    text = unicodedata.normalize("NFKC", spelling).translate(_INVISIBLE).casefold()
    text = _TAG.sub(lambda match: match.group(1) or match.group(2) or "", text)
    return " ".join(text.replace("_", " ").replace("-", " ").split()).strip(_AROUND)


def is_number(spelling: str) -> bool:
    """Whether a label is written as a number, NaN or infinity: a mistake in the file, not a label."""
    try:
        float(spelling)
    except ValueError:
        return False
    return True


def is_no_text(spelling: str) -> bool:
    """Whether a label is written as a number or a boolean."""
    return is_number(spelling) or spelling.strip().casefold() in {"true", "false"}


@cache
def alias_table() -> AliasTable:
    """The shipped table, ``data/labels.toml``."""
    document = tomllib.loads((data_dir() / "labels.toml").read_text(encoding="utf-8"))
    known: dict[str, str | None] = {clean(spelling): None for spelling in document["no_class"]["spellings"]}
    for name in CLASSES:
        known.update(dict.fromkeys(map(clean, document["classes"][name]), name))
    return AliasTable(document["version"], known)


def parse_answer(answer: str, table: AliasTable | None = None) -> str | None:
    """Class that a model's free answer names, or None where it names none or more than one.

    A model's reasoning (``<think>`` blocks) is dropped. The whole answer may be a label, or contain ``label: …`` /
    ``"emotion": "…"``, or begin with a line that is a label; otherwise every word that is a spelling of a class (not
    its shorthand: "sur" is a word elsewhere) is looked at. An answer that names two classes ("not happy; she sounds
    sad") or contains a negation is an abstention: which of them is meant would be a guess.
    """
    table = table or alias_table()
    answer = _spoken(answer)
    whole = table.resolve(answer)
    if whole is not None or table.knows(answer):
        return whole
    fields = {table.resolve(found) for found in _FIELD.findall(answer)}
    if fields:
        return fields.pop() if len(fields) == 1 else None
    first = next((line for line in answer.splitlines() if line.strip()), "")
    if (label := table.resolve(first)) is not None:
        return label
    text = clean(answer)
    if _NEGATION.search(text):
        return None
    named = {table.known.get(word) for word in re.findall(r"\w+", text) if word not in _SHORTHAND} - {None}
    return named.pop() if len(named) == 1 else None


def is_refusal(answer: str) -> bool:
    """Whether a free answer without a class refuses to give one, by its wording."""
    return _REFUSAL.search(clean(_spoken(answer))) is not None


def _spoken(answer: str) -> str:
    """An answer without its ``<think>`` blocks; one that is never closed takes everything after it."""
    closed = _THINK.sub(" ", answer)
    return re.split(r"(?i)</think(?:ing)?>", closed)[-1]
