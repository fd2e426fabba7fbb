"""Records: round trip, schema, the attested figures, the composition they must fit into."""

import json
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import pytest

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.records.record import (
    PUBLISHED,
    Record,
    by_score,
    default_records,
    load_records,
    percent,
    read_record,
    record_path,
    write_record,
)


@pytest.fixture(scope="module")
def records():
    """The records of the published table; those of rebuilt sets come and go."""
    return [record for record in load_records() if record.scored_on in PUBLISHED]


@pytest.fixture(scope="module")
def composition():
    return json.loads((data_dir() / "composition.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("fraction", "expected"), [("0.6869", "68.69"), ("0.6770", "67.70"), ("0.0912", "9.12"), ("1", "100")]
)
def test_percent_keeps_digits(fraction, expected):
    assert percent(fraction) == expected


def test_snapshots_are_complete(records):
    assert Counter(record.snapshot for record in records) == {"2026-07-12": 32, "2026-09-06": 3}


def test_files_round_trip_byte_for_byte(records, tmp_path):
    for record in records:
        path = record_path(record, tmp_path)
        write_record(record, path)
        assert path.read_bytes() == record_path(record, data_dir() / "records").read_bytes()
        assert read_record(path) == record


def test_attested_figures(records):
    figures = {(r.snapshot, r.system.name): (r.accuracy, r.macro_f1) for r in records}
    assert figures["2026-09-06", "Spectra 1"] == ("77.8", "0.816")
    assert figures["2026-09-06", "HuBERT-large SUPERB"] == ("40.9", "0.249")
    assert figures["2026-09-06", "DistilHuBERT SUPERB"] == ("29.5", "0.186")
    assert figures["2026-07-12", "oruk-spectra"] == ("77.56", "0.8102")
    assert figures["2026-07-12", "emotion2vec-plus-seed"] == ("68.69", "0.6798")
    assert figures["2026-07-12", "xlsr-russian-aniemore"] == ("9.12", "0.0794")


def test_default_holds_each_system_once(records):
    chosen = default_records(records)
    names = [record.system.name for record in chosen]
    assert len(names) == len(set(names)) == 33
    assert "Spectra 1" in names
    assert "oruk-spectra" not in names  # the earlier checkpoint stays in its own snapshot
    assert "hubert-large-superb-er" not in names  # newest figure of the system, under the card's name


def test_held_rows_fit_the_composition(records, composition):
    chosen = default_records(records)
    held = Counter(record.system.family for record in chosen)
    assert held == {"open": 19, "audio LLM": 4, "API": 6, "text only": 3, "ours": 1}
    assert sum(composition["families"].values()) == composition["systems"] == 64
    assert sum(composition["scored_on"].values()) == 64
    assert all(held[family] <= total for family, total in composition["families"].items())
    on = Counter(record.scored_on for record in chosen)
    assert all(on[scored_on] <= total for scored_on, total in composition["scored_on"].items())
    for record in chosen:
        assert record.scored_on == composition["scored_on_of_family"][record.system.family]


def test_card_statements_agree_with_the_rows(records, composition):
    rows = default_records(records)
    open_rows = [record for record in rows if record.system.family == "open"]

    def rounded(value, digits):
        return str(Decimal(value).quantize(Decimal(digits), ROUND_HALF_UP))

    said = composition["statements"]
    assert rounded(max(Decimal(r.accuracy) for r in open_rows), "0.1") == said["best_open_accuracy"]
    assert rounded(max(Decimal(r.macro_f1) for r in open_rows), "0.001") == said["best_open_macro_f1"]
    assert rounded(by_score(rows)[-1].macro_f1, "0.001") == said["lowest_macro_f1"]
    july = {r.system.id: r for r in records if r.snapshot == "2026-07-12"}
    for record in records:
        if record.snapshot == "2026-09-06" and record.system.id in july:
            assert rounded(july[record.system.id].accuracy, "0.1") == record.accuracy
            assert rounded(july[record.system.id].macro_f1, "0.001") == record.macro_f1


def test_notes_name_the_snapshot_and_repeat_the_caveats(records):
    for record in records:
        assert record.note is not None
        assert record.snapshot in record.note
        if record.system.is_oruk:
            assert "not a like-for-like comparison" in record.note
            assert "result for Resonance" in record.note
        if record.system.family == "text only":
            assert "transcript" in record.note


def test_derived_scored_on_is_said(records):
    (distil,) = [record for record in records if record.system.id == "distilhubert-superb-er"]
    assert distil.scored_on == "full_set"
    assert "composition" in distil.note
    assert "scored_on" in distil.source.derived


def _document(records):
    return json.loads(json.dumps(records[0].to_dict()))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda d: d.update(accuracy="168.6"), "accuracy"),
        (lambda d: d.update(accuracy=68.6), "accuracy"),
        (lambda d: d.update(macro_f1="1.2"), "macro_f1"),
        (lambda d: d.update(scored_on="full"), "scored_on"),
        (lambda d: d.update(snapshot="2026-13-40"), "snapshot"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d.pop("note"), "note"),
        (lambda d: d["system"].update(family="closed"), "family"),
        (lambda d: d["system"].update(is_oruk=True), "is_oruk"),
        (lambda d: d["system"].update(revision="main"), "revision"),
        (lambda d: d.update(scored_on="rebuilt_full"), "evaluation"),
        (lambda d: d.update(failures={"refused": -1}), "refused"),
    ],
)
def test_schema_names_the_fault(records, change, key):
    document = _document(records)
    change(document)
    with pytest.raises(RecordError, match=key):
        Record.from_dict(document, where="x.json")


def test_a_file_that_changed_is_checked_again(records, tmp_path):
    path = tmp_path / "a.json"
    write_record(records[0], path)
    assert read_record(path) == read_record(path) == records[0]
    path.write_text(path.read_text(encoding="utf-8").replace(f'"{records[0].scored_on}"', '"full"'), encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RecordError, match="scored_on"):
            read_record(path)


def test_misplaced_record_is_refused(records, tmp_path):
    write_record(records[0], tmp_path / "2026-07-13" / "other.json")
    with pytest.raises(RecordError, match="wrong place"):
        load_records(tmp_path)


def test_repeated_key_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"note": 1, "note": 2}', encoding="utf-8")
    with pytest.raises(RecordError, match="twice"):
        read_record(path)


def test_sizes_and_loading_caveats_stand_in_the_notes():
    """The harness's figures stay as published; what other public sources state stands beside them."""
    records = {record.system.id: record for record in load_records() if record.scored_on in PUBLISHED}
    assert records["wav2vec-english-ser-rf"].system.parameters_m == 95
    assert "317 M" in records["wav2vec-english-ser-rf"].note
    assert records["audiollm-qwen2.5-omni-7b"].system.parameters_m == 7_000
    assert "11,000 M" in records["audiollm-qwen2.5-omni-7b"].note
    assert "a random head may have been scored" in records["xlsr-ravdess-ehcalabres"].note
