"""Publishing end to end on the fake Hub: what is sent, what is refused, what comes back."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from oruk_leaderboard import __version__
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import HubError
from oruk_leaderboard.hub import evals
from oruk_leaderboard.hub.client import Hub
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.release import publication
from oruk_leaderboard.release.build import build
from oruk_leaderboard.table.arrow import read_table
from tests.fake_hub import TOKEN, FakeHub
from tests.phases import Phases
from tests.table_configs import CONFIG

REPO = "oruk/oruk-bench-leaderboard"
TAG = f"v{__version__}"
STALE = publication._stale
CARD = "---\nconfigs:\n- config_name: default\n  default: true\n  data_files: data/leaderboard.parquet\n---\n"


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    return subprocess.run(["git", "-C", root, *who, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A built and committed copy of what publishing reads, with a card that names the tables."""
    source, root = checkout_root(), tmp_path_factory.mktemp("template") / "checkout"
    names = subprocess.run(
        ["git", "-C", source, "ls-files", "-z", "-co", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, names):
        if (source / name).is_file() and not name.startswith("tests/"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, root / name)
    build(root=root)
    if not (root / "README.md").read_text().startswith("---"):
        (root / "README.md").write_text(CARD)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "all")
    return root


@pytest.fixture
def checkout(template, tmp_path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "checkout"))


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    # A check takes as long as a build; the tests about it put it back.
    monkeypatch.setattr(publication, "_stale", lambda root, progress: None)
    with FakeHub() as fake:
        fake.create(REPO, {".gitattributes": b"*.parquet filter=lfs\n"})
        yield fake


def push(hub: FakeHub, root: Path, **options):
    return publication.publish(root=root, endpoint=hub.url, **{"token": TOKEN, **options})


def at_fake_hub(monkeypatch, hub: FakeHub, root: Path) -> None:
    """Let the command, which takes neither an address nor a folder, use this Hub and this checkout."""
    monkeypatch.setattr(publication, "Hub", lambda repo, endpoint, token: Hub(repo, endpoint=hub.url, token=token))
    monkeypatch.setattr(publication, "checkout_root", lambda: root)


def tracked(root: Path) -> dict[str, bytes]:
    names = set(git(root, "ls-files").splitlines()) - set(evals.held_back())
    return {name: (root / name).read_bytes() for name in names}


def commits(hub: FakeHub) -> list[set[str]]:
    """Paths that each commit request sent."""
    bodies = [body for request, body in zip(hub.requests, hub.bodies, strict=True) if "/commit/" in request]
    return [{json.loads(line)["value"].get("path") for line in body.splitlines()} - {None} for body in bodies]


def test_dry_run_lists_exactly_what_would_change_and_sends_nothing(hub, checkout):
    files = tracked(checkout)
    plan = push(hub, checkout, dry_run=True, token=None)
    assert set(plan.added) == set(files)
    assert (plan.updated, plan.unchanged, plan.revision, plan.kept) == ((), 0, None, ())
    assert all(request.startswith(("GET", "HEAD")) for request in hub.requests)
    old = {**files, "LICENSE": b"old", "notes.txt": b"only there"}
    hub.create(REPO, {name: content for name, content in old.items() if name != "pyproject.toml"})
    plan = push(hub, checkout, dry_run=True, token=None)
    assert (plan.added, plan.updated, plan.kept) == (("pyproject.toml",), ("LICENSE",), ("notes.txt",))
    assert plan.unchanged == len(files) - 2


def test_publish_sends_one_commit_with_the_changed_files_and_sets_the_tag(hub, checkout):
    files = tracked(checkout)
    parent = hub.create(REPO, {**files, "LICENSE": b"old", "notes.txt": b"only there"})
    seen = Phases()
    done = push(hub, checkout, progress=seen)
    assert seen.done == {"sending": (1, 1)}
    assert re.fullmatch("[0-9a-f]{40}", done.revision)
    assert (done.parent, done.updated) == (parent, ("LICENSE",))
    assert commits(hub) == [{"LICENSE"}]
    assert hub.head(REPO) == {**files, "notes.txt": b"only there"}
    assert hub.repos[REPO].tags == {TAG: done.revision}
    again = push(hub, checkout)
    assert again.revision == done.revision
    assert len(commits(hub)) == 1


def test_what_is_published_comes_back_equal_by_name_tag_sha_and_stream(hub, checkout, tmp_path):
    done = push(hub, checkout)
    hub.create(REPO, {**hub.head(REPO), "later.txt": b"a later commit"})
    home = tmp_path / "home"
    home.mkdir()
    code = f"""
import json
from datasets import load_dataset
def rows(**options):
    found = load_dataset({REPO!r}, **options)
    return [dict(row) for row in found[next(iter(found))]]
print(json.dumps([rows(), rows(revision={TAG!r}), rows(revision={done.revision!r}), rows(streaming=True)]))
"""
    expected = read_table(CONFIG["default"], checkout).to_pylist()
    assert expected
    assert hub.run(code, home) == [expected] * 4


def test_dirty_checkout_is_refused(hub, checkout):
    (checkout / "LICENSE").write_text("changed")
    with pytest.raises(HubError, match=r"differ from the last commit.*LICENSE") as refused:
        push(hub, checkout)
    assert "commit them" not in str(refused.value)
    assert hub.requests == []
    plan = push(hub, checkout, dry_run=True)
    assert "LICENSE" in plan.blocked and "LICENSE" in plan.added


def test_stale_build_is_refused(hub, checkout, monkeypatch):
    monkeypatch.setattr(publication, "_stale", STALE)
    (checkout / "data/leaderboard.parquet").unlink()
    git(checkout, "commit", "--quiet", "--all", "--message", "forgot to build")
    with pytest.raises(HubError, match=r"data/leaderboard\.parquet.*oruk-leaderboard build"):
        push(hub, checkout)
    assert hub.requests == []


def test_not_a_checkout(hub, tmp_path):
    with pytest.raises(HubError, match="needs a git checkout"):
        push(hub, tmp_path)


def test_stale_parent_is_refused_and_writes_nothing(hub, checkout, monkeypatch):
    monkeypatch.setattr(publication, "_lost_systems", lambda *_: hub.create(REPO, {"theirs.txt": b"1"}) and None)
    with pytest.raises(HubError, match="somebody else has pushed"):
        push(hub, checkout)
    assert hub.head(REPO) == {"theirs.txt": b"1"}
    assert hub.repos[REPO].tags == {}


def test_existing_tag_never_moves(hub, checkout, monkeypatch, capsys):
    first = push(hub, checkout).revision
    hub.create(REPO, {**hub.head(REPO), "later.txt": b"2"})
    assert push(hub, checkout).revision == first
    (checkout / "LICENSE").write_text("another text")
    git(checkout, "commit", "--quiet", "--all", "--message", "licence")
    with pytest.raises(HubError, match=rf"{TAG} exists with other files, and tags are never moved.*raise the version"):
        push(hub, checkout)
    hub.create(REPO, {**tracked(checkout), "other.txt": b"2"})
    with pytest.raises(HubError, match="tags are never moved"):
        push(hub, checkout)
    assert hub.repos[REPO].tags == {TAG: first}
    assert len(commits(hub)) == 1
    plan = push(hub, checkout, dry_run=True)
    assert (plan.updated, plan.revision) == ((), None)
    assert "never moved" in plan.blocked
    at_fake_hub(monkeypatch, hub, checkout)
    assert main(["publish", "--dry-run", "--repo", REPO]) == 1
    assert "blocked: " in capsys.readouterr().out


def test_tag_set_by_somebody_else_in_the_meantime(hub, checkout, monkeypatch):
    repo = hub.repos[REPO]
    monkeypatch.setattr(publication, "_lost_systems", lambda *_: repo.tags.update({TAG: repo.branches["main"]}))
    with pytest.raises(HubError, match="409"):
        push(hub, checkout)


def test_missing_repository_revision_token_and_name(hub, checkout):
    with pytest.raises(HubError, match="no such data set on the Hub"):
        push(hub, checkout, repo="oruk/nothing")
    with pytest.raises(HubError, match="not a repository name"):
        push(hub, checkout, repo="a/b/c")
    with pytest.raises(HubError, match="no token"):
        push(hub, checkout, token=None)
    assert commits(hub) == []


@pytest.mark.parametrize("said", ["Invalid credentials in Authorization header", "User Access Token is expired"])
def test_expired_token_is_told_and_never_printed(hub, checkout, monkeypatch, capsys, said):
    hub.expire(said=said)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    at_fake_hub(monkeypatch, hub, checkout)
    assert main(["publish", "--repo", REPO]) == 2
    shown = capsys.readouterr()
    assert "token is not accepted" in shown.err
    assert TOKEN not in shown.out + shown.err


def test_command_prints_the_revision_to_cite(hub, checkout, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    at_fake_hub(monkeypatch, hub, checkout)
    monkeypatch.setattr(publication, "_stale", STALE)
    assert main(["publish", "--dry-run", "--repo", REPO]) == 0
    assert "add     LICENSE" in capsys.readouterr().out
    assert main(["publish", "--repo", REPO, "--json"]) == 0
    shown = capsys.readouterr()
    revision = json.loads(shown.out)["revision"]
    assert hub.repos[REPO].tags == {TAG: revision}
    assert TOKEN not in shown.out + shown.err
    assert main(["publish", "--repo", REPO]) == 0
    assert f"{TAG} is revision {revision}" in capsys.readouterr().out


def test_card_that_the_hub_refuses(hub, checkout):
    hub.card_errors = ['"task_categories" must be one of']
    with pytest.raises(HubError, match=r"refuses what would be sent.*task_categories"):
        push(hub, checkout)
    assert commits(hub) == []


def test_cut_connection_is_resumed_without_a_second_commit(hub, checkout):
    hub.cut("POST .*/commit/", times=1)
    with pytest.raises(HubError, match="connection ended"):
        push(hub, checkout)
    assert hub.repos[REPO].tags == {}
    done = push(hub, checkout)
    assert len(commits(hub)) == 1
    assert hub.repos[REPO].tags == {TAG: done.revision}
    assert {**hub.head(REPO)}.items() >= tracked(checkout).items()


def test_nobody_listens(checkout):
    with FakeHub() as gone:
        address = gone.url
    with pytest.raises(HubError, match="cannot be reached"):
        publication.publish(root=checkout, endpoint=address, token=TOKEN)
