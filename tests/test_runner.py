"""Running a system on a rebuilt set: answers, failures, resuming, receipts."""

import csv
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.audio import encode_flac
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import runner

CARD = SystemCard(id="mine", name="mine", family="open", adapter="callable", source="test", model_id="m:f")


class MadeSet:
    """A rebuilt set in memory: as much of ``ClipSet`` as a run uses."""

    def __init__(self, levels: dict[str, float]) -> None:
        self.samples = {
            name: np.round(level * 32767 * np.sin(np.arange(4000) / 9)).astype(np.int16)
            for name, level in levels.items()
        }
        self.report = {"manifest": {"profile": None}}
        columns = {
            "clip_id": list(levels),
            "clip_sha256": [hashlib.sha256(wave.tobytes()).hexdigest() for wave in self.samples.values()],
        }
        self.table = SimpleNamespace(column=lambda name: SimpleNamespace(to_pylist=lambda: columns[name]))

    def recordings(self, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
        return ((name, encode_flac(wave)) for name, wave in self.samples.items() if name in wanted)


class Listener:
    """Names a clip by its peak; fails on one level, and counts what it was asked."""

    card, revision = CARD, "a" * 40

    def __init__(self, fails_at: float | None = None) -> None:
        self.fails_at, self.heard = fails_at, 0

    def predict(self, batch: list[np.ndarray]) -> list[Answer]:
        self.heard += len(batch)
        peaks = [float(np.abs(wave).max()) for wave in batch]
        if self.fails_at is not None and any(abs(peak - self.fails_at) < 0.01 for peak in peaks):
            raise RuntimeError("cannot hear this")
        return [Answer(label="angry" if peak > 0.5 else "mumbling") for peak in peaks]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def start(made: MadeSet, system: Listener) -> runner.Run:
        monkeypatch.setattr(runner, "open_clipset", lambda folder: made)
        monkeypatch.setattr(runner, "load_system", lambda card, **options: system)
        return runner.run(CARD, clips=tmp_path, out=tmp_path / "out.csv")

    return start


def rows_of(run: runner.Run) -> dict[str, tuple[str, str]]:
    with run.predictions.open(encoding="utf-8") as file:
        return {row["clip_id"]: (row["label"], row["status"]) for row in csv.DictReader(file)}


def test_answers_failures_and_unknown_labels_are_all_rows(start) -> None:
    made = MadeSet({"c/1": 0.9, "c/2": 0.2, "c/3": 0.7})
    done = start(made, Listener(fails_at=0.7))
    assert rows_of(done) == {"c/1": ("anger", "ok"), "c/2": ("mumbling", "abstained"), "c/3": ("", "error")}
    assert done.counts == {"ok": 1, "abstained": 1, "error": 1}
    assert done.unknown_labels == {"mumbling": 1}
    receipts = [json.loads(line) for line in done.receipts.read_text(encoding="utf-8").splitlines()]
    assert {item["clip_id"]: item["reason"] for item in receipts}["c/3"] == "RuntimeError: cannot hear this"


def test_a_failed_clip_is_asked_again_and_the_others_are_not(start) -> None:
    made = MadeSet({f"c/{at}": level for at, level in enumerate((0.9, 0.6, 0.7, 0.8))})
    start(made, Listener(fails_at=0.7))
    again = Listener()
    done = start(made, again)
    assert (again.heard, done.resumed) == (1, 3)
    assert done.counts == {"ok": 4}


def test_a_cut_last_line_is_asked_again(start) -> None:
    made = MadeSet({"c/1": 0.9, "c/2": 0.8})
    done = start(made, Listener())
    text = done.receipts.read_bytes()
    done.receipts.write_bytes(text[:-20])
    again = Listener()
    assert start(made, again).counts == {"ok": 2}
    assert again.heard == 1
    assert len(done.receipts.read_bytes().splitlines()) == 2


def test_answers_may_hold_line_separators_of_unicode(start) -> None:
    made = MadeSet({"c/1": 0.9})
    done = start(made, Listener())
    text = done.receipts.read_text(encoding="utf-8")
    done.receipts.write_text(text.replace('"label": "', '"label": "one\u2028two '), encoding="utf-8")
    assert "\u2028" in done.receipts.read_text(encoding="utf-8")
    again = Listener()
    start(made, again)
    assert again.heard == 0


def test_a_file_that_holds_no_receipts_is_left_as_it_is(start, tmp_path) -> None:
    done = start(MadeSet({"c/1": 0.9}), Listener())
    for text in ("my notes", "my\nnotes", "\xff\n\xfe"):
        done.receipts.write_text(text, encoding="latin-1")
        with pytest.raises(OrukError, match="receipt"):
            start(MadeSet({"c/1": 0.9}), Listener())
        assert done.receipts.read_text(encoding="latin-1") == text


def test_answers_for_other_samples_are_not_taken_over(start) -> None:
    start(MadeSet({"c/1": 0.9, "c/2": 0.8}), Listener())
    again = Listener()
    done = start(MadeSet({"c/1": 0.9, "c/2": 0.1}), again)
    assert again.heard == 1
    assert rows_of(done)["c/2"] == ("mumbling", "abstained")


def test_receipts_of_another_revision_end_the_run(start) -> None:
    made = MadeSet({"c/1": 0.9})
    start(made, Listener())
    other = Listener()
    other.revision = "b" * 40
    with pytest.raises(OrukError, match="another system"):
        start(made, other)


def test_stored_samples_that_are_not_the_sets_end_the_run(start) -> None:
    made = MadeSet({"c/1": 0.9})
    made.samples["c/1"][7] += 1
    with pytest.raises(OrukError, match="not what the set states"):
        start(made, Listener())


def test_subsample_is_that_of_the_sets_own_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_manifest(version: str) -> SimpleNamespace:
        asked.append(version)
        return SimpleNamespace(subsample=lambda profile: {"open": {"c/2", "c/9"}}[profile])

    monkeypatch.setattr("oruk_leaderboard.manifest.load_manifest", load_manifest)
    made = MadeSet({"c/1": 0.9, "c/2": 0.8})
    with pytest.raises(OrukError, match="no such subsample"):
        runner._inputs(made, "5k")
    made.report = {"manifest": {"profile": "open", "version": "1.2.3"}}
    assert list(runner._inputs(made, "5k")) == ["c/2"]
    assert asked == ["1.2.3"]
