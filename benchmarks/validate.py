"""Speed and memory of ``validate``, as ratios to tools that every system has.

Run: ``python -m benchmarks.validate [--files 40000] [--megabytes 400]``. Everything is made in a temporary folder from
the names in the shipped manifest. Both sides of a ratio take turns in one run, and the best of three rounds counts;
processor time is printed too, since it does not depend on what else the machine does.

Parts: files with nothing to hash, of all corpora that are recognised by file names, beside ``find -type f``; files that
have to be hashed, beside ``sha256sum`` on as many cores; start-up of ``validate`` and ``reconstruct`` on a small root,
beside ``import pandas``.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.sides import best
from oruk_leaderboard.cli.process import collect_rarely
from oruk_leaderboard.corpora import find_corpora, get_corpus, registry
from oruk_leaderboard.corpora.example import build_example
from oruk_leaderboard.manifest import Manifest, ManifestRow, load_manifest, validate
from oruk_leaderboard.manifest.check import EXACT

CHILD = """
import sys
from oruk_leaderboard.cli.process import collect_rarely
from oruk_leaderboard.corpora import find_corpora
from oruk_leaderboard.manifest import validate
collect_rarely()
validate(find_corpora(sys.argv[1]))
"""


def names(manifest: Manifest, count: int) -> list[ManifestRow]:
    """Rows of corpora whose clips are recognised by their file names, at most ``count``."""
    by_name = {spec.id for spec in registry().values() if spec.state == "adapter" and spec.table is None}
    return [row for row in manifest.rows if row.corpus in by_name and row.media is not None][:count]


def without_hashing(folder: Path, count: int) -> None:
    """Folders with every name and no content: the walk, the names, the states."""
    rows = names(load_manifest(), count)
    for row in rows:
        path = folder / row.corpus / str(row.media)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    corpora = {row.corpus for row in rows}

    def ours() -> None:
        validate(find_corpora(folder))

    def theirs() -> None:
        subprocess.run(["find", str(folder), "-type", "f"], stdout=subprocess.DEVNULL, check=True)

    own, reference = best(ours, theirs)
    rate, alone = len(rows) / own.wall, len(rows) / own.cpu
    print(
        f"nothing to hash: {len(rows)} files of {len(corpora)} corpora below one root: {rate:,.0f} files/s "
        f"({alone:,.0f} per second of processor time), {own.wall / reference.wall:.0f} times find -type f"
    )
    subprocess.run([sys.executable, "-c", CHILD, str(folder)], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"memory of the whole process: {peak:,.0f} MiB")


def hashing(folder: Path, megabytes: int) -> None:
    """A corpus whose every file has to be hashed, beside ``sha256sum`` on as many cores."""
    rows = load_manifest().of_corpora("crema_d")
    size = megabytes * 1_000_000 // len(rows)
    block = os.urandom(size)
    paths = []
    for number, row in enumerate(rows):
        path = folder / str(row.media)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(number.to_bytes(4, "big") + block[4:])
        paths.append(str(path))
    listed = subprocess.run(["sha256sum", *paths], capture_output=True, text=True, check=True).stdout.split()[::2]
    pinned = [replace(row, source_sha256=digest, source_bytes=size) for row, digest in zip(rows, listed, strict=True)]
    manifest = Manifest.of(pinned, {})
    founds = find_corpora(folder)
    workers = os.cpu_count() or 1
    command = ["xargs", "-0", f"-P{workers}", "-n64", "sha256sum"]

    def ours() -> None:
        assert validate(founds, manifest).totals == {"crema_d": {EXACT: len(rows)}}

    def theirs() -> None:
        subprocess.run(command, input="\0".join(paths).encode(), stdout=subprocess.DEVNULL, check=True)

    own, reference = best(ours, theirs)
    total = size * len(rows) / 1e6
    print(
        f"hashing {len(rows)} files of {size / 1000:.0f} kB on {workers} cores: validate {total / own.wall:,.0f} MB/s, "
        f"sha256sum {total / reference.wall:,.0f} MB/s, ratio {reference.wall / own.wall:.2f}"
    )


def start_up(folder: Path) -> None:
    """A root with one clip, as commands, beside the start of Python with pandas."""
    spec, row = get_corpus("emodb"), load_manifest().of_corpora("emodb")[0]
    root = folder / "root"
    build_example(spec, root)
    (root / str(row.media)).write_bytes(b"")
    verb = [sys.executable, "-m", "oruk_leaderboard.cli"]
    commands = {
        "validate": [*verb, "validate", "--root", str(root), "--json"],
        "reconstruct": [*verb, "reconstruct", "--root", str(root), "--all-clips", "--out", str(folder / "set")],
    }

    def start(command: list[str]) -> None:
        shutil.rmtree(folder / "set", ignore_errors=True)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def theirs() -> None:
        subprocess.run([sys.executable, "-c", "import pandas"], check=True)

    *ours, reference = best(*(partial(start, command) for command in commands.values()), theirs)
    print(f"start-up: import pandas {reference.wall:.2f} s")
    for name, own in zip(commands, ours, strict=True):
        print(f"start-up: {name} on a small root {own.wall:.2f} s, {own.wall / reference.wall:.2f} times import pandas")


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description="speed of validate")
    parser.add_argument("--files", type=int, default=40_000)
    parser.add_argument("--megabytes", type=int, default=400)
    args = parser.parse_args()
    collect_rarely()  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        start_up(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        without_hashing(Path(folder), args.files)
    with tempfile.TemporaryDirectory() as folder:
        hashing(Path(folder), args.megabytes)


if __name__ == "__main__":
    main()
