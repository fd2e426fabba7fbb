"""Runs that are killed or interrupted go on and end with the same bytes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kill_and_resume import STAGES
from tests.made_corpora import final_files, rebuild, spec, tiny

KILLS = {"parquet": 7, "audiofolder": 5, "plans": 5, "zip": 3}
"""Runs killed at work, by stage; 20 in all."""


@pytest.mark.parametrize("stage", STAGES)
def test_killed_runs_go_on(stage, tmp_path):
    command = [sys.executable, "-m", "tests.kill_and_resume", str(tmp_path), stage, str(KILLS[stage])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) == KILLS[stage]


def test_interrupt_ends_cleanly_and_says_how_to_resume(tmp_path):
    corpus, toml = tiny(tmp_path, 150), spec(tmp_path)
    # The engine is slowed down so that the interrupt comes while workers are reading.
    code = (
        "import signal, sys, time\n"
        # Where the suite itself runs in the background of a shell, children inherit SIGINT as ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from oruk_leaderboard.reconstruction import shards\n"
        "from oruk_leaderboard.cli import main\n"
        "real, shards.SHARD_CLIPS, shards.BATCH_CLIPS = shards._Shard.add, 20, 4\n"
        "def add(*arguments):\n"
        "    time.sleep(0.02)\n"
        "    return real(*arguments)\n"
        "shards._Shard.add = add\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    out = tmp_path / "out"
    arguments = ["reconstruct", "--corpus", f"{toml}={corpus}", "--out", str(out), "--all-clips"]
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(out.glob("data/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in told and "Traceback" not in told
    assert not (out / "report.json").exists()
    assert not (out / ".state" / "staging").exists()
    report = rebuild(corpus, toml, out)
    assert report.clean and report.to_dict()["clips"] == 150
    rebuild(corpus, toml, tmp_path / "fresh")
    assert final_files(out) == final_files(tmp_path / "fresh")
