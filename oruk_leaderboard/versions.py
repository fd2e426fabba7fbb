"""Every version that can move a number, in one line that a paper can quote."""

from importlib import metadata

from oruk_leaderboard import __version__


def versions() -> dict[str, str]:
    """Component to version, from the package down to numpy."""
    import soundfile

    from oruk_leaderboard.audio import RULE_VERSION
    from oruk_leaderboard.labels import alias_table
    from oruk_leaderboard.manifest import load_manifest
    from oruk_leaderboard.protocols import load
    from oruk_leaderboard.records.record import RECORD_VERSION
    from oruk_leaderboard.scoring.result import SCORER_VERSION

    return {
        "oruk-bench-leaderboard": __version__,
        "manifest": load_manifest().version,
        "audio rule": str(RULE_VERSION),
        "scorer": SCORER_VERSION,
        "labels": alias_table().version,
        "protocol": str(load().version),
        "schema": RECORD_VERSION,
        "libsndfile": soundfile.__libsndfile_version__,
        "soxr": metadata.version("soxr"),
        "numpy": metadata.version("numpy"),
    }
