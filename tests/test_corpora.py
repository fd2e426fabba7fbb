"""One module for all corpus specs: each spec's own example, in every packing users have."""

import json
import shutil
import signal
import subprocess
import unicodedata
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import (
    clips,
    exclude_duplicates,
    find_corpora,
    get_corpus,
    locate,
    open_root,
    registry,
)
from oruk_leaderboard.corpora.example import build_example, differences
from oruk_leaderboard.corpora.loading import check_schema, load_spec
from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.errors import CorpusError

SPECS = [spec for spec in registry().values() if spec.state == "adapter"]
every_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)


def found_in(spec: CorpusSpec, root: Path, **options):
    return clips(locate(spec, open_root(root)), **options)


def essence(found) -> list[tuple[object, ...]]:
    """What must not depend on packing: everything but the path."""
    return [
        tuple(value for key, value in clip.to_dict().items() if key not in {"media", "excluded"})
        for clip in found.clips
    ]


@every_spec
def test_example_gives_its_clips(spec: CorpusSpec, tmp_path: Path) -> None:
    build_example(spec, tmp_path)
    assert differences(spec, tmp_path) == []


@every_spec
def test_spec_is_complete(spec: CorpusSpec) -> None:
    import tomllib

    check_schema(tomllib.loads(spec.origin.read_text(encoding="utf-8")), where=spec.origin)
    assert spec.id == spec.origin.stem
    assert len(spec.origin.read_text(encoding="utf-8").splitlines()) <= 50
    assert spec.citation and spec.obtain and spec.licence and spec.example["clips"]
    assert set(spec.shares_material_with) <= set(registry())


@every_spec
def test_wrapped_renamed_and_upper_case_suffix(spec: CorpusSpec, tmp_path: Path) -> None:
    build_example(spec, tmp_path / "plain")
    expected = essence(found_in(spec, tmp_path / "plain"))
    wrapped = tmp_path / "My Disk" / (spec.id if spec.within else "copy of something") / "v1.0"
    build_example(spec, wrapped)
    for file in [path for path in wrapped.rglob("*") if path.suffix.lower() in MEDIA]:
        file.rename(file.with_suffix(file.suffix.upper()))
        (file.parent / f"._{file.name}").write_bytes(b"resource fork")
    (tmp_path / "My Disk" / "__MACOSX").mkdir()
    assert essence(found_in(spec, tmp_path / "My Disk")) == expected
    recognised = {corpus.spec.id: corpus for corpus in find_corpora(tmp_path / "My Disk")}
    assert spec.id in recognised
    assert essence(clips(recognised[spec.id])) == expected


@every_spec
def test_listing_with_backslashes_crlf_and_bom(spec: CorpusSpec, tmp_path: Path) -> None:
    build_example(spec, tmp_path / "data")
    names = open_root(tmp_path / "data").names()
    listing = tmp_path / "files.lst"
    lines = [unicodedata.normalize("NFD", name.replace("/", "\\")) for name in names]
    listing.write_bytes("\r\n".join([*lines, ""]).encode("utf-8-sig"))
    assert list(open_root(listing).names()) == list(names)
    if spec.files:
        got, real = found_in(spec, listing), found_in(spec, tmp_path / "data")
        assert [(clip.clip_id, clip.media, clip.label) for clip in got.clips] == [
            (clip.clip_id, clip.media, clip.label) for clip in real.clips
        ]
    else:
        with pytest.raises(CorpusError, match="a listing has no content"):
            found_in(spec, listing)


@every_spec
def test_second_copy_is_excluded(spec: CorpusSpec, tmp_path: Path) -> None:
    build_example(spec, tmp_path / "a")
    build_example(spec, tmp_path / "a longer name")
    corpus = locate(spec, open_root(tmp_path))
    assert [place.partition("/")[0] for place in corpus.places] == ["a", "a longer name"]
    found = clips(corpus)
    copies = [clip for clip in found.clips if clip.excluded and clip.excluded.startswith("also at a/")]
    assert {clip.media.partition("/")[0] for clip in copies} == {"a longer name"}
    assert len(found.clips) == 2 * len(copies)


def test_specs_agree_on_no_file(tmp_path: Path) -> None:
    for spec in SPECS:
        build_example(spec, tmp_path / spec.id)
    for corpus in find_corpora(tmp_path):
        foreign = {match.media for match in corpus.files if not match.media.startswith(f"{corpus.spec.id}/")}
        assert not foreign, corpus.spec.id


def test_nested_second_copy_of_ravdess(ravdess: Path) -> None:
    shutil.copytree(ravdess / "Actor_18", ravdess / "audio_speech_actors_01-24" / "Actor_18")
    found = found_in(get_corpus("ravdess"), ravdess)
    assert [clip.excluded for clip in found.clips if clip.media.startswith("audio_speech")] == [
        "also at Actor_18/03-01-05-01-02-01-18.wav"
    ]


def test_extras_are_named_and_never_clips(ravdess: Path) -> None:
    stray = ravdess / "Actor_25" / "03-01-05-01-02-01-25.wav"
    stray.parent.mkdir()
    stray.write_bytes(b"RIFF")
    found = found_in(get_corpus("ravdess"), ravdess)
    assert {extra.where: extra.reason for extra in found.extras} == {
        "Actor_18/03-02-05-01-02-01-18.wav": "song, not speech",
        "Actor_25/03-01-05-01-02-01-25.wav": "not in the official set",
    }
    assert not any(clip.media.startswith("Actor_25") for clip in found.clips)


def test_files_of_another_corpus_are_no_extras(ravdess: Path) -> None:
    build_example(get_corpus("asvp_esd"), ravdess / "ASVP")
    found = found_in(get_corpus("ravdess"), ravdess)
    assert [extra.where for extra in found.extras] == ["Actor_18/03-02-05-01-02-01-18.wav"]


def test_identical_files(tmp_path: Path) -> None:
    spec = get_corpus("emovo")
    root = tmp_path / "emovo"
    build_example(spec, root)
    same = (root / "f1/dis-f1-b1.wav").read_bytes()
    (root / "f1/dis-f1-b2.wav").write_bytes(same)
    found = found_in(spec, root)
    assert {clip.clip_id: clip.excluded for clip in found.clips} == {
        "emovo/dis-f1-b1": None,
        "emovo/dis-f1-b2": "duplicate of emovo/dis-f1-b1",
        "emovo/pau-m1-l1": None,
    }
    (root / "m1/pau-m1-l1.wav").write_bytes(same)
    found = found_in(spec, root)
    assert {clip.excluded for clip in found.clips} == {"contradictory duplicate"}
    assert all(clip.label is None for clip in found.clips)
    plain = found_in(spec, root, hash_duplicates=False).clips
    kept, _ = exclude_duplicates(plain, open_root(root), keep={"emovo/dis-f1-b2"})
    assert {clip.clip_id: clip.label for clip in kept}["emovo/dis-f1-b2"] == "disgust"
    assert sum(clip.label is not None for clip in kept) == 1


def test_unknown_native_label_is_a_finding(tmp_path: Path) -> None:
    listing = tmp_path / "files.lst"
    listing.write_text("AudioWAV/1001_DFA_ANG_XX.wav\nAudioWAV/1001_DFA_JOY_XX.wav\n")
    found = found_in(get_corpus("crema_d"), listing)
    assert [clip.label for clip in found.clips] == ["anger", None]
    assert [problem.where for problem in found.problems] == ["crema_d/1001_DFA_JOY_XX"]


def test_label_file_without_a_column(tmp_path: Path) -> None:
    spec = get_corpus("nemo")
    build_example(spec, tmp_path)
    (tmp_path / "data.tsv").write_text("file_id\traw_text\nWR0_surprised_64.wav\tx\n")
    with pytest.raises(CorpusError, match=r"data\.tsv: the label file lacks a column"):
        found_in(spec, tmp_path)


def test_perceived_labels(tmp_path: Path) -> None:
    spec = get_corpus("crema_d")
    build_example(spec, tmp_path)
    with pytest.raises(CorpusError, match="needs a label file"):
        found_in(spec, tmp_path, label_source="perceived")
    votes = tmp_path / "processedResults" / "summaryTable.csv"
    votes.parent.mkdir()
    votes.write_text('"","FileName","VoiceVote","MultiModalVote"\n"1","1001_DFA_ANG_XX","N","H"\n')
    found = found_in(spec, tmp_path, label_source="perceived")
    assert [(clip.native_label, clip.label) for clip in found.clips] == [("N", "neutral"), (None, None)], "voice only"
    found = found_in(spec, tmp_path, label_source="audiovisual")
    assert [(clip.native_label, clip.label) for clip in found.clips] == [("H", "happiness"), (None, None)]
    with pytest.raises(CorpusError, match="no such label policy"):
        found_in(spec, tmp_path, label_policy="iemocap-4class")


def test_unicode_forms_and_links(tmp_path: Path) -> None:
    folder = tmp_path / unicodedata.normalize("NFD", "Schön")
    build_example(get_corpus("emodb"), folder)
    (folder / "round").symlink_to(tmp_path, target_is_directory=True)
    (folder / "gone.wav").symlink_to(tmp_path / "nowhere")
    root = open_root(tmp_path)
    assert all(unicodedata.is_normalized("NFC", name) for name in root.names())
    assert {problem.reason for problem in root.problems} == {"symbolic link loop", "broken link"}
    found = clips(locate(get_corpus("emodb"), root))
    assert len(found.clips) == 2
    with root.open(found.clips[0].media) as file:
        assert file.read(4) == b"RIFF"


def test_user_patterns_have_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = get_corpus("emovo").origin.read_text(encoding="utf-8").replace('id = "emovo"', 'id = "mine"')
    own = tmp_path / "mine.toml"
    own.write_text(text.replace("emovo/", "mine/"), encoding="utf-8")
    assert main(["corpora", "check", str(own)]) == 0
    own.write_text(text.replace("name = '(?P", "name = '(?:(?:[a-z-]+)+)+!|(?P"), encoding="utf-8")
    spec = load_spec(own)
    listing = tmp_path / "files.lst"
    listing.write_text("f1/" + "a" * 40 + ".wav\n")
    monkeypatch.setattr("oruk_leaderboard.corpora.match.TIME_LIMIT_S", 1)
    with pytest.raises(CorpusError, match="take too long"):
        found_in(spec, listing)
    # Nothing but their own work is charged to the patterns: a process that the system ends says so.
    killed = subprocess.CompletedProcess([], -signal.SIGKILL, "", "")
    with monkeypatch.context() as patched:
        patched.setattr("oruk_leaderboard.corpora.match.subprocess.run", lambda *_, **__: killed)
        with pytest.raises(CorpusError, match=r"was killed.*signal 9"):
            found_in(spec, listing)
    # The same spec among the user's own names itself and leaves the other corpora alone.
    monkeypatch.setenv("ORUK_CORPORA", str(tmp_path))
    listing.write_text("f1/" + "a" * 40 + ".wav\nwav/03a01Wa.wav\nwav/16b10Lb.wav\n")
    (found,) = find_corpora(listing)
    assert found.spec.id == "emodb"
    assert [problem.where for problem in found.root.problems] == [str(own)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("[labels]", "[labels]\nxxx = 'rage'"), "labels.xxx"),
        (("[files]", "[files]\nstem = 'x'"), "stem"),
        (("speaker>[fm]", "talker>[fm]"), "no pattern gives this column"),
        (("[a-z]{3})", "[a-z]{3}"), "not a regular expression"),
        (("{speaker}/{stem}.wav", "{speaker:shout}/{stem}.wav"), "unknown filter"),
        (("[files]", "[files"), "not TOML"),
    ],
)
def test_malformed_spec(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(get_corpus("emovo").origin.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    with pytest.raises(CorpusError, match=told):
        load_spec(own)


def test_command_line(ravdess: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpora", "clips", "ravdess", "--root", str(ravdess), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["label"] for row in rows] == [None, "anger"]
    assert main(["corpora", "find", str(tmp_path), "--json"]) == 1
    assert [item["id"] for item in json.loads(capsys.readouterr().out)["corpora"]] == ["ravdess"]
    assert main(["corpora", "list", "--json"]) == 0
    keys = {"id", "name", "languages", "elicitation", "licence", "agreement", "clips", "tier", "state", "citation"}
    assert all(keys <= item.keys() for item in json.loads(capsys.readouterr().out))
    assert main(["corpora", "show", "ravdess"]) == 0
    assert main(["corpora", "clips", "ravdes", "--root", str(ravdess)]) == 2
    assert "did you mean ravdess" in capsys.readouterr().err
    assert main(["corpora", "clips", "emodb", "--root", str(ravdess)]) == 2


def test_differences_from_published_lists(tmp_path: Path) -> None:
    import tomllib

    known = tomllib.loads(Path(__file__).with_name("known_list_errors.toml").read_text(encoding="utf-8"))["differs"]
    for item in known:
        listing = tmp_path / "files.lst"
        listing.write_text(item["path"], encoding="utf-8")
        (clip,) = found_in(get_corpus(item["corpus"]), listing).clips
        assert (clip.label, clip.excluded) == (None, item["reason"])
        assert clip.label != item["listed"]


def own_spec(folder: Path, corpus: str, name: str = "emovo") -> Path:
    folder.mkdir(exist_ok=True)
    lines = get_corpus(name).origin.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("names = "))
    path = folder / f"{corpus}.toml"
    path.write_text(text.replace(f'"{name}"', f'"{corpus}"').replace(f'"{name}/', f'"{corpus}/'), encoding="utf-8")
    return path
