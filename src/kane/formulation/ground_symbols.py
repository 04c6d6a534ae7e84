"""Names by which events and outcomes speak of the ground under vehicles: symbols, and what each stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graph import Expr, depends_on, substitute
from ..model import Mechanism
from .ground import TIPOVER, WATCHED, Ground, least_of, margin_of

if TYPE_CHECKING:
    from .equations import Equations


def ground_symbols(mechanism: Mechanism) -> dict[str, Expr]:
    """The names that events may use for what the ground does, and the symbols that stand for it."""
    wheels = [wheel.name for vehicle in mechanism.vehicles.values() for wheel in vehicle.wheels]
    names = [f"{what}.{wheel}" for wheel in wheels for what in WATCHED]
    several = len(mechanism.vehicles) > 1
    names += [f"{TIPOVER}.{name}" if several else TIPOVER for name in mechanism.vehicles]
    return {name: mechanism.graph.input(f"ground.{name}") for name in names}


@dataclass(frozen=True, slots=True)
class Judged:
    """What is watched along every motion of a vehicle, as a symbol: `what` is "normal" of a wheel, "slip" and
    "skid", what its friction has left in all and sideways, or "edge", by its number."""

    vehicle: str
    what: str
    which: int
    symbol: Expr


def judged_symbols(mechanism: Mechanism) -> list[Judged]:
    """What tells that a vehicle would lift a wheel, slip, or tip over: it becomes negative there."""
    return [
        Judged(name, what, k, mechanism.graph.input(f"ground.{name}.{what}.{k}"))
        for name, vehicle in mechanism.vehicles.items()
        for what in ("normal", "edge", *(("slip", "skid") if mechanism.number(vehicle.friction, name) > 0.0 else ()))
        for k in range(len(vehicle.wheels))
    ]


def without_ground_symbols(equations: Equations, exprs: list[Expr]) -> list[Expr]:
    """Expressions in which these symbols are replaced by what they stand for, of t, q, u and tau."""
    for name in equations.mechanism.vehicles:
        symbols = _stand_ins(equations, name)
        if depends_on(exprs, [*symbols]):
            ground = equations.ground(name)
            exprs = substitute(exprs, {symbol: of(ground) for symbol, of in symbols.items()})
    return exprs


def _stand_ins(equations: Equations, name: str) -> dict[Expr, Callable[[Ground], Expr]]:
    """Symbols of a vehicle, and what of its ground each stands for."""
    graph, mechanism = equations.graph, equations.mechanism
    vehicle, one = mechanism.vehicles[name], graph.const(1.0)
    mu = equations.system.take.one(vehicle.friction)
    found: dict[Expr, Callable[[Ground], Expr]] = {}
    for k, wheel in enumerate(vehicle.wheels):
        for what in WATCHED:
            found[graph.input(f"ground.{what}.{wheel.name}")] = lambda g, what=what, k=k: getattr(g, what)[k]
        found[graph.input(f"ground.{name}.normal.{k}")] = lambda g, k=k: g.normal[k]
        found[graph.input(f"ground.{name}.edge.{k}")] = lambda g, k=k: g.moment[k] if k < len(g.moment) else one
        found[graph.input(f"ground.{name}.skid.{k}")] = lambda g, k=k: mu * g.normal[k] - g.lateral[k].abs()
        found[graph.input(f"ground.{name}.slip.{k}")] = lambda g, k=k: margin_of(g, mu, k)
    measure = f"ground.{TIPOVER}.{name}" if len(mechanism.vehicles) > 1 else f"ground.{TIPOVER}"
    found[graph.input(measure)] = lambda g: least_of(g.alpha) if g.alpha else one
    return found


__all__ = ["Judged", "ground_symbols", "judged_symbols", "without_ground_symbols"]
