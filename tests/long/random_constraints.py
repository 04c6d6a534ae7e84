"""Random trees under random constraints: loops, rods, guides, blades, all that rolls, some of them implied by others.

Some joints have a prescribed motion and some models chosen speeds. The oracle has functions of the poses alone
(`closures.py`): their coefficients in time, at unit speeds and at the state, are the rows A u + c and what they must
accelerate by. Accelerations follow from Gauss's principle by a singular value decomposition in the metric of M. The
dense route of the package has to agree along every motion that the rows leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kane import Model, RollingEllipsoid, RollingOnSphere, RollingSphere
from kane.formulation.dense import dense_equations
from laws.trees import AXES, MOUNTS, BodyPlan, build, planned
from long.block import Disagreement
from long.closures import (
    LOOPS,
    Closed,
    ball,
    ball_on_ball,
    blade,
    closing_loop,
    doubled_joint,
    ellipsoid,
    guide,
    line,
    rod,
    wheel,
)
from long.newton import Moving, Tree
from long.random_mechanisms import (
    EFFORTS,
    Speeds,
    build_with,
    coordinate_rates,
    drawn_motion,
    drawn_speeds,
    drawn_state,
    load_function,
)
from long.tries import draws

Array = NDArray[np.float64]
SURE, ZERO = 1e-3, 1e-10  # singular values of unit rows: above, a row; below, none; between, not judged
CONSISTENT = 1e-7  # of A u̇ = b where rows depend on each other: beyond, no motion goes on from here
AGREEMENT = 1e-8  # of u̇, relative to the largest, times the condition of what is solved
KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free", "revolute", "revolute")
DRIVEN = ("revolute", "prismatic", "cylindrical")  # kinds of joints that now and then have a prescribed motion
SINGLE: tuple[Callable[..., Closed], ...] = (rod, guide, line, blade, ball, wheel, ellipsoid, ball_on_ball)
BALLS = (RollingSphere, RollingOnSphere, RollingEllipsoid)


def drawn_constraints(tree: Tree, now: list[Moving], rng: np.random.Generator) -> list[Closed]:
    """One or two constraints, and now and then one that they or the tree imply."""
    found: list[Closed] = []
    count = len(tree.plan.bodies)
    for _ in range(int(rng.integers(1, 3))):
        second = int(rng.integers(count))
        first = int(rng.choice([k for k in range(-1, count) if k != second]))
        if rng.random() < 0.4:
            found.append(closing_loop(LOOPS[int(rng.integers(len(LOOPS)))], first, second, now, rng))
        else:
            found.append(SINGLE[int(rng.integers(len(SINGLE)))](first, second, now, rng))
    if rng.random() < 0.5:
        doubles = [k for k, b in enumerate(tree.plan.bodies) if b.kind in LOOPS]
        again = rng.random() < 0.5 or not doubles
        found.append(implied_by(found[0], rng) if again else doubled_joint(tree, int(rng.choice(doubles)), now))
    return found


def implied_by(closed: Closed, rng: np.random.Generator) -> Closed:
    """The same constraint once more, of a ball perhaps without the row that keeps its height."""
    if isinstance(closed.record, BALLS) and rng.random() < 0.5:
        return replace(closed, record=replace(closed.record, normal_row=False))
    return closed


@dataclass(frozen=True)
class RowsAt:
    """Rows at a state: A u + c = 0 and A u̇ = b."""

    A: Array
    c: Array
    b: Array


def rows_of(tree: Tree, closed: list[Closed], q: Array, u: Array, t: float) -> RowsAt:
    """The rows of all constraints; c is what prescribed joints do to them."""
    units, still = tree.partials(q, t), np.zeros(tree.nu)
    A = np.array([np.concatenate([c.rows.rates(unit)[0] for c in closed]) for unit in units]).T
    resting, coasting = tree.motion(q, still, still, t), tree.motion(q, u, still, t)
    c = np.concatenate([c.rows.rates(resting)[0] for c in closed])
    return RowsAt(A, c, -np.concatenate([c.rows.rates(coasting)[1] for c in closed]))


@dataclass(frozen=True)
class Answer:
    """Accelerations, the motions that the rows leave (columns), and how far digits are lost on the way."""

    udot: Array
    motions: Array
    loss: float


def gauss(M: Array, f: Array, A: Array, b: Array) -> Answer | str:
    """u̇ = M⁻¹f + L⁻ᵀ (A L⁻ᵀ)⁺ (b − A M⁻¹ f), or why it is not judged."""
    L = np.linalg.cholesky(M)
    scaled = np.linalg.solve(L, A.T).T
    lengths = np.linalg.norm(scaled, axis=1)
    keep = lengths > ZERO * max(float(lengths.max(initial=0.0)), 1e-3)
    scaled, right = scaled[keep] / lengths[keep, None], (b - A @ np.linalg.solve(M, f))[keep] / lengths[keep]
    U, S, Vt = np.linalg.svd(scaled, full_matrices=False)
    if np.any((S > ZERO) & (S < SURE)) or np.any(lengths[keep] < SURE):
        return "close to a singular position, not judged"
    r = int(np.sum(S >= SURE))
    inner = U[:, :r].T @ right
    if np.linalg.norm(right - U[:, :r] @ inner) > CONSISTENT * (1.0 + np.linalg.norm(right)):
        return "no motion goes on from here, not judged"
    udot = np.linalg.solve(M, f) + np.linalg.solve(L.T, Vt[:r].T @ (inner / S[:r]))
    left = np.linalg.svd(scaled)[2][r:] if len(scaled) else np.eye(len(f))
    motions: Array = np.asarray(np.linalg.solve(L.T, left.T), dtype=np.float64)
    return Answer(udot, motions, float(np.linalg.cond(M)) ** 0.5 / float(S[:r].min(initial=1.0)))


def consistent(M: Array, rows: RowsAt, u: Array) -> Array | None:
    """The speeds nearest to u, in the metric of M, that the rows allow; None where there are none."""
    L = np.linalg.cholesky(M)
    scaled = np.linalg.solve(L, rows.A.T).T
    U, S, Vt = np.linalg.svd(scaled, full_matrices=False)
    keep = ZERO * max(float(S.max(initial=0.0)), 1e-3) < S
    step = Vt[keep].T @ ((U[:, keep].T @ (rows.A @ u + rows.c)) / S[keep])
    found = u - np.linalg.solve(L.T, step)
    off = np.abs(rows.A @ found + rows.c).max(initial=0.0)
    return found if off <= CONSISTENT * (1.0 + np.abs(rows.c).max(initial=0.0)) else None


@dataclass(frozen=True)
class Drawn:
    """One try: a tree, its constraints, chosen speeds or none, and a state with efforts along the joints."""

    tree: Tree
    closed: list[Closed]
    speeds: Speeds | None
    q: Array
    u: Array
    tau: Array
    t: float


def model_of(drawn: Drawn) -> Model:
    """The model that the package is told."""
    plan = drawn.tree.plan
    model = build(plan) if drawn.speeds is None else build_with(plan, drawn.speeds)
    model.set_initial(dict(zip(model.coordinates, drawn.q.tolist(), strict=True)))
    for k, c in enumerate(drawn.closed):
        model.constrain(f"c{k}", c.record)
    return model


def judge(drawn: Drawn) -> str:
    """Accelerations and degrees of freedom by the package, by its dense route, and by the oracle."""
    tree, closed, q, t = drawn.tree, drawn.closed, drawn.q, drawn.t
    M = tree.mass_matrix(q, t)
    u = consistent(M, rows_of(tree, closed, q, drawn.u, t), drawn.u)
    if u is None:
        return "the prescribed motion is not possible here, not judged"
    rows = rows_of(tree, closed, q, u, t)
    s, Y, rate = u, np.eye(tree.nu), np.zeros(tree.nu)  # s = Y u + Z, ṡ = Y u̇ + rate
    if drawn.speeds is not None:
        qdot, Y = coordinate_rates(tree, q, u), drawn.speeds.matrix(q)
        s = Y @ u + drawn.speeds.offset(q, t)
        rate = drawn.speeds.matrix_rate(q, qdot) @ u + drawn.speeds.offset_rate(q, qdot, t)
    bias, scale = tree.efforts_and_scale(q, u, np.zeros(tree.nu), t, load_function(tree, q, s, u, t))
    answer = gauss(M, drawn.tau - bias, rows.A, rows.b)
    if isinstance(answer, str):
        return answer
    model = model_of(drawn)
    left = answer.motions.shape[1]
    degrees = model.freedom(q, t=t).degrees
    if degrees != left:
        raise Disagreement(f"degrees of freedom: {degrees} and {left}")
    along = np.linalg.solve(Y.T, drawn.tau)
    found, expected = model.forward_dynamics(q, s, along, t=t), Y @ answer.udot + rate
    size = 1.0 + np.abs(expected).max()
    off = float(np.abs(found - expected).max() / size)
    if not off <= AGREEMENT * answer.loss:
        raise Disagreement(f"forward_dynamics off by {off:.3g} (loss {answer.loss:.3g}): {found} and {expected}")
    dense = dense_equations(model.mechanism).state(q, s, t).efforts(expected) - along
    power = np.abs((Y @ answer.motions).T @ dense)
    bound = (AGREEMENT * answer.loss * size * np.abs(M).max() + EFFORTS * scale.max()) * np.abs(answer.motions).sum(0)
    if not np.all(power <= bound):
        raise Disagreement(f"dense route: power {power} along the motions that are left, bound {bound}")
    rank = "rows depend on each other" if len(rows.b) > tree.nu - left else "full rank"
    driven = ", prescribed motion" * any("prescribed" in b.options for b in tree.plan.bodies)
    return f"accelerations agree, {rank}{driven}{', chosen speeds' * (drawn.speeds is not None)}"


def drawn_tree(rng: np.random.Generator) -> Tree:
    """Two to four bodies, two plain loads at most, at least one joint free to move."""
    size = int(rng.integers(2, 5))
    kinds = [KINDS[int(k)] for k in rng.integers(len(KINDS), size=size)]
    axes = [AXES[int(k)] for k in rng.integers(len(AXES), size=size)]
    mounts = [MOUNTS[int(k)] for k in rng.integers(len(MOUNTS), size=size)]
    plan = planned(rng, kinds, axes, mounts, ["force", "spring"][: int(rng.integers(3))])
    still = int(rng.integers(size))  # this one is never driven
    bodies = tuple(b if k == still else _drive(b, rng) for k, b in enumerate(plan.bodies))
    return Tree(replace(plan, bodies=bodies))


def _drive(body: BodyPlan, rng: np.random.Generator) -> BodyPlan:
    if body.kind in DRIVEN and rng.random() < 0.35:
        return replace(body, options={**body.options, "prescribed": drawn_motion(body.kind, rng)})
    return body


def search(number: int) -> str:
    """One mechanism under constraints."""
    rng = draws("constrained", number)
    tree = drawn_tree(rng)
    q, u, tau, t = drawn_state(tree, rng)
    still = np.zeros(tree.nu)
    closed = drawn_constraints(tree, tree.motion(q, still, still, t), rng)
    speeds = drawn_speeds(rng, tree.nq, tree.nu) if rng.random() < 0.3 else None
    try:
        return judge(Drawn(tree, closed, speeds, q, u, tau, t))
    except Exception as error:
        kinds = [b.kind for b in tree.plan.bodies]
        error.add_note(f"joints {kinds}; " + "; ".join(repr(c.record)[:400] for c in closed))
        raise
