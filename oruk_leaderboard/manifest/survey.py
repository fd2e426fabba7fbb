"""How complete a corpus found on disk is, which release it looks like, and what to do about what is wrong."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora.duplicates import no_class
from oruk_leaderboard.corpora.find import FoundCorpus
from oruk_leaderboard.corpora.roots import Problem, Root, is_lfs_pointer
from oruk_leaderboard.corpora.rows import CorpusClips, clips_of
from oruk_leaderboard.corpora.suffixes import UNFINISHED

_NO_CLASS = "with a label without a class"
_NAMED = 5
"""Native labels without a class that are named."""

_REMEDY = {
    "lfs-pointer": "run git lfs pull in the clone",
    "empty": "download these files again",
    "truncated": "download these files again",
    "resampled": "use the files as released: this is a converted copy",
    "changed": "use the files as released: this is an altered copy",
}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Something that keeps a copy from being the official release: what, how many, an example, what to do."""

    what: str
    count: int
    example: str | None
    do: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What a copy of a corpus is like.

    Attributes:
        corpus: Where it is.
        clips: Different clips whose recording is there.
        of: Clips of the official release, None where unknown.
        usable: Clips with a class that nothing excludes.
        unusable: Why the others are left out, to how many; duplicates are only known with ``hashes``.
        release: Release or packing the copy looks like.
        states: State to number of clips by the manifest's digests; None unless asked for.
        shortfalls: What is wrong, most important first.
        problems: Findings about single rows and files.
    """

    corpus: FoundCorpus
    clips: int
    of: int | None
    usable: int
    unusable: Mapping[str, int]
    missing: int
    extras: int
    release: str
    states: Mapping[str, int] | None
    shortfalls: Sequence[Shortfall]
    problems: Sequence[Problem]

    @property
    def complete(self) -> bool:
        """Whether nothing is wrong."""
        return not self.shortfalls and not self.problems

    def to_dict(self) -> dict[str, Any]:
        """What ``corpora find --json`` prints of a corpus."""
        return {
            "id": self.corpus.spec.id,
            "root": self.corpus.root.location,
            "places": list(self.corpus.places),
            "clips": self.clips,
            "of": self.of,
            "usable": self.usable,
            "unusable": dict(self.unusable),
            "missing": self.missing,
            "extras": self.extras,
            "release": self.release,
            "states": None if self.states is None else dict(self.states),
            "shortfalls": [asdict(item) for item in self.shortfalls],
            "problems": [asdict(item) for item in self.problems],
        }


def survey(corpus: FoundCorpus, *, hashes: bool = False) -> Survey:
    """Look at a copy of a corpus: by names and sizes, and with ``hashes`` by the digests of the manifest."""
    (found,) = clips_of([corpus], hash_duplicates=hashes)
    ids = {clip.clip_id for clip in found.clips}
    shortfalls = list(_by_name(corpus, found, len(ids)))
    states: Counter[str] | None = None
    if hashes and not corpus.root.listing_only:
        states, by_hash = _by_hash(corpus)
        known = {item.do for item in shortfalls}
        shortfalls += [item for item in by_hash if item.do not in known]
    return Survey(
        corpus=corpus,
        clips=len(ids),
        of=corpus.spec.n_clips,
        usable=sum(clip.label is not None for clip in found.clips),
        unusable=_unusable(found.clips),
        missing=len(found.missing),
        extras=len(found.extras),
        release=_release(corpus, found),
        states=states,
        shortfalls=shortfalls,
        problems=found.problems,
    )


def _unusable(found: Sequence[Clip]) -> dict[str, int]:
    """Reasons why clips are left out, most frequent first; a second file of a clip is not one of them."""
    left_out = [clip for clip in found if clip.label is None and not (clip.excluded or "").startswith("also at ")]
    classless = sorted({str(clip.native_label) for clip in left_out if _kind(clip) == _NO_CLASS})
    some = ", ".join(classless[:_NAMED]) + (", …" if len(classless) > _NAMED else "")
    reasons = Counter(_kind(clip) for clip in left_out)
    return {f"{kind} ({some})" if kind == _NO_CLASS else kind: count for kind, count in reasons.most_common()}


def _kind(clip: Clip) -> str:
    reason = clip.excluded or ""
    if reason == no_class(clip.native_label):
        return _NO_CLASS
    return "byte-identical to another" if "duplicate" in reason else reason


def _by_name(corpus: FoundCorpus, found: CorpusClips, count: int) -> Iterator[Shortfall]:
    spec, root = corpus.spec, corpus.root
    pointers: list[str] = []
    empty: list[str] = []
    for clip in found.clips:
        size = _size(root, clip.media)
        if size == 0:
            empty.append(clip.media)
        elif _is_pointer(root, clip, size):
            pointers.append(clip.media)
    if pointers:
        yield Shortfall("Git LFS pointers instead of recordings", len(pointers), pointers[0], _REMEDY["lfs-pointer"])
    if empty:
        yield Shortfall("empty files", len(empty), empty[0], _REMEDY["empty"])
    unfinished = [name for name in corpus.index.with_suffix(UNFINISHED) if name.startswith(corpus.places)]
    if unfinished:
        yield Shortfall("unfinished downloads", len(unfinished), unfinished[0], "finish the download")
    if found.missing:
        first = found.missing[0]
        yield Shortfall("clips without a recording", len(found.missing), first.media, f"get the audio ({spec.obtain})")
    elif spec.n_clips is not None and count < spec.n_clips:
        what = f"only {count:,} of {spec.n_clips:,} clips are here"
        yield Shortfall(what, spec.n_clips - count, None, f"get the rest ({spec.obtain})")
    if spec.table is not None and not corpus.tables:
        wanted = " or ".join(spec.table.named)
        yield Shortfall("the label file is not here", 1, wanted, "put it where the official release has it")
    if len(corpus.places) > 1:
        yield Shortfall(
            "more than one copy",
            len(corpus.places),
            corpus.places[1],
            "one file of each clip counts; compare them before you remove any (validate)",
        )


def _size(root: Root, media: str) -> int | None:
    try:
        return root.size(media)
    except OSError:
        # A file that went away since the folder was read; validation names it.
        return None


def _is_pointer(root: Root, clip: Clip, size: int | None) -> bool:
    try:
        return is_lfs_pointer(root, clip.media, size)
    except OSError:
        # Validation names unreadable files; here they are just no pointers.
        return False


def _by_hash(corpus: FoundCorpus) -> tuple[Counter[str], list[Shortfall]]:
    from oruk_leaderboard.manifest import validate

    validation = validate([corpus])
    reasons: dict[str, list[str]] = {}
    for state in validation.states:
        if state.state == "differs":
            reasons.setdefault(state.reason or "changed", []).append(state.media or "")
    shortfalls = [
        Shortfall(f"files that differ from the pinned ones: {reason}", len(files), files[0], _remedy(reason))
        for reason, files in reasons.items()
    ]
    return Counter(validation.totals.get(corpus.spec.id, {})), shortfalls


def _remedy(reason: str) -> str:
    return _REMEDY.get(reason.partition(" ")[0], _REMEDY["changed"])


def _release(corpus: FoundCorpus, found: CorpusClips) -> str:
    # A second file of a clip says nothing about what is used.
    used = [clip for clip in found.clips if not (clip.excluded or "").startswith("also at ")]
    beside = [name[len(place) :] for place in corpus.places for name in corpus.index.others_below(place)]
    below = [clip.media[len(place) :] for place in corpus.places for clip in used if clip.media.startswith(place)]
    for release, pattern in corpus.spec.releases:
        if any(pattern.fullmatch(name) for names in (below, beside) for name in names):
            return release
    if not used:
        return "label file only"
    official = all(f"/{clip.media}".endswith(f"/{found.official[clip.clip_id]}") for clip in used)
    return "official layout" if official else "another packing"
