"""Result files of the public harness: positions become clips only where its gold labels are the set's."""

import json

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import MISSING
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.scoring.scorer import score
from tests.scored import made_columns, made_set


@pytest.fixture
def clips():
    return made_set(made_columns(6))


def arrays(clips, **changes):
    labels = gold_of_set(clips).labels
    return {"preds": labels.copy(), "labels": labels.copy(), "order": np.arange(6), **changes}


def saved(tmp_path, **named):
    np.savez(tmp_path / "model.npz", **named)
    return tmp_path / "model.npz"


def test_whole_and_capped_results(tmp_path, clips):
    evaluation = score(saved(tmp_path, **arrays(clips)), clips=clips, n_boot=5).evaluation
    assert (evaluation["counts"]["ok"], evaluation["figures"]["accuracy"]) == (6, 1.0)
    part = {name: array[[1, 4]] for name, array in arrays(clips).items()}
    result = score(saved(tmp_path, **part), clips=clips, n_boot=5)
    assert result.evaluation["counts"]["missing"] == 4
    from oruk_leaderboard.answers.harness import read_harness_result

    gold = gold_of_set(clips)
    read = read_harness_result(tmp_path / "model.npz", gold.labels, gold.classes)
    assert np.flatnonzero(read.status != MISSING).tolist() == [1, 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": np.array([9, 9, 9, 9, 9, 9])}, "6 gold labels are not those of the set"),
        ({"order": np.arange(1, 7)}, "positions are not those of the set"),
        ({"order": np.zeros(6, int)}, "positions are not those of the set"),
        ({"preds": np.array([0, 1, 7, 3, 4, 5])}, r"preds\[2\]: the prediction is not a class.*found 7"),
        ({"preds": np.array([0, -1, 2, 3, 4, 5])}, r"preds\[1\]: the prediction is not a class.*found -1"),
        ({"preds": np.linspace(0, 5, 6) + 0.9}, "not indices of one length"),
        ({"preds": np.array([True] * 6)}, "not indices of one length"),
        ({"preds": np.arange(5)}, "not indices of one length"),
        ({"preds": np.array(["sad"] * 6, object)}, "nothing pickled"),
    ],
)
def test_faults(tmp_path, clips, changes, message):
    with pytest.raises(PredictionError, match=message):
        score(saved(tmp_path, **arrays(clips, **changes)), clips=clips)


def test_positions_without_gold_labels_are_refused(tmp_path, clips):
    with pytest.raises(PredictionError, match=r"can be matched with clips.*no labels, order"):
        score(saved(tmp_path, preds=np.arange(6), done=np.ones(6, bool), sub_idx=np.arange(6)), clips=clips)


def test_a_real_result_of_the_harness(tmp_path, monkeypatch):
    """The harness itself runs on a set in its layout, and its file scores here as it scored there."""
    models = pytest.importorskip("oruk_bench.adapters.open_models", reason="oruk-bench is not installed")
    from tests.made_corpora import mixed, rebuild, spec

    rebuild(mixed(tmp_path, 14), spec(tmp_path), tmp_path / "set", layout="harness")

    class Loud:
        out_map = (0, 6)

        def __init__(self, *_):
            pass

        def predict(self, audios):
            return [0 if np.abs(wave).max() > 0.2 else 6 for wave in audios]

    monkeypatch.setitem(models.ADAPTERS, "made", Loud)
    models.run_eval({"name": "made", "adapter": "made", "model_id": "-"}, tmp_path / "set", out_dir=tmp_path)
    theirs = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    ours = score(tmp_path / "made.npz", clips=tmp_path / "set", n_boot=5, cluster="clip").evaluation["figures"]
    assert ours["accuracy"] == pytest.approx(theirs["accuracy"], abs=1e-12)
