"""The page in headless Chromium, opened from disk.

Skipped where there is no Chromium; with ``ORUK_REQUIRE_BROWSER=1`` (as in ``.ci/run``) a missing one is a failure.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oruk_leaderboard.page import build_page
from oruk_leaderboard.records.record import Source
from tests.page_visit import PHONE, WIDE, Visit
from tests.scored import scored_record
from tests.test_page import FORMULA, HOSTILE, a_record, add, attested

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "playwright is not installed"
    else:
        missing = "" if CHROMIUM.exists() else f"no browser at {CHROMIUM}: apt-get install chromium"
    if missing:
        if os.environ.get("ORUK_REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the attested records."""
    root = tmp_path_factory.mktemp("page")
    add(root / "data", *attested())
    return build_page(root / "out", data=root / "data").folder


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the attested records, two hostile ones and one that was scored on a rebuilt set."""
    root = tmp_path_factory.mktemp("hostile")
    data = root / "data"
    add(data, *attested())
    add(data, a_record("hostile", name=HOSTILE, note=HOSTILE, macro_f1="0.7000"))
    add(data, a_record("formula", name=FORMULA, macro_f1="0.6900"))
    evaluation = scored_record()["evaluation"]
    here = Source(kind="scored_here", attested_by="a test")
    add(data, a_record("rebuilt", scored_on="rebuilt_open", source=here, evaluation=evaluation, macro_f1="0.9000"))
    return build_page(root / "out", data=data).folder


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Visit]:
    visit = Visit(browser, folder)
    yield visit
    assert visit.complaints == []
    visit.context.close()


@pytest.fixture
def hostile(browser: Any, hostile_folder: Path) -> Iterator[Visit]:
    visit = Visit(browser, hostile_folder)
    yield visit
    assert visit.complaints == []
    visit.context.close()


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
    assert "Accuracy interval overlaps with: emotion2vec-plus-" in page.get_by_role("dialog").inner_text()
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
    assert "Accuracy interval overlaps" in text
    assert "a=2026-07-12/emotion2vec-plus-base" in page.evaluate("location.hash")


def own_record(**changes: Any) -> bytes:
    evaluation = {
        "n": 400,
        "set_digest": "a" * 64,
        "intervals": {"accuracy": [0.58, 0.66], "macro_f1": [0.55, 0.64]},
        "per_class": {"anger": {"precision": 0.5, "recall": 0.5, "f1": 0.5, "support": 100}},
        "slices": {"corpus": [{"value": "emo_db", "n": 300, "macro_f1": 0.71, "accuracy": 0.7}], "language": []},
    }
    record = a_record(
        "mine",
        name=str(changes.pop("name", "my system")),
        scored_on="rebuilt_open",
        source=Source(kind="scored_here", attested_by="me"),
        evaluation=evaluation,
        accuracy="62.00",
        macro_f1="0.6000",
    ).to_dict()
    return json.dumps({**record, **changes}).encode()


def choose(visit: Visit, content: bytes, name: str = "record.json") -> str:
    visit.page.locator("#file").set_input_files([{"name": name, "mimeType": "application/json", "buffer": content}])
    visit.page.wait_for_selector("#drop-result:not(:empty)")
    return str(visit.page.locator("#drop-result").inner_text())


def test_own_record_is_placed_without_a_rank(visit: Visit) -> None:
    said = choose(visit, own_record())
    assert "6 of 20 systems" not in said and "5 of 20 systems" in said
    names = visit.names()
    assert names.index("my system") == 5, "between 0.6157 and 0.4689"
    row = visit.page.locator("tr.yours")
    assert row.locator(".rank").inner_text() == "–"
    assert "rebuilt set · unranked" in row.inner_text()
    assert visit.page.locator("#count").inner_text() == "34 results"
    assert row.locator(".pm").inner_text() == "±4.00"
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
        (b"not json", "no JSON"),
        (b"[]", "no record"),
        (own_record(accuracy=62.0), "accuracy"),
        (own_record(macro_f1="1.2"), "macro_f1"),
        (own_record(record_version="9.0.0"), "record_version"),
        (own_record(name="  "), "name"),
    ],
)
def test_a_file_that_is_no_record_is_refused_with_the_reason(visit: Visit, content: bytes, reason: str) -> None:
    assert reason in choose(visit, content, "broken.json")
    assert visit.page.locator("tr.yours").count() == 0


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
