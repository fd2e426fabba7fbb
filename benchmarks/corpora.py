"""How fast corpora are read: names to clips, recognition among all corpora, validation of stub files, hashing.

Usage: python benchmarks/corpora.py [NAMES]     NAMES: how many names the listing has (default 100,000)

Prints files a second of wall time, and of processor time for what a busy machine would do alone. Aims: 20,000 files a
second where nothing has to be hashed; hashing at 0.9 times what ``sha256sum`` reaches with a process a core.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from oruk_leaderboard.corpora import clips, find_corpora, get_corpus, locate, open_root, registry
from oruk_leaderboard.manifest import load_manifest, validate

EMOTIONS = ("Angry", "Happy", "Neutral", "Sad", "Surprise")
HASHED_FILES, HASHED_BYTES = 2_000, 300_000


def measure(what: str, count: int, action: Callable[[], object]) -> float:
    """Run once; returns files a second of wall time."""
    start, worked = time.perf_counter(), time.process_time()
    action()
    rate, alone = count / (time.perf_counter() - start), count / max(time.process_time() - worked, 1e-9)
    print(f"{what:<50}{rate:>10,.0f} files/s{alone:>14,.0f} files/s of processor time")
    return rate


def listing(folder: Path, count: int) -> Path:
    """Names as ESD has them, in many copies."""
    names = [
        f"disk/ESD{number // 35_000}/{1 + number % 20:04}/{EMOTIONS[number % 5]}/{1 + number % 20:04}_{number:06}.wav"
        for number in range(count)
    ]
    path = folder / "files.lst"
    path.write_text("\n".join(names), encoding="utf-8")
    return path


def stubs(folder: Path) -> int:
    """One-byte files in the official layout for every clip of the manifest whose label sits in its name."""
    rows = [row for row in load_manifest().rows if row.media and registry()[row.corpus].table is None]
    for row in rows:
        path = folder / row.corpus / str(row.media)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return len(rows)


def recordings(folder: Path) -> list[Path]:
    """Files of random bytes that are as long as the pinned ones, so that validation has to hash each."""
    rows = [row for row in load_manifest().of_corpus("crema_d") if row.source_bytes][:HASHED_FILES]
    paths = []
    for row in rows:
        path = folder / str(row.media)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(row.source_bytes or HASHED_BYTES))
        paths.append(path)
    return paths


def main() -> None:
    """Run all measurements."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    registry()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = listing(folder, count)
        measure("names to clips, one corpus", count, lambda: clips(locate(get_corpus("esd"), open_root(path))))
        measure(f"recognition among {len(registry())} corpora", count, lambda: find_corpora(path))
        made = stubs(folder / "stubs")
        measure("walking a folder", made, lambda: open_root(folder / "stubs"))
        measure("validation of stub files", made, lambda: validate(find_corpora(folder / "stubs")))
        files = recordings(folder / "hashed")
        everything = b"\0".join(os.fsencode(file) for file in files)
        command = ["xargs", "-0", "-n", "100", "-P", str(os.cpu_count() or 1), "sha256sum"]
        total = len(files)
        theirs = measure(
            "sha256sum", total, lambda: subprocess.run(command, input=everything, stdout=subprocess.DEVNULL, check=True)
        )
        ours = measure("validation that hashes", total, lambda: validate(find_corpora(folder / "hashed")))
        print(f"hashing at {ours / theirs:.2f} times sha256sum")


if __name__ == "__main__":
    main()
