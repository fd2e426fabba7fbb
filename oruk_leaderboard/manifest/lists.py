"""Public clip lists and hash tables: what `manifest build` reads. They are not shipped; ``SOURCES.tsv`` names them.

A list is ``<corpus>.jsonl`` or ``.jsonl.gz``: one JSON object per line with ``path`` (in the corpus's layout),
``native_label``, and where known ``speaker``, ``gender``, ``language``, ``split``, ``start_s``, ``end_s`` and
``duration_s``. A hash table is ``<corpus>.tsv`` or ``.tsv.gz`` with a header line: ``path``, ``sha256``, ``bytes`` and
where known ``pcm_sha256``, ``num_samples``, ``sampling_rate``, ``channels``, ``clip_sha256``, ``clip_num_samples``.
"""

import ast
import csv
import gzip
import io
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora import CorpusSpec, Problem, clips, describe, exclude_duplicates, locate, registry
from oruk_leaderboard.corpora.roots import NamesRoot
from oruk_leaderboard.errors import ManifestError

_SAMPLE = "_sample"
"""End of the name of a list with a public sample of a corpus."""

_KNOWN = ("speaker", "gender", "language", "split")
"""Fields of a clip that a list may give where the spec's names do not."""


@dataclass(frozen=True, slots=True)
class ListedClip:
    """A clip of a public list: as the corpus's spec describes it, with what lists and hash tables add.

    Attributes:
        clip: Its ``excluded`` says why it can be no candidate; ``media`` is the list's path.
        official: Path in the official layout.
        duration_s: In s, or None.
        pins: Columns of the manifest with the digests that are known.
    """

    clip: Clip
    official: str
    duration_s: float | None
    pins: Mapping[str, Any]


def find_lists(folder: Path) -> tuple[dict[str, Path], list[Path]]:
    """Corpus to its list, and the lists of the folder that belong to no corpus of the registry.

    Raises:
        ManifestError: There are no lists in the folder.
    """
    paths = sorted(path for path in folder.glob("*.jsonl*") if path.suffix in (".jsonl", ".gz"))
    if not paths:
        raise ManifestError("no clip lists here", where=folder, expected="<corpus>.jsonl or <corpus>.jsonl.gz")
    used, unused = {}, []
    for path in paths:
        corpus = path.name.partition(".")[0].removesuffix(_SAMPLE)
        if corpus in registry() and registry()[corpus].state == "adapter":
            used[corpus] = path
        else:
            unused.append(path)
    return used, unused


def find_hashes(folder: Path) -> dict[str, Path]:
    """Corpus to its hash table; an absent folder has none."""
    tables = {path.name.partition(".")[0]: path for path in sorted(folder.glob("*.tsv*"))}
    names = {spec.id: spec.listed.hashes or spec.id.replace("_", "-") for spec in registry().values()}
    return {corpus: tables[name] for corpus, name in names.items() if name in tables}


def read_corpus(spec: CorpusSpec, list_path: Path, hash_path: Path | None) -> tuple[list[ListedClip], list[Problem]]:
    """Clips of a corpus's list by clip id, and the lines that are not clips of the corpus by its spec.

    Raises:
        ManifestError: The list cannot be read, or names a native label that the spec does not know.
    """
    rows = _read_list(list_path)
    hashes = _join([row["path"] for row in rows], _read_hashes(hash_path), spec.listed.files) if hash_path else {}
    described, problems = _describe(spec, rows, where=list_path)
    root = _HashRoot(str(list_path), hashes)
    settled, _ = exclude_duplicates([item.clip for item in described], root)
    listed = []
    for clip, item in zip(settled, described, strict=True):
        pins = _pins(hashes.get(clip.media, {}))
        listed.append(ListedClip(clip, item.official, _duration(clip, item.row, pins), pins))
    return sorted(listed, key=lambda item: item.clip.clip_id), problems


@dataclass(frozen=True, slots=True)
class _Described:
    clip: Clip
    official: str
    row: Mapping[str, Any]


def _describe(
    spec: CorpusSpec, rows: Sequence[Mapping[str, Any]], *, where: Path
) -> tuple[list[_Described], list[Problem]]:
    """Rows as the engine describes them: by their names where those are enough, else as rows of the label file."""
    corpus = locate(spec, NamesRoot(str(where), [row["path"] for row in rows]))
    found = clips(corpus) if spec.files else None
    by_name = {clip.media: (clip, found.official[clip.clip_id]) for clip in found.clips} if found else {}
    others = [row for row in rows if row["path"] not in by_name]
    by_row = describe(corpus, ((_columns(spec, row), row["path"]) for row in others)) if spec.table else repeat(None)
    described: dict[str, _Described] = {}
    problems = []
    for row in rows:
        known = by_name[row["path"]] if row["path"] in by_name else next(by_row)
        if known is None:
            problems.append(Problem(f"{where.name}: {row['path']}", "no clip of the corpus by its spec"))
            continue
        clip = _labelled(_complete(known[0], row), row, spec, where=where)
        first = described.setdefault(clip.clip_id, _Described(clip, known[1], row))
        if first.clip.native_label != clip.native_label:
            contradictory = replace(first.clip, label=None, excluded="rows that contradict each other")
            described[clip.clip_id] = replace(first, clip=contradictory)
    return list(described.values()), problems


def _columns(spec: CorpusSpec, row: Mapping[str, Any]) -> dict[str, str | None]:
    """What a line says about the columns of the corpus's label file."""
    # The list's label is not a column: it may be spelled otherwise, and `_labelled` looks at it.
    known = {name: str(value) for name, value in row.items() if value is not None and name != "native_label"}
    columns: dict[str, str | None] = dict(known)
    if (pattern := spec.listed.path) is not None and (fits := pattern.fullmatch(row["path"])):
        columns |= fits.groupdict()
    if "start_s" in row:
        columns |= {"start_s": repr(max(0.0, row["start_s"])), "end_s": repr(row["end_s"])}
        columns["interval"] = f"{round(1000 * row['start_s'])}-{round(1000 * row['end_s'])}"
    if (speaker := columns.get("speaker")) is not None and speaker.startswith("["):
        columns["speaker"] = ", ".join(ast.literal_eval(speaker))
    # MELD and EmoryNLP call it so.
    return columns | {"Speaker": columns.get("speaker")}


def _complete(clip: Clip, row: Mapping[str, Any]) -> Clip:
    """The clip with what the list gives and the names do not."""
    given = {name: str(row[name]) for name in _KNOWN if getattr(clip, name) is None and row.get(name) not in (None, "")}
    return replace(clip, **given) if given else clip  # type: ignore[arg-type]


def _labelled(clip: Clip, row: Mapping[str, Any], spec: CorpusSpec, *, where: Path) -> Clip:
    """The clip with the list's label, by the spec's default map, where the names do not give it."""
    native = row.get("native_label")
    if clip.native_label is not None or native in (None, ""):
        return clip
    native = spec.listed.labels.get(str(native), str(native))
    label = spec.labels.get(native, spec.labels.get("*"))
    if label is None:
        raise ManifestError(f"native label {native!r} is not in the spec of {spec.id}", where=where)
    unsure = spec.listed.unsure.get(native) or (f"no class for {native!r}" if label is False else None)
    excluded = clip.excluded if clip.excluded != "no native label" else unsure
    return replace(clip, native_label=native, label=None if excluded else str(label), excluded=excluded)


def _read_list(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line:
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ManifestError("a line is not JSON", where=f"{path}:{number}", found=error) from error
        if not isinstance(row, dict) or not isinstance(row.get("path"), str):
            raise ManifestError(
                "a line is not a clip", where=f"{path}:{number}", expected="an object with a path", found=line
            )
        rows.append(row)
    return rows


def _read_hashes(path: Path) -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(_text(path)), delimiter="\t")
    if lacking := {"path", "sha256", "bytes"} - set(table.fieldnames or ()):
        raise ManifestError("the hash table lacks a column", where=path, expected=", ".join(sorted(lacking)))
    return list(table)


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ManifestError("not readable as text", where=path, expected="UTF-8, or gzip of it", found=error) from error


def _join(
    paths: Sequence[str], hashes: Sequence[dict[str, str]], spelled: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """List path to its row of the hash table: equal, below one more folder, or by a unique file name."""
    by_path: dict[str, dict[str, str]] = {}
    for row in hashes:
        by_path[row["path"]] = by_path[row["path"].partition("/")[2]] = row
    files = Counter(row["path"].rpartition("/")[2] for row in hashes)
    by_file = {row["path"].rpartition("/")[2]: row for row in hashes}
    by_file = {spelled.get(file, file): row for file, row in by_file.items() if files[file] == 1}
    joined = {path: by_path.get(path) or by_file.get(path.rpartition("/")[2]) for path in paths}
    return {path: row for path, row in joined.items() if row is not None}


def _pins(row: Mapping[str, str]) -> dict[str, Any]:
    texts = {"source_sha256": "sha256", "pcm_sha256": "pcm_sha256", "clip_sha256": "clip_sha256"}
    numbers = {"source_bytes": "bytes"} | {
        name: name for name in ("num_samples", "sampling_rate", "channels", "clip_num_samples")
    }
    pins: dict[str, Any] = {column: row[name] for column, name in texts.items() if row.get(name)}
    return pins | {column: int(row[name]) for column, name in numbers.items() if row.get(name)}


def _duration(clip: Clip, row: Mapping[str, Any], pins: Mapping[str, Any]) -> float | None:
    if clip.start_s is not None and clip.end_s is not None:
        return round(clip.end_s - clip.start_s, 4)
    if row.get("duration_s") is not None:
        return float(row["duration_s"])
    return round(pins["num_samples"] / pins["sampling_rate"], 4) if "num_samples" in pins else None


class _HashRoot(NamesRoot):
    """Names with sizes and, as their content, the digest: files are equal when their digests are."""

    def __init__(self, location: str, hashes: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(location, hashes)
        self._hashes = hashes

    def size(self, name: str) -> int | None:
        """Bytes by the hash table."""
        return int(self._hashes[name]["bytes"]) if name in self._hashes else None

    def open(self, name: str) -> BinaryIO:
        """The digest by the hash table."""
        return io.BytesIO(self._hashes[name]["sha256"].encode())
