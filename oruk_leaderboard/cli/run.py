"""``run``: one system on a rebuilt set."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard.cli import DONE, FINDINGS
from oruk_leaderboard.cli.output import add_json, note, positive, progress, write_json, write_text

if TYPE_CHECKING:
    from oruk_leaderboard.systems.base import Options
    from oruk_leaderboard.systems.runner import Run, Selection

EPILOG = """examples:
  oruk-leaderboard run hubert-large-superb-er --clips rebuilt --out predictions.csv
  oruk-leaderboard run my_package.my_model:answer --clips rebuilt --out predictions.csv --limit 100
  oruk-leaderboard run gemini-gemini-2.5-flash --clips rebuilt --out g.csv --subsample 5k --budget 5 --dry-run
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("system", metavar="SYSTEM", help="an id of `systems list`, a .toml file or module:attribute")
    parser.add_argument("--clips", type=Path, required=True, metavar="DIR", help="rebuilt set")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="predictions CSV, receipts beside it")
    parser.add_argument("--dry-run", action="store_true", help="print calls, audio and what is missing, and stop")
    clips = parser.add_argument_group("which clips")
    clips.add_argument("--subsample", choices=("5k",), help="the pinned subsample of the set's profile only")
    clips.add_argument("--corpus", action="append", default=[], metavar="ID", help="only this corpus; repeatable")
    clips.add_argument("--language", metavar="TAG", help="only this language; en includes en-CA")
    clips.add_argument(
        "--protocol",
        metavar="NAME",
        help="only the clips of a diagnostic: crema-d-ieo-lo, crema-d-ieo-md or crema-d-ieo-hi",
    )
    clips.add_argument("--limit", type=positive, metavar="N", help="at most N clips, the first of the set")
    model = parser.add_argument_group("the model")
    model.add_argument("--revision", metavar="SHA", help="40-hex revision of the weights")
    model.add_argument("--device", default="cpu", help="cpu, cuda or mps (cpu)")
    model.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), help="number type of the weights")
    model.add_argument("--batch-size", type=positive, metavar="N", help="clips per call")
    model.add_argument(
        "--trust-remote-code", action="store_true", help="allow code from the model's repository, at a pinned revision"
    )
    service = parser.add_argument_group("a service")
    service.add_argument("--endpoint", metavar="URL", help="base URL of an OpenAI-compatible service")
    service.add_argument("--allow-http", action="store_true", help="allow plain HTTP to another machine")
    service.add_argument("--concurrency", type=positive, default=8, metavar="N", help="calls at the same time (8)")
    service.add_argument("--rpm", type=positive, metavar="N", help="calls per minute, at most")
    service.add_argument("--timeout", type=float, default=120, metavar="S", help="seconds to wait for an answer (120)")
    service.add_argument(
        "--budget", type=_usd, metavar="USD", help="stop before the calls cost more than this, at the card's price"
    )
    words = parser.add_argument_group("transcripts, for text-only systems (the corpus's own are used first)")
    words.add_argument("--transcripts", type=Path, metavar="FILE", help="file with columns clip_id, text, source")
    words.add_argument("--transcribe-with", metavar="MODEL", help="speech recogniser for the other clips")
    words.add_argument(
        "--transcribe-endpoint", metavar="URL", help="base URL of its service, such as https://api.openai.com/v1"
    )
    going = parser.add_argument_group("the run")
    going.add_argument(
        "--max-failures", type=positive, default=20, metavar="N", help="stop after N failures in a row (20)"
    )
    again = going.add_mutually_exclusive_group()
    again.add_argument(
        "--resume", action="store_true", help="keep earlier answers of a model that cannot be identified"
    )
    again.add_argument(
        "--restart", action="store_true", help="ask every clip again; earlier receipts are kept under other names"
    )
    going.add_argument(
        "--engine", choices=("local", "ray"), default="local", help="run in this process or on Ray (local)"
    )
    going.add_argument("--workers", type=positive, default=1, metavar="N", help="copies of the system, with ray (1)")
    going.add_argument("--num-gpus", type=float, default=0, metavar="X", help="GPUs per copy, with ray (0)")
    add_json(parser)
    parser.epilog = EPILOG


def run(options: argparse.Namespace) -> int:
    """Run the system; 1 when a clip has no usable answer, or the budget is used up."""
    from oruk_leaderboard.systems.base import Options
    from oruk_leaderboard.systems.budget import Budget, BudgetReachedError
    from oruk_leaderboard.systems.runner import Selection
    from oruk_leaderboard.systems.runner import run as run_system
    from oruk_leaderboard.systems.transcripts import transcripts

    asked = Options(
        revision=options.revision,
        device=options.device,
        dtype=options.dtype,
        batch_size=options.batch_size,
        trust_remote_code=options.trust_remote_code,
        endpoint=options.endpoint,
        allow_http=options.allow_http,
        concurrency=options.concurrency,
        rpm=options.rpm,
        timeout=options.timeout,
        budget=None if options.budget is None else Budget(options.budget),
        transcripts=transcripts(
            options.transcripts,
            options.transcribe_with,
            options.transcribe_endpoint,
            cache=options.out.parent / "transcripts.jsonl",
            allow_http=options.allow_http,
            timeout=options.timeout,
            rpm=options.rpm,
            concurrency=options.concurrency,
        ),
        clips=options.clips,
    )
    selection = Selection(options.subsample, tuple(options.corpus), options.language, options.limit, options.protocol)
    if options.dry_run:
        return _dry_run(options, asked, selection)
    try:
        with progress(options) as begin:
            done = run_system(
                options.system,
                clips=options.clips,
                out=options.out,
                options=asked,
                selection=selection,
                max_failures=options.max_failures,
                resume=options.resume,
                restart=options.restart,
                engine=options.engine,
                workers=options.workers,
                num_gpus=options.num_gpus,
                progress=begin,
            )
    except BudgetReachedError as error:
        note(f"oruk-leaderboard: {error}")
        return FINDINGS
    if options.json:
        write_json(done.to_dict())
    else:
        write_text(_as_text(done))
    return DONE if set(done.counts) <= {"ok"} and not done.undeclared_labels else FINDINGS


def _usd(text: str) -> float:
    """Type of ``--budget``.

    Raises:
        argparse.ArgumentTypeError: The text is not an amount above 0.
    """
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"expected an amount in USD above 0; found {text!r}")
    return amount


def _as_text(done: "Run") -> str:
    counts = ", ".join(f"{number} {status}" for status, number in sorted(done.counts.items()))
    lines = [f"{done.system} at {done.revision}: {done.clips} clips ({done.resumed} from before): {counts}"]
    if done.cost is not None:
        lines.append(f"cost: {done.cost:.4f} USD")
    for what, found in (
        ("no class for the answer", done.unknown_labels),
        ("a label that the card does not declare", done.undeclared_labels),
        ("without a class", done.reasons),
    ):
        shown = list(found.items())[:5]
        lines += [f"{what}: {name} ({number} clips)" for name, number in shown]
        lines += [f"{what}: {len(found) - 5} other kinds"] if len(found) > 5 else []
    if (mass := done.unmapped).on_top:
        lines.append(f"labels without a class: {mass.share:.1%} of the scores, on top for {mass.on_top} clips")
    return "\n".join([*lines, f"predictions: {done.predictions}", f"receipts:    {done.receipts}"])


def _dry_run(options: argparse.Namespace, asked: "Options", selection: "Selection") -> int:
    """What a run would do, without loading the system."""
    from oruk_leaderboard.systems.runner import plan

    planned = plan(options.system, clips=options.clips, out=options.out, options=asked, selection=selection)
    if options.json:
        write_json(planned.to_dict())
    else:
        lines = [
            f"{planned.system}: {planned.clips:,} clips, {planned.answered:,} answered before, "
            f"{planned.calls:,} calls, {planned.audio_minutes:,.1f} minutes of audio"
        ]
        if planned.cost is not None:
            lines.append(
                f"about {planned.cost:,.2f} USD without a model's reasoning, "
                f"at most {planned.most:,.2f} USD if no call is repeated"
            )
        write_text("\n".join([*lines, *(f"missing to start: {name}" for name in planned.missing)]))
    return DONE
