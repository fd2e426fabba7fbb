"""The manifest's rows and files: every value survives, and a file that was changed is noticed."""

import json
from dataclasses import asdict, replace

import jsonschema
import pyarrow.parquet as pq
import pytest

from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest import COLUMNS, Manifest, ManifestRow, labels_digest, load_manifest
from oruk_leaderboard.manifest.files import csv_texts, read_csv, read_folder, write_manifest
from oruk_leaderboard.paths import schema_dir

AWKWARD = ManifestRow(
    'toy/a,"b"é',
    "toy",
    media="NA/x y.wav",
    start_s=0.1,
    end_s=16.0,
    label="anger",
    native_label="01",
    speaker="01",
    split="NA",
    language="null",
    duration_s=1e-05,
    source_sha256="0" * 64,
    source_bytes=12345678901,
    num_samples=7,
    open=True,
    subsample_full=True,
)
ROWS = [AWKWARD, ManifestRow("other/None", "other", media="=1+1.wav", speaker="nan")]


@pytest.fixture
def folder(tmp_path):
    manifest = Manifest.of(ROWS, {"other": "ab" * 32, "absent": "cd" * 32}, version="9.8.7")
    write_manifest(manifest, tmp_path / "manifest", beside={"SOURCES.tsv": "list\n"})
    return tmp_path / "manifest"


def test_every_value_survives_csv_and_parquet(folder):
    manifest = Manifest.of(ROWS, {"other": "ab" * 32}, version="9.8.7")
    assert read_folder(folder) == manifest
    assert load_manifest(folder) == manifest
    assert load_manifest(folder.with_suffix(".parquet")) == manifest
    assert manifest.rows == (ROWS[1], AWKWARD)


def test_parquet_has_the_columns_and_no_foreign_metadata(folder):
    schema = pq.read_schema(folder.with_suffix(".parquet"))
    assert tuple(schema.names) == COLUMNS
    assert set(schema.metadata) == {
        b"manifest_version",
        b"manifest_digest",
        b"manifest_digest/open",
        b"labels_sha256/other",
    }
    assert not schema.field("clip_id").nullable
    assert str(schema.field("speaker").type) == "string"


def test_schema_describes_the_row():
    schema = json.loads((schema_dir() / "manifest.schema.json").read_text())
    assert tuple(schema["properties"]) == COLUMNS == tuple(schema["required"])
    jsonschema.validate(asdict(AWKWARD), schema)
    for wrong in ({"label": "calm"}, {"open": None}, {"source_sha256": "AB"}, {"more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(asdict(AWKWARD) | wrong, schema)


def test_same_rows_give_same_bytes_in_any_order(tmp_path, folder):
    again = tmp_path / "again" / "manifest"
    write_manifest(
        Manifest.of(ROWS[::-1], {"other": "ab" * 32}, version="9.8.7"), again, beside={"SOURCES.tsv": "list\n"}
    )
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["LABELS.tsv", "SHA256SUMS", "SOURCES.tsv", "other.csv", "toy.csv"]
    for name in names:
        assert (again / name).read_bytes() == (folder / name).read_bytes()
    assert b"\r" not in (folder / "toy.csv").read_bytes()
    assert again.with_suffix(".parquet").read_bytes() == folder.with_suffix(".parquet").read_bytes()


def test_files_of_corpora_that_left_are_removed(folder):
    write_manifest(Manifest.of(ROWS[:1], {}), folder, beside={})
    assert [path.name for path in folder.glob("*.csv")] == ["toy.csv"]


@pytest.mark.parametrize("change", [{"label": "fear"}, {"speaker": "1"}, {"open": False}, {"source_bytes": None}])
def test_digest_covers_every_value(change):
    before = Manifest.of(ROWS, {"other": "ab" * 32})
    assert Manifest.of([replace(AWKWARD, **change), ROWS[1]], {"other": "ab" * 32}).digest != before.digest
    assert Manifest.of(ROWS, {"other": "ac" * 32}).digest != before.digest
    assert Manifest.of(ROWS, {"other": "ab" * 32}, version="2.0.0").digest == before.digest


def test_profile_is_a_manifest_of_its_own():
    manifest = Manifest.of(ROWS, {"other": "ab" * 32})
    assert manifest.profile("full") is manifest
    opened = manifest.profile("open")
    assert opened.rows == (AWKWARD,) and opened.label_digests == {} and opened.digest != manifest.digest
    with pytest.raises(ManifestError, match="no such profile"):
        manifest.profile("closed")


def test_a_clip_is_there_once():
    with pytest.raises(ManifestError, match="duplicate clip id"):
        Manifest.of([AWKWARD, AWKWARD], {})


def test_a_changed_or_lost_file_is_named(folder):
    path = folder / "toy.csv"
    path.write_text(path.read_text().replace("anger", "fear"))
    with pytest.raises(ManifestError, match=r"toy\.csv"):
        read_folder(folder)
    path.unlink()
    with pytest.raises(ManifestError, match=r"toy\.csv"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("true", "True", "open"),
        ("12345678901", "1.5", "source_bytes"),
        ("clip_id", "id", "columns"),
        (",7,", ",", "cells"),
    ],
)
def test_a_wrong_cell_is_named_with_its_line(before, after, message, tmp_path):
    text = csv_texts(Manifest.of(ROWS, {}))["toy.csv"]
    assert before in text
    with pytest.raises(ManifestError, match=message):
        read_csv(text.replace(before, after, 1), where=tmp_path / "toy.csv")


def test_labels_digest_does_not_depend_on_order():
    labels = {"toy/b": "fear", "toy/a": "anger"}
    assert labels_digest(labels) == labels_digest(dict(sorted(labels.items())))
    assert labels_digest(labels) != labels_digest(labels | {"toy/a": "fear"})


def test_no_manifest_is_a_clear_error(tmp_path):
    with pytest.raises(ManifestError, match="SHA256SUMS"):
        load_manifest(tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(ManifestError, match="parquet"):
        load_manifest(tmp_path / "x.parquet")
