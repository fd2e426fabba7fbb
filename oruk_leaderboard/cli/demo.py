"""``demo``: the whole way on a synthetic corpus."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli.output import add_json, write_json, write_text

REMARK = (
    "This was a demonstration: made tones, a rule without training. The figures say nothing about any system, and\n"
    "where they fall in the table says nothing either. With your own corpora the same verbs give a real result."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this new folder and keep it")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard demo"


def run(options: argparse.Namespace) -> int:
    """Show each step as it ends."""
    from tempfile import TemporaryDirectory

    from oruk_leaderboard.demo import demo
    from oruk_leaderboard.errors import OrukError

    if options.keep is not None and options.keep.exists() and any(options.keep.iterdir()):
        raise OrukError("the folder is not empty", where=options.keep, do="name a new one")
    with TemporaryDirectory(prefix="oruk-demo-") as temporary:
        folder = temporary if options.keep is None else options.keep
        steps = []
        for step in demo(Path(folder)):
            steps.append({"command": step.command, "result": step.result})
            if not options.json:
                write_text(f"$ {step.command}\n{step.result}\n ")
    if options.json:
        write_json({"steps": steps, "remark": REMARK})
    else:
        write_text(REMARK)
    return 0
