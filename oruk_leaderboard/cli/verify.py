"""``verify``: does a record follow from its own counts, or from the answers it was made from?"""

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, write_json, write_text
from oruk_leaderboard.cli.score import one_thread

if TYPE_CHECKING:
    from oruk_leaderboard.scoring.verification import Verification

SHOWN = 10
"""Differences and findings of a record that are printed; JSON has all of them."""

EPILOG = """examples:
  oruk-leaderboard verify record.json
  oruk-leaderboard verify record.json --clips rebuilt --predictions predictions.csv
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD", help="record file, as score --out wrote it")
    parser.add_argument("--predictions", type=Path, metavar="FILE", help="recompute everything from these answers")
    parser.add_argument("--clips", type=Path, metavar="DIR", help="rebuilt set that the answers belong to")
    parser.add_argument("--gold", type=Path, metavar="FILE", help="gold file instead of a rebuilt set")
    parser.add_argument(
        "--votes", action="append", type=Path, metavar="FILE", help="vote file of the score; repeatable"
    )
    parser.add_argument("--system", metavar="ID|FILE", help="card of the system, if its labels are declared there only")
    add_json(parser)
    parser.epilog = EPILOG


def run(options: argparse.Namespace) -> int:
    """Check each record."""
    one_thread()
    from oruk_leaderboard.errors import RecordError
    from oruk_leaderboard.scoring.verification import verify

    if (options.predictions is None) != (options.clips is None and options.gold is None):
        raise RecordError(
            "answers and the clips they belong to go together",
            expected="--predictions FILE with --clips DIR or --gold FILE",
        )
    if options.predictions is not None and len(options.records) > 1:
        raise RecordError("one predictions file proves one record", expected="one RECORD", found=len(options.records))
    given = {name: getattr(options, name) for name in ("predictions", "clips", "gold", "system")}
    given["votes"] = options.votes or ()
    results = [verify(path, **given) for path in options.records]
    if options.json:
        documents = [result.to_dict() for result in results]
        write_json(documents if len(documents) > 1 else documents[0])
    else:
        write_text("\n".join(map(_text, results)))
    return DONE if all(result.ok for result in results) else FINDINGS


def _text(result: "Verification") -> str:
    source = "the answers and its own counts" if result.answers else "its own counts"
    wrong = [f"{item.key}: {item.stated} stated, {item.recomputed} recomputed" for item in result.mismatches]
    wrong += result.findings
    lines = [
        f"{result.record}: {result.status}; {result.figures:,} values recomputed from {source}, "
        + (f"{len(wrong)} findings" if wrong else "all the same")
    ]
    lines += [f"  {item}" for item in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"  and {len(wrong) - SHOWN} more (--json has all)")
    if result.stated:
        names = ", ".join(path.removeprefix("evaluation.") for path in result.stated)
        stated = f"stated, not recomputed: {names}"
        lines.append(textwrap.fill(stated, 80, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False))
    if result.status == "consistent":
        lines.append("  to prove it: verify RECORD --clips DIR --predictions FILE")
    return "\n".join(lines)
