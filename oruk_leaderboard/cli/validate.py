"""``oruk-leaderboard validate``."""

import argparse
from typing import TYPE_CHECKING

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli import DONE, FINDINGS, output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oruk_leaderboard.manifest.validation import Validation


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--root", action="append", default=[], metavar="PATH", help="folder, archive or .lst listing")
    parser.add_argument("--corpus", action="append", metavar="ID[=PATH]", help="this corpus only; may be repeated")
    parser.add_argument(
        "--profile", choices=("full", "open"), help="the evaluation set to compare with; else the corpora found"
    )
    parser.add_argument("--manifest", metavar="VERSION|PATH", help="another manifest than the shipped one")
    parser.add_argument(
        "--workers", type=output.positive, metavar="N", help="threads that read and hash (default: one per core)"
    )
    parser.add_argument("--full", action="store_true", help="list every clip and file that is not right")
    output.add_json(parser)
    parser.epilog = "example:\n  oruk-leaderboard validate --root corpora --profile open"


def run(args: argparse.Namespace) -> int:
    """Run the verb; returns the exit code."""
    from oruk_leaderboard.corpora import find_corpora, not_recognised, open_roots, parse_corpora
    from oruk_leaderboard.errors import CorpusError
    from oruk_leaderboard.manifest import load_manifest, validate

    only = parse_corpora(args.corpus) if args.corpus else None
    if not args.root and not (only and all(only.values())):
        raise CorpusError("no corpora root", expected="--root PATH, or --corpus ID=PATH")
    broken = output.note_broken_plug_ins()
    roots = open_roots(*args.root)
    founds = find_corpora(*roots, only=only)
    if not founds:
        raise not_recognised(roots, only)
    manifest = load_manifest(args.manifest)
    here = {found.spec.id for found in founds}
    with output.progress(args) as progress:
        result = validate(founds, manifest, profile=args.profile, workers=args.workers, progress=progress)
    if args.json:
        output.write_json(result.to_dict())
    else:
        obtain = {found.spec.id: " ".join(found.spec.obtain.split()) for found in founds}
        output.write_text(_text(result, obtain, full=args.full))
    lost = output.note_lost(args.root, only, here)
    return DONE if result.clean and not lost and not broken else FINDINGS


def _text(result: "Validation", obtain: "Mapping[str, str]", *, full: bool) -> str:
    from oruk_leaderboard.manifest.check import STATES
    from oruk_leaderboard.manifest.corpus_check import NOT_SELECTED
    from oruk_leaderboard.manifest.findings import wrong

    header = ["corpus", *STATES, NOT_SELECTED]
    rows = [[corpus, *(totals.get(state) for state in header[1:])] for corpus, totals in result.totals.items()]
    lines = [text_table(header, rows, right=header[1:])]
    lines += [f"{corpus}: absent, {count} clips" for corpus, count in result.absent.items()]
    lines += [f"{corpus}: labels {said}" for corpus, said in result.labels.items()]
    if full:
        lines += [f"{i.state}  {i.clip_id or i.corpus}  {i.media or ''}: {i.reason}" for i in wrong(result.states)]
        lines += [f"{problem.where}: {problem.reason}" for problem in result.problems]
    else:
        lines += _short(result, obtain)
    version = f"manifest {result.manifest['version']} {result.manifest['digest']}"
    return "\n".join([*lines, str(result.known), version])


def _short(result: "Validation", obtain: "Mapping[str, str]") -> list[str]:
    """One line per corpus and reason, and per reason of what belongs to no clip."""
    from oruk_leaderboard.manifest.findings import summarise, summarise_problems

    lines = [item.text(obtain[item.corpus]) for item in summarise(result.states)]
    lines += [
        f"{problem.where}: {problem.reason}" + (f" (and {count - 1} more)" if count > 1 else "")
        for problem, count in summarise_problems(result.problems)
    ]
    return [*lines, "the whole list: --full"] if lines else []
