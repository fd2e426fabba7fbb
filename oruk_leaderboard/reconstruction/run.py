"""One run: plan, take over what an earlier run left, render the rest, write shards, report."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from oruk_leaderboard.audio import self_test
from oruk_leaderboard.corpora import Root, find_corpora, not_recognised, open_roots
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.manifest import Manifest, load_manifest
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.reconstruction.engines import ENGINES
from oruk_leaderboard.reconstruction.estimate import Estimate, estimate
from oruk_leaderboard.reconstruction.layouts import layout_of
from oruk_leaderboard.reconstruction.plan import Plan, Request, make_plan
from oruk_leaderboard.reconstruction.report import Report
from oruk_leaderboard.reconstruction.shards import Writing
from oruk_leaderboard.reconstruction.store import open_store, telling

Corpora = Mapping[str, str | Path | None] | Sequence[str]


def reconstruct(
    root: str | Path | Root | None = None,
    *more: str | Path | Root,
    out: str | Path,
    corpora: Corpora | None = None,
    profile: str | None = None,
    all_clips: bool = False,
    languages: Sequence[str] = (),
    labels: Sequence[str] = (),
    limit: int | None = None,
    label_policy: str | None = None,
    label_source: str | None = None,
    layout: str = "parquet",
    workers: int | None = None,
    engine: str = "local",
    manifest: Manifest | None = None,
    progress: Progress = silent,
) -> Report:
    """Rebuild the evaluation clips from copies of the corpora.

    Args:
        root: Folder, archive or URL with any number of corpora.
        more: Further ones.
        out: New folder, or one of an earlier run, which is then completed; or an fsspec URL.
        corpora: Ids or spec files to take, with the path of each where it is not below the roots; None for all found.
        profile: ``open`` or ``full``; None for the manifest's clips of the corpora found.
        all_clips: Every clip that has a class, pinned or not.
        languages: BCP-47 tags to keep, each with its varieties (``en`` keeps ``en-CA``); none keeps all.
        labels: Classes to keep; none keeps all.
        limit: Most clips, the first in code-point order of their ids.
        label_policy: Named change of the corpora's label maps.
        label_source: Named other label of the corpora.
        layout: ``parquet``, ``audiofolder`` or ``harness``.
        workers: Threads, or tasks on a cluster; None for one per core.
        engine: ``local`` or ``ray``.
        manifest: The pinned clips; None for the shipped ones.
        progress: Reports each phase, in clips.

    Returns:
        The report, which is also written to ``report.json``.

    Raises:
        OrukError: Nothing usable is below the roots, the output cannot be written or is in use, or this machine's
            libraries give other samples than the audio rule.
    """
    request = Request(profile, all_clips, tuple(languages), tuple(labels), limit, label_policy, label_source)
    laid_out = layout_of(layout)
    if engine not in ENGINES:
        raise OrukError("no such engine", where="--engine", expected=", ".join(ENGINES), found=engine)
    workers = workers or os.cpu_count() or 1
    self_test()
    with open_store(out) as store:
        started = time.monotonic()
        roots = more if root is None else (root, *more)
        plan, opened = _plan(roots, corpora, request, manifest, workers, progress)
        with telling(store.location):
            writing = Writing(store, laid_out, plan)
            outcomes = ENGINES[engine](writing.batches(), workers=workers, open_root=opened.__getitem__)
            writing.write(outcomes, progress("rebuilding", len(plan.jobs)))
            return writing.finish(request, seconds=time.monotonic() - started)


def dry_run(
    root: str | Path | Root | None = None,
    *more: str | Path | Root,
    corpora: Corpora | None = None,
    profile: str | None = None,
    all_clips: bool = False,
    languages: Sequence[str] = (),
    labels: Sequence[str] = (),
    limit: int | None = None,
    label_policy: str | None = None,
    label_source: str | None = None,
    workers: int | None = None,
    manifest: Manifest | None = None,
    progress: Progress = silent,
) -> Estimate:
    """What `reconstruct` would do, how long it would take and how much disk it would need; writes nothing.

    Args and errors are those of `reconstruct`.
    """
    request = Request(profile, all_clips, tuple(languages), tuple(labels), limit, label_policy, label_source)
    workers = workers or os.cpu_count() or 1
    roots = more if root is None else (root, *more)
    plan, opened = _plan(roots, corpora, request, manifest, workers, progress)
    return estimate(plan, opened.__getitem__, workers=workers)


def _plan(
    roots: Sequence[str | Path | Root],
    corpora: Corpora | None,
    request: Request,
    manifest: Manifest | None,
    workers: int,
    progress: Progress,
) -> tuple[Plan, dict[str, Root]]:
    request.check()
    opened = open_roots(*roots)
    founds = find_corpora(*opened, only=corpora)
    if not founds:
        raise not_recognised(opened, corpora)
    for found in founds:
        if found.root.listing_only:
            raise OrukError("a .lst listing has no audio", where=found.root.location, do="give the folder itself")
    manifest = load_manifest() if manifest is None else manifest
    pinned = set(manifest.corpora) & {found.spec.id for found in founds}
    if not (request.all_clips or request.profile or pinned):
        raise OrukError(
            "the manifest chooses no clips of the corpora found",
            found=", ".join(sorted({found.spec.id for found in founds})),
            do="take everything that has a class with --all-clips",
        )
    plan = make_plan(founds, manifest, request, workers=workers, progress=progress)
    if request.filtered and not (plan.jobs or plan.findings):
        raise OrukError(
            "the filters leave no clip",
            expected=f"languages {', '.join(sorted({tag for found in founds for tag in found.spec.languages}))}",
            found=", ".join((*request.languages, *request.labels)),
        )
    _require_video(plan)
    return plan, {found.root.location: found.root for found in founds}


def _require_video(plan: Plan) -> None:
    """Stop before a long run in which all clips of a corpus would fail because an extra is not installed."""
    from oruk_leaderboard.audio.video import SUFFIXES, require_pyav

    for job in plan.jobs:
        if job.clip.media.lower().endswith(SUFFIXES):
            require_pyav(where=job.clip.corpus)
            return
