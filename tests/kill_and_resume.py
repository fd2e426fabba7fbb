"""Run by the kill test in a process of its own: start runs, kill them at random moments, compare every byte.

usage: python -m tests.kill_and_resume FOLDER STAGE KILLS; prints the number of runs that were killed at work.
"""

import os
import random
import shutil
import signal
import sys
import time
import zipfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from oruk_leaderboard.reconstruction import shards
from tests.made_corpora import final_files, rebuild, spec, tiny

CLIPS = 90

STAGES: dict[str, list[dict[str, Any]]] = {
    "parquet": [{}],
    "audiofolder": [{"layout": "audiofolder"}],
    "zip": [{"layout": "harness", "zipped": True}],
    # Every other run wants another part of the plan, so that shards are moved aside and taken over again.
    "plans": [{}, {"labels": ["anger", "fear", "sadness", "disgust"]}, {"limit": 50}],
}


def main(folder: Path, stage: str, kills: int) -> int:
    """Kill so many runs of a stage; gives that number."""
    shards.SHARD_CLIPS, shards.BATCH_CLIPS = 20, 4
    corpus, toml = tiny(folder, CLIPS), spec(folder)
    with zipfile.ZipFile(folder / "corpus.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in corpus.iterdir():
            archive.write(path, path.name)
    chance = random.Random(stage)
    wanted, seconds = [], 0.0
    for number, options in enumerate(STAGES[stage]):
        started = time.monotonic()
        run(folder, toml, folder / f"right{number}", options)
        seconds = max(seconds, time.monotonic() - started)
        wanted.append(final_files(folder / f"right{number}"))
    out = folder / "out"
    killed = 0
    plans: Iterator[tuple[dict[str, Any], dict[str, bytes]]] = cycle(zip(STAGES[stage], wanted, strict=True))
    for options, right in plans:
        if killed >= kills:
            break
        if not run_for(chance.uniform(0, 1.2 * seconds), folder, toml, out, options):
            assert final_files(out) == right, "a finished run left other files"
            if len(STAGES[stage]) == 1:
                shutil.rmtree(out)
            continue
        killed += 1
        complete = {name: data for files in wanted for name, data in files.items()}
        if len(STAGES[stage]) == 1:
            for name, data in final_files(out).items():
                assert data == complete[name], f"{name} is not whole"
    for options, right in zip(STAGES[stage], wanted, strict=True):
        run(folder, toml, out, options)
        assert final_files(out) == right, "a resumed run ends with other files"
        left = [path for path in (out / ".state").rglob("stale/**/*") if path.is_file()]
        assert not left, "what was moved aside is still there"
    return killed


def run(folder: Path, toml: Path, out: Path, options: dict[str, Any]) -> None:
    options = dict(options)
    source = folder / ("corpus.zip" if options.pop("zipped", False) else "corpus")
    rebuild(source, toml, out, **options)


def run_for(seconds: float, *arguments: Any) -> bool:
    """Start a run, kill it after a while; whether it was still at work."""
    child = os.fork()
    if child == 0:
        run(*arguments)
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or status == 0, "a run failed by itself"
    return os.WIFSIGNALED(status)


if __name__ == "__main__":
    sys.stdout.write(str(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
