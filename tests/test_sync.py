"""Reading the published table: a made table of 64 rows, differences, additions, conflicts, refusals."""

import csv
import io
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import HubError
from oruk_leaderboard.hub import upstream
from oruk_leaderboard.hub.client import Hub
from oruk_leaderboard.page import build_page
from oruk_leaderboard.paths import data_dir
from oruk_leaderboard.records.record import default_records, load_records
from oruk_leaderboard.records.schemas import arrow_schema
from oruk_leaderboard.release import publication
from oruk_leaderboard.table.configs import leaderboard_row
from oruk_leaderboard.table.leaderboard import coverage
from tests.fake_hub import TOKEN, FakeHub

REPO = "oruk/oruk-bench-leaderboard"
TABLE = "data/table.parquet"
CARD = f"---\nconfigs:\n- config_name: default\n  default: true\n  data_files: {TABLE}\n---\n# Table\n"


@pytest.fixture
def root(tmp_path) -> Path:
    shutil.copytree(data_dir() / "records", tmp_path / "data" / "records", ignore=shutil.ignore_patterns("rebuilt"))
    shutil.copyfile(data_dir() / "composition.json", tmp_path / "data" / "composition.json")
    return tmp_path


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with FakeHub() as fake:
        yield fake


@pytest.fixture(scope="module")
def published() -> list[dict]:
    """The 33 attested rows and 31 made ones, composed as the card says."""
    composition = json.loads((data_dir() / "composition.json").read_text())
    rows = [leaderboard_row(record) for record in default_records(load_records())]
    for family, total in composition["families"].items():
        for number in range(total - Counter(row["family"] for row in rows)[family]):
            rows.append(
                {
                    "system": f"Made {family} {number}",
                    "family": family,
                    "accuracy": 20.1 + number,
                    "macro_f1": round(0.101 + number / 100, 3),
                    "scored_on": composition["scored_on_of_family"][family],
                    "is_oruk": False,
                    "note": None,
                }
            )
    return rows


def parquet(rows, schema=None) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema or arrow_schema("leaderboard")), sink)
    return sink.getvalue()


def files(rows) -> dict[str, bytes]:
    return {"README.md": CARD.encode(), TABLE: parquet(rows)}


def read(hub: FakeHub, root: Path, **options) -> upstream.SyncReport:
    return upstream.sync(root=root, endpoint=hub.url, **options)


def changed(rows, name, **values) -> list[dict]:
    return [{**row, **values} if row["system"] == name else row for row in rows]


def test_missing_systems_become_records_of_that_revision(hub, root, published):
    sha = hub.create(REPO, files(published), tag="v2")
    hub.create(REPO, {"README.md": b"gone"})
    plan = read(hub, root, revision="v2", dry_run=True)
    assert (plan.revision, plan.rows, len(plan.added)) == (sha, 64, 31)
    assert len(load_records(root / "data" / "records")) == 35
    report = read(hub, root, revision=sha)
    assert report.added == plan.added
    assert (len(report.comparison.agree), report.comparison.conflicts, report.comparison.only_here) == (33, (), ())
    records = load_records(root / "data" / "records")
    added = [record for record in records if record.source.kind == "hub"]
    assert len(added) == 31
    assert all(record.source.reference.endswith(f"/blob/{sha}/{TABLE}") for record in added)
    made = next(record for record in added if record.system.name == "Made API 0")
    assert (made.accuracy, made.macro_f1, made.snapshot) == ("20.1", "0.101", "2026-09-06")
    assert {**leaderboard_row(made)} in published
    again = read(hub, root, revision=sha)
    assert (len(again.comparison.agree), again.added) == (64, ())


def test_the_table_built_afterwards_is_the_published_one(hub, root, published, tmp_path):
    hub.create(REPO, files(published))
    read(hub, root)
    records = load_records(root / "data" / "records")
    assert coverage(records).sentence().startswith("All 64 systems of the published table are held here (29/29 open,")
    build_page(tmp_path / "page", data=root / "data")
    assert "arrive with" not in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    rows = [leaderboard_row(record) for record in default_records(records)]
    assert sorted(rows, key=str) == sorted(published, key=str)
    assert Counter(row["scored_on"] for row in rows) == {"full_set": 30, "subsample_5k": 34}


def test_conflicts_are_shown_and_nothing_is_overwritten(hub, root, published):
    before = {path: path.read_bytes() for path in (root / "data" / "records").rglob("*.json")}
    hub.create(REPO, files(changed(published, "Spectra 1", accuracy=77.1)))
    report = read(hub, root)
    assert report.comparison.conflicts == (
        {"system": "Spectra 1", "record": "spectra-1", "differs": {"accuracy": ["77.1", "77.8"]}},
    )
    assert "Spectra 1" not in report.comparison.agree
    assert all(path.read_bytes() == content for path, content in before.items())


def test_coarser_digits_agree_and_another_name_is_recognised_by_its_figures(hub, root, published):
    rows = changed(published, "emotion2vec-plus-seed", system="emotion2vec+ seed", accuracy=68.7, macro_f1=0.68)
    rows = changed(rows, "hubert-large-superb-er", system="HuBERT large")
    rows = changed(rows, "HuBERT-large SUPERB", system="The large HuBERT")
    hub.create(REPO, files(rows))
    found = read(hub, root, dry_run=True).comparison
    assert "emotion2vec+ seed" in found.agree
    assert found.renamed == {"The large HuBERT": "hubert-large-superb-er"}
    assert (len(found.missing), found.conflicts) == (31, ())


def test_a_row_that_may_be_several_records_is_a_conflict():
    records = default_records(load_records())
    twin = next(record for record in records if record.system.family == "open")
    row = leaderboard_row(twin) | {"system": "Nobody knows"}
    other = replace(twin, system=replace(twin.system, id="other", name="Other"))
    found = upstream.compare_rows([row], [twin, other])
    assert (found.missing, found.renamed) == ((), {})
    assert found.conflicts[0]["record"] == f"{twin.system.id} or other"


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("68.69", "68.7", True),
        ("0.683", "0.6830", True),
        ("68.69", "68.6", False),
        ("0.25", "0.2", True),
        ("0.25", "0.3", True),
        ("77.6", "77.8", False),
        ("9.12", "9.13", False),
    ],
)
def test_agreement_to_the_last_common_digit(one, two, same):
    assert upstream.agree(one, two) is same


def test_composition_is_checked_before_anything_is_written(hub, root, published):
    hub.create(REPO, files(published[:-1]))
    with pytest.raises(HubError, match=r"not composed.*64 = 11 API \+ 18 audio LLM.*found 63"):
        read(hub, root)
    hub.create(REPO, files([*published[:-1], published[0]]))
    with pytest.raises(HubError, match="occurs twice"):
        read(hub, root)
    rows = changed(published, "Made API 0", scored_on="full_set")
    hub.create(REPO, files(rows))
    with pytest.raises(HubError, match=r"34 subsample_5k.*found 64 = 31 full_set"):
        read(hub, root)
    assert len(load_records(root / "data" / "records")) == 35


def test_field_types_and_schema_are_checked(hub, root, published):
    import pyarrow as pa

    text = arrow_schema("leaderboard").set(2, pa.field("accuracy", pa.string()))
    rows = [{**row, "accuracy": str(row["accuracy"])} for row in published]
    hub.create(REPO, {"README.md": CARD.encode(), TABLE: parquet(rows, text)})
    with pytest.raises(HubError, match="column accuracy has type string, expected number"):
        read(hub, root)
    for name, value, message in [("accuracy", 101.0, "101"), ("family", "closed", "closed"), ("system", "", "row 1")]:
        hub.create(REPO, files([{**published[0], name: value}, *published[1:]]))
        with pytest.raises(HubError, match=message):
            read(hub, root)
    extra = pa.schema([*arrow_schema("leaderboard"), pa.field("price", pa.float64())])
    hub.create(REPO, {"README.md": CARD.encode(), TABLE: parquet([{**row, "price": 1.0} for row in published], extra)})
    with pytest.raises(HubError, match="price"):
        read(hub, root)
    hub.create(REPO, {"README.md": CARD.encode(), TABLE: b"PAR1 cut"})
    with pytest.raises(HubError, match="cannot be read"):
        read(hub, root)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_text_tables(hub, root, published, suffix):
    if suffix == ".csv":
        sink = io.StringIO()
        writer = csv.DictWriter(sink, published[0].keys())
        writer.writeheader()
        writer.writerows(published)
        content = sink.getvalue().encode()
    else:
        content = "\n".join(json.dumps(row) for row in published).encode()
    card = CARD.replace(".parquet", suffix)
    hub.create(REPO, {"README.md": card.encode(), TABLE.replace(".parquet", suffix): content})
    assert len(read(hub, root, dry_run=True).added) == 31


@pytest.mark.parametrize(
    "card",
    [
        CARD.replace(TABLE, "data/tab*.parquet"),
        CARD.replace(f"data_files: {TABLE}", f"data_files:\n  - split: train\n    path: {TABLE}"),
        CARD.replace(f"data_files: {TABLE}", f"data_files:\n  - split: train\n    path:\n    - {TABLE}"),
        "# no front matter",
        "---\nlicense: cc-by-4.0\n---\n",
    ],
)
def test_the_table_is_found_however_the_card_names_it(hub, root, published, card):
    other = parquet([{"system": "other"}], arrow_schema("leaderboard"))[:-4] + b"PAR0"
    hub.create(REPO, {"README.md": card.encode(), TABLE: parquet(published), "data/broken.parquet": other})
    assert read(hub, root, dry_run=True).table == TABLE


def test_two_tables_that_it_could_be_are_none(hub, root, published):
    table = parquet(published)
    hub.create(REPO, {"README.md": b"# no front matter", "a.parquet": table, "b.parquet": table})
    with pytest.raises(HubError, match="no table"):
        read(hub, root)
    hub.create(REPO, {"README.md": b"---\nconfigs: [\n---\n", "a.parquet": table})
    with pytest.raises(HubError, match="cannot be read"):
        read(hub, root)


def test_missing_revision_repository_and_table(hub, root):
    hub.create(REPO, {"README.md": b"# no front matter"})
    with pytest.raises(HubError, match="no such revision"):
        read(hub, root, revision="v9")
    with pytest.raises(HubError, match="no such data set"):
        read(hub, root, repo="oruk/nothing")
    with pytest.raises(HubError, match="no table"):
        read(hub, root)


def test_expired_token_is_told(hub, root, published):
    hub.create(REPO, files(published))
    hub.expire()
    with pytest.raises(HubError, match="token is not accepted"):
        read(hub, root, token=TOKEN)


def test_download_that_is_cut_writes_nothing(hub, root, published):
    hub.create(REPO, files(published))
    hub.cut("HEAD .*table", after=0)
    hub.cut("GET .*table", after=0)
    with pytest.raises(HubError, match="connection ended"):
        read(hub, root)
    assert len(load_records(root / "data" / "records")) == 35


def test_publishing_over_systems_that_are_not_held_here_is_refused(hub, root, published):
    hub.create(REPO, files(published))
    remote = Hub(REPO, endpoint=hub.url)
    sha = remote.revision()

    def plan(*updated: str) -> publication.Publication:
        return publication.Publication(REPO, "v1.0.0", sha, (), updated, 0, (), (), {}, None, None, dry_run=True)

    for updated in (TABLE, "README.md"):
        lost = publication._lost_systems(remote, plan(updated), root)
        assert "31 systems of the Hub's table" in str(lost)
        assert "oruk-leaderboard sync" in str(lost)
    assert publication._lost_systems(remote, plan("LICENSE"), root) is None
    read(hub, root)
    assert publication._lost_systems(remote, plan(TABLE, "README.md"), root) is None


def test_command_shows_differences_and_exits_with_one_on_conflicts(hub, root, published, monkeypatch, capsys):
    monkeypatch.setattr(upstream, "Hub", lambda repo, endpoint, token: Hub(repo, endpoint=hub.url, token=token))
    monkeypatch.setattr(upstream, "checkout_root", lambda: root)
    hub.create(REPO, files(changed(published, "Spectra 1", macro_f1=0.9)))
    assert main(["sync", "--dry-run"]) == 1
    shown = capsys.readouterr().out
    assert "conflict  Spectra 1" in shown
    assert shown.count("would add") == 31
    assert main(["sync", "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["added"]) == 31
    hub.create(REPO, files(published))
    assert main(["sync"]) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"macro_f1": float("nan")}, "not a number"),
        ({"system": "made-api 1"}, "two systems would have one record"),
        ({"system": "情感"}, "makes no record.*system/id"),
        ({"system": "a" * 300}, "makes no record"),
        ({"system": "a\nb"}, "makes no record.*system/name"),
    ],
)
def test_a_row_that_makes_no_record_of_its_own_leaves_nothing_behind(hub, root, published, changes, message):
    hub.create(REPO, files(changed(published, "Made API 0", **changes)))
    with pytest.raises(HubError, match=message):
        read(hub, root)
    hub.create(REPO, files(changed(published, "Spectra 1", accuracy=float("nan"))))
    with pytest.raises(HubError, match="not a number"):
        read(hub, root)
    assert len(load_records(root / "data" / "records")) == 35


def test_a_table_that_disagrees_with_most_known_rows_is_not_taken(hub, root, published):
    hub.create(REPO, files([{**row, "accuracy": row["accuracy"] / 100} for row in published]))
    with pytest.raises(HubError, match="most rows of the published table contradict"):
        read(hub, root)
    assert len(load_records(root / "data" / "records")) == 35


def test_float_noise_reserved_names_and_marks_of_direction(hub, root, published, monkeypatch, capsys):
    monkeypatch.setattr(upstream, "Hub", lambda repo, endpoint, token: Hub(repo, endpoint=hub.url, token=token))
    monkeypatch.setattr(upstream, "checkout_root", lambda: root)
    rows = changed(published, "Made API 0", system="CON", macro_f1=0.15000000000000002)
    hub.create(REPO, files(changed(rows, "Made API 1", system="Made \u202e one")))
    assert main(["sync"]) == 0
    assert "\u202e" not in capsys.readouterr().out
    added = {record.system.id: record for record in load_records(root / "data" / "records")}
    assert added["system-con"].macro_f1 == "0.15" and added["system-con"].system.name == "CON"
