"""The audio rule to the bit, and what it says about recordings that are not right."""

import hashlib
import io
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from oruk_leaderboard import audio
from oruk_leaderboard.audio import (
    encode_flac,
    open_recording,
    pcm_digest,
    render,
    render_recording,
    self_test,
    selftest,
    source_digest,
)
from oruk_leaderboard.errors import AudioError
from tests.sounds import FORMATS, encode, voice, write_voice


def plain(data: bytes, start: int = 0, stop: int | None = None, channel: int | None = None) -> np.ndarray:
    """The rule as its text says it, with no shortcut: everything is decoded and resampled, then cut."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    samples = samples[start:stop]
    if channel is None:
        mono = samples[:, 0].copy()
        for column in samples.T[1:]:
            mono = mono + column
        if samples.shape[1] > 1:
            mono = mono * np.float32(1 / samples.shape[1])
    else:
        mono = samples[:, channel].copy()
    if rate != 16_000:
        mono = soxr.resample(mono, rate, 16_000, quality="VHQ")
    return np.clip(np.rint(mono[:256_000] * np.float32(32768)), -32768, 32767).astype("<i2")


def reason_of(data: bytes) -> str:
    with pytest.raises(AudioError) as caught:
        render(io.BytesIO(data))
    return caught.value.reason


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_follows_the_rule(name):
    container, subtype = FORMATS[name]
    rate = 48_000 if container == "OGG" else 44_100
    data = encode(voice(1.1, rate, 2), rate, container, subtype)
    rendered = render(io.BytesIO(data))
    expected = plain(data)
    assert np.array_equal(rendered.samples, expected)
    assert rendered.clip_sha256 == hashlib.sha256(expected.tobytes()).hexdigest()
    assert (rendered.source_rate, rendered.source_channels, rendered.notes) == (rate, 2, ())


@pytest.mark.parametrize("rate", [4_000, 8_000, 11_025, 16_000, 22_050, 24_414, 44_100, 48_000, 96_000, 192_000])
def test_seventeen_seconds_give_the_bits_of_the_whole(rate):
    data = encode(voice(21, rate), rate)
    rendered = render(io.BytesIO(data))
    assert len(rendered.samples) == 256_000
    assert np.array_equal(rendered.samples, plain(data))


@pytest.mark.parametrize("channels", [1, 2, 3, 6])
def test_channels_are_added_in_order_and_one_can_be_chosen(channels):
    data = encode(voice(0.4, 44_100, channels), 44_100)
    assert np.array_equal(render(io.BytesIO(data)).samples, plain(data))
    last = channels - 1
    assert np.array_equal(render(io.BytesIO(data), channel=last).samples, plain(data, channel=last))
    with pytest.raises(AudioError, match=f"expected 0 to {last}; found {channels}"):
        render(io.BytesIO(data), channel=channels)


@pytest.mark.parametrize("name", ["pcm16.wav", "pcm24.wav", "x.flac", "x.aiff", "x.sph", "x.mp3", "x.ogg", "x.opus"])
def test_segments_are_recordings_of_their_own(name):
    rate = 24_000 if name == "x.opus" else 22_050
    data = encode(voice(6, rate), rate, *FORMATS[name])
    with open_recording(io.BytesIO(data)) as recording:
        for start, end in [(2.50003, 4.75), (0.3, 0.9), (3.1, None), (0.0, 6.0), (1.99, 2.0)]:
            first, last = int(start * rate + 0.5), end and int(end * rate + 0.5)
            rendered = render_recording(recording, start_s=start, end_s=end)
            assert np.array_equal(rendered.samples, plain(data, first, last)), (start, end)


@pytest.mark.parametrize("name", ["pcm16.wav", "x.flac", "x.mp3", "x.ogg", "x.opus"])
def test_blocks_join_without_a_seam(name, monkeypatch):
    data = encode(voice(4, 24_000, 2), 24_000, *FORMATS[name])
    monkeypatch.setattr(audio.sndfile, "BLOCK_VALUES", 9_001)
    assert np.array_equal(render(io.BytesIO(data)).samples, plain(data))


def test_segments_outside_the_recording():
    data = encode(voice(2, 16_000), 16_000)
    assert len(render(io.BytesIO(data), start_s=1, end_s=2.3).samples) == 16_000
    for start, end, reason in [
        (2.0, 2.5, "segment-outside"),
        (1.0, 2.6, "segment-outside"),
        (1.0, 1.0, "empty"),
        (-1.0, 1.0, "empty"),
    ]:
        with pytest.raises(AudioError) as caught:
            render(io.BytesIO(data), start_s=start, end_s=end)
        assert caught.value.reason == reason, (start, end)


def test_path_file_and_zip_member_give_the_same(tmp_path):
    path = write_voice(tmp_path / "a.flac", 1.0, 48_000, 2)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, "inner/a.flac")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive, archive.open("inner/a.flac") as member:
        results = [render(path), render(member), render(io.BytesIO(path.read_bytes()))]
        assert source_digest(member) == source_digest(path)
    assert len({result.clip_sha256 for result in results}) == 1


def test_name_does_not_matter(tmp_path):
    data = encode(voice(0.3, 16_000), 16_000)
    for name in ("a.raw", "a.vox", "a.mp3", "a"):
        (tmp_path / name).write_bytes(data)
        assert np.array_equal(render(tmp_path / name).samples, plain(data))
    (tmp_path / "noise.vox").write_bytes(bytes(range(1, 200)) * 40)
    with pytest.raises(AudioError, match="cannot be decoded"):
        render(tmp_path / "noise.vox")


def test_odd_chunks_before_the_data():
    data = encode(voice(0.3, 16_000), 16_000)
    for chunk in (b"PAD ", b"bext", b"LIST", b"junk"):
        extra = chunk + struct.pack("<I", 334) + bytes(334)
        odd = data[:12] + extra + data[12:]
        odd = odd[:4] + struct.pack("<I", len(odd) - 8) + odd[8:]
        assert np.array_equal(render(io.BytesIO(odd)).samples, plain(data)), chunk


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("share", [0.5, 0.93])
def test_cut_files_are_told(name, share):
    data = encode(voice(2, 16_000), 16_000, *FORMATS[name])
    assert reason_of(data[: int(len(data) * share) | 1]) in {"truncated", "unreadable"}
    if name.endswith((".wav", ".aiff", ".au", ".sph")):
        assert reason_of(data[: int(len(data) * share)]) == "truncated"


def test_length_that_a_writer_to_a_pipe_could_not_know():
    data = encode(voice(0.5, 16_000), 16_000)
    at = data.index(b"data") + 4
    for unknown in (0xFFFFFFFF, 0x7FFFF000):
        streamed = data[:at] + struct.pack("<I", unknown) + data[at + 4 :]
        assert np.array_equal(render(io.BytesIO(streamed)).samples, plain(data))


def test_reasons():
    good = encode(voice(0.5, 16_000), 16_000)
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 96044\n"
    assert reason_of(b"") == "empty"
    assert reason_of(encode(np.zeros((0, 1)), 16_000)) == "empty"
    assert reason_of(pointer) == "lfs-pointer"
    assert reason_of(b"hello, I am no recording at all") == "unreadable"
    assert reason_of(good[:24] + struct.pack("<I", 0) + good[28:]) == "no-rate"
    assert reason_of(good[:24] + struct.pack("<I", 7) + good[28:]) == "no-rate"
    for bad in (np.nan, np.inf, -np.inf):
        samples = voice(0.5, 22_050)
        samples[5_000] = bad
        assert reason_of(encode(samples, 22_050, "WAV", "FLOAT")) == "not-finite"
        with pytest.raises(AudioError, match="NaN or infinite"):
            pcm_digest(io.BytesIO(encode(samples, 22_050, "WAV", "FLOAT")))


def test_notes():
    silent = render(io.BytesIO(encode(np.zeros((8_000, 1)), 16_000)))
    assert silent.notes == ("silent",) and not silent.samples.any()
    assert render(io.BytesIO(encode(4 * voice(0.5, 16_000), 16_000, "WAV", "FLOAT"))).notes == ("clipped",)
    one_peak = voice(0.5, 16_000)
    one_peak[100] = 1.0
    assert render(io.BytesIO(encode(one_peak, 16_000))).notes == ()


def test_flac_holds_the_samples():
    rendered = render(io.BytesIO(encode(voice(1, 44_100), 44_100)))
    decoded, rate = soundfile.read(io.BytesIO(encode_flac(rendered.samples)), dtype="int16")
    assert rate == 16_000
    assert np.array_equal(decoded, rendered.samples)


def test_pcm_digest_survives_a_lossless_repack():
    samples = (voice(1, 22_050, 2) * 32767).astype(np.int16)
    digests = {
        pcm_digest(io.BytesIO(encode(samples, 22_050, *FORMATS[name])))
        for name in ("pcm16.wav", "x.flac", "x.aiff", "x.sph")
    }
    (digest,) = digests
    assert digest.pcm_sha256 == hashlib.sha256(samples.astype("<i2").tobytes()).hexdigest()
    assert (digest.num_samples, digest.sampling_rate, digest.channels) == (22_050, 22_050, 2)


def test_a_long_recording_costs_what_its_segment_costs(tmp_path):
    path = tmp_path / "long.wav"
    with soundfile.SoundFile(path, "w", 16_000, 1, "PCM_16") as file:
        for _ in range(60):
            file.write(np.zeros(160_000, np.int16))
    tracemalloc.start()
    render(path, start_s=500.0, end_s=503.0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_an_open_recording_says_what_it_is(tmp_path):
    path = write_voice(tmp_path / "a.flac", 1.0, 24_000, 2)
    with open_recording(path) as recording:
        assert (recording.rate, recording.channels, recording.frames) == (24_000, 2, 24_000)
        assert (recording.container, recording.subtype) == ("FLAC", "PCM_16")


def test_files_that_are_not_there_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        render(tmp_path / "nothing.wav")


def test_self_test_passes_here_and_stops_where_bits_differ(monkeypatch):
    self_test()
    for rate, frames, channels, step, digest in selftest._TRIALS:
        data = encode(selftest._signal(frames, channels, step), rate)
        assert hashlib.sha256(plain(data).tobytes()).hexdigest() == digest
    rate, frames, channels, step, _ = selftest._TRIALS[0]
    monkeypatch.setattr(selftest, "_TRIALS", ((rate, frames, channels, step, "0" * 64),))
    with pytest.raises(AudioError, match=r"libsndfile .*soxr"):
        self_test()


def test_the_error_survives_a_process_boundary():
    error = AudioError("is wrong", reason="truncated", where=Path("a.wav"), expected=1, found=2, do="help")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.reason) == (str(error), "truncated")
