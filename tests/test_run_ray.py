"""A run on two Ray nodes: the same bytes when a worker is killed and when a node goes away."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.ray_session import ray_session
from oruk_leaderboard.systems.base import Options
from oruk_leaderboard.systems.ray_workers import _Dispatch
from oruk_leaderboard.systems.runner import run
from tests.made_corpora import rebuild, spec, tiny

ray = pytest.importorskip("ray")

FILES: list[str] = []
MODULE = "tests.test_run_ray"


def slow(wave):
    """A system that says where it works."""
    if folder := os.environ.get("ORUK_TEST_WORKERS"):
        import ray

        Path(folder, f"{os.getpid()}").write_text(ray.get_runtime_context().get_node_id())
    time.sleep(0.02)
    return ("angry", "sad")[int(abs(wave).sum() * 1000) % 2]


def refuses(wave):
    raise OrukError("the quota is exhausted", where="a service")


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory):
    """A cluster of two nodes with two processors each, and the folder where workers leave their process id."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    folder = tmp_path_factory.mktemp("workers")
    settings = {"num_cpus": 2, "object_store_memory": 128 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**settings, "include_dashboard": False})
    second = cluster.add_node(**settings)
    variables = {"PYTHONPATH": str(Path(__file__).parent.parent), "ORUK_TEST_WORKERS": str(folder)}
    ray.init(address=cluster.address, log_to_driver=False, runtime_env={"env_vars": variables})
    yield cluster, second, folder
    ray.shutdown()
    cluster.shutdown()


def test_without_ray_address_a_cluster_that_is_gone_is_not_looked_for(monkeypatch) -> None:
    import ray

    asked = []

    def init(*, address: str, **options: object) -> None:
        asked.append(address)
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    for address, where in ((None, "--engine ray"), ("10.0.0.1:6379", "RAY_ADDRESS=10.0.0.1:6379")):
        monkeypatch.setenv("RAY_ADDRESS", address) if address else monkeypatch.delenv("RAY_ADDRESS", raising=False)
        with pytest.raises(OrukError, match=rf"{where}: Ray cannot be started.*found nobody answers"):
            ray_session(workers=1).__enter__()
    assert asked == ["local", "10.0.0.1:6379"]
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(ray, "init", lambda **_: signal.signal(signal.SIGTERM, signal.SIG_IGN))
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with ray_session(workers=1):
        assert signal.getsignal(signal.SIGTERM) is before, "a run on Ray ends by SIGTERM like any other"


def test_a_batch_that_ends_every_worker_ends_the_run() -> None:
    from ray.exceptions import RayActorError

    class Cluster:
        """As much of Ray as the dispatch uses; workers die when they are asked."""

        exceptions = ray.exceptions
        wait = staticmethod(lambda calls: (calls[:1], calls[1:]))

        @staticmethod
        def get(call):
            if call[0] == "ask":
                raise RayActorError

    def remote(kind):
        return SimpleNamespace(remote=lambda *batch: (kind, object()), options=lambda **_: remote(kind))

    asked = [SimpleNamespace(ask=remote("ask"), ready=remote("ready")) for _ in range(2)]
    batches = iter([[SimpleNamespace(clip_id="c/1")]])
    with pytest.raises(OrukError, match=r"the batch that begins with c/1: workers of the cluster died whenever"):
        list(_Dispatch(Cluster, asked).replies(batches))


def test_a_killed_worker_and_a_lost_node_change_no_byte(two_nodes, tmp_path: Path) -> None:
    cluster, second, folder = two_nodes
    rebuild(tiny(tmp_path, 240), spec(tmp_path), tmp_path / "set", layout="parquet")
    here = run(f"{MODULE}:slow", clips=tmp_path / "set", out=tmp_path / "here.csv")
    happened: list[str] = []
    answered = [0]

    def begin(phase: str, total: int | None):
        def advance(more: int, failed: int = 0) -> None:
            answered[0] += more
            if answered[0] >= 20 and not happened:
                os.kill(int(next(folder.iterdir()).name), signal.SIGKILL)
                happened.append("a worker was killed")
            if answered[0] >= 60 and len(happened) == 1:
                assert any(path.read_text() == second.node_id for path in folder.iterdir())
                cluster.remove_node(second)
                happened.append("a node was removed")

        return advance

    there = run(
        f"{MODULE}:slow",
        clips=tmp_path / "set",
        out=tmp_path / "there.csv",
        options=Options(batch_size=4),
        engine="ray",
        workers=3,
        progress=begin,
    )
    assert len(happened) == 2
    assert there.counts == here.counts == {"ok": 240}
    assert there.predictions.read_bytes() == here.predictions.read_bytes()
    with pytest.raises(OrukError, match=r"too small for the workers.*expected 4 CPU; found 2"):
        run(f"{MODULE}:slow", clips=tmp_path / "set", out=tmp_path / "four.csv", engine="ray", workers=4)
    with pytest.raises(OrukError, match="a service: the quota is exhausted"):
        run(f"{MODULE}:refuses", clips=tmp_path / "set", out=tmp_path / "refused.csv", engine="ray", workers=1)
