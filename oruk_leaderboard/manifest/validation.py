"""A user's copies of the corpora against the manifest: a state and a reason for every clip."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora import CorpusClips, FoundCorpus, Problem, clips_of, find_corpora
from oruk_leaderboard.manifest.check import (
    DIFFERS,
    EXACT,
    EXTRA,
    MISSING,
    SAME_AUDIO,
    STATES,
    UNPINNED,
    FileFacts,
    Pins,
    check,
)
from oruk_leaderboard.manifest.files import Manifest, labels_digest, load_manifest
from oruk_leaderboard.manifest.rows import ManifestRow

NOT_SELECTED = "not selected"
"""Total of the recognised clips that the manifest does not choose; they are counted, not listed."""

USABLE = (EXACT, SAME_AUDIO, UNPINNED)
"""States of clips that may be rebuilt."""

_BATCH = 64
"""Files a thread takes at once: small enough to share the work, large enough that handing it out costs nothing."""


@dataclass(frozen=True, slots=True)
class ClipState:
    """What became of one clip of the manifest, or of one file that is no clip.

    Attributes:
        clip_id: None for a file that is no clip.
        corpus: Id of the corpus.
        media: Path of the file below the corpora root; for a missing clip its path in the official layout.
        state: ``exact``, ``same-audio``, ``unpinned``, ``differs``, ``missing`` or ``extra``.
        reason: Why, or None where there is nothing to say.
    """

    clip_id: str | None
    corpus: str
    media: str | None
    state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Usable:
    """A clip of the manifest whose file may be rebuilt: where it is, and the corpus's own description of it."""

    corpus: FoundCorpus
    clip: Clip
    row: ManifestRow
    state: ClipState


@dataclass(frozen=True, slots=True)
class Validation:
    """Result of `validate`.

    Attributes:
        states: Clips of the manifest by corpus and clip id, after them the corpus's extra files.
        totals: Corpus to state to number; only states that occur, with ``not selected`` among them.
        absent: Corpus of the profile that is under no root, to its number of clips.
        labels: Corpus under an agreement to ``confirmed``, ``differ`` or ``not confirmed: …``: its labels against the
            manifest's digest of them.
        problems: Findings that belong to no clip.
        usable: Clips that may be rebuilt, by clip id.
        manifest: Version and digest of the manifest, and the profile.
    """

    states: Sequence[ClipState]
    totals: Mapping[str, Mapping[str, int]]
    absent: Mapping[str, int]
    labels: Mapping[str, str]
    problems: Sequence[Problem]
    usable: Sequence[Usable]
    manifest: Mapping[str, str | None]

    @property
    def clean(self) -> bool:
        """Whether every clip of the corpora found is there and right. A corpus that is absent is no fault."""
        wrong = {DIFFERS, MISSING, EXTRA}
        return not self.problems and not any(wrong & states.keys() for states in self.totals.values())

    def to_dict(self) -> dict[str, Any]:
        """What ``validate --json`` prints."""
        return {
            "manifest": dict(self.manifest),
            "clips": [asdict(state) for state in self.states],
            "totals": {corpus: dict(states) for corpus, states in self.totals.items()},
            "absent": [{"corpus": corpus, "clips": count} for corpus, count in self.absent.items()],
            "labels": dict(self.labels),
            "problems": [asdict(problem) for problem in self.problems],
        }


def validate(
    root: str | Path | Sequence[FoundCorpus],
    manifest: Manifest | None = None,
    *,
    corpora: Mapping[str, str | Path | None] | Sequence[str] | None = None,
    profile: str | None = None,
    label_policy: str | None = None,
    label_source: str | None = None,
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Validation:
    """Compare copies of corpora with the manifest.

    Args:
        root: A corpora root, or what `find_corpora` found; several of one corpus are several copies, of which the
            best file of a clip counts.
        manifest: None for the shipped one.
        corpora: Ids or spec files to look for below a root, with the path of each where it is not there; None for all.
        profile: ``full`` or ``open``: the corpora of the profile that were not found are told as absent. None takes the
            corpora found.
        label_policy: As for `clips`; labels are then not compared with the manifest's.
        label_source: As for `clips`; likewise.
        workers: Threads that read and hash; None for one a core.
        progress: Called with the number of clips done since the last call.

    Raises:
        CorpusError: There is no such root, or no corpus has such a policy or source.
        ManifestError: The manifest cannot be read, or has no such profile.
    """
    founds = find_corpora(root, only=corpora) if isinstance(root, str | Path) else root
    manifest = manifest or load_manifest()
    chosen = manifest.profile(profile or "full")
    copies: dict[str, list[FoundCorpus]] = defaultdict(list)
    for found in founds:
        copies[found.spec.id].append(found)
    by_corpus: dict[str, list[ManifestRow]] = {corpus: [] for corpus in copies}
    absent: Counter[str] = Counter()
    for row in chosen.rows:
        if row.corpus in by_corpus:
            by_corpus[row.corpus].append(row)
        elif profile is not None:
            absent[row.corpus] += 1
    states: list[ClipState] = []
    usable: list[Usable] = []
    totals: dict[str, dict[str, int]] = {}
    labels: dict[str, str] = {}
    problems = list(dict.fromkeys(problem for found in founds for problem in found.root.problems))
    default_labels = label_policy is None and label_source is None
    each = clips_of(founds, label_policy=label_policy, label_source=label_source, hash_duplicates=False)
    content = {id(found): described for found, described in zip(founds, each, strict=True)}
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for corpus, rows in sorted(by_corpus.items()):
            described = [(found, content[id(found)]) for found in copies[corpus]]
            result = _Corpus(corpus, rows, described)
            result.check(pool, progress)
            states += result.states
            usable += result.usable
            totals[corpus] = result.totals()
            problems += [problem for _, found in described for problem in found.problems]
            if default_labels:
                problems += result.label_problems()
                if corpus in chosen.label_digests:
                    labels[corpus] = result.confirm_labels(chosen.label_digests[corpus])
    problems += [
        Problem(corpus, "labels are not those of the manifest") for corpus, said in labels.items() if said == "differ"
    ]
    named = {"version": manifest.version, "digest": chosen.digest, "profile": profile}
    return Validation(states, totals, dict(absent), labels, problems, usable, named)


def _preference(file: Usable) -> tuple[int, bool, int, str]:
    """Order of several files for one clip: the better state, the engine's own choice, the shorter path."""
    media = file.clip.media
    return STATES.index(file.state.state), file.clip.excluded is not None, len(media), media


class _Corpus:
    """All copies of one corpus against its rows."""

    def __init__(
        self, corpus: str, rows: Sequence[ManifestRow], described: Sequence[tuple[FoundCorpus, CorpusClips]]
    ) -> None:
        self.corpus, self.rows, self.described = corpus, rows, described
        self.pins = Pins(rows)
        self.files: dict[str, list[tuple[FoundCorpus, Clip]]] = defaultdict(list)
        for found, content in described:
            for clip in content.clips:
                self.files[clip.clip_id].append((found, clip))
        self.states: list[ClipState] = []
        self.usable: list[Usable] = []

    def check(self, pool: ThreadPoolExecutor, progress: Callable[[int], object] | None) -> None:
        """Bring every row and every extra file into its state."""
        # Segments of one recording follow each other, so that one thread reads their file once.
        by_file: dict[tuple[int, str], list[tuple[ManifestRow, FoundCorpus, Clip]]] = defaultdict(list)
        for row in self.rows:
            for found, clip in self.files.get(row.clip_id, ()):
                by_file[id(found.root), clip.media].append((row, found, clip))
        work = list(by_file.values())
        checked: dict[str, list[Usable]] = defaultdict(list)
        for batch in pool.map(self._check_files, (work[at : at + _BATCH] for at in range(0, len(work), _BATCH))):
            for item in batch:
                checked[item.row.clip_id].append(item)
            if progress is not None:
                progress(len(batch))
        missing = [row for row in self.rows if row.clip_id not in checked]
        others = [self._settle(checked[row.clip_id]) for row in self.rows if row.clip_id in checked]
        self.states += [
            ClipState(row.clip_id, self.corpus, row.media, MISSING, "no file of this clip") for row in missing
        ]
        self.states.sort(key=lambda state: state.clip_id or "")
        self.states += [extra for extras in others for extra in extras]
        self.states += self._extras(Pins(missing))

    def _check_files(self, batch: Iterable[list[tuple[ManifestRow, FoundCorpus, Clip]]]) -> list[Usable]:
        checked = []
        for same_file in batch:
            file = FileFacts(same_file[0][1].root, same_file[0][2].media)
            for row, found, clip in same_file:
                state, reason = check(row, file, self.pins)
                checked.append(Usable(found, clip, row, ClipState(row.clip_id, self.corpus, clip.media, state, reason)))
        return checked

    def _settle(self, files: list[Usable]) -> list[ClipState]:
        """Keep the best file of a clip; the others are extra."""
        best, *others = sorted(files, key=_preference) if len(files) > 1 else files
        self.states.append(best.state)
        if best.state.state in USABLE:
            # The file that won may be the one that the engine, which knows no digests, had put second.
            described = next((file.clip for file in files if file.clip.label is not None), best.clip)
            clip = replace(described, media=best.clip.media)
            self.usable.append(Usable(best.corpus, clip, best.row, best.state))
        reason = f"also at {best.state.media}"
        return [ClipState(None, self.corpus, file.state.media, EXTRA, reason) for file in others]

    def _extras(self, missing: Pins) -> list[ClipState]:
        extras = []
        for found, content in self.described:
            for problem in content.extras:
                try:
                    clip_id = missing.clip_of(FileFacts(found.root, problem.where))
                    reason = problem.reason if clip_id is None else f"renamed from {clip_id}"
                except OSError as error:
                    reason = f"{problem.reason}; unreadable: {error.strerror or error}"
                extras.append(ClipState(None, self.corpus, problem.where, EXTRA, reason))
        return extras

    def totals(self) -> dict[str, int]:
        """Number of clips and files by state."""
        counted = Counter(state.state for state in self.states)
        counted[NOT_SELECTED] = len(self.files.keys() - {row.clip_id for row in self.rows})
        return {state: counted[state] for state in (*STATES, NOT_SELECTED) if counted[state]}

    def label_problems(self) -> list[Problem]:
        """Clips whose label in the user's copy is not the one the manifest ships."""
        return [
            Problem(item.row.clip_id, f"label {item.clip.label or 'none'}, in the manifest {item.row.label}")
            for item in self.usable
            if item.row.label is not None and item.row.label != item.clip.label
        ]

    def confirm_labels(self, digest: str) -> str:
        """Compare the user's labels of the chosen clips with the manifest's digest of them."""
        labels = {}
        for row in self.rows:
            label = next((clip.label for _, clip in self.files.get(row.clip_id, ()) if clip.label is not None), None)
            if label is not None:
                labels[row.clip_id] = label
        if len(labels) < len(self.rows):
            return f"not confirmed: {len(self.rows) - len(labels)} of {len(self.rows)} clips have no label here"
        return "confirmed" if labels_digest(labels) == digest else "differ"
