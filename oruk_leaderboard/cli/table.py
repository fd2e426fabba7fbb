"""``table``: print, sort or export the leaderboard."""

import argparse

from oruk_leaderboard.cli import DONE
from oruk_leaderboard.cli.output import add_json, note, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``table``."""
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="only systems whose name or id contains this")
    parser.add_argument("--snapshot", metavar="DATE", help="a snapshot; default: each system's newest attested figure")
    parser.add_argument("--family", help="ours, open, API, 'audio LLM' or 'text only'")
    parser.add_argument("--scored-on", metavar="SET", help="full_set or subsample_5k; rebuilt_* for sets rebuilt here")
    parser.add_argument("--mixed", action="store_true", help="rank full_set and subsample_5k together, and say so")
    parser.add_argument("--ties", action="store_true", help="add intervals and the ranks that cannot be distinguished")
    parser.add_argument("--format", choices=("text", "csv", "markdown", "latex", "json"), default="text")
    add_json(parser)
    parser.epilog = (
        "examples:\n  oruk-leaderboard table Spectra emotion2vec\n  oruk-leaderboard table --scored-on full_set --ties"
    )


def run(args: argparse.Namespace) -> int:
    """Print the selection; a warning about mixing also goes to stderr, where an export cannot hide it."""
    from oruk_leaderboard.table.formats import FORMATS
    from oruk_leaderboard.table.leaderboard import leaderboard

    board = leaderboard(
        systems=args.systems,
        snapshot=args.snapshot,
        family=args.family,
        scored_on=args.scored_on,
        mixed=args.mixed,
        ties=args.ties,
    )
    write_text(FORMATS["json" if args.json else args.format](board))
    if board.warning:
        note(f"warning: {board.warning}")
    return DONE
