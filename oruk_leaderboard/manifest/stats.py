"""What is in the manifest: clips, hours, speakers and classes by corpus, by language and in all."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.languages import base_language
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow
from oruk_leaderboard.manifest.witnesses import seen_in
from oruk_leaderboard.todict import ToDict

NOT_SHIPPED = "not shipped"
"""Class of the clips whose label is read from the user's copy."""


class Known(NamedTuple):
    """How far some clips are known.

    Attributes:
        pinned: Clips that are listed in the manifest.
        hashed: Of these, with a known digest of their file.
        proven: Of these, with a known digest of the rebuilt clip.
        seen_by_two: Of these, with a file digest that at least two sources agree on (see `witnesses`); None where it
            was not looked up.
    """

    pinned: int
    hashed: int
    proven: int
    seen_by_two: int | None = None

    def __str__(self) -> str:
        counts = {
            "hashed (file digest known)": self.hashed,
            "proven (clip digest known)": self.proven,
            "seen by two or more sources": self.seen_by_two,
        }
        shares = [
            f", {count:,} ({count / (self.pinned or 1):.1%}) {what}"
            for what, count in counts.items()
            if count is not None
        ]
        return f"{self.pinned:,} clips are pinned (listed in the manifest){''.join(shares)}"


def known(rows: Sequence[ManifestRow], seen: Mapping[str, int] | None = None) -> Known:
    """How far the clips of some rows are known.

    Args:
        rows: Rows of a manifest.
        seen: Corpus to the number of its clips that two sources agree on, from `seen_in`.
    """
    hashed = Counter(row.corpus for row in rows if row.source_sha256 is not None)
    proven = sum(row.clip_sha256 is not None for row in rows)
    by_two = None if seen is None else sum(min(count, seen.get(corpus, 0)) for corpus, count in hashed.items())
    return Known(len(rows), hashed.total(), proven, by_two)


@dataclass(frozen=True, slots=True)
class ClipGroup(ToDict):
    """Some clips in figures.

    Attributes:
        name: Corpus, language or ``all``.
        clips: Number of clips: all of them are pinned, that is listed in the manifest.
        open: Of these in profile ``open``.
        hours: Sum of the known durations in h, None where no duration is known.
        unknown_durations: Clips whose duration no public list gives.
        speakers: Speakers that the corpora tell apart; None where no clip names one.
        hashed: Clips whose file digest is known.
        proven: Clips whose digest of the rebuilt clip is known.
        seen_by_two: Clips whose file digest at least two sources agree on (see `witnesses`).
        classes: Class to number of clips; ``not shipped`` for corpora under an agreement.
    """

    name: str
    clips: int
    open: int
    hours: float | None
    unknown_durations: int
    speakers: int | None
    hashed: int
    proven: int
    seen_by_two: int
    classes: dict[str, int]

    @property
    def known(self) -> Known:
        """The clips by how far they are known."""
        return Known(self.clips, self.hashed, self.proven, self.seen_by_two)


def stats(manifest: Manifest) -> dict[str, list[ClipGroup]]:
    """Figures by ``corpus`` and ``language`` (of the tag without its region), and of ``all``."""
    keys: dict[str, Callable[[ManifestRow], str]] = {
        "corpus": lambda row: row.corpus,
        "language": lambda row: base_language(row.language or "unknown"),
        "all": lambda row: "all",
    }
    seen = seen_in(manifest)
    figures = {}
    for by, key in keys.items():
        members: dict[str, list[ManifestRow]] = defaultdict(list)
        for row in manifest.rows:
            members[key(row)].append(row)
        figures[by] = [_group(name, rows, seen) for name, rows in sorted(members.items())]
    return figures


def _group(name: str, rows: Sequence[ManifestRow], seen: Mapping[str, int]) -> ClipGroup:
    durations = [row.duration_s for row in rows if row.duration_s is not None]
    digests = known(rows, seen)
    classes = Counter(row.label or NOT_SHIPPED for row in rows)
    speakers = {(row.corpus, row.speaker) for row in rows if row.speaker is not None}
    return ClipGroup(
        name=name,
        clips=len(rows),
        open=sum(row.open for row in rows),
        hours=round(sum(durations) / 3600, 2) if durations else None,
        unknown_durations=len(rows) - len(durations),
        speakers=len(speakers) or None,
        hashed=digests.hashed,
        proven=digests.proven,
        seen_by_two=digests.seen_by_two or 0,
        classes={label: classes[label] for label in (*CLASSES, NOT_SHIPPED) if classes[label]},
    )
