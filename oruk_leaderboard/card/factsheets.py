"""Fact sheets of the corpora for the card: what each one is, how to get it, and what the manifest takes from it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from oruk_leaderboard.cells import markdown_cell
from oruk_leaderboard.corpora import CorpusSpec
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.corpora.spec import AGREEMENT
from oruk_leaderboard.languages import language_name
from oruk_leaderboard.manifest.files import load_manifest
from oruk_leaderboard.manifest.stats import ClipGroup, stats

FOLDER = "dataset_card/corpora"

Figures = Mapping[str, Mapping[str, ClipGroup]]
"""``corpus``, ``language`` or ``all`` to the groups of the manifest by name."""


def manifest_figures(root: Path) -> Figures:
    """Figures of the built manifest below a repository's root; empty where there is none."""
    path = root / "data" / "manifest.parquet"
    if not path.is_file():
        return {}
    return {by: {group.name: group for group in groups} for by, groups in stats(load_manifest(path)).items()}


def fact_sheets(root: Path, figures: Figures) -> Iterator[tuple[str, bytes | None]]:
    """One file for every corpus that this package reads, an index, and None for files of corpora that are gone."""
    specs = built_in()
    in_manifest = figures.get("corpus", {})
    texts = {f"{FOLDER}/{name}.md": _sheet(spec, in_manifest.get(name)) for name, spec in specs.items()}
    texts[f"{FOLDER}/README.md"] = _index(specs, in_manifest)
    for path in sorted((root / FOLDER).glob("*.md")):
        if (name := f"{FOLDER}/{path.name}") not in texts:
            yield name, None
    for name, text in sorted(texts.items()):
        yield name, text.encode()


def set_sentence(figures: Figures) -> str:
    """The size of the manifest, for the card."""
    if not figures:
        return "This checkout has no manifest."
    total = figures["all"]["all"]
    return (
        f"The manifest has {total.clips:,} clips from {len(figures['corpus'])} corpora in {len(figures['language'])} "
        f"languages; {total.open:,} of them come from corpora that need no signed agreement (profile `open`)."
    )


def language_table(figures: Figures) -> str:
    """Clips of the manifest by language."""
    if not figures:
        return set_sentence(figures)
    lines = [
        f"{set_sentence(figures)} Hours with ≥ leave out clips whose duration no public list gives, "
        f"{figures['all']['all'].unknown_durations:,} in all.",
        "",
        "| language | clips | open | hours | speakers |",
        "|:---|---:|---:|---:|---:|",
    ]
    for tag, group in sorted(figures["language"].items(), key=lambda item: (-item[1].clips, item[0])):
        name = language_name(tag)
        lines.append(f"| {name} | {group.clips:,} | {group.open:,} | {_hours(group)} | {_number(group.speakers)} |")
    return "\n".join(lines)


def _index(specs: Mapping[str, CorpusSpec], figures: Mapping[str, ClipGroup]) -> str:
    lines = [
        "# Corpora",
        "",
        "Every corpus that this package reads; clips, hours and speakers are what the manifest takes. Made by "
        "`oruk-leaderboard build`.",
        "",
        "| corpus | name | languages | elicitation | clips | hours | speakers | agreement | licence |",
        "|:---|:---|:---|:---|---:|---:|---:|:---|:---|",
    ]
    for name, spec in specs.items():
        group = figures.get(name)
        cells = (
            f"[{name}]({name}.md)",
            markdown_cell(spec.name),
            ", ".join(map(language_name, spec.languages)),
            spec.elicitation,
            _number(group.clips if group else None),
            _hours(group) if group else "–",
            _number(group.speakers if group else None),
            AGREEMENT[spec.agreement_required],
            markdown_cell(spec.licence),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _sheet(spec: CorpusSpec, group: ClipGroup | None) -> str:
    """Fact sheet of one corpus."""
    facts = {
        "Id": f"`{spec.id}`",
        "Languages": ", ".join(map(language_name, spec.languages)),
        "Elicitation": spec.elicitation,
        "Clips of the release": _number(spec.n_clips),
        "Licence": markdown_cell(spec.licence),
        "Note on the licence": markdown_cell(spec.licence_note or ""),
        "Signed agreement": AGREEMENT[spec.agreement_required],
        "Home": f"<{spec.url}>" if spec.url else "",
        "How to obtain": markdown_cell(spec.obtain),
        "Layout seen in": markdown_cell(spec.layout_source or ""),
        "Needs": ", ".join(f"`{extra}`" for extra in spec.needs),
        "Shares material with": ", ".join(f"`{corpus}`" for corpus in spec.shares_material_with),
        "Label policies": ", ".join(f"`{policy}`" for policy in spec.policies),
        "Other label sources": ", ".join(f"`{source}`" for source in spec.sources),
    }
    parts = [f"# {markdown_cell(spec.name)}", "\n".join(f"- **{key}:** {text}" for key, text in facts.items() if text)]
    if group is not None:
        classes = ", ".join(f"{label} {count:,}" for label, count in group.classes.items())
        parts.append(
            "## In the manifest\n\n"
            f"{group.clips:,} clips, {_hours(group)} h ({group.unknown_durations:,} of unknown duration), "
            f"{_number(group.speakers)} speakers. The file's digest is known for {group.hashed:,} of them, the rebuilt "
            f"clip's for {group.proven:,}. Classes: {classes}."
        )
    labels = [f"| {markdown_cell(native)} | {label or 'left out'} |" for native, label in spec.labels.items()]
    if labels:
        parts.append("\n".join(["## Labels\n", "| native | class |", "|:---|:---|", *labels]))
    if spec.faults:
        parts.append("## Known faults\n\n" + "\n".join(f"- {markdown_cell(fault)}" for fault in spec.faults))
    parts.append(f"## Citation\n\n```bibtex\n{spec.citation.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def _hours(group: ClipGroup) -> str:
    """Hours in the known durations, marked where they are not all known."""
    if group.hours is None:
        return "–"
    return f"{'≥ ' if group.unknown_durations else ''}{group.hours:.1f}"


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
