"""Why nothing is recognised below some roots: what is there, and which corpus comes nearest."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oruk_leaderboard.corpora.find import find_corpora, open_roots
from oruk_leaderboard.corpora.match import Parts, index_names
from oruk_leaderboard.corpora.registry import get_corpus, registry
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
    """The corpus that most file names would fit, except for their case, their folders or the files beside them."""
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
    like = _such_as(spec)
    recased = [part for part in near if not any(rule.name.fullmatch(part.stem) for rule in spec.files)]
    if recased:
        differs = f"upper and lower case differ: {recased[0].name}, expected {like}"
    elif spec.markers or spec.within:
        differs = f"what distinguishes it from corpora with such names is missing: expected {like}"
    else:
        differs = f"the folders differ: {near[0].name}, expected {like}"
    return Nearest(spec.id, len(near), differs)


def not_recognised(
    roots: Sequence[Root], only: Mapping[str, str | Path | None] | Sequence[str] | None = None
) -> CorpusError:
    """The error for roots in which no corpus is found: what is there, what was refused, what comes nearest.

    Args:
        roots: Where all corpora were looked for, or those of ``only`` that have no path.
        only: As for `find_corpora`: what the user asked for.
    """
    named = only if isinstance(only, Mapping) else dict.fromkeys(only or ())
    below = roots if not named or None in named.values() else ()
    roots = [*below, *open_roots(*(path for path in named.values() if path is not None))]
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
    like, corpus = _like(roots, parts, recognisable=bool(named))
    if named:
        what = f"not recognised as {', '.join(named)}"
        expected = " or ".join(_such_as(get_corpus(name)) for name in named)
        do = "give the folder of the corpus, or one above it"
    else:
        what, expected = "no corpus is recognised here", "files named as a corpus of `corpora list` names them"
        do = "name the corpus if it is one: --corpus ID=PATH"
    if corpus is not None:
        helps = corpus not in named and find_corpora(*roots, only=[corpus])
        do = f"if it is that one: --corpus {corpus}=PATH" if helps else "give the files the names that the release has"
    return CorpusError(
        what,
        where=", ".join(root.location for root in roots) or None,
        expected=expected + like,
        found="; ".join(found),
        do=do,
    )


def _like(roots: Sequence[Root], files: Sequence[Parts], *, recognisable: bool) -> tuple[str, str | None]:
    """What the roots look like, for the message, and the id of that corpus; the corpus asked for is not there."""
    here = find_corpora(*roots) if recognisable and roots else ()
    if here:
        ids = ", ".join(sorted({found.spec.id for found in here}))
        return f"; this looks like {ids}", here[0].spec.id
    near = nearest(files)
    if near is None:
        return "", None
    return f"; the nearest is {near.corpus}: {near.count:,} names fit, but {near.differs}", near.corpus


def _such_as(spec: CorpusSpec) -> str:
    example = next((path for path in spec.example.get("tree", {}) if suffix_of(path) in MEDIA), None)
    return f"files such as {example}" if example else f"the files of {spec.name}"
