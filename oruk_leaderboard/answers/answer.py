"""What a system said about one clip, before it is interpreted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "refused", "error", "abstained"]
"""What became of a request; the order is that of the status codes in ``predictions.STATUSES``."""


@dataclass(frozen=True, slots=True)
class Call:
    """How a remote service was reached for one answer.

    Attributes:
        attempt: Number of the attempt that gave this answer, from 1.
        http_status: Status code of the response, or None where there was none.
        request_id: The service's own id of the request, or None.
        finish_reason: Why the service stopped writing, or None.
        usage: Tokens or seconds as the service counts them, or None.
        latency: Time from sending the request to the end of the response, in s.
        cost: Cost of all attempts in USD at the card's price, or None where the card states none.
    """

    attempt: int = 1
    http_status: int | None = None
    request_id: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    latency: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said about one clip.

    A system fills in what it has: a free text as ``raw``, a native label as ``label``, or a score for each native
    label. ``interpretation.interpret`` turns it into a class.

    Attributes:
        raw: The answer as text, exactly as it came; it is parsed.
        label: Native label, looked up in the alias table unchanged.
        scores: Native label to probability, 0 or more, summing to 1.
        status: ``ok``, ``refused``, ``error`` or ``abstained``; with any other than ``ok`` nothing else counts.
        reason: Why there is no answer, or None.
        call: How the service was reached, or None for a system that runs here.
        transcript_source: Where the words came from, for a system that reads instead of hearing; else None.
    """

    raw: str | None = None
    label: str | None = None
    scores: Mapping[str, float] | None = None
    status: Status = "ok"
    reason: str | None = None
    call: Call | None = None
    transcript_source: str | None = None


def failed(reason: str, *, call: Call | None = None) -> Answer:
    """The answer of a system that could not answer."""
    return Answer(status="error", reason=reason, call=call)
