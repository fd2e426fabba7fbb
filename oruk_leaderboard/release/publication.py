"""Push the built repository to the Hub: one atomic commit, one tag that never moves, one revision to cite."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard import __version__
from oruk_leaderboard.errors import HubError
from oruk_leaderboard.hub.client import Hub, RemoteFile, UnreachableError
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.records.addresses import REPO
from oruk_leaderboard.release.files import Candidates, candidates
from oruk_leaderboard.todict import ToDict

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd

KEPT = (".gitattributes",)
"""Files that the Hub makes itself."""


@dataclass(frozen=True, slots=True)
class Publication(ToDict):
    """What publishing does, did, or would do.

    Attributes:
        repo: Repository on the Hub.
        tag: Tag of this version.
        parent: Head of main that the commit goes on top of; None where the Hub was not reached.
        added: Files that the Hub does not have; all files where it was not reached.
        updated: Files whose content differs.
        unchanged: How many files are the same already.
        kept: Files that only the Hub has; they are never deleted.
        left_out: Files that git tracks and that are not published.
        held_back: Files that the Hub would refuse for now, with the reason.
        revision: The 40-hex commit to cite; None in a dry run that would change something.
        blocked: Why a dry run could not be followed by a real one as things are; None where it could.
        dry_run: Whether nothing was sent.
    """

    repo: str
    tag: str
    parent: str | None
    added: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: int
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    held_back: Mapping[str, str]
    revision: str | None
    blocked: str | None
    dry_run: bool


def publish(
    *,
    repo: str = REPO,
    dry_run: bool = False,
    root: Path | None = None,
    endpoint: str | None = None,
    token: str | None = None,
    progress: Progress = silent,
) -> Publication:
    """Push every file of the allow-list whose content the Hub does not have, then set the tag of this version.

    A commit that arrived although its answer did not is found by the next run, which then only sets the tag.

    Args:
        repo: Repository on the Hub; it must exist.
        dry_run: Send nothing, only compare. Works with uncommitted changes and without the Hub.
        root: The checkout; the one that the package runs from by default.
        endpoint: Another address than huggingface_hub's own.
        token: Another token than the one of the environment or the login.
        progress: Reports the derived files checked, then the files sent.

    Raises:
        HubError: The checkout tracks rebuilt clips or answers, is dirty or stale, the tag exists with other content,
            the Hub's table has systems that are missing here, there is no token, or the Hub refused.
    """
    root = checkout_root() if root is None else root
    found = candidates(root)
    obstacle = _private(found, root) or _uncommitted(found, root) or _stale(root, progress)
    if obstacle is not None and not dry_run:
        raise obstacle
    hub = Hub(repo, endpoint=endpoint, token=token)
    try:
        plan = _compare(hub, found, dry_run=dry_run)
        obstacle = obstacle or _tag_taken(plan, hub.tags()) or _lost_systems(hub, plan, root)
    except UnreachableError as error:
        if not dry_run:
            raise
        plan, obstacle = _local(hub, found), obstacle or error
    if dry_run:
        return replace(plan, blocked=str(obstacle) if obstacle else None)
    if obstacle is not None:
        raise obstacle
    if not hub.has_token():
        raise HubError("no token", where=repo, do="log in with: hf auth login, or set HF_TOKEN")
    revision = plan.parent
    if sent := len(plan.added) + len(plan.updated):
        advance = progress("sending", sent)
        revision = _commit(hub, plan, found.content)
        advance(sent)
    if plan.revision is None:
        _set_tag(hub, plan, str(revision))
    return replace(plan, revision=revision)


def _set_tag(hub: Hub, plan: Publication, revision: str) -> None:
    try:
        hub.ask(lambda: hub.api.create_tag(hub.repo, tag=plan.tag, revision=revision, repo_type="dataset"))
    except HubError as error:
        raise HubError(
            f"the files are on the Hub as {revision}; only the tag {plan.tag} is missing: {error.what}",
            where=hub.repo,
            found=error.found,
            do="run the same command again: it then only sets the tag",
        ) from error


def _private(found: Candidates, root: Path) -> HubError | None:
    if not found.private:
        return None
    return HubError(
        "the checkout tracks rebuilt clips, receipts or answers, which the agreements of corpora may forbid to pass on",
        where=root,
        found=_some(found.private),
        do="take them out of git (git rm -r --cached NAME), and out of its history if it was pushed anywhere",
    )


def _uncommitted(found: Candidates, root: Path) -> HubError | None:
    if not found.uncommitted:
        return None
    return HubError(
        "files that would be published differ from the last commit",
        where=root,
        found=_some(found.uncommitted),
        do="look at each of them: what is published has to be traceable to one commit",
    )


def _stale(root: Path, progress: Progress) -> HubError | None:
    from oruk_leaderboard.release.build import build

    stale = build(root=root, check=True, progress=progress).changed
    if not stale:
        return None
    return HubError(
        "derived files are not what their sources give",
        where=root,
        found=_some(stale),
        do="run: oruk-leaderboard build, and look at the changes",
    )


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _local(hub: Hub, found: Candidates) -> Publication:
    """The plan without the Hub: every file that would be published."""
    return Publication(
        repo=hub.repo,
        tag=f"v{__version__}",
        parent=None,
        added=tuple(sorted(found.content)),
        updated=(),
        unchanged=0,
        kept=(),
        left_out=found.left_out,
        held_back=found.held_back,
        revision=None,
        blocked=None,
        dry_run=True,
    )


def _compare(hub: Hub, found: Candidates, *, dry_run: bool) -> Publication:
    """Compare with the tag of this version if it has the same files, else with main."""
    files, parent, tag = found.content, hub.revision(), f"v{__version__}"
    tagged = hub.tags().get(tag)
    if tagged is not None and not any(_differing(files, hub.files(tagged))):
        parent = tagged
    else:
        tagged = None
    remote = hub.files(parent)
    added, updated = _differing(files, remote)
    return Publication(
        repo=hub.repo,
        tag=tag,
        parent=parent,
        added=added,
        updated=updated,
        unchanged=len(files) - len(added) - len(updated),
        kept=tuple(sorted(remote.keys() - files.keys() - set(KEPT))),
        left_out=found.left_out,
        held_back=found.held_back,
        revision=tagged,
        blocked=None,
        dry_run=dry_run,
    )


def _differing(files: Mapping[str, bytes], remote: Mapping[str, RemoteFile]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files that are not there, and files that are there with other content."""
    updated = [name for name, content in files.items() if name in remote and not _same(remote[name], content)]
    return tuple(sorted(files.keys() - remote.keys())), tuple(sorted(updated))


def _tag_taken(plan: Publication, tags: Mapping[str, str]) -> HubError | None:
    if plan.revision is not None or plan.tag not in tags:
        return None
    return HubError(
        f"tag {plan.tag} exists with other files, and tags are never moved",
        where=plan.repo,
        found=f"{plan.tag} at {tags[plan.tag]}",
        do="raise the version in pyproject.toml, then build",
    )


def _same(remote: RemoteFile, content: bytes) -> bool:
    if remote.outside_git:
        return remote.digest == hashlib.sha256(content).hexdigest()
    return remote.digest == hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _lost_systems(hub: Hub, plan: Publication, root: Path) -> HubError | None:
    """The published table must not lose a system: by a new table in its place, or by a card that names another."""
    from oruk_leaderboard.hub.upstream import compare_rows, key
    from oruk_leaderboard.hub.upstream_table import find_table, read_table_rows
    from oruk_leaderboard.records.record import load_records

    table = find_table(hub, plan.parent) if plan.updated and plan.parent else None
    if table is None or not {table, "README.md"} & set(plan.updated):
        return None
    records = load_records(root / "data" / "records")
    known = {key(name) for record in records for name in (record.system.id, record.system.name)}
    missing = compare_rows(read_table_rows(hub.download(table, str(plan.parent))), records).missing
    lost = [str(row["system"]) for row in missing if key(row["system"]) not in known]
    if not lost:
        return None
    return HubError(
        f"{len(lost)} systems of the Hub's table are not held here and would be lost",
        where=f"{hub.repo}/{table}",
        found=", ".join(lost[:5]),
        do="run: oruk-leaderboard sync, then build",
    )


def _commit(hub: Hub, plan: Publication, files: Mapping[str, bytes]) -> str:
    from huggingface_hub import CommitOperationAdd

    def add(name: str) -> "CommitOperationAdd":
        # A buffer goes by the plain upload route in every release: the one of hf_xet does not fall back where the
        # server has none, and uploads of whole folders may end up as several commits.
        return CommitOperationAdd(path_in_repo=name, path_or_fileobj=io.BytesIO(files[name]))

    done = hub.ask(
        lambda: hub.api.create_commit(
            repo_id=hub.repo,
            repo_type="dataset",
            operations=[add(name) for name in (*plan.added, *plan.updated)],
            commit_message=f"Release {plan.tag}",
            parent_commit=plan.parent,
        )
    )
    if lost := [name for names in _differing(files, hub.files(done.oid)) for name in names]:
        raise HubError(
            "files did not arrive as they were sent", where=f"{hub.repo}@{done.oid}", found=", ".join(lost[:5])
        )
    return str(done.oid)
