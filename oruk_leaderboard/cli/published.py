"""``published``: the literature's leaderboards, offline."""

import argparse
from typing import Any

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli import DONE
from oruk_leaderboard.cli.output import add_json, note, write_json, write_text

COLUMNS: dict[str, tuple[str, ...]] = {
    "leaderboards": ("task", "dataset", "corpus", "metrics", "rows", "first_system", "figures", "first_arxiv_id"),
    "datasets": ("dataset", "name", "tasks", "modalities", "papers", "corpus"),
    "papers": ("date", "title", "arxiv_id", "repositories_listed", "leaderboards"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``published``."""
    parser.add_argument(
        "corpus", nargs="?", metavar="CORPUS", help="leaderboards on this corpus: an id, or a name such as CREMA-D"
    )
    parser.add_argument("--corpus", dest="corpus_option", metavar="CORPUS", help="the same, as an option")
    parser.add_argument("--task", metavar="NAME", help="leaderboards of this task, e.g. 'Speech Emotion Recognition'")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--datasets", dest="kind", action="store_const", const="datasets", help="the data sets")
    kinds.add_argument("--papers", dest="kind", action="store_const", const="papers", help="the papers")
    parser.set_defaults(kind="leaderboards")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard published IEMOCAP"


def run(args: argparse.Namespace) -> int:
    """Print the rows; attribution and flags go with them."""
    from oruk_leaderboard.errors import OrukError
    from oruk_leaderboard.table import published

    corpus = args.corpus or args.corpus_option
    if args.kind == "leaderboards":
        rows = published.leaderboards(corpus=corpus, task=args.task)
    elif corpus or args.task:
        raise OrukError("a corpus or --task chooses leaderboards", do=f"leave out --{args.kind}")
    else:
        rows = list(published.rows(args.kind))
    if args.json:
        write_json([dict(row) for row in rows])
        return DONE
    columns = COLUMNS[args.kind]
    shown = [{**row, "figures": published.figures(row)} for row in rows] if args.kind == "leaderboards" else rows
    write_text(text_table(columns, [[_cell(row[column]) for column in columns] for row in shown], right=["rows"]))
    flags = [f"{row[columns[1]]}: {flag}" for row in rows for flag in row["flags"]]
    if flags:
        write_text("\nFlags on the source:\n" + "\n".join(f"- {flag}" for flag in flags))
    note(f"{args.kind}: {len(rows)}; {published.source()['attribution']}; never ranked with the benchmark's table")
    return DONE


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
