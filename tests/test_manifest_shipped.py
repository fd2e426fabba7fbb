"""The shipped manifest: its sums, counts, labels, subsample and sources."""

import json
import re
from collections import Counter
from dataclasses import asdict

import jsonschema
import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.corpora import clips, get_corpus, registry
from oruk_leaderboard.manifest import Manifest, build, load_manifest
from oruk_leaderboard.manifest.files import csv_texts, read_folder
from oruk_leaderboard.manifest.rule import subsample
from oruk_leaderboard.manifest.witnesses import WITNESSES_FILE, read_witnesses, seen_in, table_of
from oruk_leaderboard.paths import data_dir, schema_dir


@pytest.fixture(scope="module")
def shipped():
    return load_manifest()


def test_shipped_files_agree(shipped):
    folder = read_folder(data_dir() / "manifest")
    assert folder == shipped
    assert Manifest.of(shipped.rows, shipped.label_digests, version=shipped.version) == shipped
    texts = csv_texts(shipped)
    assert all((data_dir() / "manifest" / name).read_text() == text for name, text in texts.items())
    assert {path.name for path in (data_dir() / "manifest").glob("*.csv")} == texts.keys()


def test_shipped_counts(shipped):
    assert shipped.version == "1.1.0"
    assert len(shipped.rows) == len({row.clip_id for row in shipped.rows}) == 64_384
    assert (len(shipped.corpora), len({row.corpus for row in shipped.rows if row.open})) == (44, 29)
    assert len({row.language.partition("-")[0] for row in shipped.rows}) == 19
    assert sum(row.open for row in shipped.rows) == 39_399
    assert sum(row.source_sha256 is not None for row in shipped.rows) == 16_813
    assert sum(row.clip_sha256 is not None for row in shipped.rows) == 15_862
    assert abs(sum(row.subsample_full for row in shipped.rows) - 5000) <= 3
    assert abs(sum(row.subsample_open for row in shipped.rows) - 5000) <= 3


def test_shipped_rows_keep_the_rule(shipped):
    specs = registry()
    sizes = Counter(row.corpus for row in shipped.rows)
    cap = max(sizes.values())
    assert f"CAP is {cap}." in (data_dir() / "manifest" / "RULE.md").read_text()
    # What is above the size is taken from the largest corpora, one clip each.
    assert sum(size == cap - 1 for size in sizes.values()) > 0
    for row in shipped.rows:
        assert row.open == (specs[row.corpus].agreement_required is False)
        assert row.clip_id.startswith(f"{row.corpus}/")
        assert row.duration_s is None or 0.2 <= row.duration_s <= 32
        assert not any(pattern.match(row.clip_id[len(row.corpus) + 1 :]) for pattern, _ in specs[row.corpus].exclude)
    assert not sizes.keys() & {"asvp_esd", "vivae", "msp_improv"}
    # The official test partition comes first, and in these three it is larger than CAP.
    splits = {corpus: {row.split for row in shipped.rows if row.corpus == corpus} for corpus in ("kazemotts", "meld")}
    assert splits == {"kazemotts": {"eval"}, "meld": {"test"}}


def test_shipped_clips_of_meld_and_mer2023_are_as_the_releases_have_them(shipped):
    doubtful = {
        f"meld/{name}" for name in get_corpus("meld").lengths if name.startswith("output_repeated_splits_test/")
    }
    assert len(doubtful) == 137
    assert not doubtful & {row.clip_id for row in shipped.of_corpora("meld")}
    suffixes = {
        (row.split, row.clip_id.startswith("mer2023/samplenew"), row.media[-4:])
        for row in shipped.of_corpora("mer2023")
    }
    assert suffixes == {
        ("train", False, ".avi"),
        ("test1", False, ".avi"),
        ("test2", False, ".mp4"),
        ("test3", False, ".avi"),
        ("test3", True, ".mp4"),
    }


def test_shipped_speakers_are_no_names_that_only_a_paper_or_legend_gives(shipped):
    speakers = {corpus: {row.speaker for row in shipped.of_corpora(corpus)} for corpus in shipped.corpora}
    assert speakers["pavoque"] == speakers["thorsten_emotional"] == {"1"}
    assert speakers["emofilm"] == {None}


def test_shipped_unselected_recordings_are_others(shipped):
    for corpus in ("crema_d", "ravdess"):
        others = {row.clip_id for row in shipped.unselected(corpus)}
        assert others and not others & {row.clip_id for row in shipped.of_corpora(corpus)}
    assert "ravdess/03-01-02-01-01-01-01" in {row.clip_id for row in shipped.unselected("ravdess")}
    # Every recording of these releases is known by its digest.
    assert len(shipped.unselected("crema_d")) + len(shipped.of_corpora("crema_d")) == 7_442


def test_shipped_witnesses_have_seen_the_shipped_tables(shipped):
    witnesses = read_witnesses(data_dir() / "manifest" / WITNESSES_FILE)
    hashed = {row.corpus for row in shipped.rows if row.source_sha256 is not None}
    assert {witness.corpus for witness in witnesses} == hashed
    for corpus in hashed:
        table = table_of([*shipped.of_corpora(corpus), *shipped.unselected(corpus)])
        assert {witness.table_sha256 for witness in witnesses if witness.corpus == corpus} == {table}
    seen = seen_in(shipped)
    alone = {corpus for corpus, count in seen.items() if not count}
    assert alone == {"baved", "emotiontts_open_db", "jl_corpus", "nemo", "turev_db"}
    assert (seen["aesdd"], seen["crema_d"], sum(seen.values())) == (603, 2_147, 11_415)


def test_shipped_corpora_have_their_terms(shipped):
    lines = (data_dir() / "manifest" / build.CORPORA_FILE).read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    assert {row["corpus"]: int(row["clips"]) for row in rows} == dict(shipped.counts)
    assert sum(int(row["open"]) for row in rows) == 39_399
    for row in rows:
        assert row["licence"] and (row["agreement"] == "no") == (row["withheld"] == "0")


def test_shipped_labels_are_those_of_the_specs(shipped):
    specs = registry()
    opened = {row.corpus for row in shipped.rows if row.open}
    assert shipped.label_digests.keys() == set(shipped.corpora) - opened
    for row in shipped.rows:
        assert (row.label is not None) == (row.native_label is not None) == row.open
        labels = specs[row.corpus].labels
        folded = {native.casefold(): label for native, label in labels.items()}
        assert not row.open or labels.get(row.native_label, folded.get(row.native_label.casefold())) == row.label


def test_shipped_clips_are_what_the_engine_makes_of_their_paths(shipped, tmp_path):
    """Id, label and native label of every clip that a corpus's own names tell."""
    for corpus in shipped.corpora:
        rows = {row.media: row for row in shipped.of_corpora(corpus)}
        if registry()[corpus].table is not None or None in rows:
            continue
        listing = tmp_path / f"{corpus}.lst"
        listing.write_text("\n".join(rows), encoding="utf-8")
        found = clips(corpus, listing).clips
        assert len(found) == len(rows)
        for clip in found:
            row = rows[clip.media]
            assert (clip.clip_id, clip.label, clip.native_label) == (row.clip_id, row.label, row.native_label)


def test_shipped_open_classes_are_balanced(shipped):
    """Where a corpus gives less than it has, no class is taken beyond another that still had clips."""
    counts = Counter((row.corpus, row.label) for row in shipped.rows if row.open)
    for corpus in ("crema_d", "emozionalmente", "nemo", "subesco", "tess"):
        classes = [count for (name, _), count in counts.items() if name == corpus]
        assert max(classes) - min(classes) <= 1


def test_shipped_subsample_is_the_protocols(shipped):
    labels = {row.clip_id: row.label for row in shipped.rows if row.open}
    assert subsample(labels) == {row.clip_id for row in shipped.rows if row.subsample_open}
    assert all(row.open for row in shipped.rows if row.subsample_open)


def test_shipped_rows_fit_the_schema(shipped):
    schema = json.loads((schema_dir() / "manifest.schema.json").read_text())
    check = jsonschema.Draft202012Validator(schema)
    for row in shipped.rows[::97]:
        check.validate(asdict(row))


def test_every_list_has_its_source():
    lines = (data_dir() / "manifest" / "SOURCES.tsv").read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    assert {row["corpus"] for row in rows} == set(load_manifest().corpora)
    assert all(all(row.values()) for row in rows)


def test_no_shipped_column_tells_a_restricted_label(shipped):
    """Beyond the clip ids, which public repositories publish, nothing names a label of its corpus."""
    for row in shipped.rows:
        if not row.open:
            spec = registry()[row.corpus]
            names = {name.casefold() for name in (*spec.labels, *CLASSES) if len(name) > 1}
            values = (row.media or "", row.split or "", row.speaker or "", row.elicitation or "")
            told = {part.casefold() for value in values for part in re.split(r"[^A-Za-z]+", value)}
            # A file of NNIME is named after the scene's emotion, which is not the clip's.
            assert row.corpus == "nnime" or not told & names, row
            assert (row.media is None) == (spec.table is None)
