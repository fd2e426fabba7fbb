"""Submissions: what passes, what is flagged, and each way in which a record is refused."""

import copy
import json
import shutil
from pathlib import Path

import pytest
import yaml

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.hub.margins import first_difference
from oruk_leaderboard.hub.submission import submit
from oruk_leaderboard.manifest import Manifest, ManifestRow
from oruk_leaderboard.paths import checkout_root, data_dir
from oruk_leaderboard.records.record import load_records
from oruk_leaderboard.release.build import build
from oruk_leaderboard.scoring.identities import broken_identities
from oruk_leaderboard.scoring.training_overlap import DECLARED, OUTSIDE
from tests.scored import made_columns, scored_record

REVISION = "0123456789abcdef0123456789abcdef01234567"


STATED = "the revision is the submitter's statement; --run FILE.run.json compares it with what ran"

CORPORA = ("crema_d", "ravdess", "shemo")


@pytest.fixture(scope="module")
def columns() -> dict:
    """400 clips of three known corpora."""
    columns = made_columns()
    columns["corpus"] = [CORPORA[int(name[-1])] for name in columns["corpus"]]
    columns["clip_id"] = [f"{corpus}/{at:03d}" for at, corpus in enumerate(columns["corpus"])]
    return columns


@pytest.fixture(scope="module")
def manifest(columns) -> Manifest:
    """A manifest of these clips, all in profile open, and of one clip more that is not."""
    names = ("clip_id", "corpus", "speaker", "language", "label")
    rows = [
        ManifestRow(clip_id, corpus, speaker=speaker, language=language, label=CLASSES[label], open=True)
        for clip_id, corpus, speaker, language, label in zip(*(columns[name] for name in names), strict=True)
    ]
    return Manifest.of([*rows, ManifestRow("iemocap/1", "iemocap")], {}, version="1.0.0")


@pytest.fixture(scope="module")
def made(columns, manifest) -> dict:
    """A record on the manifest, of a model whose commit is known."""
    record = scored_record(columns, manifest_digest=manifest.profile("open").digest, manifest_version=manifest.version)
    system = {"id": "made-model", "name": "Made model", "hub": "hf", "model_id": "made/model", "revision": REVISION}
    record["system"] |= {**system, "training_corpora": []}
    record["evaluation"]["predictions"]["sha256"] = "c" * 64
    return record


@pytest.fixture
def root(tmp_path) -> Path:
    shutil.copytree(data_dir() / "records", tmp_path / "data" / "records", ignore=shutil.ignore_patterns("rebuilt"))
    return tmp_path


@pytest.fixture(autouse=True)
def _small_manifest(monkeypatch, manifest) -> None:
    monkeypatch.setattr("oruk_leaderboard.manifest.load_manifest", lambda: manifest)


def try_to(root: Path, record: dict, **options):
    path = root / "record.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return submit(path, root=root, **options)


def test_a_good_record_gets_its_file_and_says_what_comes_next(root, made):
    done = try_to(root, made)
    assert done.record == "data/records/rebuilt/rebuilt_open/2026-11-30/made-model.json"
    assert (done.written, done.in_distribution, done.flags, done.overlap) == (True, False, (STATED,), ())
    assert done.figures > 100
    assert "oruk-leaderboard build" in done.next[0]
    assert done.record in done.next[1]
    added = [record for record in load_records(root / "data" / "records") if record.scored_on == "rebuilt_open"]
    assert [(record.system.id, record.system.in_distribution) for record in added] == [("made-model", False)]
    assert submit(root / done.record, root=root, check_only=True).written is False
    elsewhere = root / "data/records/rebuilt/mine.json"
    shutil.copyfile(root / done.record, elsewhere)
    with pytest.raises(RecordError, match="is in the wrong place"):
        submit(elsewhere, root=root, check_only=True)
    elsewhere.unlink()


def test_a_submission_is_never_a_row_of_default(made, tmp_path):
    for name in ("data", "docs", "schema", "dataset_card", "README.md", "oruk_bench_leaderboard.py", "pyproject.toml"):
        source = checkout_root() / name
        copy_of = shutil.copytree if source.is_dir() else shutil.copyfile
        copy_of(source, tmp_path / name)
    before = (tmp_path / "data/leaderboard.parquet").read_bytes()
    try_to(tmp_path, made)
    build(root=tmp_path)
    assert (tmp_path / "data/leaderboard.parquet").read_bytes() == before
    import pyarrow.parquet as pq

    assert "made-model" in pq.read_table(tmp_path / "data/rebuilt.parquet").column("system_id").to_pylist()


def test_check_writes_nothing(root, made):
    before = sorted(root.rglob("*.json"))
    assert try_to(root, made, check_only=True).next == ()
    assert [path for path in sorted(root.rglob("*.json")) if path not in before] == [root / "record.json"]


@pytest.mark.parametrize(
    ("declared", "expected", "flag"),
    [
        (None, None, "contamination unknown"),
        (["crema_d"], True, "that it was trained on: crema_d"),
        (["modified_shemo"], True, "shemo"),
        (["emodb"], False, STATED),
    ],
)
def test_declared_training_corpora_become_contamination_flags(root, made, declared, expected, flag):
    record = copy.deepcopy(made)
    record["system"]["training_corpora"] = declared
    done = try_to(root, record)
    assert done.in_distribution is expected
    assert flag in "; ".join(done.flags)
    written = json.loads((root / done.record).read_text())
    assert written["system"]["in_distribution"] is expected


def test_training_corpora_may_be_declared_on_the_way(root, made):
    record = copy.deepcopy(made)
    record["system"]["training_corpora"] = None
    done = try_to(root, record, training_corpora=["ravdess"])
    assert done.overlap == ("ravdess",)
    written = json.loads((root / done.record).read_text())
    assert {part["value"] for part in written["evaluation"]["slices"]["training"]} == {DECLARED, OUTSIDE}
    (root / done.record).unlink()
    with pytest.raises(RecordError, match="declared twice"):
        try_to(root, {**made}, training_corpora=["ravdess"])
    with pytest.raises(RecordError, match=r"registry does not know.*found librispeech"):
        try_to(root, record, training_corpora=["librispeech"])
    record["system"] |= {"in_distribution": False, "training_corpora": ["crema_d"]}
    with pytest.raises(RecordError, match="in_distribution is not what"):
        try_to(root, record)


def test_flags_of_a_service_without_a_revision(root, made):
    record = copy.deepcopy(made)
    record["system"] |= {"family": "API", "hub": None, "model_id": "alias-latest", "revision": None}
    record["evaluation"]["predictions"]["sha256"] = None
    assert try_to(root, record).flags == (
        "no immutable revision: the provider may change what answers under this name",
        "no digest of the predictions file",
    )


def test_a_baseline_of_this_package_has_no_weights_to_name(root, made):
    record = copy.deepcopy(made)
    own = {"id": "baseline-loudness", "name": "Loudness", "hub": None, "model_id": "loudness", "revision": None}
    record["system"] |= own
    assert try_to(root, record, check_only=True).flags == ()
    record["system"]["model_id"] = "something else"
    with pytest.raises(RecordError, match="no commit of the weights"):
        try_to(root, record)


def change(record: dict, path: str, value: object) -> dict:
    record = copy.deepcopy(record)
    *parents, last = path.split(".")
    place = record
    for name in parents:
        place = place[name]
    place[last] = value
    return record


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("macro_f1", "0.9011", "do not follow from the record's own counts"),
        ("evaluation.figures.uar", 0.99, r"evaluation\.figures\.uar"),
        ("scored_on", "full_set", "schema"),
        ("scored_on", "rebuilt_full", "do not follow"),
        ("system.revision", None, "no commit of the weights"),
        ("system.revision", "main", "schema"),
        ("system.model_id", None, "hub without a model id"),
        ("protocol.name", "my-protocol", "not scored by the benchmark's protocol"),
        ("protocol.version", None, "not scored by the benchmark's protocol"),
        ("evaluation.manifest_digest", "d" * 64, "not scored on the pinned manifest"),
        ("evaluation.manifest_digest", None, "not scored on the pinned manifest"),
        ("evaluation.set_digest", None, "names no rebuilt set"),
        ("source.kind", "card", "schema"),
        ("source.attested_by", "Oruk AI, dataset card", "source.attested_by is 'Oruk AI, dataset card'"),
        ("superseded_by", "spectra-1", "schema"),
        ("system.name", "two\nlines", "schema"),
        ("system.name", " ", "schema"),
        ("system.name", "x" * 201, "schema"),
        ("system.model_id", "../../x", "hub without a model id on it"),
        ("system.model_id", "<script>/x", "hub without a model id on it"),
        ("system.name", "Spectra 1", "another system has this id or name"),
        ("system.id", "spectra-1", "another system has this id or name"),
        ("system.id", "hubert-large-superb-er", "expected family open, model superb/hubert-large-superb-er"),
        ("system.parameters_m", float("inf"), "Infinity is not a JSON number"),
        ("note", "x" * 2001, "schema"),
        ("evaluation.manifest_version", "9.9.9", "not scored on the pinned manifest"),
        ("evaluation.audio_rule", 2, "not scored on the pinned manifest"),
        ("evaluation.label_policy", "mine", "partial set is stated to be whole"),
        ("evaluation.absent", ["emodb"], "partial set is stated to be whole"),
    ],
)
def test_what_is_refused(root, made, path, value, message):
    with pytest.raises(RecordError, match=message):
        try_to(root, change(made, path, value))
    assert not (root / "data/records/rebuilt").exists()


def test_a_whole_profile_has_every_clip_of_it(root, made, columns, manifest):
    some = {name: values[:399] for name, values in columns.items()}
    record = scored_record(some, manifest_digest=manifest.profile("open").digest)
    record["system"] = made["system"]
    with pytest.raises(RecordError, match=r"expected 400 clips of profile open.*found 399 clips"):
        try_to(root, record)
    partial = change(change(made, "evaluation.partial", True), "scored_on", "partial")
    assert try_to(root, partial).flags == (
        "partial set (some clips missing): comparable with records of the same set digest only",
        STATED,
    )


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("speaker", "77", r"expected 0 clips of corpus crema_d.*speaker 77.*found 1 in the record"),
        ("corpus", "emodb", r"expected 0 clips of corpus emodb.*found 1 in the record"),
        ("language", "fr", r"expected 0 clips of corpus crema_d, language fr, speaker.*found 1 in the record"),
        ("label", None, r"class \w+ by the manifest; found \d+ in the record"),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_invented_clips_are_refused_with_the_first_difference(
    root, made, columns, manifest, column, value, message, partial
):
    forged = {name: list(values) for name, values in columns.items()}
    at = forged["corpus"].index("crema_d")
    forged[column][at] = (forged["label"][at] + 1) % 7 if value is None else value
    record = scored_record(forged, manifest_digest=manifest.profile("open").digest, partial=partial)
    record["system"] = made["system"]
    # Of a whole set, the first difference may be the clip that the invented one replaces.
    message = message if partial else "in the record"
    with pytest.raises(RecordError, match=f"does not count the clips of its manifest.*{message}"):
        try_to(root, record)


def test_a_record_names_the_profile_and_digest_that_its_set_was_rebuilt_from(root, made, columns, manifest):
    for origin in ({"profile": None}, {"profile": "full"}, {"profile": "full", "manifest_digest": manifest.digest}):
        record = scored_record(columns, **{"manifest_digest": manifest.profile("open").digest, **origin})
        record["system"] = made["system"]
        expected = {1: "which clips of the manifest|not scored on the pinned manifest", 2: "stated to be whole"}
        with pytest.raises(RecordError, match=expected[len(origin)]):
            try_to(root, record)


def test_a_partial_set_may_lack_clips_and_a_user_may_have_labels_of_their_own(root, made, columns, manifest):
    some = {name: values[50:] for name, values in columns.items()}
    digest = manifest.profile("open").digest
    record = scored_record(some, manifest_digest=digest, partial=True)
    record["system"] = made["system"]
    assert try_to(root, record, check_only=True).scored_on == "partial"
    some["label"] = [*some["label"][1:], some["label"][0]]
    record = scored_record(some, manifest_digest=digest, partial=True, label_source="my votes")
    record["system"] = made["system"]
    assert try_to(root, record, check_only=True).scored_on == "partial"


def test_corpora_with_blank_speakers_are_counted_without_them(columns, manifest):
    from dataclasses import replace

    rows = [replace(row, speaker=None) if row.corpus == "shemo" else row for row in manifest.profile("open").rows]
    evaluation = scored_record(columns)["evaluation"]
    assert first_difference(evaluation, rows) is None
    assert first_difference(evaluation, rows[1:])[1].endswith("in the record")


def test_a_record_is_never_overwritten(root, made):
    first = root / try_to(root, made).record
    before = first.read_bytes()
    other = change(change(made, "system.revision", REVISION[::-1]), "evaluation.predictions.sha256", "e" * 64)
    with pytest.raises(RecordError, match="never overwritten"):
        try_to(root, other)
    assert first.read_bytes() == before


def test_cards_that_are_shipped_may_submit_under_the_name_of_their_published_row():
    from dataclasses import replace

    from oruk_leaderboard.hub.submission import _check_identity
    from oruk_leaderboard.records.record import Source
    from oruk_leaderboard.systems import registry

    held = load_records()
    here = Source(kind="scored_here", attested_by="scored by oruk-bench-leaderboard 1.0.0")
    by_id = {record.system.id: record for record in held}
    cards = [card for card in registry().values() if card.id in by_id]
    assert len(cards) > 10
    for card in cards:
        info = replace(by_id[card.id].system, name=card.name, family=card.family, model_id=card.model_id)
        _check_identity(replace(by_id[card.id], system=info, source=here), held, where=Path("record.json"))


def test_published_rows_cannot_be_submitted(root):
    with pytest.raises(RecordError, match="come from its authors only"):
        submit(data_dir() / "records/2026-09-06/spectra-1.json", root=root)


def test_duplicates_are_refused(root, made):
    try_to(root, made)
    later = change(made, "snapshot", "2026-12-01")
    with pytest.raises(RecordError, match="this system and revision on this set is there already"):
        try_to(root, later)
    renamed = change(change(later, "system.id", "other"), "system.name", "Other")
    with pytest.raises(RecordError, match="there already; found made-model"):
        try_to(root, renamed)
    other = change(renamed, "system.revision", REVISION[::-1])
    with pytest.raises(RecordError, match="same predictions are there already"):
        try_to(root, other)
    assert try_to(root, change(other, "evaluation.predictions.sha256", "e" * 64)).written


def test_records_submitted_together_may_not_repeat_each_other(root, made, monkeypatch, capsys):
    monkeypatch.setattr("oruk_leaderboard.hub.submission.checkout_root", lambda: root)
    one, two = root / "one.json", root / "two.json"
    one.write_text(json.dumps(made), encoding="utf-8")
    two.write_text(json.dumps(change(made, "snapshot", "2026-12-01")), encoding="utf-8")
    assert main(["submit", "--check", str(one), str(two)]) == 2
    assert "there already" in capsys.readouterr().err


def test_identities_hold_and_are_broken_one_by_one(made):
    evaluation = made["evaluation"]
    assert broken_identities(evaluation) == []
    for figure in ("accuracy", "macro_f1", "uar", "weighted_f1", "micro_f1"):
        found = broken_identities(change(evaluation, f"figures.{figure}", evaluation["figures"][figure] + 0.01))
        assert len(found) == 1
        assert found[0].startswith(figure)
    assert "add up" in broken_identities(change(evaluation, "n", 401))[0]
    assert "supports" in broken_identities(change(evaluation, "per_class.fear.support", 31))[0]
    assert "before it begins" in broken_identities(change(evaluation, "intervals.uar", [0.8, 0.7]))[0]


@pytest.mark.parametrize("on_error", ["neutral", "wrong"])
def test_identities_hold_with_failures_and_abstentions(on_error):
    import numpy as np

    from oruk_leaderboard.answers.gold import gold_of_set
    from oruk_leaderboard.answers.predictions import STATUSES
    from oruk_leaderboard.scoring.scorer import score
    from tests.scored import made_predictions, made_set

    gold = gold_of_set(made_set())
    status = np.random.default_rng(3).integers(0, len(STATUSES), len(gold.labels)).astype(np.int8)
    labels = np.where(status == 0, made_predictions(gold).labels, -1)
    record = score(made_predictions(gold, status=status, labels=labels), gold=gold, n_boot=20, on_error=on_error)
    assert broken_identities(record.evaluation) == []


def test_command(root, made, monkeypatch, capsys):
    monkeypatch.setattr("oruk_leaderboard.hub.submission.checkout_root", lambda: root)
    path = root / "record.json"
    path.write_text(json.dumps(change(made, "system.training_corpora", None)), encoding="utf-8")
    assert main(["submit", "--check", str(path)]) == 0
    assert "contamination unknown" in capsys.readouterr().out
    assert main(["submit", str(path), "--training-corpora", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["in_distribution"] is False
    assert main(["submit", str(root / "nothing.json")]) == 2


def test_workflow_runs_main_on_the_files_of_a_pull_request_with_read_rights_only():
    text = (checkout_root() / ".github/workflows/submission.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in text
    steps = workflow["jobs"]["check"]["steps"]
    assert [step["with"]["ref"] for step in steps[:2]] == [
        "${{ github.event.pull_request.base.sha }}",
        "${{ github.event.pull_request.head.sha }}",
    ]
    assert any("pip install --quiet -e ./main" in step.get("run", "") for step in steps)
    assert not any("./submission" in step.get("run", "") for step in steps)
    assert all(len(step["uses"].partition("@")[2].split()[0]) == 40 for step in steps if "uses" in step)
    assert "oruk-leaderboard submit --check" in steps[-1]["run"]
