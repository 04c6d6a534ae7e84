"""What is doubtful about a SymPy description, taken as it is and told: SymPy itself says nothing of it.

Expressions are compared in generic states, on the configuration constraints where there are any. What is linear in the
motion variables and vanishes by the constraints is no contradiction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...errors import ExpressionError, Problem, warn
from ...graph import Expr, linear_coefficients, substitute
from ...space import Frame, Kinematics, rotations
from ...space.algebra import minus, plus, transpose_times
from ..constraints import BuiltConstraint
from ..loads import EffortAction
from ..mechanism import Mechanism
from .massive import SetAcceleration
from .motion import rates_of_constant_motion
from .scalars import EQUAL, Scalars

Rows = list[list[Expr]]
"""Of each equation of motion its coefficients of the motion variables, and what is left."""


def constraint_rows(m: Mechanism, constraint: BuiltConstraint) -> Rows:
    """The rows of a constraint that was given by equations."""
    zero = m.graph.const(0.0)
    rows = []
    for row in constraint.rows:
        factor = {a.variable: a.value for a in row.actions if isinstance(a, EffortAction)}
        rows.append([*(factor.get(v, zero) for v in m.motion_variables.values()), row.rheonomic])
    return rows


def motion_rows(m: Mechanism, equations: Sequence[Expr]) -> Rows | None:
    """Equations of motion as rows; None where one is not linear."""
    definitions = {s.symbol: s.definition for s in m.speed_records.values()}
    try:
        A, c = linear_coefficients(substitute(equations, definitions), list(m.motion_variables.values()))
    except ExpressionError:
        return None
    return [[*row, rest] for row, rest in zip(A, c, strict=True)]


def follows(scalars: Scalars, row: Sequence[Expr], rows: Rows) -> bool:
    """Whether a row is a combination of others in generic states."""
    for numbers in scalars.at([*(e for known in rows for e in known), *row]):
        *known, new = numbers.reshape(-1, len(row))
        weights = np.linalg.lstsq(np.array(known).T, new, rcond=None)[0] if known else np.zeros(0)
        left = new - weights @ known if known else new
        if not np.abs(left).max() <= EQUAL * max(1.0, np.abs(new).max()):
            return False
    return True


def doubt(m: Mechanism, problem: Problem) -> None:
    """Keep a remark on the description, and warn of it."""
    m.remarks.append(problem)
    warn(str(problem))


def doubt_added_rows(m: Mechanism, scalars: Scalars, configuration: Rows, motion: Rows) -> None:
    """Tell of configuration constraints that velocity constraints do not hold."""
    added = [str(k + 1) for k, row in enumerate(configuration) if not follows(scalars, row, motion)]
    if added:
        what = f"the rates of {', '.join(added)} do not follow from the velocity constraints; they hold here too"
        because = "SymPy's equations of motion use the velocity constraints alone"
        fix = "give their rates as velocity constraints, or leave them out of the configuration constraints"
        doubt(m, Problem(m.where("configuration constraints"), what, because, fix))


def doubt_angular_velocities(m: Mechanism, scalars: Scalars, frames: Iterable[Frame], kin: Kinematics) -> None:
    """Tell of frames whose angular velocity, as it was set, is not the one of their orientation."""
    held = [row for c in m.constraints.values() for row in constraint_rows(m, c)]
    for frame in frames:
        R, parent = frame.R_PF, frame.parent
        assert parent is not None
        if not _is_rotation(scalars, [e for row in R for e in row]):
            continue  # a quaternion of any length: what it turns by is told at unit length only
        flat = [kin.rate(row) for row in R]
        turning = rotations.from_matrix((flat[0], flat[1], flat[2]), R)
        inner = kin.w(parent) if frame.w_NF is not None else kin.zero
        given = frame.w_NF if frame.w_NF is not None else frame.w_PF
        assert given is not None
        rows = motion_rows(m, minus(given, plus(transpose_times(R, inner), turning)))
        if rows is None or not all(follows(scalars, row, held) for row in rows):
            what = "the angular velocity that was set is not the rate of its orientation"
            because = "SymPy's equations of motion take the angular velocity as it was set, and so do these"
            fix = "let SymPy derive it (no set_ang_vel), or correct it or the kinematic differential equations"
            doubt(m, Problem(m.where(f"frame '{frame.name}'"), what, because, fix))


def doubt_accelerations(m: Mechanism, scalars: Scalars, found: Iterable[SetAcceleration]) -> None:
    """Tell of accelerations of bodies that, as they were set, are not the rates of velocities.

    SymPy takes them at constant speeds only; so they are compared while the motion variables are constant.
    """
    held = [row for c in m.constraints.values() for row in constraint_rows(m, c)]
    if held:
        scalars.hold(held)
    kin = Kinematics(m.graph, rates_of_constant_motion(m))
    for one in found:
        if isinstance(one.of, Frame):
            kind, motion, derived, axes = "frame", "angular ", kin.alpha(one.of), one.of
            ways = "no set_ang_acc"
        else:
            kind, motion, derived, axes = "point", "", kin.a(one.of), one.of.home
            ways = "no set_acc, a1pt_theory or a2pt_theory"
        if not scalars.are_equal(derived, one.given.express(axes).xyz):
            what = f"the {motion}acceleration that was set is not the rate of its {motion}velocity"
            because = f"SymPy's equations of motion take it as it was set; these take the rate of the {motion}velocity"
            fix = f"let SymPy derive it ({ways}), or correct it"
            doubt(m, Problem(m.where(f"{kind} '{one.of.name}'"), what, because, fix))


def _is_rotation(scalars: Scalars, entries: Sequence[Expr]) -> bool:
    matrices = [numbers.reshape(3, 3) for numbers in scalars.at(entries)]
    return all(np.abs(R.T @ R - np.eye(3)).max() <= EQUAL for R in matrices)


__all__ = [
    "constraint_rows",
    "doubt_accelerations",
    "doubt_added_rows",
    "doubt_angular_velocities",
    "follows",
    "motion_rows",
]
