"""The rule that chose the clips, version 1.1: deterministic, written down, and nothing but arithmetic on clip ids.

1. Candidates are the clips of a corpus's public list that have a class under the corpus's default label map. Left out
   are clips that the corpus's spec excludes by name (silent, corrupt, misnamed, wrongly cut), byte-identical files as
   far as hashes are known (of one label all but one, of different labels all), clips that a list labels unsurely
   (CMU-MOSEI's happy, which is also its word for no emotion), clips under 0.2 s (MELD: 0.3 s, since its label file has
   shorter times than its list), clips over 32 s, of which the benchmark's first 16 s would be less than half, and 137
   test clips of MELD whose file is not as long as its label file says, by more than 0.05 s (two of them only if the
   two-digit fraction of a written time is read as milliseconds): the release has corrected recordings of most of them
   beside, and which ones is not public. Corpora of non-verbal sounds are left out, and so are corpora whose list has
   no label.
2. The candidates of a corpus are put in order, one after the other: from the official test partition as long as it
   has any, then from the rest; from the class with the fewest clips so far, in the protocol's order of classes where
   that is a tie; within the class from the speaker with the fewest clips of that class so far, a tie being decided by
   the sha256 of the speakers' next clip ids; within the speaker by the sha256 of the clip id. Where speakers are not
   known a class is one speaker.
3. A corpus gives its first CAP clips. CAP is the smallest number for which all corpora together reach 64,384. What is
   above 64,384 is taken away again, the last clip of each of the largest corpora (most candidates first, then by id).
4. Profile `full` is all of them, profile `open` those of corpora that need no agreement.
5. The subsample of a profile follows the protocol: `numpy.random.default_rng(0)` over the profile's clips in code-point
   order of their ids, for class 0 to 6 in turn max(1, round(5000 · class / all)) of them without replacement.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oruk_leaderboard.classes import CLASSES, INDEX
from oruk_leaderboard.errors import ManifestError

SIZE = 64_384
"""Clips of profile ``full``: as many as the original evaluation has."""

SUBSAMPLE = 5_000
"""Clips of a subsample, but for rounding."""

MIN_S, MAX_S = 0.2, 32.0
"""Shortest and longest clip in s, where durations are known."""

MIN_S_OF: Mapping[str, float] = {"meld": 0.3}
"""Corpora whose lists measure clips longer than the label file by which their spec leaves out the short ones."""

TEST_PARTITION: Mapping[str, str] = {
    "cmu_mosei": "test",
    "emorynlp": "test",
    "kazemotts": "eval",
    "meld": "test",
    "resd": "test",
}
"""Corpus to the name of its official test partition, where a public list gives it with labels."""

NON_VERBAL = frozenset(("asvp_esd", "vivae"))
"""Corpora of non-verbal sounds: the benchmark is about speech."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the rule looks at of a clip."""

    clip_id: str
    label: str
    speaker: str | None = None
    test: bool = False


@dataclass(frozen=True, slots=True)
class ChosenClips:
    """What the rule chose.

    Attributes:
        cap: Most clips a corpus gives.
        chosen: Corpus to its clip ids, in the order of the rule.
    """

    cap: int
    chosen: Mapping[str, Sequence[str]]


def choose(candidates: Mapping[str, Sequence[Candidate]], *, size: int = SIZE) -> ChosenClips:
    """Choose exactly ``size`` clips from the candidates of all corpora.

    Raises:
        ManifestError: There are fewer candidates than that.
    """
    available = {corpus: len(clips) for corpus, clips in candidates.items() if clips}
    if sum(available.values()) < size:
        raise ManifestError("too few candidates", expected=size, found=sum(available.values()))
    cap = next(cap for cap in range(size + 1) if sum(min(cap, count) for count in available.values()) >= size)
    taken = {corpus: min(cap, count) for corpus, count in available.items()}
    # The last step of CAP added one clip to each corpus that still had one, so one is taken from each at most.
    surplus = sum(taken.values()) - size
    for corpus in sorted(available, key=lambda corpus: (-available[corpus], corpus))[:surplus]:
        taken[corpus] -= 1
    chosen = {corpus: order(candidates[corpus])[: taken[corpus]] for corpus in sorted(taken) if taken[corpus]}
    return ChosenClips(cap, chosen)


def order(candidates: Sequence[Candidate]) -> list[str]:
    """Clip ids of one corpus in the order of the rule: a smaller choice is the beginning of a larger one."""
    per_class: Counter[str] = Counter()
    per_speaker: Counter[tuple[str, str | None]] = Counter()
    ordered: list[str] = []
    for test in (True, False):
        queues = _queues(clip for clip in candidates if clip.test is test)
        while queues:
            label = min(queues, key=lambda name: (per_class[name], INDEX[name]))
            speakers = queues[label]
            speaker = min(speakers, key=lambda name: (per_speaker[label, name], speakers[name][-1]))
            ordered.append(speakers[speaker].pop()[1])
            per_class[label] += 1
            per_speaker[label, speaker] += 1
            if not speakers[speaker]:
                del speakers[speaker]
            if not speakers:
                del queues[label]
    return ordered


def _queues(candidates: Iterator[Candidate]) -> dict[str, dict[str | None, list[tuple[str, str]]]]:
    """Class and speaker to (sha256 of the clip id, clip id), the next clip last."""
    queues: dict[str, dict[str | None, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for clip in candidates:
        key = hashlib.sha256(clip.clip_id.encode()).hexdigest()
        queues[clip.label][clip.speaker].append((key, clip.clip_id))
    for speakers in queues.values():
        for clips in speakers.values():
            clips.sort(reverse=True)
    return queues


def subsample(labels: Mapping[str, str]) -> set[str]:
    """Clip ids of the protocol's subsample of a set (see rule 5).

    Args:
        labels: Clip id to class, for every clip of the set.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    ids = sorted(labels)
    drawn: set[str] = set()
    for label in CLASSES:
        members = [index for index, clip_id in enumerate(ids) if labels[clip_id] == label]
        if members:
            count = max(1, round(SUBSAMPLE * len(members) / len(ids)))
            drawn |= {ids[index] for index in rng.choice(members, size=min(count, len(members)), replace=False)}
    return drawn
