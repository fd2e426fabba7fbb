"""The registry of metrics: one entry is all that a metric needs, and what follows from the registry is up to date."""

import json
import shutil

import numpy as np
import pytest

from oruk_leaderboard import metrics
from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.card.metric_table import metric_table
from oruk_leaderboard.metrics import Margins, Metric
from oruk_leaderboard.paths import schema_dir
from oruk_leaderboard.protocols.spec import parse
from oruk_leaderboard.records import schemas
from oruk_leaderboard.release import record_schema
from oruk_leaderboard.scoring.comparison import compare
from oruk_leaderboard.scoring.comparison_formats import as_latex, as_text
from oruk_leaderboard.scoring.report import text_report
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.scoring.verification import verify
from tests.scored import made_predictions, made_set


def worst_recall(margins: Margins) -> np.ndarray:
    """Recall of the class with the lowest recall."""
    return np.min(np.divide(margins.tp, np.maximum(margins.gold, 1)), axis=-1)


@pytest.fixture
def made(monkeypatch, tmp_path):
    """A metric that only the registry knows, and the schema that `build` then writes."""
    metric = Metric(key="worst_recall", title="worst recall", function=worst_recall, recorded=True, ranks=True)
    monkeypatch.setitem(metrics.REGISTRY, metric.key, metric)
    shutil.copytree(schema_dir(), tmp_path / "schema")
    (tmp_path / record_schema.NAME).write_text(record_schema.record_schema_text(tmp_path), encoding="utf-8")
    caches = (schemas.load_schema, schemas.validator)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(schemas, "schema_dir", lambda: tmp_path / "schema")
    yield metric
    for cache in caches:
        cache.cache_clear()


def test_a_metric_is_added_by_the_registry_alone(made):
    gold = gold_of_set(made_set())
    systems = {name: made_predictions(gold, right=right) for name, right in (("good", 0.9), ("bad", 0.4))}
    result = score(systems["good"], gold=gold, n_boot=50)
    record = result.to_dict()
    confusion = metrics.confusion(gold.labels, systems["good"].labels, 7)
    expected = float(min(confusion[at, at] / confusion[at].sum() for at in range(7)))
    assert record["evaluation"]["figures"]["worst_recall"] == pytest.approx(expected, abs=1e-12)
    low, high = record["evaluation"]["intervals"]["worst_recall"]
    assert low < expected < high
    schemas.check(record, "record")
    assert verify(record).ok
    assert "worst recall" in text_report(record)
    comparison = compare(systems, gold=gold, metric="worst_recall", n_boot=50)
    assert [standing.system for standing in comparison.standings] == ["good", "bad"]
    assert "worst_recall interval" in as_text(comparison) and "Worst recall" in as_latex(comparison)
    columns = [{"name": "Worst", "figure": "worst_recall", "formula": "lowest recall"}]
    space = {"kind": "classes", "classes": ["anger", "neutral"], "space": "two"}
    parse({"name": "made", "task": "t", "dataset": "d", **space, "metrics": columns}, where="made.toml")
    assert (
        "`worst_recall` | worst recall | 0 to 1 | higher | every record; systems can be ranked by it" in metric_table()
    )


def test_the_registry_is_sound():
    for key, metric in metrics.REGISTRY.items():
        assert metric.key == key and metric.title and metric.summary.endswith((".", ":"))
        assert metric.low < metric.high
        assert metric.kind == "classes" or not (metric.recorded or metric.ranks)
        assert metric.doi is None or metric.doi.startswith("10.")
    titles = [metric.title for metric in metrics.REGISTRY.values()]
    assert len(set(titles)) == len(titles)
    assert set(metrics.ranking()) <= set(metrics.recorded())


def test_ranges_are_reached_and_not_left():
    perfect, wrong = np.eye(3) * 10, np.roll(np.eye(3), 1, axis=1) * 10
    rng = np.random.default_rng(0)
    random = rng.integers(0, 20, (200, 3, 4)).astype(float)
    for key, metric in metrics.of_kind("classes").items():
        values = metric.function(metrics.margins(random))
        assert ((metric.low <= values) & (values <= metric.high)).all(), key
        assert metric.function(metrics.margins(perfect)) == metric.high
        assert metric.function(metrics.margins(wrong)) <= 0


def test_the_record_schema_follows_the_registry():
    schema = schemas.load_schema("record")
    for name, keys in (
        ("figures", list(metrics.recorded())),
        ("ranking_figures", list(metrics.ranking())),
        ("score_figures", list(metrics.of_kind("scores"))),
        ("score_sums", ["clips", *metrics.of_kind("scores")]),
    ):
        definition = schema["$defs"][name]
        assert definition["required"] == list(definition["properties"]) == keys
        assert f"#/$defs/{name}" in json.dumps(schema)
    root = schema_dir().parent
    assert record_schema.record_schema_text(root) == (root / record_schema.NAME).read_text(encoding="utf-8")
