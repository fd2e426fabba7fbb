"""Progress that a test watches."""

from collections.abc import Callable


class Phases:
    """Units done and in all, by phase."""

    def __init__(self) -> None:
        self.done: dict[str, tuple[int, int | None]] = {}

    def __call__(self, phase: str, total: int | None) -> Callable[..., None]:
        """Begin a phase."""
        self.done[phase] = (0, total)

        def advance(more: int, /, failed: int = 0) -> None:
            self.done[phase] = (self.done[phase][0] + more, total)

        return advance
