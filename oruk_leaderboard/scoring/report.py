"""A result record as text for a terminal of 80 columns, and as LaTeX."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oruk_leaderboard.cells import latex_cell, text_table
from oruk_leaderboard.metrics import REGISTRY
from oruk_leaderboard.scoring.gaps import gap_lines
from oruk_leaderboard.scoring.human import human_lines
from oruk_leaderboard.scoring.sampling import QUESTIONS, few_clusters
from oruk_leaderboard.scoring.sentences import sentence_lines
from oruk_leaderboard.scoring.soft_labels import soft_lines
from oruk_leaderboard.scoring.training_overlap import OUTSIDE, TRAINING
from oruk_leaderboard.statistics import FEW, FEWEST

WIDTH = 80
"""Columns of a terminal that the text report fits in."""

SHOWN_FINDINGS = 3
"""Findings that the short report lists."""


def short_report(record: Mapping[str, Any], findings: Sequence[str] = (), *, figures: Sequence[str]) -> str:
    """Headline, both intervals, placement and warnings: the answer of a score in about 20 lines.

    Args:
        record: A record with an evaluation, as JSON.
        findings: What was not clean.
        figures: Keys of the metrics to show (``Protocol.figures``).
    """
    evaluation = record["evaluation"]
    other = evaluation["other_corpora"]
    rows = [
        (
            _title(key),
            f"{evaluation['figures'][key]:.4f}",
            _ends(evaluation["intervals"][key]),
            _ends(other["intervals"][key]) if other else "none",
        )
        for key in figures
    ]
    header = ("figure", "value", QUESTIONS[evaluation["support"]["cluster"]], QUESTIONS["corpus"])
    lines = [support_line(part) for part in (evaluation["support"], other) if part]
    lines += [_training(evaluation), *human_lines(evaluation), *_placement(evaluation)]
    lines += [f"Finding: {finding}." for finding in findings[:SHOWN_FINDINGS]]
    more = len(findings) - SHOWN_FINDINGS
    closing = "All figures, classes, confusion and slices: --full" + (f"; {more} more findings" if more > 0 else "")
    table = text_table(header, rows, right=("value",))
    return f"{_head(record)}\n\n{table}\n" + "\n".join(map(_wrap, [*lines, closing]))


def text_report(record: Mapping[str, Any], findings: Sequence[str] = (), *, figures: Sequence[str] = ()) -> str:
    """The report of a result, at most ``WIDTH`` columns wide.

    Args:
        record: A record with an evaluation, as JSON.
        findings: What was not clean.
        figures: Keys of the metrics to show first (``Protocol.figures``).
    """
    evaluation = record["evaluation"]
    parts = [
        _head(record),
        _figures(evaluation, figures),
        "\n".join(map(_wrap, [*human_lines(evaluation), *soft_lines(evaluation["soft_labels"])])),
        _classes(evaluation),
        _confusion(evaluation["confusion"]),
        *(
            _slices(name, rows)
            for name, rows in evaluation["slices"].items()
            if name not in ("class", TRAINING) and _tells(rows)
        ),
        "\n".join(map(_wrap, [*gap_lines(evaluation["gaps"]), *sentence_lines(evaluation["sentences"])])),
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
    counted = f"failures count as {evaluation['on_error']}, unrecognised as wrong"
    lines = (
        ("system", record["system"]["name"]),
        ("set", where),
        ("protocol", f"{protocol['name']} {protocol['version']}; {counted}"),
        ("answers", counts),
    )
    return "\n".join(_wrap(f"{name + ':':10}{value}", indent=10) for name, value in lines)


def _title(key: str) -> str:
    return REGISTRY[key].title


def _ends(interval: Sequence[float] | None, digits: int = 4) -> str:
    return "none" if interval is None else f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"


def _figures(evaluation: Mapping[str, Any], leading: Sequence[str]) -> str:
    other = evaluation["other_corpora"]
    rows: list[tuple[str, ...]] = []
    for key in dict.fromkeys((*leading, *evaluation["figures"])):
        interval = _ends(evaluation["intervals"][key])
        across = _ends(other["intervals"][key]) if other else ""
        rows.append((_title(key), f"{evaluation['figures'][key]:.4f}", interval, across))
    fair = evaluation["fair_subset"]
    if fair:
        for key in ("macro_f1", "accuracy"):
            label = f"{_title(key)}, {fair['classes']} declared classes"
            rows.append((label, f"{fair[key]:.4f}", _ends(fair["intervals"][key])))
    if scores := evaluation["class_scores"]:
        of = "" if scores["n"] == evaluation["n"] else f", {scores['n']:,} clips"
        rows += [
            (f"{_title(key)}{of}", f"{value:.4f}", _ends(scores["intervals"][key]))
            for key, value in scores["figures"].items()
        ]
    outside = [row for row in evaluation["slices"].get(TRAINING, ()) if row["value"] == OUTSIDE]
    for row in outside:
        for key in ("macro_f1", "accuracy"):
            rows.append((f"{_title(key)}, outside training", f"{row[key]:.4f}", _ends(row["intervals"][key])))
    short = QUESTIONS[evaluation["support"]["cluster"]].rpartition(", ")[2]
    header = ("figure", "value", short, *(("other corpora",) if other else ()))
    rows = [(*row, "")[: len(header)] for row in rows]
    present, k = evaluation["gold_classes"], len(evaluation["classes"])
    over = (
        f" The gold labels have {present} of the {k} classes: macro-F1 is over all {k}, over those {present} it is "
        f"{evaluation['macro_f1_present']:.4f}."
    )
    method = f"{100 * (1 - evaluation['alpha']):g} % {evaluation['interval']}, {evaluation['n_boot']:,} replicates"
    parts = [_training(evaluation)]
    parts += [f"Intervals: {method}, seed {evaluation['seed']}.{over if present < k else ''}"]
    parts += [support_line(part) for part in (evaluation["support"], other) if part]
    if scores and scores["label_not_top"]:
        share = scores["label_not_top"] / scores["n"]
        parts.append(f"The label is not the class with the highest score in {share:.1%} of the clips with scores.")
    return f"{text_table(header, rows, right=('value',))}\n" + "\n".join(map(_wrap, parts))


def _training(evaluation: Mapping[str, Any]) -> str:
    """What is declared of the training data, in one line."""
    rows = {row["value"]: row for row in evaluation["slices"].get(TRAINING, ())}
    if not rows:
        return "Outside training: no training corpora are declared; the overlap is unknown."
    if OUTSIDE not in rows:
        return "Outside training: every clip of the set is of a corpus that is declared as training data."
    return (
        f"Outside training: {rows[OUTSIDE]['n']:,} of {evaluation['n']:,} clips are of no corpus that is declared as "
        f"training data; macro-F1 over the {rows[OUTSIDE]['classes']} classes among them."
    )


def support_line(support: Mapping[str, Any]) -> str:
    """Clusters behind an interval, with its warnings, in one sentence."""
    few = few_clusters(support["clusters"], support["effective"], support["loose_share"])
    kinds = {"speaker": "speakers", "corpus": "corpora", "clip": "clips"}
    question = QUESTIONS[support["cluster"]]
    number = f"{support['clusters']:,} {kinds[support['cluster']]}, effectively {support['effective']:.1f}"
    return f"{question[0].upper()}{question[1:]}: {number}{''.join(f'; {warning}' for warning in few)}."


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
        by = "" if row["effective"] >= FEW or row["intervals"]["macro_f1"] is None else " f"
        lines.append(
            (
                row["value"][:24],
                f"{row['n']}{'*' if row['small'] else ' '}",
                row["classes"],
                f"{row['accuracy']:.3f}",
                f"{row['macro_f1']:.3f}",
                row["clusters"],
                f"{row['effective']:.1f}",
                f"{_ends(row['intervals']['macro_f1'], 3)}{by}",
            )
        )
    return text_table(
        (name, "clips ", "classes", "accuracy", "macro-F1", "G", "G*", "interval"),
        lines,
        right=("clips ", "classes", "accuracy", "macro-F1", "G", "G*"),
    )


def _remarks(evaluation: Mapping[str, Any], findings: Sequence[str]) -> str:
    slices = evaluation["slices"]
    lines = ["Slices are scored over the classes that their gold labels have."] if len(slices) > 1 else []
    rows = [row for part in slices.values() for row in part]
    if any(row["small"] for row in rows):
        lines.append("* fewer than 100 clips: read with care.")
    if rows:
        lines.append(
            f"G: clusters of the slice, G*: their effective number; f: G* below {FEW}, so the interval may be too "
            f"short; none: G below {FEWEST}."
        )
    lines += [f"Finding: {finding}." for finding in findings]
    lines += _placement(evaluation, most_names=100)
    return "\n".join(_wrap(line) for line in lines)


def _placement(evaluation: Mapping[str, Any], *, most_names: int = 4) -> list[str]:
    """Where the figure would fall among the published rows, and what a partial set lacks of the whole one."""
    absent, present = evaluation["absent"], evaluation["confusion_by_cluster"]["attributes"]["corpus"]
    named = absent or present
    corpora = ", ".join(named) if len(named) <= most_names else f"{len(named)} corpora"
    lines = [evaluation["orientation"]["text"]] if evaluation["orientation"] else []
    if evaluation["partial"] and evaluation["set_digest"]:
        empty = [name for name, figures in evaluation["per_class"].items() if not figures["support"]]
        about = [f"it lacks every clip of {corpora}" if absent else f"it has clips of {corpora} only"]
        about += [f"{'' if absent else 'lacks '}the classes {', '.join(empty)}"] if empty else []
        lines.append(f"Partial set: {' and '.join(about)}.")
    return lines


def _wrap(line: str, indent: int = 2) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def latex_report(record: Mapping[str, Any]) -> str:
    """A LaTeX table (booktabs) of the headline figures and of each class, with what a caption has to say."""
    evaluation = record["evaluation"]
    accuracy, macro_f1 = (evaluation["intervals"][key] for key in ("accuracy", "macro_f1"))
    percent = None if accuracy is None else [100 * end for end in accuracy]
    protocol = f"{record['protocol']['name']} {record['protocol']['version'] or ''}".rstrip()
    digest = str(evaluation["set_digest"] or evaluation["gold_digest"])[:12]
    caption = (
        f"{record['system']['name']} on {record['scored_on']}, {evaluation['n']:,} clips, set {digest}, {protocol}: "
        f"accuracy {record['accuracy']} % ({_ends(percent, 2)}), macro-F1 {record['macro_f1']} ({_ends(macro_f1)}); "
        f"{evaluation['interval']} intervals by {evaluation['cluster']}, {evaluation['n_boot']:,} replicates."
    )
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering\footnotesize",
        rf"  \caption{{{latex_cell(caption)}}}",
        r"  \label{tab:oruk-classes}",
        r"  \begin{tabular}{lrrrr}",
        r"  \toprule",
        r"  Class & Precision & Recall & F1 & Clips \\",
        r"  \midrule",
        *(
            rf"  {latex_cell(label)} & {row['precision']:.3f} & {row['recall']:.3f} & {row['f1']:.3f}"
            rf" & {row['support']} \\"
            for label, row in evaluation["per_class"].items()
        ),
        r"  \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)
