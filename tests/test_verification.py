"""Verification: what a record's own parts must have in common, tampered records, and proof from the answers."""

import copy
import json
import random
from typing import Any

import numpy as np
import pytest

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import OK, Predictions
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.scoring.bounds import Bin, brier_range, log_loss_range
from oruk_leaderboard.scoring.class_scores import evaluate_scores
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.tally import Tally
from oruk_leaderboard.scoring.verification import verify
from tests.scored import made_set


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A record with failures, class scores, a fair subset and every slice."""
    gold = gold_of_set(made_set())
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(7), 400)
    status = np.where(np.arange(400) % 29 == 0, np.arange(400) % 5, 0).astype(np.int8)
    scores[status != OK] = np.nan
    labels = np.where(status == OK, np.nan_to_num(scores).argmax(1), -1)
    card = SystemCard(id="s", name="s", family="open", adapter="python", source="test", classes=CLASSES[:6])
    record = score(Predictions(labels, status, scores, {"eh": 2}), gold=gold, system=card, n_boot=10)
    return json.loads(json.dumps(record.to_dict()))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, (dict, list)) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, part in items for leaf in leaves(part, (*path, key))]
    return [path]


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    forged = copy.deepcopy(document)
    place = forged
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return forged


def at(document: dict[str, Any], path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def edited(value: Any, rng: random.Random) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 7])
    if isinstance(value, float):
        return value + rng.choice([-0.1, 0.001, 1e-6])
    if isinstance(value, str):
        return rng.choice([value + "x", value[:-1] + "y", value.swapcase() + "1"])
    return rng.choice(["x", 1])


def test_a_true_record_is_consistent_and_says_what_it_only_states(document):
    result = verify(document)
    assert (result.ok, result.status, result.findings, result.mismatches) == (True, "consistent", (), ())
    assert result.figures > 400
    for part in ("system", "snapshot", "evaluation.class_scores.by_cluster", "evaluation.set_digest"):
        assert part in result.stated
    for part in ("accuracy", "evaluation.figures", "evaluation.slices", "evaluation.counts.ok", "evaluation.seed"):
        assert part not in result.stated


def test_every_edit_of_one_value_is_found_or_reported_as_stated(document):
    rng = random.Random(10)
    kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in leaves(document):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), []).append(path)
    paths = [rng.choice(group) for group in kinds.values()]
    paths += rng.sample(leaves(document), 40)
    missed, found = [], 0
    for path in paths:
        value = edited(at(document, path), rng)
        result = verify(changed(document, path, value))
        found += not result.ok
        dotted = ".".join(map(str, path))
        if result.ok and not any(f"{dotted}.".startswith(f"{part}.") for part in result.stated):
            missed.append((dotted, value))
    assert not missed
    assert len(paths) > 200 and found > len(paths) / 2


def test_a_broken_structure_is_a_finding_and_never_a_traceback(document):
    rng = random.Random(11)
    paths = leaves(document)
    inner = sorted({path[:length] for path in paths for length in range(1, len(path))}, key=str)
    for path in rng.sample(paths, 25) + rng.sample(inner, 25):
        for value in rng.sample(("x", -1, 10**30, 0.5, None, [], {}, [[]], {"a": [1]}), 4):
            verify(changed(document, path, value))
        *parents, last = path
        forged = copy.deepcopy(document)
        place = at(forged, tuple(parents))
        del place[last]
        verify(forged)


@pytest.mark.parametrize(
    ("path", "value", "finding"),
    [
        ("class_scores.top2_hits", 1, "top-1 hits"),
        ("class_scores.log_loss_sum", 3.9, "log_loss_sum is 3.9; the bins allow"),
        ("class_scores.brier_sum", 0.4, "brier_sum is 0.4; the bins allow"),
        ("class_scores.brier_sum", 799.0, "brier_sum is 799.0; the bins allow"),
        ("class_scores.reliability.count.7", 400, "clips of"),
        ("class_scores.reliability.edges.3", 0.21, "15 equal bins"),
        ("class_scores.reliability.confidence.6", 0.6, "is outside"),
        ("class_scores.reliability.accuracy.6", 0.123456, "not a whole number"),
        ("class_scores.reliability.accuracy.0", 0.5, "has no clips"),
        ("class_scores.reliability.accuracy", [0.0], "one entry per bin"),
        ("class_scores.n", 401, "389 clips with scores of 401"),
        ("spellings", {"zzz": 999}, "999 clips have an unknown spelling, but only"),
        ("classes", list("abcdefg"), "the classes require a, b, c"),
        ("confusion_by_cluster.outcomes.6", "neutra1", "confusion_by_cluster.outcomes is"),
        ("confusion_by_cluster.clusters.1", "corpus0/00", "has a name twice: corpus0/00"),
        ("confusion_by_cluster.attributes.corpus", ["corpus0", "corpus1", "corpus2", "corpus3"], "its groups use 3"),
        ("confusion_by_cluster.groups.0.0", 0.5, "not lists of integers"),
        ("absent", ["corpus1"], "absent corpora have clips: corpus1"),
        ("n_boot", 10**12, "too many draws"),
    ],
)
def test_what_contradicts_itself_is_named(document, path, value, finding):
    keys = tuple(int(key) if key.isdigit() else key for key in path.split("."))
    result = verify(changed(document, ("evaluation", *keys), value))
    assert result.status == "contradicted"
    assert finding in "; ".join(result.findings)


def test_invented_class_scores_are_found(document):
    """Perfect calibration and two tiny losses beside an accuracy of one in seven."""
    forged = copy.deepcopy(document)
    scores = forged["evaluation"]["class_scores"]
    diagram, n = scores["reliability"], scores["n"]
    diagram["confidence"] = list(diagram["accuracy"])
    scores |= {"top2_hits": n, "log_loss_sum": 0.01 * n, "brier_sum": 0.001 * n}
    scores["figures"] = {"top2": 1.0, "log_loss": 0.01, "brier": 0.001, "ece": 0.0}
    assert any("is outside" in finding for finding in verify(forged).findings)


def bins_of(gold: Any, scores: Any, n_bins: int) -> list[Bin]:
    found, k = metrics.reliability(gold, scores, n_bins=n_bins), scores.shape[1]
    rows = zip(found.count, found.accuracy, found.confidence, found.edges[:-1], found.edges[1:], strict=True)
    return [
        Bin(round(n * right), int(n) - round(n * right), float(mean), max(float(low), 1 / k), float(high))
        for n, right, mean, low, high in rows
        if n
    ]


def test_losses_lie_within_what_their_bins_allow():
    rng = np.random.default_rng(4)
    for _ in range(200):
        k, n = int(rng.integers(2, 9)), int(rng.integers(1, 40))
        scores = rng.dirichlet(np.full(k, 10 ** rng.uniform(-2, 2)), n)
        right = rng.random(n) < rng.random()
        gold = np.where(right, scores.argmax(1), rng.integers(0, k, n))
        bins = bins_of(gold, scores, int(rng.integers(1, 20)))
        for loss, allowed in ((metrics.log_losses, log_loss_range), (metrics.brier_scores, brier_range)):
            low, high = allowed(bins, k)
            assert low - 1e-9 <= loss(gold, scores).sum() <= high + 1e-9


@pytest.mark.parametrize(
    ("scores", "gold", "loss", "end"),
    [
        # The gold class as high as it can be, the rest spread evenly: smallest losses.
        ([0.4, 0.3, 0.3], 0, "brier", 0),
        ([0.4, 0.4, 0.2], 1, "brier", 0),
        ([0.4, 0.4, 0.2], 1, "log_loss", 0),
        ([0.7, 0.3, 0.0], 1, "log_loss", 0),
        # All the rest on one wrong class: largest losses.
        ([0.7, 0.3, 0.0], 0, "brier", 1),
        ([0.7, 0.3, 0.0], 2, "brier", 1),
    ],
)
def test_the_bounds_are_reached(scores, gold, loss, end):
    row = np.array([scores])
    top = max(scores)
    bins = [Bin(int(gold == 0), int(gold != 0), top, top, top)]
    allowed = {"brier": brier_range, "log_loss": log_loss_range}[loss](bins, 3)
    losses = {"brier": metrics.brier_scores, "log_loss": metrics.log_losses}
    assert allowed[end] == pytest.approx(losses[loss](np.array([gold]), row)[0], abs=1e-8)


@pytest.fixture
def files(tmp_path):
    """Gold labels, predictions with class scores, and the record of both."""
    gold = gold_of_set(made_set())
    rng = np.random.default_rng(2)
    rows = rng.dirichlet(np.ones(7), 400).round(6)
    names = [[part.values[code] for code in part.codes] for part in gold.attributes.values()]
    lines = ["clip_id,label," + ",".join(gold.attributes)]
    lines += [
        ",".join([clip, CLASSES[label], *(value.split("/")[-1] for value in values)])
        for clip, label, *values in zip(gold.clip_ids, gold.labels, *names, strict=True)
    ]
    (tmp_path / "gold.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ["clip_id,label," + ",".join(CLASSES)]
    lines += [
        f"{clip},{CLASSES[row.argmax()]}," + ",".join(map(str, row))
        for clip, row in zip(gold.clip_ids, rows, strict=True)
    ]
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("p.csv", "gold.csv", "record.json")]
    assert main(["score", paths[0], "--gold", paths[1], "--n-boot", "30", "--out", paths[2]]) == 0
    return tmp_path


def test_answers_prove_a_record_and_class_scores_with_it(files, capsys):
    record, answers = files / "record.json", ["--predictions", str(files / "p.csv"), "--gold", str(files / "gold.csv")]
    capsys.readouterr()
    assert main(["verify", str(record)]) == 0
    text = capsys.readouterr().out
    assert "consistent" in text and "stated, not recomputed" in text and "--predictions FILE" in text
    assert main(["verify", str(record), *answers]) == 0
    assert "proven" in capsys.readouterr().out
    assert main(["verify", str(record), *answers, "--json"]) == 0
    proven = json.loads(capsys.readouterr().out)
    assert proven["status"] == "proven"
    assert not any(part.startswith("evaluation.class_scores") for part in proven["stated"])

    document = json.loads(record.read_text(encoding="utf-8"))
    scores = document["evaluation"]["class_scores"]
    moved = scores["by_cluster"]["brier"][0] * 0.001
    scores["by_cluster"]["brier"][0] += moved
    scores["by_cluster"]["brier"][1] -= moved
    tally = Tally.from_dict(document["evaluation"]["confusion_by_cluster"])
    scores |= evaluate_scores(scores, tally, alpha=0.05)
    record.write_text(json.dumps(document), encoding="utf-8")
    assert main(["verify", str(record)]) == 0, "within what the bins allow, so it is stated"
    capsys.readouterr()
    assert main(["verify", str(record), *answers, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "evaluation.class_scores.by_cluster.brier[0]" in [item["key"] for item in found["mismatches"]]


def test_other_answers_do_not_prove_a_record(files, capsys):
    other = files / "other.csv"
    lines = (files / "p.csv").read_text(encoding="utf-8").splitlines()
    other.write_text("\n".join([*lines[:200], *lines[200:][::-1]]) + "\n", encoding="utf-8")
    assert main(["verify", str(files / "record.json"), "--predictions", str(other), "--gold", f"{files}/gold.csv"]) == 1
    assert "predictions.sha256" in capsys.readouterr().out


def test_answers_and_clips_go_together(files, capsys):
    assert main(["verify", str(files / "record.json"), "--predictions", str(files / "p.csv")]) == 2
    assert "--clips DIR or --gold FILE" in capsys.readouterr().err
