"""Linearization about many states and parameters in one call.

Programs are evaluated for all samples and all directions at once. States off the constraints are moved onto them: their
speeds together, where configurations are met, and otherwise one by one, as a start of `simulate` is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..analysis.linearization import FirstOrder, FirstOrderMotion, Operating, Positions, choose_independent, close_loop
from ..analysis.linearizations import first_orders, linearize_together, require_one_shape
from ..constraints.multipliers import Balance, multipliers_by_singular_values
from ..constraints.projection import least_beside
from ..constraints.thresholds import REGULAR, SATISFIED
from ..errors import KaneError
from ..model.attitude import quaternion_places, unit_quaternions
from . import given
from .answers import Answers
from .constrained import row_sizes
from .flat_wheels import refuse_fallen_wheels
from .records import Array
from .start_choices import held_names, start_choices, usual_speeds
from .starts import start_state

_MET = 1e-3 * SATISFIED  # residuals beside 1 + size, below which a state is on the constraints as it is


@dataclass(frozen=True, slots=True)
class Samples:
    """States (k, …) that are linearized about, and values of free parameters, (p,) or (k, p)."""

    t: Array
    q: Array
    u: Array
    tau: Array
    values: Array


def count_samples(answers: Answers, q: Any, u: Any, tau: Any, t: Any, parameters: Any) -> int:
    """How many samples are given; 0 for one state."""
    m = answers.mechanism
    found = {
        name: len(x) if x is not None and x.ndim == 2 else 0
        for name, x in (
            ("q", None if q is None else given.vector(m, "q", q)),
            ("u", None if u is None else given.vector(m, "u", u)),
            ("tau", None if tau is None else given.vector(m, "tau", tau)),
            ("parameters", given.parameters(m, parameters)),
        )
    }
    return require_one_shape(found | {"t": 0 if np.ndim(t) == 0 else len(np.ravel(t))})


def gather_samples(answers: Answers, k: int, q: Any, u: Any, tau: Any, t: Any, parameters: Any) -> Samples:
    """The samples on the constraints."""
    m = answers.mechanism

    def spread(what: str, value: Any) -> Array:
        found = given.initial(m, what) if value is None else given.vector(m, what, value)
        return np.array(np.broadcast_to(found, (k, found.shape[-1])))

    values = given.parameters(m, parameters)
    values = answers.values if values is None else values
    clock = np.array(np.broadcast_to(np.ravel(np.asarray(t, dtype=float)), (k,)))
    samples = Samples(clock, unit_quaternions(m, spread("q", q)), spread("u", u), spread("tau", tau), values)
    if not m.constraints:
        return samples
    moved = _move_onto_constraints(answers, samples, q, u)
    refuse_fallen_wheels(answers, moved.t, moved.q, values)
    return moved


def _move_onto_constraints(answers: Answers, s: Samples, q: Any, u: Any) -> Samples:
    m = answers.mechanism
    A, rate, phi = _rows(answers, s, s.u)
    near, scale = _MET * (1.0 + np.abs(s.q).max(axis=1)), _MET * (1.0 + np.abs(s.u).max(axis=1))
    if np.all(np.abs(phi).max(axis=1, initial=0.0) <= near):
        if np.all(np.abs(rate).max(axis=1, initial=0.0) <= scale):
            return s
        for choice in start_choices(answers, held_names(q, u), usual_speeds(m, u)):
            loose = [i for i, name in enumerate(m.speeds) if name in choice.loose]
            others = [i for i, name in enumerate(m.speeds) if name not in (*choice.held, *choice.loose)]
            moved = _least_change(A, rate, s.u, others, loose)
            if moved is not None:
                return Samples(s.t, s.q, moved, s.tau, s.values)
    states = [_start_alone(answers, s, i, q, u) for i in range(len(s.t))]
    return Samples(s.t, np.array([x for x, _ in states]), np.array([x for _, x in states]), s.tau, s.values)


def _rows(answers: Answers, s: Samples, u: Array) -> tuple[Array, Array, Array]:
    A, rate, _, phi = answers.answer("constraints")(s.t[:, None], (s.q, u), s.values)
    return A, rate, phi


def _least_change(A: Array, rate: Array, u: Array, movable: list[int], loose: list[int]) -> Array | None:
    """u moved to A u + c = 0 by the least change of what may move, however much the `loose` ones do; None where that
    does not determine it."""
    rows = A[:1] if np.all(A[:1] == A) else A  # often there are many speeds at one position
    if loose:
        step = least_beside(rows, -rate, movable, loose)
    else:
        G, step = rows[:, :, movable], np.zeros_like(u)
        try:
            step[:, movable] = (G.transpose(0, 2, 1) @ np.linalg.solve(G @ G.transpose(0, 2, 1), -rate[..., None]))[
                ..., 0
            ]
        except np.linalg.LinAlgError:
            return None
    moved = u + step
    left = rate + (rows @ step[..., None])[..., 0]
    good = np.abs(left).max(axis=1) <= SATISFIED * (1.0 + np.abs(moved).max(axis=1))
    return moved if np.all(good) else None


def _start_alone(answers: Answers, s: Samples, i: int, q: Any, u: Any) -> tuple[Array, Array]:
    """One sample as a start of `simulate`; names that mappings gave stay."""
    m = answers.mechanism
    one = answers if s.values.ndim == 1 else answers.with_parameters(s.values[i])
    named = held_names(q, u)
    start: list[Any] = [
        {n: x for n, x in zip(names, row.tolist(), strict=True) if n in named} if isinstance(whole, Mapping) else row
        for names, row, whole in ((m.coordinates, s.q[i], q), (m.speeds, s.u[i], u))
    ]
    try:
        return start_state(one, start[0], start[1], float(s.t[i]))
    except KaneError as error:
        error.add_note(f"at state {i} of {len(s.t)}")
        raise


@dataclass(frozen=True, slots=True)
class BatchPrograms:
    """What samples are linearized with: the tangent of the equations, how quaternions follow rotations, and a control
    law as (t, q, u, values) → efforts, their Jacobians by q and by u; None where there is none."""

    tangent: Callable[..., Sequence[Array]]
    turns: Callable[..., Sequence[Array]] | None
    feedback: Callable[..., tuple[Array, Array, Array]] | None


def linearize_samples(
    answers: Answers, s: Samples, programs: BatchPrograms, keep: Sequence[str]
) -> tuple[Operating, FirstOrderMotion, tuple[str, ...]]:
    """(operating points, first order of the motions, names of positions) at all samples."""
    m = answers.mechanism
    tau, loop = s.tau, None
    if programs.feedback is not None:
        efforts, *loop = programs.feedback(s.t, s.q, s.u, s.values)
        tau = tau + efforts
    udot = np.asarray(answers.answer("forward_dynamics")(s.t[:, None], (s.q, s.u, tau), s.values))
    at = Operating(cast("Any", s.t), s.q, s.u, tau, udot, _reactions(answers, s, udot, tau))
    M = np.broadcast_to(answers.answer("mass_matrix")(s.t[:, None], (s.q,), s.values), (len(s.t), *[len(m.speeds)] * 2))
    first = first_orders(programs.tangent, at, M)
    positions = _positions(answers, programs.turns, s)
    alone = Positions(positions.names, positions.E[0], positions.Edot[0])
    motion = linearize_together(
        first, positions, at, *choose_independent(_first_sample(first, answers), alone, keep, m.speeds), m.speeds
    )
    return at, motion if loop is None else close_loop(motion, *loop), positions.names


def _first_sample(first: FirstOrder, answers: Answers) -> FirstOrder:
    """The first of the samples."""
    value, q, u, udot = (
        {name: x[0] for name, x in part.items()} for part in (first.value, first.by_q, first.by_u, first.by_udot)
    )
    return FirstOrder(value, q, u, udot, row_sizes(answers) if answers.mechanism.constraints else None)


def _reactions(answers: Answers, s: Samples, udot: Array, tau: Array) -> Array:
    """λ of least length with Aᵀλ = M u̇ + bias − tau, (k, m)."""
    if not answers.mechanism.constraints:
        return np.zeros((len(s.t), 0))
    A = _rows(answers, s, s.u)[0]
    efforts = np.asarray(answers.answer("inverse_dynamics")(s.t[:, None], (s.q, s.u, udot), s.values)) - tau
    square = A @ A.transpose(0, 2, 1)
    sizes = np.einsum("kii->ki", square)
    if np.all(sizes > 0.0):
        beside = square / np.sqrt(sizes[:, :, None] * sizes[:, None, :])
        if np.all(np.linalg.slogdet(beside)[1] > np.log(REGULAR)):
            return np.asarray(np.linalg.solve(square, A @ efforts[:, :, None])[:, :, 0], dtype=np.float64)
    return multipliers_by_singular_values(Balance(A, efforts, np.ones_like(efforts), sizes=row_sizes(answers))).values


def _positions(answers: Answers, turns: Callable[..., Sequence[Array]] | None, s: Samples) -> Positions:
    """Perturbations of the configurations, E (k, n_q, n); (1, n_q, n) without attitudes, the same at all."""
    m = answers.mechanism
    places = list(quaternion_places(m).items())
    E, Edot = np.zeros((2, 1, 0, 4, 3)) if turns is None else turns(s.t[:, None], (s.q, s.u), s.values)
    each = [Positions.of(m.coordinates, places, *pair) for pair in zip(E, Edot, strict=True)]
    return Positions(each[0].names, np.array([p.E for p in each]), np.array([p.Edot for p in each]))


__all__ = ["BatchPrograms", "Samples", "count_samples", "gather_samples", "linearize_samples"]
