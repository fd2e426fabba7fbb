"""Byte-identical files of one corpus: which stays, which are left out."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora.roots import Problem, Root

_PIECE_BYTES = 4096


def no_class(native_label: str | None) -> str:
    """Why a clip whose native label has no class on purpose is left out."""
    return f"no class for {native_label!r}"


def exclude_duplicates(
    found: Sequence[Clip], root: Root, *, keep: Collection[str] = frozenset()
) -> tuple[list[Clip], list[Problem]]:
    """Exclude clips whose files are byte-identical: all but one of one label, all of different labels.

    Of one label the shortest path stays, then the first in code-point order. Only files of equal size are read: first a
    piece of each, then those whose pieces agree.

    Args:
        found: Clips of one corpus.
        root: Where their files are.
        keep: Clip ids that are never excluded (pinned clips whose own file is exact).

    Returns:
        The clips in the given order, and the files that could not be read.
    """
    problems: list[Problem] = []
    whole: dict[str, Clip] = {}
    for clip in found:
        if clip.start_s is None and clip.channel is None and clip.excluded in (None, no_class(clip.native_label)):
            whole.setdefault(clip.media, clip)
    groups: list[list[str]] = [list(whole)]
    for key in (root.size, _piece(root), _digest(root)):
        groups = [same for group in groups for same in _equal(group, key, problems)]
    reasons: dict[str, str] = {}
    for group in groups:
        members = [whole[media] for media in group]
        pinned = [clip for clip in members if clip.clip_id in keep]
        one_label = len({(clip.label, clip.label or clip.native_label) for clip in members}) == 1
        first = min(pinned or members, key=lambda clip: (len(clip.media), clip.media))
        for clip in members:
            if clip.clip_id in keep or (one_label and clip is first):
                continue
            contradictory = not one_label and not pinned
            reasons[clip.clip_id] = "contradictory duplicate" if contradictory else f"duplicate of {first.clip_id}"
    duplicates = {id(clip) for clip in whole.values() if clip.clip_id in reasons}
    return [
        replace(clip, label=None, excluded=reasons[clip.clip_id]) if id(clip) in duplicates else clip for clip in found
    ], problems


def _piece(root: Root) -> Callable[[str], object]:
    def piece(name: str) -> bytes:
        with root.open(name) as file:
            file.seek(max(0, (root.size(name) or 0) // 2 - _PIECE_BYTES // 2))
            # Its digest: the pieces of a whole corpus would be held in memory at once.
            return hashlib.sha256(file.read(_PIECE_BYTES)).digest()

    return piece


def _digest(root: Root) -> Callable[[str], object]:
    def whole(name: str) -> str:
        digest = hashlib.sha256()
        with root.open(name) as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    return whole


def _equal(names: Sequence[str], key: Callable[[str], object], problems: list[Problem]) -> Iterator[list[str]]:
    groups: defaultdict[object, list[str]] = defaultdict(list)
    for name in names:
        try:
            value = key(name)
        except OSError as error:
            problems.append(Problem(name, f"unreadable: {error.strerror or error}"))
            continue
        # Empty files are not duplicates of each other: they are broken, which validation says.
        if value is not None and value != 0:
            groups[value].append(name)
    return (group for group in groups.values() if len(group) > 1)
