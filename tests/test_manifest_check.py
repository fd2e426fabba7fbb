"""validate: every way in which a file can differ from the pinned one has its own state and reason."""

from dataclasses import replace

import numpy as np
import pytest
import soundfile

from oruk_leaderboard.audio import render
from oruk_leaderboard.corpora import clips, find_corpora
from oruk_leaderboard.manifest import Manifest, ManifestRow
from tests.copies import (
    ANGRY,
    POINTER,
    check,
    cut_a_little,
    cut_in_header,
    cut_plainly,
    cut_well,
    flip,
    flip_header,
    flip_magic,
    lengthen,
    make_root,
    pinned,
    resample,
)


@pytest.fixture
def root(tmp_path):
    return make_root(tmp_path)


@pytest.fixture
def manifest(root):
    return pinned(root)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (flip, "changed"),
        (flip_header, "changed"),
        (flip_magic, "changed"),
        (cut_in_header, "truncated"),
        (cut_plainly, "truncated"),
        (cut_well, "cut to 0.29 s of 0.30 s"),
        (cut_a_little, "cut by 2 samples"),
        (resample, "resampled"),
        (lengthen, "padded to 0.60 s from 0.30 s"),
        (lambda path: path.write_text(POINTER), "lfs-pointer"),
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: path.write_text("no recording at all " * 100), "unreadable"),
    ],
)
def test_each_fault_is_told_apart(root, manifest, change, reason):
    change(root / ANGRY)
    result, states = check(root, manifest)
    assert states["ravdess/03-01-05-01-01-01-01"] == ("differs", reason)
    assert result.totals["ravdess"] == {"exact": 6, "differs": 1, "not selected": 1}
    assert not result.clean
    assert "ravdess/03-01-05-01-01-01-01" not in {item.clip.clip_id for item in result.usable}


CREMA = "CREMA-D/AudioWAV/1001_DFA_ANG_XX.wav"


@pytest.mark.parametrize(
    ("change", "duration_s", "reason"),
    [
        (flip, None, "changed"),
        (cut_well, None, "changed"),
        (resample, None, "changed"),
        (cut_plainly, None, "truncated"),
        (cut_well, 0.3, "cut to 0.27 s of 0.30 s"),
        (lengthen, 0.3, "padded to 0.60 s from 0.30 s"),
        (resample, 0.3, "resampled"),
        (flip, 0.3, "changed"),
    ],
)
def test_without_sample_counts_the_listed_duration_tells_what_happened(root, manifest, change, duration_s, reason):
    rows = [replace(row, duration_s=duration_s) for row in manifest.rows]
    change(root / CREMA)
    states = check(root, Manifest.of(rows, manifest.label_digests))[1]
    assert states["crema_d/1001_DFA_ANG_XX"] == ("differs", reason)


CONTAINERS = [
    ("flac", "FLAC", "PCM_16"),
    ("aiff", "AIFF", "PCM_16"),
    ("aif", "AIFF", "PCM_16"),
    ("au", "AU", "PCM_16"),
    ("sph", "NIST", "PCM_16"),
    ("w64", "W64", "PCM_16"),
    ("caf", "CAF", "PCM_16"),
    ("flac", "FLAC", "PCM_24"),
]


@pytest.mark.parametrize(("suffix", "container", "subtype"), CONTAINERS)
def test_a_lossless_copy_in_any_container_is_the_same_audio(root, manifest, suffix, container, subtype):
    samples, rate = soundfile.read(root / ANGRY, dtype="int16")
    soundfile.write((root / ANGRY).with_suffix(f".{suffix}"), samples, rate, format=container, subtype=subtype)
    (root / ANGRY).unlink()
    result, states = check(root, manifest)
    assert states["ravdess/03-01-05-01-01-01-01"] == ("same-audio", None)
    assert result.totals["ravdess"] == {"exact": 6, "same-audio": 1, "not selected": 1}


@pytest.mark.parametrize(
    ("suffix", "container", "subtype"),
    [("mp3", "MP3", "MPEG_LAYER_III"), ("ogg", "OGG", "VORBIS"), ("opus", "OGG", "OPUS")],
)
def test_a_lossy_copy_differs_and_is_named(root, manifest, suffix, container, subtype):
    samples, rate = soundfile.read(root / ANGRY, dtype="int16")
    soundfile.write((root / ANGRY).with_suffix(f".{suffix}"), samples, rate, format=container, subtype=subtype)
    (root / ANGRY).unlink()
    result, states = check(root, manifest)
    assert states["ravdess/03-01-05-01-01-01-01"] == ("differs", f"lossy copy ({container})")
    assert result.totals["ravdess"] == {"exact": 6, "differs": 1, "not selected": 1}
    bare = [ManifestRow(row.clip_id, row.corpus, row.media, label=row.label) for row in manifest.rows]
    states = check(root, Manifest.of(bare, {}))[1]
    assert states["ravdess/03-01-05-01-01-01-01"] == ("unpinned", f"lossy copy (.{suffix})")


def test_an_aac_copy_differs_and_is_named(root, manifest):
    av = pytest.importorskip("av")
    samples, rate = soundfile.read(root / ANGRY, dtype="int16")
    with av.open(str((root / ANGRY).with_suffix(".m4a")), "w") as file:
        stream = file.add_stream("aac", rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = rate
        file.mux([*stream.encode(frame), *stream.encode(None)])
    (root / ANGRY).unlink()
    state, reason = check(root, manifest)[1]["ravdess/03-01-05-01-01-01-01"]
    assert state == "differs" and reason.startswith("lossy copy (M")


def test_the_release_container_wins_over_a_copy(root, manifest):
    samples, rate = soundfile.read(root / ANGRY, dtype="int16")
    soundfile.write((root / ANGRY).with_name("a.flac"), samples, rate)
    (root / ANGRY).with_name("a.flac").rename(root / f"{ANGRY[-24:-4]}.flac")
    found = clips(find_corpora(root, only=["ravdess"])[0]).clips
    copies = {clip.media: clip.excluded for clip in found if clip.clip_id == "ravdess/03-01-05-01-01-01-01"}
    assert copies == {ANGRY: None, f"{ANGRY[-24:-4]}.flac": f"also at {ANGRY}"}


def test_channels_that_repeat_the_recording_are_the_same_audio(root, manifest):
    rows = [replace(row, clip_sha256=render(root / row.media).clip_sha256) for row in manifest.rows]
    full = Manifest.of(rows, manifest.label_digests)
    samples, rate = soundfile.read(root / ANGRY, dtype="int16")
    for second, expected in ((samples, ("same-audio", "stereo copy")), (samples // 2, ("differs", "stereo copy"))):
        soundfile.write(root / ANGRY, np.stack([samples, second], 1), rate, subtype="PCM_16")
        assert check(root, full)[1]["ravdess/03-01-05-01-01-01-01"] == expected


def test_a_16_bit_copy_of_a_deeper_recording_is_not_the_same_audio(root):
    path = root / ANGRY
    samples = np.sin(np.arange(16_000) / 7.0) * 0.300003
    soundfile.write(path, samples, 48_000, subtype="FLOAT")
    rows = [replace(row, clip_sha256=render(root / row.media).clip_sha256) for row in pinned(root).rows]
    soundfile.write(path.with_suffix(".caf"), samples.astype(np.float32), 48_000, format="CAF", subtype="FLOAT")
    path.unlink()
    states = check(root, Manifest.of(rows, {}))[1]
    assert states["ravdess/03-01-05-01-01-01-01"] == ("same-audio", None)
    rounded = np.rint(samples.astype(np.float32) * np.float32(32768)).astype(np.int16)
    soundfile.write(path.with_suffix(".caf"), rounded, 48_000, format="CAF", subtype="PCM_16")
    states = check(root, Manifest.of(rows, {}))[1]
    assert states["ravdess/03-01-05-01-01-01-01"] == ("differs", "rounded to 16 bits")
