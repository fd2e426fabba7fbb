"""The synthetic corpus that a spec's ``[example]`` describes: real files, official layout, noise instead of speech."""

import json
import random
import wave
from collections.abc import Callable, Mapping
from pathlib import Path

from oruk_leaderboard.corpora.archives import unsafe
from oruk_leaderboard.corpora.find import locate
from oruk_leaderboard.corpora.roots import open_root
from oruk_leaderboard.corpora.rows import clips
from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.errors import CorpusError

_RATE = 16_000


def build_example(spec: CorpusSpec, folder: Path, *, seconds: float = 0.1) -> None:
    """Write the files of the spec's example below a folder.

    Recordings are 16-bit noise seeded by their path (``"noise"``), or zeros (``"silence"``), whatever their suffix;
    other files have the text that the example gives.

    Raises:
        CorpusError: A path leaves the folder, or the text of a label file is not what its format needs.
    """
    tree: Mapping[str, str] = spec.example.get("tree", {})
    for path, content in tree.items():
        if reason := unsafe(path.replace("\\", "/")):
            raise CorpusError("not a path of an example", where=f"{spec.origin} [example.tree]: {path}", found=reason)
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix.lower() in MEDIA:
            frames = round(seconds * _RATE)
            noise = random.Random(path).randbytes(2 * frames) if content == "noise" else bytes(2 * frames)
            with wave.open(str(file), "wb") as sound:
                sound.setnchannels(1)
                sound.setsampwidth(2)
                sound.setframerate(_RATE)
                sound.writeframes(noise)
        elif file.suffix in _WRITERS:
            try:
                _WRITERS[file.suffix](file, content)
            except (ValueError, TypeError, AttributeError) as error:
                where = f"{spec.origin} [example.tree]: {path}"
                raise CorpusError("not the text of such a file", where=where, found=error) from error
        else:
            file.write_text(content, encoding="utf-8", newline="")


def _write_workbook(file: Path, content: str) -> None:
    """Tab-separated text as the sheet ``map`` of a workbook."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "map"
    for line in content.splitlines():
        book.active.append(line.split("\t"))
    book.save(file)


def _write_labels(file: Path, content: str) -> None:
    """``{video: [[start, end, scores…], …]}`` as an HDF5 file in the form of the CMU SDK."""
    import h5py

    with h5py.File(file, "w") as labels:
        for video, segments in json.loads(content).items():
            group = labels.create_group(f"All Labels/data/{video}")
            group["intervals"] = [segment[:2] for segment in segments]
            group["features"] = [segment[2:] for segment in segments]


_WRITERS: dict[str, Callable[[Path, str], None]] = {".xlsx": _write_workbook, ".csd": _write_labels}


def differences(spec: CorpusSpec, folder: Path) -> list[str]:
    """How the clips below an example's folder differ from those the example expects; empty when they agree."""
    root = open_root(folder)
    found = clips(locate(spec, root))
    got = {clip.clip_id: clip.to_dict() for clip in found.clips}
    expected = {str(clip["clip_id"]): clip for clip in spec.example.get("clips", [])}
    faults = [f"{clip_id}: expected, not found" for clip_id in expected.keys() - got.keys()]
    faults += [f"{clip_id}: found, not expected" for clip_id in got.keys() - expected.keys()]
    for clip_id in sorted(expected.keys() & got.keys()):
        faults += [
            f"{clip_id}: {key} expected {value!r}, found {got[clip_id].get(key)!r}"
            for key, value in expected[clip_id].items()
            if got[clip_id].get(key) != value
        ]
        if "label" not in expected[clip_id] and got[clip_id]["label"] is not None:
            faults.append(f"{clip_id}: label expected None, found {got[clip_id]['label']!r}")
    for what, names in (
        ("missing", {clip.clip_id for clip in found.missing}),
        ("extras", {extra.where for extra in found.extras}),
    ):
        if names != set(spec.example.get(what, [])):
            faults.append(f"{what}: expected {sorted(spec.example.get(what, []))}, found {sorted(names)}")
    faults += [f"{problem.where}: {problem.reason}" for problem in found.problems]
    return sorted(faults)
