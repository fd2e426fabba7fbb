"""The leaderboard as text, CSV, Markdown, LaTeX or JSON."""

import json
from collections.abc import Callable, Mapping

from oruk_leaderboard.cells import csv_text, latex_cell, markdown_cell, text_table
from oruk_leaderboard.table.leaderboard import Leaderboard, Row

_HEADER = ("rank", "system", "family", "accuracy", "macro_f1", "scored_on")
_CSV_HEADER = (*_HEADER, "is_oruk", "like_for_like", "snapshot", "system_id", "note")
_TIES = ("95 %", "≈ ranks")
_SYMBOLS = "†‡§¶‖#*△▽◇"

UNMARKED = "Rows without a mark of overlap: no source was found that names such corpora, which is not the same as none."
"""Said where rows are marked for the overlap of their training data."""


def _symbols(board: Leaderboard) -> Mapping[str, str]:
    """Mark to symbol, for the caveats that apply."""
    return dict(zip(board.caveats, _SYMBOLS, strict=False))


def _cells(row: Row, mark: Callable[[str], str]) -> tuple[str, str, str, str, str, str]:
    record = row.record
    name = record.system.name + "".join(map(mark, row.marks))
    return str(row.rank), name, record.system.family, record.accuracy, record.macro_f1, record.scored_on


def _tie_cells(row: Row) -> tuple[str, str]:
    """Interval and tied ranks; adjacent ranks as a range."""
    runs: list[list[int]] = []
    for rank in sorted(set(row.close or ())):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    close = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return "–".join(row.interval or ()), close


def _title(board: Leaderboard) -> str:
    return f"snapshot {board.snapshot}" if board.snapshot else "newest attested figure of each system"


def _footnotes(board: Leaderboard) -> list[str]:
    symbols = _symbols(board)
    notes = [f"{symbols[mark]} {meaning}" for mark, meaning in board.caveats.items()]
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


def as_text(board: Leaderboard) -> str:
    """For a terminal: one table a group, caveats and coverage below."""
    symbols = _symbols(board)
    parts = [f"oruk-bench leaderboard, {_title(board)}; accuracy in percent, macro-F1 0-1"]
    for group in board.groups:
        rows = [
            _cells(row, lambda mark: " " + symbols[mark])[:5] + (_tie_cells(row) if board.resolution else ())
            for row in group.rows
        ]
        header = (*_HEADER[:5], *(_TIES if board.resolution else ()))
        table = text_table(header, rows, right=("rank", "accuracy", "macro_f1"))
        parts.append(f"{group.title}\n{table}")
    parts.append("\n".join(_footnotes(board)))
    parts.append(board.closing)
    return "\n\n".join(part for part in parts if part) + "\n"


def as_csv(board: Leaderboard) -> str:
    """For programs and spreadsheets: one row a system with its note, nothing else."""
    header = (*_CSV_HEADER, *(("accuracy_low", "accuracy_high", "close_ranks") if board.resolution else ()))
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
    symbols = _symbols(board)
    parts = []
    for group in board.groups:
        lines = [f"**{markdown_cell(group.title)}**, {_title(board)}", ""]
        extra = "".join(f" {name} |" for name in _TIES) if board.resolution else ""
        lines.append(f"| rank | system | family | accuracy (%) | macro-F1 |{extra}")
        lines.append("|---:|:---|:---|---:|---:|" + (":---|:---|" if board.resolution else ""))
        for row in group.rows:
            rank, name, family, accuracy, macro_f1, _ = _cells(row, lambda mark: " " + symbols[mark])
            extra = "".join(f" {cell} |" for cell in _tie_cells(row)) if board.resolution else ""
            lines.append(f"| {rank} | {markdown_cell(name)} | {family} | {accuracy} | {macro_f1} |{extra}")
        parts.append("\n".join(lines))
    parts += [markdown_cell(note) for note in _footnotes(board)]
    parts.append(board.closing)
    return "\n\n".join(parts) + "\n"


def as_latex(board: Leaderboard) -> str:
    """For papers: booktabs rules, siunitx columns, footnotes for the caveats of the rows shown."""
    ties_header = r" & {95\,\%} & {$\approx$ ranks}" if board.resolution else ""
    columns = 7 if board.resolution else 5
    letters = {mark: "abcdefghij"[index] for index, mark in enumerate(board.caveats)}
    lines = [
        r"% \usepackage{booktabs,siunitx,threeparttable}",
        r"\begin{table}",
        r"  \centering",
        r"  \begin{threeparttable}",
        rf"  \caption{{oruk-bench leaderboard, {_title(board)}: accuracy in percent and macro-F1 over seven classes.}}",
        r"  \label{tab:oruk-bench}",
        rf"  \begin{{tabular}}{{r l l S[table-format=2.2] S[table-format=1.4]{' l l' if board.resolution else ''}}}",
        r"  \toprule",
        rf"  {{Rank}} & {{System}} & {{Family}} & {{Accuracy}} & {{Macro-F1}}{ties_header} \\",
    ]
    for group in board.groups:
        lines += [
            r"  \midrule",
            rf"  \multicolumn{{{columns}}}{{l}}{{\texttt{{{latex_cell(group.title)}}}}} \\",
            r"  \midrule",
        ]
        for row in group.rows:
            rank, _, family, accuracy, macro_f1, _ = _cells(row, lambda mark: "")
            noted = ",".join(letters[mark] for mark in row.marks)
            name = latex_cell(row.record.system.name) + (rf"\tnote{{{noted}}}" if noted else "")
            cells = [rank, name, latex_cell(family), accuracy, macro_f1]
            cells += [cell.replace("–", "--") for cell in _tie_cells(row)] if board.resolution else []
            lines.append(rf"  {' & '.join(cells)} \\")
    lines += [r"  \bottomrule", r"  \end{tabular}", r"  \begin{tablenotes}\footnotesize"]
    lines += [rf"  \item[{letters[mark]}] {latex_cell(_sentence(text))}" for mark, text in board.caveats.items()]
    marked = len(board.caveats)
    lines += [rf"  \item[] {latex_cell(text)}" for text in [*_footnotes(board)[marked:], board.closing]]
    lines += [r"  \end{tablenotes}", r"  \end{threeparttable}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def as_json(board: Leaderboard) -> str:
    """For programs: groups, caveats, coverage and warning."""
    return json.dumps(board.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


FORMATS: dict[str, Callable[[Leaderboard], str]] = {
    "text": as_text,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
    "json": as_json,
}
"""Format name to renderer."""
