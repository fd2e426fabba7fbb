"""``systems list`` and ``systems show``."""

import argparse

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli.output import add_json, write_json, write_text

EXAMPLE = "example:\n  oruk-leaderboard systems show emotion2vec-plus-large"


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list", help="the systems that can be run here", epilog="example:\n  oruk-leaderboard systems list"
    )
    add_json(listing)
    show = actions.add_parser("show", help="one system's card", epilog=EXAMPLE)
    show.add_argument("system", metavar="SYSTEM", help="an id of `systems list`, a .toml file or module:function")
    add_json(show)
    parser.epilog = EXAMPLE


def run(options: argparse.Namespace) -> int:
    """List the systems, or show one."""
    from oruk_leaderboard.records.overlap import overlap_of
    from oruk_leaderboard.records.training import training_ledger
    from oruk_leaderboard.systems import ADAPTERS, get_system, registry

    if options.action == "show":
        card = get_system(options.system).to_dict()
        card["overlap"] = overlap_of(card["id"]) if card["hub"] else None
        if options.json:
            write_json(card)
        else:
            card["overlap"] = card["overlap"] and card["overlap"]["sentence"]
            card["adapter"] = f"{card['adapter']} ({ADAPTERS[card['adapter']]})"
            write_text("\n".join(f"{name}: {'unknown' if value is None else value}" for name, value in card.items()))
        return 0
    cards = [
        {**card.to_dict(), "overlap": training_ledger().of(card.id).evidence if card.hub else None}
        for card in registry().values()
    ]
    if options.json:
        write_json(cards)
    else:
        names = ["id", "family", "adapter", "parameters_m", "overlap", "model_id"]
        write_text(text_table(names, [[card[name] for name in names] for card in cards], right=["parameters_m"]))
    return 0
