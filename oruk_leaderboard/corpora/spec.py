"""The corpus spec: one TOML file that says how a corpus's own files become clips. No code in it.

``schema/corpus.schema.json`` describes every key; in short:

- ``[files]`` (one table, or ``[[files]]`` for several packings, tried in order): clips are files. ``name`` is a regular
  expression for the whole stem, ``folder`` one or several for the end of the folder path (``""``: any folder),
  ``suffixes`` the accepted suffixes, the official one first; every audio container is accepted after these.
  Named groups become columns. Folders and suffixes match in any case, names exactly. An archive counts as a folder of
  its own name. ``secondary`` says why clips that only this packing has are left out where another packing is present.
- ``[table]``: clips are rows of label files. ``path`` is a regular expression (or several) for the end of the label
  file's path, ``reader`` a registered reader (default: delimited text), ``where`` keeps rows by column values,
  ``content`` is a regular expression that the beginning of the file must match: a label file is recognised by its
  content, never by its name alone. With ``[files]`` beside it the file names are used when there is no label file.
- ``[join.NAME]``: a further table; its columns are ``NAME.column``, found by comparing ``key`` with the rule ``of``.
- ``[let]``: further columns, each by a rule, in order.
- ``[clip]``: ``id`` (the clip's name; ``<corpus>/`` is put before it), ``media`` (path in the official layout, then
  alternatives), and a rule for any other field of a clip. A column called like a field fills it by itself.
- ``sentence``: regular expression for the clip's whole name; its group is the sentence, where the name gives it.
- ``[labels]``: native label to class, or ``false`` where it has none on purpose; ``"*"`` means all others.
  ``[labels.policy.NAME]`` changes some of them, ``[labels.source.NAME]`` gives another ``native_label`` rule and map.
- ``[exclude]``: glob over clip names to the reason; ``[extras]``: glob over the end of paths to the reason (never
  clips; ``*`` stays within a folder); ``[members]``: the same for files of the official release that are not findings.
- ``names``: text file beside the spec, one clip name per line, where recordings outside the official set fit the
  patterns too.
- ``lengths``: CSV file beside the spec (``clip``, ``file_s``, ``table_s``, ``reason``) of clips whose public file does
  not have the length that the label file gives. Such a clip is used only where a file of the table's length is found.
- ``[releases]``: release or packing to a glob over paths below the corpus's own root, case-sensitive;
  the first that matches names the copy.
- ``layout_source``: where the layout was seen; ``unconfirmed`` where nobody has seen it.
- ``[list]``: how the public list of the corpus's clips differs from the corpus, for `manifest build`.
- ``[example]``: ``tree`` (path to content) and the ``clips`` that must come out of it.

Rules are described in ``rules.py``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora.rules import Rule
from oruk_leaderboard.errors import CorpusError

UNCONFIRMED = "unconfirmed"
LabelMap = Mapping[str, str | bool]

AgreementRequired: TypeAlias = Literal[True, False, "unconfirmed"]
"""Whether a corpus is given out under a signed agreement only."""

AGREEMENT: Mapping[AgreementRequired, str] = {True: "yes", False: "no", "unconfirmed": "unconfirmed"}
"""The same in words, for tables."""

CLIP_FIELDS = frozenset(item.name for item in fields(Clip)) - {"clip_id", "corpus", "media", "label"}
"""Fields of a clip that ``[clip]`` may give a rule for."""


@dataclass(frozen=True, slots=True)
class FilesRule:
    """Clips as files: patterns of the folder's end and of the stem."""

    name: re.Pattern[str]
    folders: tuple[re.Pattern[str] | None, ...]
    suffixes: tuple[str, ...]
    secondary: str | None = None

    @property
    def groups(self) -> set[str]:
        """Columns that the patterns give."""
        return set(self.name.groupindex).union(*(folder.groupindex for folder in self.folders if folder)) - {"place"}


@dataclass(frozen=True, slots=True)
class TableRule:
    """A label file: where it is, how it is read, which rows count.

    ``suffixes`` are those that the patterns spell out, None where one of them does not.
    """

    paths: tuple[re.Pattern[str], ...]
    reader: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] | None = None
    content: re.Pattern[str] | None = None
    suffixes: tuple[str, ...] | None = None

    @property
    def named(self) -> list[str]:
        """The patterns as the spec gives them."""
        return [pattern.pattern.partition("*?)")[2] for pattern in self.paths]


@dataclass(frozen=True, slots=True)
class Join:
    """A further table whose row is found by comparing ``key`` with the value of ``of``."""

    table: TableRule
    key: str
    of: Rule


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Another label than the customary one: its rule and its map."""

    native_label: Rule
    labels: LabelMap


@dataclass(frozen=True, slots=True)
class ListRule:
    """How the public list of a corpus differs from the corpus itself; only `manifest build` uses it.

    Attributes:
        path: Pattern of a line's path; its groups are columns of the label file.
        labels: The list's spelling of a native label to the corpus's own.
        unsure: Native labels that the list gives wrongly to some clips, with the reason.
        files: File names that a hash table misspells, to the right ones.
        hashes: Name of the hash table, where it is not the corpus's id.
    """

    path: re.Pattern[str] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    unsure: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    hashes: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusSpec:
    """A parsed corpus spec.

    Attributes:
        id: Short name, the first part of every clip id.
        agreement_required: True, False, or ``"unconfirmed"``.
        citation: BibTeX.
        n_clips: Clips of the official release, None where unknown.
        tier: ``A`` (rule confirmed), ``B`` (partly confirmed), ``C`` (index entry), ``own`` (a user's).
        state: ``adapter``, ``index only``, ``text only`` or ``other modality``.
        missing: What is missing for an adapter, None where there is one.
        needs: Extras of this package that reading it needs.
        shares_material_with: Corpora with the same recordings or people.
        rules: A rule for every field of a clip.
        given: The fields whose rule the spec itself gives: a label table must have their columns.
        labels: Native label to class, or False where it has none on purpose.
        ranges: Rating to (lowest, highest).
        sentence: Pattern of a clip's name whose first group is the sentence spoken, or None.
        names: Clip names of the official set, where files outside it fit the patterns too; empty: all that fit.
        lengths: Clip name to the reason why its public file is not of its table's length.
        layout_source: Where the layout was seen, None where the spec does not say.
        listed: How the corpus's public list differs.
        origin: File the spec was read from.
        trusted: False for a user's own spec, whose patterns run under a time limit.
    """

    id: str
    name: str
    languages: tuple[str, ...]
    elicitation: str
    licence: str
    agreement_required: AgreementRequired
    licence_note: str | None
    citation: str
    n_clips: int | None
    tier: str
    state: str
    missing: str | None
    url: str | None
    obtain: str
    needs: tuple[str, ...]
    shares_material_with: tuple[str, ...]
    faults: tuple[str, ...]
    files: tuple[FilesRule, ...]
    table: TableRule | None
    joins: Mapping[str, Join]
    let: Mapping[str, Rule]
    markers: tuple[re.Pattern[str], ...]
    within: re.Pattern[str] | None
    clip_id: Rule | None
    media: tuple[Rule, ...]
    rules: Mapping[str, Rule]
    given: frozenset[str]
    labels: LabelMap
    policies: Mapping[str, LabelMap]
    sources: Mapping[str, LabelSource]
    ranges: Mapping[str, tuple[float, float]]
    sentence: re.Pattern[str] | None
    exclude: tuple[tuple[re.Pattern[str], str], ...]
    extras: tuple[tuple[re.Pattern[str], str], ...]
    members: tuple[tuple[re.Pattern[str], str], ...]
    releases: tuple[tuple[str, re.Pattern[str]], ...]
    names: frozenset[str]
    lengths: Mapping[str, str]
    layout_source: str | None
    listed: ListRule
    example: Mapping[str, Any]
    origin: Path
    trusted: bool

    @property
    def layout_seen(self) -> bool:
        """Whether somebody has seen the layout that the spec reads."""
        return self.layout_source is not None and not self.layout_source.startswith(UNCONFIRMED)

    def extra(self, media: str) -> str | None:
        """Why a file at this path is never a clip, or None."""
        return next((reason for pattern, reason in self.extras if pattern.fullmatch(media)), None)

    def member(self, media: str) -> str | None:
        """What a file of the official release at this path is, where it is not a clip, or None."""
        return next((what for pattern, what in self.members if pattern.fullmatch(media)), None)

    def label_rule(self, policy: str | None, source: str | None) -> tuple[Rule, LabelMap]:
        """Rule of the native label and the map to classes under a policy and a source.

        Raises:
            CorpusError: The corpus has no such policy or source.
        """
        native, labels = self.rules["native_label"], self.labels
        if source is not None:
            if source not in self.sources:
                raise CorpusError(
                    "no such label source", where=self.id, expected=sorted_names(self.sources), found=source
                )
            native, labels = self.sources[source].native_label, self.sources[source].labels
        if policy is not None:
            if policy not in self.policies:
                raise CorpusError(
                    "no such label policy", where=self.id, expected=sorted_names(self.policies), found=policy
                )
            labels = {**labels, **self.policies[policy]}
        return native, labels

    def to_dict(self) -> dict[str, object]:
        """What ``corpora list --json`` prints of a corpus."""
        return {
            "id": self.id,
            "name": self.name,
            "languages": list(self.languages),
            "elicitation": self.elicitation,
            "licence": self.licence,
            "agreement": self.agreement_required,
            "clips": self.n_clips,
            "tier": self.tier,
            "state": self.state,
            "citation": self.citation,
            "missing": self.missing,
            "url": self.url,
            "obtain": self.obtain,
            "needs": list(self.needs),
            "shares_material_with": list(self.shares_material_with),
            "layout_source": self.layout_source,
            "licence_note": self.licence_note,
            "labels": dict(self.labels),
            "label_policies": {name: dict(labels) for name, labels in self.policies.items()},
            "label_sources": {name: dict(source.labels) for name, source in self.sources.items()},
            "faults": list(self.faults),
            "ranges": {name: list(limits) for name, limits in self.ranges.items()},
            "spec": self.origin.name,
        }


def sorted_names(values: Iterable[str]) -> str:
    """The values in order, for a message."""
    return ", ".join(sorted(values)) or "none"
