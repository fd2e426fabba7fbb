"""The command line: one module per verb, imported only when that verb is asked for."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from oruk_leaderboard.cli.process import (
    collect_rarely,
    drop_output,
    ending_signals,
    interrupted,
    open_streams,
    write_error,
    write_out,
)
from oruk_leaderboard.errors import OrukError, nearest

GROUPS: dict[str, dict[str, str]] = {
    "start here": {
        "demo": "find, validate, rebuild, run and score on a small synthetic corpus",
    },
    "the table": {
        "table": "print, filter or export the leaderboard",
        "cite": "BibTeX, CFF or a methods paragraph for what you used",
        "published": "leaderboards of the literature, offline",
    },
    "your corpora": {
        "corpora": "list, show, find, read or check emotional-speech corpora",
        "validate": "compare your copies of the corpora with the manifest",
        "reconstruct": "rebuild the evaluation clips from your copies",
        "manifest": "the pinned evaluation clips: build, stats, diff, digest, pin",
    },
    "a system's score": {
        "systems": "list or show the systems that can be run",
        "run": "run one system on a rebuilt set",
        "score": "score predictions on a rebuilt set",
        "compare": "paired tests and ranks of several systems",
        "replay": "parse and score saved answers again",
        "verify": "recompute every figure of a record",
    },
    "maintainers": {
        "submit": "check a record and add it to the repository",
        "build": "rebuild all derived files",
        "page": "write the static leaderboard page",
        "publish": "push the built repository to the Hub",
        "sync": "read the published table from the Hub",
        "export-eval-results": "write .eval_results files for a model repository",
    },
}
"""Heading of the help text to its verbs, each with its one-line help."""

UNLISTED: dict[str, str] = {"versions": "print all versions that can change a number"}
"""Verbs that work and that the help text leaves out."""

VERBS: dict[str, str] = {verb: text for group in GROUPS.values() for verb, text in group.items()} | UNLISTED
"""Every verb with its one-line help."""

DONE, FINDINGS, UNUSABLE = 0, 1, 2
"""Exit codes: clean; done with counted findings; unusable arguments or input. A signal gives 128 + its number."""


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the lines of examples, whose errors are one line, and that suggests the nearest choice."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": argparse.RawDescriptionHelpFormatter, **options})

    def error(self, message: str) -> NoReturn:
        write_error(f"oruk-leaderboard: {OrukError(message, do=f'see: {self.prog} --help')}\n")
        self.exit(UNUSABLE)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices if choice not in UNLISTED]
        near = nearest(str(value), choices)
        help_ = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(choices)}"
        name = "/".join(action.option_strings) or str(action.metavar or action.dest).lower()
        raise argparse.ArgumentError(None, f"{value}: no such {name}; {help_}")


def build_parser(verb: str | None) -> argparse.ArgumentParser:
    """Parser of the command; only the module of ``verb`` is imported."""
    from oruk_leaderboard import __version__

    parser = _Parser(
        prog="oruk-leaderboard",
        usage="oruk-leaderboard VERB [options]",
        description=_overview(),
        epilog="oruk-leaderboard VERB --help shows the options of a verb, with an example.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(
        dest="verb", metavar="VERB", required=True, prog=parser.prog, help=argparse.SUPPRESS
    )
    for name, summary in VERBS.items():
        subparser = subparsers.add_parser(name, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == verb:
            module = importlib.import_module(f"oruk_leaderboard.cli.{name.replace('-', '_')}")
            module.configure(subparser)
            subparser.set_defaults(run=module.run)
    return parser


def _overview() -> str:
    """The verbs by group, for the help text."""
    width = max(map(len, VERBS))
    lines = ["The oruk-bench leaderboard: the table, the evaluation clips, the score."]
    for heading, verbs in GROUPS.items():
        lines += ["", f"{heading}:", *(f"  {verb:{width}}  {summary}" for verb, summary in verbs.items())]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit code (0, 1, 2, or 128 + signal)."""
    open_streams()
    collect_rarely()
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        with ending_signals():
            options = build_parser(verb if verb in VERBS else None).parse_args(arguments)
            code = int(options.run(options))
            write_out("")
            return code
    except OrukError as error:
        return _fail(error)
    except KeyboardInterrupt:
        code, line = interrupted()
        write_error(f"oruk-leaderboard: {line}\n")
        return code
    except BrokenPipeError:
        # The reader of our output went away (head, a closed pager): not an error of ours, and nothing more can be said.
        drop_output()
        return DONE
    except MemoryError as error:
        return _fail(OrukError("out of memory", found=str(error) or None, do="ask for less at once"))
    except OSError as error:
        # What the system refuses and no module says more about: no permission, a disk that is full or gone.
        return _fail(OrukError(error.strerror or str(error), where=error.filename))


def _fail(error: OrukError) -> int:
    write_error(f"oruk-leaderboard: {error}\n")
    return UNUSABLE
