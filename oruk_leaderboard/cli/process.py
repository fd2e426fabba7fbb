"""The process around a verb: its standard streams, the signals that end it, its garbage collector."""

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from oruk_leaderboard.errors import OrukError

_ENDING = ("SIGTERM", "SIGHUP")
"""Signals that end a run like SIGINT does; Windows does not have SIGHUP."""


_received: list[int] = []
"""Numbers of the ending signals of this run: libraries such as Ray turn an exception of ours into one of their own."""


def interrupted() -> tuple[int, str]:
    """Exit code (128 + signal) and the line that says how to go on."""
    number = signal.Signals(_received[-1] if _received else signal.SIGINT)
    return (
        128 + number,
        f"interrupted by {number.name}; run the same command again to go on from the state that was kept",
    )


@contextmanager
def ending_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP too, so that whatever cleans up after Ctrl-C cleans up after them.

    A signal that the parent ignores (nohup) stays ignored.
    """
    previous = {}
    _received.clear()
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in _ENDING if hasattr(signal, name)):
            if signal.getsignal(number) is signal.SIG_DFL:
                previous[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt


def open_streams() -> None:
    """Give a process that was started with closed streams (``>&-``) streams that lead nowhere.

    Python then has None in ``sys.stdout``, and the next file that is opened would get the number of the closed stream:
    what a C library prints would end up in it. The encoding is UTF-8 whatever the locale is; what a terminal cannot
    show is escaped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _to_nowhere(number)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def write_out(text: str) -> None:
    """Write to stdout at once.

    Raises:
        OrukError: The stream takes no more, on a full disk for instance.
        BrokenPipeError: The reader is gone.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise OrukError("the output cannot be written", where="standard output", found=error.strerror) from error


def write_error(text: str) -> None:
    """Write to stderr; where that is full or closed a message has no other place to go, and the work goes on."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr, 2)


def drop_output() -> None:
    """Discard what is left in the buffer of stdout, so that the interpreter's flush at exit does not fail again."""
    _drop(sys.stdout, 1)


def _drop(stream: object, number: int) -> None:
    with suppress(io.UnsupportedOperation, AttributeError):  # a stream that a caller put in its place has no number
        number = stream.fileno()  # type: ignore[attr-defined]
    _to_nowhere(number)


def _to_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)


def collect_rarely() -> None:
    """Run the garbage collector rarely: a verb makes hundreds of thousands of objects that live until it ends."""
    gc.set_threshold(50_000, 20, 20)
