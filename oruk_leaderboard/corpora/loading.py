"""From a TOML file to a `CorpusSpec`; ``spec.py`` describes the keys."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oruk_leaderboard import tomltext
from oruk_leaderboard.classes import INDEX
from oruk_leaderboard.corpora.archives import unsafe
from oruk_leaderboard.corpora.rules import BUILT_IN, FirstOf, Rule, globs, rule
from oruk_leaderboard.corpora.spec import (
    CLIP_FIELDS,
    CorpusSpec,
    FilesRule,
    Join,
    LabelMap,
    LabelSource,
    ListRule,
    TableRule,
    sorted_names,
)
from oruk_leaderboard.corpora.suffixes import AUDIO
from oruk_leaderboard.errors import CorpusError

_LONGEST = 300
"""Most characters of a fault that a message repeats, and of the constant text of a clip's id or path."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def load_spec(path: Path, *, trusted: bool = False) -> CorpusSpec:
    """Read one spec file.

    Raises:
        CorpusError: The file cannot be read, is not TOML, or breaks the schema or a rule.
    """
    try:
        data = tomltext.parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CorpusError("the corpus spec cannot be read", where=path, found=error.strerror) from error
    except ValueError as error:
        raise CorpusError("the corpus spec is not TOML in UTF-8", where=path, found=str(error)) from error
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
            f"key {key[:_LONGEST]}: {errors[0].message[:_LONGEST]}",
            where=where,
            do="see schema/corpus.schema.json for every key",
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
        extras=tuple((_folder_glob(glob), reason) for glob, reason in data.get("extras", {}).items()),
        members=tuple((_folder_glob(glob), what) for glob, what in data.get("members", {}).items()),
        releases=tuple((name, globs([glob])) for name, glob in data.get("releases", {}).items()),
        names=_clip_names(origin.parent / data["names"], where=where) if "names" in data else frozenset(),
        lengths=_lengths(origin.parent / data["lengths"], where=where) if "lengths" in data else {},
        layout_source=data.get("layout_source"),
        listed=_list_rule(data.get("list", {}), where=f"{where} [list]"),
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
            found=sorted_names(spec.given),
        )
    if unknown := spec.given - CLIP_FIELDS:
        raise CorpusError(
            "not a field of a clip",
            where=f"{where} [clip]",
            expected=sorted_names(CLIP_FIELDS),
            found=sorted_names(unknown),
        )
    for name, item in [("id", spec.clip_id), *(("media", item) for item in spec.media)]:
        for text in item.texts():
            if reason := _unusable(text):
                raise CorpusError(f"{reason}: {text[:_LONGEST]!r}", where=f"{where} [clip] {name}", do=_RELATIVE)
    if spec.table is None:
        known = {*BUILT_IN, *spec.let}.union(*(item.groups for item in spec.files))
        needed = [spec.clip_id, *spec.media, *(spec.rules[name] for name in spec.given)]
        needed += [*spec.let.values(), *(join.of for join in spec.joins.values())]
        for column in (column for item in needed for column in item.columns()):
            if column not in known and column.partition(".")[0] not in spec.joins:
                raise CorpusError(
                    "no pattern gives this column", where=where, expected=sorted_names(known), found=column
                )


_RELATIVE = "give a relative path below the corpus's own folder, with / between its parts"


def _unusable(text: str) -> str | None:
    """Why a clip cannot have such an id or path, or None."""
    if len(text) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    if _CONTROL.search(text):
        return "a control character"
    if "://" in text:
        return "a URL"
    if "\\" in text:
        return "a backslash"
    return unsafe(text)


def _labels(data: dict[str, Any], *, where: str) -> tuple[LabelMap, dict[str, LabelMap], dict[str, LabelSource]]:
    policies, sources = data.pop("policy", {}), data.pop("source", {})
    for labels in (data, *policies.values(), *(source["labels"] for source in sources.values())):
        for native, label in labels.items():
            if label is not False and label not in INDEX:
                raise CorpusError(
                    f"native label {native!r} is mapped to no class",
                    where=f"{where} [labels]",
                    expected=f"{sorted_names(INDEX)} or false",
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
        folders=tuple(
            _path_pattern(f"(?:{item})/", where=f"{where} [files] folder") if item else None for item in folders
        ),
        suffixes=tuple(suffixes),
        secondary=data.get("secondary"),
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
        content=_pattern(data["content"], where=f"{where} content") if "content" in data else None,
        suffixes=_spelled_out(paths),
    )


_ENDING = re.compile(r"(?<!\\)\\\.(?:(\w+)|\(\?:(\w+(?:\|\w+)*)\))$")
"""End of a pattern that spells its suffix out: ``\\.csv`` or ``\\.(?:csv|tsv)``."""


def _spelled_out(patterns: Sequence[str]) -> tuple[str, ...] | None:
    """Suffixes of the files that the patterns can match, None where one of the patterns does not say."""
    suffixes: set[str] = set()
    for pattern in patterns:
        ending = _ENDING.search(pattern)
        # A branch outside of all groups may end in its own way.
        start = re.sub(r"\\.|\[[^\]]*\]", "", pattern[: ending.start()]) if ending else "|"
        while (shorter := re.sub(r"\([^()]*\)", "", start)) != start:
            start = shorter
        if ending is None or "|" in start:
            return None
        suffixes.update(f".{suffix.lower()}" for suffix in (ending[1] or ending[2]).split("|"))
    return tuple(sorted(suffixes))


def _list_rule(data: Mapping[str, Any], *, where: str) -> ListRule:
    path = _pattern(data["path"], where=f"{where} path") if "path" in data else None
    maps = {name: data.get(name, {}) for name in ("labels", "unsure", "files")}
    return ListRule(path=path, hashes=data.get("hashes"), **maps)


def _clip_names(path: Path, *, where: str) -> frozenset[str]:
    try:
        return frozenset(path.read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(
            "the clip names cannot be read",
            where=f"{where} names",
            expected=f"{path.name} beside the spec, one name per line",
            found=f"{type(error).__name__}: {error}",
        ) from error


def _lengths(path: Path, *, where: str) -> Mapping[str, str]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return {row["clip"]: row["reason"] for row in csv.DictReader(lines)}
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise CorpusError(
            "the table of lengths cannot be read",
            where=f"{where} lengths",
            expected=f"{path.name} beside the spec, with the columns clip and reason",
            found=f"{type(error).__name__}: {error}",
        ) from error


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


def _folder_glob(glob: str) -> re.Pattern[str]:
    """Pattern of a path's end in any case; ``*``, ``?`` and ``[...]`` stay within a folder."""
    parts = []
    for part in re.split(r"(\*|\?|\[[^\]/]+\])", glob):
        if part == "*":
            parts.append("[^/]*")
        elif part == "?":
            parts.append("[^/]")
        elif part.startswith("[") and part.endswith("]"):
            parts.append(f"(?!/)[{part[1:-1].replace('!', '^', 1) if part[1:2] == '!' else part[1:-1]}]")
        else:
            parts.append(re.escape(part))
    return re.compile(f"(?:.*/)?{''.join(parts)}", re.IGNORECASE | re.DOTALL)
