"""Measure scoring at the benchmark's real size, beside a plain count-matrix loop and the public harness, in one run.

usage: python benchmarks/scoring.py [--out DIR] [--runs 5] [--harness-boot 20] [--format csv|parquet]

Makes an evaluation set of 64,384 clips (50 corpora, 1,500 speakers, 20 languages, seven skewed classes, 30 systems of
falling accuracy whose errors go together by corpus and speaker), then times

- ``score`` of one system as a process (target: at most 1 s and 200 MiB);
- ``compare`` of all 30 systems with 435 paired tests and joint rank sets at 2,000 replicates, as a process (target: at
  most 2 s and 200 MiB);
- the resampling that both share: macro-F1 and accuracy with 10,000 replicates of 1,500 speakers, against a loop that
  fills a float64 matrix of draws and multiplies whole confusion matrices (target: at most 1.5 times its time);
- oruk-bench's ``bootstrap_ci`` and ``paired_bootstrap_test`` with ``--harness-boot`` replicates, scaled to 2,000.

One JSON line per measurement: wall and CPU seconds as the median of the runs, peak memory in MiB.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from oruk_leaderboard import metrics
from oruk_leaderboard.classes import CLASSES
from oruk_leaderboard.metrics import Margins
from oruk_leaderboard.statistics import Design, Draws, percentile

CLIPS, CORPORA, SPEAKERS, LANGUAGES, SYSTEMS = 64_384, 50, 1_500, 20, 30
PRIOR = np.array([0.16, 0.17, 0.16, 0.08, 0.05, 0.05, 0.33])
K = len(CLASSES)


def simulate(seed: int = 0) -> dict[str, np.ndarray]:
    """Gold labels, speakers, corpora, languages and predictions of every system."""
    rng = np.random.default_rng(seed)

    def skewed(size: int, shape: float) -> np.ndarray:
        weights = rng.pareto(shape, size) + 0.15
        return weights / weights.sum()

    # Every corpus has a speaker and every speaker a clip; the rest falls where the large ones are.
    speaker_corpus = np.append(np.arange(CORPORA), rng.choice(CORPORA, SPEAKERS - CORPORA, p=skewed(CORPORA, 1.1)))
    speaker = np.append(np.arange(SPEAKERS), rng.choice(SPEAKERS, CLIPS - SPEAKERS, p=skewed(SPEAKERS, 1.5)))
    corpus = speaker_corpus[speaker]
    priors = rng.dirichlet(6 * PRIOR, CORPORA)
    gold = np.minimum((rng.random(CLIPS)[:, None] > priors.cumsum(axis=1)[corpus]).sum(axis=1), K - 1)
    predictions = []
    for system in range(SYSTEMS):
        by_corpus, by_speaker = rng.normal(0, 0.12, CORPORA), rng.normal(0, 0.08, SPEAKERS)
        chance = np.clip(0.78 - 0.012 * system + by_corpus[corpus] + by_speaker[speaker], 0.03, 0.99)
        predictions.append(np.where(rng.random(CLIPS) < chance, gold, rng.choice(K, CLIPS, p=PRIOR)))
    return {
        "gold": gold,
        "speaker": speaker,
        "corpus": corpus,
        "language": rng.integers(0, LANGUAGES, CORPORA)[corpus],
        "predictions": np.array(predictions),
    }


def write_files(made: dict[str, np.ndarray], folder: Path, form: str) -> tuple[Path, list[Path]]:
    """A gold file and one predictions file per system."""
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    def write(columns: dict[str, Any], path: Path) -> Path:
        table = pa.table(columns)
        if form == "parquet":
            parquet.write_table(table, path)
        else:
            csv.write_csv(table, path, csv.WriteOptions(quoting_style="none"))
        return path

    ids = [f"corpus{corpus:02d}/clip{clip:06d}" for clip, corpus in enumerate(made["corpus"])]
    names = np.array(CLASSES)
    gold = {
        "clip_id": ids,
        "label": names[made["gold"]],
        "corpus": [f"corpus{value:02d}" for value in made["corpus"]],
        "speaker": [f"s{value}" for value in made["speaker"]],
        "language": [f"l{value:02d}" for value in made["language"]],
    }
    files = [
        write({"clip_id": ids, "label": names[row]}, folder / f"system{number:02d}.{form}")
        for number, row in enumerate(made["predictions"])
    ]
    return write(gold, folder / f"gold.{form}"), files


def report(what: str, walls: list[float], cpus: list[float], **more: object) -> float:
    """Print one line; returns the median CPU time."""
    line = {"what": what, "wall_s": round(statistics.median(walls), 4), "cpu_s": round(statistics.median(cpus), 4)}
    print(json.dumps({**line, "wall_min_s": round(min(walls), 4), "runs": len(walls), **more}), flush=True)
    return statistics.median(cpus)


def timed(what: str, action: Callable[[], object], runs: int, **more: object) -> float:
    """Time an action in this process."""
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return report(what, walls, cpus, **more)


LAUNCHER = """
import json, os, sys, time
start = time.perf_counter()
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - start
cpu = usage.ru_utime + usage.ru_stime
print(json.dumps([wall, cpu, usage.ru_maxrss >> 10, os.waitstatus_to_exitcode(status)]))
"""
"""Starts the measured process from a small one: a child's peak memory begins with that of the process it comes from."""


def process(what: str, arguments: list[str], runs: int) -> None:
    """Time the command line in its own process."""
    command = ["-c", "import sys; from oruk_leaderboard.cli import main; sys.exit(main())", *arguments]
    walls, cpus, peaks, codes = [], [], [], set()
    for _ in range(runs):
        launched = subprocess.run([sys.executable, "-c", LAUNCHER, *command], capture_output=True, check=True)
        wall, cpu, peak, code = json.loads(launched.stdout)
        walls.append(wall)
        cpus.append(cpu)
        peaks.append(peak)
        codes.add(code)
    report(what, walls, cpus, peak_mib=max(peaks), exit=sorted(codes))


def plain_loop(made: dict[str, np.ndarray], n_boot: int) -> dict[str, np.ndarray]:
    """The straightforward count-matrix bootstrap: one draw per replicate, whole matrices, float64."""
    cells = (made["speaker"] * K + made["gold"]) * K + made["predictions"][0]
    counts = np.bincount(cells, minlength=SPEAKERS * K * K).reshape(SPEAKERS, K * K).astype(np.float64)
    rng, weights = np.random.default_rng(0), np.empty((n_boot, SPEAKERS))
    for row in range(n_boot):
        weights[row] = np.bincount(rng.integers(0, SPEAKERS, size=SPEAKERS), minlength=SPEAKERS)
    drawn = (weights @ counts).reshape(n_boot, K, K)
    hits, sizes = np.einsum("bii->bi", drawn), drawn.sum(axis=2) + drawn.sum(axis=1)
    f1 = np.divide(2 * hits, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return {"macro_f1": f1.mean(axis=1), "accuracy": hits.sum(axis=1) / drawn.sum(axis=(1, 2))}


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the files; default: a temporary one")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--harness-boot", type=int, default=20, help="replicates of the harness; 0 leaves it out")
    parser.add_argument("--format", choices=("csv", "parquet"), default="csv")
    options = parser.parse_args()
    made = simulate()
    figures = {"macro_f1": metrics.macro_f1, "accuracy": metrics.accuracy}

    def ours(n_boot: int = 10_000) -> dict[str, Any]:
        counts = metrics.confusion(made["gold"], made["predictions"][0], K, groups=made["speaker"], n_groups=SPEAKERS)
        clustered = metrics.margins(counts)
        table = np.concatenate([clustered.tp, clustered.gold, clustered.predicted], axis=1)
        drawn = Margins(*np.split(Draws(Design.of_clusters(SPEAKERS), n_boot=n_boot).sums(table), 3, axis=1))
        return {name: percentile(figure(drawn)) for name, figure in figures.items()}

    def theirs() -> dict[str, Any]:
        return {name: np.percentile(values, [2.5, 97.5]) for name, values in plain_loop(made, 10_000).items()}

    intervals, expected = ours(), theirs()
    equal = all(tuple(intervals[name]) == tuple(expected[name]) for name in figures)
    mine = timed("macro-F1 and accuracy, 10,000 replicates, ours", ours, options.runs)
    loop = timed("the same, plain count-matrix loop", theirs, options.runs)
    print(json.dumps({"what": "ours / plain loop, CPU", "ratio": round(mine / loop, 3), "intervals_equal": equal}))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        gold, files = write_files(made, folder, options.format)
        against = ["--gold", str(gold)]
        process(f"score, process, {options.format}", ["score", str(files[0]), *against], options.runs)
        process(
            f"compare 30 systems, 435 pairs, 2,000 replicates, process, {options.format}",
            ["compare", *map(str, files), *against],
            options.runs,
        )
    if options.harness_boot:
        import oruk_bench.stats as harness

        one, other = made["predictions"][:2]
        more: dict[str, Any] = {"n_boot": options.harness_boot, "seed": 0}
        for what, action in (
            ("bootstrap_ci", lambda: harness.bootstrap_ci(made["gold"], one, made["speaker"], "macro_f1", **more)),
            (
                "paired_bootstrap_test",
                lambda: harness.paired_bootstrap_test(made["gold"], one, other, made["speaker"], "macro_f1", **more),
            ),
        ):
            cpu = timed(f"oruk-bench {what}, {options.harness_boot} replicates", action, 1)
            scaled = round(cpu * 2000 / options.harness_boot, 1)
            print(json.dumps({"what": f"oruk-bench {what}, scaled to 2,000 replicates", "cpu_s": scaled}), flush=True)
    print(json.dumps({"what": "peak of this process", "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}))


if __name__ == "__main__":
    main()
