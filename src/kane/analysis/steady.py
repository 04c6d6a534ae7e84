"""Equilibria and steady motions: states at which the constraints hold and what is asked to be steady does not change.

Unknown coordinates, speeds and efforts, with u̇ and the multipliers λ, solve F = tau, A u̇ = b, A u + c = 0, phi = 0 and
zero rates of all that is steady, by damped Gauss–Newton steps of least length with exact Jacobians.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..constraints.thresholds import INVOLVED, REDUNDANT
from ..errors import UnknownNameError
from .linearization import Operating, Tangent, first_order

Array = np.ndarray[Any, np.dtype[np.float64]]

_STEPS = 100
_HALVINGS = 30
_LONGEST = 1.0  # change of a coordinate (rad, m) in one step
_AROUND = (0.01, 0.03, 0.1, 0.3, 0.3)  # how far from a guess (rad, m; relative for speeds) others are tried
_EXACT = 1e-14  # residual, relative to the sizes it is made of, after which no step helps
_FOUND = 1e-9  # the largest that counts as found


@dataclass(frozen=True, slots=True, repr=False)
class Steady:
    """A state that stays as it is: `at` has t, q, u, the efforts tau along the speeds, udot and the multipliers λ by
    row; `coordinates` and `speeds` are the names.

    `residuals` say by how much each equation is missed (N m, N, m, rad and their rates), the worst first in `worst`;
    `residual` is the largest relative to the sizes that it is made of. `steps` of Newton's method were taken.

    >>> found = kane.load("pendulum").trim({"q": "30*deg"}, [0], efforts=["u"])
    >>> round(found["tau_u"], 6)
    4.905
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    at: Operating
    residuals: dict[str, float]
    residual: float
    steps: int

    @property
    def q(self) -> Array:
        """Coordinates (n_q,), in rad and m.

        >>> found = kane.load("pendulum").trim({"q": "30*deg"}, [0], efforts=["u"])
        >>> found.q.round(6).tolist()
        [0.523599]
        """
        return self.at.q

    @property
    def u(self) -> Array:
        """Speeds (n,).

        >>> found = kane.load("pendulum").trim({"q": "30*deg"}, [0], efforts=["u"])
        >>> found.u.tolist()
        [0.0]
        """
        return self.at.u

    @property
    def tau(self) -> Array:
        """Efforts along the speeds (n,), in N m and N.

        >>> found = kane.load("pendulum").trim({"q": "30*deg"}, [0], efforts=["u"])
        >>> found.tau.round(6).tolist()
        [4.905]
        """
        return self.at.tau

    @property
    def converged(self) -> bool:
        """Whether it is one; otherwise it is where the search ended.

        >>> found = kane.load("pendulum").trim({"q": "30*deg"}, [0], efforts=["u"])
        >>> found.converged
        True
        """
        return self.residual <= _FOUND

    def worst(self, count: int = 6) -> list[tuple[str, float]]:
        """The largest residuals by name, without those that are negligible.

        >>> m = kane.load("pendulum")
        >>> (name, missed), *_ = m.equilibrium({"q": "30*deg"}, strict=False).worst()
        >>> name in m.equilibrium([0]).residuals and abs(missed) > 1
        True
        """
        ranked = sorted(self.residuals.items(), key=lambda item: -abs(item[1]))[:count]
        return [(name, x) for name, x in ranked if abs(x) > INVOLVED * abs(ranked[0][1])]

    def __getitem__(self, name: str) -> float:
        """A coordinate, a speed, or the effort tau_SPEED, by name."""
        both = dict(zip((*self.coordinates, *self.speeds), (*self.q, *self.u), strict=True))
        both.update({f"tau_{s}": x for s, x in zip(self.speeds, self.tau, strict=True)})
        if name not in both:
            raise UnknownNameError("coordinate, speed or effort", name, both)
        return float(both[name])

    def __repr__(self) -> str:
        head = f"steady to {self.residual:.1e} after {self.steps} steps"
        if not self.converged:
            head = f"not steady: {', '.join(f'{name} {x:.3g}' for name, x in self.worst())}"
        lines = [head]
        for label, names, values in (("q", self.coordinates, self.q), ("u", self.speeds, self.u)):
            lines.append(f"{label}: " + ", ".join(f"{n} {x:.6g}" for n, x in zip(names, values, strict=True)))
        driven = [f"{n} {x:.6g}" for n, x in zip(self.speeds, self.tau, strict=True) if x]
        return "\n".join([*lines, *([f"efforts along: {', '.join(driven)}"] if driven else [])])


@dataclass(frozen=True, slots=True)
class Search:
    """What is sought: indices of unknown coordinates, speeds and efforts; the rates that vanish, (name of each,
    program of their values and changes); quaternions by the places of their elements; names of rows.

    Every step ends on the constraints: off them redundant rows contradict each other.
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    rows: tuple[str, ...]
    q: tuple[int, ...]
    u: tuple[int, ...]
    tau: tuple[int, ...]
    steady: tuple[str, ...]
    rates: Callable[..., Sequence[Array]]
    quaternions: tuple[tuple[int, ...], ...]
    closed: Callable[[Array], Array]
    """q moved onto the constraints, known coordinates staying, where it can be."""


@dataclass(frozen=True, slots=True)
class _Residuals:
    """Residuals, the sizes they are judged by, and their Jacobian by the unknowns."""

    names: tuple[str, ...]
    values: Array
    sizes: Array
    J: Array

    @property
    def worst(self) -> float:
        return float((np.abs(self.values) / self.sizes).max(initial=0.0))


def solve(tangent: Tangent, search: Search, guess: Operating) -> Steady:
    """The steady state along Newton's path from a guess; where there is none, where the search came nearest.

    A guess from which no step helps, such as a pendulum that points sideways, is left a little for others around it.
    """
    found = _newton(tangent, search, guess)
    rng = np.random.default_rng(0)
    for distance in _AROUND:
        if found.converged or not (search.q or search.u):
            break
        q, u = guess.q.copy(), guess.u.copy()
        q[list(search.q)] += distance * rng.uniform(-1.0, 1.0, len(search.q))
        u[list(search.u)] += distance * (1.0 + np.abs(u).max(initial=0.0)) * rng.uniform(-1.0, 1.0, len(search.u))
        other = _newton(tangent, search, replace(guess, q=q, u=u))
        found = other if other.residual < found.residual else found
    return found


def _newton(tangent: Tangent, search: Search, guess: Operating) -> Steady:
    at, steps = replace(guess, q=search.closed(guess.q)), 0
    misses = _residuals(tangent, search, at)
    while steps < _STEPS and misses.worst > _EXACT:
        lengths = np.linalg.norm(misses.J, axis=1)
        lengths = np.maximum(lengths, REDUNDANT * lengths.max(initial=0.0)) + (lengths.max(initial=0.0) == 0.0)
        J, right = misses.J / lengths[:, None], misses.values / lengths
        felt = np.linalg.norm(J, axis=0) > REDUNDANT
        step = np.zeros(J.shape[1])
        step[felt] = -np.linalg.lstsq(J[:, felt], right, rcond=REDUNDANT)[0]
        step *= min(1.0, _LONGEST / (np.abs(step[: len(search.q)]).max(initial=0.0) or 1.0))
        before, there, then = float(np.linalg.norm(right)), at, misses
        for _ in range(_HALVINGS):
            there = _apply_step(search, at, step)
            then = _residuals(tangent, search, there)
            if np.linalg.norm(then.values / lengths) < before:
                break
            step = 0.5 * step
        else:
            break
        at, misses, steps = there, then, steps + 1
    named = dict(zip(misses.names, misses.values.tolist(), strict=True))
    return Steady(search.coordinates, search.speeds, at, named, misses.worst, steps)


def _apply_step(search: Search, at: Operating, step: Array) -> Operating:
    parts = iter(np.split(step, np.cumsum([len(search.q), len(search.u), len(search.tau), len(at.u)])))
    q, u, tau = at.q.copy(), at.u.copy(), at.tau.copy()
    for values, places in ((q, search.q), (u, search.u), (tau, search.tau)):
        values[list(places)] += next(parts)
    return replace(
        at, q=search.closed(q), u=u, tau=tau, udot=at.udot + next(parts), multipliers=at.multipliers + next(parts)
    )


def _residuals(tangent: Tangent, search: Search, at: Operating) -> _Residuals:
    first = first_order(tangent, at)
    n_q, n, m = len(at.q), len(at.u), len(at.multipliers)
    unit = np.eye(n_q + 2 * n)
    reactions = first.A.T @ at.multipliers
    force = 1e-3 + max(np.abs(x).max(initial=0.0) for x in (first.value["F"] + reactions, reactions, at.tau))
    speed = 1.0 + np.abs(at.u).max(initial=0.0)
    names, values, sizes, blocks = [], [], [], []

    def add(labels: Sequence[str], value: Array, size: float, J: tuple[Array, Array, Array, Array, Array]) -> None:
        J_q, J_u, J_tau, J_udot, J_lambda = J
        names.extend(labels)
        values.append(value)
        sizes.append(np.full(len(value), size))
        blocks.append(
            np.hstack([J_q[:, list(search.q)], J_u[:, list(search.u)], J_tau[:, list(search.tau)], J_udot, J_lambda])
        )

    def plain(key: str, size: float, labels: Sequence[str]) -> None:
        nothing = np.zeros((len(labels), n))
        J = (first.by_q[key], first.by_u[key], nothing, first.by_udot[key], np.zeros((len(labels), m)))
        add(labels, first.value[key], size, J)

    F = (first.by_q["F"], first.by_u["F"], -np.eye(n), first.M, -first.A.T)
    add([f"effort along {s}" for s in search.speeds], first.value["F"] - at.tau, force, F)
    plain("g", speed**2, [f"{r}''" for r in search.rows])
    plain("rate", speed, [f"{r}'" for r in search.rows])
    plain("phi", 1.0 + np.abs(at.q).max(initial=0.0), list(search.rows))
    for places in search.quaternions:
        J_q = np.zeros((1, n_q))
        J_q[0, list(places)] = 2.0 * at.q[list(places)]
        none = np.zeros((1, n))
        length = np.array([at.q[list(places)] @ at.q[list(places)] - 1.0])
        label = f"length of {', '.join(search.coordinates[i] for i in places)}"
        add([label], length, 1.0, (J_q, none, none, none, np.zeros((1, m))))
    if search.steady:
        _, ydot, _, slope = search.rates(
            at.t, at.q, at.u, at.udot, unit[:, :n_q], unit[:, n_q : n_q + n], unit[:, n_q + n :]
        )
        k = len(search.steady)
        J = (slope.T[:, :n_q], slope.T[:, n_q : n_q + n], np.zeros((k, n)), slope.T[:, n_q + n :], np.zeros((k, m)))
        add([f"rate of {s}" for s in search.steady], ydot[0], speed**2, J)
    return _Residuals(tuple(names), np.concatenate(values), np.concatenate(sizes), np.vstack(blocks))


__all__ = ["Search", "Steady", "solve"]
