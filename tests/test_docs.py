"""The documentation's Python snippets run, its commands are those of the command line, its index names every page."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from oruk_leaderboard.cli import VERBS, build_parser
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.systems import read_card
from tests.made_corpora import mixed, rebuild, spec

ROOT = checkout_root()
HUB = "oruk/oruk-bench-leaderboard"
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
}


def blocks(language: str, *pages: str) -> list[str]:
    """Code blocks of a language, of all pages or of some."""
    texts = [PAGES[page] for page in pages or PAGES]
    return [block for text in texts for block in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)]


SNIPPETS = [*blocks("python", "docs/loading.md"), *(block for block in blocks("python", "README.md") if HUB in block)]
RESULTS = {"table": 33, "systems": 35, "best": 5, "rows": 20}
"""Name in a snippet to its number of rows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small rebuilt set in ``rebuilt``."""
    where = tmp_path_factory.mktemp("docs")
    rebuild(mixed(where), spec(where), where / "rebuilt")
    return where


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippets_run(snippet: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub's name is replaced by this checkout; a library that is not installed skips its snippet."""
    for name in re.findall(r"^(?:import|from) (polars|duckdb|torchcodec|torch)\b", snippet, re.MULTILINE):
        pytest.importorskip(name, exc_type=Exception)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.chdir(folder)
    local = snippet.replace(f"hf://datasets/{HUB}", str(ROOT)).replace(HUB, str(ROOT))
    names: dict[str, object] = {}
    exec(local, names)
    for name, number in RESULTS.items():
        if name in names:
            assert len(names[name]) == number, name
    if "clips" in names:
        assert len(names["clips"]) > 0
    if "batches" in names:
        waves, labels = names["waves"], names["labels"]
        assert len(waves) == len(labels) == min(8, len(names["clips"]))


def test_the_module_of_running_a_system_answers() -> None:
    [code] = blocks("python", "docs/running-a-system.md")
    names: dict[str, object] = {}
    exec(code, names)
    assert names["answer"](None) == {"angry": 0.7, "sad": 0.3}  # type: ignore[operator]


def test_the_cards_shown_are_valid(tmp_path: Path) -> None:
    [text] = blocks("toml", "docs/adding-a-system.md")
    (tmp_path / "my_model.toml").write_text(text, encoding="utf-8")
    assert read_card(tmp_path / "my_model.toml").adapter == "python"
    assert read_card(ROOT / "docs" / "examples" / "mine.toml").adapter == "transformers"


def commands() -> Iterator[tuple[str, list[str]]]:
    """Page and arguments of every command line that begins with the package's own command."""
    for page, text in PAGES.items():
        for block in re.findall(r"```(?:console|bash)?\n(.*?)```", text, re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.removeprefix("$ ").startswith("oruk-leaderboard "):
                    yield page, shlex.split(line.removeprefix("$ "), comments=True)[1:]


@pytest.mark.parametrize(("page", "arguments"), list(commands()))
def test_commands_parse(page: str, arguments: list[str]) -> None:
    """The README's commands also run, in tests/test_readme.py; those of other pages need data that is not here."""
    assert build_parser(arguments[0]).parse_args(arguments).verb == arguments[0]


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Option strings and choices of a parser and of the parsers below it."""
    found: set[str] = set()
    for action in parser._actions:
        found.update(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            found.update(*({name} | options_of(parser) for name, parser in action.choices.items()))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_verbs_and_options_in_the_text_exist(page: str) -> None:
    for span in re.findall(
        r"`((?:oruk-leaderboard )?[a-z-]+ [^`]*)`", re.sub(r"```.*?```", "", PAGES[page], flags=re.DOTALL)
    ):
        verb, *rest = span.removeprefix("oruk-leaderboard ").split()
        assert verb in VERBS or not span.startswith("oruk-leaderboard "), span
        if verb in VERBS:
            known = options_of(build_parser(verb))
            assert {word for word in rest if word.startswith("--")} <= known, span


def test_the_index_links_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", PAGES["docs/README.md"]))
    assert linked == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
