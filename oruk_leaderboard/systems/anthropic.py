"""Anthropic's own interface: ``messages``, for the family ``text only``; it takes no audio.

Request and response follow https://platform.claude.com/docs/en/api/messages/create, stop reasons
https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons, the answer's schema (``output_config``)
https://platform.claude.com/docs/en/build-with-claude/structured-outputs. Public bug reports show that an empty account
gets status 400 with "credit balance is too low", and that models from Opus 4.7 on reject ``temperature``. The live
service was not tried; the tests use a server on the same machine. See ``docs/anthropic.md``.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.budget import Tokens
from oruk_leaderboard.systems.remote import RemoteSystem, connect

if TYPE_CHECKING:
    from oruk_leaderboard.systems.http import Response

VERSION = "2023-06-01"
"""``anthropic-version`` of the interface."""

FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "schema": {
        "type": "object",
        "properties": {"emotion": {"type": "string", "enum": list(CLASSES)}},
        "required": ["emotion"],
        "additionalProperties": False,
    },
}
"""``output_config.format`` that allows the classes alone."""

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicSystem(RemoteSystem):
    """One message per clip."""

    def body(self, item: Item) -> dict[str, Any]:
        """The prompt and the transcript."""
        return {
            "model": self.card.model_id,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "user", "content": self.words(item)}],
            "output_config": {"format": FORMAT},
            **({} if self.temperature is None else {"temperature": self.temperature}),
        }

    def tokens(self, document: dict[str, Any]) -> Tokens:
        """Tokens of ``usage``."""
        usage = document["usage"]
        return Tokens(sum(int(usage.get(name) or 0) for name in _INPUT), 0, int(usage["output_tokens"]))

    def read(self, document: dict[str, Any], response: "Response") -> Answer:
        """The text blocks, by why the model stopped."""
        finish = document["stop_reason"]
        usage = {**document.get("usage", {}), "model": document.get("model")}
        call = response.call(request_id=document.get("id"), finish=finish, usage=usage)
        text = "".join(block["text"] for block in document["content"] if block["type"] == "text")
        if finish == "refusal":
            details = document.get("stop_details") or {}
            reason = details.get("explanation") or details.get("category") or "the model refused (stop_reason refusal)"
            return Answer(text or None, status="refused", reason=reason, call=call)
        if finish in ("max_tokens", "model_context_window_exceeded"):
            return Answer(text, status="error", reason=f"the answer was cut: {finish}", call=call)
        return Answer(text, call=call)


def load(card: SystemCard, options: Options) -> AnthropicSystem:
    """Connect to the endpoint; nothing is sent before the first clip.

    Raises:
        OrukError: The card is not of the family ``text only``, the endpoint or its key is missing, or the extra ``api``
            is not installed.
    """
    if card.family != "text only":
        raise OrukError("Anthropic's interface takes no audio", where=card.id, expected='family = "text only"')

    def header(key: str) -> dict[str, str]:
        return {"x-api-key": key}

    service = connect(card, options, "/messages", header=header, always={"anthropic-version": VERSION})
    return AnthropicSystem(card, service, options)
