"""The receipts file of a run: locked, one line on disk per answer, continued after a kill."""

import fcntl
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from oruk_leaderboard.answers.tabular import read_rows
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import writing

_BEGINNING = b'{"clip_id"'
"""How a line begins."""


class ReceiptFile:
    """A receipts file that one run at a time may append to.

    Raises:
        OrukError: Another run has the file open, or it was not written by a run (it is then left as it is).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise OrukError(
                "another run is writing this file", where=path, do="wait for it, or choose another --out"
            ) from error
        try:
            self._repair()
        except OrukError:
            self._file.close()
            raise

    def __enter__(self) -> "ReceiptFile":
        """The file itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file, which ends the lock."""
        with writing(self.path):
            self._file.close()

    @property
    def empty(self) -> bool:
        """Whether there is no receipt yet."""
        return self.path.stat().st_size == 0

    def _repair(self) -> None:
        """Cut off a last line that a killed run left unfinished."""
        self._file.seek(0)
        data = self._file.read()
        first = data[: len(_BEGINNING)]
        if first != _BEGINNING[: len(first)]:
            raise OrukError("not a receipts file", where=self.path, found=repr(data[:80]), do="choose another --out")
        cut_unfinished(self._file)

    def append(self, lines: Iterable[str]) -> None:
        """Write lines and put them on disk, so that an answer that was paid for is never lost."""
        with writing(self.path):
            self._file.write("".join(lines).encode())
            self._file.flush()
            os.fsync(self._file.fileno())

    def answered(
        self, *, model: str, revision: str | None, prompt_sha256: str | None, inputs: Mapping[str, str]
    ) -> set[str]:
        """Clips of a run that need not be asked again.

        A receipt counts when the clip still has the samples it was made from; a clip that failed is asked again.

        Args:
            model: Model the run asks.
            revision: Its revision.
            prompt_sha256: Digest of the run's prompt.
            inputs: Clip id to digest of the samples, for every clip of the run.

        Raises:
            OrukError: A line is not a receipt, or belongs to another system, revision or prompt.
        """
        if self.empty:
            return set()
        rows = read_rows(self.path)
        names = ("model", "revision", "prompt_sha256")
        for row, asked in enumerate(map(list, zip(*map(rows.need, names), strict=True))):
            if asked != [model, revision, prompt_sha256]:
                raise OrukError(
                    "the receipts belong to another system",
                    where=rows.where(row),
                    expected=f"{model} at {revision}, prompt {prompt_sha256}",
                    found=f"{asked[0]} at {asked[1]}, prompt {asked[2]}",
                    do="start again with --restart, or choose another --out",
                )
        return settled(self.path, inputs)


def cut_unfinished(file: BinaryIO) -> None:
    """Cut off a last line without its end, which a killed process left in a file of lines that is open for reading."""
    file.seek(0)
    whole, _, cut = file.read().rpartition(b"\n")
    if cut:
        file.truncate(len(whole) + 1 if whole else 0)


def settled(path: Path, inputs: Mapping[str, str]) -> set[str]:
    """Clips of ``inputs`` (clip id to digest of the samples) with a receipt that is not an error.

    Raises:
        PredictionError: The file is not one of receipts.
    """
    rows = read_rows(path)
    columns = map(rows.need, ("clip_id", "input_sha256", "status"))
    return {
        clip_id
        for clip_id, digest, status in zip(*columns, strict=True)
        if status != "error" and inputs.get(clip_id) == digest
    }
