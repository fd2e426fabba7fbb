"""The CREMA-D diagnostic from end to end: rebuilt, asked of a service that is killed again and again, replayed."""

import collections
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from oruk_leaderboard.audio.stored import decode_stored
from oruk_leaderboard.cli import main
from oruk_leaderboard.clipset import open_clipset
from oruk_leaderboard.protocols import gold_of_protocol, load
from oruk_leaderboard.reconstruction import reconstruct
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.scoring.replay import replay
from oruk_leaderboard.systems import get_system
from oruk_leaderboard.systems.endpoint import wav_bytes
from tests.fake_chat import FakeChat
from tests.made_corpora import EMPTY

PROTOCOL = "crema-d-ieo-md"
CANARY = "sk-canary-0123456789"
PRICE = '[price]\ndate = "2026-12-01"\nsource = "a price of the tests"\nminute = 0.6\n'
SPELLINGS = {"anger": "angry", "happiness": "happy", "sadness": "sad", "fear": "scared", "disgust": "disgusted"}


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rebuilt set of the 546 recordings and of one other, each of 0.1 s of noise."""
    folder = tmp_path_factory.mktemp("crema")
    sounds = folder / "corpus" / "AudioWAV"
    sounds.mkdir(parents=True)
    noise = np.random.default_rng(1)
    for clip_id in [*gold_of_protocol(load(PROTOCOL)).clip_ids, "crema_d/1001_DFA_ANG_XX"]:
        samples = noise.integers(-3000, 3000, 1600).astype(np.int16)
        soundfile.write(sounds / f"{clip_id.partition('/')[2]}.wav", samples, 16_000)
    reconstruct(corpora={"crema_d": str(folder / "corpus")}, out=folder / "set", all_clips=True, manifest=EMPTY)
    return folder / "set"


@pytest.fixture(scope="module")
def wavs(clips: Path) -> dict[str, str]:
    """Clip id to the digest of the WAV file that a service is sent."""
    clip_set = open_clipset(clips)
    names = ("clip_id", "clip_sha256")
    digests = dict(zip(*(clip_set.table.column(name).to_pylist() for name in names), strict=True))
    return {
        clip_id: hashlib.sha256(wav_bytes(decode_stored(flac, clip_sha256=digests[clip_id], where=clip_id))).hexdigest()
        for clip_id, flac in clip_set.recordings()
    }


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The API's card with a price of our own."""
    known = get_system("oruk-fourier")
    labels = "".join(
        f"{json.dumps(label)} = {json.dumps(name)}\n" for label, name in (known.native_labels or {}).items()
    )
    head = 'name = "Fourier"\nfamily = "ours"\nadapter = "oruk"\nmodel_id = "oruk-fourier"\nalias = true\n'
    path = tmp_path / "card.toml"
    path.write_text(f'{head}scores = "independent"\nsource = "a test"\n[native_labels]\n{labels}{PRICE}')
    return path


def test_run_then_replay_gives_figures_by_actor_clusters(
    clips: Path, wavs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", CANARY)
    gold = gold_of_protocol(load(PROTOCOL))
    right = {wavs[clip]: gold.classes[label] for clip, label in zip(gold.clip_ids, gold.labels, strict=True)}

    def decide(number, body):
        label = right[hashlib.sha256(body["file"][1]).hexdigest()]
        others = {1: [{"label": "smug", "score": 0.9}], 2: [{"label": "proud", "score": 0.95}]}.get(number, [])
        if number == 3:
            return 400, {"error": {"message": "unsupported audio", "code": "invalid_audio"}}, {}
        return 200, {"emotions": [{"label": SPELLINGS.get(label, label), "score": 0.5}, *others]}, {}

    out = tmp_path / "f.csv"
    command = ["run", "oruk-fourier", "--clips", str(clips), "--out", str(out), "--protocol", PROTOCOL]
    with FakeChat(decide) as server:
        code = main([*command, "--endpoint", server.url.removesuffix("/v1")])
    assert code == 1 and len(server.requests) == 546
    text = capsys.readouterr().out
    assert "a label that the card does not declare: smug (1 clips)" in text
    receipts = Path(f"{out}.receipts.jsonl")
    lines = [json.loads(line) for line in receipts.read_text().splitlines()]
    for line in lines:
        check(line, "receipt")
    assert {(line["model"], line["revision"], line["alias_asked_on"] == line["time"][:10]) for line in lines} == {
        ("oruk-fourier", None, True)
    }
    found = replay(receipts, protocol=PROTOCOL, system="oruk-fourier", n_boot=20)
    evaluation = found.score.evaluation
    assert {name: number for name, number in evaluation["counts"].items() if number} == {"ok": 545, "error": 1}
    assert (evaluation["cluster"], len(evaluation["confusion_by_cluster"]["clusters"])) == ("speaker", 91)
    assert evaluation["figures"]["accuracy"] == pytest.approx(545 / 546)
    assert evaluation["receipts"]["undeclared"] == {"smug": 1} and evaluation["receipts"]["unmapped"]["on_top"] == 2
    assert any("not declared without one: smug (1 clips)" in finding for finding in found.score.findings)
    check(found.to_dict(), "record")
    assert not [path for path in tmp_path.iterdir() if CANARY in path.read_text(encoding="utf-8")]


def test_a_run_killed_at_random_moments_pays_for_no_answered_clip_twice(
    clips: Path, wavs: dict[str, str], tmp_path: Path, card: Path
) -> None:
    (tmp_path / "wavs.json").write_text(json.dumps(wavs))
    kills = 12
    ran = subprocess.run(
        [sys.executable, "-m", "tests.kill_a_run", str(tmp_path), str(clips), str(kills)],
        env={**os.environ, "ENDPOINT_API_KEY": CANARY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    done = json.loads(ran.stdout)
    assert done["killed"] == kills
    requests = (tmp_path / "requests.log").read_text().splitlines()
    asked = collections.Counter(requests)
    assert set(asked) == {wavs[clip] for clip in gold_of_protocol(load(PROTOCOL)).clip_ids}
    receipts = [json.loads(line) for line in (tmp_path / "out.csv.receipts.jsonl").read_text().splitlines()]
    assert len(receipts) == len({line["clip_id"] for line in receipts}) == 546
    # Only calls in flight at a kill are repeated, and the budget counts each of them too.
    assert len(requests) - 546 <= kills * 4
    assert done["spent"] >= len(requests) * 0.01 - 1e-9
    assert done["spent"] <= (546 + kills * 4) * 0.01 + 1e-9
    assert not [path for path in tmp_path.iterdir() if CANARY in path.read_text(encoding="utf-8")]
