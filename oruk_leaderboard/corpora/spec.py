"""The corpus spec: one TOML file that says how a corpus's own files become clips. No code in it.

``schema/corpus.schema.json`` describes every key; in short:

- ``[files]`` (one table, or ``[[files]]`` for several packings, tried in order): clips are files. ``name`` is a regular
  expression for the whole stem, ``folder`` one or several for the end of the folder path (``""``: any folder),
  ``suffixes`` the accepted suffixes, the official one first; every audio container is accepted after these.
  Named groups become columns. Folders and suffixes match in any case, names exactly.
- ``[table]``: clips are rows of label files. ``path`` is a regular expression (or several) for the end of the label
  file's path, ``reader`` a registered reader (default: delimited text), ``where`` keeps rows by column values. With
  ``[files]`` beside it the file names are used when there is no readable table.
- ``[join.NAME]``: a further table; its columns are ``NAME.column``, found by comparing ``key`` with the rule ``of``.
- ``[let]``: further columns, each by a rule, in order.
- ``[clip]``: ``id`` (the clip's name; ``<corpus>/`` is put before it), ``media`` (path in the official layout, then
  alternatives), and a rule for any other field of a clip. A column called like a field fills it by itself.
- ``sentence``: regular expression for the clip's whole name; its group is the sentence, where the name gives it.
- ``[labels]``: native label to class, or ``false`` where it has none on purpose; ``"*"`` stands for all others.
  ``[labels.policy.NAME]`` changes some of them, ``[labels.source.NAME]`` gives another ``native_label`` rule and map.
- ``[exclude]``: glob over clip names to the reason; ``[extras]``: glob over paths to the reason (never clips).
- ``[releases]``: release or packing to a glob over paths that tells it; the first that matches names the copy.
- ``[example]``: ``tree`` (path to content) and the ``clips`` that must come out of it.

Rules are described in ``rules.py``.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from oruk_leaderboard.classes import INDEX
from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora.rules import BUILT_IN, FirstOf, Rule, globs, rule
from oruk_leaderboard.corpora.suffixes import AUDIO
from oruk_leaderboard.errors import CorpusError

LabelMap = Mapping[str, str | bool]
CLIP_FIELDS = frozenset(item.name for item in fields(Clip)) - {"clip_id", "corpus", "media", "label"}
"""Fields of a clip that ``[clip]`` may give a rule for."""


@dataclass(frozen=True, slots=True)
class FilesRule:
    """Clips as files: patterns of the folder's end and of the stem."""

    name: re.Pattern[str]
    folders: tuple[re.Pattern[str] | None, ...]
    suffixes: tuple[str, ...]

    @property
    def groups(self) -> set[str]:
        """Columns that the patterns give."""
        return set(self.name.groupindex).union(*(folder.groupindex for folder in self.folders if folder)) - {"place"}


@dataclass(frozen=True, slots=True)
class TableRule:
    """A label file: where it is, how it is read, which rows count."""

    paths: tuple[re.Pattern[str], ...]
    reader: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] | None = None

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
        origin: File the spec was read from.
        trusted: False for a user's own spec, whose patterns run under a time limit.
    """

    id: str
    name: str
    languages: tuple[str, ...]
    elicitation: str
    licence: str
    agreement_required: bool | str
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
    releases: tuple[tuple[str, re.Pattern[str]], ...]
    example: Mapping[str, Any]
    origin: Path
    trusted: bool

    def extra(self, media: str) -> str | None:
        """Why a file at this path is never a clip, or None."""
        return next((reason for pattern, reason in self.extras if pattern.fullmatch(media)), None)

    def label_rule(self, policy: str | None, source: str | None) -> tuple[Rule, LabelMap]:
        """Rule of the native label and the map to classes under a policy and a source.

        Raises:
            CorpusError: The corpus has no such policy or source.
        """
        native, labels = self.rules["native_label"], self.labels
        if source is not None:
            if source not in self.sources:
                raise CorpusError("no such label source", where=self.id, expected=_names(self.sources), found=source)
            native, labels = self.sources[source].native_label, self.sources[source].labels
        if policy is not None:
            if policy not in self.policies:
                raise CorpusError("no such label policy", where=self.id, expected=_names(self.policies), found=policy)
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
            "licence_note": self.licence_note,
            "labels": dict(self.labels),
            "label_policies": {name: dict(labels) for name, labels in self.policies.items()},
            "label_sources": {name: dict(source.labels) for name, source in self.sources.items()},
            "faults": list(self.faults),
            "ranges": {name: list(limits) for name, limits in self.ranges.items()},
            "spec": self.origin.name,
        }


def load_spec(path: Path, *, trusted: bool = False) -> CorpusSpec:
    """Read one spec file.

    Raises:
        CorpusError: The file cannot be read, is no TOML, or breaks the schema or a rule.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CorpusError("the corpus spec cannot be read", where=path, found=error.strerror) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CorpusError("the corpus spec is no TOML in UTF-8", where=path, found=str(error)) from error
    if not trusted:
        check_schema(data, where=path)
    return parse_spec(data, origin=path, trusted=trusted)


def check_schema(data: Mapping[str, Any], *, where: Path) -> None:
    """Compare a spec with ``schema/corpus.schema.json``.

    Raises:
        CorpusError: Names the key of the first difference.
    """
    import json

    from jsonschema import Draft202012Validator

    from oruk_leaderboard.paths import schema_dir

    schema = json.loads((schema_dir() / "corpus.schema.json").read_text(encoding="utf-8"))
    errors = sorted(Draft202012Validator(schema).iter_errors(data), key=lambda error: [str(p) for p in error.path])
    if errors:
        key = ".".join(str(part) for part in errors[0].absolute_path) or "top level"
        raise CorpusError(
            f"key {key}: {errors[0].message}", where=where, do="see schema/corpus.schema.json for every key"
        )


def parse_spec(data: Mapping[str, Any], *, origin: Path, trusted: bool) -> CorpusSpec:
    """Build the spec from parsed TOML that fits the schema.

    Raises:
        CorpusError: A pattern, rule, label or column is wrong.
    """
    where = f"{origin.name}"
    clip = dict(data.get("clip", {}))
    labels, policies, sources = _labels(dict(data.get("labels", {})), where=where)
    files = data.get("files", [])
    licence = data.get("licence", {})
    spec = CorpusSpec(
        id=data["id"],
        name=data["name"],
        languages=tuple(data["languages"]),
        elicitation=data["elicitation"],
        licence=licence.get("name", "unconfirmed"),
        agreement_required=licence.get("agreement_required", "unconfirmed"),
        licence_note=licence.get("note"),
        citation=data.get("citation", ""),
        n_clips=data.get("n_clips"),
        tier=data.get("tier", "own"),
        state=data.get("state", "adapter"),
        missing=data.get("missing"),
        url=data.get("url"),
        obtain=data.get("obtain", ""),
        needs=tuple(data.get("needs", ())),
        shares_material_with=tuple(data.get("shares_material_with", ())),
        faults=tuple(data.get("faults", ())),
        files=tuple(_files(item, where=where) for item in (files if isinstance(files, list) else [files])),
        table=_table(data["table"], where=f"{where} [table]") if "table" in data else None,
        joins={name: _join(item, where=f"{where} [join.{name}]") for name, item in data.get("join", {}).items()},
        let={name: rule(item, where=f"{where} [let] {name}") for name, item in data.get("let", {}).items()},
        markers=tuple(_tail(glob) for glob in data.get("markers", ())),
        within=_pattern(data["within"], where=f"{where} within", flags=re.IGNORECASE) if "within" in data else None,
        clip_id=rule(clip.pop("id"), where=f"{where} [clip] id") if "id" in clip else None,
        media=_media(clip.pop("media", []), where=f"{where} [clip] media"),
        rules={name: rule(clip.get(name, f"{{{name}}}"), where=f"{where} [clip] {name}") for name in CLIP_FIELDS},
        given=frozenset(clip),
        labels=labels,
        policies=policies,
        sources=sources,
        ranges={name: (float(low), float(high)) for name, (low, high) in data.get("ranges", {}).items()},
        sentence=_pattern(data["sentence"], where=f"{where} sentence") if "sentence" in data else None,
        exclude=tuple((globs([glob]), reason) for glob, reason in data.get("exclude", {}).items()),
        extras=tuple((_tail(glob), reason) for glob, reason in data.get("extras", {}).items()),
        releases=tuple((name, _tail(glob)) for name, glob in data.get("releases", {}).items()),
        example=data.get("example", {}),
        origin=origin,
        trusted=trusted,
    )
    _check(spec, where=where)
    return spec


def _check(spec: CorpusSpec, *, where: str) -> None:
    if spec.state != "adapter":
        return
    if not (spec.files or spec.table) or spec.clip_id is None or not spec.media:
        raise CorpusError(
            "the spec does not say how clips are found",
            where=where,
            expected="[files] or [table], and [clip] id and media",
            found=_names(spec.given),
        )
    if unknown := spec.given - CLIP_FIELDS:
        raise CorpusError(
            "not a field of a clip", where=f"{where} [clip]", expected=_names(CLIP_FIELDS), found=_names(unknown)
        )
    if spec.table is None:
        known = {*BUILT_IN, *spec.let}.union(*(item.groups for item in spec.files))
        needed = [spec.clip_id, *spec.media, *(spec.rules[name] for name in spec.given)]
        needed += [*spec.let.values(), *(join.of for join in spec.joins.values())]
        for column in (column for item in needed for column in item.columns()):
            if column not in known and column.partition(".")[0] not in spec.joins:
                raise CorpusError("no pattern gives this column", where=where, expected=_names(known), found=column)


def _labels(data: dict[str, Any], *, where: str) -> tuple[LabelMap, dict[str, LabelMap], dict[str, LabelSource]]:
    policies, sources = data.pop("policy", {}), data.pop("source", {})
    for labels in (data, *policies.values(), *(source["labels"] for source in sources.values())):
        for native, label in labels.items():
            if label is not False and label not in INDEX:
                raise CorpusError(
                    f"native label {native!r} is mapped to no class",
                    where=f"{where} [labels]",
                    expected=f"{_names(INDEX)} or false",
                    found=repr(label),
                )
    return (
        data,
        policies,
        {
            name: LabelSource(rule(item["native_label"], where=f"{where} [labels.source.{name}]"), item["labels"])
            for name, item in sources.items()
        },
    )


def _files(data: Mapping[str, Any], *, where: str) -> FilesRule:
    folder = data.get("folder", "")
    folders = [folder] if isinstance(folder, str) else folder
    suffixes = [suffix.lower() for suffix in data.get("suffixes", [".wav"])]
    suffixes += [suffix for suffix in AUDIO if suffix not in suffixes]
    return FilesRule(
        name=_pattern(data["name"], where=f"{where} [files] name"),
        folders=tuple(_path_pattern(f"{item}/", where=f"{where} [files] folder") if item else None for item in folders),
        suffixes=tuple(suffixes),
    )


def _table(data: Mapping[str, Any], *, where: str) -> TableRule:
    paths = [data["path"]] if isinstance(data["path"], str) else data["path"]
    kept = {
        column: tuple([values] if isinstance(values, str) else values)
        for column, values in data.get("where", {}).items()
    }
    return TableRule(
        paths=tuple(_path_pattern(path, where=f"{where} path") for path in paths),
        reader=data.get("reader"),
        delimiter=data.get("delimiter"),
        encoding=data.get("encoding"),
        header=tuple(data.get("header", ())),
        where=kept or None,
    )


def _join(data: Mapping[str, Any], *, where: str) -> Join:
    return Join(_table(data, where=where), data["key"], rule(data["of"], where=f"{where} of"))


def _media(value: object, *, where: str) -> tuple[Rule, ...]:
    parsed = rule(value, where=where) if value else None
    return () if parsed is None else parsed.rules if isinstance(parsed, FirstOf) else (parsed,)


def _pattern(text: str, *, where: str, flags: int = 0) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise CorpusError("not a regular expression", where=where, found=f"{text!r}: {error}") from error


def _path_pattern(text: str, *, where: str) -> re.Pattern[str]:
    """Pattern of a path's end; ``place`` is the shortest beginning that leaves a match."""
    return _pattern(rf"(?P<place>(?:[^/]+/)*?)(?:{text})", where=where, flags=re.IGNORECASE)


def _tail(glob: str) -> re.Pattern[str]:
    return re.compile(rf"(?:.*/)?{globs([glob]).pattern}", re.IGNORECASE)


def _names(values: Iterable[str]) -> str:
    return ", ".join(sorted(values)) or "none"
