"""Readers of label files that are no simple table: HDF5, xlsx, YAML, TextGrid, JSON Lines, votes, one-hot columns."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

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
                    emotions = [float(score) for score in scores[1:7]]
                    strongest = MOSEI_EMOTIONS[emotions.index(max(emotions))] if max(emotions) > 0 else "none"
                    yield {
                        "video": video,
                        "segment": str(index),
                        "start_s": repr(max(0.0, round(float(start), 3))),
                        "end_s": repr(round(float(end), 3)),
                        "native_label": strongest,
                        "sentiment": repr(float(scores[0])),
                        "excluded": None if end > max(start, 0) else "the segment has no length",
                    }
    except (OSError, KeyError, ValueError) as error:
        raise CorpusError(
            "not the label file of CMU-MOSEI", where=file.path, expected="HDF5 with 'All Labels/data'", found=error
        ) from error


@reader("quechua_map")
def quechua_map(file: LabelFile) -> Iterator[Row]:
    """Rows of the sheet ``map`` of ``Data.xlsx``.

    Raises:
        MissingExtraError: openpyxl is not installed.
        CorpusError: There is no such sheet.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError("Quechua's labels are xlsx and need openpyxl", extra="xlsx", where=file.path) from error
    with file.binary() as data:
        book = openpyxl.load_workbook(data, read_only=True, data_only=True)
        if "map" not in book.sheetnames:
            raise CorpusError("the workbook lacks a sheet", where=file.path, expected="map", found=book.sheetnames)
        rows = book["map"].iter_rows(values_only=True)
        header = [str(name).strip() for name in next(rows)]
        for row in rows:
            values = [None if value is None else str(value).strip() for value in row]
            if any(values):
                yield dict(zip(header, values, strict=False))


@reader("pavoque_yaml")
def pavoque_yaml(file: LabelFile) -> Iterator[Row]:
    """Segments of one of PAVOQUE's long recordings; times in s.

    Raises:
        CorpusError: The file is no YAML list of segments.
    """
    import yaml

    # The C loader where libyaml is there: the neutral file alone holds 3,126 segments with their phones.
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
    """One row a Praat TextGrid (long text form): the first non-empty interval of each tier, by the tier's name."""
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
    """Clips of one part of Dusha: its annotators' majority. The release holds one row for each annotator."""
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
        chosen = [column for column, value in classes if value and float(value) == 1]
        if len(chosen) != 1:
            raise CorpusError("a row is not one-hot", where=f"{file.path}: {name}", expected="one class", found=chosen)
        yield {"name": name, "native_label": chosen[0]}


_NO_VOTES = frozenset(("EmoAct", "EmoVal", "EmoDom", "SpkrID", "Gender", "Split_Set"))


@reader("vote_shares")
def vote_shares(file: LabelFile) -> Iterator[Row]:
    """A partition file of EMO-SUPERB: the first column is the file, each emotion's column its share of the votes.

    The emotion with the largest share is the label; where two share the lead there is ``no majority``.

    Raises:
        CorpusError: A share is no number.
    """
    for row in delimited(file):
        (_, name), *cells = row.items()
        try:
            shares = {column: float(share or 0) for column, share in cells if column not in _NO_VOTES}
        except ValueError as error:
            raise CorpusError("a share of votes is no number", where=f"{file.path}: {name}", found=error) from error
        leaders = [emotion for emotion, share in shares.items() if share == max(shares.values())]
        native = leaders[0] if len(leaders) == 1 else NO_MAJORITY
        yield {**row, "name": (name or "").removesuffix(".wav"), "native_label": native}
