"""``export-eval-results``: results of one system for its model repository."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli import DONE
from oruk_leaderboard.cli.output import add_json, note, write_json, write_text
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import writing


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``export-eval-results``."""
    parser.add_argument("system", metavar="SYSTEM", help="id or name of the system")
    parser.add_argument(
        "--revision", required=True, metavar="SHA", help="40-hex commit of the data set, as publish prints it"
    )
    parser.add_argument(
        "--format",
        choices=("eval-results", "model-index"),
        default="eval-results",
        help="a file of .eval_results, or the older model-index for the card's front matter",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="clone of the model repository to write into")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    add_json(parser)
    parser.epilog = (
        "example:\n  oruk-leaderboard export-eval-results hubert-large-superb-er "
        "--revision 0123456789abcdef0123456789abcdef01234567"
    )


def run(args: argparse.Namespace) -> int:
    """Print the results, or write them into a clone of the model repository."""
    import yaml

    from oruk_leaderboard.hub import evals
    from oruk_leaderboard.records.record import load_records

    older = args.format == "model-index"
    make = evals.model_index if older else evals.eval_results
    document = make(args.system, load_records(), revision=args.revision)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    if args.out is None:
        write_json(document) if args.json else write_text(text)
        return DONE
    path = args.out / ("model-index.yaml" if older else evals.RESULTS_NAME)
    if path.exists() and not args.force:
        raise OrukError("the file is there already", where=path, do="look at it, then replace it with --force")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path):
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OrukError("the results cannot be written", where=path, found=error.strerror) from error
    if not older and evals.held_back():
        note(f"the Hub ignores {evals.RESULTS_NAME} until the benchmark is registered: {'; '.join(evals.STEPS)}")
    if args.json:
        write_json({"path": str(path), "results": document})
    else:
        write_text(f"wrote {path}\nnext: commit it to the model repository, or open a pull request there")
    return DONE
