"""The leaderboard, and one's own row below it, as LaTeX that fits the text width of the article class."""

from oruk_leaderboard.cells import latex_cell
from oruk_leaderboard.records.caveats import caveats_of
from oruk_leaderboard.records.record import Record
from oruk_leaderboard.table.leaderboard import Leaderboard, Row
from oruk_leaderboard.table.texts import footnotes, sentence, tie_cells, title

PACKAGES = r"% \usepackage{booktabs,siunitx}  (two columns: table* in place of table)"
"""Comment that names the packages a preamble needs, and what an article of two columns needs."""

_COLUMNS = r"r l l S[table-format=2.2] S[table-format=1.4]"
_OWN = _COLUMNS.replace("r l", r"r >{\raggedright\arraybackslash}p{0.3\linewidth}", 1)
_WITH_TIES = (
    r"r >{\raggedright\arraybackslash}p{0.24\linewidth} l S[table-format=2.2] S[table-format=1.4] "
    r"l >{\raggedright\arraybackslash}p{0.09\linewidth}"
)
_HEADER = r"  {Rank} & {System} & {Family} & {Accuracy} & {Macro-F1}"


def as_latex(board: Leaderboard) -> str:
    """A table for papers: booktabs rules, siunitx columns, and below it the caveats of the rows shown."""
    ties = board.resolution is not None
    letters = {mark: "abcdefghij"[index] for index, mark in enumerate(board.caveats)}
    lines = [
        PACKAGES.replace("siunitx}", "siunitx,array}") if ties else PACKAGES,
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"  \caption{{oruk-bench leaderboard, {title(board)}: accuracy in percent and macro-F1 over seven classes.}}",
        r"  \label{tab:oruk-bench}",
        rf"  \begin{{tabular}}{{{_WITH_TIES if ties else _COLUMNS}}}",
        r"  \toprule",
        _HEADER + (r" & {95\,\%} & {$\approx$ ranks} \\" if ties else r" \\"),
    ]
    for group in board.groups:
        heading = rf"  \multicolumn{{{7 if ties else 5}}}{{l}}{{\texttt{{{latex_cell(group.title)}}}}} \\"
        lines += [r"  \midrule", heading, r"  \midrule", *(_row(row, letters, ties=ties) for row in group.rows)]
    lines += [r"  \bottomrule", r"  \end{tabular}", r"  \par\medskip\begin{minipage}{\linewidth}\scriptsize"]
    caveats = board.caveats.items()
    notes = [rf"\textsuperscript{{{letters[mark]}}}\,{latex_cell(sentence(text))}" for mark, text in caveats]
    notes += [latex_cell(text) for text in [*board.leaders, *footnotes(board)[len(caveats) :], board.closing]]
    lines += [rf"  {note}\par" for note in notes]
    return "\n".join([*lines, r"  \end{minipage}", r"\end{table}"]) + "\n"


def _row(row: Row, letters: dict[str, str], *, ties: bool) -> str:
    record = row.record
    noted = ",".join(letters[mark] for mark in row.marks)
    name = latex_cell(record.system.name) + (rf"\textsuperscript{{{noted}}}" if noted else "")
    cells = [str(row.rank), name, latex_cell(record.system.family), record.accuracy, record.macro_f1]
    cells += [cell.replace("–", "--") for cell in tie_cells(row)] if ties else []
    return rf"  {' & '.join(cells)} \\"


def own_row(name: str, *, family: str | None, accuracy: float, macro_f1: float) -> str:
    """A result of one's own as a line with the columns of that table, unranked.

    Args:
        name: System.
        family: One of ``FAMILIES``, or None where unknown.
        accuracy: Percent, 0 to 100.
        macro_f1: Fraction, 0 to 1.
    """
    cells = ["--", rf"\textbf{{{latex_cell(name)}}}", latex_cell(family or "--"), f"{accuracy:.2f}", f"{macro_f1:.4f}"]
    return rf"  {' & '.join(cells)} \\"


def own_table(rows: list[str], caption: str) -> str:
    """Rows of one's own as a table for an article, with the columns of the leaderboard's, so that they fit there too.

    Args:
        rows: From :func:`own_row`.
        caption: What the rows were scored on.
    """
    lines = [
        PACKAGES.replace("siunitx}", "siunitx,array}"),
        r"% The rows also fit above \bottomrule of: oruk-leaderboard table --format latex",
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"  \caption{{{latex_cell(caption)}}}",
        r"  \label{tab:oruk-own}",
        rf"  \begin{{tabular}}{{{_OWN}}}",
        r"  \toprule",
        _HEADER + r" \\",
        r"  \midrule",
        *rows,
        r"  \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def record_table(record: Record) -> str:
    """A record that was scored here as such a table, with its set, its interval and its caveats in the caption."""
    evaluation = record.evaluation or {}
    digest = str(evaluation.get("set_digest") or evaluation.get("manifest_digest") or "unknown")[:12]
    interval = (evaluation.get("intervals") or {}).get("macro_f1")
    ends = "no interval" if interval is None else f"95 % interval of macro-F1 {interval[0]:.4f} to {interval[1]:.4f}"
    caption = (
        f"{record.system.name}: {record.scored_on}, {evaluation.get('n', 0):,} clips, set {digest}, {ends}; not ranked "
        f"with the published rows: {'; '.join(caveat.sentence for caveat in caveats_of(record))}."
    )
    figures = {"accuracy": float(record.accuracy), "macro_f1": float(record.macro_f1)}
    return own_table([own_row(record.system.name, family=record.system.family, **figures)], caption)
