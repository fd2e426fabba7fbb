"""What a run would do: clips, time and disk, from a few clips rendered on the spot."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from oruk_leaderboard.corpora import Root
from oruk_leaderboard.reconstruction.plan import Plan
from oruk_leaderboard.reconstruction.render import Renderer
from oruk_leaderboard.todict import ToDict

TRIED = 24
"""Clips that are rendered for the estimate, evenly spread over the plan."""


@dataclass(frozen=True, slots=True)
class Estimate(ToDict):
    """What `reconstruct` would do.

    Attributes:
        clips: Number of clips by corpus.
        absent: Corpora of the profile that are under no root, to their number of clips.
        findings: Number of findings by state.
        seconds: Time it would take.
        disk_bytes: Size of the set.
        workers: Threads the time is for.
    """

    clips: dict[str, int]
    absent: dict[str, int]
    findings: dict[str, int]
    seconds: float
    disk_bytes: int
    workers: int

    def text(self) -> str:
        """The figures for people."""
        by_corpus = ", ".join(f"{corpus} {count}" for corpus, count in self.clips.items()) or "nothing"
        lines = [
            f"{sum(self.clips.values())} clips would be rebuilt: {by_corpus}",
            f"about {self.seconds / 60:.1f} min with {self.workers} workers, {self.disk_bytes / 1e6:.0f} MB",
        ]
        for name, counts in (("absent", self.absent), ("findings", self.findings)):
            if counts:
                lines.append(f"{name}: " + ", ".join(f"{key} {count}" for key, count in counts.items()))
        return "\n".join(lines)


def estimate(plan: Plan, open_roots: Callable[[str], Root], *, workers: int) -> Estimate:
    """Render a few clips and scale up."""
    step = max(1, len(plan.jobs) // TRIED)
    tried = plan.jobs[::step]
    renderer = Renderer(open_roots)
    started = time.monotonic()
    outcomes = [renderer([job])[0] for job in tried]
    each = (time.monotonic() - started) / max(1, len(tried))
    size = sum(len(outcome.audio or b"") for outcome in outcomes) / max(1, len(tried))
    return Estimate(
        clips=dict(sorted(Counter(job.clip.corpus for job in plan.jobs).items())),
        absent=dict(plan.absent),
        findings=dict(sorted(Counter(finding.state for finding in plan.findings).items())),
        seconds=round(each * len(plan.jobs) / workers, 1),
        disk_bytes=round(size * len(plan.jobs)),
        workers=workers,
    )
