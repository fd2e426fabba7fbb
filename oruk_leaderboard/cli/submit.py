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
    parser.add_argument(
        "--run",
        dest="run_file",
        type=Path,
        metavar="FILE",
        help="PREDICTIONS.run.json, as run wrote it: what answered (one RECORD)",
    )
    add_json(parser)
    parser.epilog = (
        "examples:\n  oruk-leaderboard submit record.json --check\n"
        "  oruk-leaderboard submit record.json --run predictions.csv.run.json --training-corpora none"
    )


def run(args: argparse.Namespace) -> int:
    """Check, write, and say what to do next."""
    from oruk_leaderboard.errors import OrukError
    from oruk_leaderboard.hub.submission import submit

    if args.run_file is not None and len(args.records) > 1:
        raise OrukError("one run belongs to one record", expected="one RECORD", found=len(args.records))
    declared = args.training_corpora
    if declared is not None:
        declared = [] if declared == "none" else [name.strip() for name in declared.split(",") if name.strip()]
    done = [
        submit(path, training_corpora=declared, run=args.run_file, check_only=args.check, beside=args.records[:at])
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
