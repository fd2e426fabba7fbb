"""What calls cost, and a budget that also counts what timed out and what was in flight when a run was killed."""

import json
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from oruk_leaderboard.cli import main
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.records.system_card import Price
from oruk_leaderboard.systems import get_system, load_system, read_card, registry
from oruk_leaderboard.systems.base import Options
from oruk_leaderboard.systems.budget import (
    Budget,
    BudgetReachedError,
    Meter,
    OutOfBudgetError,
    Tokens,
    about,
    cost_of,
    most,
    price_of,
)
from tests.fake_chat import FakeChat, completion
from tests.made_corpora import rebuild, spec, tiny
from tests.test_vendors import ITEM

TOKENS = Price("2026-12-01", "a test", input=1000.0, output=2000.0, audio=4000.0, audio_tokens_per_second=10)
MINUTES = Price("2026-12-01", "a test", minute=0.6)
CARD = """name = "paid"
family = "API"
adapter = "chat"
model_id = "paid"
max_tokens = 16
source = "a test"
"""
PRICE = """[price]
date = "2026-12-01"
source = "a test"
input = 1000
output = 2000
audio_tokens_per_second = 10
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oruk_leaderboard.systems.http.FIRST_WAIT", 0.001)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paid")
    rebuild(tiny(folder, 21), spec(folder), folder / "set", layout="parquet")
    return folder / "set"


def paid_completion():
    """An answer that costs 0.12 USD at the card's price."""
    status, document, headers = completion("anger")
    return status, {**document, "usage": {"prompt_tokens": 100, "completion_tokens": 10}}, headers


def test_cost_of_a_call() -> None:
    assert cost_of(TOKENS, Tokens(100, 20, 10), 2.0) == pytest.approx(0.1 + 0.08 + 0.02)
    assert cost_of(replace(TOKENS, audio=None), Tokens(100, 20, 10), 2.0) == pytest.approx(0.14)
    assert cost_of(TOKENS, None, 2.0) is None
    # Charged by the started second.
    assert cost_of(MINUTES, None, 1.2) == pytest.approx(0.6 * 2 / 60)
    # One token per byte at most: UTF-8 of Chinese has three bytes per character.
    assert most(TOKENS, text="怒怒", seconds=1.0, max_tokens=16) == pytest.approx(
        (1006 * 1000 + 10 * 4000 + 16 * 2000) / 1e6
    )
    assert about(TOKENS, characters=400, seconds=1.0) < most(TOKENS, text="x" * 400, seconds=1.0, max_tokens=16)


def test_every_price_of_a_card_has_a_date_and_a_source_and_can_be_kept() -> None:
    priced = [card for card in registry().values() if card.price is not None]
    assert len(priced) >= 6
    for card in priced:
        assert price_of(card, hears=card.family != "text only").source.startswith("https://"), card.id


def test_a_reservation_waits_for_calls_in_flight_and_then_ends_the_run() -> None:
    budget = Budget(1.0)
    budget.reserve(0.6)
    done = threading.Event()
    other = threading.Thread(target=lambda: (budget.reserve(0.6), done.set()))
    other.start()
    assert not done.wait(0.05)
    budget.settle(0.6, 0.1)
    other.join(5)
    assert done.is_set()
    budget.settle(0.6, 0.5)
    with pytest.raises(BudgetReachedError, match=r"used up.*0\.600000 USD spent.*larger budget"):
        budget.reserve(0.6)
    Budget(None).reserve(1e9)


def test_an_attempt_without_a_response_counts_in_full() -> None:
    budget = Budget(1.0)
    meter = Meter(budget, 0.3, "c/1")
    meter.sent()
    meter.sent()
    meter.answered()
    assert meter.close(0.05) == pytest.approx(0.35) and budget.spent == pytest.approx(0.35)
    meter = Meter(budget, 0.3, "c/2")
    meter.sent()
    meter.sent()
    with pytest.raises(OutOfBudgetError):
        meter.sent()
    assert meter.close(0.0) == pytest.approx(0.6) and budget.spent == pytest.approx(0.95)


def test_what_a_killed_run_left_in_flight_counts(tmp_path: Path) -> None:
    receipts, journal = tmp_path / "r.jsonl", tmp_path / "c.jsonl"
    first = Budget(10.0)
    first.go_on(receipts, journal)
    for clip in ("c/1", "c/2", "c/2"):
        first.note(clip, 0.5)
    # c/1 has a receipt with its true cost; of the two attempts at c/2 nothing came back before the kill.
    receipts.write_text(json.dumps({"clip_id": "c/1", "attempt": 1, "http_status": 200, "cost": 0.125}) + "\n")
    again = Budget(10.0)
    again.go_on(receipts, journal)
    assert again.spent == pytest.approx(0.125 + 1.0)
    receipts.write_text(json.dumps({"clip_id": "c/1", "attempt": 1, "http_status": 200, "cost": None}) + "\n")
    with pytest.raises(OrukError, match="earlier receipts state no cost"):
        Budget(10.0).go_on(receipts, journal)


def test_a_journal_that_a_kill_cut_off_is_read(tmp_path: Path) -> None:
    journal = tmp_path / "c.jsonl"
    journal.write_text('{"clip_id": "c/1", "most_usd": 0.5}\n{"clip_id": "c/2", "mo')
    budget = Budget(10.0)
    budget.go_on(tmp_path / "r.jsonl", journal)
    budget.note("c/3", 0.25)
    again = Budget(10.0)
    again.go_on(tmp_path / "r.jsonl", journal)
    assert (budget.spent, again.spent) == (0.5, 0.75)


@pytest.mark.parametrize("change", [("date = ", "day = "), ("output = 2000\n", ""), ("input", "minute = 1\ninput")])
def test_prices_that_the_schema_refuses(change: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "paid.toml").write_text(CARD + PRICE.replace(*change))
    with pytest.raises(OrukError, match=r"breaks system\.schema\.json.*price"):
        read_card(tmp_path / "paid.toml")


def test_a_timeout_is_paid_for(tmp_path: Path) -> None:
    (tmp_path / "paid.toml").write_text(CARD + PRICE)
    card = read_card(tmp_path / "paid.toml")

    def decide(number, body):
        if number == 1:
            time.sleep(0.6)
        return paid_completion()

    with FakeChat(decide) as server:
        loaded = load_system(card, Options(endpoint=server.url, timeout=0.3, budget=Budget(100.0)))
        [answer] = loaded.predict([ITEM])
        loaded.close()
    bound = most(card.price, text=loaded.words(ITEM), seconds=1.5, max_tokens=16)
    assert (answer.status, answer.call.attempt) == ("ok", 2)
    assert answer.call.cost == pytest.approx(bound + 0.12) and loaded.budget.spent == pytest.approx(bound + 0.12)


def test_a_run_stops_at_its_budget_and_goes_on_with_a_larger_one(
    clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "paid.toml").write_text(CARD + PRICE)
    out = tmp_path / "run" / "p.csv"
    command = ["run", str(tmp_path / "paid.toml"), "--clips", str(clips), "--out", str(out)]
    with FakeChat(lambda number, body: paid_completion()) as server:
        command += ["--endpoint", server.url]
        assert main([*command, "--dry-run"]) == 0
        assert "USD without a model's reasoning, at most" in capsys.readouterr().out
        assert main([*command, "--budget", "3"]) == 1
        stopped, told = len(server.requests), capsys.readouterr().err
        assert "the budget is used up" in told and "answers are kept" in told
        assert 0 < stopped < 21 and not out.exists()
        receipts = [json.loads(line) for line in Path(f"{out}.receipts.jsonl").read_text().splitlines()]
        assert len(receipts) == stopped and {line["cost"] for line in receipts} == {0.12}
        assert main([*command, "--budget", "3"]) == 1 and len(server.requests) == stopped
        assert main([*command, "--budget", "30"]) == 0 and len(server.requests) == 21
    assert "cost: 2.5200 USD" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("card", "options", "message"),
    [
        (CARD, [], r"paid \[price\]: no price, so a budget cannot be kept.*copy the card"),
        (CARD + PRICE.replace("audio_tokens_per_second = 10\n", ""), [], "how many tokens audio has"),
        (CARD + PRICE, ["--engine", "ray"], "belong to one process"),
        (
            CARD.replace('"API"', '"text only"') + PRICE,
            ["--transcribe-with", "whisper-1", "--transcribe-endpoint", "https://asr.example/v1"],
            "does not count what the recogniser costs",
        ),
    ],
)
def test_budgets_that_could_not_be_kept(
    card: str,
    options: list[str],
    message: str,
    clips: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", "sk-canary-0123456789")
    (tmp_path / "paid.toml").write_text(card)
    command = ["run", str(tmp_path / "paid.toml"), "--clips", str(clips), "--out", str(tmp_path / "p.csv")]
    assert main([*command, "--endpoint", "http://127.0.0.1:9/v1", "--budget", "1", *options]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_an_amount_is_needed(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        main(["run", "x", "--clips", "c", "--out", "o.csv", "--budget", "free"])
    assert "expected an amount in USD above 0" in capsys.readouterr().err


def test_a_changed_price_does_not_end_a_run(clips: Path, tmp_path: Path) -> None:
    assert get_system("gemini-gemini-2.5-flash").price is not None
    path, out = tmp_path / "paid.toml", tmp_path / "p.csv"
    command = ["run", str(path), "--clips", str(clips), "--out", str(out), "--limit"]
    with FakeChat(lambda number, body: paid_completion()) as server:
        for limit, text in (("1", CARD + PRICE), ("2", CARD + PRICE.replace("2000", "3000"))):
            path.write_text(text)
            assert main([*command, limit, "--endpoint", server.url]) == 0
        assert len(server.requests) == 2
