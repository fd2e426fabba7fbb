"""Corpora of a user's own, surveys of copies, and what is damaged or strange in them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import (
    broken_plug_ins,
    clips,
    clips_of,
    find_corpora,
    get_corpus,
    locate,
    open_root,
    registry,
)
from oruk_leaderboard.corpora.example import build_example
from oruk_leaderboard.corpora.loading import load_spec
from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.errors import CorpusError
from tests.test_corpora import SPECS, essence, every_spec, found_in, own_spec


def test_own_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "specs"
    own_spec(folder, "mine")
    (folder / "broken.toml").write_text("id = 3", encoding="utf-8")
    monkeypatch.setenv("ORUK_CORPORA", str(folder))
    assert registry()["mine"].tier == "A"
    build_example(registry()["mine"], tmp_path / "data")
    assert len(found_in(get_corpus("mine"), tmp_path / "data").clips) == 2
    assert main(["corpora", "list", "--json"]) == 1
    told = capsys.readouterr()
    assert "broken.toml" in told.err and '"id": "mine"' in told.out
    own_spec(tmp_path / "clash", "emodb")
    monkeypatch.setenv("ORUK_CORPORA", str(tmp_path / "clash"))
    with pytest.raises(CorpusError, match="two specs have the id emodb"):
        registry()
    monkeypatch.delenv("ORUK_CORPORA")
    with pytest.raises(CorpusError, match="two specs have the id emodb"):
        get_corpus(tmp_path / "clash" / "emodb.toml")


@pytest.mark.parametrize("path", ["/{}/evil.wav", "../evil.wav", "wav/../../evil.wav", "..\\\\evil.wav", "C:/evil.wav"])
def test_an_example_stays_in_its_folder(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = own_spec(tmp_path, "mine", "emodb")
    text = spec.read_text(encoding="utf-8").replace('"wav/03a01Wa.wav" =', f'"{path.format(tmp_path)}" =')
    spec.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match="not a path of an example"):
        build_example(load_spec(spec), tmp_path / "example")
    assert not list(tmp_path.rglob("*evil*"))
    assert main(["corpora", "check", str(spec)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_spec_with_the_id_of_another_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpora", "check", str(own_spec(tmp_path, "emodb", "emovo"))]) == 1
    assert "another spec has the id emodb" in capsys.readouterr().out


def test_every_verb_names_broken_specs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own_spec(tmp_path, "mine")
    (tmp_path / "broken.toml").write_text("id = 3", encoding="utf-8")
    monkeypatch.setenv("ORUK_CORPORA", str(tmp_path))
    build_example(registry()["mine"], tmp_path / "data")
    root = ["--root", str(tmp_path / "data"), "--corpus", "mine"]
    for arguments in (["validate"], ["reconstruct", "--all-clips", "--out", str(tmp_path / "set")]):
        assert main([*arguments, *root]) == 1
        assert "broken.toml" in capsys.readouterr().err


def test_plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_spec(tmp_path / "lab", "from_a_lab")
    (tmp_path / "good_plug_in.py").write_text(
        f"from pathlib import Path\n\n\ndef corpora():\n    return Path({str(tmp_path / 'lab')!r})\n"
    )
    (tmp_path / "bad_plug_in.py").write_text("def corpora():\n    raise RuntimeError('no such disk')\n")
    info = tmp_path / "plug_ins-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-ins\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[oruk_leaderboard.corpora]\nbad = bad_plug_in:corpora\ngood = good_plug_in:corpora\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ORUK_CORPORA", str(tmp_path / "nowhere"))
    assert "from_a_lab" in registry()
    reasons = {problem.where: problem.reason for problem in broken_plug_ins()}
    assert reasons["plug-in bad (bad_plug_in:corpora)"] == "RuntimeError: no such disk"
    assert f"ORUK_CORPORA {tmp_path / 'nowhere'}" in reasons


@pytest.mark.parametrize(
    ("pattern", "suffixes"),
    [
        (r"data\.tsv", (".tsv",)),
        (r"(?:all|data)\.(?:csv|TSV)", (".csv", ".tsv")),
        (r"[(|]\.csv|data\.tsv", None),
        (r"all\.csv|data\.tsv", None),
        (r"data\.[^/]+", None),
        (r"data\\?.tsv", None),
    ],
)
def test_label_files_of_suffixes_that_the_pattern_spells_out(
    pattern: str, suffixes: tuple[str, ...] | None, tmp_path: Path
) -> None:
    path = own_spec(tmp_path, "mine", "nemo")
    path.write_text(path.read_text(encoding="utf-8").replace(r"data\.tsv", pattern), encoding="utf-8")
    spec = load_spec(path)
    assert spec.table is not None and spec.table.suffixes == suffixes
    build_example(spec, tmp_path / "data")
    assert [match.media for match in locate(spec, open_root(tmp_path / "data")).tables] == ["data.tsv"]


def test_own_reader_beside_the_spec(tmp_path: Path) -> None:
    spec_file = own_spec(tmp_path, "read_my_way", "nemo")
    text = spec_file.read_text(encoding="utf-8").replace("[table]\n", '[table]\nreader = "mine.py:rows"\n')
    spec_file.write_text(text, encoding="utf-8")
    (tmp_path / "mine.py").write_text(
        "def rows(file):\n"
        "    for line in list(file.text())[1:]:\n"
        "        cells = [cell.strip() for cell in line.split('\\t')]\n"
        "        yield dict(zip(('file_id', 'emotion', 'raw_text', '_', 'speaker_id', 'gender'), cells))\n"
    )
    assert main(["corpora", "check", str(spec_file)]) == 0
    (tmp_path / "mine.py").unlink()
    assert main(["corpora", "check", str(spec_file)]) == 2


def test_survey_says_what_to_do(ravdess: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ravdess / "Actor_18" / "03-01-05-01-02-01-18.wav").write_bytes(b"")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
    (ravdess / "Actor_01" / "03-01-02-01-02-01-01.wav").write_bytes(pointer)
    (ravdess / "Audio_Speech_Actors_01-24.zip.crdownload").write_bytes(b"x")
    assert main(["corpora", "find", str(ravdess), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["corpora"]
    assert found["clips"] == 2 and found["of"] == 1440 and found["release"] == "official layout"
    assert [item["what"] for item in found["shortfalls"]] == [
        "Git LFS pointers instead of recordings",
        "empty files",
        "unfinished downloads",
        "only 2 of 1,440 clips are here",
    ]
    assert found["shortfalls"][0]["do"] == "run git lfs pull in the clone"
    assert main(["corpora", "find", str(ravdess), "--hash"]) == 1
    assert "by hash" in capsys.readouterr().out


def test_find_says_why_a_corpus_is_usable_in_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in (
        ("1-m-20-2-0-1", b"a"),
        ("1-m-20-2-1-1", b"bb"),
        ("1-m-20-3-1-2", b"bb"),
        ("2-f-9-4-2-1", b"c"),
    ):
        file = tmp_path / name.split("-")[3] / f"{name}.wav"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    main(["corpora", "find", str(tmp_path)])
    assert "baved: 2 of 4 clips usable: 2 with a label without a class (0, 2)\n" in capsys.readouterr().out
    main(["corpora", "find", str(tmp_path), "--hash"])
    told = "baved: 1 of 4 clips usable: 2 with a label without a class (0, 2), 1 byte-identical to another\n"
    assert told in capsys.readouterr().out


@every_spec
def test_folders_in_another_case(spec: CorpusSpec, tmp_path: Path) -> None:
    build_example(spec, tmp_path / "plain")
    for file in list((tmp_path / "plain").rglob("*")):
        if file.is_file():
            folder = file.parent.relative_to(tmp_path / "plain").as_posix()
            # A disk that does not tell cases apart may hold them in any case; suffixes of folders stay what they are.
            other = tmp_path / "other" / folder.swapcase() / file.name
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_bytes(file.read_bytes())
    assert essence(found_in(spec, tmp_path / "other")) == essence(found_in(spec, tmp_path / "plain"))


@pytest.mark.parametrize("case", [str.lower, str.upper])
@every_spec
def test_a_tree_in_one_case(spec: CorpusSpec, case: Callable[[str], str], tmp_path: Path) -> None:
    if spec.id == "eaed" or (spec.id in ("ased", "savee") and case is str.lower):
        pytest.skip("a person's name; the one file of ased in capitals; two packings of savee, one without letter case")
    build_example(spec, tmp_path / "plain")
    for file in [path for path in (tmp_path / "plain").rglob("*") if path.is_file()]:
        other = tmp_path / "other" / case(file.relative_to(tmp_path / "plain").as_posix())
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(file.read_bytes())
    expected = essence(found_in(spec, tmp_path / "plain"))
    assert essence(found_in(spec, tmp_path / "other")) == expected
    if not spec.within:
        (corpus,) = find_corpora(tmp_path / "other")
        assert essence(clips(corpus)) == expected


def test_long_paths(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a folder with quite a long name"] * 12)
    build_example(get_corpus("emodb"), deep)
    assert len(str(deep)) > 300
    (corpus,) = find_corpora(tmp_path)
    assert len(clips(corpus).clips) == 2


def test_one_clip_id_twice_in_a_table(tmp_path: Path) -> None:
    spec = get_corpus("nemo")
    build_example(spec, tmp_path)
    table = tmp_path / "data.tsv"
    rows = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([*rows, rows[1], rows[1].replace("\tsurprised\t", "\tanger\t")]), encoding="utf-8")
    found = found_in(spec, tmp_path)
    assert [problem.reason for problem in found.problems] == [
        "the clip is listed twice",
        "rows that contradict each other",
    ]
    assert [(clip.label, clip.excluded) for clip in found.clips] == [(None, "rows that contradict each other")]


def test_many_files(tmp_path: Path) -> None:
    listing = tmp_path / "files.lst"
    names = [f"disk/{number % 997}/recording {number}.wav" for number in range(100_000)]
    names += [
        f"C/AudioWAV/{who}_{text}_ANG_XX.wav"
        for who in range(1001, 1081)
        for text in ("DFA", "IEO", "ITH", "TIE", "WSI")
    ]
    listing.write_text("\n".join(names))
    (corpus,) = find_corpora(listing)
    assert (corpus.spec.id, corpus.places) == ("crema_d", ("C/",))
    assert len(clips(corpus).clips) == 400


def test_one_corpus_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("crema_d", "nemo", "emodb"):
        build_example(get_corpus(name), tmp_path / name)
    (tmp_path / "nemo" / "data.tsv").write_text("file_id\nWR0_surprised_64.wav\n")
    founds = find_corpora(tmp_path)
    assert [len(found.clips) for found in clips_of(founds)] == [2, 2, 0]
    assert "lacks a column" in clips_of(founds)[2].problems[0].reason
    votes = tmp_path / "crema_d" / "processedResults" / "summaryTable.csv"
    votes.parent.mkdir()
    votes.write_text("FileName,VoiceVote\n1001_DFA_ANG_XX,H\n")
    crema, emodb, _ = clips_of(find_corpora(tmp_path), label_source="perceived")
    assert [clip.label for clip in crema.clips] == ["happiness", None]
    assert [clip.label for clip in emodb.clips] == ["anger", None]
    with pytest.raises(CorpusError, match="none of the corpora has such a label policy"):
        clips_of(founds, label_policy="no-such")
    listing = tmp_path / "files.lst"
    listing.write_text("\n".join(open_root(tmp_path).names()))
    assert main(["corpora", "find", str(listing), "--json"]) == 1
    assert [item["clips"] for item in json.loads(capsys.readouterr().out)["corpora"]] == [2, 2, 1]


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.table or spec.joins], ids=lambda spec: spec.id)
def test_damaged_label_files(spec: CorpusSpec, tmp_path: Path) -> None:
    build_example(spec, tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix.lower() not in MEDIA]
    for file in files:
        whole = file.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], whole[::-1], whole.replace(b",", b'"'), b"\0" + whole):
            file.write_bytes(damaged)
            try:
                found = found_in(spec, tmp_path)
            except CorpusError as error:
                assert error.what and error.where
            else:
                assert all(clip.clip_id.startswith(f"{spec.id}/") for clip in found.clips)
        file.write_bytes(whole)


@pytest.mark.parametrize(
    ("corpus", "file", "good", "bad"),
    [
        ("iemocap", "Session1/dialog/EmoEvaluation/Ses01F_impro01.txt", "[1.0000, 2.0000, 3.0000]", "[2.5, nothing]"),
        ("msp_improv", "Evaluation.txt", "-P-FM99.avi; N;", "-P-FM99.avi; neutral;"),
    ],
)
def test_a_line_that_counts_and_cannot_be_read_is_no_detail(
    corpus: str, file: str, good: str, bad: str, tmp_path: Path
) -> None:
    build_example(get_corpus(corpus), tmp_path)
    path = tmp_path / file
    text = path.read_text(encoding="utf-8")
    assert good in text
    path.write_text(text.replace(good, bad), encoding="utf-8")
    with pytest.raises(CorpusError, match="not written as in the release"):
        found_in(get_corpus(corpus), tmp_path)


def test_a_clip_without_any_vote_is_kept_and_said(tmp_path: Path) -> None:
    build_example(get_corpus("dusha"), tmp_path)
    path = tmp_path / "crowd_test/raw_crowd_test.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("\tangry\t", "\t\t").replace("1\tsad\t", "1\t\t"), "utf-8")
    [clip] = found_in(get_corpus("dusha"), tmp_path).clips
    assert (clip.clip_id, clip.label, clip.excluded) == ("dusha/0a1b", None, "no native label")
