"""Two sides of a ratio, measured in turns."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 3


@dataclass(frozen=True)
class Measured:
    """The best round of one side, in s: as the clock goes, and of processor time, child processes included."""

    wall: float
    cpu: float


def best(*sides: Callable[[], object]) -> list[Measured]:
    """The shortest times of each side; sides take turns, so that what else the machine does hits all of them."""
    rounds: list[list[Measured]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for side, measured in zip(sides, rounds, strict=True):
            start, worked = time.perf_counter(), sum(os.times()[:4])
            side()
            measured.append(Measured(time.perf_counter() - start, max(sum(os.times()[:4]) - worked, 1e-3)))
    return [Measured(min(m.wall for m in measured), min(m.cpu for m in measured)) for measured in rounds]
