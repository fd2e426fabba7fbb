"""What every adapter of trained weights has to check before the first clip."""

import importlib
from collections.abc import Sequence
from typing import Any

from oruk_leaderboard.errors import MissingExtraError, OrukError
from oruk_leaderboard.labels import alias_table
from oruk_leaderboard.records.system_card import SystemCard


def require(package: str, *, extra: str, where: str) -> Any:
    """Import a library that only some systems need.

    Raises:
        MissingExtraError: It is not installed.
        OrukError: It is installed and cannot be imported.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this system needs the package {package.partition('.')[0]}", extra=extra, where=where
        ) from error
    except (ImportError, OSError, RuntimeError) as error:
        raise cannot_load(f"the package {package.partition('.')[0]}", error, where=where) from error


DEVICES = ("cpu", "cuda", "mps")
"""Kinds of devices that models run on."""


def check_device(torch: Any, device: str) -> None:
    """Refuse a device that is not there; FunASR would run on the CPU instead.

    Raises:
        OrukError: torch cannot use it.
    """
    found: object = device
    if device.partition(":")[0] in DEVICES:
        try:
            torch.empty(0, device=device)
            return
        except (AssertionError, RuntimeError) as error:
            found = error
    raise OrukError(
        "torch cannot use this device", where=f"--device {device}", expected=", ".join(DEVICES), found=found
    )


def cannot_load(what: str, error: Exception, *, where: object) -> OrukError:
    """The error of a library that could not load ``what``.

    Libraries import torchaudio late, so one that was built for another torch shows itself anywhere.
    """
    found = f"{type(error).__name__}: {error}"
    if "torchaudio" not in found:
        return OrukError(f"{what} cannot be loaded", where=where, found=found)
    return OrukError(
        f"{what} cannot be loaded with this torchaudio",
        where=where,
        found=f"{torch_versions()}: {found}",
        do="install torchaudio of the same version and build as torch, or uninstall it",
    )


def torch_versions() -> str:
    """Versions of torch and torchaudio as installed; the two have to match."""
    from importlib import metadata

    found = []
    for name in ("torch", "torchaudio"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


def check_labels(labels: Sequence[str], *, card: SystemCard) -> None:
    """Refuse a model whose labels are not all known: its answers would silently become other classes.

    Raises:
        OrukError: A native label has no class and no explicit ``false``.
    """
    table = alias_table().declared(dict(card.native_labels or {}))
    unknown = [label for label in dict.fromkeys(labels) if table.resolve(label) is None and not table.knows(label)]
    if unknown:
        raise OrukError(
            "native labels of the model have no class",
            where=card.id,
            expected="a class, or false, for every label",
            found=", ".join(map(repr, unknown)),
            do=f'add to the card: [native_labels] "{unknown[0]}" = "anger" (or false)',
        )
