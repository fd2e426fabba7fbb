"""``replay``: saved answers parsed and scored again."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli.output import add_json
from oruk_leaderboard.cli.score import add_scoring_options, finish, one_thread, scoring_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("receipts", type=Path, metavar="RECEIPTS", help="JSON Lines, one receipt per clip")
    parser.add_argument("--clips", type=Path, metavar="DIR", help="rebuilt set that the answers are about")
    parser.add_argument("--gold", type=Path, metavar="FILE", help="gold labels instead of a rebuilt set")
    add_scoring_options(parser)
    add_json(parser)
    parser.epilog = (
        "examples:\n"
        "  oruk-leaderboard replay receipts.jsonl --clips rebuilt\n"
        "  oruk-leaderboard replay receipts.jsonl --protocol crema-d-ieo-md"
    )


def run(options: argparse.Namespace) -> int:
    """Replay."""
    one_thread()
    from oruk_leaderboard.scoring.replay import replay

    result = replay(
        options.receipts,
        clips=options.clips,
        gold=options.gold,
        **scoring_options(options),
    )
    return finish(result.score, options)
