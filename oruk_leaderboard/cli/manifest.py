"""``oruk-leaderboard manifest build|stats|digest|diff|pin``."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli import DONE, FINDINGS, output
from oruk_leaderboard.paths import writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oruk_leaderboard.corpora import FoundCorpus
    from oruk_leaderboard.manifest import Manifest

_SHOWN = 40
"""Differences that the text output names before it only counts; ``--json`` names all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below ``manifest``."""
    verbs = parser.add_subparsers(dest="what", metavar="VERB", required=True)
    build = verbs.add_parser(
        "build",
        help="rebuild data/manifest from clip lists, or what is derived from its CSV files",
        epilog="example:\n  oruk-leaderboard manifest build --lists lists --out manifest",
    )
    build.add_argument("--lists", type=Path, metavar="DIR", help="clip lists, with a folder hashes beside it")
    build.add_argument(
        "--out", type=Path, metavar="DIR", help="where to write (default: data/manifest of the checkout)"
    )
    build.add_argument("--size", type=output.positive, metavar="N", help="clips of profile full (default: 64384)")
    build.add_argument(
        "--as-version", metavar="X.Y.Z", help="take the CSV files as they are now as a new version: a correction"
    )
    stats = verbs.add_parser(
        "stats",
        help="clips, hours, speakers and classes by corpus and language",
        epilog="example:\n  oruk-leaderboard manifest stats --profile open",
    )
    stats.add_argument("--plots", type=Path, metavar="DIR", help="also draw them as SVG files in this folder")
    stats.add_argument("--profile", choices=("full", "open"), default="full")
    digest = verbs.add_parser(
        "digest", help="the one hash that two papers compare", epilog="example:\n  oruk-leaderboard manifest digest"
    )
    digest.add_argument("--profile", choices=("full", "open"), default="full")
    diff = verbs.add_parser(
        "diff",
        help="compare two versions, or two users' reports",
        epilog="example:\n  oruk-leaderboard manifest diff mine/report.json yours/report.json",
    )
    diff.add_argument("a", metavar="A", help="version, folder, parquet file, validate --json file or report.json")
    diff.add_argument("b", metavar="B", help="as A")
    pin = verbs.add_parser(
        "pin",
        help="complete the digests of clips with those of your copy, or state them for others",
        epilog="""examples:
  oruk-leaderboard manifest pin --root /data
  oruk-leaderboard manifest pin --root /data --corpus esd --out esd.json
  oruk-leaderboard manifest pin --check esd.json""",
    )
    pin.add_argument("--root", action="append", default=[], metavar="PATH", help="folder or archive")
    pin.add_argument("--corpus", action="append", metavar="ID[=PATH]", help="this corpus only; may be repeated")
    pin.add_argument(
        "--out", type=Path, metavar="FILE", help="write a statement to send: digests by clip id, no paths, no labels"
    )
    pin.add_argument("--check", type=Path, metavar="FILE", help="compare a statement with the manifest, row by row")
    pin.add_argument("--patch", action="store_true", help="with --check: print what it adds, for git apply")
    pin.add_argument("--workers", type=output.positive, metavar="N", help="threads (default: one per core)")
    for verb in (stats, digest, pin):
        verb.add_argument("--manifest", metavar="VERSION|PATH", help="another manifest than the shipped one")
    for verb in (build, stats, digest, diff, pin):
        output.add_json(verb)
    parser.epilog = "example:\n  oruk-leaderboard manifest stats"


def run(args: argparse.Namespace) -> int:
    """Run the verb; returns the exit code."""
    return {"build": _build, "stats": _stats, "digest": _digest, "diff": _diff, "pin": _pin}[args.what](args)


def _build(args: argparse.Namespace) -> int:
    from oruk_leaderboard.manifest import rule
    from oruk_leaderboard.manifest.build import SOURCES_FILE, build_manifest
    from oruk_leaderboard.manifest.files import read_folder, write_manifest
    from oruk_leaderboard.manifest.witnesses import WITNESSES_FILE
    from oruk_leaderboard.paths import checkout_root, data_dir

    out = args.out or checkout_root() / "data" / "manifest"
    if args.lists is None:
        manifest = read_folder(out, version=args.as_version)
        write_manifest(manifest, out, beside=_beside(out))
        _write(args, {**manifest.to_dict(), "out": str(out)}, f"{out}.parquet: {len(manifest.rows)} clips")
        return DONE
    # These two are written by hand; a build takes the shipped ones.
    kept = {
        name: (data_dir() / "manifest" / name).read_text(encoding="utf-8") for name in (SOURCES_FILE, WITNESSES_FILE)
    }
    with output.progress(args, unit="list") as progress:
        built = build_manifest(args.lists, size=args.size or rule.SIZE, sources=kept[SOURCES_FILE], progress=progress)
    write_manifest(built.manifest, out, beside={**built.beside, **kept})
    for path in built.unused:
        output.note(f"{path.name}: not used, no adapter of that name")
    for corpus, reason in built.left_out.items():
        output.note(f"{corpus}: left out, {reason}")
    for problem in built.problems:
        output.note(f"{problem.where}: {problem.reason}")
    document = {
        **built.manifest.to_dict(),
        "cap": built.cap,
        "out": str(out),
        "left_out": dict(built.left_out),
        "unused": [path.name for path in built.unused],
        "problems": [{"where": problem.where, "reason": problem.reason} for problem in built.problems],
    }
    _write(
        args,
        document,
        f"{out}: {len(built.manifest.rows)} clips of {len(built.manifest.corpora)} corpora, CAP {built.cap}",
    )
    return FINDINGS if built.problems else DONE


def _beside(folder: Path) -> dict[str, str]:
    """The files of a manifest that are not made from its rows."""
    from oruk_leaderboard.manifest.files import LABELS, SUMS

    paths = (path for path in folder.iterdir() if path.suffix in (".md", ".tsv") and path.name not in (LABELS, SUMS))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def _write(args: argparse.Namespace, document: dict[str, object], text: str) -> None:
    if args.json:
        output.write_json(document)
    else:
        output.write_text(text)


def _stats(args: argparse.Namespace) -> int:
    from oruk_leaderboard.classes import CLASSES
    from oruk_leaderboard.manifest import load_manifest
    from oruk_leaderboard.manifest.plot import plots
    from oruk_leaderboard.manifest.stats import NOT_SHIPPED, stats
    from oruk_leaderboard.records.overlap import Undeclared

    manifest = load_manifest(args.manifest).profile(args.profile)
    figures, subset = stats(manifest), Undeclared.of(manifest)
    written = []
    for name, text in plots(figures).items() if args.plots else ():
        args.plots.mkdir(parents=True, exist_ok=True)
        with writing(args.plots / name):
            (args.plots / name).write_text(text, encoding="utf-8", newline="\n")
        written.append(str(args.plots / name))
    if args.json:
        groups = {by: [group.to_dict() for group in members] for by, members in figures.items()}
        groups["corpus"] = [group | _how_to_get(group["name"]) for group in groups["corpus"]]
        output.write_json({"manifest": manifest.to_dict(), **groups, "undeclared": subset._asdict(), "plots": written})
        return DONE
    counts = ["clips", "open", "hours", "no duration", "speakers", "hashed", "proven", "seen by 2+"]
    counts += [*CLASSES, NOT_SHIPPED]
    for by, members in figures.items():
        rows = [
            [g.name, g.clips, g.open, None if g.hours is None else f"{g.hours:.2f}", g.unknown_durations, g.speakers]
            + [g.hashed, g.proven, g.seen_by_two]
            + [g.classes.get(label) for label in (*CLASSES, NOT_SHIPPED)]
            for g in members
        ]
        output.write_text(text_table([by, *counts], rows, right=counts) + "\n")
    (whole,) = figures["all"]
    output.write_text(f"{whole.known}\nundeclared: {subset}")
    for path in written:
        output.note(f"wrote {path}")
    return DONE


def _how_to_get(corpus: str) -> dict[str, object]:
    from oruk_leaderboard.corpora import registry
    from oruk_leaderboard.manifest.build import NOT_AT_PRESENT

    spec = registry().get(corpus)
    if spec is None:
        return {}
    return {
        "agreement": spec.agreement_required,
        "obtain": spec.obtain,
        "not_at_present": NOT_AT_PRESENT.get(corpus),
        "needs": list(spec.needs),
    }


def _digest(args: argparse.Namespace) -> int:
    from oruk_leaderboard.manifest import load_manifest

    manifest = load_manifest(args.manifest).profile(args.profile)
    _write(args, {**manifest.to_dict(), "profile": args.profile}, manifest.digest)
    return DONE


def _diff(args: argparse.Namespace) -> int:
    from oruk_leaderboard.manifest.diff import diff, read_side, summary

    a, b = read_side(args.a), read_side(args.b)
    differences = diff(a, b)
    if args.json:
        output.write_json(
            {
                "a": a.digest,
                "b": b.digest,
                "summary": summary(differences),
                "differences": [difference.to_dict() for difference in differences],
            }
        )
    else:
        lines = [f"{a.digest} → {b.digest}", *(f"{what}: {n}" for what, n in summary(differences).items())]
        for item in differences[:_SHOWN]:
            changes = ", ".join(f"{column} {old!r} → {new!r}" for column, (old, new) in item.values.items())
            lines.append(f"{item.change}  {item.clip_id}  {changes}".rstrip())
        if len(differences) > _SHOWN:
            lines.append(f"… and {len(differences) - _SHOWN} more; --json has all")
        output.write_text("\n".join(lines if differences else [*lines, "no difference"]))
    return FINDINGS if differences else DONE


def _pin(args: argparse.Namespace) -> int:
    from oruk_leaderboard.corpora import find_corpora, not_recognised, open_roots, parse_corpora
    from oruk_leaderboard.errors import OrukError
    from oruk_leaderboard.manifest import load_manifest

    if args.check is not None:
        if args.root or args.corpus or args.out:
            raise OrukError("--check reads a statement, not a copy", do="leave out --root, --corpus and --out")
        return _check_statement(args)
    roots = open_roots(*args.root)
    only = parse_corpora(args.corpus) if args.corpus else None
    founds = find_corpora(*roots, only=only)
    if not founds:
        raise not_recognised(roots, only)
    return (_state if args.out is not None else _complete)(args, founds, load_manifest(args.manifest))


def _complete(args: argparse.Namespace, founds: "Sequence[FoundCorpus]", manifest: "Manifest") -> int:
    from oruk_leaderboard.manifest.pin import pin

    with output.progress(args) as progress:
        pinned = pin(founds, manifest, workers=args.workers, progress=progress)
    patch = pinned.patch()
    if args.json:
        output.write_json(
            {"pinned": len(pinned.rows), "problems": [asdict(item) for item in pinned.problems], "patch": patch}
        )
    elif patch:
        output.write_text(patch)
    output.note(f"{len(pinned.rows)} clips completed; apply with git apply, then: manifest build --as-version X.Y.Z")
    for problem in pinned.problems:
        output.note(f"{problem.where}: {problem.reason}")
    return FINDINGS if pinned.problems else DONE


def _state(args: argparse.Namespace, founds: "Sequence[FoundCorpus]", manifest: "Manifest") -> int:
    from oruk_leaderboard.manifest.statement import make_statement

    with output.progress(args) as progress:
        statement, problems = make_statement(founds, manifest, workers=args.workers, progress=progress)
    args.out.write_text(statement.text(), encoding="utf-8", newline="\n")
    releases = ", ".join(f"{corpus} ({release})" for corpus, release in statement.corpora.items())
    text = f"{args.out}: {len(statement.clips):,} clips of {releases}"
    document = {"out": str(args.out), "clips": len(statement.clips), "corpora": dict(statement.corpora)}
    _write(args, {**document, "problems": [asdict(item) for item in problems]}, text)
    for problem in problems:
        output.note(f"{problem.where}: {problem.reason}")
    return FINDINGS if problems else DONE


def _check_statement(args: argparse.Namespace) -> int:
    from oruk_leaderboard.manifest import load_manifest
    from oruk_leaderboard.manifest.statement import ADDS, AGREES, DIFFERS, UNKNOWN, check_statement, read_statement

    agreement = check_statement(read_statement(args.check), load_manifest(args.manifest))
    if args.json:
        output.write_json(agreement.to_dict())
    elif args.patch:
        output.write_text(agreement.pinned.patch())
    else:
        header = ["corpus", AGREES, ADDS, DIFFERS, UNKNOWN]
        rows = [[corpus, *(counts.get(said) for said in header[1:])] for corpus, counts in agreement.totals.items()]
        lines = [text_table(header, rows, right=header[1:])]
        for corpus, digest in agreement.tables.items():
            lines.append(f"{corpus}: another release than the pinned one, table {digest}")
        for clip_id, columns in list(agreement.differing.items())[:_SHOWN]:
            said = ", ".join(f"{column} {pinned} here {stated}" for column, (pinned, stated) in columns.items())
            lines.append(f"differs  {clip_id}  {said}")
        if len(agreement.differing) > _SHOWN:
            lines.append(f"… and {len(agreement.differing) - _SHOWN} more; --json has all")
        output.write_text("\n".join(lines))
    return DONE if agreement.clean else FINDINGS
