"""Every shipped schema is a valid one, and describes every column of the table made from it."""

import pytest
from jsonschema import Draft202012Validator

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.paths import schema_dir
from oruk_leaderboard.records.schemas import arrow_schema, check, load_schema
from oruk_leaderboard.table.configs import CONFIGS
from tests.scored import scored_record

NAMES = sorted(path.name.removesuffix(".schema.json") for path in schema_dir().glob("*.schema.json"))


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_valid(name):
    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].endswith(f"/schema/{name}.schema.json")


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_rows_are_described_column_by_column(config):
    schema = load_schema(config.schema)
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"]) == arrow_schema(config.schema).names
    assert all(len(rule["description"]) > 3 for rule in schema["properties"].values())


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"accuracy": 100.1}, "accuracy"),
        ({"macro_f1": -0.1}, "macro_f1"),
        ({"family": "closed"}, "family"),
        ({"scored_on": "rebuilt_full"}, "scored_on"),
        ({"is_oruk": True}, "is_oruk"),
        ({"note": 1}, "note"),
        ({"rank": 1}, "rank"),
    ],
)
def test_leaderboard_rows_are_checked(change, key):
    row = {
        "system": "a",
        "family": "open",
        "accuracy": 50.0,
        "macro_f1": 0.5,
        "scored_on": "full_set",
        "is_oruk": False,
        "note": None,
    }
    check(row, "leaderboard")
    with pytest.raises(RecordError, match=key):
        check({**row, **change}, "leaderboard", where="row 0")
    for column in row:
        with pytest.raises(RecordError, match=column):
            check({name: value for name, value in row.items() if name != column}, "leaderboard")


@pytest.mark.parametrize("wrong", [-1, 0.5, True, "3", None])
def test_each_number_of_a_long_list_is_checked(wrong):
    record = scored_record()
    check(record, "record")
    record["evaluation"]["confusion"]["counts"][-1][-1] = wrong
    with pytest.raises(RecordError, match=r"evaluation/confusion/counts/6/\d+: "):
        check(record, "record")
