"""Which files of a checkout are published: an allow-list, and a check of the files beside it.

A clone is also where people rebuild corpora and run systems. What they make there (audio, labels, answers about clips
of corpora under an agreement) must never reach the Hub, whatever git tracks.
"""

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from oruk_leaderboard import jsontext
from oruk_leaderboard.errors import HubError
from oruk_leaderboard.hub import evals

ALLOWED: Mapping[str, Sequence[str]] = {
    "": (
        *(".gitattributes", ".gitignore", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
        *("CITATION.cff", "croissant.json", "eval.yaml", "pyproject.toml", "oruk_bench_leaderboard.py"),
    ),
    ".ci": ("*",),
    ".github": ("*.md", "*.yml"),
    "benchmarks": ("*.py", "*.md"),
    "data": ("*.parquet", "*.json", "*.toml", "*.md", "training.csv"),
    "data/manifest": ("*.csv", "*.tsv", "*.md", "SHA256SUMS"),
    "data/published": ("*.json", "*.md"),
    "data/records": ("*.json",),
    "data/snapshots": ("*.parquet",),
    "dataset_card": ("*.md", "*.svg", "*.toml"),
    "docs": ("*.md", "*.svg"),
    "docs/examples": ("*.toml",),
    "oruk_leaderboard": ("*.py", "*.pyi", "*.toml", "py.typed"),
    "oruk_leaderboard/corpora": ("*.py", "*.toml", "index.csv", "meld_lengths.csv", "emodb_names.txt"),
    "oruk_leaderboard/page": ("*.py", "*.js", "*.css", "*.j2", "*.md", "*.txt", "*.sh", "*.woff2", "SHA256SUMS"),
    "schema": ("*.schema.json",),
    "tests": ("*.py", "*.toml"),
}
"""Folder to the names that are published from it and from folders below it; the longest folder that fits counts."""

_PRIVATE_NAMES = re.compile(
    r"(\.receipts\.jsonl|\.run\.json|\.(wav|flac|mp3|ogg|opus|m4a|mp4|avi|mkv|webm|aiff?|sph|npy|npz|safetensors|pt))$",
    re.IGNORECASE,
)
_TABLES = (".csv", ".jsonl", ".parquet", ".tsv")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files of a checkout by what becomes of them.

    Attributes:
        content: Path below the root to content, for the files that are published.
        left_out: Files that git tracks and the allow-list does not name.
        uncommitted: Files of the allow-list that differ from the last commit.
        private: Folders and files with rebuilt clips, receipts or answers and that git tracks.
        held_back: Files that the Hub would refuse for now, with the reason.
    """

    content: Mapping[str, bytes]
    left_out: tuple[str, ...]
    uncommitted: tuple[str, ...]
    private: tuple[str, ...]
    held_back: Mapping[str, str]


def is_allowed(name: str) -> bool:
    """Whether the allow-list names a path below the repository's root."""
    folder, _, stem = name.rpartition("/")
    while folder not in ALLOWED:
        if "/" not in folder:
            return False
        folder = folder.rpartition("/")[0]
    if folder in ("", "data") and name != f"{folder}/{stem}".lstrip("/"):
        return False  # a folder below these two has an entry of its own, or was overlooked
    return any(fnmatchcase(stem, pattern) for pattern in ALLOWED[folder])


def candidates(root: Path) -> Candidates:
    """Look at a checkout.

    Raises:
        HubError: The folder is not a git checkout.
    """
    tracked = _names(_git(root, "ls-files", "-z"))
    untracked = _names(_git(root, "ls-files", "-z", "--others", "--exclude-standard"))
    changed = set(_names(_git(root, "diff", "--name-only", "-z", "HEAD", "--"))) if _has_commit(root) else set(tracked)
    held_back = evals.held_back()
    here = [name for name in (*tracked, *untracked) if (root / name).is_file()]
    published = [name for name in here if is_allowed(name) and name not in held_back]
    return Candidates(
        content={name: (root / name).read_bytes() for name in sorted(published)},
        left_out=tuple(sorted(name for name in tracked if not is_allowed(name))),
        uncommitted=tuple(sorted(name for name in {*changed, *untracked} if is_allowed(name))),
        private=tuple(sorted(_private(root, tracked))),
        held_back=held_back,
    )


def _private(root: Path, names: Iterable[str]) -> set[str]:
    """Files with rebuilt clips or answers; a rebuilt set is named by its folder."""
    found: set[str] = set()
    for name in names:
        path = root / name
        if path.name == "report.json" and _is_report(path):
            found.add(f"{path.parent.relative_to(root).as_posix()}/")
        elif _PRIVATE_NAMES.search(name) or (path.suffix in _TABLES and not is_allowed(name) and _has_clips(path)):
            found.add(name)
    sets = tuple(name for name in found if name.endswith("/"))
    return {name for name in found if name in sets or not name.startswith(sets)}


def _is_report(path: Path) -> bool:
    try:
        document = jsontext.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and "report_version" in document


def _has_clips(path: Path) -> bool:
    """Whether a table outside the allow-list has a row per clip."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return bool({"clip_id", "audio", "audio_flac"} & set(pq.read_schema(path).names))
        except (OSError, pa.ArrowException):
            return False
    try:
        with path.open("rb") as file:
            return b"clip_id" in file.read(4096)
    except OSError:
        return False


def _has_commit(root: Path) -> bool:
    return bool(_git(root, "rev-list", "--max-count=1", "--all"))


def _names(listing: bytes) -> list[str]:
    return [name for name in listing.decode().split("\0") if name]


def _git(root: Path, *arguments: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise HubError(
            "publishing needs a git checkout", where=root, do="run it in a clone of the repository"
        ) from error
