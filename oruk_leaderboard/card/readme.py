"""The dataset card: README.md's YAML header, its generated parts, and the check that the Hub takes the header."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from oruk_leaderboard.card import measured
from oruk_leaderboard.card.blocks import fill
from oruk_leaderboard.card.factsheets import Figures, language_table, set_sentence
from oruk_leaderboard.card.metric_table import metric_table
from oruk_leaderboard.corpora.registry import built_in
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.languages import base_language
from oruk_leaderboard.records.record import Record, by_score, default_records
from oruk_leaderboard.records.schemas import check, load_schema
from oruk_leaderboard.table.arrow import read_table
from oruk_leaderboard.table.configs import SPLIT, shipped
from oruk_leaderboard.table.formats import as_markdown
from oruk_leaderboard.table.leaderboard import Leaderboard, leaderboard
from oruk_leaderboard.table.leaderboard import marks as table_marks

NAME = "README.md"

PARTS: Mapping[str, tuple[str, ...]] = {
    NAME: ("configs", "fields", "top", "measured", "set"),
    "docs/leaderboard.md": ("leaderboard", "results", "measured-table"),
    "docs/rebuilding.md": ("languages",),
    "docs/scoring.md": ("metrics",),
}
"""Document to its generated parts."""

TOP_ROWS = 5
"""Rows of each group that the card shows; ``docs/leaderboard.md`` has all of them."""


def documents(root: Path, records: Sequence[Record], figures: Figures) -> Iterator[tuple[str, str]]:
    """The card and the pages of ``docs/`` that have generated parts.

    Args:
        root: Repository's root, with the built tables.
        records: All records.
        figures: Figures of the manifest.

    Yields:
        Path below ``root`` and the text with its generated parts made again.
    """
    made = blocks(root, records, figures)
    for name, parts in PARTS.items():
        path = root / name
        header, body = split_header(path.read_text(encoding="utf-8"), where=path)
        if name == NAME:
            header = header_text(root, figures)
        text = fill(body, {part: made[part] for part in parts}, where=path)
        yield name, f"---\n{header}---\n{text}" if header else text


def header(root: Path, figures: Figures) -> dict[str, Any]:
    """Metadata of the card, as the Hub's documentation of dataset cards describes it."""
    configs = shipped(root)
    return {
        "pretty_name": "oruk-bench leaderboard",
        "license": ["cc-by-4.0", "cc-by-sa-4.0"],
        "language": sorted(set(figures.get("language", {})) - {"unknown"}) or ["multilingual"],
        "task_categories": ["audio-classification"],
        "task_ids": ["audio-emotion-recognition"],
        "size_categories": [_size(sum(read_table(config, root).num_rows for config in configs))],
        "tags": [
            "leaderboard",
            "benchmark",
            "evaluation",
            "speech-emotion-recognition",
            "emotion",
            "speech",
            "tabular",
            "datasets",
            "pandas",
            "mlcroissant",
        ],
        "configs": [
            {
                "config_name": config.name,
                **({"default": True} if config is configs[0] else {}),
                "data_files": [{"split": SPLIT, "path": config.path}],
            }
            for config in configs
        ],
    }


def header_text(root: Path, figures: Figures) -> str:
    """The header as YAML, checked.

    Raises:
        RecordError: It breaks ``schema/card.schema.json``.
    """
    import yaml

    content = header(root, figures)
    check(content, "card", where=root / NAME)
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _size(rows: int) -> str:
    """The Hub's size category for a number of rows."""
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if rows < limit:
            return name
    return "100K<n<1M"


def split_header(text: str, *, where: object) -> tuple[str, str]:
    """YAML header (without its fences; empty where there is none) and the rest of a card.

    Raises:
        OrukError: A header begins and does not end.
    """
    if not text.startswith("---\n"):
        return "", text
    header, fence, body = text[4:].partition("\n---\n")
    if not fence:
        raise OrukError("the header of the card does not end", where=where, expected="a line ---")
    return header + "\n", body


def blocks(root: Path, records: Sequence[Record], figures: Figures) -> Mapping[str, str]:
    """Generated parts of the card by name."""
    return {
        "configs": _configs_table(root),
        "fields": _fields_table(),
        "top": _top(leaderboard(records=records)),
        "leaderboard": as_markdown(leaderboard(records=records)),
        "results": _results(records),
        "measured": measured.summary(records),
        "measured-table": measured.table(records),
        "set": " ".join(
            [set_sentence(figures), *(f"{group.known}." for group in figures.get("all", {}).values()), _adapters()]
        ),
        "languages": language_table(figures),
        "metrics": metric_table(),
    }


def _configs_table(root: Path) -> str:
    lines = ["| config | rows | file | what |", "|:---|---:|:---|:---|"]
    for config in shipped(root):
        rows = read_table(config, root).num_rows
        lines.append(f"| `{config.name}` | {rows:,} | `{config.path}` | {config.summary} |")
    return "\n".join(lines)


def _top(board: Leaderboard) -> str:
    """The first rows of each group with their footnotes."""
    groups = tuple(replace(group, rows=group.rows[:TOP_ROWS]) for group in board.groups)
    return as_markdown(replace(board, groups=groups))


def _adapters() -> str:
    """What the package can read, in numbers."""
    specs = [spec for spec in built_in().values() if spec.state == "adapter"]
    languages = {base_language(tag) for spec in specs for tag in spec.languages} - {"zxx", "mul"}
    unseen = sum(not spec.layout_seen for spec in specs)
    return (
        f"The package reads {len(specs)} corpora, in {len(languages)} languages; the layout of {unseen} of them is "
        "unconfirmed, since nobody has seen it; see `oruk-leaderboard corpora list`."
    )


def _fields_table() -> str:
    rows = load_schema("leaderboard")["properties"].items()
    return "\n".join(
        ["| field | meaning |", "|:---|:---|", *(f"| `{name}` | {rule['description']} |" for name, rule in rows)]
    )


def _results(records: Sequence[Record]) -> str:
    """What the table shows, with every figure computed from it."""
    rows = by_score(default_records(records))
    by_id = {record.system.id: record for record in rows}
    top, bottom = rows[0], rows[-1]
    best = next(record for record in rows if record.system.family == "open")
    low = sum(float(record.macro_f1) < 0.4 for record in rows)
    marks = [mark for record in rows for mark in table_marks(record)]
    stated, implied = marks.count("overlap stated"), marks.count("overlap implied")
    large, distilled = by_id["hubert-large-superb-er"], by_id["distilhubert-superb-er"]
    points = float(large.accuracy) - float(distilled.accuracy)
    on_words = [record for record in rows if record.system.family == "text only"]
    hearing = [record for record in rows if record.scored_on == on_words[0].scored_on and record not in on_words]
    above = sum(float(record.macro_f1) > float(on_words[0].macro_f1) for record in hearing)
    return f"""
- **The spread is very wide.** Macro-F1 goes from {top.macro_f1} ({top.system.name}, in-distribution) and
  {best.macro_f1} ({best.system.name}, the best open row) down to {bottom.macro_f1} ({bottom.system.name});
  {low} of the {len(rows)} rows held here stay below 0.40, well-known systems among them. Many systems do not keep the
  headline figure of their own publication here. Public sources name corpora of our manifest as training data of
  {stated} of the {len(rows)} systems and imply them for {implied} more; for the others nothing was found.
- **Distillation is expensive here.** {large.system.name} has {large.accuracy} % / {large.macro_f1},
  {distilled.system.name} {distilled.accuracy} % / {distilled.macro_f1}: {points:.1f} points of accuracy.
- **The words alone carry part of it.** The best of the {len(on_words)} text-only rows held here (five in the
  published table) reaches {on_words[0].macro_f1}; {above} of the {len(hearing)} systems that hear the same clips are
  above it.
"""
