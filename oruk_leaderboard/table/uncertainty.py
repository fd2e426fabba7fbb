"""The smallest possible uncertainty of figures of which only two numbers were printed.

The answers behind a published row are not available: its accuracy has Wilson's interval, which takes clips as
independent and is therefore the smallest possible one; its macro-F1 has none. Rows scored here have the interval of
their own record.
"""

from collections.abc import Mapping

from oruk_leaderboard.records.record import Record, load_composition


def clips_of(record: Record) -> int | None:
    """Clips that a published figure was computed on; None for a rebuilt set."""
    clips: dict[str, int] = load_composition()["clips"]
    return clips.get(record.scored_on)


def accuracy_interval(record: Record) -> tuple[str, str] | None:
    """Interval of the accuracy in percent, 95 %, with two decimals.

    Wilson's for a published figure: it takes the clips as independent, so the true one is wider. The record's own
    interval for a figure that was scored here; None where it has too few clusters for one.
    """
    from oruk_leaderboard.statistics import wilson

    if clips := clips_of(record):
        low, high = (float(end) for end in wilson(float(record.accuracy) / 100, clips))
    else:
        pair = ((record.evaluation or {}).get("intervals") or {}).get("accuracy")
        if pair is None:
            return None
        low, high = pair
    return f"{100 * low:.2f}", f"{100 * high:.2f}"


def close_to(members: Mapping[str, Mapping[str, Record]]) -> dict[str, list[str]]:
    """Row key to the names of the systems of its group whose accuracy it cannot be told from.

    Args:
        members: ``scored_on`` to row key to record; rows of one group are compared with each other.
    """
    return {
        key: [other.system.name for name, other in group.items() if name != key and indistinct(record, other)]
        for group in members.values()
        for key, record in group.items()
    }


def resolution() -> str:
    """How to read the intervals and the mark ≈, for the foot of a table."""
    return (
        "Smallest possible uncertainty: 95 % intervals of the accuracy (Wilson), clips taken as independent. Clips of "
        "one speaker or corpus go wrong together, so the true intervals are wider. ≈: ranks whose accuracy intervals "
        "overlap. The ranks are by macro-F1, which has no interval without the answers."
    )


def indistinct(one: Record, other: Record) -> bool:
    """Whether two rows of one ``scored_on`` value have accuracies whose intervals overlap."""
    if one.scored_on != other.scored_on:
        return False
    first, second = accuracy_interval(one), accuracy_interval(other)
    if first is None or second is None:
        return one.accuracy == other.accuracy
    return max(float(first[0]), float(second[0])) <= min(float(first[1]), float(second[1]))
