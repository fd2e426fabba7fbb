"""Small synthetic corpora for tests of reconstruction: recordings of every format, and segments of a long one."""

from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.corpora import find_corpora
from oruk_leaderboard.manifest import Manifest, ManifestRow
from oruk_leaderboard.reconstruction import Report, reconstruct
from tests.sounds import FORMATS, encode, voice

MIXED = """
id = "mixed"
name = "A corpus of the tests"
languages = ["de"]
elicitation = "acted"
citation = "@misc{mixed, title={Mixed}}"
licence = { name = "CC0", agreement_required = false }
[files]
name = '(?P<native_label>[a-z]+)_(?P<number>\\d+)'
suffixes = [".wav", ".flac", ".mp3", ".ogg", ".opus", ".aiff", ".sph", ".au", ".mp4", ".m4a", ".avi", ".flv", ".webm"]
[clip]
id = "{stem}"
media = "{stem}.wav"
speaker = "{number}"
[labels]
boredom = false
"""

SEGMENTS = """
id = "segments"
name = "Another corpus of the tests"
languages = ["fr"]
elicitation = "spontaneous"
[table]
path = 'segments\\.csv'
[clip]
id = "{name}"
media = "{file}"
start_s = "{start}"
end_s = "{end}"
native_label = "{label}"
[labels]
"""

EMPTY = Manifest.of([], {})
"""A manifest that pins nothing."""


def spec(folder: Path, text: str = MIXED, name: str = "mixed.toml") -> Path:
    path = folder / name
    labels = "".join(f'{label} = "{label}"\n' for label in CLASSES)
    path.write_text(text.replace("[labels]\n", f"[labels]\n{labels}"))
    return path


def mixed(folder: Path, count: int = 32, *, seconds: float = 0.3) -> Path:
    """Recordings of all formats in turn, classes in turn; gives the folder."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for number in range(count):
        name, (container, subtype) = list(FORMATS.items())[number % len(FORMATS)]
        rate = 24_000 if container == "OGG" else (16_000, 44_100, 24_414)[number % 3]
        rate = 48_000 if container == "MP3" else rate
        data = encode(voice(seconds, rate, 1 + number % 2, seed=number), rate, container, subtype)
        (corpus / f"{CLASSES[number % 7]}_{number:04d}{Path(name).suffix}").write_bytes(data)
    return corpus


def tiny(folder: Path, count: int, *, frames: int = 1_600) -> Path:
    """Many short 16 kHz recordings, each different; gives the folder."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    generator = np.random.default_rng(3)
    for number in range(count):
        samples = generator.integers(-3_000, 3_000, frames).astype(np.int16)
        soundfile.write(corpus / f"{CLASSES[number % 7]}_{number:05d}.wav", samples, 16_000)
    return corpus


def long_recording(folder: Path, count: int = 20) -> Path:
    """One recording of 60 s with segments of 1.5 s."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    soundfile.write(corpus / "talk.flac", voice(60, 22_050), 22_050)
    lines = ["name,file,start,end,label"]
    lines += [f"s{n:02d},talk.flac,{n * 2.75},{n * 2.75 + 1.5},{CLASSES[n % 7]}" for n in range(count)]
    (corpus / "segments.csv").write_text("\n".join(lines) + "\n")
    return corpus


def rebuild(corpus: Path | str, spec_file: Path, out: Path | str, **options: Any) -> Report:
    """Reconstruct everything that has a class."""
    options = {"all_clips": True, "manifest": EMPTY, "workers": 2, **options}
    return reconstruct(corpora={str(spec_file): str(corpus)}, out=out, **options)


def final_files(out: Path) -> dict[str, bytes]:
    """The files of a set that must be the same bytes whatever the runs were like."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "report.json" and not path.relative_to(out).parts[0].startswith(".")
    }


def pinned(corpus: Path, spec_file: Path, **changes: Any) -> Manifest:
    """A manifest that pins every recording of a corpus as it is now."""
    from oruk_leaderboard.audio import pcm_digest, render, source_digest
    from oruk_leaderboard.corpora import clips

    (found,) = find_corpora(only={str(spec_file): corpus})
    rows = []
    for clip in clips(found, hash_duplicates=False).clips:
        path = corpus / clip.media
        source, size = source_digest(path)
        pcm, rendered = pcm_digest(path), render(path)
        rows.append(
            ManifestRow(
                clip_id=clip.clip_id,
                corpus=clip.corpus,
                media=clip.media,
                label=clip.label,
                language=clip.language,
                source_sha256=source,
                source_bytes=size,
                pcm_sha256=pcm.pcm_sha256,
                num_samples=pcm.num_samples,
                sampling_rate=pcm.sampling_rate,
                channels=pcm.channels,
                clip_sha256=rendered.clip_sha256 if rendered.lossless else None,
                clip_num_samples=len(rendered.samples),
                open=True,
            )
        )
    return Manifest.of(rows, {}, version="0.0.1", **changes)
