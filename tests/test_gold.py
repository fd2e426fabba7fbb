"""Gold labels from files: attributes, clusters, digests, the CREMA-D selection."""

import numpy as np
import pytest

from oruk_leaderboard.answers.gold import encode_duration, gold_of_set, read_gold
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.protocols import gold_of_protocol, load
from oruk_leaderboard.scoring.sampling import clustering
from tests.scored import made_columns, made_set

GOLD = """clip_id,label,corpus,language,speaker,gender,duration_s
b/1,sad,b,de,1,female,1.5
b/2,Happy,b,,2,male,2
a/1,anger,a,en,1,,16
a/2,neutral,a,en,1,,
"""


def write(tmp_path, text, name="gold.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_attributes(tmp_path):
    gold = read_gold(write(tmp_path, GOLD))
    assert gold.labels.tolist() == [2, 1, 0, 6]

    def values(name):
        attribute = gold.attributes[name]
        return [attribute.values[code] for code in attribute.codes]

    assert values("language") == ["de", "unknown", "en", "en"]
    assert values("speaker") == ["b/1", "b/2", "a/1", "a/1"]
    assert values("gender") == ["female", "male", "unknown", "unknown"]
    assert values("elicitation") == ["unknown"] * 4
    assert values("duration") == ["0-2 s", "2-4 s", "8-16 s", "unknown"]


def test_digest_names_the_content_not_the_file(tmp_path):
    lines = GOLD.splitlines(keepends=True)
    one = read_gold(write(tmp_path, GOLD)).origin["gold_digest"]
    assert read_gold(write(tmp_path, "".join([lines[0], *lines[:0:-1]]), "r.csv")).origin["gold_digest"] == one
    assert read_gold(write(tmp_path, GOLD.replace("sad", "fear"), "s.csv")).origin["gold_digest"] != one


def test_speakers_are_drawn_within_corpora_by_default(tmp_path):
    lines = "clip_id,label,corpus,speaker\n" + "".join(f"a/{at},sad,a,{at % 2 or ''}\n" for at in range(4))
    gold = read_gold(write(tmp_path, lines + "b/1,fear,b,1\nb/2,fear,b,2\nb/3,fear,b,\n"))
    drawn = clustering(gold)
    # Corpus a has one known speaker, so its clips are drawn; the blank speaker of b is one cluster.
    assert {name for name in drawn.clusters.values if name.startswith("b/")} == {"b/1", "b/2", "b/unknown"}
    assert sum(name.startswith("a/*") for name in drawn.clusters.values) == 4
    assert drawn.strata.values == ("a", "b")
    assert clustering(gold, "corpus").clusters.values == ("a", "b")
    bare = read_gold(write(tmp_path, "clip_id,label\na,sad\nb,fear\n"))
    assert all("/*" in name for name in clustering(bare).clusters.values)
    with pytest.raises(PredictionError, match="no corpus"):
        clustering(bare, "corpus")
    with pytest.raises(PredictionError, match="one corpus has no spread"):
        clustering(read_gold(write(tmp_path, "clip_id,label,corpus\na,sad,c\nb,fear,c\n")), "corpus")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip_id,label\na,sad\nb,rage\n", r"gold\.csv:3: the gold label is not a class.*'rage'"),
        ("clip_id,label\na,\n", r"gold\.csv:2: the gold label is not a class"),
        ("clip_id\na\n", "column is missing; expected label"),
        ("clip_id,label\na,sad\na,sad\n", r"gold\.csv:3: the clip id is there twice"),
        ("clip_id,label,duration_s\na,sad,nan\n", r"gold\.csv:2: no duration"),
    ],
)
def test_faults_name_the_line(tmp_path, text, message):
    with pytest.raises(PredictionError, match=message):
        read_gold(write(tmp_path, text))


def test_subset_keeps_only_what_is_used(tmp_path):
    gold = read_gold(write(tmp_path, GOLD.replace(",2,male", ",,male")))
    part = gold.subset(np.array([True, False, True, False]), subsample="5k")
    assert (part.clip_ids, part.labels.tolist()) == (["b/1", "a/1"], [2, 0])
    assert part.attributes["speaker"].values == ("a/1", "b/1")
    assert part.origin["subsample"] == "5k"


def test_duration_bands_hold_their_lower_end():
    bands = encode_duration([0.0, 1.999, 2.0, 4.0, 8.0, None])
    assert [bands.values[code] for code in bands.codes] == ["0-2 s", "0-2 s", "2-4 s", "4-8 s", "8-16 s", "unknown"]


@pytest.mark.parametrize("selection", ["lo", "md", "hi"])
def test_crema_d_selection(selection):
    gold = gold_of_protocol(load(f"crema-d-ieo-{selection}"))
    assert len(gold.clip_ids) == len(set(gold.clip_ids)) == 546
    assert np.bincount(gold.labels).tolist() == [91] * 6
    drawn = clustering(gold)
    assert (len(drawn.clusters.values), drawn.strata.values) == (91, ("crema_d",))
    assert gold.classes == ("anger", "disgust", "fear", "happiness", "neutral", "sadness")
    assert "crema_d/1001_IEO_NEU_XX" in gold.clip_ids
    assert f"crema_d/1091_IEO_FEA_{selection.upper()}" in gold.clip_ids


def test_corpora_that_share_people_are_one_cluster():
    columns = made_columns(60, corpora=3)
    names = {"corpus0": "meld", "corpus1": "emorynlp", "corpus2": "emodb"}
    columns["corpus"] = [names[corpus] for corpus in columns["corpus"]]
    clusters = clustering(gold_of_set(made_set(columns)), "corpus").clusters
    assert clusters.values == ("emodb", "emorynlp+meld")
    assert [clusters.values[code] for code in clusters.codes] == [
        "emodb" if corpus == "emodb" else "emorynlp+meld" for corpus in columns["corpus"]
    ]
