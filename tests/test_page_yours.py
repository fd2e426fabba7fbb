"""A record of one's own on the page: read in the browser, placed without a rank, refused with the reason."""

import json

import pytest

from tests.made_records import HOSTILE
from tests.page_visit import Visit, choose, own_record
from tests.scored import scored_record


def test_own_record_is_placed_without_a_rank(visit: Visit) -> None:
    said = choose(visit, own_record())
    assert "6 of 20 systems" not in said and "5 of 20 systems" in said
    names = visit.names()
    assert names.index("my system") == 5, "between 0.6157 and 0.4689"
    row = visit.page.locator("tr.yours")
    assert row.locator(".rank").inner_text() == "–"
    assert "rebuilt set · unranked" in row.inner_text()
    assert visit.page.locator("#count").inner_text() == "34 results"
    assert row.locator(".acc .pm").inner_text() == "±4.00"
    assert row.locator(".f1 .pm").inner_text() == "±0.045"
    assert "0.71" in visit.page.locator("#heat-tables").inner_text()
    assert visit.page.locator(".your-point").count() == 4
    row.locator(".open").click()
    text = visit.page.get_by_role("dialog").inner_text()
    assert "not ranked" in text and "58.00 to 66.00" in text and "By class" in text
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("button", name="Remove it").click()
    assert visit.page.locator("tr.yours").count() == 0
    assert visit.page.locator("#count").inner_text() == "33 results"


def test_a_record_that_the_scorer_wrote_is_placed(visit: Visit) -> None:
    record = scored_record()
    assert f"macro-F1 {record['macro_f1']}" in choose(visit, json.dumps(record).encode())
    assert record["system"]["name"] in visit.names()
    assert "corpus1" in visit.page.locator("#heat-tables").inner_text()
    visit.page.locator("tr.yours .open").click()
    assert "By class" in visit.page.get_by_role("dialog").inner_text()


def test_record_dropped_on_the_page(visit: Visit) -> None:
    transfer = visit.page.evaluate_handle(
        """(text) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "record.json", { type: "application/json" }));
            return transfer;
        }""",
        own_record(name=HOSTILE).decode(),
    )
    visit.page.dispatch_event("#board", "dragover", {"dataTransfer": transfer})
    assert visit.page.locator("#veil").is_visible()
    visit.page.dispatch_event("#board", "drop", {"dataTransfer": transfer})
    visit.page.wait_for_selector("tr.yours")
    assert visit.page.locator("#veil").is_hidden()
    assert HOSTILE in visit.names()
    assert visit.page.locator("img").count() == 0


def test_a_record_of_odd_shape_is_shown_as_far_as_it_goes(visit: Visit) -> None:
    odd = {"n": 1, "per_class": {"anger": None, "fear": {}}, "slices": {"corpus": [None, {"value": 3}]}, "intervals": 7}
    choose(visit, own_record(evaluation=odd, failures=[1], protocol=None, source="x", scored_on="__proto__"))
    visit.page.locator("tr.yours .open").click()
    assert "not ranked" in visit.page.get_by_role("dialog").inner_text()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not json", "not JSON"),
        (b"[]", "not a record"),
        (own_record(accuracy=62.0), "accuracy"),
        (own_record(macro_f1="1.2"), "macro_f1"),
        (own_record(record_version="9.0.0"), "record_version"),
        (own_record(name="  "), "name"),
    ],
)
def test_a_file_that_is_no_record_is_refused_with_the_reason(visit: Visit, content: bytes, reason: str) -> None:
    assert reason in choose(visit, content, "broken.json")
    assert visit.page.locator("tr.yours").count() == 0
