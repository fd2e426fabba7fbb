"""The manifest's row, and how every value of it is written and read back unchanged."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from oruk_leaderboard.errors import ManifestError


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """One pinned evaluation clip. None is "not known", or "not shipped" for the labels of corpora under an agreement.

    Attributes:
        clip_id: ``<corpus>/<name>``, unique, never changed once released.
        corpus: Id of the corpus.
        media: Path of the recording below the corpus's own root in the official layout; None for corpora under an
            agreement whose folder and file names tell the label.
        start_s: Start within the recording in s, or None for the whole recording.
        end_s: End within the recording in s, or None.
        label: One of the seven classes; None for corpora under an agreement.
        native_label: Label as the corpus writes it; None for corpora under an agreement.
        speaker: The corpus's own speaker id.
        gender: ``female``, ``male``, ``other`` or ``child``.
        language: BCP-47 tag.
        elicitation: ``acted``, ``elicited``, ``spontaneous``, ``synthetic`` or a ``+`` sum of these.
        split: Partition that the corpus itself assigns.
        duration_s: Length of the clip in s, as public lists give it.
        source_sha256: sha256 of the recording's file.
        source_bytes: Size of that file in bytes.
        pcm_sha256: sha256 of the decoded samples as stored (int16 little-endian, interleaved), before any resampling.
        clip_sha256: sha256 of the rebuilt clip's int16 little-endian samples (audio rule 1).
        num_samples: Samples a channel of the recording.
        sampling_rate: Of the recording, in Hz.
        channels: Of the recording.
        clip_num_samples: Samples of the rebuilt clip, at 16 kHz.
        open: The clip belongs to profile ``open``: its corpus needs no agreement.
        subsample_full: The clip belongs to the protocol's subsample of profile ``full``.
        subsample_open: The clip belongs to the protocol's subsample of profile ``open``.
    """

    clip_id: str
    corpus: str
    media: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    label: str | None = None
    native_label: str | None = None
    speaker: str | None = None
    gender: str | None = None
    language: str | None = None
    elicitation: str | None = None
    split: str | None = None
    duration_s: float | None = None
    source_sha256: str | None = None
    source_bytes: int | None = None
    pcm_sha256: str | None = None
    clip_sha256: str | None = None
    num_samples: int | None = None
    sampling_rate: int | None = None
    channels: int | None = None
    clip_num_samples: int | None = None
    open: bool = False
    subsample_full: bool = False
    subsample_open: bool = False

    def cells(self) -> list[str]:
        """Values as the CSV file writes them, in the order of the columns; an unknown one is empty."""
        return [_cell(getattr(self, column)) for column in COLUMNS]


TYPES: dict[str, type] = {
    field.name: next(kind for kind in (str, float, int, bool) if kind.__name__ in str(field.type))
    for field in fields(ManifestRow)
}
"""Column to the type of its values: the one place that says so, for CSV and for parquet."""

COLUMNS: tuple[str, ...] = tuple(TYPES)
"""Names of the columns, in order."""

PROFILES: tuple[str, ...] = ("full", "open")
"""Names of the profiles."""


def _cell(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def row_from_cells(cells: Mapping[str, str], *, where: str) -> ManifestRow:
    """Row of a CSV line: every value by the column's type, never by a guess, so speaker ``01`` and ``NA`` survive.

    Args:
        cells: Column name to text.
        where: File and line, for errors.

    Raises:
        ManifestError: A value is not of its column's type.
    """
    values: dict[str, Any] = {}
    for column, kind in TYPES.items():
        text = cells[column]
        try:
            values[column] = _BOOLEANS[text] if kind is bool else kind(text) if text else None
        except (KeyError, ValueError) as error:
            raise ManifestError(
                f"not a valid {kind.__name__} in column {column!r}",
                where=where,
                expected=_EXPECTED[kind],
                found=repr(text),
            ) from error
    if not (values["clip_id"] or "").startswith(f"{values['corpus']}/"):
        raise ManifestError(
            "clip id and corpus disagree", where=where, expected="<corpus>/<name>", found=cells["clip_id"]
        )
    return ManifestRow(**values)


_BOOLEANS = {"true": True, "false": False}
_EXPECTED: dict[type, str] = {
    str: "text",
    float: "a number or nothing",
    int: "a whole number or nothing",
    bool: "true or false",
}
