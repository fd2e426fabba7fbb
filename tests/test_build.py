"""Derived tables: exact types, fresh, reproducible, absent rather than empty."""

import json
import shutil
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oruk_leaderboard.answers.gold import gold_of_set
from oruk_leaderboard.card.blocks import block_names, fill
from oruk_leaderboard.card.readme import PARTS
from oruk_leaderboard.cli import main
from oruk_leaderboard.parquet import same_table, serialize
from oruk_leaderboard.paths import checkout_root, share_root
from oruk_leaderboard.records.record import load_records, record_path, write_record
from oruk_leaderboard.records.schemas import arrow_schema, check
from oruk_leaderboard.release.build import build
from oruk_leaderboard.scoring.scorer import score
from oruk_leaderboard.table.arrow import read_table, to_table
from oruk_leaderboard.table.configs import CONFIGS
from oruk_leaderboard.table.formats import FORMATS
from oruk_leaderboard.table.leaderboard import leaderboard
from tests.card_header import read_header
from tests.phases import Phases
from tests.scored import made_predictions, made_set
from tests.table_configs import CONFIG

SHIPPED = [config for config in CONFIGS if (share_root() / config.path).is_file()]


def test_the_checkout_is_fresh():
    seen = Phases()
    assert build(check=True, progress=seen).changed == ()
    assert seen.done["building"][0] > 80


@pytest.fixture
def sources(tmp_path):
    """A repository with its sources only, the manifest aside: what is built is empty or not there."""
    root = checkout_root()
    shutil.copytree(root / "data" / "records", tmp_path / "data" / "records", ignore=shutil.ignore_patterns("rebuilt"))
    (tmp_path / "dataset_card").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "schema").mkdir()
    shutil.copy(root / "schema" / "record.schema.json", tmp_path / "schema")
    shutil.copy(root / "dataset_card" / "responsible_ai.toml", tmp_path / "dataset_card")
    for name in ("oruk_bench_leaderboard.py", "dataset_card/datasheet.md", *PARTS):
        text = (root / name).read_text(encoding="utf-8")
        emptied = fill(text, dict.fromkeys(block_names(text), ""), where=name)
        (tmp_path / name).write_text(emptied.partition("\n---\n")[2] or emptied, encoding="utf-8")
    return tmp_path


def test_build_from_nothing_gives_the_shipped_files(sources):
    tmp_path, root = sources, checkout_root()
    shutil.copytree(root / "data" / "manifest", tmp_path / "data" / "manifest")
    if (measured := root / "data" / "records" / "rebuilt").is_dir():
        shutil.copytree(measured, tmp_path / "data" / "records" / "rebuilt")
    first = build(root=tmp_path, check=True)
    assert not list(tmp_path.glob("data/*.parquet"))
    assert set(build(root=tmp_path).changed) == set(first.changed)
    assert build(root=tmp_path).changed == ()
    # The card and the Croissant file name the size or digest of parquet files, whose bytes depend on pyarrow's release.
    for name in set(first.changed) - {"README.md", "croissant.json"}:
        made, shipped = (tmp_path / name).read_bytes(), (root / name).read_bytes()
        assert same_table(made, shipped) if name.endswith(".parquet") else made == shipped, name


def test_stale_and_orphaned_files_are_found(sources):
    tmp_path = sources
    build(root=tmp_path)
    (tmp_path / "data" / "leaderboard.parquet").write_bytes(b"cut")
    orphan = tmp_path / "data" / "rebuilt.parquet"
    orphan.write_bytes(b"")
    assert build(root=tmp_path, check=True).changed == ("data/leaderboard.parquet", "data/rebuilt.parquet")
    assert orphan.exists()
    build(root=tmp_path)
    assert not orphan.exists()


def test_default_has_exactly_the_seven_fields():
    assert read_table(CONFIG["default"]).schema.equals(
        pa.schema(
            [
                ("system", pa.string()),
                ("family", pa.string()),
                ("accuracy", pa.float64()),
                ("macro_f1", pa.float64()),
                ("scored_on", pa.string()),
                ("is_oruk", pa.bool_()),
                ("note", pa.string()),
            ]
        ),
        check_metadata=True,
    )
    assert read_table(CONFIG["default"]).num_rows == 33
    assert read_table(CONFIG["snapshot-2026-07-12"]).num_rows == 32
    assert read_table(CONFIG["systems"]).num_rows == 35


@pytest.mark.parametrize("config", SHIPPED, ids=lambda config: config.name)
def test_shipped_tables_follow_their_schema(config):
    table = read_table(config)
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == {
        field.name: field.type for field in arrow_schema(config.schema)
    }
    assert not {b"huggingface", b"pandas"} & set(table.schema.metadata or {})
    assert table.num_rows > 0
    for row in table.slice(0, 200).to_pylist():
        check(row, config.schema)


def test_same_table_same_bytes():
    config = CONFIG["default"]
    rows = config.rows(load_records())
    assert serialize(to_table(config, rows)) == serialize(to_table(config, rows))
    metadata = pq.read_schema(pa.BufferReader(serialize(to_table(config, rows)))).metadata
    assert metadata is None


def test_the_first_rebuilt_record_adds_its_config_and_no_row_of_the_table(sources):
    gold = gold_of_set(made_set(partial=False))
    scored = score(made_predictions(gold), clips=None, gold=gold, n_boot=50).record
    record = replace(scored, system=replace(scored.system, id="mine", name="=mine()", family="open"))
    assert record.scored_on == "rebuilt_open"
    write_record(record, record_path(record, sources / "data" / "records"))
    build(root=sources)
    (row,) = read_table(CONFIG["rebuilt"], sources).to_pylist()
    assert (row["system_id"], row["scored_on"], row["n"]) == ("mine", "rebuilt_open", 400)
    assert row["manifest_digest"] == "b" * 64
    assert [row["macro_f1_low"], row["macro_f1_high"]] == record.evaluation["intervals"]["macro_f1"]
    assert row["macro_f1_low"] < row["macro_f1"] < row["macro_f1_high"]
    assert (row["macro_f1_low_corpora"], row["human_line"]) == (None, None), "three corpora, and no file of votes"
    assert read_table(CONFIG["default"], sources).num_rows == 33
    names = [entry["config_name"] for entry in read_header(sources / "README.md")["configs"]]
    assert "rebuilt" in names
    assert '"rebuilt": "data/rebuilt.parquet"' in (sources / "oruk_bench_leaderboard.py").read_text(encoding="utf-8")
    records = load_records(sources / "data" / "records")
    assert "mine" not in {shown.record.system.id for shown in leaderboard(records=records, mixed=True).rows}
    board = leaderboard(records=records, scored_on="rebuilt_open", ties=True)
    assert [shown.record.system.id for shown in board.rows] == ["mine"]
    for form in ("text", "markdown", "latex", "json"):
        assert "never with the published table" in FORMATS[form](board)
        assert "33 of 64" not in FORMATS[form](board)


def test_systems_keep_the_digits_the_failures_and_the_source():
    rows = {(row["snapshot"], row["system_id"]): row for row in read_table(CONFIG["systems"]).to_pylist()}
    july = rows["2026-07-12", "openai_gpt-audio-mini"]
    assert (july["accuracy_digits"], july["failures"], july["source_kind"]) == ("39.72", 473, "harness")
    assert rows["2026-07-12", "emotion2vec-plus-seed"]["failures"] is None  # the source does not say
    assert sum(row["in_default"] for row in rows.values()) == 33
    assert not rows["2026-07-12", "oruk-spectra"]["in_default"]
    assert rows["2026-07-12", "oruk-spectra"]["superseded_by"] == "spectra-1"
    card = rows["2026-09-06", "hubert-large-superb-er"]
    assert (card["parameters_m"], card["model_id"], card["hub"]) == (316.0, "superb/hubert-large-superb-er", "hf")
    assert "composition" in rows["2026-09-06", "distilhubert-superb-er"]["note"]


def test_the_verb_tells_what_is_stale(capsys, monkeypatch, sources):
    monkeypatch.setattr("oruk_leaderboard.release.build.checkout_root", lambda: sources)
    assert main(["build", "--check"]) == 1
    assert "stale  data/leaderboard.parquet" in capsys.readouterr().out
    assert main(["build", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is True
    assert main(["build", "--check"]) == 0
    assert "0 stale" in capsys.readouterr().out
