"""Where jobs are rendered: in threads of this process, or on a Ray cluster. Results come back in order, bounded."""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from oruk_leaderboard.corpora import Root
from oruk_leaderboard.corpora import open_root as open_any_root
from oruk_leaderboard.ray_session import ray_session
from oruk_leaderboard.reconstruction.render import Job, Outcome, Renderer

Batch = Sequence[Job]

AHEAD = 3
"""Batches a worker that may be finished or waiting: what bounds memory when one recording takes long."""


def local(batches: Iterable[Batch], *, workers: int, open_root: Callable[[str], Root]) -> Iterator[Outcome]:
    """Render in threads: decoding, resampling, encoding and hashing all leave Python's lock.

    Threads never see a signal, so that an interrupt cannot cut a read short.
    """
    renderer = Renderer(open_root)
    with ThreadPoolExecutor(workers, thread_name_prefix="render") as pool:
        yield from _in_order(batches, workers * AHEAD, lambda batch: pool.submit(renderer, batch), _result, _cancel)


def on_ray(batches: Iterable[Batch], *, workers: int, open_root: Callable[[str], Root]) -> Iterator[Outcome]:
    """Render on a Ray cluster; each worker opens the roots itself.

    A task whose worker dies runs again elsewhere; only what that worker held in its hands is done twice.

    Raises:
        MissingExtraError: Ray is not installed.
        OrukError: The cluster lost a task for good.
    """
    with ray_session(workers=workers) as ray:
        task = ray.remote(num_cpus=1, max_retries=5)(_render_remotely)
        yield from _in_order(batches, workers * AHEAD, task.remote, ray.get, ray.cancel)


def _render_remotely(batch: Batch) -> list[Outcome]:
    return _remote_renderer()(batch)


@cache
def _remote_renderer() -> Renderer:
    """One renderer per worker process, which opens each root once and leaves interrupts to the driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Renderer(cache(open_any_root))


def _result(future: Any) -> list[Outcome]:
    outcomes: list[Outcome] = future.result()
    return outcomes


def _cancel(future: Any) -> None:
    future.cancel()


def _in_order(
    batches: Iterable[Batch],
    most: int,
    start: Callable[[Batch], Any],
    result: Callable[[Any], list[Outcome]],
    cancel: Callable[[Any], None],
) -> Iterator[Outcome]:
    running: deque[Any] = deque()
    try:
        for batch in batches:
            running.append(start(batch))
            if len(running) > most:
                yield from result(running.popleft())
        while running:
            yield from result(running.popleft())
    finally:
        for waiting in running:
            cancel(waiting)


Engine = Callable[..., Iterator[Outcome]]
"""Takes batches, ``workers`` and ``open_root``; gives the outcomes of all batches in order."""

ENGINES: Mapping[str, Engine] = {"local": local, "ray": on_ray}
"""Name to engine."""
