"""``oruk-leaderboard corpora list|show|find|clips|check``."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard.cells import text_table
from oruk_leaderboard.cli import output
from oruk_leaderboard.languages import base_language

if TYPE_CHECKING:
    from oruk_leaderboard.corpora import Problem
    from oruk_leaderboard.manifest.stats import ClipGroup


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below ``corpora``."""
    verbs = parser.add_subparsers(dest="what", metavar="VERB", required=True)
    listing = verbs.add_parser(
        "list", help="corpora with a working adapter", epilog="example:\n  oruk-leaderboard corpora list --all"
    )
    listing.add_argument("--all", action="store_true", help="also those without one, with what is missing")
    show = verbs.add_parser(
        "show", help="everything known about one corpus", epilog="example:\n  oruk-leaderboard corpora show ravdess"
    )
    show.add_argument("corpus", metavar="ID", help="corpus id or a spec file (.toml)")
    find = verbs.add_parser(
        "find",
        help="which corpora are there, and how complete",
        epilog="example:\n  oruk-leaderboard corpora find /data --hash",
    )
    find.add_argument("roots", nargs="+", metavar="ROOT", help="folder, .zip, .tar(.gz), .lst listing or fsspec URL")
    find.add_argument("--hash", action="store_true", help="also compare with the pinned digests")
    find.add_argument("--corpus", action="append", metavar="ID[=PATH]", help="look for this corpus only")
    rows = verbs.add_parser(
        "clips",
        help="the clips of one corpus as JSON Lines",
        epilog="example:\n  oruk-leaderboard corpora clips ravdess --root /data/ravdess --json",
    )
    rows.add_argument("corpus", metavar="ID", help="corpus id or a spec file (.toml)")
    rows.add_argument(
        "--root", required=True, metavar="PATH", help="folder, .zip, .tar(.gz), .lst listing or fsspec URL"
    )
    rows.add_argument("--label-policy", metavar="NAME", help="named change of the label map")
    rows.add_argument("--label-source", metavar="NAME", help="another label than the customary one, e.g. perceived")
    check = verbs.add_parser(
        "check",
        help="check a corpus spec with its own example",
        epilog="example:\n  oruk-leaderboard corpora check my.toml",
    )
    check.add_argument("file", metavar="FILE.toml", type=Path)
    for verb in (listing, show, find, rows, check):
        output.add_json(verb)
    parser.epilog = "example:\n  oruk-leaderboard corpora find /data"


def run(args: argparse.Namespace) -> int:
    """Run the verb; returns the exit code."""
    broken = output.note_broken_plug_ins()
    code = {"list": _list, "show": _show, "find": _find, "clips": _clips, "check": _check}[args.what](args)
    return 1 if broken and code == 0 else code


def _list(args: argparse.Namespace) -> int:
    from oruk_leaderboard.corpora import registry
    from oruk_leaderboard.corpora.spec import AGREEMENT
    from oruk_leaderboard.manifest import load_manifest
    from oruk_leaderboard.manifest.stats import stats

    specs = [spec for spec in registry().values() if args.all or spec.state == "adapter"]
    known = {group.name: group for group in stats(load_manifest())["corpus"]}
    if args.json:
        nothing = {"pinned": 0, "hashed": 0, "proven": 0, "seen_by_two": 0}
        output.write_json([{**spec.to_dict(), **nothing, **_known(known.get(spec.id))} for spec in specs])
        return 0
    counts = ["pinned", "hashed", "proven"]
    header = ["id", "languages", "elicitation", "clips", *counts, "tier", "agreement", "licence", "layout seen in"]
    rows = [
        [
            spec.id,
            ", ".join(spec.languages),
            spec.elicitation,
            spec.n_clips,
            *(_known(known.get(spec.id)).get(count) for count in counts),
            spec.tier,
            AGREEMENT[spec.agreement_required],
            spec.licence,
            spec.layout_source,
        ]
        for spec in specs
    ]
    if args.all:
        header += ["state", "missing"]
        rows = [[*row, spec.state, spec.missing] for row, spec in zip(rows, specs, strict=True)]
    output.write_text(text_table(header, rows, right=["clips", *counts]))
    languages = {base_language(tag) for spec in specs for tag in spec.languages} - {"mul", "und", "zxx"}
    unseen = sum(spec.state == "adapter" and not spec.layout_seen for spec in specs)
    output.write_text(
        f"{len(specs)} corpora in {len(languages)} languages; the layout of {unseen} is unconfirmed: nobody has seen it"
    )
    return 0


def _known(group: "ClipGroup | None") -> dict[str, int]:
    """How far the manifest pins and proves a corpus."""
    if group is None:
        return {}
    return group.known._asdict()


def _show(args: argparse.Namespace) -> int:
    from oruk_leaderboard.corpora import get_corpus
    from oruk_leaderboard.table import published

    spec = get_corpus(args.corpus)
    boards = [row for row in published.rows("leaderboards") if row["corpus"] == spec.id]
    document = {**spec.to_dict(), "leaderboards": [dict(row) for row in boards]}
    if args.json:
        output.write_json(document)
        return 0
    document["leaderboards"] = [published.summary(row) for row in boards]
    for key, value in document.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} → {content or 'no class'}" for name, content in value.items())
        lines = [str(item) for item in value] if isinstance(value, list) else ["–" if value is None else str(value)]
        output.write_text("\n".join(f"{key if not n else '':<22}{line}" for n, line in enumerate(lines or ["–"])))
    return 0


def _find(args: argparse.Namespace) -> int:
    from oruk_leaderboard.corpora import find_corpora, not_recognised, open_roots, parse_corpora
    from oruk_leaderboard.manifest.survey import survey

    roots = open_roots(*args.roots)
    only = parse_corpora(args.corpus) if args.corpus else None
    found = find_corpora(*roots, only=only)
    if not found:
        raise not_recognised(roots, only)
    surveys = [survey(corpus, hashes=args.hash) for corpus in found]
    problems = [problem for root in roots for problem in root.problems]
    if args.json:
        document = [item.to_dict() for item in surveys]
        output.write_json({"corpora": document, "problems": [asdict(problem) for problem in problems]})
    else:
        header = ["id", "clips", "of", "usable", "missing", "extras", "release", "places"]
        cells = [
            [
                *(item.corpus.spec.id, item.clips, item.of, item.usable, item.missing, item.extras, item.release),
                ", ".join(place or "." for place in item.corpus.places),
            ]
            for item in surveys
        ]
        output.write_text(text_table(header, cells, right=["clips", "of", "usable", "missing", "extras"]))
        for item in surveys:
            if item.unusable:
                reasons = ", ".join(f"{count:,} {reason}" for reason, count in item.unusable.items())
                output.write_text(f"{item.corpus.spec.id}: {item.usable:,} of {item.clips:,} clips usable: {reasons}")
            if item.states is not None:
                counts = ", ".join(f"{count:,} {state}" for state, count in item.states.items())
                output.write_text(f"{item.corpus.spec.id}: by hash: {counts or 'no clip is in the manifest'}")
            for short in item.shortfalls:
                some = "" if short.example is None else f" ({short.count:,}, e.g. {short.example})"
                output.write_text(f"{item.corpus.spec.id}: {short.what}{some}: {short.do}")
    _note_all(*problems, *(problem for item in surveys for problem in item.problems))
    lost = output.note_lost(args.roots, only, {item.corpus.spec.id for item in surveys})
    return 0 if not problems and not lost and all(item.complete for item in surveys) else 1


def _note_all(*problems: "Problem") -> None:
    for problem in problems:
        output.note(f"{problem.where}: {problem.reason}")


def _clips(args: argparse.Namespace) -> int:
    from oruk_leaderboard.corpora import clips, get_corpus, locate, open_root
    from oruk_leaderboard.errors import CorpusError

    root = open_root(args.root)
    corpus = locate(get_corpus(args.corpus), root)
    found = clips(corpus, label_policy=args.label_policy, label_source=args.label_source)
    if not found.clips and not found.missing:
        raise CorpusError(
            "no clip of this corpus is here",
            where=f"{corpus.spec.id} below {root.location}",
            expected="file names such as " + ", ".join(list(corpus.spec.example.get("tree", {}))[:2]),
            found=f"{len(root.names())} other files",
            do="give the folder of the corpus, or one above it",
        )
    rows = [clip.to_dict() for clip in found.clips]
    rows += [{**clip.to_dict(), "label": None, "excluded": "missing: no recording"} for clip in found.missing]
    if args.json:
        output.write_json_lines(rows)
    else:
        columns = ["clip_id", "label", "native_label", "speaker", "gender", "language", "media", "excluded"]
        output.write_text(text_table(columns, [[row[column] for column in columns] for row in rows]))
    _note_all(*root.problems, *found.problems)
    if found.missing:
        output.note(f"{corpus.spec.id}: {len(found.missing)} clips of its label file have no recording here")
    if found.extras:
        output.note(f"{corpus.spec.id}: {len(found.extras)} recordings are not clips, e.g. {found.extras[0].where}")
    return 1 if root.problems or found.problems or found.missing else 0


def _check(args: argparse.Namespace) -> int:
    import tempfile

    from oruk_leaderboard.corpora import load_spec, registry
    from oruk_leaderboard.corpora.contributed import unsaid
    from oruk_leaderboard.corpora.example import build_example, differences

    spec = load_spec(args.file)
    with tempfile.TemporaryDirectory() as folder:
        build_example(spec, Path(folder))
        faults = differences(spec, Path(folder))
    other = registry().get(spec.id)
    if other is not None and other.state == "adapter":
        if other.origin.resolve() != args.file.resolve():
            faults.append(f"another spec has the id {spec.id}: {other.origin}; rename yours")
        elif other.trusted:  # One of this package's own.
            faults += unsaid(spec)
    if not spec.example.get("clips"):
        faults.append("the spec has no [example] clips to check it with")
    if not spec.citation:
        faults.append("the spec has no citation: BibTeX of those who made the corpus")
    if args.json:
        output.write_json({"id": spec.id, "file": str(args.file), "differences": faults})
    else:
        output.write_text(
            "\n".join(faults) if faults else f"{spec.id}: the spec is sound and its example gives its clips"
        )
    return 1 if faults else 0
