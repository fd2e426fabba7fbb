"""Fact sheets: one for every corpus that is read, built from spec and manifest; files of gone corpora go."""

from oruk_leaderboard.card.factsheets import FOLDER, fact_sheets, language_table
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.manifest.stats import ClipGroup


def group(name, **more):
    facts = {"clips": 10, "open": 10, "hours": 0.5, "unknown_durations": 0, "speakers": None, "hashed": 3}
    facts |= {"proven": 2, "seen_by_two": 1}
    return ClipGroup(name=name, classes={"anger": 4, "not shipped": 6}, **{**facts, **more})


def test_every_adapter_has_a_sheet(tmp_path):
    sheets = dict(fact_sheets(tmp_path, {"corpus": {"emodb": group("emodb")}}))
    assert set(sheets) == {f"{FOLDER}/{name}.md" for name in [*built_in(), "README"]}
    text = sheets[f"{FOLDER}/emodb.md"].decode()
    assert "10 clips, 0.5 h" in text
    assert "anger 4, not shipped 6" in text
    assert "| W | anger |" in text
    assert "| L | left out |" in text
    assert built_in()["emodb"].citation.strip() in text
    assert "In the manifest" not in sheets[f"{FOLDER}/ravdess.md"].decode()


def test_sheets_of_gone_corpora_are_removed(tmp_path):
    gone = tmp_path / FOLDER / "gone.md"
    gone.parent.mkdir(parents=True)
    gone.touch()
    assert dict(fact_sheets(tmp_path, {}))[f"{FOLDER}/gone.md"] is None


def test_language_table_does_not_invent_hours():
    languages = {
        "de": group("de"),
        "en": group("en", clips=20, unknown_durations=5),
        "kk": group("kk", unknown_durations=10, hours=None),
    }
    text = language_table({"all": {"all": group("all", clips=40)}, "corpus": {"a": group("a")}, "language": languages})
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert [line.split(" | ")[0] for line in lines] == ["| English (en)", "| German (de)", "| Kazakh (kk)"]
    assert [line.split(" | ")[3] for line in lines] == ["≥ 0.5", "0.5", "–"]
