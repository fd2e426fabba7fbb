"""Run in a process of its own: kill runs of a paid service at random moments, then check what was asked and paid for.

usage: python -m tests.kill_a_run FOLDER SET KILLS; ``FOLDER/card.toml`` is the system's card. Prints as JSON how many
runs were killed at work, how many requests the service got and what the last run says was spent. The service answers
``happy`` for every second recording and waits a little before, so that kills meet calls in flight.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from oruk_leaderboard.answers.run_files import calls_of, receipts_of
from oruk_leaderboard.systems.base import Options
from oruk_leaderboard.systems.budget import Budget
from oruk_leaderboard.systems.runner import Selection, run
from tests.fake_chat import FakeChat

CONCURRENCY = 4
WAIT = 0.02
PROTOCOL = "crema-d-ieo-md"


def main(folder: Path, clips: Path, kills: int) -> int:
    """Kill so many runs, finish one, and print what happened."""
    log, chance, killed = folder / "requests.log", random.Random(5), 0
    server, endpoint = serve(log)
    try:
        while killed < kills:
            asked_before, paid_before = len(log.read_text().splitlines()), answered(folder)
            if not run_for(chance.uniform(0.05, 0.4), folder, clips, endpoint):
                raise AssertionError("a run finished before it was killed: there is too little to do")
            killed += 1
            requests = log.read_text().splitlines()
            paid = answered(folder)
            assert not paid_before.intersection(requests[asked_before:]), "an answered clip was asked again"
            lost = [digest for digest in requests[asked_before:] if digest not in paid]
            assert len(lost) <= CONCURRENCY, f"{len(lost)} calls in flight were lost"
        one_run(folder, clips, endpoint)
        requests = log.read_text().splitlines()
        budget = Budget(1e9)
        budget.go_on(receipts_of(folder / "out.csv"), calls_of(folder / "out.csv"))
        sys.stdout.write(json.dumps({"killed": killed, "requests": len(requests), "spent": budget.spent}))
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    return 0


def serve(log: Path) -> tuple[int, str]:
    """A service in a process of its own, so that no thread of it is forked; its process id and its endpoint."""
    log.touch()
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        with os.fdopen(read) as told:
            return child, told.readline().strip()

    def decide(number, body):
        digest = hashlib.sha256(body["file"][1]).hexdigest()
        with log.open("a") as file:
            file.write(digest + "\n")
        time.sleep(WAIT)
        label = "happy" if int(digest[0], 16) % 2 else "sad"
        return 200, {"emotions": [{"label": label, "score": 0.8}]}, {}

    with FakeChat(decide) as server:
        os.write(write, server.url.removesuffix("/v1").encode() + b"\n")
        signal.pause()
    os._exit(0)


def one_run(folder: Path, clips: Path, endpoint: str) -> None:
    """One run with a budget."""
    options = Options(endpoint=endpoint, concurrency=CONCURRENCY, budget=Budget(1e9))
    run(
        str(folder / "card.toml"),
        clips=clips,
        out=folder / "out.csv",
        options=options,
        selection=Selection(diagnostic=PROTOCOL),
    )


def run_for(seconds: float, folder: Path, clips: Path, endpoint: str) -> bool:
    """Start a run, kill it after it has been at work for a while; whether it was still at work."""
    child = os.fork()
    if child == 0:
        try:
            one_run(folder, clips, endpoint)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def answered(folder: Path) -> set[str]:
    """Digests of the WAV files that have a receipt."""
    path = receipts_of(folder / "out.csv")
    if not path.exists():
        return set()
    wavs = json.loads((folder / "wavs.json").read_text())
    return {wavs[json.loads(line)["clip_id"]] for line in path.read_text().split("\n")[:-1]}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
