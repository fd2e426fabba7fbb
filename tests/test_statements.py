"""Sentences of the card, the datasheet and the metadata that claim something checkable, against the data."""

import json
import re
import tomllib
from collections import Counter

import pytest
import yaml

from oruk_leaderboard.card.cite import BENCHMARK, citation_cff, methods
from oruk_leaderboard.card.datasheet import TELLING, TERMS, terms, withheld
from oruk_leaderboard.card.readme import split_header
from oruk_leaderboard.classes import CLASSES, MAX_SAMPLES, SAMPLE_RATE
from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.manifest import labels_digest, load_manifest
from oruk_leaderboard.page import content
from oruk_leaderboard.paths import checkout_root, share_root
from oruk_leaderboard.protocols import gold_of_protocol, load
from oruk_leaderboard.records.overlap import Undeclared, undeclared
from oruk_leaderboard.records.record import PUBLISHED, by_score, default_records, load_composition, load_records
from oruk_leaderboard.records.training import training_ledger

ROOT = share_root()

CLASS_IN_ID = {
    "casia": r"/(?P<native>[a-z]+)/\d+$",
    "demos": r"_\d\d_(?P<native>[a-z]{3})\d",
    "emofilm": r"/[mf]_(?P<native>[a-z]{3})\d",
    "emovo": r"/(?P<native>[a-z]{3})-",
    "kazemotts": r"_(?P<native>[a-z]+)_\d+$",
    "mead": r"^mead/\w+/(?P<native>[a-z]+)/",
    "savee": r"/(?P<native>[a-z]{1,2})\d+$",
}
"""Where a clip id states the native label; ESD's is in the clip's number, 350 per style."""

ESD = ("Neutral", "Angry", "Happy", "Sad", "Surprise")


@pytest.fixture(scope="module")
def manifest():
    return load_manifest()


@pytest.fixture(scope="module")
def texts():
    """The texts that ship, each on one line; the metadata block of the README aside."""
    names = (
        "README.md",
        "dataset_card/datasheet.md",
        "dataset_card/intended_use.md",
        "dataset_card/responsible_ai.toml",
    )
    read = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    read["croissant"] = json.loads((ROOT / "croissant.json").read_text(encoding="utf-8"))[
        "rai:personalSensitiveInformation"
    ]
    read["README.md"] = split_header(read["README.md"], where="README.md")[1]
    read["page"] = (ROOT / "oruk_leaderboard/page/assets/page.html.j2").read_text(encoding="utf-8")
    read["cite"] = methods()
    return {name: " ".join(text.split()) for name, text in read.items()}


def class_in_id(clip_id):
    corpus, _, name = clip_id.partition("/")
    if corpus == "esd":
        return built_in()[corpus].labels[ESD[(int(name.partition("_")[2]) - 1) // 350]]
    return built_in()[corpus].labels[re.search(CLASS_IN_ID[corpus], clip_id)["native"]]


@pytest.mark.parametrize("corpus", TELLING)
def test_the_clip_ids_of_these_corpora_state_the_class(manifest, corpus):
    rows = manifest.of_corpora(corpus)
    assert {row.label for row in rows} == {None}
    told = {row.clip_id: class_in_id(row.clip_id) for row in rows}
    assert labels_digest(told) == manifest.label_digests[corpus]


def test_no_text_says_that_withheld_labels_cannot_be_known(manifest, texts):
    counts = withheld(manifest)
    assert set(counts) == set(manifest.label_digests)
    assert f"{sum(counts[corpus] for corpus in TELLING):,} of them" in texts["dataset_card/datasheet.md"]
    for name in ("dataset_card/datasheet.md", "dataset_card/responsible_ai.toml", "croissant"):
        assert all(corpus in texts[name] for corpus in TELLING), name
    for name, text in texts.items():
        assert "labels of corpora under an agreement are not shipped" not in text.lower(), name
        assert "no names" not in text.lower(), name


def test_official_names_with_a_speaker_in_them(manifest, texts):
    """The speaker id of these corpora is part of the clip id, so numbering the speakers would hide nothing."""
    for corpus in ("casia", "emov_db", "subesco"):
        assert all(row.speaker.lower() in row.clip_id.lower() for row in manifest.of_corpora(corpus)), corpus
        for name in ("dataset_card/datasheet.md", "dataset_card/responsible_ai.toml", "croissant"):
            assert corpus in texts[name]


def test_the_manifest_has_no_audio_and_no_transcript(manifest):
    assert not {"audio", "transcript", "text"} & set(manifest.rows[0].__slots__)


def test_terms_of_the_open_clips(manifest, texts):
    found = terms(manifest)
    for kind, (corpora, clips) in found.items():
        assert f"| {kind} | {corpora} | {clips:,} |" in texts["dataset_card/datasheet.md"]
    free = re.compile(r"^(CC BY (3|4)\.0|CC0|MIT|Apache|EMO-DB 2.0)")
    for corpus in manifest.profile("open").counts:
        licence = built_in()[corpus].licence
        assert free.search(licence) or any(re.search(words, licence) for words in TERMS.values()), (corpus, licence)


def test_undeclared_is_named_with_its_digest(manifest, texts):
    subset = undeclared(manifest)
    sheet = texts["dataset_card/datasheet.md"]
    assert f"{len(subset):,} clips of the {len(subset.counts)} corpora" in sheet
    assert subset.digest in sheet
    assert {"meld"} & set(built_in()["emorynlp"].shares_material_with)


def test_biases_are_those_of_the_manifest(manifest):
    kinds = Counter((row.elicitation or "").split("+")[0] for row in manifest.rows)
    assert kinds["acted"] > kinds["spontaneous"]
    languages = [
        name for name, _ in Counter((row.language or "").partition("-")[0] for row in manifest.rows).most_common(2)
    ]
    assert languages == ["en", "zh"]


def test_zero_shot_is_only_ever_the_authors_statement(texts):
    for name, text in texts.items():
        for sentence in re.split(r"(?<=[.;:])\s", text):
            if "zero-shot" in sentence:
                assert re.search(r"authors state|[Cc]alling a row zero-shot|who state", sentence), (name, sentence)


def test_agreement_with_raters_is_not_claimed_of_intended_labels(texts):
    for name, text in texts.items():
        for sentence in re.split(r"(?<=\.)\s", text):
            if re.search(r"agree(s|ment) with (human )?raters", sentence):
                assert re.search(r"only there|or with|only where|where its labels", sentence), (name, sentence)


def test_licences_are_the_same_in_readme_metadata_and_citation(texts):
    project = tomllib.loads((checkout_root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = set(project["license"].split(" AND "))
    assert stated == {"Apache-2.0", "CC-BY-4.0", "CC-BY-SA-4.0", "OFL-1.1"}
    assert set(yaml.safe_load(citation_cff())["license"]) == stated
    for name in stated:
        assert name.replace("CC-BY-", "CC BY-").replace("BY-4", "BY 4").replace("SA-4", "SA 4") in texts["README.md"]
    assert "this package's choice: the original card names none" in texts["README.md"]
    for path in project["license-files"]:
        assert (checkout_root() / path).is_file(), path


def test_speakers_are_numbered_where_no_official_name_holds_theirs(manifest):
    for corpus in ("pavoque", "thorsten_emotional"):
        assert {row.speaker for row in manifest.of_corpora(corpus)} == {"1"}
    assert {row.speaker for row in manifest.of_corpora("emofilm")} == {None}


def test_every_corpus_of_the_manifest_has_its_licence_in_the_manifest(manifest):
    lines = (ROOT / "data" / "manifest" / "CORPORA.tsv").read_text(encoding="utf-8").splitlines()
    rows = {cells[0]: cells for cells in (line.split("\t") for line in lines[1:])}
    hidden = withheld(manifest)
    for corpus, clips in manifest.counts.items():
        _, listed, _, withheld_clips, licence, _ = rows[corpus]
        assert (int(listed), int(withheld_clips)) == (clips, hidden[corpus])
        assert licence == built_in()[corpus].licence
    assert rows.keys() == manifest.counts.keys()


def test_pinned_hashed_and_proven(manifest, texts, capsys):
    hashed = sum(row.source_sha256 is not None for row in manifest.rows)
    proven = sum(row.clip_sha256 is not None for row in manifest.rows)
    assert (len(manifest), hashed, proven) == (64_384, 16_813, 15_862)
    stated = (
        "64,384 clips are pinned (listed in the manifest), 16,813 (26.1%) hashed (file digest known), "
        "15,862 (24.6%) proven (clip digest known), 11,415 (17.7%) seen by two or more sources."
    )
    assert stated in texts["README.md"] and stated in texts["dataset_card/datasheet.md"]
    assert f"{content.composition_of(ROOT / 'data').known}." == stated
    assert main(["manifest", "stats"]) == 0
    out = capsys.readouterr().out
    assert stated.removesuffix(".") in out
    assert f"undeclared: {Undeclared.of(manifest)}" in out


def stated_of_the_published_table():
    """Sentences about the original evaluation, with the figures of its composition and of the records."""
    said, rows = load_composition(), default_records(load_records())
    families, sets, clips = said["families"], said["scored_on"], said["clips"]
    [ours] = [row for row in rows if row.system.is_oruk]
    best = by_score([row for row in rows if row.system.family == "open"])[0]
    assert best.system.name.startswith("emotion2vec-plus") and ours.system.in_distribution
    assert {family for family, scored in said["scored_on_of_family"].items() if scored == "subsample_5k"} == {
        "API",
        "audio LLM",
        "text only",
    }
    about = said["statements"]
    yield "README.md", f"{said['systems']} speech emotion recognition systems"
    yield "README.md", f"multilingual evaluation of {clips['full_set']:,} clips"
    yield (
        "README.md",
        f"has {said['systems']} systems: {families['open']} open, {families['audio LLM']} audio LLMs, "
        f"{families['API']} APIs, {families['text only']} text-only and {families['ours']} of Oruk; {sets['full_set']} "
        f"were scored on the full set and {sets['subsample_5k']} on the subsample",
    )
    yield (
        "README.md",
        f"Its {ours.accuracy} % and {ours.macro_f1} stand above the best open baselines, the emotion2vec+ family with "
        f"{about['best_open_accuracy']} % and {about['best_open_macro_f1']} (the best of each column)",
    )
    yield "README.md", f"label-stratified subsample of {clips['subsample_5k']:,} clips (seed 0)"
    yield "README.md", "Closed APIs, local audio LLMs and text-only baselines were scored on a fixed"
    yield "dataset_card/datasheet.md", f"The published table has {said['systems']} systems"
    yield (
        "dataset_card/datasheet.md",
        f"{clips['full_set']:,} held-out clips from about 50 corpora in about 20 languages",
    )
    yield "page", f"{clips['subsample_5k']:,}-clip subsample"
    yield "cite", f"full set ({clips['full_set']:,} clips)"
    yield "cite", f"stratified subsample ({clips['subsample_5k']:,} clips)"


def stated_of_the_protocol():
    """Sentences about classes, audio and the diagnostic."""
    seconds, rate = MAX_SAMPLES // SAMPLE_RATE, SAMPLE_RATE // 1000
    yield "README.md", f"{rate} kHz mono, the first {seconds} seconds"
    yield "README.md", f"Seven classes, one label per clip: {', '.join(CLASSES)}."
    yield "dataset_card/datasheet.md", f"Seven classes, {rate} kHz mono, first {seconds} s"
    yield "cite", f"seven classes, single label, {rate} kHz mono, first {seconds} s"
    diagnostic = load("crema-d-ieo-md")
    assert len(CLASSES) == 7 and len(diagnostic.classes) == 6
    yield "README.md", "A separate six-class [diagnostic on CREMA-D]"
    yield "page", f"A separate diagnostic on {len(gold_of_protocol(diagnostic).clip_ids)} CREMA-D recordings"
    needs = tomllib.loads((checkout_root() / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    yield "README.md", f"Python {needs.removeprefix('>=')} or later"
    yield "README.md", " ".join(BENCHMARK.split())


def stated_of_the_records():
    """Sentences about the records held, their sources and the training ledger."""
    records = [record for record in load_records() if record.scored_on in PUBLISHED]
    rows = default_records(records)
    july, september = ([r for r in records if r.snapshot == snapshot] for snapshot in ("2026-07-12", "2026-09-06"))
    assert len(july) + len(september) == len(records) and [row.system.is_oruk for row in rows].count(True) == 1
    digits = {(r.source.kind, len(r.accuracy.partition(".")[2]), len(r.macro_f1.partition(".")[2])) for r in records}
    assert digits == {("harness", 2, 4), ("card", 1, 3)}
    for unknown in ([r.failures for r in records], [r.system.revision for r in records]):
        assert unknown.count(None) > len(records) / 2
    evidence = Counter(training_ledger().of(row.system.id).evidence for row in rows)
    sheet = "dataset_card/datasheet.md"
    yield sheet, "One row is Oruk's own system: it is flagged by `is_oruk`, trained in-distribution"
    yield sheet, f"is the results file of the public harness, all {len(july)} rows"
    yield sheet, f"has the {['no', 'one', 'two', 'three'][len(september)]} rows that the dataset card gives by name"
    yield sheet, "four decimals of a fraction in the harness's file, one decimal of a percentage and three of macro-F1"
    yield sheet, "Failures and revisions of most systems are unknown"
    yield "dataset_card/responsible_ai.toml", "two sources that state them by the system's name: the results file"
    for name, subject in ((sheet, "manifest"), ("cite", "leaderboard's manifest")):
        yield (
            name,
            f"{subject} for {evidence['stated']} of the {len(rows)} systems held and imply it for "
            f"{evidence['implied']} more;",
        )
    yield sheet, f"for {evidence['nothing found']} no source that names training corpora was found"
    yield "README.md", f"{len(rows)} of {load_composition()['systems']} systems are held here"


@pytest.mark.parametrize("stated", [stated_of_the_published_table, stated_of_the_protocol, stated_of_the_records])
def test_sentences_with_figures_have_those_of_the_data(texts, stated):
    for name, sentence in stated():
        assert sentence in texts[name], (name, sentence)


def test_words_about_the_manifest_s_speakers_and_speech(manifest, texts):
    for corpus, character in (("emorynlp", "Rachel Green"), ("m3ed", "shaonianpai_林妙妙"), ("meld", "Rachel")):
        assert any(row.speaker == character for row in manifest.of_corpora(corpus))
        assert f"`{corpus}`" in texts["dataset_card/datasheet.md"]
    kinds = {part for row in manifest.rows for part in (row.elicitation or "").split("+")}
    assert kinds == {"acted", "elicited", "spontaneous"} and len(manifest) == load_composition()["clips"]["full_set"]
