"""``oruk-leaderboard validate``."""

import argparse
from typing import TYPE_CHECKING

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli import DONE, FINDINGS, output

if TYPE_CHECKING:
    from oruk_leaderboard.manifest.validation import Validation

_SHOWN = 20
"""Clips that the text output names before it only counts; ``--json`` names all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--root", action="append", default=[], metavar="PATH", help="folder, archive or .lst listing")
    parser.add_argument("--corpus", action="append", metavar="ID[=PATH]", help="this corpus only; may be repeated")
    parser.add_argument(
        "--profile", choices=("full", "open"), help="the evaluation set to compare with; else the corpora found"
    )
    parser.add_argument("--manifest", metavar="VERSION|PATH", help="another manifest than the shipped one")
    parser.add_argument(
        "--workers", type=output.positive, metavar="N", help="threads that read and hash (default: one a core)"
    )
    output.add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard validate --root corpora --profile open"


def run(args: argparse.Namespace) -> int:
    """Run the verb; returns the exit code."""
    from oruk_leaderboard.corpora import find_corpora, get_corpus, parse_corpora
    from oruk_leaderboard.errors import CorpusError
    from oruk_leaderboard.manifest import load_manifest, validate

    only = parse_corpora(args.corpus) if args.corpus else None
    if not args.root and not (only and all(only.values())):
        raise CorpusError("no corpora root", expected="--root PATH, or --corpus ID=PATH")
    broken = output.tell_broken_plug_ins()
    founds = find_corpora(*args.root, only=only)
    if not founds:
        raise CorpusError(
            "no known corpus is here",
            where=", ".join(args.root) or None,
            do="see what is looked for with: oruk-leaderboard corpora list",
        )
    manifest = load_manifest(args.manifest)
    here = {found.spec.id for found in founds}
    with output.progress(args) as progress:
        result = validate(founds, manifest, profile=args.profile, workers=args.workers, progress=progress)
    if args.json:
        output.write_json(result.to_dict())
    else:
        output.write_text(_text(result))
    lost = {get_corpus(name).id for name in only or ()} - here
    for corpus in sorted(lost):
        output.note(f"{corpus}: not found under {', '.join(args.root)}")
    return DONE if result.clean and not lost and not broken else FINDINGS


def _text(result: "Validation") -> str:
    from oruk_leaderboard.manifest.check import DIFFERS, EXTRA, MISSING, STATES
    from oruk_leaderboard.manifest.corpus_check import NOT_SELECTED

    header = ["corpus", *STATES, NOT_SELECTED]
    rows = [[corpus, *(totals.get(state) for state in header[1:])] for corpus, totals in result.totals.items()]
    wrong = (DIFFERS, EXTRA, MISSING)
    named = sorted((item for item in result.states if item.state in wrong), key=lambda item: wrong.index(item.state))
    lines = [text_table(header, rows, right=header[1:])]
    lines += [f"{count} clips of {corpus}: absent" for corpus, count in result.absent.items()]
    lines += [f"labels of {corpus}: {said}" for corpus, said in result.labels.items()]
    lines += [
        f"{item.state}  {item.clip_id or item.corpus}  {item.media or ''}: {item.reason}" for item in named[:_SHOWN]
    ]
    if len(named) > _SHOWN:
        lines.append(f"… and {len(named) - _SHOWN} more; --json names them all")
    lines += [f"{problem.where}: {problem.reason}" for problem in result.problems]
    version = f"manifest {result.manifest['version']} {result.manifest['digest']}"
    return "\n".join([*lines, version])
