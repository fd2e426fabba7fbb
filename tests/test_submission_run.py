"""A submission and the run behind it: what ran names a private model, and a claimed revision is compared with it."""

import copy
import hashlib
import json
from pathlib import Path

import pytest

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.hub.run_identity import with_run
from oruk_leaderboard.hub.submission import with_declared
from oruk_leaderboard.records.caveats import caveats_of
from oruk_leaderboard.records.record import Record
from oruk_leaderboard.scoring.training_overlap import DECLARED, OUTSIDE, declared_later
from oruk_leaderboard.scoring.verification import verify
from tests.scored import DIGEST, scored_record

PREDICTIONS = b"clip_id,label\n"
COMMIT, FILES = "0123456789abcdef0123456789abcdef01234567", f"sha256:{'f' * 64}"


@pytest.fixture(scope="module")
def document() -> dict:
    return scored_record()


def record(document: dict, **system: object) -> Record:
    document = copy.deepcopy(document)
    document["system"] |= {"id": "mine", **system}
    document["evaluation"]["predictions"]["sha256"] = hashlib.sha256(PREDICTIONS).hexdigest()
    return Record.from_dict(document)


def run_file(folder: Path, *, predictions: bytes = PREDICTIONS, **changes: object) -> Path:
    (folder / "p.csv").write_bytes(predictions)
    run = {"system": {"id": "mine"}, "set": DIGEST, "revision": FILES, "identity": {}, **changes}
    path = folder / "p.csv.run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


def badges(found: Record) -> list[str]:
    return [caveat.badge_of(found) for caveat in caveats_of(found)]


def test_a_private_model_is_named_by_the_digest_that_ran(document: dict, tmp_path: Path) -> None:
    found = with_run(record(document), run_file(tmp_path), where=tmp_path)
    assert found.system.revision == FILES
    assert "not public" in badges(found)
    Record.from_dict(found.to_dict())


def test_a_service_of_ones_own_is_named_by_its_endpoint_and_the_date(document: dict, tmp_path: Path) -> None:
    run = run_file(tmp_path, revision=None, identity={"endpoint": "http://host/v1"})
    found = with_run(record(document), run, where=tmp_path)
    assert (found.system.revision, found.source.locator) == (None, "answers of http://host/v1, 2026-11-30")
    assert "not public" in badges(found)


def test_a_claimed_revision_is_the_one_that_ran(document: dict, tmp_path: Path) -> None:
    run = run_file(tmp_path, revision=COMMIT)
    claimed = record(document, hub="hf", model_id="a/b", revision=COMMIT)
    assert with_run(claimed, run, where=tmp_path) == claimed
    assert "not public" not in badges(claimed)
    other = record(document, hub="hf", model_id="a/b", revision=COMMIT[::-1])
    with pytest.raises(RecordError, match=f"another revision than the record; expected {COMMIT}.*found {COMMIT[::-1]}"):
        with_run(other, run, where=tmp_path)


def test_a_baseline_needs_no_revision(document: dict, tmp_path: Path) -> None:
    assert with_run(record(document), run_file(tmp_path, revision="1.0.0"), where=tmp_path) == record(document)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"system": {"id": "other"}}, "run is of another system"),
        ({"set": "e" * 64}, "run is of another set of clips"),
        ({"predictions": b"other"}, "run is of another predictions file"),
        ({"system": "mine"}, "not the file of a run"),
        ({"revision": 7}, "not the file of a run"),
        ({"identity": None}, "not the file of a run"),
    ],
)
def test_a_run_of_something_else_is_refused(document: dict, tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        with_run(record(document), run_file(tmp_path, **changes), where=tmp_path)


def test_files_that_are_not_there_are_named(document: dict, tmp_path: Path) -> None:
    run = run_file(tmp_path)
    (tmp_path / "p.csv").unlink()
    with pytest.raises(RecordError, match=r"p\.csv: the predictions of the run cannot be read.*in one folder"):
        with_run(record(document), run, where=tmp_path)
    with pytest.raises(RecordError, match="not the file of a run"):
        with_run(record(document), tmp_path / "none.run.json", where=tmp_path)
    (tmp_path / "list.run.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(RecordError, match="not the file of a run"):
        with_run(record(document), tmp_path / "list.run.json", where=tmp_path)


def test_corpora_declared_on_the_way_give_the_figures_that_score_would_have_given(document: dict) -> None:
    later = copy.deepcopy(document)
    later["evaluation"] = declared_later(document["evaluation"], ["corpus1"])
    later["system"]["training_corpora"] = ["corpus1"]
    clips = {part["value"]: part["n"] for part in later["evaluation"]["slices"]["corpus"]}
    training = {part["value"]: part["n"] for part in later["evaluation"]["slices"]["training"]}
    assert training == {DECLARED: clips["corpus1"], OUTSIDE: clips["corpus0"] + clips["corpus2"]}
    assert later["evaluation"]["figures"] == document["evaluation"]["figures"]
    result = verify(later, name="later")
    assert (result.mismatches, result.findings) == ((), ())


def test_the_ledger_declares_for_a_system_that_it_knows(document: dict, tmp_path: Path) -> None:
    document = copy.deepcopy(document)
    tally = document["evaluation"]["confusion_by_cluster"]["attributes"]
    document["evaluation"]["confusion_by_cluster"]["attributes"] = {**tally, "corpus": ["crema_d", "emodb", "ravdess"]}
    known = record(document, id="w2v2-emotion-dpngtm", training_corpora=None)
    found = with_declared(known, None, where=tmp_path)
    training = {part["value"]: part["n"] for part in (found.evaluation or {})["slices"]["training"]}
    clips = {part["value"]: part["n"] for part in (found.evaluation or {})["slices"]["corpus"]}
    assert training[DECLARED] == clips["crema_d"] + clips["ravdess"] and training[OUTSIDE] == clips["emodb"]
    assert found.system.training_corpora is None
    with pytest.raises(RecordError, match=r"expected crema_d, ravdess.* too, by data/training\.csv; found none"):
        with_declared(known, [], where=tmp_path)
