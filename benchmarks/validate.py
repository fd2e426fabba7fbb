"""Speed of ``validate``: files a second where nothing has to be hashed, and hashing beside ``sha256sum``.

Run: ``python benchmarks/validate.py [--files 40000] [--megabytes 400]``. Everything is made in a temporary folder from
the names in the shipped manifest; figures are the best of three rounds, in which the two sides take turns.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from oruk_leaderboard.corpora import find_corpora, registry
from oruk_leaderboard.manifest import Manifest, ManifestRow, load_manifest, validate
from oruk_leaderboard.manifest.check import EXACT

ROUNDS = 3


def names(manifest: Manifest, count: int) -> list[ManifestRow]:
    """Rows of corpora whose clips are recognised by their file names, at most ``count``."""
    by_name = {spec.id for spec in registry().values() if spec.state == "adapter" and spec.table is None}
    return [row for row in manifest.rows if row.corpus in by_name and row.media is not None][:count]


def best(*sides: Callable[[], object]) -> list[float]:
    """Shortest time of each side in s."""
    times: list[list[float]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for side, measured in zip(sides, times, strict=True):
            start = time.perf_counter()
            side()
            measured.append(time.perf_counter() - start)
    return [min(measured) for measured in times]


def without_hashing(folder: Path, count: int) -> None:
    """Folders with every name and no content: the walk, the names, the states."""
    manifest = load_manifest()
    rows = names(manifest, count)
    for row in rows:
        path = folder / row.corpus / str(row.media)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    corpora = sorted({row.corpus for row in rows})

    def one_by_one() -> None:
        for corpus in corpora:
            validate(find_corpora(folder / corpus, only=[corpus]), manifest)

    def together() -> None:
        validate(find_corpora(folder), manifest)

    for what, side in (("one corpus after the other", one_by_one), ("all below one root", together)):
        before = time.process_time()
        (seconds,) = best(side)
        processor = (time.process_time() - before) / ROUNDS
        print(
            f"nothing to hash, {what}: {len(rows)} files of {len(corpora)} corpora in {seconds:.2f} s, "
            f"{len(rows) / seconds:,.0f} files/s ({len(rows) / processor:,.0f} a second of processor time)"
        )


def hashing(folder: Path, megabytes: int) -> None:
    """A corpus whose every file has to be hashed, beside ``sha256sum`` on as many cores."""
    rows = [row for row in load_manifest().rows if row.corpus == "crema_d"]
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

    seconds, reference = best(ours, theirs)
    total = size * len(rows) / 1e6
    print(
        f"hashing {len(rows)} files of {size / 1000:.0f} kB on {workers} cores: validate {total / seconds:,.0f} MB/s, "
        f"sha256sum {total / reference:,.0f} MB/s, ratio {reference / seconds:.2f}"
    )


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description="speed of validate")
    parser.add_argument("--files", type=int, default=40_000)
    parser.add_argument("--megabytes", type=int, default=400)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        without_hashing(Path(folder), args.files)
    with tempfile.TemporaryDirectory() as folder:
        hashing(Path(folder), args.megabytes)


if __name__ == "__main__":
    main()
