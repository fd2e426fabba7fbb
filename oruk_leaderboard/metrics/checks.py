"""Checks of the arrays that metrics take; each refuses with what was expected and what was found."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oruk_leaderboard.errors import MetricError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def first(mask: NDArray[np.bool_]) -> str:
    """Position of the first true value, for a message: ``row 3`` or ``row 3, column 1``."""
    where = np.argwhere(mask)[0]
    return ", ".join(f"{name} {index}" for name, index in zip(("row", "column"), where, strict=False))


def indices(values: ArrayLike, *, below: int, what: str) -> Ints:
    """One index a clip, shape (n,), each in ``0 … below - 1``.

    Raises:
        MetricError: Floats, booleans, NaN, another shape, no clip at all, or a value out of range.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise MetricError(
            "not one value a clip", where=what, expected="shape (n,), n > 0", found=f"shape {array.shape}"
        )
    if not np.issubdtype(array.dtype, np.integer):
        raise MetricError("not integers", where=what, expected="class indices", found=f"dtype {array.dtype}")
    outside = (array < 0) | (array >= below)
    if outside.any():
        raise MetricError(
            "index out of range",
            where=f"{what}, {first(outside)}",
            expected=f"0 to {below - 1}",
            found=int(array[outside][0]),
        )
    return array.astype(np.int64, copy=False)


def reals(values: ArrayLike, *, what: str, ndim: int = 1) -> Floats:
    """Finite numbers with ``ndim`` dimensions and at least one row.

    Raises:
        MetricError: NaN, infinity, booleans, no numbers, another number of dimensions, or nothing.
    """
    array = np.asarray(values)
    if array.ndim != ndim or array.size == 0:
        shape = "(n,)" if ndim == 1 else "(n, k)"
        raise MetricError("wrong shape", where=what, expected=f"{shape}, n > 0", found=f"shape {array.shape}")
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise MetricError("not numbers", where=what, expected="real numbers", found=f"dtype {array.dtype}")
    array = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(array)
    if bad.any():
        raise MetricError("not a finite number", where=f"{what}, {first(bad)}", found=float(array[bad][0]))
    return array


def same_shape(one: NDArray[np.generic], other: NDArray[np.generic], *, what: str) -> None:
    """Refuse arrays of different shapes.

    Raises:
        MetricError: The shapes differ.
    """
    if one.shape != other.shape:
        raise MetricError("shapes differ", where=what, expected=f"shape {one.shape}", found=f"shape {other.shape}")


def distributions(values: ArrayLike, *, what: str, tolerance: float | None = None) -> Floats:
    """Rows of non-negative mass, scaled to sum 1.

    Args:
        values: Shape (n, k).
        what: Name of the array for messages.
        tolerance: How far the sum of a row may be from 1; None takes any positive mass (votes of raters).

    Raises:
        MetricError: NaN, negative values, a row without mass, or a row that sums to something else than 1.
    """
    array = reals(values, what=what, ndim=2)
    negative = array < 0
    if negative.any():
        raise MetricError(
            "negative value", where=f"{what}, {first(negative)}", expected="0 or more", found=float(array[negative][0])
        )
    totals = array.sum(axis=1)
    off = totals <= 0 if tolerance is None else np.abs(totals - 1) > tolerance
    if off.any():
        expected = "positive mass" if tolerance is None else f"a sum of 1 (within {tolerance:g})"
        raise MetricError(
            "row is not a distribution", where=f"{what}, {first(off)}", expected=expected, found=totals[off][0]
        )
    scaled: Floats = array / totals[:, None]
    return scaled


def divide(top: ArrayLike, bottom: ArrayLike) -> Floats:
    """``top / bottom`` with 0 where ``bottom`` is 0, the zero division of every metric here; a scalar for scalars."""
    top, bottom = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    quotient: Floats = np.divide(top, bottom, out=np.zeros(shape), where=bottom != 0)[()]
    return quotient
