"""Generated parts of the datasheet: what is withheld, under which terms the clips are, and what overlap is known."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from oruk_leaderboard.card.blocks import fill
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.manifest import Manifest, load_manifest
from oruk_leaderboard.manifest.stats import known
from oruk_leaderboard.manifest.witnesses import seen_in
from oruk_leaderboard.records.overlap import Undeclared
from oruk_leaderboard.records.record import Record, default_records
from oruk_leaderboard.records.training import training_ledger

NAME = "dataset_card/datasheet.md"

TELLING: tuple[str, ...] = ("casia", "demos", "emofilm", "emovo", "esd", "kazemotts", "mead", "savee")
"""Corpora whose labels are withheld and whose own file names, the clip ids, state the class all the same."""

TERMS: Mapping[str, str] = {
    "non-commercial or research use only": r"\bNC\b|non-commercial|research",
    "academic use only": r"academic",
    "no derivatives": r"\bND\b",
    "share-alike (Creative Commons, ODbL or GPL)": r"\bSA\b|ODbL|GPL",
    "licence unconfirmed": r"unconfirmed",
}
"""Kind of terms to the words by which a corpus's licence is of this kind; a licence may be of several kinds."""


def datasheet_text(root: Path, records: Sequence[Record]) -> str:
    """The datasheet with its generated parts made again.

    Args:
        root: Repository's root, with the built tables.
        records: All records.
    """
    path = root / NAME
    manifest = load_manifest(root / "data" / "manifest.parquet")
    parts = {
        "withheld": _withheld(manifest),
        "licences": _licences(manifest),
        "overlap": _overlap(manifest, records),
        "digests": _digests(manifest),
    }
    return fill(path.read_text(encoding="utf-8"), parts, where=path)


def withheld(manifest: Manifest) -> Counter[str]:
    """Clips by corpus whose label is not shipped."""
    return Counter(row.corpus for row in manifest.rows if row.label is None)


def terms(manifest: Manifest) -> dict[str, tuple[int, int]]:
    """Kind of terms to the number of corpora and of clips in profile ``open`` that are under them."""
    specs = built_in()
    counts = manifest.profile("open").counts
    found = {}
    for kind, words in TERMS.items():
        clips = [n for corpus, n in counts.items() if re.search(words, specs[corpus].licence)]
        found[kind] = (len(clips), sum(clips))
    return found


def _withheld(manifest: Manifest) -> str:
    counts = withheld(manifest)
    known = sum(counts[corpus] for corpus in TELLING)
    return (
        f"{counts.total():,} clips of {len(counts)} corpora have no label column, because these corpora need an "
        f"agreement or may need one. For {known:,} of them ({', '.join(f'`{corpus}`' for corpus in TELLING)}) the "
        "class follows from the clip id all the same: it is the corpus's own file name, which public lists print."
    )


def _licences(manifest: Manifest) -> str:
    opened = manifest.profile("open")
    lines = [
        f"Profile `open`: {len(opened):,} clips of {len(opened.counts)} corpora, of which one may be in several rows.",
        "",
        "| terms of the corpus | corpora | clips |",
        "|:---|---:|---:|",
        *(f"| {kind} | {corpora} | {clips:,} |" for kind, (corpora, clips) in terms(manifest).items()),
    ]
    return "\n".join(lines)


def _digests(manifest: Manifest) -> str:
    return f"{known(manifest.rows, seen_in(manifest))}."


def _overlap(manifest: Manifest, records: Sequence[Record]) -> str:
    held = default_records(records)
    evidence = Counter(training_ledger().of(record.system.id).evidence for record in held)
    return (
        f"Public sources state training on corpora of the manifest for {evidence['stated']} of the {len(held)} systems "
        f"held and imply it for {evidence['implied']} more; {evidence['unnamed']} is stated to be trained "
        f"in-distribution on corpora that are not named; for {evidence['nothing found']} no source that names training "
        f"corpora was found. The subset `undeclared` has the {Undeclared.of(manifest)}. "
        "Undeclared is not clean: systems whose training data is not public may have seen them, and `emorynlp` is cut "
        "from the television series that `meld`, which is named, is cut from."
    )
