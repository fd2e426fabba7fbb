"""The caveats of a result, in one table: what qualifies a row wherever it is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from oruk_leaderboard.records.record import PUBLISHED, Record
from oruk_leaderboard.records.training import training_ledger

PROMPTED: frozenset[str] = frozenset({"API", "audio LLM", "text only"})
"""Families that answer the protocol's one shared prompt instead of giving class scores."""


@dataclass(frozen=True, slots=True)
class Caveat:
    """A caveat.

    Attributes:
        key: Stable key, used in JSON.
        badge: A word or two, shown beside a system's name; ``{failed}`` is the number of clips without a usable answer.
        sentence: What it means, for a footnote: a clause without a full stop.
        applies: Whether it applies to a record.
        footnote: Whether tables mark it; the others follow from the group or the family of a row.
    """

    key: str
    badge: str
    sentence: str
    applies: Callable[[Record], bool]
    footnote: bool = True

    def badge_of(self, record: Record) -> str:
        """The badge with the record's own numbers."""
        return self.badge.format(failed=f"{failed(record):,}")


def failed(record: Record) -> int:
    """Clips without a usable answer."""
    return sum((record.failures or {}).values())


def _published(record: Record) -> bool:
    return record.scored_on in PUBLISHED


def _private(record: Record) -> bool:
    named_by_files = (record.system.revision or "").startswith("sha256:")
    return named_by_files or (record.system.hub is None and (record.source.locator or "").startswith("answers of "))


def _overlap(*evidence: str) -> Callable[[Record], bool]:
    return lambda record: (
        record.system.in_distribution is not True and training_ledger().of(record.system.id).evidence in evidence
    )


CAVEATS: Mapping[str, Caveat] = {
    caveat.key: caveat
    for caveat in (
        Caveat(
            "in-distribution",
            "in-distribution",
            "trained in-distribution by the benchmark's authors, who state that the other systems were not: not a "
            "like-for-like comparison; a historical checkpoint, not a result for Resonance",
            lambda record: _published(record) and record.system.in_distribution is True,
        ),
        Caveat(
            "contaminated",
            "in-distribution",
            "trained on corpora of the evaluation: not a like-for-like comparison with rows that were not",
            lambda record: not _published(record) and record.system.in_distribution is True,
        ),
        Caveat(
            "overlap stated",
            "overlap stated",
            "public sources name corpora of this package's manifest among its training data (data/training.csv)",
            _overlap("stated"),
        ),
        Caveat(
            "overlap implied",
            "overlap implied",
            "public sources imply, or state of a parent model, that corpora of this package's manifest are among its "
            "training data (data/training.csv)",
            _overlap("implied"),
        ),
        Caveat(
            "overlap unknown",
            "overlap unknown",
            "no public source was found that names corpora of this package's manifest among its training data, which "
            "is not the same as none",
            lambda record: _published(record) and _overlap("unnamed", "nothing found")(record),
            footnote=False,
        ),
        Caveat(
            "undeclared",
            "overlap unknown",
            "training corpora not declared: contamination unknown",
            lambda record: not _published(record) and record.system.in_distribution is None,
        ),
        Caveat(
            "not public",
            "not public",
            "a model that is not public, named by the sha256 of its files or by its endpoint: only its owner can "
            "repeat the result",
            _private,
        ),
        Caveat(
            "historical",
            "historical",
            "a dated checkpoint that is no longer served; not a result for any current product",
            lambda record: _published(record) and (record.system.is_oruk or record.superseded_by is not None),
            footnote=False,
        ),
        Caveat(
            "rebuilt",
            "rebuilt set",
            "scored on a rebuilt set, not on the original evaluation",
            lambda record: not _published(record),
            footnote=False,
        ),
        Caveat(
            "transcript only",
            "transcript only",
            "reads a transcript, not the audio",
            lambda record: record.system.family == "text only" or record.system.modality == "transcript-only",
        ),
        Caveat(
            "single prompt",
            "single prompt",
            "asked with the protocol's one shared prompt at temperature 0; other prompts may score differently",
            lambda record: _published(record) and record.system.family in PROMPTED,
            footnote=False,
        ),
        Caveat(
            "card digits",
            "card digits",
            "figures of the dataset card, printed with fewer digits",
            lambda record: record.source.kind == "card",
        ),
        Caveat(
            "failures",
            "{failed} failed",
            "some answers failed and were scored as neutral (the row's note says how many)",
            lambda record: _published(record) and failed(record) > 0,
        ),
        Caveat(
            "unanswered",
            "{failed} failed",
            "some clips have no usable answer (the row's record says how many, of which kind and how they count)",
            lambda record: not _published(record) and failed(record) > 0,
        ),
    )
}
"""Every caveat by key, the gravest first."""


def caveats_of(record: Record) -> tuple[Caveat, ...]:
    """The caveats that apply to a record, the gravest first."""
    return tuple(caveat for caveat in CAVEATS.values() if caveat.applies(record))
