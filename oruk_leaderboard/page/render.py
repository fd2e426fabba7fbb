"""Put the page together: one HTML file with its style, script, font and data inside, and the downloads beside it.

Everything is inline because a page opened from ``file://`` may neither load modules nor fetch its data. The content
security policy then needs no origin at all: it names the sha256 of the one style sheet and the one script.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from oruk_leaderboard import __version__
from oruk_leaderboard.card.cite import BENCHMARK, leaderboard_entry, system_entry
from oruk_leaderboard.cells import csv_text, shown, shown_json
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.page import content, pictures
from oruk_leaderboard.paths import data_dir, writing
from oruk_leaderboard.pictures.scatter import aligned, bar, margin, mark, slug
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.records.families import FAMILIES
from oruk_leaderboard.records.record import Record, load_composition, load_records
from oruk_leaderboard.table.leaderboard import coverage

HERE = Path(__file__).resolve().parent
SCRIPTS = ("core", "state", "table", "details", "compare", "yours", "pictures", "main")
"""Parts of the script, in the order in which they are joined."""

LIMIT = 1_000_000
"""Bytes that all files of the page may take together."""


@dataclass(frozen=True, slots=True)
class Page:
    """A written page.

    Attributes:
        folder: Where it is.
        files: File name to size in bytes.
        rows: Rows of its table.
    """

    folder: Path
    files: Mapping[str, int]
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Folder, files with their sizes, their sum and the number of rows."""
        total = sum(self.files.values())
        return {"folder": str(self.folder), "files": dict(self.files), "bytes": total, "rows": self.rows}


def build_page(out: Path, *, data: Path | None = None, progress: Progress = silent) -> Page:
    """Write the static leaderboard page.

    The same data gives the same bytes. A folder that already contains this page is written over; any other content is
    left alone and refused.

    Args:
        out: Folder to write to; made where it does not exist.
        data: The ``data/`` folder; the shipped one by default.
        progress: Reports the steps: rows, files, written.

    Raises:
        OrukError: ``out`` contains something else, there is no record, or the page would be too large.
    """
    data = data_dir() if data is None else data
    _check_folder(out)
    records = load_records(data / "records")
    if not records:
        raise OrukError(
            "there is no record to show", where=data / "records", do="add records or run: oruk-leaderboard sync"
        )
    advance = progress("making the page", 3)
    rows = content.rows_of(
        records, citation={content.row_key(record): f"{BENCHMARK}\n\n{system_entry(record)}" for record in records}
    )
    advance(1)
    documents = [row.to_dict() for row in rows]
    files = {
        "index.html": shown(index_html(rows, records=records, data=data)).encode(),
        "README.md": (HERE / "assets" / "space.md").read_bytes(),
        "LICENSE-inter.txt": (HERE / "vendor" / "LICENSE-inter.txt").read_bytes(),
        "leaderboard.csv": shown(
            csv_text(CSV_FIELDS, ([document[name] for name in CSV_FIELDS] for document in documents))
        ).encode(),
        "leaderboard.json": shown_json(json.dumps(documents, ensure_ascii=False, indent=1) + "\n").encode(),
        **{name: (data / name).read_bytes() for name in PARQUET if (data / name).is_file()},
    }
    advance(1)
    total = sum(map(len, files.values()))
    if total > LIMIT:
        raise OrukError("the page is too large", where=out, expected=f"at most {LIMIT:,} bytes", found=f"{total:,}")
    out.mkdir(parents=True, exist_ok=True)
    for name, body in files.items():
        with writing(out / name):
            (out / name).write_bytes(body)
    advance(1)
    return Page(out, {name: len(body) for name, body in sorted(files.items())}, len(rows))


PARQUET = ("leaderboard.parquet", "systems.parquet")
"""Parquet files that are copied beside the page, as they are in ``data/``."""

NAMES = frozenset({"index.html", "README.md", "LICENSE-inter.txt", "leaderboard.csv", "leaderboard.json", *PARQUET})
"""Files of a page."""

CSV_FIELDS = (
    "name",
    "family",
    "accuracy",
    "macro_f1",
    "scored_on",
    "is_oruk",
    "snapshot",
    "modality",
    "parameters_m",
    "note",
)


def index_html(rows: Sequence[content.PageRow], *, records: Sequence[Record], data: Path) -> str:
    """The page itself."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        aligned=aligned, bar=bar, margin=margin, mark=mark, slug=slug, size_text=pictures.size_text
    )
    shown = pictures.shown_rows(rows)
    groups = content.groups_of(records)
    style, script = _style(), _script()
    return environment.get_template("page.html.j2").render(
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        state=Markup(_json_block(_state(rows, groups))),
        version=__version__,
        rows=rows,
        groups=groups,
        leaders=content.leaders_of(records),
        views=content.views_of(records)[1:],
        families=FAMILIES,
        badges={badge.kind: badge for row in rows for badge in row.badges},
        published=load_composition(),
        coverage=coverage(records),
        composition=content.composition_of(data),
        size=pictures.against_size(shown),
        trade=pictures.accuracy_against_f1(shown),
        pair=pictures.compressed_pair(shown),
        evaluated=[row for row in rows if row.record.evaluation],
        parquet=[name for name in PARQUET if (data / name).is_file()],
        benchmark=f"{BENCHMARK}\n\n{leaderboard_entry(records).bibtex}",
    )


def _state(rows: Sequence[content.PageRow], groups: Sequence[content.RankingGroup]) -> dict[str, Any]:
    """What the script works on."""
    badges = {badge.kind: {"text": badge.text, "why": badge.why} for row in rows for badge in row.badges}
    return {
        "rows": [row.to_dict() for row in rows],
        "why": {row.key: [[badge.text, badge.why] for badge in row.badges] for row in rows},
        "badges": badges,
        "groups": [{"id": group.id, "title": group.title, "published": group.published} for group in groups],
        "classes": CLASSES,
        "families": {family: slug(family) for family in FAMILIES},
        "version": __version__,
    }


def _json_block(document: object) -> str:
    """JSON that is safe inside a script element: no text of it can end the element or begin a comment."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _style() -> str:
    font = base64.b64encode((HERE / "vendor" / "inter-latin-wght-normal.woff2").read_bytes()).decode()
    return (HERE / "assets" / "page.css").read_text(encoding="utf-8").replace("FONT_BASE64", font)


def _script() -> str:
    parts = [(HERE / "assets" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _policy(style: str, script: str) -> str:
    """Content security policy: nothing is fetched, only this style sheet and this script count."""

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; font-src data:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _check_folder(out: Path) -> None:
    """Refuse a place that has anything but an earlier page, before any work is done."""
    if out.exists() and not out.is_dir():
        raise OrukError("is a file", where=out, expected="a folder for the page")
    strangers = sorted(path.name for path in out.iterdir() if path.name not in NAMES) if out.is_dir() else []
    if strangers:
        raise OrukError(
            "the folder contains something else",
            where=out,
            expected="a new or empty folder, or an earlier page",
            found=", ".join(strangers[:3]),
            do="choose another --out",
        )
