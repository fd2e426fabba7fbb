"""``score``: from predictions to a record."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, note, progress, write_json, write_text

if TYPE_CHECKING:
    from oruk_leaderboard.protocols import Protocol
    from oruk_leaderboard.scoring.scorer import Score

EPILOG = """examples:
  oruk-leaderboard score --template predictions.csv --clips rebuilt
  oruk-leaderboard score predictions.csv --clips rebuilt --system emotion2vec-plus-base --out record.json
  oruk-leaderboard score predictions.jsonl --gold gold.csv --cluster corpus --json
  oruk-leaderboard score predictions.csv --gold gold.csv --protocol speech-emotion-recognition-on-iemocap
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument(
        "predictions", nargs="?", type=Path, metavar="PREDICTIONS", help="CSV, TSV, JSONL, parquet, npz"
    )
    parser.add_argument("--clips", type=Path, metavar="DIR", help="rebuilt set to score against")
    parser.add_argument("--gold", type=Path, metavar="FILE", help="gold labels instead of a rebuilt set")
    parser.add_argument("--template", type=Path, metavar="FILE", help="write an empty predictions file and stop")
    parser.add_argument("--subsample", choices=("5k",), help="score the pinned subsample of the profile only")
    add_scoring_options(parser)
    add_json(parser)
    parser.epilog = EPILOG


def add_scoring_options(parser: argparse.ArgumentParser) -> None:
    """Options that ``score`` and ``replay`` share."""
    parser.add_argument(
        "--system", metavar="ID|FILE", help="card of the system (the one that `run` asked): an id or a TOML file"
    )
    parser.add_argument("--protocol", metavar="NAME", help="protocol or leaderboard to score by (oruk-bench)")
    parser.add_argument("--on-error", choices=("neutral", "wrong"), help="how failed clips count (by the protocol)")
    parser.add_argument(
        "--cluster",
        choices=("speaker", "corpus", "clip"),
        help="unit that the bootstrap resamples (speaker, within each corpus)",
    )
    parser.add_argument(
        "--interval",
        choices=("logit-t", "t", "percentile", "bca"),
        default="logit-t",
        help="kind of interval (logit-t; docs/intervals.md says why)",
    )
    parser.add_argument("--n-boot", type=int, default=2000, metavar="N", help="bootstrap replicates (2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the draws (0)")
    parser.add_argument("--by", action="append", metavar="ATTRIBUTE", help="slice by this too (speaker); repeatable")
    parser.add_argument(
        "--votes", action="append", type=Path, metavar="FILE", help="a corpus's file of listeners' votes; repeatable"
    )
    parser.add_argument(
        "--exclude-corpus",
        action="append",
        default=[],
        metavar="ID",
        help="the system was trained on this corpus: figures outside it too; repeatable",
    )
    parser.add_argument("--snapshot", metavar="DATE", help="date of the record, YYYY-MM-DD (today)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the record")
    parser.add_argument("--full", action="store_true", help="print all figures, classes, confusion and slices")
    parser.add_argument(
        "--latex", action="store_true", help="LaTeX: a row as in `table --format latex`, and a table of the classes"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write figures as SVG and PNG")


def run(options: argparse.Namespace) -> int:
    """Score, or write a template."""
    one_thread()
    if options.template is not None:
        return _template(options)
    from oruk_leaderboard.errors import PredictionError
    from oruk_leaderboard.protocols import load
    from oruk_leaderboard.scoring.scorer import score

    if options.predictions is None:
        raise PredictionError("nothing to score", expected="a predictions file, or --template FILE to begin one")
    protocol = load(options.protocol)
    if protocol.version is None:
        return _leaderboard(options, protocol)
    with progress(options, unit="step") as begin:
        result = score(
            options.predictions,
            clips=options.clips,
            gold=options.gold,
            subsample=options.subsample,
            progress=begin,
            **scoring_options(options),
        )
    return finish(result, options)


def one_thread() -> None:
    """Keep OpenBLAS to one thread: starting more for matrices this small costs more than it saves."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def scoring_options(options: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of ``scoring.score`` that ``score`` and ``replay`` share."""
    from oruk_leaderboard.answers.gold import ATTRIBUTES
    from oruk_leaderboard.errors import PredictionError
    from oruk_leaderboard.scoring.scorer import SLICES

    extra = options.by or []
    if unknown := sorted(set(extra) - set(ATTRIBUTES)):
        raise PredictionError("no such attribute", where="--by", expected=", ".join(ATTRIBUTES), found=unknown[0])
    return {
        "protocol": options.protocol,
        "system": options.system,
        "on_error": options.on_error,
        "cluster": options.cluster,
        "n_boot": options.n_boot,
        "seed": options.seed,
        "interval": options.interval,
        "slices": (*SLICES, *(name for name in extra if name not in SLICES)),
        "votes": tuple(options.votes or ()),
        "exclude_corpora": options.exclude_corpus,
        "snapshot": options.snapshot,
    }


def finish(result: "Score", options: argparse.Namespace) -> int:
    """Write and print a result; returns the exit code."""
    if options.out is not None:
        from oruk_leaderboard.records.record import write_record

        write_record(result.record, options.out)
        note(f"record written to {options.out}")
    if options.figures is not None:
        from oruk_leaderboard.scoring.score_pictures import write_pictures

        note(f"{len(write_pictures(result.to_dict(), options.figures))} figures written to {options.figures}")
    if options.json:
        write_json(result.to_dict())
    else:
        from oruk_leaderboard.scoring.report import latex_report, short_report, text_report
        from oruk_leaderboard.table.latex import record_table

        document = result.to_dict()
        if options.latex:
            write_text(f"{record_table(result.record)}\n{latex_report(document)}")
        else:
            report = text_report if options.full else short_report
            write_text(report(document, result.findings, figures=result.protocol.figures))
    if options.json or options.latex:
        for finding in result.findings:
            note(f"finding: {finding}")
    return FINDINGS if result.findings else DONE


def _leaderboard(options: argparse.Namespace, protocol: "Protocol") -> int:
    """Score by a leaderboard of the literature: exactly its columns, no record."""
    from oruk_leaderboard.answers.tabular import read_rows
    from oruk_leaderboard.errors import PredictionError
    from oruk_leaderboard.scoring.column_formats import as_latex, as_text
    from oruk_leaderboard.scoring.columns import score_columns
    from oruk_leaderboard.scoring.scorer import gold_columns

    names = ("subsample", "system", "on_error", "cluster", "by", "figures")
    if given := [name for name in names if getattr(options, name)]:
        option = f"--{given[0].replace('_', '-')}"
        raise PredictionError("the option does not apply to this protocol", where=protocol.name, found=option)
    result = score_columns(protocol, gold_columns(options.clips, options.gold), read_rows(options.predictions))
    if options.out is not None:
        from oruk_leaderboard.jsontext import pretty

        try:
            options.out.write_text(pretty(result.to_dict()) + "\n", encoding="utf-8", newline="\n")
        except OSError as error:
            raise PredictionError("the figures cannot be written", where=options.out, found=error.strerror) from error
        note(f"figures written to {options.out}")
    if options.json:
        write_json(result.to_dict())
    else:
        write_text(as_latex(result) if options.latex else as_text(result))
    return FINDINGS if result.counts["abstained"] + result.counts["missing"] else DONE


def _template(options: argparse.Namespace) -> int:
    from oruk_leaderboard.errors import PredictionError
    from oruk_leaderboard.scoring.scorer import read_clip_ids, write_template

    if options.predictions is not None:
        raise PredictionError("a template or a score, not both", expected="--template FILE --clips DIR")
    ids = read_clip_ids(options.clips, options.gold, options.subsample)
    write_template(ids, options.template)
    if options.json:
        write_json({"template": str(options.template), "clips": len(ids)})
    else:
        write_text(f"{options.template}: {len(ids):,} clips; fill in the column label")
    return DONE
