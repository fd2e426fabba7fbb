"""Properties of scoring: what must not change a figure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oruk_leaderboard.answers.gold import Gold, gold_of_set
from oruk_leaderboard.answers.predictions import OK, UNRECOGNISED, read_predictions
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.scoring.sampling import clustering
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.tally import count, outcomes
from tests.scored import made_columns, made_predictions, made_set
from tests.test_scoring import gold_of, said


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.permutations(range(7)))
def test_order_of_rows_and_names_of_classes_do_not_matter(seed, order):
    rng = np.random.default_rng(seed)
    columns = made_columns(80, speakers=5, seed=seed)
    gold = gold_of_set(made_set(columns))
    predictions = made_predictions(gold, seed=seed)
    base = score(predictions, gold=gold, n_boot=20, slices=()).evaluation
    shuffled = rng.permutation(80)
    moved = gold_of_set(made_set({name: [values[at] for at in shuffled] for name, values in columns.items()}))
    again = score(said(predictions.labels[shuffled]), gold=moved, n_boot=20, slices=()).evaluation
    for key in ("figures", "intervals", "confusion_by_cluster"):
        assert again[key] == base[key]
    renamed = np.array(order)
    columns["label"] = renamed[gold.labels].tolist()
    other = score(said(renamed[predictions.labels]), gold=gold_of_set(made_set(columns)), n_boot=20, slices=())
    assert other.evaluation["figures"] == pytest.approx(base["figures"], abs=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_merging_clusters_keeps_figures_and_an_empty_class_counts_0(seed, speakers):
    columns = made_columns(80, speakers=8, seed=seed)
    gold = gold_of_set(made_set(columns))
    predictions = made_predictions(gold, seed=seed)
    base = score(predictions, gold=gold, n_boot=20).evaluation
    columns["speaker"] = [str(int(name) % speakers) for name in columns["speaker"]]
    merged = score(predictions, gold=gold_of_set(made_set(columns)), n_boot=20).evaluation
    for key in ("n", "figures", "per_class", "confusion"):
        assert merged[key] == base[key]
    wider = Gold(gold.clip_ids, gold.labels, (*CLASSES, "contempt"), gold.attributes, gold.origin)
    more = score(predictions, gold=wider, n_boot=20).evaluation
    assert more["figures"]["macro_f1"] == pytest.approx(base["figures"]["macro_f1"] * 7 / 8, abs=1e-12)
    assert more["macro_f1_present"] == base["macro_f1_present"]
    assert more["figures"]["accuracy"] == base["figures"]["accuracy"]


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_outcomes_partition_the_clips(seed):
    rng = np.random.default_rng(seed)
    gold = gold_of(rng.integers(0, 7, 50))
    status = rng.integers(0, 6, 50)
    predictions = said(rng.integers(0, 7, 50), status)
    codes = outcomes(gold, predictions)
    assert ((codes < 7) == (status == OK)).all() and ((codes == 7) == (status == UNRECOGNISED)).all()
    tally = count(gold, predictions, drawn=clustering(gold), slices=("duration",))
    assert tally.scored("neutral").sum() == tally.scored("wrong").sum() == 50


def test_file_order_does_not_matter(tmp_path):
    gold = gold_of([0, 1, 2, 3])
    lines = [f"{clip},{name}\n" for clip, name in zip(gold.clip_ids, CLASSES, strict=False)]
    (tmp_path / "a.csv").write_text("clip_id,label\n" + "".join(lines))
    (tmp_path / "b.csv").write_text("clip_id,label\n" + "".join(reversed(lines)))
    one, other = (read_predictions(tmp_path / name, gold.clip_ids) for name in ("a.csv", "b.csv"))
    assert one.labels.tolist() == other.labels.tolist() == [0, 1, 2, 3]
