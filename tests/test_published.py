"""The literature's leaderboards: counts of the source, links, flags, offline answers."""

import csv
import json
from collections import Counter

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import get_corpus, registry
from oruk_leaderboard.corpora.index import PATH, document
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.errors import CorpusError, OrukError
from oruk_leaderboard.records.schemas import arrow_schema, check
from oruk_leaderboard.table import published
from oruk_leaderboard.table.arrow import read_table
from tests.table_configs import CONFIG

TASKS = {
    "Speech Emotion Recognition": 16,
    "Emotion Recognition in Conversation": 16,
    "Emotion Classification": 9,
    "Multimodal Emotion Recognition": 1,
}


def test_counts_of_the_source():
    boards = published.rows("leaderboards")
    assert Counter(row["task"] for row in boards) == TASKS
    assert len({row["leaderboard"] for row in boards}) == 42
    assert len({metric for row in boards for metric in row["metrics"]}) == 40
    assert sum(page["leaderboards"] for page in published.source()["pages"]) == 42 + 2
    assert sum(row["rows"] for row in boards if "/task/speech-emotion-recognition" in row["pages"]) == 48


def test_counts_of_data_sets_and_papers():
    datasets, papers = published.rows("datasets"), published.rows("papers")
    listed = Counter(task for row in datasets for task in row["tasks"])
    assert len(datasets) == 56
    assert [listed[task] for task in TASKS] == [22, 14, 27, 1]
    assert Counter(task for row in papers for task in row["tasks"]) == dict.fromkeys(list(TASKS)[:3], 30)
    assert sum(row["iemocap_rows"] > 0 for row in papers) == 65
    assert len({row["paper"] for row in papers}) == len(papers)


def test_first_rows_name_papers_that_name_them_back():
    papers = {row["paper"]: row for row in published.rows("papers")}
    for row in published.rows("leaderboards"):
        paper = papers[row["first_paper"]]
        assert row["leaderboard"] in paper["leaderboards"]
        assert (row["first_title"], row["first_date"]) == (paper["title"], paper["date"])
        assert len(row["first_metrics"]) == len(row["first_values"])
        assert set(row["first_metrics"]) <= set(row["metrics"])


def test_every_named_data_set_is_in_the_registry_with_a_state():
    known = registry()
    for row in published.rows("datasets"):
        spec = known[row["corpus"]]
        assert spec.state == "adapter" or spec.missing, row["dataset"]
        assert ("audio" in row["modalities"]) or spec.state in ("text only", "other modality")
    pages = {row["dataset"]: row["corpus"] for row in published.rows("datasets")}
    for row in published.rows("leaderboards"):
        assert row["corpus"] is None or row["corpus"] in known
        assert row["dataset_page"] is None or pages[row["dataset_page"]] == row["corpus"]


def test_errors_of_the_source_are_flagged_and_kept():
    mnist = next(row for row in published.rows("datasets") if row["dataset"] == "mnist")
    assert mnist["modalities"] == ["image"]
    assert "image" in mnist["flags"][0]
    emodb = published.leaderboards(corpus="emodb")
    assert [row["dataset"] for row in emodb] == ["EMODB", "EmoDB Dataset"]
    assert all(row["flags"] for row in emodb)


@pytest.mark.parametrize("name", ["iemocap", "IEMOCAP"])
def test_leaderboards_of_a_corpus(name):
    rows = published.leaderboards(corpus=name)
    assert [(row["task"], row["rows"]) for row in rows] == [
        ("Emotion Recognition in Conversation", 59),
        ("Emotion Recognition in Conversation", 8),
        ("Multimodal Emotion Recognition", 2),
        ("Speech Emotion Recognition", 8),
    ]
    assert rows[0]["first_values"] == ["73.95", "74.08"]


def test_unknown_names_say_what_is_known():
    with pytest.raises(CorpusError, match="iemocap"):
        published.leaderboards(corpus="iemocapp")
    with pytest.raises(OrukError, match="Speech Emotion Recognition"):
        published.leaderboards(task="speech")


@pytest.mark.parametrize("kind", published.KINDS)
def test_parquet_is_fresh_plain_and_typed(kind):
    config = CONFIG[published.KINDS[kind]]
    table = read_table(config)
    assert table.schema.equals(arrow_schema(config.schema), check_metadata=True)
    assert not table.schema.metadata
    assert table.to_pylist() == [dict(row) for row in published.rows(kind)]
    assert set(table.column("licence").to_pylist()) == {"CC-BY-SA-4.0"}


def test_command_answers_offline(capsys):
    assert main(["published", "--corpus", "iemocap", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 4
    assert main(["published", "--datasets"]) == 0
    shown = capsys.readouterr()
    assert "MNIST: image data set" in shown.out
    assert "CC BY-SA 4.0" in shown.err
    assert main(["published", "--papers", "--corpus", "iemocap"]) == 2
    assert main(["corpora", "show", "crema_d", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [board["leaderboard"] for board in shown["leaderboards"]] == ["speech-emotion-recognition-on-crema-d"]


def test_index_lines_fit_the_corpus_schema_and_are_sorted():
    with PATH.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["id"] for row in rows] == sorted({row["id"] for row in rows})
    assert not {row["id"] for row in rows} & built_in().keys()
    for row in rows:
        check(document(row), "corpus", where=row["id"])
        assert row["state"] != "adapter"
        assert row["missing"]
    assert get_corpus("berst").state == "index only"
    assert get_corpus("berst").citation.startswith("@misc{berst, title={{BERSt")


def test_all_corpora_with_what_is_missing(capsys):
    assert main(["corpora", "list", "--all", "--json"]) == 0
    listed = {item["id"]: item for item in json.loads(capsys.readouterr().out)}
    assert listed["dailydialog"]["state"] == "text only"
    assert listed["deap"]["state"] == "other modality"
    assert listed["jtes"]["missing"]
    assert main(["corpora", "list", "--json"]) == 0
    assert all(item["state"] == "adapter" for item in json.loads(capsys.readouterr().out))


def test_leaders_have_their_figures_or_none_is_claimed():
    shown = {(row["task"], row["dataset"]): published.figures(row) for row in published.rows("leaderboards")}
    assert shown["Speech Emotion Recognition", "IEMOCAP"] == "UA CV 0.7815", "the page's F1 is a placeholder"
    assert shown["Emotion Recognition in Conversation", "IEMOCAP-4"] == published.NO_FIGURE
    assert all(text == published.NO_FIGURE or any(map(str.isdigit, text)) for text in shown.values())
