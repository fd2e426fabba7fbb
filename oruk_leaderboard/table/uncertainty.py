"""How certain the figures of the table are.

The answers behind a published row are not available: its accuracy has Wilson's interval, which takes clips as
independent and is therefore the smallest possible one; its macro-F1 has none. Rows scored here have the intervals of
their own record, also for macro-F1.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

from oruk_leaderboard.records.record import PUBLISHED, Record, load_composition

Interval = tuple[str, str]
"""Lower and upper end with the digits that tables print."""


def clip_count(record: Record) -> int | None:
    """Clips that a published figure was computed on; None for a rebuilt set."""
    clips: dict[str, int] = load_composition()["clips"]
    return clips.get(record.scored_on)


def accuracy_interval(record: Record) -> Interval | None:
    """Interval of the accuracy in percent, 95 %, with two decimals.

    Wilson's for a published figure: it takes the clips as independent, so the true one is wider. The record's own
    interval for a figure that was scored here; None where it has too few clusters for one.
    """
    from oruk_leaderboard.statistics import wilson

    if clips := clip_count(record):
        low, high = (float(end) for end in wilson(float(record.accuracy) / 100, clips))
    elif (pair := _own(record, "accuracy")) is not None:
        low, high = pair
    else:
        return None
    return f"{100 * low:.2f}", f"{100 * high:.2f}"


def macro_f1_interval(record: Record) -> Interval | None:
    """The record's own 95 % interval of macro-F1 with four decimals; None for a published row."""
    pair = _own(record, "macro_f1")
    return None if pair is None else (f"{pair[0]:.4f}", f"{pair[1]:.4f}")


def _own(record: Record, metric: str) -> Sequence[float] | None:
    pair: Sequence[float] | None = ((record.evaluation or {}).get("intervals") or {}).get(metric)
    return pair


def tested_metric(record: Record) -> Literal["accuracy", "macro_f1"]:
    """The metric whose interval says what can be told apart: macro-F1, which ranks, wherever it has one."""
    return "accuracy" if record.scored_on in PUBLISHED else "macro_f1"


def interval(record: Record) -> Interval | None:
    """Interval of the metric that can be tested, or None where there is none."""
    return accuracy_interval(record) if tested_metric(record) == "accuracy" else macro_f1_interval(record)


def close_to(members: Mapping[str, Mapping[str, Record]]) -> dict[str, list[str]]:
    """Row key to the names of the systems of its group that it cannot be told from.

    Args:
        members: Group to row key to record; rows of one group are compared with each other.
    """
    return {
        key: [other.system.name for name, other in group.items() if name != key and indistinct(record, other)]
        for group in members.values()
        for key, record in group.items()
    }


def indistinct(one: Record, other: Record) -> bool:
    """Whether the intervals of two rows of one ``scored_on`` value overlap; without, whether the values are equal."""
    if one.scored_on != other.scored_on:
        return False
    first, second = interval(one), interval(other)
    if first is None or second is None:
        metric = tested_metric(one)
        return bool(getattr(one, metric) == getattr(other, metric))
    return max(float(first[0]), float(second[0])) <= min(float(first[1]), float(second[1]))


def resolution(*, published: bool) -> str:
    """How to read the intervals and the mark ≈, for the foot of a table."""
    if not published:
        return (
            "95 % intervals of macro-F1 for other speakers of the same corpora, from each record. ≈: ranks whose "
            "intervals overlap; `oruk-leaderboard compare` tests differences clip by clip, which tells more apart."
        )
    return (
        "Smallest possible uncertainty: 95 % intervals of the accuracy (Wilson), clips taken as independent. Clips of "
        "one speaker or corpus go wrong together, so the true intervals are wider. ≈: ranks whose accuracy intervals "
        "overlap. The ranks are by macro-F1, which has no interval without the answers."
    )


def leader(title: str, records: Sequence[Record]) -> str:
    """Which row of a group is best by macro-F1, and whether it is better than the second.

    The published rows give no answers, so their difference in macro-F1 cannot be tested, only that in accuracy.

    Args:
        title: Name of the group.
        records: Its records, best first.
    """
    first = records[0]
    best = f"{title}: the best macro-F1 is {first.macro_f1} ({first.system.name})"
    if len(records) == 1:
        return f"{best}, the only row."
    second = records[1]
    gap = Decimal(first.macro_f1) - Decimal(second.macro_f1)
    unlike = [record.system.name for record in (first, second) if record.system.in_distribution is True]
    caveat = f" {' and '.join(unlike)} is not like for like." if unlike else ""
    apart = not indistinct(first, second)
    if first.scored_on != second.scored_on:
        verdict = "The two were scored on different sets of clips, so that their difference is not a measurement."
    elif tested_metric(first) == "accuracy":
        verdict = (
            "Whether that is more than chance cannot be tested, since published rows come without answers. They only "
            f"allow accuracy: {first.accuracy} % and {second.accuracy} % "
            + ("differ by more than independent clips would." if apart else "cannot be told apart.")
        )
    elif (one := interval(first)) and (two := interval(second)):
        verdict = f"The 95 % intervals of macro-F1, {' to '.join(one)} and {' to '.join(two)}, " + (
            "do not overlap." if apart else "overlap; `oruk-leaderboard compare` tests the difference."
        )
    else:
        verdict = "There are too few speakers for an interval."
    return f"{best}, {gap} above the second, {second.macro_f1} ({second.system.name}). {verdict}{caveat}"
