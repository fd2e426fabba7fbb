"""How often the intervals, tests and rank sets hold: simulation of clustered results with a known truth.

    python benchmarks/coverage.py intervals [--runs 2000] [--replicates 1000]
    python benchmarks/coverage.py tests
    python benchmarks/coverage.py ranks

Model: seven classes with the priors below; the chance of a right answer in a class is logistic(mu of the class + shift
+ effect of the cluster N(0, sd) + N(0, 0.3)); the class shares of a cluster are Dirichlet(15 · priors); half of the
wrong answers are "neutral", the rest is spread evenly. Sizes: balanced 40 clips per cluster; unbalanced
round(exp(N(3.2, 1.2))), at least 3; corpora: sizes of the open profile's corpora, drawn with replacement. The profiles
have the real numbers of clips and speakers; their corpus effects stay, their speakers are drawn anew in every run.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from oruk_leaderboard import metrics
from oruk_leaderboard.metrics import Margins
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
    two_sided_p,
)

PRIORS = np.array([0.17, 0.15, 0.17, 0.10, 0.10, 0.06, 0.25])
MU = np.array([0.9, 0.6, 0.8, 0.1, 0.0, -0.2, 1.0])
NEUTRAL = 6
TRUTH_CLUSTERS = 9000
MANIFEST = Path(__file__).parents[1] / "data" / "manifest.parquet"


class World:
    """Draws clusters and what a system (or several) answers on their clips."""

    def __init__(self, seed: int, *, sd: float, shift: float = 0.0) -> None:
        self.rng, self.sd, self.shift = np.random.default_rng(seed), sd, shift

    def gold(self, sizes: np.ndarray) -> np.ndarray:
        """Clips by class of each cluster, shape (g, 7)."""
        return self.rng.multinomial(sizes, self.rng.dirichlet(15 * PRIORS, size=len(sizes)))

    def answers(self, gold: np.ndarray, effect: np.ndarray, shift: float = 0.0) -> Margins:
        """Margins by cluster; ``effect`` of each cluster, shape (g,)."""
        noise = self.rng.normal(0, 0.3, gold.shape)
        right = 1 / (1 + np.exp(-(MU + self.shift + shift + effect[:, None] + noise)))
        tp = self.rng.binomial(gold, right)
        predicted = tp.copy()
        for at in range(7):
            wrong = gold[:, at] - tp[:, at]
            neutral = self.rng.binomial(wrong, 0.5) if at != NEUTRAL else np.zeros_like(wrong)
            others = [other for other in range(7) if other not in (at, NEUTRAL)]
            predicted[:, others] += self.rng.multinomial(wrong - neutral, np.full(len(others), 1 / len(others)))
            predicted[:, NEUTRAL] += neutral
        return Margins(tp.astype(float), gold.astype(float), predicted.astype(float))

    def effects(self, n: int) -> np.ndarray:
        """Effect of each cluster, shape (n,)."""
        return self.rng.normal(0, self.sd, n)


def balanced(rng: np.random.Generator, g: int) -> np.ndarray:
    """Forty clips in every cluster."""
    del rng
    return np.full(g, 40)


def unbalanced(rng: np.random.Generator, g: int) -> np.ndarray:
    """Sizes that differ as much as those of speakers do."""
    return np.maximum(np.rint(np.exp(rng.normal(3.2, 1.2, g))), 3).astype(int)


def profile(name: str) -> list[tuple[int, list[int]]]:
    """Corpora of a profile: clips, and clips of each known speaker (empty where the clips are drawn)."""
    table = pq.read_table(MANIFEST, columns=["corpus", "speaker", "open"]).to_pandas()
    if name == "open":
        table = table[table["open"]]
    found = []
    for _, rows in table.groupby("corpus"):
        sizes = rows["speaker"].dropna().value_counts()
        sizes = sizes[sizes.index != ""]
        unknown = len(rows) - int(sizes.sum())
        speakers = [*sizes.tolist(), *([unknown] if unknown else [])] if len(sizes) > 1 else []
        found.append((len(rows), speakers))
    return found


def corpora(rng: np.random.Generator, g: int) -> np.ndarray:
    """Sizes of the open profile's corpora."""
    return rng.choice([clips for clips, _ in profile("open")], g)


def table_of(margins: Margins) -> np.ndarray:
    """Margins side by side, shape (g, 21)."""
    return np.concatenate([margins.tp, margins.gold, margins.predicted], axis=1)


def figure(sums: np.ndarray, metric: Callable[[Margins], np.ndarray]) -> np.ndarray:
    """A figure of margins side by side."""
    return metric(Margins(*np.split(sums, 3, axis=-1)))


def intervals(
    margins: Margins, design: Design, plain: Draws, rescaled: Draws, metric: Callable[[Margins], np.ndarray]
) -> dict[str, tuple[float, float]]:
    """Every method on one run; units of the design are clusters."""
    table = table_of(margins)
    point = float(figure(table.sum(axis=0), metric))
    found = {}
    base = support(design, margins.gold.sum(axis=1))
    few = Support(base.clusters, base.effective, base.clusters - len(design.counts))
    effective = Support(base.clusters, base.effective, base.df + 1)
    spread = figure(rescaled.sums(table), metric).std(ddof=1)
    values = figure(plain.sums(table), metric)
    jackknife = figure(table.sum(axis=0) - table, metric)
    found["percentile"] = tuple(map(float, percentile(values)))
    try:
        found["bca"] = bca(point, values, jackknife)
    except ValueError:
        found["bca"] = found["percentile"]
    within = np.bincount(design.stratum, weights=jackknife) / design.counts
    c = design.counts[design.stratum]
    error = float(np.sqrt(((c - 1) / c * (jackknife - within[design.stratum]) ** 2).sum()))
    found["jackknife, logit, df G*-1"] = t_interval(point, error, base)
    found["t, df G-1"] = t_interval(point, spread, few, logit=False)
    found["t, df G*-1"] = t_interval(point, spread, base, logit=False)
    found["logit-t, df G-1"] = t_interval(point, spread, few)
    found["logit-t, df G*"] = t_interval(point, spread, effective)
    found["logit-t, df G*-1"] = t_interval(point, spread, base)
    return found


SETTINGS: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], float, float, tuple[int, ...]]] = {
    "balanced": (balanced, 0.6, 0.0, (5, 10, 30)),
    "unbalanced": (unbalanced, 0.6, 0.0, (5, 10, 30)),
    "unbalanced, near 0.95": (unbalanced, 1.0, 3.0, (5, 10, 30)),
    "unbalanced, near 0.1": (unbalanced, 0.8, -3.0, (5, 10, 30)),
    "corpora": (corpora, 0.8, 0.0, (10, 28, 42)),
}

METRICS = {"macro-F1": metrics.macro_f1, "accuracy": metrics.accuracy}


def one_stratum(runs: int, n_boot: int) -> Iterator[tuple[str, int, str, str, float, float]]:
    """Coverage where clusters are drawn from one population."""
    for name, (sizes, sd, shift, counts) in SETTINGS.items():
        for g in counts:
            world = World(g, sd=sd, shift=shift)
            big = sizes(world.rng, TRUTH_CLUSTERS)
            everything = table_of(world.answers(world.gold(big), world.effects(TRUTH_CLUSTERS))).sum(axis=0)
            truth = {label: float(figure(everything, metric)) for label, metric in METRICS.items()}
            design = Design.of_clusters(g)
            plain, rescaled = Draws(design, n_boot=n_boot), Draws(design, n_boot=n_boot, rescaled=True)
            hits: dict[tuple[str, str], int] = {}
            stars = []
            for _ in range(runs):
                margins = world.answers(world.gold(sizes(world.rng, g)), world.effects(g))
                stars.append(support(design, margins.gold.sum(axis=1)).effective)
                for label, metric in METRICS.items():
                    for method, (low, high) in intervals(margins, design, plain, rescaled, metric).items():
                        hits[label, method] = hits.get((label, method), 0) + (low <= truth[label] <= high)
            for (label, method), count in hits.items():
                yield f"{name} (truth {truth[label]:.2f})", g, label, method, count / runs, float(np.median(stars))


def of_profiles(runs: int, n_boot: int) -> Iterator[tuple[str, int, str, str, float, float]]:
    """The question "same corpora, other speakers" on the real sizes of both profiles."""
    for name in ("open", "full"):
        layout = [speakers or [clips] for clips, speakers in profile(name)]
        drawn = [bool(speakers) for _, speakers in profile(name)]
        stratum = np.repeat(np.arange(len(layout)), list(map(len, layout)))
        sizes = np.concatenate([np.array(part) for part in layout])
        clips_drawn = ~np.array(drawn)[stratum]
        world = World(7, sd=0.6)
        corpus_effect = world.rng.normal(0, 0.8, len(layout))[stratum]
        # Truth: the same corpora with 200 times as many speakers each.
        many = np.repeat(np.arange(len(sizes)), 200)
        effect = np.where(clips_drawn[many], 0, world.effects(len(many))) + corpus_effect[many]
        everything = table_of(world.answers(world.gold(sizes[many]), effect)).sum(axis=0)
        truth = {label: float(figure(everything, metric)) for label, metric in METRICS.items()}
        hits: dict[tuple[str, str], int] = {}
        stars = []
        strata = np.unique(stratum[~clips_drawn], return_inverse=True)[1]
        speakers_only = Design(strata, np.zeros(len(strata), bool))
        draws = Draws(speakers_only, n_boot=n_boot), Draws(speakers_only, n_boot=n_boot, rescaled=True)
        for _ in range(runs):
            effect = np.where(clips_drawn, 0, world.effects(len(sizes))) + corpus_effect
            margins = world.answers(world.gold(sizes), effect)
            # The clips of clip-drawn corpora have a spread of their own that is small beside that of the speakers;
            # here they are taken as fixed, which can only make the coverage look worse.
            fixed = table_of(Margins(*(part[clips_drawn] for part in (margins.tp, margins.gold, margins.predicted))))
            moving = Margins(*(part[~clips_drawn] for part in (margins.tp, margins.gold, margins.predicted)))
            stars.append(support(speakers_only, moving.gold.sum(axis=1)).effective)
            for label, metric in METRICS.items():

                def shifted(m: Margins, metric=metric, fixed=fixed) -> np.ndarray:
                    tp, gold, predicted = np.split(fixed.sum(axis=0), 3)
                    return metric(Margins(m.tp + tp, m.gold + gold, m.predicted + predicted))

                for method, (low, high) in intervals(moving, speakers_only, *draws, shifted).items():
                    hits[label, method] = hits.get((label, method), 0) + (low <= truth[label] <= high)
        for (label, method), count in hits.items():
            yield (
                f"profile {name}, other speakers",
                len(moving.gold),
                label,
                method,
                count / runs,
                float(np.median(stars)),
            )


def paired(runs: int, n_boot: int) -> Iterator[tuple[str, int, str, float]]:
    """Type I error at 5 % of two equal systems, and of any pair of eight equal systems after Holm."""
    cases = {
        "balanced": (balanced, (5, 10, 30)),
        "unbalanced": (unbalanced, (5, 10, 30)),
        "corpora": (corpora, (28, 42)),
    }
    for name, (sizes, counts) in cases.items():
        for g in counts:
            world, design = World(100 + g, sd=0.6), Design.of_clusters(g)
            plain, rescaled = Draws(design, n_boot=n_boot), Draws(design, n_boot=n_boot, rescaled=True)
            wrong = dict.fromkeys(("percentile p", "t, df G*-1", "Holm over 8 systems, t"), 0)
            for _ in range(runs):
                gold, shared = world.gold(sizes(world.rng, g)), world.effects(g)
                own = [world.rng.normal(0, 0.3, g) for _ in range(8)]
                tables = [table_of(world.answers(gold, shared + effect)) for effect in own]
                df = support(design, gold.sum(axis=1)).df
                drawn = [figure(rescaled.sums(table), metrics.macro_f1) for table in tables]
                points = [float(figure(table.sum(axis=0), metrics.macro_f1)) for table in tables]
                first, second = np.triu_indices(8, 1)
                p = [
                    t_p(points[a] - points[b], float((drawn[a] - drawn[b]).std(ddof=1)), df)
                    for a, b in zip(first, second, strict=True)
                ]
                values = [figure(plain.sums(table), metrics.macro_f1) for table in tables[:2]]
                wrong["percentile p"] += bool(two_sided_p(values[0] - values[1]) < 0.05)
                wrong["t, df G*-1"] += p[0] < 0.05
                wrong["Holm over 8 systems, t"] += bool((holm(p) < 0.05).any())
            for method, count in wrong.items():
                yield name, g, method, count / runs


def ranked(runs: int, n_boot: int) -> Iterator[tuple[str, float, float, float, float]]:
    """Joint coverage of the rank sets of 20 systems; gap 0 is a tie of all."""
    for clusters in (30, 100):
        for gap in (0.0, 0.0002, 0.001, 0.004, 0.01):
            rng, design = np.random.default_rng(5), Design.of_clusters(clusters)
            draws = Draws(design, n_boot=n_boot, rescaled=True)
            n = 5000 // clusters
            chance = 0.6 - gap * np.arange(20)
            truth = np.array([1 + int((chance > value + 1e-12).sum()) for value in chance])
            df = support(design, np.full(clusters, float(n))).df
            held, first, width = 0, 0, 0.0
            for _ in range(runs):
                common = rng.normal(0, 0.5, (clusters, 1))
                own = rng.normal(0, 0.5, (clusters, 20)) * 0.5
                logit = np.log(chance / (1 - chance)) + common + own
                hits = rng.binomial(n, 1 / (1 + np.exp(-logit))).astype(float)
                figures, drawn = hits.mean(axis=0) / n, draws.sums(hits).T / (n * clusters)
                sets = rank_sets(figures, drawn, df=df)
                # Among equals any order is true: the set has to hold the best rank of the tie.
                last = np.array([int((chance >= value - 1e-12).sum()) for value in chance])
                held += bool(((sets.best <= truth) & (sets.worst >= last)).all())
                first += bool(sets.first[truth == 1].all())
                width += float((sets.worst - sets.best + 1).mean())
            yield f"{clusters} clusters", gap, held / runs, first / runs, width / runs


def main() -> None:
    """Run one of the three simulations and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("intervals", "tests", "ranks"))
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    if options.what == "intervals":
        print("setting\tG\tmedian G*\tfigure\tmethod\tcoverage")
        for source in (one_stratum, of_profiles):
            for name, g, label, method, share, star in source(options.runs, options.replicates):
                print(f"{name}\t{g}\t{star:.1f}\t{label}\t{method}\t{share:.3f}", flush=True)
    elif options.what == "tests":
        print("setting\tG\ttest\ttype I error")
        for name, g, method, share in paired(options.runs, options.replicates):
            print(f"{name}\t{g}\t{method}\t{share:.3f}", flush=True)
    else:
        print("setting\tgap\tall ranks covered\tbest may be first\tmean width")
        for name, gap, held, first, width in ranked(options.runs, options.replicates):
            print(f"{name}\t{gap}\t{held:.3f}\t{first:.3f}\t{width:.1f}", flush=True)


if __name__ == "__main__":
    main()
