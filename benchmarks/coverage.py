"""How often intervals, tests and rank sets hold: simulations with a known truth, for the tables in docs/intervals.md.

    python benchmarks/coverage.py intervals
    python benchmarks/coverage.py profiles
    python benchmarks/coverage.py tests
    python benchmarks/coverage.py ranks

Each command prints a Markdown table; ``--runs`` and ``--replicates`` make a quick look possible.

The clusters and systems are those of ``simulated.py``. Sizes: balanced, 40 clips per cluster; unbalanced,
round(exp(N(3.2, 1.2))), at least 3; corpora, sizes of the open profile's corpora drawn with replacement. The profiles
have the clips and speakers of the shipped manifest and are drawn exactly as ``score`` draws them.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from simulated import FIGURES, ProfileWorld, Sizes, World, balanced, corpora, figure, truth_of, unbalanced

from oruk_leaderboard import metrics
from oruk_leaderboard.errors import MetricError
from oruk_leaderboard.statistics import (
    Design,
    Draws,
    Support,
    bca,
    holm,
    percentile,
    rank_sets,
    support,
    t_interval,
    t_p,
)

TRUTH_CLUSTERS = 9000
"""Clusters that the truth of a setting is taken from."""

TRUTH_COPIES = 300
"""Times that a profile is drawn for its truth."""

DEFAULT = "logit t, G*−1"
"""The method that ``score`` uses unless told otherwise."""

METHODS = (
    "percentile",
    "BCa",
    "t, G−1",
    "t, G*−1",
    "logit t, G−1",
    "logit t, G*",
    DEFAULT,
    "jackknife logit t, G*−1",
)


@dataclass
class Both:
    """Plain and rescaled draws of one design, made once for all runs."""

    design: Design
    n_boot: int

    def __post_init__(self) -> None:
        self.plain = Draws(self.design, n_boot=self.n_boot)
        self.rescaled = Draws(self.design, n_boot=self.n_boot, rescaled=True)


def intervals(table: NDArray[np.float64], draws: Both) -> tuple[Support, dict[str, dict[str, tuple[float, float]]]]:
    """Interval of each figure by each method, from the counts of each unit, shape (u, 21)."""
    design, total = draws.design, table.sum(axis=0)
    base = support(design, table[:, 7:14].sum(axis=1))
    strata = int((design.counts > 1).sum())
    by_number = Support(base.clusters, base.effective, len(design.stratum) - strata)
    one_more = Support(base.clusters, base.effective, base.df + 1)
    plain, rescaled, left_out = draws.plain.sums(table), draws.rescaled.sums(table), total - table
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name, metric in FIGURES.items():
        point, values = float(figure(total, metric)), figure(plain, metric)
        jackknife = figure(left_out, metric)
        units = design.counts[design.stratum]
        means = np.bincount(design.stratum, weights=jackknife) / design.counts
        jackknife_error = float(np.sqrt(((units - 1) / units * (jackknife - means[design.stratum]) ** 2).sum()))
        error = float(figure(rescaled, metric).std(ddof=1))
        low, high = percentile(values)
        ends = {"percentile": (float(low), float(high))}
        try:
            ends["BCa"] = bca(point, values, jackknife)
        except MetricError:  # outside all replicates: BCa has no value, and --interval bca says so
            ends["BCa"] = ends["percentile"]
        ends["t, G−1"] = t_interval(point, error, by_number, logit=False)
        ends["t, G*−1"] = t_interval(point, error, base, logit=False)
        ends["logit t, G−1"] = t_interval(point, error, by_number)
        ends["logit t, G*"] = t_interval(point, error, one_more)
        ends[DEFAULT] = t_interval(point, error, base)
        ends["jackknife logit t, G*−1"] = t_interval(point, jackknife_error, base)
        found[name] = ends
    return base, found


def target(setting: str, g: int, effective: float, truth: float) -> float | None:
    """Coverage that the default has to reach, or None where none is asked for."""
    if effective >= 9.99:
        return 0.90 if truth < 0.15 or truth > 0.9 else 0.93
    return 0.90 if setting == "balanced" and g == 5 else None


def covered(
    setting: str, g: int, draws: Both, truth: dict[str, float], sample: Callable[[], NDArray[np.float64]], runs: int
) -> Iterator[list[str]]:
    """Rows of the table of one setting; ``sample`` draws the counts of every unit again."""
    hits = {(name, method): 0 for name in FIGURES for method in METHODS}
    width = dict.fromkeys(FIGURES, 0.0)
    effective = []
    for _ in range(runs):
        base, found = intervals(sample(), draws)
        effective.append(base.effective)
        for name, ends in found.items():
            width[name] += ends[DEFAULT][1] - ends[DEFAULT][0]
            for method, (low, high) in ends.items():
                hits[name, method] += low <= truth[name] <= high
    star = float(np.median(effective))
    for name in FIGURES:
        wanted = target(setting, g, star, truth[name])
        shares = {method: hits[name, method] / runs for method in METHODS}
        missed = wanted is not None and shares[DEFAULT] < wanted
        yield [
            setting,
            str(g),
            f"{star:.1f}",
            name,
            f"{truth[name]:.2f}",
            "" if wanted is None else f"{wanted:.2f}",
            *(f"{shares[method]:.3f}" + (" missed" if missed and method == DEFAULT else "") for method in METHODS),
            f"{width[name] / runs:.3f}",
        ]


SETTINGS: dict[str, tuple[Sizes, float, float, tuple[int, ...]]] = {
    "balanced": (balanced, 0.6, 0.0, (5, 10, 30)),
    "unbalanced": (unbalanced, 0.6, 0.0, (5, 10, 30)),
    "unbalanced, near 0.95": (unbalanced, 1.0, 3.0, (5, 10, 30)),
    "unbalanced, near 0.1": (unbalanced, 0.8, -3.0, (5, 10, 30)),
    "corpora": (corpora, 0.8, 0.0, (10, 28, 42)),
}
"""Setting to sizes, standard deviation of the clusters, shift of all log-odds, and numbers of clusters."""

COVERAGE = ("setting", "G", "median G*", "figure", "truth", "target", *METHODS, "mean width")


def of_settings(runs: int, n_boot: int) -> Iterator[list[str]]:
    """Coverage where clusters are drawn from one population."""
    for setting, (sizes, sd, shift, numbers) in SETTINGS.items():
        for g in numbers:
            world, draws = World(g, sd=sd, shift=shift), Both(Design.of_clusters(g), n_boot)
            truth = truth_of(world.clusters(sizes, TRUTH_CLUSTERS))
            yield from covered(setting, g, draws, truth, partial(world.clusters, sizes, g), runs)


def of_profiles(runs: int, n_boot: int) -> Iterator[list[str]]:
    """Both questions on the clips of both profiles.

    "Hidden speaker": the clips of each corpus without two known speakers are all of one speaker, who is another one in
    every run. No interval can know that; the rows show how far the lower bound is from the truth there.
    """
    for name in ("open", "full"):
        clips = ProfileWorld(name)
        for kind in ("other speakers", "hidden speaker", "other corpora"):
            truth = truth_of(sum(clips.units(kind) for _ in range(TRUTH_COPIES)))
            if kind == "other corpora":
                g, draws, sample = clips.corpora, Both(Design.of_clusters(clips.corpora), n_boot), clips.by_corpus
            else:
                g, draws, sample = int((~clips.design.loose).sum()), Both(clips.design, n_boot), clips.units
            yield from covered(f"{name} profile, {kind}", g, draws, truth, partial(sample, kind), runs)


def replicates(draws: Draws, tables: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Macro-F1 of several systems in every replicate of the same draws, shape (s, b)."""
    sums = draws.sums(np.concatenate(tables, axis=1))
    return np.stack([figure(part, metrics.macro_f1) for part in np.split(sums, len(tables), axis=1)])


def harness_p(differences: NDArray[np.float64]) -> float:
    """Two-sided p-value of the public harness (protocol 0.1.0) from plain replicates of a difference, shape (b,)."""
    fewer = min((differences <= 0).sum(), (differences >= 0).sum())
    return float(min(2 * (fewer + 1) / (len(differences) + 1), 1.0))


TESTS = ("setting", "G", "median G*", "target", "percentile p", "t, G−1", "t, G*−1", "Holm, 8 systems: t, G*−1")


def of_tests(runs: int, n_boot: int) -> Iterator[list[str]]:
    """Type I error at 5 % of the paired tests of macro-F1: two equal systems, and any pair of eight after Holm.

    The systems share the clusters' effects; each has own ones, N(0, 0.3), on top.
    """
    pairs = list(zip(*np.triu_indices(8, 1), strict=True))
    for name, sizes, sd, numbers in (
        ("balanced", balanced, 0.6, (5, 10, 30)),
        ("unbalanced", unbalanced, 0.6, (5, 10, 30)),
        ("corpora", corpora, 0.8, (10, 28, 42)),
    ):
        for g in numbers:
            world, draws = World(100 + g, sd=sd), Both(Design.of_clusters(g), n_boot)
            wrong = dict.fromkeys(TESTS[4:], 0)
            effective = []
            for _ in range(runs):
                gold, shared = world.gold(sizes(world.rng, g)), world.effects(g)
                tables = [world.answers(gold, shared + world.rng.normal(0, 0.3, g)) for _ in range(8)]
                base = support(draws.design, gold.sum(axis=1).astype(np.float64))
                effective.append(base.effective)
                points = [float(figure(table.sum(axis=0), metrics.macro_f1)) for table in tables]
                drawn = replicates(draws.rescaled, tables)
                plain = replicates(draws.plain, tables[:2])
                gaps = [points[one] - points[other] for one, other in pairs]
                errors = [float((drawn[one] - drawn[other]).std(ddof=1)) for one, other in pairs]
                p = [t_p(gap, error, base.df) for gap, error in zip(gaps, errors, strict=True)]
                wrong["percentile p"] += bool(harness_p(plain[0] - plain[1]) < 0.05)
                wrong["t, G−1"] += t_p(gaps[0], errors[0], g - 1) < 0.05
                wrong["t, G*−1"] += p[0] < 0.05
                wrong["Holm, 8 systems: t, G*−1"] += bool((holm(p) < 0.05).any())
            star = float(np.median(effective))
            wanted = None if star < 9.99 else 0.06 if name == "balanced" else 0.08
            shares = {method: count / runs for method, count in wrong.items()}
            yield [
                name,
                str(g),
                f"{star:.1f}",
                "" if wanted is None else f"{wanted:.2f}",
                *(
                    f"{share:.3f}" + (" missed" if method.endswith("G*−1") and wanted and share > wanted else "")
                    for method, share in shares.items()
                ),
            ]


RANKS = ("setting", "gap of neighbours", "all ranks covered", "the best may be first", "mean width of 20")


def of_ranks(runs: int, n_boot: int) -> Iterator[list[str]]:
    """Joint coverage of the rank sets of 20 systems ranked by accuracy on about 5,000 clips; gap 0 is a tie of all."""
    for name, g, sizes in (
        ("5,000 independent clips", 100, lambda rng, g: np.full(g, 5000 // g)),
        ("30 speakers", 30, lambda rng, g: np.full(g, 5000 // g)),
        ("100 speakers", 100, lambda rng, g: np.full(g, 5000 // g)),
        ("100 speakers, unbalanced", 100, unbalanced),
    ):
        draws = Draws(Design.of_clusters(g), n_boot=n_boot, rescaled=True)
        for gap in (0.0, 0.0002, 0.001, 0.004, 0.01):
            rng = np.random.default_rng(5)
            chance = 0.6 - gap * np.arange(20)
            best = np.array([1 + int((chance > value + 1e-12).sum()) for value in chance])
            last = np.array([int((chance >= value - 1e-12).sum()) for value in chance])
            held, first, width = 0, 0, 0.0
            for _ in range(runs):
                clips = sizes(rng, g)
                if name.endswith("clips"):
                    hits = _independent(rng, chance, clips)
                else:
                    # The difficulty of a speaker is shared by all systems; each system adds an own part.
                    logit = np.log(chance / (1 - chance)) + rng.normal(0, 0.5, (g, 1)) + rng.normal(0, 0.25, (g, 20))
                    hits = rng.binomial(clips[:, None], 1 / (1 + np.exp(-logit))).astype(np.float64)
                table = np.concatenate([hits, clips[:, None]], axis=1).astype(np.float64)
                total, sums = table.sum(axis=0), draws.sums(table)
                df = support(draws.design, table[:, -1]).df
                sets = rank_sets(total[:-1] / total[-1], (sums[:, :-1] / sums[:, -1:]).T, df=df)
                # Among equals every order is true, so a set has to hold all ranks of its tie.
                held += bool(((sets.best <= best) & (sets.worst >= last)).all())
                first += bool(sets.first[best == 1].all())
                width += float((sets.worst - sets.best + 1).mean())
            share = held / runs
            mark = " missed" if share < 0.94 else ""
            yield [name, f"{gap:g}", f"{share:.3f}{mark}", f"{first / runs:.3f}", f"{width / runs:.1f}"]


def _independent(
    rng: np.random.Generator, chance: NDArray[np.float64], clips: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Hits by block where clips are independent and the systems' answers to a clip correlate by 0.5 (normal copula)."""
    n = int(clips.sum())
    latent = np.sqrt(0.5) * (
        rng.standard_normal((n, 1), np.float32) + rng.standard_normal((n, len(chance)), np.float32)
    )
    right = latent < [NormalDist().inv_cdf(value) for value in chance.tolist()]
    block = np.repeat(np.arange(len(clips)), clips)
    return np.stack([np.bincount(block, weights=column, minlength=len(clips)) for column in right.T], axis=1)


COMMANDS: dict[str, tuple[Callable[[int, int], Iterator[list[str]]], tuple[str, ...], int]] = {
    "intervals": (of_settings, COVERAGE, 2000),
    "profiles": (of_profiles, COVERAGE, 2000),
    "tests": (of_tests, TESTS, 2000),
    "ranks": (of_ranks, RANKS, 1000),
}
"""Command to the rows of its table, the table's header, and the number of runs."""


def main() -> None:
    """Print the table of one command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(COMMANDS))
    parser.add_argument("--runs", type=int, help="runs of every setting")
    parser.add_argument("--replicates", type=int, default=1000, help="bootstrap replicates of every run (1000)")
    options = parser.parse_args()
    rows, header, runs = COMMANDS[options.what]
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
    for row in rows(options.runs or runs, options.replicates):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
