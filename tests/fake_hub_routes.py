"""The routes of the fake Hub: one function per documented request of loading, committing and tagging a data set."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from tests.fake_repo import RefusedError, file_entry, folder_entry, git_oid, is_lfs

if TYPE_CHECKING:
    from tests.fake_hub import Handler

TOKEN = "hf_fake_write_token"
EPOCH = "2026-09-06T00:00:00.000Z"


@dataclass
class Answer:
    """Status, body and headers; the body is JSON unless it is bytes."""

    body: object = b""
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200


Route = Callable[["Handler", re.Match[str]], Answer]
ROUTES: list[tuple[str, re.Pattern[str], Route]] = []


def _route(methods: str, pattern: str) -> Callable[[Route], Route]:
    def register(function: Route) -> Route:
        ROUTES.append((methods, re.compile(pattern), function))
        return function

    return register


@_route("GET", r"/api/whoami-v2")
def _whoami(handler: "Handler", match: re.Match[str]) -> Answer:
    if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
        raise RefusedError(401, "Unauthorized", "Invalid username or password.")
    return Answer({"type": "user", "name": "oruk", "orgs": [], "auth": {"accessToken": {"role": "write"}}})


@_route("POST", r"/api/validate-yaml")
def _validate_yaml(handler: "Handler", match: re.Match[str]) -> Answer:
    errors = [{"message": message} for message in handler.hub.card_errors]
    return Answer({"errors": errors, "warnings": []}, status=400 if errors else 200)


@_route("POST", r"/api/repos/create")
def _create(handler: "Handler", match: re.Match[str]) -> Answer:
    wish = json.loads(handler.content)
    repo_id = f"{wish.get('organization') or 'oruk'}/{wish['name']}"
    url = f"{handler.hub.url}/datasets/{repo_id}"
    if repo_id in handler.hub.repos:
        return Answer({"error": "You already created this dataset repo", "url": url}, status=409)
    handler.hub.create(repo_id)
    return Answer({"url": url, "name": repo_id, "id": "1"})


@_route("GET HEAD", r"/api/datasets/([^/]+/[^/]+)(?:/revision/(.+))?")
def _info(handler: "Handler", match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2] or "main")
    siblings = [{"rfilename": path} for path in sorted(repo.commits[sha])]
    dates = {"lastModified": EPOCH, "createdAt": EPOCH}
    flags = {"private": False, "gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0}
    return Answer(
        {"_id": "0" * 24, "id": match[1], "author": "oruk", "sha": sha, "siblings": siblings, **dates, **flags}
    )


@_route("GET", r"/api/datasets/([^/]+/[^/]+)/refs")
def _refs(handler: "Handler", match: re.Match[str]) -> Answer:
    repo = handler.repo(match[1])

    def listed(kind: str, names: dict[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": sha} for name, sha in names.items()]

    return Answer({"branches": listed("heads", repo.branches), "tags": listed("tags", repo.tags), "converts": []})


@_route("GET", r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+)(?:/(.*))?")
def _tree(handler: "Handler", match: re.Match[str]) -> Answer:
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
def _paths_info(handler: "Handler", match: re.Match[str]) -> Answer:
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
def _file(handler: "Handler", match: re.Match[str]) -> Answer:
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
def _preupload(handler: "Handler", match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    present = repo.commits[sha]
    answers = []
    for path in (wish["path"] for wish in json.loads(handler.content)["files"]):
        mode = "lfs" if is_lfs(path) else "regular"
        oid = git_oid(present[path]) if path in present else None
        answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    return Answer({"files": answers})


@_route("POST", r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch")
def _lfs_batch(handler: "Handler", match: re.Match[str]) -> Answer:
    handler.repo(match[1])
    objects = []
    for wish in json.loads(handler.content)["objects"]:
        known = wish["oid"] in handler.hub.blobs
        upload = {} if known else {"actions": {"upload": {"href": f"{handler.hub.url}/lfs/{wish['oid']}"}}}
        objects.append({"oid": wish["oid"], "size": wish["size"], "authenticated": True, **upload})
    return Answer({"transfer": "basic", "objects": objects}, {"Content-Type": "application/vnd.git-lfs+json"})


@_route("PUT", r"/lfs/([0-9a-f]{64})")
def _lfs_upload(handler: "Handler", match: re.Match[str]) -> Answer:
    if hashlib.sha256(handler.content).hexdigest() != match[1]:
        raise RefusedError(400, "BadRequest", "the content is not what its name says")
    handler.hub.blobs[match[1]] = handler.content
    return Answer(b"", {"ETag": '"uploaded"'})


@_route("POST", r"/api/datasets/([^/]+/[^/]+)/commit/(.+)")
def _commit(handler: "Handler", match: re.Match[str]) -> Answer:
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
def _tag(handler: "Handler", match: re.Match[str]) -> Answer:
    repo, sha = handler.at(match[1], match[2])
    tag = json.loads(handler.content)["tag"]
    if tag in repo.tags:
        raise RefusedError(409, "Conflict", "Tag reference exists already")
    repo.tags[tag] = sha
    return Answer({})


@_route("DELETE", r"/api/datasets/([^/]+/[^/]+)/tag/(.+)")
def _untag(handler: "Handler", match: re.Match[str]) -> Answer:
    if handler.repo(match[1]).tags.pop(match[2], None) is None:
        raise RefusedError(404, "RevisionNotFound", f"Invalid rev id: {match[2]}")
    return Answer({})
