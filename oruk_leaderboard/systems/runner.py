"""Run one system on a rebuilt set: receipts as it goes, predictions at the end."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.answers.answer import Answer, failed
from oruk_leaderboard.answers.interpretation import score_fault
from oruk_leaderboard.answers.predictions import write_predictions
from oruk_leaderboard.answers.receipts import Asked, Unmapped, answered, append, read_receipts, repair
from oruk_leaderboard.audio.stored import decode_stored
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.clipset import ClipSet, open_clipset
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.labels import alias_table
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.ray_session import ray_session
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import System, Waveform

BATCH = 16
"""Clips that are decoded and asked about before their receipts are written."""


Reply = tuple[str, str, Answer, float]
"""Clip id, digest of its samples, answer, and how long it took in s."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A clip of a rebuilt set with its sound."""

    clip_id: str
    clip_sha256: str
    flac: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did.

    Attributes:
        system: Id of the system.
        revision: Revision that answered.
        clips: Clips of the set (or of its subsample).
        resumed: Clips whose answer was there from before.
        counts: Status to number of clips.
        unknown_labels: Answer that names no class to its number of clips.
        reasons: Why clips have no class to their number, the most frequent first.
        unmapped: Score mass on native labels without a class.
        predictions: File for ``score``.
        receipts: File for ``replay``.
    """

    system: str
    revision: str
    clips: int
    resumed: int
    counts: Mapping[str, int]
    unknown_labels: Mapping[str, int]
    reasons: Mapping[str, int]
    unmapped: Unmapped
    predictions: Path
    receipts: Path

    def to_dict(self) -> dict[str, Any]:
        """Field names to plain values."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        for name in ("predictions", "receipts"):
            values[name] = str(values[name])
        for name in ("counts", "unknown_labels", "reasons"):
            values[name] = dict(values[name])
        values["unmapped"] = asdict(self.unmapped)
        return values


def run(
    system: str | SystemCard,
    *,
    clips: Path | str,
    out: Path | str,
    revision: str | None = None,
    device: str = "cpu",
    subsample: str | None = None,
    engine: str = "local",
    workers: int = 1,
    progress: Progress = silent,
) -> Run:
    """Run a system on every clip of a rebuilt set.

    Args:
        system: Id of ``systems list``, a spec file, ``module:function``, or a card.
        clips: Folder of the rebuilt set.
        out: CSV for the predictions; receipts go beside it, with ``.receipts.jsonl`` added to the name.
        revision: Revision of the weights; the card's by default.
        device: Torch device.
        subsample: ``5k`` runs the manifest's subsample of the set's profile only.
        engine: ``local``, or ``ray`` for ``workers`` copies of the system on a Ray cluster.
        workers: Copies of the system, with ``ray``.
        progress: Reports the clips.

    Raises:
        OrukError: There is no such system or set, or the receipts beside ``out`` belong to another system.
    """
    card = get_system(system) if isinstance(system, str) else system
    target = Path(out)
    receipts = target.with_name(target.name + ".receipts.jsonl")
    clip_set = open_clipset(clips)
    inputs = _inputs(clip_set, subsample)
    loaded = load_system(card, revision=revision, device=device)
    model = card.model_id or card.id
    table = alias_table().declared(dict(card.native_labels or {}))
    repair(receipts)
    done = answered(receipts, model=model, revision=loaded.revision, prompt_sha256=None, inputs=inputs)
    advance = progress(f"running {card.id}", len(inputs))
    advance(len(done))
    target.parent.mkdir(parents=True, exist_ok=True)
    batches = _batches(clip_set, inputs, inputs.keys() - done)
    for replies in _local(loaded, batches) if engine == "local" else _ray(card, batches, revision, device, workers):
        asked = [
            Asked(clip_id=c, input_sha256=sha256, answer=answer, seconds=took, model=model, revision=loaded.revision)
            for c, sha256, answer, took in replies
        ]
        append(receipts, (item.line(table) for item in asked))
        advance(len(asked))
    ids, digests = (list(map(str, clip_set.table.column(name).to_pylist())) for name in ("clip_id", "clip_sha256"))
    saved = read_receipts(receipts, ids, table=table, classes=CLASSES, inputs=digests)
    write_predictions(target, ids, saved.predictions, saved.said, CLASSES)
    return Run(
        system=card.id,
        revision=loaded.revision,
        clips=len(inputs),
        resumed=len(done),
        counts={name: count for name, count in saved.predictions.counts.items() if count and name != "missing"},
        unknown_labels=saved.predictions.spellings,
        reasons=saved.reasons,
        unmapped=saved.unmapped,
        predictions=target,
        receipts=receipts,
    )


def _inputs(clip_set: ClipSet, subsample: str | None) -> dict[str, str]:
    """Clip id to digest of its samples, for the clips to run."""
    ids, digests = (list(map(str, clip_set.table.column(name).to_pylist())) for name in ("clip_id", "clip_sha256"))
    inputs = dict(zip(ids, digests, strict=True))
    if subsample is None:
        return inputs
    from oruk_leaderboard.manifest import load_manifest

    pinned_by = clip_set.report["manifest"]
    profile = pinned_by["profile"]
    if subsample != "5k" or profile is None:
        raise OrukError("no such subsample", where=f"--subsample {subsample}", expected="5k, of a set with a profile")
    pinned = load_manifest(pinned_by["version"]).subsample(profile)
    return {clip_id: digest for clip_id, digest in inputs.items() if clip_id in pinned}


def _batches(clip_set: ClipSet, inputs: Mapping[str, str], wanted: Collection[str]) -> Iterator[list[Stored]]:
    """Clips that are still to be asked about; one batch of them is in memory at a time."""
    batch: list[Stored] = []
    for clip_id, flac in clip_set.recordings(wanted):
        batch.append(Stored(clip_id, inputs[clip_id], flac))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def ask(system: System, batch: Sequence[Stored]) -> list[Reply]:
    """Ask about a batch; when that fails, about each of its clips, so that one bad clip costs one answer."""
    waves: list[Waveform] = [
        decode_stored(clip.flac, clip_sha256=clip.clip_sha256, where=clip.clip_id) for clip in batch
    ]
    started = time.perf_counter()
    try:
        answers = system.predict(waves)
    except Exception as error:  # noqa: BLE001  a system is foreign code; what it raises becomes a counted failure
        if len(batch) > 1:
            return [item for clip in batch for item in ask(system, [clip])]
        answers = [failed(f"{type(error).__name__}: {error}")]
    if len(answers) != len(batch):
        raise OrukError("a system answered another number of clips", expected=len(batch), found=len(answers))
    took = (time.perf_counter() - started) / len(batch)
    return [(clip.clip_id, clip.clip_sha256, _sound(answer), took) for clip, answer in zip(batch, answers, strict=True)]


def _sound(answer: Answer) -> Answer:
    """The answer, or an error where JSON could not hold it or its scores are no probabilities."""
    if answer.scores and (fault := score_fault(answer.scores)):
        return failed(fault, call=answer.call)
    return answer


def _local(system: System, batches: Iterator[list[Stored]]) -> Iterator[list[Reply]]:
    return (ask(system, batch) for batch in batches)


def _ray(
    card: SystemCard, batches: Iterator[list[Stored]], revision: str | None, device: str, workers: int
) -> Iterator[list[Reply]]:
    """The same on a Ray cluster: each worker loads the system once; answers come in any order."""

    class Worker:
        def __init__(self) -> None:
            self.system = load_system(card, revision=revision, device=device)

        def ask(self, batch: list[Stored]) -> list[Reply]:
            return ask(self.system, batch)

    with ray_session(workers=workers) as ray:
        idle = [ray.remote(num_cpus=1)(Worker).remote() for _ in range(workers)]
        busy: dict[Any, Any] = {}
        for batch in batches:
            # One batch in flight a worker: the clips of a whole set would not fit the cluster's shared memory.
            if not idle:
                (done, *_), _ = ray.wait(list(busy))
                idle.append(busy.pop(done))
                yield ray.get(done)
            worker = idle.pop()
            busy[worker.ask.remote(batch)] = worker
        for done in busy:
            yield ray.get(done)
