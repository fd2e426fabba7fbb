"""A Ray cluster for work that one machine is too small for: the one that is there, or a small one started here."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from oruk_leaderboard.errors import MissingExtraError, OrukError

_OBJECT_STORE_BYTES = 512 << 20
"""Shared memory of a cluster that is started here; what is in flight needs far less."""


@contextmanager
def ray_session(*, workers: int) -> Iterator[Any]:
    """The module ``ray``, connected to the cluster that RAY_ADDRESS names, else to one started here.

    Args:
        workers: Processors of a cluster that is started here, at most those of this machine.

    Raises:
        MissingExtraError: Ray is not installed.
        OrukError: Ray cannot be started or reached, or the cluster lost a task for good.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("the engine needs Ray", extra="ray", where="--engine ray") from error
    started = not ray.is_initialized()
    if started:
        address = os.environ.get("RAY_ADDRESS")
        own = {
            "address": "local",  # else Ray takes the cluster that it last saw here, which may be gone
            "num_cpus": min(workers, os.cpu_count() or 1),
            "include_dashboard": False,
            "object_store_memory": _OBJECT_STORE_BYTES,
        }
        handler = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(log_to_driver=False, **({"address": address} if address else own))
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise OrukError(
                "Ray cannot be started, or its cluster cannot be reached",
                where=f"RAY_ADDRESS={address}" if address else "--engine ray",
                found=error,
                do="unset RAY_ADDRESS to run on this machine" if address else None,
            ) from error
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray's own aborts the process with a stack trace
    try:
        yield ray
    except ray.exceptions.RayError as error:
        raise OrukError(
            "the Ray cluster lost a task", where="--engine ray", found=error, do="run the same command again"
        ) from error
    finally:
        if started:
            ray.shutdown()
