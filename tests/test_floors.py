"""The order of the package's parts: each imports only from its own floor or from one below, and no two in a circle."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "oruk_leaderboard"

FLOORS = (
    (
        "errors",
        "classes",
        "clip",
        "jsontext",
        "cells",
        "paths",
        "parquet",
        "progress",
        "ray_session",
        "todict",
        "tomltext",
        "languages",
    ),
    ("audio", "labels", "metrics", "pictures"),
    ("clipset", "corpora", "statistics"),
    ("manifest",),
    ("records",),
    ("answers",),
    ("systems", "protocols"),
    ("reconstruction", "scoring"),
    ("table",),
    ("card", "page", "hub"),
    ("release", "demo", "versions"),
    ("cli",),
)
"""Folders and modules of the package from bottom to top."""

FLOOR = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}


def part_of(module: str) -> str:
    """Folder or module below the package that a dotted name belongs to; empty for the package itself."""
    return module.partition(".")[2].partition(".")[0]


def imports(source: str) -> Iterator[str]:
    """Modules of the package that a source imports, inside functions and for type checkers too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def arrows(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """Pairs of modules of which the first imports from the second; a name stands for the module that defines it."""
    found = set()
    for module, source in sources.items():
        for name in imports(source):
            if name.partition(".")[0] == "oruk_leaderboard":
                while name not in sources:
                    name = name.rpartition(".")[0]
                found.add((module, name))
    return found


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """Nodes that can be reached from themselves."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        stack = list(graph.get(start, ()))
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack += graph.get(node, ())
        return seen

    return sorted(node for node in graph if node in reached(node))


@pytest.fixture(scope="module")
def sources() -> Mapping[str, str]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def test_every_part_has_a_floor(sources: Mapping[str, str]) -> None:
    assert {part_of(module) for module in sources} - {""} == FLOOR.keys()


def test_no_import_runs_up(sources: Mapping[str, str]) -> None:
    inner = [(one, other) for one, other in arrows(sources) if part_of(one) and part_of(other)]
    up = [f"{one} -> {other}" for one, other in inner if FLOOR[part_of(other)] > FLOOR[part_of(one)]]
    assert not up, "imports that run up: " + ", ".join(sorted(up))


def test_no_parts_or_modules_import_each_other(sources: Mapping[str, str]) -> None:
    parts: dict[str, set[str]] = {}
    modules: dict[str, set[str]] = {}
    for one, other in arrows(sources):
        if part_of(one) and part_of(other):
            modules.setdefault(one, set()).add(other)
            if part_of(one) != part_of(other):
                parts.setdefault(part_of(one), set()).add(part_of(other))
    assert circles(parts) == []
    assert circles(modules) == []


def test_the_check_sees_hidden_imports() -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from oruk_leaderboard.a import B\n"
    source += "def f():\n    import oruk_leaderboard.c.d\n    from oruk_leaderboard import e\n"
    names = {"oruk_leaderboard": "", "oruk_leaderboard.a": "", "oruk_leaderboard.c.d": "", "oruk_leaderboard.e": ""}
    found = arrows({**names, "oruk_leaderboard.x": source})
    assert {other for _, other in found} == names.keys() - {"oruk_leaderboard"}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def test_no_module_is_longer_than_400_lines() -> None:
    root = PACKAGE.parent
    modules = [path for part in (PACKAGE, root / "tests", root / "benchmarks") for path in part.rglob("*.py")]
    lengths = {str(path.relative_to(root)): len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert {name: length for name, length in lengths.items() if length > 400} == {}
