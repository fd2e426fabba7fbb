"""How fast names become clips, and how fast a large disk is searched for corpora.

Usage: python -m benchmarks.corpora [--names 100000] [--disk 300000]

Aims: 20,000 names a second; ``corpora find`` over 300,000 files, of which 5 % are recordings, in at most 15 s and
400 MiB. The disk is a temporary folder of empty files; searching it is measured beside ``find -type f``, in turns.
``validate.py`` measures what comes after: validation and hashing.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.sides import best
from oruk_leaderboard.corpora import clips, find_corpora, get_corpus, locate, open_root, registry
from oruk_leaderboard.manifest import load_manifest

EMOTIONS = ("Angry", "Happy", "Neutral", "Sad", "Surprise")
OTHERS = (".py", ".txt", ".json", ".jpg", ".pdf", ".html", ".o", ".npy", ".csv")
RECORDINGS = 20
"""One file in so many of the disk is a recording."""


def listing(folder: Path, count: int) -> Path:
    """Names as ESD has them, in many copies."""
    names = [
        f"disk/ESD{number // 35_000}/{1 + number % 20:04}/{EMOTIONS[number % 5]}/{1 + number % 20:04}_{number:06}.wav"
        for number in range(count)
    ]
    path = folder / "files.lst"
    path.write_text("\n".join(names), encoding="utf-8")
    return path


def disk(folder: Path, count: int) -> None:
    """Files of all kinds, among them the first recordings of all corpora that are recognised by file names."""
    rows = [row for row in load_manifest().rows if row.media and registry()[row.corpus].table is None]
    generator = random.Random(0)
    paths = [f"corpora/{row.corpus}/{row.media}" for row in rows[: count // RECORDINGS]]
    for number in range(count - len(paths)):
        suffix = generator.choice(OTHERS)
        paths.append(f"home/{number % 97}/project_{number // 2_000}/{number % 31}/file {number}{suffix}")
    for parent in {(folder / path).parent for path in paths}:
        parent.mkdir(parents=True, exist_ok=True)
    for path in paths:
        (folder / path).touch()


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description="speed of corpora find and of names")
    parser.add_argument("--names", type=int, default=100_000)
    parser.add_argument("--disk", type=int, default=300_000)
    args = parser.parse_args()
    registry()
    with tempfile.TemporaryDirectory() as temporary:
        path = listing(Path(temporary), args.names)
        one, among = best(
            lambda: clips(locate(get_corpus("esd"), open_root(path))),
            lambda: find_corpora(path),
        )
        for what, side in (
            ("names to clips, one corpus", one),
            (f"recognition among {len(registry())} corpora", among),
        ):
            rate, alone = args.names / side.wall, args.names / side.cpu
            print(f"{what}: {rate:,.0f} files/s, {alone:,.0f} files/s of processor time")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        disk(folder, args.disk)
        command = [sys.executable, "-m", "oruk_leaderboard.cli", "corpora", "find", str(folder), "--json"]
        own, reference = best(
            lambda: subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False),
            lambda: subprocess.run(["find", str(folder), "-type", "f"], stdout=subprocess.DEVNULL, check=True),
        )
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"corpora find over {args.disk:,} files: {own.wall:.1f} s ({own.cpu:.1f} s of processor time), "
            f"{own.wall / reference.wall:.0f} times find -type f ({reference.wall:.2f} s), {peak:,.0f} MiB"
        )


if __name__ == "__main__":
    main()
