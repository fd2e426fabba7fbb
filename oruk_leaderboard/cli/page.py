"""``page``: write the static leaderboard page."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli.output import add_json, progress, write_json, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``page``."""
    parser.description = (
        "Write the leaderboard as a static page: open DIR/index.html from disk, or upload DIR as a static Space. "
        "The page loads nothing from elsewhere."
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the page")
    add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard page --out page"


def run(arguments: argparse.Namespace) -> int:
    """Write the page and say what was written."""
    from oruk_leaderboard.page import build_page

    with progress(arguments, unit="step") as begin:
        page = build_page(arguments.out, progress=begin)
    if arguments.json:
        write_json(page.to_dict())
    else:
        total = sum(page.files.values())
        write_text(f"{page.folder / 'index.html'}: {page.rows} rows; {len(page.files)} files, {total / 1000:,.0f} kB")
    return 0
