"""Set before any test imports numpy; how property tests run; fixtures that several modules use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Two test processes on two cores: a BLAS that starts threads of its own makes them wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples every time and no time limit on one: a test of figures must not fail because a machine is busy.
settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")


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
