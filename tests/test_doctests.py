"""Examples in docstrings: they run, and every public function of `metrics` and `statistics` has one."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

from oruk_leaderboard import metrics, statistics

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "oruk_leaderboard"
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path, text in SOURCES.items()
    if ">>> " in text
]
USED = {
    node.id if isinstance(node, ast.Name) else node.attr
    for text in SOURCES.values()
    for node in ast.walk(ast.parse(text))
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
}
"""Names that the package reads; definitions, imports and docstrings are not among them."""

PUBLIC = [(room, name) for room in (metrics, statistics) for name in room.__all__]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted and not result.failed


@pytest.mark.parametrize(("room", "name"), PUBLIC, ids=[f"{room.__name__}.{name}" for room, name in PUBLIC])
def test_public_functions_have_an_example_and_a_user(room: object, name: str) -> None:
    member = getattr(room, name)
    if inspect.isfunction(member):
        assert ">>> " in (member.__doc__ or "")
    # Naming it in a sentence is not documenting it: a page has to show it as code.
    shown = re.compile(rf"`[^`\n]*\b{name}\b[^`\n]*`")
    documented = any(shown.search(page.read_text(encoding="utf-8")) for page in (ROOT / "docs").glob("*.md"))
    assert name in USED or documented, "nothing in the package uses it and no page documents it"
