"""Run one system on a rebuilt set: receipts as it goes, predictions at the end."""

import csv
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.answers.answer import Answer
from oruk_leaderboard.answers.asked import Asked, append, read_receipts
from oruk_leaderboard.audio.stored import decode_stored
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.clipset import ClipSet, open_clipset
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.labels import AliasTable, alias_table
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.ray_session import ray_session
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems import get_system, load_system
from oruk_leaderboard.systems.base import System, Waveform

BATCH = 16
"""Clips that are decoded and asked about before their receipts are written."""


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
        unknown_labels: Spelling that the alias table does not know to number of clips; they are abstentions.
        predictions: File for ``score``.
        receipts: File for ``replay``.
    """

    system: str
    revision: str
    clips: int
    resumed: int
    counts: Mapping[str, int]
    unknown_labels: Mapping[str, int]
    predictions: Path
    receipts: Path

    def to_dict(self) -> dict[str, Any]:
        """Field names to plain values."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        for name in ("predictions", "receipts"):
            values[name] = str(values[name])
        for name in ("counts", "unknown_labels"):
            values[name] = dict(values[name])
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
    done = read_receipts(receipts, model=model, revision=loaded.revision, inputs=inputs)
    advance = progress(f"running {card.id}", len(inputs))
    advance(len(done))
    target.parent.mkdir(parents=True, exist_ok=True)
    batches = _batches(clip_set, inputs, inputs.keys() - done.keys())
    for asked in _local(loaded, batches) if engine == "local" else _ray(card, batches, revision, device, workers):
        append(receipts, (item.line(model=model, revision=loaded.revision) for item in asked))
        advance(len(asked))
    answers = read_receipts(receipts, model=model, revision=loaded.revision, inputs=inputs)
    failed = sorted(inputs.keys() - answers.keys())
    table = alias_table().declared(dict(card.native_labels or {}))
    counts, unknown = write_predictions(target, answers, failed, table)
    return Run(card.id, loaded.revision, len(inputs), len(done), counts, unknown, target, receipts)


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


def ask(system: System, batch: Sequence[Stored]) -> list[Asked]:
    """Ask about a batch; when that fails, about each of its clips, so that one bad clip costs one answer."""
    waves: list[Waveform] = [
        decode_stored(clip.flac, clip_sha256=clip.clip_sha256, where=clip.clip_id) for clip in batch
    ]
    started = time.perf_counter()
    try:
        answers = system.predict(waves)
        reasons: list[str | None] = [None] * len(batch)
    except Exception as error:  # noqa: BLE001  a system is foreign code; what it raises becomes a counted failure
        if len(batch) > 1:
            return [item for clip in batch for item in ask(system, [clip])]
        answers, reasons = [Answer(label=None, status="error")], [f"{type(error).__name__}: {error}"]
    if len(answers) != len(batch):
        raise OrukError("a system answered another number of clips", expected=len(batch), found=len(answers))
    took = (time.perf_counter() - started) / len(batch)
    return [
        Asked(clip.clip_id, clip.clip_sha256, answer, reason, took)
        for clip, answer, reason in zip(batch, answers, reasons, strict=True)
    ]


def _local(system: System, batches: Iterator[list[Stored]]) -> Iterator[list[Asked]]:
    return (ask(system, batch) for batch in batches)


def _ray(
    card: SystemCard, batches: Iterator[list[Stored]], revision: str | None, device: str, workers: int
) -> Iterator[list[Asked]]:
    """The same on a Ray cluster: each worker loads the system once; answers come in any order."""

    class Worker:
        def __init__(self) -> None:
            self.system = load_system(card, revision=revision, device=device)

        def ask(self, batch: list[Stored]) -> list[Asked]:
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


def write_predictions(
    path: Path, answers: Mapping[str, Mapping[str, Any]], failed: Sequence[str], table: AliasTable
) -> tuple[dict[str, int], dict[str, int]]:
    """Write the predictions CSV, whole or not at all; one row a clip, by clip id.

    Class scores are the highest score among a class's native labels (protocol 0.1.0), scaled to sum to 1; labels
    without a class are left out of that sum. A label the alias table does not know is ``abstained``.

    Returns:
        Status to number of clips, and unknown spelling to number of clips.
    """
    scored = bool(answers) and all(receipt.get("scores") for receipt in answers.values())
    counts: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["clip_id", "label", "status", *(CLASSES if scored else ())])
        for clip_id in sorted([*answers, *failed]):
            receipt = answers.get(clip_id, {"status": "error", "label": None})
            scores = class_scores(receipt.get("scores") or {}, table)
            label = max(scores, key=lambda name: scores[name]) if scores else _resolve(receipt["label"], table)
            status = receipt["status"]
            if status == "ok" and label is None:
                status = "abstained"
                if receipt["label"] is not None and not table.knows(receipt["label"]):
                    unknown[receipt["label"]] += 1
            counts[status] += 1
            row = [clip_id, (label or "") if status == "ok" else "", status]
            writer.writerow([*row, *(repr(scores.get(name, 0.0)) if scores else "" for name in CLASSES if scored)])
    part.replace(path)
    return dict(counts), dict(unknown)


def _resolve(label: str | None, table: AliasTable) -> str | None:
    return None if label is None else table.resolve(label)


def class_scores(native: Mapping[str, float], table: AliasTable) -> dict[str, float]:
    """Class to score, from native label to score; empty where no label has a class or all scores are zero."""
    best: dict[str, float] = {}
    for label, score in native.items():
        name = table.resolve(label)
        if name is not None:
            best[name] = max(score, best.get(name, 0.0))
    total = sum(best.values())
    return {name: score / total for name, score in best.items()} if total > 0 else {}
