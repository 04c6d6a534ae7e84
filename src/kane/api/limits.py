"""Limits of joints along a motion: where it leaves them, and what its drives could not give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..advice import Option
from ..errors import KaneError, warn
from ..formulation import CompiledControl, Equations
from ..graph import Expr
from ..model import Mechanism
from ..model.limits import SLACK, limits_by_speed
from ..model.records import Limit
from .answers import Answers
from .records import Array

NAMED = 3  # coordinates that a sentence names


class Moving(Protocol):
    """What is judged: a trajectory, or a motion that is given."""

    @property
    def answers(self) -> Answers: ...

    @property
    def t(self) -> Array: ...

    @property
    def q(self) -> Array: ...

    @property
    def u(self) -> Array: ...

    @property
    def tau(self) -> Array: ...

    def acceleration(self) -> Array:
        """udot (k, n)."""
        ...


@dataclass(frozen=True, slots=True)
class GivenMotion:
    """A motion that was not simulated, with the efforts that it takes."""

    answers: Answers
    t: Array
    q: Array
    u: Array
    udot: Array
    tau: Array

    def acceleration(self) -> Array:
        """udot (k, n)."""
        return self.udot


def leave_limits(answers: Answers, t: Array, q: Array, u: Array) -> dict[str, float]:
    """Coordinates of which a motion leaves the range, each with the time (s) at which it does so first: between two
    states of the motion on the cubic through them with their rates."""
    mechanism = answers.mechanism
    found: dict[str, float] = {}
    for name, limit in mechanism.limits.items():
        place = mechanism.coordinates.index(name)

        def rates(k: slice, place: int = place) -> Array:
            return answers.ask("kinematics", t[k, None], None, q=q[k], u=u[k])[:, place]

        first = _first_beyond(t, q[:, place], (limit.lower, limit.upper), rates)
        if first is not None:
            found[name] = first
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def exceed_speeds(run: Moving) -> dict[str, float]:
    """Coordinates that are faster than allowed somewhere, each with the time (s) at which it is so first: between two
    states of the motion on the cubic of the speed through them with its accelerations."""
    found: dict[str, float] = {}
    for name, place, most in _bounded_speeds(run.answers.mechanism):

        def rates(k: slice, place: int = place) -> Array:
            return known_accelerations(run)[k, place]

        first = _first_beyond(run.t, run.u[:, place], (-most, most), rates)
        if first is not None:
            found[name] = first
    return dict(sorted(found.items(), key=lambda pair: pair[1]))


def known_accelerations(run: Moving) -> Array:
    """Accelerations (k, n); by differences of the speeds where there are none, in a singular position say."""
    try:
        return run.acceleration()
    except KaneError:
        return np.gradient(run.u, axis=0) / np.gradient(run.t)[:, None]


def _first_beyond(t: Array, values: Array, ends: tuple[float, float], rates: Callable[[slice], Array]) -> float | None:
    """When (s) values are first below the lower or above the upper end; `rates` are asked for beside that alone."""
    found: list[float] = []
    for side, bound in ((1.0, ends[1]), (-1.0, -ends[0])):
        excess = side * values - bound - SLACK * max(1.0, abs(bound)) if np.isfinite(bound) else -np.ones(len(t))
        beyond = np.flatnonzero(excess > 0.0)
        if beyond.size and beyond[0] == 0:
            return float(t[0])
        if beyond.size:
            k = slice(int(beyond[0]) - 1, int(beyond[0]) + 1)
            found.append(_crossing(t[k], excess[k], side * rates(k)))
    return min(found, default=None)


def limit_sentences(run: Moving, *, asked: bool = False) -> Iterable[str]:
    """What an outcome says about limits; what saturation would do, of a motion that was simulated. Of one whose times
    were `asked` for, not its steps, what lies between these is not known, and their number is told."""
    mechanism = run.answers.mechanism
    seen = f", as seen at {len(run.t)} times" if asked else ""
    left = leave_limits(run.answers, run.t, run.q, run.u) if mechanism.limits else {}
    if left:
        shown = [f"{name} at t = {time:.4g} s ({_range(mechanism.limits[name])})" for name, time in left.items()]
        yield f"left its limits: {_name_first(shown)}{seen}"
    fast = exceed_speeds(run)
    if fast:
        sizes = _sizes(run.u, _bounded_speeds(mechanism))
        shown = [f"{name} ({sizes[name]}) from t = {time:.4g} s" for name, time in fast.items()]
        yield f"faster than allowed: {_name_first(shown)}{seen}"
    bounds = bounded_efforts(mechanism)
    strong = [b for b in bounds if np.abs(run.tau[:, b[1]]).max(initial=0.0) > b[2] + SLACK * max(1.0, b[2])]
    if strong:
        shown = [f"{name} ({size})" for name, size in _sizes(run.tau, strong).items()]
        fix = "" if isinstance(run, GivenMotion) else f"; {Option('saturate', (True,))} holds them there"
        yield f"efforts beyond their limits: {_name_first(shown)}{seen}{fix}"


def _name_first(shown: list[str]) -> str:
    return ", ".join(shown[:NAMED]) + (f" and {len(shown) - NAMED} more" if len(shown) > NAMED else "")


def _sizes(values: Array, bounds: list[tuple[str, int, float]]) -> dict[str, str]:
    """How large columns of values (k, n) become, beside their bounds, by coordinate: "3.2 of 3"."""
    return {name: f"{np.abs(values[:, i]).max(initial=0.0):.3g} of {most:g}" for name, i, most in bounds}


def effort_limits(mechanism: Mechanism) -> Array:
    """The largest effort along each speed (N m, N), infinite where none is known."""
    found = np.full(len(mechanism.speeds), np.inf)
    for _, i, most in bounded_efforts(mechanism):
        found[i] = most
    return found


def saturate(
    law: dict[Expr, Expr] | CompiledControl | None, mechanism: Mechanism, tau: Array
) -> tuple[dict[Expr, Expr] | CompiledControl | None, Array]:
    """A law and constant efforts beside it which together stay within the limits of efforts: what is given along a
    speed is cut off in the law, or where it says nothing there, in what is constant."""
    if isinstance(law, CompiledControl):
        most = effort_limits(mechanism)
        return SaturatedControl(law, tuple((-most - tau).tolist()), tuple((most - tau).tolist())), tau
    found, tau = dict(law or {}), tau.copy()
    for _, i, most in bounded_efforts(mechanism):
        variable = mechanism.effort_variable(mechanism.speeds[i], "control")
        if variable in found:
            found[variable] = found[variable].max(float(-most - tau[i])).min(float(most - tau[i]))
        else:
            tau[i] = np.clip(tau[i], -most, most)
    return (None if law is None else found), tau


def warn_of_idle_limits(mechanism: Mechanism) -> None:
    """Warn that saturation changes nothing in a mechanism none of whose efforts has a limit, and of limits that are
    zero, with which some programs fill in what they do not know."""
    bounds = bounded_efforts(mechanism)
    if not bounds:
        warn(
            f"{Option('saturate', (True,))} changes nothing: '{mechanism.name}' has no limits of efforts\n"
            "    fix: give coordinates some, as in a model file by limits: {q1: {effort: 10}}"
        )
    idle = [name for name, _, most in bounds if most == 0.0]
    if idle:
        warn(
            f"{Option('saturate', (True,))} leaves no effort along {_name_first(idle)}, whose limit is 0\n"
            "    fix: give what the drives can do, in a URDF by <limit effort=...>, or in a model file by"
            f" limits: {{{idle[0]}: {{effort: 10}}}}"
        )


def warn_start_outside(answers: Answers, q: Array) -> None:
    """Say which coordinates (n_q,) of a start are outside their limits, where no outcome will."""
    limits, start = answers.mechanism.limits, dict(zip(answers.mechanism.coordinates, q.tolist(), strict=True))
    left = leave_limits(answers, np.zeros(1), q[None], np.zeros((1, len(answers.mechanism.speeds))))
    if left:
        shown = [f"{name} = {start[name]:.6g} ({_range(limits[name])})" for name in left]
        warn(f"the start is outside its limits: {_name_first(shown)}")


@dataclass(frozen=True, slots=True)
class SaturatedControl:
    """A compiled law whose efforts along the speeds are between `least` and `most` (N m, N)."""

    law: CompiledControl
    least: tuple[float, ...]
    most: tuple[float, ...]

    def efforts(self, equations: Equations) -> list[Expr]:
        """Efforts along the speeds (N m, N), of t, q and u."""
        found = self.law.efforts(equations)
        return [
            effort.max(least).min(most) if np.isfinite(most) else effort
            for effort, least, most in zip(found, self.least, self.most, strict=True)
        ]


def bounded_efforts(mechanism: Mechanism) -> list[tuple[str, int, float]]:
    """(coordinate, place of the speed that is its rate, largest effort) wherever both are known."""
    return [
        (name, place, limit.effort) for name, place, limit in limits_by_speed(mechanism) if np.isfinite(limit.effort)
    ]


def _bounded_speeds(mechanism: Mechanism) -> list[tuple[str, int, float]]:
    """(coordinate, place of the speed that is its rate, largest rate) wherever both are known."""
    return [
        (name, place, limit.velocity)
        for name, place, limit in limits_by_speed(mechanism)
        if np.isfinite(limit.velocity)
    ]


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


__all__ = [
    "GivenMotion",
    "SaturatedControl",
    "bounded_efforts",
    "effort_limits",
    "exceed_speeds",
    "known_accelerations",
    "leave_limits",
    "limit_sentences",
    "saturate",
    "warn_of_idle_limits",
    "warn_start_outside",
]
