"""Exact arithmetic among constants: pairs (n, d) of integers that stand for n/d, d > 0, not always in lowest terms.

Numbers of a model are decimals, so most denominators are powers of ten and to look for common divisors after every
operation, as `fractions` does, takes ten times as long and finds next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import gcd

Ratio = tuple[int, int]

_DIGITS = 1024  # bits of a denominator kept exactly


def ratio(number: float) -> Ratio:
    """The decimal number that `number` is written as."""
    return Decimal(repr(number)).as_integer_ratio()


def shorten_ratio(x: Ratio) -> Ratio | None:
    """x, in lowest terms where it has grown long; None where it is too long then: it starts again from its float."""
    n, d = x
    if d.bit_length() > _DIGITS // 2:
        common = gcd(n, d)
        n, d = n // common, d // common
    return (n, d) if d.bit_length() <= _DIGITS else None


def plus(x: Ratio, y: Ratio) -> Ratio:
    """x + y."""
    (a, b), (c, d) = x, y
    return (a + c, b) if b == d else (a * d + c * b, b * d)


def minus(x: Ratio, y: Ratio) -> Ratio:
    """x − y."""
    return plus(x, (-y[0], y[1]))


def times(x: Ratio, y: Ratio) -> Ratio:
    """x y."""
    return x[0] * y[0], x[1] * y[1]


def over(x: Ratio, y: Ratio) -> Ratio:
    """x / y, y not zero."""
    n, d = x[0] * y[1], x[1] * y[0]
    return (n, d) if d > 0 else (-n, -d)


RATIONAL: dict[str, Callable[..., Ratio]] = {
    "add": plus,
    "sub": minus,
    "mul": times,
    "div": over,
    "neg": lambda x: (-x[0], x[1]),
}
"""Operations that constants fold by in exact arithmetic."""
