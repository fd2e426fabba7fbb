"""``reconstruct``: rebuild the evaluation clips."""

import argparse

_EPILOG = """\
examples:
  oruk-leaderboard reconstruct --root /data/corpora --out clips --profile open
  oruk-leaderboard reconstruct --corpus emodb=/data/emodb --corpus my.toml=/data/mine --out clips --all-clips
  oruk-leaderboard reconstruct --root /data/corpora --out s3://bucket/clips --engine ray

The same command goes on where an earlier run in the same folder ended, and checks a finished set.
Exit code 1 says that the report has findings: clips that are missing, altered, failed or odd."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    from oruk_leaderboard.cli.output import add_json, positive

    parser.epilog = _EPILOG
    parser.add_argument(
        "--root", action="append", default=[], metavar="PATH", help="folder, archive or URL with corpora; repeatable"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="output folder or fsspec URL")
    parser.add_argument(
        "--corpus",
        action="append",
        metavar="ID[=PATH]",
        help="only this corpus, or a spec file of your own; repeatable",
    )
    selection = parser.add_mutually_exclusive_group()
    selection.add_argument("--profile", choices=("open", "full"), help="the manifest's clips of this profile")
    selection.add_argument("--all-clips", action="store_true", help="every clip that has a class")
    parser.add_argument("--layout", choices=("parquet", "audiofolder", "harness"), default="parquet")
    parser.add_argument(
        "--workers", type=positive, metavar="N", help="threads, or tasks on a cluster; default: one per core"
    )
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--limit", type=positive, metavar="N", help="the first N clips only")
    parser.add_argument(
        "--language",
        action="append",
        default=[],
        metavar="TAG",
        help="only this language and its varieties (en finds en-CA); repeatable",
    )
    parser.add_argument("--label", action="append", default=[], metavar="CLASS", help="only this class; repeatable")
    parser.add_argument("--label-policy", metavar="NAME", help="named change of the corpora's label maps")
    parser.add_argument("--label-source", metavar="NAME", help="named other label, such as the perceived one")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, how long and how much disk")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Rebuild, and print the summary."""
    from oruk_leaderboard.cli import DONE, FINDINGS
    from oruk_leaderboard.cli.output import note_broken_plug_ins, progress, write_json, write_text
    from oruk_leaderboard.corpora import parse_corpora
    from oruk_leaderboard.errors import OrukError
    from oruk_leaderboard.reconstruction import dry_run, reconstruct

    corpora = parse_corpora(options.corpus) if options.corpus else None
    if not options.root and not (corpora and any(corpora.values())):
        raise OrukError("no corpora root is given", expected="--root PATH or --corpus ID=PATH")
    chosen = {
        "corpora": corpora,
        "profile": options.profile,
        "all_clips": options.all_clips,
        "languages": options.language,
        "labels": options.label,
        "limit": options.limit,
        "label_policy": options.label_policy,
        "label_source": options.label_source,
        "workers": options.workers,
    }
    broken = note_broken_plug_ins()
    with progress(options) as begin:
        if options.dry_run:
            estimate = dry_run(*options.root, progress=begin, **chosen)
            write_json(estimate.to_dict()) if options.json else write_text(estimate.text())
            return FINDINGS if estimate.findings or broken else DONE
        report = reconstruct(
            *options.root, out=options.out, layout=options.layout, engine=options.engine, progress=begin, **chosen
        )
    write_json(report.to_dict()) if options.json else write_text(report.text())
    return DONE if report.clean and not broken else FINDINGS
