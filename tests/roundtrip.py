"""What a user of ``datasets`` does with the repository, in one process with its own cache.

Run by the tests with the installed release and by ``.ci/datasets_versions.py`` with four of them::

    HF_ENDPOINT=… HF_HOME=… python tests/roundtrip.py REPOSITORY WORK

``REPOSITORY`` is a folder with the files of the Hub repository, ``WORK`` a new folder to write to; the cases that held
are in its ``report.json``.
"""

import importlib
import json
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

NAME = "oruk/oruk-bench-leaderboard"
MAJOR = int(datasets.__version__.split(".")[0])
SCRIPT = "oruk_bench_leaderboard.py"

Case = Callable[[Path, Path], None]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Register a case under its function's name."""
    CASES[function.__name__] = function
    return function


def script() -> ModuleType:
    """The loading script of the repository, imported from there."""
    return importlib.import_module(SCRIPT.removesuffix(".py"))


def expect(repository: Path, config: str, loaded: Any) -> None:
    """Rows and types equal those of the parquet file."""
    table = pq.read_table(repository / script().FILES[config])
    assert loaded.with_format("arrow")[:].cast(table.schema).equals(table)
    assert list(loaded.select(range(min(20, len(loaded))))) == table.slice(0, 20).to_pylist()
    assert types(loaded.features.arrow_schema) == types(table.schema)


def types(schema: Any) -> dict[str, str]:
    """Names and types of columns; what the elements of a list are called does not count."""
    return {f.name: f"list of {f.type.value_type}" if pa.types.is_list(f.type) else str(f.type) for f in schema}


def refused(call: Callable[[], Any], *expected: str) -> None:
    """The call raises and its message has one of the expected texts."""
    try:
        call()
    except (ValueError, RuntimeError, EOFError) as error:
        assert any(text in str(error) for text in expected), error
    else:
        raise AssertionError(f"not refused: {expected}")


@case
def by_name(repository: Path, work: Path) -> None:
    loaded = datasets.load_dataset(NAME)
    assert list(loaded) == ["train"]
    expect(repository, "default", loaded["train"])


@case
def by_name_every_config(repository: Path, work: Path) -> None:
    names = list(script().FILES)
    assert sorted(datasets.get_dataset_config_names(NAME)) == sorted(names)
    for name in names:
        expect(repository, name, datasets.load_dataset(NAME, name, split="train"))


@case
def by_tag_and_sha(repository: Path, work: Path) -> None:
    from huggingface_hub import HfApi

    tag = f"v{script().VERSION}"
    expect(repository, "default", datasets.load_dataset(NAME, revision=tag, split="train"))
    sha = HfApi().dataset_info(NAME).sha
    expect(repository, "default", datasets.load_dataset(NAME, revision=sha, split="train"))


@case
def by_name_streaming(repository: Path, work: Path) -> None:
    for name in ("default", "systems"):
        rows = list(datasets.load_dataset(NAME, name, split="train", streaming=True))
        assert rows == pq.read_table(repository / script().FILES[name]).to_pylist()


@case
def from_folder(repository: Path, work: Path) -> None:
    folder = shutil.copytree(repository, work / "oruk-bench-leaderboard")
    for name in script().FILES:
        expect(repository, name, datasets.load_dataset(str(folder), name, split="train"))
    expect(repository, "default", datasets.load_dataset(str(folder))["train"])


@case
def folder_named_like_the_script(repository: Path, work: Path) -> None:
    """The trap of the README: a clone must not be called oruk_bench_leaderboard."""
    folder = shutil.copytree(repository, work / "oruk_bench_leaderboard")
    refused(lambda: datasets.load_dataset(str(folder)), "custom code", "no longer supported", "EOF")
    # Releases 2 and 3 ask with an alarm of 15 s and leave it set when nobody can answer.
    signal.alarm(0)


@case
def script_by_path(repository: Path, work: Path) -> None:
    """Releases 2 and 3 run the script; later ones run none."""
    folder = shutil.copytree(repository, work / "by-path")
    if MAJOR < 4:
        path, trust = str(folder / SCRIPT), {"trust_remote_code": True}
        for name in script().FILES:
            expect(repository, name, datasets.load_dataset(path, name, split="train", **trust))
        expect(repository, "default", datasets.load_dataset(path, split="train", **trust))
    else:
        refused(lambda: datasets.load_dataset(str(folder / SCRIPT)), "no longer supported")


@case
def builder_directly(repository: Path, work: Path) -> None:
    module = script()
    assert list(module.OrukBenchLeaderboard.builder_configs) == list(module.FILES)
    for name in module.FILES:
        expect(repository, name, module.load(name, root=repository))
    made = module.builder("default", root=repository)
    assert list(made.as_streaming_dataset(split="train")) == list(module.load("default", root=repository))
    refused(lambda: module.load("nothing"), "no config 'nothing'")


@case
def stale_cache(repository: Path, work: Path) -> None:
    """The trap of the README: a changed folder is served from the cache; the builder and a fresh cache see it."""
    folder = shutil.copytree(repository, work / "changing")
    module = script()
    before = datasets.load_dataset(str(folder), split="train")
    path = folder / module.FILES["default"]
    old = pq.read_table(path)
    names = pa.array([f"renamed {number}" for number in range(old.num_rows)])
    pq.write_table(old.set_column(0, "system", names), path)
    assert datasets.load_dataset(str(folder), split="train")["system"][0] == before["system"][0]
    assert module.load("default", root=folder)["system"][0] == "renamed 0"
    fresh = datasets.load_dataset(str(folder), split="train", cache_dir=str(work / "fresh"))
    assert fresh["system"][0] == "renamed 0"


def main() -> None:
    """Run every case; the first that does not hold ends the process with its traceback."""
    repository, work = (Path(argument).resolve() for argument in sys.argv[1:])
    sys.path.insert(0, str(repository))
    for name, function in CASES.items():
        function(repository, work / name)
    report = {"datasets": datasets.__version__, "held": list(CASES)}
    (work / "report.json").write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
