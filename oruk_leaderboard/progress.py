"""How long work reports its progress: one type for every function that does."""

from collections.abc import Callable
from typing import Protocol


class Advance(Protocol):
    """Called with the number of units done since the last call, and how many of them failed."""

    def __call__(self, done: int, /, failed: int = 0) -> object:
        """Report progress."""


Progress = Callable[[str, int | None], Advance]
"""Begins a phase, with its name and its number of units (None where unknown); the phase before it has then ended."""


def silent(phase: str, total: int | None) -> Advance:
    """Progress that is not shown."""
    return lambda done, failed=0: None
