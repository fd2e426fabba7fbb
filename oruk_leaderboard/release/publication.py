"""Push the built repository to the Hub: one atomic commit, one tag that never moves, one revision to cite."""

import hashlib
import io
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard import __version__
from oruk_leaderboard.errors import HubError
from oruk_leaderboard.hub import evals
from oruk_leaderboard.hub.client import REPO, Hub, RemoteFile
from oruk_leaderboard.paths import checkout_root
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
        parent: Head of main that the commit goes on top of.
        added: Files that the Hub does not have.
        updated: Files whose content differs.
        unchanged: How many files are the same already.
        kept: Files that only the Hub has; they are never deleted.
        held_back: Files that the Hub would refuse for now, with the reason.
        revision: The 40-hex commit to cite; None in a dry run that would change something.
        blocked: Why a dry run could not be followed by a real one as things are; None where it could.
        dry_run: Whether nothing was sent.
    """

    repo: str
    tag: str
    parent: str
    added: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: int
    kept: tuple[str, ...]
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
) -> Publication:
    """Push every file that git tracks and whose content the Hub does not have, then set the tag of this version.

    A commit that arrived although its answer did not is found by the next run, which then only sets the tag.

    Args:
        repo: Repository on the Hub; it must exist.
        dry_run: Send nothing, only compare.
        root: The checkout; the one that the package runs from by default.
        endpoint: Another address than huggingface_hub's own.
        token: Another token than the one of the environment or the login.

    Raises:
        HubError: The checkout is dirty or stale, the tag exists with other content, the Hub's table holds systems that
            are not held here, there is no token, or the Hub refused.
    """
    root = checkout_root() if root is None else root
    files = _tracked(root)
    _check_fresh(root)
    hub = Hub(repo, endpoint=endpoint, token=token)
    plan = _compare(hub, files, dry_run=dry_run)
    obstacle = _tag_taken(plan, hub.tags()) or _lost_systems(hub, plan, root)
    if dry_run:
        return replace(plan, blocked=str(obstacle) if obstacle else None)
    if obstacle is not None:
        raise obstacle
    if not hub.has_token():
        raise HubError("no token", where=repo, do="log in with: hf auth login, or set HF_TOKEN")
    revision = _commit(hub, plan, files) if plan.added or plan.updated else plan.parent
    if plan.revision is None:
        with hub.errors():
            hub.api.create_tag(repo, tag=plan.tag, revision=revision, repo_type="dataset")
    return replace(plan, revision=revision)


def _tracked(root: Path) -> Mapping[str, bytes]:
    """Content of every tracked file by path, without those that are held back.

    Raises:
        HubError: The folder is no git checkout, or holds changes that are not committed.
    """
    if changes := _git(root, "status", "--porcelain").decode().splitlines():
        raise HubError(
            "the checkout holds changes that are not committed",
            where=root,
            found=", ".join(change[3:] for change in changes[:5]) + (" …" if len(changes) > 5 else ""),
            do="commit them first: what is published can then be traced to one commit",
        )
    names = _git(root, "ls-files", "-z").decode().split("\0")
    held_back = evals.held_back()
    return {
        name: (root / name).read_bytes() for name in names if name and name not in held_back and (root / name).is_file()
    }


def _git(root: Path, *arguments: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise HubError(
            "publishing needs a git checkout", where=root, do="run it in a clone of the repository"
        ) from error


def _check_fresh(root: Path) -> None:
    from oruk_leaderboard.release.build import build

    if stale := build(root=root, check=True).changed:
        raise HubError(
            "derived files are not what their sources give",
            where=root,
            found=", ".join(stale[:5]),
            do="run: oruk-leaderboard build, look at the changes and commit them",
        )


def _compare(hub: Hub, files: Mapping[str, bytes], *, dry_run: bool) -> Publication:
    """Compare with the tag of this version if it holds the same files, which ends the matter, else with main."""
    parent, tag = hub.revision(), f"v{__version__}"
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
        held_back=evals.held_back(),
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
        do="raise the version in pyproject.toml, build and commit",
    )


def _same(remote: RemoteFile, content: bytes) -> bool:
    if remote.outside_git:
        return remote.digest == hashlib.sha256(content).hexdigest()
    return remote.digest == hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _lost_systems(hub: Hub, plan: Publication, root: Path) -> HubError | None:
    """The published table must not lose a system: by a new table in its place, or by a card that names another."""
    from oruk_leaderboard.hub.upstream import compare_rows, key
    from oruk_leaderboard.hub.upstream_table import find_table, read_rows
    from oruk_leaderboard.records.record import load_records

    table = find_table(hub, plan.parent) if plan.updated else None
    if table is None or not {table, "README.md"} & set(plan.updated):
        return None
    records = load_records(root / "data" / "records")
    known = {key(name) for record in records for name in (record.system.id, record.system.name)}
    missing = compare_rows(read_rows(hub.download(table, plan.parent)), records).missing
    lost = [str(row["system"]) for row in missing if key(row["system"]) not in known]
    if not lost:
        return None
    return HubError(
        f"{len(lost)} systems of the Hub's table are not held here and would be lost",
        where=f"{hub.repo}/{table}",
        found=", ".join(lost[:5]),
        do="run: oruk-leaderboard sync, then build and commit",
    )


def _commit(hub: Hub, plan: Publication, files: Mapping[str, bytes]) -> str:
    from huggingface_hub import CommitOperationAdd

    def add(name: str) -> "CommitOperationAdd":
        # A buffer goes by the plain upload route in every release: the one of hf_xet does not fall back where the
        # server has none, and uploads of whole folders may end up as several commits.
        return CommitOperationAdd(path_in_repo=name, path_or_fileobj=io.BytesIO(files[name]))

    with hub.errors():
        done = hub.api.create_commit(
            repo_id=hub.repo,
            repo_type="dataset",
            operations=[add(name) for name in (*plan.added, *plan.updated)],
            commit_message=f"Release {plan.tag}",
            parent_commit=plan.parent,
        )
    if lost := [name for names in _differing(files, hub.files(done.oid)) for name in names]:
        raise HubError(
            "files did not arrive as they were sent", where=f"{hub.repo}@{done.oid}", found=", ".join(lost[:5])
        )
    return str(done.oid)
