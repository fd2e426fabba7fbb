"""Rules of a corpus spec: templates, lookups and first-of lists that turn a row's columns into one value.

A *column* is a named group of a file pattern, a column of a label table, ``JOIN.column`` of a joined table, or one of
the built-in columns ``stem``, ``file``, ``suffix`` and ``folder`` of the recording. A rule is one of

- a template, ``"{speaker}"`` or ``"{folder}/{stem}"``: plain substitution, with an optional filter after a colon
  (``{word:lower}``; ``known`` turns ``Unknown``, ``NA`` and the like into nothing); if one of its columns is unknown
  the whole template is unknown (None);
- a list of rules: the first that is known;
- a lookup, ``{ of = "{speaker}", female = ["f*", "03"], male = ["m*"] }``: the first value one of whose glob patterns
  (``*``, ``?``, ``[0-9]``, case-sensitive) matches; ``else`` names the value when none does.
"""

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from oruk_leaderboard.errors import CorpusError

Columns = Mapping[str, str | None]
"""Column name to value; None where the value is unknown."""

BUILT_IN = ("stem", "file", "suffix", "folder")
"""Columns that every row with a recording has."""

_PLACEHOLDER = re.compile(r"\{([^{}:]+)(?::([a-z]+))?\}")
_FILTERS: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "stem": lambda value: value.rpartition("/")[2].rpartition(".")[0] or value.rpartition("/")[2],
    "number": lambda value: value.lstrip("0") or "0",
    "known": lambda value: "" if value.casefold() in {"unknown", "nan", "na", "none", "-"} else value,
}


@dataclass(frozen=True, slots=True)
class Template:
    """Text with ``{column}`` or ``{column:filter}`` placeholders."""

    text: str
    _parts: tuple[tuple[str, str | None, Callable[[str], str] | None], ...] = field(
        repr=False, compare=False, default=()
    )

    def columns(self) -> Iterator[str]:
        """Columns the template needs."""
        return (column for _, column, _ in self._parts if column is not None)

    def texts(self) -> Iterator[str]:
        """What the value is like: the text with ``<column>`` for what a column fills in."""
        yield "".join(literal if column is None else f"{literal}<{column}>" for literal, column, _ in self._parts)

    def value(self, columns: Columns) -> str | None:
        """The filled text, or None when a column is unknown or empty."""
        filled = ""
        for literal, column, apply in self._parts:
            filled += literal
            if column is not None:
                content = columns.get(column)
                if not content:
                    return None
                filled += content if apply is None else apply(content)
        return filled


@dataclass(frozen=True, slots=True)
class FirstOf:
    """The first rule with a known value."""

    rules: tuple["Rule", ...]

    def columns(self) -> Iterator[str]:
        """Columns any of the rules may use."""
        return (column for rule in self.rules for column in rule.columns())

    def texts(self) -> Iterator[str]:
        """What the value of each rule is like."""
        return (text for rule in self.rules for text in rule.texts())

    def value(self, columns: Columns) -> str | None:
        """Value of the first rule that has one."""
        return next((value for rule in self.rules if (value := rule.value(columns)) is not None), None)


@dataclass(frozen=True, slots=True)
class Lookup:
    """A small table from a value's glob patterns to another value; answers are remembered."""

    of: "Rule"
    cases: tuple[tuple[str, re.Pattern[str]], ...]
    otherwise: str | None
    _known: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)

    def columns(self) -> Iterator[str]:
        """Columns of the looked-up rule."""
        return self.of.columns()

    def texts(self) -> Iterator[str]:
        """The values of the table."""
        return (name for name in (*(name for name, _ in self.cases), self.otherwise) if name is not None)

    def value(self, columns: Columns) -> str | None:
        """The value whose pattern matches first, or ``otherwise``."""
        key = self.of.value(columns)
        if key is None:
            return None
        if key not in self._known:
            self._known[key] = next((value for value, globs in self.cases if globs.match(key)), self.otherwise)
        return self._known[key]


Rule = Template | FirstOf | Lookup


def template(text: str, *, where: object) -> Template:
    """Parse one template.

    Raises:
        CorpusError: A filter does not exist or a brace is not closed.
    """
    parts: list[tuple[str, str | None, Callable[[str], str] | None]] = []
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        column, name = found.groups()
        if name is not None and name not in _FILTERS:
            raise CorpusError("unknown filter", where=where, expected=", ".join(_FILTERS), found=repr(name))
        parts.append((text[end : found.start()], column, _FILTERS[name] if name else None))
        end = found.end()
    if text[end:]:
        parts.append((text[end:], None, None))
    if any("{" in literal or "}" in literal for literal, _, _ in parts):
        raise CorpusError("a brace is not closed", where=where, expected="{column}", found=repr(text))
    return Template(text, tuple(parts))


def globs(patterns: list[str]) -> re.Pattern[str]:
    """One pattern that matches a whole text when any of the globs does."""
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns))


def rule(value: object, *, where: str) -> Rule:
    """Parse a rule as the module's docstring describes it.

    Raises:
        CorpusError: The value is not a rule.
    """
    if isinstance(value, str):
        return template(value, where=where)
    if isinstance(value, list) and value:
        return FirstOf(tuple(rule(item, where=where) for item in value))
    if isinstance(value, dict) and "of" in value:
        cases = {name: [item] if isinstance(item, str) else item for name, item in value.items() if name != "of"}
        otherwise = cases.pop("else", [None])[0]
        compiled = tuple((name, globs(patterns)) for name, patterns in cases.items())
        return Lookup(rule(value["of"], where=f"{where}.of"), compiled, otherwise)
    raise CorpusError(
        "not a rule", where=where, expected="a template, a list of rules, or a table with `of`", found=repr(value)
    )
