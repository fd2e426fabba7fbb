"""Asking a system with workers on Ray: each loads it once; a worker that dies costs its batch one more call."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.ray_session import ray_session
from oruk_leaderboard.systems.asking import Reply, Stored, ask_in_parts, decoded
from oruk_leaderboard.systems.base import System

RESTARTS = 3
"""How often a worker is started again after it died, and how often one batch is asked again because of that."""

Clips = Sequence[Stored]


def on_ray(
    load: Callable[[], System], batches: Iterable[Clips], *, workers: int, num_gpus: float
) -> Iterator[list[Reply]]:
    """Replies in any order, one batch in flight per worker.

    More in flight would not fit the cluster's shared memory. Where a node is lost and the rest of the cluster has no
    room for its workers, the other workers go on.

    Raises:
        OrukError: The cluster has too few processors for the workers, a batch ended several workers, no worker is left,
            or the system ended the run; what was in flight is waited for first.
    """

    class Worker:
        def __init__(self) -> None:
            self.system = load()

        def ready(self) -> None:
            pass

        def ask(self, clips: Clips) -> list[Reply]:
            return [reply for replies in ask_in_parts(self.system, decoded(clips)) for reply in replies]

    with ray_session(workers=workers) as ray:
        _check_room(ray.cluster_resources(), workers=workers, num_gpus=num_gpus)
        actor = ray.remote(num_cpus=1, num_gpus=num_gpus, max_restarts=RESTARTS)(Worker)
        started = [actor.remote() for _ in range(workers)]
        yield from _Dispatch(ray, started).replies(iter(batches))


def _check_room(there: dict[str, float], *, workers: int, num_gpus: float) -> None:
    for name, needed in (("CPU", workers), ("GPU", workers * num_gpus)):
        if there.get(name, 0) < needed:
            raise OrukError(
                "the cluster is too small for the workers",
                where=f"--workers {workers}",
                expected=f"{needed:g} {name}",
                found=f"{there.get(name, 0):g}",
                do="ask for fewer workers",
            )


class _Dispatch:
    """Hands batches to whichever worker is ready."""

    def __init__(self, ray: Any, workers: Iterable[Any]) -> None:
        self._ray, self._idle = ray, []  # type: tuple[Any, list[Any]]
        self._waiting: dict[Any, tuple[Any, Clips | None]] = {}
        self._again: deque[Clips] = deque()
        self._deaths: dict[str, int] = {}
        self._ended: OrukError | None = None
        self._lost: Exception | None = None
        for worker in workers:
            self._greet(worker)

    def replies(self, batches: Iterator[Clips]) -> Iterator[list[Reply]]:
        """Replies as they come, until every batch is answered."""
        batch = next(batches, None)
        while True:
            while batch is not None and self._idle and self._ended is None:
                worker = self._idle.pop()
                self._waiting[worker.ask.remote(batch)] = worker, batch
                batch = self._again.popleft() if self._again else next(batches, None)
            in_flight = any(asked is not None for _, asked in self._waiting.values())
            if not in_flight and (batch is None or self._ended is not None):
                break
            if not self._waiting:
                raise OrukError(
                    "no worker of the cluster is left",
                    where="--engine ray",
                    found=self._lost,
                    do="run the same command again; answers are kept",
                )
            (done, *_), _ = self._ray.wait(list(self._waiting))
            if replies := self._result(done):
                yield replies
            if batch is None and self._again:
                batch = self._again.popleft()
        if self._ended is not None:
            raise self._ended

    def _greet(self, worker: Any) -> None:
        """Wait until a worker has loaded the system, however often it has to be started."""
        self._waiting[worker.ready.options(max_task_retries=-1).remote()] = worker, None

    def _result(self, done: Any) -> list[Reply]:
        worker, batch = self._waiting.pop(done)
        errors = self._ray.exceptions
        try:
            replies: list[Reply] | None = self._ray.get(done)
        except errors.RayTaskError as error:
            # The system ended the run; any other exception of a task is a fault of the cluster.
            if not isinstance(error.cause, OrukError):
                raise
            self._ended = self._ended or error.cause
            return []
        except errors.RayActorError as error:
            self._lost = error
            if batch is not None:
                self._greet(worker)
                self._ask_again(batch)
            return []
        self._idle.append(worker)
        return replies or []

    def _ask_again(self, batch: Clips) -> None:
        first = batch[0].clip_id
        self._deaths[first] = self._deaths.get(first, 0) + 1
        if self._deaths[first] > RESTARTS:
            self._ended = self._ended or OrukError(
                "workers of the cluster died whenever they were asked about one batch",
                where=f"the batch that begins with {first}",
                do="look for a clip that is too large for a worker's memory, or ask for fewer workers",
            )
        else:
            self._again.append(batch)
