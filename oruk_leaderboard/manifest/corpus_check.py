"""All copies of one corpus against its pinned rows: the state of every clip, and the files that may be rebuilt."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from oruk_leaderboard.clip import Clip
from oruk_leaderboard.corpora import CorpusClips, FoundCorpus, Problem, Root
from oruk_leaderboard.corpora.suffixes import UNFINISHED, finished_name
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
from oruk_leaderboard.manifest.files import labels_digest
from oruk_leaderboard.manifest.rows import ManifestRow
from oruk_leaderboard.progress import Advance

NOT_SELECTED = "not selected"
"""Total of the recognised clips that the manifest does not choose; they are counted, and listed only if altered."""

USABLE = (EXACT, SAME_AUDIO, UNPINNED)
"""States of clips that may be rebuilt."""

_BATCH = 64
"""Files a thread takes at once: small enough to share the work, large enough that handing it out costs nothing."""


@dataclass(frozen=True, slots=True)
class ClipState:
    """State of one clip of the manifest, or of one file that is not a clip.

    Attributes:
        clip_id: None for a file that is not a clip.
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
    """A clip whose file may be rebuilt: where it is, the corpus's own description of it, its pinned row, its state."""

    corpus: FoundCorpus
    clip: Clip
    row: ManifestRow
    state: ClipState


def _preference(file: Usable) -> tuple[int, bool, int, str]:
    """Order of several files for one clip: the better state, the engine's own choice, the shorter path."""
    media = file.clip.media
    return STATES.index(file.state.state), file.clip.excluded is not None, len(media), media


class CorpusCheck:
    """All copies of one corpus against its rows.

    Attributes:
        corpus: Id of the corpus.
        rows: Rows of the clips that the manifest chooses.
        states: State of every row by clip id; of altered clips that the manifest does not choose; of extra files.
        usable: The chosen clips whose file may be rebuilt.
        unselected: The same of clips that the manifest does not choose but whose digests it knows.
    """

    def __init__(
        self,
        corpus: str,
        rows: Sequence[ManifestRow],
        others: Sequence[ManifestRow],
        described: Sequence[tuple[FoundCorpus, CorpusClips]],
    ) -> None:
        """Take what is known.

        Args:
            corpus: As the attribute.
            rows: As the attribute.
            others: Pinned clips that the manifest does not choose; those that are not there are not missing.
            described: Copies of the corpus and their clips.
        """
        self.corpus, self.rows, self._described = corpus, rows, described
        self._files: dict[str, list[tuple[FoundCorpus, Clip]]] = defaultdict(list)
        for found, content in described:
            for clip in content.clips:
                self._files[clip.clip_id].append((found, clip))
        self._others = [row for row in others if row.clip_id in self._files]
        self._pins = Pins([*rows, *others])
        self._missing: list[ManifestRow] = []
        self._altered: set[str] = set()
        self.states: list[ClipState] = []
        self.usable: list[Usable] = []
        self.unselected: list[Usable] = []

    @property
    def work(self) -> int:
        """How many files `check` compares with a row."""
        return sum(len(self._files.get(row.clip_id, ())) for row in (*self.rows, *self._others))

    def check(self, pool: ThreadPoolExecutor, advance: Advance) -> None:
        """Find the state of every row and every extra file."""
        checked = self._check_all(pool, advance)
        self._missing = [row for row in self.rows if row.clip_id not in checked]
        extras: list[ClipState] = []
        for row in self.rows:
            if row.clip_id in checked:
                best, others = _settle(checked[row.clip_id])
                self.states.append(best.state)
                self.usable += [best] if best.state.state in USABLE else []
                extras += others
        unfinished = self._unfinished()
        for row in self._missing:
            path = unfinished.get((row.media or "").rpartition("/")[2].casefold())
            reason = "no file of this clip" if path is None else f"unfinished download: {path}"
            self.states.append(ClipState(row.clip_id, self.corpus, row.media, MISSING, reason))
        for row in self._others:
            best, _ = _settle(checked[row.clip_id])
            if best.state.state in USABLE:
                self.unselected.append(best)
            else:
                self._altered.add(row.clip_id)
                self.states.append(replace(best.state, reason=f"{best.state.reason}; {NOT_SELECTED}"))
        self.states.sort(key=lambda state: state.clip_id or "")
        self.states += [*extras, *self._extras()]

    def _check_all(self, pool: ThreadPoolExecutor, advance: Advance) -> Mapping[str, list[Usable]]:
        # Segments of one recording follow each other, so that one thread reads their file once.
        by_file: dict[tuple[int, str], list[tuple[ManifestRow, FoundCorpus, Clip]]] = defaultdict(list)
        for row in (*self.rows, *self._others):
            for found, clip in self._files.get(row.clip_id, ()):
                by_file[id(found.root), clip.media].append((row, found, clip))
        work = list(by_file.values())
        checked: dict[str, list[Usable]] = defaultdict(list)
        for batch in pool.map(self._check_files, (work[at : at + _BATCH] for at in range(0, len(work), _BATCH))):
            for item in batch:
                checked[item.row.clip_id].append(item)
            advance(len(batch))
        return checked

    def _check_files(self, batch: Iterable[list[tuple[ManifestRow, FoundCorpus, Clip]]]) -> list[Usable]:
        checked = []
        for same_file in batch:
            file = FileFacts(same_file[0][1].root, same_file[0][2].media)
            for row, found, clip in same_file:
                state, reason = check(row, file, self._pins)
                checked.append(Usable(found, clip, row, ClipState(row.clip_id, self.corpus, clip.media, state, reason)))
        return checked

    def _unfinished(self) -> dict[str, str]:
        """File name, in lower case, to the unfinished download of it; only looked for where a clip is missing."""
        names = (name for found, _ in self._described for name in found.index.with_suffix(UNFINISHED))
        return {(finished_name(name) or name).casefold(): name for name in names}

    def _extras(self) -> list[ClipState]:
        extras = []
        missing = Pins(self._missing)
        for found, content in self._described:
            for problem in content.extras:
                try:
                    clip_id = missing.clip_of(FileFacts(found.root, problem.where))
                    reason = problem.reason if clip_id is None else f"renamed from {clip_id}"
                except OSError as error:
                    reason = f"{problem.reason}; unreadable: {error.strerror or error}"
                extras.append(ClipState(None, self.corpus, problem.where, EXTRA, reason))
        return extras

    def taken(self) -> set[tuple[int, str]]:
        """Files that this corpus has a state for, as root and name."""
        files = {(id(found.root), clip.media) for same in self._files.values() for found, clip in same}
        return files | {(id(found.root), extra.where) for found, content in self._described for extra in content.extras}

    def find_renamed(self, files: Iterable[tuple[Root, str]]) -> None:
        """Look for missing clips among files that belong to no corpus; a copy under another name is extra."""
        missing = Pins(self._missing)
        for root, name in files:
            try:
                clip_id = missing.clip_of(FileFacts(root, name))
            except OSError:
                continue  # A file of no corpus: it only matters here if it can be read and is a clip.
            if clip_id is not None:
                self.states.append(ClipState(None, self.corpus, name, EXTRA, f"renamed from {clip_id}"))

    @property
    def lacks_pinned(self) -> bool:
        """Whether a clip is missing whose file would be recognised by its content."""
        return any(row.source_sha256 is not None for row in self._missing)

    def totals(self) -> dict[str, int]:
        """Number of clips and files by state."""
        counted = Counter(state.state for state in self.states)
        counted[NOT_SELECTED] = len(self._files.keys() - {row.clip_id for row in self.rows} - self._altered)
        return {state: counted[state] for state in (*STATES, NOT_SELECTED) if counted[state]}

    def label_problems(self) -> list[Problem]:
        """Clips whose label in the user's copy is not the one that the manifest ships."""
        return [
            Problem(item.row.clip_id, f"label {item.clip.label or 'none'}, in the manifest {item.row.label}")
            for item in self.usable
            if item.row.label is not None and item.row.label != item.clip.label
        ]

    def confirm_labels(self, digest: str) -> str:
        """Compare the user's labels of the chosen clips with the manifest's digest of them."""
        labels = {}
        for row in self.rows:
            label = next((clip.label for _, clip in self._files.get(row.clip_id, ()) if clip.label is not None), None)
            if label is not None:
                labels[row.clip_id] = label
        if len(labels) < len(self.rows):
            return f"not confirmed: {len(self.rows) - len(labels)} of {len(self.rows)} clips have no label here"
        return "confirmed" if labels_digest(labels) == digest else "differ"


def _settle(files: list[Usable]) -> tuple[Usable, list[ClipState]]:
    """The best file of a clip, described as the engine describes the clip; the others are extra."""
    best, *others = sorted(files, key=_preference) if len(files) > 1 else files
    if best.state.state != DIFFERS:
        # The file that won may be the one that the engine, which knows no digests, had put second.
        described = next((file.clip for file in files if file.clip.label is not None), best.clip)
        best = replace(best, clip=replace(described, media=best.clip.media))
    reason = f"also at {best.state.media}"
    return best, [replace(file.state, clip_id=None, state=EXTRA, reason=reason) for file in others]
