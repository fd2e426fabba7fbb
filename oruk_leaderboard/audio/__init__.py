"""The audio rule, version 1: the only part of the package that touches samples.

A clip is the mean of a recording's channels (or one channel), resampled to 16 kHz, at most 16 s, as 16-bit samples.
`rule` states it to the bit, `opening` opens what corpora come in, `digest` identifies files and samples.
"""

from oruk_leaderboard.audio.digest import PcmDigest, pcm_digest, source_digest
from oruk_leaderboard.audio.opening import open_recording
from oruk_leaderboard.audio.recording import Recording
from oruk_leaderboard.audio.rule import RULE_VERSION, Rendered, encode_flac, render, render_recording
from oruk_leaderboard.audio.selftest import self_test, versions

__all__ = [
    "RULE_VERSION",
    "PcmDigest",
    "Recording",
    "Rendered",
    "encode_flac",
    "open_recording",
    "pcm_digest",
    "render",
    "render_recording",
    "self_test",
    "source_digest",
    "versions",
]
