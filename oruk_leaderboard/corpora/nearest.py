"""Why nothing is recognised below some roots: what is there, and which corpus comes nearest."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from oruk_leaderboard.corpora.match import Parts, index_names
from oruk_leaderboard.corpora.registry import registry
from oruk_leaderboard.corpora.roots import Root
from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA, suffix_of
from oruk_leaderboard.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Nearest:
    """The corpus whose file names come nearest to those of some files.

    Attributes:
        corpus: Id of the corpus.
        count: How many of the files have such names.
        differs: What keeps them from being recognised.
    """

    corpus: str
    count: int
    differs: str


def nearest(files: Sequence[Parts]) -> Nearest | None:
    """The corpus that most file names would fit, were it not for their case, their folders or what lies beside them."""
    best: Nearest | None = None
    for spec in sorted(registry().values(), key=lambda spec: spec.id):
        # The patterns of a user's own spec run under a time limit elsewhere; here they are not worth a process.
        if spec.trusted and spec.files:
            found = _compare(spec, files)
            if found is not None and (best is None or found.count > best.count):
                best = found
    return best


def _compare(spec: CorpusSpec, files: Sequence[Parts]) -> Nearest | None:
    in_any_case = [re.compile(rule.name.pattern, re.IGNORECASE) for rule in spec.files]
    near = [part for part in files if any(pattern.fullmatch(part.stem) for pattern in in_any_case)]
    if not near:
        return None
    example = next((path for path in spec.example.get("tree", {}) if suffix_of(path) in MEDIA), None)
    like = f"such as {example}" if example else spec.name
    exact = [part for part in near if any(rule.name.fullmatch(part.stem) for rule in spec.files)]
    if len(exact) < len(near):
        differs = f"upper and lower case differ: {near[0].name}, expected {like}"
    elif spec.markers or spec.within:
        differs = f"what tells it from corpora with such names is not here: expected {like}"
    else:
        differs = f"the folders differ: {near[0].name}, expected {like}"
    return Nearest(spec.id, len(near), differs)


def not_recognised(roots: Sequence[Root]) -> CorpusError:
    """The error for roots in which no corpus is found: what is there, what was refused, what comes nearest."""
    parts = [
        part
        for root in roots
        for suffix, same in index_names(root.names()).by_suffix.items()
        if suffix in MEDIA
        for part in same
    ]
    others = sum(len(root.names()) for root in roots) - len(parts)
    found = [
        f"{len(parts):,} audio or video files and {others:,} others" if parts else f"no audio; other files: {others:,}"
    ]
    if parts:
        folders = Counter(part.folder for part in parts)
        found.append(f"e.g. {parts[0].name} (in {len(folders):,} folders)")
    found += [f"{problem.where}: {problem.reason}" for root in roots for problem in root.problems[:3]]
    near = nearest(parts)
    return CorpusError(
        "no corpus is recognised here",
        where=", ".join(root.location for root in roots) or None,
        expected="files named as a corpus of `corpora list` names them"
        + (f"; the nearest is {near.corpus}: {near.count:,} names fit, but {near.differs}" if near else ""),
        found="; ".join(found),
        do=f"name the corpus if it is one: --corpus {near.corpus if near else 'ID'}=PATH",
    )
