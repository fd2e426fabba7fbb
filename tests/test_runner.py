"""Running a system on a rebuilt set: answers, failures, resuming, receipts."""

import csv
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.answers.receipt_file import ReceiptFile
from oruk_leaderboard.audio import encode_flac
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import runner
from oruk_leaderboard.systems.base import Item, LocalSystem

CARD = SystemCard(id="mine", name="mine", family="open", adapter="python", source="test", model_id="m:f")


class MadeSet:
    """A rebuilt set in memory: as much of ``ClipSet`` as a run uses."""

    digest = "d" * 64
    folder = Path("made")

    def __init__(self, levels: dict[str, float]) -> None:
        self.samples = {
            name: np.round(level * 32767 * np.sin(np.arange(4000) / 9)).astype(np.int16)
            for name, level in levels.items()
        }
        self.report = {"manifest": {"profile": None}}
        n = len(levels)
        columns = {
            "clip_id": list(levels),
            "clip_sha256": [hashlib.sha256(wave.tobytes()).hexdigest() for wave in self.samples.values()],
            "corpus": [name.partition("/")[0] for name in levels],
            "language": [("en-CA", "en", "de", None)[at % 4] for at in range(n)],
            "transcript": [f"words of {name}" for name in levels],
            "duration_s": [0.25] * n,
        }
        self.table = pa.table(columns)

    def rows(self, *names: str) -> Iterator[tuple[object, ...]]:
        return zip(*(self.table.column(name).to_pylist() for name in names), strict=True)

    def recordings(self, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
        return ((name, encode_flac(wave)) for name, wave in self.samples.items() if name in wanted)


class Listener(LocalSystem):
    """Names a clip by its peak; fails on one level, and counts what it was asked."""

    card, revision = CARD, "a" * 40

    def __init__(self, fails_at: float | None = None, **identity: object) -> None:
        self.fails_at, self.heard, self.identity = fails_at, 0, identity

    def predict(self, items: list[Item]) -> list[Answer]:
        self.heard += len(items)
        peaks = [float(np.abs(item.wave).max()) for item in items]
        if self.fails_at is not None and any(abs(peak - self.fails_at) < 0.01 for peak in peaks):
            raise RuntimeError("cannot hear this, key=sk-1234567890")
        return [Answer(label="angry" if peak > 0.5 else "mumbling") for peak in peaks]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def start(made: MadeSet, system: Listener, **options: object) -> runner.Run:
        monkeypatch.setattr(runner, "open_clipset", lambda folder: made)
        monkeypatch.setattr(runner, "load_system", lambda card, options: system)
        return runner.run(CARD, clips=tmp_path, out=tmp_path / "out.csv", **options)

    return start


def rows_of(run: runner.Run) -> dict[str, tuple[str, str]]:
    with run.predictions.open(encoding="utf-8") as file:
        return {row["clip_id"]: (row["label"], row["status"]) for row in csv.DictReader(file)}


def test_progress_counts_what_is_left_and_what_failed(start) -> None:
    made, told = MadeSet({f"c/{at}": level for at, level in enumerate((0.9, 0.7, 0.8, 0.6))}), []

    def begin(phase: str, total: int | None):
        told.append((phase, total))
        return lambda done, failed=0: told.append((done, failed))

    start(made, Listener(), selection=runner.Selection(limit=1))
    start(made, Listener(fails_at=0.7), progress=begin)
    assert told == [("running mine", 3), (3, 1)]


def test_answers_failures_and_unknown_labels_are_all_rows(start) -> None:
    made = MadeSet({"c/1": 0.9, "c/2": 0.2, "c/3": 0.7})
    done = start(made, Listener(fails_at=0.7))
    assert rows_of(done) == {"c/1": ("anger", "ok"), "c/2": ("mumbling", "abstained"), "c/3": ("", "error")}
    assert done.counts == {"ok": 1, "abstained": 1, "error": 1}
    assert done.unknown_labels == {"mumbling": 1}
    reason = "RuntimeError: cannot hear this, key=***"
    assert done.reasons == {"the answer names no class": 1, reason: 1}
    receipts = [json.loads(line) for line in done.receipts.read_text(encoding="utf-8").splitlines()]
    assert {item["clip_id"]: item["reason"] for item in receipts}["c/3"] == reason


def test_what_no_receipt_can_hold_is_the_failure_of_one_clip_and_the_run_goes_on(start) -> None:
    answers = {
        "c/1": Answer(scores={"angry": float("nan"), "sad": 0.5}),
        "c/2": Answer(scores={"angry": float("inf")}),
        "c/3": Answer(raw="angry \ud800"),
        "c/4": Answer(scores={"angry": 2.0, "sad": -1.0}),
        "c/5": Answer(scores={"angry": 3.0, "sad": 1.0}),
        "c/6": Answer(scores={"angry": 0.7, "sad": 0.297}),
        "c/7": Answer(label="sad"),
    }

    class Odd(Listener):
        def predict(self, items: list[Item]) -> list[Answer]:
            self.heard += len(items)
            return [answers[item.clip_id] for item in items]

    made = MadeSet(dict.fromkeys(answers, 0.9))
    done = start(made, Odd())
    assert done.counts == {"ok": 2, "error": 5}
    assert {"a score is NaN or infinite": 2, "the scores sum to 4 instead of 1": 1}.items() <= done.reasons.items()
    again = Odd()
    assert start(made, again).resumed == 2 and again.heard == 5
    # The card may say that its scores are logits.
    logits = Odd()
    logits.card = SystemCard(**{**CARD.to_dict(), "scores": "logits"})
    assert start(made, logits, restart=True).counts == {"ok": 4, "error": 3}


def test_a_failed_clip_is_asked_again_and_the_others_are_not(start) -> None:
    made = MadeSet({f"c/{at}": level for at, level in enumerate((0.9, 0.6, 0.7, 0.8))})
    start(made, Listener(fails_at=0.7))
    again = Listener()
    done = start(made, again)
    assert (again.heard, done.resumed) == (1, 3)
    assert done.counts == {"ok": 4}


def test_one_bad_clip_costs_few_calls_of_its_batch(start) -> None:
    made = MadeSet({f"c/{at}": 0.7 if at == 5 else 0.9 for at in range(16)})
    system = Listener(fails_at=0.7)
    assert start(made, system).counts == {"ok": 15, "error": 1}
    # The batch, then the half with the bad clip at each step, and the other halves once: 16 + 16 + 8 + 4 + 2.
    assert system.heard == 46


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
        for options in ({}, {"restart": True}, {"resume": True}):
            with pytest.raises(OrukError, match="receipt"):
                start(MadeSet({"c/1": 0.9}), Listener(), **options)
            assert done.receipts.read_text(encoding="latin-1") == text


def test_answers_for_other_samples_are_not_taken_over(start) -> None:
    start(MadeSet({"c/1": 0.9, "c/2": 0.8}), Listener())
    again = Listener()
    done = start(MadeSet({"c/1": 0.9, "c/2": 0.1}), again)
    assert again.heard == 1
    assert rows_of(done)["c/2"] == ("mumbling", "abstained")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda system: setattr(system, "revision", "b" * 40), "revision"),
        (lambda system: system.identity.update(endpoint="other"), r"identity\.endpoint"),
        (lambda system: setattr(system, "card", SystemCard(**{**CARD.to_dict(), "dtype": "float16"})), "dtype"),
        (lambda system: setattr(system, "prompt_sha256", "c" * 64), "prompt_sha256"),
    ],
)
def test_a_run_that_differs_ends_with_the_key_and_restart_keeps_the_old_receipts(start, change, key) -> None:
    made = MadeSet({"c/1": 0.9})
    first = start(made, Listener())
    before = first.receipts.read_bytes()
    other = Listener()
    change(other)
    with pytest.raises(OrukError, match=rf"run\.json {key}: this run differs.*--restart"):
        start(made, other)
    assert start(made, other, restart=True).counts == {"ok": 1}
    assert other.heard == 1
    assert (first.receipts.parent / "out.csv.receipts.1.jsonl").read_bytes() == before
    assert json.loads((first.receipts.parent / "out.csv.run.1.json").read_text())["revision"] == "a" * 40


def test_receipts_that_nothing_explains_need_resume(start) -> None:
    made = MadeSet({"c/1": 0.9})
    done = start(made, Listener())
    (done.receipts.parent / "out.csv.run.json").unlink()
    with pytest.raises(OrukError, match=r"without the run\.json.*--resume.*--restart"):
        start(made, Listener())
    again = Listener()
    assert start(made, again, resume=True).resumed == 1 and again.heard == 0


def test_a_system_that_always_fails_ends_the_run_with_its_reason(start, tmp_path) -> None:
    made = MadeSet({f"c/{at}": 0.7 for at in range(60)})
    system = Listener(fails_at=0.7)
    with pytest.raises(OrukError, match=r"failed 20 times in a row.*RuntimeError: cannot hear this"):
        start(made, system)
    assert not (tmp_path / "out.csv").exists()
    assert len((tmp_path / "out.csv.receipts.jsonl").read_bytes().splitlines()) < 60


def test_two_runs_on_one_file_are_refused(start, tmp_path) -> None:
    with ReceiptFile(tmp_path / "out.csv.receipts.jsonl"), pytest.raises(OrukError, match="another run"):
        start(MadeSet({"c/1": 0.9}), Listener())


def test_stored_samples_that_are_not_the_sets_end_the_run(start) -> None:
    made = MadeSet({"c/1": 0.9})
    made.samples["c/1"][7] += 1
    with pytest.raises(OrukError, match="not what the set states"):
        start(made, Listener())


def test_what_a_system_prints_does_not_reach_stdout(start, capsys) -> None:
    class Chatty(Listener):
        def predict(self, items: list[Item]) -> list[Answer]:
            sys.stdout.write("loading …")
            return super().predict(items)

    start(MadeSet({"c/1": 0.9}), Chatty())
    captured = capsys.readouterr()
    assert captured.out == "" and "loading" in captured.err


def test_threads_ask_one_clip_per_call_and_lose_none(start) -> None:
    class Service(Listener):
        concurrency = 4

        def predict(self, items: list[Item]) -> list[Answer]:
            assert len(items) == 1
            return super().predict(items)

    made = MadeSet({f"c/{at:02d}": 0.9 for at in range(40)})
    assert start(made, Service()).counts == {"ok": 40}


def test_items_carry_corpus_and_transcript(start) -> None:
    seen = []

    class Reader(Listener):
        def predict(self, items: list[Item]) -> list[Answer]:
            seen.extend((item.clip_id, item.corpus, item.transcript) for item in items)
            return super().predict(items)

    start(MadeSet({"c/1": 0.9}), Reader())
    assert seen == [("c/1", "c", "words of c/1")]


def test_selection() -> None:
    made = MadeSet({"c/1": 0.9, "c/2": 0.8, "d/3": 0.7, "d/4": 0.6})

    def chosen(**options: object) -> list[str]:
        return list(runner.select(made, runner.Selection(**options)))

    assert chosen() == ["c/1", "c/2", "d/3", "d/4"]
    assert chosen(corpora=["d"]) == ["d/3", "d/4"]
    assert chosen(language="en") == ["c/1", "c/2"] and chosen(language="en-CA") == ["c/1"]
    assert chosen(limit=1) == ["c/1"]
    with pytest.raises(OrukError, match=r"no such corpus.*expected c, d; found x"):
        chosen(corpora=["x"])
    with pytest.raises(OrukError, match="no clip of the set is selected"):
        chosen(language="fr")


def test_a_longer_run_goes_on_where_a_shorter_one_ended(start) -> None:
    made = MadeSet({f"c/{at}": 0.9 for at in range(5)})
    assert start(made, Listener(), selection=runner.Selection(limit=2)).clips == 2
    again = Listener()
    done = start(made, again)
    assert (again.heard, done.resumed, len(rows_of(done))) == (3, 2, 5)


def test_subsample_is_that_of_the_sets_own_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_manifest(version: str) -> SimpleNamespace:
        asked.append(version)
        return SimpleNamespace(subsample=lambda profile: {"open": {"c/2", "c/9"}}[profile])

    monkeypatch.setattr("oruk_leaderboard.manifest.files.load_manifest", load_manifest)
    made = MadeSet({"c/1": 0.9, "c/2": 0.8})
    with pytest.raises(OrukError, match="no such subsample"):
        runner.select(made, runner.Selection(subsample="5k"))
    made.report = {"manifest": {"profile": "open", "version": "1.2.3"}}
    assert list(runner.select(made, runner.Selection(subsample="5k"))) == ["c/2"]
    assert asked == ["1.2.3"]


def test_plan_counts_calls_and_audio(start, tmp_path: Path) -> None:
    made = MadeSet({f"c/{at}": 0.9 for at in range(4)})
    start(made, Listener(), selection=runner.Selection(limit=1))
    planned = runner.plan(CARD, clips=tmp_path, out=tmp_path / "out.csv")
    assert (planned.clips, planned.answered, planned.calls) == (4, 1, 3)
    assert planned.audio_minutes == pytest.approx(0.75 / 60)
    assert planned.missing == ("a module m:f, here or on the Python path",)
