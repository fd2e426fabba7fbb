"""The loading script of oruk/oruk-bench-leaderboard.

Releases 2 and 3 of ``datasets`` run it when they are given its path. Releases 4 and 5 run no scripts and never see this
one, because its name has underscores where the repository's has hyphens: keep that difference. In every release it can
be used directly, and its cache then follows the data::

    from oruk_bench_leaderboard import load
    table = load("default")

It stands alone on purpose (``datasets`` 2 and 3 copy a script out of its folder before they run it): nothing but
``datasets``, ``pyarrow`` and the standard library may be imported here.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

# generated: configs
VERSION = "1.1.0"
FILES: dict[str, str] = {
    "default": "data/leaderboard.parquet",
    "snapshot-2026-07-12": "data/snapshots/2026-07-12.parquet",
    "systems": "data/systems.parquet",
    "rebuilt": "data/rebuilt.parquet",
    "manifest": "data/manifest.parquet",
    "published": "data/published.parquet",
    "published-datasets": "data/published_datasets.parquet",
    "published-papers": "data/published_papers.parquet",
}
COLUMNS: dict[str, dict[str, Any]] = {
    "default": {
        "system": "string",
        "family": "string",
        "accuracy": "float64",
        "macro_f1": "float64",
        "scored_on": "string",
        "is_oruk": "bool",
        "note": "string",
    },
    "snapshot-2026-07-12": {
        "system": "string",
        "family": "string",
        "accuracy": "float64",
        "macro_f1": "float64",
        "scored_on": "string",
        "is_oruk": "bool",
        "note": "string",
    },
    "systems": {
        "system_id": "string",
        "system": "string",
        "family": "string",
        "is_oruk": "bool",
        "snapshot": "string",
        "scored_on": "string",
        "in_default": "bool",
        "accuracy": "float64",
        "macro_f1": "float64",
        "accuracy_digits": "string",
        "macro_f1_digits": "string",
        "parameters_m": "float64",
        "modality": "string",
        "model_id": "string",
        "hub": "string",
        "revision": "string",
        "in_distribution": "bool",
        "training_corpora": ["string"],
        "training_evidence": "string",
        "clips_outside_training": "int64",
        "share_outside_training": "float64",
        "failures": "int64",
        "protocol": "string",
        "protocol_version": "string",
        "source_kind": "string",
        "source_reference": "string",
        "source_locator": "string",
        "attested_by": "string",
        "derived": "string",
        "superseded_by": "string",
        "note": "string",
    },
    "rebuilt": {
        "system_id": "string",
        "system": "string",
        "family": "string",
        "is_oruk": "bool",
        "snapshot": "string",
        "scored_on": "string",
        "accuracy": "float64",
        "macro_f1": "float64",
        "macro_f1_low": "float64",
        "macro_f1_high": "float64",
        "macro_f1_low_corpora": "float64",
        "macro_f1_high_corpora": "float64",
        "human_line": "string",
        "n": "int64",
        "manifest_version": "string",
        "manifest_digest": "string",
        "set_digest": "string",
        "parameters_m": "float64",
        "model_id": "string",
        "revision": "string",
        "in_distribution": "bool",
        "training_corpora": ["string"],
        "protocol": "string",
        "protocol_version": "string",
        "note": "string",
    },
    "manifest": {
        "clip_id": "string",
        "corpus": "string",
        "media": "string",
        "start_s": "float64",
        "end_s": "float64",
        "label": "string",
        "native_label": "string",
        "speaker": "string",
        "gender": "string",
        "language": "string",
        "elicitation": "string",
        "split": "string",
        "duration_s": "float64",
        "source_sha256": "string",
        "source_bytes": "int64",
        "pcm_sha256": "string",
        "clip_sha256": "string",
        "num_samples": "int64",
        "sampling_rate": "int64",
        "channels": "int64",
        "clip_num_samples": "int64",
        "open": "bool",
        "subsample_full": "bool",
        "subsample_open": "bool",
    },
    "published": {
        "leaderboard": "string",
        "task": "string",
        "dataset": "string",
        "dataset_page": "string",
        "corpus": "string",
        "metrics": ["string"],
        "rows": "int64",
        "first_system": "string",
        "first_paper": "string",
        "first_title": "string",
        "first_date": "string",
        "first_arxiv_id": "string",
        "first_code": ["string"],
        "first_metrics": ["string"],
        "first_values": ["string"],
        "pages": ["string"],
        "flags": ["string"],
        "licence": "string",
        "snapshot": "string",
    },
    "published-datasets": {
        "dataset": "string",
        "name": "string",
        "full_name": "string",
        "tasks": ["string"],
        "modalities": ["string"],
        "modality_basis": "string",
        "papers": "int64",
        "corpus": "string",
        "flags": ["string"],
        "licence": "string",
        "snapshot": "string",
    },
    "published-papers": {
        "paper": "string",
        "title": "string",
        "date": "string",
        "arxiv_id": "string",
        "repositories_listed": "int64",
        "tasks": ["string"],
        "leaderboards": ["string"],
        "iemocap_rows": "int64",
        "flags": ["string"],
        "licence": "string",
        "snapshot": "string",
    },
}
# end of generated
"""Version, parquet files and columns of the configs, from the JSON Schemas; a list of one type is a list column."""

SPLIT = "train"


class OrukBenchLeaderboard(datasets.ArrowBasedBuilder):
    """The configs of the data set from the parquet files beside ``base_path``."""

    BUILDER_CONFIGS: ClassVar[list[datasets.BuilderConfig]] = [
        datasets.BuilderConfig(name=name, version=datasets.Version(VERSION)) for name in COLUMNS
    ]
    DEFAULT_CONFIG_NAME = "default"

    def _info(self) -> datasets.DatasetInfo:
        columns = COLUMNS[self.config.name]
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    name: [datasets.Value(kind[0])] if isinstance(kind, list) else datasets.Value(kind)
                    for name, kind in columns.items()
                }
            ),
            homepage="https://huggingface.co/datasets/oruk/oruk-bench-leaderboard",
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        path = dl_manager.download(FILES[self.config.name])
        return [datasets.SplitGenerator(name=SPLIT, gen_kwargs={"files": [path]})]

    def _generate_tables(self, files: list[str]) -> Iterator[tuple[int, pa.Table]]:
        for number, path in enumerate(files):
            with open(path, "rb") as file:  # noqa: PTH123 (datasets patches open() so that a URL can be streamed)
                yield number, pq.read_table(file).cast(self.info.features.arrow_schema)


def data_root() -> Path:
    """Folder with ``data/``: the checkout, or the installed package's copy."""
    here = Path(__file__).resolve().parent
    inside = here / "oruk_leaderboard" / "_share"
    return inside if inside.is_dir() else here


def builder(config: str = "default", *, root: Path | str | None = None, **options: Any) -> OrukBenchLeaderboard:
    """Builder of one config for direct use, in every release of ``datasets``.

    Args:
        config: Name of the config.
        root: Folder with ``data/``; the one this module came with by default.
        options: Further arguments of ``datasets.DatasetBuilder``, such as ``cache_dir``.

    Raises:
        ValueError: There is no such config.
        OSError: Its file is not below ``root``.
    """
    if config not in FILES:
        raise ValueError(f"no config {config!r}; there are {', '.join(FILES)}")
    folder = data_root() if root is None else Path(root)
    # Without a digest of the content the cache would keep serving old rows after the data changed.
    digest = hashlib.sha256((folder / FILES[config]).read_bytes()).hexdigest()[:16]
    return OrukBenchLeaderboard(config_name=config, base_path=str(folder), hash=digest, **options)


def load(config: str = "default", *, root: Path | str | None = None, **options: Any) -> datasets.Dataset:
    """Rows of one config; arguments as for :func:`builder`."""
    made = builder(config, root=root, **options)
    made.download_and_prepare()
    return made.as_dataset(split=SPLIT)
