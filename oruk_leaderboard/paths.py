"""Where the shipped files are: beside the package in a checkout, inside it in a wheel."""

import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from oruk_leaderboard.errors import OrukError

PACKAGE = Path(__file__).resolve().parent

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""First bytes of a Git LFS pointer: a file whose content was not downloaded."""


@contextlib.contextmanager
def writing(path: object) -> Iterator[None]:
    """Name the file in an error of the file system: a write to a full disk or past a size limit does not say where.

    Raises:
        OSError: The file system refused.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@cache
def share_root() -> Path:
    """Folder with ``data/``, ``schema/``, ``dataset_card/`` and ``README.md``."""
    inside = PACKAGE / "_share"
    return inside if inside.is_dir() else PACKAGE.parent


def data_dir() -> Path:
    """Folder of the table, the records and the manifest."""
    return share_root() / "data"


def schema_dir() -> Path:
    """Folder of the JSON schemas."""
    return share_root() / "schema"


def checkout_root() -> Path:
    """Folder of the source checkout.

    Raises:
        OrukError: The package runs from a wheel, where derived files cannot be rebuilt.
    """
    if not (PACKAGE.parent / "pyproject.toml").is_file():
        raise OrukError(
            "this verb changes the repository's files and the package runs from an installed wheel",
            where=PACKAGE,
            expected="a checkout installed with: python -m pip install -e .",
            do="run it in a clone of the repository",
        )
    return PACKAGE.parent
