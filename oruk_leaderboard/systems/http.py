"""Requests to a service: retried with full jitter, limited in rate, never redirected to another host."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems.secrets import blank

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Status codes after which the same request may succeed."""

ATTEMPTS = 6
"""Most attempts per request."""

LONGEST_WAIT = 300.0
"""Longest time that a ``Retry-After`` is waited for, in s; a longer one ends the run, which can be resumed."""

_FIRST_WAIT, _MOST_WAIT = 1.0, 60.0
_EXHAUSTED = ("insufficient_quota", "quota exceeded", "billing_hard_limit", "credit balance is too low")


def check_endpoint(url: str, *, allow_http: bool) -> str:
    """The base URL without a slash at its end.

    Raises:
        OrukError: It is no URL, holds credentials, or is plain HTTP to another machine.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OrukError("not an endpoint", where="--endpoint", expected="https://host/v1", found=blank(url))
    if parts.username or parts.password:
        raise OrukError(
            "the endpoint holds credentials", where="--endpoint", do="put the key into the environment instead"
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


class RateLimit:
    """At most so many calls per minute, over all threads; None for no limit."""

    def __init__(self, rpm: int | None) -> None:
        self._gap = 60 / rpm if rpm else 0.0
        self._next, self._lock = 0.0, threading.Lock()

    def wait(self) -> None:
        """Sleep until the next call is due."""
        if not self._gap:
            return
        with self._lock:
            due = max(self._next, time.monotonic())
            self._next = due + self._gap
        time.sleep(max(0.0, due - time.monotonic()))


class Service:
    """Posts JSON to one host.

    Args:
        client: An ``httpx2.Client`` that follows no redirects.
        url: Where to.
        headers: Sent with every request.
        rpm: Most calls per minute, or None.
        sleep: How to wait between attempts.
    """

    def __init__(
        self,
        client: Any,
        url: str,
        headers: Mapping[str, str],
        *,
        rpm: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client, self._url, self._headers, self._sleep = client, url, dict(headers), sleep
        self._limit = RateLimit(rpm)

    def post(self, body: Mapping[str, Any]) -> tuple[Any, int]:
        """The last response and the number of the attempt that gave it; 4xx that no attempt mends are returned.

        Raises:
            OrukError: No access, no quota, or a redirect: further clips would fail alike.
            httpx2.TransportError: The connection failed at every attempt.
        """
        import httpx2

        for attempt in range(1, ATTEMPTS + 1):
            self._limit.wait()
            try:
                response = self._client.post(self._url, json=body, headers=self._headers)
            except httpx2.TransportError:
                if attempt == ATTEMPTS:
                    raise
                self._sleep(self._jitter(attempt))
                continue
            self._refuse(response)
            if response.status_code not in RETRIED or attempt == ATTEMPTS:
                return response, attempt
            self._sleep(self._wait(response, attempt))
        raise AssertionError

    def _refuse(self, response: Any) -> None:
        host = urlsplit(self._url).hostname
        if response.is_redirect:
            target = urlsplit(response.headers.get("location", "")).hostname
            raise OrukError(
                "the service redirects, and audio goes to the named endpoint only",
                where=host,
                found=target,
                do="name the final address with --endpoint",
            )
        text = response.text[:2000]
        exhausted = response.status_code in (402, 429) and any(word in text.lower() for word in _EXHAUSTED)
        if response.status_code in (401, 403) or exhausted:
            raise OrukError(
                "the quota is exhausted" if exhausted else "the service refuses access",
                where=host,
                found=f"HTTP {response.status_code}: {blank(text)[:200]}",
                do="mend that and run the same command again; answers are kept",
            )

    def _wait(self, response: Any, attempt: int) -> float:
        stated = retry_after(response.headers.get("retry-after"))
        if stated is None:
            return self._jitter(attempt)
        if stated > LONGEST_WAIT:
            raise OrukError(
                "the service asks for a long wait",
                where=urlsplit(self._url).hostname,
                expected=f"at most {LONGEST_WAIT:g} s",
                found=f"Retry-After {stated:.0f} s",
                do="run the same command again then; answers are kept",
            )
        return stated

    @staticmethod
    def _jitter(attempt: int) -> float:
        """Full jitter: uniform between 0 and the doubled wait (Brooker, "Exponential Backoff and Jitter", 2015)."""
        return random.uniform(0, min(_MOST_WAIT, _FIRST_WAIT * 2**attempt))


def retry_after(value: str | None) -> float | None:
    """Seconds of a ``Retry-After`` header, which holds seconds or a date (RFC 9110); None where it says nothing."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
