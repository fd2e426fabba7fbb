"""How long work reports its progress: one type for every function that does."""

from collections.abc import Callable

Advance = Callable[[int], object]
"""Called with the number of units done since the last call."""

Progress = Callable[[str, int | None], Advance]
"""Begins a phase, with its name and its number of units (None where unknown); the phase before it has then ended."""


def silent(phase: str, total: int | None) -> Advance:
    """Progress that nobody watches."""
    return lambda done: None
