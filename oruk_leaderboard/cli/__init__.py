"""The command line: one module a verb, imported only when that verb is asked for."""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from oruk_leaderboard.errors import OrukError

VERBS: dict[str, str] = {
    "table": "print, sort or export the leaderboard",
    "cite": "BibTeX, CFF or a methods paragraph for what you used",
    "published": "leaderboards of the literature, offline",
    "corpora": "list, show, find, read or check emotional-speech corpora",
    "manifest": "the pinned evaluation clips: build, stats, diff, digest, pin",
    "validate": "compare your copies of the corpora with the manifest",
    "reconstruct": "rebuild the evaluation clips from your copies",
    "systems": "list or show the systems that can be run",
    "run": "run one system on a rebuilt set",
    "score": "score predictions on a rebuilt set",
    "compare": "paired tests and tie groups between systems",
    "replay": "re-parse and re-score saved answers",
    "verify": "recompute every figure of a record from its own counts",
    "submit": "check a record and add it to the repository",
    "build": "rebuild everything that is derived",
    "page": "write the static leaderboard page",
    "publish": "push the built repository to the Hub",
    "sync": "read the published table from the Hub",
    "export-eval-results": "write .eval_results files for a model repository",
    "demo": "the whole way on a small synthetic corpus",
    "versions": "one line with every version that can move a number",
}
"""Verb to its one-line help, in the order of the help text."""

DONE, FINDINGS, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: clean; done with counted findings; unusable arguments or input; interrupted."""


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the lines of examples, and whose errors are one line like every other error."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": argparse.RawDescriptionHelpFormatter, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(UNUSABLE, f"oruk-leaderboard: {OrukError(message, do=f'see: {self.prog} --help')}\n")


def build_parser(verb: str | None) -> argparse.ArgumentParser:
    """Parser of the command; only the module of ``verb`` is imported."""
    from oruk_leaderboard import __version__

    parser = _Parser(
        prog="oruk-leaderboard", description="The oruk-bench leaderboard: the table, the clips, the score."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, summary in VERBS.items():
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        if name == verb:
            module = importlib.import_module(f"oruk_leaderboard.cli.{name.replace('-', '_')}")
            module.configure(subparser)
            subparser.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit code (0, 1, 2 or 130)."""
    _write_any_text()
    arguments = list(sys.argv[1:] if argv is None else argv)
    verb = next((argument for argument in arguments if not argument.startswith("-")), None)
    options = build_parser(verb if verb in VERBS else None).parse_args(arguments)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return int(code)
    except OrukError as error:
        sys.stderr.write(f"oruk-leaderboard: {error}\n")
        return UNUSABLE
    except KeyboardInterrupt:
        sys.stderr.write("oruk-leaderboard: interrupted; the same command resumes where state was kept\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (head, a closed pager): not an error of ours, and nothing more can be said.
        _drop_output()
        return DONE
    except MemoryError as error:
        told = OrukError("more memory is needed than there is", found=str(error) or None, do="ask for less at once")
        sys.stderr.write(f"oruk-leaderboard: {told}\n")
        return UNUSABLE
    except OSError as error:
        # What the system refuses and no module says more about: no permission, a disk that is full or gone.
        _drop_output()
        sys.stderr.write(f"oruk-leaderboard: {OrukError(error.strerror or str(error), where=error.filename)}\n")
        return UNUSABLE


def _write_any_text() -> None:
    """Whatever the locale, files and pipes get UTF-8, and what a terminal cannot show is escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def _drop_output() -> None:
    """Send what is left in stdout's buffer nowhere, so that the interpreter's own flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
