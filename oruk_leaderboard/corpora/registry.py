"""All corpora: the built-in specs and the index of those without an adapter."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from oruk_leaderboard.corpora.index import load_index
from oruk_leaderboard.corpora.spec import CorpusSpec, load_spec
from oruk_leaderboard.errors import CorpusError


@cache
def built_in() -> Mapping[str, CorpusSpec]:
    """Specs of this package by id."""
    specs = [load_spec(path, trusted=True) for path in sorted(Path(__file__).parent.glob("*.toml"))]
    return MappingProxyType({spec.id: spec for spec in specs})


@cache
def registry() -> Mapping[str, CorpusSpec]:
    """Every known corpus by id: those with an adapter, then those of the index."""
    index = {name: spec for name, spec in load_index().items() if name not in built_in()}
    return MappingProxyType({**built_in(), **index})


def get_corpus(name: str | Path) -> CorpusSpec:
    """The corpus with this id, or the one a ``.toml`` file describes.

    Raises:
        CorpusError: There is no such corpus; the message suggests the nearest ids.
    """
    text = str(name)
    if text.lower().endswith(".toml"):
        return load_spec(Path(name))
    known = registry()
    if text not in known:
        from difflib import get_close_matches

        near = get_close_matches(text.lower().replace("-", "_"), known, n=3)
        raise CorpusError(
            "no such corpus", where=text, expected=" or ".join(near) or None, do="see: oruk-leaderboard corpora list"
        )
    return known[text]
