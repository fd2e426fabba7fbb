"""What can be said of the precision of figures of which only two numbers were printed.

Of a published row we hold accuracy and macro-F1, not the answers: its accuracy has an interval, its macro-F1 has none,
and two rows can be told apart no better than the number of clips allows. Rows scored here have bootstrap intervals.
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
    bootstrap interval for a figure that was scored here.
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

    Two accuracies are close when they differ by less than the smallest difference that the set's clips would show with
    80 % power at the level 0.05.

    Args:
        members: ``scored_on`` to row key to record; rows of one group are compared with each other.
    """
    return {
        key: [other.system.name for name, other in group.items() if name != key and indistinct(record, other)]
        for group in members.values()
        for key, record in group.items()
    }


def resolution() -> str:
    """What the clips of the two published sets can resolve, in one sentence for the foot of a table."""
    from oruk_leaderboard.statistics import resolution_floor

    clips: dict[str, int] = load_composition()["clips"]
    floors = {name: 100 * resolution_floor(n, 0.5).difference for name, n in clips.items()}
    points = ", ".join(f"{floor:.1f} points on {name}" for name, floor in floors.items())
    return (
        "Intervals: 95 % of the accuracy (Wilson). ≈: ranks whose accuracy differs by less than the clips resolve "
        f"(two-sided z-test of two accuracies, errors taken as independent, 80 % power at 0.05; {points}, at 50 %). "
        "Both take clips as independent; those of one speaker or corpus go together, so the truth is wider. Macro-F1 "
        "has no interval without the answers."
    )


def indistinct(one: Record, other: Record) -> bool:
    """Whether two rows scored on the same clips have accuracies that the number of clips cannot tell apart."""
    from oruk_leaderboard.statistics import minimum_detectable_difference

    if one.scored_on != other.scored_on:
        return False
    weaker, stronger = sorted((float(one.accuracy) / 100, float(other.accuracy) / 100))
    clips = clips_of(one)
    if clips is None or not 0 < weaker < 1:
        return weaker == stronger
    return stronger - weaker < minimum_detectable_difference(clips, weaker)
