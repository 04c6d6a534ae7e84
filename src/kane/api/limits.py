"""Limits of joints along a motion: where it leaves them, and what its drives could not give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..advice import Option
from ..formulation import CompiledControl, Equations
from ..graph import Expr
from ..model import Mechanism
from ..model.records import Limit
from .answers import Answers
from .records import Array

SLACK = 1e-9
"""What a coordinate may be beyond a limit, as a share of the limit, or rad and m below 1: a stop holds no better."""

NAMED = 3  # coordinates that a sentence names


def leave_limits(answers: Answers, t: Array, q: Array, u: Array) -> dict[str, float]:
    """Coordinates of which a motion leaves the range, each with the time (s) at which it does so first: between two
    states of the motion on the cubic through them with their rates."""
    mechanism = answers.mechanism
    found: dict[str, float] = {}
    for name, limit in mechanism.limits.items():
        place = mechanism.coordinates.index(name)
        for side, bound in ((1.0, limit.upper), (-1.0, -limit.lower)):
            excess = (
                side * q[:, place] - bound - SLACK * max(1.0, abs(bound)) if np.isfinite(bound) else -np.ones(len(t))
            )
            beyond = np.flatnonzero(excess > 0.0)
            if not beyond.size:
                continue
            k = max(int(beyond[0]), 1)
            rates = side * answers.ask(
                "kinematics", t[k - 1 : k + 1, None], None, q=q[k - 1 : k + 1], u=u[k - 1 : k + 1]
            )
            time = (
                float(t[0]) if beyond[0] == 0 else _crossing(t[k - 1 : k + 1], excess[k - 1 : k + 1], rates[:, place])
            )
            found[name] = min(time, found.get(name, time))
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def limit_sentences(answers: Answers, t: Array, q: Array, u: Array, tau: Array) -> Iterable[str]:
    """What an outcome says about limits."""
    mechanism = answers.mechanism
    left = leave_limits(answers, t, q, u) if mechanism.limits else {}
    if left:
        shown = [f"{name} at t = {time:.4g} s ({_range(mechanism.limits[name])})" for name, time in left.items()]
        more = f" and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
        yield f"left its limits: {', '.join(shown[:NAMED])}{more}"
    fast = _sizes_beyond(u, _bounded_speeds(mechanism))
    if fast:
        yield f"faster than allowed: {fast}"
    strong = _sizes_beyond(tau, bounded_efforts(mechanism))
    if strong:
        yield f"efforts beyond their limits: {strong}; {Option('saturate', (True,))} holds them there"


def _sizes_beyond(values: Array, bounds: list[tuple[str, int, float]]) -> str:
    """Coordinates of which a column of values (k, n) is larger than its bound somewhere, and how large; maybe none."""
    largest = [(name, np.abs(values[:, i]).max(initial=0.0), most) for name, i, most in bounds]
    beyond = [f"{name} ({size:.3g} of {most:g})" for name, size, most in largest if size > most * (1.0 + SLACK)]
    return ", ".join(beyond[:NAMED]) + (f" and {len(beyond) - NAMED} more" if len(beyond) > NAMED else "")


def effort_limits(mechanism: Mechanism) -> Array:
    """The largest effort along each speed (N m, N), infinite where none is known."""
    found = np.full(len(mechanism.speeds), np.inf)
    for _, i, most in bounded_efforts(mechanism):
        found[i] = most
    return found


def saturate(efforts: dict[Expr, Expr], mechanism: Mechanism) -> dict[Expr, Expr]:
    """A law whose efforts along the speeds stay within their limits."""
    variables = {mechanism.effort_variable(mechanism.speeds[i], "control"): e for _, i, e in bounded_efforts(mechanism)}
    return {
        variable: law.max(-variables[variable]).min(variables[variable]) if variable in variables else law
        for variable, law in efforts.items()
    }


@dataclass(frozen=True, slots=True)
class SaturatedControl:
    """A compiled law whose efforts along the speeds are at `most` so large (N m, N)."""

    law: CompiledControl
    most: tuple[float, ...]

    def efforts(self, equations: Equations) -> list[Expr]:
        """Efforts along the speeds (N m, N), of t, q and u."""
        found = self.law.efforts(equations)
        return [
            effort.max(-most).min(most) if np.isfinite(most) else effort
            for effort, most in zip(found, self.most, strict=True)
        ]


def bounded_efforts(mechanism: Mechanism) -> list[tuple[str, int, float]]:
    """(coordinate, place of the speed that is its rate, largest effort) wherever both are known."""
    return [
        (name, place, limit.effort) for name, place, limit in _limits_by_speed(mechanism) if np.isfinite(limit.effort)
    ]


def _bounded_speeds(mechanism: Mechanism) -> list[tuple[str, int, float]]:
    """(coordinate, place of the speed that is its rate, largest rate) wherever both are known."""
    return [
        (name, place, limit.velocity)
        for name, place, limit in _limits_by_speed(mechanism)
        if np.isfinite(limit.velocity)
    ]


def _limits_by_speed(mechanism: Mechanism) -> list[tuple[str, int, Limit]]:
    """(coordinate, place of the speed that is its rate, limits) of all coordinates that have both."""
    rates = {record.definition: i for i, record in enumerate(mechanism.speed_records.values())}
    found: list[tuple[str, int, Limit]] = []
    for name, limit in mechanism.limits.items():
        place = rates.get(mechanism.coordinate_rates[mechanism.coordinate_records[name].symbol])
        if place is not None:
            found.append((name, place, limit))
    return found


def _crossing(t: Array, values: Array, rates: Array) -> float:
    """Where the cubic through two values, the first of them negative, with these rates becomes positive first (s)."""
    h = float(t[1] - t[0])
    a, b = float(values[0]), float(values[1])
    c, d = h * float(rates[0]), h * float(rates[1])
    low, high = 0.0, 1.0
    for _ in range(60):
        s = 0.5 * (low + high)
        r = 1.0 - s
        value = r * r * (1 + 2 * s) * a + s * s * (1 + 2 * r) * b + s * r * (r * c - s * d)
        low, high = (s, high) if value <= 0.0 else (low, s)
    return float(t[0]) + high * h


def _range(limit: Limit) -> str:
    return f"{limit.lower:g} … {limit.upper:g}"


__all__ = ["SaturatedControl", "bounded_efforts", "effort_limits", "leave_limits", "limit_sentences", "saturate"]
