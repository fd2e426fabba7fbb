"""Community evals of the Hub: ``eval.yaml`` of the benchmark, ``.eval_results`` and ``model-index`` of a model.

The Hub knows one value a task and no direction, so every ``scored_on`` value is a task of its own and its value is the
macro-F1 (a fraction, higher is better). The Hub's own classes check next to nothing (a value ``"abc"`` passes), so what
leaves here is checked against ``schema/eval-results.schema.json`` too.
"""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from oruk_leaderboard.errors import HubError, RecordError
from oruk_leaderboard.hub.client import REVISION
from oruk_leaderboard.records.addresses import HOME, REPO
from oruk_leaderboard.records.caveats import caveats_of
from oruk_leaderboard.records.record import PUBLISHED, REBUILT, Record, default_records
from oruk_leaderboard.records.schemas import check
from oruk_leaderboard.table.configs import CONFIGS, SPLIT

NAME = "eval.yaml"
"""The benchmark's file, at the root of the data set repository."""

RESULTS_NAME = ".eval_results/oruk-bench-leaderboard.yaml"
"""The file of a model repository that the Hub reads results from."""

FRAMEWORK = "oruk-bench"
"""Evaluation framework that the results come from."""

REGISTERED = frozenset(
    (
        "apex-evals",
        "archipelago",
        "claw-eval",
        "exgentic",
        "harbor",
        "inspect-ai",
        "math-arena",
        "mdpbench",
        "mteb",
        "nemo-evaluator",
        "olmocr-bench",
        "open-asr-leaderboard",
        "parsebench",
        "screenspot-pro",
        "swe-bench",
        "swe-bench-pro",
        "video-mme-v2",
        "wildclawbench",
        "yc-bench",
    )
)
"""Frameworks that the Hub accepts: huggingface.js, packages/tasks/src/eval.ts, as of 22 August 2026."""

STEPS: tuple[str, ...] = (
    f"add the framework {FRAMEWORK} to packages/tasks/src/eval.ts of huggingface/huggingface.js (a pull request)",
    "ask for the data set to be put on the benchmark allow-list (an issue in huggingface/hub-docs)",
)
"""What people at Hugging Face must do before the Hub reads the file."""

TASK_CONFIGS: Mapping[str, str] = {
    **dict.fromkeys(PUBLISHED, "default"),
    **dict.fromkeys([name for name in REBUILT if name != "partial"], "rebuilt"),
}
"""Task of the Hub, one per ``scored_on`` value that can be compared, to the config with its rows."""


def eval_document(records: Sequence[Record]) -> dict[str, Any]:
    """Content of ``eval.yaml``: a task for every ``scored_on`` value that has rows."""
    present = {record.scored_on for record in records}
    return {
        "name": "oruk-bench",
        "description": "Speech emotion recognition in seven classes, one held-out multilingual evaluation; macro-F1.",
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {"id": task.replace("_", "-"), "config": config, "split": SPLIT}
            for task, config in TASK_CONFIGS.items()
            if task in present
        ],
    }


def eval_text(records: Sequence[Record]) -> str:
    """``eval.yaml`` with what must be registered first.

    Raises:
        RecordError: The document breaks ``schema/eval.schema.json``, or names a config or split that does not exist.
    """
    import yaml

    document = eval_document(records)
    check_eval(document)
    steps = "".join(f"#   {number}. {step}\n" for number, step in enumerate(STEPS, 1))
    head = f"# Written by `oruk-leaderboard build`. Before the Hub reads it, two things must be registered:\n{steps}"
    return head + str(yaml.safe_dump(document, sort_keys=False, width=120))


def check_eval(document: Mapping[str, Any]) -> None:
    """Check an ``eval.yaml`` document; see `eval_text` for the errors."""
    check(document, "eval", where=NAME)
    configs = {config.name for config in CONFIGS}
    ids = [task["id"] for task in document["tasks"]]
    if len(set(ids)) != len(ids):
        raise RecordError("a task occurs twice", where=NAME, found=", ".join(ids))
    for task in document["tasks"]:
        if task["config"] not in configs or task["split"] != SPLIT:
            raise RecordError(
                "a task names rows that do not exist",
                where=f"{NAME}: {task['id']}",
                expected=f"split {SPLIT} of {', '.join(sorted(configs))}",
                found=f"split {task['split']} of {task['config']}",
            )


def held_back() -> Mapping[str, str]:
    """Files that must not be pushed yet, with the reason: the Hub refuses a push with a framework it does not know."""
    return {} if FRAMEWORK in REGISTERED else {NAME: f"first {STEPS[0]}"}


def records_of(name: str, records: Sequence[Record]) -> list[Record]:
    """A system's comparable records: its row of the default table and its results on rebuilt sets.

    Raises:
        RecordError: There is no such system, it has no comparable record, or no model repository on the Hub.
    """
    shown = {id(record) for record in default_records(records)}
    named = [record for record in records if name in (record.system.id, record.system.name)]
    usable = [
        record
        for record in named
        if record.scored_on in TASK_CONFIGS and (id(record) in shown or record.scored_on in REBUILT)
    ]
    if not usable:
        known = sorted({record.system.id for record in records})
        found = "no such system" if not named else f"{len(named)} records that are in no table"
        raise RecordError("nothing to export", where=name, expected=", ".join(known), found=found)
    if not any(record.system.hub == "hf" and record.system.model_id for record in usable):
        raise RecordError(
            "the system has no model repository on the Hub, which is where results of a model are kept",
            where=name,
            found=usable[0].system.model_id,
        )
    return usable


def eval_results(name: str, records: Sequence[Record], *, revision: str) -> list[dict[str, Any]]:
    """Entries of ``.eval_results/*.yaml`` for a model repository.

    Args:
        name: Id or name of the system.
        records: All records.
        revision: 40-hex commit of the data set with the results, as ``publish`` prints it.

    Raises:
        RecordError: There is nothing to export, or an entry breaks our schema.
        HubError: huggingface_hub is too old.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise HubError(
            "huggingface_hub has no eval results", do="run: python -m pip install --upgrade huggingface_hub"
        ) from error
    _check_revision(revision)
    entries = [
        EvalResultEntry(
            dataset_id=REPO,
            task_id=record.scored_on.replace("_", "-"),
            value=_value(record.macro_f1, where=record.system.id),
            dataset_revision=revision,
            date=record.snapshot,
            source_url=_url(record, revision),
            source_name=record.source.attested_by,
            notes=_notes(record),
        )
        for record in records_of(name, records)
    ]
    document: list[dict[str, Any]] = eval_result_entries_to_yaml(entries)
    check(document, "eval-results", where=RESULTS_NAME)
    return document


def model_index(name: str, records: Sequence[Record], *, revision: str) -> dict[str, Any]:
    """``model-index`` front matter for the card of a model repository; accuracy as a fraction.

    Args and errors are those of `eval_results`.
    """
    from huggingface_hub.repocard_data import EvalResult, eval_results_to_model_index

    _check_revision(revision)
    usable = records_of(name, records)
    results = [
        EvalResult(
            task_type="audio-classification",
            task_name="Speech Emotion Recognition",
            dataset_type=REPO,
            dataset_name=f"oruk-bench ({record.scored_on})",
            dataset_config=TASK_CONFIGS[record.scored_on],
            dataset_split=SPLIT,
            dataset_revision=revision,
            metric_type=kind,
            metric_name=title,
            metric_value=_value(value, where=record.system.id),
            metric_args={"average": "macro"} if kind == "f1" else None,
            source_name=record.source.attested_by,
            source_url=_url(record, revision),
        )
        for record in usable
        for kind, title, value in (
            ("f1", "Macro-F1", record.macro_f1),
            ("accuracy", "Accuracy", str(Decimal(record.accuracy).scaleb(-2))),
        )
    ]
    return {"model-index": eval_results_to_model_index(usable[0].system.name, results)}


def _value(text: str, *, where: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise RecordError("a figure is not a fraction", where=where, expected="0 to 1", found=text)
    return value


def _check_revision(revision: str) -> None:
    if not REVISION.fullmatch(revision):
        raise RecordError(
            "not a commit", where="--revision", expected="the 40 hex digits that publish prints", found=revision
        )


def _url(record: Record, revision: str) -> str:
    """Where the figure can be looked up: its own source where that is an address, else the data set at the revision."""
    if record.source.reference and re.match(r"https://\S+$", record.source.reference):
        return record.source.reference
    return f"{HOME}/tree/{revision}"


def _notes(record: Record) -> str:
    parts = [f"macro-F1 on {record.scored_on}", *(caveat.sentence for caveat in caveats_of(record)), record.note]
    if record.evaluation is not None:
        parts.append(f"manifest {record.evaluation['manifest_digest']}")
    return "; ".join(part.rstrip(".") for part in parts if part)
