"""How fast names become clips: one corpus, recognition among all corpora, walking a folder.

Usage: python benchmarks/corpora.py [NAMES]     NAMES: how many names the listing has (default 100,000)

Prints files a second of wall time, and of processor time for what a busy machine would do alone; aim: 20,000.
``validate.py`` measures what comes after: validation and hashing.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from oruk_leaderboard.corpora import clips, find_corpora, get_corpus, locate, open_root, registry
from oruk_leaderboard.manifest import load_manifest

EMOTIONS = ("Angry", "Happy", "Neutral", "Sad", "Surprise")


def measure(what: str, count: int, action: Callable[[], object]) -> None:
    """Run once and print files a second."""
    start, worked = time.perf_counter(), time.process_time()
    action()
    rate, alone = count / (time.perf_counter() - start), count / max(time.process_time() - worked, 1e-9)
    print(f"{what:<50}{rate:>10,.0f} files/s{alone:>14,.0f} files/s of processor time")


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


if __name__ == "__main__":
    main()
