"""``croissant.json``: the data set in the Croissant 1.0 vocabulary, with its responsible-AI fields.

Parquet is written as ``application/x-parquet``, the one spelling that the reference reader can open.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oruk_leaderboard import __version__
from oruk_leaderboard.card.cite import BENCHMARK, RELEASED
from oruk_leaderboard.records.addresses import CODE, HOME
from oruk_leaderboard.records.schemas import arrow_schema, load_schema
from oruk_leaderboard.table.configs import Config, shipped

NAME = "croissant.json"

_KEYS: Mapping[str, tuple[str, ...]] = {"systems": ("system_id", "snapshot"), "manifest": ("clip_id",)}
"""Columns that tell the rows of a config apart."""

_CR = (
    "citeAs column conformsTo:dct data:json dataType:vocab equivalentProperty examples:json extract field fileProperty "
    "fileObject fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex "
    "repeated replace samplingRate separator source subField transform"
)


def croissant_text(root: Path) -> str:
    """The metadata of the built tables below a repository's root."""
    return json.dumps(metadata(root), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def metadata(root: Path) -> dict[str, Any]:
    """The document as JSON-LD."""
    configs = shipped(root)
    responsible = tomllib.loads((root / "dataset_card" / "responsible_ai.toml").read_text(encoding="utf-8"))
    organisation = {"@type": "Organization", "name": "Oruk AI", "url": "https://oruk.ai"}
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": "oruk-bench-leaderboard",
        "description": "Results of speech emotion recognition systems on one held-out multilingual evaluation, with "
        "the source of every figure, the literature's leaderboards, and the manifest of an equivalent set.",
        "license": [
            "https://creativecommons.org/licenses/by/4.0/",
            "https://creativecommons.org/licenses/by-sa/4.0/",
        ],
        "url": HOME,
        "sameAs": CODE,
        "version": __version__,
        "datePublished": RELEASED,
        "citeAs": BENCHMARK,
        "creator": organisation,
        "publisher": organisation,
        "inLanguage": "en",
        "keywords": ["speech emotion recognition", "benchmark", "leaderboard", "evaluation"],
        "isLiveDataset": False,
        **{f"rai:{name}": " ".join(text.split()) for name, text in responsible.items()},
        "distribution": [_file(root, config) for config in configs],
        "recordSet": [_record_set(config) for config in configs],
    }


def _context() -> dict[str, Any]:
    """The context of the Croissant 1.0 specification; any other one is reported as non-standard."""
    terms: dict[str, Any] = {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
    }
    for word in _CR.split():
        name, _, kind = word.partition(":")
        term = f"{'dct' if kind == 'dct' else 'cr'}:{name}"
        terms[name] = {"@id": term, "@type": f"@{kind}"} if kind in ("json", "vocab") else term
    return dict(sorted(terms.items()))


def _file(root: Path, config: Config) -> dict[str, Any]:
    content = (root / config.path).read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": config.path,
        "name": config.path,
        "description": f"Parquet file of config {config.name}.",
        "contentUrl": config.path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": "application/x-parquet",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(config: Config) -> dict[str, Any]:
    keys = [{"@id": f"{config.name}/{column}"} for column in _KEYS.get(config.name, ())]
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": config.summary,
        **({"key": keys} if keys else {}),
        "field": [_field(config, field) for field in arrow_schema(config.schema)],
    }


def _field(config: Config, field: Any) -> dict[str, Any]:
    import pyarrow as pa

    repeated = pa.types.is_list(field.type)
    kind = str(field.type.value_type if repeated else field.type)
    return {
        "@type": "cr:Field",
        "@id": f"{config.name}/{field.name}",
        "name": field.name,
        "description": load_schema(config.schema)["properties"][field.name]["description"],
        "dataType": {"string": "sc:Text", "double": "sc:Float", "int64": "sc:Integer", "bool": "sc:Boolean"}[kind],
        **({"repeated": True} if repeated else {}),
        "source": {"fileObject": {"@id": config.path}, "extract": {"column": field.name}},
    }
