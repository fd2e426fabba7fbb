"""The repository in four releases of ``datasets``: an environment each, the wheel, every case of the round trip.

Usage: python .ci/datasets_versions.py [FOLDER]   (FOLDER keeps the environments for another run)
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from oruk_leaderboard.table.arrow import read_table  # noqa: E402
from oruk_leaderboard.table.configs import shipped  # noqa: E402
from tests.test_loading import round_trip  # noqa: E402

COMMON = ("pyarrow==26.0.1", "pandas==3.1.1", "numpy==2.4.6")
RELEASES: dict[str, tuple[str, ...]] = {
    "2.21.0": ("huggingface_hub==2.4.0", "fsspec==2024.6.1"),
    "3.6.0": ("huggingface_hub==2.4.0", "fsspec==2025.3.0"),
    "4.8.5": ("huggingface_hub==1.33.0", "fsspec==2026.2.0"),
    "5.2.0": ("huggingface_hub==2.4.0", "fsspec==2026.9.0"),
}
"""Release of datasets to the other releases it was tried with."""

INSTALLED = """
import json, oruk_bench_leaderboard as script
from datasets import load_dataset
root = script.data_root()
print(json.dumps({
    "root": str(root),
    "builder": {name: script.load(name).num_rows for name in script.FILES},
    "folder": {name: load_dataset(str(root), name, split="train").num_rows for name in script.FILES},
}))
"""


def run(*command: str, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command and return what it prints; what it complains about is shown when it fails."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def environment(folder: Path, release: str, wheel: Path) -> str:
    """Python of an environment with one release of datasets and the wheel."""
    python = str(folder / release / "bin" / "python")
    if not Path(python).exists():
        run(sys.executable, "-m", "venv", str(folder / release))
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, f"datasets=={release}", *RELEASES[release], *COMMON)
    run(*pip, "--no-deps", "--force-reinstall", str(wheel))
    return python


def check(folder: Path, release: str, wheel: Path) -> str:
    """Every check in one release; ends the run with the first that fails."""
    python = environment(folder, release, wheel)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        report = json.loads(run(python, "-c", INSTALLED, cwd=work, HF_HOME=str(work / "home"), HF_HUB_OFFLINE="1"))
        rows = {config.name: read_table(config, ROOT).num_rows for config in shipped(ROOT)}
        if report["builder"] != rows or report["folder"] != rows or "_share" not in report["root"]:
            raise SystemExit(f"datasets {release}: the installed wheel gives {report}, expected {rows}")
        held = round_trip(python, work / "round-trip")
    if held["datasets"] != release:
        raise SystemExit(f"expected datasets {release}, found {held['datasets']}")
    return f"datasets {release}: wheel and {len(held['held'])} cases held"


def main() -> None:
    """Build the wheel once, then two releases at a time."""
    with tempfile.TemporaryDirectory() as scratch:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, str(ROOT))
        (wheel,) = Path(scratch).glob("*.whl")
        folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(scratch)
        with ThreadPoolExecutor(2) as pool:
            for line in pool.map(lambda release: check(folder, release, wheel), RELEASES):
                sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
