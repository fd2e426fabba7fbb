"""Which clips a run makes: the manifest's selection or everything that has a class, checked against the sources."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from oruk_leaderboard.classes import INDEX
from oruk_leaderboard.corpora import CorpusSpec, FoundCorpus, clips_of, exclude_duplicates
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.languages import in_language
from oruk_leaderboard.manifest import Manifest, ManifestRow
from oruk_leaderboard.manifest.check import DIFFERS, EXACT, EXTRA, MISSING, UNPINNED
from oruk_leaderboard.manifest.corpus_check import Usable
from oruk_leaderboard.manifest.validation import Validation, validate
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.reconstruction.render import FAILED, Job

EXCLUDED = "excluded"
"""Total of the clips that are left out on purpose: no class, duplicates, faults that the corpus's spec names."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for.

    Attributes:
        profile: ``open`` or ``full``; None for the manifest's clips of the corpora found.
        all_clips: Every clip that has a class, pinned or not.
        languages: BCP-47 tags to keep, each with its varieties (``en`` keeps ``en-CA``); none keeps all.
        labels: Classes to keep; none keeps all.
        limit: Most clips, the first in code-point order of their ids; None for all.
        label_policy: Named change of a label map.
        label_source: Named other label.
    """

    profile: str | None = None
    all_clips: bool = False
    languages: Collection[str] = ()
    labels: Collection[str] = ()
    limit: int | None = None
    label_policy: str | None = None
    label_source: str | None = None

    def check(self) -> None:
        """Refuse a request that contradicts itself.

        Raises:
            OrukError: It does.
        """
        if self.profile is not None and self.all_clips:
            raise OrukError("a profile and all clips were asked for", expected="--profile or --all-clips, not both")
        if unknown := sorted(set(self.labels) - INDEX.keys()):
            raise OrukError("no such class", where="--label", expected=", ".join(INDEX), found=", ".join(unknown))
        if self.limit is not None and self.limit < 1:
            raise OrukError("the limit is not a positive number", where="--limit", found=self.limit)

    def keeps(self, language: str | None, label: str | None) -> bool:
        """Whether a clip passes the filters; an unknown label passes, since it is known only once it is read."""
        return (not self.languages or any(in_language(language, tag) for tag in self.languages)) and not (
            self.labels and label is not None and label not in self.labels
        )

    @property
    def filtered(self) -> bool:
        """Whether less than the selection was asked for."""
        return bool(self.languages or self.labels) or self.limit is not None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that makes the exit code 1.

    Attributes:
        clip_id: None for what belongs to no clip.
        corpus: Id, or None.
        media: Path below the corpora root, or None.
        state: A state, or ``problem``.
        reason: Why.
    """

    clip_id: str | None
    corpus: str | None
    media: str | None
    state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run makes.

    Attributes:
        jobs: Clips to make, in code-point order of their ids.
        specs: Specs of the corpora found, by id.
        totals: Corpus to state to number, of what validation settled (clips that are in ``jobs`` are not counted).
        absent: Corpora of the profile that are under no root, to their number of clips.
        wanted: Number of clips of the selection, absent corpora included; None with ``all_clips``.
        findings: What validation found.
        manifest: Version, digest and profile.
        roots: Location to root.
    """

    jobs: Sequence[Job]
    specs: Mapping[str, CorpusSpec]
    totals: Mapping[str, Mapping[str, int]]
    absent: Mapping[str, int]
    wanted: int | None
    findings: Sequence[Finding]
    manifest: Mapping[str, str | None]


def make_plan(
    founds: Sequence[FoundCorpus],
    manifest: Manifest,
    request: Request,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Plan:
    """Check the sources and choose the clips.

    Args:
        founds: From `find_corpora`.
        manifest: The pinned clips.
        request: What the user asked for.
        workers: Threads that read and hash; None for one per core.
        progress: Reports the clips checked.

    Raises:
        CorpusError: No corpus has such a policy or source.
        ManifestError: There is no such profile.
    """
    validation = validate(
        founds,
        manifest,
        profile=request.profile,
        label_policy=request.label_policy,
        label_source=request.label_source,
        unselected=request.all_clips,
        workers=workers,
        progress=progress,
    )
    own_labels = request.label_policy is not None or request.label_source is not None
    planned: dict[str, Job | None] = {
        item.row.clip_id: _pinned_job(item, own_labels=own_labels) for item in validation.usable
    }
    rows = {row.clip_id: row for row in manifest.of_corpora(*{found.spec.id for found in founds})}
    findings, totals = _settled(validation, rows, request)
    if request.all_clips:
        more, more_findings = _all_clips(founds, validation, rows.keys(), request, totals)
        planned |= more
        findings += more_findings
    jobs, unlabelled = _labelled(planned, request)
    for finding in unlabelled:
        totals[finding.corpus or ""][finding.state] += 1
    return Plan(
        jobs=jobs[: request.limit],
        specs={found.spec.id: found.spec for found in founds},
        totals=totals,
        absent=validation.absent,
        wanted=None if request.all_clips else _wanted(validation),
        findings=[*findings, *unlabelled],
        manifest=validation.manifest,
    )


def _pinned_job(item: Usable, *, own_labels: bool) -> Job:
    label = item.clip.label if own_labels or item.row.label is None else item.row.label
    return Job(
        clip=replace(item.clip, label=label),
        root=item.corpus.root.location,
        state=item.state.state,
        source_sha256=item.row.source_sha256 if item.state.state == EXACT else None,
        clip_sha256=item.row.clip_sha256,
    )


def _settled(
    validation: Validation, rows: Mapping[str, ManifestRow], request: Request
) -> tuple[list[Finding], defaultdict[str, Counter[str]]]:
    """Findings and totals of what will not be made; clips that will be made are counted when they are."""
    findings: list[Finding] = []
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for state in validation.states:
        row = rows.get(state.clip_id or "")
        if state.state not in (DIFFERS, MISSING, EXTRA) or (row and not request.keeps(row.language, row.label)):
            continue
        totals[state.corpus][state.state] += 1
        findings.append(Finding(state.clip_id, state.corpus, state.media, state.state, state.reason))
    for corpus, states in validation.totals.items():
        if not request.all_clips and "not selected" in states:
            totals[corpus]["not selected"] = states["not selected"]
    findings += [Finding(None, None, problem.where, "problem", problem.reason) for problem in validation.problems]
    return findings, totals


def _all_clips(
    founds: Sequence[FoundCorpus],
    validation: Validation,
    pinned: Collection[str],
    request: Request,
    totals: defaultdict[str, Counter[str]],
) -> tuple[dict[str, Job | None], list[Finding]]:
    """Jobs of clips that the manifest does not choose, and None for a pinned one that is a duplicate in this copy."""
    usable = {item.row.clip_id: item.state.state for item in validation.usable}
    exact = {clip_id for clip_id, state in usable.items() if state == EXACT}
    known = {item.row.clip_id: item for item in validation.unselected}
    altered = {state.clip_id for state in validation.states if state.state == DIFFERS}
    jobs: dict[str, Job | None] = {}
    missing: dict[str, Finding] = {}
    policy, source = request.label_policy, request.label_source
    each = clips_of(founds, label_policy=policy, label_source=source, hash_duplicates=False)
    for found, content in zip(founds, each, strict=True):
        unique, _ = exclude_duplicates(content.clips, found.root, keep=exact)
        for clip in unique:
            excluded = clip.excluded or ""
            if clip.label is not None:
                if clip.clip_id in known:
                    jobs[clip.clip_id] = _pinned_job(known[clip.clip_id], own_labels=True)
                elif clip.clip_id not in pinned and clip.clip_id not in altered:
                    jobs.setdefault(clip.clip_id, Job(clip, found.root.location, UNPINNED))
            elif not excluded.startswith("also at") and (clip.clip_id not in pinned or clip.clip_id in usable):
                totals[clip.corpus][EXCLUDED] += 1
                if "duplicate" in excluded:
                    jobs[clip.clip_id] = None
        for clip in content.missing:
            if clip.label is not None and clip.clip_id not in pinned and request.keeps(clip.language, clip.label):
                reason = "named in the label file, no recording"
                missing[clip.clip_id] = Finding(clip.clip_id, clip.corpus, clip.media, MISSING, reason)
    lost = [finding for clip_id, finding in missing.items() if clip_id not in jobs]
    for finding in lost:
        totals[finding.corpus or ""][finding.state] += 1
    return jobs, lost


def _labelled(planned: Mapping[str, Job | None], request: Request) -> tuple[list[Job], list[Finding]]:
    """Jobs that pass the filters, in order; clips without a class in this copy are findings."""
    jobs, unlabelled = [], []
    for _, job in sorted(planned.items()):
        if job is None or not request.keeps(job.clip.language, job.clip.label):
            continue
        if job.clip.label is None:
            reason = job.clip.excluded or "no label in this copy"
            unlabelled.append(Finding(job.clip.clip_id, job.clip.corpus, job.clip.media, FAILED, reason))
        else:
            jobs.append(job)
    return jobs, unlabelled


def _wanted(validation: Validation) -> int:
    pinned = sum(1 for state in validation.states if state.clip_id is not None)
    return pinned + sum(validation.absent.values())
