"""manifest build, stats, digest, diff and pin: on made lists and copies, and the shipped files against the rule."""

import csv
import gzip
import hashlib
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest import Manifest, labels_digest, load_manifest
from oruk_leaderboard.manifest.build import build_manifest
from oruk_leaderboard.manifest.files import read_folder, write_parquet
from oruk_leaderboard.manifest.plot import plots
from oruk_leaderboard.manifest.stats import stats


def write_list(folder, corpus, rows, *, zipped=False):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = folder / f"{corpus}.jsonl{'.gz' if zipped else ''}"
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if zipped else text.encode())


def write_hashes(folder, name, rows):
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def crema_d(actor, emotion, **more):
    name = f"{actor}_DFA_{emotion}_XX"
    return {"path": f"AudioWAV/{name}.wav", "native_label": emotion, "gender": "female", "duration_s": 2.0, **more}


@pytest.fixture
def lists(tmp_path):
    folder = tmp_path / "lists"
    folder.mkdir()
    actors = range(1001, 1011)
    rows = [crema_d(actor, emotion) for actor in actors for emotion in ("ANG", "FEA", "NEU", "SAD")]
    rows[0]["duration_s"] = 0.1
    rows[1]["duration_s"] = 40.0
    write_list(folder, "crema_d", [*rows, crema_d(1076, "SAD") | {"path": "AudioWAV/1076_MTI_SAD_XX.wav"}])
    emovo = [
        f"{label}-{speaker}-b{n}" for label in ("dis", "gio", "neu") for speaker in ("f1", "m2") for n in (1, 2, 3)
    ]
    write_list(folder, "emovo", [{"path": f"{name[4:6]}/{name}.wav", "native_label": name[:3]} for name in emovo])
    write_list(folder, "vivae", [{"path": "full_set/S01_anger_low_01.wav", "native_label": "anger"}])
    write_list(folder, "no_such_corpus", [{"path": "a.wav", "native_label": "anger"}])
    digests = [
        {"path": row["path"], "sha256": hashlib.sha256(row["path"].encode()).hexdigest(), "bytes": 1000 + number}
        for number, row in enumerate(rows)
    ]
    digests[5] |= {"sha256": digests[4]["sha256"], "bytes": digests[4]["bytes"]}
    digests[12] |= {"sha256": digests[8]["sha256"], "bytes": digests[8]["bytes"]}
    write_hashes(tmp_path / "hashes", "crema-d.tsv", digests)
    known = {"pcm_sha256": "p" * 64, "num_samples": 96_000, "sampling_rate": 48_000, "channels": 2}
    write_hashes(
        tmp_path / "hashes", "emovo.tsv", [{"path": "EMOVO/f1/dis-f1-b1.wav", "sha256": "e" * 64, "bytes": 7} | known]
    )
    return folder


def test_chooses_what_no_fault_excludes(lists):
    built = build_manifest(lists, size=30)
    ids = {row.clip_id for row in built.manifest.rows}
    assert len(ids) == 30 and built.cap == 15 and built.problems == []
    assert built.left_out == {"vivae": "non-verbal sounds, no speech"}
    assert [path.name for path in built.unused] == ["no_such_corpus.jsonl"]
    everything = {row.clip_id for row in build_manifest(lists, size=40 - 5 + 18).manifest.rows}
    excluded = {
        "crema_d/1001_DFA_ANG_XX",  # 0.1 s
        "crema_d/1001_DFA_FEA_XX",  # 40 s
        "crema_d/1002_DFA_ANG_XX",  # the same bytes as the next one, under another label
        "crema_d/1002_DFA_FEA_XX",
        "crema_d/1004_DFA_ANG_XX",  # the same bytes as 1003_DFA_ANG_XX, under one label: the first stays
        "crema_d/1076_MTI_SAD_XX",  # no signal, by its spec
    }
    assert not excluded & everything and "crema_d/1003_DFA_ANG_XX" in everything
    with pytest.raises(ManifestError, match="too few"):
        build_manifest(lists, size=54)


def test_restricted_labels_are_kept_back(lists):
    manifest = build_manifest(lists, size=53).manifest
    emovo = [row for row in manifest.rows if row.corpus == "emovo"]
    assert {(row.label, row.native_label, row.open, row.subsample_open) for row in emovo} == {
        (None, None, False, False)
    }
    labels = {"dis": "disgust", "gio": "happiness", "neu": "neutral"}
    expected = labels_digest({row.clip_id: labels[row.clip_id[6:9]] for row in emovo})
    assert manifest.label_digests == {"emovo": expected}
    assert all(row.label and row.native_label and row.open for row in manifest.rows if row.corpus == "crema_d")


def test_pins_come_along(lists):
    rows = {row.clip_id: row for row in build_manifest(lists, size=53).manifest.rows}
    row = rows["crema_d/1003_DFA_ANG_XX"]
    assert (row.source_bytes, row.gender, row.duration_s, row.media) == (
        1008,
        "female",
        2.0,
        f"AudioWAV/{row.clip_id[8:]}.wav",
    )
    row = rows["emovo/dis-f1-b1"]
    assert (row.source_sha256, row.pcm_sha256, row.channels, row.duration_s) == ("e" * 64, "p" * 64, 2, 2.0)
    assert rows["emovo/dis-f1-b2"].source_sha256 is None


def test_a_folder_that_tells_the_label_is_not_shipped(tmp_path):
    folder = tmp_path / "lists"
    folder.mkdir()
    rows = [
        {"path": f"0011/{label}/0011_{number:06d}.wav", "native_label": label}
        for label, number in (("Angry", 351), ("Sad", 1051), ("Neutral", 1))
    ]
    write_list(folder, "esd", rows)
    for row in build_manifest(folder, size=3).manifest.rows:
        assert row.media is None and row.label is None


def test_a_line_that_is_no_clip_is_a_finding(lists):
    write_list(
        lists, "emodb", [{"path": "wav/03a01Wa.wav", "native_label": "W"}, {"path": "wav/me.wav", "native_label": "W"}]
    )
    built = build_manifest(lists, size=54)
    assert [problem.where for problem in built.problems] == ["emodb.jsonl: wav/me.wav"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("urdu.jsonl", b'{"path": "Angry/SM1_F10_A010.wav"}\n{"path": ', r"urdu\.jsonl:2: a line is not JSON"),
        ("urdu.jsonl", b'["path"]\n', r"urdu\.jsonl:1: a line is not a clip"),
        ("urdu.jsonl", b'{"native_label": "A"}\n', r"urdu\.jsonl:1: a line is not a clip"),
        ("urdu.jsonl.gz", b"no gzip", r"urdu\.jsonl\.gz: not readable"),
        ("urdu.jsonl", b"\xff\xfe{", r"urdu\.jsonl: not readable"),
        ("meld.jsonl", b'{"path": "test/dia0_utt0.mp4", "native_label": "bliss", "split": "test"}\n', "'bliss'"),
        ("../hashes/urdu.tsv", b"path\tmd5\n", "lacks a column"),
    ],
)
def test_a_malformed_list_is_named_with_its_line(lists, name, content, message):
    write_list(lists, "urdu", [{"path": "Angry/SM1_F10_A010.wav", "native_label": "A"}])
    if name.startswith("urdu.jsonl.gz"):
        (lists / "urdu.jsonl").unlink()
    (lists / name).write_bytes(content)
    with pytest.raises(ManifestError, match=message):
        build_manifest(lists, size=10)


def test_label_files_corpora_take_ids_labels_and_speakers_from_the_list(tmp_path):
    folder = tmp_path / "lists"
    folder.mkdir()
    meld = {"speaker": "Mark", "split": "test", "duration_s": 2.0, "native_label": "joy"}
    write_list(
        folder,
        "meld",
        [
            {"path": "output_repeated_splits_test/dia0_utt0.mp4", **meld},
            {"path": "output_repeated_splits_test/dia38_utt4.mp4", **meld},
            {"path": "output_repeated_splits_test/dia1_utt0.mp4", **meld, "duration_s": 0.25},
        ],
    )
    scene = {"path": "emorynlp_dev_splits/sea1_ep2_sc3_utt4.mp4", "split": "dev", "native_label": "Mad"}
    write_list(folder, "emorynlp", [{**scene, "speaker": "['Ross Geller', 'Monica Geller']"}])
    segment = {"path": "pavoque-angry.flac", "native_label": "angry", "start_s": 1.0, "end_s": 2.5}
    twice = {**segment, "start_s": 3.0, "end_s": 4.0}
    write_list(folder, "pavoque", [segment, twice, {**twice, "native_label": "sad"}])
    mosei = [
        {"path": f"v_{number}", "video": "v", "start_s": start, "end_s": 5.0, "native_label": label}
        for number, (start, label) in enumerate([(-0.2, "sad"), (0.0, "happy")])
    ]
    write_list(folder, "cmu_mosei", mosei)
    write_list(folder, "msp_podcast", [{"path": "Audios/MSP-PODCAST_0002_0033.wav", "native_label": "angry"}])
    manifest = build_manifest(folder, size=5).manifest
    assert [(row.clip_id, row.label, row.speaker, row.split, row.start_s, row.end_s) for row in manifest.rows] == [
        ("cmu_mosei/v_0", None, None, None, 0.0, 5.0),
        ("emorynlp/sea1_ep2_sc3_utt4", "anger", "Ross Geller, Monica Geller", "dev", None, None),
        ("meld/output_repeated_splits_test/dia0_utt0", "happiness", "Mark", "test", None, None),
        ("msp_podcast/MSP-PODCAST_0002_0033", None, None, None, None, None),
        ("pavoque/angry_1000-2500", "anger", "1", None, 1.0, 2.5),
    ]
    assert manifest.label_digests == {
        "cmu_mosei": labels_digest({"cmu_mosei/v_0": "sadness"}),
        "msp_podcast": labels_digest({"msp_podcast/MSP-PODCAST_0002_0033": "anger"}),
    }


def test_a_list_that_sources_names_otherwise_is_a_finding(lists, tmp_path, capsys):
    write_list(lists, "urdu", [{"path": "Angry/SM1_F10_A010.wav", "native_label": "A"}], zipped=True)
    assert main(["manifest", "build", "--lists", str(lists), "--size", "54", "--out", str(tmp_path / "x")]) == 1
    assert "urdu.jsonl.gz: not the file of SOURCES.tsv" in capsys.readouterr().err


def test_command_gives_the_same_bytes_again(lists, tmp_path, capsys):
    first, second = tmp_path / "a" / "manifest", tmp_path / "b" / "manifest"
    for out in (first, second):
        assert main(["manifest", "build", "--lists", str(lists), "--size", "30", "--out", str(out), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["cap"] == 15
    names = sorted(path.name for path in first.iterdir())
    beside = ["CORPORA.tsv", "LABELS.tsv", "RULE.md", "SHA256SUMS", "SOURCES.tsv", "UNSELECTED.tsv", "WITNESSES.tsv"]
    assert names == [*beside, "crema_d.csv", "emovo.csv"]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    assert "CAP is 15" in (first / "RULE.md").read_text()
    assert main(["manifest", "build", "--out", str(first)]) == 0
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    assert first.with_suffix(".parquet").read_bytes() == second.with_suffix(".parquet").read_bytes()


def test_a_correction_needs_a_new_version(lists, tmp_path, capsys):
    out = tmp_path / "a" / "manifest"
    build = ["manifest", "build", "--out", str(out)]
    assert main([*build, "--lists", str(lists), "--size", "30"]) == 0
    path = out / "crema_d.csv"
    path.write_text(path.read_text().replace("female", "male", 1))
    assert main(build) == 2
    assert "--as-version" in capsys.readouterr().err
    assert main([*build, "--as-version", "1.0.1"]) == 0
    assert read_folder(out).version == "1.0.1" == load_manifest(out.with_suffix(".parquet")).version


def test_empty_folder_is_a_clear_error(tmp_path, capsys):
    assert main(["manifest", "build", "--lists", str(tmp_path), "--out", str(tmp_path / "x")]) == 2
    assert "no clip lists" in capsys.readouterr().err


@pytest.fixture
def manifest(lists):
    return build_manifest(lists, size=53).manifest


def test_stats_count(manifest, tmp_path):
    figures = stats(manifest)
    by_corpus = {group.name: group for group in figures["corpus"]}
    assert by_corpus["emovo"].classes == {"not shipped": 18} and by_corpus["emovo"].unknown_durations == 17
    assert sum(by_corpus["crema_d"].classes.values()) == by_corpus["crema_d"].clips == by_corpus["crema_d"].hashed
    assert [group.name for group in figures["language"]] == ["en", "it"]
    assert figures["all"][0].speakers == 12 and figures["all"][0].clips == 53
    unknown = stats(Manifest.of([replace(row, duration_s=None) for row in manifest.rows], {}))
    assert {group.hours for group in unknown["corpus"]} == {None}


def test_plots_show_every_group_the_same_each_time(manifest, tmp_path, capsys):
    pictures = plots(stats(manifest))
    assert (
        pictures == plots(stats(manifest))
        and plots({}) == {}
        and list(pictures) == ["manifest_by_corpus.svg", "manifest_by_language.svg"]
    )
    root = ElementTree.fromstring(pictures["manifest_by_corpus.svg"])
    assert {"crema_d", "emovo"} <= {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
    write_parquet(manifest, tmp_path / "a.parquet")
    command = ["manifest", "stats", "--manifest", str(tmp_path / "a.parquet"), "--plots", str(tmp_path / "p")]
    assert main(command) == 0
    assert {path.name: path.read_text() for path in (tmp_path / "p").iterdir()} == pictures


def test_stats_command_says_how_a_corpus_is_obtained(capsys):
    assert main(["manifest", "stats", "--profile", "open", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    by_corpus = {group["name"]: group for group in document["corpus"]}
    assert len(by_corpus) == 29 and all(group["obtain"] for group in by_corpus.values())
    assert by_corpus["meld"]["needs"] == ["video"] and by_corpus["meld"]["agreement"] is False
    assert by_corpus["eekk"]["not_at_present"] and not by_corpus["meld"]["not_at_present"]
    assert document["all"][0]["clips"] == 39_399
    assert set(document["undeclared"]) == {"clips", "withheld", "corpora", "digest"}
    assert main(["manifest", "stats"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:2] == ["aesdd", "604"]


def test_diff_of_versions_and_of_reports(manifest, tmp_path, capsys):
    write_parquet(manifest, tmp_path / "a.parquet")
    rows = [replace(manifest.rows[0], speaker="x"), *manifest.rows[2:]]
    write_parquet(Manifest.of(rows, manifest.label_digests, version="1.0.1"), tmp_path / "b.parquet")
    command = ["manifest", "diff", str(tmp_path / "a.parquet")]
    assert main([*command, str(tmp_path / "a.parquet")]) == 0
    capsys.readouterr()
    assert main([*command, str(tmp_path / "b.parquet"), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["summary"] == {"changed": 1, "changed speaker": 1, "removed": 1}
    assert document["differences"][0]["values"] == {"speaker": [manifest.rows[0].speaker, "x"]}
    for name, state in (("a", "exact"), ("b", "differs")):
        clips = [{"clip_id": "c/1", "corpus": "c", "media": f"{name}/1.wav", "state": state, "reason": None}]
        (tmp_path / f"{name}.json").write_text(json.dumps({"clips": clips, "totals": {}, "manifest": {"digest": name}}))
    assert main(["manifest", "diff", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 1
    assert "changed  c/1  state 'exact' → 'differs'" in capsys.readouterr().out
    assert main([*command, str(tmp_path / "a.json")]) == 2


def test_digest_command(manifest, tmp_path, capsys):
    write_parquet(manifest, tmp_path / "a.parquet")
    for profile in ("full", "open"):
        assert main(["manifest", "digest", "--manifest", str(tmp_path / "a.parquet"), "--profile", profile]) == 0
        assert capsys.readouterr().out.strip() == manifest.profile(profile).digest


# What is shipped.
