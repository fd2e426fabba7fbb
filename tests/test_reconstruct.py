"""Reconstruction: the same bytes whatever the way, nothing lost, nothing silently wrong, nothing done twice."""

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from oruk_leaderboard.audio import render
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.reconstruction import dry_run, reconstruct
from tests.made_corpora import SEGMENTS, final_files, long_recording, pinned, rebuild, spec
from tests.sounds import encode, voice


def rows_of(out: Path, below: str = "data/") -> list[dict]:
    return [row for path in sorted(out.glob(f"{below}*.parquet")) for row in pq.read_table(path).to_pylist()]


def test_every_clip_is_what_the_rule_gives(made, tmp_path, small_shards):
    corpus, toml = made
    report = rebuild(corpus, toml, tmp_path / "out")
    rows = {row["clip_id"]: row for row in rows_of(tmp_path / "out")}
    assert report.clean
    assert list(rows) == sorted(f"mixed/{path.stem}" for path in corpus.iterdir())
    for path in corpus.iterdir():
        row, expected = rows[f"mixed/{path.stem}"], render(path)
        samples, rate = soundfile.read(io.BytesIO(row["audio"]["bytes"]), dtype="int16")
        assert rate == 16_000 and np.array_equal(samples, expected.samples), path
        assert row["clip_sha256"] == expected.clip_sha256
        assert row["source_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert row["duration_s"] == len(samples) / 16_000
        assert CLASSES[row["label"]] == row["label_name"] == row["native_label"] == path.stem.split("_")[0]
        assert (row["language"], row["elicitation"], row["speaker"]) == ("de", "acted", path.stem.split("_")[1])


def test_digest_is_over_ids_labels_and_samples(made, tmp_path):
    report = rebuild(*made, tmp_path / "out")
    lines = "".join(f"{r['clip_id']}\t{CLASSES[r['label']]}\t{r['clip_sha256']}\n" for r in rows_of(tmp_path / "out"))
    assert report.digest == hashlib.sha256(lines.encode()).hexdigest()
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == report.to_dict()
    assert report.text().splitlines()[-1] == f"digest {report.digest}"


def test_report(made, tmp_path):
    document = rebuild(*made, tmp_path / "out").to_dict()
    facts = document["corpora"]["mixed"]
    assert facts["states"] == {"unpinned": 32}
    assert (facts["licence"], facts["agreement_required"]) == ("CC0", False)
    assert facts["citation"] == "@misc{mixed, title={Mixed}}"
    assert document["partial"] is True
    assert document["manifest"]["profile"] is None
    assert document["clips"] == facts["clips"] == 32
    assert document["seconds"] == pytest.approx(32 * 0.3, rel=0.1)
    assert {"libsndfile", "soxr", "numpy", "audio_rule"} <= document["versions"].keys()


def test_workers_order_and_source_do_not_matter(made, tmp_path, small_shards):
    corpus, toml = made
    report = rebuild(corpus, toml, tmp_path / "one", workers=1)
    expected = final_files(tmp_path / "one")
    assert len(expected) == 6
    rebuild(corpus, toml, tmp_path / "many", workers=5)
    assert final_files(tmp_path / "many") == expected
    with zipfile.ZipFile(tmp_path / "corpus.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(corpus.iterdir(), reverse=True):
            archive.write(path, f"some folder/{path.name}")
    zipped = rebuild(tmp_path / "corpus.zip", toml, tmp_path / "zip")
    assert final_files(tmp_path / "zip") == expected
    assert zipped.digest == report.digest


def test_layouts_hold_the_same_clips(made, tmp_path, small_shards):
    digests = {
        layout: rebuild(*made, tmp_path / layout, layout=layout).digest
        for layout in ("parquet", "audiofolder", "harness")
    }
    assert len(set(digests.values())) == 1
    flac = {row["clip_id"]: row["audio"]["bytes"] for row in rows_of(tmp_path / "parquet")}
    folder = tmp_path / "audiofolder" / "audio"
    assert {f"mixed/{path.stem}": path.read_bytes() for path in folder.rglob("*.flac")} == flac
    assert [row["audio_flac"] for row in rows_of(tmp_path / "harness", "")] == list(flac.values())


def test_a_second_run_rewrites_nothing_and_reads_everything(made, tmp_path, small_shards):
    first = rebuild(*made, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if ".state" not in path.parts}
    second = rebuild(*made, tmp_path / "out")
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert (second.digest, second.to_dict()["run"]["clips_rendered"]) == (first.digest, 0)
    shard = tmp_path / "out" / "data" / "clips-00001.parquet"
    good = shard.read_bytes()
    shard.write_bytes(good[:500] + b"\0" + good[501:])
    third = rebuild(*made, tmp_path / "out")
    assert third.to_dict()["run"]["clips_rendered"] == 7
    assert shard.read_bytes() == good


@pytest.mark.parametrize("layout", ["parquet", "audiofolder", "harness"])
def test_a_changed_source_touches_its_own_clip_only(made, tmp_path, small_shards, layout):
    corpus = shutil.copytree(made[0], tmp_path / "corpus")
    rebuild(corpus, made[1], tmp_path / "out", layout=layout)
    (corpus / "anger_0000.wav").write_bytes(encode(voice(0.4, 16_000, seed=99), 16_000))
    (corpus / "sadness_0002.wav").unlink()
    (corpus / "fear_9999.wav").write_bytes(encode(voice(0.4, 16_000, seed=98), 16_000))
    again = rebuild(corpus, made[1], tmp_path / "out", layout=layout)
    assert again.to_dict()["run"]["clips_rendered"] == 2
    fresh = rebuild(corpus, made[1], tmp_path / "fresh", layout=layout)
    assert final_files(tmp_path / "out") == final_files(tmp_path / "fresh")
    assert again.digest == fresh.digest
    assert not (tmp_path / "out" / ".state" / "stale").exists() or not list(
        (tmp_path / "out" / ".state" / "stale").rglob("*.*")
    )


def test_a_new_rule_or_library_touches_everything(made, tmp_path, monkeypatch):
    rebuild(*made, tmp_path / "out")
    monkeypatch.setattr("oruk_leaderboard.reconstruction.journal.versions", lambda: {"audio_rule": "2"})
    assert rebuild(*made, tmp_path / "out").to_dict()["run"]["clips_rendered"] == 32


def test_new_metadata_rewrites_rows_without_rendering(made, tmp_path):
    rebuild(*made, tmp_path / "out")
    other = tmp_path / "mixed.toml"
    other.write_text(made[1].read_text().replace('["de"]', '["it"]'))
    again = rebuild(made[0], other, tmp_path / "out")
    assert again.to_dict()["run"]["clips_rendered"] == 0
    assert {row["language"] for row in rows_of(tmp_path / "out")} == {"it"}


def test_segments_come_from_one_long_recording(tmp_path, small_shards):
    corpus, toml = long_recording(tmp_path), spec(tmp_path, SEGMENTS, "segments.toml")
    report = rebuild(corpus, toml, tmp_path / "out")
    assert (report.clean, report.to_dict()["clips"]) == (True, 20)
    for row in rows_of(tmp_path / "out"):
        start = int(row["clip_id"][-2:]) * 2.75
        assert row["clip_sha256"] == render(corpus / "talk.flac", start_s=start, end_s=start + 1.5).clip_sha256


def test_flac_that_is_a_clip_already_is_copied(tmp_path):
    toml, corpus = spec(tmp_path), tmp_path / "corpus"
    corpus.mkdir()
    data = encode(voice(1, 16_000), 16_000, "FLAC")
    longer = encode(voice(17, 16_000), 16_000, "FLAC")
    (corpus / "anger_0001.flac").write_bytes(data)
    (corpus / "anger_0002.flac").write_bytes(longer)
    rebuild(corpus, toml, tmp_path / "out")
    copied, cut = rows_of(tmp_path / "out")
    assert copied["audio"]["bytes"] == data
    assert cut["duration_s"] == 16.0


def test_bad_recordings_are_findings_and_the_rest_is_made(tmp_path, capsys):
    toml, corpus = spec(tmp_path), tmp_path / "corpus"
    corpus.mkdir()
    good = encode(voice(0.5, 16_000), 16_000)
    nan = voice(0.5, 16_000)
    nan[77] = np.nan
    files = {
        "anger_0001.wav": good,
        "anger_0002.wav": b"",
        "anger_0003.wav": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "anger_0004.wav": good[:9_000],
        "anger_0005.wav": encode(nan, 16_000, "WAV", "FLOAT"),
        "anger_0006.wav": good[:24] + bytes(4) + good[28:],
        "anger_0007.wav": b"not a recording " * 20,
        "anger_0008.wav": encode(np.zeros((8_000, 1)), 16_000),
        "anger_0009.wav": encode(3 * voice(0.5, 16_000, seed=4), 16_000, "WAV", "FLOAT"),
        "anger_0010.wav": encode(voice(0.5, 16_000, seed=5), 16_000, "FLAC"),
    }
    for name, data in files.items():
        (corpus / name).write_bytes(data)
    report = rebuild(corpus, toml, tmp_path / "out")
    told = {finding["clip_id"][-2:]: (finding["state"], finding["reason"]) for finding in report.to_dict()["findings"]}
    assert {number: reason.partition(":")[0] for number, (_, reason) in told.items()} == {
        "02": "empty",
        "03": "lfs-pointer",
        "04": "truncated",
        "05": "not-finite",
        "06": "no-rate",
        "07": "unreadable",
        "08": "silent",
        "09": "clipped",
        "10": "wrong-extension",
    }
    assert [row["clip_id"][-2:] for row in rows_of(tmp_path / "out")] == ["01", "08", "09", "10"]
    assert report.to_dict()["corpora"]["mixed"]["states"] == {"failed": 6, "unpinned": 4}
    assert not report.clean
    arguments = ["reconstruct", "--corpus", f"{toml}={corpus}", "--out", str(tmp_path / "out"), "--all-clips"]
    assert main(arguments) == 1
    assert "failed: mixed/anger_0002: empty" in capsys.readouterr().out


def test_pinned_clips(made, tmp_path, small_shards):
    corpus, toml = shutil.copytree(made[0], tmp_path / "corpus"), made[1]
    manifest = pinned(corpus, toml)
    report = rebuild(corpus, toml, tmp_path / "whole", all_clips=False, manifest=manifest, profile="open")
    assert report.clean
    assert report.to_dict()["partial"] is False
    assert report.to_dict()["corpora"]["mixed"]["states"] == {"exact": 32}
    changed = corpus / "anger_0000.wav"
    data = bytearray(changed.read_bytes())
    data[2_000] ^= 1
    changed.write_bytes(data)
    samples, rate = soundfile.read(corpus / "happiness_0008.flac", dtype="int16")
    (corpus / "happiness_0008.flac").unlink()
    soundfile.write(corpus / "happiness_0008.wav", samples, rate, subtype="PCM_16")
    (corpus / "sadness_0002.wav").unlink()
    (corpus / "surprise_0005.wav").write_bytes((corpus / "anger_0007.wav").read_bytes())
    for all_clips in (False, True):
        out = tmp_path / f"set{all_clips}"
        report = rebuild(
            corpus, toml, out, all_clips=all_clips, manifest=manifest, profile=None if all_clips else "open"
        )
        states = report.to_dict()["corpora"]["mixed"]["states"]
        assert states == {"exact": 28, "same-audio": 1, "differs": 2, "missing": 1}
        told = {finding["clip_id"]: finding["reason"] for finding in report.to_dict()["findings"]}
        assert told["mixed/anger_0000"] == "changed"
        assert told["mixed/surprise_0005"] == "content of mixed/anger_0007"
        made_ids = {row["clip_id"] for row in rows_of(out)}
        assert len(made_ids) == 29
        assert not made_ids & {"mixed/anger_0000", "mixed/surprise_0005", "mixed/sadness_0002"}
        assert report.to_dict()["partial"] is True


def test_a_rebuilt_clip_that_is_not_the_pinned_one_is_not_written(made, tmp_path):
    corpus, toml = made
    manifest = pinned(corpus, toml)
    object.__setattr__(manifest.rows[0], "clip_sha256", "0" * 64)
    report = rebuild(corpus, toml, tmp_path / "out", all_clips=False, manifest=manifest)
    (finding,) = report.to_dict()["findings"]
    assert (finding["clip_id"], finding["state"]) == (manifest.rows[0].clip_id, "differs")
    assert "soxr" in finding["reason"]
    assert report.to_dict()["clips"] == 31


def test_filters(made, tmp_path):
    assert rebuild(*made, tmp_path / "a", limit=5).to_dict()["clips"] == 5
    report = rebuild(*made, tmp_path / "b", labels=["fear", "anger"])
    assert {row["native_label"] for row in rows_of(tmp_path / "b")} == {"fear", "anger"}
    assert report.to_dict()["filters"] == {"languages": [], "labels": ["anger", "fear"], "limit": None}
    with pytest.raises(OrukError, match="no such class"):
        rebuild(*made, tmp_path / "d", labels=["joy"])


def test_filters_that_leave_nothing_are_an_error(made, tmp_path):
    corpus, toml = made
    for filters in ({"languages": ["xx"]}, {"labels": ["surprise"], "languages": ["xx"]}):
        with pytest.raises(OrukError, match="the filters leave no clip; expected languages"):
            reconstruct(corpora={str(toml): corpus}, out=tmp_path / "out", all_clips=True, **filters)


def test_a_set_without_clips_can_be_completed(made, tmp_path):
    corpus, toml = tmp_path / "corpus", made[1]
    shutil.copytree(made[0], corpus)
    whole = {path: path.read_bytes() for path in corpus.rglob("*.*")}
    for path in whole:
        path.write_bytes(b"")
    out = tmp_path / "out"
    assert reconstruct(corpora={str(toml): corpus}, out=out, all_clips=True).document["clips"] == 0
    for path, data in whole.items():
        path.write_bytes(data)
    assert reconstruct(corpora={str(toml): corpus}, out=out, all_clips=True).document["clips"] > 0


def test_dry_run_writes_nothing(made, tmp_path):
    told = dry_run(corpora={str(made[1]): str(made[0])}, all_clips=True)
    assert told.clips == {"mixed": 32}
    assert told.disk_bytes > 100_000 and told.seconds >= 0
    assert "32 clips would be rebuilt" in told.text()
    assert list(tmp_path.iterdir()) == []
