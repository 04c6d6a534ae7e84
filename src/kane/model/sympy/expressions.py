"""SymPy expressions as expressions of the graph: one walk over the tree, no text in between.

Numbers, sums, products, powers and the functions of the graph's table are known, and what can be written with them;
symbols, functions of time and their derivatives are asked for. Anything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from typing import Any

from ...errors import ExpressionError, excerpt
from ...graph import Expr, Graph

Maker = Callable[..., Expr]


@cache
def functions() -> Mapping[type, Maker]:
    """What each class of SymPy functions becomes, of arguments in the graph."""
    import sympy as sp

    return {
        sp.sin: Expr.sin,
        sp.cos: Expr.cos,
        sp.tan: Expr.tan,
        sp.sec: lambda x: 1.0 / x.cos(),
        sp.csc: lambda x: 1.0 / x.sin(),
        sp.cot: lambda x: x.cos() / x.sin(),
        sp.asin: Expr.asin,
        sp.acos: Expr.acos,
        sp.atan: lambda x: x.atan2(1.0),
        sp.atan2: Expr.atan2,
        sp.exp: Expr.exp,
        sp.log: lambda x, *base: x.log() if not base else x.log() / base[0].log(),
        sp.sinh: lambda x: 0.5 * (x.exp() - (-x).exp()),
        sp.cosh: lambda x: 0.5 * (x.exp() + (-x).exp()),
        sp.tanh: lambda x: 1.0 - 2.0 / ((2.0 * x).exp() + 1.0),
        sp.Abs: Expr.abs,
        sp.sign: Expr.sign,
        sp.Heaviside: lambda x, middle: x.less(0.0).select(0.0, x.equal(0.0).select(middle, 1.0)),
        sp.Min: lambda *x: reduce(Expr.min, x),
        sp.Max: lambda *x: reduce(Expr.max, x),
        sp.StrictLessThan: Expr.less,
        sp.LessThan: Expr.less_equal,
        sp.StrictGreaterThan: lambda x, y: y.less(x),
        sp.GreaterThan: lambda x, y: y.less_equal(x),
        sp.Equality: Expr.equal,
        sp.Unequality: lambda x, y: 1.0 - x.equal(y),
        sp.And: lambda *x: reduce(Expr.min, x),
        sp.Or: lambda *x: reduce(Expr.max, x),
        sp.Not: lambda x: 1.0 - x,
    }


class Translator:
    """Calls itself on SymPy expressions; `leaf` gives symbols, functions of time and derivatives their meaning."""

    def __init__(self, graph: Graph, leaf: Callable[[Any], Expr]):
        self.graph = graph
        self._leaf = leaf
        self._known: dict[Any, Expr] = {}

    def __call__(self, expression: Any) -> Expr:
        """The expression in the graph; equal ones are translated once. Nothing recurses."""
        import sympy as sp

        stack = [sp.sympify(expression, strict=True)]
        while stack:
            here = stack[-1]
            if here in self._known:
                stack.pop()
                continue
            waiting = [a for a in self._parts(here) if a not in self._known]
            if waiting:
                stack += waiting
            else:
                self._known[here] = self._build(here)
                stack.pop()
        return self._known[sp.sympify(expression, strict=True)]

    def translate_all(self, expressions: Iterable[Any]) -> list[Expr]:
        return [self(e) for e in expressions]

    def _parts(self, e: Any) -> tuple[Any, ...]:
        """What has to be translated before an expression."""
        if e.is_Atom or _is_leaf(e):
            return ()
        if e.is_Piecewise:
            return tuple(part for pair in e.args for part in pair.args)
        if e.is_Pow and e.exp.is_Number:
            return (e.base,)
        if e.is_Mul:
            return tuple(a.base if _divides(a) else a for a in e.args)
        if not e.is_Add and not e.is_Pow and e.func not in functions():
            return (_definition(e),)
        return e.args

    def _build(self, e: Any) -> Expr:
        import sympy as sp

        if e.is_Number:
            return self._number(e)
        if e in (sp.true, sp.false):
            return self.graph.const(float(bool(e)))
        if _is_leaf(e):
            return self._leaf(e)
        if e.is_NumberSymbol:  # pi, e, …
            return self.graph.const(float(e))
        if e.is_Add:
            return reduce(lambda x, y: x + y, (self._known[a] for a in e.args))
        if e.is_Mul:
            return self._product(e.args)
        if e.is_Pow:
            return self._power(e)
        if e.is_Piecewise:
            return self._piecewise(e)
        if e.func not in functions():
            return self._known[_definition(e)]
        return functions()[e.func](*(self._known[a] for a in e.args))

    def _number(self, e: Any) -> Expr:
        if not e.is_finite:
            raise ExpressionError(f"{e} is not a finite number")
        if e.is_Rational:
            return self.graph.const(float(int(e.p))) / float(int(e.q))
        return self.graph.const(float(e))

    def _product(self, factors: tuple[Any, ...]) -> Expr:
        over, under = self.graph.const(1.0), self.graph.const(1.0)
        for a in factors:
            if _divides(a):
                under = under * self._known[a.base] ** float(-a.exp)
            else:
                over = over * self._known[a]
        return over / under

    def _power(self, e: Any) -> Expr:
        if e.exp.is_Number:
            x = self._known[e.base]
            return 1.0 / x ** float(-e.exp) if e.exp.is_negative else x ** float(e.exp)
        return (self._known[e.exp] * self._known[e.base].log()).exp()

    def _piecewise(self, e: Any) -> Expr:
        *pairs, (last, always) = [pair.args for pair in e.args]
        if always != True:  # noqa: E712  SymPy's own truth
            raise ExpressionError(f"{excerpt(e)} has no value elsewhere: give a last branch (…, True)")
        value = self._known[last]
        for branch, condition in reversed(pairs):
            value = self._known[condition].select(self._known[branch], value)
        return value


def _is_leaf(e: Any) -> bool:
    """A symbol, a function of time without a definition, or a derivative."""
    import sympy as sp
    from sympy.core.function import AppliedUndef

    return isinstance(e, sp.Symbol | AppliedUndef | sp.Derivative)


def _definition(e: Any) -> Any:
    """What a function stands for that is written with others, like the curves of muscles in `physics.biomechanics`."""
    import sympy as sp

    written = e.doit(deep=False) if isinstance(e, sp.Function | sp.UnevaluatedExpr) else e
    if written == e:
        raise _unknown(e)
    return written


def _divides(factor: Any) -> bool:
    return bool(factor.is_Pow and factor.exp.is_Number and factor.exp.is_negative)


def _unknown(e: Any) -> ExpressionError:
    known = ", ".join(sorted(f.__name__ for f in functions()))
    return ExpressionError(
        f"'{e.func.__name__}' in {excerpt(e)} has no meaning here: known are sums, products, powers, {known} and "
        "Piecewise; rewrite it with these"
    )


__all__ = ["Translator", "functions"]
