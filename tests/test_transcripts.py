"""Words for systems that read: the corpus's own, a file's, a recogniser's; the source is kept and counted."""

import json
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.scoring.replay import replay
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.verification import verify
from oruk_leaderboard.systems.transcripts import Recogniser, Transcripts, Words, read_transcripts, transcripts
from tests.fake_chat import FakeChat
from tests.made_corpora import rebuild, spec, tiny
from tests.test_vendors import WAVE, message

HAIKU, OPUS = "anthropic_claude-haiku-4-5-20251001", "anthropic_claude-opus-4-8"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", "sk-canary-0123456789")
    monkeypatch.setattr("oruk_leaderboard.systems.http.FIRST_WAIT", 0.001)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read")
    rebuild(tiny(folder, 7), spec(folder), folder / "set", layout="parquet")
    return folder / "set"


def test_own_words_come_first_then_the_files_then_the_recogniser(tmp_path: Path) -> None:
    class Ear:
        def words(self, clip_id, digest, wave):
            return Words("heard", "recogniser:ear")

    sources = Transcripts({"c/2": Words("written", "by hand")}, Ear(), {})
    assert sources.words("c/1", "own", "d", WAVE) == Words("own", "corpus")
    assert sources.words("c/2", " ", "d", WAVE) == Words("written", "by hand")
    assert sources.words("c/3", None, "d", WAVE) == Words("heard", "recogniser:ear")
    assert Transcripts({}, None, {}).words("c/3", None, "d", WAVE) is None


def test_a_run_counts_where_words_came_from_and_transcribes_each_clip_once(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    ids = [f"mixed/{path}" for path in ("anger_00000", "happiness_00001")]
    words = tmp_path / "words.csv"
    words.write_text("clip_id,text,source\n" + "".join(f"{clip},some words,typed by hand\n" for clip in ids))
    command = ["run", HAIKU, "--clips", str(clips), "--out", str(tmp_path / "h.csv"), "--dry-run"]
    for more, calls in (([], 0), (["--transcripts", str(words)], 2)):
        main([*command, *more])
        assert f"{calls} calls" in capsys.readouterr().out
    heard: list[int] = []

    def decide(number, body):
        if "file" in body:
            heard.append(number)
            assert (body["model"], body["response_format"], body["file"][0]) == ("whisper-1", "json", "clip.wav")
            return 200, {"text": "" if len(heard) == 1 else "well, well"}, {}
        return message('{"emotion": "anger"}')

    with FakeChat(decide) as server:
        options = ["--transcripts", str(words), "--transcribe-with", "whisper-1", "--transcribe-endpoint", server.url]
        for system in (HAIKU, OPUS):
            command = ["run", system, "--clips", str(clips), "--out", str(tmp_path / f"{system}.csv")]
            assert main([*command, "--endpoint", server.url, *options]) == 1
        assert len(heard) == 5 and set(server.paths) == {"/v1/audio/transcriptions", "/v1/messages"}
    receipts = tmp_path / f"{OPUS}.csv.receipts.jsonl"
    lines = [json.loads(line) for line in receipts.read_text().splitlines()]
    for line in lines:
        check(line, "receipt")
    assert sorted(line["status"] for line in lines) == ["abstained", *["ok"] * 6]
    [silent] = [line for line in lines if line["status"] == "abstained"]
    assert (silent["reason"], silent["transcript_source"]) == ("the transcript is empty", "recogniser:whisper-1")
    found = replay(receipts, clips=clips, n_boot=5, cluster="clip")
    counted = {"recogniser:whisper-1": 5, "typed by hand": 2}
    assert found.score.evaluation["receipts"]["transcripts"] == counted
    assert any("2 sources of transcripts in one file" in finding for finding in found.score.findings)
    check(found.to_dict(), "record")
    here = score(tmp_path / f"{OPUS}.csv", clips=clips, n_boot=5, cluster="clip")
    assert here.evaluation["receipts"] == found.score.evaluation["receipts"] and here.record.system.id == OPUS
    check(here.to_dict(), "record")
    assert verify(here.to_dict(), predictions=tmp_path / f"{OPUS}.csv", clips=clips).status == "proven"
    receipts.write_text("".join(json.dumps({**line, "status": "error"}) + "\n" for line in lines))
    others = score(tmp_path / f"{OPUS}.csv", clips=clips, n_boot=5, cluster="clip")
    assert "receipts" not in others.evaluation and others.record.system.id == OPUS
    kept = [json.loads(line) for line in (tmp_path / "transcripts.jsonl").read_text().splitlines()]
    assert len({line["clip_sha256"] for line in kept}) == 5 and {line["model"] for line in kept} == {"whisper-1"}
    identity = json.loads((tmp_path / f"{OPUS}.csv.run.json").read_text())["identity"]["transcripts"]
    assert identity["recogniser"] == "whisper-1" and len(identity["file_sha256"]) == 64
    words.write_text(words.read_text().replace("some", "other"))
    with FakeChat(decide) as other:
        options[5] = other.url
        assert main([*command, "--endpoint", other.url, *options]) == 2
    assert "this run differs" in capsys.readouterr().err


def test_a_recogniser_that_fails_makes_an_error_and_not_an_empty_transcript(clips: Path, tmp_path: Path) -> None:
    def decide(number, body):
        return (400, {"error": "no speech model"}, {}) if "file" in body else message()

    with FakeChat(decide) as server:
        command = ["run", HAIKU, "--clips", str(clips), "--out", str(tmp_path / "h.csv"), "--limit", "2"]
        options = ["--transcribe-with", "whisper-1", "--transcribe-endpoint", server.url]
        assert main([*command, "--endpoint", server.url, *options]) == 1
        assert set(server.paths) == {"/v1/audio/transcriptions"}
    lines = [json.loads(line) for line in (tmp_path / "h.csv.receipts.jsonl").read_text().splitlines()]
    assert {line["status"] for line in lines} == {"error"} and "no transcript: HTTP 400" in lines[0]["reason"]
    assert not (tmp_path / "transcripts.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip_id,text\na,b\n", "a column is missing.*source"),
        ("clip_id,text,source\na,b,\n", "needs a source of its own"),
        ("clip_id,text,source\na,b,corpus\n", "needs a source of its own"),
        ("clip_id,text,source\na,b,c\na,b,c\n", "words.csv:3: duplicate clip id"),
    ],
)
def test_files_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text(text)
    with pytest.raises(OrukError, match=message):
        read_transcripts(tmp_path / "words.csv")


def test_options_that_belong_together(clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(OrukError, match="expected --transcribe-endpoint URL"):
        transcripts(None, "whisper-1", None, cache=tmp_path / "t.jsonl")
    (tmp_path / "words.csv").write_text("clip_id,text,source\na,b,c\n")
    command = ["run", "openai_gpt-audio-1.5", "--clips", str(clips), "--out", str(tmp_path / "p.csv")]
    assert main([*command, "--transcripts", str(tmp_path / "words.csv")]) == 2
    assert "reads no transcripts" in capsys.readouterr().err


def test_transcripts_of_another_model_are_not_taken(tmp_path: Path) -> None:
    cache = tmp_path / "transcripts.jsonl"
    line = {"clip_id": "c/1", "clip_sha256": "d", "model": "small", "text": "hello", "source": "recogniser:small"}
    cache.write_text(json.dumps(line) + "\n")

    class Service:
        def post(self, **form):
            raise OrukError("asked")

    assert Recogniser(Service(), "small", cache).words("c/1", "d", WAVE).text == "hello"
    with pytest.raises(OrukError, match="asked"):
        Recogniser(Service(), "large", cache).words("c/1", "d", WAVE)
