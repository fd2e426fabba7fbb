"""The Hub: one way to connect, one way to say what went wrong, and the files of a data set at a revision.

Works with huggingface_hub 0.25 to 2.x. Errors are caught by ``huggingface_hub.errors`` and by what its base error is
built on, because the HTTP library below it changed twice (requests, httpx, httpx2). A token comes from the environment
or the login of huggingface_hub; it is never read, printed or stored here.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from oruk_leaderboard.errors import HubError
from oruk_leaderboard.records.addresses import REPO

LONGEST_WAIT_S = 300.0
"""Longest pause in s that the Hub may ask for before a call is given up."""

WAITS = 5
"""How often one call is repeated after a pause that the Hub asked for."""

_QUOTA = re.compile(r"quota|storage|exceed|too large|limit", re.IGNORECASE)

T = TypeVar("T")

REVISION = re.compile(r"[0-9a-f]{40}")
"""Full name of a commit: the only kind of revision that never moves."""


class UnreachableError(HubError):
    """The Hub cannot be reached, or the connection ended."""


class BusyError(HubError):
    """The Hub asks to come back later."""

    wait_s: float = 0.0
    """Seconds that it asks to wait."""


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
        from huggingface_hub.utils.tqdm import disable_progress_bars

        if not sys.stderr.isatty():
            disable_progress_bars()
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
        sha = self.ask(lambda: self.api.dataset_info(self.repo, revision=name).sha, revision=name)
        if sha is None or not REVISION.fullmatch(sha):
            raise HubError("the Hub names no commit", where=self.repo, expected="40 hex digits", found=sha)
        return sha

    def tags(self) -> Mapping[str, str]:
        """Tag to the commit that it points at."""
        refs = self.ask(lambda: self.api.list_repo_refs(self.repo, repo_type="dataset"))
        return {ref.name: ref.target_commit for ref in refs.tags}

    def files(self, revision: str) -> Mapping[str, RemoteFile]:
        """Every file at a revision by path."""
        tree = self.ask(
            lambda: list(self.api.list_repo_tree(self.repo, recursive=True, revision=revision, repo_type="dataset")),
            revision=revision,
        )
        return {entry.path: _remote(entry) for entry in tree if hasattr(entry, "blob_id")}

    def download(self, path: str, revision: str) -> Path:
        """A file at a revision, through the cache of huggingface_hub."""
        return Path(
            self.ask(
                lambda: self.api.hf_hub_download(self.repo, path, revision=revision, repo_type="dataset"),
                revision=revision,
            )
        )

    def ask(self, call: Callable[[], T], *, revision: str | None = None) -> T:
        """The answer to a call, repeated after the pause that the Hub asks for (``Retry-After``).

        Raises:
            HubError: The Hub refused, cannot be reached, or asks for a longer pause than ``LONGEST_WAIT_S``.
        """
        for _ in range(WAITS):
            try:
                with self.errors(revision):
                    return call()
            except BusyError as error:
                if error.wait_s > LONGEST_WAIT_S:
                    raise
                time.sleep(error.wait_s)
        with self.errors(revision):
            return call()

    @contextmanager
    def errors(self, revision: str | None = None) -> Iterator[None]:
        """Turn errors of huggingface_hub and of the network below it into one `HubError` that says what to do."""
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError

        network: tuple[type[BaseException], ...] = (OSError, *HfHubHTTPError.__bases__)
        try:
            yield
        except network as error:
            raise self._failed(error, revision) from error
        except HFValidationError as error:
            raise HubError(f"not a repository name: {error}", where=self.repo, expected="owner/name") from error
        except RuntimeError as error:
            # An upload outside git fails with this one, above the error of the request.
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, network):
                cause = cause.__cause__ or cause.__context__
            if cause is None:
                raise HubError(
                    f"the upload failed: {error}", where=self.repo, do="run the same command again"
                ) from error
            raise self._failed(cause, revision) from error
        except ValueError as error:
            raise HubError(f"the Hub refuses what would be sent: {error}", where=self.repo) from error

    def _failed(self, error: BaseException, revision: str | None) -> HubError:
        answer = getattr(error, "response", None)
        if answer is not None:
            return self._refused(error, answer, revision)
        return UnreachableError(
            "the Hub cannot be reached, or the connection ended",
            where=self.api.endpoint,
            found=type(error).__name__,
            do="run the same command again: what has arrived is not sent twice",
        )

    def _refused(self, error: BaseException, answer: Any, revision: str | None) -> HubError:
        """Why the Hub refused; its own message is quoted, the request (which contains the token) is not."""
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

        status: int = answer.status_code
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
        if status in (429, 503) and (wait := _seconds(answer.headers.get("Retry-After"))) is not None:
            busy = BusyError(f"the Hub asks to wait {wait:.0f} s", where=self.repo, found=f"{status}: {said}")
            busy.wait_s = wait
            return busy
        if status in (403, 413) and _QUOTA.search(said):
            return HubError("the Hub refuses more data", where=self.repo, found=f"{status}: {said}")
        if status == 403:
            return HubError("the token may not write here", where=self.repo, found=said, do="use one with write access")
        return HubError("the Hub refused", where=self.repo, found=f"{status}: {said}")


def _remote(entry: Any) -> RemoteFile:
    if entry.lfs is not None:
        return RemoteFile(entry.path, entry.size, entry.lfs.sha256, outside_git=True)
    return RemoteFile(entry.path, entry.size, entry.blob_id, outside_git=False)


def _seconds(header: str | None) -> float | None:
    """Seconds that a ``Retry-After`` header asks to wait (RFC 9110, 10.2.3), None where there is none."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
