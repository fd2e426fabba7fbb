"""``run``: one system on a rebuilt set."""

import argparse
from pathlib import Path

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, positive, progress, write_json, write_text

EPILOG = """examples:
  oruk-leaderboard run hubert-large-superb-er --clips rebuilt --out predictions.csv
  oruk-leaderboard run my_package.my_model:predict --clips rebuilt --out predictions.csv
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("system", metavar="SYSTEM", help="an id of `systems list`, a .toml file or module:function")
    parser.add_argument("--clips", type=Path, required=True, metavar="DIR", help="rebuilt set")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="predictions CSV, receipts beside it")
    parser.add_argument("--revision", metavar="SHA", help="40-hex revision of the weights")
    parser.add_argument("--device", default="cpu", help="torch device (cpu)")
    parser.add_argument("--subsample", choices=("5k",), help="the pinned subsample of the set's profile only")
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="where it runs (local)")
    parser.add_argument(
        "--workers", type=positive, default=1, metavar="N", help="copies of the system, with --engine ray"
    )
    add_json(parser)
    parser.epilog = EPILOG


def run(options: argparse.Namespace) -> int:
    """Run the system; 1 when a clip has no usable answer."""
    from oruk_leaderboard.systems.runner import run as run_system

    with progress(options) as begin:
        done = run_system(
            options.system,
            clips=options.clips,
            out=options.out,
            revision=options.revision,
            device=options.device,
            subsample=options.subsample,
            engine=options.engine,
            workers=options.workers,
            progress=begin,
        )
    if options.json:
        write_json(done.to_dict())
    else:
        counts = ", ".join(f"{number} {status}" for status, number in sorted(done.counts.items()))
        lines = [f"{done.system} at {done.revision}: {done.clips} clips ({done.resumed} from before): {counts}"]
        lines += [f"answer without a class {label!r}: {number} clips" for label, number in done.unknown_labels.items()]
        lines += [f"no class because {reason}: {number} clips" for reason, number in done.reasons.items()]
        if (mass := done.unmapped).on_top:
            lines.append(f"labels without a class: {mass.share:.1%} of the scores, on top for {mass.on_top} clips")
        write_text("\n".join([*lines, f"predictions: {done.predictions}", f"receipts:    {done.receipts}"]))
    return DONE if set(done.counts) <= {"ok"} else FINDINGS
