"""The manifest as pictures for the card: the clips of every corpus and of every language, by class."""

from collections.abc import Iterable, Mapping

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.manifest.stats import NOT_SHIPPED, ClipGroup
from oruk_leaderboard.pictures.stacked_bars import Bar, stacked_bars

_LEGEND = (*CLASSES, NOT_SHIPPED)


def plots(figures: Mapping[str, Iterable[ClipGroup]]) -> dict[str, str]:
    """File name to SVG.

    Args:
        figures: From `stats`; nothing is drawn where there are none.
    """
    return {
        f"manifest_by_{by}.svg": _plot(f"Clips of the manifest by {by}", figures[by])
        for by in ("corpus", "language")
        if by in figures
    }


def _plot(title: str, groups: Iterable[ClipGroup]) -> str:
    ordered = sorted(groups, key=lambda group: (-group.clips, group.name))
    label = f"{title} and class; `oruk-leaderboard manifest stats` prints the same figures."
    return stacked_bars(title, [_bar(group) for group in ordered], _LEGEND, label=label)


def _bar(group: ClipGroup) -> Bar:
    hours = f", {group.hours:.1f} h" if group.hours is not None and not group.unknown_durations else ""
    return Bar(group.name, [group.classes.get(name, 0) for name in _LEGEND], f"{group.clips:,}{hours}")
