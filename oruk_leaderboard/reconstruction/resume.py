"""What earlier runs left in the output folder, and which of it is still right."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.manifest.check import EXACT, UNPINNED
from oruk_leaderboard.reconstruction.journal import (
    STALE,
    Entry,
    Journal,
    is_whole,
    journal_name,
    read_journals,
    read_stale,
    sound,
)
from oruk_leaderboard.reconstruction.layouts import Layout
from oruk_leaderboard.reconstruction.render import Job
from oruk_leaderboard.reconstruction.store import Store


@dataclass(frozen=True, slots=True)
class Known:
    """A clip that an earlier run made.

    Attributes:
        files: Where its shard's files are now.
        position: Its row in the shard.
        entry: What the journal says of it.
        shard: Name of the shard if it is where it would be written again, else None.
    """

    files: Sequence[str]
    position: int
    entry: Entry
    shard: str | None


class Earlier:
    """Finished shards of earlier runs; those that the new plan cuts otherwise are moved aside and read from there."""

    def __init__(
        self, store: Store, layout: Layout, planned: Mapping[str, Sequence[Job]], touch: Callable[[], None]
    ) -> None:
        self._store = store
        self._known: dict[str, Known] = {}
        self.journals: dict[str, Journal] = {}
        stale = read_stale(store)
        for below, journal in stale:
            self._add(journal, below=below, layout=layout, live=False)
        journals = list(read_journals(store))
        _refuse_other_set(store, journals, planned)
        # A folder of its own: what earlier runs moved aside must stay what its journals say.
        aside = f"{STALE}{secrets.token_hex(4)}/"
        for journal in journals:
            _refuse_other_layout(store, journal, layout)
            jobs = planned.get(journal.shard, ())
            fits = [entry.clip_id for entry in journal.entries] == [job.clip.clip_id for job in jobs]
            if not fits:
                touch()
                _set_aside(store, journal, aside)
            self._add(journal, below="" if fits else aside, layout=layout, live=fits)

    def _add(self, journal: Journal, *, below: str, layout: Layout, live: bool) -> None:
        if journal.layout != layout.name or not is_whole(self._store, journal, below=below):
            return
        files = [below + name for name in journal.files]
        if live:
            self.journals[journal.shard] = journal
        for position, entry in enumerate(journal.made):
            self._known[entry.clip_id] = Known(files, position, entry, journal.shard if live else None)

    def of(self, job: Job) -> Known | None:
        """An earlier run's clip that is this job's, if the source is still the same."""
        known = self._known.get(job.clip.clip_id)
        if known is None:
            return None
        entry = known.entry
        same = (
            entry.sound == sound(job, entry.source_sha256)
            and job.source_sha256 in (None, entry.source_sha256)
            and job.clip_sha256 in (None, entry.clip_sha256)
            and (job.state == UNPINNED) == (entry.state == UNPINNED)
        )
        return known if same else None


def source_is_checked(job: Job) -> bool:
    """Whether validation of this very run has read the source and found it to be the pinned one."""
    return job.state == EXACT and job.source_sha256 is not None


def _set_aside(store: Store, journal: Journal, aside: str) -> None:
    present = set(store.names())
    store.move(journal_name(journal.shard), f"{aside}{journal.shard}.json")
    for name in journal.files:
        if name in present:
            store.move(name, aside + name)


def _refuse_other_set(store: Store, journals: Sequence[Journal], planned: Mapping[str, Sequence[Job]]) -> None:
    """A plan that shares no clip with the set that is there is a mistaken folder: its clips may be days of work."""
    here = {entry.clip_id for journal in journals for entry in journal.entries}
    wanted = {job.clip.clip_id for jobs in planned.values() for job in jobs}
    if here and here.isdisjoint(wanted):
        raise OrukError(
            "the folder contains another set",
            where=store.location,
            expected=f"clips like {min(wanted)}" if wanted else "no clip: none of the plan can be rebuilt",
            found=f"{len(here):,} clips like {min(here)}",
            do="choose another --out, or remove the folder",
        )


def _refuse_other_layout(store: Store, journal: Journal, layout: Layout) -> None:
    if journal.layout != layout.name:
        raise OrukError(
            "the output folder contains a set in another layout",
            where=store.location,
            expected=layout.name,
            found=journal.layout,
            do="take another --out, or that layout",
        )
