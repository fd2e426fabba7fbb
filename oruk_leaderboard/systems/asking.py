"""Asking a system about clips: decoding ahead, failures counted, on threads where it waits for a service."""

import contextlib
import math
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from oruk_leaderboard.answers.answer import Answer, failed
from oruk_leaderboard.answers.interpretation import independent_fault, score_fault
from oruk_leaderboard.audio.stored import decode_stored
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.systems.base import Item, System, softmax
from oruk_leaderboard.systems.secrets import blank

AHEAD = 2
"""Batches that are decoded before they are needed."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A clip of a rebuilt set with its sound.

    Attributes:
        clip_id: Id of the clip.
        clip_sha256: Digest of its samples.
        flac: The sound.
        corpus: Id of the corpus.
        transcript: Its words, or None.
    """

    clip_id: str
    clip_sha256: str
    flac: bytes
    corpus: str
    transcript: str | None


@dataclass(frozen=True, slots=True)
class Reply:
    """One clip that was asked about: digest of its samples, the answer, and how long it took in s."""

    clip_id: str
    clip_sha256: str
    answer: Answer
    seconds: float


Batch = tuple[Sequence[Stored], Sequence[Item]]


def decoded(clips: Sequence[Stored]) -> Batch:
    """Clips with their samples.

    Raises:
        ManifestError: The samples are not those the set states.
    """
    items = [
        Item(
            clip.clip_id,
            decode_stored(clip.flac, clip_sha256=clip.clip_sha256, where=clip.clip_id),
            clip.corpus,
            clip.transcript,
            clip.clip_sha256,
        )
        for clip in clips
    ]
    return clips, items


def ask_in_parts(system: System, batch: Batch) -> Iterator[list[Reply]]:
    """Replies to a batch, as soon as each of its parts is answered."""
    clips, items = batch
    for part in system.parts(items):
        yield ask(system, ([clips[at] for at in part], [items[at] for at in part]))


def ask(system: System, batch: Batch) -> list[Reply]:
    """Ask about clips in one call; where that fails, about its halves, so that one bad clip costs one answer."""
    clips, items = batch
    started = time.perf_counter()
    try:
        answers = system.predict(items)
    except OrukError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  foreign code: whatever it raises is a counted failure
        if len(items) > 1:
            half = len(items) // 2
            return [*ask(system, (clips[:half], items[:half])), *ask(system, (clips[half:], items[half:]))]
        answers = [failed(f"{type(error).__name__}: {error}")]
    if len(answers) != len(items):
        raise OrukError("a system answered another number of clips", expected=len(items), found=len(answers))
    took = (time.perf_counter() - started) / len(items)
    return [
        Reply(clip.clip_id, clip.clip_sha256, sound(answer, scores=system.card.scores), took)
        for clip, answer in zip(clips, answers, strict=True)
    ]


def sound(answer: Answer, *, scores: str) -> Answer:
    """The answer in the form of a receipt: probabilities, valid Unicode, no keys; an error where that cannot be.

    Args:
        answer: What the system said.
        scores: What its scores are, as in ``SystemCard.scores``.
    """
    if answer.scores and scores == "logits" and score_fault(answer.scores) != "a score is NaN or infinite":
        answer = replace(answer, scores=softmax(answer.scores))
    elif answer.scores and scores == "independent" and (fault := independent_fault(answer.scores)):
        return failed(fault, call=answer.call)
    elif answer.scores and scores == "independent":
        total = math.fsum(answer.scores.values())
        answer = replace(answer, scores={name: score / total for name, score in answer.scores.items()})
    if answer.scores and (fault := score_fault(answer.scores)):
        return failed(fault, call=answer.call)
    try:
        for text in (answer.raw, answer.label, *(answer.scores or ())):
            (text or "").encode()
    except UnicodeEncodeError as error:
        return failed(f"the answer is not valid Unicode: {error.reason}", call=answer.call)
    if answer.reason is not None:
        return replace(answer, reason=blank(answer.reason.encode(errors="replace").decode()))
    return answer


def local(system: System, batches: Iterable[Sequence[Stored]]) -> Iterator[list[Reply]]:
    """Replies as they come: by part of a batch, or from ``system.concurrency`` threads one clip at a time."""
    if system.concurrency == 1:
        for batch in _ahead(batches):
            yield from ask_in_parts(system, batch)
        return
    ended: OrukError | None = None
    in_flight, finished = 0, queue.SimpleQueue[Future[list[Reply]]]()
    with ThreadPoolExecutor(system.concurrency) as pool:
        for clips, items in _ahead(batches):
            for at in range(len(items)):
                if in_flight == system.concurrency and ended is None:
                    replies, ended, number = _results(finished)
                    in_flight -= number
                    yield replies
                if ended is None:
                    call = pool.submit(ask, system, (clips[at : at + 1], items[at : at + 1]))
                    call.add_done_callback(finished.put)
                    in_flight += 1
            if ended is not None:
                break
        # What is in flight was paid for: it is waited for even where the run has to end.
        while in_flight:
            replies, error, number = _results(finished)
            in_flight -= number
            ended = ended or error
            yield replies
    if ended is not None:
        raise ended


def _results(finished: "queue.SimpleQueue[Future[list[Reply]]]") -> tuple[list[Reply], OrukError | None, int]:
    """Replies of the calls that have finished, at least one; why the run has to end, or None; how many calls."""
    calls = [finished.get()]
    with contextlib.suppress(queue.Empty):
        while True:
            calls.append(finished.get_nowait())
    replies: list[Reply] = []
    ended = None
    for call in calls:
        try:
            replies += call.result()
        except OrukError as error:
            ended = error
    return replies, ended, len(calls)


def _ahead(batches: Iterable[Sequence[Stored]]) -> Iterator[Batch]:
    """Batches decoded by another thread while the system works; at most ``AHEAD`` of them wait in memory."""
    waiting: queue.Queue[Batch | BaseException | None] = queue.Queue(AHEAD)
    stop = threading.Event()

    def put(value: Batch | BaseException | None) -> bool:
        while not stop.is_set():
            try:
                waiting.put(value, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def fill() -> None:
        try:
            for batch in batches:
                if not put(decoded(batch)):
                    return
            put(None)
        except BaseException as error:  # noqa: BLE001  handed over to the thread that reads
            put(error)

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    try:
        while (value := waiting.get()) is not None:
            if isinstance(value, BaseException):
                raise value
            yield value
    finally:
        stop.set()
        thread.join()
