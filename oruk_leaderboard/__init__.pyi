"""The public names and where each one is defined: the one list that `__init__.py`, editors and type checkers read."""

from oruk_leaderboard.answers.predictions import read_predictions as read_predictions
from oruk_leaderboard.card.cite import cite as cite
from oruk_leaderboard.clipset import open_clipset as open_clipset
from oruk_leaderboard.corpora import clips as clips
from oruk_leaderboard.corpora import find_corpora as find_corpora
from oruk_leaderboard.corpora import get_corpus as get_corpus
from oruk_leaderboard.hub.submission import submit as submit
from oruk_leaderboard.hub.upstream import sync as sync
from oruk_leaderboard.manifest import load_manifest as load_manifest
from oruk_leaderboard.manifest import validate as validate
from oruk_leaderboard.reconstruction import reconstruct as reconstruct
from oruk_leaderboard.records.record import load_records as load_records
from oruk_leaderboard.release.publication import publish as publish
from oruk_leaderboard.scoring.comparison import compare as compare
from oruk_leaderboard.scoring.replay import replay as replay
from oruk_leaderboard.scoring.scorer import score as score
from oruk_leaderboard.scoring.verification import verify as verify
from oruk_leaderboard.systems.runner import run as run
from oruk_leaderboard.table.leaderboard import leaderboard as leaderboard
from oruk_leaderboard.table.leaderboard import load_leaderboard as load_leaderboard

__version__: str
