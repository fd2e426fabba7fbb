"""Chat endpoints: what is sent, what answers mean, retries, and keys that reach no file."""

import base64
import io
import json
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import numpy as np
import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.scoring.replay import replay
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.endpoint import check_endpoint
from oruk_leaderboard.systems.http import retry_after
from oruk_leaderboard.systems.secrets import blank
from tests.fake_chat import FakeChat, completion
from tests.made_corpora import mixed, rebuild, spec

WAVE = np.round(8000 * np.sin(np.arange(4000) / 9)).astype(np.float32) / 32768
ITEM = Item("c/1", WAVE, "c", "I told you so")
CANARY = "sk-canary-0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", CANARY)
    monkeypatch.setattr("oruk_leaderboard.systems.http.FIRST_WAIT", 0.001)


def ask(decide, *, family: str = "API", **options):
    card = replace(get_system("openai_gpt-audio-mini"), family=family)
    with FakeChat(decide) as server, ExitStack() as stack:
        loaded = load_system(card, Options(endpoint=server.url, timeout=5, **options))
        stack.callback(loaded.close)
        return loaded.predict([ITEM])[0], server


def test_audio_is_sent_as_wav_with_the_prompt_and_a_schema() -> None:
    import soundfile

    answer, server = ask(lambda number, body: completion('{"emotion": "anger"}'))
    assert (answer.raw, answer.status) == ('{"emotion": "anger"}', "ok")
    assert (answer.call.request_id, answer.call.finish_reason, answer.call.http_status) == ("req-7", "stop", 200)
    assert answer.call.usage == {"total_tokens": 12, "binding": "json_schema"}
    [body] = server.requests
    assert body["model"] == "gpt-audio-mini" and body["temperature"] == 0
    text, audio = body["messages"][0]["content"]
    assert "anger" in text["text"] and audio["type"] == "input_audio"
    samples, rate = soundfile.read(io.BytesIO(base64.b64decode(audio["input_audio"]["data"])), dtype="float32")
    assert rate == 16_000 and np.array_equal(samples, WAVE)
    assert server.headers[0]["authorization"] == f"Bearer {CANARY}"


def test_a_text_system_reads_the_transcript_and_sends_no_audio() -> None:
    answer, server = ask(lambda number, body: completion("sad"), family="text only")
    assert answer.raw == "sad"
    assert "I told you so" in server.requests[0]["messages"][0]["content"]
    assert "input_audio" not in json.dumps(server.requests)


@pytest.mark.parametrize(
    ("decided", "status", "reason"),
    [
        (completion("neu", "length"), "error", "cut at max_tokens"),
        (completion(None, "content_filter"), "refused", "content_filter"),
        (completion(None, refusal="I can't do that"), "refused", "I can't do that"),
        ((200, "garbage", {}), "error", "not an answer of this service"),
        ((200, {"choices": []}, {}), "error", "not an answer of this service"),
        ((400, {"error": f"bad audio, key={CANARY}"}, {}), "error", "HTTP 400"),
    ],
)
def test_what_is_not_an_answer(decided, status: str, reason: str) -> None:
    answer, server = ask(lambda number, body: decided)
    assert answer.status == status and reason in answer.reason and CANARY not in answer.reason
    assert len(server.requests) == 1


def test_a_service_without_schemas_is_asked_with_the_next_binding() -> None:
    def decide(number, body):
        if "response_format" in body:
            return 400, {"error": "response_format json_schema is not supported"}, {}
        return completion("fear")

    answer, server = ask(decide)
    assert answer.raw == "fear" and answer.call.usage["binding"] == "choice"
    assert server.requests[1]["structured_outputs"] == {"choice": list(CLASSES)}


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503, 529, None])
def test_passing_faults_are_tried_again(status) -> None:
    answer, server = ask(lambda number, body: completion("sad") if number > 2 else status and (status, "later", {}))
    assert (answer.raw, answer.call.attempt, len(server.requests)) == ("sad", 3, 3)


def test_retry_after_is_kept_in_both_forms() -> None:
    # A date in the header has whole seconds, and making the server takes a part of them: three leave at least one.
    for value in ("1", format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)):
        started = time.monotonic()
        answer, _ = ask(lambda n, body, v=value: completion("sad") if n > 1 else (429, "slow", {"retry-after": v}))
        assert answer.raw == "sad" and time.monotonic() - started > 0.4
    assert retry_after(None) is None and retry_after("soon") is None and retry_after("7") == 7


@pytest.mark.parametrize(
    ("decided", "message"),
    [
        ((401, {"error": f"invalid key {CANARY}"}, {}), "refuses access.*HTTP 401"),
        ((403, "no", {}), "refuses access"),
        ((429, {"error": {"code": "insufficient_quota"}}, {}), "quota is exhausted"),
        ((302, "", {"location": "https://elsewhere.example/v1"}), r"redirects.*elsewhere\.example"),
        ((429, "wait", {"retry-after": "9999"}), "long wait"),
        ((404, "no such model", {}), "does not know this route or model"),
    ],
)
def test_what_every_clip_would_meet_ends_the_run_at_once(decided, message: str) -> None:
    with pytest.raises(OrukError, match=message) as caught:
        ask(lambda number, body: decided)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://models.example/v1", "in the clear"),
        ("https://me:pass@models.example/v1", "more than host and path"),
        ("models.example", "not an endpoint"),
    ],
)
def test_endpoints_that_are_refused(url: str, message: str) -> None:
    with pytest.raises(OrukError, match=message) as caught:
        check_endpoint(url, allow_http=False)
    assert "pass" not in str(caught.value)
    assert check_endpoint("http://models.example/v1/", allow_http=True) == "http://models.example/v1"


def test_secrets_are_blanked() -> None:
    text = f"GET https://u:p4ss@h/?api_key=abc&x=1 authorization: Bearer xyz.123 {CANARY} token: t0k"
    assert blank(text) == "GET https://***@h/?api_key=***&x=1 authorization: Bearer *** *** token: ***"


def test_a_run_over_a_service_resumes_replays_and_leaks_no_key(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    rebuild(mixed(tmp_path, 21), spec(tmp_path), tmp_path / "set", layout="parquet")
    out = tmp_path / "run" / "q.csv"
    command = ["run", "openai_gpt-audio-mini", "--clips", str(tmp_path / "set"), "--out", str(out)]
    said = ["anger", '{"emotion": "joy"}', "I cannot help with that.", "hmm", "<think>sad?</think>neutral"]

    def decide(number, body):
        return (401, f"key {CANARY} is used up", {}) if number == 9 else completion(said[number % 5])

    with FakeChat(decide) as server:
        asked = [*command, "--endpoint", server.url, "--concurrency", "4"]
        assert main([*asked, "--dry-run"]) == 0 and server.requests == []
        assert "21 calls" in capsys.readouterr().out
        assert main(asked) == 2
        kept = len(Path(f"{out}.receipts.jsonl").read_text().splitlines())
        first = len(server.requests)
        assert kept == first - 1 and not out.exists()
        assert main(asked) == 1
        # The clip that met the 401 and those never asked: no clip with a receipt is asked twice.
        assert len(server.requests) == first + 21 - kept
    found = replay(f"{out}.receipts.jsonl", clips=tmp_path / "set", n_boot=5, cluster="clip").score.evaluation["counts"]
    assert found["ok"] and found["refused"] and found["abstained"] and sum(found.values()) == 21
    printed = capsys.readouterr()
    written = "".join(path.read_text(encoding="utf-8") for path in out.parent.iterdir())
    assert CANARY not in written + printed.out + printed.err
    document = json.loads(Path(f"{out}.run.json").read_text())
    assert document["prompt"] == "emotion@1.0.0" and document["observed"] == {"binding": "json_schema"}


def test_calls_per_minute_are_spaced_evenly() -> None:
    loaded = load_system(get_system("openai_gpt-audio-mini"), Options(endpoint="http://127.0.0.1:9/v1", rpm=120))
    with closing(loaded):
        assert (loaded.service._limit.max_rate, loaded.service._limit.time_period) == (1, 0.5)


def test_a_missing_key_or_endpoint_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(OrukError, match="environment variable OPENAI_API_KEY"):
        load_system(get_system("openai_gpt-audio-mini"))
    with pytest.raises(OrukError, match=r"no endpoint.*--endpoint URL"):
        load_system(get_system("audiollm-voxtral-mini-3b"))
