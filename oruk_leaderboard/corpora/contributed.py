"""What a spec that ships with this package must say beyond the rules for every spec."""

import re
from collections.abc import Iterator

from oruk_leaderboard.corpora.spec import CorpusSpec
from oruk_leaderboard.corpora.suffixes import MEDIA, suffix_of

_AUTHOR = re.compile(r"\bauthor\s*=\s*\{[^}]")


def unsaid(spec: CorpusSpec) -> Iterator[str]:
    """What the spec does not say and must before it can ship."""
    if not _AUTHOR.search(spec.citation):
        yield "the citation names no author"
    if not spec.layout_source:
        yield "no layout_source: where the layout was seen, or `unconfirmed`"
    if spec.table is not None and spec.table.content is None:
        yield "[table] has no content: a label file is recognised by its content, never by its name alone"
    if spec.agreement_required is not False:
        if spec.obtain.startswith("open"):
            yield "obtain says open, and the agreement is required or unconfirmed"
        if quotes(spec) and "made" not in spec.example:
            yield "the example has annotation lines and an agreement binds them: say in its key made why none is real"


def quotes(spec: CorpusSpec) -> bool:
    """Whether an example has something that could come from a real annotation: a label file or a transcript."""
    files = any(suffix_of(name) not in MEDIA for name in spec.example.get("tree", {}))
    return files or any("transcript" in clip for clip in spec.example.get("clips", []))
