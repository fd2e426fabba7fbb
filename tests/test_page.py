"""The page as files: the same bytes every time, small, self-contained, escaped, and careful with its folder."""

import csv
import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.manifest import Manifest, ManifestRow, load_manifest
from oruk_leaderboard.manifest.files import write_parquet
from oruk_leaderboard.page import build_page, content
from oruk_leaderboard.page.render import HERE, LIMIT, NAMES
from oruk_leaderboard.records.record import Source, load_records
from tests.made_records import FORMULA, HOSTILE, a_record, add, attested
from tests.phases import Phases
from tests.scored import scored_record


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the attested records, to which tests add."""
    add(tmp_path / "data", *attested())
    return tmp_path / "data"


def test_same_data_same_bytes_and_under_the_limit(tmp_path: Path) -> None:
    one, other = build_page(tmp_path / "one"), build_page(tmp_path / "other")
    assert one.files == other.files
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes() for name in one.files)
    assert sum(one.files.values()) < LIMIT
    assert set(one.files) == NAMES


def test_every_record_is_in_the_page(tmp_path: Path) -> None:
    seen = Phases()
    page = build_page(tmp_path / "out", progress=seen)
    assert seen.done == {"making the page": (3, 3)}
    assert page.rows == len(load_records())
    html = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    state = json.loads(re.search(r'id="state">(.*?)</script>', html, re.S).group(1))  # type: ignore[union-attr]
    assert sorted((row["id"], row["snapshot"]) for row in state["rows"]) == sorted(
        (record.system.id, record.snapshot) for record in load_records()
    )


def test_policy_allows_nothing_but_the_one_script_and_style(tmp_path: Path) -> None:
    build_page(tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)  # type: ignore[union-attr]
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert not re.search(r"\sstyle=|\son[a-z]+=", html.split("<script")[0].split("</style>")[1])
    assert not re.search(r'(?:src|href)="(?:https?:)?//(?!huggingface\.co|github\.com)', html)


def test_hostile_names_are_text(data: Path, tmp_path: Path) -> None:
    add(data, a_record("hostile", name=HOSTILE, note="</script><script>alert(1)</script>"))
    add(data, a_record("formula", name=FORMULA, macro_f1="0.4999"))
    build_page(tmp_path / "out", data=data)
    html = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<img" not in html
    assert html.count("</script>") == 2, "the state and the script end where they should, and nowhere else"
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "leaderboard.csv").read_text(encoding="utf-8"))))
    assert HOSTILE in {row["name"] for row in rows}
    assert "'" + FORMULA in {row["name"] for row in rows}


def test_ranks_stay_within_group_and_view() -> None:
    rows = {row.key: row for row in content.rows_of(attested(), citation={})}
    assert rows["2026-09-06/spectra-1"].ranks["current"] == (1, 1)
    assert content.CURRENT not in rows["2026-07-12/oruk-spectra"].ranks, "superseded: only in its own snapshot"
    assert rows["2026-07-12/oruk-spectra"].ranks["2026-07-12"] == (1, 1)
    best_llm = rows["2026-07-12/audiollm-emotionthinker"].ranks["current"]
    assert best_llm[0] == 1 and best_llm[1] > 1
    for group in ("full_set", "subsample_5k"):
        ranks = sorted(
            row.ranks["current"][0] for row in rows.values() if row.group == group and "current" in row.ranks
        )
        assert ranks == list(range(1, len(ranks) + 1))


def test_precision_of_printed_figures() -> None:
    rows = {row.key: row for row in content.rows_of(attested(), citation={})}
    assert rows["2026-07-12/emotion2vec-plus-base"].accuracy_interval == ("68.16", "68.88")
    assert sorted(rows["2026-07-12/emotion2vec-plus-base"].close["current"]) == [
        "emotion2vec-plus-large",
        "emotion2vec-plus-seed",
    ]
    assert rows["2026-07-12/audiollm-emotionthinker"].close["current"] == [], "eight points above the next one"
    low, high = rows["2026-07-12/audiollm-emotionthinker"].accuracy_interval or ("", "")
    assert float(high) - float(low) > 2.5, "5,000 clips say less than 64,384"


def test_badges_name_each_caveat() -> None:
    rows = {
        row.record.system.id: [badge.kind for badge in row.badges] for row in content.rows_of(attested(), citation={})
    }
    assert rows["spectra-1"] == ["in-distribution", "historical", "card digits"]
    assert rows["anthropic_claude-opus-4-8"] == ["overlap unknown", "transcript only", "single prompt", "failures"]
    assert rows["emotion2vec-plus-base"] == ["overlap implied"]
    assert rows["emotion2vec-plus-seed"] == ["overlap stated"]


def test_badges_of_a_rebuilt_result_claim_nothing_of_the_published_evaluation() -> None:
    here = Source(kind="scored_here", attested_by="a test")
    record = a_record("mine", scored_on="partial", source=here, evaluation=scored_record()["evaluation"])
    for trained_on_it, text in ((True, "in-distribution"), (None, "overlap unknown"), (False, None)):
        system = replace(record.system, family="API", is_oruk=True, in_distribution=trained_on_it)
        badges = content.badges_of(replace(record, system=system, failures={"abstained": 2}))
        assert [badge.text for badge in badges] == [*([text] if text else []), "rebuilt set", "2 failed"]
        assert "every other row" not in badges[0].why and "neutral" not in badges[-1].why
    other = replace(record, evaluation={**record.evaluation, "set_digest": "f" * 64})
    assert len({group.id for group in content.groups_of([record, other])}) == 2, "partial sets share no clips for sure"


def test_rebuilt_results_are_a_group_of_their_own(data: Path, tmp_path: Path) -> None:
    evaluation = scored_record()["evaluation"]
    here = Source(kind="scored_here", attested_by="a test")
    add(data, a_record("mine", scored_on="rebuilt_open", source=here, evaluation=evaluation, macro_f1="0.9000"))
    records = load_records(data / "records")
    row = next(row for row in content.rows_of(records, citation={}) if row.record.system.id == "mine")
    assert row.group == "rebuilt_open:" + "b" * 12
    assert row.ranks == {"current": (1, 1)}
    group = next(group for group in content.groups_of(records) if group.id == row.group)
    assert "measured with this package: 400 clips of 3 corpora, manifest bbbbbbbbbbbb" in group.detail
    assert row.macro_f1_interval == tuple(f"{end:.4f}" for end in evaluation["intervals"]["macro_f1"])
    assert row.training == content.TrainingCell("nothing", "unknown", "Training corpora not declared.")
    system = replace(row.record.system, training_corpora=["corpus1"])
    trained = content.training_of(replace(row.record, system=system), load_manifest())
    clips = {part["value"]: part["n"] for part in evaluation["slices"]["corpus"]}
    share = 100 * (1 - clips["corpus1"] / 400)
    assert trained == content.TrainingCell("stated", f"{share:.1f} %", "Declared: corpus1.")
    assert [group.id for group in content.groups_of(records)] == ["full_set", "subsample_5k", row.group]
    build_page(tmp_path / "out", data=data)


def test_composition_counts_clips_and_hours(tmp_path: Path) -> None:
    rows = [
        ManifestRow("a/1", "a", language="en", label="anger", elicitation="acted", duration_s=3600.0),
        ManifestRow("a/2", "a", elicitation="acted", duration_s=1800.0, source_sha256="0" * 64),
        ManifestRow("b/1", "b", language="de", elicitation="spontaneous"),
    ]
    write_parquet(Manifest.of(rows, {}), tmp_path / "manifest.parquet")
    found = content.composition_of(tmp_path)
    assert found is not None
    assert (found.clips, found.timed, found.hours) == (3, 2, 1.5)
    assert found.known == (3, 1, 0, 0)
    corpora, languages, classes, _ = found.parts
    assert corpora.items == [("a", 2, 1.5), ("b", 1, None)]
    assert (languages.known, languages.items[-1]) == (2, ("not stated", 1, 0.5)), "empty cells come last, uncounted"
    assert (classes.title, classes.known, classes.items[0][:2]) == ("Classes", 1, ("anger", 1))
    assert content.composition_of(tmp_path / "nowhere") is None


def test_card_file_makes_a_static_space(tmp_path: Path) -> None:
    build_page(tmp_path / "out")
    front = yaml.safe_load((tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert front["sdk"] == "static"
    assert front["app_file"] == "index.html"
    assert len(front["short_description"]) <= 60


def test_an_earlier_page_is_written_over_and_anything_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_page(out)
    build_page(out)
    (out / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(OrukError, match=r"thesis\.tex"):
        build_page(out)
    assert main(["page", "--out", str(out)]) == 2
    with pytest.raises(OrukError, match="is a file"):
        build_page(out / "thesis.tex")


def test_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "--out", str(tmp_path / "out"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bytes"] == sum(path.stat().st_size for path in (tmp_path / "out").iterdir())
    assert main(["page", "--out", str(tmp_path / "out")]) == 0
    assert "index.html" in capsys.readouterr().out


def test_vendored_files_are_the_pinned_ones() -> None:
    sums = (HERE / "vendor" / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert sums
    for line in sums:
        digest, name = line.split()
        assert hashlib.sha256((HERE / "vendor" / name).read_bytes()).hexdigest() == digest
