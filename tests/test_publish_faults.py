"""What publishing must never send, and what it says when the Hub or the network fails."""

import json
import subprocess
from pathlib import Path

import pytest

from oruk_leaderboard import __version__
from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import HubError
from oruk_leaderboard.hub import client
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.release import publication
from oruk_leaderboard.release.files import candidates, is_allowed
from tests.fake_hub import TOKEN, FakeHub
from tests.test_publish import REPO, TAG, at_fake_hub, checkout, commits, git, hub, push, template  # noqa: F401

pytestmark = pytest.mark.usefixtures("hub")


def write(root: Path, name: str, content: str | bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def rebuilt(root: Path, folder: str = "rebuilt") -> None:
    """What ``reconstruct`` and ``run`` leave in a clone."""
    write(root, f"{folder}/report.json", json.dumps({"report_version": "1.0.0", "digest": "a" * 64}))
    write(root, f"{folder}/README.md", "# set")
    write(root, f"{folder}/data/test-00000-of-00001.parquet", b"PAR1")
    write(root, "predictions.csv", "clip_id,label\nmade/1,anger\n")
    write(root, "predictions.csv.receipts.jsonl", "{}\n")


def test_everything_of_this_repository_is_named_by_the_allow_list():
    names = subprocess.run(
        ["git", "-C", checkout_root(), "ls-files"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert [name for name in names if not is_allowed(name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "rebuilt/data/test-00000-of-00001.parquet",
        "rebuilt/report.json",
        "predictions.csv",
        "predictions.csv.receipts.jsonl",
        "notes.md",
        "data/rebuilt/test.parquet",
        "data/clips/README.md",
        "data/mine.csv",
        "tests/voice.wav",
        "oruk_leaderboard/answers.jsonl",
        ".env",
        "docs/session.parquet",
    ],
)
def test_nothing_else_is(name):
    assert not is_allowed(name)


def test_rebuilt_clips_and_answers_are_refused_by_name(hub, checkout):  # noqa: F811
    rebuilt(checkout)
    write(checkout, "session1/Ses01F_impro01_M000.wav", b"RIFF")
    assert (push(hub, checkout, dry_run=True).blocked, commits(hub)) == (None, [])
    git(checkout, "add", "--all", "--force")
    git(checkout, "commit", "--quiet", "--message", "as one should not")
    plan = push(hub, checkout, dry_run=True)
    assert not [name for name in plan.added if name.startswith(("rebuilt/", "predictions")) or name.endswith(".wav")]
    assert {"rebuilt/report.json", "predictions.csv", "session1/Ses01F_impro01_M000.wav"} <= set(plan.left_out)
    assert candidates(checkout).private == (
        "predictions.csv",
        "predictions.csv.receipts.jsonl",
        "rebuilt/",
        "session1/Ses01F_impro01_M000.wav",
    )
    assert "rebuilt/" in plan.blocked and "agreement" in plan.blocked and "commit them" not in plan.blocked
    with pytest.raises(HubError, match=r"tracks rebuilt clips, receipts or answers.*rebuilt/"):
        push(hub, checkout)
    assert commits(hub) == []


def test_the_readme_s_own_outputs_are_ignored_by_git(checkout):  # noqa: F811
    rebuilt(checkout)
    for name in ("demo/corpora/x.wav", "neutral.csv", "record.json", "page/index.html"):
        write(checkout, name, b"x")
    assert git(checkout, "status", "--porcelain", "-uall") == ""


def test_a_dry_run_needs_neither_the_hub_nor_a_clean_checkout(hub, checkout, monkeypatch, capsys):  # noqa: F811
    write(checkout, "docs/new.md", "new")
    with FakeHub() as gone:
        address = gone.url
    plan = publication.publish(root=checkout, endpoint=address, dry_run=True)
    assert plan.parent is None and {"docs/new.md", "LICENSE"} <= set(plan.added)
    assert "docs/new.md" in plan.blocked
    monkeypatch.setattr(publication, "Hub", lambda repo, endpoint, token: client.Hub(repo, endpoint=address))
    monkeypatch.setattr(publication, "checkout_root", lambda: checkout)
    assert main(["publish", "--dry-run", "--repo", REPO]) == 1
    assert "Hub not reached" in capsys.readouterr().out
    with pytest.raises(HubError, match="differ from the last commit"):
        publication.publish(root=checkout, endpoint=address)


@pytest.mark.parametrize("status", [403, 500])
@pytest.mark.parametrize("route", ["PUT /lfs/", "POST .*/objects/batch", "POST .*/preupload/", "POST .*/commit/"])
def test_a_failed_upload_is_one_line(hub, checkout, monkeypatch, capsys, route, status):  # noqa: F811
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    hub.refuse(route, status, "made failure")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    at_fake_hub(monkeypatch, hub, checkout)
    assert main(["publish", "--repo", REPO]) == 2
    shown = capsys.readouterr()
    assert len(shown.err.strip().splitlines()) == 1 and "Traceback" not in shown.err
    assert shown.err.startswith("oruk-leaderboard: ") and hub.repos[REPO].tags == {}


def test_a_missing_tag_is_told_with_the_commit(hub, checkout):  # noqa: F811
    hub.refuse("POST .*/tag/", 500, "made failure")
    with pytest.raises(HubError, match=r"on the Hub as [0-9a-f]{40}; only the tag .* is missing.*run the same command"):
        push(hub, checkout)
    hub.refusals.clear()
    done = push(hub, checkout)
    assert (len(commits(hub)), hub.repos[REPO].tags) == (1, {TAG: done.revision})
    assert f"v{__version__}" == TAG


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured_on_every_call(hub, checkout, monkeypatch, status):  # noqa: F811
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    for route in ("GET .*/refs", "GET .*/tree/", "GET /api/datasets/oruk/[^/]*$", "POST .*/commit/", "POST .*/tag/"):
        hub.refuse(route, status, "slow down", times=1, Retry_After="7")
    done = push(hub, checkout)
    assert hub.repos[REPO].tags == {TAG: done.revision}
    assert len(waits) >= 5 and all(wait >= 7 for wait in waits)


def test_a_pause_that_is_too_long_is_told(hub, checkout, monkeypatch):  # noqa: F811
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    hub.refuse("GET .*/refs", 429, "slow down", Retry_After="86400")
    with pytest.raises(HubError, match="asks to wait 86400 s"):
        client.Hub(REPO, endpoint=hub.url).tags()


def test_retry_after_as_a_date():
    assert client._seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert client._seconds("soon") is None and client._seconds(None) is None


@pytest.mark.parametrize("said", ["Private repository storage limit reached", "You have exceeded your quota"])
def test_a_full_account_is_not_a_missing_permission(hub, checkout, said):  # noqa: F811
    hub.refuse("POST .*/commit/", 403, said)
    with pytest.raises(HubError, match="refuses more data") as refused:
        push(hub, checkout)
    assert "write access" not in str(refused.value)
    hub.refusals.clear()
    hub.refuse("POST .*/commit/", 403, "Forbidden")
    with pytest.raises(HubError, match="write access"):
        push(hub, checkout)


@pytest.mark.parametrize(
    "card",
    [
        b"---\n- a list\n---\n",
        b"---\na scalar\n---\n",
        b"---\nname: \xff\xfe\n---\n",
        b"---\nconfigs: 3\n---\n",
        b"---\nconfigs:\n- default\n---\n",
        b"---\nconfigs:\n- config_name: default\n  data_files: 5\n---\n",
        b"---\nconfigs:\n- config_name: default\n  data_files: [{split: train, path: {a: 1}}, 7]\n---\n",
        b"---\nconfigs: [\n---\n",
    ],
)
def test_a_malformed_card_on_the_hub_is_one_line(hub, checkout, monkeypatch, capsys, card):  # noqa: F811
    hub.create(REPO, {"README.md": card, "data/leaderboard.parquet": b"PAR1"})
    at_fake_hub(monkeypatch, hub, checkout)
    assert main(["publish", "--dry-run", "--repo", REPO]) == 2
    shown = capsys.readouterr()
    assert len(shown.err.strip().splitlines()) == 1 and "Traceback" not in shown.err
    assert "front matter" in shown.err
