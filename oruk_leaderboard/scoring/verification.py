"""Check a record: against its own counts alone (consistent), or against the answers it was made from (proven)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from oruk_leaderboard.errors import MetricError, RecordError
from oruk_leaderboard.records.record import read_document
from oruk_leaderboard.records.schemas import faults
from oruk_leaderboard.scoring.class_scores import evaluate_scores
from oruk_leaderboard.scoring.evaluation import evaluate
from oruk_leaderboard.scoring.identities import broken_identities, broken_structure
from oruk_leaderboard.scoring.intervals import Settings
from oruk_leaderboard.scoring.listener_identities import broken_listeners
from oruk_leaderboard.scoring.listeners import recomputed
from oruk_leaderboard.scoring.result import SCORED_BY, SCORER_VERSION, printed, scored_on
from oruk_leaderboard.scoring.sentences import broken_sentences, evaluate_sentences
from oruk_leaderboard.scoring.tally import Tally
from oruk_leaderboard.scoring.training_overlap import TRAINING

if TYPE_CHECKING:
    from oruk_leaderboard.records.system_card import SystemCard

TOLERANCE = 1e-12
"""How far a recomputed figure may differ from the stated one."""

DRAWS = 1_000_000_000
"""Most cluster draws (clusters times replicates) that a record can ask to be repeated: 2 GB of memory."""

Place: TypeAlias = tuple[str | int, ...]
"""Place of a value in a JSON document: keys and positions."""

BASIS: frozenset[Place] = frozenset(
    [
        ("evaluation", "classes"),
        *(("evaluation", item.name) for item in fields(Settings)),
        *(("evaluation", "confusion_by_cluster", key) for key in ("attributes", "outcomes", "groups", "counts")),
    ]
)
"""What figures are recomputed from: another value here gives other figures."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value that differs from the recomputed one.

    Attributes:
        key: Path of the value in the record.
        stated: Value in the record.
        recomputed: Value by the counts, or by the answers.
    """

    key: str
    stated: Any
    recomputed: Any


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of checking one record.

    Attributes:
        record: Name of the file or system.
        figures: Number of values that were recomputed.
        mismatches: Values that differ.
        findings: Faults of the structure and contradictions between values.
        stated: Paths of everything in the record that was not recomputed.
        answers: Whether the figures were recomputed from the answers, not only from the record's counts.
    """

    record: str
    figures: int
    mismatches: tuple[Mismatch, ...]
    findings: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    answers: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing contradicts the record."""
        return not self.mismatches and not self.findings

    @property
    def status(self) -> str:
        """``proven`` from the answers, ``consistent`` with its own counts, or ``contradicted``."""
        if not self.ok:
            return "contradicted"
        return "proven" if self.answers else "consistent"

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "record": self.record,
            "ok": self.ok,
            "status": self.status,
            "figures": self.figures,
            "mismatches": [
                {"key": item.key, "stated": item.stated, "recomputed": item.recomputed} for item in self.mismatches
            ],
            "findings": list(self.findings),
            "stated": list(self.stated),
        }


def verify(
    record: Mapping[str, Any] | Path | str,
    *,
    name: str | None = None,
    predictions: Path | None = None,
    clips: Path | None = None,
    gold: Path | None = None,
    votes: Sequence[Path] = (),
    system: "SystemCard | str | None" = None,
) -> Verification:
    """Recompute every figure of a record, and check what the figures must have in common.

    Args:
        record: A record as JSON, or its file.
        name: What to call it in messages.
        predictions: The predictions file that the record was scored from. The figures are then recomputed from the
            answers, class scores included; without it, from the record's own counts.
        clips: Rebuilt set to score ``predictions`` against.
        gold: Gold file instead of a rebuilt set.
        votes: Vote files that the record was scored with.
        system: Card of the system, where ``predictions`` has labels that only the card declares. By default the
            shipped card of the record's system, if there is one.

    Raises:
        RecordError: The file cannot be read as JSON, or the record has no counts (a published figure).
        PredictionError: The predictions or the set cannot be used.
    """
    if isinstance(record, (Path, str)):
        return verify(
            read_document(Path(record)),
            name=name or str(record),
            predictions=predictions,
            clips=clips,
            gold=gold,
            votes=votes,
            system=system,
        )
    name = name or _name(record)
    if record.get("evaluation", ...) is None:
        raise RecordError(
            "a published figure without counts: there is nothing to recompute",
            where=name,
            expected="a record that `score --out` wrote",
        )
    broken = faults(record, "record") or broken_structure(record["evaluation"])
    checks = (broken_listeners, broken_sentences)
    if broken := broken or [fault for check in checks for fault in check(record["evaluation"])]:
        return Verification(name, 0, (), tuple(broken), ())
    differences = _Differences()
    findings: list[str] = []
    try:
        _by_counts(record, differences)
    except (RecordError, MetricError) as error:
        findings.append(f"the figures cannot be recomputed: {error}")
    findings += broken_identities(record["evaluation"])
    made_by = f"{SCORED_BY}{record['evaluation']['versions'].get('oruk-bench-leaderboard')}"
    if record["source"]["attested_by"] != made_by:
        findings.append(f"source.attested_by is {record['source']['attested_by']!r}; its versions say {made_by!r}")
    if predictions is not None:
        _by_answers(record, differences, predictions=predictions, clips=clips, gold=gold, votes=votes, system=system)
    return Verification(
        name,
        len(differences.covered),
        tuple(differences.mismatches),
        tuple(findings),
        tuple(_stated(record, differences.covered)),
        answers=predictions is not None,
    )


def _name(record: Mapping[str, Any]) -> str:
    system = record.get("system")
    return str(system.get("id", "record")) if isinstance(system, dict) else "record"


def _by_counts(record: Mapping[str, Any], found: "_Differences") -> None:
    """Compare with everything that follows from the record's counts and settings.

    Raises:
        RecordError: The counts do not fit together, or ask for more draws than this machine should make.
        MetricError: The settings allow no interval.
    """
    stated, counts = record["evaluation"], record["evaluation"]["counts"]
    tally = Tally.from_dict(stated["confusion_by_cluster"])
    if (draws := stated["n_boot"] * max(1, len(tally.clusters))) > DRAWS:
        raise RecordError("too many draws", expected=f"n_boot times clusters up to {DRAWS:,}", found=f"{draws:,}")
    found.compare(("evaluation", "confusion_by_cluster"), stated["confusion_by_cluster"], tally.to_dict(), covers=False)
    expected = evaluate(tally, Settings.from_dict(stated))
    for key, value in expected.items():
        found.compare(("evaluation", key), stated.get(key), value)
    if stated["class_scores"]:
        sums = stated["class_scores"]
        for key, value in evaluate_scores(sums, tally, alpha=stated["alpha"]).items():
            if key not in ("n", "label_not_top", "reliability", "by_cluster"):
                found.compare(("evaluation", "class_scores", key), sums[key], value)
    if stated["sentences"] is not None:
        for key, value in evaluate_sentences(stated["sentences"], tally, Settings.from_dict(stated)).items():
            found.compare(("evaluation", "sentences", key), stated["sentences"][key], value)
    again = recomputed(stated, tally, Settings.from_dict(stated))
    for at, entry in enumerate(again["human_line"]):
        for key, value in entry.items():
            found.compare(("evaluation", "human_line", at, key), stated["human_line"][at][key], value)
    for key, value in (again["soft_labels"] or {}).items():
        found.compare(("evaluation", "soft_labels", key), stated["soft_labels"][key], value)
    outcomes = tally.counts.sum(axis=(0, 1)).tolist()
    answered = {"ok": sum(outcomes[:-2]), "unrecognised": outcomes[-2]}
    for key, value in answered.items():
        found.compare(("evaluation", "counts", key), counts[key], value)
    accuracy, macro_f1 = printed(expected["figures"])
    found.compare(("accuracy",), record["accuracy"], accuracy)
    found.compare(("macro_f1",), record["macro_f1"], macro_f1)
    found.compare(("scored_on",), record["scored_on"], scored_on(stated))
    found.compare(("evaluation", "scorer"), stated["scorer"], SCORER_VERSION)
    found.compare(("failures",), record["failures"], {key: counts[key] for key in counts if key != "ok"})


def _by_answers(
    record: Mapping[str, Any],
    found: "_Differences",
    *,
    predictions: Path,
    clips: Path | None,
    gold: Path | None,
    votes: Sequence[Path],
    system: "SystemCard | str | None",
) -> None:
    """Score the answers again under the record's settings and compare the whole evaluation."""
    from oruk_leaderboard.scoring.scorer import score
    from oruk_leaderboard.systems import registry

    stated = record["evaluation"]
    settings = Settings.from_dict(stated)
    again = score(
        predictions,
        clips=clips,
        gold=gold,
        protocol=record["protocol"]["name"],
        system=system if system is not None else registry().get(record["system"]["id"]),
        on_error=settings.on_error,
        cluster=settings.cluster,
        n_boot=settings.n_boot,
        seed=settings.seed,
        interval=settings.interval,
        slices=tuple(name for name in stated["confusion_by_cluster"]["attributes"] if name != TRAINING),
        exclude_corpora=_in_set(record),
        subsample=stated["subsample"],
        partial=stated["orientation"] is not None,
        votes=votes,
    ).to_dict()
    # What a second run cannot give again: the file's name, the versions installed, what receipts say.
    left_out = ("predictions", "versions", "receipts")
    compared = {key: value for key, value in again["evaluation"].items() if key not in left_out}
    digest = again["evaluation"]["predictions"]["sha256"]
    found.compare(("evaluation", "predictions", "sha256"), stated["predictions"]["sha256"], digest)
    for key, value in compared.items():
        found.compare(("evaluation", key), stated.get(key), value)
    found.compare(("protocol",), record["protocol"], again["protocol"])


def _in_set(record: Mapping[str, Any]) -> list[str]:
    """Corpora of the record's set that it declares as training data."""
    corpora = record["evaluation"]["confusion_by_cluster"]["attributes"].get("corpus", ())
    return [corpus for corpus in record["system"]["training_corpora"] or () if corpus in corpora]


class _Differences:
    """Walks pairs of JSON values side by side.

    Attributes:
        covered: Places of the values that were compared with recomputed ones.
        mismatches: Those that differ.
    """

    def __init__(self) -> None:
        self.covered: set[Place] = set()
        self.mismatches: list[Mismatch] = []

    def compare(self, path: Place, stated: Any, recomputed: Any, *, covers: bool = True, key: str = "") -> None:
        """Note every leaf that differs; numbers may differ by ``TOLERANCE``.

        Args:
            path: Place of ``stated``.
            stated: Value of the record.
            recomputed: What it should be.
            covers: Whether ``recomputed`` does not merely repeat ``stated``.
            key: Path for people, where rows are named by their value.
        """
        key = key or ".".join(map(str, path))
        if covers and not (recomputed and isinstance(recomputed, (dict, list))):
            self.covered.add(path)
        if isinstance(recomputed, dict) and isinstance(stated, dict) and set(stated) == set(recomputed):
            for name in recomputed:
                self.compare((*path, name), stated[name], recomputed[name], covers=covers, key=f"{key}.{name}")
        elif isinstance(recomputed, list) and isinstance(stated, list) and len(stated) == len(recomputed):
            for index, (one, other) in enumerate(zip(stated, recomputed, strict=True)):
                label = other.get("value", index) if isinstance(other, dict) else index
                self.compare((*path, index), one, other, covers=covers, key=f"{key}[{label}]")
        elif not _same(stated, recomputed) and all(item.key != key for item in self.mismatches):
            self.mismatches.append(Mismatch(key, stated, recomputed))


def _same(stated: Any, recomputed: Any) -> bool:
    if {type(stated), type(recomputed)} <= {int, float}:
        return bool(abs(stated - recomputed) <= TOLERANCE)
    return type(stated) is type(recomputed) and bool(stated == recomputed)


def _stated(record: Mapping[str, Any], covered: set[Place]) -> Iterator[str]:
    """Largest parts of the record of which nothing was recomputed and nothing else follows."""
    known = covered | BASIS
    above = {path[:length] for path in known for length in range(len(path))}

    def walk(value: Any, path: Place) -> Iterator[str]:
        if path in known:
            return
        if path not in above:
            yield ".".join(map(str, path))
            return
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walk(part, (*path, key))

    yield from walk(record, ())
