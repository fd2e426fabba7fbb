"""An in-memory Hub on loopback: the documented routes that loading, downloading, committing and tagging a data set use.

Start it with ``with FakeHub() as hub:`` and either pass ``hub.url`` as ``endpoint`` or start a process with
``hub.environment(home)``. Nothing is checked that the Hub does not check; every error is told apart by status and by
the header ``X-Error-Code``, as huggingface_hub expects.
"""

import base64
import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fake_repo import RefusedError, Repo, file_entry, folder_entry, git_oid, is_lfs

TOKEN = "hf_fake_write_token"
EPOCH = "2026-09-06T00:00:00.000Z"


@dataclass
class Refusal:
    """Answers matching requests with an error."""

    pattern: str
    status: int
    said: str
    headers: dict[str, str]
    times: int


@dataclass
class Cut:
    """Closes the connection of matching requests after so many bytes of the answer's body."""

    pattern: str
    after: int
    times: int


class FakeHub:
    """Repositories, the requests seen, and the faults to play."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.blobs: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.expired: dict[str, str] = {}
        self.cuts: list[Cut] = []
        self.refusals: list[Refusal] = []
        self.card_errors: list[str] = []
        self._server: ThreadingHTTPServer | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def create(self, repo_id: str, files: Mapping[str, bytes] | None = None, *, tag: str | None = None) -> str:
        """Add a repository, or one more commit to it, and return the commit."""
        repo = self.repos.setdefault(repo_id, Repo())
        sha = repo.commit(files or {}, "initial commit")
        if tag is not None:
            repo.tags[tag] = sha
        return sha

    def create_from(self, repo_id: str, folder: Path, *, tag: str | None = None) -> str:
        """As ``create`` with every file below a folder, dot folders left out."""
        paths = [path for path in folder.rglob("*") if path.is_file()]
        names = {path.relative_to(folder).as_posix(): path for path in paths}
        kept = {
            name: path.read_bytes() for name, path in names.items() if not re.search(r"(^|/)(\.git|__pycache__)/", name)
        }
        return self.create(repo_id, kept, tag=tag)

    def head(self, repo_id: str) -> dict[str, bytes]:
        """Files at the head of main."""
        repo = self.repos[repo_id]
        return repo.commits[repo.branches["main"]]

    def expire(self, token: str = TOKEN, *, said: str = "Invalid credentials in Authorization header") -> None:
        """From now on the token is answered with 401; the client takes some words for a missing repository."""
        self.expired[token] = said

    def cut(self, pattern: str, *, after: int = 0, times: int = 1_000_000) -> None:
        """Cut the connection of requests ``METHOD /path`` that match a pattern."""
        self.cuts.append(Cut(pattern, after, times))

    def refuse(self, pattern: str, status: int, said: str = "no", *, times: int = 1_000_000, **headers: str) -> None:
        """Answer requests ``METHOD /path`` that match a pattern with an error; ``_`` in a header's name is ``-``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.refusals.append(Refusal(pattern, status, said, named, times))

    def environment(self, home: Path, *, token: str | None = TOKEN) -> dict[str, str]:
        """Variables that point a fresh process at this Hub: set them before anything of Hugging Face is imported."""
        variables = {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "PATH": "/usr/bin:/bin",
        }
        return variables if token is None else {**variables, "HF_TOKEN": token}

    def run(self, code: str, home: Path, *, token: str | None = TOKEN) -> Any:
        """Run Python in a fresh process that sees this Hub only, and return its last line of output as JSON."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=self.environment(home, token=token),
            cwd=home,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.strip().splitlines()[-1])


@dataclass
class Answer:
    """Status, body and headers; the body is JSON unless it is bytes."""

    body: object = b""
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200


Route = Callable[["_Handler", re.Match[str]], Answer]
_ROUTES: list[tuple[str, re.Pattern[str], Route]] = []


def _route(methods: str, pattern: str) -> Callable[[Route], Route]:
    def register(function: Route) -> Route:
        _ROUTES.append((methods, re.compile(pattern), function))
        return function

    return register


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are kept in ``hub.requests`` and not printed."""

    def _serve(self) -> None:
        self.url = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(self.url.query).items()}
        self.content = self._read()
        path = unquote(self.url.path)
        self.hub.requests.append(f"{self.command} {path}")
        self.hub.bodies.append(self.content)
        try:
            self._authorise()
            answer = self._dispatch(path)
        except RefusedError as refused:
            answer = Answer({"error": refused.message}, refused.headers, refused.status)
        self._send(answer, self._find_cut(path))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - names that http.server looks for

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = b""
        while size := int(self.rfile.readline(), 16):
            chunks += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return chunks

    def _authorise(self) -> None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token in self.hub.expired:
            raise RefusedError(401, "Unauthorized", self.hub.expired[token])
        writes = self.command != "GET" and self.command != "HEAD" and "paths-info" not in self.path
        if writes and token != TOKEN and not self.path.startswith("/lfs/"):
            raise RefusedError(401, "Unauthorized", "Invalid username or password.")

    def _dispatch(self, path: str) -> Answer:
        for refusal in self.hub.refusals:
            if refusal.times > 0 and re.search(refusal.pattern, f"{self.command} {path}"):
                refusal.times -= 1
                return Answer({"error": refusal.said}, refusal.headers, refusal.status)
        for methods, pattern, function in _ROUTES:
            match = pattern.fullmatch(path)
            if self.command in methods.split() and match is not None:
                return function(self, match)
        raise RefusedError(404, "NotFound", f"the fake Hub has no route {self.command} {path}")

    def _find_cut(self, path: str) -> int | None:
        for cut in self.hub.cuts:
            if cut.times > 0 and re.search(cut.pattern, f"{self.command} {path}"):
                cut.times -= 1
                return cut.after
        return None

    def _send(self, answer: Answer, cut: int | None) -> None:
        is_bytes = isinstance(answer.body, bytes)
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        headers = {"Content-Type": "application/octet-stream" if is_bytes else "application/json", **answer.headers}
        if cut == 0:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])
            self.close_connection = self.close_connection or cut is not None

    def repo(self, repo_id: str) -> Repo:
        if repo_id not in self.hub.repos:
            raise RefusedError(404, "RepoNotFound", "Repository not found")
        return self.hub.repos[repo_id]

    def at(self, repo_id: str, revision: str) -> tuple[Repo, str]:
        repo = self.repo(repo_id)
        sha = repo.resolve(revision)
        if sha is None:
            raise RefusedError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return repo, sha


@_route("GET", r"/api/whoami-v2")
def _whoami(handler: _Handler, match: re.Match[str]) -> Answer:
    if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
        raise RefusedError(401, "Unauthorized", "Invalid username or password.")
    return Answer({"type": "user", "name": "oruk", "orgs": [], "auth": {"accessToken": {"role": "write"}}})


@_route("POST", r"/api/validate-yaml")
def _validate_yaml(handler: _Handler, match: re.Match[str]) -> Answer:
    errors = [{"message": message} for message in handler.hub.card_errors]
    return Answer({"errors": errors, "warnings": []}, status=400 if errors else 200)


@_route("POST", r"/api/repos/create")
def _create(handler: _Handler, match: re.Match[str]) -> Answer:
    wish = json.loads(handler.content)
    repo_id = f"{wish.get('organization') or 'oruk'}/{wish['name']}"
    url = f"{handler.hub.url}/datasets/{repo_id}"
    if repo_id in handler.hub.repos:
        return Answer({"error": "You already created this dataset repo", "url": url}, status=409)
    handler.hub.create(repo_id)
    return Answer({"url": url, "name": repo_id, "id": "1"})


@_route("GET HEAD", r"/api/datasets/([^/]+/[^/]+)(?:/revision/(.+))?")
def _info(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2] or "main")
    siblings = [{"rfilename": path} for path in sorted(repo.commits[sha])]
    dates = {"lastModified": EPOCH, "createdAt": EPOCH}
    flags = {"private": False, "gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0}
    return Answer(
        {"_id": "0" * 24, "id": match[1], "author": "oruk", "sha": sha, "siblings": siblings, **dates, **flags}
    )


@_route("GET", r"/api/datasets/([^/]+/[^/]+)/refs")
def _refs(handler: _Handler, match: re.Match[str]) -> Answer:
    repo = handler.repo(match[1])

    def listed(kind: str, names: dict[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": sha} for name, sha in names.items()]

    return Answer({"branches": listed("heads", repo.branches), "tags": listed("tags", repo.tags), "converts": []})


@_route("GET", r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+)(?:/(.*))?")
def _tree(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    recursive = handler.query.get("recursive", "false").lower() in ("true", "1")
    prefix = f"{match[3].rstrip('/')}/" if match[3] else ""
    files, folders = [], set()
    for path, content in sorted(repo.commits[sha].items()):
        if not path.startswith(prefix):
            continue
        parts = path.removeprefix(prefix).split("/")
        depths = range(1, len(parts) if recursive else min(2, len(parts)))
        folders.update(prefix + "/".join(parts[:depth]) for depth in depths)
        if recursive or len(parts) == 1:
            files.append(file_entry(path, content))
    if prefix and not files and not folders:
        raise RefusedError(404, "EntryNotFound", f"{match[3]} does not exist on {match[2]}")
    return Answer([*map(folder_entry, sorted(folders)), *files])


@_route("POST", r"/api/datasets/([^/]+/[^/]+)/paths-info/(.+)")
def _paths_info(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    if "urlencoded" in (handler.headers.get("Content-Type") or ""):
        wanted = parse_qs(handler.content.decode()).get("paths", [])
    else:
        wanted = json.loads(handler.content)["paths"]
    files, found = repo.commits[sha], []
    for path in (name.strip("/") for name in wanted):
        if path in files:
            found.append(file_entry(path, files[path]))
        elif any(name.startswith(f"{path}/") for name in files):
            found.append(folder_entry(path))
    return Answer(found)


@_route("GET HEAD", r"/datasets/([^/]+/[^/]+)/(?:resolve|raw)/([^/]+)/(.+)")
def _file(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    content = repo.commits[sha].get(match[3])
    if content is None:
        raise RefusedError(404, "EntryNotFound", "Entry not found", X_Repo_Commit=sha)
    headers = {"X-Repo-Commit": sha, "Accept-Ranges": "bytes", "ETag": f'"{git_oid(content)}"'}
    if is_lfs(match[3]):
        etag = f'"{hashlib.sha256(content).hexdigest()}"'
        headers |= {"ETag": etag, "X-Linked-Etag": etag, "X-Linked-Size": str(len(content))}
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range") or "")
    if asked is None:
        return Answer(content, headers)
    first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
    if first >= len(content):
        return Answer(b"", {"Content-Range": f"bytes */{len(content)}"}, 416)
    return Answer(content[first : last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{len(content)}"}, 206)


@_route("POST", r"/api/datasets/([^/]+/[^/]+)/preupload/(.+)")
def _preupload(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    present = repo.commits[sha]
    answers = []
    for path in (wish["path"] for wish in json.loads(handler.content)["files"]):
        mode = "lfs" if is_lfs(path) else "regular"
        oid = git_oid(present[path]) if path in present else None
        answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    return Answer({"files": answers})


@_route("POST", r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch")
def _lfs_batch(handler: _Handler, match: re.Match[str]) -> Answer:
    handler.repo(match[1])
    objects = []
    for wish in json.loads(handler.content)["objects"]:
        known = wish["oid"] in handler.hub.blobs
        upload = {} if known else {"actions": {"upload": {"href": f"{handler.hub.url}/lfs/{wish['oid']}"}}}
        objects.append({"oid": wish["oid"], "size": wish["size"], "authenticated": True, **upload})
    return Answer({"transfer": "basic", "objects": objects}, {"Content-Type": "application/vnd.git-lfs+json"})


@_route("PUT", r"/lfs/([0-9a-f]{64})")
def _lfs_upload(handler: _Handler, match: re.Match[str]) -> Answer:
    if hashlib.sha256(handler.content).hexdigest() != match[1]:
        raise RefusedError(400, "BadRequest", "the content is not what its name says")
    handler.hub.blobs[match[1]] = handler.content
    return Answer(b"", {"ETag": '"uploaded"'})


@_route("POST", r"/api/datasets/([^/]+/[^/]+)/commit/(.+)")
def _commit(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    files, title = dict(repo.commits[sha]), ""
    for line in handler.content.splitlines():
        operation = json.loads(line)
        value = operation["value"]
        if operation["key"] == "header":
            title, parent = value["summary"], value.get("parentCommit")
            if parent and repo.resolve(parent) != sha:
                raise RefusedError(412, "PreconditionFailed", "A commit has happened since. Please try again.")
        elif operation["key"] == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif operation["key"] == "lfsFile":
            files[value["path"]] = handler.hub.blobs[value["oid"]]
        elif operation["key"] == "deletedFile":
            del files[value["path"]]
        elif operation["key"] == "deletedFolder":
            files = {path: data for path, data in files.items() if not path.startswith(value["path"].rstrip("/") + "/")}
    new = repo.commit(files, title, match[2])
    return Answer(
        {"success": True, "commitOid": new, "commitUrl": f"{handler.hub.url}/datasets/{match[1]}/commit/{new}"}
    )


@_route("POST", r"/api/datasets/([^/]+/[^/]+)/tag/(.+)")
def _tag(handler: _Handler, match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    tag = json.loads(handler.content)["tag"]
    if tag in repo.tags:
        raise RefusedError(409, "Conflict", "Tag reference exists already")
    repo.tags[tag] = sha
    return Answer({})


@_route("DELETE", r"/api/datasets/([^/]+/[^/]+)/tag/(.+)")
def _untag(handler: _Handler, match: re.Match[str]) -> Answer:
    if handler.repo(match[1]).tags.pop(match[2], None) is None:
        raise RefusedError(404, "RevisionNotFound", f"Invalid rev id: {match[2]}")
    return Answer({})
