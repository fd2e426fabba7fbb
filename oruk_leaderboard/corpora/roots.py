"""Corpora roots: where the files of corpora are, without unpacking or copying anything.

Conventions: a name is the path of a file below the root with ``/`` between parts, in Unicode NFC; ``names()`` is in
code-point order. Leftovers of systems and tools (``._*``, ``__MACOSX``, ``.DS_Store``, ``.git``) are not files of a
corpus and are not listed. Whatever else cannot be listed is a problem with its reason.
"""

import errno
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from oruk_leaderboard.corpora.archives import ENCRYPTED, Member, Refused, is_archive, members
from oruk_leaderboard.corpora.parquet_members import RowMember, recordings_in
from oruk_leaderboard.corpora.streams import ByteSource, LocalSource, OpenedSource
from oruk_leaderboard.errors import CorpusError
from oruk_leaderboard.paths import LFS_POINTER

_POINTER_SIZES = range(len(LFS_POINTER), 1025)
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
    """Open a folder, a ``.zip`` or ``.tar(.gz)``, a ``.lst`` listing, or an fsspec URL of one of them.

    Raises:
        CorpusError: There is nothing usable at ``path``.
    """
    if not isinstance(path, str | Path):
        return path
    if isinstance(path, str) and "://" in path:
        return _open_url(path)
    local = Path(path)
    try:
        if local.is_dir():
            return FolderRoot(local)
        if local.is_file() and local.suffix.lower() == ".lst":
            return ListingRoot(str(local), local.read_bytes())
        if local.is_file() and is_archive(local.name):
            return ArchiveRoot(str(local), LocalSource(local), local.stat().st_size)
    except OSError as error:
        raise CorpusError("the corpora root cannot be read", where=path, found=error.strerror) from error
    raise CorpusError(
        "not a corpora root" if local.exists() else "no such corpora root",
        where=path,
        expected="a folder, a .zip, .tar or .tar.gz, a .lst listing, or an fsspec URL",
        do="give the folder of the corpus, or one above it",
    )


def _open_url(url: str) -> Root:
    from fsspec.core import url_to_fs

    try:
        filesystem, path = url_to_fs(url)
        if filesystem.isdir(path):
            return RemoteRoot(url, filesystem, path)
        size = filesystem.size(path)
        if path.lower().endswith(".lst"):
            return ListingRoot(url, filesystem.cat_file(path))
        if is_archive(path):
            return ArchiveRoot(url, OpenedSource(filesystem.open(path, "rb")), size)
    except (ImportError, ValueError, OSError) as error:
        raise CorpusError("the URL cannot be opened", where=url, found=str(error)) from error
    raise CorpusError("not a corpora root", where=url, expected="a folder, an archive or a .lst listing")


def no_such_file(name: str) -> OSError:
    """The error for a name that is not among a root's names."""
    return FileNotFoundError(errno.ENOENT, "no such file below the corpora root", name)


def is_junk(name: str) -> bool:
    """Whether a path is a leftover of an operating system or tool, not a file of a corpus."""
    return any(part.startswith("._") or part.lower() in _JUNK for part in name.split("/"))


def is_lfs_pointer(root: Root, name: str, size: int | None) -> bool:
    """Whether a file is a Git LFS pointer, which is in the place of a file that was not fetched.

    Args:
        root: Where the file is.
        name: The file.
        size: Its bytes; files that are too short or too long for a pointer are not opened.

    Raises:
        OSError: The file cannot be read.
    """
    if size not in _POINTER_SIZES:
        return False
    with root.open(name) as file:
        return file.read(len(LFS_POINTER)) == LFS_POINTER


def nfc(name: str) -> str:
    """The name in Unicode NFC (macOS stores decomposed accents)."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


class _Root:
    """What folders, archives and remote folders share: their own files, and the members of archives among them.

    A member is named by the archive's path and its own; archives nested one level are opened too.
    """

    listing_only = False

    def __init__(self, location: str) -> None:
        self.location = location
        self.problems: list[Problem] = []
        self._members: dict[str, Member | RowMember] = {}
        self._names: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        """Worker processes open the root again."""
        return open_root, (self.location,)

    def names(self) -> Sequence[str]:
        """Files below the root, members of archives among them."""
        return self._names

    def size(self, name: str) -> int | None:
        """Bytes of a file."""
        return self._members[name].size if name in self._members else self._own_size(name)

    def open(self, name: str) -> BinaryIO:
        """The file, opened for reading."""
        return self._members[name].open() if name in self._members else self._own_open(name)

    def local_path(self, name: str) -> Path | None:
        """The file itself, unless it is in an archive."""
        return None

    def _own_size(self, name: str) -> int | None:
        raise no_such_file(name)

    def _own_open(self, name: str) -> BinaryIO:
        raise no_such_file(name)

    def _expand(self, prefix: str, archive: str, source: ByteSource, size: int, *, nested: bool = False) -> None:
        """Take in the members of an archive below a prefix."""
        refused: set[str] = set()
        encrypted = 0
        for raw, member in members(archive, source, size):
            name = prefix + nfc(raw).removeprefix("./") if raw else prefix.rstrip("/") or self.location
            if isinstance(member, Refused) and member.reason == ENCRYPTED:
                encrypted += 1
            elif isinstance(member, Refused):
                self.problems.append(Problem(name, member.reason))
            elif is_junk(name):
                continue
            elif name in self._members or name in refused:
                if name not in refused:
                    self.problems.append(Problem(name, "the name occurs twice in the archive"))
                refused.add(name)
                self._members.pop(name, None)
            elif is_archive(name) and nested:
                self.problems.append(Problem(name, "an archive 3 deep; at most 2 are opened: unpack it first"))
            else:
                self._members[name] = member
        if encrypted:
            reason = f"encrypted ({encrypted:,} members): unpack it with its password first"
            self.problems.append(Problem(prefix.rstrip("/") or self.location, reason))
        if not nested:
            for name in [name for name in self._members if name.startswith(prefix) and is_archive(name)]:
                inner = self._members.pop(name)
                assert isinstance(inner, Member)
                self._expand(f"{name}/", name, inner.source, inner.size, nested=True)


class ArchiveRoot(_Root):
    """One archive; names are the paths of its members."""

    def __init__(self, location: str, source: ByteSource, size: int) -> None:
        super().__init__(location)
        self._expand("", location, source, size)
        self._names = tuple(sorted(self._members))
        if not self._names:
            found = "; ".join(f"{problem.where}: {problem.reason}" for problem in self.problems[:3])
            raise CorpusError("nothing usable in the archive", where=location, found=found or "no files")


def _status(path: str) -> os.stat_result:
    return os.stat(path)  # noqa: PTH116  for every file and folder; a Path costs more than the call


class FolderRoot(_Root):
    """A folder on disk; links to folders are followed, each real folder once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder))
        self._folder = folder
        self._raw: dict[str, str] = {}
        self._walk()
        for name in [name for name in self._raw if is_archive(name)]:
            path = folder / self._raw.pop(name)
            if any(f"{name[:-4]}.z{part:02d}" in self._raw for part in (1, 2)):
                self.problems.append(Problem(name, "one of several parts (.z01 …): join and unpack them first"))
                continue
            try:
                self._expand(f"{name}/", name, LocalSource(path), path.stat().st_size)
            except OSError as error:
                self.problems.append(Problem(name, f"unreadable archive: {error.strerror}"))
        for name in [name for name in self._raw if name.lower().endswith(".parquet")]:
            self._take_rows(name)
        self._names = tuple(sorted((*self._raw, *self._members)))

    def _take_rows(self, name: str) -> None:
        """Take in the recordings of a parquet file; one without any stays a file."""
        try:
            found = recordings_in(self._folder / self._raw[name])
        except OSError as error:
            self.problems.append(Problem(name, f"unreadable parquet file: {error}"))
            return
        if found is None:
            return
        del self._raw[name]
        for path, member in found:
            if self._members.setdefault(f"{name}/{nfc(path)}", member) is not member:
                self.problems.append(Problem(f"{name}/{nfc(path)}", "the name occurs twice in the parquet file"))

    def local_path(self, name: str) -> Path | None:
        """The file itself, unless it is in an archive."""
        return None if name in self._members else Path(self._on_disk(name))

    def _own_size(self, name: str) -> int | None:
        return _status(self._on_disk(name)).st_size

    def _own_open(self, name: str) -> BinaryIO:
        return Path(self._on_disk(name)).open("rb")

    def _on_disk(self, name: str) -> str:
        if name not in self._raw:
            raise no_such_file(name)
        return f"{self._folder}/{self._raw[name]}"

    def _walk(self) -> None:
        # Real folders first and links after them, so that a file keeps the path of its own folder.
        seen: set[tuple[int, int]] = set()
        waiting: list[tuple[str, bool]] = [("", False)]
        links: list[str] = []
        while waiting or links:
            below, linked = waiting.pop() if waiting else (links.pop(0), True)
            folder = f"{self._folder}/{below}"
            try:
                status = _status(folder)
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.problems.append(Problem(below or self.location, f"unreadable folder: {error.strerror}"))
                continue
            if (status.st_dev, status.st_ino) in seen:
                if linked and Path(folder).resolve() in Path(folder).absolute().parents:
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


class RemoteRoot(_Root):
    """A folder behind an fsspec URL."""

    def __init__(self, url: str, filesystem: Any, path: str) -> None:
        super().__init__(url)
        self._filesystem = filesystem
        self._found: dict[str, tuple[str, int | None]] = {}
        base = path.rstrip("/") + "/"
        for full, detail in filesystem.find(path, detail=True).items():
            name = nfc(full.removeprefix(base))
            if not is_junk(name):
                self._found[name] = full, detail.get("size")
        for name in [name for name in self._found if is_archive(name)]:
            full, size = self._found.pop(name)
            self._expand(f"{name}/", name, OpenedSource(filesystem.open(full, "rb")), size or 0)
        self._names = tuple(sorted((*self._found, *self._members)))

    def _own_size(self, name: str) -> int | None:
        if name not in self._found:
            raise no_such_file(name)
        return self._found[name][1]

    def _own_open(self, name: str) -> BinaryIO:
        if name not in self._found:
            raise no_such_file(name)
        file: BinaryIO = self._filesystem.open(self._found[name][0], "rb")
        return file


class NamesRoot:
    """Names without content."""

    listing_only = True

    def __init__(self, location: str, names: Iterable[str], problems: Iterable[Problem] = ()) -> None:
        self.location = location
        self.problems = list(problems)
        self._names = tuple(sorted(set(names)))

    def names(self) -> Sequence[str]:
        """The paths."""
        return self._names

    def size(self, name: str) -> int | None:
        """Unknown."""
        return None

    def open(self, name: str) -> BinaryIO:
        """A list of names has no content.

        Raises:
            CorpusError: Always.
        """
        raise CorpusError("a .lst listing has names only", where=f"{self.location}: {name}", do="give the folder")

    def local_path(self, name: str) -> Path | None:
        """None."""
        return None


class ListingRoot(NamesRoot):
    """A ``.lst`` file: one relative path per line."""

    def __init__(self, location: str, data: bytes) -> None:
        problems: list[Problem] = []
        names: dict[str, None] = {}
        for number, line in enumerate(_decode(data, location).split("\n"), 1):
            name = nfc(line.rstrip("\r").replace("\\", "/"))
            while name.startswith("./"):
                name = name[2:]
            if not name or name.endswith("/") or is_junk(name):
                continue
            if name.startswith("/") or ".." in name.split("/"):
                problems.append(Problem(f"line {number}: {name}", "not a relative path"))
            elif name in names:
                problems.append(Problem(f"line {number}: {name}", "listed twice"))
            else:
                names[name] = None
        super().__init__(location, names, problems)


def _decode(data: bytes, location: str) -> str:
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(
            "the listing is not UTF-8", where=location, found=str(error), do="save it as UTF-8"
        ) from error
