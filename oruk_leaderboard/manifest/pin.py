"""Digests that a holder of a corpus contributes: they fill what is unpinned, and never change what is pinned."""

import difflib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from typing import Any

from oruk_leaderboard.audio import open_recording, pcm_digest, render, source_digest
from oruk_leaderboard.corpora import FoundCorpus, Problem
from oruk_leaderboard.corpora.suffixes import LOSSY, suffix_of
from oruk_leaderboard.errors import AudioError, MissingExtraError
from oruk_leaderboard.manifest.check import UNPINNED
from oruk_leaderboard.manifest.corpus_check import Usable
from oruk_leaderboard.manifest.files import csv_texts
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow
from oruk_leaderboard.manifest.validation import validate
from oruk_leaderboard.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a copy of the corpora adds to a manifest.

    Attributes:
        before: The manifest.
        after: The manifest with the digests of the clips that had none.
        rows: The rows that were filled.
        problems: Clips that could not be pinned, and pinned clips whose file is another one.
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
    """Compute the digests of every clip of the manifest that has none and whose file is there.

    Args:
        founds: From `find_corpora`.
        manifest: The manifest to fill.
        workers: Threads; None for one a core.
        progress: Reports the clips checked, then those hashed.

    Raises:
        CorpusError: A label file cannot be used.
    """
    checked = validate(founds, manifest, workers=workers, progress=progress)
    problems = [
        Problem(state.clip_id or state.media or "", f"{state.state}: {state.reason}")
        for state in checked.states
        if state.state not in (UNPINNED, "exact", "same-audio", "missing")
    ]
    todo = [item for item in checked.usable if item.state.state == UNPINNED and item.row.source_sha256 is None]
    advance = progress("hashing", len(todo))
    filled: dict[str, ManifestRow] = {}
    with ThreadPoolExecutor(workers or cpu_count() or 1) as pool:
        for item, result in zip(todo, pool.map(_digests, todo), strict=True):
            if isinstance(result, str):
                problems.append(Problem(item.row.clip_id, result))
            else:
                filled[item.row.clip_id] = replace(item.row, **result)
            advance(1)
    rows = (filled.get(row.clip_id, row) for row in manifest.rows)
    after = Manifest.of(rows, manifest.label_digests, version=manifest.version)
    return Pinned(manifest, after, tuple(filled.values()), problems)


def _digests(item: Usable) -> dict[str, Any] | str:
    """Columns of one clip, or why there are none."""
    # Only corpora that are recognised by file names have rows without a path, and those name their suffix.
    official = suffix_of(item.row.media) if item.row.media else item.corpus.spec.files[0].suffixes[0]
    found = suffix_of(item.clip.media)
    if found != official:
        return f"not pinned: a {found} copy, and the release has {official}"
    try:
        return dict(_columns(item))
    except (AudioError, MissingExtraError, OSError) as error:
        return str(error)


def _columns(item: Usable) -> Iterator[tuple[str, Any]]:
    root, clip = item.corpus.root, item.clip
    with root.open(clip.media) as file:
        yield from zip(("source_sha256", "source_bytes"), source_digest(file), strict=True)
        if suffix_of(clip.media) in LOSSY:
            # Decoders of lossy formats differ by one step, so their samples identify nothing; the header does no harm.
            with open_recording(file) as recording:
                yield from (("sampling_rate", recording.rate), ("channels", recording.channels))
            return
        pcm = pcm_digest(file)
        yield from (("pcm_sha256", pcm.pcm_sha256), ("num_samples", pcm.num_samples))
        yield from (("sampling_rate", pcm.sampling_rate), ("channels", pcm.channels))
        rendered = render(file, start_s=clip.start_s, end_s=clip.end_s, channel=clip.channel)
        yield from (("clip_sha256", rendered.clip_sha256), ("clip_num_samples", len(rendered.samples)))
