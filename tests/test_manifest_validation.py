"""validate: every state with its reason, on made copies of corpora in their official layouts."""

import json
import zipfile
from dataclasses import replace

import pytest
import soundfile

from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import find_corpora, get_corpus
from oruk_leaderboard.manifest import Manifest, ManifestRow, validate
from oruk_leaderboard.manifest.files import write_parquet
from oruk_leaderboard.manifest.findings import summarise
from tests.copies import ANGRY, CREMA_D, HAPPY, check, cut_well, flip, make_root, pinned, resample
from tests.sounds import write_voice


@pytest.fixture
def root(tmp_path):
    return make_root(tmp_path)


@pytest.fixture
def manifest(root):
    return pinned(root)


def test_untouched_copies_are_exact(root, manifest):
    result, states = check(root, manifest)
    assert result.clean
    assert set(states.values()) == {("exact", None)}
    assert result.totals == {
        "crema_d": {"exact": 3},
        "emovo": {"exact": 3},
        "ravdess": {"exact": 7, "not selected": 1},
    }
    assert result.labels == {"emovo": "confirmed"}
    assert [item.clip.clip_id for item in result.usable] == [row.clip_id for row in manifest.rows]


def test_a_lossless_repack_is_the_same_audio(root, manifest):
    for path in (root / "RAVDESS").rglob("*.wav"):
        samples, rate = soundfile.read(path, dtype="int16")
        soundfile.write(path.with_suffix(".flac"), samples, rate, subtype="PCM_16")
        path.unlink()
    result, states = check(root, manifest)
    assert result.clean
    assert states["ravdess/03-01-05-01-01-01-01"] == ("same-audio", None)
    assert result.totals["ravdess"] == {"same-audio": 7, "not selected": 1}


def test_archives_are_validated_where_they_are(root, manifest, tmp_path):
    for corpus, compression in (("RAVDESS", zipfile.ZIP_DEFLATED), ("CREMA-D", zipfile.ZIP_STORED)):
        with zipfile.ZipFile(tmp_path / f"{corpus}.zip", "w", compression) as archive:
            for path in sorted((root / corpus).rglob("*.wav")):
                archive.write(path, path.relative_to(root / corpus))
    (tmp_path / "downloads").mkdir()
    for name in ("RAVDESS.zip", "CREMA-D.zip"):
        (tmp_path / name).rename(tmp_path / "downloads" / name)
    result, states = check(tmp_path / "downloads", manifest)
    assert result.clean and set(states.values()) == {("exact", None)}
    assert result.totals == {"crema_d": {"exact": 3}, "ravdess": {"exact": 7, "not selected": 1}}
    assert check(tmp_path / "downloads" / "RAVDESS.zip", manifest)[0].totals == {
        "ravdess": {"exact": 7, "not selected": 1}
    }


def test_a_damaged_member_of_an_archive_is_unreadable(root, manifest, tmp_path):
    path = tmp_path / "CREMA-D.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((root / "CREMA-D").rglob("*.wav")):
            archive.write(file, file.relative_to(root / "CREMA-D"))
        offset = archive.infolist()[0].header_offset
    data = bytearray(path.read_bytes())
    data[offset + 5000] ^= 0xFF
    path.write_bytes(data)
    result, states = check(path, manifest)
    state, reason = states["crema_d/1001_DFA_ANG_XX"]
    assert state == "differs" and reason.startswith("unreadable: ")
    assert result.totals == {"crema_d": {"exact": 2, "differs": 1}}


def test_a_file_that_cannot_be_read_does_not_stop_the_others(root, manifest):
    class Broken:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def size(self, name):
            if name == ANGRY:
                raise PermissionError(13, "Permission denied")
            return self.inner.size(name)

    founds = [replace(found, root=Broken(found.root)) for found in find_corpora(root)]
    result = validate(founds, manifest)
    assert result.totals["ravdess"] == {"exact": 6, "differs": 1, "not selected": 1}
    (bad,) = [state for state in result.states if state.state == "differs"]
    assert bad.reason == "unreadable: Permission denied"


def test_a_renamed_file_is_missing_and_extra(root, manifest):
    (root / ANGRY).rename((root / ANGRY).with_name("take one.wav"))
    result, states = check(root, manifest)
    assert states["ravdess/03-01-05-01-01-01-01"][0] == "missing"
    assert states["RAVDESS/Actor_01/take one.wav"] == ("extra", "renamed from ravdess/03-01-05-01-01-01-01")
    assert not result.clean


def test_content_of_another_clip_is_named(root, manifest):
    (root / ANGRY).write_bytes((root / HAPPY).read_bytes())
    states = check(root, manifest)[1]
    assert states["ravdess/03-01-05-01-01-01-01"] == ("differs", "content of ravdess/03-01-03-01-01-01-01")
    assert states["ravdess/03-01-03-01-01-01-01"] == ("exact", None)


@pytest.mark.parametrize("rename", ["{}.part", "{}.crdownload", ".{}.icloud"])
def test_an_unfinished_download_is_named(root, manifest, rename):
    path = (root / ANGRY).with_name(rename.format(ANGRY.rpartition("/")[2]))
    (root / ANGRY).rename(path)
    result, states = check(root, manifest)
    name = path.relative_to(root).as_posix()
    assert states["ravdess/03-01-05-01-01-01-01"] == ("missing", f"unfinished download: {name}")
    (line,) = summarise(result.states)
    assert line.text("") == "ravdess: 1 not fully downloaded (e.g. ravdess/03-01-05-01-01-01-01): finish the download"


def test_what_is_not_recognised_is_told_with_the_nearest_corpus(root, manifest, tmp_path, capsys):
    for path in (root / "EMOVO").rglob("*.wav"):
        path.rename(path.with_name(path.name.capitalize()))
    (root / "EMOVO").rename(tmp_path / "mine")
    options = ["--root", str(tmp_path / "mine")]
    named = ["--corpus", f"emovo={tmp_path / 'mine'}"]
    for command in (
        ["validate", *options],
        ["validate", *named],
        ["reconstruct", *options, "--out", str(tmp_path / "out")],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert (
            "3 audio or video files" in said and "the nearest is emovo: 3 names fit, but upper and lower case" in said
        )
        assert "give the files the names that the release has" in said and "--corpus" not in said
    assert main(["corpora", "find", str(tmp_path / "mine")]) == 2
    assert "the nearest is emovo" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.txt").touch()
    assert main(["validate", "--root", str(tmp_path / "empty")]) == 2
    assert "found no audio; other files: 1" in capsys.readouterr().err


def test_a_corpus_that_is_not_where_the_user_says(root, tmp_path, capsys):
    """The message names both and what is there, and does not advise what was just done."""
    where = root / "EMOVO"
    for command in (
        ["corpora", "find", str(root), "--corpus", f"ravdess={where}"],
        ["validate", "--corpus", f"ravdess={where}"],
        ["reconstruct", "--corpus", f"ravdess={where}", "--out", str(tmp_path / "out")],
        ["manifest", "pin", "--corpus", f"ravdess={where}"],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"oruk-leaderboard: {where}: not recognised as ravdess; expected files such as Actor_")
        assert "this looks like emovo" in said and "if it is that one: --corpus emovo=PATH" in said
        assert "--corpus ravdess" not in said
    assert main(["corpora", "find", str(root), "--corpus", "emovo", "--corpus", f"ravdess={where}"]) == 1
    assert f"ravdess: not found under {where}" in capsys.readouterr().err


def test_an_archive_three_deep_is_refused_with_its_depth(root, tmp_path, capsys):
    inner = root / "RAVDESS"
    for depth in range(3):
        with zipfile.ZipFile(tmp_path / f"{depth}.zip", "w") as archive:
            for path in sorted(inner.rglob("*.wav")) if inner.is_dir() else [inner]:
                archive.write(path, path.name)
        inner = tmp_path / f"{depth}.zip"
    options = ["--root", str(inner)]
    for command in (
        ["corpora", "find", str(inner)],
        ["validate", *options],
        ["reconstruct", *options, "--out", str(tmp_path / "x")],
    ):
        assert main(command) == 2
        assert "an archive 3 deep; at most 2 are opened" in capsys.readouterr().err


def test_a_stray_file_is_extra_and_a_lost_one_missing(root, manifest):
    write_voice(root / "RAVDESS" / "Actor_01" / "03-02-05-01-01-01-01.wav")
    (root / HAPPY).unlink()
    result, states = check(root, manifest)
    assert states["RAVDESS/Actor_01/03-02-05-01-01-01-01.wav"] == ("extra", "song, not speech")
    assert states["ravdess/03-01-03-01-01-01-01"] == ("missing", "no file of this clip")
    assert result.totals["ravdess"] == {"exact": 6, "missing": 1, "extra": 1, "not selected": 1}


def test_of_two_files_the_exact_one_wins(root, manifest):
    good = root / "z a long way down" / "Actor_01" / "03-01-05-01-01-01-01.wav"
    good.parent.mkdir(parents=True)
    good.write_bytes((root / ANGRY).read_bytes())
    flip(root / ANGRY)
    result, states = check(root, manifest)
    assert states["ravdess/03-01-05-01-01-01-01"] == ("exact", None)
    assert states[ANGRY] == ("extra", f"also at {good.relative_to(root)}")
    usable = {item.clip.clip_id: item.clip for item in result.usable}["ravdess/03-01-05-01-01-01-01"]
    assert (usable.media, usable.label, usable.excluded) == (str(good.relative_to(root)), "anger", None)


def test_of_two_exact_files_the_shorter_path_wins(root, manifest):
    for folder in ("a/very/long/way/down", "z"):
        copy = root / folder / "Actor_01" / "03-01-05-01-01-01-01.wav"
        copy.parent.mkdir(parents=True)
        copy.write_bytes((root / ANGRY).read_bytes())
    (root / ANGRY).unlink()
    _, states = check(root, manifest)
    assert states["ravdess/03-01-05-01-01-01-01"] == ("exact", None)
    stray = "a/very/long/way/down/Actor_01/03-01-05-01-01-01-01.wav"
    assert states[stray] == ("extra", "also at z/Actor_01/03-01-05-01-01-01-01.wav")


def test_a_root_that_is_given_twice_is_one_root(root, manifest, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(tmp_path)
    founds = find_corpora(root, str(root) + "/", tmp_path / "link", "corpora")
    assert [found.spec.id for found in founds] == ["crema_d", "emovo", "ravdess"]
    assert validate(founds, manifest).clean


def test_a_root_is_enough(root, manifest):
    assert validate(root, manifest).to_dict() == validate(find_corpora(root), manifest).to_dict()
    assert validate(str(root), manifest).clean


def test_without_digests_a_clip_is_unpinned(root, manifest):
    bare = [ManifestRow(row.clip_id, row.corpus, row.media, label=row.label) for row in manifest.rows]
    (root / ANGRY).write_bytes(b"")
    result, states = check(root, Manifest.of(bare, {}))
    assert states["ravdess/03-01-05-01-01-01-01"] == ("differs", "empty")
    assert states["ravdess/03-01-03-01-01-01-01"] == ("unpinned", None)
    assert result.totals["crema_d"] == {"unpinned": 3}


def test_a_listing_is_checked_by_names(root, manifest, tmp_path):
    names = [str(path.relative_to(root)) for path in root.rglob("*.wav")]
    listing = tmp_path / "files.lst"
    listing.write_text("\n".join(sorted(names)[1:]))
    result, states = check(listing, manifest)
    assert result.totals["crema_d"] == {"unpinned": 2, "missing": 1}
    assert states["crema_d/1001_DFA_FEA_XX"] == ("unpinned", "a listing has names only")


def test_a_profile_tells_absent_corpora_in_one_line(root, manifest):
    more = [ManifestRow(f"nemo/{number}", "nemo", open=True) for number in range(3)]
    manifest = Manifest.of([*manifest.rows, *more], manifest.label_digests)
    assert check(root, manifest)[0].absent == {}
    full, _ = check(root, manifest, profile="full")
    assert (full.absent, full.clean) == ({"nemo": 3}, True)
    opened, _ = check(root, manifest, profile="open")
    assert opened.totals["emovo"] == {"not selected": 3}
    assert opened.manifest["profile"] == "open" and opened.manifest["digest"] != full.manifest["digest"]


def test_other_labels_than_the_manifests_are_a_finding(root, manifest):
    rows = [replace(row, label="fear") if row.clip_id == "crema_d/1002_IEO_HAP_LO" else row for row in manifest.rows]
    wrong = Manifest.of(rows, manifest.label_digests)
    result, _ = check(root, wrong)
    assert [(problem.where, problem.reason) for problem in result.problems] == [
        ("crema_d/1002_IEO_HAP_LO", "label happiness, in the manifest fear")
    ]
    assert not result.clean
    wrong = Manifest.of(manifest.rows, {"emovo": "0" * 64})
    result, _ = check(root, wrong)
    assert result.labels == {"emovo": "differ"} and not result.clean


def test_labels_of_a_partial_copy_are_not_confirmed(root, manifest):
    (root / "EMOVO" / "f1" / "dis-f1-b1.wav").unlink()
    assert check(root, manifest)[0].labels == {"emovo": "not confirmed: 1 of 3 clips have no label here"}


def test_another_label_source_is_not_compared(root, manifest):
    votes = root / "CREMA-D" / "processedResults" / "summaryTable.csv"
    votes.parent.mkdir()
    votes.write_text("FileName,VoiceVote\n" + "".join(f"{name},S\n" for name in CREMA_D))
    founds = find_corpora(root, only=["crema_d"])
    result = validate(founds, manifest, label_source="perceived")
    assert result.clean and {item.clip.label for item in result.usable} == {"sadness"}


def test_result_does_not_depend_on_the_number_of_threads(root, manifest):
    flip(root / ANGRY)
    assert check(root, manifest, workers=1)[0].to_dict() == check(root, manifest, workers=7)[0].to_dict()


def test_a_bad_copy_is_a_line_per_corpus_and_remedy(root, manifest, tmp_path, capsys):
    paths = sorted((root / "RAVDESS").rglob("*.wav"))
    for path in paths[2:5]:
        resample(path)
    flip(paths[0])
    (root / "EMOVO" / "f1" / "dis-f1-b1.wav").rename(root / "other.wav")
    cut_well(root / "EMOVO" / "m1" / "gio-m1-b2.wav")
    write_parquet(manifest, tmp_path / "m.parquet")
    assert main(["validate", "--root", str(root), "--manifest", str(tmp_path / "m.parquet")]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if ": " in line]
    obtain = {name: " ".join(get_corpus(name).obtain.split()) for name in ("emovo", "ravdess")}
    assert lines == [
        "emovo: labels not confirmed: 1 of 3 clips have no label here",
        f"emovo: 1 cut (e.g. emovo/gio-m1-b2): get the original ({obtain['emovo']})",
        "emovo: 1 renamed (e.g. other.wav): rename them back",
        f"emovo: 1 missing (e.g. emovo/dis-f1-b1): get the rest ({obtain['emovo']})",
        f"ravdess: 3 resampled, 1 changed (e.g. ravdess/{paths[0].stem}): get the original ({obtain['ravdess']})",
        "the whole list: --full",
    ]


def test_a_clip_that_the_profile_does_not_choose_is_checked_too(root, manifest):
    flip(root / "EMOVO" / "f1" / "dis-f1-b1.wav")
    result, states = check(root, manifest, profile="open")
    assert states["emovo/dis-f1-b1"] == ("differs", "changed; not selected")
    assert result.totals["emovo"] == {"differs": 1, "not selected": 2}
    assert not result.clean
    assert check(root, manifest, profile="open", unselected=False)[0].totals["emovo"] == {"not selected": 3}


def test_command(root, manifest, tmp_path, capsys):
    pins = tmp_path / "manifest.parquet"
    write_parquet(manifest, pins)
    options = ["validate", "--root", str(root), "--manifest", str(pins)]
    assert main([*options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["totals"]["emovo"] == {"exact": 3}
    chosen = sum(row.corpus in document["totals"] for row in manifest.rows)
    assert document["digests"] == {"pinned": chosen, "hashed": chosen, "proven": 0}
    assert document["clips"][0] == {
        "clip_id": "crema_d/1001_DFA_ANG_XX",
        "corpus": "crema_d",
        "media": "CREMA-D/AudioWAV/1001_DFA_ANG_XX.wav",
        "state": "exact",
        "reason": None,
    }
    (root / ANGRY).write_bytes(b"")
    assert main(options) == 1
    out = capsys.readouterr().out
    assert "ravdess: 1 empty (e.g. ravdess/03-01-05-01-01-01-01): get the original (" in out
    assert ANGRY not in out
    assert f"{chosen} clips are pinned (listed in the manifest), {chosen} (100.0%) hashed" in out
    assert main([*options, "--full"]) == 1
    assert f"differs  ravdess/03-01-05-01-01-01-01  {ANGRY}: empty" in capsys.readouterr().out
    assert main(["validate", "--root", str(tmp_path / "nothing"), "--manifest", str(pins)]) == 2
    (tmp_path / "void").mkdir()
    assert main(["validate", "--root", str(tmp_path / "void"), "--manifest", str(pins)]) == 2
    assert main(["validate", "--manifest", str(pins)]) == 2
    assert main([*options, "--corpus", "emovo", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["totals"]) == {"emovo"}
    assert main([*options, "--corpus", "emovo", "--corpus", "urdu"]) == 1
    assert f"urdu: not found under {root}" in capsys.readouterr().err
