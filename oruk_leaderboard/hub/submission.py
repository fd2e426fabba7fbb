"""Check a record that somebody submits, flag what is known of its training data, and give it its place.

A submission is a result on a rebuilt set and never a row of the default table. What is checked: the schema; every
figure against the record's own counts, once with the scorer and once by identities; the clips against the manifest;
the rules on protocol, model revision and duplicates; and the declared training corpora against those of the evaluation.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from oruk_leaderboard.errors import RecordError
from oruk_leaderboard.hub.run_identity import with_run
from oruk_leaderboard.paths import checkout_root
from oruk_leaderboard.records.caveats import caveats_of
from oruk_leaderboard.records.record import (
    REBUILT,
    Record,
    SystemInfo,
    load_records,
    read_record,
    record_path,
    write_record,
)
from oruk_leaderboard.records.system_card import BUILT_IN
from oruk_leaderboard.records.training import training_ledger
from oruk_leaderboard.todict import ToDict

if TYPE_CHECKING:
    from oruk_leaderboard.manifest import Manifest

MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
"""A repository on a hub."""

WEIGHTS = ("ours", "open", "audio LLM")
"""Families whose weights are somewhere, so that a commit of them can be named."""


@dataclass(frozen=True, slots=True)
class Submission(ToDict):
    """A record that passed.

    Attributes:
        record: Its path, or future path, below the repository's root.
        system: Id of the system.
        scored_on: Kind of rebuilt set.
        figures: How many values were recomputed.
        in_distribution: Whether the system was trained on corpora of the evaluation; None where that is unknown.
        overlap: Those corpora.
        flags: Caveats that go with the row.
        written: Whether the file was written.
        next: What to do now.
    """

    record: str
    system: str
    scored_on: str
    figures: int
    in_distribution: bool | None
    overlap: tuple[str, ...]
    flags: tuple[str, ...]
    written: bool
    next: tuple[str, ...]


def submit(
    path: Path,
    *,
    training_corpora: Sequence[str] | None = None,
    run: Path | None = None,
    check_only: bool = False,
    beside: Sequence[Path] = (),
    root: Path | None = None,
) -> Submission:
    """Check one record and write it under ``data/records/rebuilt/``.

    Args:
        path: Record file, as ``score --out`` wrote it.
        training_corpora: Corpora that the system was trained on, where the record does not declare them; empty for
            none of the registry. The record then gets the figures outside them.
        run: ``run.json`` of the run that gave the predictions. It names a private model by the sha256 of its files, and
            a revision that the record claims must be the one that ran.
        check_only: Write nothing; a record that is already in its place may be checked too.
        beside: Record files submitted together with this one, which may not repeat them.
        root: The checkout; the one that the package runs from by default.

    Raises:
        RecordError: The record breaks the schema, a figure, an identity or a rule; the message says which.
    """
    root = checkout_root() if root is None else root
    record = read_record(path)
    _check_kind(record, where=path)
    if run is not None:
        record = with_run(record, run, where=path)
    held = [*load_records(root / "data" / "records"), *map(read_record, beside)]
    _check_identity(record, held, where=path)
    record = with_declared(record, training_corpora, where=path)
    figures = _check_figures(record, where=path)
    _check_origin(record, where=path)
    place = record_path(record, root / "data" / "records")
    name, given = place.relative_to(root).as_posix(), path.resolve().as_posix()
    if "/data/records/" in given and not given.endswith(f"/{name}"):
        raise RecordError("the record is in the wrong place", where=path, expected=name, do="move the file")
    same_file = path.resolve() == place.resolve()
    _check_new(record, held, same_file=same_file, where=path)
    if place.exists() and not same_file:
        raise RecordError(
            "another record is in this place, and submitted records are never overwritten",
            where=path,
            found=name,
            do="give another --snapshot date, or another id to another system",
        )
    overlap = contamination(record)
    in_distribution = None if overlap is None else bool(overlap)
    claimed = record.system.in_distribution
    if claimed is not None and claimed != in_distribution:
        raise RecordError(
            "in_distribution is not what the declared training corpora say",
            where=path,
            expected=f"{in_distribution}, with {', '.join(overlap or ()) or 'no overlap'}",
            found=claimed,
        )
    record = replace(record, system=replace(record.system, in_distribution=in_distribution))
    if not check_only:
        write_record(record, place)
    steps = ("run: oruk-leaderboard build", f"commit {name} and what the build changed", "open a pull request")
    return Submission(
        record=name,
        system=record.system.id,
        scored_on=record.scored_on,
        figures=figures,
        in_distribution=in_distribution,
        overlap=tuple(overlap or ()),
        flags=tuple(_flags(record, overlap, run=run is not None)),
        written=not check_only,
        next=() if check_only else steps,
    )


def contamination(record: Record) -> list[str] | None:
    """Corpora of the evaluation that the system was trained on, or that share material with such; None if undeclared.

    Raises:
        RecordError: A declared corpus is not in the registry.
    """
    from oruk_leaderboard.corpora import registry

    declared = record.system.training_corpora
    if declared is None:
        return None
    known = registry()
    if unknown := [name for name in declared if name not in known]:
        raise RecordError(
            "training corpora that the registry does not know",
            where=record.system.id,
            found=", ".join(unknown),
            do="see: oruk-leaderboard corpora list --all; leave out what is not emotional speech",
        )
    evaluated = (record.evaluation or {})["confusion_by_cluster"]["attributes"]["corpus"]
    return sorted(
        name
        for name in evaluated
        if name in declared
        or any(name in known[other].shares_material_with for other in declared)
        or (name in known and set(known[name].shares_material_with) & set(declared))
    )


def with_declared(record: Record, corpora: Sequence[str] | None, *, where: Path) -> Record:
    """The record with these training corpora, and with the figures outside them and those that the ledger names.

    These are the figures that ``score`` gives for a system whose card declares the corpora.
    """
    from oruk_leaderboard.scoring.training_overlap import TRAINING, declared_later

    held = record.system.training_corpora
    if corpora is not None and held is not None and sorted(held) != sorted(corpora):
        raise RecordError("training corpora declared twice", where=where, expected=held, found=corpora)
    declared = held if corpora is None else sorted(corpora)
    ledger = training_ledger().of(record.system.id).corpora
    left_out = [
        corpus for corpus, certainty in ledger.items() if certainty == "stated" and corpus not in (declared or ())
    ]
    if declared is not None and left_out:
        raise RecordError(
            "the declaration leaves out training corpora that public sources name",
            where=where,
            expected=f"{', '.join(left_out)} too, by data/training.csv",
            found=", ".join(declared) or "none",
            do="declare them; if a source is wrong, correct its line in data/training.csv",
        )
    evaluation = record.evaluation or {}
    if (declared or ledger) and TRAINING not in evaluation["slices"]:
        evaluation = declared_later(evaluation, {*(declared or ()), *ledger})
    return replace(record, system=replace(record.system, training_corpora=declared), evaluation=evaluation)


def _check_kind(record: Record, *, where: Path) -> None:
    if record.scored_on not in REBUILT or record.evaluation is None:
        raise RecordError(
            "not a result on a rebuilt set; rows of the original evaluation come from its authors only",
            where=where,
            expected=f"scored_on {' or '.join(REBUILT)}, as score --out writes it",
            found=record.scored_on,
        )


def _check_figures(record: Record, *, where: Path) -> int:
    """Recompute every figure; the number of values compared."""
    from oruk_leaderboard.scoring.verification import Verification, verify

    result: Verification = verify(record.to_dict(), name=str(where))
    if result.mismatches:
        first = result.mismatches[0]
        raise RecordError(
            f"{len(result.mismatches)} of {result.figures} values do not follow from the record's own counts",
            where=where,
            expected=f"{first.key} {first.recomputed}",
            found=first.stated,
            do="score again with this version and submit what it writes",
        )
    if result.findings:
        raise RecordError("the record contradicts itself", where=where, found="; ".join(result.findings[:3]))
    return result.figures


def _check_origin(record: Record, *, where: Path) -> None:
    """A named protocol of this version, the pinned manifest and audio rule, a set digest, a commit of the weights."""
    from oruk_leaderboard.audio import RULE_VERSION
    from oruk_leaderboard.manifest import load_manifest
    from oruk_leaderboard.protocols import load

    evaluation, system = record.evaluation or {}, record.system
    benchmark = load()
    if (record.protocol.name, record.protocol.version) != (benchmark.name, benchmark.version):
        raise RecordError(
            "not scored by the benchmark's protocol",
            where=where,
            expected=f"{benchmark.name} {benchmark.version}",
            found=f"{record.protocol.name} {record.protocol.version}",
        )
    if evaluation["profile"] is None:
        raise RecordError(
            "the record does not say which clips of the manifest it has",
            where=where,
            expected="evaluation.profile open or full",
            do="rebuild the clips with: oruk-leaderboard reconstruct --profile open",
        )
    manifest = load_manifest().profile(evaluation["profile"])
    pinned = (manifest.version, manifest.digest, RULE_VERSION)
    stated = tuple(evaluation[key] for key in ("manifest_version", "manifest_digest", "audio_rule"))
    if stated != pinned:
        raise RecordError(
            "not scored on the pinned manifest, so nothing it could be compared with",
            where=where,
            expected="manifest {} with digest {}, audio rule {}".format(*pinned) + f", profile {evaluation['profile']}",
            found="{}, {}, {}".format(*stated),
            do="rebuild the clips with this version and score again",
        )
    if evaluation["set_digest"] is None:
        raise RecordError("the record names no rebuilt set", where=where, expected="evaluation.set_digest")
    _check_clips(record, manifest, where=where)
    if system.hub is not None and not MODEL_ID.fullmatch(system.model_id or ""):
        raise RecordError(
            "a hub without a model id on it", where=where, expected="system.model_id owner/name", found=system.model_id
        )
    if system.hub is not None and (system.revision or "").startswith("sha256:"):
        raise RecordError(
            "a checkpoint of a hub is named by its commit",
            where=where,
            expected="system.revision of 40 hex digits",
            found=system.revision,
        )
    named = system.hub is not None or system.family in WEIGHTS
    if named and not (system.revision or _is_built_in(system) or _is_service(record)):
        raise RecordError(
            "no commit of the weights: the result could not be repeated",
            where=where,
            expected="system.revision of 40 hex digits, with system.hub and system.model_id",
            do="name the run, which knows what answered: submit --run PREDICTIONS.run.json; or give the revision in "
            "the system's card and score again: score --system CARD.toml",
        )


def _is_service(record: Record) -> bool:
    """Whether a run stated that a service of one's own gave the answers."""
    return record.system.hub is None and (record.source.locator or "").startswith("answers of ")


def _is_built_in(system: SystemInfo) -> bool:
    """Whether the system is a baseline of this package, whose version names it: there are no weights."""
    from oruk_leaderboard.systems import registry

    card = registry().get(system.id)
    return card is not None and card.source == BUILT_IN and card.model_id == system.model_id


def _check_clips(record: Record, manifest: "Manifest", *, where: Path) -> None:
    """The clips are those of the manifest; a set that is called whole has all of them, under the manifest's labels."""
    from oruk_leaderboard.hub.margins import first_difference, selected

    evaluation = record.evaluation or {}
    rows = selected(manifest, evaluation)
    own = {key: evaluation[key] for key in ("label_policy", "label_source", "absent") if evaluation[key]}
    if record.scored_on != "partial" and (evaluation["n"] != len(rows) or own):
        raise RecordError(
            "a partial set is stated to be whole",
            where=where,
            expected=f"{len(rows):,} clips of profile {evaluation['profile']}, the manifest's labels, no corpus absent",
            found=f"{evaluation['n']:,} clips" + "".join(f", {key} {value}" for key, value in own.items()),
        )
    if difference := first_difference(evaluation, rows):
        raise RecordError(
            "the record does not count the clips of its manifest",
            where=where,
            expected=difference[0],
            found=difference[1],
            do="score the rebuilt clips again; a gold file of your own is not a set of the benchmark",
        )


def _check_identity(record: Record, held: Sequence[Record], *, where: Path) -> None:
    """A record may not claim the id or the name of another system."""
    mine = record.system
    for other in (item.system for item in held):
        same = mine.id == other.id or mine.name.casefold() == other.name.casefold()
        moved = None not in (mine.model_id, other.model_id) and mine.model_id != other.model_id
        if same and (mine.family != other.family or moved):
            raise RecordError(
                "another system has this id or name already",
                where=where,
                expected=f"family {other.family}, model {other.model_id}, as {other.id} ({other.name}) has",
                found=f"family {mine.family}, model {mine.model_id}",
                do="choose another id and name",
            )


def _check_new(record: Record, held: Sequence[Record], *, same_file: bool, where: Path) -> None:
    for other in held:
        if other.evaluation is None or record.evaluation is None:
            continue
        same_set = other.evaluation["set_digest"] == record.evaluation["set_digest"]
        if same_file and (other.system.id, other.snapshot) == (record.system.id, record.snapshot):
            continue
        weights = (record.system.model_id, record.system.revision)
        same_system = other.system.id == record.system.id and other.system.revision == record.system.revision
        same_weights = None not in weights and (other.system.model_id, other.system.revision) == weights
        if same_set and (same_system or same_weights):
            raise RecordError(
                "a result of this system and revision on this set is there already",
                where=where,
                found=f"{other.system.id} of {other.snapshot}",
            )
        digest = record.evaluation["predictions"]["sha256"]
        if digest is not None and other.evaluation["predictions"]["sha256"] == digest:
            raise RecordError(
                "the same predictions are there already under another name",
                where=where,
                found=f"{other.system.id} of {other.snapshot}",
            )


def _flags(record: Record, overlap: Sequence[str] | None, *, run: bool) -> list[str]:
    evaluation = record.evaluation or {}
    flags = [caveat.sentence for caveat in caveats_of(record) if caveat.footnote]
    if overlap:
        flags.append(f"corpora of the evaluation that it was trained on: {', '.join(overlap)}")
    ledger = training_ledger().of(record.system.id).corpora
    if named := sorted({*ledger} & {*evaluation["confusion_by_cluster"]["attributes"]["corpus"]} - {*(overlap or ())}):
        flags.append(f"corpora of the evaluation that data/training.csv names for it: {', '.join(named)}")
    if record.scored_on == "partial":
        absent = ", ".join(evaluation["absent"]) or "some clips"
        flags.append(f"partial set ({absent} missing): comparable with records of the same set digest only")
    if record.system.hub is not None and not run:
        flags.append("the revision is the submitter's statement; --run FILE.run.json compares it with what ran")
    if record.system.revision is None and not _is_built_in(record.system):
        flags.append("no immutable revision: the provider may change what answers under this name")
    if evaluation["on_error"] != "neutral":
        flags.append("failed clips count as wrong; the benchmark counts them as neutral")
    if evaluation["predictions"]["sha256"] is None:
        flags.append("no digest of the predictions file")
    return flags
