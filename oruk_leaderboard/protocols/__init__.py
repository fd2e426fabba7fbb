"""Protocols as data: the benchmark, its diagnostic and the columns of every leaderboard of the literature.

A protocol is one TOML file in ``tables/``. It names its own label space or dimensions, the columns it needs beside
them, and for each figure how it is computed; what the table itself does not define is a reading written there with
its reason, and every figure made by it is marked as assumed.
"""

from oruk_leaderboard.protocols.evaluate import Evaluation, MetricValue, evaluate, evaluate_files
from oruk_leaderboard.protocols.spec import Figure, Protocol, load, names

__all__ = ["Evaluation", "Figure", "MetricValue", "Protocol", "evaluate", "evaluate_files", "load", "names"]
