"""Which names belong to a spec: every pattern of a spec is run here, those of a user's own spec under a time limit."""

import json
import math
import re
import resource
import signal
import subprocess
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from oruk_leaderboard.corpora.archives import is_packed, packed_name
from oruk_leaderboard.corpora.letter_case import Recased
from oruk_leaderboard.corpora.roots import Root
from oruk_leaderboard.corpora.rules import Columns
from oruk_leaderboard.corpora.spec import CorpusSpec, FilesRule, TableRule
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.errors import CorpusError
from oruk_leaderboard.paths import LFS_POINTER

TIME_LIMIT_S = 10
"""Most seconds of processor time that the patterns of a user's own spec may take over all names of a root."""


CONTENT_BYTES = 1 << 16
"""How much of a label file is looked at to recognise it."""


class Match(NamedTuple):
    """A file that a pattern recognises.

    ``place`` is the path of the corpus's own root below the corpora root; ``by_folder`` says that the folder was
    recognised too, not only the name; ``packing`` is the index of the ``[[files]]`` rule.
    """

    media: str
    place: str
    columns: Columns
    by_folder: bool = True
    packing: int = 0


class Parts(NamedTuple):
    """A name taken apart; ``folder`` ends with ``/`` or is empty."""

    name: str
    folder: str
    stem: str


@dataclass(frozen=True, slots=True)
class NameIndex:
    """The names of a root, taken apart once for all specs.

    Attributes:
        by_suffix: Names by lower-case suffix.
        others: Names that are not recordings, sorted.
    """

    by_suffix: Mapping[str, Sequence[Parts]]
    others: Sequence[str]

    def with_suffix(self, suffixes: Iterable[str]) -> list[str]:
        """Names with one of the suffixes, sorted."""
        return sorted(part.name for suffix in suffixes for part in self.by_suffix.get(suffix, ()))

    def others_below(self, place: str) -> Sequence[str]:
        """Names that are not recordings, below a folder that ends with ``/``; all for an empty one."""
        return self.others[bisect_left(self.others, place) : bisect_right(self.others, f"{place}\U0010ffff")]


def index_names(names: Iterable[str]) -> NameIndex:
    """Take names apart."""
    by_suffix: dict[str, list[Parts]] = {}
    for name in names:
        folder, slash, file = name.rpartition("/")
        stem, dot, suffix = file.rpartition(".")
        if not dot:
            stem, suffix = suffix, ""
        by_suffix.setdefault(f".{suffix.lower()}", []).append(Parts(name, folder + slash, stem))
    others = [part.name for suffix, parts in by_suffix.items() if suffix not in MEDIA for part in parts]
    return NameIndex(by_suffix, sorted(others))


def match_files(spec: CorpusSpec, index: NameIndex, *, any_case: bool = False) -> tuple[list[Match], list[str]]:
    """Files that the spec's ``[files]`` patterns recognise, and the strays among them.

    Each name is matched once, by the first packing that fits. A stray is a recording in a place of clips (in a
    folder that the spec names, or beside a clip) and is none. With ``any_case`` names that have become wholly lower or
    upper case are matched too, as the release writes them; this is not done for a user's own spec.
    """
    if not any(suffix in index.by_suffix for rule in spec.files for suffix in rule.suffixes):
        return [], []
    wanted = MEDIA.union(*(rule.suffixes for rule in spec.files))
    candidates = {suffix: parts for suffix, parts in index.by_suffix.items() if suffix in wanted}
    if spec.trusted:
        return _match_files(spec.files, candidates, any_case=any_case)
    request = {
        "files": [
            {
                "name": rule.name.pattern,
                "folders": [folder and folder.pattern for folder in rule.folders],
                "suffixes": rule.suffixes,
            }
            for rule in spec.files
        ],
        "candidates": candidates,
    }
    found, strays = _limited(request, spec)
    return [Match(*item) for item in found], strays


def match_paths(spec: CorpusSpec, rule: TableRule, index: NameIndex) -> list[Match]:
    """Label files whose path ends as one of the rule's patterns says."""
    names = index.others if rule.suffixes is None else index.with_suffix(rule.suffixes)
    if not names:
        return []
    if spec.trusted:
        return _match_paths(rule.paths, names)
    request = {"paths": [pattern.pattern for pattern in rule.paths], "names": names}
    return [Match(*item) for item in _limited(request, spec)]


def matches_within(spec: CorpusSpec, places: Sequence[str]) -> bool:
    """Whether one of the paths fits the spec's ``within``."""
    if spec.within is None:
        return True
    if spec.trusted:
        return any(map(spec.within.search, places))
    return bool(_limited({"within": spec.within.pattern, "places": places}, spec))


def has_content(spec: CorpusSpec, content: re.Pattern[str] | None, root: Root, name: str) -> bool:
    """Whether a label file begins as those of the corpus do; a listing has no content and is believed.

    A file that cannot be read, or is a Git LFS pointer, is believed too: reading it says what is wrong.
    """
    if content is None or root.listing_only:
        return True
    try:
        with root.open(name) as file:
            data = file.read(CONTENT_BYTES)
    except OSError:
        return True
    if data.startswith(LFS_POINTER):
        return True
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16", "replace") if wide else data.decode("latin-1")
    if spec.trusted:
        return content.search(text) is not None
    return bool(_limited({"content": content.pattern, "text": text}, spec))


def _match_files(
    rules: Sequence[FilesRule], candidates: Mapping[str, Sequence[Parts]], *, any_case: bool = False
) -> tuple[list[Match], list[str]]:
    found: dict[str, Match] = {}
    own_folders: set[str] = set()
    for packing, rule in enumerate(rules):
        places: dict[str, Match | None] = {}
        fits = (Recased(rule.name) if any_case else rule.name).fullmatch
        for suffix in rule.suffixes:
            parts = candidates.get(suffix, ())
            # Most names fit none of the specs: what is done for those has to be short.
            fitting = [pair for pair in zip(parts, map(fits, [part[2] for part in parts]), strict=True) if pair[1]]
            for (name, folder, _), named in fitting:
                if named is None or name in found:
                    continue
                if folder not in places:
                    places[folder] = _place(rule, folder)
                place = places[folder]
                if place is not None:
                    columns = {**place.columns, **named.groupdict()}
                    if any_case:  # The name as the release writes it, whatever it is on this disk.
                        columns["stem"] = named.string
                    found[name] = Match(name, place.place, columns, place.by_folder, packing)
                    own_folders.add(folder)
    if not found:
        return [], []
    named_by = [pattern for rule in rules for pattern in rule.folders if pattern]
    folders = {part.folder for parts in candidates.values() for part in parts} - own_folders
    own_folders |= {folder for folder in folders if any(_fits(pattern, folder) for pattern in named_by)}
    strays = [
        part.name
        for parts in candidates.values()
        for part in parts
        if part.folder in own_folders and part.name not in found
    ]
    return list(found.values()), sorted(strays)


def _place(rule: FilesRule, folder: str) -> Match | None:
    for pattern in rule.folders:
        if pattern is None:
            return Match("", folder, {}, by_folder=False)
        if found := _fits(pattern, folder):
            return found
    return None


def _fits(pattern: re.Pattern[str], folder: str) -> Match | None:
    """The folder as the pattern takes it apart; archives in the path count as folders of their own name, or as none.

    The second reading is for archives in the folder that they pack (MEAD: ``M003/audio.tar``).
    """
    if fits := pattern.fullmatch(folder):
        groups = fits.groupdict()
        return Match("", groups.pop("place"), groups)
    if "." not in folder:
        return None
    parts = folder.split("/")[:-1]
    archives = [at for at, part in enumerate(parts) if is_packed(part)]
    if not archives:
        return None
    named = [packed_name(part) if at in archives else part for at, part in enumerate(parts)]
    if fits := pattern.fullmatch("/".join(named) + "/"):
        groups = fits.groupdict()
        depth = groups.pop("place").count("/")
        return Match("", "".join(part + "/" for part in parts[:depth]), groups)
    outside = [at for at in range(len(parts)) if at not in archives]
    if fits := pattern.fullmatch("".join(parts[at] + "/" for at in outside)):
        groups = fits.groupdict()
        depth = groups.pop("place").count("/")
        end = outside[depth - 1] + 1 if depth else 0
        return Match("", "".join(part + "/" for part in parts[:end]), groups)
    return None


def _match_paths(patterns: Sequence[re.Pattern[str]], names: Sequence[str]) -> list[Match]:
    found = []
    for name in names:
        for pattern in patterns:
            if fits := pattern.fullmatch(name):
                groups = fits.groupdict()
                place = groups.pop("place")
                if (own := name[len(place) :]) == own.upper():  # The parts of a release have names in lower case.
                    groups = {column: value and value.lower() for column, value in groups.items()}
                found.append(Match(name, place, groups))
                break
    return found


def _limited(request: Mapping[str, object], spec: CorpusSpec) -> Any:
    # A pattern that backtracks without end cannot be stopped from within; another process can be.
    command = [sys.executable, "-m", "oruk_leaderboard.corpora.match", str(TIME_LIMIT_S)]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        raise CorpusError(
            "the spec's patterns take too long",
            where=spec.origin,
            expected=f"at most {TIME_LIMIT_S} s of processor time for all names",
            do="avoid nested repetition such as (a+)+",
        )
    if done.returncode < 0:
        raise CorpusError(
            "the process that matches names was killed",
            where=spec.origin,
            found=f"signal {-done.returncode}",
            do="try again",
        )
    if done.returncode:
        raise CorpusError("the spec's patterns failed", where=spec.origin, found=done.stderr.strip()[-300:])
    return json.loads(done.stdout)


def _serve(limit: int) -> None:
    """Answer one request within ``limit`` seconds of processor time, however busy the machine is."""
    request = json.load(sys.stdin)
    spent = math.ceil(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, resource.RLIM_INFINITY))
    found: object
    if "paths" in request:
        found = _match_paths([re.compile(pattern, re.IGNORECASE) for pattern in request["paths"]], request["names"])
    elif "content" in request:
        found = re.search(request["content"], request["text"]) is not None
    elif "within" in request:
        found = any(map(re.compile(request["within"], re.IGNORECASE).search, request["places"]))
    else:
        rules = [
            FilesRule(
                re.compile(rule["name"]),
                tuple(folder and re.compile(folder, re.IGNORECASE) for folder in rule["folders"]),
                tuple(rule["suffixes"]),
            )
            for rule in request["files"]
        ]
        candidates = {suffix: [Parts(*item) for item in items] for suffix, items in request["candidates"].items()}
        found = _match_files(rules, candidates)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
