"""Corpora: specs, roots, and the clips a spec finds below a root.

from oruk_leaderboard.corpora import clips, find_corpora

for found in find_corpora("/data/corpora"):
rows = clips(found).clips
"""

from oruk_leaderboard.corpora.duplicates import exclude_duplicates
from oruk_leaderboard.corpora.find import FoundCorpus, find_corpora, locate, open_roots, parse_corpora
from oruk_leaderboard.corpora.loading import load_spec
from oruk_leaderboard.corpora.nearest import not_recognised
from oruk_leaderboard.corpora.registry import broken_plug_ins, get_corpus, registry
from oruk_leaderboard.corpora.roots import Problem, Root, open_root
from oruk_leaderboard.corpora.rows import CorpusClips, clips, clips_of, describe
from oruk_leaderboard.corpora.spec import CorpusSpec

__all__ = [
    "CorpusClips",
    "CorpusSpec",
    "FoundCorpus",
    "Problem",
    "Root",
    "broken_plug_ins",
    "clips",
    "clips_of",
    "describe",
    "exclude_duplicates",
    "find_corpora",
    "get_corpus",
    "load_spec",
    "locate",
    "not_recognised",
    "open_root",
    "open_roots",
    "parse_corpora",
    "registry",
]
