"""The leaderboard as text, CSV, Markdown, LaTeX or JSON."""

import json
from collections.abc import Callable

from oruk_leaderboard.cells import csv_text, markdown_cell, text_table
from oruk_leaderboard.table.latex import as_latex
from oruk_leaderboard.table.leaderboard import Leaderboard, Row
from oruk_leaderboard.table.texts import footnotes, symbols, tie_cells, title

_HEADER = ("rank", "system", "family", "accuracy", "macro_f1", "scored_on")
_CSV_HEADER = (*_HEADER, "is_oruk", "like_for_like", "snapshot", "system_id", "note")
_TIES = ("95 %", "≈ ranks")


def _cells(row: Row, mark: Callable[[str], str]) -> tuple[str, str, str, str, str, str]:
    record = row.record
    name = record.system.name + "".join(map(mark, row.marks))
    return str(row.rank), name, record.system.family, record.accuracy, record.macro_f1, record.scored_on


def as_text(board: Leaderboard) -> str:
    """For a terminal: one table a group, caveats and coverage below."""
    signs = symbols(board)
    parts = [f"oruk-bench leaderboard, {title(board)}; accuracy in percent, macro-F1 0-1", *board.leaders]
    for group in board.groups:
        rows = [
            _cells(row, lambda mark: " " + signs[mark])[:5] + (tie_cells(row) if board.resolution else ())
            for row in group.rows
        ]
        header = (*_HEADER[:5], *(_TIES if board.resolution else ()))
        table = text_table(header, rows, right=("rank", "accuracy", "macro_f1"))
        parts.append(f"{group.title}\n{table}")
    parts.append("\n".join(footnotes(board)))
    parts.append(board.closing)
    return "\n\n".join(part for part in parts if part) + "\n"


def as_csv(board: Leaderboard) -> str:
    """For programs and spreadsheets: one row per system with its note, nothing else."""
    ends = (f"{board.tested}_low", f"{board.tested}_high", "close_ranks")
    header = (*_CSV_HEADER, *(ends if board.resolution else ()))
    rows = []
    for row in board.rows:
        record = row.record
        cells: list[object] = [*_cells(row, lambda mark: ""), record.system.is_oruk, row.like_for_like]
        cells += [record.snapshot, record.system.id, record.note]
        if board.resolution:
            cells += [*(row.interval or (None, None)), " ".join(map(str, row.close or ()))]
        rows.append(cells)
    return csv_text(header, rows)


def as_markdown(board: Leaderboard) -> str:
    """For documents: one table a group, caveats and coverage below."""
    signs = symbols(board)
    parts = [markdown_cell(leader) for leader in board.leaders]
    for group in board.groups:
        lines = [f"**{markdown_cell(group.title)}**, {title(board)}", ""]
        extra = "".join(f" {name} |" for name in _TIES) if board.resolution else ""
        lines.append(f"| rank | system | family | accuracy (%) | macro-F1 |{extra}")
        lines.append("|---:|:---|:---|---:|---:|" + (":---|:---|" if board.resolution else ""))
        for row in group.rows:
            rank, name, family, accuracy, macro_f1, _ = _cells(row, lambda mark: " " + signs[mark])
            extra = "".join(f" {cell} |" for cell in tie_cells(row)) if board.resolution else ""
            lines.append(f"| {rank} | {markdown_cell(name)} | {family} | {accuracy} | {macro_f1} |{extra}")
        parts.append("\n".join(lines))
    parts.append("<br>\n".join(markdown_cell(note) for note in footnotes(board)))
    parts.append(board.closing)
    return "\n\n".join(part for part in parts if part) + "\n"


def as_json(board: Leaderboard) -> str:
    """For programs: groups, caveats, coverage and warning."""
    return json.dumps(board.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Leaderboard], str]] = {
    "text": as_text,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
    "json": as_json,
}
"""Format name to renderer."""
