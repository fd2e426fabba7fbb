"""The picture of the table: every row, both themes, hostile names as text, the same bytes."""

from dataclasses import replace
from xml.etree import ElementTree

from oruk_leaderboard.card.plot import svg
from oruk_leaderboard.records.record import default_records, load_records


def _texts(document):
    return ["".join(node.itertext()) for node in ElementTree.fromstring(document).iter() if node.tag.endswith("text")]


def test_every_row_is_drawn_and_the_oruk_row_marked():
    records = load_records()
    document = svg(records)
    assert document == svg(list(reversed(records)))
    texts = _texts(document)
    for record in default_records(records):
        assert record.system.name + (" †" if record.system.is_oruk else "") in texts
    assert "prefers-color-scheme: dark" in document
    assert any("not like-for-like" in text for text in texts)


def test_hostile_and_long_names_are_text():
    record = load_records()[0]
    hostile = replace(record, system=replace(record.system, name="<script>alert(1)</script>" + "x" * 99))
    document = svg([hostile])
    assert "<script" not in document
    assert any(text.startswith("<script>") and text.endswith("…") for text in _texts(document))
