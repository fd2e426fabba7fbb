"""Figures outside the training corpora: a planted memoriser, what nobody declares, and what compared systems share."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.scoring.report import text_report
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.training_overlap import DECLARED, OUTSIDE
from oruk_leaderboard.scoring.verification import verify
from tests.scored import made_columns, made_predictions, made_set

CARD = SystemCard(
    id="mine", name="mine", family="open", adapter="callable", source="made", training_corpora=("corpus0",)
)


@pytest.fixture(scope="module")
def gold():
    columns = made_columns(1400, speakers=30, corpora=3)
    rng = np.random.default_rng(5)
    return gold_of_set(made_set({**columns, "label": rng.integers(0, 7, 1400).tolist()}))


@pytest.fixture(scope="module")
def memoriser(gold):
    """Right on every clip of corpus0, at chance elsewhere."""
    seen = np.array([clip_id.startswith("corpus0/") for clip_id in gold.clip_ids])
    chance = np.random.default_rng(6).integers(0, 7, len(seen))
    return replace(made_predictions(gold), labels=np.where(seen, gold.labels, chance))


def slices(result):
    return {row["value"]: row for row in result.evaluation["slices"]["training"]}


def test_a_memoriser_is_right_on_what_it_has_seen_and_at_chance_outside(gold, memoriser):
    rows = slices(score(memoriser, gold=gold, system=CARD, n_boot=200))
    assert rows[DECLARED]["accuracy"] == rows[DECLARED]["macro_f1"] == 1.0
    assert rows[OUTSIDE]["accuracy"] == pytest.approx(1 / 7, abs=0.04)
    low, high = rows[OUTSIDE]["intervals"]["macro_f1"]
    assert low < rows[OUTSIDE]["macro_f1"] < high < 0.25
    assert rows[DECLARED]["n"] + rows[OUTSIDE]["n"] == len(gold.clip_ids)


def test_excluding_a_corpus_oneself_is_the_same(gold, memoriser):
    declared = score(memoriser, gold=gold, system=CARD, n_boot=200)
    by_hand = score(memoriser, gold=gold, exclude_corpora=["corpus0"], n_boot=200)
    assert slices(by_hand) == slices(declared)
    assert by_hand.record.system.training_corpora == ["corpus0"]
    with pytest.raises(PredictionError, match="no clip of this corpus"):
        score(memoriser, gold=gold, exclude_corpora=["corpus7"])


def test_the_ledger_declares_for_the_systems_that_it_knows(gold, memoriser):
    result = score(memoriser, gold=gold, system="hubert-large-superb-er", n_boot=50)
    assert result.record.system.training_corpora == ["iemocap"]
    assert list(slices(result)) == [OUTSIDE]


def test_without_a_declaration_one_line_says_so(gold, memoriser):
    undeclared = score(memoriser, gold=gold, system=replace(CARD, training_corpora=None), n_boot=50)
    assert "training" not in undeclared.evaluation["slices"]
    assert undeclared.record.system.training_corpora is None
    lines = [line for line in text_report(undeclared.to_dict()).splitlines() if line.startswith("Outside training")]
    assert len(lines) == 1 and "unknown" not in lines[0].split(":")[0]
    shown = text_report(score(memoriser, gold=gold, system=CARD, n_boot=50).to_dict())
    assert "macro-F1, outside training" in shown and "are of no corpus that is declared" in " ".join(shown.split())


def test_none_declared_is_not_undeclared(gold, memoriser):
    result = score(memoriser, gold=gold, system=replace(CARD, training_corpora=()), n_boot=50)
    assert list(slices(result)) == [OUTSIDE] and slices(result)[OUTSIDE]["n"] == len(gold.clip_ids)
    everything = score(memoriser, gold=gold, exclude_corpora=["corpus0", "corpus1", "corpus2"], n_boot=50)
    assert list(slices(everything)) == [DECLARED]
    assert "every clip of the set" in " ".join(text_report(everything.to_dict()).split())


def test_a_record_with_the_slice_is_verified(gold, memoriser, tmp_path):
    record = score(memoriser, gold=gold, system=CARD, n_boot=50, snapshot="2026-11-30").to_dict()
    assert verify(record).ok
    record["evaluation"]["slices"]["training"][0]["accuracy"] = 0.5
    assert not verify(record).ok


def test_compare_ranks_outside_what_any_system_has_declared(tmp_path, gold, memoriser, capsys):
    rows = [["clip_id", "label", "corpus", "speaker"]]
    speaker = gold.attributes["speaker"]
    for at, clip_id in enumerate(gold.clip_ids):
        corpus = {"corpus0": "iemocap", "corpus1": "emodb", "corpus2": "nemo"}[clip_id.partition("/")[0]]
        rows.append([clip_id, gold.classes[gold.labels[at]], corpus, speaker.values[speaker.codes[at]]])
    write(tmp_path / "gold.csv", rows)
    other = np.random.default_rng(8).integers(0, 7, len(gold.labels))
    for name, labels in (("hubert-large-superb-er", memoriser.labels), ("guess", other)):
        written = [[clip_id, gold.classes[label]] for clip_id, label in zip(gold.clip_ids, labels, strict=True)]
        write(tmp_path / f"{name}.csv", [["clip_id", "label"], *written])
    verb = ["compare", *(str(tmp_path / f"{name}.csv") for name in ("hubert-large-superb-er", "guess"))]
    verb += ["--gold", str(tmp_path / "gold.csv"), "--n-boot", "50"]
    assert main([*verb, "--json"]) == 0
    outside = json.loads(capsys.readouterr().out)["outside_training"]
    assert outside["corpora"] == ["iemocap"] and outside["n"] < len(gold.clip_ids)
    assert all(standing["figures"]["accuracy"] < 0.25 for standing in outside["standings"])
    assert main(verb) == 0
    assert "no corpus that a compared system has declared (iemocap)" in " ".join(capsys.readouterr().out.split())
    assert main(["compare", str(tmp_path / "guess.csv"), *verb[3:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outside_training"] is None


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
