"""Words for systems that read instead of hearing: the corpus's own, else those of a file, else a recogniser's.

A transcript by a recogniser is another input than the corpus's own, so that each receipt says where its words came from
and a record counts the sources. The recogniser is any OpenAI-compatible ``/audio/transcriptions`` (multipart fields
``file``, ``model``, ``response_format``; the answer's ``text``: https://platform.openai.com/docs/api-reference/audio).
"""

import fcntl
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oruk_leaderboard import jsontext
from oruk_leaderboard.answers.receipt_file import cut_unfinished
from oruk_leaderboard.answers.tabular import read_rows
from oruk_leaderboard.errors import OrukError, PredictionError
from oruk_leaderboard.paths import writing
from oruk_leaderboard.systems.endpoint import bearer, check_endpoint, key_of, service_at, wav_bytes
from oruk_leaderboard.systems.secrets import blank
from oruk_leaderboard.systems.sources import sha256_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from oruk_leaderboard.systems.http import Service

CORPUS = "corpus"
"""Source of the words that a corpus gives itself."""


@dataclass(frozen=True, slots=True)
class Words:
    """What was said in a clip.

    Attributes:
        text: The words; empty where a recogniser heard none.
        source: ``corpus``, a source that a file names, or ``recogniser:MODEL``.
    """

    text: str
    source: str


def read_transcripts(path: Path) -> dict[str, Words]:
    """Words of a file by clip id.

    Args:
        path: CSV, JSON Lines or parquet with the columns ``clip_id``, ``text`` and ``source``.

    Raises:
        PredictionError: A column is missing, a value is not text, a source is empty or ``corpus``, or a clip is there
            twice.
    """
    rows = read_rows(path)
    found: dict[str, Words] = {}
    columns = [rows.need(name) for name in ("clip_id", "text", "source")]
    for at, (clip_id, text, source) in enumerate(zip(*columns, strict=True)):
        if not (isinstance(clip_id, str) and isinstance(text, str) and isinstance(source, str)):
            raise PredictionError("a transcript needs text in every column", where=rows.where(at))
        if source.strip() in ("", CORPUS):
            raise PredictionError(
                "a transcript needs a source of its own",
                where=rows.where(at),
                expected=f"who or what wrote it down; {CORPUS!r} is what the rebuilt set gives itself",
                found=repr(source),
            )
        if clip_id in found:
            raise PredictionError("duplicate clip id", where=rows.where(at), found=clip_id)
        found[clip_id] = Words(text, source.strip())
    return found


class Recogniser:
    """Transcribes clips, each one once: its answers are kept in a file by digest of the samples and model.

    Args:
        service: ``/audio/transcriptions`` of an endpoint.
        model: Name of the model there.
        cache: JSON Lines file that runs may share.
    """

    def __init__(self, service: "Service", model: str, cache: Path) -> None:
        self.model = model
        self._service, self._cache, self._lock = service, cache, threading.Lock()
        self._known: dict[str, str] = {}
        if cache.exists():
            with cache.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                cut_unfinished(file)
        if cache.exists() and cache.stat().st_size:
            rows = read_rows(cache)
            columns = (rows.need(name) for name in ("clip_sha256", "model", "text"))
            self._known = {digest: text for digest, by, text in zip(*columns, strict=True) if by == model}

    @property
    def source(self) -> str:
        """How receipts name it."""
        return f"recogniser:{self.model}"

    def words(self, clip_id: str, digest: str, wave: "NDArray[np.float32]") -> Words:
        """Words of a clip.

        Args:
            clip_id: Its id.
            digest: SHA-256 of its samples.
            wave: Its samples, shape (n_samples,), 16 kHz.

        Raises:
            OrukError: The endpoint gives no access, has no quota left, or does not know the model.
            RuntimeError: It gave no transcript of this clip.
        """
        if digest not in self._known:
            form = {"file": ("clip.wav", wav_bytes(wave), "audio/wav")}
            response = self._service.post(files=form, data={"model": self.model, "response_format": "json"})
            if response.status != 200:
                raise RuntimeError(f"no transcript: HTTP {response.status}: {blank(response.text[:2000])[:200]}")
            try:
                text = str(jsontext.parse(response.text)["text"])
            except (LookupError, TypeError, ValueError) as error:
                raise RuntimeError(f"no transcript in the answer: {type(error).__name__} {error}") from error
            self._keep(clip_id, digest, text)
        return Words(self._known[digest], self.source)

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def _keep(self, clip_id: str, digest: str, text: str) -> None:
        line = {
            "clip_id": clip_id,
            "clip_sha256": digest,
            "model": self.model,
            "text": text,
            "source": self.source,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with self._lock, writing(self._cache), self._cache.open("a", encoding="utf-8") as file:
            # Runs that share the file must not write into each other's lines.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._known[digest] = text


@dataclass(frozen=True, slots=True)
class Transcripts:
    """Source of the transcripts of clips.

    Attributes:
        given: Clip id to its words, for clips of which the corpus gives none.
        recogniser: What transcribes the rest, or None.
        identity: What decides the words, as JSON values; part of ``run.json``.
    """

    given: Mapping[str, Words]
    recogniser: Recogniser | None
    identity: Mapping[str, Any]

    def words(self, clip_id: str, given: str | None, digest: str, wave: "NDArray[np.float32]") -> Words | None:
        """Words of a clip, or None where no source has them.

        Args:
            clip_id: Its id.
            given: What the corpus gives, or None.
            digest: SHA-256 of its samples.
            wave: Its samples, shape (n_samples,), 16 kHz.

        Raises:
            OrukError: As ``Recogniser.words``.
            RuntimeError: As ``Recogniser.words``.
        """
        if given is not None and given.strip():
            return Words(given, CORPUS)
        if clip_id in self.given:
            return self.given[clip_id]
        return None if self.recogniser is None else self.recogniser.words(clip_id, digest, wave)

    def known(self, clip_id: str, given: str | None) -> str:
        """Words of a clip that are there before any recogniser is asked; empty where there are none."""
        if given is not None and given.strip():
            return given
        return self.given[clip_id].text.strip() if clip_id in self.given else ""

    def close(self) -> None:
        """Close the connections."""
        if self.recogniser is not None:
            self.recogniser.close()


CORPUS_ONLY = Transcripts({}, None, {})
"""The corpus's own words only."""


def transcripts(
    file: Path | None,
    model: str | None,
    endpoint: str | None,
    *,
    cache: Path,
    allow_http: bool = False,
    timeout: float = 120.0,
    rpm: int | None = None,
    concurrency: int = 8,
) -> Transcripts:
    """Transcripts as the options of ``run`` ask for them.

    Args:
        file: Of ``--transcripts``.
        model: Of ``--transcribe-with``.
        endpoint: Of ``--transcribe-endpoint``.
        cache: Where a recogniser's transcripts are kept.
        allow_http: Whether plain HTTP to another machine is allowed.
        timeout: Longest wait for one transcript, in s.
        rpm: Most requests per minute, or None.
        concurrency: Most connections at a time.

    Raises:
        OrukError: Only one of model and endpoint is named, the key is missing, or the file cannot be used.
    """
    if (model is None) != (endpoint is None):
        missing = "--transcribe-endpoint URL" if endpoint is None else "--transcribe-with MODEL"
        raise OrukError("a recogniser needs a model and an endpoint", where="--transcribe-with", expected=missing)
    identity: dict[str, Any] = {}
    given: dict[str, Words] = {}
    if file is not None:
        given, identity["file_sha256"] = read_transcripts(file), sha256_of(file)
    if model is None or endpoint is None:
        return Transcripts(given, None, identity)
    url = check_endpoint(endpoint, allow_http=allow_http)
    key = key_of(url, where="--transcribe-endpoint")
    service = service_at(
        f"{url}/audio/transcriptions",
        bearer(key) if key else {},
        where="--transcribe-with",
        timeout=timeout,
        rpm=rpm,
        concurrency=concurrency,
    )
    identity |= {"recogniser": model, "recogniser_endpoint": url}
    return Transcripts(given, Recogniser(service, model, cache), identity)
