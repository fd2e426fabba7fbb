"""``build``: rebuild everything that is derived from records, manifest and specs."""

import argparse

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, progress, write_json, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``build``."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a derived file is stale")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard build --check"


def run(args: argparse.Namespace) -> int:
    """Build or check; 1 when a check finds stale files."""
    from oruk_leaderboard.release.build import build

    with progress(args, unit="file") as begin:
        report = build(check=args.check, progress=begin)
    if args.json:
        write_json(report.to_dict())
    else:
        verb = "stale" if args.check else "written"
        lines = [f"{verb}  {name}" for name in report.changed]
        write_text("\n".join([*lines, f"{len(report.changed)} {verb}, {len(report.unchanged)} up to date"]))
    return FINDINGS if args.check and report.changed else DONE
