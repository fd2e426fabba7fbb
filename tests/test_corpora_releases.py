"""Corpora as they are really shipped: file names and label files in the form of the release, audio made up."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import CorpusClips, FoundCorpus, clips, find_corpora, get_corpus, locate, open_root
from oruk_leaderboard.manifest.survey import survey


def sound(path: Path, seconds: float = 0.1, *, rate: int = 16_000, format: str = "WAV") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    seed = sum(map(ord, str(path)))
    samples = np.random.default_rng(seed).normal(0, 0.1, round(seconds * rate))
    soundfile.write(path, samples, rate, format=format)


def only(root: Path) -> tuple[FoundCorpus, CorpusClips]:
    (corpus,) = find_corpora(root)
    return corpus, clips(corpus)


def usable(found: CorpusClips) -> dict[str, str | None]:
    return {clip.clip_id: clip.label for clip in found.clips if clip.excluded is None}


def archive(path: Path, members: dict[str, Path]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as tar:
        for name, file in members.items():
            tar.add(file, name)


def test_emov_db_as_openslr_ships_it(tmp_path: Path) -> None:
    sound(tmp_path / "x.wav")
    sound(tmp_path / "y.wav")
    for who in ("bea_Angry", "sam_Neutral"):
        files = {"anger_1-28_0001.wav": tmp_path / "x.wav", "anger_1-28_0002.wav": tmp_path / "y.wav"}
        archive(tmp_path / "in" / f"{who}.tar.gz", files)
    corpus, found = only(tmp_path / "in")
    assert corpus.spec.id == "emov_db" and len(corpus.places) == 1
    assert {clip.clip_id: (clip.speaker, clip.native_label) for clip in found.clips} == {
        f"emov_db/{who}/anger_1-28_000{n}": (who, style)
        for who, style in (("bea", "Angry"), ("sam", "Neutral"))
        for n in (1, 2)
    }


def test_emov_db_as_its_authors_unpack_it(tmp_path: Path) -> None:
    sound(tmp_path / "EMOV-DB" / "1" / "anger_1-28_0001.wav")
    sound(tmp_path / "EMOV-DB" / "4" / "sleepiness_1-28_0001.wav")
    _, found = only(tmp_path)
    assert [(clip.clip_id, clip.label, clip.native_label) for clip in found.clips] == [
        ("emov_db/bea/anger_1-28_0001", "anger", "Angry"),
        ("emov_db/sam/sleepiness_1-28_0001", None, "Sleepy"),
    ]


def test_mead_in_an_archive_per_person(tmp_path: Path) -> None:
    sound(tmp_path / "x.wav")
    for who in ("M003", "W009"):
        archive(tmp_path / "MEAD" / who / "audio.tar", {"audio/angry/level_1/001.wav": tmp_path / "x.wav"})
    corpus, found = only(tmp_path / "MEAD")
    assert corpus.spec.id == "mead" and corpus.places == ("",)
    assert [clip.clip_id for clip in found.clips] == ["mead/M003/angry/level_1/001", "mead/W009/angry/level_1/001"]


@pytest.mark.parametrize("folder", ["CASIA/angry", "CASIA/6/angry"])
def test_casia_mirror(folder: str, tmp_path: Path) -> None:
    sound(tmp_path / folder / "201-angry-liuchanhg.wav")
    sound(tmp_path / folder / "201-angry-zhaozuoxiang.wav")
    _, found = only(tmp_path)
    assert usable(found) == {"casia/liuchanhg/angry/201": "anger", "casia/zhaozuoxiang/angry/201": "anger"}


def test_the_other_texts_of_the_full_casia_are_named(tmp_path: Path) -> None:
    sound(tmp_path / "相同文本300" / "ZhaoZuoxiang" / "angry" / "201.wav")
    others = [f"不同文本100/{path}.wav" for path in ("Chang.Liu/angry/101", "Zhe.Wang/normal/150")]
    for path in others:
        sound(tmp_path / path)
    found = only(tmp_path)[1]
    assert usable(found) == {"casia/zhaozuoxiang/angry/201": "anger"} and not found.extras
    assert {member.where: member.reason for member in found.members} == dict.fromkeys(
        others, "other texts of the full set, not in the public part"
    )


def test_emodb_2_has_one_copy_and_535_clips(tmp_path: Path) -> None:
    for folder in ("wav", "laryngo"):
        for name in ("03a01Fa", "16a01Wd"):
            sound(tmp_path / "emodb_2.0" / folder / f"{name}.wav")
    (tmp_path / "emodb_2.0" / "db.yaml").write_text("name: emodb\n")
    corpus, found = only(tmp_path)
    assert corpus.places == ("emodb_2.0/",)
    assert usable(found) == {"emodb/03a01Fa": "happiness"}
    assert {extra.where: extra.reason for extra in found.extras} == {
        "emodb_2.0/laryngo/03a01Fa.wav": "laryngogram, not speech",
        "emodb_2.0/laryngo/16a01Wd.wav": "laryngogram, not speech",
        "emodb_2.0/wav/16a01Wd.wav": "not one of the 535 official clips",
    }


def test_crema_d_before_october_2022(tmp_path: Path) -> None:
    sound(tmp_path / "AudioWAV" / "1040_ITH_SAD_X.wav")
    assert usable(only(tmp_path)[1]) == {"crema_d/1040_ITH_SAD_XX": "sadness"}


MELD = (
    "Sr No.,Utterance,Speaker,Emotion,Sentiment,Dialogue_ID,Utterance_ID,Season,Episode,StartTime,EndTime\n"
    '1,x,A,neutral,neutral,93,9,1,1,"00:00:01,000","00:00:01,835"\n'
)


@pytest.mark.parametrize(
    ("files", "used", "reason"),
    [
        ({"dia93_utt9": 2.645, "final_videos_testdia93_utt9": 0.835}, "final_videos_testdia93_utt9", None),
        ({"dia93_utt9": 0.84, "final_videos_testdia93_utt9": 2.6}, "dia93_utt9", None),
        ({"dia93_utt9": 2.645}, "dia93_utt9", "2.645 s long, by its table 0.835 s"),
        ({"dia93_utt9": 2.645, "final_videos_testdia93_utt9": 2.6}, "dia93_utt9", "2.645 s long, by its table 0.835 s"),
    ],
)
def test_meld_reads_the_recording_that_its_table_describes(
    files: dict[str, float], used: str, reason: str | None, tmp_path: Path
) -> None:
    folder = tmp_path / "output_repeated_splits_test"
    for name, seconds in files.items():
        sound(folder / f"{name}.wav", seconds)
    (tmp_path / "test_sent_emo.csv").write_text(MELD)
    (clip,) = only(tmp_path)[1].clips
    assert clip.media == f"output_repeated_splits_test/{used}.wav"
    assert (clip.excluded, clip.label) == (reason, None if reason else "neutral")


def test_members_of_a_release_without_a_label_are_no_findings(tmp_path: Path) -> None:
    (tmp_path / "test_sent_emo.csv").write_text(MELD.replace("93,9", "2,2"))
    sound(tmp_path / "output_repeated_splits_test" / "dia2_utt2.wav", 0.835)
    sound(tmp_path / "output_repeated_splits_test" / "dia108_utt2.wav")
    found = only(tmp_path)[1]
    assert [member.where for member in found.members] == ["output_repeated_splits_test/dia108_utt2.wav"]
    assert found.extras == []


def test_the_137_test_clips_of_meld(tmp_path: Path) -> None:
    lengths = get_corpus("meld").lengths
    assert sum(name.startswith("output_repeated_splits_test/") for name in lengths) == 137
    assert len(lengths) == 146


def test_mosei_scores_out_of_range_are_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    h5py = pytest.importorskip("h5py")
    nan = float("nan")
    with h5py.File(tmp_path / "CMU_MOSEI_Labels.csd", "w") as labels:
        group = labels.create_group("All Labels/data/aVID")
        group["features"] = np.array(
            [
                [0, nan, 0, 0, 0, 0, 2],
                [0, 2, nan, 0, 0, 0, 0],
                [0, float("inf"), 0, 0, 0, 0, 0],
                [0, 0, 0, 4.333, 0, 0, 3],
                [-3.5, 1, 0, 0, 0, 0, 0],
                [0, 1, 0, 0, 0, 0, 0],
            ]
        )
        group["intervals"] = np.array([[0.1 * at, 0.1 * at + 0.1] for at in range(6)])
    # The folder is renamed, as nkululeko's README asks for: the file name is enough.
    sound(tmp_path / "CMU-MOSEI" / "Audio" / "Full" / "WAV_16000" / "aVID.wav", 1.0)
    found = clips("cmu_mosei", tmp_path)
    assert usable(found) == {"cmu_mosei/aVID_5": "happiness"}
    assert [problem.reason for problem in found.problems] == [
        "happy nan is outside 0 to 3",
        "sad nan is outside 0 to 3",
        "happy inf is outside 0 to 3",
        "anger 4.333 is outside 0 to 3",
        "sentiment -3.5 is outside -3 to 3",
    ]
    assert main(["corpora", "clips", "cmu_mosei", "--root", str(tmp_path)]) == 1


def test_a_training_log_is_no_label_file(tmp_path: Path) -> None:
    for kind in ("CNN", "RNN", "LSTM"):
        log = tmp_path / "checkpoints" / kind / "evaluation.txt"
        log.parent.mkdir(parents=True)
        log.write_text("accuracy: 0.93\nprecision: [1. 1. 0.88]\n")
    sound(tmp_path / "data" / "OAF_angry" / "OAF_back_angry.wav")
    assert [corpus.spec.id for corpus in find_corpora(tmp_path)] == ["tess"]


def test_hub_parquet_is_a_packing(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = "32_happiness_enthusiasm_h_120"
    sound(tmp_path / "x.wav")
    data = (tmp_path / "x.wav").read_bytes()
    row: dict[str, Any] = {"name": name, "path": f"happiness_enthusiasm_32/{name}.wav", "emotion": "happiness"}
    table = pa.Table.from_pylist([{**row, "speech": {"bytes": data, "path": None}}])
    shard = tmp_path / "resd" / "data" / "train-00000-of-00001.parquet"
    shard.parent.mkdir(parents=True)
    pq.write_table(table, shard)
    corpus, found = only(tmp_path / "resd")
    assert usable(found) == {f"resd/{name}": "happiness"}
    with corpus.root.open(found.clips[0].media) as file:
        assert file.read() == data
    # A set that this package rebuilt is not a corpus.
    pq.write_table(table.append_column("clip_sha256", pa.array(["0"])), shard)
    assert not find_corpora(tmp_path / "resd")


def test_m3ed_names_the_speaker_apart_from_the_key(tmp_path: Path) -> None:
    utterance = {"StartTime": "0", "EndTime": "1", "Text": "x", "Speaker": "B"}
    utterance |= {"EmoAnnotation": {"final_mul_emo": "Sad", "final_main_emo": "Sad"}}
    people = {"A": {"Name": "甲"}, "B": {"Name": "乙"}}
    content = {"anjia": {"anjia_11": {"SpeakerInfo": people, "Dialog": {"anjia_11_1": utterance}}}}
    (tmp_path / "annotation.json").write_text(json.dumps(content), encoding="utf-8")
    sound(tmp_path / "speech" / "B_anjia_11_1.wav")
    (clip,) = only(tmp_path)[1].clips
    assert (clip.clip_id, clip.label, clip.speaker) == ("m3ed/B_anjia_11_1", "sadness", "anjia_乙")


@pytest.mark.parametrize("labels", ["", "test-labels", "test_labels", "mer2023-test-labels"])
def test_mer2023_trees(labels: str, tmp_path: Path) -> None:
    for part, name in (("train", "sample_1.avi"), ("test2", "sample_2.mp4"), ("test3", "samplenew_3.mp4")):
        sound(tmp_path / part / name)
        table = tmp_path / (labels if part != "train" else "") / f"{part}-label.csv"
        table.parent.mkdir(exist_ok=True)
        table.write_text(f"name,discrete\n{name.partition('.')[0]},angry\n")
    sound(tmp_path / "test3" / "samplenew_9.mp4")
    corpus, found = only(tmp_path)
    assert corpus.spec.id == "mer2023" and not found.missing and not found.extras
    assert sorted(usable(found)) == ["mer2023/sample_1", "mer2023/sample_2", "mer2023/samplenew_3"]
    assert [member.where for member in found.members] == ["test3/samplenew_9.mp4"]


EMNS = "id|utterance|emotion|audio_recording|user_id|gender\n1|No.|Sad|wavs/recorded_audio_wC6dAsG.webm|3|female\n"


@pytest.mark.parametrize("place", ["EMNS/recorded_audio_wC6dAsG.webm", "wavs/recorded_audio_wC6dAsG.wav"])
def test_a_table_corpus_is_found_by_file_name(place: str, tmp_path: Path) -> None:
    (tmp_path / "metadata.csv").write_text(EMNS)
    sound(tmp_path / place)
    assert usable(only(tmp_path)[1]) == {"emns/recorded_audio_wC6dAsG": "sadness"}


def test_a_name_that_is_not_unique_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "metadata.csv").write_text(EMNS)
    sound(tmp_path / "a" / "recorded_audio_wC6dAsG.webm")
    sound(tmp_path / "b" / "recorded_audio_wC6dAsG.webm")
    found = clips("emns", tmp_path)
    assert not found.clips and len(found.missing) == 1
    assert {extra.reason for extra in found.extras} == {"several files have the name of one clip"}


def test_only_the_cleaned_copy_of_emns(tmp_path: Path) -> None:
    (tmp_path / "metadata.csv").write_text(EMNS)
    sound(tmp_path / "cleaned_webm" / "recorded_audio_wC6dAsG.webm")
    found = clips("emns", tmp_path)
    assert not found.clips and len(found.missing) == 1
    assert [extra.reason for extra in found.extras] == ["cleaned copy of a raw recording"]


def test_two_formats_of_one_table_are_one(tmp_path: Path) -> None:
    folder = tmp_path / "crowd_test"
    sound(folder / "wavs" / "0a1b.wav")
    row = {"hash_id": "0a1b", "annotator_emo": "angry", "speaker_text": "да", "speaker_emo": "sad"}
    (folder / "raw_crowd_test.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "raw_crowd_test.tsv").write_text("\t".join(row) + "\n" + "\t".join(row.values()) + "\n")
    found = only(tmp_path)[1]
    assert usable(found) == {"dusha/0a1b": "anger"} and not found.problems


def test_the_official_one_of_two_twins_is_used(tmp_path: Path) -> None:
    for folder in ("core_set", "full_set"):
        sound(tmp_path / "VIVAE" / folder / "S10_fear_low_03.wav")
    found = only(tmp_path / "VIVAE")[1]
    assert [(clip.media, clip.label) for clip in found.clips if clip.label] == [
        ("full_set/S10_fear_low_03.wav", "fear")
    ]


def test_version_02_of_oreau_wins(tmp_path: Path) -> None:
    for path in ("OréauFR_01/f/sessj/10a02Ja.wav", "OréauFR_01/f/sessj/10a03Ja.wav", "OréauFR_02/f/sessj/10a02Ja.wav"):
        sound(tmp_path / path)
    found = only(tmp_path)[1]
    assert [clip.media for clip in found.clips if clip.label] == ["OréauFR_02/f/sessj/10a02Ja.wav"]
    assert [extra.reason for extra in found.extras] == ["only in version 01"]


def test_different_clips_of_one_stem_are_no_copies(tmp_path: Path) -> None:
    for part, who in (("Part0", "M003"), ("Part1", "W009")):
        for name in ("001", "002"):
            sound(tmp_path / part / who / "audio" / "angry" / "level_1" / f"{name}.wav")
    corpus, found = only(tmp_path)
    assert len(corpus.places) == 1 and len(usable(found)) == 4


def test_two_halves_of_a_download_are_one_copy(tmp_path: Path) -> None:
    for folder in ("CaFE_192k_1", "CaFE_48k"):
        sound(tmp_path / folder / "Colère" / "Faible" / "01-C-1-1.wav")
    for folder in ("CaFE_192k_2", "CaFE_48k"):
        sound(tmp_path / folder / "Neutre" / "12-N-1-5.wav")
    corpus, _ = only(tmp_path)
    assert len(corpus.places) == 2


def test_the_release_is_that_of_the_files_used(tmp_path: Path) -> None:
    for part, suffix, speakers in (("48k", "wav", (1, 2)), ("192k_1", "aiff", (1,)), ("192k_2", "aiff", (2,))):
        for speaker in speakers:
            path = tmp_path / f"CaFE_{part}" / "Colère" / "Faible" / f"{speaker:02}-C-1-1.{suffix}"
            sound(path, format="WAV" if suffix == "wav" else "AIFF")
    (corpus,) = find_corpora(tmp_path)
    assert survey(corpus).release == "official layout" and len(corpus.places) == 2
    shutil.rmtree(tmp_path / "CaFE_48k")
    (corpus,) = find_corpora(tmp_path)
    assert survey(corpus).release == "192 kHz AIFF" and len(corpus.places) == 1


def test_extras_globs_stay_within_a_folder(tmp_path: Path) -> None:
    sound(tmp_path / "p001" / "p001" / "emo_anger_sentences.wav")
    sound(tmp_path / "p001" / "p001" / "rainbow_01_regular.wav")
    found = only(tmp_path)[1]
    assert usable(found) == {"ears/p001/emo_anger_sentences": "anger"}
    assert [extra.reason for extra in found.extras] == ["reading or free speech, no emotion"]


def test_pointers_and_parts_are_named(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    for name in ("female.zip", "mer2023train.zip", "mer2023train.z01"):
        (tmp_path / name).write_text(pointer)
    assert {problem.where: problem.reason for problem in open_root(tmp_path).problems} == {
        "female.zip": "a Git LFS pointer, not the archive: run git lfs pull in the clone",
        "mer2023train.zip": "one of several parts (.z01 …): join and unpack them first",
    }


def test_video_beside_a_recording_is_a_member(tmp_path: Path) -> None:
    name = "MSP-IMPROV-S01A-F01-P-FM99"
    (tmp_path / "Evaluation.txt").write_text("UTD-IMPROV-S01A-F01-P-FM99.avi; N; A:1.0; V:2.0; D:NaN ; N:3.0;\n")
    sound(tmp_path / "session1" / "S01A" / "P" / f"{name}.wav")
    sound(tmp_path / "session1" / "S01A" / "P" / f"{name}.avi")
    found = only(tmp_path)[1]
    assert [member.reason for member in found.members] == ["video of the clip"] and not found.extras


def test_hi_kia_and_emofilm_speakers(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for sheet, rows in (("female", [("f_ans001aen", "B Person+6 ", "x"), ("f_gio002aes", "??", "x")]), ("male", [])):
        page = book.create_sheet(sheet)
        for row in [("file", "speaker", "film"), *rows]:
            page.append(row)
    book.save(tmp_path / "f_m_corpus_it_es_en_legend.xlsx")
    for name in ("f_ans001aen", "f_gio002aes"):
        sound(tmp_path / "wav_corpus" / f"{name}.wav")
    found = clips(locate(get_corpus("emofilm"), open_root(tmp_path)))
    assert [clip.speaker for clip in found.clips] == ["001", None]


def test_layouts_that_nobody_has_seen() -> None:
    assert not any(get_corpus(name).layout_seen for name in ("e_seravd", "eaed", "kbes", "nnime"))
    assert get_corpus("emodb").layout_seen
