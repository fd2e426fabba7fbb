"""What differs between two versions of the manifest, or between two users' reports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.errors import ManifestError
from oruk_leaderboard.manifest.files import load_manifest
from oruk_leaderboard.todict import ToDict

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        kind: ``manifest``, ``validation`` or ``report``; only equal kinds can be compared.
        digest: Digest of the whole, where it has one.
        items: Clip (or file, or corpus) to its values.
    """

    kind: str
    digest: str | None
    items: Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class Difference(ToDict):
    """One clip that differs: only in ``a``, only in ``b``, or with other values (``column: (a, b)``)."""

    clip_id: str
    change: str
    values: Mapping[str, tuple[Any, Any]]


def read_side(source: str) -> Side:
    """A manifest (version, folder or parquet file), or a user's JSON: of ``validate --json`` or a ``report.json``.

    Raises:
        ManifestError: It is none of these.
    """
    path = Path(source)
    if path.suffix != ".json":
        manifest = load_manifest(source)
        return Side("manifest", manifest.digest, {row.clip_id: asdict(row) for row in manifest.rows})
    try:
        document = jsontext.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError("not a readable report", where=path, found=error) from error
    if isinstance(document, dict) and "totals" in document and "clips" in document:
        states = _states(document["clips"])
        return Side("validation", (document.get("manifest") or {}).get("digest"), states)
    if isinstance(document, dict) and "findings" in document and "digest" in document:
        corpora = {name: {"states": entry.get("states")} for name, entry in document.get("corpora", {}).items()}
        return Side("report", document["digest"], corpora | _states(document["findings"]))
    raise ManifestError("not a report", where=path, expected="output of validate --json, or a report.json")


def _states(entries: list[dict[str, Any]]) -> dict[str, Values]:
    """Clip, or file where there is no clip, to state and reason. Where files are differs between users."""
    return {
        entry.get("clip_id") or f"{entry.get('corpus')}: {entry.get('media')}": {
            "state": entry.get("state"),
            "reason": entry.get("reason"),
        }
        for entry in entries
    }


def diff(a: Side, b: Side) -> list[Difference]:
    """Clips that differ, in code-point order.

    Raises:
        ManifestError: The two sides are of different kinds.
    """
    if a.kind != b.kind:
        raise ManifestError(
            "two different kinds cannot be compared",
            expected="two manifests, or two reports",
            found=f"{a.kind} and {b.kind}",
        )
    differences = []
    for clip_id in sorted(a.items.keys() | b.items.keys()):
        if clip_id not in b.items:
            differences.append(Difference(clip_id, "removed", {}))
        elif clip_id not in a.items:
            differences.append(Difference(clip_id, "added", {}))
        elif a.items[clip_id] != b.items[clip_id]:
            before, after = a.items[clip_id], b.items[clip_id]
            changed = {key: (before[key], after[key]) for key in before if before[key] != after[key]}
            differences.append(Difference(clip_id, "changed", changed))
    return differences


def summary(differences: list[Difference]) -> dict[str, int]:
    """Number of clips by change, and of changes by column."""
    counts = Counter(item.change for item in differences)
    counts.update(f"changed {column}" for item in differences for column in item.values)
    return dict(sorted(counts.items()))
