"""What all endpoints share: key, prompt, limits, receipt fields. An adapter adds what is sent and how it is read."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.answers.answer import Answer, Call, failed
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.jsontext import parse
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Item, Options
from oruk_leaderboard.systems.budget import Budget, Meter, OutOfBudgetError, Tokens, about, cost_of, most
from oruk_leaderboard.systems.endpoint import bearer, check_endpoint, key_of, service_at
from oruk_leaderboard.systems.prompts import Prompt, load_prompt
from oruk_leaderboard.systems.secrets import blank

if TYPE_CHECKING:
    from oruk_leaderboard.systems.http import Attempts, Response, Service

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
        self.transcripts = options.transcripts
        self.temperature = self.instructions.temperature if card.temperature else None
        self.identity: Mapping[str, Any] = {
            "endpoint": endpoint_of(card, options),
            **({"max_tokens": self.max_tokens, "temperature": self.temperature} if self.prompted else {}),
            **({"transcripts": dict(self.transcripts.identity)} if self.reads else {}),
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
        self.transcripts.close()

    def _ask(self, item: Item) -> Answer:
        source: str | None = None
        if self.reads:
            try:
                words = self.transcripts.words(item.clip_id, item.transcript, item.clip_sha256, item.wave)
            except (RuntimeError, OSError, _transport_error()) as error:
                return failed(f"{type(error).__name__}: {error}")
            source = None if words is None else words.source
            if words is None or not words.text.strip():
                reason = "there is no transcript of this clip" if words is None else "the transcript is empty"
                return Answer(status="abstained", reason=reason, transcript_source=source)
            item = replace(item, transcript=words.text)
        price, seconds = self.card.price, len(item.wave) / SAMPLE_RATE
        heard = 0.0 if self.reads else seconds
        bound = most(price, text=self.words(item), seconds=heard, max_tokens=self.max_tokens) if price else 0.0
        meter = Meter(self.budget, bound, item.clip_id)
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
        call = replace(call, cost=round(cost, 9) if price else None)
        return replace(answer, call=call, transcript_source=source)

    def _read(self, response: "Response") -> Answer:
        if response.status != 200:
            said = blank(response.text[:2000])[:300]
            return failed(f"{_remedy(response)}HTTP {response.status}: {said}", call=response.call())
        try:
            return self.read(parse(response.text), response)
        except (LookupError, TypeError, ValueError) as error:
            return failed(f"not an answer of this service: {type(error).__name__} {error}", call=response.call())

    def _counted(self, response: "Response") -> Tokens | None:
        try:
            return self.tokens(parse(response.text))
        except (LookupError, TypeError, ValueError):
            return None


_TOO_LONG = re.compile(
    r"too (?:long|large)|max(?:imum)? (?:audio |clip )?duration|duration.{0,40}exceed", re.IGNORECASE
)
_REFUSED_FILE = re.compile(r"mime|unsupported.{0,20}(?:audio|file|format|media)|(?:audio|file) format", re.IGNORECASE)


def _remedy(response: "Response") -> str:
    """What to do about one clip that a service rejects, before the service's own words; empty where that is unknown."""
    rejected = response.status in (400, 422)
    if response.status == 413 or (rejected and _TOO_LONG.search(response.text)):
        return "the audio is too long for this service; use one that takes clips of 16 s: "
    if response.status == 415 or (rejected and _REFUSED_FILE.search(response.text)):
        return "the service does not take 16-bit WAV at 16 kHz; use one that does: "
    return ""


def _transport_error() -> type[Exception]:
    """What ``Service.post`` raises where the connection failed at every attempt; imported where it is needed."""
    import httpx2

    return httpx2.TransportError


def estimate(card: SystemCard, clips: Sequence[tuple[float, str]]) -> tuple[float, float] | tuple[None, None]:
    """About what calls cost and the most they can cost if each succeeds at once, in USD; None without a price.

    Args:
        card: The system's card.
        clips: Length in s and the corpus's words of each clip.
    """
    if (price := card.price) is None:
        return None, None
    reads = card.family == "text only"
    prompt = load_prompt(card.prompt or "emotion", reads=reads).text
    sent = [(0.0 if reads else seconds, prompt + words if reads else prompt) for seconds, words in clips]
    limit = card.max_tokens or MAX_TOKENS
    return (
        sum(about(price, characters=len(text), seconds=seconds) for seconds, text in sent),
        sum(most(price, text=text, seconds=seconds, max_tokens=limit) for seconds, text in sent),
    )


def endpoint_of(card: SystemCard, options: Options) -> str:
    """Base URL of a system's service.

    Raises:
        OrukError: None is stated, or audio must not be sent there.
    """
    endpoint = options.endpoint or card.endpoint
    if endpoint is None:
        raise OrukError("no endpoint", where=card.id, expected="--endpoint URL", do="start a server, such as vLLM's")
    return check_endpoint(endpoint, allow_http=options.allow_http)


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
    endpoint = endpoint_of(card, options)
    key = key_of(endpoint, where=card.id)
    return service_at(
        endpoint + path,
        {**always, **(header(key) if key else {})},
        where=card.id,
        timeout=options.timeout,
        rpm=options.rpm,
        concurrency=options.concurrency,
    )
