"""``systems``: the systems that can be run here, one card each."""

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli.output import add_json, write_json, write_text

if TYPE_CHECKING:
    from oruk_leaderboard.records.system_card import SystemCard

EXAMPLE = """examples:
  oruk-leaderboard systems list --family open --ready
  oruk-leaderboard systems show emotion2vec-plus-large
  oruk-leaderboard systems check mine.toml"""

LEGEND = (
    "overlap: what public sources say of training on the manifest's corpora; – where the weights are not public\n"
    "more about one system: oruk-leaderboard systems show ID"
)

FACTS = ("licence", "parameters_m", "classes", "training_corpora")
"""What is shown as unknown where a card does not state it; any other key is then left out."""

OF_WEIGHTS = frozenset({"hub", "revision", "batch_size", "dtype"})
OF_SERVICES = frozenset({"endpoint", "prompt", "max_tokens", "temperature", "thinking", "alias", "price"})
"""Keys that say nothing about other systems."""


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
        write_text(_checked(card, document["missing"]))
    else:
        write_text(_as_text(document))
    return 0


def _checked(card: "SystemCard", missing: list[str]) -> str:
    """What ``systems check`` prints."""
    from oruk_leaderboard.corpora import registry

    lines = [f"{card.id}: a valid card" + ("" if missing else ", ready to run")]
    lines += [f"missing to start: {need}" for need in missing]
    if other := sorted(set(card.training_corpora or ()) - set(registry())):
        lines.append(f"training_corpora that this package does not know: {', '.join(other)}")
    return "\n".join(lines)


def _as_text(document: dict[str, Any]) -> str:
    """The keys that apply to the adapter, one paragraph each."""
    from oruk_leaderboard.systems import ADAPTERS, WEIGHTS

    adapter = document["adapter"]
    what, _, extra = ADAPTERS.get(adapter, ("no adapter can run it", (), None))
    hidden = {"not_ready"} | (OF_WEIGHTS if extra == "api" else OF_SERVICES)
    if adapter in ("baseline", "acoustic"):
        hidden |= OF_WEIGHTS | {"scores"}
    hidden |= {"temperature"} if document["prompt"] is None else {"scores"}
    shown = {name: value for name, value in document.items() if name not in hidden}
    shown |= {name: "unknown" for name in FACTS if shown[name] is None}
    shown["adapter"] = what if adapter is None else f"{adapter}: {what}"
    if adapter in WEIGHTS and document["hub"] and document["revision"] is None:
        shown["revision"] = "unpinned"
    if "temperature" in shown:
        shown["temperature"] = "the prompt's" if document["temperature"] else "none: the service does not accept one"
    if "price" in shown:
        shown["price"] = _price(shown["price"])
    shown["overlap"] = document["overlap"] and document["overlap"]["sentence"]
    shown["missing"] = "; ".join(document["missing"]) or "nothing: ready to run"
    return "\n".join(_paragraph(name, value) for name, value in shown.items() if value is not None)


def _paragraph(name: str, value: object) -> str:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, tuple):
        value = ", ".join(value) or "none"
    elif isinstance(value, dict):
        value = ", ".join(f"{label} = {meant or 'no class'}" for label, meant in value.items())
    return textwrap.fill(
        f"{name}: {value}", 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _price(price: dict[str, Any] | None) -> str:
    if price is None:
        return "unknown: --budget needs one in a copy of the card"
    names = ("input", "audio", "output")
    tokens = ", ".join(f"{name} {price[name]:g}" for name in names if price[name] is not None)
    rate = f"{tokens} USD per million tokens" if tokens else f"{price['minute']:g} USD per minute of audio"
    return f"{rate} ({price['date']}, {price['source']})"


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
        write_text(f"{text_table(names, rows, right=['parameters_m'])}\n{LEGEND}")
    return 0
