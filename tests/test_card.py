"""The card keeps every statement of the published one, and its generated parts come from the data."""

import re

import pytest

from oruk_leaderboard import __version__
from oruk_leaderboard.card.blocks import block_names, fill
from oruk_leaderboard.card.readme import PARTS, blocks
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.records.record import load_records

ROOT = checkout_root()
STATEMENTS = {
    "table": ["64 systems", "64,384", "one implementation", "not the audio", "cannot be passed on", "equivalent"],
    "identity": [
        "Spectra 1",
        "77.8",
        "0.816",
        "Resonance",
        "4 September 2026",
        "77.6 % / 0.810",
        "not interchangeable",
    ],
    "diagnostic": [
        "7 September 2026",
        "546",
        "91 actors",
        "IEO",
        "CREMA-D",
        "denominator",
        "without an API key",
        "alias",
    ],
    "evaluation": ["about 20 languages", "acted, elicited and spontaneous", "16 kHz mono", "16 seconds", "alias table"],
    "classes": ["anger, happiness, sadness, fear, disgust, surprise, neutral", "macro-F1"],
    "composition": ["29 open", "18 audio LLMs", "11 APIs", "5 text-only", "30 were", "34 on the subsample"],
    "caveats": ["in-distribution", "zero-shot cross-corpus", "68.7 %", "0.683", "less than two points", "seed 0"],
    "results": ["0.0794", "40.9 % / 0.249", "29.5 % / 0.186", "below 0.40", "five in the published table"],
    "use": ["workplaces or education", "Article 5(1)(f)", "2 February 2025", "Recital 44", "human raters"],
    "links": ["oruk.ai/benchmarks/methodology", "demo.oruk.ai", "github.com/Oruk-AI/oruk-bench", "@misc{orukbench"],
}


@pytest.fixture(scope="module")
def card():
    """The README and the pages of ``docs/``, which are published together, on one line."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return " ".join(" ".join(page.read_text(encoding="utf-8") for page in pages).split())


@pytest.mark.parametrize("topic", STATEMENTS)
def test_statements_survive(card, topic):
    assert [text for text in STATEMENTS[topic] if text not in card] == []


def test_versions_in_the_card_are_current(card):
    assert set(re.findall(r'revision="v([\d.]+)"', card)) == {__version__}


def test_links_to_files_resolve(card):
    names = ("README.md", "CONTRIBUTING.md", "dataset_card/datasheet.md", "dataset_card/intended_use.md")
    for path in (*(ROOT / name for name in names), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), (path.name, target)


def test_generated_parts():
    found = [name for page in PARTS for name in block_names((ROOT / page).read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(blocks(ROOT, load_records(), {}))


def test_fill_replaces_only_between_markers():
    text = "a\n<!-- generated: x -->\nold\n<!-- end of generated -->\nb\n# generated: y\n# end of generated\n"
    filled = fill(text, {"x": "new\n", "y": "z = 1"}, where="f")
    assert filled == (
        "a\n<!-- generated: x -->\n\nnew\n\n<!-- end of generated -->\nb\n# generated: y\nz = 1\n# end of generated\n"
    )
    assert fill(filled, {"x": "new\n", "y": "z = 1"}, where="f") == filled
    with pytest.raises(OrukError, match="generated parts"):
        fill(text, {"x": ""}, where="f")
