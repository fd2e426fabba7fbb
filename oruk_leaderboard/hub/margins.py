"""Whether a record counts the clips that its manifest pins: by corpus, language, speaker and class.

The numbers of a record follow from its own counts, so invented counts would pass every other check.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from oruk_leaderboard.answers.gold import UNKNOWN
from oruk_leaderboard.manifest import Manifest, ManifestRow
from oruk_leaderboard.scoring.tally import Tally

Cell = tuple[str, str, str, str]
"""Corpus, language, speaker and class; ``*`` where the manifest or the record does not tell clips apart by it."""

ANY = "*"


def selected(profile: Manifest, evaluation: Mapping[str, Any]) -> list[ManifestRow]:
    """Rows of a profile that a record's set is made from: all of them, or those of its subsample."""
    if not evaluation["subsample"]:
        return list(profile.rows)
    chosen = profile.subsample(evaluation["profile"])
    return [row for row in profile.rows if row.clip_id in chosen]


def first_difference(evaluation: Mapping[str, Any], rows: Iterable[ManifestRow]) -> tuple[str, str] | None:
    """The first group of clips that a record counts otherwise than its manifest does.

    A partial set may have fewer clips of every group, never more; a whole set has exactly those of the manifest.

    Args:
        evaluation: ``evaluation`` of a record that ``verify`` found consistent.
        rows: Rows of its set (:func:`selected`).

    Returns:
        What the manifest has and what the record has, or None where they agree.
    """
    rows, attributes = list(rows), evaluation["confusion_by_cluster"]["attributes"]
    if missing := {"corpus", "language"} - set(attributes):
        return "clips counted by corpus and language", f"no counts by {' and '.join(sorted(missing))}"
    own_labels = evaluation["label_policy"] is not None or evaluation["label_source"] is not None
    speakers = {row.corpus: set[str | None]() for row in rows}
    for row in rows:
        speakers[row.corpus].add(row.speaker)
    # A corpus with a blank speaker may be read with more speakers from a user's own label table; of a corpus with one
    # speaker the record may count by something else.
    by_speaker = evaluation["cluster"] == "speaker"
    named = {corpus for corpus, names in speakers.items() if by_speaker and None not in names and len(names) > 1}
    labelled = {row.corpus for row in rows if row.label is not None} if not own_labels else set()
    pinned = Counter(
        (
            row.corpus,
            row.language or UNKNOWN,
            f"{row.corpus}/{row.speaker}" if row.corpus in named else ANY,
            str(row.label) if row.corpus in labelled else ANY,
        )
        for row in rows
    )
    counted = _counted(evaluation, named, labelled)
    for cell in sorted(pinned.keys() | counted.keys()):
        expected, found = pinned[cell], counted[cell]
        if found > expected or (found < expected and not evaluation["partial"]):
            return f"{expected:,} clips of {_text(cell)} by the manifest", f"{found:,} in the record"
    return None


def _counted(evaluation: Mapping[str, Any], named: set[str], labelled: set[str]) -> Counter[Cell]:
    """Clips of the record by cell."""
    tally = Tally.from_dict(evaluation["confusion_by_cluster"])
    corpora, languages = tally.attributes["corpus"], tally.attributes["language"]
    by_class = tally.counts.sum(axis=2)
    cells: Counter[Cell] = Counter()
    for group, counts in enumerate(by_class.tolist()):
        corpus = corpora.values[corpora.codes[group]]
        language = languages.values[languages.codes[group]]
        speaker = tally.clusters[tally.cluster[group]] if corpus in named else ANY
        for name, clips in zip(tally.classes, counts, strict=True):
            if clips:
                cells[corpus, language, speaker, name if corpus in labelled else ANY] += clips
    return cells


def _text(cell: Cell) -> str:
    corpus, language, speaker, label = cell
    parts = [f"corpus {corpus}", f"language {language}"]
    parts += [] if speaker == ANY else [f"speaker {speaker.partition('/')[2]}"]
    return ", ".join(parts if label == ANY else [*parts, f"class {label}"])
