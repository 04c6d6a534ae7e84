"""Coordinates and speeds of a SymPy description, from its kinematic differential equations Kq q̇ + Ku u + rest = 0.

Where they can be solved for q̇ with pivots that are numbers, q̇ = W u + X is taken as it stands and the speeds are the
motion variables. Otherwise, as where speeds are measure numbers of an angular velocity, the rates are the motion
variables and u = Y q̇ + Z defines the speeds; the formulation solves such definitions without needless poles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ExpressionError, InputError, ModelError, Problem
from ...graph import Expr, evaluate, linear_coefficients, time_derivative
from ..mechanism import Mechanism
from .elimination import Rows, solve_rows
from .reading import Description, clock, rate
from .scalars import EQUAL, Scalars

Solution = list[tuple[int, list[Expr]]]


def declare_motion(model: Mechanism, given: Description, scalars: Scalars) -> None:
    """Declare the coordinates and speeds of a description, in its order, and enter them in `scalars`."""
    for state in (*given.q, *given.u):
        if not state.args or state.is_Derivative:
            raise InputError(f"{state} is no function of time: make coordinates and speeds with dynamicsymbols")
    q_names = [scalars.names[q] for q in given.q]
    if given.lagrangian is not None:
        _rates_themselves(model, given, scalars, q_names, "u")
        return
    u_names = [scalars.names[u] for u in given.u]
    Kq, Ku, rest = _equations(model, given, scalars, q_names, u_names)
    by_speeds = [[*row, z] for row, z in zip(Ku, rest, strict=True)]
    by_rates = [[*row, z] for row, z in zip(Kq, rest, strict=True)]
    if (W := solve_rows(Kq, by_speeds)) is not None:
        _rates_from_speeds(model, given, scalars, W)
    elif (Y := solve_rows(Ku, by_rates)) is not None:
        _speeds_from_rates(model, given, scalars, Y)
    elif (W := solve_rows(Kq, by_speeds, lambda e: _size(model, e))) is not None:
        _rates_from_speeds(model, given, scalars, W)
    else:
        what = "they cannot be solved for the rates of the coordinates"
        because = "there is one for each coordinate, linear in rates and speeds"
        raise ModelError(Problem(model.where("kinematic differential equations"), what, because))


def rates_of_constant_motion(model: Mechanism) -> dict[Expr, Expr | float]:
    """Rates of t, of coordinates and of speeds while the motion variables are constant."""
    rates: dict[Expr, Expr | float] = {**model.coordinate_rates, model.time: 1.0}
    speeds = model.speed_records.values()
    return {
        **rates,
        **dict(zip((s.symbol for s in speeds), time_derivative([s.definition for s in speeds], rates), strict=True)),
    }


def hold_motion_variables(model: Mechanism, given: Description, scalars: Scalars) -> None:
    """Give rates of speeds and second derivatives of coordinates, which only accelerations contain, the values that
    they have while the motion variables are constant."""
    rates = rates_of_constant_motion(model)
    speeds = [model.graph.lift(rates[s.symbol]) for s in model.speed_records.values()]
    scalars.motion.update(zip(map(rate, given.u), speeds, strict=True))
    first = [scalars.motion[rate(q)] for q in given.q]
    scalars.motion.update(zip((q.diff(clock(), 2) for q in given.q), time_derivative(first, rates), strict=True))


def _rates_themselves(
    model: Mechanism, given: Description, scalars: Scalars, names: Sequence[str], prefix: str
) -> None:
    """Coordinates whose rates are motion variables."""
    for q, name in zip(given.q, names, strict=True):
        scalars.motion[q] = model.coordinate(name, speed=scalars.names.fresh(f"{prefix}_{name}"))
        scalars.motion[rate(q)] = model.coordinate_records[name].rate


def _equations(
    model: Mechanism, given: Description, scalars: Scalars, q_names: Sequence[str], u_names: Sequence[str]
) -> tuple[Rows, Rows, list[Expr]]:
    """(Kq, Ku, rest), with inputs that stand for what is not declared yet."""
    graph, before = model.graph, dict(scalars.motion)
    rates = [graph.input(f"{name}'") for name in q_names]
    stand = [graph.input(f"{name}*") for name in u_names]
    scalars.motion.update((q, graph.input(name)) for q, name in zip(given.q, q_names, strict=True))
    scalars.motion.update((rate(q), expr) for q, expr in zip(given.q, rates, strict=True))
    scalars.motion.update(zip(given.u, stand, strict=True))
    try:
        A, rest = linear_coefficients(scalars.translate_separately(given.kinematics), [*rates, *stand])
    except ExpressionError as error:
        because = "kinematic differential equations are linear in rates and speeds"
        raise ModelError(Problem(model.where("kinematic differential equations"), str(error), because)) from None
    scalars.motion = before
    n = len(rates)
    return [row[:n] for row in A], [row[n:] for row in A], rest


def _size(model: Mechanism, e: Expr) -> float:
    """How large an expression is in a generic state; zero for what counts as nothing."""
    values = {name: 0.3 + 0.1 * k for k, name in enumerate(model.graph.inputs)}
    values.update((p.name, p.value) for p in model.parameters.values())
    value = abs(evaluate([e], values)[0])
    return value if np.isfinite(value) and value > EQUAL else 0.0


def _rates_from_speeds(model: Mechanism, given: Description, scalars: Scalars, W: Solution) -> None:
    """q̇ = W u + X as it stands: the speeds are the motion variables."""
    q_names, u_names = [scalars.names[q] for q in given.q], [scalars.names[u] for u in given.u]
    q, s = model.speeds_as_variables(q_names, u_names)
    scalars.motion.update(zip(given.q, q, strict=True))
    scalars.motion.update(zip(given.u, s, strict=True))
    rates = {q_names[j]: _linear_combination(row, [*s, model.graph.const(1.0)]) for j, row in W}
    model.set_rates(rates)
    scalars.motion.update((rate(q), rates[name]) for q, name in zip(given.q, q_names, strict=True))


def _speeds_from_rates(model: Mechanism, given: Description, scalars: Scalars, Y: Solution) -> None:
    """u = Y q̇ + Z: the rates are motion variables, and so are speeds that no rate goes with."""
    q_names, u_names = [scalars.names[q] for q in given.q], [scalars.names[u] for u in given.u]
    _rates_themselves(model, given, scalars, q_names, "rate_of")
    chosen = {j for j, _ in Y}
    extra = [name for j, name in enumerate(u_names) if j not in chosen]
    _, more = model.speeds_as_variables((), [scalars.names.fresh(f"{name}_itself") for name in extra])
    rates = [model.coordinate_records[name].rate for name in q_names]
    definitions = dict(zip(extra, more, strict=True))
    for j, row in Y:
        definitions[u_names[j]] = _linear_combination(row, [*rates, model.graph.const(1.0), *more])
    model.set_speeds({name: definitions[name] for name in u_names})
    scalars.motion.update((u, model.speed_records[name].symbol) for u, name in zip(given.u, u_names, strict=True))


def _linear_combination(factors: Sequence[Expr], terms: Sequence[Expr]) -> Expr:
    total = terms[0].graph.const(0.0)
    for factor, term in zip(factors, terms, strict=True):
        total = total + factor * term
    return total


__all__ = ["declare_motion", "hold_motion_variables", "rates_of_constant_motion"]
