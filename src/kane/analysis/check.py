"""A model checked by the laws of mechanics and by the dense second route, at random states.

Comes in: a mechanism. Goes out: a `CheckReport`. Every row states what holds whatever the model is; where it needs
something that the model does not have (a time-dependent speed has no plain power balance, say), the row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..constraints.rank import null_space, part_along_free_motion
from ..constraints.thresholds import NO_MASS
from ..formulation import Equations
from ..formulation.dense import DenseEquations, DenseState, dense_equations
from ..formulation.motion import load_power
from ..formulation.places import place_of, pose
from ..graph import Expr, depends_on, forward
from ..model import Body, Mechanism
from ..model.attitude import unit_quaternions
from .constrained import by_multipliers, on_constraints
from .programs import Array, Programs, States, equations_of
from .report import CheckReport, CheckRow

AGREEMENT = 1e-9  # two routes in float64, relative to the sum of the sizes of their terms
ACCELERATION = 1e-10  # the same, after division by the smallest eigenvalue of the scaled mass matrix
SYMMETRY = 1e-12  # entries of M that are equal on paper, relative to the diagonal
DIFFERENCE = 1e-7  # central differences of fourth order at STEP; both their errors are near 1e-11
STEP = 1e-3  # rad or m
AT_REST = 1e-12  # velocities at u = 0 that are rounding errors (rad/s, m/s)
CONDITION = 1e4  # of the definitions of the speeds; a state nearer to a singularity says little about the formulation
TRIES = 50  # to draw such a state
SPREAD = 0.7  # of coordinates about their initial values (rad, m), wide enough to leave special positions


def check(model: Mechanism | Equations, samples: int = 5, seed: int = 0, backend: str = "llvm") -> CheckReport:
    """What has to hold for a model, checked at `samples` random states about its initial one."""
    equations = equations_of(model)
    bench = _Bench.at_random(equations, samples, seed, backend)
    checks: tuple[Callable[[_Bench], CheckRow], ...] = (
        _efforts,
        _mass_matrix,
        _symmetric,
        _positive,
        _accelerations,
        _round_trip,
        _kinetic_energy,
        _power,
        _gravity,
        _momentum,
        _partial_velocities,
        *((_row_rates, _row_accelerations, _reaction_work) if equations.mechanism.constraints else ()),
    )
    about = f"{samples} random states, seed {seed}, backend {backend}"
    return CheckReport(equations.mechanism.name, about, tuple(row(bench) for row in checks))


def random_states(dense: DenseEquations, samples: int, seed: int) -> States:
    """States about the initial one with unit quaternions, at which the speeds determine the motion well."""
    mechanism = dense.mechanism
    rng = np.random.default_rng(seed)
    start = np.array([c.initial for c in mechanism.coordinate_records.values()])
    n = len(mechanism.speeds)
    t, q = np.zeros((samples, 1)), np.zeros((samples, len(start)))
    for k in range(samples):
        for _ in range(TRIES):
            t[k] = rng.uniform(0.0, 1.0)
            q[k] = unit_quaternions(mechanism, start + rng.uniform(-SPREAD, SPREAD, len(start)))
            if np.linalg.cond(dense.state(q[k], np.zeros(n), float(t[k, 0])).W) < CONDITION:
                break
    u, udot, tau = rng.normal(size=(3, samples, n))
    return States(t, q, u, udot, tau)


class Rows(NamedTuple):
    """Rows of constraints at the states: A (k, m, n), A u + c, b and phi (k, m)."""

    A: Array
    rate: Array
    b: Array
    phi: Array


@dataclass(frozen=True)
class _Bench:
    """Random states, the programs of the model, and the dense route at those states."""

    equations: Equations
    ask: Programs
    states: States
    at: tuple[DenseState, ...]
    M: Array
    rows: Rows
    softest: tuple[float, str]  # smallest eigenvalue of M scaled to a unit diagonal, and the speeds it belongs to

    @staticmethod
    def at_random(equations: Equations, samples: int, seed: int, backend: str) -> _Bench:
        dense = dense_equations(equations.mechanism)
        ask = Programs(equations, backend)
        start = np.array([c.initial for c in equations.mechanism.coordinate_records.values()])
        states = random_states(dense, samples, seed)
        states = on_constraints(equations, ask, states, start, partial(unit_quaternions, equations.mechanism))
        at = tuple(dense.state(q, u, float(t[0])) for q, u, t in zip(states.q, states.u, states.t, strict=True))
        M, names = ask("mass_matrix", states), equations.mechanism.speeds
        n = len(names)
        rows = Rows(np.zeros((samples, 0, n)), *(np.zeros((samples, 0)) for _ in range(3)))
        if equations.mechanism.constraints:
            rows = Rows(*ask("constraints", states))
        moved = M
        if len(equations.constraints if equations.mechanism.constraints else ()):
            bases = [null_space(A, sizes=equations.constraints.sizes) for A in rows.A]
            moved = [N.T @ m @ N if N.size else m for m, N in zip(M, bases, strict=True)]  # of no motion, M itself
        return _Bench(equations, ask, states, at, M, rows, _least_eigenvalue(moved, names))

    @property
    def singular(self) -> bool:
        return not self.softest[0] > NO_MASS

    @property
    def speed_at_rest(self) -> float:
        return max(state.speed_at_rest for state in self.at)

    def effort_scale(self, udot: Array) -> Array:
        scale = np.array([s.effort_scale(x) for s, x in zip(self.at, udot, strict=True)])
        return scale + np.abs(self.states.tau)

    def solve_scale(self, udot: Array) -> Array:
        """The same where udot comes from a solve: M is then exact to rounding errors of √(M_rr M_ss)."""
        root = np.sqrt(np.abs(np.diagonal(self.M, axis1=1, axis2=2)))
        return self.effort_scale(udot) + root * (root * np.abs(udot)).sum(axis=1, keepdims=True)

    def accelerations(self) -> Array:
        """udot of the model at the states."""
        return self.ask("forward_dynamics", self.states)

    def accelerations_by_multipliers(self) -> Array:
        """udot by multipliers, M and f being those of the dense route."""
        still = np.zeros(self.states.u.shape[1])
        found = []
        for s, tau, A, b in zip(self.at, self.states.tau, self.rows.A, self.rows.b, strict=True):
            found.append(by_multipliers(s.mass_matrix, tau - s.efforts(still), A, b)[0])
        return np.array(found)

    def rate(self, name: str, exprs: list[Expr]) -> Array:
        """d/dt of expressions over t, q and u at the states, with their udot: (k, len(exprs))."""
        system = self.equations.system
        rates: dict[Expr, Expr | float] = {system.t: 1.0}
        rates.update(zip(system.q, system.qdot, strict=True))
        rates.update(zip(system.u, system.udot, strict=True))
        flat = forward(exprs, rates)
        return self.ask.of(name, ("t", "q", "u", "udot"), {"rate": ((len(flat),), flat)}, self.states)


def _least_eigenvalue(M: Array | list[Array], speeds: tuple[str, ...]) -> tuple[float, str]:
    """(least eigenvalue of M scaled to a unit diagonal, the speeds it belongs to); of NᵀM N the speeds are no longer
    those of the model, and none is named."""
    low, names = np.inf, ""
    for matrix in M:
        if not matrix.size:
            continue
        speeds = speeds if len(matrix) == len(speeds) else tuple(f"motion {k + 1}" for k in range(len(matrix)))
        diagonal = np.diag(matrix)
        if not np.all(np.isfinite(matrix)):
            return float("nan"), ", ".join(speeds)
        if np.any(diagonal <= 0):
            return 0.0, ", ".join(n for n, d in zip(speeds, diagonal, strict=True) if d <= 0)
        root = np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(matrix / np.outer(root, root))
        if values[0] < low:
            low = float(values[0])
            names = ", ".join(n for n, x in zip(speeds, vectors[:, 0], strict=True) if abs(x) > 0.1)
    return low, names


def _worst(error: Array, scale: Array | float) -> float:
    """The largest of |error| / scale; where the scale is zero the error has to be."""
    size, floor = np.abs(error), np.finfo(float).tiny
    return float(np.max(size / np.maximum(scale, floor), initial=0.0))


def _efforts(bench: _Bench) -> CheckRow:
    tau = bench.ask("inverse_dynamics", bench.states)
    there = np.array([s.efforts(x) for s, x in zip(bench.at, bench.states.udot, strict=True)])
    value = _worst(tau - there, bench.effort_scale(bench.states.udot))
    return CheckRow("efforts", "−(F_r + F_r*) is that of dense Newton-Euler", value, AGREEMENT)


def _mass_matrix(bench: _Bench) -> CheckRow:
    there = np.array([s.mass_matrix for s in bench.at])
    root = np.sqrt(np.abs(np.diagonal(there, axis1=1, axis2=2)))
    value = _worst(bench.M - there, root[:, :, None] * root[:, None, :] + np.finfo(float).eps)
    return CheckRow("mass matrix", "M = Σ m v_r·v_s + ω_r·I·ω_s of dense Newton-Euler", value, AGREEMENT)


def _symmetric(bench: _Bench) -> CheckRow:
    root = np.sqrt(np.abs(np.diagonal(bench.M, axis1=1, axis2=2)))
    value = _worst(bench.M - bench.M.transpose(0, 2, 1), root[:, :, None] * root[:, None, :] + np.finfo(float).eps)
    return CheckRow("symmetry", "M = Mᵀ", value, SYMMETRY)


def _positive(bench: _Bench) -> CheckRow:
    low, names = bench.softest
    note = ""
    if bench.singular:
        massless = [b.name for b in bench.equations.mechanism.bodies.values() if _massless(bench.equations, b)]
        moved = f"; bodies without mass and inertia: {', '.join(massless)}" if massless else ""
        note = f"M is singular: motion along {names} moves no mass{moved}"
    value = 1.0 / low if low > 0 else np.inf
    return CheckRow("positive mass", "M is positive definite: 1 / smallest eigenvalue", value, 1.0 / NO_MASS, note)


def _massless(equations: Equations, body: Body) -> bool:
    mechanism = equations.mechanism
    exprs = [body.mass, *(e for row in body.inertia for e in row)]
    return all(mechanism.number(e, body.name) == 0.0 for e in exprs)


def _accelerations(bench: _Bench) -> CheckRow:
    name, statement = "accelerations", "u̇ = M⁻¹ (τ − bias) is that of dense Newton-Euler"
    if bench.singular:
        return CheckRow(name, statement, None, ACCELERATION, "M is singular")
    udot = bench.accelerations()
    if bench.equations.mechanism.constraints:  # M alone may be singular then
        statement = "u̇ with constraints embedded is that of dense Newton-Euler with multipliers"
        there = bench.accelerations_by_multipliers()
    else:
        there = np.array([s.accelerations(x) for s, x in zip(bench.at, bench.states.tau, strict=True)])
    root = np.sqrt(np.abs(np.diagonal(bench.M, axis1=1, axis2=2)))
    root = np.where(root > 0.0, root, 1.0)
    forces = bench.effort_scale(np.zeros_like(udot)) / root + root * np.abs(there)
    scale = np.max(forces, axis=1, keepdims=True) / bench.softest[0]
    return CheckRow(name, statement, _worst((udot - there) * root, scale), ACCELERATION)


def _round_trip(bench: _Bench) -> CheckRow:
    name, statement = "circle", "inverse dynamics of forward dynamics gives τ back"
    if bench.singular:
        return CheckRow(name, statement, None, AGREEMENT, "M is singular")
    udot = bench.accelerations()
    left = bench.ask("inverse_dynamics", bench.states, udot=udot) - bench.states.tau
    if bench.equations.mechanism.constraints:
        statement = "inverse dynamics of forward dynamics gives τ back, and reactions"
        left = np.array(
            [
                part_along_free_motion(A, x, bench.equations.constraints.sizes)
                for A, x in zip(bench.rows.A, left, strict=True)
            ]
        )
    return CheckRow(name, statement, _worst(left, bench.solve_scale(udot)), AGREEMENT)


def _kinetic_energy(bench: _Bench) -> CheckRow:
    u = bench.states.u
    at = [bench.ask("energy", bench.states, u=x)[0] for x in (u, -u, 0.0 * u)]
    there = np.array([s.kinetic_energy for s in bench.at])
    half = 0.5 * np.einsum("ki,kij,kj->k", u, bench.M, u)
    errors = np.array([0.5 * (at[0] + at[1]) - at[2] - half, at[0] - there])
    scale = np.abs(there) + np.abs(at[2]) + np.abs(half)
    statement = "½ (T(u) + T(−u)) − T(0) = ½ uᵀMu, T that of dense route"
    return CheckRow("kinetic energy", statement, _worst(errors, scale), AGREEMENT)


def _power(bench: _Bench) -> CheckRow:
    name, statement = "power balance", "dT/dt = power of τ, loads and gravity"
    if bench.singular:
        return CheckRow(name, statement, None, AGREEMENT, "M is singular")
    if bench.speed_at_rest > AT_REST:
        return CheckRow(name, statement, None, AGREEMENT, "parts move at u = 0: what moves them does work too")
    udot = bench.accelerations()
    moving = replace(bench, states=replace(bench.states, udot=udot))
    gained = moving.rate("kinetic_rate", [bench.equations.kinetic_energy])[:, 0]
    outputs = {"power": ((), [load_power(bench.equations)])}
    loads = bench.ask.of("load_power", ("t", "q", "u", "tau"), outputs, bench.states)
    gravity = np.array([s.gravity_power for s in bench.at])
    scale = (bench.solve_scale(udot) * np.abs(bench.states.u)).sum(axis=1)
    if bench.equations.mechanism.constraints:
        statement = "dT/dt = power of τ, loads, gravity and reactions"
        reactions = bench.ask("inverse_dynamics", bench.states, udot=udot) - bench.states.tau
        loads = loads + (reactions * bench.states.u).sum(axis=1)
    return CheckRow(name, statement, _worst(gained - loads - gravity, scale), AGREEMENT)


def _row_rates(bench: _Bench) -> CheckRow:
    name, statement = "constraint rates", "d/dt of residuals is A u + c, row by row"
    placed = list(bench.equations.constraints.placed)
    if not placed:
        return CheckRow(name, statement, None, AGREEMENT, "no row has a residual")
    rates = bench.rate("residual_rate", [bench.equations.constraints.phi[k] for k in placed])
    there = bench.ask("constraints", bench.states)[1][:, placed]
    scale = (np.abs(bench.rows.A[:, placed]) * np.abs(bench.states.u)[:, None, :]).sum(axis=2) + 1e-3
    return CheckRow(name, statement, _worst(rates - there, scale), AGREEMENT)


def _row_accelerations(bench: _Bench) -> CheckRow:
    statement = "d/dt of A u + c is A u̇ − b, row by row"
    rates = bench.rate("row_rate", bench.equations.constraints.rate)
    there = np.einsum("kij,kj->ki", bench.rows.A, bench.states.udot) - bench.rows.b
    scale = (np.abs(bench.rows.A) * np.abs(bench.states.udot)[:, None, :]).sum(axis=2) + np.abs(bench.rows.b) + 1e-3
    return CheckRow("constraint accelerations", statement, _worst(rates - there, scale), AGREEMENT)


def _reaction_work(bench: _Bench) -> CheckRow:
    name, statement = "reactions", "reactions do no work: λ · A u = 0"
    if bench.equations.constraints.driven:
        return CheckRow(name, statement, None, AGREEMENT, "constraints move by themselves and do work")
    if bench.singular:
        return CheckRow(name, statement, None, AGREEMENT, "M is singular")
    udot = bench.accelerations()
    reactions = bench.ask("inverse_dynamics", bench.states, udot=udot) - bench.states.tau
    power = (reactions * bench.states.u).sum(axis=1)
    scale = (bench.solve_scale(udot) * np.abs(bench.states.u)).sum(axis=1)
    return CheckRow(name, statement, _worst(power, scale), AGREEMENT)


def _name_open(equations: Equations, ask: Callable[[], Sequence[Expr]]) -> str:
    """A note on parameters without a value that expressions depend on, which are asked for where there are such
    parameters; empty where there are none."""
    parameters = [p for p in equations.mechanism.parameters.values() if not p.has_value]
    exprs = ask() if parameters else ()
    names = [p.name for p in parameters if depends_on(exprs, [equations.graph.input(p.name)])]
    return f"no value is given for {', '.join(names)}" if names else ""


def _gravity(bench: _Bench) -> CheckRow:
    name, statement = "gravity", "dV/dt = − power of the weights"
    if any(_set_directly(b) for b in bench.equations.mechanism.bodies.values()):
        return CheckRow(name, statement, None, AGREEMENT, "velocities are set directly, positions need not follow")
    if note := _name_open(bench.equations, lambda: [bench.equations.gravity_potential]):
        return CheckRow(name, statement, None, AGREEMENT, note)
    fallen = bench.rate("gravity_rate", [bench.equations.gravity_potential])[:, 0]
    power = np.array([s.gravity_power for s in bench.at])
    scale = np.array([np.linalg.norm(s.weights, axis=1) @ np.linalg.norm(s.v, axis=1) for s in bench.at])
    return CheckRow(name, statement, _worst(fallen + power, scale), AGREEMENT)


def _momentum(bench: _Bench) -> CheckRow:
    name, statement = "momentum", "d/dt of momentum = − resultant and moment of R*, T*"
    if any(_set_directly(b) for b in bench.equations.mechanism.bodies.values()):
        return CheckRow(name, statement, None, AGREEMENT, "velocities are set directly, positions need not follow")
    p, H = bench.equations.momentum
    if note := _name_open(bench.equations, lambda: [*p, *H]):
        return CheckRow(name, statement, None, AGREEMENT, note)
    rates = bench.rate("momentum_rate", [*p, *H])
    worst = 0.0
    for state, udot, rate in zip(bench.at, bench.states.udot, rates, strict=True):
        F, moment = state.momentum_rate(udot)
        R_star, T_star = (np.linalg.norm(x, axis=1) for x in state.inertia_loads(udot))
        lever = np.linalg.norm(state.r, axis=1)
        worst = max(worst, _worst(rate[:3] - F, R_star.sum()), _worst(rate[3:] - moment, T_star.sum() + lever @ R_star))
    return CheckRow(name, statement, worst, AGREEMENT)


def _poses(equations: Equations) -> list[Expr]:
    """Orientations and positions of all bodies."""
    return [e for name in equations.mechanism.bodies for e in pose(equations, place_of(equations, name))]


def _partial_velocities(bench: _Bench) -> CheckRow:
    name, statement = "partial velocities", "ω_r, v_r are differences of orientations and positions"
    bodies = list(bench.equations.mechanism.bodies.values())
    moved = [k for k, b in enumerate(bodies) if not _set_directly(b)]
    skipped = [b.name for b in bodies if _set_directly(b)]
    note = f"set directly: {', '.join(skipped)}" if skipped else ""
    if not moved:
        return CheckRow(name, statement, None, DIFFERENCE, note)
    n, mechanism = len(bench.equations.system.u), bench.equations.mechanism
    if missing := _name_open(bench.equations, lambda: _poses(bench.equations)):
        return CheckRow(name, statement, None, DIFFERENCE, missing)
    flat = []
    for k in moved:
        w_r, v_r = bench.equations.partial_velocities(bodies[k].name)
        flat += [e for row in (*w_r, *v_r) for e in row]
    outputs = {"partials": ((len(moved), 6, n), flat)}
    said = bench.ask.of("partial_velocities", ("t", "q"), outputs, bench.states)
    centers = np.array([[mechanism.number(e, "center") for e in bodies[k].center] for k in moved])
    still = bench.ask("kinematics", bench.states, u=np.zeros_like(bench.states.u))
    poses = bench.ask("poses", bench.states)[:, moved]
    R = poses[..., :9].reshape(len(bench.states), len(moved), 3, 3)
    far = 1.0 + float(np.abs(poses[..., 9:]).max()) * np.finfo(float).eps / (STEP * DIFFERENCE)  # rounding in orbit
    worst = 0.0
    for r in range(n):
        along = bench.ask("kinematics", bench.states, u=np.tile(np.eye(n)[r], (len(bench.states), 1))) - still
        R_dot, v = _differences(bench, moved, centers, along)
        spin = R.swapaxes(-1, -2) @ R_dot
        w = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
        seen = np.concatenate([w, np.einsum("kbji,kbj->kbi", R, v)], axis=-1)
        worst = max(worst, _worst(said[..., r] - seen, far + float(np.abs(seen).max())))
    return CheckRow(name, statement, worst, DIFFERENCE, note)


def _differences(bench: _Bench, moved: list[int], centers: Array, along: Array) -> tuple[Array, Array]:
    """(rate of R_NB, velocity of the mass centre in N) as q moves along a direction: differences of fourth order."""
    size = np.maximum(1.0, np.abs(along).max(axis=1, keepdims=True))
    total_R, total_p = 0.0, 0.0
    for weight, steps in ((8.0, 1), (-8.0, -1), (-1.0, 2), (1.0, -2)):
        pose = bench.ask("poses", bench.states, q=bench.states.q + steps * STEP / size * along)[:, moved]
        R = pose[..., :9].reshape(*pose.shape[:2], 3, 3)
        total_R = total_R + weight * R
        total_p = total_p + weight * (pose[..., 9:] + np.einsum("kbij,bj->kbi", R, centers))
    scale = size[:, :, None] / (12.0 * STEP)
    return total_R * scale[..., None], total_p * scale


def _set_directly(body: Body) -> bool:
    """Whether the motion of a body rests on an angular velocity or a velocity that the analyst set."""
    frame, point = body.frame, body.origin
    while frame is not None:
        if frame.w_NF is not None:
            return True
        frame = frame.parent
    while point is not None:
        if point.v_NP is not None:
            return True
        carrier = point.offset.frame
        while carrier is not None:
            if carrier.w_NF is not None:
                return True
            carrier = carrier.parent
        point = point.parent
    return False


__all__ = ["check", "random_states"]
