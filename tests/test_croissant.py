"""croissant.json: no errors, no warnings, and the records of every config are those of its parquet file."""

import hashlib
import json
from itertools import islice

import mlcroissant
import pytest

from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.table.arrow import read_table
from oruk_leaderboard.table.configs import shipped

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The inplace keyword")  # of the reader

ROOT = checkout_root()
CONFIGS = shipped(ROOT)
MOST = 2_000
"""Records read of one config: the reference reader takes half a minute for the manifest's 64,384."""


@pytest.fixture(scope="module")
def dataset():
    return mlcroissant.Dataset(jsonld=ROOT / "croissant.json")


def test_no_errors_and_no_warnings(dataset):
    assert dataset.metadata.issues.errors == set()
    assert dataset.metadata.issues.warnings == set()


def _plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_records_of_every_config(dataset, config):
    table = read_table(config, ROOT)
    names = [f"{config.name}/{name}" for name in table.column_names]
    records = list(islice(dataset.records(config.name), MOST))
    assert len(records) == min(MOST, table.num_rows)
    assert all(list(record) == names for record in records)
    text = next(name for name in table.column_names if str(table.schema.field(name).type) == "string")
    assert {_plain(record[f"{config.name}/{text}"]) for record in records} <= set(table.column(text).to_pylist())


def test_files_are_the_shipped_ones():
    document = json.loads((ROOT / "croissant.json").read_text(encoding="utf-8"))
    assert [entry["@id"] for entry in document["distribution"]] == [config.path for config in CONFIGS]
    for entry in document["distribution"]:
        content = (ROOT / entry["contentUrl"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert entry["contentSize"] == f"{len(content)} B"


def test_responsible_ai_fields_are_filled():
    document = json.loads((ROOT / "croissant.json").read_text(encoding="utf-8"))
    for name in (
        "dataCollection",
        "dataLimitations",
        "dataBiases",
        "personalSensitiveInformation",
        "dataUseCases",
        "dataSocialImpact",
        "dataReleaseMaintenancePlan",
    ):
        assert len(document[f"rai:{name}"]) > 60
    assert "5(1)(f)" in document["rai:dataUseCases"]
