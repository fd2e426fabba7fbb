"""The Python snippets of the documentation run as they stand."""

import re
from pathlib import Path

import pytest

from oruk_leaderboard.paths import checkout_root
from tests.made_corpora import mixed, rebuild, spec

ROOT = checkout_root()
HUB = "oruk/oruk-bench-leaderboard"
SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "loading.md").read_text(encoding="utf-8"), re.DOTALL)
RESULTS = {"table": 33, "systems": 35, "best": 5, "rows": 20}
"""Name in a snippet to its number of rows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small rebuilt set in ``rebuilt``."""
    where = tmp_path_factory.mktemp("docs")
    rebuild(mixed(where), spec(where), where / "rebuilt")
    return where


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippets_of_loading_run(snippet: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
