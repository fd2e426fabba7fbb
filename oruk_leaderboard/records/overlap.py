"""How much of the manifest is outside the training data that public sources name.

The clip list of the original evaluation is not public, so every figure here is of this package's own manifest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oruk_leaderboard.manifest import Manifest, load_manifest
from oruk_leaderboard.records.training import Training, training_ledger


@dataclass(frozen=True, slots=True)
class Outside:
    """Clips of a manifest outside the corpora that sources name as a system's training data.

    Attributes:
        clips: Clips outside; an upper bound, since a source need not name everything.
        total: Clips of the manifest.
    """

    clips: int
    total: int

    @property
    def share(self) -> float:
        """Share of the manifest's clips that are outside, 0 to 1."""
        return self.clips / self.total


def outside(system_id: str, manifest: Manifest | None = None) -> Outside | None:
    """Clips outside the corpora named for a system, stated or implied; None where no source names any.

    Args:
        system_id: Id of the system, as in the ledger.
        manifest: The manifest; the shipped one by default.
    """
    training = training_ledger().of(system_id)
    if not training.corpora:
        return None
    counts = (manifest or load_manifest()).counts
    return Outside(
        clips=sum(clips for corpus, clips in counts.items() if corpus not in training.corpora),
        total=sum(counts.values()),
    )


def overlap_of(system_id: str, manifest: Manifest | None = None) -> dict[str, object]:
    """What the ledger says of a system, as JSON: evidence, corpora, clips outside, a sentence and the sources."""
    manifest = manifest or load_manifest()
    training, found = training_ledger().of(system_id), outside(system_id, manifest)
    return {
        "evidence": training.evidence,
        "corpora": {name: certainty for name, certainty in training.corpora.items() if name in manifest.counts},
        "clips_outside": found and found.clips,
        "share_outside": found and round(found.share, 4),
        "sentence": sentence(system_id, manifest),
        "sources": sorted({address for line in training.lines for address in line.source.split(" ; ")}),
    }


def undeclared(manifest: Manifest | None = None) -> Manifest:
    """The subset "undeclared": clips of the corpora that no line of the ledger names for any system.

    It is not "clean": systems whose training data is not public may have seen it. Its digest names the selection.

    Args:
        manifest: The manifest; the shipped one by default.
    """
    manifest = manifest or load_manifest()
    corpora = [corpus for corpus in manifest.counts if corpus not in training_ledger().named()]
    digests = {corpus: digest for corpus, digest in manifest.label_digests.items() if corpus in corpora}
    return Manifest.of(manifest.of_corpora(*corpora), digests, version=manifest.version)


class Undeclared(NamedTuple):
    """The subset "undeclared" in figures: its clips, those of them with withheld labels, its corpora, its digest."""

    clips: int
    withheld: int
    corpora: Sequence[str]
    digest: str

    @classmethod
    def of(cls, manifest: Manifest) -> "Undeclared":
        """Figures of the subset of a manifest."""
        subset = undeclared(manifest)
        return cls(len(subset), sum(row.label is None for row in subset.rows), list(subset.counts), subset.digest)

    def __str__(self) -> str:
        return (
            f"{self.clips:,} clips of the {len(self.corpora)} corpora that no source names for any system "
            f"({self.withheld:,} of them with withheld labels; digest {self.digest})"
        )


def sentence(system_id: str, manifest: Manifest | None = None) -> str:
    """What is known of a system's training data and of its overlap with the manifest, for people."""
    manifest = manifest or load_manifest()
    training = training_ledger().of(system_id)
    found = outside(system_id, manifest)
    if found is None:
        return _UNKNOWN[training.evidence]
    names = ", ".join(_names(training, manifest)) or "none of its corpora"
    verb = "state" if training.evidence == "stated" else "imply"
    more = "at most " if training.unnamed else ""
    return (
        f"public sources {verb} training on corpora of this package's manifest ({names}); {more}{found.clips:,} of its "
        f"{found.total:,} clips ({100 * found.share:.1f} %) are outside them"
    )


_UNKNOWN = {
    "unnamed": "stated to be trained in-distribution, corpora not named; overlap with this package's manifest unknown",
    "nothing found": "no public source found that names its training corpora, which is not the same as none; overlap "
    "with this package's manifest unknown",
}


def _names(training: Training, manifest: Manifest) -> list[str]:
    """Corpora of the manifest, those that are only implied marked as such where others are stated."""
    mark = training.evidence == "stated"
    return [
        f"{corpus} (implied)" if mark and certainty == "implied" else corpus
        for corpus, certainty in training.corpora.items()
        if corpus in manifest.counts
    ]
