"""Every metric that a record states or a protocol can ask for: the one place where a metric is declared.

Scoring, comparisons, reports, protocol files, the record's schema and the table in docs/scoring.md all read it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from oruk_leaderboard.metrics import classification, dimensional, multilabel, probabilistic, softlabel

Kind: TypeAlias = Literal["classes", "labels", "dimensions", "scores", "chosen", "votes", "thresholded"]
"""What a metric is computed from, see :class:`Metric`."""

INFINITY = float("inf")

SOKOLOVA = "10.1016/j.ipm.2009.03.002"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric.

    Attributes:
        key: Name in records, protocol files and on the command line.
        title: Name in reports and figures.
        function: What computes it. The arguments depend on ``kind``.
        kind: Arguments and result of ``function``, n clips and k classes:

            * ``classes``: margins of a confusion matrix, vectorised over leading axes; the figure.
            * ``labels``: two boolean matrices, shape (n, k); the figure, or one value per label, which are averaged.
            * ``dimensions``: two vectors, shape (n,); the figure.
            * ``scores``: class indices, shape (n,), and class scores, shape (n, k); one value per clip.
            * ``chosen``: votes of listeners, shape (n, k), and predicted class indices; one value per clip.
            * ``votes``: votes and class scores; one value per clip.
            * ``thresholded``: votes and class scores; margins of each clip, the macro-F1 of their sum is the figure.

        low: Smallest value.
        high: Largest value.
        lowest_clip: Smallest value of a single clip, where it is below ``low``.
        higher_is_better: Direction.
        recorded: Whether every record has it among its ``figures``; only for ``classes``.
        ranks: Whether systems can be ranked by it; only for ``classes``.
        doi: Where it is defined, or None.
    """

    key: str
    title: str
    function: Callable[..., Any]
    kind: Kind = "classes"
    low: float = 0.0
    high: float = 1.0
    lowest_clip: float | None = None
    higher_is_better: bool = True
    recorded: bool = False
    ranks: bool = False
    doi: str | None = None

    @property
    def summary(self) -> str:
        """First sentence of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


_METRICS = (
    Metric(
        key="accuracy",
        title="accuracy",
        function=classification.accuracy,
        recorded=True,
        ranks=True,
        doi=SOKOLOVA,
    ),
    Metric(
        key="macro_f1",
        title="macro-F1",
        function=classification.macro_f1,
        recorded=True,
        ranks=True,
        doi=SOKOLOVA,
    ),
    Metric(
        key="uar",
        title="UAR",
        function=classification.uar,
        recorded=True,
        ranks=True,
        doi="10.21437/Interspeech.2009-103",
    ),
    Metric(
        key="weighted_f1",
        title="weighted F1",
        function=classification.weighted_f1,
        recorded=True,
        doi=SOKOLOVA,
    ),
    Metric(key="micro_f1", title="micro-F1", function=classification.micro_f1, recorded=True, doi=SOKOLOVA),
    Metric(
        key="mcc",
        title="MCC",
        function=classification.mcc,
        low=-1.0,
        recorded=True,
        doi="10.1016/j.compbiolchem.2004.09.006",
    ),
    Metric(
        key="kappa",
        title="Cohen's kappa",
        function=classification.cohen_kappa,
        low=-1.0,
        recorded=True,
        doi="10.1177/001316446002000104",
    ),
    Metric(key="macro_precision", title="macro precision", function=classification.macro_precision, doi=SOKOLOVA),
    Metric(key="macro_recall", title="macro recall", function=classification.macro_recall, doi=SOKOLOVA),
    Metric(
        key="jaccard_accuracy",
        title="Jaccard accuracy",
        function=multilabel.jaccard_accuracy,
        kind="labels",
        doi="10.18653/v1/S18-1001",
    ),
    Metric(key="label_macro_f1", title="macro-F1 of labels", function=multilabel.label_macro_f1, kind="labels"),
    Metric(key="label_micro_f1", title="micro-F1 of labels", function=multilabel.label_micro_f1, kind="labels"),
    Metric(
        key="label_weighted_f1", title="weighted F1 of labels", function=multilabel.label_weighted_f1, kind="labels"
    ),
    Metric(
        key="mean_balanced_accuracy",
        title="mean balanced accuracy",
        function=multilabel.balanced_binary_accuracy,
        kind="labels",
        doi="10.18653/v1/P17-1142",
    ),
    Metric(key="mean_label_accuracy", title="mean label accuracy", function=multilabel.label_accuracy, kind="labels"),
    Metric(key="ccc", title="CCC", function=dimensional.ccc, kind="dimensions", low=-1.0, doi="10.2307/2532051"),
    Metric(key="pearson", title="Pearson's r", function=dimensional.pearson, kind="dimensions", low=-1.0),
    Metric(
        key="mae",
        title="MAE (rating units)",
        function=dimensional.mae,
        kind="dimensions",
        high=INFINITY,
        higher_is_better=False,
    ),
    Metric(
        key="mse",
        title="MSE (squared rating units)",
        function=dimensional.mse,
        kind="dimensions",
        high=INFINITY,
        higher_is_better=False,
    ),
    Metric(key="top2", title="top-2 accuracy", function=probabilistic.in_top_k, kind="scores"),
    Metric(
        key="log_loss",
        title="log loss (nats)",
        function=probabilistic.log_losses,
        kind="scores",
        high=INFINITY,
        higher_is_better=False,
    ),
    Metric(
        key="brier",
        title="Brier",
        function=probabilistic.brier_scores,
        kind="scores",
        high=2.0,
        higher_is_better=False,
        doi="10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    ),
    Metric(
        key="ece",
        title="ECE",
        function=probabilistic.calibration_gaps,
        kind="scores",
        lowest_clip=-1.0,
        higher_is_better=False,
        doi="10.48550/arXiv.1706.04599",
    ),
    Metric(key="soft_accuracy", title="soft accuracy", function=softlabel.soft_accuracies, kind="chosen"),
    Metric(
        key="cross_entropy",
        title="cross-entropy (nats)",
        function=softlabel.cross_entropies,
        kind="votes",
        high=INFINITY,
        higher_is_better=False,
    ),
    Metric(
        key="kl",
        title="KL divergence (nats)",
        function=softlabel.kl_divergences,
        kind="votes",
        high=INFINITY,
        higher_is_better=False,
    ),
    Metric(
        key="js",
        title="JS divergence (bits)",
        function=softlabel.js_divergences,
        kind="votes",
        higher_is_better=False,
        doi="10.1109/18.61115",
    ),
    Metric(key="cosine", title="cosine similarity", function=softlabel.cosine_similarities, kind="votes"),
    Metric(
        key="thresholded_macro_f1",
        title="macro-F1 of the classes above 1/k",
        function=softlabel.thresholded,
        kind="thresholded",
        doi="10.48550/arXiv.2402.13018",
    ),
)

REGISTRY: Mapping[str, Metric] = {metric.key: metric for metric in _METRICS}
"""Key to metric, in the order in which records and reports list them."""


def of_kind(*kinds: Kind) -> dict[str, Metric]:
    """Metrics of some kinds by key, in the order of the registry.

    Example:
        >>> list(of_kind("dimensions"))
        ['ccc', 'pearson', 'mae', 'mse']
    """
    return {key: metric for key, metric in REGISTRY.items() if metric.kind in kinds}


def recorded() -> dict[str, Metric]:
    """Metrics that every record has among its figures.

    Example:
        >>> recorded()["mcc"].low
        -1.0
    """
    return {key: metric for key, metric in REGISTRY.items() if metric.recorded}


def ranking() -> dict[str, Metric]:
    """Metrics that systems can be ranked by.

    Example:
        >>> list(ranking())
        ['accuracy', 'macro_f1', 'uar']
    """
    return {key: metric for key, metric in REGISTRY.items() if metric.ranks}
