"""What verbs print: JSON documents, JSON Lines, text tables, progress."""

import argparse
import json
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from oruk_leaderboard.cells import shown, shown_json
from oruk_leaderboard.cli.process import write_error, write_out
from oruk_leaderboard.progress import Advance, Progress, silent


def add_json(parser: Any) -> None:
    """Add the ``--json`` option that every verb takes."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of text")


def positive(text: str) -> int:
    """Type of an option that counts something.

    Raises:
        argparse.ArgumentTypeError: The text is not an integer of 1 or more.
    """
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected an integer of 1 or more; found {text!r}")
    return int(text)


def write_json(document: object) -> None:
    """Print one JSON document; NaN and infinity are refused because JSON has neither."""
    from oruk_leaderboard.jsontext import pretty

    write_out(shown_json(pretty(document)) + "\n")


def write_json_lines(rows: Iterable[dict[str, Any]]) -> None:
    """Print one JSON object per line."""
    for row in rows:
        write_out(shown_json(json.dumps(row, ensure_ascii=False, allow_nan=False)) + "\n")


_CONTROL = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""Characters of a file's name or label that would command the terminal, to what is shown instead."""


def write_text(text: str) -> None:
    """Print text for people, ending with one newline."""
    write_out(shown(text.rstrip("\n").translate(_CONTROL)) + "\n")


def note(text: str) -> None:
    """Print a message to stderr."""
    write_error(shown(text.rstrip("\n").translate(_CONTROL)) + "\n")


def note_broken_plug_ins() -> bool:
    """Print what is wrong with the user's own specs and plug-ins; returns whether anything is."""
    from oruk_leaderboard.corpora import broken_plug_ins

    broken = broken_plug_ins()
    for problem in broken:
        note(f"{problem.where}: {problem.reason}")
    return bool(broken)


def note_lost(roots: Sequence[str], only: Mapping[str, str | None] | None, here: Collection[str]) -> bool:
    """Print which corpora were asked for and are not there; returns whether any is.

    Args:
        roots: Where those of ``only`` without a path were looked for.
        only: From `parse_corpora`.
        here: Ids of the corpora found.
    """
    from oruk_leaderboard.corpora import get_corpus

    places = {get_corpus(name).id: path or ", ".join(roots) for name, path in (only or {}).items()}
    lost = sorted(places.keys() - here)
    for corpus in lost:
        note(f"{corpus}: not found under {places[corpus]}")
    return bool(lost)


REPORT_EVERY_S = 60.0
"""Seconds between two lines of progress where stderr is not a terminal."""


@contextmanager
def progress(options: argparse.Namespace, *, unit: str = "clip") -> Iterator[Progress]:
    """Progress on stderr: a bar in a terminal, a line per minute elsewhere, nothing with ``--json``.

    Args:
        options: Of the verb.
        unit: What is counted.
    """
    with ExitStack() as phase_end:

        def begin(phase: str, total: int | None) -> Advance:
            from tqdm import tqdm

            phase_end.close()
            if not sys.stderr.isatty():
                return _lines(phase, total, unit)
            bar = phase_end.enter_context(
                tqdm(total=total, unit=f" {unit}s", desc=phase, file=sys.stderr, leave=False, dynamic_ncols=True)
            )
            failures = 0

            def update(done: int, /, failed: int = 0) -> None:
                nonlocal failures
                failures += failed
                if failed:
                    bar.set_postfix(failed=failures, refresh=False)
                bar.update(done)

            return update

        yield silent if options.json else begin


def _lines(phase: str, total: int | None, unit: str) -> Advance:
    """Progress of a phase as lines, the first one after a minute: rate, time left, failures."""
    done, failures = 0, 0
    started = reported = time.monotonic()

    def advance(more: int, /, failed: int = 0) -> None:
        nonlocal done, failures, reported
        done, failures, now = done + more, failures + failed, time.monotonic()
        if now - reported < REPORT_EVERY_S:
            return
        reported = now
        rate = done / max(now - started, 1e-6)
        parts = [f"{phase}: {done:,}{'' if total is None else f' of {total:,}'} {unit}s", f"{rate:,.1f} per s"]
        if total is not None and done:
            parts.append(f"{(total - done) / rate / 60:,.0f} min left")
        if failures:
            parts.append(f"{failures:,} failed")
        note(", ".join(parts))

    return advance
