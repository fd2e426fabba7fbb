"""The pinned evaluation clips: rows, files, the rule that chose them, and what a user's copy of them is like."""

from oruk_leaderboard.manifest.corpus_check import ClipState, Usable
from oruk_leaderboard.manifest.files import labels_digest, load_manifest, pinned_subsample
from oruk_leaderboard.manifest.pinned import VERSION, Manifest
from oruk_leaderboard.manifest.rows import COLUMNS, PROFILES, ManifestRow
from oruk_leaderboard.manifest.validation import Validation, validate

__all__ = [
    "COLUMNS",
    "PROFILES",
    "VERSION",
    "ClipState",
    "Manifest",
    "ManifestRow",
    "Usable",
    "Validation",
    "labels_digest",
    "load_manifest",
    "pinned_subsample",
    "validate",
]
