"""What is in the manifest: clips, hours, speakers and classes by corpus, by language and in all."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import MissingExtraError
from oruk_leaderboard.manifest.files import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow

NOT_SHIPPED = "not shipped"
"""Class of the clips whose label is read from the user's copy."""


@dataclass(frozen=True, slots=True)
class Group:
    """Some clips in figures.

    Attributes:
        name: Corpus, language or ``all``.
        clips: Number of clips.
        open: Of these in profile ``open``.
        hours: Sum of the known durations in h.
        unknown_durations: Clips whose duration no public list gives.
        speakers: Speakers that the corpora tell apart; None where no clip names one.
        pinned: Clips with the digest of their file.
        classes: Class to number of clips; ``not shipped`` for corpora under an agreement.
    """

    name: str
    clips: int
    open: int
    hours: float
    unknown_durations: int
    speakers: int | None
    pinned: int
    classes: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Field names to values."""
        return asdict(self)


def stats(manifest: Manifest) -> dict[str, list[Group]]:
    """Figures by ``corpus`` and ``language`` (of the tag without its region), and of ``all``."""
    keys: dict[str, Callable[[ManifestRow], str]] = {
        "corpus": lambda row: row.corpus,
        "language": lambda row: (row.language or "unknown").partition("-")[0],
        "all": lambda row: "all",
    }
    figures = {}
    for by, key in keys.items():
        members: dict[str, list[ManifestRow]] = defaultdict(list)
        for row in manifest.rows:
            members[key(row)].append(row)
        figures[by] = [_group(name, rows) for name, rows in sorted(members.items())]
    return figures


def _group(name: str, rows: Sequence[ManifestRow]) -> Group:
    classes = Counter(row.label or NOT_SHIPPED for row in rows)
    speakers = {(row.corpus, row.speaker) for row in rows if row.speaker is not None}
    return Group(
        name=name,
        clips=len(rows),
        open=sum(row.open for row in rows),
        hours=round(sum(row.duration_s or 0 for row in rows) / 3600, 2),
        unknown_durations=sum(row.duration_s is None for row in rows),
        speakers=len(speakers) or None,
        pinned=sum(row.source_sha256 is not None for row in rows),
        classes={label: classes[label] for label in (*CLASSES, NOT_SHIPPED) if classes[label]},
    )


def plot(manifest: Manifest, folder: Path) -> list[Path]:
    """Draw clips by class for every corpus and every language.

    Returns:
        The files written, SVG.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib", extra="plot") from error
    folder.mkdir(parents=True, exist_ok=True)
    colours = ["#d55e00", "#f0e442", "#0072b2", "#cc79a7", "#009e73", "#56b4e9", "#999999", "#dddddd"]
    written = []
    for by, groups in stats(manifest).items():
        if by == "all":
            continue
        groups = sorted(groups, key=lambda group: (group.clips, group.name))
        names = [group.name for group in groups]
        with mpl.rc_context({"svg.hashsalt": "manifest", "svg.fonttype": "none"}):
            figure = Figure(figsize=(8, 2.5 + 0.22 * len(groups)), layout="constrained")
            axes = figure.add_subplot()
            left = [0] * len(groups)
            for label, colour in zip((*CLASSES, NOT_SHIPPED), colours, strict=True):
                counts = [group.classes.get(label, 0) for group in groups]
                axes.barh(names, counts, left=left, color=colour, label=label)
                left = [before + count for before, count in zip(left, counts, strict=True)]
            axes.set_xlabel(f"clips (manifest {manifest.version})")
            axes.margins(y=0.01)
            axes.legend(loc="lower right", fontsize="small")
            path = folder / f"manifest_by_{by}.svg"
            # No date: the same manifest gives the same file.
            figure.savefig(path, metadata={"Date": None})
        written.append(path)
    return written
