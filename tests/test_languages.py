"""One rule for languages: counted by base language, filtered by prefix."""

import json
import re

import pytest

from oruk_leaderboard import languages
from oruk_leaderboard.card.factsheets import manifest_figures
from oruk_leaderboard.cli import main
from oruk_leaderboard.corpora import get_corpus
from oruk_leaderboard.corpora.example import build_example
from oruk_leaderboard.manifest import load_manifest
from oruk_leaderboard.page import content
from oruk_leaderboard.paths import data_dir, share_root
from tests.card_header import read_header


@pytest.mark.parametrize(
    ("tag", "wanted", "expected"),
    [
        ("en", "en", True),
        ("en-CA", "en", True),
        ("en-CA", "EN-ca", True),
        ("en", "en-CA", False),
        ("eng", "en", False),
        (None, "en", False),
    ],
)
def test_filters_match_by_prefix(tag, wanted, expected):
    assert languages.in_language(tag, wanted) is expected


def test_reconstruct_finds_the_varieties_of_a_language(tmp_path):
    build_example(get_corpus("mess"), tmp_path / "mess")
    reconstruct = ["reconstruct", "--root", str(tmp_path / "mess"), "--all-clips", "--out"]
    assert main([*reconstruct, str(tmp_path / "out"), "--language", "en"]) in (0, 1)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["clips"] > 0
    assert main([*reconstruct, str(tmp_path / "other"), "--language", "fr"]) == 2


def test_languages_are_counted_alike_everywhere(capsys):
    counted = {languages.base_language(row.language) for row in load_manifest().rows}
    readme = (share_root() / "README.md").read_text(encoding="utf-8")
    assert {int(number) for number in re.findall(r"corpora in (\d+)\s+languages", readme)} == {len(counted)}
    assert len(manifest_figures(share_root())["language"]) == len(counted)
    assert set(read_header(share_root() / "README.md")["language"]) == counted
    assert next(part for part in content.composition_of(data_dir()).parts if part.title == "Languages").known == len(
        counted
    )
    assert main(["manifest", "stats", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["language"]) == len(counted)
