"""Any OpenAI-compatible chat endpoint: audio as ``input_audio``, or the transcript for the family ``text only``.

Works with vLLM, llama.cpp's server, OpenAI, and the compatible routes of Gemini, Anthropic and DashScope. The key is
read from the environment: the variable of the endpoint's host, else ``ENDPOINT_API_KEY``. The live services were not
tried; the tests use a server on the same machine.
"""

import base64
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.budget import Tokens
from oruk_leaderboard.systems.endpoint import wav_bytes
from oruk_leaderboard.systems.remote import RemoteSystem, connect

if TYPE_CHECKING:
    from oruk_leaderboard.systems.http import Attempts, Response, Service

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

BINDINGS: Mapping[str, Mapping[str, Any]] = {
    "json_schema": {"response_format": SCHEMA},
    "choice": {"structured_outputs": {"choice": list(CLASSES)}},
    "none": {},
}
"""How the output is bound, in the order in which they are tried: JSON schema, vLLM's choice, not at all."""

_NAMED = ("response_format", "json_schema", "structured_outputs")
"""What a service names that rejects a binding."""


class ChatSystem(RemoteSystem):
    """Chat completions."""

    def __init__(self, card: SystemCard, service: "Service", options: Options) -> None:
        super().__init__(card, service, options)
        self._binding: str | None = None
        self._settling = threading.Lock()

    @property
    def observed(self) -> dict[str, Any]:
        """How the output is bound, once the service has accepted a binding."""
        return {} if self._binding is None else {"binding": self._binding}

    def body(self, item: Item) -> dict[str, Any]:
        """A user message with the prompt, and the audio or the transcript."""
        content: Any = self.words(item)
        if not self.reads:
            audio = base64.b64encode(wav_bytes(item.wave)).decode()
            content = [
                {"type": "text", "text": content},
                {"type": "input_audio", "input_audio": {"data": audio, "format": "wav"}},
            ]
        return {
            "model": self.card.model_id,
            "messages": [{"role": "user", "content": content}],
            **({} if self.temperature is None else {"temperature": self.temperature}),
            "max_tokens": self.max_tokens,
        }

    def send(self, body: dict[str, Any], attempts: "Attempts") -> "Response":
        """Post with the first binding that the service accepts; the other threads wait until it is known."""
        if self._binding is not None:
            return self.service.post({**body, **BINDINGS[self._binding]}, attempts)
        with self._settling:
            for name, binding in BINDINGS.items() if self._binding is None else ():
                response = self.service.post({**body, **binding}, attempts)
                if name != "none" and response.status in (400, 422) and any(word in response.text for word in _NAMED):
                    continue
                if response.status == 200:
                    self._binding = name
                return response
        return self.send(body, attempts)

    def tokens(self, document: dict[str, Any]) -> Tokens | None:
        """Tokens of ``usage``; those of audio are part of ``prompt_tokens``."""
        usage = document["usage"]
        audio = int((usage.get("prompt_tokens_details") or {}).get("audio_tokens") or 0)
        return Tokens(int(usage["prompt_tokens"]) - audio, audio, int(usage["completion_tokens"]))

    def read(self, document: dict[str, Any], response: "Response") -> Answer:
        """What a completion says, by why it ended: cut answers are errors, filtered ones refusals."""
        choice = document["choices"][0]
        message, finish, usage = choice["message"], choice.get("finish_reason"), document.get("usage")
        counted = {**(usage if isinstance(usage, dict) else {}), **self.observed}
        call = response.call(request_id=document.get("id"), finish=finish, usage=counted)
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        raw = content if isinstance(content, str) else None
        if finish == "length":
            return Answer(raw, status="error", reason="the answer was cut at max_tokens", call=call)
        if message.get("refusal") or finish == "content_filter":
            return Answer(raw, status="refused", reason=str(message.get("refusal") or finish), call=call)
        return Answer("" if raw is None else raw, call=call)


def load(card: SystemCard, options: Options) -> ChatSystem:
    """Connect to the endpoint; nothing is sent before the first clip.

    Raises:
        OrukError: The endpoint or its key is missing, or the extra ``api`` is not installed.
    """
    return ChatSystem(card, connect(card, options, "/chat/completions"), options)
