"""Student's t distribution for any positive degrees of freedom, without SciPy.

The core package does not depend on SciPy; the tests compare these functions with it.
"""

import math
from functools import cache

_STEPS = 300
"""Terms of the continued fraction at most; it converges in far fewer."""


def t_sf(t: float, df: float) -> float:
    """Upper tail ``P(T > t)``, range 0 to 1.

    Args:
        t: Any real number.
        df: Degrees of freedom, above 0; infinity gives the normal distribution.

    Reference: Abramowitz & Stegun (1964), "Handbook of mathematical functions", 26.7.1, by the incomplete beta
    function.

    Example:
        >>> round(t_sf(2.0, 10), 6)
        0.036694
    """
    if math.isinf(df):
        return math.erfc(t / math.sqrt(2)) / 2
    tail = _beta(df / 2, 0.5, df / (df + t * t)) / 2
    return tail if t >= 0 else 1 - tail


@cache
def t_quantile(probability: float, df: float) -> float:
    """The ``t`` with ``P(T <= t) = probability``.

    Args:
        probability: Strictly between 0 and 1.
        df: Degrees of freedom, above 0; infinity gives the normal distribution.

    Example:
        >>> round(t_quantile(0.975, 9), 4)
        2.2622
    """
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    low, high = 0.0, 1.0
    while t_sf(high, df) > 1 - probability:
        low, high = high, 2 * high
    t = (low + high) / 2
    for _ in range(_STEPS):
        excess = t_sf(t, df) - (1 - probability)
        low, high = (t, high) if excess > 0 else (low, t)
        # Newton's step where it stays inside the bracket, else bisection.
        step = t + excess / _density(t, df)
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 1e-14 * max(1.0, t):
            return following
        t = following
    return t


def _density(t: float, df: float) -> float:
    if math.isinf(df):
        return math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    log = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return math.exp(log - (df + 1) / 2 * math.log1p(t * t / df))


def _beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function ``I_x(a, b)``."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _fraction(b, a, 1 - x) / b
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function by Lentz's method (Abramowitz & Stegun 26.5.8)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
