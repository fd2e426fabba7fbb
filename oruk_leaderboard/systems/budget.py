"""What calls of a paid service cost, and a limit on it that also counts what is in flight and what timed out."""

import json
import math
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from oruk_leaderboard.answers.receipt_file import cut_unfinished
from oruk_leaderboard.answers.tabular import read_rows
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import writing
from oruk_leaderboard.records.system_card import Price, SystemCard

CHARACTERS_PER_TOKEN = 4
"""Of English text, on average, as OpenAI, Google and Anthropic state in their guides to tokens; only for estimates."""

ANSWER_TOKENS = 16
"""A class as JSON, rounded up; only for estimates."""

OVERHEAD_TOKENS = 1_000
"""Upper bound of what a service adds to a request: roles, separators, the schema of the answer."""


class BudgetReachedError(OrukError):
    """The next call could cost more than is left; the run ends with exit code 1 and can be continued."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one call as the service counted them.

    Attributes:
        text: Sent as text.
        audio: Sent as audio.
        output: Written, with those of its reasoning.
    """

    text: int
    audio: int
    output: int


def price_of(card: SystemCard, *, hears: bool) -> Price:
    """The price that a card states.

    Args:
        card: The system's card.
        hears: Whether audio is sent, so that its share of the cost has to be bounded before the call.

    Raises:
        OrukError: It states none, or too little to bound the cost of a call.
    """
    price = card.price
    example = "[price] with date, source and either input and output (USD per million tokens) or minute (USD)"
    if price is None:
        raise OrukError(
            "no price, so a budget cannot be kept",
            where=f"{card.id} [price]",
            expected=example,
            do="copy the card to a file of your own, add the price and run that file",
        )
    if price.minute is None and hears and price.audio_tokens_per_second is None:
        raise OrukError(
            "the price does not say how many tokens audio has",
            where=f"{card.id} [price]",
            expected="audio_tokens_per_second",
            do="copy the card to a file of your own, add it and run that file",
        )
    return price


def cost_of(price: Price, tokens: Tokens | None, seconds: float) -> float | None:
    """Cost of one answered call in USD; None where the price is per token and the service counted none.

    Args:
        price: USD per million tokens or per minute of audio.
        tokens: What the service counted, or None.
        seconds: Length of the audio that was sent, in s; charged by the started second.
    """
    if price.minute is not None:
        return price.minute * math.ceil(seconds) / 60
    if tokens is None:
        return None
    audio = price.input if price.audio is None else price.audio
    return (tokens.text * (price.input or 0) + tokens.audio * (audio or 0) + tokens.output * (price.output or 0)) / 1e6


def most(price: Price, *, text: str, seconds: float, max_tokens: int) -> float:
    """Upper bound of one call's cost in USD.

    A token is at least one byte of text, and a service writes at most ``max_tokens``.

    Args:
        price: The service's price.
        text: What is sent as text.
        seconds: Length of the audio that is sent, in s; 0 where none is.
        max_tokens: Most tokens of an answer.
    """
    sent = Tokens(len(text.encode()) + OVERHEAD_TOKENS, _audio_tokens(price, seconds), max_tokens)
    return cost_of(price, sent, seconds) or 0.0


def about(price: Price, *, characters: int, seconds: float) -> float:
    """Estimate of one call's cost in USD, without the tokens of a model's reasoning, which nothing can foretell."""
    sent = Tokens(math.ceil(characters / CHARACTERS_PER_TOKEN), _audio_tokens(price, seconds), ANSWER_TOKENS)
    return cost_of(price, sent, seconds) or 0.0


def _audio_tokens(price: Price, seconds: float) -> int:
    return math.ceil(seconds * (price.audio_tokens_per_second or 0))


def cost_in(receipts: Path) -> float:
    """What the calls of a receipts file cost, in USD; failed ones that were asked again are included."""
    return sum(float(cost or 0) for cost in read_rows(receipts).columns.get("cost", ()))


class Budget:
    """USD that may be spent; used from several threads.

    Args:
        limit: The most, in USD; None for no limit.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit, self.spent = limit, 0.0
        self._journal: Path | None = None
        self._reserved = 0.0
        self._changed = threading.Condition()

    def go_on(self, receipts: Path, journal: Path) -> None:
        """Count what earlier runs have spent, and note every attempt from now on.

        A run that was killed leaves attempts in the journal that no receipt accounts for: each may have been charged.

        Args:
            receipts: Receipts of those runs.
            journal: File of one line per attempt, beside them.

        Raises:
            OrukError: The receipts were written without a price.
        """
        settled: Counter[str] = Counter()
        if receipts.exists() and receipts.stat().st_size:
            rows = read_rows(receipts)
            nothing = [None] * rows.size
            columns = (rows.columns.get(name, nothing) for name in ("clip_id", "attempt", "cost", "http_status"))
            for clip_id, attempt, cost, status in zip(*columns, strict=True):
                settled[clip_id] += int(attempt or 0)
                if cost is None and status is not None:
                    raise OrukError(
                        "earlier receipts state no cost, so a budget cannot be kept",
                        where=receipts,
                        do="choose another --out, or start again with --restart",
                    )
                self.spent += float(cost or 0)
        with journal.open("a+b") as file:
            cut_unfinished(file)
        if journal.stat().st_size:
            rows = read_rows(journal)
            for clip_id, most_usd in zip(rows.need("clip_id"), rows.need("most_usd"), strict=True):
                settled[clip_id] -= 1
                if settled[clip_id] < 0:
                    self.spent += float(most_usd)
        self._journal = journal

    def note(self, clip_id: str, amount: float) -> None:
        """Write down that an attempt begins."""
        if self._journal is not None:
            with self._changed, writing(self._journal), self._journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"clip_id": clip_id, "most_usd": amount}) + "\n")

    def reserve(self, amount: float) -> None:
        """Set aside what a call may cost; waits while other calls may still give some of theirs back.

        Raises:
            BudgetReachedError: Too little is left and nothing is in flight.
        """
        with self._changed:
            while self._exceeded(amount):
                if self._reserved <= 0:
                    raise BudgetReachedError(
                        "the budget is used up",
                        where=f"--budget {self.limit:g}",
                        expected=f"at least {amount:.6f} USD left for the next call",
                        found=f"{self.spent:.6f} USD spent",
                        do="run the same command with a larger budget to go on; answers are kept",
                    )
                self._changed.wait()
            self._reserved += amount

    def lose(self, amount: float) -> bool:
        """Count an attempt that got no answer as paid; whether another one of that amount may be made."""
        with self._changed:
            self.spent += amount
            return not self._exceeded(0.0)

    def settle(self, reserved: float, cost: float) -> None:
        """Replace what was set aside by what the call cost."""
        with self._changed:
            self._reserved = max(0.0, self._reserved - reserved)
            self.spent += cost
            self._changed.notify_all()

    def _exceeded(self, amount: float) -> bool:
        return self.limit is not None and self.spent + self._reserved + amount > self.limit * (1 + 1e-9)


class OutOfBudgetError(Exception):
    """No further attempt of a call may be made."""


class Meter:
    """Cost of one clip over all its attempts: one without a response may have been charged, and counts in full.

    Args:
        budget: What it is paid from; the bound is set aside.
        bound: Upper bound of one attempt, in USD.
        clip_id: Which clip.

    Raises:
        BudgetReachedError: Too little is left.
    """

    def __init__(self, budget: Budget, bound: float, clip_id: str) -> None:
        budget.reserve(bound)
        self.attempts, self._clip_id = 0, clip_id
        self._budget, self._bound, self._lost, self._open = budget, bound, 0.0, False

    def sent(self) -> None:
        """An attempt begins.

        Raises:
            OutOfBudgetError: The attempt before got no response, and another one could exceed the budget.
        """
        if self._open:
            self._lost += self._bound
            self._open = False
            if not self._budget.lose(self._bound):
                raise OutOfBudgetError("the budget allows no further attempt")
        self.attempts += 1
        self._open = True
        self._budget.note(self._clip_id, self._bound)

    def answered(self) -> None:
        """The attempt got a response; error responses are not charged."""
        self._open = False

    def close(self, cost: float) -> float:
        """Settle; the cost of all attempts in USD, given that of the last response."""
        last = self._bound if self._open else cost
        self._budget.settle(self._bound, last)
        return self._lost + last
