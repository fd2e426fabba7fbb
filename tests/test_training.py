"""The overlap ledger: every line has a source, derived systems inherit, and the counts that the texts state."""

import json
from collections import Counter

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.manifest import load_manifest
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.records.overlap import Undeclared, outside, sentence, undeclared
from oruk_leaderboard.records.record import PUBLISHED, load_records
from oruk_leaderboard.records.training import read_ledger, training_ledger
from oruk_leaderboard.systems import registry
from tests.table_configs import CONFIG

NOT_HELD = {"audiollm-audio-flamingo-3"}
"""Systems of the published table that no record holds."""


@pytest.fixture(scope="module")
def clips():
    return Counter(row.corpus for row in load_manifest().rows)


@pytest.fixture
def written(tmp_path):
    """The shipped ledger with one change, written to a file of its own."""

    def write(change):
        path = tmp_path / "training.csv"
        text = (data_dir() / "training.csv").read_text(encoding="utf-8")
        path.write_text(change(text), encoding="utf-8")
        return path

    return write


def test_every_line_has_a_source_and_names_what_is_known():
    known = {record.system.id for record in load_records()} | registry().keys() | NOT_HELD
    for line in training_ledger().lines:
        assert line.source.startswith("https://"), line
        assert line.system_id in known, line
        assert line.corpus == "unnamed" or line.corpus.startswith("other:") or line.corpus in built_in(), line


def test_evidence_of_the_systems_held():
    held = [record.system.id for record in load_records() if record.scored_on in PUBLISHED]
    evidence = {name: training_ledger().of(name).evidence for name in held}
    by_kind = {kind: {name for name, found in evidence.items() if found == kind} for kind in set(evidence.values())}
    assert by_kind["stated"] == {
        "audiollm-emotionthinker",
        "emotion2vec-plus-seed",
        "hubert-large-superb-er",
        "speechbrain-w2v2-iemocap",
        "w2v2-emotion-dpngtm",
        "wav2vec-english-ser-rf",
        "wav2vec2-base-superb-er",
        "wavlm-odyssey-msp-3loi",
        "wavlm-voxprofile-tiantiaf",
        "xlsr-ravdess-ehcalabres",
        "xlsr-russian-aniemore",
        "xlsr-ser-firdhokk",
        "xlsr-ser-hughlan1214",
    }
    assert by_kind["implied"] == {
        "distilhubert-superb-er",
        "emotion2vec-base-finetuned",
        "emotion2vec-plus-base",
        "emotion2vec-plus-large",
        "whisper-large-v3-ser-firdhokk",
        "xlsr-hatman",
    }
    assert by_kind["unnamed"] == {"oruk-spectra", "spectra-1"}
    assert len(by_kind["nothing found"]) == 13


def test_a_collection_that_the_card_names_states_its_members(clips):
    seed = training_ledger().of("emotion2vec-plus-seed")
    stated = {corpus for corpus, certainty in seed.corpora.items() if certainty == "stated" and corpus in clips}
    assert len(stated) == 31
    assert sum(clips[corpus] for corpus in stated) == 45_510
    assert seed.corpora["cmu_mosei"] == "implied"


def test_the_four_corpora_that_two_cards_name(clips):
    for system in ("xlsr-ser-hughlan1214", "w2v2-emotion-dpngtm"):
        corpora = training_ledger().of(system).corpora
        assert list(corpora) == ["crema_d", "ravdess", "savee", "tess"]
        assert sum(clips[corpus] for corpus in corpora) == 6_022


def test_derived_systems_inherit_as_implied():
    ledger = training_ledger()
    seed, base, large = (ledger.of(f"emotion2vec-plus-{size}") for size in ("seed", "base", "large"))
    assert seed.corpora.keys() == base.corpora.keys() == large.corpora.keys()
    assert set(base.corpora.values()) == set(large.corpora.values()) == {"implied"}
    assert base.unnamed and large.unnamed and not seed.unnamed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("system_id,corpus", "system,corpus", 1), "wrong header"),
        (lambda text: text.replace("https://", "", 1), "source"),
        (lambda text: text.replace(",stated,", ",certain,", 1), "certainty"),
        (lambda text: text.replace(",fine-tuned,,", ",fine-tuned,EmoBox,", 1), "via"),
        (lambda text: text + text.splitlines()[-1] + "\n", "duplicate line"),
        (lambda text: text + text.splitlines()[1] + "\n", "not sorted"),
        (lambda text: text.replace("derived from,emotion2vec-plus-seed", "derived from,nobody", 1), "parent"),
        (
            lambda text: text.replace("derived from,emotion2vec-plus-seed", "derived from,emotion2vec-plus-large"),
            "circle",
        ),
        (lambda text: text + "short\n", "system_id|corpus"),
        (
            lambda text: text.replace(",unnamed,trained,,unknown,unknown,", ",iemocap,trained,,unknown,unknown,", 1),
            "corpus",
        ),
    ],
)
def test_a_faulty_ledger_is_refused_by_line(written, change, message):
    with pytest.raises(RecordError, match=message):
        read_ledger(written(change))


def test_clips_outside_are_counted_on_the_manifest():
    found = outside("xlsr-ser-hughlan1214")
    assert (found.clips, found.total) == (64_384 - 6_022, 64_384)
    assert outside("sensevoice-small") is None and outside("spectra-1") is None
    assert outside("emotion2vec-plus-seed").clips == len(undeclared())


def test_undeclared_is_what_no_line_names():
    subset = undeclared()
    assert not set(subset.counts) & training_ledger().named()
    assert len(subset.counts) == 12 and len(subset) == 16_727
    assert sum(row.label is None for row in subset.rows) == 7_688
    assert subset.digest == undeclared().digest != load_manifest().digest
    figures = Undeclared.of(load_manifest())
    assert figures[:2] == (16_727, 7_688) and figures.digest.startswith("6340d0cc5003") and len(figures.corpora) == 12


def test_sentences_say_whose_clips_they_count_and_never_zero_shot():
    manifest = load_manifest()
    for record in load_records():
        text = sentence(record.system.id, manifest)
        assert "this package's manifest" in text
        assert "zero-shot" not in text
    assert "at most" in sentence("emotion2vec-plus-base") and "at most" not in sentence("emotion2vec-plus-seed")
    assert "58,362 of its 64,384 clips (90.6 %)" in sentence("xlsr-ser-hughlan1214")


def test_config_systems_shows_the_ledger():
    rows = {row["system_id"]: row for row in CONFIG["systems"].rows(load_records())}
    assert rows["w2v2-emotion-dpngtm"]["training_corpora"] == ["crema_d", "ravdess", "savee", "tess"]
    assert rows["w2v2-emotion-dpngtm"]["clips_outside_training"] == 58_362
    assert rows["w2v2-emotion-dpngtm"]["share_outside_training"] == 0.9065
    assert rows["audiollm-emotionthinker"]["training_corpora"] == ["iemocap", "meld", "msp_podcast"]
    for name in ("spectra-1", "gemini-gemini-2.5-pro"):
        assert rows[name]["training_corpora"] is rows[name]["clips_outside_training"] is None
    assert {name: row["training_evidence"] for name, row in rows.items()} == {
        name: training_ledger().of(name).evidence for name in rows
    }


def test_systems_verb_shows_the_overlap(capsys):
    assert main(["systems", "show", "hubert-large-superb-er", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["overlap"]
    assert shown["evidence"] == "stated" and list(shown["corpora"]) == ["iemocap"] and shown["sources"]
    assert main(["systems", "list", "--json"]) == 0
    listed = {card["id"]: card["overlap"] for card in json.loads(capsys.readouterr().out)}
    assert listed["sensevoice-small"] == "nothing found" and listed["baseline-loudness"] is None
