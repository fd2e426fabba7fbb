"""Made copies of three corpora in their official layouts, and a manifest that pins what lies there."""

from dataclasses import replace

import numpy as np
import soundfile

from oruk_leaderboard.audio import pcm_digest, source_digest
from oruk_leaderboard.corpora import clips, find_corpora
from oruk_leaderboard.manifest import Manifest, ManifestRow, labels_digest, validate
from tests.sounds import write_voice

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 72862\n"
RAVDESS = [f"03-01-0{code}-01-01-01-01" for code in range(1, 9)]
CREMA_D = ["1001_DFA_ANG_XX", "1001_DFA_FEA_XX", "1002_IEO_HAP_LO"]
EMOVO = ["dis-f1-b1", "gio-m1-b2", "neu-f2-l1"]


def pinned(root, *, without_pcm=("crema_d",), restricted=("emovo",)):
    """A manifest of what lies below the root, as ``manifest build`` would pin it."""
    rows, digests = [], {}
    for found in find_corpora(root):
        labels = {}
        for clip in clips(found).clips:
            if clip.label is None:
                continue
            sha256, size = source_digest(root / clip.media)
            pcm = pcm_digest(root / clip.media)
            row = ManifestRow(clip.clip_id, clip.corpus, clip.media, label=clip.label, open=True)
            row = replace(row, source_sha256=sha256, source_bytes=size)
            if clip.corpus not in without_pcm:
                row = replace(
                    row,
                    pcm_sha256=pcm.pcm_sha256,
                    num_samples=pcm.num_samples,
                    sampling_rate=pcm.sampling_rate,
                    channels=pcm.channels,
                )
            if clip.corpus in restricted:
                row = replace(row, label=None, open=False)
                labels[clip.clip_id] = clip.label
            rows.append(row)
        if labels:
            digests[found.spec.id] = labels_digest(labels)
    return Manifest.of(rows, digests)


def make_root(folder):
    root = folder / "corpora"
    for seed, name in enumerate(RAVDESS):
        write_voice(root / "RAVDESS" / "Actor_01" / f"{name}.wav", 0.3, 48_000, seed=seed)
    for seed, name in enumerate(CREMA_D, 100):
        write_voice(root / "CREMA-D" / "AudioWAV" / f"{name}.wav", 0.3, seed=seed)
    for seed, name in enumerate(EMOVO, 200):
        write_voice(root / "EMOVO" / name[4:6] / f"{name}.wav", 0.3, 48_000, seed=seed)
    return root


def check(root, manifest, **options):
    result = validate(find_corpora(root), manifest, **options)
    return result, {state.clip_id or state.media: (state.state, state.reason) for state in result.states}


ANGRY, HAPPY = "RAVDESS/Actor_01/03-01-05-01-01-01-01.wav", "RAVDESS/Actor_01/03-01-03-01-01-01-01.wav"


def flip(path):
    data = bytearray(path.read_bytes())
    data[-101] ^= 1
    path.write_bytes(data)


def flip_header(path):
    data = bytearray(path.read_bytes())
    data[25] ^= 1  # the sampling rate
    path.write_bytes(data)


def flip_magic(path):
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def cut_in_header(path):
    data = path.read_bytes()
    note = b"LIST" + (200).to_bytes(4, "little") + bytes(200)
    size = (len(data) + len(note) - 8).to_bytes(4, "little")
    path.write_bytes((data[:4] + size + data[8:36] + note + data[36:])[:100])


def cut_plainly(path):
    path.write_bytes(path.read_bytes()[:-2000])


def cut_well(path):
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, samples[:-500], rate, subtype="PCM_16")


def cut_a_little(path):
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, samples[:-2], rate, subtype="PCM_16")


def resample(path):
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, samples[::3], rate // 3, subtype="PCM_16")


def lengthen(path):
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, np.concatenate([samples, samples]), rate, subtype="PCM_16")
