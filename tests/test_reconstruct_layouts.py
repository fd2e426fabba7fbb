"""The layouts as their users read them: datasets by folder and by file, and the public harness unchanged."""

import csv
import io
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.reconstruction import card as card_of_set
from tests.made_corpora import mixed, rebuild, spec


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layouts")
    corpus, toml = mixed(folder, 14), spec(folder)
    for layout in ("parquet", "audiofolder", "harness"):
        rebuild(corpus, toml, folder / layout, layout=layout)
    return folder


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "hf" / "datasets"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    return datasets


@pytest.mark.parametrize("streaming", [False, True])
def test_datasets_reads_the_folder_by_its_card(sets, datasets, tmp_path, streaming):
    loaded = datasets.load_dataset(str(sets / "parquet"), split="test", streaming=streaming, cache_dir=str(tmp_path))
    assert loaded.features["label"] == datasets.ClassLabel(names=list(CLASSES))
    assert loaded.features["audio"] == datasets.Audio(sampling_rate=16_000, decode=False)
    rows = list(loaded)
    assert len(rows) == 14
    samples, rate = soundfile.read(io.BytesIO(rows[0]["audio"]["bytes"]))
    assert rate == 16_000 and len(samples) == rows[0]["duration_s"] * 16_000


def test_datasets_keeps_two_sets_of_one_name_apart(datasets, tmp_path):
    for parent, count in (("first", 14), ("second", 7)):
        folder = tmp_path / parent
        folder.mkdir()
        rebuild(mixed(folder, count), spec(folder), folder / "rebuilt")
        loaded = datasets.load_dataset(str(folder / "rebuilt"), split="test", cache_dir=str(tmp_path / "cache"))
        assert len(loaded) == count


SNIPPETS = re.findall(r"```python\n(.*?)```", card_of_set._READING, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["datasets", "torchcodec", "pandas", "torch"])
def test_the_snippets_of_the_card_run(sets, datasets, tmp_path, monkeypatch, capsys, snippet):
    for library in ("torch", "pandas"):
        if library in snippet:
            pytest.importorskip(library)
    if "Audio(" in snippet:
        pytest.importorskip("torchcodec")
    assert snippet in (sets / "parquet" / "README.md").read_text()
    (tmp_path / "rebuilt").symlink_to(sets / "parquet")
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "snippet", "exec"), {"__name__": "snippet"})
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "read",
    [
        lambda folder: pytest.importorskip("pandas").read_parquet(folder),
        lambda folder: pq.read_table(folder),
        lambda folder: pytest.importorskip("polars").scan_parquet(folder).collect(),
        lambda folder: pytest.importorskip("duckdb").sql(f"select * from '{folder}/*.parquet'").df(),
    ],
    ids=["pandas", "pyarrow", "polars", "duckdb"],
)
def test_the_folder_of_shards_is_one_table(sets, read):
    table = read(str(sets / "parquet" / "data"))
    assert len(table) == 14
    names = table["label_name"]
    assert set(names.to_pylist() if isinstance(table, pa.Table) else names.to_list()) == set(CLASSES)


def test_datasets_reads_the_files(sets, datasets, tmp_path):
    files = str(sets / "parquet" / "data" / "clips-*.parquet")
    loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=str(tmp_path))
    assert loaded.features["audio"].sampling_rate == 16_000
    assert loaded[3]["clip_id"].startswith("mixed/")


def test_datasets_reads_the_audio_folder(sets, datasets, tmp_path):
    # Reading rows of it needs torchcodec; which files it takes, and that the table names them, does not.
    builder = datasets.load_dataset_builder(str(sets / "audiofolder"), cache_dir=str(tmp_path))
    assert builder.dataset_name == "audiofolder" and type(builder).__module__.endswith("audiofolder")
    taken = {path.rpartition("/audiofolder/")[2] for path in builder.config.data_files["train"]}
    with (sets / "audiofolder" / "metadata.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert taken == {"metadata.csv", *(row["file_name"] for row in rows)}
    assert [row["file_name"] for row in rows] == [f"audio/{row['clip_id']}.flac" for row in rows]
    assert all(row["label"] == row["native_label"] for row in rows)


def test_the_public_harness_reads_and_scores_its_layout(sets):
    core = pytest.importorskip("oruk_bench.core")
    tables, index, labels, languages, sources = core.load_eval(sets / "harness")
    with (sets / "harness" / "order.csv").open(newline="") as file:
        order = list(csv.DictReader(file))
    assert [row["position"] for row in order] == [str(at) for at in range(14)]
    assert [CLASSES[label] for label in labels] == [row["label"] for row in order]
    assert set(sources) == {"mixed"} and set(languages) == {"de"}
    audio = core.clip_audio(tables, index, 5)
    samples = audio[0] if isinstance(audio, tuple) else audio
    assert len(samples) == round(float(order[5]["duration_s"]) * 16_000)
    scored = core.score(labels, np.array(labels), languages, sources, list(CLASSES))
    assert (scored["n"], scored["accuracy"]) == (14, 1.0)
