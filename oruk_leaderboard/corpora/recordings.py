"""Which file is the recording of a row of a label file."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from oruk_leaderboard.corpora.find import FoundCorpus
from oruk_leaderboard.corpora.match import Parts
from oruk_leaderboard.corpora.suffixes import AUDIO, LOSSY, suffix_of
from oruk_leaderboard.errors import AudioError, MissingExtraError

if TYPE_CHECKING:
    from oruk_leaderboard.audio.recording import Recording

LENGTH_TOLERANCE_S = 0.05
"""How far a recording's length may be from its table's times, in s."""

_DISTINCTIVE = 6
"""Shortest file name that may be looked for in any folder."""


def place_of(places: Sequence[str], path: str) -> str:
    """The deepest of the corpus's places that a path is below."""
    return max((place for place in places if path.startswith(place)), key=len, default="")


def rank(media: str, official: str, suffix: str) -> tuple[bool, bool, bool, int, str]:
    """Order of several files of one clip; the first is used.

    The release's own container comes first and a lossy copy last, then the path that the spec gives as official, then
    the shorter path, then code points.
    """
    own = suffix_of(media)
    stem = f"/{official.rpartition('.')[0] or official}".casefold()
    apart = f"/{media.removesuffix(media[len(media) - len(own) :] if own else '')}".casefold()
    return own != suffix, own in LOSSY, not apart.endswith(stem), len(media), media


def twins(candidates: Sequence[str]) -> bool:
    """Whether files of one row have different names, so that one is another cut of the other."""
    return len({_stem(media) for media in candidates}) > 1


class Recordings:
    """The files of a corpus, by what its label file says of them.

    Attributes:
        outside: Files that fit a row by name and are not used, with the reason.
    """

    def __init__(self, corpus: FoundCorpus, official: Iterable[str]) -> None:
        """Take the corpus and the official path of every row."""
        self.outside: dict[str, str] = {}
        self._corpus = corpus
        self._claimed: set[str] = set()
        self._by_stem: dict[str, dict[str, list[Parts]]] = {}
        self._official: defaultdict[str, set[str]] = defaultdict(set)
        for path in official:
            self._official[_stem(path)].add(path.casefold())
        # Where folders are part of the id, names repeat from folder to folder and say nothing alone.
        rule = corpus.spec.clip_id
        self._names_suffice = "/" not in str(rule)

    def claim(self, media: Iterable[str]) -> None:
        """Keep files that rows have by their folder from rows that have none."""
        self._claimed.update(media)

    def find(self, paths: Sequence[str], place: str) -> list[str]:
        """Files below the place whose path ends like one of the paths, best first; else below the whole root."""
        anywhere: list[str] = []
        for path in paths:
            folder, slash, _ = path.casefold().rpartition("/")
            for part in self._parts(path):
                if folder and not f"/{part.folder.casefold()}".endswith(f"/{folder}{slash}"):
                    continue
                if part.name.startswith(place) or (folder and len(self._corpus.places) == 1):
                    anywhere.append(part.name)
        below = [name for name in anywhere if name.startswith(place)]
        return sorted(set(below or anywhere), key=lambda media: rank(media, paths[0], suffix_of(paths[0])))

    def find_by_name(self, paths: Sequence[str], place: str) -> list[str]:
        """Files of the row's file name, whatever their folders are called; none where the name is not unique.

        A name of digits alone counts only below a folder of the official name.
        """
        if not self._names_suffice or len(self._official[_stem(paths[0])]) > 1:
            return []
        near: dict[int, set[str]] = defaultdict(set)
        for path in paths:
            stem = _stem(path)
            for part in self._parts(path):
                shared = _shared_folders(part.name, path)
                if part.name in self._claimed or not (shared or (len(stem) >= _DISTINCTIVE and not stem.isdigit())):
                    continue
                if self._corpus.spec.extra(part.name) is not None:
                    self.outside.setdefault(part.name, "not in the official set")
                elif part.name.startswith(place) or len(self._corpus.places) == 1:
                    near[shared].add(part.name)
        files = near[max(near)] if near else set()
        if len({media.rpartition("/")[0] for media in files}) > 1:
            for media in files:
                self.outside.setdefault(media, "several files have the name of one clip")
            return []
        return sorted(files, key=lambda media: rank(media, paths[0], suffix_of(paths[0])))

    def of_length(self, table_s: str | None, candidates: Sequence[str], clip_id: str) -> tuple[list[str], str | None]:
        """The file that is as long as the label file says, a corrected twin before a plain one.

        Args:
            table_s: Length by the label file in s, None where it gives none.
            candidates: Files of the clip, best first.
            clip_id: The clip.

        Returns:
            Files of one cut, best first, and why the clip is left out where none is as long as it should be.
        """
        if table_s is None:
            return list(candidates), None
        expected = float(table_s)
        lengths = {media: self._length_s(media) for media in candidates}
        plain = _stem(candidates[0])
        agreeing = [media for media in candidates if _agree(lengths[media], expected)]
        used = min(agreeing or candidates[:1], key=lambda media: _stem(media) == plain)
        for media in candidates:
            if _stem(media) != _stem(used):
                self.outside[media] = (
                    f"another cut of {clip_id}: {_stated(lengths[media])}, by its table {expected:.3f} s"
                )
        same = [media for media in candidates if _stem(media) == _stem(used)]
        same.sort(key=lambda media: not _agree(lengths[media], expected))
        return same, None if agreeing else f"{_stated(lengths[used])}, by its table {expected:.3f} s"

    def _length_s(self, media: str) -> float | None:
        # Few corpora need the length of a recording; the libraries for audio are not loaded for the others.
        from oruk_leaderboard.audio.opening import open_recording

        root = self._corpus.root
        path = root.local_path(media)
        try:
            if path is not None:
                with open_recording(path) as recording:
                    return _seconds(recording)
            with root.open(media) as file, open_recording(file) as recording:
                return _seconds(recording)
        except (AudioError, MissingExtraError, OSError):
            # Validation names files that cannot be read; here their length is unknown, and the clip is left out.
            return None

    def _parts(self, path: str) -> list[Parts]:
        """Files of the path's name in its container, then in any audio container."""
        stem, suffix = _stem(path), suffix_of(path)
        return [part for accepted in dict.fromkeys((suffix, *AUDIO)) for part in self._stems(accepted).get(stem, ())]

    def _stems(self, suffix: str) -> dict[str, list[Parts]]:
        if suffix not in self._by_stem:
            stems: defaultdict[str, list[Parts]] = defaultdict(list)
            for part in self._corpus.index.by_suffix.get(suffix, ()):
                stems[part.stem.casefold()].append(part)
            self._by_stem[suffix] = dict(stems)
        return self._by_stem[suffix]


def _stem(path: str) -> str:
    file = path.rpartition("/")[2]
    return (file.rpartition(".")[0] or file).casefold()


def _agree(seconds: float | None, expected: float) -> bool:
    return seconds is not None and abs(seconds - expected) <= LENGTH_TOLERANCE_S + 1e-9


def _stated(seconds: float | None) -> str:
    return "of unknown length" if seconds is None else f"{seconds:.3f} s long"


def _seconds(recording: "Recording") -> float:
    frames = recording.frames
    if frames is None:
        # The length of a video's sound is only known once it is decoded.
        frames = sum(len(block) for block in recording.blocks(0, None))
    return frames / recording.rate


def _shared_folders(name: str, path: str) -> int:
    """How many folders above the file two paths have in common, from the file upwards."""
    own, official = name.casefold().split("/")[-2::-1], path.casefold().split("/")[-2::-1]
    pairs = enumerate(zip(own, official, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(own), len(official)))
