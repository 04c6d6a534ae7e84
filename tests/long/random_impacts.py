"""Random frictional impacts of mechanisms: trees, trees under loops and rods, all that rolls, linkages in a plane.

Points of some bodies touch planes of the ground at a random state, and speeds are such that at least one of them
approaches. Each law of impact resolves it, and what comes of it is judged by the oracle: masses, rows of permanent
constraints and velocities of points are those of `newton.py` and `closures.py`, which share no code with the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane import Model
from kane.errors import ModelError
from laws.trees import AXES, MOUNTS, build, planned, rotation
from long.block import Disagreement
from long.closures import LOOPS, Closed, ball, ball_on_ball, closing_loop, ellipsoid, guide, line, name_of, rod, wheel
from long.newton import Tree
from long.random_constraints import KINDS, SURE, consistent, rows_of
from long.random_mechanisms import drawn_state
from long.tries import draws

Array = NDArray[np.float64]
LAWS = ("poisson", "newton", "stronge", "sequential", "plastic")
SPEEDS = 10  # states of motion of each mechanism
GAIN = 1e-12  # of the kinetic energy before
SOLVED = 1e-8  # of the largest velocity or impulse of the impact: natural residual of the contact problem
KEPT = 1e-11  # rates of permanent constraints, relative to the speeds
MOMENTUM = 1e-10  # of M Δu, relative to its largest part
PARADOX = "no set of constraints is consistent with Coulomb friction"  # several contacts that slip
FAMILIES = ("tree", "loops", "rolling", "plane")
ROLLING = (ball, wheel, ellipsoid, ball_on_ball)
TIED = (rod, guide, line)


@dataclass(frozen=True)
class Touch:
    """A point of body k that lies on a plane of the ground with the unit normal n; laws of the contact."""

    body: int
    point: Array
    n: Array
    friction: float
    restitution: float


@dataclass(frozen=True)
class Struck:
    """A mechanism at a position, its permanent constraints and what touches there; M, A of the permanent rows and the
    velocities of the points at unit speeds (points, 3, n), by the oracle."""

    tree: Tree
    closed: list[Closed]
    touching: list[Touch]
    q: Array
    M: Array
    A: Array
    J: Array


def drawn_tree(rng: np.random.Generator, family: str) -> Tree:
    """Two to four bodies without loads; the last one is free where constraints are to leave it some motion."""
    size = int(rng.integers(2, 5))
    if family == "plane":
        kinds = [str(rng.choice(["revolute", "prismatic"])) for _ in range(size)]
        axes: list[str | None] = ["y" if kind == "revolute" else str(rng.choice(["x", "z"])) for kind in kinds]
        return Tree(planned(rng, kinds, axes, ["none"] * size, []))
    kinds = [KINDS[int(k)] for k in rng.integers(len(KINDS), size=size)]
    kinds[-1] = "free" if family in ("loops", "rolling") else kinds[-1]
    axes = [AXES[int(k)] for k in rng.integers(len(AXES), size=size)]
    return Tree(planned(rng, kinds, axes, [MOUNTS[int(k)] for k in rng.integers(len(MOUNTS), size=size)], []))


def drawn_constraints(tree: Tree, q: Array, family: str, rng: np.random.Generator) -> list[Closed]:
    """What always holds: nothing, a loop or a tie, something that rolls."""
    if family in ("tree", "plane"):
        return []
    still, count = np.zeros(tree.nu), len(tree.plan.bodies)
    now = tree.motion(q, still, still, 0.0)
    second = count - 1
    first = int(rng.integers(-1, second))
    if family == "rolling":
        return [ROLLING[int(rng.integers(len(ROLLING)))](first, second, now, rng)]
    if rng.random() < 0.5:
        return [closing_loop(LOOPS[int(rng.integers(len(LOOPS)))], first, second, now, rng)]
    return [TIED[int(rng.integers(len(TIED)))](first, second, now, rng)]


def drawn_touches(tree: Tree, planar: bool, rng: np.random.Generator) -> list[Touch]:
    """One to three points that touch."""
    found = []
    alike = float(rng.uniform(0, 1)) if rng.random() < 0.5 else None
    for _ in range(1 if planar and rng.random() < 0.5 else int(rng.integers(1, 4))):
        n = rotation(rng)[0]
        if planar:
            angle = rng.uniform(0, 2 * np.pi)
            n = np.array([np.cos(angle), 0.0, np.sin(angle)])
        friction = float(rng.choice([0.0, rng.uniform(0.05, 1.5)]))
        restitution = alike if alike is not None else float(rng.choice([0.0, rng.uniform(0, 1), 1.0]))
        found.append(Touch(int(rng.integers(len(tree.plan.bodies))), rng.normal(size=3), n, friction, restitution))
    return found


def draw(number: int) -> tuple[Struck, np.random.Generator, str]:
    """The mechanism of a try, its random numbers from here on, and what family it is of."""
    rng = draws("impacts", number)
    family = FAMILIES[number % len(FAMILIES)]
    tree = drawn_tree(rng, family)
    q = drawn_state(tree, rng)[0]
    closed = drawn_constraints(tree, q, family, rng)
    touching = drawn_touches(tree, family == "plane", rng)
    A = rows_of(tree, closed, q, np.zeros(tree.nu), 0.0).A if closed else np.zeros((0, tree.nu))
    units = tree.partials(q, 0.0)
    J = np.array([np.array([unit[x.body].point(x.point).rate for unit in units]).T for x in touching])
    return Struck(tree, closed, touching, q, tree.mass_matrix(q, 0.0), A, J), rng, family


def model_of(struck: Struck) -> Model:
    """The model that the package is told."""
    tree, still = struck.tree, np.zeros(struck.tree.nu)
    model = build(tree.plan)
    model.set_initial(dict(zip(model.coordinates, struck.q.tolist(), strict=True)))
    for k, c in enumerate(struck.closed):
        model.constrain(f"c{k}", c.record)
    now = tree.motion(struck.q, still, still, 0.0)
    for k, x in enumerate(struck.touching):
        plane: dict[str, Any] = {"normal": x.n.tolist(), "at": now[x.body].point(x.point).c[0].tolist()}
        law: dict[str, Any] = {"friction": x.friction, "restitution": x.restitution}
        model.contact(f"x{k}", name_of(x.body), "ground", shape={"point": x.point.tolist()}, **plane, **law)
    return model


def well_posed(struck: Struck) -> bool:
    """Whether rows are far enough from losing rank, and points can move along their normals."""
    L = np.linalg.cholesky(struck.M)
    scaled = np.linalg.solve(L, struck.A.T).T
    if len(scaled):
        lengths = np.linalg.norm(scaled, axis=1)
        S = np.linalg.svd(scaled / lengths[:, None], compute_uv=False)
        if lengths.min() < SURE or S.min() < SURE:
            return False
    left = np.linalg.svd(scaled)[2][len(scaled) :] if len(scaled) else np.eye(len(L))
    along = [x.n @ j @ np.linalg.solve(L.T, left.T) for x, j in zip(struck.touching, struck.J, strict=True)]
    return len(left) > 0 and min(float(np.linalg.norm(row)) for row in along) > SURE


def drawn_speeds(struck: Struck, rng: np.random.Generator) -> Array | None:
    """Speeds that the permanent constraints allow, with which some contact approaches; None where there are none."""
    rows = rows_of(struck.tree, struck.closed, struck.q, np.zeros(struck.tree.nu), 0.0) if struck.closed else None
    u = rng.normal(size=struck.tree.nu)
    if rows is not None:
        allowed = consistent(struck.M, rows, u)
        if allowed is None:
            return None
        u = allowed
    speeds = [float(x.n @ j @ u) for x, j in zip(struck.touching, struck.J, strict=True)]
    return u if min(speeds) < 0.0 else -u


def judge(struck: Struck, change: Any, law: str) -> None:
    """What the laws of mechanics, of friction and of the impact say of one impact."""
    before, after = change.u_before, change.u_after
    energy = 0.5 * float(before @ struck.M @ before)
    gain = 0.5 * float((after - before) @ struck.M @ (after + before))
    if not gain <= GAIN * energy:
        raise Disagreement(f"{law}, by {change.law}: gains {gain:.3g} of {energy:.3g} J")
    if np.abs(struck.A @ after).max(initial=0.0) > KEPT * np.abs(struck.A).max(initial=0.0) * np.abs(before).max():
        raise Disagreement(f"{law}: permanent constraints have the rates {struck.A @ after}")
    v = np.array([j @ before for j in struck.J])
    v_after = np.array([j @ after for j in struck.J])
    P = np.array([change.impulse.get(f"x{k}", np.zeros(1))[0] for k in range(len(v))])
    fast, strong = float(np.abs(v).max()), float(np.abs(P).max())
    pushed, columns = np.zeros(len(after)), [struck.A.T]
    for k, (x, j) in enumerate(zip(struck.touching, struck.J, strict=True)):
        impulse, normal = change.impulse.get(f"x{k}", np.zeros(1)), float(x.n @ v_after[k])
        if normal < -SOLVED * fast:
            raise Disagreement(f"{law}: 'x{k}' still approaches with {normal:.3g} m/s")
        if np.linalg.norm(impulse[1:]) > x.friction * P[k] + SOLVED * strong or P[k] < -SOLVED * strong:
            raise Disagreement(f"{law}: 'x{k}' is pushed by {impulse} N s with friction {x.friction}")
        judge_law(change.law, x, float(x.n @ v[k]), normal, P[k] > SOLVED * strong, SOLVED * fast)
        pushed += x.n @ j * P[k]
        columns.append(((np.eye(3) - np.outer(x.n, x.n)) @ j).T)
    left = struck.M @ (after - before) - pushed
    free = np.concatenate(columns, axis=1)
    off = left - free @ np.linalg.lstsq(free, left, rcond=1e-10)[0]
    if np.abs(off).max() > MOMENTUM * max(float(np.abs(struck.M @ (after - before)).max()), 1e-12):
        raise Disagreement(f"{law}: M Δu is off by {off} from what the impulses {change.impulse} give")


def judge_law(law: str, x: Touch, before: float, after: float, pushes: bool, small: float) -> None:
    """What the law that is told says of one contact."""
    if law == "plastic" and pushes and after > small:
        raise Disagreement(f"plastic: a contact that pushes leaves with {after:.3g} m/s")
    if law == "newton" and before < 0.0:
        wanted = -x.restitution * before
        if after < wanted - small or (pushes and after > wanted + small):
            raise Disagreement(f"newton: approached with {before:.6g}, leaves with {after:.6g} m/s, e {x.restitution}")


def told_right(struck: Struck, family: str, law: str, told: str) -> bool:
    """Whether the law that is told is the one that was asked for, or one that may stand for it. Stronge's is for one
    contact whose slip has one direction at most."""
    alone = len(struck.touching) == 1 and (family == "plane" or struck.touching[0].friction == 0.0)
    allowed: dict[str, tuple[str, ...]] = {"newton": ("newton", "poisson", "poisson, equal restitution")}
    allowed["stronge"] = ("stronge",) if alone else ("poisson", "poisson, equal restitution")
    return told in allowed.get(law, (law, f"{law}, equal restitution"))


def resolve(model: Model, q: Array, u: Array, law: str) -> Any:
    """The impact that a motion from this state starts with; None where no mode is consistent after it, as is told."""
    run = model.simulate(1e-3, q=q, u=u, impact=law, max_steps=1)
    if run.outcome.reason == "mode" and PARADOX in str(run.outcome):
        return None
    change = run.transitions[0] if run.transitions else None
    if change is None or change.cause not in ("impact", "impact without collision"):
        raise Disagreement(f"{law}: {run.outcome}; {change}")
    return change


def search(number: int) -> str:
    """One mechanism, struck with several speeds, each by every law."""
    struck, rng, family = draw(number)
    if not well_posed(struck):
        return f"{family}: close to a singular position, not judged"
    try:
        model = model_of(struck)
    except ModelError:  # a contact along which nothing can move
        return f"{family}: refused"
    count = 0
    for _ in range(SPEEDS):
        u = drawn_speeds(struck, rng)
        if u is None:
            return f"{family}: no motion is possible, not judged"
        for law in LAWS:
            change = resolve(model, struck.q, u, law)
            if change is None:
                return f"{family}: no mode is consistent after an impact"
            again = change.cause == "impact without collision"  # after that of the law
            if not (change.law == "path-newton" if again else told_right(struck, family, law, change.law)):
                raise Disagreement(f"{family}: {law} was asked for, {change.law!r} is told")
            judge(struck, change, law)
            count += 1
    return f"{family}: {count} impacts"
