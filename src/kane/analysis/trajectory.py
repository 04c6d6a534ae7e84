"""A computed motion checked by the laws of mechanics: energy, momentum, efforts, quaternions.

Comes in: a trajectory (times, coordinates, speeds, efforts, work of the loads). Goes out: a `CheckReport`. A component
of momentum has to stay where it is when its rate, by the equations of motion, vanishes all along the way.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..constraints.rank import part_along_free_motion
from ..constraints.thresholds import SATISFIED
from ..formulation import Equations
from ..formulation.dense import dense_equations
from ..graph import Expr, forward
from ..model import Mechanism
from ..model.attitude import quaternion_places
from .changing import ChangingMotion, changing_rows
from .check import AGREEMENT, AT_REST
from .programs import Array, Programs, States
from .report import CheckReport, CheckRow
from .steps import BETWEEN, SteppedMotion, step_rows

CONSERVED = 1e-10  # rate of a component of momentum, relative to what its parts change by, that counts as zero
UNBALANCED = 0.01  # energy that a time step may leave out, relative, for each rad or m that it moves
COMPONENTS = ("p·nx", "p·ny", "p·nz", "H·nx", "H·ny", "H·nz")


class CheckedMotion(Protocol):
    """What a trajectory must have: t (k,), q (k, n_q), u (k, n), tau (k, n), work of all loads but gravity (k,)."""

    @property
    def t(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def u(self) -> Array: ...
    @property
    def tau(self) -> Array: ...
    @property
    def work(self) -> Array: ...
    def acceleration(self) -> Array: ...


def check_trajectory(
    motion: CheckedMotion,
    equations: Equations,
    tolerance: float = 1e-6,
    backend: str = "llvm",
    changing: ChangingMotion | None = None,
    values: Array | None = None,
) -> CheckReport:
    """What has to hold along a motion; `tolerance` is what the integrator may add up to, relative. `changing` is what
    came and went along it, `values` are those of the free parameters where they are not the model's own."""
    name, about, first = _begin(motion, equations)
    if not first.passed:
        return CheckReport(name, about, (first,))
    ask = Programs(equations, backend, values)
    states = States(motion.t[:, None], motion.q, motion.u, np.zeros_like(motion.u), motion.tau)
    states = States(states.t, states.q, states.u, motion.acceleration(), states.tau)
    rows = (
        first,
        _quaternions(motion, equations.mechanism, tolerance),
        _circle(motion, ask, states, changing),
        *(_constraints(ask, states) if equations.mechanism.constraints else ()),
        *(changing_rows(changing, ask, states) if changing is not None else ()),
        _energy(motion, ask, states, tolerance, changing is not None),
        *_momentum(ask, states, tolerance, changing),
    )
    return CheckReport(name, about, rows)


def check_stepped(
    motion: CheckedMotion,
    equations: Equations,
    steps: SteppedMotion | None,
    tolerance: float = 1e-6,
    values: Array | None = None,
) -> CheckReport:
    """What has to hold along a motion by time stepping: the laws of contact in every step of it, where these are known,
    and the balance of energy."""
    name, about, first = _begin(motion, equations)
    if not first.passed:
        return CheckReport(name, about, (first,))
    ask, none = Programs(equations, values=values), np.zeros_like(motion.u)
    states = States(motion.t[:, None], motion.q, motion.u, none, motion.tau)
    kinetic = float(np.max(ask("energy", states)[0]))
    found, moved = step_rows(steps, kinetic)
    rows = (
        first,
        _quaternions(motion, equations.mechanism, tolerance),
        *(_constraints(ask, states) if equations.mechanism.constraints else ()),
        *found,
        _energy(motion, ask, states, max(tolerance, UNBALANCED * moved), True, "" if steps is not None else BETWEEN),
    )
    return CheckReport(name, about, rows)


def _begin(motion: CheckedMotion, equations: Equations) -> tuple[str, str, CheckRow]:
    """The name of the model, what is checked, and whether all of it are numbers."""
    about = f"{len(motion.t)} times from {motion.t[0]:g} to {motion.t[-1]:g} s"
    finite = all(bool(np.isfinite(x).all()) for x in (motion.q, motion.u, motion.tau, motion.work))
    return equations.mechanism.name, about, CheckRow("states", "all states are finite", 0.0 if finite else np.inf, 0.0)


def _quaternions(motion: CheckedMotion, mechanism: Mechanism, tolerance: float) -> CheckRow:
    statement = "quaternions are unit"
    found = quaternion_places(mechanism)
    if not found:
        return CheckRow("quaternions", statement, None, tolerance, "there are none")
    norms = [np.linalg.norm(motion.q[:, indices], axis=1) for indices in found.values()]
    return CheckRow("quaternions", statement, float(np.abs(np.array(norms) - 1.0).max()), tolerance)


def _circle(motion: CheckedMotion, ask: Programs, states: States, changing: ChangingMotion | None) -> CheckRow:
    tau = ask("inverse_dynamics", states)
    scale = 1.0 + float(np.abs(tau).max()) + float(np.abs(ask("bias", states)).max())
    left, statement = tau - motion.tau, "inverse dynamics of the motion gives τ back"
    if changing is not None:
        statement += ", and reactions"
        left = left - changing.efforts()
    elif ask.equations.mechanism.constraints:
        statement += ", and reactions"
        sizes = ask.equations.constraints.sizes
        left = np.array(
            [part_along_free_motion(A, x, sizes) for A, x in zip(ask("constraints", states)[0], left, strict=True)]
        )
    return CheckRow("circle", statement, float(np.abs(left).max()) / scale, AGREEMENT)


def _constraints(ask: Programs, states: States) -> list[CheckRow]:
    """Residuals of configurations and of rates along the motion."""
    _, rate, _, phi = ask("constraints", states)
    far, fast = 1.0 + float(np.abs(states.q).max()), 1.0 + float(np.abs(states.u).max())
    return [
        CheckRow("closure", "residuals of configurations vanish", float(np.abs(phi).max()) / far, SATISFIED),
        CheckRow("rates", "A u + c = 0", float(np.abs(rate).max()) / fast, SATISFIED),
    ]


def _energy(
    motion: CheckedMotion, ask: Programs, states: States, tolerance: float, changing: bool, unknown: str = ""
) -> CheckRow:
    name, statement = "energy", "T + V of gravity − work of τ and loads is constant"
    if changing:
        statement = "T + V of gravity − work of τ, loads, friction and impacts is constant"
    if unknown:
        return CheckRow(name, statement, None, tolerance, unknown)
    dense = dense_equations(ask.equations.mechanism)
    some = np.linspace(0, len(motion.t) - 1, 3).astype(int)
    if max(dense.state(motion.q[k], motion.u[k], float(motion.t[k])).speed_at_rest for k in some) > AT_REST:
        return CheckRow(name, statement, None, tolerance, "parts move at u = 0: what moves them does work too")
    T = ask("energy", states)[0]
    outputs = {"V": ((), [ask.equations.gravity_potential])}
    V = ask.of("gravity_potential", ("t", "q"), outputs, states)
    balance = T + V - motion.work
    scale = max(float(np.ptp(x)) for x in (T, V, motion.work)) + float(np.abs(T).max())
    rounding = 1e3 * np.finfo(float).eps * float(np.abs(V).max()) / tolerance  # of what stays where it is
    value = float(np.abs(balance - balance[0]).max()) / max(scale, rounding, np.finfo(float).tiny)
    return CheckRow(name, statement, value, tolerance)


def _momentum(ask: Programs, states: States, tolerance: float, changing: ChangingMotion | None) -> list[CheckRow]:
    """One row for each component of momentum about the origin whose rate vanishes along the motion."""
    if changing is not None and changing.struck:
        statement = "constant where its rate vanishes"
        return [CheckRow("momentum", statement, None, tolerance, "impulses change it at once")]
    system = ask.equations.system
    rates: dict[Expr, Expr | float] = {system.t: 1.0}
    rates.update(zip(system.q, system.qdot, strict=True))
    rates.update(zip(system.u, system.udot, strict=True))
    p, H = ask.equations.momentum
    flat = forward([*p, *H], rates)
    change = ask.of("momentum_rate", ("t", "q", "u", "udot"), {"rate": ((6,), flat)}, states)
    linear, angular = ask("momentum", states)
    there = np.concatenate([linear, angular], axis=1)
    return conservation_rows(there, change, CONSERVED, tolerance)


def conservation_rows(there: Array, change: Array, vanishing: float, tolerance: float) -> list[CheckRow]:
    """One row for each component of momentum, (k, 6), whose rate `change` stays below `vanishing`, relative."""
    parts = (slice(0, 3), slice(3, 6))
    sizes = np.repeat([_size(there[:, part], change[:, part]) for part in parts], 3)
    still = np.abs(change).max(axis=0) <= vanishing * np.maximum(1.0, sizes)
    rows = []
    for k in np.flatnonzero(still):
        value = float(np.abs(there[:, k] - there[0, k]).max() / max(sizes[k], 1e-3))
        rows.append(CheckRow(COMPONENTS[k], "its rate vanishes, so it is constant", value, tolerance))
    if not rows:
        rows.append(CheckRow("momentum", "constant where its rate vanishes", None, tolerance, "no component stays"))
    return rows


def _size(momentum: Array, change: Array) -> float:
    """How large a momentum and its rate get."""
    return float(max(np.abs(momentum).max(), np.abs(change).max()))


__all__ = ["CheckedMotion", "check_stepped", "check_trajectory"]
