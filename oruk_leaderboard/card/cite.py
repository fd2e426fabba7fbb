"""Citations: BibTeX and CFF of the benchmark, the snapshot, the systems and corpora used, and a methods paragraph."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard import __version__, jsontext
from oruk_leaderboard.cells import latex_cell
from oruk_leaderboard.errors import OrukError, did_you_mean
from oruk_leaderboard.records.addresses import CODE, HOME, model_url
from oruk_leaderboard.records.caveats import caveats_of
from oruk_leaderboard.records.record import PUBLISHED, Record, default_records, load_composition, load_records
from oruk_leaderboard.records.training import training_ledger
from oruk_leaderboard.table.leaderboard import coverage
from oruk_leaderboard.todict import ToDict

RELEASED = "2026-12-01"
"""Date of this version (ISO 8601)."""

TITLE = "oruk-bench: a held-out multilingual benchmark for speech emotion recognition"

BENCHMARK = f"""@misc{{orukbench,
  title        = {{{TITLE}}},
  author       = {{{{Oruk AI}}}},
  year         = {{2026}},
  howpublished = {{\\url{{{CODE}}}}},
  note         = {{64 systems evaluated on 64,384 held-out clips across $\\sim$20 languages}}
}}"""
"""The benchmark's own entry, as its dataset card gives it."""


@dataclass(frozen=True, slots=True)
class Citation(ToDict):
    """One thing to cite.

    Attributes:
        id: Id of the system or corpus, ``orukbench`` or ``orukbench-leaderboard``.
        kind: ``benchmark``, ``leaderboard``, ``system`` or ``corpus``.
        bibtex: Its BibTeX entry.
    """

    id: str
    kind: str
    bibtex: str


def cite(
    names: Sequence[str] = (),
    *,
    report: Path | None = None,
    revision: str | None = None,
    records: Sequence[Record] | None = None,
) -> list[Citation]:
    """Entries for the benchmark, the leaderboard as used, and the systems and corpora named.

    Args:
        names: Ids or names of systems, ids of corpora.
        report: ``report.json`` of a rebuilt set: its corpora are cited, exactly those that gave clips.
        revision: Commit (40 hex digits) or tag of the leaderboard; by default this version's tag.
        records: All records; the shipped ones by default.

    Raises:
        OrukError: A name is neither a system nor a corpus, or the report is none.
    """
    everything = load_records() if records is None else records
    systems = {record.system.id: record for record in everything}
    systems |= {record.system.id: record for record in default_records(everything)}
    by_name = {record.system.name: record for record in systems.values()}
    entries = [Citation("orukbench", "benchmark", BENCHMARK), leaderboard_entry(everything, revision=revision)]
    corpora: list[str] = []
    for name in names:
        record = systems.get(name) or by_name.get(name)
        if record is None:
            corpora.append(name)
        else:
            entries.append(Citation(record.system.id, "system", system_entry(record)))
    known = _read_report(report)["corpora"] if report else {}
    entries += [_corpus(name, known.get(name, {}), systems) for name in dict.fromkeys([*corpora, *known])]
    return list(dict.fromkeys(entries))


def leaderboard_entry(records: Sequence[Record], *, revision: str | None = None) -> Citation:
    """Entry of the leaderboard at a revision, with the newest snapshot in it."""
    snapshot = max(record.snapshot for record in default_records(records))
    held = coverage(records)
    fields = {
        "title": f"{{oruk-bench leaderboard: snapshot {snapshot}}}",
        "author": "{{Oruk AI}}",
        "year": f"{{{snapshot[:4]}}}",
        "version": f"{{{__version__}}}",
        "howpublished": f"{{\\url{{{HOME}}}}}",
        "note": f"{{revision {latex_cell(revision or f'v{__version__}')}; {held.held} of {held.total} systems held}}",
    }
    return Citation("orukbench-leaderboard", "leaderboard", _bibtex("misc", "orukbench-leaderboard", fields))


def system_entry(record: Record) -> str:
    """BibTeX of a system as it was evaluated; it does not replace its authors' own entry, which is to be cited too."""
    system = record.system
    url = model_url(system)
    where = f"\\url{{{url}}}" if url else None
    figures = f"accuracy {record.accuracy}\\,\\%, macro-F1 {record.macro_f1} on {latex_cell(record.scored_on)}"
    caveats = [caveat.sentence for caveat in caveats_of(record) if caveat.footnote]
    evaluated = "As evaluated by oruk-bench"
    if record.scored_on not in PUBLISHED:
        evaluated = "Scored by oruk-bench-leaderboard on a rebuilt set, not on the original evaluation"
    fields = {
        "title": f"{{{latex_cell(system.name)}}}",
        **({"howpublished": f"{{{where}}}"} if where else {}),
        "note": f"{{{'; '.join([f'{evaluated}, snapshot {record.snapshot}: {figures}', *map(latex_cell, caveats)])}}}",
    }
    return _bibtex("misc", system.id, fields)


def methods(*, report: Path | None = None, revision: str | None = None) -> str:
    """A paragraph for a methods section, with the numbers filled in, as TeX reads it.

    Args:
        report: ``report.json`` of the rebuilt set that was scored; without it only the table is described.
        revision: Commit or tag of the leaderboard.

    Raises:
        OrukError: The report is none.
    """
    composition, held = load_composition(), coverage(load_records())
    clips = composition["clips"]
    text = (
        f"Reference figures are those of the oruk-bench leaderboard (version {__version__}, revision "
        f"{revision or f'v{__version__}'}, snapshot {composition['snapshot']}; {held.held} of {held.total} systems "
        "held): seven classes, single label, 16 kHz mono, first 16 s; macro-F1 is the primary metric. Rows on the full "
        f"set ({clips['full_set']:,} clips) and on its stratified subsample ({clips['subsample_5k']:,} clips) are not "
        "ranked together. The benchmark's authors state that Spectra 1 is trained in-distribution and that all other "
        f"systems are zero-shot cross-corpus. {_overlap(load_records())}"
    )
    if report is None:
        return text
    document = _read_report(report)
    number = "1 corpus" if len(document["corpora"]) == 1 else f"{len(document['corpora'])} corpora"
    names = ", ".join(latex_cell(entry.get("name", corpus)) for corpus, entry in document["corpora"].items())
    manifest = document["manifest"]
    seconds = document["seconds"]
    hours = f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"
    partial = " The set is partial." if document["partial"] else ""
    return (
        f"{text} We scored on a set rebuilt from our own copies of {number} ({names}): "
        f"{document['clips']:,} clips, {hours}, manifest {manifest['version']} "
        f"(profile {manifest['profile'] or 'none'}, digest {manifest['digest'][:12]}), audio rule "
        f"{document['audio_rule']}, set digest {document['digest'][:12]}.{partial} It is an equivalent of the original "
        "evaluation set, not the same clips, so our figures are not ranked with the leaderboard's."
    )


def _overlap(records: Sequence[Record]) -> str:
    """What the overlap ledger says of the systems held, in two sentences."""
    evidence = Counter(training_ledger().of(record.system.id).evidence for record in default_records(records))
    return (
        f"Public sources state training on corpora of the leaderboard's manifest for {evidence['stated']} of the "
        f"{evidence.total()} systems held and imply it for {evidence['implied']} more; for {evidence['nothing found']} "
        "no source that names training corpora was found, which is not the same as none."
    )


def citation_cff(*, revision: str | None = None) -> str:
    """``CITATION.cff`` (Citation File Format 1.2.0) of this repository, with the commit where one is given."""
    import yaml

    document = {
        "cff-version": "1.2.0",
        "message": "Cite the benchmark, and the version and snapshot of the leaderboard that you used.",
        "type": "dataset",
        "title": "oruk-bench leaderboard",
        "authors": [{"name": "Oruk AI"}],
        "version": __version__,
        "date-released": RELEASED,
        **({"commit": revision} if revision else {}),
        "license": ["Apache-2.0", "CC-BY-4.0", "CC-BY-SA-4.0", "OFL-1.1"],
        "url": HOME,
        "repository-code": CODE,
        "preferred-citation": {
            "type": "generic",
            "title": TITLE,
            "authors": [{"name": "Oruk AI"}],
            "year": 2026,
            "url": CODE,
            "notes": "64 systems evaluated on 64,384 held-out clips across ~20 languages",
        },
    }
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _corpus(name: str, in_report: Mapping[str, Any], systems: Iterable[str]) -> Citation:
    """Entry of a corpus from the registry, or from the report for a spec that the registry does not have."""
    from oruk_leaderboard.corpora import registry

    spec = registry().get(name)
    text = spec.citation if spec else in_report.get("citation")
    if text is None:
        raise OrukError(
            "neither a system of the table nor a corpus",
            where=name,
            do=did_you_mean(name, [*registry(), *systems], see="table, or: oruk-leaderboard corpora list"),
        )
    return Citation(
        name, "corpus", text.strip() or f"@misc{{{name},\n  title = {{{latex_cell(spec.name if spec else name)}}}\n}}"
    )


def _read_report(path: Path) -> dict[str, Any]:
    try:
        document = jsontext.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OrukError(f"report cannot be read: {error}", where=path, expected="report.json of reconstruct") from error
    needed = {"report_version", "corpora", "clips", "seconds", "manifest", "audio_rule", "digest", "partial"}
    if not isinstance(document, dict) or not needed <= document.keys():
        raise OrukError("not a report of reconstruct", where=path, expected=f"keys {', '.join(sorted(needed))}")
    used = {name: entry for name, entry in document["corpora"].items() if entry.get("clips")}
    return {**document, "corpora": used}


def _bibtex(kind: str, key: str, fields: Mapping[str, str]) -> str:
    width = max(map(len, fields))
    body = ",\n".join(f"  {name:<{width}} = {value}" for name, value in fields.items())
    return f"@{kind}{{{re.sub(r'[^A-Za-z0-9:._-]', '-', key)},\n{body}\n}}"
