"""A user's copies of the corpora against the manifest: a state and a reason for every clip."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard.corpora import CorpusClips, FoundCorpus, Problem, Root, clips_of, find_corpora
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.manifest.check import DIFFERS, EXTRA, MISSING
from oruk_leaderboard.manifest.corpus_check import ClipState, CorpusCheck, Usable
from oruk_leaderboard.manifest.files import load_manifest
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.stats import Known, known
from oruk_leaderboard.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class Validation:
    """Result of `validate`.

    Attributes:
        states: Clips of the manifest by corpus and clip id, with altered clips that it does not choose among them;
            after them the corpus's extra files.
        totals: Corpus to state to number; only states that occur, with ``not selected`` among them.
        absent: Corpus of the profile that is under no root, to its number of clips.
        labels: Corpus under an agreement to ``confirmed``, ``differ`` or ``not confirmed: …``: its labels against the
            manifest's digest of them.
        problems: Findings that belong to no clip.
        usable: Clips of the manifest that may be rebuilt, by clip id.
        unselected: Clips that the manifest does not choose and whose files have the digests known for them.
        manifest: Version and digest of the manifest, and the profile.
        known: How many clips of the corpora found are listed in the manifest, and with which digests.
    """

    states: Sequence[ClipState]
    totals: Mapping[str, Mapping[str, int]]
    absent: Mapping[str, int]
    labels: Mapping[str, str]
    problems: Sequence[Problem]
    usable: Sequence[Usable]
    unselected: Sequence[Usable]
    manifest: Mapping[str, str | None]
    known: Known

    @property
    def clean(self) -> bool:
        """Whether every clip of the corpora found is there and right. A corpus that is absent is not a fault."""
        wrong = {DIFFERS, MISSING, EXTRA}
        return not self.problems and not any(wrong & states.keys() for states in self.totals.values())

    def to_dict(self) -> dict[str, Any]:
        """What ``validate --json`` prints."""
        return {
            "manifest": dict(self.manifest),
            "digests": {"pinned": self.known.pinned, "hashed": self.known.hashed, "proven": self.known.proven},
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
    unselected: bool = True,
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Compare copies of corpora with the manifest.

    Args:
        root: A corpora root, or what `find_corpora` found; several of one corpus are several copies, of which the
            best file of a clip counts.
        manifest: None for the shipped one.
        corpora: Ids or spec files to look for below a root, with the path of each where it is not there; None for all.
        profile: ``full`` or ``open``: the corpora of the profile that were not found are reported as absent. None takes
            the corpora found.
        label_policy: As for `clips`; labels are then not compared with the manifest's.
        label_source: As for `clips`.
        unselected: Also check recognised clips that the manifest does not choose, where their digests are known.
        workers: Threads that read and hash; None for one per core.
        progress: Reports the clips checked.

    Raises:
        CorpusError: There is no such root, or no corpus has such a policy or source.
        ManifestError: The manifest cannot be read, or has no such profile.
    """
    founds = find_corpora(root, only=corpora) if isinstance(root, str | Path) else root
    manifest = load_manifest() if manifest is None else manifest
    chosen = manifest.profile(profile or "full")
    default_labels = label_policy is None and label_source is None
    each = clips_of(founds, label_policy=label_policy, label_source=label_source, hash_duplicates=False)
    checks = list(_checks(founds, each, manifest, chosen, unselected=unselected))
    advance = progress("checking clips", sum(check.work for check in checks))
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for check in checks:
            check.check(pool, advance)
    _find_renamed(founds, checks)
    problems = list(dict.fromkeys(problem for found in founds for problem in found.root.problems))
    problems += [problem for content in each for problem in content.problems]
    labels: dict[str, str] = {}
    for check in checks if default_labels else ():
        problems += check.label_problems()
        if check.corpus in chosen.label_digests:
            labels[check.corpus] = check.confirm_labels(chosen.label_digests[check.corpus])
    problems += [
        Problem(corpus, "labels are not those of the manifest") for corpus, said in labels.items() if said == "differ"
    ]
    here = {check.corpus for check in checks}
    return Validation(
        states=[state for check in checks for state in check.states],
        totals={check.corpus: check.totals() for check in checks},
        absent={corpus: count for corpus, count in chosen.counts.items() if profile and corpus not in here},
        labels=labels,
        problems=problems,
        usable=[item for check in checks for item in check.usable],
        unselected=[item for check in checks for item in check.unselected],
        manifest={"version": manifest.version, "digest": chosen.digest, "profile": profile},
        known=known([row for check in checks for row in check.rows]),
    )


def _checks(
    founds: Sequence[FoundCorpus],
    each: Sequence[CorpusClips],
    manifest: Manifest,
    chosen: Manifest,
    *,
    unselected: bool,
) -> Iterator[CorpusCheck]:
    """One check per corpus, in the order of their ids, of all copies of it."""
    copies: dict[str, list[tuple[FoundCorpus, CorpusClips]]] = defaultdict(list)
    for found, content in zip(founds, each, strict=True):
        copies[found.spec.id].append((found, content))
    for corpus, described in sorted(copies.items()):
        rows = chosen.of_corpora(corpus)
        others = [*manifest.unselected(corpus), *(() if rows else manifest.of_corpora(corpus))] if unselected else []
        yield CorpusCheck(corpus, rows, others, described)


def _find_renamed(founds: Sequence[FoundCorpus], checks: Sequence[CorpusCheck]) -> None:
    """Look for missing clips under other names in all of the roots, not only where the rest of their corpus is."""
    wanting = [check for check in checks if check.lacks_pinned]
    if not wanting:
        return
    taken = set().union(*(check.taken() for check in checks))
    roots: dict[int, Root] = {}
    unclaimed: list[tuple[Root, str]] = []
    for found in founds:
        if id(found.root) not in roots:
            roots[id(found.root)] = found.root
            parts = (part for suffix in sorted(MEDIA) for part in found.index.by_suffix.get(suffix, ()))
            unclaimed += [(found.root, part.name) for part in parts if (id(found.root), part.name) not in taken]
    for check in wanting:
        check.find_renamed(unclaimed)
