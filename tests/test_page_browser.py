"""The page in headless Chromium, opened from disk.

Skipped where there is no Chromium; with ``ORUK_REQUIRE_BROWSER=1`` (as in ``.ci/run``) a missing one is a failure.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.made_records import FORMULA, HOSTILE
from tests.page_visit import PHONE, WIDE, Visit, choose, own_record


def test_first_view_ranks_each_group_on_its_own(visit: Visit) -> None:
    assert visit.names()[:2] == ["Spectra 1", "emotion2vec-plus-base"]
    ranks = visit.page.locator('tbody[data-group="subsample_5k"] .rank').all_text_contents()
    assert ranks[:4] == ["1", "2", "≈3", "≈4"]
    assert visit.page.locator("#count").inner_text() == "33 results"
    assert visit.page.locator("#mixed-warning").is_hidden()


def test_sorting_by_column_and_back(visit: Visit) -> None:
    head = visit.page.locator('th[data-sort="accuracy"]')
    head.locator("button").click()
    accuracies = [
        float(text) for text in visit.page.locator('tbody[data-group="full_set"] td.acc .figure').all_text_contents()
    ]
    assert accuracies == sorted(accuracies, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert visit.names()[-1] == "Spectra 1"
    visit.page.locator('th[data-sort="name"] button').click()
    assert visit.names() == sorted(visit.names(), key=str.lower)
    visit.page.locator('th[data-sort="parameters_m"] button').click()
    sizes = visit.page.locator('tbody[data-group="full_set"] td.size').all_text_contents()
    assert sizes[0] == "637 M" and sizes[-1] == "–", "unknown sizes come last"


def test_filters_narrow_and_clear(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("checkbox", name="API").check()
    assert page.locator("#count").inner_text() == "6 of 33 results"
    assert not visit.names()
    page.locator("#q").fill("gemini flash lite")
    assert visit.names("subsample_5k") == ["gemini-gemini-2.5-flash-lite"]
    assert page.locator('tbody[data-group="subsample_5k"] .rank').all_text_contents() == ["≈12"], (
        "rank of the whole group"
    )
    page.locator("#q").fill("no such system")
    assert page.locator("#none").is_visible()
    page.locator("#reset").click()
    assert page.locator("#count").inner_text() == "33 results"
    page.locator("#modality").select_option("transcript-only")
    assert len(visit.names("subsample_5k")) == 3
    page.locator("#modality").select_option("")
    page.locator("#size").select_option("l")
    assert len(visit.names("subsample_5k")) == 4 and not visit.names()
    page.locator("#size").select_option("")
    page.locator("#snapshot").select_option("2026-07-12")
    assert visit.names()[0] == "oruk-spectra"
    page.locator("#scored").select_option("full_set")
    assert not visit.names("subsample_5k")


def test_training_data_is_a_column_and_a_filter(visit: Visit) -> None:
    page = visit.page
    row = page.locator('tr[data-key="2026-07-12/emotion2vec-plus-seed"]')
    assert row.locator(".out").inner_text() == "26.0 %"
    page.locator("#training").select_option("stated")
    stated = visit.names()
    assert "emotion2vec-plus-seed" in stated and len(stated) == 12
    assert page.locator("#count").inner_text() == "13 of 33 results"
    page.locator("#training").select_option("nothing")
    assert visit.names() == ["sensevoice-small"]
    assert set(page.locator("tbody tr[data-key] .out").all_text_contents()) == {"unknown"}
    visit.go("#training=in-distribution&sort=outside")
    assert visit.names() == ["Spectra 1"]
    page.locator("#reset").click()
    shares = page.locator('tbody[data-group="full_set"] .out').all_text_contents()
    assert shares[-1] == "unknown", "what is unknown comes last"
    page.locator('tr[data-key="2026-07-12/emotion2vec-plus-seed"] .open').click()
    assert "16,727 of its 64,384 clips (26.0 %) are outside" in page.get_by_role("dialog").inner_text()


def test_the_question_which_is_best_is_answered_before_the_table(hostile: Visit) -> None:
    answer = hostile.page.locator("#answer")
    text = answer.inner_text()
    assert "Full set: the best macro-F1 is 0.816 (Spectra 1)" in text
    assert "cannot be tested, since published rows come without answers. They only allow accuracy" in text
    assert "Rebuilt set, open profile: the best macro-F1 is 0.9000 (rebuilt), the only row." in text
    top, board = (hostile.page.locator(name).bounding_box() for name in ("#answer", "#board"))
    assert top and board and top["y"] + top["height"] <= board["y"]


def test_one_system_with_slices_fills_its_card(hostile: Visit) -> None:
    box = hostile.page.locator("#heat").bounding_box()
    tables = [table.bounding_box() for table in hostile.page.locator("#heat-tables table").all()]
    assert box and len(tables) == 2 and all(tables)
    assert sum(table["width"] for table in tables if table) > 0.8 * box["width"]
    assert "corpus0" in hostile.page.locator("#heat-tables").inner_text()


def test_a_phone_folds_the_long_parts(browser: Any, folder: Path) -> None:
    visit = Visit(browser, folder, viewport=PHONE)
    page = visit.page
    assert page.evaluate("document.documentElement.scrollHeight") < 8000
    assert page.locator("#composition, #heat").evaluate_all("parts => parts.every((part) => !part.open)")
    assert page.locator("tr[data-key]:visible").count() == 12
    page.locator("#more-rows").click()
    assert page.locator("tr[data-key]:visible").count() == 33
    assert page.locator("#more-rows").is_hidden()
    visit.context.close()


def test_mixed_ranking_warns(visit: Visit) -> None:
    visit.page.get_by_role("switch", name="Rank both groups together").check()
    assert visit.page.locator("#mixed-warning").is_visible()
    assert len(visit.names()) == 33 and not visit.names("subsample_5k")
    ranks = [int(text) for text in visit.page.locator("tbody tr[data-key] .rank").all_text_contents()]
    assert ranks == sorted(ranks) and ranks[-1] >= 30


def test_state_is_in_the_address(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("checkbox", name="open").check()
    page.locator("#q").fill("xlsr & co=1")
    page.locator("#q").fill("xlsr")
    page.locator('th[data-sort="accuracy"] button').click()
    address = page.evaluate("location.hash")
    shown = visit.names()
    visit.go(address)
    assert visit.names() == shown and len(shown) == 6
    assert page.locator("#q").input_value() == "xlsr"
    assert page.get_by_role("checkbox", name="open").is_checked()
    visit.go("#sort=evil&scored=%3Cb%3E&row=nobody&family=none&size=huge")
    assert page.locator("#count").inner_text() == "33 results", "values it does not know are ignored"


def test_details_open_with_source_and_citation_and_give_the_focus_back(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Spectra 1").press("Enter")
    sheet = page.get_by_role("dialog", name="Spectra 1")
    assert sheet.is_visible()
    text = sheet.inner_text()
    for part in (
        "0.816",
        "77.8",
        "Rank 1 of 20",
        "in-distribution",
        "Resonance",
        "Oruk AI, dataset card",
        "@misc{",
        "Derived",
    ):
        assert part in text
    assert "null" not in text and "undefined" not in text
    assert page.evaluate("location.hash") == "#row=2026-09-06/spectra-1"
    page.keyboard.press("Escape")
    assert sheet.is_hidden()
    assert page.evaluate("document.activeElement.textContent") == "Spectra 1"
    visit.go("#row=2026-07-12/openai_gpt-audio-mini")
    visit.go("#row=2026-07-12/emotion2vec-plus-base")
    assert "Interval of accuracy overlaps with: emotion2vec-plus-" in page.get_by_role("dialog").inner_text()
    visit.go("#row=2026-07-12/openai_gpt-audio-mini")
    assert "473" in page.get_by_role("dialog").inner_text()


def test_comparison_names_what_differs(visit: Visit) -> None:
    page = visit.page
    visit.go("#a=2026-09-06/spectra-1&b=2026-07-12/audiollm-emotionthinker")
    text = page.locator("#versus").inner_text()
    assert "different sets" in text and "in-distribution" in text
    page.locator("#first").select_option("2026-07-12/emotion2vec-plus-base")
    page.locator("#second").select_option("2026-07-12/emotion2vec-plus-seed")
    text = page.locator("#versus").inner_text()
    assert "+0.0031" in text and "−0.17" in text and "different sets" not in text
    assert "Intervals of accuracy overlap" in text
    assert "a=2026-07-12/emotion2vec-plus-base" in page.evaluate("location.hash")


def test_hostile_names_are_shown_as_text_and_quoted_in_csv(hostile: Visit) -> None:
    page = hostile.page
    assert hostile.names()[1:3] == [HOSTILE, FORMULA]
    assert page.locator("img").count() == 0
    page.get_by_role("button", name="<img").click()
    assert HOSTILE in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")
    hostile.go("#row=2026-07-12/hostile&a=2026-07-12/hostile&b=2026-07-12/formula")
    page.keyboard.press("Escape")
    assert HOSTILE in page.locator("#versus").inner_text()
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV").click()
    text = caught.value.path().read_text(encoding="utf-8")
    assert '"\'=HYPERLINK(""http://example.invalid"",""x"")"' in text
    assert '"<img src=x onerror=alert(1)></script><!-- ""&"' in text
    assert "\n-" not in text


def test_rebuilt_sets_stand_apart(hostile: Visit) -> None:
    assert hostile.names("rebuilt_open") == ["rebuilt"]
    hostile.page.get_by_role("switch").check()
    assert "rebuilt" not in hostile.names(), "never mixed with the published groups"


def test_view_is_downloaded_as_shown(visit: Visit) -> None:
    visit.page.get_by_role("checkbox", name="text only").check()
    with visit.page.expect_download() as caught:
        visit.page.get_by_role("button", name="JSON").click()
    rows = json.loads(caught.value.path().read_text(encoding="utf-8"))
    assert [row["family"] for row in rows] == ["text only"] * 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_serious(browser: Any, hostile_folder: Path, scheme: str, viewport: dict[str, int]) -> None:
    visit = Visit(browser, hostile_folder, "#mixed=1", color_scheme=scheme, viewport=viewport)
    choose(visit, own_record())
    assert visit.axe() == []
    visit.page.locator("tr.yours .open").click()
    visit.page.get_by_role("dialog").wait_for()
    assert visit.axe() == []
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no sideways scrolling"
    board = "document.getElementById('board')"
    assert visit.page.evaluate(f"{board}.scrollWidth <= {board}.parentElement.clientWidth"), "every column is in view"
    assert visit.complaints == []
    visit.context.close()


def test_keyboard_alone_reaches_table_and_details(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the table"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "table"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "open":
            break
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog").is_visible()


def test_points_say_what_they_are_fade_with_the_filters_and_open_details(visit: Visit) -> None:
    page = visit.page
    point = page.locator('#plot-size .wide .pt[data-key="2026-07-12/sensevoice-small"]')
    point.hover()
    assert page.locator("#plot-size .tip").inner_text().startswith("sensevoice-small: macro-F1 0.4689")
    page.get_by_role("checkbox", name="API").check()
    assert "off" in str(point.get_attribute("class"))
    point.click()
    assert page.get_by_role("dialog", name="sensevoice-small").is_visible()


def test_theme_and_print(visit: Visit) -> None:
    page = visit.page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Theme: dark"
    assert page.evaluate(paper) != light
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.locator("#tools").is_hidden() and page.locator("#board").is_visible()


def test_without_javascript_table_and_pictures_stand(browser: Any, folder: Path) -> None:
    visit = Visit(browser, folder, java_script_enabled=False)
    assert len(visit.names()) == 20
    assert visit.page.locator("#tools").is_hidden()
    assert visit.page.locator("#plot-size .wide svg .pt").count() == 33
    visit.context.close()
