"""A result record as text for a terminal of 80 columns, and as LaTeX."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oruk_leaderboard.cells import latex_cell, text_table

WIDTH = 80
"""Columns of a terminal that the text report fits in."""

NAMES: Mapping[str, str] = {
    "macro_f1": "macro-F1",
    "accuracy": "accuracy",
    "uar": "UAR",
    "weighted_f1": "weighted F1",
    "micro_f1": "micro-F1",
    "mcc": "MCC",
    "kappa": "Cohen's kappa",
}
"""Figures in the order of the report, with their names for people."""


def text_report(record: Mapping[str, Any], findings: Sequence[str] = ()) -> str:
    """Everything a person wants to know of a result, headline first, at most ``WIDTH`` columns wide."""
    evaluation = record["evaluation"]
    parts = [
        _head(record),
        _figures(evaluation),
        _classes(evaluation),
        _confusion(evaluation["confusion"]),
        *(_slices(name, rows) for name, rows in evaluation["slices"].items() if name != "class" and _tells(rows)),
        _remarks(evaluation, findings),
    ]
    return "\n\n".join(part for part in parts if part)


def _head(record: Mapping[str, Any]) -> str:
    evaluation, protocol = record["evaluation"], record["protocol"]
    if evaluation["set_digest"]:
        manifest = f", manifest {evaluation['manifest_version']}" if evaluation["manifest_version"] else ""
        where = f"{record['scored_on']}, {evaluation['n']:,} clips{manifest}, digest {evaluation['set_digest'][:16]}"
    else:
        where = f"gold file, {evaluation['n']:,} clips, digest {evaluation['gold_digest'][:16]}"
    counts = ", ".join(f"{number:,} {name}" for name, number in evaluation["counts"].items())
    counted = f"failed clips count as {evaluation['on_error']}, abstentions as wrong"
    lines = (
        ("system", record["system"]["name"]),
        ("set", where),
        ("protocol", f"{protocol['name']} {protocol['version']}; {counted}"),
        ("answers", counts),
    )
    return "\n".join(_wrap(f"{name + ':':10}{value}", indent=10) for name, value in lines)


def _figures(evaluation: Mapping[str, Any]) -> str:
    clusters = len(evaluation["confusion_by_cluster"]["clusters"]) or evaluation["n"]
    rows: list[tuple[str, str, str | None]] = []
    for key, name in NAMES.items():
        low, high = evaluation["intervals"][key]
        rows.append((name, f"{evaluation['figures'][key]:.4f}", f"{low:.4f} to {high:.4f}"))
    fair = evaluation["fair_subset"]
    if fair:
        for key in ("macro_f1", "accuracy"):
            low, high = fair["intervals"][key]
            label = f"{NAMES[key]}, {fair['classes']} declared classes"
            rows.append((label, f"{fair[key]:.4f}", f"{low:.4f} to {high:.4f}"))
    if evaluation["class_scores"]:
        names = {"top2": "top-2 accuracy", "log_loss": "log loss (nats)", "brier": "Brier", "ece": "ECE"}
        rows += [(names[key], f"{value:.4f}", None) for key, value in evaluation["class_scores"]["figures"].items()]
    percent = f"{100 * (1 - evaluation['alpha']):g} % interval"
    table = text_table(("figure", "value", percent), rows, right=("value",))
    kind = evaluation["cluster"]
    stages = ", corpora first" if evaluation["two_stage"] else ""
    how = f"{evaluation['interval']} bootstrap of {clusters:,} {kind}s{stages}, {evaluation['n_boot']:,} replicates"
    present, k = evaluation["gold_classes"], len(evaluation["classes"])
    over = (
        f" The gold labels have {present} of the {k} classes: macro-F1 is over all {k}, over those {present} it is "
        f"{evaluation['macro_f1_present']:.4f}."
    )
    return f"{table}\n" + _wrap(f"Intervals: {how}, seed {evaluation['seed']}.{over if present < k else ''}")


def _classes(evaluation: Mapping[str, Any]) -> str:
    rows = [
        (name, f"{row['precision']:.3f}", f"{row['recall']:.3f}", f"{row['f1']:.3f}", row["support"], row["predicted"])
        for name, row in evaluation["per_class"].items()
    ]
    header = ("class", "precision", "recall", "F1", "clips", "predicted")
    return text_table(header, rows, right=header[1:])


def _confusion(confusion: Mapping[str, Any]) -> str:
    short = [*(name[:5] for name in confusion["rows"]), "abst.", "failed"]
    rows = [(name, *counts) for name, counts in zip(confusion["rows"], confusion["counts"], strict=True)]
    return text_table(("gold \\ said", *short), rows, right=short)


def _tells(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a slicing says more than the whole set does."""
    return len(rows) > 1 or (len(rows) == 1 and rows[0]["value"] != "unknown")


def _slices(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    lines = []
    for row in rows:
        low, high = row["intervals"]["macro_f1"]
        by = "" if row["cluster"] != "clip" else " c"
        lines.append(
            (
                row["value"][:24],
                f"{row['n']}{'*' if row['small'] else ' '}",
                row["classes"],
                f"{row['accuracy']:.3f}",
                f"{row['macro_f1']:.3f}",
                f"{low:.3f} to {high:.3f}{by}",
            )
        )
    return text_table(
        (name, "clips ", "classes", "accuracy", "macro-F1", "interval"),
        lines,
        right=("clips ", "classes", "accuracy", "macro-F1"),
    )


def _remarks(evaluation: Mapping[str, Any], findings: Sequence[str]) -> str:
    slices = evaluation["slices"]
    lines = ["Slices are scored over the classes that their gold labels have."] if len(slices) > 1 else []
    rows = [row for part in slices.values() for row in part]
    if any(row["small"] for row in rows):
        lines.append("* fewer than 100 clips: read with care.")
    if any(row["cluster"] == "clip" for row in rows) and evaluation["cluster"] != "clip":
        lines.append(f"c the slice lies within one {evaluation['cluster']}, so its clips were drawn: too narrow.")
    lines += [f"Finding: {finding}." for finding in findings]
    if evaluation["orientation"]:
        lines.append(evaluation["orientation"]["text"])
    elif evaluation["partial"] and evaluation["set_digest"]:
        lines.append("Partial set: not every clip of its profile is there, so it is not held against the table.")
    return "\n".join(_wrap(line) for line in lines)


def _wrap(line: str, indent: int = 2) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def latex_report(record: Mapping[str, Any]) -> str:
    """A LaTeX table (booktabs) of the headline figures and of each class, with what a caption has to say."""
    evaluation = record["evaluation"]
    low, high = (100 * end for end in evaluation["intervals"]["accuracy"])
    f1_low, f1_high = evaluation["intervals"]["macro_f1"]
    name = latex_cell(record["system"]["name"])
    lines = [
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        rf"\multicolumn{{5}}{{l}}{{{name}: accuracy {record['accuracy']}\,\% [{low:.2f}, {high:.2f}],"
        rf" macro-F1 {record['macro_f1']} [{f1_low:.4f}, {f1_high:.4f}]}} \\",
        r"\midrule",
        r"class & precision & recall & F1 & clips \\",
        r"\midrule",
        *(
            rf"{latex_cell(label)} & {row['precision']:.3f} & {row['recall']:.3f} & {row['f1']:.3f}"
            rf" & {row['support']} \\"
            for label, row in evaluation["per_class"].items()
        ),
        r"\bottomrule",
        r"\end{tabular}",
        f"% {record['protocol']['name']} {record['protocol']['version'] or ''}, {record['scored_on']}, "
        f"{evaluation['n']} clips, set {evaluation['set_digest'] or evaluation['gold_digest']}; "
        f"{evaluation['interval']} intervals by {evaluation['cluster']}, {evaluation['n_boot']} replicates",
    ]
    return "\n".join(lines)
