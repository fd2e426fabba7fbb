"""``sync``: read the published table from the Hub and add the systems that are missing here."""

import argparse

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, write_json, write_text
from oruk_leaderboard.records.addresses import REPO


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``sync``."""
    parser.add_argument("--revision", metavar="R", help="branch, tag or commit to read (default: main)")
    parser.add_argument("--repo", default=REPO, metavar="ID", help=f"repository on the Hub (default {REPO})")
    parser.add_argument("--dry-run", action="store_true", help="write no records, show the differences only")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard sync --dry-run"


def run(args: argparse.Namespace) -> int:
    """Show the differences; 1 when rows and records contradict each other or a record has no row."""
    from oruk_leaderboard.hub.upstream import sync

    report = sync(revision=args.revision, repo=args.repo, dry_run=args.dry_run)
    found = report.comparison
    if args.json:
        write_json(report.to_dict())
    else:
        lines = [f"{report.rows} rows of {report.table} at {report.repo}@{report.revision}"]
        lines.append(f"{len(found.agree)} agree with a record")
        lines += [f"renamed   {row} has the figures of record {record}" for row, record in found.renamed.items()]
        for conflict in found.conflicts:
            lines.append(f"conflict  {conflict['system']} and record {conflict['record']}: {conflict['differs']}")
        lines += [f"only here {name}" for name in found.only_here]
        verb = "would add" if args.dry_run else "added"
        lines += [f"{verb}     {name}" for name in report.added]
        if report.added and not args.dry_run:
            lines.append("next: look at the new records, then run: oruk-leaderboard build")
        write_text("\n".join(lines))
    return FINDINGS if found.conflicts or found.only_here else DONE
