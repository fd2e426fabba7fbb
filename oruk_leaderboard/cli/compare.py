"""``compare``: paired tests, tie groups, rank intervals."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, note, write_json, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from oruk_leaderboard.answers.gold import Gold
    from oruk_leaderboard.answers.predictions import Predictions
    from oruk_leaderboard.scoring.comparison import Comparison


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of ``compare``."""
    parser.epilog = (
        "example: oruk-leaderboard compare a.csv b.csv large=runs/c.parquet --clips rebuilt --plot forest.svg"
    )
    parser.add_argument("predictions", nargs="+", metavar="[NAME=]PRED", help="predictions file; name: the file's stem")
    against = parser.add_mutually_exclusive_group(required=True)
    against.add_argument("--clips", metavar="DIR", type=Path, help="rebuilt set")
    against.add_argument("--gold", metavar="FILE", type=Path, help="gold labels instead of a rebuilt set")
    parser.add_argument(
        "--metric", default="macro_f1", metavar="KEY", help="rank by it: macro_f1, accuracy or uar (macro_f1)"
    )
    parser.add_argument("--on-error", choices=("neutral", "wrong"), help="what failed clips count as (by the protocol)")
    parser.add_argument(
        "--cluster",
        choices=("speaker", "corpus", "clip"),
        help="unit that the bootstrap resamples (speaker, within each corpus)",
    )
    parser.add_argument("--n-boot", type=int, default=2000, metavar="N", help="bootstrap replicates (2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the draws (0)")
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="one minus the confidence (0.05)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--prompts", action="store_true", help="the files are one system asked by several prompts")
    what.add_argument(
        "--subset",
        metavar="FILE|5k",
        help="how far figures move from all clips to those of this file (column clip_id), or to the subsample",
    )
    parser.add_argument("--common", action="store_true", help="only the clips that every file has a row for")
    parser.add_argument(
        "--exclude-corpus",
        action="append",
        default=[],
        metavar="ID",
        help="a system was trained on this corpus: rank outside it too (systems named by their id: data/training.csv)",
    )
    parser.add_argument("--plot", metavar="FILE", type=Path, help="rank plot, .svg or .png (extra: plot)")
    parser.add_argument(
        "--latex", action="store_true", help="LaTeX: rows as in `table --format latex`, and a table of the ranking"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; failed clips of any system are findings."""
    from oruk_leaderboard.answers.predictions import read_predictions
    from oruk_leaderboard.cells import latex_comment
    from oruk_leaderboard.scoring.comparison import failures, rank
    from oruk_leaderboard.scoring.comparison_formats import as_latex, as_text, ensemble_text, outside_text, shift_text
    from oruk_leaderboard.scoring.panel import common, named, panel
    from oruk_leaderboard.scoring.scorer import resolve_gold
    from oruk_leaderboard.scoring.variation import ensemble, shift

    files = named(args.predictions)
    gold = resolve_gold(args.clips, args.gold)
    systems = {name: read_predictions(path, gold.clip_ids, classes=gold.classes) for name, path in files.items()}
    if args.common:
        systems, gold = common(systems, gold)
    board = panel(
        systems,
        gold,
        cluster=args.cluster,
        n_boot=args.n_boot,
        seed=args.seed,
        on_error=args.on_error,
    )
    comparison = rank(board, metric=args.metric, alpha=args.alpha)
    document, texts = comparison.to_dict(), list[str]()
    if args.prompts:
        summary = ensemble(board, metric=args.metric, alpha=args.alpha)
        document["ensemble"] = summary.to_dict()
        texts.append(ensemble_text(summary))
    if args.subset is not None:
        shifts = shift(board, _members(args, gold), metric=args.metric, alpha=args.alpha)
        document["shift"] = [row.to_dict() for row in shifts]
        texts.append(shift_text(shifts, args.metric))
    outside = _outside(args, systems, gold)
    document["outside_training"] = outside and {"corpora": sorted(outside[0]), **outside[1].to_dict()}
    texts.append(outside_text(outside))
    if args.plot is not None:
        from oruk_leaderboard.pictures.plots import save
        from oruk_leaderboard.scoring.score_pictures import forest_picture

        save(forest_picture(comparison), args.plot)
    if args.json:
        write_json(document)
    elif args.latex:
        write_text("\n\n".join([_latex_table(comparison), as_latex(comparison), *map(latex_comment, texts)]))
    else:
        write_text("\n\n".join([as_text(comparison), *texts]))
    found = failures(comparison)
    for line in found:
        note(line)
    return FINDINGS if found else DONE


def _outside(
    args: argparse.Namespace, systems: "Mapping[str, Predictions]", gold: "Gold"
) -> "tuple[frozenset[str], Comparison] | None":
    """The comparison on the clips that no compared system has declared as training data; None where none has."""
    from oruk_leaderboard.scoring.comparison import rank
    from oruk_leaderboard.scoring.panel import cut, panel
    from oruk_leaderboard.scoring.training_overlap import declared_corpora, outside_of

    found = [declared_corpora(gold, system_id=name, excluded=args.exclude_corpus) for name in systems]
    corpora = frozenset[str]().union(*(declared for declared in found if declared is not None))
    keep = outside_of(gold, corpora)
    if not corpora or keep.all() or not keep.any():
        return None
    kept, smaller = cut(systems, gold, keep)
    board = panel(kept, smaller, cluster=args.cluster, n_boot=args.n_boot, seed=args.seed, on_error=args.on_error)
    return corpora & {*gold.attributes["corpus"].values}, rank(board, metric=args.metric, alpha=args.alpha)


def _latex_table(comparison: "Comparison") -> str:
    """The systems as a table with the columns of ``table --format latex``, best first."""
    from oruk_leaderboard.table.latex import own_row, own_table

    rows = [
        own_row(
            standing.system,
            family=None,
            accuracy=100 * standing.figures["accuracy"],
            macro_f1=standing.figures["macro_f1"],
        )
        for standing in comparison.standings
    ]
    digest = (comparison.set_digest or "unknown")[:12]
    caption = f"{comparison.n:,} clips, set {digest}; scored here, not ranked with the published rows."
    return own_table(rows, caption)


def _members(args: argparse.Namespace, gold: "Gold") -> "NDArray[np.bool_]":
    """Which clips of the set belong to ``--subset``; an id of a file that is not in the set is an error."""
    import numpy as np

    from oruk_leaderboard.answers.predictions import read_ids
    from oruk_leaderboard.answers.tabular import read_rows
    from oruk_leaderboard.errors import PredictionError
    from oruk_leaderboard.scoring.scorer import read_clip_ids

    if args.subset == "5k":
        wanted = set(read_clip_ids(args.clips, args.gold, "5k"))
    else:
        wanted = set(read_ids(read_rows(Path(args.subset))))
        if not args.common and (unknown := wanted - set(gold.clip_ids)):
            raise PredictionError("a clip of the subset is not in the set", where=args.subset, found=min(unknown))
    return np.array([clip_id in wanted for clip_id in gold.clip_ids])
