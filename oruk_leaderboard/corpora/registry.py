"""All corpora: the built-in specs and the index of those without an adapter."""

import os
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType

from oruk_leaderboard.corpora.index import load_index
from oruk_leaderboard.corpora.loading import load_spec
from oruk_leaderboard.corpora.roots import Problem
from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.errors import CorpusError, did_you_mean


class _BuiltIn(Mapping[str, CorpusSpec]):
    """Specs of this package by id, which is the name of the file. A spec is read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._files = {path.stem: path for path in sorted(folder.glob("*.toml"))}
        self._read: dict[str, CorpusSpec] = {}

    def __getitem__(self, name: str) -> CorpusSpec:
        if name not in self._read:
            self._read[name] = load_spec(self._files[name], trusted=True)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@cache
def built_in() -> Mapping[str, CorpusSpec]:
    """Specs of this package by id."""
    return _BuiltIn(Path(__file__).parent)


@cache
def _shipped() -> Mapping[str, CorpusSpec]:
    return MappingProxyType(ChainMap(load_index(), built_in()))  # type: ignore[arg-type]  # read only


def registry() -> Mapping[str, CorpusSpec]:
    """Every known corpus by id: built-in adapters, the index of corpora without one, and the user's own.

    The user's own are the ``.toml`` files in the folders of ``ORUK_CORPORA`` and of installed plug-ins.

    Raises:
        CorpusError: Two specs have one id.
    """
    own, _ = _own(os.environ.get("ORUK_CORPORA", ""))
    return MappingProxyType(ChainMap(own, _shipped())) if own else _shipped()  # type: ignore[arg-type]  # read only


def broken_plug_ins() -> Sequence[Problem]:
    """Plug-ins and specs of the user that cannot be used, each with its reason; the others still work."""
    return _own(os.environ.get("ORUK_CORPORA", ""))[1]


@cache
def _own(folders: str) -> tuple[Mapping[str, CorpusSpec], Sequence[Problem]]:
    found: dict[str, CorpusSpec] = {}
    problems: list[Problem] = []
    for source, folder in [*_environment(folders), *_plug_ins(problems)]:
        if not folder.is_dir():
            problems.append(Problem(source, f"no such folder: {folder}"))
        for path in sorted(folder.glob("*.toml")):
            try:
                spec = load_spec(path)
            except CorpusError as error:
                problems.append(Problem(source, str(error)))
                continue
            other = found.get(spec.id) or _shipped().get(spec.id)
            if other is not None and other.state == "adapter":
                raise CorpusError(
                    f"two specs have the id {spec.id}", where=path, found=other.origin, do="rename one of them"
                )
            found[spec.id] = spec
    return found, problems


def _environment(folders: str) -> Iterator[tuple[str, Path]]:
    return ((f"ORUK_CORPORA {folder}", Path(folder)) for folder in folders.split(os.pathsep) if folder)


def _plug_ins(problems: list[Problem]) -> Iterator[tuple[str, Path]]:
    """Folders that installed packages offer: an entry point is a function that returns its folder of specs."""
    for entry in entry_points(group="oruk_leaderboard.corpora"):
        source = f"plug-in {entry.name} ({entry.value})"
        try:
            yield source, Path(entry.load()())
        except Exception as error:  # noqa: BLE001  a plug-in may fail in any way; it must not stop the others
            problems.append(Problem(source, f"{type(error).__name__}: {error}"))


def get_corpus(name: str | Path) -> CorpusSpec:
    """The corpus with this id, or the one a ``.toml`` file describes.

    Raises:
        CorpusError: There is no such corpus; the message suggests the nearest ids.
    """
    text = str(name)
    if text.lower().endswith(".toml"):
        spec = load_spec(Path(name))
        other = registry().get(spec.id)
        if other is not None and other.state == "adapter" and other.origin.resolve() != Path(name).resolve():
            raise CorpusError(f"two specs have the id {spec.id}", where=name, found=other.origin, do="rename yours")
        return spec
    known = registry()
    if text not in known:
        raise CorpusError("no such corpus", where=text, do=did_you_mean(text, known, see="corpora list"))
    return known[text]
