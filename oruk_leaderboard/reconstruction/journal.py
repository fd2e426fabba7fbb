"""The content of a finished shard, written before the shard gets its name, so that a killed run can continue."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oruk_leaderboard import jsontext
from oruk_leaderboard.audio import versions
from oruk_leaderboard.audio.video import SUFFIXES
from oruk_leaderboard.reconstruction.render import Job, Outcome
from oruk_leaderboard.reconstruction.store import STATE, HashingFile, Store, digest_of

FOLDER = f"{STATE}/journal/"
"""Folder of the journals, one per shard."""

STALE = f"{STATE}/stale/"
"""Where shards of earlier plans wait until their clips were taken over, in one folder per run that moved some aside."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One clip of a shard, or one that was planned and is not in it.

    Attributes:
        clip_id: The clip.
        state: As in `Outcome`.
        reason: As in `Outcome`.
        source_sha256: As in `Outcome`.
        clip_sha256: None where there is no clip.
        num_samples: At 16 kHz.
        sound: What decides the clip's samples and bytes: source, part, and the versions of all that touched them.
    """

    clip_id: str
    state: str
    reason: str | None
    source_sha256: str | None
    clip_sha256: str | None
    num_samples: int
    sound: str

    @classmethod
    def of(cls, job: Job, outcome: Outcome) -> "Entry":
        """Entry of a job that was done."""
        return cls(
            clip_id=job.clip.clip_id,
            state=outcome.state,
            reason=outcome.reason,
            source_sha256=outcome.source_sha256,
            clip_sha256=outcome.clip_sha256,
            num_samples=outcome.num_samples,
            sound=sound(job, outcome.source_sha256),
        )


def sound(job: Job, source_sha256: str | None) -> str:
    """Everything that decides a clip's samples and its FLAC bytes, in one line."""
    tools = versions() if job.clip.media.lower().endswith(SUFFIXES) else versions() | {"pyav": ""}
    return " ".join([str(source_sha256), *map(str, job.part()), *tools.values()])


@dataclass(frozen=True, slots=True)
class Journal:
    """Content of a shard.

    Attributes:
        layout: Name of the layout.
        shard: Name of the shard.
        rows_sha256: Digest of the columns other than the audio, and of what wrote them.
        files: Final name to SHA-256.
        entries: Clips in order, also those that were planned and could not be made.
    """

    layout: str
    shard: str
    rows_sha256: str
    files: Mapping[str, str]
    entries: Sequence[Entry]

    @property
    def made(self) -> list[Entry]:
        """Entries of clips that are in the shard, in order: the position is the row."""
        return [entry for entry in self.entries if entry.clip_sha256 is not None]

    def _to_dict(self) -> dict[str, object]:
        # dataclasses.asdict copies every value deeply, which takes longer than all the rest of the journal.
        entries = [{name: getattr(entry, name) for name in Entry.__slots__} for entry in self.entries]
        return {**{name: getattr(self, name) for name in Journal.__slots__}, "entries": entries}

    def write(self, store: Store) -> None:
        """Write the journal to its place."""
        path = store.staging / "journal"
        write_file(store, path, journal_name(self.shard), json.dumps(self._to_dict(), separators=(",", ":")))


def journal_name(shard: str) -> str:
    """Place of a shard's journal."""
    return f"{FOLDER}{shard}.json"


def write_file(store: Store, staged: Path, name: str, text: str) -> None:
    """Write a small file atomically."""
    file = HashingFile(staged)
    with contextlib.closing(file):
        file.write(text.encode())
    store.put(staged, name, file.sha256)


def read_journals(store: Store) -> list[Journal]:
    """Journals of the shards in their places; one that cannot be parsed counts as not there."""
    return [journal for _, journal in _read(store, FOLDER)]


def read_stale(store: Store) -> list[tuple[str, Journal]]:
    """Place of shards that were moved aside, and of their journals."""
    return [(name.rpartition("/")[0] + "/", journal) for name, journal in _read(store, STALE)]


def _read(store: Store, folder: str) -> Iterator[tuple[str, Journal]]:
    for name in store.names():
        if name.startswith(folder) and name.endswith(".json"):
            with store.open(name) as file:
                journal = _parse(file.read())
            if journal is not None:
                yield name, journal


def _parse(text: bytes) -> Journal | None:
    try:
        data = jsontext.parse(text)
        entries = [Entry(**entry) for entry in data["entries"]]
        return Journal(data["layout"], data["shard"], data["rows_sha256"], data["files"], entries)
    except (ValueError, KeyError, TypeError):
        return None


def is_whole(store: Store, journal: Journal, *, below: str = "") -> bool:
    """Whether a shard's files are there and are what the journal says, by reading them."""
    try:
        for name, sha256 in journal.files.items():
            with store.open(below + name) as file:
                if digest_of(file) != sha256:
                    return False
    except OSError:
        return False
    return True


def rows_digest(rows: Sequence[Mapping[str, object]], *, written_by: str) -> str:
    """Digest of a shard's rows without audio and of what writes them."""
    text = json.dumps([written_by, *rows], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
