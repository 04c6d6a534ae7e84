"""Scalars of a SymPy description in the graph of the model: what each symbol and function of time stands for.

Coordinates, rates and speeds are entered as they are declared; every other symbol becomes a parameter, or the
expression that the user gave for it. Symbols without a value are collected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import ExpressionError, InputError
from ...graph import Expr, evaluate, reverse
from ..mechanism import Mechanism
from .expressions import Translator
from .leaves import GivenValues, SymbolNames, is_free
from .reading import Description, clock

Array = np.ndarray[Any, np.dtype[np.float64]]
EQUAL = 1e-9  # relative difference of what is equal up to rounding
_STATES, _SEED = 2, 11  # generic states in which expressions are compared
_NEWTON = 50  # steps that bring such a state onto configuration constraints


class Scalars:
    """Translates expressions of one description; `motion` maps coordinates, their rates and speeds."""

    def __init__(
        self,
        model: Mechanism,
        given: Description,
        values: GivenValues,
        free: Iterable[Any] | str,
        names: SymbolNames | None = None,
    ):
        self.model = model
        self.names = SymbolNames() if names is None else names
        self.motion: dict[Any, Expr] = {}
        self.missing: dict[Any, str] = {}
        self.values = values
        alone = isinstance(free, str) or not isinstance(free, Iterable)
        self._free = free if free == "all" else [free] if alone else list(free)
        self._auxiliary = given.auxiliary
        self._open: list[Any] = []  # symbols whose values are being translated
        self._states: list[dict[str, float]] = []
        self._translate = Translator(model.graph, self._leaf)

    def __call__(self, expression: Any) -> Expr:
        return self._translate(expression)

    def translate_all(self, expressions: Iterable[Any]) -> list[Expr]:
        return [self._translate(e) for e in expressions]

    def translate_separately(self, expressions: Iterable[Any]) -> list[Expr]:
        """Expressions with what `motion` says now, which is forgotten afterwards."""
        return Translator(self.model.graph, self._leaf).translate_all(expressions)

    # leaves ----------------------------------------------------------------------------------------------------------

    def _leaf(self, e: Any) -> Expr:
        """A symbol, a function of time or a derivative, as the model knows it."""
        if e in self.motion:
            return self.motion[e]
        if e == clock():
            return self.model.time
        if e.is_Derivative:
            return self._derivative(e)
        if e.args and e.args != (clock(),):
            raise ExpressionError(f"{e} is not a function of time alone")
        return self._parameter_or_value(e)

    def _derivative(self, e: Any) -> Expr:
        from sympy.core.function import AppliedUndef

        of, zero = e.expr, self.model.graph.const(0.0)
        if set(e.variables) != {clock()}:
            raise ExpressionError(f"{e} is not a derivative by time")
        if not isinstance(of, AppliedUndef):  # of an expression, not worked out yet
            written = e.doit()
            if written.is_Derivative:
                raise ExpressionError(f"{e} is not a derivative of a function of time")
            return self.translate_separately([written])[0]
        if of in self._auxiliary:
            return zero
        if of in self.motion:
            raise ExpressionError(f"{e} stands where only coordinates, their rates and speeds may stand")
        if of not in self.values:
            return self._parameter_or_value(of)
        value = self.values.of(of)
        return (
            zero
            if isinstance(value, float)
            else self.translate_separately([value.diff(clock(), e.derivative_count)])[0]
        )

    def _parameter_or_value(self, symbol: Any) -> Expr:
        """A parameter, or the expression that the user gave for it."""
        if symbol in self._open:
            chain = " → ".join(str(s) for s in (*self._open, symbol))
            raise InputError(f"the value of {symbol} is given by itself: {chain}")
        value = self.values.of(symbol)
        if value is None or isinstance(value, float):
            name = self.names[symbol]
            if value is None:
                self.missing[symbol] = name
            if name not in self.model.parameters:
                self.model.parameter(name, 1.0 if value is None else value, free=is_free(self._free, symbol))
            return self.model.parameters[name].symbol
        self._open.append(symbol)
        inner = self.translate_separately([value])[0]
        self._open.pop()
        return inner

    def refuse_strangers(self) -> None:
        """Refuse free symbols that are not in the script."""
        if self._free == "all":
            return
        known = [*self.parameters().values(), *self.missing]
        strangers = [f for f in self._free if f not in self.values.order and not any(is_free([f], s) for s in known)]
        if strangers:
            listed = ", ".join(str(f) for f in strangers)
            symbols = ", ".join(sorted(str(s) for s in known)) or "none"
            raise InputError(f"`free` names {listed}, which is no symbol of the script; there are {symbols}")

    def parameters(self) -> dict[str, Any]:
        """SymbolNames of parameters → SymPy symbols, in the user's order."""
        found = [(name, symbol) for symbol, name in self.names.of.items() if name in self.model.parameters]
        return dict(sorted(found, key=lambda item: self.values.place(item[1])))

    # generic states --------------------------------------------------------------------------------------------------

    def at(self, exprs: Sequence[Expr]) -> list[Array]:
        """The values of expressions in generic states of the motion."""
        model = self.model
        if not self._states:
            rng = np.random.default_rng(_SEED)
            moving = ["t", *model.coordinates, *model.motion_variables]
            self._states = [
                dict(zip(moving, rng.uniform(0.2, 1.2, len(moving)).tolist(), strict=True)) for _ in range(_STATES)
            ]
        found = []
        for state in self._states:
            values = {**state, **{p.name: p.value for p in model.parameters.values()}}
            values.update((s.name, evaluate([s.definition], values)[0]) for s in model.speed_records.values())
            found.append(np.array(evaluate(list(exprs), values)))
        return found

    def close(self, equations: Sequence[Expr]) -> None:
        """Move the generic states onto configuration constraints; those that do not get there stay where they are."""
        names = list(self.model.coordinates)
        symbols = [self.model.coordinate_records[name].symbol for name in names]
        slopes = [slope for e in equations for slope in reverse({e: 1.0}, symbols)]
        self.at([])
        for k, state in enumerate(self._states):
            values = {**state, **{p.name: p.value for p in self.model.parameters.values()}}
            for _ in range(_NEWTON):
                with np.errstate(all="ignore"):
                    numbers = np.array(evaluate([*equations, *slopes], values))
                if not np.all(np.isfinite(numbers)):
                    break
                residual, J = numbers[: len(equations)], numbers[len(equations) :].reshape(len(equations), -1)
                if np.abs(residual).max() <= EQUAL**1.2:
                    self._states[k] = {name: values[name] for name in state}
                    break
                step = np.linalg.lstsq(J, -residual, rcond=None)[0].tolist()
                values.update({name: values[name] + dq for name, dq in zip(names, step, strict=True)})

    def hold(self, rows: Sequence[Sequence[Expr]]) -> None:
        """Change the motion variables of the generic states, by the least, so that rows of motion hold: of each its
        coefficients, and what is left."""
        names = list(self.model.motion_variables)
        for state, numbers in zip(self._states, self.at([e for row in rows for e in row]), strict=True):
            A = numbers.reshape(len(rows), -1)
            s = np.array([state[name] for name in names])
            s -= np.linalg.lstsq(A[:, :-1], A @ [*s, 1.0], rcond=None)[0]
            state.update(zip(names, s.tolist(), strict=True))

    def are_equal(self, a: Sequence[Expr], b: Sequence[Expr]) -> bool:
        """Whether expressions have equal values in generic states."""
        pairs = zip(self.at(a), self.at(b), strict=True)
        return all(bool(np.all(np.abs(x - y) <= EQUAL * (1.0 + np.abs(x)))) for x, y in pairs)


__all__ = ["EQUAL", "Scalars"]
