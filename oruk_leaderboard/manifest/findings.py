"""Findings about many clips in few lines: per corpus, how many of each kind, and what to do about them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oruk_leaderboard.corpora import Problem
from oruk_leaderboard.manifest.check import DIFFERS, EXTRA, MISSING
from oruk_leaderboard.manifest.corpus_check import NOT_SELECTED, ClipState

_WRONG = (DIFFERS, EXTRA, MISSING)
"""States that make a copy imperfect, in the order in which they are listed."""

_KINDS: Mapping[str, str] = {
    "content of ": "with another clip's content",
    "renamed from ": "renamed",
    "also at ": "also at another place",
    "cut ": "cut",
    "padded ": "padded",
    "resampled": "resampled",
    "unreadable": "unreadable",
    "changed": "changed",
    "lfs-pointer": "Git LFS pointers",
    "no file of this clip": "missing",
    "unfinished download": "not fully downloaded",
}
"""How a reason begins that is about one clip, to what many of them have in common."""

_ORIGINAL, _REST = "get the original", "get the rest"
_REMEDIES: Mapping[str, str] = {
    "Git LFS pointers": "run git lfs pull in the clone",
    "renamed": "rename them back",
    "also at another place": "one file per clip is used",
    "not fully downloaded": "finish the download",
}
"""What to do about a kind, where it is not to get the recording again."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Clips or files of one corpus about which the same can be done.

    Attributes:
        corpus: Id of the corpus.
        kinds: Kind to number, most frequent first.
        example: The first clip or file.
        do: What to do; how the corpus is obtained completes it where ``obtain`` is true.
        obtain: Whether they have to be obtained again.
    """

    corpus: str
    kinds: Mapping[str, int]
    example: str
    do: str
    obtain: bool

    def text(self, how_to_obtain: str) -> str:
        """One line.

        Args:
            how_to_obtain: Of the corpus, by its spec.
        """
        counts = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items())
        more = f" ({how_to_obtain})" if self.obtain and how_to_obtain else ""
        return f"{self.corpus}: {counts} (e.g. {self.example}): {self.do}{more}"


def wrong(states: Iterable[ClipState]) -> list[ClipState]:
    """States that make a copy imperfect: what differs, then extra files, then missing clips."""
    return sorted((item for item in states if item.state in _WRONG), key=lambda item: _WRONG.index(item.state))


def summarise(states: Iterable[ClipState]) -> list[Summary]:
    """Summaries of what is wrong, corpora in code-point order."""
    groups: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for item in wrong(states):
        kind = _kind(item.reason or item.state)
        do = _REMEDIES.get(kind.removesuffix(f", {NOT_SELECTED}"))
        do = do or {MISSING: _REST, EXTRA: "not used"}.get(item.state, _ORIGINAL)
        groups[item.corpus, do].append((kind, item.clip_id or item.media or ""))
    return [
        Summary(
            corpus,
            dict(Counter(kind for kind, _ in items).most_common()),
            items[0][1],
            do,
            obtain=do in (_ORIGINAL, _REST),
        )
        for (corpus, do), items in sorted(groups.items(), key=lambda group: group[0][0])
    ]


def _kind(reason: str) -> str:
    what, separator, _ = reason.partition(f"; {NOT_SELECTED}")
    what = next((kind for beginning, kind in _KINDS.items() if what.startswith(beginning)), what)
    return f"{what}, {NOT_SELECTED}" if separator else what


def summarise_problems(problems: Iterable[Problem]) -> list[tuple[Problem, int]]:
    """The first problem of each reason, and how many share it; numbers and quoted names in a reason do not count."""
    groups: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        words = (word for word in problem.reason.split() if not any(char.isdigit() or char in "'\"/" for char in word))
        groups[" ".join(words)].append(problem)
    return [(same[0], len(same)) for same in groups.values()]
