"""From a found corpus to its clips: one row, one clip; nothing is dropped in silence."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora.columns import derived, of_path
from oruk_leaderboard.corpora.duplicates import exclude_duplicates, no_class
from oruk_leaderboard.corpora.find import FoundCorpus, locate
from oruk_leaderboard.corpora.match import Match, match_paths
from oruk_leaderboard.corpora.readers import LabelFile, label_rows, missing_column
from oruk_leaderboard.corpora.recordings import Recordings, place_of, rank, twins
from oruk_leaderboard.corpora.registry import get_corpus
from oruk_leaderboard.corpora.roots import Problem, Root, open_root
from oruk_leaderboard.corpora.rules import BUILT_IN, Columns, FirstOf, Lookup, Rule
from oruk_leaderboard.corpora.spec import CLIP_FIELDS, CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA, suffix_of
from oruk_leaderboard.errors import CorpusError, MissingExtraError

_GENDERS = {
    **dict.fromkeys(("female", "f", "woman", "w"), "female"),
    **dict.fromkeys(("male", "m", "man"), "male"),
    **dict.fromkeys(("other", "diverse", "nonbinary", "non-binary"), "other"),
    "child": "child",
}
_TIMES = frozenset(("start_s", "end_s", "channel"))
_NUMBERS = _TIMES | {"valence", "arousal", "dominance"}


@dataclass(frozen=True, slots=True)
class CorpusClips:
    """The clips and files of a corpus below a root.

    Attributes:
        clips: Clips whose recording is there, by clip id; several of one id when the corpus is there more than once
            (all but one are excluded with ``also at …``).
        missing: Clips that the corpus's label file names and that have no recording; ``media`` is the official path.
        extras: Recordings that are not clips of the corpus, with the reason.
        members: Files of the official release that are not clips, with what they are; they are not findings.
        problems: Counted findings: unknown labels, rows that contradict each other, ratings out of range.
        official: Clip id to the path below the corpus's own root in the official layout.
    """

    clips: list[Clip]
    missing: list[Clip]
    extras: list[Problem]
    problems: list[Problem]
    official: Mapping[str, str]
    members: list[Problem] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """Everything as plain lists and dictionaries."""
        return {
            "clips": [clip.to_dict() for clip in self.clips],
            "missing": [clip.to_dict() for clip in self.missing],
            "extras": [asdict(extra) for extra in self.extras],
            "members": [asdict(member) for member in self.members],
            "problems": [asdict(problem) for problem in self.problems],
            "official": dict(self.official),
        }


def clips(
    corpus: FoundCorpus | CorpusSpec | str | Path,
    root: Root | str | Path | None = None,
    *,
    label_policy: str | None = None,
    label_source: str | None = None,
    hash_duplicates: bool = True,
) -> CorpusClips:
    """Clips of a corpus below a root.

    Args:
        corpus: From `find_corpora` or `locate`; or a spec, an id or a spec file, with the root.
        root: Folder, archive or listing of the corpus, when it is not found yet.
        label_policy: Named change of the label map.
        label_source: Named other label, e.g. ``perceived``; None is the customary one.
        hash_duplicates: Compare files of equal size and exclude byte-identical ones (never on a listing).

    Raises:
        CorpusError: The corpus has no such policy or source, or a label file cannot be used.
    """
    if not isinstance(corpus, FoundCorpus):
        if root is None:
            raise CorpusError("no corpora root is given", where=corpus, do="give the folder of the corpus")
        corpus = locate(corpus if isinstance(corpus, CorpusSpec) else get_corpus(corpus), open_root(root))
    maker = _Maker(corpus, label_policy, label_source)
    found = maker.from_tables() if corpus.tables and not corpus.root.listing_only else maker.from_files()
    official = {clip.clip_id: path for clip, path in found}
    present = maker.one_each([clip for clip, _ in found if clip.media], official)
    there = {clip.clip_id for clip in present}
    missing = {
        clip.clip_id: replace(clip, media=path) for clip, path in found if not clip.media and clip.clip_id not in there
    }
    if hash_duplicates and not corpus.root.listing_only:
        present, unreadable = exclude_duplicates(present, corpus.root)
        maker.problems += unreadable
    members, extras = maker.others({clip.media for clip in present})
    return CorpusClips(
        clips=sorted(present, key=lambda clip: (clip.clip_id, clip.media)),
        missing=sorted(missing.values(), key=lambda clip: clip.clip_id),
        extras=extras,
        members=members,
        problems=maker.problems,
        official=official,
    )


def describe(corpus: FoundCorpus, rows: Iterable[tuple[Columns, str]]) -> Iterator[tuple[Clip, str] | None]:
    """Clips and official paths of rows that come from no file of the user's, such as lines of a public clip list.

    Args:
        corpus: From `locate`.
        rows: What is known of each row, under the names that the spec's rules use, and the path of its recording.

    Yields:
        None for a row whose columns give no clip id.
    """
    maker = _Maker(corpus, None, None)
    for given, media in rows:
        columns = maker._columns(given, media)
        official = next((path for rule in corpus.spec.media if (path := rule.value(columns))), media)
        named = corpus.spec.clip_id is not None and corpus.spec.clip_id.value(columns) is not None
        cut = corpus.spec.lengths.get(maker._name(columns, media)) if named else None
        yield (maker._clip(columns, media, cut=cut), official) if named else None


def clips_of(
    founds: Sequence[FoundCorpus],
    *,
    label_policy: str | None = None,
    label_source: str | None = None,
    hash_duplicates: bool = True,
) -> list[CorpusClips]:
    """Clips of several corpora, in their order; as `clips`, but one corpus does not stop the others.

    A policy or source applies to the corpora that have it. A corpus whose label file cannot be used has a problem
    instead of clips.

    Raises:
        CorpusError: None of the corpora has such a policy or source.
    """
    policies = {name for found in founds for name in found.spec.policies}
    sources = {name for found in founds for name in found.spec.sources}
    for what, asked, known in (("policy", label_policy, policies), ("source", label_source, sources)):
        if asked is not None and founds and asked not in known:
            expected = ", ".join(sorted(known)) or "none"
            raise CorpusError(f"none of the corpora has such a label {what}", expected=expected, found=asked)
    result = []
    for found in founds:
        policy = label_policy if label_policy in found.spec.policies else None
        source = label_source if label_source in found.spec.sources else None
        try:
            described = clips(found, label_policy=policy, label_source=source, hash_duplicates=hash_duplicates)
        except (CorpusError, MissingExtraError) as error:
            described = CorpusClips([], [], [], [Problem(found.spec.id, str(error))], {})
        result.append(described)
    return result


@dataclass(slots=True)
class _Maker:
    """Turns rows of one corpus into clips, and counts what cannot be turned."""

    corpus: FoundCorpus
    policy: str | None
    source: str | None
    problems: list[Problem] = field(default_factory=list)
    native: Rule = field(init=False)
    labels: dict[str, str | bool] = field(init=False)
    joined: dict[str, dict[str, Columns]] = field(init=False)
    by_column: frozenset[str] = field(init=False)
    recordings: Recordings | None = None

    def __post_init__(self) -> None:
        spec = self.corpus.spec
        self.native, labels = spec.label_rule(self.policy, self.source)
        self.labels = {native.casefold(): label for native, label in labels.items()} | dict(labels)
        self.by_column = CLIP_FIELDS - spec.given
        self.joined = {name: self._join(name) for name in spec.joins}
        if self.source is not None:
            for name in {column.partition(".")[0] for column in self.native.columns()} & set(spec.joins):
                if not self.joined[name]:
                    raise CorpusError(
                        f"label source {self.source} needs a label file that is not there",
                        where=f"{spec.id} below {self.corpus.root.location}",
                        expected=" or ".join(spec.joins[name].table.named),
                    )

    @property
    def spec(self) -> CorpusSpec:
        return self.corpus.spec

    def from_files(self) -> list[tuple[Clip, str]]:
        """Clips and official paths of the files that the patterns recognise."""
        spec = self.spec
        if not spec.files and self.corpus.tables:
            raise CorpusError(
                "the labels are in a file, and a listing has no content",
                where=f"{spec.id} in {self.corpus.root.location}",
                do="give the folder or archive itself",
            )
        found = []
        for match in self.corpus.files:
            columns = self._columns(match.columns, match.media)
            official = next((path for rule in spec.media if (path := rule.value(columns))), "")
            cut = spec.lengths.get(self._name(columns, match.media)) if spec.lengths else None
            found.append((self._clip(columns, match.media, cut=cut), official or match.media[len(match.place) :]))
        return found

    def from_tables(self) -> list[tuple[Clip, str]]:
        """Clips and official paths of the rows of all label files; ``media`` is empty where there is no recording."""
        rows = [(row, paths, place) for place, row in self._table_rows() if (paths := self._paths(row))]
        self.recordings = Recordings(self.corpus, [paths[0] for _, paths, _ in rows])
        located = [self.recordings.find(paths, place) for _, paths, place in rows]
        self.recordings.claim(media for files in located for media in files)
        found = []
        for (row, paths, place), files in zip(rows, located, strict=True):
            columns = self._columns(row, paths[0])
            candidates = files or self.recordings.find_by_name(paths, place)
            name = self._name(columns, paths[0])
            cut = self.spec.lengths.get(name)
            if candidates and (cut or twins(candidates)):
                candidates, cut = self.recordings.of_length(columns.get("table_s"), candidates, name)
            clip = self._clip(columns, "", cut=cut)
            found += [(replace(clip, media=media), paths[0]) for media in candidates or [""]]
        return found

    def _table_rows(self) -> Iterator[tuple[str, Columns]]:
        for table in self.corpus.tables:
            place = place_of(self.corpus.places, table.media)
            checked = False
            for row in self._rows(table, place):
                if not checked:
                    self._check_columns(table.media, row)
                    checked = True
                if self._paths(row):
                    yield place, row
                else:
                    self.problems.append(Problem(table.media, "a row names no recording"))

    def _paths(self, row: Columns) -> list[str]:
        columns = derived(self.spec, row, self.joined)
        return [path for rule in self.spec.media if (path := rule.value(columns))]

    def one_each(self, found: Sequence[Clip], official: Mapping[str, str]) -> list[Clip]:
        """Exclude all but the best file of each clip id, and rows that repeat or contradict."""
        by_id: defaultdict[str, list[Clip]] = defaultdict(list)
        for clip in found:
            by_id[clip.clip_id].append(clip)
        kept: list[Clip] = []
        for clip_id, same in by_id.items():
            if len(same) == 1:
                kept += same
                continue
            by_media: dict[str, Clip] = {}
            for clip in same:
                other = by_media.setdefault(clip.media, clip)
                if other is not clip:
                    contradicts = other.native_label != clip.native_label
                    reason = "rows that contradict each other" if contradicts else "the clip is listed twice"
                    self.problems.append(Problem(clip_id, reason))
                    if contradicts:
                        by_media[clip.media] = replace(other, label=None, excluded=reason)
            suffix = self.spec.files[0].suffixes[0] if self.spec.files else suffix_of(official[clip_id])
            best, *others = sorted(by_media.values(), key=lambda clip: rank(clip.media, official[clip_id], suffix))
            kept += [best, *(replace(clip, label=None, excluded=f"also at {best.media}") for clip in others)]
        return kept

    def others(self, taken: Collection[str]) -> tuple[list[Problem], list[Problem]]:
        """Recordings that are not clips: members of the official release, and extras; each with its reason."""
        outside = {**self.corpus.outside, **(self.recordings.outside if self.recordings else {})}
        names = {*self.corpus.strays, *outside}
        if self.corpus.tables and taken:
            folders = {media[: media.rfind("/") + 1] for media in taken}
            parts = (part for suffix in MEDIA for part in self.corpus.index.by_suffix.get(suffix, ()))
            names |= {part.name for part in parts if part.folder in folders}
        members, extras = [], []
        for name in sorted(names - set(taken)):
            if (what := self.spec.member(name)) is not None:
                members.append(Problem(name, what))
            else:
                reason = self.spec.extra(name) or outside.get(name) or "not in the official set"
                extras.append(Problem(name, reason))
        return members, extras

    def _columns(self, given: Columns, media: str) -> dict[str, str | None]:
        return derived(self.spec, {**of_path(media), **given}, self.joined)

    def _name(self, columns: Columns, media: str) -> str:
        """The clip's id without the corpus."""
        assert self.spec.clip_id is not None
        name = self.spec.clip_id.value(columns)
        if name is None:
            raise CorpusError(
                "a row gives no clip id", where=f"{self.spec.id}: {media}", expected=self.spec.clip_id, found=columns
            )
        return name

    def _clip(self, columns: Columns, media: str, *, cut: str | None = None) -> Clip:
        """A row as a clip; ``cut`` says why its recording is not what the label file describes."""
        spec = self.spec
        name = self._name(columns, media)
        clip_id = f"{spec.id}/{name}"
        values: dict[str, Any] = {key: columns[key] for key in self.by_column & columns.keys() if columns[key]}
        values |= {key: value for key in spec.given if (value := spec.rules[key].value(columns))}
        for key in _NUMBERS & values.keys():
            values[key] = self._number(clip_id, key, values[key])
        if values.get("channel") is not None:
            values["channel"] = int(values["channel"])
        if "gender" in values:
            values["gender"] = _GENDERS.get(values["gender"].casefold())
        if len(spec.languages) == 1:
            values.setdefault("language", spec.languages[0])
        values.setdefault("elicitation", spec.elicitation)
        if problem := columns.get("problem"):
            self.problems.append(Problem(clip_id, problem))
            values.setdefault("excluded", problem)
        native = values["native_label"] = self.native.value(columns)
        label, reason = self._label(clip_id, native)
        excluded = values.get("excluded") or next((why for glob, why in spec.exclude if glob.match(name)), None)
        excluded = excluded or cut or reason
        values |= {"label": None if excluded else label, "excluded": excluded}
        return Clip(clip_id=clip_id, corpus=spec.id, media=media, **values)

    def _label(self, clip_id: str, native: str | None) -> tuple[str | None, str | None]:
        """The class, or why there is none."""
        if native is None:
            return None, "no native label"
        label = self.labels.get(native, self.labels.get(native.casefold(), self.labels.get("*")))
        if label is None:
            reason = f"native label {native!r} is not in the spec"
            self.problems.append(Problem(clip_id, reason))
            return None, reason
        return (str(label), None) if label else (None, no_class(native))

    def _number(self, clip_id: str, key: str, text: str) -> float | None:
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            self.problems.append(Problem(clip_id, f"{key} is not a number: {text!r}"))
            return None
        low, high = self.spec.ranges.get(key, (-1e9, 1e9))
        if value != value and key not in _TIMES:
            return None  # A missing rating: MSP-IMPROV writes NaN.
        if not low <= value <= high:
            self.problems.append(Problem(clip_id, f"{key} {text} is outside {low:g} to {high:g}"))
            return None
        return value

    def _rows(self, table: Match, place: str) -> Iterator[Columns]:
        assert self.spec.table is not None
        file = LabelFile(self.corpus.root, table.media, place, self.spec.table, table.columns)
        return label_rows(file, trusted=self.spec.trusted, origin=self.spec.origin)

    def _check_columns(self, path: str, row: Columns) -> None:
        spec = self.spec
        known = {*row, *BUILT_IN, *spec.let}

        def lacking(rule: Rule) -> set[str]:
            if isinstance(rule, FirstOf):
                lacks = [lacking(item) for item in rule.rules]
                return set() if not all(lacks) else lacks[0]
            if isinstance(rule, Lookup):
                return lacking(rule.of)
            return {name for name in rule.columns() if name not in known and name.partition(".")[0] not in spec.joins}

        needed = [FirstOf(spec.media), self.native, *(spec.rules[name] for name in spec.given)]
        for rule in (*needed, spec.clip_id):
            if rule is not None and (lacks := lacking(rule)):
                raise missing_column(path, ", ".join(sorted(lacks)), row)

    def _join(self, name: str) -> dict[str, Columns]:
        rule = self.spec.joins[name]
        rows: dict[str, Columns] = {}
        if self.corpus.root.listing_only:
            return rows
        for table in match_paths(self.spec, rule.table, self.corpus.index):
            file = LabelFile(self.corpus.root, table.media, table.place, rule.table, table.columns)
            for row in label_rows(file, trusted=self.spec.trusted, origin=self.spec.origin):
                if rule.key not in row:
                    raise missing_column(table.media, rule.key, row)
                key = row[rule.key]
                if key:
                    rows.setdefault(key.casefold(), {f"{name}.{column}": value for column, value in row.items()})
        return rows
