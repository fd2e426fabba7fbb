"""``submit``: check a record and add it to the repository."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli import DONE
from oruk_leaderboard.cli.output import add_json, write_json, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``submit``."""
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD", help="record file, as score --out wrote it")
    parser.add_argument("--check", action="store_true", help="check only, write nothing")
    parser.add_argument(
        "--training-corpora",
        metavar="ID,ID|none",
        help="corpora that the system was trained on, where its card does not declare them",
    )
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard submit record.json --check"


def run(args: argparse.Namespace) -> int:
    """Check, write, and say what to do next."""
    from oruk_leaderboard.hub.submission import submit

    declared = args.training_corpora
    if declared is not None:
        declared = [] if declared == "none" else [name.strip() for name in declared.split(",") if name.strip()]
    done = [
        submit(path, training_corpora=declared, check_only=args.check, beside=args.records[:at])
        for at, path in enumerate(args.records)
    ]
    if args.json:
        write_json([item.to_dict() for item in done])
        return DONE
    for item in done:
        verb = "wrote" if item.written else "good:"
        lines = [f"{verb} {item.record} ({item.figures} values recomputed)"]
        lines += [f"flag: {flag}" for flag in item.flags]
        lines += [f"next: {step}" for step in item.next]
        write_text("\n".join(lines))
    return DONE
