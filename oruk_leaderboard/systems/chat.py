"""Any OpenAI-compatible chat endpoint: audio as ``input_audio``, or the transcript for the family ``text only``.

Works with vLLM, llama.cpp's server, OpenAI, and the compatible routes of Gemini, Anthropic and DashScope. The key is
read from the environment: the variable that belongs to the endpoint's host, else ``ORUK_API_KEY``. The live services
were not tried from here; the tests use a server on this machine.
"""

import base64
import io
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from oruk_leaderboard.answers.answer import Answer, Call, failed
from oruk_leaderboard.classes import CLASSES, SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, Options, Waveform
from oruk_leaderboard.systems.checkpoint import require
from oruk_leaderboard.systems.http import Service, check_endpoint
from oruk_leaderboard.systems.prompts import Prompt, load_prompt
from oruk_leaderboard.systems.secrets import blank

KEYS: Mapping[str, str] = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "dashscope-intl.aliyuncs.com": "DASHSCOPE_API_KEY",
    "dashscope.aliyuncs.com": "DASHSCOPE_API_KEY",
}
"""Host to the environment variable of its key."""

MAX_TOKENS = 256
"""Most tokens of an answer where the card states none; a class needs few, a cut answer is an error."""

SCHEMA: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "emotion",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"emotion": {"type": "string", "enum": list(CLASSES)}},
            "required": ["emotion"],
            "additionalProperties": False,
        },
    },
}
"""``response_format`` that allows the classes alone."""

BINDINGS: tuple[Mapping[str, Any], ...] = (
    {"response_format": SCHEMA},
    {"structured_outputs": {"choice": list(CLASSES)}},
    {},
)
"""How the output is bound, the first one that the service accepts: JSON schema, vLLM's choice, nothing."""

BINDING_NAMES = ("json_schema", "choice", "none")


class ChatSystem:
    """One request per clip."""

    batch_size = 1

    def __init__(self, card: SystemCard, service: Service, prompt: Prompt, options: Options, endpoint: str) -> None:
        self.card, self.revision = card, None
        self.concurrency = options.concurrency
        self.prompt, self.prompt_sha256 = prompt.name, prompt.sha256
        self._service, self._prompt = service, prompt
        self._reads = card.family == "text only"
        self._binding, self._lock = 0, threading.Lock()
        self.identity = {
            "endpoint": endpoint,
            "max_tokens": card.max_tokens or MAX_TOKENS,
            "temperature": prompt.temperature,
            "bindings": list(BINDING_NAMES),
        }

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """One answer per item.

        Raises:
            OrukError: The service gives no access, has no quota left, or does not know the model.
        """
        return [self._ask(item) for item in items]

    def _ask(self, item: Item) -> Answer:
        if self._reads and not (item.transcript or "").strip():
            return Answer(status="abstained", reason="the corpus gives no transcript of this clip")
        started = time.perf_counter()
        response, attempt, binding = self._bound(self._body(item))
        call = Call(attempt, response.status_code, response.headers.get("x-request-id"))
        latency = round(time.perf_counter() - started, 4)
        if response.status_code != 200:
            return Answer(
                status="error", reason=f"HTTP {response.status_code}: {blank(response.text)[:300]}", call=call
            )
        try:
            document = response.json()
            choice = document["choices"][0]
            message, finish = choice["message"], choice.get("finish_reason")
        except (ValueError, LookupError, TypeError) as error:
            return failed(f"not a chat completion: {type(error).__name__} {error}", call=call)
        usage = document.get("usage")
        call = Call(
            attempt,
            response.status_code,
            response.headers.get("x-request-id") or document.get("id"),
            finish,
            {**(usage if isinstance(usage, dict) else {}), "binding": BINDING_NAMES[binding]},
            latency,
        )
        return self._answer(message, finish, call)

    @staticmethod
    def _answer(message: Mapping[str, Any], finish: str | None, call: Call) -> Answer:
        """What a completion says, by why it ended: cut answers are errors, filtered ones refusals."""
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        raw = content if isinstance(content, str) else None
        if finish == "length":
            return Answer(raw, status="error", reason="the answer was cut at max_tokens", call=call)
        if message.get("refusal") or finish == "content_filter":
            return Answer(raw, status="refused", reason=str(message.get("refusal") or finish), call=call)
        return Answer("" if raw is None else raw, call=call)

    def _body(self, item: Item) -> dict[str, Any]:
        if self._reads:
            content: Any = f"{self._prompt.text}\n\nWords:\n{item.transcript}"
        else:
            audio = base64.b64encode(wav_bytes(item.wave)).decode()
            content = [
                {"type": "text", "text": self._prompt.text},
                {"type": "input_audio", "input_audio": {"data": audio, "format": "wav"}},
            ]
        return {
            "model": self.card.model_id,
            "messages": [{"role": "user", "content": content}],
            "temperature": self._prompt.temperature,
            "max_tokens": self.card.max_tokens or MAX_TOKENS,
        }

    def _bound(self, body: Mapping[str, Any]) -> tuple[Any, int, int]:
        """Response, attempt and binding; a service that rejects a binding is asked with the next one from then on."""
        while True:
            at = self._binding
            response, attempt = self._service.post({**body, **BINDINGS[at]})
            rejected = response.status_code in (400, 422) and any(
                word in response.text for word in ("response_format", "json_schema", "structured_outputs")
            )
            if not rejected or at == len(BINDINGS) - 1:
                break
            with self._lock:
                self._binding = max(self._binding, at + 1)
        if response.status_code == 404:
            raise OrukError(
                "the service does not know this route or model",
                where=self.card.id,
                found=f"HTTP 404: {blank(response.text)[:200]}",
            )
        return response, attempt, at


def wav_bytes(wave: Waveform) -> bytes:
    """A 16-bit WAV file of a clip."""
    import soundfile

    out = io.BytesIO()
    samples = np.clip(np.round(wave * 32768), -32768, 32767).astype(np.int16)
    soundfile.write(out, samples, SAMPLE_RATE, format="WAV", subtype="PCM_16")
    return out.getvalue()


def key_variable(endpoint: str) -> str:
    """Name of the environment variable that holds an endpoint's key."""
    return KEYS.get(urlsplit(endpoint).hostname or "", "ORUK_API_KEY")


def load(card: SystemCard, options: Options) -> ChatSystem:
    """Connect to the endpoint; nothing is sent before the first clip.

    Raises:
        OrukError: The endpoint or its key is missing, or the extra ``api`` is not installed.
    """
    httpx2 = require("httpx2", extra="api", card=card)
    endpoint = options.endpoint or card.endpoint
    if endpoint is None:
        raise OrukError("no endpoint", where=card.id, expected="--endpoint URL", do="start a server, such as vLLM's")
    endpoint = check_endpoint(endpoint, allow_http=options.allow_http)
    variable = key_variable(endpoint)
    key = os.environ.get(variable)
    if key is None and endpoint.startswith("https:"):
        raise OrukError("no key for the service", where=card.id, expected=f"the environment variable {variable}")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    prompt = load_prompt(card.prompt or "emotion", reads=card.family == "text only")
    client = httpx2.Client(timeout=options.timeout, follow_redirects=False)
    service = Service(client, f"{endpoint}/chat/completions", headers, rpm=options.rpm)
    return ChatSystem(card, service, prompt, options, endpoint)
