"""Corpora roots: where the files of corpora are, without unpacking or copying anything.

Conventions: a name is the path of a file below the root with ``/`` between parts, in Unicode NFC; ``names()`` is in
code-point order. What systems and tools leave behind (``._*``, ``__MACOSX``, ``.DS_Store``, ``.git``) is no file of a
corpus and is not listed. Whatever else cannot be listed is a problem with its reason.
"""

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from oruk_leaderboard.errors import CorpusError

_JUNK = frozenset((".ds_store", "thumbs.db", "desktop.ini", "__macosx", ".git", ".ipynb_checkpoints"))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that belongs to no clip, counted as a finding."""

    where: str
    reason: str


class Root(Protocol):
    """A place with files; see the module's docstring for the conventions."""

    location: str
    listing_only: bool
    problems: list[Problem]

    def names(self) -> Sequence[str]:
        """Files below the root."""

    def size(self, name: str) -> int | None:
        """Bytes of a file, None when unknown."""

    def open(self, name: str) -> BinaryIO:
        """The file's bytes, seekable, read only."""

    def local_path(self, name: str) -> Path | None:
        """A real file of that content, where there is one."""


def open_root(path: str | Path | Root) -> Root:
    """Open a folder or a ``.lst`` listing.

    Raises:
        CorpusError: There is nothing usable at ``path``.
    """
    if not isinstance(path, str | Path):
        return path
    local = Path(path)
    if local.is_dir():
        return FolderRoot(local)
    if local.is_file() and local.suffix.lower() == ".lst":
        return ListingRoot(local)
    raise CorpusError(
        "not a corpora root" if local.exists() else "no such corpora root",
        where=path,
        expected="a folder or a .lst listing",
        do="give the folder that holds the corpus, or one above it",
    )


def is_junk(name: str) -> bool:
    """Whether a path is a leftover of an operating system or tool, not a file of a corpus."""
    return any(part.startswith("._") or part.lower() in _JUNK for part in name.split("/"))


def nfc(name: str) -> str:
    """The name in Unicode NFC (macOS stores decomposed accents)."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


class FolderRoot:
    """A folder on disk; links to folders are followed, each real folder once."""

    listing_only = False

    def __init__(self, folder: Path) -> None:
        self.location = str(folder)
        self.problems: list[Problem] = []
        self._folder = folder
        self._raw: dict[str, str] = {}
        self._walk()
        self._names = tuple(sorted(self._raw))

    def names(self) -> Sequence[str]:
        """Files below the folder."""
        return self._names

    def size(self, name: str) -> int | None:
        """Bytes of a file."""
        return (self._folder / self._raw[name]).stat().st_size

    def open(self, name: str) -> BinaryIO:
        """The file, opened for reading."""
        return (self._folder / self._raw[name]).open("rb")

    def local_path(self, name: str) -> Path | None:
        """The file itself."""
        return self._folder / self._raw[name]

    def _walk(self) -> None:
        # Real folders first and links after them, so that a file keeps the path of its own folder.
        seen: set[tuple[int, int]] = set()
        waiting: list[tuple[str, bool]] = [("", False)]
        links: list[str] = []
        while waiting or links:
            below, linked = waiting.pop() if waiting else (links.pop(0), True)
            folder = self._folder / below
            try:
                status = folder.stat()
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.problems.append(Problem(below or self.location, f"unreadable folder: {error.strerror}"))
                continue
            if (status.st_dev, status.st_ino) in seen:
                if linked and folder.resolve() in folder.absolute().parents:
                    self.problems.append(Problem(below, "symbolic link loop"))
                continue
            seen.add((status.st_dev, status.st_ino))
            for entry in listed:
                self._enter(entry, f"{below}/{entry.name}" if below else entry.name, waiting, links)

    def _enter(self, entry: "os.DirEntry[str]", path: str, waiting: list[tuple[str, bool]], links: list[str]) -> None:
        if is_junk(entry.name):
            return
        if not entry.name.isprintable() and any("\ud800" <= char <= "\udfff" for char in entry.name):
            self.problems.append(Problem(ascii(path), "the name is not UTF-8; unpack the archive with UTF-8 names"))
            return
        try:
            if entry.is_dir(follow_symlinks=False):
                waiting.append((path, False))
            elif entry.is_symlink() and entry.is_dir():
                links.append(path)
            elif not entry.is_file():
                self.problems.append(Problem(path, "broken link" if entry.is_symlink() else "not a regular file"))
            elif self._raw.setdefault(nfc(path), path) != path:
                self.problems.append(Problem(path, "two files whose names differ only in their Unicode form"))
        except OSError as error:
            self.problems.append(Problem(path, f"unreadable: {error.strerror}"))


class ListingRoot:
    """A ``.lst`` file: one relative path a line, names without content."""

    listing_only = True

    def __init__(self, listing: Path) -> None:
        self.location = str(listing)
        self.problems: list[Problem] = []
        names: dict[str, None] = {}
        for number, line in enumerate(_decode(listing).split("\n"), 1):
            name = nfc(line.rstrip("\r").replace("\\", "/"))
            while name.startswith("./"):
                name = name[2:]
            if not name or name.endswith("/") or is_junk(name):
                continue
            if name.startswith("/") or ".." in name.split("/"):
                self.problems.append(Problem(f"line {number}: {name}", "not a relative path"))
            elif name in names:
                self.problems.append(Problem(f"line {number}: {name}", "listed twice"))
            else:
                names[name] = None
        self._names = tuple(sorted(names))

    def names(self) -> Sequence[str]:
        """The listed paths."""
        return self._names

    def size(self, name: str) -> int | None:
        """Unknown."""
        return None

    def open(self, name: str) -> BinaryIO:
        """A listing has no content.

        Raises:
            CorpusError: Always.
        """
        raise CorpusError("a .lst listing holds names only", where=f"{self.location}: {name}", do="give the folder")

    def local_path(self, name: str) -> Path | None:
        """None."""
        return None


def _decode(listing: Path) -> str:
    data = listing.read_bytes()
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError("the listing is not UTF-8", where=listing, found=str(error), do="save it as UTF-8") from error
