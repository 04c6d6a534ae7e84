"""Checks of models that were read from a script and that the dense route cannot follow: a Lagrangian, which says
nothing of bodies, and frames whose turning no orientation tells.

What is left are laws on the equations themselves: M is symmetric and positive, inverse and forward dynamics undo each
other, the power of all loads is the rate of the energy; and, of a Lagrangian, its derivatives by SymPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..formulation import Equations
from ..formulation.motion import load_power
from ..graph import Expr, forward
from .check import AGREEMENT, SPREAD, SYMMETRY
from .programs import Array, Programs, States
from .report import CheckReport, CheckRow

Second = Callable[[States], Array]
"""Efforts (k, n) at states, by a second route."""


def check_script(
    equations: Equations, samples: int, seed: int, second: tuple[str, Second] | None = None, unknown: str = ""
) -> CheckReport:
    """What can be checked without bodies and orientations, at random states; `second` is a statement about efforts with
    the route that it compares them with, `unknown` says why there is none."""
    m, rng = equations.mechanism, np.random.default_rng(seed)
    start = np.array([c.initial for c in m.coordinate_records.values()])
    n = len(m.speeds)
    q = start + rng.uniform(-SPREAD, SPREAD, (samples, len(start)))
    u, udot, tau = rng.normal(size=(3, samples, n))
    states = States(rng.uniform(0.0, 1.0, (samples, 1)), q, u, udot, tau)
    ask = Programs(equations)
    efforts, M = np.asarray(ask("inverse_dynamics", states)), np.asarray(ask("mass_matrix", states))
    scale = 1.0 + np.abs(efforts).max() + np.abs(ask("bias", states)).max()
    if second is None:
        first = CheckRow("efforts", "are those of a second route", None, AGREEMENT, unknown)
    else:
        value = float(np.abs(efforts - second[1](states)).max() / scale)
        first = CheckRow("efforts", second[0], value, AGREEMENT)
    size = np.abs(M).max() + np.finfo(float).eps
    asymmetry = float(np.abs(M - M.transpose(0, 2, 1)).max() / size)
    least = float(np.linalg.eigvalsh(0.5 * (M + M.transpose(0, 2, 1))).min() / size)
    rows = (
        first,
        CheckRow("symmetry", "M = Mᵀ", asymmetry, SYMMETRY),
        CheckRow("mass", "M has no negative eigenvalue", max(0.0, -least), SYMMETRY),
        _circle(equations, ask, states, scale),
        _power_balance(equations, ask, states),
    )
    return CheckReport(m.name, f"{samples} random states, seed {seed}", rows)


def _circle(equations: Equations, ask: Programs, states: States, scale: float) -> CheckRow:
    statement = "inverse dynamics of forward dynamics gives τ back"
    if equations.mechanism.constraints:
        return CheckRow("circle", statement, None, AGREEMENT, "constraints carry a part of τ")
    udot = np.asarray(ask("forward_dynamics", states))
    back = np.asarray(ask("inverse_dynamics", states, udot=udot))
    good = np.isfinite(back).all()
    value = float(np.abs(back - states.tau).max() / (scale + np.abs(states.tau).max())) if good else np.inf
    return CheckRow("circle", statement, value, AGREEMENT)


def _power_balance(equations: Equations, ask: Programs, states: States) -> CheckRow:
    """d/dt of T + V against the power of loads and of the efforts that the motion takes."""
    statement, system = "d/dt (T + V) is the power of efforts and loads", equations.system
    if not _is_homogeneous(ask, states):
        return CheckRow("power balance", statement, None, AGREEMENT, "parts move at u = 0, or the clock acts")
    rates: dict[Expr, Expr | float] = {system.t: 1.0}
    rates.update(zip(system.q, system.qdot, strict=True))
    rates.update(zip(system.u, system.udot, strict=True))
    change = forward([equations.kinetic_energy, equations.gravity_potential], rates)
    outputs = {"change": ((2,), change), "power": ((), [load_power(equations)])}
    efforts = np.asarray(ask("inverse_dynamics", states))
    at = States(states.t, states.q, states.u, states.udot, efforts)
    changes, power = ask.of("balance", ("t", "q", "u", "udot", "tau"), outputs, at)
    size = 1.0 + np.abs(changes).max() + np.abs(efforts * states.u).max()
    return CheckRow("power balance", statement, float(np.abs(changes.sum(axis=1) - power).max() / size), AGREEMENT)


def _is_homogeneous(ask: Programs, states: States) -> bool:
    """Whether nothing moves at u = 0 and the clock does nothing, so that efforts and loads do all the work."""
    still = States(states.t, states.q, 0.0 * states.u, states.udot, states.tau)
    rest = np.abs(np.asarray(ask("kinematics", still))).max(initial=0.0)
    kinetic = np.abs(np.asarray(ask("energy", still)[0])).max()
    later = States(states.t + 0.7, states.q, states.u, states.udot, states.tau)
    steady = [
        np.allclose(ask(name, later), ask(name, states), rtol=AGREEMENT, atol=AGREEMENT)
        for name in ("mass_matrix", "bias")
    ]
    return bool(rest <= AGREEMENT and kinetic <= AGREEMENT and all(steady))


def names_of_inputs(equations: Equations) -> Sequence[str]:
    """Labels of t, q and u, in this order."""
    return ("t", *equations.mechanism.coordinates, *equations.mechanism.speeds)


__all__ = ["check_script", "names_of_inputs"]
