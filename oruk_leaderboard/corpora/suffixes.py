"""Suffixes of files that may be recordings, in lower case.

They only say which files to look at; what a file holds is decided by its content.
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


def suffix_of(path: str) -> str:
    """The suffix of a path with its dot, in lower case; empty where the file name has none."""
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return f"{dot}{suffix.lower()}" if dot else ""
