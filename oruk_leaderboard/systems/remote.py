"""What all endpoints share: key, prompt, limits, receipt fields. An adapter adds what is sent and how it is read."""

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from oruk_leaderboard.answers.answer import Answer, Call, failed
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.jsontext import parse
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, Options, Waveform
from oruk_leaderboard.systems.budget import Budget, Meter, OutOfBudgetError, Tokens, cost_of, most, price_of
from oruk_leaderboard.systems.checkpoint import require
from oruk_leaderboard.systems.prompts import Prompt, load_prompt
from oruk_leaderboard.systems.secrets import blank

if TYPE_CHECKING:
    from oruk_leaderboard.systems.http import Attempts, Response, Service

KEYS: Mapping[str, str] = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "dashscope-intl.aliyuncs.com": "DASHSCOPE_API_KEY",
    "dashscope.aliyuncs.com": "DASHSCOPE_API_KEY",
    "speech-api.oruk.ai": "ORUK_API_KEY",
}
"""Host to the environment variable of its key."""

OTHER_KEY = "ENDPOINT_API_KEY"
"""Variable of the key for any other host: no vendor's own key is ever sent to another service."""

MAX_TOKENS = 256
"""Most tokens of an answer where the card states none; a class needs few, and a cut answer is an error."""


class RemoteSystem(ABC):
    """One request per clip. Subclasses define ``body`` and ``read``.

    Args:
        card: The system's card.
        service: Where requests go.
        options: How the system is asked.
        identity: What else decides its answers, as JSON values.
    """

    batch_size = 1
    revision: str | None = None
    prompted = True
    """Whether it is told what to do in words."""

    def __init__(self, card: SystemCard, service: "Service", options: Options, **identity: Any) -> None:
        self.card, self.service, self.concurrency = card, service, options.concurrency
        self.reads = card.family == "text only"
        self.instructions: Prompt = load_prompt(card.prompt or "emotion", reads=self.reads)
        self.prompt = self.instructions.name if self.prompted else None
        self.prompt_sha256 = self.instructions.sha256 if self.prompted else None
        self.max_tokens = card.max_tokens or MAX_TOKENS
        self.budget = options.budget or Budget()
        if self.budget.limit is not None:
            price_of(card, hears=not self.reads)
        self.temperature = self.instructions.temperature if card.temperature else None
        self.identity: Mapping[str, Any] = {
            "endpoint": endpoint_of(card, options),
            **({"max_tokens": self.max_tokens, "temperature": self.temperature} if self.prompted else {}),
            **identity,
        }

    @abstractmethod
    def body(self, item: Item) -> dict[str, Any]:
        """What ``send`` sends for one clip: JSON, where it is not overridden."""

    @abstractmethod
    def read(self, document: dict[str, Any], response: "Response") -> Answer:
        """The answer in a response of status 200, with ``response.call(...)``.

        Raises:
            LookupError, TypeError, ValueError: The document is not an answer of this service.
        """

    def parts(self, items: Sequence[Item]) -> Iterable[Sequence[int]]:
        """One clip per call, which is paid for once."""
        return [[at] for at in range(len(items))]

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        """One answer per item.

        Raises:
            OrukError: The service gives no access, has no quota left, or does not know the model.
        """
        return [self._ask(item) for item in items]

    def tokens(self, document: dict[str, Any]) -> Tokens | None:
        """Tokens that the service counted, for services that charge by them; None where it counted none."""
        return None

    def words(self, item: Item) -> str:
        """What is said to a model: the prompt, and the transcript where the system reads instead of hearing."""
        if not self.prompted:
            return ""
        return f"{self.instructions.text}\n\nWords:\n{item.transcript}" if self.reads else self.instructions.text

    def send(self, body: dict[str, Any], attempts: "Attempts") -> "Response":
        """Post one request; services that need more than one try, or send a form, override this."""
        return self.service.post(body, attempts)

    @property
    def observed(self) -> dict[str, Any]:
        """What only the service's answers show; added to ``run.json`` when the run ends."""
        return {}

    def close(self) -> None:
        """Close the connections."""
        self.service.close()

    def _ask(self, item: Item) -> Answer:
        if self.reads and not (item.transcript or "").strip():
            return Answer(status="abstained", reason="there is no transcript of this clip")
        price, seconds = self.card.price, len(item.wave) / SAMPLE_RATE
        heard = 0.0 if self.reads else seconds
        bound = most(price, text=self.words(item), seconds=heard, max_tokens=self.max_tokens) if price else 0.0
        meter = Meter(self.budget, bound)
        cost = 0.0
        try:
            response = self.send(self.body(item), meter)
            answer = self._read(response)
            if response.status == 200 and price:
                counted = cost_of(price, self._counted(response), heard)
                cost = bound if counted is None else counted
        except (OutOfBudgetError, OSError, _transport_error()) as error:
            answer = failed(f"{type(error).__name__}: {error}", call=Call(max(1, meter.attempts)))
        finally:
            cost = meter.close(cost)
        call = answer.call or Call()
        return replace(answer, call=replace(call, cost=round(cost, 9) if price else None))

    def _read(self, response: "Response") -> Answer:
        if response.status != 200:
            said = blank(response.text[:2000])[:300]
            return failed(f"{_REMEDIES.get(response.status, '')}HTTP {response.status}: {said}", call=response.call())
        try:
            return self.read(parse(response.text), response)
        except (LookupError, TypeError, ValueError) as error:
            return failed(f"not an answer of this service: {type(error).__name__} {error}", call=response.call())

    def _counted(self, response: "Response") -> Tokens | None:
        try:
            return self.tokens(parse(response.text))
        except (LookupError, TypeError, ValueError):
            return None


_REMEDIES: Mapping[int, str] = {
    413: "the audio is too long for this service: ",
    415: "the service does not accept 16-bit WAV: ",
}
"""What a status says of one clip, before the service's own words."""


def _transport_error() -> type[Exception]:
    """What ``Service.post`` raises where the connection failed at every attempt; imported where it is needed."""
    import httpx2

    return httpx2.TransportError


def wav_bytes(wave: Waveform) -> bytes:
    """A 16-bit WAV file of a clip."""
    import soundfile

    out = io.BytesIO()
    samples = np.clip(np.round(wave * 32768), -32768, 32767).astype(np.int16)
    soundfile.write(out, samples, SAMPLE_RATE, format="WAV", subtype="PCM_16")
    return out.getvalue()


def check_endpoint(url: str, *, allow_http: bool) -> str:
    """The base URL without a slash at its end.

    Raises:
        OrukError: It is not a URL, contains credentials or a query, or is plain HTTP to another machine.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OrukError("not an endpoint", where="--endpoint", expected="https://host/v1", found=blank(url))
    if parts.username or parts.password or parts.query or parts.fragment:
        raise OrukError(
            "the endpoint contains more than host and path", where="--endpoint", do="put the key into the environment"
        )
    loopback = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    if parts.scheme == "http" and not loopback and not allow_http:
        raise OrukError(
            "plain HTTP to another machine would send audio and key in the clear",
            where=f"--endpoint {parts.hostname}",
            expected="https",
            do="use https, or --allow-http inside a network that you trust",
        )
    return url.rstrip("/")


def endpoint_of(card: SystemCard, options: Options) -> str:
    """Base URL of a system's service.

    Raises:
        OrukError: None is stated, or audio must not be sent there.
    """
    endpoint = options.endpoint or card.endpoint
    if endpoint is None:
        raise OrukError("no endpoint", where=card.id, expected="--endpoint URL", do="start a server, such as vLLM's")
    return check_endpoint(endpoint, allow_http=options.allow_http)


def key_variable(endpoint: str) -> str:
    """Name of the environment variable for an endpoint's key."""
    return KEYS.get(urlsplit(endpoint).hostname or "", OTHER_KEY)


def key_of(endpoint: str, *, card: SystemCard) -> str | None:
    """The key of a service from the environment; None only for plain HTTP.

    Raises:
        OrukError: It is missing, or has characters that no header can carry.
    """
    variable = key_variable(endpoint)
    key = os.environ.get(variable, "").strip()
    if not key and endpoint.startswith("https:"):
        raise OrukError("no key for the service", where=card.id, expected=f"the environment variable {variable}")
    if not (key.isascii() and key.isprintable()):
        raise OrukError("the key has characters other than printable ASCII", where=f"environment variable {variable}")
    return key or None


def bearer(key: str) -> dict[str, str]:
    """The header of most services."""
    return {"authorization": f"Bearer {key}"}


def connect(
    card: SystemCard,
    options: Options,
    path: str,
    *,
    header: Callable[[str], Mapping[str, str]] = bearer,
    always: Mapping[str, str] = MappingProxyType({}),
) -> "Service":
    """A connection to the route ``path`` below the system's endpoint; nothing is sent before the first clip.

    Args:
        card: The system's card.
        options: How the system is asked.
        path: Route, from its slash.
        header: Key to the headers that carry it.
        always: Headers that do not depend on the key.

    Raises:
        OrukError: The endpoint or its key is missing, or the extra ``api`` is not installed.
    """
    for package in ("httpx2", "tenacity", "aiolimiter"):
        require(package, extra="api", card=card)
    from oruk_leaderboard.systems.http import Service

    endpoint = endpoint_of(card, options)
    key = key_of(endpoint, card=card)
    return Service(
        endpoint + path,
        {**always, **(header(key) if key else {})},
        timeout=options.timeout,
        rpm=options.rpm,
        concurrency=options.concurrency,
    )
