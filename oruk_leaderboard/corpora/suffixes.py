"""Suffixes of files that may be recordings, in lower case.

They only say which files to look at; what a file is depends on its content.
"""

LOSSLESS = (".wav", ".flac", ".aiff", ".aif", ".aifc", ".au", ".snd", ".sph", ".w64", ".caf")
"""Audio files that usually keep the samples as they were, in order of preference."""

AUDIO = (*LOSSLESS, ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".aac")
"""Audio files: a clip is recognised in any of these containers, whichever its release uses."""

VIDEO = (".mp4", ".avi", ".flv", ".mkv", ".mov", ".webm")
"""Video files; a spec names those that its release has."""

LOSSY = frozenset((*AUDIO[len(LOSSLESS) :], *VIDEO))
"""Files whose samples depend on the decoder."""

MEDIA = frozenset((*AUDIO, *VIDEO))
"""All of the above."""

UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".aria2", ".tmp", ".icloud")
"""Files that are not there in full."""


def finished_name(path: str) -> str | None:
    """File name that an unfinished download at this path will have; None where the path is not one's.

    Browsers and download tools append a suffix; iCloud also hides the file that it has not fetched: ``.a.wav.icloud``.
    """
    suffix = suffix_of(path)
    if suffix not in UNFINISHED:
        return None
    name = path.rpartition("/")[2][: -len(suffix)]
    return name.removeprefix(".") if suffix == ".icloud" else name


def suffix_of(path: str) -> str:
    """The suffix of a path with its dot, in lower case; empty where the file name has none."""
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return f"{dot}{suffix.lower()}" if dot else ""
