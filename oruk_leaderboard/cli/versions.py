"""``versions``: one line to quote."""

import argparse

from oruk_leaderboard.cli.output import add_json, write_json, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard versions"


def run(options: argparse.Namespace) -> int:
    """Print the versions."""
    from oruk_leaderboard.versions import versions

    found = versions()
    if options.json:
        write_json(found)
    else:
        write_text(", ".join(f"{name} {version}" for name, version in found.items()))
    return 0
