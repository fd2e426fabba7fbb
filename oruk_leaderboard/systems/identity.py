"""What a run is: ``FILE.run.json`` says what gave the answers, so that a resumed run cannot mix two systems."""

import itertools
import json
import platform
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from oruk_leaderboard import __version__, jsontext
from oruk_leaderboard.answers.run_files import ADDED, calls_of, read_run, receipts_of, run_file
from oruk_leaderboard.errors import OrukError
from oruk_leaderboard.paths import writing
from oruk_leaderboard.systems.base import Options, System

RUN_VERSION = 1
"""Version of ``run.json``."""

PACKAGES = ("torch", "transformers", "funasr", "speechbrain", "opensmile", "soxr", "numpy")
"""Libraries whose version can move an answer; those that are installed are recorded."""


def identity_of(system: System, options: Options, *, set_digest: str) -> dict[str, Any]:
    """Everything that decides the answers of a run, as JSON values; a price decides none."""
    card = {name: value for name, value in system.card.to_dict().items() if name != "price"}
    return {
        "run_version": RUN_VERSION,
        "system": jsontext.parse(json.dumps(card)),
        "revision": system.revision,
        "identity": jsontext.parse(json.dumps(dict(system.identity))),
        "device": options.device.partition(":")[0],
        "dtype": options.dtype or system.card.dtype or "float32",
        "prompt": system.prompt,
        "prompt_sha256": system.prompt_sha256,
        "set": set_digest,
        "versions": {"oruk-bench-leaderboard": __version__, "python": platform.python_version(), **_installed()},
    }


def _installed() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def set_aside(out: Path) -> list[Path]:
    """Rename the receipts, ``run.json`` and calls of earlier runs to the first free number; nothing is deleted.

    Returns:
        Where they are now.
    """
    old = [path for path in (receipts_of(out), run_file(out), calls_of(out)) if path.exists() and path.stat().st_size]
    if not old:
        return []
    for number in itertools.count(1):
        new = [path.with_name(f"{path.stem}.{number}{path.suffix}") for path in old]
        if not any(path.exists() for path in new):
            return [path.rename(target) for path, target in zip(old, new, strict=True)]
    raise AssertionError


def continue_or_begin(out: Path, identity: Mapping[str, Any], *, started: bool, resume: bool) -> None:
    """Compare with the run that began the receipts; write ``run.json`` where this run begins them.

    Args:
        out: The predictions file.
        identity: ``identity_of`` this run.
        started: Whether there are receipts already.
        resume: Whether the user vouches for receipts whose origin nothing here can check.

    Raises:
        OrukError: The receipts come from a run that differs, named by its first differing key; or nothing says what
            gave them.
    """
    path = run_file(out)
    if started and (before := read_run(path)) is not None:
        for key, old, new in _differences({**before, **dict.fromkeys(ADDED)}, dict(identity)):
            raise OrukError(
                "this run differs from the one that wrote the receipts",
                where=f"{path} {key}",
                expected=old,
                found=new,
                do="start again with --restart (the old receipts are kept), or choose another --out",
            )
        if identity["identity"].get("files_declared") is False and not resume:
            raise OrukError(
                "the module does not say which files decide its answers, so old receipts cannot be trusted",
                where=identity["system"]["model_id"],
                expected='FILES = ["weights.pt", …] in the module (FILES = [] where there are none)',
                do="take the receipts over with --resume, or start again with --restart",
            )
        return
    if started and not resume:
        raise OrukError(
            "receipts without the run.json that says what gave them",
            where=receipts_of(out),
            do="take them over with --resume, or start again with --restart",
        )
    write_run(out, identity)


def write_run(out: Path, identity: Mapping[str, Any]) -> None:
    """Write ``run.json``, whole or not at all."""
    path = run_file(out)
    part = path.with_name(f".{path.name}.part")
    with writing(path):
        part.write_text(jsontext.pretty(dict(identity)) + "\n", encoding="utf-8", newline="\n")
    part.replace(path)


def _differences(old: object, new: object, key: str = "") -> Iterator[tuple[str, object, object]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _differences(old.get(name), new.get(name), f"{key}.{name}" if key else name)
    elif old != new:
        yield key, old, new
