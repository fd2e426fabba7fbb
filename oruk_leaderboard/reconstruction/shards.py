"""From outcomes to finished shards: take over what is right, write what is not, name it only when it is whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from oruk_leaderboard.clipset import set_digest
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.manifest.check import MISSING
from oruk_leaderboard.reconstruction.card import card
from oruk_leaderboard.reconstruction.journal import STALE, Entry, Journal, journal_name, rows_digest, write_file
from oruk_leaderboard.reconstruction.layouts import Layout, Row, ShardWriter, row_of
from oruk_leaderboard.reconstruction.plan import Finding, Plan, Request
from oruk_leaderboard.reconstruction.render import Job, Outcome
from oruk_leaderboard.reconstruction.report import REPORT, Report, make_report, report_text, same_set
from oruk_leaderboard.reconstruction.resume import Earlier, Known, source_is_checked
from oruk_leaderboard.reconstruction.store import STATE, Store

SHARD_CLIPS = 512
"""Clips planned for a shard: what a killed run does again at most, and about 30 MB of 3 s clips."""

BATCH_CLIPS = 16
"""Clips that a worker takes at once."""

BATCH_SEGMENTS = 64
"""Clips of one recording that a worker takes at once, so that the recording is opened once for them."""


class Writing:
    """The shards of one run in one output folder."""

    def __init__(self, store: Store, layout: Layout, plan: Plan) -> None:
        self._store, self._layout, self._plan = store, layout, plan
        self._planned = {
            f"clips-{at // SHARD_CLIPS:05d}": plan.jobs[at : at + SHARD_CLIPS]
            for at in range(0, len(plan.jobs), SHARD_CLIPS)
        }
        self._earlier = Earlier(store, layout, self._planned, self._unfinish)
        self._journals: dict[str, Journal] = {}
        self._rendered = 0

    def batches(self) -> Iterator[Sequence[Job]]:
        """What workers have to look at, in order."""
        return in_batches(
            replace(job, known_source=known.entry.source_sha256 if known else None)
            for job in self._plan.jobs
            if not ((known := self._earlier.of(job)) and source_is_checked(job))
        )

    def write(self, outcomes: Iterator[Outcome], progress: Callable[[int], object]) -> None:
        """Make every shard from the outcomes of `batches`; what is right already is left alone."""
        for name, jobs in self._planned.items():
            shard = _Shard(name, self._store, self._layout, self._earlier, self._unfinish)
            for job in jobs:
                known = self._earlier.of(job)
                if known and source_is_checked(job):
                    outcome = Outcome(job.state, source_sha256=job.source_sha256, reused=True)
                else:
                    outcome = next(outcomes)
                    self._refuse_vanished_root(job, outcome)
                self._rendered += outcome.audio is not None
                shard.add(job, outcome, known)
                progress(1)
            self._journals[name] = shard.finish()

    def _refuse_vanished_root(self, job: Job, outcome: Outcome) -> None:
        """One file that went away is a finding; a whole root that did is a disk that was unmounted."""
        root = Path(job.root)
        if outcome.state == MISSING and "://" not in job.root and not (root.is_file() or _has_files(root)):
            raise OrukError(
                "the corpora root went away during the run", where=root, do="mount it again and run the same command"
            )

    def _unfinish(self) -> None:
        """Take away the report before anything else changes: a set without one is not finished."""
        self._store.remove(REPORT)

    def finish(self, request: Request, *, seconds: float) -> Report:
        """Write what the set has as a whole, remove what an earlier plan left, and report."""
        files = {name for journal in self._journals.values() for name in journal.files}
        report = make_report(
            self._plan,
            request,
            [(job, entry) for job, entry in self._pairs() if entry.clip_sha256 is not None],
            [_finding(job, entry) for job, entry in self._pairs() if entry.reason or entry.clip_sha256 is None],
            digest=set_digest((row["clip_id"], row["label"], row["clip_sha256"]) for row in self._rows()),
            layout=self._layout.name,
            seconds=seconds,
            rendered=self._rendered,
        )
        shared = {**self._layout.shared(self._rows()), "README.md": card(report.document, self._layout.data_files)}
        for name, text in shared.items():
            self._write_if_new(name, text)
        journals = {journal_name(shard) for shard in self._journals}
        for name in self._store.names():
            stale = name.startswith(STALE) or (name.startswith(f"{STATE}/journal/") and name not in journals)
            if stale or (self._layout.owns(name) and name not in files):
                self._store.remove(name)
        earlier = self._read(REPORT)
        if earlier is None or not same_set(earlier, report):
            write_file(self._store, self._store.staging / "report", REPORT, report_text(report))
        self._store.settle()
        return report

    def _pairs(self) -> Iterator[tuple[Job, Entry]]:
        for name, journal in self._journals.items():
            yield from zip(self._planned[name], journal.entries, strict=True)

    def _rows(self) -> Iterator[Row]:
        return (row_of(job, entry) for job, entry in self._pairs() if entry.clip_sha256 is not None)

    def _read(self, name: str) -> str | None:
        try:
            with self._store.open(name) as file:
                return file.read().decode()
        except FileNotFoundError:
            return None

    def _write_if_new(self, name: str, text: str) -> None:
        if self._read(name) != text:
            self._unfinish()
            write_file(self._store, self._store.staging / "shared", name, text)


class _Shard:
    """One shard in the making. Nothing is written while every clip is where it belongs already."""

    def __init__(self, name: str, store: Store, layout: Layout, earlier: Earlier, unfinish: Callable[[], None]) -> None:
        self._name, self._store, self._layout, self._unfinish = name, store, layout, unfinish
        self._old = earlier.journals.get(name)
        self._entries: list[Entry] = []
        self._rows: list[Row] = []
        self._kept: list[Known] = []
        self._writer: ShardWriter | None = None

    def add(self, job: Job, outcome: Outcome, known: Known | None) -> None:
        """Take the next clip."""
        if outcome.reused and known is not None:
            entry = known.entry
            if entry.state != outcome.state:
                entry = replace(entry, state=outcome.state)
        else:
            entry, known = Entry.of(job, outcome), None
        self._entries.append(entry)
        if entry.clip_sha256 is None:
            return
        row = row_of(job, entry)
        if self._writer is None and known and (known.shard, known.position) == (self._name, len(self._rows)):
            self._kept.append(known)
        else:
            self._open().add(row, outcome.audio or self._flac(known))
        self._rows.append(row)

    def finish(self) -> Journal:
        """Write the shard if it is not there already."""
        rows_sha256 = rows_digest(self._rows, written_by=self._layout.writes)
        old = self._old
        same = old is not None and self._writer is None and len(self._rows) == len(old.made)
        if old is not None and same and rows_sha256 == old.rows_sha256:
            journal = replace(old, entries=self._entries)
            if journal != old:
                journal.write(self._store)
            return journal
        written = self._open().close() if self._rows else {}
        files = {name: sha256 for name, (_, sha256) in written.items()}
        journal = Journal(self._layout.name, self._name, rows_sha256, files, self._entries)
        self._unfinish()
        journal.write(self._store)
        for name, (staged, sha256) in written.items():
            self._store.put(staged, name, sha256)
        self._store.settle()
        for name in (old.files.keys() if old else set()) - files.keys():
            self._store.remove(name)
        return journal

    def _open(self) -> ShardWriter:
        if self._writer is None:
            self._writer = self._layout.writer(self._store.staging, self._name)
            for row, known in zip(self._rows, self._kept, strict=True):
                self._writer.add(row, self._flac(known))
        return self._writer

    def _flac(self, known: Known | None) -> bytes:
        assert known is not None, "a clip is either rendered or known"
        return self._layout.flac(self._store, known.files, known.position)


def in_batches(jobs: Iterable[Job]) -> Iterator[Sequence[Job]]:
    """Cut jobs into what workers take at once; segments of one recording stay together."""
    batch: list[Job] = []
    for job in jobs:
        same = bool(batch) and (batch[-1].root, batch[-1].clip.media) == (job.root, job.clip.media)
        if len(batch) >= (BATCH_SEGMENTS if same else BATCH_CLIPS):
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _finding(job: Job, entry: Entry) -> Finding:
    return Finding(job.clip.clip_id, job.clip.corpus, job.clip.media, entry.state, entry.reason)
