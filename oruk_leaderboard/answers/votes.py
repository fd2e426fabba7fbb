"""Vote files that corpora ship: how many listeners heard which class in each clip.

Two published forms are read, and one of our own:

- CREMA-D, ``processedResults/tabulatedVotes.csv``: one row per clip and way of presenting it, one column per emotion.
  Row names are 100000 times the kind of presentation (1 voice, 2 face, 3 both) plus the clip's number; the voice rows
  are the ones that count. Source: README.md and tabulateVotesV2.r of CheyneyComputerScience/CREMA-D.
- Emozionalmente, ``metadata/evaluations.csv``: one row per rating, with ``file_name`` and ``emotion_recognized``.
  Source: the loaders in felixbur/nkululeko and audeering's datasets repository, which read these columns.
- Any corpus: a row file with ``clip_id`` and one column ``votes_<class>`` per class, counts or shares.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oruk_leaderboard.answers.predictions import normal_id
from oruk_leaderboard.answers.tabular import Rows, printable, read_rows
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError

PREFIX = "votes_"
"""Prefix of the columns of our own form."""

CREMA_D: Mapping[str, str] = {
    "a": "anger", "d": "disgust", "f": "fear", "h": "happiness", "n": "neutral", "s": "sadness"
}  # fmt: skip
"""Vote columns of CREMA-D, and their classes."""

EMOZIONALMENTE: Mapping[str, str] = {
    "anger": "anger", "disgust": "disgust", "fear": "fear", "joy": "happiness", "neutrality": "neutral",
    "sadness": "sadness", "surprise": "surprise",
}  # fmt: skip
"""What listeners of Emozionalmente could answer, and the classes."""


@dataclass(frozen=True, slots=True)
class Votes:
    """Votes of listeners on clips.

    Attributes:
        clip_ids: Clips that have votes, each once.
        classes: Classes that the listeners could choose, in protocol order.
        counts: Votes for each class, shape (n, m); whole numbers, or shares that sum to 1.
        whole: Whether these are numbers of listeners, so that one of them can be left out.
        source: Name of the file.
        unknown: Answers without a class, with the number of ratings that were left out for them.
    """

    clip_ids: Sequence[str]
    classes: tuple[str, ...]
    counts: NDArray[np.float64]
    whole: bool
    source: str
    unknown: Mapping[str, int] = field(default_factory=dict)


def read_votes(path: Path) -> Votes:
    """Read a vote file; its columns say which form it has.

    Raises:
        PredictionError: The columns are of no known form, or a row has no usable votes; the line is named.
    """
    rows = read_rows(path)
    for needed, reader in FORMS:
        if needed <= set(rows.columns) and (reader is not _own or any(map(_is_own, rows.columns))):
            return reader(rows)
    raise PredictionError(
        "not a known vote file",
        where=path,
        expected="CREMA-D's tabulatedVotes.csv, Emozionalmente's evaluations.csv, or clip_id and votes_<class>",
        found=", ".join(rows.columns),
    )


def votes_of_columns(rows: Rows, clip_ids: Sequence[str]) -> Votes | None:
    """Votes in the ``votes_<class>`` columns of a file, such as a gold file; None if it has none.

    Args:
        rows: The file.
        clip_ids: Clip id of each row.

    Raises:
        PredictionError: A column names no class, or a row has a negative vote, no number, or no votes at all.
    """
    columns = {name.removeprefix(PREFIX): name for name in rows.columns if _is_own(name)}
    if not columns:
        return None
    if strays := sorted(set(columns) - set(CLASSES)):
        raise PredictionError(
            "a column of votes names no class", where=rows.path, expected=", ".join(CLASSES), found=strays[0]
        )
    classes = tuple(name for name in CLASSES if name in columns)
    counts = np.stack([_numbers(rows, columns[name]) for name in classes], axis=1)
    if (empty := np.flatnonzero(counts.sum(axis=1) <= 0)).size:
        raise PredictionError("the clip has no votes", where=rows.where(int(empty[0])), expected="at least one vote")
    whole = bool((counts == np.round(counts)).all())
    return Votes(list(clip_ids), classes, counts, whole, rows.path.name)


def _is_own(column: str) -> bool:
    return column.startswith(PREFIX)


def _own(rows: Rows) -> Votes:
    from oruk_leaderboard.answers.predictions import read_ids

    votes = votes_of_columns(rows, read_ids(rows))
    assert votes is not None  # the form was recognised by these columns
    return votes


def _crema_d(rows: Rows) -> Votes:
    """Voice rows only: the listeners must have had no more than the system has."""
    classes = tuple(name for name in CLASSES if name in CREMA_D.values())
    column_of = {name: column for column, name in CREMA_D.items()}
    counts = np.stack([_numbers(rows, column_of[name]) for name in classes], axis=1)
    codes = rows.columns[""]
    for at, code in enumerate(codes):
        if not (isinstance(code, str) and len(code) == 6 and code[0] in "123" and code.isdigit()):
            raise PredictionError(
                "the row's name does not say how the clip was presented",
                where=rows.where(at),
                expected="six digits, the first 1 (voice), 2 (face) or 3 (both)",
                found=repr(code),
            )
    voice = [at for at, code in enumerate(codes) if code[0] == "1" and counts[at].sum()]
    ids = [f"crema_d/{rows.columns['filename'][at]}" for at in voice]
    _once(rows, ids, voice)
    return Votes(ids, classes, counts[voice], True, rows.path.name)


def _emozionalmente(rows: Rows) -> Votes:
    classes = tuple(name for name in CLASSES if name in EMOZIONALMENTE.values())
    place = {answer: classes.index(name) for answer, name in EMOZIONALMENTE.items()}
    names = [f"emozionalmente/{str(name).rpartition('.')[0] or name}" for name in rows.columns["file_name"]]
    clips = {name: at for at, name in enumerate(dict.fromkeys(names))}
    counts = np.zeros((len(clips), len(classes)))
    unknown: Counter[str] = Counter()
    for name, answer in zip(names, rows.columns["emotion_recognized"], strict=True):
        heard = place.get(str(answer).strip().casefold())
        if heard is None:
            unknown[printable(str(answer))] += 1
        else:
            counts[clips[name], heard] += 1
    some = np.flatnonzero(counts.sum(axis=1))
    ids = list(clips)
    return Votes([normal_id(ids[at]) for at in some], classes, counts[some], True, rows.path.name, dict(unknown))


FORMS: tuple[tuple[set[str], Callable[[Rows], Votes]], ...] = (
    ({"", *CREMA_D, "filename", "numresponses"}, _crema_d),
    ({"file_name", "emotion_recognized"}, _emozionalmente),
    ({"clip_id"}, _own),
)
"""Columns that tell a form, and its reader."""


def _numbers(rows: Rows, column: str) -> NDArray[np.float64]:
    """A column of votes; a blank is none."""
    values = np.zeros(rows.size)
    for at, written in enumerate(rows.columns[column]):
        text = written.strip() if isinstance(written, str) else written
        try:
            values[at] = float(text) if text not in (None, "") else 0.0
        except (TypeError, ValueError):
            values[at] = np.nan
        if not 0 <= values[at] < np.inf:
            raise PredictionError(
                "not a number of votes", where=rows.where(at), expected=f"{column} of 0 or more", found=repr(written)
            )
    return values


def _once(rows: Rows, ids: Sequence[str], places: Sequence[int]) -> None:
    first: dict[str, int] = {}
    for name, at in zip(ids, places, strict=True):
        if name in first:
            raise PredictionError(
                "duplicate clip", where=rows.where(at), found=f"{name} (first at {rows.where(first[name])})"
            )
        first[name] = at
