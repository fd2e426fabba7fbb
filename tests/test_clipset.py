"""A rebuilt set is opened without its audio, and only when it is what its report says."""

import csv
import hashlib
import json
import shutil

import pyarrow.parquet as pq
import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.clipset import open_clipset
from oruk_leaderboard.errors import ManifestError
from tests.made_corpora import final_files, mixed, rebuild, spec


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    corpus, toml = mixed(folder, 12), spec(folder)
    (corpus / "anger_0000.wav").rename(corpus / "anger_5.wav")
    toml.write_text(toml.read_text().replace('speaker = "{number}"', 'speaker = "={number}"'))
    for layout in ("parquet", "audiofolder", "harness"):
        rebuild(corpus, toml, folder / layout, layout=layout)
    return folder


def test_layouts_open_alike(sets):
    opened = [open_clipset(sets / layout) for layout in ("parquet", "audiofolder", "harness")]
    first = opened[0]
    assert len(first) == 12 and "audio" not in first.table.column_names
    assert first.table.column("speaker")[0].as_py() == "=0007"
    assert CLASSES[first.table.column("label")[0].as_py()] == "anger"
    for other in opened[1:]:
        assert other.table.equals(first.table)
        assert other.digest == first.digest
        assert list(other.recordings()) == list(first.recordings())
    (clip,) = first.recordings({"mixed/anger_5"})
    assert clip[0] == "mixed/anger_5" and clip[1].startswith(b"fLaC")


def test_shards_beside_the_report_are_read_and_completed_in_their_new_place(sets, tmp_path):
    """The layout of package 1.0: shards beside report.json, without label_name."""
    old, new = tmp_path / "old", open_clipset(sets / "parquet")
    shutil.copytree(sets / "parquet", old)
    (old / "data" / "clips-00000.parquet").rename(old / "clips-00000.parquet")
    (old / "data").rmdir()
    table = pq.read_table(old / "clips-00000.parquet").drop_columns(["label_name"])
    pq.write_table(table, old / "clips-00000.parquet", row_group_size=64)
    sha256 = hashlib.sha256((old / "clips-00000.parquet").read_bytes()).hexdigest()
    journal = old / ".state" / "journal" / "clips-00000.json"
    document = json.loads(journal.read_text())
    document |= {"files": {"clips-00000.parquet": sha256}, "rows_sha256": "0" * 64}
    journal.write_text(json.dumps(document))
    opened = open_clipset(old)
    assert opened.digest == new.digest and opened.table.equals(new.table)
    assert list(opened.recordings()) == list(new.recordings())
    report = rebuild(sets / "corpus", sets / "mixed.toml", old)
    assert report.to_dict()["run"]["clips_rendered"] == 0
    assert final_files(old) == final_files(sets / "parquet")


def test_a_set_is_a_dataset(sets, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    first = open_clipset(sets / "parquet")
    rows = first.to_dataset()
    assert rows["clip_id"][:] == first.table.column("clip_id").to_pylist()
    assert rows.features["label"].names == list(CLASSES)
    assert first.to_dict()["digest"] == first.digest
    with pytest.raises(ManifestError, match="expected layout parquet; found harness"):
        open_clipset(sets / "harness").to_dataset()


def test_cells_that_a_spreadsheet_would_run_are_text(sets):
    with (sets / "audiofolder" / "metadata.csv").open(newline="") as file:
        assert all(row["speaker"].startswith("'=") for row in csv.DictReader(file))


def test_what_is_no_set(sets, tmp_path):
    with pytest.raises(ManifestError, match=r"no finished set here; expected report\.json"):
        open_clipset(tmp_path)
    (tmp_path / "report.json").write_text("[]")
    with pytest.raises(ManifestError, match="not the report of a set"):
        open_clipset(tmp_path)
    (tmp_path / "report.json").write_bytes((sets / "parquet" / "report.json").read_bytes())
    with pytest.raises(ManifestError, match="not the one that its report describes"):
        open_clipset(tmp_path)
    (tmp_path / "clips-00000.parquet").write_bytes(b"PAR1")
    with pytest.raises(ManifestError, match="a shard cannot be read"):
        open_clipset(tmp_path)
