"""The op table: one row per operation — arity, text, numeric meaning, derivative, how it is counted.

Everything that has to know an operation (graph, passes, program text, interpreter, backends) reads this table.
A derivative is written once, over any scalars with operators: `partials(args, result)` gives the partial
derivative with respect to each argument, `None` standing for zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if abs(x) > 0.0 else x  # 0 and nan stay what they are


def _minimum(x: float, y: float) -> float:
    return y if y < x else x


def _maximum(x: float, y: float) -> float:
    return y if x < y else x


def _divide(x: float, y: float) -> float:
    """x / y with IEEE results at a zero denominator."""
    if y:
        return x / y
    return math.nan if not x or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _power(x: float, y: float) -> float:
    """x to the power y with IEEE results at poles and beyond the largest number, where Python's math module raises."""
    try:
        return math.pow(x, y)
    except ValueError:
        size = math.inf if x == 0.0 else math.nan
    except OverflowError:
        size = math.inf
    return math.copysign(size, x) if math.fmod(y, 2.0) in (-1.0, 1.0) else size


def _guard(function: Callable[..., float]) -> Callable[..., float]:
    """`function` with IEEE nan or inf where Python's math module raises."""

    def ieee(*args: float) -> float:
        try:
            return function(*args)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if function is math.log and args[0] == 0 else math.nan

    return ieee


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: how many arguments, how it is written, what it computes, how it is differentiated and counted."""

    name: str
    arity: int
    value: Callable[..., float]
    partials: Callable[[tuple[Any, ...], Any], tuple[Any, ...]]
    infix: str = ""  # written between the arguments; empty for a call name(x, y)
    kind: str = "other"  # column of the operation count
    commutes: bool = False


def _no_slope(args: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    return (None,) * len(args)


TABLE: dict[str, Op] = {
    op.name: op
    for op in (
        Op("add", 2, lambda x, y: x + y, lambda a, r: (1.0, 1.0), "+", "add", True),
        Op("sub", 2, lambda x, y: x - y, lambda a, r: (1.0, -1.0), "-", "add"),
        Op("mul", 2, lambda x, y: x * y, lambda a, r: (a[1], a[0]), "*", "mul", True),
        Op("div", 2, _divide, lambda a, r: (1.0 / a[1], -(r / a[1])), "/", "div"),
        # x ** y, y a constant; its slope is one power less, not a product of others that may be infinite at 0
        Op("pow", 2, _power, lambda a, r: (a[1] * a[0] ** (a[1].number - 1.0), None), "**", "other"),
        Op("neg", 1, lambda x: -x, lambda a, r: (-1.0,), "", "neg"),
        Op("sqrt", 1, _guard(math.sqrt), lambda a, r: (0.5 / r,), "", "sqrt"),
        Op("sin", 1, _guard(math.sin), lambda a, r: (a[0].cos(),), "", "trig"),
        Op("cos", 1, _guard(math.cos), lambda a, r: (-a[0].sin(),), "", "trig"),
        Op("tan", 1, _guard(math.tan), lambda a, r: (1.0 + r * r,), "", "trig"),
        Op("asin", 1, _guard(math.asin), lambda a, r: (1.0 / (1.0 - a[0] * a[0]).sqrt(),), "", "trig"),
        Op("acos", 1, _guard(math.acos), lambda a, r: (-1.0 / (1.0 - a[0] * a[0]).sqrt(),), "", "trig"),
        Op(
            "atan2",
            2,
            math.atan2,
            lambda a, r: (a[1] / (a[0] * a[0] + a[1] * a[1]), -a[0] / (a[0] * a[0] + a[1] * a[1])),
            "",
            "trig",
        ),
        Op("exp", 1, _guard(math.exp), lambda a, r: (r,), "", "other"),
        Op("log", 1, _guard(math.log), lambda a, r: (1.0 / a[0],), "", "other"),
        Op("abs", 1, lambda x: abs(x), lambda a, r: (a[0].sign(),), "", "other"),
        Op("sign", 1, _sign, _no_slope, "", "other"),
        Op(
            "min",
            2,
            _minimum,
            lambda a, r: (a[1].less(a[0]).select(0.0, 1.0), a[1].less(a[0])),
            "",
            "other",
        ),
        Op(
            "max",
            2,
            _maximum,
            lambda a, r: (a[0].less(a[1]).select(0.0, 1.0), a[0].less(a[1])),
            "",
            "other",
        ),
        Op("less", 2, lambda x, y: 1.0 if x < y else 0.0, _no_slope, "<", "other"),
        Op("less_equal", 2, lambda x, y: 1.0 if x <= y else 0.0, _no_slope, "<=", "other"),
        Op("equal", 2, lambda x, y: 1.0 if x == y else 0.0, _no_slope, "==", "other", True),
        # select(c, x, y) is x where c is not zero, else y
        Op(
            "select",
            3,
            lambda c, x, y: x if c else y,
            lambda a, r: (None, a[0].select(1.0, 0.0), a[0].select(0.0, 1.0)),
            "",
            "other",
        ),
    )
}

COUNTED: tuple[str, ...] = ("mul", "add", "div", "sqrt", "trig", "neg", "other")
"""Columns of an operation count; subtractions are additions, a sign change is `neg`."""
