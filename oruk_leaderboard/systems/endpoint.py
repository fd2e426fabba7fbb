"""Addresses of services and the keys for them: what may be sent where."""

import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems.checkpoint import require
from oruk_leaderboard.systems.secrets import blank

if TYPE_CHECKING:
    from oruk_leaderboard.systems.http import Service

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


def wav_bytes(wave: NDArray[np.float32]) -> bytes:
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
    if parts.scheme == "http" and not is_loopback(url) and not allow_http:
        raise OrukError(
            "plain HTTP to another machine would send audio and key in the clear",
            where=f"--endpoint {parts.hostname}",
            expected="https",
            do="use https, or --allow-http inside a network that you trust",
        )
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def key_variable(endpoint: str) -> str:
    """Name of the environment variable for an endpoint's key."""
    return KEYS.get(urlsplit(endpoint).hostname or "", OTHER_KEY)


def key_of(endpoint: str, *, where: str) -> str | None:
    """The key of a service from the environment; None only for plain HTTP.

    Raises:
        OrukError: It is missing, or has characters that no header can carry.
    """
    variable = key_variable(endpoint)
    key = os.environ.get(variable, "").strip()
    if not key and endpoint.startswith("https:"):
        raise OrukError("no key for the service", where=where, expected=f"the environment variable {variable}")
    if not (key.isascii() and key.isprintable()):
        raise OrukError("the key has characters other than printable ASCII", where=f"environment variable {variable}")
    return key or None


def bearer(key: str) -> dict[str, str]:
    """The header of most services."""
    return {"authorization": f"Bearer {key}"}


def service_at(
    url: str,
    headers: Mapping[str, str],
    *,
    where: str,
    timeout: float = 120.0,
    rpm: int | None = None,
    concurrency: int = 8,
) -> "Service":
    """A connection; nothing is sent before the first request.

    Args:
        url: Where to.
        headers: Sent with every request.
        where: What asks for it, for messages.
        timeout: Longest wait for a response, in s.
        rpm: Most requests per minute, or None.
        concurrency: Most connections at a time.

    Raises:
        MissingExtraError: The extra ``api`` is not installed.
    """
    for package in ("httpx2", "tenacity", "aiolimiter"):
        require(package, extra="api", where=where)
    from oruk_leaderboard.systems.http import Service

    return Service(url, headers, timeout=timeout, rpm=rpm, concurrency=concurrency)
