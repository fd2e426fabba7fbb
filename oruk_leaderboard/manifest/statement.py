"""A statement: what a holder of corpora says about the files of their clips, and how it agrees with the manifest.

It is one JSON file that can be sent or published: digests and counts by clip id. It contains neither paths nor labels.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import Any

from oruk_leaderboard import __version__, jsontext
from oruk_leaderboard.audio import versions
from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora import FoundCorpus, Problem, clips_of
from oruk_leaderboard.errors import AudioError, ManifestError, MissingExtraError
from oruk_leaderboard.manifest.fingerprint import (
    NUMBERS,
    TEXTS,
    added,
    conflicts,
    fingerprint,
    other_container,
)
from oruk_leaderboard.manifest.pin import Pinned, complete
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow
from oruk_leaderboard.manifest.survey import survey
from oruk_leaderboard.manifest.witnesses import table_digest
from oruk_leaderboard.progress import Progress, silent

STATEMENT_VERSION = 1
"""Version of the file."""

AGREES, ADDS, DIFFERS, UNKNOWN = "agrees", "adds", "differs", "unknown"
"""What a statement says about a clip, compared with the manifest: nothing new, more, something else, not its clip."""

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a holder says.

    Attributes:
        corpora: Corpus to the release or packing that the copy looked like.
        clips: Clip id to its columns (`fingerprint.TEXTS` and `fingerprint.NUMBERS`).
        versions: Versions of what computed them.
        manifest: Version and digest of the manifest whose clips were looked at.
    """

    corpora: Mapping[str, str]
    clips: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, str]
    manifest: Mapping[str, str]

    def text(self) -> str:
        """The file: one line per clip, so that it can be reviewed."""
        head = {
            "statement": STATEMENT_VERSION,
            "manifest": dict(self.manifest),
            "versions": dict(self.versions),
            "corpora": dict(self.corpora),
        }
        lines = [
            f"  {json.dumps(clip_id, ensure_ascii=False)}: {json.dumps(columns)}"
            for clip_id, columns in sorted(self.clips.items())
        ]
        return jsontext.pretty(head)[:-2] + ',\n  "clips": {\n  ' + ",\n  ".join(lines) + "\n  }\n}\n"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A statement against a manifest.

    Attributes:
        clips: Clip id to ``agrees``, ``adds``, ``differs`` or ``unknown``.
        differing: Clip id to column to (pinned value, stated value).
        totals: Corpus to number of clips by what is said about them.
        tables: Corpus to the digest of the stated table where it is another one than the manifest's.
        pinned: The manifest completed with what the statement adds.
    """

    clips: Mapping[str, str]
    differing: Mapping[str, Mapping[str, tuple[Any, Any]]]
    totals: Mapping[str, Mapping[str, int]]
    tables: Mapping[str, str]
    pinned: Pinned

    @property
    def clean(self) -> bool:
        """Whether nothing contradicts the manifest."""
        return not self.differing

    def to_dict(self) -> dict[str, Any]:
        """What ``manifest pin --check --json`` prints."""
        return {
            "totals": {corpus: dict(counts) for corpus, counts in self.totals.items()},
            "other_tables": dict(self.tables),
            "clips": dict(self.clips),
            "differing": {
                name: {key: list(pair) for key, pair in each.items()} for name, each in self.differing.items()
            },
            "pinned": len(self.pinned.rows),
            "patch": self.pinned.patch(),
        }


def make_statement(
    founds: Sequence[FoundCorpus],
    manifest: Manifest,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> tuple[Statement, list[Problem]]:
    """Compute the digests of every clip of the manifest that a copy has, right or not.

    Args:
        founds: From `find_corpora`.
        manifest: The clips to look at.
        workers: Threads; None for one per core.
        progress: Reports the clips hashed.

    Returns:
        The statement, and the clips whose file says nothing about the release, with the reason.
    """
    work: list[tuple[FoundCorpus, Clip, ManifestRow]] = []
    problems: list[Problem] = []
    for found, content in zip(founds, clips_of(founds, hash_duplicates=False), strict=True):
        best = {clip.clip_id: clip for clip in content.clips if not (clip.excluded or "").startswith("also at")}
        rows = manifest.of_corpora(found.spec.id)
        work += [(found, best[row.clip_id], row) for row in rows if row.clip_id in best]
        problems += content.problems
    clips: dict[str, Mapping[str, Any]] = {}
    advance = progress("hashing", len(work))
    with ThreadPoolExecutor(workers or cpu_count() or 1) as pool:
        for (_, _, row), result in zip(work, pool.map(_stated, work), strict=True):
            if isinstance(result, str):
                problems.append(Problem(row.clip_id, result))
            else:
                clips[row.clip_id] = result
            advance(1)
    corpora = {found.spec.id: survey(found).release for found in founds}
    named = {"version": manifest.version, "digest": manifest.digest}
    return Statement(corpora, clips, {"package": __version__, **versions()}, named), problems


def _stated(work: tuple[FoundCorpus, Clip, ManifestRow]) -> dict[str, Any] | str:
    found, clip, row = work
    try:
        return other_container(found, row, clip.media) or fingerprint(found.root, clip)
    except (AudioError, MissingExtraError, OSError) as error:
        return str(error)


def read_statement(path: Path) -> Statement:
    """Read a statement that somebody sent.

    Raises:
        ManifestError: It is not a statement; names the clip and the column.
    """
    try:
        document = jsontext.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError("the statement cannot be read", where=path, found=error) from error
    refuse = partial(ManifestError, "not a statement of manifest pin --out", where=path)
    if not isinstance(document, dict) or document.get("statement") != STATEMENT_VERSION:
        raise refuse(expected=f'"statement": {STATEMENT_VERSION}')
    keys = ("corpora", "clips", "versions", "manifest")
    if not all(isinstance(document.get(key), dict) for key in keys):
        raise refuse(expected=f"objects {', '.join(keys)}")
    clips: dict[str, dict[str, Any]] = document["clips"]
    for clip_id, columns in clips.items():
        if not isinstance(columns, dict) or not columns.get("source_sha256"):
            raise refuse(expected=f"columns with source_sha256 for {clip_id}", found=columns)
        for column, value in columns.items():
            digest = column in TEXTS and isinstance(value, str) and _SHA256.fullmatch(value)
            number = column in NUMBERS and type(value) is int and value > 0
            if not digest and not number:
                raise refuse(expected=f"a digest or a positive integer in {clip_id} {column}", found=value)
    return Statement(document["corpora"], clips, document["versions"], document["manifest"])


def check_statement(statement: Statement, manifest: Manifest) -> Agreement:
    """Compare a statement with a manifest, row by row."""
    rows = {row.clip_id: row for row in manifest.of_corpora(*{name.partition("/")[0] for name in statement.clips})}
    differing = {
        clip_id: found
        for clip_id, columns in statement.clips.items()
        if clip_id in rows and (found := conflicts(rows[clip_id], columns))
    }
    clips: dict[str, str] = {}
    for clip_id, columns in sorted(statement.clips.items()):
        row = rows.get(clip_id)
        clips[clip_id] = (
            UNKNOWN if row is None else DIFFERS if clip_id in differing else ADDS if added(row, columns) else AGREES
        )
    counts = Counter((clip_id.partition("/")[0], said) for clip_id, said in clips.items())
    totals = {
        corpus: {said: counts[corpus, said] for said in (AGREES, ADDS, DIFFERS, UNKNOWN) if counts[corpus, said]}
        for corpus in sorted({corpus for corpus, _ in counts})
    }
    tables = {}
    for corpus in sorted({clip_id.partition("/")[0] for clip_id in differing}):
        stated = {name: str(said["source_sha256"]) for name, said in statement.clips.items() if name in rows}
        tables[corpus] = table_digest({name: value for name, value in stated.items() if name.startswith(f"{corpus}/")})
    return Agreement(clips, differing, totals, tables, complete(manifest, statement.clips))
