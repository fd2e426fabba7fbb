"""On a Ray cluster: the same bytes, the same resume, and a worker that dies costs nothing but time."""

import os
import signal
from pathlib import Path

import pytest

from tests.made_corpora import final_files, mixed, rebuild, spec, tiny

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers on this machine."""
    import ray

    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    root = str(Path(__file__).parent.parent)
    ray.init(
        address="local",  # a cluster file that another run left behind, or RAY_ADDRESS, must not change the test
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=256 << 20,
        runtime_env={"env_vars": {"PYTHONPATH": root}},
    )
    yield ray
    ray.shutdown()


def workers() -> list[int]:
    """Processes below this one that are rendering for Ray."""
    parents, found = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            status = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(entry.name)] = int(status[1])
        if command.startswith(b"ray::_render_remotely"):
            found.append(int(entry.name))

    def is_ours(pid: int) -> bool:
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return [pid for pid in found if is_ours(pid)]


def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    corpus, toml = tiny(tmp_path, 1_500, frames=40_000), spec(tmp_path)
    killed: list[int] = []

    def begin(phase, total):
        def tell(done):
            if phase == "rebuilding" and not killed and (at_work := workers()):
                os.kill(at_work[0], signal.SIGKILL)
                killed.append(at_work[0])

        return tell

    on_ray = rebuild(corpus, toml, tmp_path / "ray", engine="ray", progress=begin)
    assert killed, "no worker was at work"
    here = rebuild(corpus, toml, tmp_path / "here")
    assert on_ray.digest == here.digest and on_ray.clean
    assert final_files(tmp_path / "ray") == final_files(tmp_path / "here")


def test_formats_layouts_and_resume(cluster, tmp_path):
    corpus, toml = mixed(tmp_path), spec(tmp_path)
    (corpus / "anger_9999.wav").write_bytes(b"not a recording")
    for layout in ("parquet", "audiofolder"):
        rebuild(corpus, toml, tmp_path / f"here {layout}", layout=layout)
        report = rebuild(corpus, toml, tmp_path / f"ray {layout}", layout=layout, engine="ray")
        assert final_files(tmp_path / f"ray {layout}") == final_files(tmp_path / f"here {layout}")
        assert [finding["clip_id"] for finding in report.to_dict()["findings"]] == ["mixed/anger_9999"]
        again = rebuild(corpus, toml, tmp_path / f"ray {layout}", layout=layout)
        assert again.to_dict()["run"]["clips_rendered"] == 0
