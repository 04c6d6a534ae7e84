"""Constrained states: rows in numbers, states moved onto the constraints, what these leave free, efforts of drives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..constraints.branches import speeds_on_branch
from ..constraints.freedom import Freedom, count_freedom
from ..constraints.projection import (
    InconsistentRows,
    RowLabels,
    RowTerms,
    project_position,
    project_speeds,
    require_values,
)
from ..constraints.rank import Choice, null_space, row_rank
from ..constraints.thresholds import INVOLVED, REDUNDANT, SATISFIED, SINGULAR, TOLERATED
from ..errors import InputError, ModelError, Problem
from ..formulation.choice import choose_independent
from ..formulation.reactions import all_rows
from ..formulation.sizes import row_sizes as sizes_of
from ..model import Mechanism
from . import given
from .answers import Answers, constraint_kernels
from .records import Array, ConstraintRows

_NAMED = 6  # rows that an error names
_LISTED = 4  # branches that an error tells


class OffBranchError(ModelError):
    """Speeds that belong to no motion through a singular position; another guess would not help."""


def constraint_rows(answers: Answers, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> ConstraintRows:
    """The rows at a state: A (…, m, n), the rate A u + c (…, m) that is zero on the constraints, b (…, m) of
    A udot = b, and the residuals phi (…, m) of configurations (m, rad; zero for rows of motion). Rows are named by
    `row_names`.

    >>> m = kane.load("four-bar")
    >>> q, u = m.project()
    >>> m.constraint_rows(q, u).A.shape, m.row_names
    ((5, 3), ('pin.x', 'pin.y', 'pin.z', 'pin.rx', 'pin.ry'))
    """
    if not answers.mechanism.constraints:
        raise InputError(f"model '{answers.mechanism.name}' has no constraints")
    return ConstraintRows(*answers.ask("constraints", t, parameters, q=q, u=u))


def drive_efforts(
    answers: Answers, q: Any, u: Any, udot: Any, along: Iterable[str], *, t: Any = 0.0, parameters: Any = None
) -> Array:
    """Efforts tau (N m, N), (…, n), that produce udot in the state q, u and act only along the speeds named.

    Under constraints many efforts produce a motion: `inverse_dynamics` gives those that leave the constraints
    nothing to carry, this those of the drives of a parallel robot, the least where there are more than needed. udot
    has to satisfy the constraints.

    >>> m = kane.load("four-bar")
    >>> q, u = m.project()
    >>> udot = m.forward_dynamics(q, u, [0, 0, 0])
    >>> abs(m.drive_efforts(q, u, udot, along=m.speeds[:1])).round(6).tolist()
    [0.0, 0.0, 0.0]
    """
    mechanism = answers.mechanism
    q, u, udot = (given.vector(mechanism, what, x) for what, x in (("q", q), ("u", u), ("udot", udot)))
    tau = answers.ask("inverse_dynamics", t, parameters, q=q, u=u, udot=udot)
    driven = [mechanism.speeds.index(name) for name in given.speed_names(mechanism, along, "efforts along")]
    flat = np.atleast_2d(tau)
    factors: Array = np.zeros((0, len(mechanism.speeds)))
    if mechanism.constraints:
        rows = constraint_rows(answers, q, u, t=t, parameters=parameters)
        refuse_off(mechanism, rows, u)
        rate = np.einsum("...mn,...n->...m", rows.A, udot) - rows.b
        _refuse_large(mechanism, "udot", rate, rows.A, udot, rows.b, "m/s² or rad/s²", "take it from forward_dynamics")
        factors = rows.A
    sizes = row_sizes(answers) if mechanism.constraints else None
    found = np.zeros_like(flat)
    for k, needed in enumerate(flat):
        A = factors if factors.ndim == 2 else factors[k]
        found[k, driven] = _efforts_along(mechanism, A, sizes, needed, driven)
    return found.reshape(tau.shape)


def _efforts_along(mechanism: Mechanism, A: Array, sizes: Array | None, needed: Array, driven: list[int]) -> Array:
    """The least efforts along the speeds `driven` that do, with reactions, what the efforts `needed` (n,) do."""
    N = null_space(A, sizes=sizes)
    efforts: Array = np.linalg.lstsq(N[driven].T, N.T @ needed, rcond=None)[0].astype(float)
    left = N.T @ needed - N[driven].T @ efforts
    if np.abs(left).max(initial=0.0) > SATISFIED * (1.0 + np.abs(needed).max(initial=0.0)):
        names = ", ".join(mechanism.speeds[i] for i in driven) or "nothing"
        raise InputError(
            f"efforts along {names} cannot produce this motion: {np.abs(left).max():.3g} N or N m are missing;"
            f" {N.shape[1]} motions are free, name speeds that drive all of them"
        )
    return efforts


# states --------------------------------------------------------------------------------------------------------------


def rows_at(answers: Answers, q: Array, u: Array, t: float) -> ConstraintRows:
    """The rows at one state; a refusal that names those that have no value there."""
    rows = ConstraintRows(*(values[0] for values in constraint_rows(answers, q[None], u[None], t=t)))
    try:
        require_values(RowTerms(rows.A, rows.rate, rows.phi, rows.A), row_labels(answers))
    except InconsistentRows as error:
        raise ModelError(_refusal(answers.mechanism, error, "")) from None
    return rows


def refuse_off(mechanism: Mechanism, rows: ConstraintRows, u: Array) -> None:
    """Refuse a state that the constraints, in numbers there, do not allow."""
    fix = "move the state onto the constraints with project"
    still = np.zeros(len(mechanism.speeds))
    _refuse_large(mechanism, "q", rows.phi, rows.A, still, still[:1], "m or rad", fix)
    _refuse_large(mechanism, "u", rows.rate, rows.A, u, still[:1], "m/s or rad/s", fix)


def _refuse_large(
    mechanism: Mechanism, what: str, off: Array, A: Array, x: Array, b: Array, unit: str, fix: str
) -> None:
    """Refuse `what` by which rows are off (…, m), as far as it is more than a share of A x and b."""
    if np.abs(off).max(initial=0.0) <= TOLERATED:
        return
    size = 1.0 + np.einsum("...mn,...n->...m", np.abs(A), np.abs(x)) + np.abs(b)
    share = np.abs(off) / size
    if share.max(initial=0.0) <= TOLERATED:
        return
    *_, row = place = np.unravel_index(int(np.argmax(share)), share.shape)
    name = mechanism.row_names[int(row)]
    where = f", sample {int(place[0])}" if len(place) > 1 and len(off) > 1 else ""
    raise InputError(
        f"{what} does not satisfy the constraints of model '{mechanism.name}': '{name}' is off by {off[place]:.3g} "
        f"({unit}){where}\n    fix: {fix}"
    )


def freedom(
    answers: Answers, q: Any = None, *, t: float = 0.0, parameters: Any = None, within: float = REDUNDANT
) -> Freedom:
    """What the constraints leave of the motion at q (default: the initial one, made consistent). Rows that depend
    on others but for a share `within` count as redundant.

    >>> kane.load("four-bar").freedom().degrees
    1
    """
    answers = answers.with_parameters(parameters)
    mechanism = answers.mechanism
    if not 0.0 < within < 1.0:
        raise InputError(f"within = {within!r}: give a share between 0 and 1, such as {REDUNDANT:g}")
    if q is None:
        q = close_configuration(answers, given.initial(mechanism, "q"), t, ())
    q = given.vector(mechanism, "q", q, single=True)
    M = np.atleast_2d(answers.ask("mass_matrix", t, None, q=q))
    still = np.zeros(len(mechanism.speeds))
    A = rows_at(answers, q, still, t).A if mechanism.constraints else np.zeros((0, len(still)))
    usual = _usual_choice(answers) if mechanism.constraints else None
    mass, sizes = np.abs(np.diag(M)), row_sizes(answers)
    return count_freedom(A, mass, mechanism.row_names, mechanism.speeds, within, sizes, usual)


def _usual_choice(answers: Answers) -> Choice | None:
    """The speeds that are called independent; None where the rows have no value in the initial state nor near it."""
    try:
        return choose_independent(answers.equations())
    except ModelError:
        return None


def project(
    answers: Answers,
    q: Any = None,
    u: Any = None,
    *,
    t: float = 0.0,
    parameters: Any = None,
    hold: Iterable[str] = (),
) -> tuple[Array, Array]:
    """(q, u) moved onto the constraints by the least change: a guess made consistent.

    q and u are arrays, or mappings name → value, the others starting from the initial state. Coordinates and speeds
    in `hold` stay as they are. Refuses with the residuals by name where constraints cannot be satisfied.

    >>> m = kane.load("four-bar")
    >>> q, u = m.project(u={m.speeds[0]: 1.0})
    >>> bool(abs(m.constraint_rows(q, u).rate).max() < 1e-12)
    True
    """
    answers = answers.with_parameters(parameters)
    mechanism = answers.mechanism
    q0, u0 = given.start(mechanism, "q", q), given.start(mechanism, "u", u)
    held = given.names_of(hold)
    for name in held:
        known = {**mechanism.coordinate_records, **mechanism.speed_records}
        given.require_known(mechanism, "coordinate or speed", name, known, "hold")
    q0 = close_configuration(answers, q0, t, [i for i, c in enumerate(mechanism.coordinates) if c in held])
    return q0, consistent_speeds(answers, q0, u0, t, [i for i, s in enumerate(mechanism.speeds) if s in held])


def close_configuration(answers: Answers, q: Array, t: float, held: Sequence[int]) -> Array:
    """q on the configuration constraints, or a refusal that names those that do not close."""
    mechanism = answers.mechanism
    places, unit = constraint_kernels(answers)[1:] if mechanism.constraints else (None, None)
    if places is None:
        return q
    free = (answers.values,) if any(g.name == "parameters" for g in places.program.inputs) else ()
    still = (np.zeros(len(mechanism.speeds)), 0.0, np.zeros(len(mechanism.speeds)), *free)
    labels = row_labels(answers).select(placed_rows(answers))

    def terms(at: Array) -> RowTerms:
        phi, G, T = (values[0] for values in places(t, at[None], *still))  # in a batch what has no value is nan
        return RowTerms(G, np.zeros(len(phi)), phi, T)

    def normalize(at: Array) -> Array:
        return at if unit is None else np.asarray(unit(t, at, *still))[: len(at)]

    try:
        return project_position(terms, normalize, q, labels, held)
    except InconsistentRows as error:
        raise ModelError(_refusal(mechanism, error, "the configuration cannot be closed from here")) from None


def consistent_speeds(
    answers: Answers, q: Array, u: Array, t: float, held: Sequence[int], loose: Sequence[int] = ()
) -> Array:
    """u on the constraints at q and on a branch of the motion, or a refusal that names the violated constraints. The
    speeds `held` stay; how much the `loose` ones change does not count."""
    mechanism = answers.mechanism
    if not mechanism.constraints:
        return u
    rows = rows_at(answers, q, u, t)
    labels = row_labels(answers)

    def b(speeds: Array) -> Array:
        return constraint_rows(answers, np.broadcast_to(q, (len(speeds), len(q))), speeds, t=t).b

    try:
        u = project_speeds(RowTerms(rows.A, rows.rate, rows.phi, rows.A), u, labels, held, loose)
    except InconsistentRows as error:
        raise ModelError(_refusal(mechanism, error, "no speeds satisfy these constraints together")) from None
    try:
        return speeds_on_branch(rows.A, b, u, labels, held)
    except InconsistentRows as error:
        what = "constraints lose rank at this position, and the speeds lie on no branch of the motion there"
        raise OffBranchError(_refusal(mechanism, error, what)) from None


def row_sizes(answers: Answers) -> Array:
    """Sizes (rows,) that the rows would have if nothing cancelled."""
    mechanism = answers.mechanism
    return answers.make_once("row sizes", lambda: sizes_of(mechanism, all_rows(mechanism)))


def row_labels(answers: Answers) -> RowLabels:
    """Names, units and sizes of all rows."""
    mechanism = answers.mechanism
    units = [row.unit for c in mechanism.constraints.values() for row in c.rows]
    return RowLabels(mechanism.row_names, units, row_sizes(answers))


def placed_rows(answers: Answers) -> tuple[int, ...]:
    """Which rows have a position."""
    return answers.make_once("placed rows", lambda: tuple(answers.equations().constraints.placed))


def is_singular(answers: Answers, q: Array, u: Array, t: float) -> bool:
    """Whether constraints have lost rank at q."""
    if not answers.mechanism.constraints:
        return False
    A = constraint_rows(answers, q, u, t=t).A
    return row_rank(A, SINGULAR, row_sizes(answers)) < general_rank(answers)


def general_rank(answers: Answers) -> int:
    """How many rows are independent, singular positions aside."""
    return answers.make_once("rank", lambda: answers.equations().rank)


def first_step(u: Array) -> float | None:
    """A first step (s) so short that it hardly leaves a position at which constraints have lost rank; None at rest.

    At such a position accelerations have no reason to keep to the branch that the speeds are on, and projection
    would hide it: a longer step takes their error along.
    """
    speed = float(np.abs(u).max(initial=0.0))
    return SINGULAR / speed if speed else None


def refuse_open_constraints(mechanism: Mechanism, error: InconsistentRows) -> ModelError:
    """The refusal of a model whose constraints cannot be met near its initial state."""
    return ModelError(_refusal(mechanism, error, "cannot be met near the initial state"))


def _refusal(mechanism: Mechanism, error: InconsistentRows, what: str) -> Problem:
    if error.level == "value":
        names = ", ".join(f"'{name}'" for name, _ in error.residuals)
        has = "has" if len(error.residuals) == 1 else "have"
        fix = "start from another state: the contact point of a wheel that lies flat, for example, is not defined"
        return Problem(mechanism.where("constraints"), f"{names} {has} no finite value at this state", fix=fix)
    unit = {"position": "m or rad", "velocity": "m/s or rad/s", "acceleration": "m/s² or rad/s²"}[error.level]
    largest = abs(error.residuals[0][1])
    bad = [(n, x) for n, x in error.residuals if not abs(x) <= INVOLVED * largest]
    listed = ", ".join(f"'{name}' by {x:.3g}" for name, x in bad[:_NAMED])
    more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
    fix = "give a start closer to a state that satisfies the constraints, check lengths and points, or leave one out"
    if error.level == "velocity":
        fix = "leave out one of the constraints that contradict each other, or make their imposed rates agree"
    if error.level == "acceleration":
        fix = f"{_branches(mechanism, error.branches)} or start at a position close to this one"
    because = "constraints hold at all times, so that their rates vanish too"
    return Problem(mechanism.where("constraints"), f"{what}; residuals: {listed}{more} ({unit})", because, fix)


def _branches(mechanism: Mechanism, branches: Sequence[Array]) -> str:
    """The speeds to give in place of those refused."""
    if not branches:
        return "no speeds close to these are possible: make imposed motions agree, start at rest,"
    listed = [", ".join(f"{s} {x:.6g}" for s, x in zip(mechanism.speeds, u, strict=True)) for u in branches[:_LISTED]]
    more = " (there are more)" if len(branches) > _LISTED else ""
    return f"give speeds on one of the branches, such as {'; or '.join(listed)}{more};"


__all__ = [
    "OffBranchError",
    "close_configuration",
    "consistent_speeds",
    "constraint_rows",
    "drive_efforts",
    "first_step",
    "freedom",
    "general_rank",
    "is_singular",
    "placed_rows",
    "project",
    "refuse_off",
    "refuse_open_constraints",
    "row_labels",
    "row_sizes",
    "rows_at",
]
