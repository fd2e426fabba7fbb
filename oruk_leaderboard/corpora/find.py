"""Which corpora are below a root, recognised by their own file names, whatever the folders around them are called."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import commonpath
from typing import overload

from oruk_leaderboard.corpora.columns import clip_name
from oruk_leaderboard.corpora.match import (
    Match,
    NameIndex,
    has_content,
    index_names,
    match_files,
    match_paths,
    matches_within,
)
from oruk_leaderboard.corpora.registry import get_corpus, registry
from oruk_leaderboard.corpora.roots import Problem, Root, open_root
from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.errors import CorpusError


@dataclass(frozen=True, slots=True)
class FoundCorpus:
    """One corpus below one root.

    Attributes:
        spec: The corpus.
        root: Where it is.
        places: Paths below the root at which the corpus's own root is (``""`` or ending with ``/``), shortest first;
            more than one when the corpus is there more than once.
        files: Files that the spec's file patterns recognise.
        tables: Label files that the spec's ``[table]`` recognises.
        strays: Recordings that lie where clips lie and belong to no corpus found below the root.
        outside: Recordings that fit the patterns but are not clips of this release, with the reason.
        index: All names of the root.
    """

    spec: CorpusSpec
    root: Root
    places: tuple[str, ...]
    files: Sequence[Match] = field(repr=False)
    tables: Sequence[Match] = field(repr=False)
    strays: Sequence[str] = field(repr=False)
    outside: Mapping[str, str] = field(repr=False)
    index: NameIndex = field(repr=False)

    @property
    def prefix(self) -> str:
        """Path of the corpus's own root below the root."""
        return self.places[0] if self.places else ""

    def to_dict(self) -> dict[str, object]:
        """Corpus, root and places."""
        return {"corpus": self.spec.id, "root": self.root.location, "places": list(self.places)}


@dataclass(frozen=True, slots=True)
class FoundCorpora(Sequence[FoundCorpus]):
    """Corpora in the order of their roots and ids, as a sequence.

    Attributes:
        corpora: The corpora.
    """

    corpora: tuple[FoundCorpus, ...]

    def __len__(self) -> int:
        return len(self.corpora)

    @overload
    def __getitem__(self, at: int) -> FoundCorpus: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[FoundCorpus, ...]: ...
    def __getitem__(self, at: int | slice) -> FoundCorpus | tuple[FoundCorpus, ...]:
        return self.corpora[at]

    def to_dict(self) -> dict[str, object]:
        """Each corpus with its root and places."""
        return {"corpora": [corpus.to_dict() for corpus in self.corpora]}


def find_corpora(
    root: str | Path | Root | None = None,
    *more: str | Path | Root,
    only: Mapping[str, str | Path | None] | Sequence[str] | None = None,
) -> FoundCorpora:
    """Corpora below the roots, in the order of the roots and of corpus ids.

    Args:
        root: Folder, archive or listing with any number of corpora.
        more: Further ones.
        only: Ids (or spec files) to look for. Those that have a path are looked for there instead of below the roots.
            A corpus that is named here needs no markers to be recognised.

    Raises:
        CorpusError: A root or corpus does not exist.
    """
    named = only if isinstance(only, Mapping) else dict.fromkeys(only) if only is not None else None
    found: list[FoundCorpus] = []
    if named is None or None in named.values():
        wanted = None if named is None else [get_corpus(name) for name, path in named.items() if path is None]
        for opened in open_roots(*(more if root is None else (root, *more))):
            found += _below(opened, wanted)
    for name, own in (named or {}).items():
        if own is not None:
            found += _below(open_root(own), [get_corpus(name)])
    return FoundCorpora(tuple(found))


def open_roots(*paths: str | Path | Root) -> list[Root]:
    """Open corpora roots. One that is given twice is one root, however its path is written.

    Raises:
        CorpusError: A root does not exist.
    """
    roots: dict[str, Root] = {}
    for path in paths:
        location = str(path) if isinstance(path, str | Path) else path.location
        place = location if "://" in location else str(Path(location).resolve())
        if place not in roots:
            roots[place] = open_root(path)
    return list(roots.values())


def locate(spec: CorpusSpec, root: Root) -> FoundCorpus:
    """The corpus that the user says is below this root; nothing may be found there."""
    return _uncontested(_locate(spec, root, index_names(root.names()), any_case=True))


def parse_corpora(options: Iterable[str]) -> dict[str, str | None]:
    """``ID`` and ``ID=PATH`` options to a mapping for `find_corpora`."""
    return {name: path or None for name, _, path in (option.partition("=") for option in options)}


def _below(root: Root, wanted: Sequence[CorpusSpec] | None) -> list[FoundCorpus]:
    index = index_names(root.names())
    if wanted is not None:
        found = [_uncontested(_locate(spec, root, index, any_case=True)) for spec in wanted if spec.state == "adapter"]
        return [item for item in found if item.places]
    specs = sorted(registry().values(), key=lambda spec: spec.id)
    found = _recognised_in(root, index, specs)
    found += _recognised_in_any_case(root, index, specs, found)
    # A file goes to the corpus that knows its folder too, else to the one with more files.
    claims: dict[str, list[tuple[bool, int, str]]] = {}
    for item in found:
        for match in item.files:
            claims.setdefault(match.media, []).append((match.by_folder, len(item.files), item.spec.id))
    winners = {media: max(rivals)[2] for media, rivals in claims.items() if len(rivals) > 1}
    found = [_without(item, {m for m, winner in winners.items() if winner != item.spec.id}) for item in found]
    return [replace(item, strays=[name for name in item.strays if name not in claims]) for item in found if item.places]


def _recognised_in(
    root: Root, index: NameIndex, specs: Iterable[CorpusSpec], *, any_case: bool = False
) -> list[FoundCorpus]:
    found = []
    for spec in specs:
        try:
            item = _locate(spec, root, index, any_case=any_case) if spec.state == "adapter" else None
            if item is not None and item.places and _recognised(item):
                found.append(item)
        except CorpusError as error:
            # The patterns of a user's own spec failed; that must not stop the other corpora.
            problem = Problem(str(spec.origin), str(error))
            if problem not in root.problems:
                root.problems.append(problem)
    return found


def _recognised_in_any_case(
    root: Root, index: NameIndex, specs: Iterable[CorpusSpec], found: Sequence[FoundCorpus]
) -> list[FoundCorpus]:
    """Corpora whose names have all become lower or upper case, among the recordings that no other corpus has."""
    taken = {match.media for item in found for match in item.files}
    recordings = {suffix: parts for suffix, parts in index.by_suffix.items() if suffix in MEDIA}
    left = {suffix: [part for part in parts if part.name not in taken] for suffix, parts in recordings.items()}
    here = {item.spec.id for item in found}
    others = [spec for spec in specs if spec.trusted and spec.files and spec.id not in here]
    if not any(left.values()):
        return []
    recased = _recognised_in(root, NameIndex({**index.by_suffix, **left}, index.others), others, any_case=True)
    return [replace(item, index=index) for item in recased if item.files]


def _uncontested(found: FoundCorpus) -> FoundCorpus:
    """Without files that only the name gives to the corpus and that another corpus knows by their folder too.

    Strays that another corpus recognises are its clips, not strays.
    """
    doubtful = [*(match.media for match in found.files if not match.by_folder), *found.strays]
    if not doubtful:
        return found
    others = (spec for spec in registry().values() if spec.id != found.spec.id)
    rivals = _recognised_in(found.root, index_names(doubtful), others)
    claimed = {match.media for rival in rivals for match in rival.files}
    found = replace(found, strays=[name for name in found.strays if name not in claimed])
    lost = {match.media for rival in rivals for match in rival.files if match.by_folder}
    # Where nothing would be left the user's word counts.
    return found if len(lost) == len(found.files) else _without(found, lost)


def _without(found: FoundCorpus, lost: Collection[str]) -> FoundCorpus:
    if not lost:
        return found
    files = [match for match in found.files if match.media not in lost]
    strays = [name for name in found.strays if name not in lost]
    return replace(found, files=files, strays=strays, places=_places_of(found.spec, files, found.tables))


def _locate(spec: CorpusSpec, root: Root, index: NameIndex, *, any_case: bool = False) -> FoundCorpus:
    """The spec's files below a root; ``any_case`` looks for names in one case even where no other name fits."""
    tables = _tables(spec, root, index)
    matched, strays = match_files(spec, index)
    if strays or (any_case and not matched):
        matched, strays = match_files(spec, index, any_case=True)
    outside = _outside(spec, matched)
    files = [match for match in matched if match.media not in outside and spec.extra(match.media) is None]
    strays = sorted({*strays, *(match.media for match in matched)} - {match.media for match in files})
    return FoundCorpus(spec, root, _places_of(spec, files, tables), files, tables, strays, outside, index)


def _tables(spec: CorpusSpec, root: Root, index: NameIndex) -> list[Match]:
    """Label files by path and content; of two formats of one table the first by name counts."""
    if spec.table is None:
        return []
    tables: dict[tuple[str, object], Match] = {}
    for match in sorted(match_paths(spec, spec.table, index), key=lambda match: match.media):
        if has_content(spec, spec.table.content, root, match.media):
            # The groups of the path tell parts of a corpus apart, else the file's name does.
            part = tuple(sorted(match.columns.items())) or match.media.rpartition(".")[0].casefold()
            tables.setdefault((match.place, part), match)
    return list(tables.values())


def _outside(spec: CorpusSpec, matched: Sequence[Match]) -> dict[str, str]:
    """Files that fit the patterns and are not of the official set, with the reason.

    They are not among the spec's names; or only a secondary packing has their clip, and another packing is present.
    """
    reasons = [rule.secondary for rule in spec.files]
    if not any(reasons) and not spec.names:
        return {}
    names = {match.media: clip_name(spec, match.columns, match.media) for match in matched}
    outside = {
        match.media: f"not one of the {len(spec.names):,} official clips"
        for match in matched
        if spec.names and names[match.media] not in spec.names
    }
    primary = {names[match.media] for match in matched if reasons[match.packing] is None}
    lone = [match for match in matched if primary and names[match.media] not in primary]
    return outside | {match.media: reason for match in lone if (reason := reasons[match.packing])}


def _places_of(spec: CorpusSpec, files: Sequence[Match], tables: Sequence[Match]) -> tuple[str, ...]:
    if len(places := {item.place for item in tables or files}) < 2:
        return tuple(places)
    ids: dict[str, set[str]] = {}
    for item in tables or files:
        # Two tables of one official path, or two files of one clip, are two copies of the corpus.
        name = item.media[len(item.place) :] if tables else clip_name(spec, item.columns, item.media)
        ids.setdefault(item.place, set()).add(name)
    return _places(ids)


def _recognised(found: FoundCorpus) -> bool:
    spec = found.spec
    where = [f"{found.root.location}/{place}" for place in found.places]
    if not matches_within(spec, where):
        return False
    names = found.root.names() if spec.markers else ()
    return all(any(marker.fullmatch(name) for name in names) for marker in spec.markers)


def _places(ids: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Roots of the copies: folders that have different clips are one copy, up to the first that repeats a clip."""
    copies: dict[str, set[str]] = dict(ids)
    if len(copies) > 1 and len(set().union(*copies.values())) == sum(map(len, copies.values())):
        shared = commonpath(list(copies))
        return (shared + "/" * bool(shared),)
    parents = {place: _parents(place) for place in copies}
    for parent in sorted({p for all_of in parents.values() for p in all_of}, key=lambda p: -p.count("/")):
        inside = [place for place in copies if place.startswith(parent)]
        together = set().union(*(copies[place] for place in inside))
        if len(inside) > 1 and len(together) == sum(len(copies[place]) for place in inside):
            for place in inside:
                del copies[place]
            copies[parent] = together
    return _joined(copies)


def _joined(copies: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Places of copies, after parts of one copy that lie side by side (two halves of a download) are joined."""
    groups: list[tuple[list[str], set[str]]] = []
    for place in sorted(copies, key=lambda place: (len(place), place)):
        parts, ids = next((group for group in groups if group[1].isdisjoint(copies[place])), ([], set()))
        if not parts:
            groups.append((parts, ids))
        parts.append(place)
        ids |= copies[place]
    places: list[str] = []
    for parts, _ in groups:
        shared = commonpath(parts)
        together = shared + "/" * bool(shared)
        places.append(parts[0] if together in places else together)
    return tuple(sorted(places, key=lambda place: (len(place), place)))


def _parents(place: str) -> list[str]:
    parts = place.split("/")[:-1]
    return ["/".join(parts[:count]) + "/" * bool(count) for count in range(len(parts) + 1)]
