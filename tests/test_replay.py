"""Receipts: answers are parsed again, and what cannot be trusted is refused or told."""

import json

import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError, PredictionError
from oruk_leaderboard.protocols import gold_of_protocol, load
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.scoring.replay import replay
from oruk_leaderboard.scoring.verification import verify
from tests.scored import made_columns, made_set

PROMPT = "c" * 64


def receipt(clip_id, answer, label, status="ok", **changes):
    base = {
        "clip_id": clip_id,
        "input_sha256": None,
        "prompt_sha256": PROMPT,
        "model": "fourier",
        "revision": None,
        "answer": answer,
        "label": label,
        "status": status,
        "time": "2026-09-07T12:00:00Z",
    }
    return {**base, **changes}


def write(tmp_path, rows, name="receipts.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def counted(evaluation):
    """Counts by status, zeros left out."""
    return {name: number for name, number in evaluation["counts"].items() if number}


def diagnostic_rows(selection="md"):
    """All right, but an abstention, an error, an answer saved wrongly, and one surprise."""
    gold = gold_of_protocol(load(f"crema-d-ieo-{selection}"))
    rows = [
        receipt(clip, f"The speaker sounds {gold.classes[label]}.", gold.classes[label])
        for clip, label in zip(gold.clip_ids, gold.labels, strict=True)
    ]
    rows[0] |= {"answer": "not sure", "label": None}
    rows[1] |= {"answer": None, "label": None, "status": "error"}
    rows[2] |= {"label": "anger"}
    rows[3] |= {"answer": "Surprise!", "label": "surprise"}
    return rows


def test_diagnostic_needs_no_set_and_keeps_failures_in_the_denominator(tmp_path):
    path = write(tmp_path, diagnostic_rows())
    result = replay(path, protocol="crema-d-ieo-md", n_boot=50)
    evaluation = result.score.evaluation
    assert counted(evaluation) == {"ok": 543, "error": 1, "abstained": 2}
    assert (evaluation["n"], evaluation["on_error"], evaluation["cluster"]) == (546, "wrong", "speaker")
    assert evaluation["figures"]["accuracy"] == pytest.approx(543 / 546, abs=1e-12)
    assert evaluation["orientation"] is None
    assert evaluation["receipts"]["changed"] == 1
    assert evaluation["receipts"]["models"] == {"fourier@unstated": 546}
    assert len(evaluation["confusion_by_cluster"]["clusters"]) == 91
    assert any("1 answers parse to another label" in finding for finding in result.score.findings)
    document = result.to_dict()
    assert document["protocol"] == {"name": "crema-d-ieo-md", "version": "1.0.0"}
    check(document, "record")
    assert verify(document).ok


def test_every_selection_is_its_own_protocol(tmp_path):
    path = write(tmp_path, diagnostic_rows("hi"))
    digests = set()
    for selection in ("lo", "md", "hi"):
        if selection == "hi":
            digests.add(replay(path, protocol="crema-d-ieo-hi", n_boot=5).score.evaluation["gold_digest"])
        else:
            with pytest.raises(PredictionError, match=r"receipts\.jsonl:1: the clip id is not in the set"):
                replay(path, protocol=f"crema-d-ieo-{selection}")
            digests.add(gold_of_protocol(load(f"crema-d-ieo-{selection}")).origin["gold_digest"])
    assert len(digests) == 3
    with pytest.raises(OrukError, match=r"no such protocol.*crema-d-ieo-md"):
        replay(path, protocol="crema-d")


def small(n=4):
    clips = made_set(made_columns(n))
    return clips, gold_of_set(clips)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip_id": "emodb/x"}, "not in the set"),
        ({"clip_id": 3}, "not in the set"),
        ({"status": "shy"}, "unknown status"),
        ({"status": None}, "unknown status"),
        ({"answer": None, "label": None}, "invalid receipt: answer"),
        ({"answer": 3}, "invalid receipt: answer"),
        ({"label": True}, "invalid receipt: label"),
        ({"model": ""}, "invalid receipt: model"),
        ({"time": None}, "invalid receipt: time"),
        ({"prompt_sha256": "x"}, "invalid receipt: prompt_sha256"),
        ({"input_sha256": "d" * 64}, "of another input"),
        ({"scores": {"happy": True}}, "invalid receipt: scores"),
    ],
)
def test_faults_name_their_line(tmp_path, change, message):
    clips, gold = small()
    path = write(
        tmp_path,
        [receipt(clip, "sad", "sad") for clip in gold.clip_ids[:1]]
        + [{**receipt(gold.clip_ids[1], "sad", "sad"), **change}],
    )
    with pytest.raises(PredictionError, match=rf"receipts\.jsonl:2: .*{message}"):
        replay(path, clips=clips)


def test_missing_key_is_named(tmp_path):
    clips, gold = small()
    row = receipt(gold.clip_ids[0], "sad", "sad")
    del row["prompt_sha256"]
    with pytest.raises(PredictionError, match="column is missing; expected prompt_sha256"):
        replay(write(tmp_path, [row]), clips=clips)


def test_failed_clip_may_be_asked_again_but_an_answer_counts_once(tmp_path):
    clips, gold = small()
    failed = receipt(gold.clip_ids[0], None, None, "error")
    good = receipt(gold.clip_ids[0], "sad", "sadness", input_sha256=f"{0:064x}")
    result = replay(write(tmp_path, [failed, good]), clips=clips, n_boot=5)
    assert result.score.evaluation["counts"]["ok"] == 1
    with pytest.raises(PredictionError, match=r"jsonl:2: a second receipt.*jsonl:1;"):
        replay(write(tmp_path, [good, failed]), clips=clips)


def test_rebuilt_clip_may_be_asked_again(tmp_path):
    clips, gold = small()
    old = receipt(gold.clip_ids[0], "happy", "happy", input_sha256="d" * 64)
    new = receipt(gold.clip_ids[0], "sad", "sad", input_sha256=gold.inputs[0])
    assert replay(write(tmp_path, [old, new]), clips=clips, n_boot=5).receipts.predictions.labels[0] == 2
    with pytest.raises(PredictionError, match="a second receipt"):
        replay(write(tmp_path, [new, old]), clips=clips)


def test_scores_of_native_labels(tmp_path):
    clips, gold = small()
    rows = [
        receipt(gold.clip_ids[0], None, "happy", scores={"other": 0.6, "happy": 0.3, "sad": 0.1}),
        receipt(gold.clip_ids[1], None, "other", scores={"other": 0.9, "<unk>": 0.1}),
    ]
    result = replay(write(tmp_path, rows), clips=clips, n_boot=5)
    assert result.receipts.predictions.labels.tolist() == [1, -1, -1, -1]
    assert counted(result.score.evaluation) == {"ok": 1, "abstained": 1, "missing": 2}
    assert result.score.evaluation["spellings"] == {"other": 1}
    mass = result.receipts.unmapped
    assert (mass.clips, mass.on_top) == (2, 2) and mass.share == pytest.approx(0.8)
    assert any("80.0% of the score mass" in finding for finding in result.score.findings)


def test_several_models_or_prompts_are_a_finding(tmp_path):
    clips, gold = small()
    rows = [
        receipt(gold.clip_ids[0], "sad", "sad"),
        receipt(gold.clip_ids[1], "sad", "sad", model="other", prompt_sha256="e" * 64),
    ]
    findings = replay(write(tmp_path, rows), clips=clips, n_boot=5).score.findings
    assert any("2 models or revisions" in finding for finding in findings)
    assert any("2 prompts" in finding for finding in findings)


def test_receipts_of_the_tests_are_receipts():
    for row in diagnostic_rows():
        check(row, "receipt")


def test_the_run_json_beside_receipts_names_their_system(tmp_path):
    clips, gold = small()
    path = write(tmp_path, [receipt(gold.clip_ids[0], None, "LABEL_1", scores={"LABEL_1": 1})], "p.csv.receipts.jsonl")
    card = {"id": "mine", "name": "my own", "family": "open", "adapter": "transformers", "source": "us"}
    labels = {"model_id": "fourier", "native_labels": {"LABEL_1": "sadness"}, "key_of_another_version": 1}
    (tmp_path / "p.csv.run.json").write_text(json.dumps({"system": {**card, **labels}}))
    found = replay(path, clips=clips, n_boot=5)
    assert found.score.record.system.name == "my own" and found.receipts.predictions.labels[0] == 2
    (tmp_path / "p.csv.run.json").write_text(json.dumps({"system": {**card, **labels, "model_id": "other"}}))
    with pytest.raises(PredictionError, match=r"of another system.*expected other; found fourier@unstated"):
        replay(path, clips=clips, n_boot=5)


def test_command_line(tmp_path, capsys):
    path = write(tmp_path, diagnostic_rows("lo"))
    out = tmp_path / "record.json"
    options = ["--protocol", "crema-d-ieo-lo", "--n-boot", "20", "--snapshot", "2026-09-07"]
    assert main(["replay", str(path), *options, "--out", str(out)]) == 1
    text = capsys.readouterr().out
    assert "crema-d-ieo-lo 1.0.0" in text and "546 clips" in text and max(map(len, text.splitlines())) <= 80
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    assert main(["replay", str(path), *options, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["snapshot"] == "2026-09-07"
