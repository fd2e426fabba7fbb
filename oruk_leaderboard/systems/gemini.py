"""Gemini's own interface: ``models/MODEL:generateContent`` with the clip inline and a response schema.

Request, response, finish reasons and block reasons follow https://ai.google.dev/api/generate-content; the key goes into
``x-goog-api-key`` (https://ai.google.dev/api), never into the URL. Error bodies were seen in public bug reports only
(a wrong key: status 400 with ``API_KEY_INVALID``; a quota: status 429 with ``quotaId`` and ``retryDelay``). The live
service was not tried; the tests use a server on the same machine. See ``docs/gemini.md``.
"""

import base64
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
    from oruk_leaderboard.systems.http import Response

SCHEMA: Mapping[str, Any] = {
    "type": "OBJECT",
    "properties": {"emotion": {"type": "STRING", "enum": list(CLASSES)}},
    "required": ["emotion"],
}
"""``responseSchema`` that allows the classes alone."""

BLOCKED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
)  # fmt: skip
"""Finish reasons with which the service withholds an answer."""


class GeminiSystem(RemoteSystem):
    """One ``generateContent`` call per clip."""

    def body(self, item: Item) -> dict[str, Any]:
        """The prompt, then the clip as inline WAV; only the prompt with the transcript for a system that reads."""
        parts: list[dict[str, Any]] = [{"text": self.words(item)}]
        if not self.reads:
            audio = base64.b64encode(wav_bytes(item.wave)).decode()
            parts.append({"inlineData": {"mimeType": "audio/wav", "data": audio}})
        settings: dict[str, Any] = {
            "maxOutputTokens": self.max_tokens,
            "responseMimeType": "application/json",
            "responseSchema": SCHEMA,
        }
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        if (thinking := self.card.thinking) is not None:
            name = "thinkingBudget" if isinstance(thinking, int) else "thinkingLevel"
            settings["thinkingConfig"] = {name: thinking}
        return {"contents": [{"role": "user", "parts": parts}], "generationConfig": settings}

    def tokens(self, document: dict[str, Any]) -> Tokens:
        """Tokens of ``usageMetadata``; those of thinking are charged as output."""
        usage = document["usageMetadata"]
        audio = sum(
            int(part["tokenCount"]) for part in usage.get("promptTokensDetails", ()) if part["modality"] == "AUDIO"
        )
        written = int(usage.get("candidatesTokenCount", 0)) + int(usage.get("thoughtsTokenCount", 0))
        return Tokens(int(usage["promptTokenCount"]) - audio, audio, written)

    def read(self, document: dict[str, Any], response: "Response") -> Answer:
        """The candidate's text; a blocked prompt or candidate is refused, with the service's reason."""
        usage = {**document.get("usageMetadata", {}), "model": document.get("modelVersion")}
        feedback = document.get("promptFeedback", {})
        if blocked := feedback.get("blockReason"):
            call = response.call(request_id=document.get("responseId"), finish=blocked, usage=usage)
            reason = feedback.get("blockReasonMessage") or f"the service blocked the prompt: {blocked}"
            return Answer(status="refused", reason=reason, call=call)
        candidate = document["candidates"][0]
        finish = candidate.get("finishReason")
        call = response.call(request_id=document.get("responseId"), finish=finish, usage=usage)
        parts = candidate.get("content", {}).get("parts", ())
        text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
        if finish == "MAX_TOKENS":
            return Answer(text, status="error", reason="the answer was cut at max_tokens", call=call)
        if finish in BLOCKED:
            reason = candidate.get("finishMessage") or f"the service blocked the answer: {finish}"
            return Answer(text or None, status="refused", reason=reason, call=call)
        if finish not in ("STOP", None):
            return Answer(text or None, status="error", reason=f"the service stopped: {finish}", call=call)
        return Answer(text, call=call)


def load(card: SystemCard, options: Options) -> GeminiSystem:
    """Connect to the endpoint; nothing is sent before the first clip.

    Raises:
        OrukError: The endpoint or its key is missing, or the extra ``api`` is not installed.
    """
    path = f"/models/{card.model_id}:generateContent"
    service = connect(card, options, path, header=lambda key: {"x-goog-api-key": key})
    return GeminiSystem(card, service, options, thinking=card.thinking)
