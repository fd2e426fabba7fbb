"""From a rebuilt set to a score: every layout, the template, the harness's order, leaderboards of the literature."""

import csv
import json

import pytest

from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.cli import main
from oruk_leaderboard.clipset import open_clipset
from tests.made_corpora import mixed, rebuild, spec


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    corpus, toml = mixed(folder, 14), spec(folder)
    for layout in ("parquet", "audiofolder", "harness"):
        rebuild(corpus, toml, folder / layout, layout=layout)
    return folder


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def filled(sets, tmp_path, capsys):
    """A template filled in with the right labels."""
    path = tmp_path / "p.csv"
    assert call(capsys, "score", "--template", path, "--clips", sets / "parquet")[0] == 0
    clips = open_clipset(sets / "parquet")
    labels = dict(zip(clips.table.column("clip_id").to_pylist(), clips.table.column("label").to_pylist(), strict=True))
    with path.open(encoding="utf-8", newline="") as file:
        ids = [row["clip_id"] for row in csv.DictReader(file)]
    assert ids == list(labels)
    path.write_text("clip_id,label\n" + "".join(f"{clip},{CLASSES[labels[clip]]}\n" for clip in ids), encoding="utf-8")
    return path


def test_every_layout_scores_alike(sets, tmp_path, capsys):
    path = filled(sets, tmp_path, capsys)
    found = []
    for layout in ("parquet", "audiofolder", "harness"):
        code, text, err = call(capsys, "score", path, "--clips", sets / layout, "--n-boot", "20", "--json")
        assert code == 0, err
        found.append(json.loads(text))
    assert found[0] == found[1] == found[2]
    evaluation = found[0]["evaluation"]
    assert evaluation["set_digest"] == open_clipset(sets / "parquet").digest
    assert evaluation["figures"]["accuracy"] == 1
    # The set is of no profile: partial, which is not a finding, and placed beside the published rows as a hint.
    assert found[0]["scored_on"] == "partial"
    code, text, _ = call(capsys, "score", path, "--clips", sets / "parquet", "--n-boot", "20")
    assert code == 0 and "Partial set, so only a hint" in text and "Partial set: it has clips of mixed only." in text


def test_leaderboard_of_the_literature(sets, tmp_path, capsys):
    path = filled(sets, tmp_path, capsys)
    name = "emotion-recognition-in-conversation-on-meld"
    gold = tmp_path / "gold.csv"
    gold.write_bytes(path.read_bytes())
    for source in (("--gold", gold), ("--clips", sets / "parquet")):
        code, text, _ = call(capsys, "score", path, *source, "--protocol", name, "--json")
        assert code == 0
        assert {metric["value"] for metric in json.loads(text)["metrics"]} == {1.0}
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    out = tmp_path / "figures.json"
    code, text, _ = call(capsys, "score", path, "--gold", gold, "--protocol", name, "--latex", "--out", out)
    assert code == 1 and r"\label{tab:oruk-columns}" in text
    assert json.loads(out.read_text())["counts"]["missing"] == 1
    code, _, err = call(capsys, "score", path, "--gold", gold, "--protocol", name, "--cluster", "clip")
    assert code == 2 and "--cluster" in err and "does not apply" in err


def test_no_set_there(tmp_path, capsys):
    code, _, err = call(capsys, "score", "--template", tmp_path / "t.csv", "--clips", tmp_path)
    assert code == 2 and "no finished set here" in err
