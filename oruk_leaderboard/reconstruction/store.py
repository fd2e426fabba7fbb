"""The output folder, on disk or behind an fsspec URL: files appear in it whole and verified, or not at all.

Conventions: names are relative with ``/``; what is not final is below ``.state``. A file is written to a staging
folder, hashed while it is written, read back, compared, and only then given its name.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from oruk_leaderboard.errors import OrukError

STATE = ".state"
"""Folder of everything that is not final."""

_CHUNK = 1 << 20
_WHY = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission to write",
    errno.EPERM: "no permission to write",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EEXIST: "a file of that name is in the way",
}


class Store(Protocol):
    """A place for the set; see the module's docstring."""

    location: str
    staging: Path

    def names(self) -> list[str]:
        """Names of all files, in code-point order."""

    def open(self, name: str) -> BinaryIO:
        """A file, seekable, read only."""

    def put(self, staged: Path, name: str, sha256: str) -> None:
        """Give a staged file its name after reading it back; replaces an older file of that name."""

    def settle(self) -> None:
        """Wait until the names given so far would survive a power loss."""

    def move(self, name: str, to: str) -> None:
        """Rename a file."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


@contextlib.contextmanager
def open_store(location: str | Path) -> Iterator[Store]:
    """Open an output folder for one run, alone.

    Raises:
        OrukError: It cannot be written, another run is at work in it, or it contains something else.
    """
    url = str(location)
    if "://" in url and not url.startswith("file://"):
        with _remote(url) as remote:
            yield remote
        return
    folder = Path(url.removeprefix("file://"))
    with _locked(folder):
        store = _LocalStore(folder)
        try:
            with telling(folder):
                shutil.rmtree(store.staging, ignore_errors=True)
                store.staging.mkdir(parents=True)
                _refuse_foreign(store)
            yield store
        finally:
            shutil.rmtree(store.staging, ignore_errors=True)


@contextlib.contextmanager
def telling(location: object) -> Iterator[None]:
    """Turn errors of the file system into one line that says what to do.

    Raises:
        OrukError: The file system refused.
    """
    try:
        yield
    except OSError as error:
        raise OrukError(
            _WHY.get(error.errno or 0, "the output cannot be written"),
            where=location,
            found=error,
            do="what is finished is kept; once that is fixed, the same command continues from there",
        ) from error


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system lets go when the process ends, however it ends."""
    with telling(folder):
        (folder / STATE).mkdir(parents=True, exist_ok=True)
        lock = (folder / STATE / "lock").open("a")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OrukError(
                "another run is at work in this folder", where=folder, do="wait for it, or take another --out"
            ) from error
        yield


def _refuse_foreign(store: Store) -> None:
    names = store.names()
    ours = any(name.startswith(f"{STATE}/journal/") for name in names)
    visible = [name for name in names if not name.startswith(".")]
    # A set of which no clip could be made has no journal.
    if visible and not ours and set(visible) != {"report.json", "README.md"}:
        raise OrukError(
            "the output folder contains something else",
            where=store.location,
            expected="a new or empty folder, or a set made here before",
            found=f"{visible[0]} and {len(visible) - 1} more files" if len(visible) > 1 else visible[0],
        )


class HashingFile:
    """A new file that hashes what is written to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._digest = hashlib.sha256()
        self.closed = False

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Hand everything to the system."""
        self._file.flush()

    def close(self) -> None:
        """Flush to the disk itself and close."""
        if not self.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self.closed = True

    @property
    def sha256(self) -> str:
        """Of everything written so far."""
        return self._digest.hexdigest()


def digest_of(file: BinaryIO) -> str:
    """SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _verify(found: str, written: str, where: object) -> None:
    if found != written:
        raise OrukError(
            "the file reads back differently from what was written",
            where=where,
            expected=written,
            found=found,
            do="check the disk and memory of this machine",
        )


class _LocalStore:
    def __init__(self, folder: Path) -> None:
        self.location = str(folder)
        self.staging = folder / STATE / "staging"
        self._folder = folder
        self._changed: set[Path] = set()

    def names(self) -> list[str]:
        found = []
        for folder, _, files in os.walk(self._folder):
            below = Path(folder).relative_to(self._folder)
            found += [(below / file).as_posix() for file in files]
        return sorted(found)

    def open(self, name: str) -> BinaryIO:
        return (self._folder / name).open("rb", buffering=0)

    def put(self, staged: Path, name: str, sha256: str) -> None:
        with staged.open("rb", buffering=0) as file:
            _verify(digest_of(file), sha256, staged)
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(target)
        self._changed.add(target.parent)

    def settle(self) -> None:
        for folder in self._changed:
            if folder.is_dir():
                sync(folder)
        self._changed.clear()

    def move(self, name: str, to: str) -> None:
        (self._folder / to).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / name).replace(self._folder / to)

    def remove(self, name: str) -> None:
        path = self._folder / name
        path.unlink(missing_ok=True)
        for folder in path.relative_to(self._folder).parents[:-1]:
            try:
                (self._folder / folder).rmdir()
            except OSError:
                return  # it has more


def sync(path: Path) -> None:
    """Have a file's content, or a folder's names, written to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _remote(url: str) -> Iterator[Store]:
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise OrukError("the output's URL cannot be opened", where=url, found=error) from error
    with tempfile.TemporaryDirectory(prefix="oruk-") as staging:
        store = _RemoteStore(url, system, root, Path(staging))
        with telling(url):
            _refuse_foreign(store)
            store.claim()
        yield store
        store.remove(_RemoteStore.owner)


class _RemoteStore:
    """A folder behind an fsspec URL. It cannot be locked; a run that finds another one's mark stops instead."""

    owner = f"{STATE}/owner"

    def __init__(self, url: str, system: Any, root: str, staging: Path) -> None:
        self.location, self.staging = url, staging
        self._system, self._root = system, root.rstrip("/")
        self._token = secrets.token_hex(8).encode()

    def claim(self) -> None:
        """Leave this run's mark."""
        self._system.makedirs(f"{self._root}/{STATE}", exist_ok=True)
        self._system.pipe_file(f"{self._root}/{self.owner}", self._token)

    def names(self) -> list[str]:
        if not self._system.exists(self._root):
            return []
        start = len(self._system._strip_protocol(self._root)) + 1
        return sorted(str(path)[start:] for path in self._system.find(self._root))

    def open(self, name: str) -> BinaryIO:
        file: BinaryIO = self._system.open(f"{self._root}/{name}", "rb")
        return file

    def put(self, staged: Path, name: str, sha256: str) -> None:
        if self._system.cat_file(f"{self._root}/{self.owner}") != self._token:
            raise OrukError("another run has begun in this folder", where=self.location, do="let that one finish")
        upload = f"{self._root}/{STATE}/upload"
        self._system.put_file(str(staged), upload)
        with self._system.open(upload, "rb") as file:
            _verify(digest_of(file), sha256, f"{self.location}/{name}")
        self._make_room(name)
        self._system.mv(upload, f"{self._root}/{name}")
        staged.unlink()

    def settle(self) -> None:
        """Nothing to wait for: an object store answers once it has the object."""

    def move(self, name: str, to: str) -> None:
        self._make_room(to)
        self._system.mv(f"{self._root}/{name}", f"{self._root}/{to}")

    def remove(self, name: str) -> None:
        if self._system.exists(f"{self._root}/{name}"):
            self._system.rm_file(f"{self._root}/{name}")

    def _make_room(self, name: str) -> None:
        self._system.makedirs(f"{self._root}/{name}".rpartition("/")[0], exist_ok=True)
        self.remove(name)
