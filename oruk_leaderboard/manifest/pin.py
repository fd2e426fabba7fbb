"""Digests that a holder of a corpus contributes: they complete rows, and never change what is pinned."""

import difflib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from typing import Any

from oruk_leaderboard.corpora import FoundCorpus, Problem
from oruk_leaderboard.errors import AudioError, MissingExtraError
from oruk_leaderboard.manifest.check import EXACT, MISSING, SAME_AUDIO, UNPINNED
from oruk_leaderboard.manifest.corpus_check import Usable
from oruk_leaderboard.manifest.files import csv_texts
from oruk_leaderboard.manifest.fingerprint import NUMBERS, TEXTS, added, conflicts, fingerprint, other_container
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow
from oruk_leaderboard.manifest.validation import validate
from oruk_leaderboard.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a copy of the corpora, or a statement about one, adds to a manifest.

    Attributes:
        before: The manifest.
        after: The manifest with the columns that were empty before.
        rows: The rows that were completed, as they are now.
        problems: Clips that could not be pinned, and values that differ from the pinned ones.
    """

    before: Manifest
    after: Manifest
    rows: Sequence[ManifestRow]
    problems: Sequence[Problem]

    def patch(self) -> str:
        """The change as a unified diff of the files in ``data/manifest``, for ``git apply``."""
        before, after = csv_texts(self.before), csv_texts(self.after)
        return "".join(
            line
            for name in after
            if before[name] != after[name]
            for line in difflib.unified_diff(
                before[name].splitlines(keepends=True),
                after[name].splitlines(keepends=True),
                f"a/data/manifest/{name}",
                f"b/data/manifest/{name}",
                n=1,
            )
        )


def pin(
    founds: Sequence[FoundCorpus],
    manifest: Manifest,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Pinned:
    """Complete the rows of every clip whose file is there and is not known to be another one.

    Args:
        founds: From `find_corpora`.
        manifest: The manifest to complete.
        workers: Threads; None for one per core.
        progress: Reports the clips checked, then those hashed.

    Raises:
        CorpusError: A label file cannot be used.
    """
    checked = validate(founds, manifest, unselected=False, workers=workers, progress=progress)
    problems = [
        Problem(state.clip_id or state.media or "", f"{state.state}: {state.reason}")
        for state in checked.states
        if state.state not in (UNPINNED, EXACT, SAME_AUDIO, MISSING)
    ]
    todo = [item for item in checked.usable if item.state.state in (UNPINNED, EXACT) and _incomplete(item.row)]
    computed: dict[str, Mapping[str, Any]] = {}
    advance = progress("hashing", len(todo))
    with ThreadPoolExecutor(workers or cpu_count() or 1) as pool:
        for item, result in zip(todo, pool.map(_columns, todo), strict=True):
            if isinstance(result, str):
                problems.append(Problem(item.row.clip_id, result))
            else:
                computed[item.row.clip_id] = result
            advance(1)
    completed = complete(manifest, computed)
    return replace(completed, problems=[*problems, *completed.problems])


def _incomplete(row: ManifestRow) -> bool:
    return any(getattr(row, column) is None for column in (*TEXTS, *NUMBERS))


def _columns(item: Usable) -> dict[str, Any] | str:
    """Columns of one clip, or why there are none."""
    try:
        return other_container(item.corpus, item.row, item.clip.media) or fingerprint(item.corpus.root, item.clip)
    except (AudioError, MissingExtraError, OSError) as error:
        return str(error)


def complete(manifest: Manifest, computed: Mapping[str, Mapping[str, Any]]) -> Pinned:
    """Fill empty columns of rows. A row with a value that differs from the pinned one is left as it is.

    Args:
        manifest: The manifest to complete.
        computed: Clip id to its columns; ids that the manifest does not have are ignored.
    """
    rows: list[ManifestRow] = []
    completed: list[ManifestRow] = []
    problems: list[Problem] = []
    for row in manifest.rows:
        columns = computed.get(row.clip_id, {})
        if differing := conflicts(row, columns):
            reasons = (f"{column} is {found}, pinned {pinned}" for column, (pinned, found) in differing.items())
            problems.append(Problem(row.clip_id, f"differs: {'; '.join(reasons)}"))
        elif more := added(row, columns):
            row = replace(row, **more)
            completed.append(row)
        rows.append(row)
    after = Manifest.of(rows, manifest.label_digests, version=manifest.version)
    return Pinned(manifest, after, completed, problems)
