"""The index of corpora without an adapter: what they are, and what is missing for one.

``index.csv`` has one line per corpus: entries of the catalogue whose files no public source describes well enough, and
the data sets that the literature's pages list although they have no emotional speech. ``languages`` and
``shares_material_with`` contain ids separated by blanks; an empty cell is unknown.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

from oruk_leaderboard.cells import latex_cell
from oruk_leaderboard.corpora.loading import parse_spec
from oruk_leaderboard.corpora.spec import AGREEMENT, CorpusSpec

PATH = Path(__file__).with_name("index.csv")

_AGREEMENT = {str(value).lower(): value for value in AGREEMENT}


def load_index(path: Path = PATH) -> Mapping[str, CorpusSpec]:
    """Specs without rules by id.

    Raises:
        CorpusError: A line breaks a rule of the corpus schema.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["id"]: _spec(row, path) for row in csv.DictReader(lines)}


def document(row: Mapping[str, str]) -> dict[str, object]:
    """A line as ``schema/corpus.schema.json`` describes it."""
    given: dict[str, object] = {
        name: row[name] for name in ("id", "name", "elicitation", "tier", "state", "missing", "url", "obtain")
    }
    given["languages"] = row["languages"].split()
    given["shares_material_with"] = row["shares_material_with"].split()
    given["n_clips"] = int(row["n_clips"]) if row["n_clips"] else ""
    given["citation"] = _citation(row)
    given["licence"] = {"name": row["licence"], "agreement_required": _AGREEMENT[row["agreement_required"]]}
    return {name: value for name, value in given.items() if value not in ("", [])}


def _spec(row: Mapping[str, str], path: Path) -> CorpusSpec:
    return parse_spec(document(row), origin=path, trusted=True)


def _citation(row: Mapping[str, str]) -> str:
    """BibTeX of what is known: an arXiv number or a DOI, else the address."""
    kind, _, number = row["doi"].partition(":")
    if kind == "arXiv":
        where = f"eprint={{{number}}}, archiveprefix={{arXiv}}"
    elif row["doi"]:
        where = f"doi={{{row['doi']}}}"
    else:
        where = f"howpublished={{\\url{{{row['url']}}}}}" if row["url"] else ""
    year = f"year={{{row['year']}}}" if row["year"] else ""
    fields = ", ".join(part for part in (f"title={{{{{latex_cell(row['name'])}}}}}", year, where) if part)
    return f"@misc{{{row['id']}, {fields}}}"
