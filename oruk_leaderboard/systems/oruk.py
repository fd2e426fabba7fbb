"""The API of the benchmark's authors: ``POST /v1/audio/emotions``, one multipart form with a WAV file per clip.

The request is that of their SDK (``oruk`` 0.2.14 on PyPI, ``oruk/client.py``: bearer key, an ``X-Request-ID`` that
retries keep, the fields ``file`` and ``model``, error bodies ``{"error": {"message", "code", "request_id"}}``); a test
compares the two. The SDK itself is not called: it hides the response headers, and ``Retry-After`` would be lost. The
answer's ``emotions`` is a list of ``{"label", "score"}``: some of 15 labels, with scores that need not sum to 1 (README
of the SDK; the package ``oruk-compat`` 0.1.0a5 lists the labels). The live service was not tried; the tests use a
server on the same machine. See ``docs/oruk-api.md``.
"""

import json
import uuid
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.endpoint import wav_bytes
from oruk_leaderboard.systems.remote import RemoteSystem, connect

if TYPE_CHECKING:
    from oruk_leaderboard.systems.http import Attempts, Response


class OrukSystem(RemoteSystem):
    """One form per clip."""

    prompted = False

    def body(self, item: Item) -> dict[str, Any]:
        """The form, and an id that all attempts share."""
        return {
            "files": {"file": ("clip.wav", wav_bytes(item.wave), "audio/wav")},
            "data": {"model": self.card.model_id},
            "headers": {"x-request-id": str(uuid.uuid4())},
        }

    def send(self, body: dict[str, Any], attempts: "Attempts") -> "Response":
        """Post the form."""
        return self.service.post(None, attempts, **body)

    def read(self, document: dict[str, Any], response: "Response") -> Answer:
        """Scores by native label, and the list as it came; a label given twice is an error of the service."""
        emotions = document["emotions"]
        scores = {str(entry["label"]): float(entry["score"]) for entry in emotions}
        usage = {**document.get("usage", {}), "model": document.get("model")}
        call = response.call(request_id=document.get("request_id") or document.get("id"), usage=usage)
        if not scores or len(scores) != len(emotions):
            reason = "the service names no emotion" if not scores else "the service names an emotion twice"
            return Answer(status="error", reason=reason, call=call)
        return Answer(json.dumps(emotions, ensure_ascii=False), scores=scores, call=call)


def load(card: SystemCard, options: Options) -> OrukSystem:
    """Connect to the endpoint; nothing is sent before the first clip.

    Raises:
        OrukError: The endpoint or its key is missing, or the extra ``api`` is not installed.
    """
    return OrukSystem(card, connect(card, options, "/v1/audio/emotions"), options)
