"""The vendors' own interfaces: what is sent, what answers mean, what ends a run; each against a server of the tests."""

import base64
import io
import json
import re
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from oruk_leaderboard.answers.interpretation import interpret
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.labels import alias_table
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.asking import sound
from oruk_leaderboard.systems.base import Item, Options
from tests.fake_chat import FakeChat

WAVE = np.round(8000 * np.sin(np.arange(24_000) / 9)).astype(np.float32) / 32768
ITEM = Item("c/1", WAVE, "c", "I told you so")
CANARY = "sk-canary-0123456789"
GEMINI, ANTHROPIC, ORUK = "gemini-gemini-2.5-flash", "anthropic_claude-haiku-4-5-20251001", "oruk-fourier"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", CANARY)
    monkeypatch.setattr("oruk_leaderboard.systems.http.FIRST_WAIT", 0.001)


def ask(system: str, decide):
    """The answer about one clip, and the server that gave it."""
    with FakeChat(lambda number, body: decide if isinstance(decide, tuple) else decide(number, body)) as server:
        endpoint = server.url.removesuffix("/v1")
        with ExitStack() as stack:
            loaded = load_system(get_system(system), Options(endpoint=endpoint, timeout=5))
            stack.callback(loaded.close)
            return loaded.predict([ITEM])[0], server


def candidate(text: str | None = '{"emotion": "anger"}', finish: str = "STOP", **more: object):
    """A ``generateContent`` response."""
    parts = [{"text": "It sounds sad.", "thought": True}, *([] if text is None else [{"text": text}])]
    usage = {
        "promptTokenCount": 250,
        "candidatesTokenCount": 8,
        "thoughtsTokenCount": 40,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 202}, {"modality": "AUDIO", "tokenCount": 48}],
    }
    document = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, **more}],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-flash",
        "responseId": "resp-1",
    }
    return 200, document, {}


def message(text: str = '{"emotion": "sadness"}', stop: str = "end_turn", **more: object):
    """A response of ``messages``."""
    content = [{"type": "text", "text": text}] if text else []
    usage = {"input_tokens": 300, "output_tokens": 12}
    document = {"id": "msg-1", "model": "m", "content": content, "stop_reason": stop, "usage": usage, **more}
    return 200, document, {"request-id": "req-9"}


def emotions(*scores: tuple[str, float], **more: object):
    """A response of ``/v1/audio/emotions``."""
    listed = [{"label": label, "score": score} for label, score in scores]
    return 200, {"object": "audio.emotions", "model": "oruk-fourier", "emotions": listed, **more}, {}


def test_gemini_gets_the_clip_inline_with_a_schema_and_the_key_in_a_header() -> None:
    answer, server = ask(GEMINI, candidate())
    assert (answer.raw, answer.status) == ('{"emotion": "anger"}', "ok")
    assert (answer.call.request_id, answer.call.finish_reason) == ("resp-1", "STOP")
    assert answer.call.usage["thoughtsTokenCount"] == 40 and answer.call.usage["model"] == "gemini-2.5-flash"
    assert answer.call.cost == pytest.approx((202 * 0.3 + 48 * 1.0 + 48 * 2.5) / 1e6)
    assert server.paths == ["/models/gemini-2.5-flash:generateContent"]
    assert server.headers[0]["x-goog-api-key"] == CANARY and "authorization" not in server.headers[0]
    [body] = server.requests
    prompt, audio = body["contents"][0]["parts"]
    assert "surprise" in prompt["text"] and audio["inlineData"]["mimeType"] == "audio/wav"
    samples, rate = soundfile.read(io.BytesIO(base64.b64decode(audio["inlineData"]["data"])), dtype="float32")
    assert rate == 16_000 and np.array_equal(samples, WAVE)
    settings = body["generationConfig"]
    assert settings["responseSchema"]["properties"]["emotion"]["enum"] == list(CLASSES)
    assert settings["thinkingConfig"] == {"thinkingBudget": 512}
    assert (settings["temperature"], settings["maxOutputTokens"]) == (0, 4096)


def test_anthropic_gets_the_words_and_no_audio() -> None:
    answer, server = ask(ANTHROPIC, message())
    assert (answer.raw, answer.call.request_id, answer.call.finish_reason) == (
        '{"emotion": "sadness"}',
        "req-9",
        "end_turn",
    )
    assert answer.call.cost == pytest.approx((300 * 1 + 12 * 5) / 1e6)
    assert server.paths == ["/messages"]
    assert (server.headers[0]["x-api-key"], server.headers[0]["anthropic-version"]) == (CANARY, "2023-06-01")
    [body] = server.requests
    assert body["messages"][0]["content"].endswith("Words:\nI told you so") and body["temperature"] == 0
    assert body["output_config"]["format"]["schema"]["properties"]["emotion"]["enum"] == list(CLASSES)
    _, server = ask("anthropic_claude-opus-4-8", message())
    assert "temperature" not in server.requests[0]
    with pytest.raises(OrukError, match="takes no audio"):
        load_system(replace(get_system(ANTHROPIC), family="API"))


def test_the_request_to_oruk_is_that_of_its_sdk() -> None:
    sdk = pytest.importorskip("oruk")
    _, server = ask(ORUK, emotions(("happy", 0.9)))
    file = io.BytesIO(server.requests[0]["file"][1])
    file.name = "clip.wav"
    with FakeChat(lambda number, body: emotions(("happy", 0.9))) as other:
        with sdk.Oruk(CANARY, base_url=other.url.removesuffix("/v1"), max_retries=0) as client:
            client.emotions(file, model="oruk-fourier")
        assert (server.paths, server.requests) == (other.paths, other.requests) and server.paths == [
            "/v1/audio/emotions"
        ]
        ours, theirs = server.headers[0], other.headers[0]
        assert ours["authorization"] == theirs["Authorization"] == f"Bearer {CANARY}"
        assert len(ours["x-request-id"]) == len(theirs["X-Request-ID"]) == 36


def test_scores_of_oruk_are_scaled_and_unknown_labels_are_not_guessed() -> None:
    answer, server = ask(ORUK, emotions(("hopeful", 0.9), ("happy", 0.6), ("smug", 0.3), ("sad", 0.2)))
    assert json.loads(answer.raw)[2] == {"label": "smug", "score": 0.3}
    card = get_system(ORUK)
    kept = sound(answer, scores=card.scores)
    assert sum(kept.scores.values()) == pytest.approx(1) and kept.scores["happy"] == pytest.approx(0.3)
    table = alias_table().declared(card.native_labels)
    meaning = interpret(kept, table)
    assert (meaning.label, meaning.unmapped_on_top) == ("happiness", True)
    assert meaning.unmapped == pytest.approx(0.6) and not table.knows("smug") and table.knows("hopeful")
    assert len(server.requests) == 1


def test_retries_to_oruk_keep_their_id() -> None:
    answer, server = ask(ORUK, lambda number, body: emotions(("sad", 1.0)) if number > 2 else (503, "later", {}))
    assert answer.call.attempt == 3 and len({header["x-request-id"] for header in server.headers}) == 1


@pytest.mark.parametrize(
    ("system", "decided", "status", "reason"),
    [
        (GEMINI, candidate(None, "SAFETY"), "refused", "blocked the answer: SAFETY"),
        (GEMINI, candidate(None, "RECITATION", finishMessage="as cited"), "refused", "as cited"),
        (GEMINI, (200, {"promptFeedback": {"blockReason": "OTHER"}}, {}), "refused", "blocked the prompt: OTHER"),
        (GEMINI, candidate("neu", "MAX_TOKENS"), "error", "cut at max_tokens"),
        (GEMINI, candidate(None, "MALFORMED_FUNCTION_CALL"), "error", "stopped: MALFORMED_FUNCTION_CALL"),
        (GEMINI, (200, {"candidates": []}, {}), "error", "not an answer of this service"),
        (GEMINI, (413, "too large", {}), "error", "too long.*use one that takes"),
        (
            GEMINI,
            (400, {"error": {"message": "Unsupported MIME type"}}, {}),
            "error",
            "use one that does: HTTP 400.*Unsupported MIME",
        ),
        (GEMINI, (400, {"error": "duration 17 s exceeds the limit"}, {}), "error", "too long.*HTTP 400"),
        (GEMINI, (400, {"error": "bad request"}, {}), "error", "^HTTP 400"),
        (ANTHROPIC, message("", "refusal"), "refused", "stop_reason refusal"),
        (ANTHROPIC, message("", "refusal", stop_details={"explanation": "not that"}), "refused", "not that"),
        (ANTHROPIC, message("neu", "max_tokens"), "error", "cut: max_tokens"),
        (ANTHROPIC, (200, {"type": "message"}, {}), "error", "not an answer of this service"),
        (ORUK, emotions(), "error", "names no emotion"),
        (ORUK, emotions(("sad", 0.2), ("sad", 0.3)), "error", "names an emotion twice"),
        (ORUK, (200, {"emotions": [{"label": "sad"}]}, {}), "error", "not an answer of this service"),
        (ORUK, (413, {"error": {"message": "60 minutes", "code": "audio_too_long"}}, {}), "error", "too long"),
        (ORUK, (415, {"error": {"message": "codec", "code": "unsupported"}}, {}), "error", "does not take 16-bit"),
    ],
)
def test_what_is_not_an_answer_is_counted_and_never_neutral(system, decided, status, reason) -> None:
    answer, _ = ask(system, decided)
    assert answer.status == status
    assert re.search(reason, answer.reason), answer.reason
    assert interpret(answer, alias_table()).label is None


def quota(quota_id: str):
    """A 429 of Google, as public bug reports show it."""
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"},
    ]
    return 429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}, {}


@pytest.mark.parametrize(
    ("system", "decided", "message"),
    [
        (GEMINI, (400, {"error": {"details": [{"reason": "API_KEY_INVALID"}]}}, {}), "refuses access.*check the key"),
        (GEMINI, (403, f"key {CANARY}", {}), "refuses access"),
        (GEMINI, (404, "models/x is not found", {}), "does not know this route or model.*check model_id"),
        (GEMINI, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), "quota is exhausted"),
        (ANTHROPIC, (401, {"error": {"type": "authentication_error"}}, {}), "refuses access"),
        (ANTHROPIC, (400, {"error": {"message": "Your credit balance is too low"}}, {}), "quota is exhausted"),
        (ANTHROPIC, (404, {"error": {"type": "not_found_error"}}, {}), "does not know this route or model"),
        (ORUK, (401, {"error": {"code": "invalid_api_key"}}, {}), "refuses access"),
        (ORUK, (402, {"error": {"code": "spending_cap"}}, {}), "quota is exhausted.*add credit"),
    ],
)
def test_what_every_clip_would_meet_ends_the_run(system, decided, message: str) -> None:
    with pytest.raises(OrukError, match=message) as caught:
        ask(system, decided)
    assert CANARY not in str(caught.value)


def test_a_quota_per_minute_is_waited_for_as_the_body_says() -> None:
    limit = quota("GenerateRequestsPerMinutePerProjectPerModel")
    answer, server = ask(GEMINI, lambda number, body: candidate() if number > 1 else limit)
    assert answer.status == "ok" and len(server.requests) == 2


@pytest.mark.parametrize(
    ("system", "variable"),
    [(GEMINI, "GEMINI_API_KEY"), (ANTHROPIC, "ANTHROPIC_API_KEY"), (ORUK, "ORUK_API_KEY")],
)
def test_a_missing_key_is_named(system: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(OrukError, match=f"environment variable {variable}"):
        load_system(get_system(system))


def test_no_key_of_a_vendor_goes_to_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENDPOINT_API_KEY")
    for variable in ("GEMINI_API_KEY", "ANTHROPIC_API_KEY", "ORUK_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, CANARY)
    for system, decided in ((GEMINI, candidate()), (ANTHROPIC, message()), (ORUK, emotions(("sad", 1.0)))):
        _, server = ask(system, decided)
        assert CANARY not in json.dumps(server.headers)
