"""The scorer: figures against scikit-learn, failures, slices, fair subset, intervals, records that verify."""

import json
import re

import numpy as np
import pytest
from sklearn import metrics as sk

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.answers.predictions import ABSTAINED, ERROR, MISSING, OK, REFUSED, UNRECOGNISED, Predictions
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError, RecordError
from oruk_leaderboard.records.record import Record
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.scoring.report import WIDTH, latex_report, text_report
from oruk_leaderboard.scoring.sampling import clustering
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.tally import Tally, count
from oruk_leaderboard.scoring.verification import verify
from tests.phases import Phases
from tests.scored import FAST, gold_of, made_columns, made_predictions, made_set, said


@pytest.mark.parametrize("seed", range(5))
def test_figures_agree_with_scikit_learn(seed):
    gold = gold_of_set(made_set(made_columns(300 + 50 * seed, seed=seed)))
    predictions = made_predictions(gold, right=0.2 * seed, seed=seed)
    seen = Phases()
    found = score(predictions, gold=gold, progress=seen, **FAST).evaluation
    assert seen.done == {"scoring": (4, 4)}
    y, p, all_classes = gold.labels, predictions.labels, list(range(7))
    expected = {
        "accuracy": sk.accuracy_score(y, p),
        "macro_f1": sk.f1_score(y, p, labels=all_classes, average="macro", zero_division=0),
        "uar": sk.balanced_accuracy_score(y, p),
        "weighted_f1": sk.f1_score(y, p, labels=all_classes, average="weighted", zero_division=0),
        "micro_f1": sk.f1_score(y, p, labels=all_classes, average="micro", zero_division=0),
        "mcc": sk.matthews_corrcoef(y, p),
        "kappa": sk.cohen_kappa_score(y, p),
    }
    assert found["figures"] == pytest.approx(expected, abs=1e-12)
    per_class = sk.precision_recall_fscore_support(y, p, labels=all_classes, zero_division=0)
    for at, name in enumerate(CLASSES):
        row = found["per_class"][name]
        assert [row["precision"], row["recall"], row["f1"], row["support"]] == pytest.approx(
            [column[at] for column in per_class], abs=1e-12
        )
    counts = np.array(found["confusion"]["counts"])
    assert (counts[:, :7] == sk.confusion_matrix(y, p, labels=all_classes)).all()


def test_class_scores_agree_with_scikit_learn():
    gold = gold_of_set(made_set())
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(7), len(gold.labels))
    found = score(said(scores.argmax(1), scores=scores), gold=gold, **FAST).evaluation["class_scores"]["figures"]
    assert found["log_loss"] == pytest.approx(sk.log_loss(gold.labels, scores, labels=range(7)), abs=1e-12)
    assert found["top2"] == pytest.approx(sk.top_k_accuracy_score(gold.labels, scores, k=2, labels=range(7)), abs=1e-12)
    brier = ((scores - np.eye(7)[gold.labels]) ** 2).sum(axis=1).mean()
    assert found["brier"] == pytest.approx(brier, abs=1e-12)


def test_figures_of_part_of_the_clips_say_so_and_whose_label_is_not_on_top():
    gold = gold_of_set(made_set())
    scores = np.eye(7)[gold.labels]
    scores[300:] = np.nan
    labels = gold.labels.copy()
    labels[:30] = (labels[:30] + 1) % 7
    result = score(said(labels, scores=scores), gold=gold, **FAST)
    found = result.evaluation["class_scores"]
    assert (found["n"], found["label_not_top"]) == (300, 30)
    assert str(found["figures"]["log_loss"]) == "0.0" and found["intervals"]["log_loss"] is None
    text = " ".join(text_report(result.to_dict()).split())
    assert re.search(r"log loss[^,]*, 300 clips 0\.0000 none", text)
    assert re.search(r"top-2 accuracy, 300 clips 1\.0000 0\.\d+ to 1\.0000", text)
    assert "not the class with the highest score in 10.0% of the clips with scores" in text


GOLDEN = [
    # gold, said, status, on_error, accuracy, macro-F1 over the seven classes
    ([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], None, "neutral", 1.0, 1.0),
    ([0, 0, 1, 1], [0, 1, 1, 1], None, "neutral", 0.75, (2 / 3 + 4 / 5) / 7),
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, REFUSED, OK, ERROR], "neutral", 0.75, (2 / 3 + 4 / 5) / 7),
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, REFUSED, OK, ERROR], "wrong", 0.5, (2 / 3 + 2 / 3) / 7),
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, MISSING, OK, OK], "neutral", 1.0, 2 / 7),
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, MISSING, OK, OK], "wrong", 0.75, (2 / 3 + 1) / 7),
    # An answer that cannot be parsed is a failure like a refusal (protocol 0.1.0).
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, ABSTAINED, ABSTAINED, OK], "neutral", 0.75, (2 / 3 + 4 / 5) / 7),
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, ABSTAINED, ABSTAINED, OK], "wrong", 0.5, (2 / 3 + 2 / 3) / 7),
    # A label that names no class is wrong under either rule: a made-up label buys nothing on neutral clips.
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, UNRECOGNISED, UNRECOGNISED, OK], "neutral", 0.5, (2 / 3 + 2 / 3) / 7),
    ([6, 6, 0, 0], [6, 6, 0, 0], [OK, UNRECOGNISED, UNRECOGNISED, OK], "wrong", 0.5, (2 / 3 + 2 / 3) / 7),
]


@pytest.mark.parametrize(("gold", "labels", "status", "on_error", "accuracy", "macro_f1"), GOLDEN)
def test_golden_triples(gold, labels, status, on_error, accuracy, macro_f1):
    result = score(said(labels, status), gold=gold_of(gold), on_error=on_error, **FAST)
    assert (result.accuracy, result.macro_f1) == pytest.approx((accuracy, macro_f1), abs=1e-12)


def test_stray_answer_does_not_become_a_class():
    # The public harness gives 0.874: the stray value is averaged in as an eighth class.
    gold = gold_of(np.arange(700) % 7)
    status = np.zeros(700, np.int8)
    status[0] = UNRECOGNISED
    result = score(said(gold.labels, status), gold=gold, **FAST)
    low, high = result.evaluation["intervals"]["macro_f1"]
    # Headline and interval are over the same seven classes.
    assert result.macro_f1 > 0.998 and low <= result.macro_f1 <= high


@pytest.mark.parametrize("label", [9, -1, None, "anger"])
def test_set_with_a_label_that_is_no_class_is_refused(label):
    with pytest.raises(PredictionError, match=r"c/0001: the set's label is not a class"):
        gold_of([0, label, 2])


def test_headline_is_over_seven_classes_and_says_how_many_the_gold_labels_have():
    labels = np.arange(60) % 6
    found = score(said(labels), gold=gold_of(labels), **FAST).evaluation
    assert found["figures"]["macro_f1"] == pytest.approx(6 / 7, abs=1e-12)
    assert (found["gold_classes"], found["macro_f1_present"]) == (6, 1.0)
    one = np.where(np.arange(60) == 0, 6, labels)
    assert score(said(one), gold=gold_of(labels), **FAST).macro_f1 == pytest.approx(0.857, abs=0.01)


def test_slices_are_over_their_own_classes_and_none_is_dropped():
    # 350 clips of two classes, 347 right: the harness averages over five classes and says 0.398.
    labels = np.concatenate([np.arange(350) % 2, np.arange(350) % 7, np.zeros(99, int)])
    predicted = labels.copy()
    predicted[:3] = [3, 4, 5]
    languages = ["bb"] * 350 + ["aa"] * 350 + [None] * 99
    rows = score(said(predicted), gold=gold_of(labels, language=languages), **FAST).evaluation["slices"]["language"]
    named = {row["value"]: row for row in rows}
    assert list(named) == ["aa", "bb", "unknown"]
    assert (named["bb"]["classes"], named["aa"]["classes"], named["unknown"]["classes"]) == (2, 7, 1)
    assert named["bb"]["macro_f1"] == pytest.approx(
        sk.f1_score(labels[:350], predicted[:350], labels=[0, 1], average="macro"), abs=1e-12
    )
    assert (named["unknown"]["n"], named["unknown"]["small"], named["aa"]["small"]) == (99, True, False)
    assert all(low <= row["macro_f1"] <= high or row["macro_f1"] == 1 for row in rows for low, high in
               [row["intervals"]["macro_f1"]])  # fmt: skip


def test_every_attribute_is_sliced_and_speakers_on_request():
    gold = gold_of_set(made_set())
    predictions = made_predictions(gold)
    found = score(predictions, gold=gold, **FAST).evaluation["slices"]
    assert set(found) == {"language", "corpus", "elicitation", "gender", "duration", "class"}
    for rows in found.values():
        assert sum(row["n"] for row in rows) == 400
    by_class = {row["value"]: row for row in found["class"]}
    recall = sk.recall_score(gold.labels, predictions.labels, average=None)
    assert [by_class[name]["accuracy"] for name in CLASSES] == pytest.approx(list(recall), abs=1e-12)
    speakers = score(predictions, gold=gold, slices=("speaker",), **FAST).evaluation["slices"]["speaker"]
    assert len(speakers) == 12
    # A speaker is one cluster: nobody could tell how far another speaker would be from it.
    assert {row["clusters"] for row in speakers} == {1}
    assert all(row["intervals"] == {"accuracy": None, "macro_f1": None} for row in speakers)


def test_fair_subset():
    gold = gold_of_set(made_set())
    able = ("anger", "happiness", "sadness", "neutral")
    card = SystemCard(id="four", name="four", family="open", adapter="python", source="test", classes=able)
    predictions = made_predictions(gold)
    mapped = np.where(np.isin(predictions.labels, [3, 4, 5]), 6, predictions.labels)
    result = score(said(mapped), gold=gold, system=card, **FAST)
    fair = result.evaluation["fair_subset"]
    keep = np.isin(gold.labels, [0, 1, 2, 6])
    assert (fair["n"], fair["classes"]) == (int(keep.sum()), 4)
    assert fair["macro_f1"] == pytest.approx(
        sk.f1_score(gold.labels[keep], mapped[keep], labels=[0, 1, 2, 6], average="macro"), abs=1e-12
    )
    assert fair["macro_f1"] > result.macro_f1
    assert result.findings == ()
    assert any("does not declare" in finding for finding in score(predictions, gold=gold, system=card, **FAST).findings)
    assert score(predictions, gold=gold, **FAST).evaluation["fair_subset"] is None


def test_run_that_failed_everywhere_is_invalid():
    gold = gold_of([0, 6, 6])
    with pytest.raises(PredictionError, match=r"invalid.*refused 1, error 0, abstained 1, missing 1"):
        score(said([0, 0, 0], [REFUSED, ABSTAINED, MISSING]), gold=gold)
    with pytest.raises(PredictionError, match=r"'LABEL_1' 2, 'LABEL_0' 1.*\[native_labels\].*--system CARD\.toml"):
        score(said([0, 0, 0], [UNRECOGNISED] * 3, spellings={"LABEL_1": 2, "LABEL_0": 1}), gold=gold)


def test_findings_name_failures_and_spellings():
    gold = gold_of([0, 1, 2, 6, 6])
    predictions = said([0, 1, 2, 6, 6], [OK, ABSTAINED, ERROR, MISSING, UNRECOGNISED], spellings={"feliz": 1})
    findings = score(predictions, gold=gold, **FAST).findings
    assert findings == (
        "clips without a usable answer: 1 error, 1 abstained, 1 missing",
        "clips with an unrecognised label, counted as wrong: 1",
        "labels or answers that name no class: 'feliz' 1",
    )


def test_a_partial_set_is_placed_as_a_hint_unless_that_is_not_wanted():
    columns = made_columns()
    for partial, asked, given_ in ((False, False, True), (True, False, False), (True, True, True)):
        clips = made_set(columns, partial=partial)
        result = score(made_predictions(gold_of_set(clips)), clips=clips, partial=asked, **FAST)
        orientation = result.evaluation["orientation"]
        assert (orientation is not None) == given_
        assert result.record.scored_on == ("partial" if partial else "rebuilt_open")
        assert result.findings == ()
        if orientation:
            assert "equivalent of the original 64,384 clips, not the original" in orientation["text"]
            assert ("Partial set" in orientation["text"]) == partial
            assert orientation["scored_on"] == "full_set"


def test_one_line_says_what_a_partial_set_lacks():
    from oruk_leaderboard.scoring.report import short_report, text_report

    columns = made_columns()
    columns["label"] = [0 if label == 3 else label for label in columns["label"]]
    result = score(made_predictions(gold_of_set(made_set(columns))), clips=made_set(columns, partial=True), **FAST)
    for report in (short_report, text_report):
        text = " ".join(report(result.to_dict(), (), figures=("macro_f1",)).split())
        assert "Partial set, so only a hint: its macro-F1" in text
        assert "Partial set: it lacks every clip of corpus9 and the classes fear." in text


def test_set_without_a_profile_is_partial():
    clips = made_set(profile=None, partial=True)
    assert score(made_predictions(gold_of_set(clips)), clips=clips, **FAST).record.scored_on == "partial"


def test_subsample_is_pinned_by_clip_id(monkeypatch):
    from oruk_leaderboard import manifest

    gold = gold_of_set(made_set())
    rows = [
        manifest.ManifestRow(clip, clip.partition("/")[0], subsample_open=at % 4 == 0, subsample_full=at % 4 == 1)
        for at, clip in enumerate(gold.clip_ids)
    ]
    monkeypatch.setattr(
        manifest.files, "load_manifest", lambda version: manifest.Manifest.of(rows, {}, version=version)
    )
    result = score(made_predictions(gold.subset(np.arange(400) % 4 == 0)), gold=gold, subsample="5k", **FAST)
    assert (result.evaluation["n"], result.record.scored_on) == (100, "rebuilt_subsample")
    assert result.evaluation["orientation"]["scored_on"] == "subsample_5k"
    # One pinned clip that is not in the set makes the subsample partial; a clip outside it does not.
    rows.append(manifest.ManifestRow("corpus9/x", "corpus9", subsample_open=True))
    result = score(made_predictions(gold.subset(np.arange(400) % 4 == 0)), gold=gold, subsample="5k", **FAST)
    assert result.record.scored_on == "partial" and "Partial set" in result.evaluation["orientation"]["text"]
    rows[:] = [rows[-1]]
    with pytest.raises(PredictionError, match="no clip of the subsample"):
        score(made_predictions(gold), gold=gold, subsample="5k", **FAST)


def scored_with_everything():
    gold = gold_of_set(made_set())
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(7), 400)
    status = np.where(np.arange(400) % 29 == 0, np.arange(400) % 5, 0).astype(np.int8)
    scores[status != OK] = np.nan
    labels = np.where(status == OK, np.nan_to_num(scores).argmax(1), -1)
    card = SystemCard(id="s", name="s", family="open", adapter="python", source="test", classes=CLASSES[:6])
    return score(Predictions(labels, status, scores, {"eh": 3}), gold=gold, system=card, **FAST)


def test_record_is_valid_and_verifies_from_its_own_counts(tmp_path):
    document = json.loads(json.dumps(scored_with_everything().to_dict()))
    assert Record.from_dict(document).to_dict() == document
    (tmp_path / "record.json").write_text(json.dumps(document), encoding="utf-8")
    assert verify(tmp_path / "record.json").ok
    result = verify(document)
    assert result.ok and result.figures > 300
    for path, value in (
        (("macro_f1",), "0.9999"),
        (("scored_on",), "rebuilt_full"),
        (("evaluation", "figures", "macro_f1"), 0.99),
        (("evaluation", "intervals", "accuracy"), [0.1, 0.2]),
        (("evaluation", "slices", "corpus", 0, "n"), 7),
        (("evaluation", "counts", "ok"), 3),
        (("evaluation", "class_scores", "figures", "ece"), 0.5),
        (("evaluation", "fair_subset", "accuracy"), 0.5),
        (("evaluation", "confusion_by_cluster", "counts", 0, 2), 99),
    ):
        forged = json.loads(json.dumps(document))
        place = forged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        assert not verify(forged).ok, path


def test_verify_needs_counts():
    published = {**scored_with_everything().to_dict(), "evaluation": None}
    with pytest.raises(RecordError, match="nothing to recompute"):
        verify(published)
    broken = json.loads(json.dumps(scored_with_everything().to_dict()))
    broken["evaluation"]["confusion_by_cluster"]["groups"][0][1] = 99
    assert "its groups use" in verify(broken).findings[0]


def test_tally_survives_json():
    gold = gold_of_set(made_set())
    tally = count(gold, made_predictions(gold), drawn=clustering(gold), slices=("language", "gender"))
    again = Tally.from_dict(json.loads(json.dumps(tally.to_dict())))
    assert (again.counts == tally.counts).all() and (again.cluster == tally.cluster).all()
    assert again.clusters == tally.clusters and again.counts.sum() == 400


def test_text_report_fits_a_terminal():
    result = scored_with_everything()
    text = text_report(result.to_dict(), result.findings)
    assert max(map(len, text.splitlines())) <= WIDTH
    for part in ("macro-F1", "gold \\ said", "Finding: ", "ECE", "6 declared classes", "missing", *CLASSES):
        assert part in text


@pytest.mark.parametrize("on_error", ["neutral", "wrong"])
def test_report_says_how_failures_and_unrecognised_labels_count(on_error):
    # Two neutral clips: an abstention counts as the report says, an unrecognised label is wrong under both rules.
    status = [OK, ABSTAINED, UNRECOGNISED]
    result = score(said([6, 6, 6], status), gold=gold_of([6, 6, 6]), on_error=on_error, **FAST)
    assert result.accuracy == pytest.approx((2 if on_error == "neutral" else 1) / 3)
    text = " ".join(text_report(result.to_dict(), result.findings).split())
    assert f"failures count as {on_error}, unrecognised as wrong" in text


def test_latex_report_escapes():
    document = scored_with_everything().to_dict()
    document["system"]["name"] = "a_b & 50%"
    assert r"a\_b \& 50\%" in latex_report(document)
