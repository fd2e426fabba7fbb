"""A repository of the in-memory Hub: commits, branches, tags, and how its files are told of."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LARGE = (".parquet", ".flac", ".wav")


def git_oid(content: bytes) -> str:
    """Git's own name of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def is_lfs(path: str) -> bool:
    """Whether the Hub keeps a file outside git (by suffix, as the default .gitattributes say)."""
    return path.endswith(LARGE)


@dataclass
class Repo:
    """One data set: commits by sha, and the branches and tags that point at them."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, files: Mapping[str, bytes], title: str, branch: str = "main") -> str:
        """Make a commit the head of a branch and return its 40-hex name."""
        parent = self.branches.get(branch, "")
        content = sorted((path, git_oid(data)) for path, data in files.items())
        sha = hashlib.sha1(json.dumps([parent, title, content]).encode()).hexdigest()
        self.commits[sha], self.titles[sha], self.branches[branch] = dict(files), title, sha
        return sha

    def resolve(self, revision: str) -> str | None:
        """Commit behind a branch, a tag, a full sha or an unambiguous beginning of one."""
        name = revision.removeprefix("refs/heads/").removeprefix("refs/tags/")
        for known in (self.branches, self.tags):
            if name in known:
                return known[name]
        matches = [sha for sha in self.commits if len(name) >= 7 and sha.startswith(name)]
        return matches[0] if len(matches) == 1 else None


class RefusedError(Exception):
    """Ends a request with an error status and the header the client reads."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message
        self.headers = {"X-Error-Code": code, "X-Error-Message": message}
        self.headers.update({name.replace("_", "-"): value for name, value in headers.items()})


def file_entry(path: str, content: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": git_oid(content)}
    if is_lfs(path):
        entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return entry


def folder_entry(path: str) -> dict[str, Any]:
    return {"type": "directory", "path": path, "size": 0, "oid": git_oid(path.encode())}
