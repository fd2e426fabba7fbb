"""Run one system on a rebuilt set: receipts as it goes, predictions at the end."""

import contextlib
import itertools
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from oruk_leaderboard.answers.predictions import write_predictions
from oruk_leaderboard.answers.receipt_file import ReceiptFile, settled
from oruk_leaderboard.answers.receipts import Asked, Unmapped, read_receipts
from oruk_leaderboard.answers.run_files import WROTE, calls_of, receipts_of
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.clipset import ClipSet, open_clipset
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.labels import AliasTable, alias_table
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import get_system, lacking, load_system
from oruk_leaderboard.systems.asking import Reply, Stored, local
from oruk_leaderboard.systems.base import Options, System
from oruk_leaderboard.systems.budget import cost_in, price_of
from oruk_leaderboard.systems.endpoint import is_loopback
from oruk_leaderboard.systems.identity import continue_or_begin, identity_of, set_aside, write_run
from oruk_leaderboard.systems.ray_workers import on_ray
from oruk_leaderboard.systems.remote import estimate
from oruk_leaderboard.systems.sources import sha256_of
from oruk_leaderboard.todict import ToDict

MAX_FAILURES = 20
"""Failures in a row after which a run stops: the system does not work, and more clips would only cost more."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did.

    Attributes:
        system: Id of the system.
        revision: Revision that answered, or None where the service states none.
        clips: Clips of the run.
        resumed: Clips whose answer was there from before.
        counts: Status to number of clips.
        unknown_labels: Answer that names no class to its number of clips.
        undeclared_labels: Native label with a score that the card does not declare to its number of clips.
        reasons: Why clips have no class to their number, the most frequent first.
        unmapped: Score mass on native labels without a class.
        predictions: File for ``score``.
        receipts: File for ``replay``.
        cost: What all receipts say that their calls cost, in USD; None where the card states no price.
    """

    system: str
    revision: str | None
    clips: int
    resumed: int
    counts: Mapping[str, int]
    unknown_labels: Mapping[str, int]
    undeclared_labels: Mapping[str, int]
    reasons: Mapping[str, int]
    unmapped: Unmapped
    predictions: Path
    receipts: Path
    cost: float | None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, paths as text."""
        return {**asdict(self), "predictions": str(self.predictions), "receipts": str(self.receipts)}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which clips of a set a run asks about; all of them by default.

    Attributes:
        subsample: ``5k`` for the manifest's subsample of the set's profile.
        corpora: Ids of corpora.
        language: BCP-47 tag; ``en`` includes ``en-CA``.
        limit: At most this many, the first of the set.
        diagnostic: A protocol that names its clips, such as ``crema-d-ieo-lo``: those clips.
    """

    subsample: str | None = None
    corpora: Sequence[str] = ()
    language: str | None = None
    limit: int | None = None
    diagnostic: str | None = None


def run(
    system: str | SystemCard,
    *,
    clips: Path | str,
    out: Path | str,
    options: Options = Options(),  # noqa: B008  frozen
    selection: Selection = Selection(),
    max_failures: int = MAX_FAILURES,
    resume: bool = False,
    restart: bool = False,
    engine: str = "local",
    workers: int = 1,
    num_gpus: float = 0,
    progress: Progress = silent,
) -> Run:
    """Run a system on the clips of a rebuilt set.

    Args:
        system: Id of ``systems list``, a spec file, ``module:attribute``, or a card.
        clips: Folder of the rebuilt set.
        out: CSV for the predictions; ``out.receipts.jsonl`` and ``out.run.json`` go beside it. Clips that have an
            answer there are not asked again, failed ones are.
        options: How the system is loaded and asked.
        selection: Which clips it is asked about.
        max_failures: Failures in a row after which the run stops.
        resume: Take over receipts although nothing here can say what gave them.
        restart: Set earlier receipts aside and ask about every clip.
        engine: ``local``, or ``ray`` for ``workers`` copies of the system on a Ray cluster.
        workers: Copies of the system, with ``ray``.
        num_gpus: GPUs per copy, with ``ray``.
        progress: How progress is reported.

    Raises:
        OrukError: There is no such system or set, the receipts beside ``out`` come from a run that differs, or the
            system failed ``max_failures`` times in a row.
    """
    card = get_system(system) if isinstance(system, str) else system
    options = replace(options, clips=Path(clips))
    target = Path(out)
    clip_set = open_clipset(clips)
    inputs = select(clip_set, selection)
    _check_paid(card, options, engine)
    table = alias_table().declared(dict(card.native_labels or {}))
    target.parent.mkdir(parents=True, exist_ok=True)
    if restart:
        # Opened once before, so that a file in use, or one that is not of a run, is never renamed.
        ReceiptFile(receipts_of(target)).close()
        set_aside(target)
    # What foreign code prints must not end up in the output of this program.
    with ReceiptFile(receipts_of(target)) as file, contextlib.redirect_stdout(sys.stderr):
        if options.budget is not None:
            options.budget.go_on(receipts_of(target), calls_of(target))
        with contextlib.closing(load_system(card, options)) as loaded:
            identity = identity_of(loaded, options, set_digest=clip_set.digest)
            continue_or_begin(target, identity, started=not file.empty, resume=resume)
            model = card.asked
            done = file.answered(
                model=model, revision=loaded.revision, prompt_sha256=loaded.prompt_sha256, inputs=inputs
            )
            advance = progress(f"running {card.id}", len(inputs) - len(done))
            batches = _batches(clip_set, inputs, inputs.keys() - done, loaded.batch_size)
            if engine == "local":
                replies = local(loaded, batches)
            else:
                replies = on_ray(lambda: load_system(card, options), batches, workers=workers, num_gpus=num_gpus)
            try:
                for batch in _until(max_failures, replies, where=card.id):
                    file.append(_asked(reply, model, loaded).line(table) for reply in batch)
                    advance(len(batch), failed=sum(reply.answer.status == "error" for reply in batch))
            finally:
                if loaded.observed:
                    identity["observed"] = dict(loaded.observed)
                    write_run(target, identity)
        finished = _finish(clip_set, target, table, loaded, clips=len(inputs), resumed=len(done))
        write_run(target, {**identity, WROTE: sha256_of(target)})
        return finished


def _check_paid(card: SystemCard, options: Options, engine: str) -> None:
    """Refuse a budget that could not be kept, and transcripts that the system would not read.

    Raises:
        OrukError: The card states no price, calls would come from several processes, a recogniser is paid too, or the
            system hears and transcripts were named.
    """
    if options.transcripts.identity and card.family != "text only":
        raise OrukError(
            "the system hears audio and reads no transcripts", where=card.id, do="leave out the options on transcripts"
        )
    if engine != "local" and (options.budget is not None or options.transcripts.recogniser is not None):
        raise OrukError(
            "a budget and a recogniser belong to one process", where=f"--engine {engine}", expected="--engine local"
        )
    if options.budget is None:
        return
    price_of(card, hears=card.family != "text only")
    where = options.transcripts.identity.get("recogniser_endpoint")
    if where is not None and not is_loopback(where):
        raise OrukError(
            "the budget does not count what the recogniser costs",
            where=f"--transcribe-endpoint {where}",
            do="transcribe in a run without --budget first: its transcripts are kept and not asked for again",
        )


def _until(most: int, replies: Iterable[list[Reply]], *, where: str) -> Iterator[list[Reply]]:
    """The replies, until ``most`` failures in a row.

    Raises:
        OrukError: There were that many; the batch with the last of them was yielded before.
    """
    in_a_row = 0
    for batch in replies:
        yield batch
        for reply in batch:
            in_a_row = in_a_row + 1 if reply.answer.status == "error" else 0
            if in_a_row >= most:
                raise OrukError(
                    f"the system failed {in_a_row} times in a row",
                    where=where,
                    found=reply.answer.reason,
                    do="correct that and run the same command again; answers are kept",
                )


@dataclass(frozen=True, slots=True)
class DryRun(ToDict):
    """What a run would do.

    Attributes:
        system: Id of the system.
        clips: Clips of the run.
        answered: Clips that have an answer in the receipts beside ``out``; whether this system gave it is only known
            once it is loaded.
        calls: Clips that are still to be asked about; a system that reads is not asked about clips without words.
        audio_minutes: Length of their audio.
        cost: About what the calls cost, in USD, without the reasoning of models; None where the card states no price.
        most: The most they can cost if each succeeds at once, in USD; None as above.
        missing: What has to be installed or stated first.
    """

    system: str
    clips: int
    answered: int
    calls: int
    audio_minutes: float
    cost: float | None
    most: float | None
    missing: tuple[str, ...]


def plan(
    system: str | SystemCard,
    *,
    clips: Path | str,
    out: Path | str,
    options: Options = Options(),  # noqa: B008  frozen
    selection: Selection = Selection(),
) -> DryRun:
    """What ``run`` with these arguments would do; nothing is loaded, sent or written.

    Raises:
        OrukError: There is no such system or set, or the file beside ``out`` has no receipts.
    """
    card = get_system(system) if isinstance(system, str) else system
    clip_set = open_clipset(clips)
    inputs = select(clip_set, selection)
    receipts = receipts_of(Path(out))
    done = settled(receipts, inputs) if receipts.exists() and receipts.stat().st_size else set()
    _check_paid(card, options, "local")
    remaining = inputs.keys() - done
    wanted = [
        (seconds or 0.0, options.transcripts.known(clip_id, words))
        for clip_id, seconds, words in clip_set.rows("clip_id", "duration_s", "transcript")
        if clip_id in remaining
    ]
    if card.family == "text only" and options.transcripts.recogniser is None:
        wanted = [(seconds, words) for seconds, words in wanted if words]
    audio = sum(seconds for seconds, _ in wanted)
    card = replace(card, revision=options.revision or card.revision, endpoint=options.endpoint or card.endpoint)
    missing = lacking(card)
    expected, bound = estimate(card, wanted)
    return DryRun(card.id, len(inputs), len(done), len(wanted), audio / 60, expected, bound, tuple(missing))


def _asked(reply: Reply, model: str, system: System) -> Asked:
    return Asked(
        clip_id=reply.clip_id,
        input_sha256=reply.clip_sha256,
        answer=reply.answer,
        seconds=reply.seconds,
        model=model,
        revision=system.revision,
        prompt=system.prompt,
        prompt_sha256=system.prompt_sha256,
        alias=system.card.alias,
    )


def _finish(clip_set: ClipSet, target: Path, table: AliasTable, system: System, *, clips: int, resumed: int) -> Run:
    """Interpret the receipts as ``replay`` does, and write the predictions."""
    ids, digests = ([value for (value,) in clip_set.rows(name)] for name in ("clip_id", "clip_sha256"))
    receipts = receipts_of(target)
    saved = read_receipts(receipts, ids, table=table, classes=CLASSES, inputs=digests)
    write_predictions(target, ids, saved.predictions, saved.said, CLASSES)
    return Run(
        system=system.card.id,
        revision=system.revision,
        clips=clips,
        resumed=resumed,
        counts={name: count for name, count in saved.predictions.counts.items() if count and name != "missing"},
        unknown_labels=saved.predictions.spellings,
        undeclared_labels=saved.undeclared,
        reasons=saved.reasons,
        unmapped=saved.unmapped,
        predictions=target,
        receipts=receipts,
        cost=cost_in(receipts) if system.card.price else None,
    )


def select(clip_set: ClipSet, selection: Selection) -> dict[str, str]:
    """Clip id to digest of its samples, for the clips to run, in the set's order.

    Raises:
        OrukError: A part of the selection is unknown to the set, or no clip is left.
    """
    rows = clip_set.rows("clip_id", "clip_sha256", "corpus", "language")
    there = set(clip_set.table.column("corpus").unique().to_pylist())
    if unknown := sorted(set(selection.corpora) - there):
        raise OrukError(
            "no such corpus in the set", where="--corpus", expected=", ".join(sorted(there)), found=unknown[0]
        )
    if selection.corpora:
        rows = (row for row in rows if row[2] in selection.corpora)
    if (tag := selection.language) is not None:
        rows = (row for row in rows if row[3] is not None and f"{row[3]}-".lower().startswith(f"{tag}-".lower()))
    if selection.diagnostic is not None:
        from oruk_leaderboard.protocols import gold_of_protocol, load

        chosen = set(gold_of_protocol(load(selection.diagnostic)).clip_ids)
        rows = (row for row in rows if row[0] in chosen)
    if selection.subsample is not None:
        from oruk_leaderboard.manifest import pinned_subsample

        made_with = clip_set.report["manifest"]
        pinned = pinned_subsample(
            selection.subsample, version=made_with.get("version", ""), profile=made_with["profile"]
        )
        rows = (row for row in rows if row[0] in pinned)
    inputs = {clip_id: digest for clip_id, digest, *_ in itertools.islice(rows, selection.limit)}
    if not inputs:
        raise OrukError("no clip of the set is selected", where=clip_set.folder, found=selection)
    return inputs


def _batches(
    clip_set: ClipSet, inputs: Mapping[str, str], wanted: Collection[str], size: int
) -> Iterator[list[Stored]]:
    """Clips that are still to be asked about; one batch of them is in memory at a time."""
    about = (row for row in clip_set.rows("clip_id", "corpus", "transcript") if row[0] in wanted)
    batch: list[Stored] = []
    for (clip_id, flac), (_, corpus, transcript) in zip(clip_set.recordings(wanted), about, strict=True):
        batch.append(Stored(clip_id, inputs[clip_id], flac, corpus, transcript))
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
