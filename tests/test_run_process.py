"""Runs against a service as processes of their own: killed at random moments, and searched for their key."""

import base64
import hashlib
import json
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from oruk_leaderboard.cli import main
from tests.fake_chat import FakeChat, completion
from tests.made_corpora import rebuild, spec, tiny

KILLS, CONCURRENCY = 8, 4
CANARY = "sk-canary-9876543210"
SYSTEM = "audiollm-voxtral-mini-3b"


def work(clips: Path, out: Path, url: str) -> None:
    """What a process of the kill test runs."""
    command = ["run", SYSTEM, "--clips", str(clips), "--out", str(out), "--endpoint", url, "--json"]
    raise SystemExit(main([*command, "--concurrency", str(CONCURRENCY)]))


def digest_of(body: dict) -> str:
    """The clip that a request is about: the digest of the samples after the WAV header of 44 bytes."""
    return hashlib.sha256(base64.b64decode(body["messages"][0]["content"][1]["input_audio"]["data"])[44:]).hexdigest()


def answered(out: Path) -> set[str]:
    """Digests of the clips with a whole receipt."""
    receipts = Path(f"{out}.receipts.jsonl")
    lines = receipts.read_bytes().split(b"\n")[:-1] if receipts.exists() else []
    return {json.loads(line)["input_sha256"] for line in lines}


def test_kill_9_at_random_moments_asks_no_answered_clip_again(tmp_path: Path) -> None:
    rebuild(tiny(tmp_path, 20 * KILLS), spec(tmp_path), tmp_path / "set", layout="parquet")
    out, chance = tmp_path / "run" / "p.csv", random.Random(11)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.test_run_process", "oruk_leaderboard.systems.chat", "soundfile"])
    waiting: list[int] = []
    enough = threading.Event()

    def decide(number: int, body: dict) -> object:
        if waiting and number >= waiting[0]:
            waiting.clear()
            enough.set()
        time.sleep(0.005)
        return completion("sad")

    with FakeChat(decide) as server:
        for _ in range(KILLS):
            before, first = answered(out), len(server.requests)
            enough.clear()
            waiting.append(first + chance.randint(1, 15))
            process = processes.Process(target=work, args=(tmp_path / "set", out, server.url))
            process.start()
            assert enough.wait(60)
            time.sleep(chance.uniform(0, 0.03))
            process.kill()
            process.join()
            assert process.exitcode == -9
            time.sleep(0.05)  # what was sent before the kill reaches the server's list
            asked = Counter(map(digest_of, server.requests[first:]))
            assert set(asked.values()) == {1} and not asked.keys() & before
            assert before <= answered(out) and len(asked.keys() - answered(out)) <= CONCURRENCY
        before, first = answered(out), len(server.requests)
        process = processes.Process(target=work, args=(tmp_path / "set", out, server.url))
        process.start()
        process.join()
        assert process.exitcode == 0
        assert Counter(map(digest_of, server.requests[first:])).keys().isdisjoint(before)
    assert len(answered(out)) == 20 * KILLS
    assert out.read_text(encoding="utf-8").count(",sadness,ok") == 20 * KILLS


def test_the_key_is_in_no_file_message_or_process_list(tmp_path: Path) -> None:
    rebuild(tiny(tmp_path, 12), spec(tmp_path), tmp_path / "set", layout="parquet")
    commands: list[bytes] = []

    def decide(number: int, body: dict) -> object:
        commands.extend(path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
        status = (200, 400, 401)[min(number // 4, 2)]
        return completion("sad") if status == 200 else (status, f"Bearer {CANARY} was refused, key={CANARY}", {})

    with FakeChat(decide) as server:
        command = ["run", SYSTEM, "--clips", str(tmp_path / "set"), "--out", str(tmp_path / "run" / "p.csv")]
        done = subprocess.run(
            [sys.executable, "-m", "oruk_leaderboard.cli", *command, "--endpoint", server.url, "--concurrency", "1"],
            env={**os.environ, "ENDPOINT_API_KEY": CANARY},
            capture_output=True,
            text=True,
            check=False,
        )
        assert server.headers[0]["authorization"] == f"Bearer {CANARY}"
    assert done.returncode == 2 and "refuses access" in done.stderr and "***" in done.stderr
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "run").iterdir()]
    assert any("Bearer ***" in text for text in written)
    assert CANARY not in "".join(written) + done.stdout + done.stderr
    assert any(b"oruk_leaderboard.cli" in command for command in commands)
    assert not any(CANARY.encode() in command for command in commands)
