"""The rule that chose the clips: counts, balance, order, ties, subsample."""

import hashlib
from collections import Counter

import numpy as np
import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.rule import Candidate, choose, order, subsample


def corpus(name, *, per_class, speakers=4, test=0, classes=CLASSES):
    return [
        Candidate(f"{name}/{label}{number}", label, f"s{number % speakers}", number < test)
        for label in classes
        for number in range(per_class)
    ]


def test_takes_exactly_the_size_with_the_smallest_cap():
    candidates = {
        "big": corpus("big", per_class=40),
        "small": corpus("small", per_class=2),
        "larger": corpus("larger", per_class=50),
        "none": [],
    }
    choice = choose(candidates, size=95)
    counts = {name: len(ids) for name, ids in choice.chosen.items()}
    assert choice.cap == 41
    assert counts == {"big": 41, "larger": 40, "small": 14}
    assert sum(min(choice.cap - 1, len(clips)) for clips in candidates.values()) < 95
    for name, ids in choice.chosen.items():
        assert list(ids) == order(candidates[name])[: len(ids)]


def test_too_few_candidates_is_an_error():
    with pytest.raises(ManifestError, match="too few"):
        choose({"a": corpus("a", per_class=1)}, size=8)


@pytest.mark.parametrize("count", [7, 10, 21, 50])
def test_classes_and_speakers_are_balanced(count):
    chosen = order(corpus("c", per_class=12))[:count]
    label = Counter(name.split("/")[1].rstrip("0123456789") for name in chosen)
    assert max(label.values()) - min(label[name] for name in CLASSES) <= 1
    for name in CLASSES:
        numbers = (int(clip.removeprefix(f"c/{name}")) for clip in chosen if clip.startswith(f"c/{name}"))
        speakers = Counter(number % 4 for number in numbers)
        assert max(speakers.values(), default=0) - min((speakers[s] for s in range(4)), default=0) <= 1


def test_a_rare_class_is_taken_whole():
    clips = [*corpus("c", per_class=20, classes=("anger", "neutral")), *corpus("c", per_class=2, classes=("fear",))]
    assert sum("fear" in clip for clip in order(clips)[:12]) == 2


def test_official_test_partition_comes_first():
    clips = corpus("c", per_class=10, test=3)
    test = {clip.clip_id for clip in clips if clip.test}
    ordered = order(clips)
    assert set(ordered[: len(test)]) == test
    assert sorted(ordered) == sorted(clip.clip_id for clip in clips)


def test_ties_go_by_the_sha256_of_the_clip_id():
    clips = [Candidate(f"c/{number}", "anger") for number in range(30)]
    assert order(clips) == sorted((c.clip_id for c in clips), key=lambda i: hashlib.sha256(i.encode()).hexdigest())
    assert order(clips[::-1]) == order(clips)


def test_subsample_is_the_protocols():
    rng = np.random.default_rng(3)
    labels = {f"c/{number:05d}": CLASSES[min(6, int(rng.exponential(2)))] for number in range(20_000)}
    drawn = subsample(dict(sorted(labels.items(), reverse=True)))
    expected, protocol = set(), np.random.default_rng(0)
    ids = np.array(sorted(labels))
    gold = np.array([labels[i] for i in ids])
    for name in CLASSES:
        members = np.flatnonzero(gold == name)
        size = max(1, round(5000 * len(members) / len(ids)))
        expected |= set(ids[protocol.choice(members, size, replace=False)])
    assert drawn == expected
    assert abs(len(drawn) - 5000) <= 4


def test_subsample_of_a_small_set_is_the_set():
    labels = {"c/a": "anger", "c/b": "fear"}
    assert subsample(labels) == set(labels)
