"""Facts in the corpus specs: authors, licences that do not contradict each other, and examples made up by us."""

from dataclasses import replace

import pytest

from oruk_leaderboard.corpora.contributed import unsaid
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.manifest import load_manifest

SPECS = built_in()

MADE_TEXTS = {"Made text.", "例子"}
"""Transcripts of examples of corpora under an agreement; each is ours."""


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.id)
def test_a_spec_that_ships_says_what_it_must(spec):
    assert list(unsaid(spec)) == []


def test_what_a_spec_that_ships_must_say():
    assert list(unsaid(replace(SPECS["iemocap"], citation="@misc{x, title={X}}"))) == ["the citation names no author"]
    silent = replace(SPECS["msp_podcast"], layout_source=None, obtain="open: a page")
    silent = replace(silent, table=replace(silent.table, content=None), example={"tree": {"labels.csv": "x"}})
    assert [said.partition(":")[0].split()[0] for said in unsaid(silent)] == ["no", "[table]", "obtain", "the"]


def test_examples_of_corpora_under_an_agreement_quote_no_annotation():
    listed = {row.clip_id for row in load_manifest().rows}
    reviewed = [spec for spec in SPECS.values() if "made" in spec.example]
    assert {"cmu_mosei", "iemocap", "m3ed", "mer2023", "msp_improv", "msp_podcast", "nnime"} <= {s.id for s in reviewed}
    for spec in reviewed:
        clips = spec.example["clips"]
        assert not {clip["clip_id"] for clip in clips} & listed, spec.id
        if spec.id in ("iemocap", "m3ed"):
            assert {clip["transcript"] for clip in clips if "transcript" in clip} <= MADE_TEXTS, spec.id
