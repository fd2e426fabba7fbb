"""``verify``: does a record follow from its own counts?"""

import argparse
from pathlib import Path

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, write_json, write_text
from oruk_leaderboard.cli.score import one_thread


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD", help="record file of `score --out`")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard verify record.json"


def run(options: argparse.Namespace) -> int:
    """Check each record."""
    one_thread()
    from oruk_leaderboard.scoring.verification import verify

    results = [verify(path) for path in options.records]
    if options.json:
        documents = [result.to_dict() for result in results]
        write_json(documents if len(documents) > 1 else documents[0])
    else:
        lines = []
        for result in results:
            lines.append(
                f"{result.record}: {result.figures} figures recomputed from the record's own counts, "
                + ("all the same" if result.ok else f"{len(result.mismatches)} differ")
            )
            lines += [
                f"  {item.key}: {item.stated} stated, {item.recomputed} by the counts" for item in result.mismatches
            ]
        write_text("\n".join(lines))
    return DONE if all(result.ok for result in results) else FINDINGS
