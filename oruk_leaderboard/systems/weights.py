"""Which weights are loaded: a pinned commit of a hub, or the digest of a local folder."""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from oruk_leaderboard.errors import MissingExtraError, OrukError
from oruk_leaderboard.records.system_card import SystemCard
from oruk_leaderboard.systems.base import Options
from oruk_leaderboard.systems.sources import sha256_of

COMMIT = re.compile(r"[0-9a-f]{40}")
"""A commit of a hub."""


@contextlib.contextmanager
def tensors_only() -> Iterator[None]:
    """Inside, ``torch.load`` reads tensors alone, whatever a library asks for: other pickles can run code."""
    names = ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    before = {name: os.environ.pop(name, None) for name in names}
    os.environ[names[0]] = "1"
    try:
        yield
    finally:
        del os.environ[names[0]]
        os.environ.update({name: value for name, value in before.items() if value is not None})


def refuse_dtype(card: SystemCard, options: Options) -> None:
    """End where another number type is asked of a library that offers no choice.

    Raises:
        OrukError: It is.
    """
    if (dtype := options.dtype or card.dtype) not in (None, "float32"):
        raise OrukError("this adapter runs in float32 only", where=card.id, expected="float32", found=dtype)


def refuse_missing(missing: Iterable[str], *, where: str) -> None:
    """End before the first clip where a checkpoint lacks weights: they would be random.

    Raises:
        OrukError: It does; the first of them are named.
    """
    if wrong := sorted(missing):
        raise OrukError(
            "the checkpoint lacks weights, which would be random",
            where=where,
            expected="every weight of the classifier",
            found=", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""),
        )


def local_folder(card: SystemCard) -> Path | None:
    """The folder that a card names as its model, or None where it names one of a hub."""
    path = Path(card.model_id or "")
    return path if card.model_id and path.is_dir() else None


def folder_digest(folder: Path) -> str:
    """``sha256:`` over the names and digests of all files of a folder, in code-point order."""
    lines = [
        f"{path.relative_to(folder).as_posix()}\t{sha256_of(path)}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def pinned(card: SystemCard, options: Options) -> str:
    """The revision of the weights to load: of a local folder what its files say, whatever is asked for.

    Raises:
        OrukError: No revision is stated, it is not a commit, or a folder's files are not those asked for.
    """
    asked = options.revision or card.revision
    if (folder := local_folder(card)) is not None:
        found = folder_digest(folder)
        if asked is not None and asked != found:
            raise OrukError(
                "the files of the model folder are not those of the revision",
                where=folder,
                expected=asked,
                found=found,
                do="leave out the revision of a local folder: it is the digest of its files",
            )
        return found
    if asked is None:
        raise OrukError(
            "the revision of these weights is unknown",
            where=card.model_id,
            expected="a 40-hex commit",
            do="name it with --revision",
        )
    if not COMMIT.fullmatch(asked):
        raise OrukError(
            "not a pinned revision",
            where=card.model_id,
            expected="a 40-hex commit (a branch or tag can move)",
            found=asked,
        )
    return asked


def snapshot(card: SystemCard, revision: str) -> Path:
    """Folder of the weights at that revision, downloaded where needed.

    The libraries' own downloaders are not used: FunASR's drops the revision for the Hugging Face Hub.

    Raises:
        OrukError: The hub does not give it, or its client is not installed.
    """
    if (folder := local_folder(card)) is not None:
        return folder
    model_id = card.model_id or ""
    if card.hub == "modelscope":
        try:
            from modelscope import snapshot_download as from_modelscope
        except ImportError as error:
            raise MissingExtraError("these weights are on ModelScope", extra="funasr", where=card.id) from error
        return Path(from_modelscope(model_id, revision=revision))
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(snapshot_download(model_id, revision=revision))
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise OrukError(
            "the weights cannot be downloaded",
            where=f"{model_id}@{revision}",
            found=error,
            do="check the connection, the name and your access (HF_TOKEN), then run the same command again",
        ) from error
