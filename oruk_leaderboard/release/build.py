"""Everything derived, rebuilt from its sources: a second run changes nothing, a check changes nothing at all."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oruk_leaderboard.card import cite, croissant, datasheet, factsheets, measured, plot, readme, script
from oruk_leaderboard.hub import evals
from oruk_leaderboard.manifest.plot import plots
from oruk_leaderboard.parquet import same_table, serialize
from oruk_leaderboard.paths import checkout_root, writing
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.records.record import Record, load_records
from oruk_leaderboard.release import record_schema
from oruk_leaderboard.table.arrow import to_table
from oruk_leaderboard.table.configs import CONFIGS
from oruk_leaderboard.todict import ToDict


@dataclass(frozen=True, slots=True)
class BuildReport(ToDict):
    """What a build did or, with ``check``, would do.

    Attributes:
        changed: Files whose content differs from what their sources give, below the repository's root.
        unchanged: Files that are as they should be.
        written: Whether the changed files were written.
    """

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    written: bool


def build(*, root: Path | None = None, check: bool = False, progress: Progress = silent) -> BuildReport:
    """Rebuild tables, card and metadata from records, manifest and specs.

    Args:
        root: The checkout; the one that the package runs from by default.
        check: Write nothing, only report what is stale.
        progress: Reports the files made.

    Raises:
        RecordError: A record breaks the schema.
        OrukError: The package runs from a wheel, which has no sources to build from.
    """
    root = checkout_root() if root is None else root
    if check:
        # Later files are made from earlier ones, so what is stale shows only where everything is built: in a copy.
        with tempfile.TemporaryDirectory() as name:
            for source in (root / "data", root / "dataset_card", root / "docs", root / "schema"):
                if source.is_dir():
                    shutil.copytree(source, Path(name) / source.name)
            for source in filter(Path.is_file, root.iterdir()):
                shutil.copy(source, name)
            return replace(build(root=Path(name), progress=progress), written=False)
    changed, unchanged = [], []
    advance = progress("building", None)
    for name, content in derived(root, load_records(root / "data" / "records")):
        path = root / name
        advance(1)
        if content is None or _same(path, content):
            if content is not None:
                unchanged.append(name)
            elif path.is_file():
                changed.append(name)
                path.unlink()
            continue
        changed.append(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path):
            path.write_bytes(content)
    return BuildReport(tuple(changed), tuple(unchanged), written=True)


def derived(root: Path, records: Sequence[Record]) -> Iterator[tuple[str, bytes | None]]:
    """Derived files in the order in which they depend on each other, with the content they should have.

    Yields:
        Path below ``root`` and content; None where the file should not exist. Later files are made from the earlier
        ones as they are in ``root``, so each has to be written before the next is requested.
    """
    for config in CONFIGS:
        table = config.table(root) if config.table else to_table(config, config.rows(records) if config.rows else [])
        # No release of datasets loads a table without rows, so there is no file rather than an empty one.
        yield config.path, serialize(table) if table is not None and table.num_rows else None
    yield record_schema.NAME, record_schema.record_schema_text(root).encode()
    yield script.NAME, script.script_text(root).encode()
    yield plot.NAME, plot.svg(records).encode()
    picture = measured.svg(records)
    yield measured.NAME, None if picture is None else picture.encode()
    figures = factsheets.manifest_figures(root)
    for name, text in plots({by: groups.values() for by, groups in figures.items()}).items():
        yield f"dataset_card/{name}", text.encode()
    yield from factsheets.fact_sheets(root, figures)
    if "corpus" in figures:
        yield datasheet.NAME, datasheet.datasheet_text(root, records).encode()
    for name, text in readme.documents(root, records, figures):
        yield name, text.encode()
    yield croissant.NAME, croissant.croissant_text(root).encode()
    yield "CITATION.cff", cite.citation_cff().encode()
    yield evals.NAME, evals.eval_text(records).encode()


def _same(path: Path, content: bytes) -> bool:
    """Whether a file has the content; parquet counts as the same when the table is."""
    if not path.is_file():
        return False
    found = path.read_bytes()
    return found == content or (path.suffix == ".parquet" and same_table(found, content))
