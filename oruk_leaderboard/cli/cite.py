"""``cite``: BibTeX, CFF or a methods paragraph for what was used."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli import DONE
from oruk_leaderboard.cli.output import add_json, write_json, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``cite``."""
    parser.add_argument("names", nargs="*", metavar="SYSTEM", help="systems (id or name) or corpora (id) that you used")
    parser.add_argument("--report", type=Path, metavar="FILE", help="report.json of a rebuilt set: cite its corpora")
    parser.add_argument("--revision", metavar="SHA", help="commit or tag of the leaderboard that you used")
    parser.add_argument("--methods", action="store_true", help="a paragraph for the methods section instead")
    parser.add_argument("--format", choices=("bibtex", "cff"), default="bibtex")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard cite --report rebuilt/report.json"


def run(args: argparse.Namespace) -> int:
    """Print what to cite."""
    from oruk_leaderboard.card.cite import citation_cff, cite, methods
    from oruk_leaderboard.errors import OrukError

    cff = args.format == "cff" and not args.json
    if args.names and (args.methods or cff):
        raise OrukError(
            "names of systems and corpora go into BibTeX only",
            found=", ".join(args.names),
            do="leave them out, or leave out --methods and --format cff",
        )
    if args.report and cff and not args.methods:
        raise OrukError("the corpora of a report go into BibTeX only", do="leave out --report or --format cff")
    if args.methods:
        text = methods(report=args.report, revision=args.revision)
        if args.json:
            write_json({"methods": text})
        else:
            write_text(text)
    elif cff:
        write_text(citation_cff(revision=args.revision))
    else:
        entries = cite(args.names, report=args.report, revision=args.revision)
        if args.json:
            write_json({"entries": [entry.to_dict() for entry in entries], "cff": citation_cff(revision=args.revision)})
        else:
            write_text("\n\n".join(entry.bibtex for entry in entries))
    return DONE
