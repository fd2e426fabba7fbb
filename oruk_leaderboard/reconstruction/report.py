"""The report of a run: ``report.json``, and a summary for people."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oruk_leaderboard import __version__, jsontext
from oruk_leaderboard.audio import RULE_VERSION, versions
from oruk_leaderboard.cells import text_table
from oruk_leaderboard.classes import SAMPLE_RATE
from oruk_leaderboard.corpora.spec import AGREEMENT
from oruk_leaderboard.manifest.corpus_check import USABLE
from oruk_leaderboard.reconstruction.journal import Entry
from oruk_leaderboard.reconstruction.plan import Finding, Plan, Request
from oruk_leaderboard.reconstruction.render import Job

REPORT = "report.json"
"""Name of the report: the last file that a run writes."""

REPORT_VERSION = "1.0.0"
"""Version of ``report.json``."""

LISTED = 3
"""Findings of one kind that the summary lists; the report has all."""


@dataclass(frozen=True, slots=True)
class Report:
    """Result of `reconstruct`.

    Attributes:
        document: Content of ``report.json``.
    """

    document: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 over the lines ``clip_id TAB label TAB clip_sha256``: the one line that two users compare."""
        return str(self.document["digest"])

    @property
    def clean(self) -> bool:
        """Whether there are no findings."""
        return not self.document["findings"]

    def to_dict(self) -> dict[str, Any]:
        """The report as it is written."""
        return dict(self.document)

    def text(self) -> str:
        """The summary for people."""
        return _summary(self.document)


def make_report(
    plan: Plan,
    request: Request,
    made: Iterable[tuple[Job, Entry]],
    failed: Sequence[Finding],
    *,
    digest: str,
    layout: str,
    seconds: float,
    rendered: int,
) -> Report:
    """Assemble a report.

    Args:
        plan: What was planned.
        request: What the user asked for.
        made: Clips of the set.
        failed: Findings of rendering: clips that are not in the set, and clips that are odd.
        digest: Of the set.
        layout: Name of the layout.
        seconds: What the run took.
        rendered: Clips that this run rendered; the others an earlier run did.
    """
    states: dict[str, Counter[str]] = {corpus: Counter(plan.totals.get(corpus, ())) for corpus in plan.specs}
    samples: Counter[str] = Counter()
    clips: Counter[str] = Counter()
    for job, entry in made:
        states[job.clip.corpus][entry.state] += 1
        samples[job.clip.corpus] += entry.num_samples
        clips[job.clip.corpus] += 1
    for finding in failed:
        if finding.state not in USABLE:
            states[finding.corpus or ""][finding.state] += 1
    corpora = {
        corpus: {
            "name": spec.name,
            "licence": spec.licence,
            "agreement_required": spec.agreement_required,
            "citation": spec.citation,
            "clips": clips[corpus],
            "seconds": samples[corpus] / SAMPLE_RATE,
            "states": dict(sorted(states[corpus].items())),
        }
        for corpus, spec in sorted(plan.specs.items())
        if states[corpus]
    }
    total = clips.total()
    own_labels = request.label_policy is not None or request.label_source is not None
    complete = request.profile is not None and not request.filtered and not own_labels and total == plan.wanted
    return Report(
        {
            "report_version": REPORT_VERSION,
            "digest": digest,
            "clips": total,
            "seconds": samples.total() / SAMPLE_RATE,
            "layout": layout,
            "audio_rule": RULE_VERSION,
            "package": __version__,
            "manifest": dict(plan.manifest),
            "all_clips": request.all_clips,
            "partial": not complete,
            "absent": dict(sorted(plan.absent.items())),
            "label_policy": request.label_policy,
            "label_source": request.label_source,
            "filters": {
                "languages": sorted(request.languages),
                "labels": sorted(request.labels),
                "limit": request.limit,
            },
            "corpora": corpora,
            "findings": [asdict(finding) for finding in (*plan.findings, *failed)],
            "versions": versions(),
            "run": {
                "seconds": round(seconds, 3),
                "clips_rendered": rendered,
                "clips_taken_over": total - rendered,
                "clips_per_second": round(total / seconds, 1) if seconds else None,
            },
        }
    )


def same_set(earlier: str, report: Report) -> bool:
    """Whether a written report describes the same set, however long the runs took."""
    try:
        document = jsontext.parse(earlier)
    except ValueError:
        return False
    return isinstance(document, dict) and {**document, "run": None} == {**report.to_dict(), "run": None}


def _summary(report: Mapping[str, Any]) -> str:
    rows = [
        (
            corpus,
            facts["clips"],
            f"{facts['seconds'] / 60:.1f}",
            ", ".join(f"{count} {state}" for state, count in facts["states"].items()),
            facts["licence"],
            AGREEMENT[facts["agreement_required"]],
        )
        for corpus, facts in report["corpora"].items()
    ]
    header = ("corpus", "clips", "minutes", "states", "licence", "agreement")
    parts = [text_table(header, rows, right=("clips", "minutes"))]
    parts += [_findings(report["findings"])] if report["findings"] else []
    if report["absent"]:
        named = ", ".join(f"{corpus} ({count})" for corpus, count in report["absent"].items())
        parts.append(f"absent: {named}")
    cited = [facts["citation"].strip() for facts in report["corpora"].values() if facts["clips"] and facts["citation"]]
    if cited:
        parts.append("Please cite the corpora you use:\n" + "\n".join(dict.fromkeys(cited)))
    run, manifest = report["run"], report["manifest"]
    named = " ".join(f"{name} {version}" for name, version in report["versions"].items())
    parts.append(
        f"{report['clips']} clips, {report['seconds'] / 3600:.2f} h of audio, {report['layout']} layout, in "
        f"{run['seconds']:.1f} s ({run['clips_taken_over']} taken over from an earlier run)\n"
        f"manifest {manifest['version']}, {_chosen(report)}"
        f"{', partial' if report['partial'] else ''}; package {report['package']}, {named}\n"
        f"digest {report['digest']}"
    )
    return "\n\n".join(parts)


def _chosen(report: Mapping[str, Any]) -> str:
    if report["all_clips"]:
        return "all clips"
    profile = report["manifest"]["profile"]
    return f"profile {profile}" if profile else "corpora found"


def _findings(findings: Sequence[Mapping[str, Any]]) -> str:
    """The first few findings of each corpus and state."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item in findings:
        what = item["clip_id"] or item["media"] or ""
        groups[item["corpus"] or "", item["state"]].append(f"{what}: {item['reason']}" if item["reason"] else what)
    lines = [f"findings ({len(findings)}, all of them in {REPORT}):"]
    for (corpus, state), items in groups.items():
        lines += [f"  {state}: {item}" for item in items[:LISTED]]
        lines += [f"  {state}: … {len(items) - LISTED} more of {corpus or 'them'}"] if len(items) > LISTED else []
    return "\n".join(lines)


def report_text(report: Report) -> str:
    """``report.json``."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
