"""The whole way on a small synthetic corpus: make, find, validate, rebuild, run, score, place.

The corpus is Oréau in its official layout: every name is the manifest's, every sound is a made tone. Its clips are
pinned by name only, so that made sounds pass as ``unpinned``; what comes out says nothing about any real system.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.manifest import ManifestRow, load_manifest

CORPUS = "oreau"
"""Small, open, with all seven classes, and without digests in the manifest."""

SYSTEM = "baseline-loudness"
RATE = 22_050
"""Sampling rate of the made recordings in Hz: not 16 kHz, so that the resampler works too."""

SECONDS = 0.3

_PITCH = dict(zip(CLASSES, (180.0, 900.0, 170.0, 1000.0, 190.0, 950.0, 880.0), strict=True))
_LEVEL = dict(zip(CLASSES, (0.6, 0.6, 0.03, 0.3, 0.09, 0.4, 0.04), strict=True))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the demonstration: what was done, with the command that does it, and what came out."""

    command: str
    result: str


def make_corpus(folder: Path) -> int:
    """Write the synthetic corpus; returns the number of clips."""
    import soundfile

    rows = load_manifest().of_corpora(CORPUS)
    for seed, row in enumerate(rows):
        assert row.media is not None
        file = folder / row.media
        file.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(file, _sound(row, seed), RATE, subtype="PCM_16")
    return len(rows)


def _sound(row: ManifestRow, seed: int) -> Any:
    """A tone whose loudness and pitch lean to the clip's class, with enough spread to be mistaken."""
    assert row.label is not None
    rng = np.random.default_rng(seed)
    time = np.arange(round(SECONDS * RATE)) / RATE
    pitch = _PITCH[row.label] * 2 ** rng.normal(0, 1.2)
    level = min(0.9, _LEVEL[row.label] * 2 ** rng.normal(0, 1.5))
    return level * np.sin(2 * np.pi * pitch * time) + 0.002 * rng.standard_normal(time.size)


def demo(folder: Path) -> Iterator[Step]:
    """Go the whole way below an empty folder, one step after the other.

    Args:
        folder: Where everything is written; the caller removes it.

    Yields:
        What each step did.
    """
    from oruk_leaderboard.corpora import find_corpora
    from oruk_leaderboard.manifest import validate
    from oruk_leaderboard.reconstruction import reconstruct
    from oruk_leaderboard.scoring.report import short_report
    from oruk_leaderboard.scoring.scorer import score
    from oruk_leaderboard.systems.runner import run

    corpora, clips, predictions = folder / "corpora", folder / "clips", folder / "predictions.csv"
    count = make_corpus(corpora / CORPUS)
    found = find_corpora(corpora)
    names = ", ".join(f"{item.spec.name} in {', '.join(item.places) or '.'}" for item in found)
    yield Step(f"oruk-leaderboard corpora find {corpora}", f"{count} synthetic recordings: {names}")
    validation = validate(found)
    totals = ", ".join(f"{number} {state}" for state, number in validation.totals[CORPUS].items() if number)
    yield Step(f"oruk-leaderboard validate --root {corpora}", f"{CORPUS}: {totals}")
    report = reconstruct(corpora, out=clips)
    yield Step(f"oruk-leaderboard reconstruct --root {corpora} --out {clips}", report.text())
    ran = run(SYSTEM, clips=clips, out=predictions)
    yield Step(f"oruk-leaderboard run {SYSTEM} --clips {clips} --out {predictions}", f"{ran.clips} clips answered")
    result = score(predictions, clips=clips, system=SYSTEM)
    yield Step(
        f"oruk-leaderboard score {predictions} --clips {clips}",
        short_report(result.to_dict(), result.findings, figures=result.protocol.figures),
    )
