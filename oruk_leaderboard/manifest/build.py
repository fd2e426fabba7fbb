"""From clip lists to the manifest: describe, choose by the rule, pin what is known, keep back what is not ours."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oruk_leaderboard.corpora import CorpusSpec, Problem, registry
from oruk_leaderboard.corpora.spec import AGREEMENT
from oruk_leaderboard.manifest import rule
from oruk_leaderboard.manifest.files import labels_digest
from oruk_leaderboard.manifest.lists import ListedClip, find_hashes, find_lists, read_corpus
from oruk_leaderboard.manifest.pinned import Manifest
from oruk_leaderboard.manifest.rows import ManifestRow
from oruk_leaderboard.manifest.unselected import UNSELECTED_FILE, unselected_text
from oruk_leaderboard.progress import Progress, silent

RULE_FILE, CORPORA_FILE = "RULE.md", "CORPORA.tsv"
"""Files that a build writes beside the rows: the rule with its figures; licence and agreement of every corpus."""

SOURCES_FILE = "SOURCES.tsv"
"""File that a build keeps and compares: where lists and hash tables come from."""

_LABELS_TEXT = (
    "Rows of corpora that need an agreement, or may need one, have no label, native label or transcript column. Their",
    "clip ids are the corpora's own file names, as public lists print them; for casia, mead, kazemotts, savee, emovo,",
    "emofilm, demos and esd these names state the class. Where there is no label file, such rows have no path either.",
    "`LABELS.tsv` has one digest per corpus of the lines `clip_id TAB label`, sorted, by which `validate` confirms the",
    "labels of a copy. `CORPORA.tsv` gives the licence of every corpus and whether it needs an agreement.",
    "",
    "Speakers are named as the official files and folders name them. Where only a paper or a title names the person",
    "(pavoque, thorsten_emotional) the one speaker is `1`. emofilm's, named only in its legend, are left out.",
    "",
    "`WITNESSES.tsv` lists where the pinned files of a corpus were seen. `UNSELECTED.tsv` has the digests of the known",
    "recordings that are not chosen; it is not part of the evaluation set.",
)

_UNNAMED_SPEAKERS = frozenset(("emofilm",))
"""Corpora whose speakers are real people whom neither files nor folders name: their list's names are not passed on."""

NOT_AT_PRESENT: Mapping[str, str] = {
    "cmu_mosei": "its makers no longer share the video (CMU-MultimodalSDK)",
    "eekk": "the published download address no longer answers (metashare.ut.ee)",
}
"""Corpora of the manifest that cannot be had by a plain download or agreement when it was made, with the reason."""


@dataclass(frozen=True, slots=True)
class Build:
    """A built manifest.

    Attributes:
        manifest: The manifest.
        cap: Most clips a corpus gives.
        beside: Files that belong to it: name to text.
        left_out: Corpus with a list to the reason why it gives no clip.
        unused: Lists of the folder that belong to no adapter of the registry.
        problems: Lines of lists that are not clips by the corpus's spec, and lists other than those of ``SOURCES.tsv``.
    """

    manifest: Manifest
    cap: int
    beside: Mapping[str, str]
    left_out: Mapping[str, str]
    unused: Sequence[Path]
    problems: Sequence[Problem]


def build_manifest(
    lists: Path, *, size: int = rule.SIZE, sources: str | None = None, progress: Progress = silent
) -> Build:
    """Build the manifest from a folder of clip lists and a folder ``hashes`` beside it.

    Args:
        lists: Folder of ``<corpus>.jsonl[.gz]``.
        size: Clips of profile ``full``.
        sources: Text of ``SOURCES.tsv``; each list's sha256 is compared with it.
        progress: Reports the corpora read.

    Raises:
        ManifestError: The lists cannot be read, or have too few clips.
    """
    used, unused = find_lists(lists)
    hashes = find_hashes(lists.parent / "hashes")
    listed: dict[str, dict[str, ListedClip]] = {}
    known: list[ListedClip] = []
    left_out = dict.fromkeys(sorted(used.keys() & rule.NON_VERBAL), "non-verbal sounds, no speech")
    problems = _changed([*used.values(), *hashes.values()], sources)
    excluded: Counter[str] = Counter()
    advance = progress("reading lists", len(used) - len(left_out))
    for corpus, path in sorted(used.items()):
        if corpus in left_out:
            continue
        advance(1)
        clips, strange = read_corpus(registry()[corpus], path, hashes.get(corpus))
        problems += strange
        known += [item for item in clips if "source_sha256" in item.pins]
        kept = {item.clip.clip_id: item for item in clips if _is_candidate(item)}
        excluded[corpus] = len(clips) - len(kept)
        if kept:
            listed[corpus] = kept
        else:
            left_out[corpus] = "its list holds no label under the default mapping"
    choice = rule.choose({corpus: _candidates(corpus, kept.values()) for corpus, kept in listed.items()}, size=size)
    chosen = {corpus: [listed[corpus][clip_id] for clip_id in ids] for corpus, ids in choice.chosen.items()}
    manifest = _manifest(chosen)
    text = _rule_text(manifest, choice.cap, {corpus: len(kept) for corpus, kept in listed.items()}, excluded, left_out)
    ids = {row.clip_id for row in manifest.rows}
    others = [_row(registry()[item.clip.corpus], item) for item in known if item.clip.clip_id not in ids]
    beside = {RULE_FILE: text, CORPORA_FILE: _corpora_text(manifest), UNSELECTED_FILE: unselected_text(others)}
    return Build(manifest, choice.cap, beside, left_out, unused, problems)


def _corpora_text(manifest: Manifest) -> str:
    """``CORPORA.tsv``: under which terms the clips of every corpus are."""
    withheld = Counter(row.corpus for row in manifest.rows if row.label is None)
    opened = Counter(row.corpus for row in manifest.rows if row.open)
    lines = ["corpus\tclips\topen\twithheld\tlicence\tagreement"]
    for corpus, clips in manifest.counts.items():
        spec = registry()[corpus]
        licence = " ".join(spec.licence.split())
        agreement = AGREEMENT[spec.agreement_required]
        lines.append(f"{corpus}\t{clips}\t{opened[corpus]}\t{withheld[corpus]}\t{licence}\t{agreement}")
    return "\n".join(lines) + "\n"


def _changed(files: Sequence[Path], sources: str | None) -> list[Problem]:
    """Lists and hash tables that ``SOURCES.tsv`` names with another sha256."""
    named = dict(line.split("\t")[:2] for line in (sources or "").splitlines()[1:])
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return [
        Problem(name, f"not the file of {SOURCES_FILE}: sha256 {digest}")
        for name, digest in sorted(digests.items())
        if named.get(name, digest) != digest
    ]


def _is_candidate(item: ListedClip) -> bool:
    shortest = rule.MIN_S_OF.get(item.clip.corpus, rule.MIN_S)
    within = item.duration_s is None or shortest <= item.duration_s <= rule.MAX_S
    return item.clip.label is not None and item.clip.excluded is None and within


def _candidates(corpus: str, items: Iterable[ListedClip]) -> list[rule.Candidate]:
    partition = rule.TEST_PARTITION.get(corpus)
    return [
        rule.Candidate(
            item.clip.clip_id,
            str(item.clip.label),
            item.clip.speaker,
            test=partition is not None and item.clip.split == partition,
        )
        for item in items
    ]


def _manifest(chosen: Mapping[str, Sequence[ListedClip]]) -> Manifest:
    labels = {item.clip.clip_id: str(item.clip.label) for items in chosen.values() for item in items}
    opened = {corpus for corpus in chosen if registry()[corpus].agreement_required is False}
    subsample_full = rule.subsample(labels)
    subsample_open = rule.subsample({name: label for name, label in labels.items() if name.partition("/")[0] in opened})
    rows = []
    digests = {}
    for corpus, items in chosen.items():
        spec = registry()[corpus]
        for item in items:
            clip_id = item.clip.clip_id
            row = _row(spec, item)
            rows.append(
                replace(
                    row,
                    open=corpus in opened,
                    subsample_full=clip_id in subsample_full,
                    subsample_open=clip_id in subsample_open,
                )
            )
        if corpus not in opened:
            digests[corpus] = labels_digest({item.clip.clip_id: labels[item.clip.clip_id] for item in items})
    return Manifest.of(rows, digests)


def _row(spec: CorpusSpec, item: ListedClip) -> ManifestRow:
    clip = item.clip
    speaker = None if clip.corpus in _UNNAMED_SPEAKERS else clip.speaker
    row = ManifestRow(
        clip_id=clip.clip_id,
        corpus=clip.corpus,
        media=item.official,
        start_s=clip.start_s,
        end_s=clip.end_s,
        label=clip.label,
        native_label=clip.native_label,
        speaker=speaker,
        gender=clip.gender,
        language=clip.language,
        elicitation=clip.elicitation,
        split=clip.split,
        duration_s=item.duration_s,
        **item.pins,
    )
    if spec.agreement_required is False:
        return row
    # Where there is no label file, the names give the label.
    return replace(row, label=None, native_label=None, media=item.official if spec.table else None)


def _rule_text(
    manifest: Manifest,
    cap: int,
    candidates: Mapping[str, int],
    excluded: Mapping[str, int],
    left_out: Mapping[str, str],
) -> str:
    """``RULE.md``: the rule, and what came out of it."""
    counts = Counter(row.corpus for row in manifest.rows)
    opened = sum(row.open for row in manifest.rows)
    lines = [
        f"# How the {len(manifest.rows):,} clips of manifest {manifest.version} were chosen",
        "",
        "This is an equivalent set of the same size and protocol as the original evaluation, not the original clips:",
        "their list and audio are not public.",
        "",
        (rule.__doc__ or "").strip(),
        "",
        f"CAP is {cap}. Profile `full`: {len(counts)} corpora; profile `open`: {opened:,} clips. "
        f"Subsamples: {sum(row.subsample_full for row in manifest.rows):,} and "
        f"{sum(row.subsample_open for row in manifest.rows):,} clips.",
        "",
        *_LABELS_TEXT,
        "",
        "| corpus | list | candidates | chosen | agreement | obtain | needs |",
        "|---|---:|---:|---:|---|---|---|",
    ]
    for corpus in sorted(counts):
        spec = registry()[corpus]
        agreement = AGREEMENT[spec.agreement_required]
        listed = candidates[corpus] + excluded[corpus]
        needs = " ".join(f"`[{extra}]`" for extra in spec.needs)
        obtain = " ".join(spec.obtain.split()).replace("|", "/")
        lines.append(
            f"| {corpus} | {listed} | {candidates[corpus]} | {counts[corpus]} | {agreement} | {obtain} | {needs} |"
        )
    gone = [f"{corpus} ({reason})" for corpus, reason in sorted(NOT_AT_PRESENT.items()) if corpus in counts]
    lines += ["", f"Cannot be had at present, but on request: {'; '.join(gone)}."] if gone else []
    lines += ["", *(f"Left out: {corpus} ({reason})." for corpus, reason in sorted(left_out.items()))]
    return "\n".join(lines).rstrip("\n") + "\n"
