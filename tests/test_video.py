"""Audio inside video containers follows the same rule, also for segments; what is missing is named."""

import io
import sys

import numpy as np
import pytest
import soxr

from oruk_leaderboard.audio import open_recording, render, render_recording
from oruk_leaderboard.errors import AudioError, MissingExtraError
from tests.made_corpora import mixed, rebuild, spec
from tests.sounds import VIDEO_FORMATS, encode_video, voice

av = pytest.importorskip("av")


def plain(data: bytes) -> tuple[np.ndarray, int]:
    """Everything that PyAV decodes, as float32 mono, and the rate."""
    parts = []
    with av.open(io.BytesIO(data)) as file:
        for frame in file.decode(audio=0):
            part = frame.to_ndarray()
            part = part if frame.format.is_planar else part.reshape(-1, len(frame.layout.channels)).T
            parts.append(part if part.dtype.kind == "f" else part / np.float32(-int(np.iinfo(part.dtype).min)))
    samples = np.concatenate(parts, 1).astype(np.float32)
    mono = samples[0] if len(samples) == 1 else (samples[0] + samples[1]) * np.float32(0.5)
    return mono, frame.sample_rate


def rounded(mono: np.ndarray, rate: int) -> np.ndarray:
    resampled = mono if rate == 16_000 else soxr.resample(mono, rate, 16_000, quality="VHQ")
    return np.clip(np.rint(resampled[:256_000] * np.float32(32768)), -32768, 32767).astype("<i2")


@pytest.mark.parametrize("name", VIDEO_FORMATS)
def test_containers_follow_the_rule(name):
    container, codec = VIDEO_FORMATS[name]
    rate = 44_100 if codec == "aac" else 48_000
    picture = name in ("x.mp4", "x.avi")
    data = encode_video(voice(5, rate, 2), rate, container, codec, picture=picture)
    mono, found_rate = plain(data)
    assert found_rate == rate
    with open_recording(io.BytesIO(data)) as recording:
        for start, end in [(0.0, None), (3.1, 4.2), (1.00003, 1.5), (2.0, None)]:
            rendered = render_recording(recording, start_s=start or None, end_s=end)
            first, last = int(start * rate + 0.5), end and int(end * rate + 0.5)
            assert np.array_equal(rendered.samples, rounded(mono[first:last], rate)), (start, end)
        with pytest.raises(AudioError, match="outside the recording"):
            render_recording(recording, start_s=4.0, end_s=7.0)


def test_lossless_containers_hold_the_samples():
    samples = voice(1, 16_000, 1)
    expected = (samples[:, 0] * 32767).astype(np.int16)
    for name in ("x.m4a", "x.mov", "x.avi", "x.mkv"):
        assert np.array_equal(render(io.BytesIO(encode_video(samples, 16_000, *VIDEO_FORMATS[name]))).samples, expected)


@pytest.mark.parametrize("name", VIDEO_FORMATS)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_cut_files_are_told(name, share):
    container, codec = VIDEO_FORMATS[name]
    data = encode_video(voice(3, 48_000, 1), 48_000, container, codec)
    with pytest.raises(AudioError) as caught:
        render(io.BytesIO(data[: int(share * len(data))]))
    assert caught.value.reason in ("truncated", "unreadable")


def test_a_video_without_sound():
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as output:
        stream = output.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        image = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), "rgb24")
        output.mux(stream.encode(image))
        output.mux(stream.encode(None))
    with pytest.raises(AudioError, match="no audio stream"):
        render(buffer)


def test_a_corpus_of_videos(tmp_path):
    corpus, toml = mixed(tmp_path, 2), spec(tmp_path)
    (corpus / "fear_0007.mp4").write_bytes(encode_video(voice(1, 44_100), 44_100, "mp4", "aac", picture=True))
    (corpus / "fear_0008.wav").write_bytes(encode_video(voice(1, 44_100), 44_100, "mp4", "aac"))
    report = rebuild(corpus, toml, tmp_path / "out")
    (finding,) = report.to_dict()["findings"]
    assert finding["reason"] == "wrong-extension: MOV in a .wav file"
    assert report.to_dict()["clips"] == 4


def test_without_pyav_the_extra_is_named(tmp_path, monkeypatch):
    corpus, toml = mixed(tmp_path, 1), spec(tmp_path)
    video = encode_video(voice(1, 44_100), 44_100, "mp4", "aac")
    (corpus / "fear_0008.wav").write_bytes(video)
    monkeypatch.setitem(sys.modules, "av", None)
    (finding,) = rebuild(corpus, toml, tmp_path / "out").to_dict()["findings"]
    assert 'oruk-bench-leaderboard[video]"' in finding["reason"]
    (corpus / "fear_0007.mp4").write_bytes(video)
    with pytest.raises(MissingExtraError, match=r"mixed: .*\[video\]"):
        rebuild(corpus, toml, tmp_path / "out")
