"""Words that every text format of the leaderboard shares: title, footnotes, symbols of caveats, tied ranks."""

from collections.abc import Mapping

from oruk_leaderboard.table.leaderboard import Leaderboard, Row

_SYMBOLS = "†‡§¶‖#*△▽◇"


def symbols(board: Leaderboard) -> Mapping[str, str]:
    """Mark to symbol, for the caveats that apply."""
    return dict(zip(board.caveats, _SYMBOLS, strict=False))


UNMARKED = "Rows without a mark of overlap: no source was found that names such corpora, which is not the same as none."
"""Said where rows are marked for the overlap of their training data."""


def tie_cells(row: Row) -> tuple[str, str]:
    """Interval and tied ranks; adjacent ranks as a range."""
    runs: list[list[int]] = []
    for rank in sorted(set(row.close or ())):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    close = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return "–".join(row.interval or ()), close


def title(board: Leaderboard) -> str:
    """Which rows a selection shows."""
    return f"snapshot {board.snapshot}" if board.snapshot else "newest attested figure of each system"


def footnotes(board: Leaderboard) -> list[str]:
    """What qualifies the rows shown, the caveats with their symbols first."""
    signs = symbols(board)
    notes = [f"{signs[mark]} {meaning}" for mark, meaning in board.caveats.items()]
    if board.overlap:
        notes.append(UNMARKED)
    if not board.groups:
        notes.append("No row is held here that fits.")
    if len(board.groups) > 1 and board.coverage:
        notes.append("Ranks hold within one group: full_set and subsample_5k are not interchangeable.")
    if board.warning:
        notes.append(f"Warning: {board.warning}")
    if board.resolution:
        notes.append(board.resolution)
    return notes


def sentence(text: str) -> str:
    """A clause as a sentence."""
    return text[0].upper() + text[1:] + "."
