"""Set before any test imports numpy; how property tests run; fixtures that several modules use."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Two test processes on two cores: a BLAS that starts threads of its own makes them wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples every time and no time limit on one: a test of figures must not fail because a machine is busy.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def ravdess(tmp_path: Path) -> Path:
    """RAVDESS as its spec's example makes it."""
    from oruk_leaderboard.corpora import get_corpus
    from oruk_leaderboard.corpora.example import build_example

    build_example(get_corpus("ravdess"), tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def small_shards(monkeypatch):
    """Several shards and batches from few clips."""
    from oruk_leaderboard.reconstruction import shards

    monkeypatch.setattr(shards, "SHARD_CLIPS", 7)
    monkeypatch.setattr(shards, "BATCH_CLIPS", 3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with recordings of many formats, and the spec that reads it."""
    from tests.made_corpora import mixed, spec

    folder = tmp_path_factory.mktemp("mixed")
    return mixed(folder), spec(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; skipped where there is none, which ``ORUK_REQUIRE_BROWSER=1`` makes a failure."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "playwright is not installed"
    else:
        missing = "" if CHROMIUM.exists() else f"no browser at {CHROMIUM}: apt-get install chromium"
    if missing:
        if os.environ.get("ORUK_REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the attested records."""
    from oruk_leaderboard.page import build_page
    from tests.made_records import add, attested

    root = tmp_path_factory.mktemp("page")
    add(root / "data", *attested())
    return build_page(root / "out", data=root / "data").folder


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the attested records, two hostile ones and one that was scored on a rebuilt set."""
    from oruk_leaderboard.page import build_page
    from oruk_leaderboard.records.record import Source
    from tests.made_records import FORMULA, HOSTILE, a_record, add, attested
    from tests.scored import scored_record

    root = tmp_path_factory.mktemp("hostile")
    data = root / "data"
    add(data, *attested())
    add(data, a_record("hostile", name=HOSTILE, note=HOSTILE, macro_f1="0.7000"))
    add(data, a_record("formula", name=FORMULA, macro_f1="0.6900"))
    evaluation = scored_record()["evaluation"]
    here = Source(kind="scored_here", attested_by="a test")
    add(data, a_record("rebuilt", scored_on="rebuilt_open", source=here, evaluation=evaluation, macro_f1="0.9000"))
    return build_page(root / "out", data=data).folder


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Any]:
    from tests.page_visit import Visit

    visit = Visit(browser, folder)
    yield visit
    assert visit.complaints == []
    visit.context.close()


@pytest.fixture
def hostile(browser: Any, hostile_folder: Path) -> Iterator[Any]:
    from tests.page_visit import Visit

    visit = Visit(browser, hostile_folder)
    yield visit
    assert visit.complaints == []
    visit.context.close()
