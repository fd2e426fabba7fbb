"""An in-memory Hub on loopback: the documented routes that loading, downloading, committing and tagging a data set use.

Start it with ``with FakeHub() as hub:`` and either pass ``hub.url`` as ``endpoint`` or start a process with
``hub.environment(home)``. Nothing is checked that the Hub does not check; every error is told apart by status and by
the header ``X-Error-Code``, as huggingface_hub expects.
"""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fake_hub_routes import ROUTES, TOKEN, Answer
from tests.fake_repo import RefusedError, Repo


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
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"hub": self}))
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


class Handler(BaseHTTPRequestHandler):
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
        for methods, pattern, function in ROUTES:
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
