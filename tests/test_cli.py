"""The command as a whole: help, exit codes, one-line errors, whatever the locale and the file system do."""

import argparse
import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oruk_leaderboard.answers.receipt_file import ReceiptFile
from oruk_leaderboard.cli import VERBS, build_parser, main

DEEP = "[" * 100_000
FULL = Path("/dev/full")


def parsers():
    """Every parser of the command by its name."""
    for verb in VERBS:
        parser = build_parser(verb)
        waiting = [next(action for action in parser._actions if action.dest == "verb").choices[verb]]
        while waiting:
            parser = waiting.pop()
            yield parser.prog, parser
            below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
            waiting += [child for action in below for child in action.choices.values()]


def test_every_help_ends_with_an_example_that_parses():
    for name, parser in parsers():
        examples = [line.split() for line in parser.format_help().splitlines() if f"{name} " in f"{line.strip()} "]
        examples = [words[words.index("oruk-leaderboard") + 1 :] for words in examples if words[0] != "usage:"]
        assert examples, name
        for words in examples:
            assert build_parser(words[0]).parse_args(words)


def test_every_verb_takes_json():
    for name, parser in parsers():
        if not any(isinstance(action, argparse._SubParsersAction) for action in parser._actions):
            assert "--json" in parser.format_help(), name


@pytest.mark.parametrize(
    "arguments", [[], ["nope"], ["table", "--nope"], ["corpora"], ["corpora", "nope"], ["score", "--n-boot", "x\ny"]]
)
def test_wrong_arguments_are_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (2, "")
    assert told.err.count("\n") == 1
    assert "--help" in told.err


@pytest.mark.parametrize("number", ["0", "-2", "two", "1.5", "²"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "--workers"],
        ["manifest", "pin", "--workers"],
        ["manifest", "build", "--size"],
        ["run", "x", "--clips", "x", "--out", "x", "--workers"],
        ["reconstruct", "--out", "x", "--workers"],
        ["reconstruct", "--out", "x", "--limit"],
    ],
)
def test_what_counts_something_is_one_or_more(arguments, number, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, number])
    assert stopped.value.code == 2
    assert "expected an integer of 1 or more" in capsys.readouterr().err


def fail(error):
    def run(options):
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "clips.csv"), 2, "clips.csv: Permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "No space left on device"),
        (MemoryError("Unable to allocate 7 TiB"), 2, "Unable to allocate 7 TiB"),
        (KeyboardInterrupt(), 130, "interrupted by SIGINT"),
    ],
)
def test_what_the_system_refuses_is_one_line(error, code, told, monkeypatch, capfd):
    from oruk_leaderboard.cli import versions

    monkeypatch.setattr(versions, "run", fail(error))
    assert main(["versions"]) == code
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert told in lines[0]


def test_names_of_files_command_no_terminal(tmp_path, capsys):
    folder = tmp_path / "a\x1b[31m\nb"
    folder.mkdir()
    (folder / "dis-f1-b1.wav").write_bytes(b"x")
    (folder / "no\x1b[2Jclip.wav").write_bytes(b"x")
    main(["corpora", "clips", "emovo", "--root", str(tmp_path)])
    main(["validate", "--corpus", f"emovo={tmp_path}"])
    main(["corpora", "show", "\x1b[31m"])
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "b/dis-f1-b1.wav" in told.out


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", "import sys; from oruk_leaderboard.cli import main; sys.exit(main())", *arguments],
        stderr=subprocess.PIPE,
        check=False,
        **options,
    )


def test_output_is_utf_8_whatever_the_locale():
    told = command("table", stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (told.returncode, told.stderr) == (0, b"")
    assert "†" in told.stdout.decode()


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
def test_a_full_disk_is_one_line():
    with FULL.open("w") as full:
        told = command("table", stdout=full)
    assert told.returncode == 2
    assert told.stderr.decode() == (
        "oruk-leaderboard: standard output: the output cannot be written; found No space left on device\n"
    )


def test_a_size_limit_is_one_line_with_the_file(tmp_path, monkeypatch, capfd):
    from oruk_leaderboard.cli import versions

    def write(options):
        with ReceiptFile(tmp_path / "receipts.jsonl") as file:
            file.append([f'{{"clip_id": "{number}"}}\n' for number in range(1000)])

    monkeypatch.setattr(versions, "run", write)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        assert main(["versions"]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert capfd.readouterr().err == f"oruk-leaderboard: {tmp_path / 'receipts.jsonl'}: File too large\n"


@pytest.mark.parametrize(("streams", "error"), [(">&-", True), ("2>&-", False), (">&- 2>&- <&-", False)])
@pytest.mark.parametrize(("arguments", "code"), [("table", 0), ("corpora show nope", 2)])
def test_closed_streams_change_no_exit_code(streams, error, arguments, code):
    line = f"{sys.executable} -m oruk_leaderboard.cli {arguments} {streams}"
    told = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert told.returncode == code
    assert told.stderr.count("\n") == (error and code == 2)


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
def test_a_full_stderr_changes_no_exit_code():
    line = f"{sys.executable} -m oruk_leaderboard.cli published IEMOCAP 2>/dev/full"
    told = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert told.returncode == 0
    assert "IEMOCAP" in told.stdout


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_ending_signals_are_one_line_and_128_plus_the_number(name, monkeypatch, capfd):
    from oruk_leaderboard.cli import versions

    number = getattr(signal, name)

    def run(options):
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None  # as Ray does

    monkeypatch.setattr(versions, "run", run)
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert main(["versions"]) == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert capfd.readouterr().err == (
        f"oruk-leaderboard: interrupted by {name}; run the same command again to go on from the state that was kept\n"
    )


def test_help_lists_the_verbs_by_group_and_demo_first(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    words = [line.split()[0].rstrip(":") for line in shown.splitlines() if line.startswith("  ")]
    assert words[: len(VERBS) - 1] == [verb for verb in VERBS if verb != "versions"]
    assert words[0] == "demo"
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["tabel"], "did you mean table?"),
        (["corpora", "fnid"], "did you mean find?"),
        (["table", "--format", "markdwon"], "did you mean markdown?"),
        (["corpora", "show", "iemocapp"], "did you mean iemocap"),
        (["corpora", "show", "CREMA-C"], "did you mean crema_d"),
        (["published", "iemocup"], "did you mean iemocap"),
        (["table", "Spektra"], "did you mean spectra-1?"),
        (["systems", "show", "baseline-loudnes"], "did you mean baseline-loudness"),
        (["cite", "emodbb"], "did you mean emodb"),
    ],
)
def test_mistyped_names_get_a_suggestion(arguments, meant, capsys):
    try:
        code = main(arguments)
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert meant in capsys.readouterr().err


def test_names_work_as_one_would_type_them(capsys):
    assert main(["published", "IEMOCAP"]) == 0
    by_argument = capsys.readouterr().out
    assert main(["published", "--corpus", "iemocap"]) == 0
    assert capsys.readouterr().out == by_argument
    assert main(["table", "Spectra", "emotion2vec"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.lstrip()[:1].isdigit() and ". " not in line]
    ranks = [row.split()[0] for row in rows if "Spectra" in row or "emotion2vec" in row]
    assert ranks == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "arguments",
    [["verify", "{}"], ["submit", "--check", "{}"], ["manifest", "diff", "{}", "1.0.0"], ["cite", "--report", "{}"]],
)
def test_json_nested_too_deeply_is_one_line(arguments, tmp_path, capsys):
    path = tmp_path / "deep.json"
    path.write_text(DEEP)
    assert main([argument.format(path) for argument in arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "nested too deeply" in told.err
