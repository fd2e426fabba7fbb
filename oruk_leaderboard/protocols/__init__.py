"""Protocols as data: the benchmark, its diagnostic and the leaderboards of the literature.

A protocol is one TOML file in ``tables/``: its label space or dimensions, its clips where it names them, what a clip
without an answer counts as, and how each column is computed. A reading that the leaderboard does not define has its
reason beside it, and every figure made by it is marked as assumed. ``scoring`` takes a protocol and scores by it.
"""

from oruk_leaderboard.protocols.named_clips import gold_of_protocol
from oruk_leaderboard.protocols.spec import BENCHMARK, Column, NamedClips, OnError, Protocol, load, names

__all__ = ["BENCHMARK", "Column", "NamedClips", "OnError", "Protocol", "gold_of_protocol", "load", "names"]
