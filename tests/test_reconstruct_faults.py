"""Reconstruction when something goes wrong: input, output, disk, library, other runs."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.manifest import Manifest
from oruk_leaderboard.reconstruction import reconstruct, shards, store
from tests.made_corpora import final_files, rebuild, spec, tiny


def test_unusable_input_and_output(made, tmp_path):
    with pytest.raises(OrukError, match="no corpus is recognised here"):
        (tmp_path / "nothing").mkdir()
        reconstruct(tmp_path / "nothing", out=tmp_path / "out", all_clips=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    with pytest.raises(OrukError, match=r"contains something else.*thesis\.tex"):
        rebuild(*made, tmp_path / "full")
    (tmp_path / "file").write_text("")
    with pytest.raises(OrukError, match="not a folder"):
        rebuild(*made, tmp_path / "file" / "out")
    rebuild(*made, tmp_path / "set", limit=3)
    with pytest.raises(OrukError, match="another layout; expected harness; found parquet"):
        rebuild(*made, tmp_path / "set", layout="harness")


def test_a_folder_with_another_set_is_refused_and_left_alone(made, ravdess, tmp_path):
    rebuild(*made, tmp_path / "set", limit=3)
    before = final_files(tmp_path / "set")
    with pytest.raises(OrukError, match=r"contains another set; expected no clip.*3 clips"):
        reconstruct(ravdess, out=tmp_path / "set", all_clips=True)
    with pytest.raises(OrukError, match=r"contains another set; expected clips like ravdess/.*3 clips"):
        reconstruct(ravdess, out=tmp_path / "set", all_clips=True, manifest=Manifest.of([], {}))
    assert final_files(tmp_path / "set") == before


def test_two_runs_in_one_folder(made, tmp_path, capsys):
    corpus, toml = made
    with store.open_store(tmp_path / "out"):
        arguments = ["reconstruct", "--corpus", f"{toml}={corpus}", "--out", str(tmp_path / "out"), "--all-clips"]
        assert main(arguments) == 2
    assert f"{tmp_path / 'out'}: another run is at work in this folder" in capsys.readouterr().err


def test_disk_full_leaves_nothing_half_written(made, tmp_path, monkeypatch, small_shards):
    written = 0
    real = store.HashingFile.write

    def write(self, data):
        nonlocal written
        written += memoryview(data).nbytes
        if written > 150_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, data)

    monkeypatch.setattr(store.HashingFile, "write", write)
    with pytest.raises(OrukError, match=r"disk is full.*same command continues"):
        rebuild(*made, tmp_path / "out")
    monkeypatch.setattr(store.HashingFile, "write", real)
    assert not (tmp_path / "out" / "report.json").exists()
    left = final_files(tmp_path / "out")
    again = rebuild(*made, tmp_path / "out")
    assert 0 < again.to_dict()["run"]["clips_rendered"] < 32
    rebuild(*made, tmp_path / "fresh")
    assert final_files(tmp_path / "out") == final_files(tmp_path / "fresh")
    assert left.items() <= final_files(tmp_path / "fresh").items()


def test_read_only_output(made, tmp_path, monkeypatch):
    def refuse(*_args, **_options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(OrukError, match="read-only"):
        rebuild(*made, tmp_path / "out")


def test_damage_on_the_way_to_the_disk_is_found(made, tmp_path, monkeypatch):
    real = store.HashingFile.close

    def damage(self):
        real(self)
        data = bytearray(self.path.read_bytes())
        data[len(data) // 2] ^= 1
        self.path.write_bytes(data)

    monkeypatch.setattr(store.HashingFile, "close", damage)
    with pytest.raises(OrukError, match="reads back differently"):
        rebuild(*made, tmp_path / "out")
    assert not list((tmp_path / "out").glob("data/*.parquet"))


def test_sources_that_vanish(made, tmp_path, monkeypatch):
    corpus = shutil.copytree(made[0], tmp_path / "corpus")
    real = shards.Writing.batches

    def vanish(self):
        (corpus / "anger_0000.wav").unlink()
        return real(self)

    monkeypatch.setattr(shards.Writing, "batches", vanish)
    report = rebuild(corpus, made[1], tmp_path / "out")
    (finding,) = report.to_dict()["findings"]
    assert (finding["clip_id"], finding["state"]) == ("mixed/anger_0000", "missing")

    def unmount(self):
        shutil.rmtree(corpus)
        return real(self)

    monkeypatch.setattr(shards.Writing, "batches", unmount)
    with pytest.raises(OrukError, match="corpora root went away"):
        rebuild(corpus, made[1], tmp_path / "out2")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(made, tmp_path):
    corpus = shutil.copytree(made[0], tmp_path / "corpus")
    (corpus / "anger_0000.wav").chmod(0)
    (finding,) = rebuild(corpus, made[1], tmp_path / "out").to_dict()["findings"]
    assert "Permission denied" in finding["reason"]


def test_library_with_other_bits_stops_the_run(made, tmp_path, monkeypatch):
    monkeypatch.setattr("oruk_leaderboard.audio.selftest._TRIALS", ((44_100, 4_410, 1, 1, "0" * 64),))
    with pytest.raises(OrukError, match="other samples on this machine"):
        rebuild(*made, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_remote_output(made, tmp_path, small_shards):
    import fsspec

    report = rebuild(*made, "memory://rebuilt/set")
    rebuild(*made, tmp_path / "local")
    memory = fsspec.filesystem("memory")
    found = {
        path.removeprefix("/rebuilt/set/"): memory.cat_file(path)
        for path in memory.find("/rebuilt/set")
        if "/.state/" not in path and not path.endswith("report.json")
    }
    assert found == final_files(tmp_path / "local")
    assert json.loads(memory.cat_file("/rebuilt/set/report.json"))["digest"] == report.digest
    assert rebuild(*made, "memory://rebuilt/set").to_dict()["run"]["clips_rendered"] == 0


def test_two_runs_at_one_url(made, tmp_path):
    with store.open_store("memory://shared/set") as first, store.open_store("memory://shared/set"):
        staged = first.staging / "file"
        staged.write_bytes(b"x")
        with pytest.raises(OrukError, match="another run has begun in this folder"):
            first.put(staged, "file", hashlib.sha256(b"x").hexdigest())


def test_command_line(made, tmp_path):
    corpus, toml = made
    command = [sys.executable, "-m", "oruk_leaderboard.cli", "reconstruct", "--corpus", f"{toml}={corpus}"]
    command = [
        sys.executable,
        "-c",
        "import sys; from oruk_leaderboard.cli import main; sys.exit(main())",
        *command[3:],
    ]
    done = subprocess.run(
        [*command, "--out", tmp_path / "out", "--all-clips", "--json"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["clips"] == 32
    neither = subprocess.run(
        [*command, "--out", tmp_path / "no", "--limit", "0", "--all-clips"], capture_output=True, text=True, check=False
    )
    assert neither.returncode == 2 and len(neither.stderr.splitlines()) == 1


def test_memory_stays_bounded_by_batches(tmp_path, small_shards, monkeypatch):
    """No more clips are in flight than the window allows, however many there are."""
    from oruk_leaderboard.reconstruction import engines

    corpus, toml = tiny(tmp_path, 120), spec(tmp_path)
    started, taken, most = 0, 0, 0
    real = engines.Renderer.__call__

    def count(self, jobs):
        nonlocal started, most
        started += len(jobs)
        most = max(most, started - taken)
        return real(self, jobs)

    monkeypatch.setattr(engines.Renderer, "__call__", count)
    real_add = shards._Shard.add

    def add(self, *arguments):
        nonlocal taken
        taken += 1
        return real_add(self, *arguments)

    monkeypatch.setattr(shards._Shard, "add", add)
    rebuild(corpus, toml, tmp_path / "out", workers=2)
    assert taken == 120
    assert most <= 3 * (2 * engines.AHEAD + 2)
