"""Random scalar formulas as plain tuples, with a meaning in ordinary Python that shares nothing with the graph.

A tree is `("const", value)`, `("input", name)` or `(op, *trees)`. `meaning` evaluates it over floats or complex
numbers; `built` makes it an expression of a graph.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from kane.errors import ExpressionError
from kane.graph import Expr, Graph

NAMES = ("x", "y", "z")

SMOOTH_UNARY = ("neg", "sin", "cos", "tan", "exp", "sqrt", "log", "asin", "acos")
KINKED_UNARY = ("abs", "sign")
SMOOTH_BINARY = ("add", "sub", "mul", "div")
KINKED_BINARY = ("atan2", "min", "max", "less", "less_equal", "equal")
POLYNOMIAL = ("neg", "add", "sub", "mul")

ARITY = {
    **dict.fromkeys((*SMOOTH_UNARY, *KINKED_UNARY), 1),
    **dict.fromkeys((*SMOOTH_BINARY, *KINKED_BINARY), 2),
    "select": 3,
}
EVERY_OP = tuple(ARITY)
SMOOTH = (*SMOOTH_UNARY, *SMOOTH_BINARY)

CONSTANTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -0.3, 1e-3, 7.25)


def trees(ops: Sequence[str] = EVERY_OP, leaves: int = 12, names: Sequence[str] = NAMES) -> st.SearchStrategy[tuple]:
    """Formulas over `ops` with up to `leaves` leaves; few distinct leaves, so that parts often coincide."""
    leaf = st.one_of(
        st.sampled_from(names).map(lambda name: ("input", name)),
        st.sampled_from(CONSTANTS).map(lambda value: ("const", value)),
    )
    by_arity = {n: [op for op in ops if ARITY[op] == n] for n in (1, 2, 3)}

    def larger(inner: st.SearchStrategy[tuple]) -> st.SearchStrategy[tuple]:
        return st.one_of(
            *(st.tuples(st.sampled_from(names), *(inner,) * n) for n, names in by_arity.items() if names),
        )

    return st.recursive(leaf, larger, max_leaves=leaves)


def values(names: Sequence[str] = NAMES) -> st.SearchStrategy[dict[str, float]]:
    """A number of moderate size for each input, not on the kinks that whole numbers are."""
    number = st.floats(-1.75, 1.75, allow_nan=False).map(lambda v: v if abs(v) > 0.05 else 0.37 + v)
    return st.fixed_dictionaries(dict.fromkeys(names, number))


def built(tree: tuple, graph: Graph) -> Expr | None:
    """The tree as an expression of `graph`; None where constants alone have no finite value."""
    try:
        return _built(tree, graph)
    except ExpressionError:
        return None


def _built(tree: tuple, graph: Graph) -> Expr:
    op, *rest = tree
    if op == "const":
        return graph.const(rest[0])
    if op == "input":
        return graph.input(rest[0])
    return graph.expr(graph.build(op, *(_built(r, graph).id for r in rest)))


def meaning(tree: tuple, numbers: Mapping[str, Any]) -> Any:
    """The value of the tree in Python; raises ValueError where it has none, or none that rounding leaves in peace."""
    op, *rest = tree
    if op == "const":
        return rest[0]
    if op == "input":
        return numbers[rest[0]]
    try:
        result = _MEANING[op](*(meaning(r, numbers) for r in rest))
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError(op) from error
    if not cmath.isfinite(result) or abs(result) > _LARGE:
        raise ValueError(op)
    return result


_LARGE = 1e6  # beyond this, cancellation later on drowns what a test wants to see
_CLEAR = 1e-3  # distance from a kink, a pole or a branch point at which both sides of a comparison agree


def _away(distance: Any) -> None:
    if abs(distance) < _CLEAR:
        raise ValueError("too near to a kink")


def _real(x: Any) -> float:
    return x.real if isinstance(x, complex) else x


def _domain(x: Any, low: float, high: float) -> Any:
    if not low + _CLEAR < _real(x) < high - _CLEAR:
        raise ValueError("outside the domain")
    return x


def _div(x: Any, y: Any) -> Any:
    _away(y)
    return x / y


def _tan(x: Any) -> Any:
    _away(cmath.cos(x))
    return _same(cmath.tan, x)


def _same(function: Any, x: Any) -> Any:
    result = function(x)
    return result if isinstance(x, complex) else result.real


def _abs(x: Any) -> Any:
    _away(_real(x))
    return x if _real(x) > 0 else -x


def _sign(x: Any) -> float:
    _away(_real(x))
    return 1.0 if _real(x) > 0 else -1.0


def _less(x: Any, y: Any) -> float:
    _away(_real(x) - _real(y))
    return 1.0 if _real(x) < _real(y) else 0.0


def _min(x: Any, y: Any) -> Any:
    if x == y:
        return x
    return x if _less(x, y) else y


def _max(x: Any, y: Any) -> Any:
    if x == y:
        return x
    return y if _less(x, y) else x


def _atan2(y: Any, x: Any) -> float:
    if abs(y) < _CLEAR:
        raise ValueError("on the cut")
    return math.atan2(_real(y), _real(x))


def _select(condition: Any, then: Any, otherwise: Any) -> Any:
    if condition != 0:
        _away(condition)
    return then if condition != 0 else otherwise


def _equal(x: Any, y: Any) -> float:
    if x == y:
        return 1.0
    _away(_real(x) - _real(y))
    return 0.0


_MEANING: Mapping[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _div,
    "neg": lambda x: -x,
    "sqrt": lambda x: _same(cmath.sqrt, _domain(x, 0.0, math.inf)),
    "sin": lambda x: _same(cmath.sin, x),
    "cos": lambda x: _same(cmath.cos, x),
    "tan": _tan,
    "asin": lambda x: _same(cmath.asin, _domain(x, -1.0, 1.0)),
    "acos": lambda x: _same(cmath.acos, _domain(x, -1.0, 1.0)),
    "atan2": _atan2,
    "exp": lambda x: _same(cmath.exp, x),
    "log": lambda x: _same(cmath.log, _domain(x, 0.0, math.inf)),
    "abs": _abs,
    "sign": _sign,
    "min": _min,
    "max": _max,
    "less": _less,
    "less_equal": lambda x, y: 1.0 if x == y else _less(x, y),
    "equal": _equal,
    "select": _select,
}
