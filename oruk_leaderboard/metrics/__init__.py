"""Metrics of the field as pure functions of arrays; every docstring gives formula, range, units and reference.

Classification metrics work on confusion counts, so that thousands of bootstrap replicates cost one call.

The rule for absent classes, the same everywhere: a figure is a mean over a stated set of classes, and a class of that
set that has no gold clips and no predictions counts 0. The headline macro-F1 is over all classes of the label space; a
slice is scored over :func:`present`, the classes that its gold labels have. A prediction that names no class of the
label space is wrong: it counts in the denominator of recall and accuracy and is not a false positive of any class.
"""

from oruk_leaderboard.metrics.agreement import krippendorff_alpha, majority_of_others
from oruk_leaderboard.metrics.classification import (
    Margins,
    PerClass,
    accuracy,
    cohen_kappa,
    confusion,
    macro_f1,
    macro_precision,
    macro_recall,
    margins,
    mcc,
    micro_f1,
    per_class,
    present,
    uar,
    weighted_f1,
)
from oruk_leaderboard.metrics.dimensional import ccc, mae, mse, pearson
from oruk_leaderboard.metrics.multilabel import (
    balanced_binary_accuracy,
    jaccard_accuracy,
    label_accuracy,
    label_f1,
    label_macro_f1,
    label_micro_f1,
    label_weighted_f1,
)
from oruk_leaderboard.metrics.probabilistic import (
    Reliability,
    brier_scores,
    calibration_gaps,
    ece,
    in_top_k,
    log_losses,
    reliability,
)
from oruk_leaderboard.metrics.registry import REGISTRY, Kind, Metric, of_kind, ranking, recorded
from oruk_leaderboard.metrics.softlabel import (
    cosine_similarities,
    cross_entropies,
    entropies,
    js_divergences,
    kl_divergences,
    soft_accuracies,
    thresholded,
)

__all__ = [
    "REGISTRY",
    "Kind",
    "Margins",
    "Metric",
    "PerClass",
    "Reliability",
    "accuracy",
    "balanced_binary_accuracy",
    "brier_scores",
    "calibration_gaps",
    "ccc",
    "cohen_kappa",
    "confusion",
    "cosine_similarities",
    "cross_entropies",
    "ece",
    "entropies",
    "in_top_k",
    "jaccard_accuracy",
    "js_divergences",
    "kl_divergences",
    "krippendorff_alpha",
    "label_accuracy",
    "label_f1",
    "label_macro_f1",
    "label_micro_f1",
    "label_weighted_f1",
    "log_losses",
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "mae",
    "majority_of_others",
    "margins",
    "mcc",
    "micro_f1",
    "mse",
    "of_kind",
    "pearson",
    "per_class",
    "present",
    "ranking",
    "recorded",
    "reliability",
    "soft_accuracies",
    "thresholded",
    "uar",
    "weighted_f1",
]
