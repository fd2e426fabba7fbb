"""What public sources say of the systems' training data: the overlap ledger ``data/training.csv``.

A system without a line, or with lines that name no corpus, may have been trained on anything: nothing found is not
the same as none, and no text made from this ledger calls a system zero-shot.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.records.schemas import check, load_schema

UNNAMED = "unnamed"
"""``corpus`` of a line whose source names no corpus."""

OTHER = "other:"
"""Prefix of data that the package has no adapter for."""

Evidence = Literal["stated", "implied", "unnamed", "nothing found"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the ledger; the columns are described in ``schema/training.schema.json``."""

    system_id: str
    corpus: str
    relation: str
    via: str
    split: str
    certainty: str
    source: str
    date: str
    note: str


@dataclass(frozen=True, slots=True)
class Training:
    """What is known of one system's training data.

    Attributes:
        system_id: Id of the system.
        evidence: ``stated``: a source names a corpus of this package, or a collection that has such members;
            ``implied``: only by implication or through a parent model; ``unnamed``: trained on corpora that are not
            named; ``nothing found``: no source names anything.
        corpora: Corpus id to ``stated`` or ``implied``, sorted by id.
        unnamed: Whether a source states further data without naming it, so that the overlap may be larger.
        lines: The lines it follows from, its parents' included.
    """

    system_id: str
    evidence: Evidence
    corpora: Mapping[str, str]
    unnamed: bool
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole ledger.

    Attributes:
        lines: Every line, sorted.
    """

    lines: tuple[Line, ...]

    def named(self) -> frozenset[str]:
        """Corpora that any line names for any system."""
        return frozenset(line.corpus for line in self.lines if _is_corpus(line))

    def of(self, system_id: str) -> Training:
        """What is known of a system; a derived system inherits the corpora of its parent as implied."""
        own = [line for line in self.lines if line.system_id == system_id]
        stated_collections = {line.corpus.removeprefix(OTHER) for line in own if line.certainty == "stated"}
        corpora: dict[str, str] = {}
        inherited: list[Line] = []
        for line in own:
            if line.relation == "derived from":
                parent = self.of(line.via)
                inherited += parent.lines
                corpora |= {corpus: corpora.get(corpus, "implied") for corpus in parent.corpora}
            elif _is_corpus(line):
                member = line.relation == "member of a collection" and line.via in stated_collections
                if corpora.get(line.corpus) != "stated":
                    corpora[line.corpus] = "stated" if member else line.certainty
        unnamed = any(line.corpus == UNNAMED and line.certainty == "stated" for line in [*own, *inherited])
        evidence: Evidence = "unnamed" if unnamed else "nothing found"
        if corpora:
            evidence = "stated" if "stated" in corpora.values() else "implied"
        return Training(system_id, evidence, dict(sorted(corpora.items())), unnamed, (*own, *inherited))


def read_ledger(path: Path) -> Ledger:
    """Read and check a ledger.

    Raises:
        RecordError: A line breaks the schema, is written twice or out of order, or names a parent without lines.
    """
    columns = load_schema("training")["required"]
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = list(reader)
    except (OSError, ValueError, csv.Error) as error:
        raise RecordError(f"the training ledger cannot be read: {error}", where=path) from error
    if reader.fieldnames != columns:
        raise RecordError(
            "wrong header", where=f"{path}:1", expected=",".join(columns), found=",".join(reader.fieldnames or ())
        )
    for number, row in enumerate(rows, start=2):
        check(row, "training", where=f"{path}:{number}")
    lines = tuple(Line(**row) for row in rows)
    keys = [(line.system_id, line.corpus, line.relation, line.via) for line in lines]
    for number, (before, key) in enumerate(pairwise(keys), start=3):
        if before >= key:
            raise RecordError(
                "duplicate line" if before == key else "lines are not sorted",
                where=f"{path}:{number}",
                expected="lines sorted by system_id, corpus, relation, via",
                found=", ".join(key),
            )
    _check_parents(lines, where=path)
    return Ledger(lines)


@cache
def training_ledger() -> Ledger:
    """The shipped ledger."""
    return read_ledger(data_dir() / "training.csv")


def _is_corpus(line: Line) -> bool:
    return line.corpus != UNNAMED and not line.corpus.startswith(OTHER)


def _check_parents(lines: Sequence[Line], *, where: Path) -> None:
    """Every parent has lines, and no system descends from itself."""
    parents = {line.system_id: line.via for line in lines if line.relation == "derived from"}
    known = {line.system_id for line in lines}
    for system in parents:
        seen = [system]
        while (parent := parents.get(seen[-1])) is not None:
            if parent in seen or parent not in known:
                raise RecordError(
                    "a derived system needs a parent with lines of its own, and no circle",
                    where=where,
                    found=" derived from ".join([*seen, parent]),
                )
            seen.append(parent)
