"""The Hub: one way to connect, one way to say what went wrong, and the files of a data set at a revision.

Works with huggingface_hub 0.25 to 2.x. Errors are caught by ``huggingface_hub.errors`` and by what its base error is
built on, because the HTTP library below it changed twice (requests, httpx, httpx2). A token comes from the environment
or the login of huggingface_hub; it is never read, printed or stored here.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.errors import HubError

if TYPE_CHECKING:
    pass

REPO = "oruk/oruk-bench-leaderboard"
"""The data set repository of the leaderboard."""

REVISION = re.compile(r"[0-9a-f]{40}")
"""Full name of a commit: the only kind of revision that never moves."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file on the Hub.

    Attributes:
        path: Path below the repository's root.
        size: Bytes.
        digest: sha256 of the content where it is kept outside git, else git's blob name (sha1).
        outside_git: Whether the content is kept outside git (LFS or Xet).
    """

    path: str
    size: int
    digest: str
    outside_git: bool


class Hub:
    """One data set repository.

    Args:
        repo: Name of the repository, ``owner/name``.
        endpoint: Another address than huggingface_hub's own, for tests and mirrors.
        token: Another token than the one of the environment or the login.
    """

    def __init__(self, repo: str = REPO, *, endpoint: str | None = None, token: str | None = None) -> None:
        from huggingface_hub import HfApi

        self.repo = repo
        self.api: HfApi = HfApi(endpoint=endpoint, token=token)

    def has_token(self) -> bool:
        """Whether there is a token at all; the Hub decides whether it is good."""
        from huggingface_hub import get_token

        return bool(self.api.token or get_token())

    def revision(self, name: str | None = None) -> str:
        """The 40-hex commit behind a branch, a tag or a shortened name; main by default.

        Raises:
            HubError: There is no such repository or revision, or the Hub cannot be reached.
        """
        with self.errors(name):
            sha = self.api.dataset_info(self.repo, revision=name).sha
        if sha is None or not REVISION.fullmatch(sha):
            raise HubError("the Hub names no commit", where=self.repo, expected="40 hex digits", found=sha)
        return sha

    def tags(self) -> Mapping[str, str]:
        """Tag to the commit that it points at."""
        with self.errors():
            refs = self.api.list_repo_refs(self.repo, repo_type="dataset")
        return {ref.name: ref.target_commit for ref in refs.tags}

    def files(self, revision: str) -> Mapping[str, RemoteFile]:
        """Every file at a revision by path."""
        with self.errors(revision):
            tree = list(self.api.list_repo_tree(self.repo, recursive=True, revision=revision, repo_type="dataset"))
        return {entry.path: _remote(entry) for entry in tree if hasattr(entry, "blob_id")}

    def download(self, path: str, revision: str) -> Path:
        """A file at a revision, through the cache of huggingface_hub."""
        with self.errors(revision):
            return Path(self.api.hf_hub_download(self.repo, path, revision=revision, repo_type="dataset"))

    @contextmanager
    def errors(self, revision: str | None = None) -> Iterator[None]:
        """Turn errors of huggingface_hub and of the network below it into one `HubError` that says what to do."""
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError

        network: tuple[type[BaseException], ...] = (OSError, *HfHubHTTPError.__bases__)
        try:
            yield
        except network as error:
            answer = getattr(error, "response", None)
            if answer is not None:
                raise self._refused(error, answer.status_code, revision) from error
            raise HubError(
                "the Hub cannot be reached, or the connection ended",
                where=self.api.endpoint,
                found=type(error).__name__,
                do="run the same command again: what has arrived is not sent twice",
            ) from error
        except HFValidationError as error:
            raise HubError(f"not a repository name: {error}", where=self.repo, expected="owner/name") from error
        except ValueError as error:
            raise HubError(f"the Hub refuses what would be sent: {error}", where=self.repo) from error

    def _refused(self, error: BaseException, status: int, revision: str | None) -> HubError:
        """Why the Hub refused; its own message is quoted, the request (which holds the token) is not."""
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

        said = " ".join((getattr(error, "server_message", None) or f"HTTP status {status}").split())
        if status == 401 and self.has_token():
            return HubError(
                "the token is not accepted: expired, revoked or for another Hub",
                where=self.repo,
                found=said,
                do="log in again with: hf auth login",
            )
        if isinstance(error, RevisionNotFoundError):
            return HubError(
                "no such revision", where=f"{self.repo}@{revision}", found=said, do="see the tags on the Hub"
            )
        if isinstance(error, RepositoryNotFoundError):
            return HubError(
                "no such data set on the Hub, or none that this token may see",
                where=self.repo,
                found=said,
                do="check --repo, or create it once with: hf repo create --repo-type dataset",
            )
        if status == 412:
            return HubError(
                "somebody else has pushed in the meantime; nothing was written",
                where=self.repo,
                found=said,
                do="run the same command again and look at what it would change",
            )
        if status == 403:
            return HubError("the token may not write here", where=self.repo, found=said, do="use one with write access")
        return HubError("the Hub refused", where=self.repo, found=f"{status}: {said}")


def _remote(entry: Any) -> RemoteFile:
    if entry.lfs is not None:
        return RemoteFile(entry.path, entry.size, entry.lfs.sha256, outside_git=True)
    return RemoteFile(entry.path, entry.size, entry.blob_id, outside_git=False)
