"""Requests to a service: retried with full jitter, limited in rate, never redirected to another host."""

import asyncio
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiolimiter
import httpx2
import tenacity

from oruk_leaderboard.answers.answer import Call
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems.secrets import blank

ATTEMPTS = 6
"""Most attempts per request."""

LONGEST_WAIT = 300.0
"""Longest ``Retry-After`` that is waited for, in s; a longer one ends the run, which can be resumed."""

FIRST_WAIT, MOST_WAIT = 2.0, 60.0
"""Upper bound of the wait after the first attempt and after any attempt, in s."""

_RETRIED = frozenset({408, 409, 425, 429})
_EXHAUSTED = ("insufficient_quota", "billing_hard_limit", "credit balance is too low", "perday")
"""What an exhausted quota is called: by OpenAI, by Anthropic (with status 400), and in Google's ``quotaId``."""

_WRONG_KEY = "api_key_invalid"
"""What Google calls a wrong key, with status 400."""

_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([0-9.]+)s"')
"""Where Google states the wait: in the body (``google.rpc.RetryInfo``), not in ``Retry-After``."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a service answered in the end.

    Attributes:
        status: HTTP status code.
        text: The body.
        headers: The headers; names are matched without regard to case.
        attempt: Number of the attempt that gave this response, from 1.
        latency: Time from sending that attempt to the end of its response, in s.
    """

    status: int
    text: str
    headers: Mapping[str, str]
    attempt: int
    latency: float

    def call(
        self, *, request_id: str | None = None, finish: str | None = None, usage: Mapping[str, Any] | None = None
    ) -> Call:
        """What a receipt says about this response.

        Args:
            request_id: Id in the body, for services that send no header with one.
            finish: Why the service stopped writing.
            usage: Tokens or seconds as the service counts them.
        """
        stated = self.headers.get("x-request-id") or self.headers.get("request-id") or request_id
        return Call(self.attempt, self.status, stated, finish, usage, self.latency)


class Attempts(Protocol):
    """Told of every attempt of a request."""

    def sent(self) -> None:
        """An attempt begins."""
        ...

    def answered(self) -> None:
        """It got a response."""
        ...


class Service:
    """Posts JSON to one URL; ``post`` may be called from any number of threads.

    Args:
        url: Where to.
        headers: Sent with every request.
        timeout: Longest wait for a response, in s.
        rpm: Most requests per minute, retries included, evenly spaced; None for no limit.
        concurrency: Most connections at a time.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout: float = 120.0,
        rpm: int | None = None,
        concurrency: int = 8,
    ) -> None:
        self._url, self._host = url, urlsplit(url).hostname
        self._client = httpx2.AsyncClient(
            headers=dict(headers),
            timeout=timeout,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        )
        self._limit = None if rpm is None else aiolimiter.AsyncLimiter(1, 60 / rpm)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def post(self, body: Mapping[str, Any] | None = None, attempts: Attempts | None = None, **form: Any) -> Response:
        """The last response; a 4xx status that no further attempt would change is returned.

        Args:
            body: Sent as JSON.
            attempts: Told of every attempt.
            form: Sent instead of JSON: ``files`` and ``data`` of a multipart form, and ``headers``.

        Raises:
            OrukError: No access, no quota, an unknown route or a redirect: further clips would fail alike.
            httpx2.TransportError: The connection failed at every attempt.
        """
        return asyncio.run_coroutine_threadsafe(self._post(body, attempts, form), self._loop).result()

    def close(self) -> None:
        """Close the connections."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _post(
        self, body: Mapping[str, Any] | None, attempts: Attempts | None, form: Mapping[str, Any]
    ) -> Response:
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(httpx2.TransportError) | tenacity.retry_if_result(_may_pass),
            # After the last attempt the caller gets what that attempt gave: a response, or the exception.
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        attempt = 0

        async def once() -> Response:
            nonlocal attempt
            attempt += 1
            if self._limit is not None:
                await self._limit.acquire()
            if attempts is not None:
                attempts.sent()
            started = time.perf_counter()
            sent = await self._client.post(self._url, json=body, **form)
            if attempts is not None:
                attempts.answered()
            latency = round(time.perf_counter() - started, 4)
            response = Response(sent.status_code, sent.text, sent.headers, attempt, latency)
            self._refuse(response)
            return response

        answered: Response = await retrying(once)
        return answered

    def _refuse(self, response: Response) -> None:
        """End the run over a response that every other clip would get too."""
        if 300 <= response.status < 400:
            raise OrukError(
                "the service redirects, and audio goes to the named endpoint only",
                where=self._host,
                found=urlsplit(response.headers.get("location", "")).hostname,
                do="name the final address with --endpoint",
            )
        text = response.text[:2000].lower()
        exhausted = response.status == 402 or (
            response.status in (400, 429) and any(word in text for word in _EXHAUSTED)
        )
        refused = response.status in (401, 403) or (response.status == 400 and _WRONG_KEY in text)
        if not exhausted and not refused and response.status != 404:
            return
        if exhausted:
            what, do = "the quota is exhausted", "add credit or wait for the quota"
        elif refused:
            what, do = "the service refuses access", "check the key and what it may use"
        else:
            what, do = "the service does not know this route or model", "check model_id and endpoint in the card"
        raise OrukError(
            what,
            where=self._host,
            found=f"HTTP {response.status}: {blank(response.text[:2000])[:200]}",
            do=f"{do}, then run the same command again; answers are kept",
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next attempt: what the service states, else full jitter.

        Full jitter is uniform between 0 and a bound that doubles (Brooker, "Exponential Backoff and Jitter", 2015).

        Raises:
            OrukError: The service states a wait that is too long for a run.
        """
        outcome = state.outcome
        if outcome is not None and not outcome.failed:
            response = outcome.result()
            stated = retry_after(response.headers.get("retry-after"))
            if stated is None and (delay := _RETRY_DELAY.search(response.text)):
                stated = float(delay[1])
            if stated is not None and stated > LONGEST_WAIT:
                raise OrukError(
                    "the service asks for a long wait",
                    where=self._host,
                    expected=f"at most {LONGEST_WAIT:g} s",
                    found=f"Retry-After {stated:.0f} s",
                    do="run the same command again then; answers are kept",
                )
            if stated is not None:
                return stated
        return tenacity.wait_random_exponential(multiplier=FIRST_WAIT, max=MOST_WAIT)(state)


def _may_pass(response: Response) -> bool:
    """Whether the same request may succeed later."""
    return response.status in _RETRIED or response.status >= 500


def retry_after(value: str | None) -> float | None:
    """Seconds of a ``Retry-After`` header, which gives seconds or a date (RFC 9110); None where it gives neither."""
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
