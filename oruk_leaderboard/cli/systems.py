"""``systems``: the systems that can be run here, one card each."""

import argparse
from pathlib import Path
from typing import Any

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli.output import add_json, write_json, write_text

EXAMPLE = """examples:
  oruk-leaderboard systems list --family open --ready
  oruk-leaderboard systems show emotion2vec-plus-large
  oruk-leaderboard systems check mine.toml"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    from oruk_leaderboard.records.families import FAMILIES

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all cards, and what each lacks to start")
    listing.add_argument("--family", choices=FAMILIES, help="only this family")
    listing.add_argument("--ready", action="store_true", help="only systems that can start here as they are")
    show = actions.add_parser("show", help="one system's card")
    show.add_argument("system", metavar="SYSTEM", help="an id of `systems list`, a .toml file or module:attribute")
    check = actions.add_parser("check", help="check your own card")
    check.add_argument("file", metavar="FILE", type=Path, help="a .toml file")
    for action in (listing, show, check):
        add_json(action)
        action.epilog = EXAMPLE
    parser.epilog = EXAMPLE


def run(options: argparse.Namespace) -> int:
    """List the systems, show one, or check a card."""
    from oruk_leaderboard.systems import get_system, lacking, read_card

    if options.action == "list":
        return _list(options)
    card = read_card(options.file) if options.action == "check" else get_system(options.system)
    document = {**card.to_dict(), "missing": lacking(card)}
    if options.action == "show":
        from oruk_leaderboard.records.overlap import overlap_of

        document["overlap"] = overlap_of(card.id) if card.hub else None
    if options.json:
        write_json(document)
    elif options.action == "check":
        write_text(f"{card.id}: a valid card" + "".join(f"\nmissing to start: {need}" for need in document["missing"]))
    else:
        write_text(_as_text(document))
    return 0


def _as_text(document: dict[str, Any]) -> str:
    from oruk_leaderboard.systems import ADAPTERS

    shown = dict(document)
    shown["overlap"] = shown["overlap"] and shown["overlap"]["sentence"]
    if shown["adapter"] is not None:
        shown["adapter"] = f"{shown['adapter']} ({ADAPTERS[shown['adapter']][0]})"
    if shown["hub"] is not None and shown["revision"] is None:
        shown["revision"] = "unpinned"
    shown["missing"] = "; ".join(shown["missing"]) or "nothing: ready to run"
    return "\n".join(f"{name}: {'unknown' if value is None else value}" for name, value in shown.items())


def _list(options: argparse.Namespace) -> int:
    from oruk_leaderboard.records.training import training_ledger
    from oruk_leaderboard.systems import lacking, registry

    cards = [
        {
            **card.to_dict(),
            "overlap": training_ledger().of(card.id).evidence if card.hub else None,
            "missing": lacking(card),
        }
        for card in registry().values()
        if options.family in (None, card.family)
    ]
    if options.ready:
        cards = [card for card in cards if not card["missing"]]
    if options.json:
        write_json(cards)
    else:
        names = ["id", "family", "adapter", "parameters_m", "overlap", "missing"]
        rows = [[*(card[name] for name in names[:-1]), "; ".join(card["missing"]) or "ready"] for card in cards]
        write_text(text_table(names, rows, right=["parameters_m"]))
    return 0
