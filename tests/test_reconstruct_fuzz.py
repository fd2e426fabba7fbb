"""Damaged recordings of every format: a stated failure, or the clip that the rule gives for exactly those bytes."""

import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.fuzz import damage, limit, originals, try_many
from tests.made_corpora import mixed, pinned, rebuild, spec

EACH = 96
"""Damaged copies of each of the 24 formats; 2,304 in all."""

STEP = 24


def test_damaged_recordings():
    recordings = originals()
    assert len(recordings) * EACH >= 2_000
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=limit) as pool:
        waiting = {
            (name, at): pool.submit(try_many, name, data, range(at, at + STEP))
            for name, data in recordings.items()
            for at in range(0, EACH, STEP)
        }
        told: Counter[str] = Counter()
        for future in waiting.values():
            told += future.result(timeout=240)
    assert sum(told.values()) == len(recordings) * EACH
    # The damage must be neither all fatal nor all harmless, or nothing was tried.
    assert told["clip"] > 300 and told["truncated"] > 50 and told["unreadable"] > 300


def test_damaged_pinned_sources_are_not_written(tmp_path):
    corpus, toml = mixed(tmp_path, 48), spec(tmp_path)
    manifest = pinned(corpus, toml)
    chance = random.Random(5)
    for path in corpus.iterdir():
        original = path.read_bytes()
        while (damaged := damage(original, chance)) == original:
            pass
        path.write_bytes(damaged)
    report = rebuild(corpus, toml, tmp_path / "out", manifest=manifest)
    states = report.to_dict()["corpora"]["mixed"]["states"]
    # Damage beside the samples leaves the same sound, which is what it is then called.
    assert set(states) <= {"differs", "same-audio"}
    assert states["differs"] > 30
    assert report.to_dict()["clips"] == states.get("same-audio", 0)
    told = {finding["state"] for finding in report.to_dict()["findings"]}
    assert told == {"differs"}
