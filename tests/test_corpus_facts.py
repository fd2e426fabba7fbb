"""Facts in the corpus specs: authors, licences that do not contradict each other, and examples made up by us."""

import re

import pytest

from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.corpora.suffixes import MEDIA
from oruk_leaderboard.manifest import load_manifest

SPECS = built_in()
BOUND = [spec for spec in SPECS.values() if spec.agreement_required is not False]

MADE_TEXTS = {"Made text.", "例子"}
"""Transcripts of examples of corpora under an agreement; each is ours."""

REVIEWED = {
    "cmu_mosei": "video madevideo01 does not exist",
    "iemocap": "turn M999 does not exist; values 1, 2, 3",
    "m3ed": "turn 999 does not exist; the text is the word for example",
    "mer2023": "samples 99999998 and 99999999 do not exist",
    "msp_improv": "FM99 does not exist; values 1, 2, 3",
    "msp_podcast": "recording 9999 does not exist; values 1, 2, 3",
    "nnime": "session 99 does not exist; values 1, 2",
}
"""Corpora under an agreement whose example has annotation lines, and why these are not real ones."""


def annotations(spec):
    """Files of an example that are not sound."""
    return {name: text for name, text in spec.example["tree"].items() if not name.lower().endswith(tuple(MEDIA))}


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.id)
def test_every_citation_names_an_author(spec):
    assert re.search(r"\bauthor\s*=\s*\{[^}]", spec.citation), spec.citation


@pytest.mark.parametrize("spec", BOUND, ids=lambda spec: spec.id)
def test_a_corpus_under_an_agreement_is_not_called_open(spec):
    assert not spec.obtain.startswith("open")


def test_examples_of_corpora_under_an_agreement_quote_no_annotation():
    listed = {row.clip_id for row in load_manifest().rows}
    assert {spec.id for spec in BOUND if annotations(spec)} == REVIEWED.keys()
    for spec in BOUND:
        clips = spec.example["clips"]
        assert {clip["transcript"] for clip in clips if "transcript" in clip} <= MADE_TEXTS, spec.id
        if spec.id in REVIEWED:
            assert not {clip["clip_id"] for clip in clips} & listed, spec.id
