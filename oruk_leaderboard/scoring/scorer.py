"""Score predictions: one call from files to a record that anybody can check."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from oruk_leaderboard import __version__
from oruk_leaderboard.answers.gold import ATTRIBUTES, Gold, gold_of_set, read_gold
from oruk_leaderboard.answers.predictions import FAILURES, STATUSES, Predictions, read_predictions
from oruk_leaderboard.answers.receipts import read_receipts
from oruk_leaderboard.answers.run_files import card_of_run, receipts_of
from oruk_leaderboard.answers.tabular import Rows, read_rows
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.errors import PredictionError
from oruk_leaderboard.labels import AliasTable
from oruk_leaderboard.progress import Progress, silent
from oruk_leaderboard.protocols import BENCHMARK, Protocol, gold_of_protocol, load
from oruk_leaderboard.scoring.class_scores import evaluate_scores, score_sums
from oruk_leaderboard.scoring.evaluation import evaluate
from oruk_leaderboard.scoring.intervals import Settings
from oruk_leaderboard.scoring.listeners import listener_figures
from oruk_leaderboard.scoring.result import SCORER_VERSION, record_of
from oruk_leaderboard.scoring.sampling import Clustering, clustering
from oruk_leaderboard.scoring.sentences import sentence_figures
from oruk_leaderboard.scoring.tally import count
from oruk_leaderboard.scoring.training_overlap import TRAINING, declared_corpora, with_training
from oruk_leaderboard.statistics import METHODS, Method

if TYPE_CHECKING:
    from oruk_leaderboard.clipset import ClipSet
    from oruk_leaderboard.records.record import Record
    from oruk_leaderboard.records.system_card import SystemCard

SLICES: tuple[str, ...] = tuple(name for name in ATTRIBUTES if name != "speaker")
"""Slices made unless others are asked for; speakers only on request, since there are thousands."""

_DECLARE = 'declare native labels in a system card ([native_labels] LABEL_0 = "anger") and add --system CARD.toml'
"""What to do about labels that only their system can explain."""


@dataclass(frozen=True, slots=True)
class Score:
    """The result of scoring one system.

    Attributes:
        record: The result record; its ``evaluation`` has everything that was computed.
        protocol: How it was scored.
        findings: What went wrong with some of the clips, one line per kind; empty for a clean run.
    """

    record: "Record"
    protocol: Protocol
    findings: tuple[str, ...] = field(default=())

    @property
    def evaluation(self) -> dict[str, Any]:
        """Figures, intervals, slices and counts (``schema/record.schema.json``)."""
        return dict(self.record.evaluation or {})

    @property
    def macro_f1(self) -> float:
        """The headline figure, 0 to 1."""
        return float(self.evaluation["figures"]["macro_f1"])

    @property
    def accuracy(self) -> float:
        """Share of clips that are right, 0 to 1."""
        return float(self.evaluation["figures"]["accuracy"])

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON."""
        return self.record.to_dict()


def score(
    predictions: Path | str | Predictions,
    *,
    clips: "ClipSet | Path | str | None" = None,
    gold: Path | str | Gold | None = None,
    protocol: Protocol | str | None = None,
    system: "SystemCard | str | None" = None,
    on_error: str | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    interval: Method = METHODS[0],
    slices: Sequence[str] = SLICES,
    partial: bool = True,
    subsample: str | None = None,
    votes: Sequence[Path | str] = (),
    exclude_corpora: Sequence[str] = (),
    snapshot: str | None = None,
    progress: Progress = silent,
) -> Score:
    """Score one system's predictions.

    Args:
        predictions: File of predictions by clip id, result of the public harness, or predictions read before.
        clips: Folder of a rebuilt set, or an open one.
        gold: Gold file instead of a rebuilt set, or gold labels read before.
        protocol: A protocol or its name; the benchmark's by default. One that names its clips needs no set. It decides
            the classes, what a failed clip counts as and which figures lead the report.
        system: The system's card, an id of ``systems list`` or a spec file; None for the system that ``run.json``
            beside the predictions says wrote them, else for a system without a card.
        on_error: ``neutral`` scores refused, failed and missing clips as neutral, ``wrong`` as wrong; None for what the
            protocol says.
        cluster: What the bootstrap draws: ``speaker`` (within corpora, the default), ``corpus`` or ``clip``.
        n_boot: Bootstrap replicates, 1 or more.
        seed: Seed of the draws.
        interval: How replicates become an interval, one of ``statistics.METHODS``.
        slices: Attributes to slice by (``gold.ATTRIBUTES``).
        partial: Place a partial set beside the published rows too, as a hint.
        subsample: ``5k`` scores the manifest's subsample of the profile only.
        votes: Files of listeners' votes (``answers.votes``), for the human line and soft labels.
        exclude_corpora: Corpora of the set that the system was trained on, besides those that the ledger and its card
            declare. The slice ``training`` has the figures on the clips outside all of them.
        snapshot: Date of the record, ISO 8601; today in UTC by default.
        progress: Reports the steps: clips, predictions, figures, record.

    Raises:
        PredictionError: A file or a row cannot be used, or the run failed on every clip.
    """
    rules = recorded_protocol(protocol)
    advance = progress("scoring", 4)
    answers = resolve_gold(clips, gold, rules)
    advance(1)
    if subsample is not None:
        answers = _subsample(answers, subsample)
    ran = None if isinstance(predictions, Predictions) else card_of_run(Path(predictions))
    card = ran if system is None else _card(system)
    table = alias_table_of(card, rules)
    trained_on = declared_corpora(
        answers,
        system_id=card.id if card else None,
        own=card.training_corpora if card else None,
        excluded=exclude_corpora,
    )
    if trained_on is not None:
        answers = with_training(answers, trained_on)
        slices = (*slices, TRAINING)
    digest, receipts = None, None
    if not isinstance(predictions, Predictions):
        path = Path(predictions)
        predictions = _read(path, answers, table)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if ran is not None and ran.family == "text only":
            receipts = _receipts(receipts_of(path), answers, predictions, table)
    advance(1)
    drawn = clustering(answers, cluster)
    settings = Settings(
        on_error=on_error or rules.on_error,
        cluster=drawn.kind,
        n_boot=n_boot,
        seed=seed,
        interval=interval,
        declared_classes=tuple(card.classes) if card and card.classes else None,
    )
    evaluation = _evaluation(answers, predictions, settings, drawn, tuple(slices), table, votes)
    advance(1)
    evaluation["predictions"] = {"file": predictions.source or None, "sha256": digest}
    if receipts is not None:
        evaluation["receipts"] = receipts
    evaluation["orientation"] = _orientation(answers, rules, evaluation, partial)
    record = record_of(answers, predictions, card, evaluation, snapshot=snapshot, protocol=rules)
    if trained_on is not None:
        record = replace(record, system=replace(record.system, training_corpora=sorted(trained_on)))
    advance(1)
    return Score(record, rules, _findings(evaluation))


def recorded_protocol(protocol: Protocol | str | None) -> Protocol:
    """A protocol whose results are records.

    Raises:
        OrukError: There is no such protocol.
        PredictionError: It has no version: only its columns can be computed.
    """
    rules = load(protocol)
    if rules.version is None:
        raise PredictionError(
            "the protocol has columns of its own and makes no record",
            where=rules.name,
            expected="a protocol with a version",
            do="score --protocol NAME, or scoring.columns.score_columns, computes its columns",
        )
    return rules


def resolve_gold(
    clips: "ClipSet | Path | str | None", gold: Path | str | Gold | None, protocol: Protocol | None = None
) -> Gold:
    """Gold labels of a rebuilt set, of a gold file, or of a protocol that names its clips.

    Raises:
        PredictionError: None of them or two of them, or gold labels that the protocol has no class for.
    """
    protocol = protocol or load()
    if isinstance(gold, Gold):
        return gold
    if protocol.clips is not None and clips is None and gold is None:
        return gold_of_protocol(protocol)
    if gold is not None and clips is None:
        return read_gold(Path(gold), classes=protocol.classes, table=protocol.alias_table())
    if clips is None or gold is not None:
        raise PredictionError("nothing to score against, or two things", expected="--clips DIR or --gold FILE")
    if isinstance(clips, (str, Path)):
        from oruk_leaderboard.clipset import open_clipset

        clips = open_clipset(clips)
    return gold_of_set(clips, protocol.classes)


def gold_columns(clips: Path | None, gold: Path | None) -> Rows | Mapping[str, Sequence[Any]]:
    """Columns that a leaderboard's protocol reads: those of a gold file, or of a rebuilt set with its class names."""
    if gold is not None and clips is None:
        return read_rows(gold)
    answers = resolve_gold(clips, gold)
    columns = {name: [part.values[code] for code in part.codes] for name, part in answers.attributes.items()}
    return {"clip_id": answers.clip_ids, "label": [CLASSES[label] for label in answers.labels], **columns}


def alias_table_of(system: "SystemCard | str | None", protocol: Protocol) -> AliasTable:
    """Alias table of a protocol, with the native labels that a system's card declares."""
    card = _card(system)
    return protocol.alias_table(card.native_labels or {} if card else {})


def _subsample(gold: Gold, name: str) -> Gold:
    """The clips of the subsample that the set's manifest pins."""
    from oruk_leaderboard.manifest import pinned_subsample

    pinned = pinned_subsample(name, version=gold.origin["manifest_version"], profile=gold.origin["profile"])
    keep = np.array([clip_id in pinned for clip_id in gold.clip_ids])
    if not keep.any():
        raise PredictionError("no clip of the subsample is in the set", expected=f"some of its {len(pinned)} clips")
    other_labels = gold.origin["label_policy"] is not None or gold.origin["label_source"] is not None
    return gold.subset(keep, subsample=name, partial=other_labels or int(keep.sum()) < len(pinned))


def _card(system: "SystemCard | str | None") -> "SystemCard | None":
    if not isinstance(system, str):
        return system
    from oruk_leaderboard.systems import get_system

    return get_system(system)


def _read(path: Path, gold: Gold, table: AliasTable) -> Predictions:
    from oruk_leaderboard.answers.harness import is_harness_result, read_harness_result

    if is_harness_result(path):
        return read_harness_result(path, gold.labels, gold.classes)
    return read_predictions(path, gold.clip_ids, table=table, classes=gold.classes)


def _receipts(path: Path, gold: Gold, predictions: Predictions, table: AliasTable) -> dict[str, Any] | None:
    """What the receipts of a system that reads say, above all where the words came from.

    None where there are none, or where the run has gone on since it wrote the predictions.
    """
    if not path.exists():
        return None
    saved = read_receipts(path, gold.clip_ids, table=table, classes=gold.classes, inputs=gold.inputs)
    same = np.array_equal(saved.predictions.labels, predictions.labels)
    return saved.to_dict() if same and np.array_equal(saved.predictions.status, predictions.status) else None


def _evaluation(
    gold: Gold,
    predictions: Predictions,
    settings: Settings,
    drawn: Clustering,
    slices: tuple[str, ...],
    table: AliasTable,
    votes: Sequence[Path | str],
) -> dict[str, Any]:
    """Everything that is computed, and what is needed to compute it again."""
    counts = predictions.counts
    if not counts["ok"]:
        found = [f"{name} {number}" for name, number in counts.items() if name != "ok"]
        found += [f"{spelling!r} {number}" for spelling, number in list(predictions.spellings.items())[:8]]
        raise PredictionError(
            "the run is invalid: no clip has a usable label",
            where=predictions.source or None,
            expected=f"labels that name a class ({', '.join(gold.classes)})",
            found=", ".join(found),
            do='declare native labels in a system card ([native_labels], LABEL_0 = "anger") and add --system CARD.toml'
            if predictions.spellings
            else None,
        )
    tally = count(gold, predictions, drawn=drawn, slices=slices)
    sums = score_sums(gold, predictions, drawn)
    return {
        "scorer": SCORER_VERSION,
        **gold.origin,
        "classes": list(gold.classes),
        "counts": counts,
        "spellings": dict(predictions.spellings),
        **settings.to_dict(),
        **evaluate(tally, settings),
        "class_scores": evaluate_scores(sums, tally, alpha=settings.alpha) if sums else None,
        "sentences": sentence_figures(gold, predictions, drawn, tally, settings),
        **listener_figures(votes, gold, predictions, drawn, tally, settings),
        "confusion_by_cluster": tally.to_dict(),
        "versions": {
            "oruk-bench-leaderboard": __version__,
            "labels": table.version,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _orientation(gold: Gold, protocol: Protocol, evaluation: dict[str, Any], partial: bool) -> dict[str, Any] | None:
    """Neighbours in the published table; only for the benchmark's protocol, for a partial set only with ``partial``."""
    if protocol.name != BENCHMARK or (gold.origin["partial"] and not partial):
        return None
    from oruk_leaderboard.scoring.orientation import orient

    rows = "subsample_5k" if gold.origin["subsample"] else "full_set"
    return orient(evaluation["figures"]["macro_f1"], scored_on=rows, partial=gold.origin["partial"]).to_dict()


def _findings(evaluation: dict[str, Any]) -> tuple[str, ...]:
    """What was not clean: failures and abstentions, by kind."""
    counts, spellings = evaluation["counts"], evaluation["spellings"]
    failed = ", ".join(f"{counts[STATUSES[code]]:,} {STATUSES[code]}" for code in FAILURES if counts[STATUSES[code]])
    found = [f"clips without a usable answer: {failed}"] if failed else []
    if counts["unrecognised"]:
        found.append(f"clips with an unrecognised label, counted as wrong: {counts['unrecognised']:,}")
    if spellings:
        shown = ", ".join(f"{spelling!r} {number:,}" for spelling, number in list(spellings.items())[:5])
        found.append(f"labels or answers that name no class: {shown}{', …' if len(spellings) > 5 else ''}")
    if evaluation["undeclared"]:
        shown = ", ".join(f"{name} {number}" for name, number in evaluation["undeclared"].items())
        found.append(f"classes that the system's card does not declare: {shown}")
    return tuple(found)


def read_clip_ids(clips: Path | None, gold: Path | None, subsample: str | None = None) -> Sequence[str]:
    """Clip ids of a rebuilt set, its subsample, or a gold file."""
    answers = resolve_gold(clips, gold)
    return answers.clip_ids if subsample is None else _subsample(answers, subsample).clip_ids


def write_template(clip_ids: Sequence[str], path: Path) -> None:
    """Write an empty predictions file with every clip id.

    Raises:
        PredictionError: The file is there already, or cannot be written.
    """
    text = "clip_id,label\n" + "".join(f"{_cell(clip_id)},\n" for clip_id in clip_ids)
    try:
        with path.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)
    except OSError as error:
        raise PredictionError(
            "the template cannot be written", where=path, expected="a new file", found=error.strerror
        ) from error


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text
