"""Random trees under random constraints, loops, guides and balls that roll, some of them implied by others.

The oracle has closure functions of the poses alone: their first and second coefficients in time, at unit speeds and at
the state, are the rows A and what they must accelerate by. Accelerations follow from Gauss's principle by a singular
value decomposition in the metric of M.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane import Distance, Loop, Model, PointOnPlane, RollingSphere
from kane.model import Constraint
from laws.trees import AXES, MOUNTS, build, planned, rotation
from long.block import Disagreement
from long.newton import GROUND, Moving, Series, Tree, axis_of, stacked
from long.random_mechanisms import drawn_state, load_function
from long.tries import draws

Array = NDArray[np.float64]
SURE, ZERO = 1e-3, 1e-10  # singular values of unit rows: above, a row; below, none; between, not judged
CONSISTENT = 1e-7  # of A u̇ = b where rows depend on each other: beyond, no motion goes on from here
AGREEMENT = 1e-8  # of u̇, relative to the largest, times the condition of what is solved
KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free", "revolute", "revolute")
LOOPS = ("weld", "revolute", "prismatic", "cylindrical", "spherical")


@dataclass(frozen=True)
class Rows:
    """Values whose rates vanish: `at_rates` of bodies gives (rate, second derivative) of each."""

    rates: Callable[[list[Moving]], tuple[Array, Array]]


@dataclass(frozen=True)
class Closed:
    """A constraint as the package is told it, and as the oracle knows it."""

    record: Constraint
    rows: Rows


def body_at(now: list[Moving], k: int) -> Moving:
    return GROUND if k < 0 else now[k]


def name_of(k: int) -> str:
    return "ground" if k < 0 else f"b{k}"


def of_position(closure: Callable[[list[Moving]], Series]) -> Rows:
    def rates(now: list[Moving]) -> tuple[Array, Array]:
        phi = closure(now)
        return phi.rate, phi.second

    return Rows(rates)


def dotted(a: Series, b: Series) -> Series:
    return Series(
        (a.c[0] @ b.c[0], a.c[0] @ b.c[1] + a.c[1] @ b.c[0], a.c[0] @ b.c[2] + a.c[1] @ b.c[1] + a.c[2] @ b.c[0])
    )


def loop(kind: str, ends: tuple[int, int], at: tuple[Array, Array], axes: tuple[Array, Array]) -> Closed:
    """A joint about or along z of two frames, one in each body."""

    def closure(now: list[Moving]) -> Series:
        one, two = (body_at(now, k) for k in ends)
        F, S = one.R @ axes[0], two.R @ axes[1]
        f, s = ([M @ e for e in np.eye(3)] for M in (F, S))
        d = two.point(at[1]) - one.point(at[0])
        across = [dotted(f[0], d), dotted(f[1], d)]
        tilt = [dotted(f[0], s[2]), dotted(f[1], s[2])]
        found = {
            "spherical": [dotted(e, d) for e in f],
            "revolute": [*(dotted(e, d) for e in f), *tilt],
            "cylindrical": [*across, *tilt],
            "prismatic": [*across, *tilt, dotted(f[0], s[1])],
            "weld": [*(dotted(e, d) for e in f), *tilt, dotted(f[0], s[1])],
        }[kind]
        return stacked(found)

    turns: dict[str, Any] = {
        "first_rotation": {"matrix": axes[0].tolist()},
        "second_rotation": {"matrix": axes[1].tolist()},
    }
    places: dict[str, Any] = {"first_at": at[0].tolist(), "second_at": at[1].tolist()}
    record = Loop(kind, name_of(ends[0]), name_of(ends[1]), axis="z", **places, **turns)
    return Closed(record, of_position(closure))


def local(body: Moving, place: Array) -> Array:
    """A place of N in a body's frame."""
    return body.R.c[0].T @ (place - body.p.c[0])


def closing_loop(kind: str, first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A loop that is closed in the given position."""
    place, Z = rng.normal(size=3) * 0.5, rotation(rng)
    one, two = body_at(now, first), body_at(now, second)
    place = two.point(place).c[0]
    return loop(kind, (first, second), (local(one, place), local(two, place)), (one.R.c[0].T @ Z, two.R.c[0].T @ Z))


def doubled_joint(tree: Tree, k: int, now: list[Moving]) -> Closed:
    """A loop of the kind of joint k beside it: implied by the tree, all its rows vanish but for rounding."""
    b = tree.plan.bodies[k]
    one, two = body_at(now, b.parent), now[k]
    Z = np.eye(3)
    if b.kind in ("revolute", "prismatic", "cylindrical"):
        e = one.R.c[0] @ b.R_P @ axis_of(b.options)
        x = np.cross(e, np.eye(3)[int(np.argmin(np.abs(e)))])
        x /= np.linalg.norm(x)
        Z = np.stack([x, np.cross(e, x), e], axis=1)
    return loop(b.kind, (b.parent, k), (b.at, b.child_at), (one.R.c[0].T @ Z, two.R.c[0].T @ Z))


def rod(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A distance that stays."""
    at = rng.normal(size=(2, 3))

    def closure(now: list[Moving]) -> Series:
        d = body_at(now, second).point(at[1]) - body_at(now, first).point(at[0])
        return stacked([dotted(d, d) * 0.5])

    d = body_at(now, second).point(at[1]).c[0] - body_at(now, first).point(at[0]).c[0]
    ends = {"first_at": at[0].tolist(), "second_at": at[1].tolist()}
    return Closed(
        Distance(name_of(first), name_of(second), length=float(np.linalg.norm(d)), **ends), of_position(closure)
    )


def guide(first: int, second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A point of one body on a plane of another."""
    n, at = rotation(rng)[0], rng.normal(size=3)
    one, two = body_at(now, first), body_at(now, second)
    origin = local(one, two.point(at).c[0])

    def closure(now: list[Moving]) -> Series:
        one, two = body_at(now, first), body_at(now, second)
        return stacked([dotted(one.R @ n, two.point(at) - one.point(origin))])

    ends = {"first_at": origin.tolist(), "second_at": at.tolist()}
    return Closed(PointOnPlane(name_of(first), name_of(second), normal=n.tolist(), **ends), of_position(closure))


def ball(second: int, now: list[Moving], rng: np.random.Generator) -> Closed:
    """A ball, part of a body, that rolls on a plane of the ground: its lowest point has no velocity."""
    n, center, radius = rotation(rng)[0], rng.normal(size=3) * 0.4, float(rng.uniform(0.2, 1.0))
    at = now[second].point(center).c[0] - radius * n

    def rates(now: list[Moving]) -> tuple[Array, Array]:
        body = now[second]
        c = body.point(center)
        return c.rate - np.cross(body.w, radius * n), c.second - np.cross(body.alpha, radius * n)

    record = RollingSphere(name_of(second), radius=radius, center=center.tolist(), at=at.tolist(), normal=n.tolist())
    return Closed(record, Rows(rates))


def drawn_constraints(tree: Tree, now: list[Moving], rng: np.random.Generator) -> list[Closed]:
    """One to three constraints, and now and then one that they or the tree imply."""
    found: list[Closed] = []
    count = len(tree.plan.bodies)
    for _ in range(int(rng.integers(1, 3))):
        second = int(rng.integers(count))
        first = int(rng.choice([k for k in range(-1, count) if k != second]))
        kind = ("loop", "loop", "rod", "guide", "ball")[int(rng.integers(5))]
        if kind == "loop":
            found.append(closing_loop(LOOPS[int(rng.integers(5))], first, second, now, rng))
        elif kind == "ball":
            found.append(ball(second, now, rng))
        else:
            found.append((rod if kind == "rod" else guide)(first, second, now, rng))
    if rng.random() < 0.5:
        doubles = [k for k, b in enumerate(tree.plan.bodies) if b.kind in LOOPS]
        again = rng.random() < 0.5 or not doubles
        found.append(found[0] if again else doubled_joint(tree, int(rng.choice(doubles)), now))
    return found


def rows_of(tree: Tree, closed: list[Closed], q: Array, u: Array, t: float) -> tuple[Array, Array]:
    """(A, b) of A u̇ = b."""
    units = tree.partials(q, t)
    A = np.array([np.concatenate([c.rows.rates(unit)[0] for c in closed]) for unit in units]).T
    coasting = tree.motion(q, u, np.zeros(tree.nu), t)
    return A, -np.concatenate([c.rows.rates(coasting)[1] for c in closed])


@dataclass(frozen=True)
class Answer:
    """Accelerations, degrees of freedom, and how far digits are lost on the way."""

    udot: Array
    degrees: int
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
    return Answer(udot, len(f) - r, float(np.linalg.cond(M)) ** 0.5 / float(S[:r].min(initial=1.0)))


def consistent(M: Array, A: Array, u: Array) -> Array:
    """The speeds that the rows allow, nearest to u in the metric of M."""
    L = np.linalg.cholesky(M)
    scaled = np.linalg.solve(L, A.T).T
    _, S, Vt = np.linalg.svd(scaled)
    S = np.concatenate([S, np.zeros(len(Vt) - len(S))])
    null = Vt[ZERO * max(float(S.max(initial=0.0)), 1e-3) > S]
    return np.asarray(np.linalg.solve(L.T, null.T @ (null @ (L.T @ u))), dtype=np.float64)


def set_state(model: Model, q: Array) -> None:
    model.set_initial(dict(zip(model.coordinates, q.tolist(), strict=True)))


def judge(tree: Tree, closed: list[Closed], state: tuple[Array, Array, Array, float]) -> str:
    """Accelerations and degrees of freedom by the package and by the oracle."""
    q, u, tau, t = state
    M = tree.mass_matrix(q, t)
    A, _ = rows_of(tree, closed, q, u, t)
    u = consistent(M, A, u)
    A, b = rows_of(tree, closed, q, u, t)
    f = tau - tree.efforts(q, u, np.zeros(tree.nu), t, load_function(tree, q, u, u, t))
    answer = gauss(M, f, A, b)
    if isinstance(answer, str):
        return answer
    model = build(tree.plan)
    set_state(model, q)
    for k, c in enumerate(closed):
        model.constrain(f"c{k}", c.record)
    degrees = model.freedom(q).degrees
    if degrees != answer.degrees:
        raise Disagreement(f"degrees of freedom: {degrees} and {answer.degrees}")
    found = model.forward_dynamics(q, u, tau, t=t)
    off = float(np.abs(found - answer.udot).max() / (1.0 + np.abs(answer.udot).max()))
    if not off <= AGREEMENT * answer.loss:
        raise Disagreement(f"forward_dynamics off by {off:.3g} (loss {answer.loss:.3g}): {found} and {answer.udot}")
    return f"accelerations agree, {'rows depend on each other' if len(b) > tree.nu - degrees else 'full rank'}"


def search(number: int) -> str:
    """One mechanism under constraints."""
    rng = draws("constrained", number)
    size = int(rng.integers(2, 5))
    kinds = [KINDS[int(k)] for k in rng.integers(len(KINDS), size=size)]
    axes = [AXES[int(k)] for k in rng.integers(len(AXES), size=size)]
    mounts = [MOUNTS[int(k)] for k in rng.integers(len(MOUNTS), size=size)]
    plan = planned(rng, kinds, axes, mounts, ["force", "spring"][: int(rng.integers(3))])
    plan = replace(plan, bodies=tuple(_with_options(b, rng) for b in plan.bodies))
    tree = Tree(plan)
    q, u, tau, t = drawn_state(tree, rng)
    still = np.zeros(tree.nu)
    closed = drawn_constraints(tree, tree.motion(q, still, still, t), rng)
    try:
        return judge(tree, closed, (q, u, tau, t))
    except Exception as error:
        error.add_note(f"joints {kinds}; " + "; ".join(repr(c.record)[:400] for c in closed))
        raise


def _with_options(body: Any, rng: np.random.Generator) -> Any:
    if body.kind == "planar":
        return replace(body, options={**body.options, "velocity": ("body", "parent")[int(rng.integers(2))]})
    return body
