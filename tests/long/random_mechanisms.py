"""Random trees of bodies, three routes: the fast one, the dense one of the package, and Newton–Euler in plain NumPy.

All joints with all their options, any mounts and axes, prescribed joints, all plain loads, chosen speeds, and sizes on
both sides of the switch to recursion over the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane import Model
from kane.formulation.dense import dense_equations
from kane.large.choice import by_recursion
from laws.trees import AXES, KINDS, LOADS, MOUNTS, Plan, add_load, build, planned
from long.block import Disagreement
from long.newton import DOF, GROUND, Moving, Tree, coordinate_series
from long.tries import draws

Array = NDArray[np.float64]
EFFORTS = 1e-10  # relative to the sum of the sizes of all terms of an effort
RATES = 1e-12  # of q̇, relative to the largest
ALONG_JOINTS = ("joint spring", "effort")  # loads that trees of any size take


@dataclass(frozen=True)
class Speeds:
    """Chosen speeds: s_r = Σ A[r, j] (1 + B[r, j] sin q_bend[r]) u_j + C cos(t + q_bend[r])."""

    A: Array
    B: Array
    bend: NDArray[np.int64]
    drift: float

    def matrix(self, q: Array) -> Array:
        """Y of s = Y u + Z."""
        return self.A * (1.0 + self.B * np.sin(q[self.bend])[:, None])

    def matrix_rate(self, q: Array, qdot: Array) -> Array:
        """The rate of Y."""
        return self.A * self.B * (np.cos(q[self.bend]) * qdot[self.bend])[:, None]

    def offset(self, q: Array, t: float) -> Array:
        """Z of s = Y u + Z."""
        return self.drift * np.cos(t + q[self.bend])

    def offset_rate(self, q: Array, qdot: Array, t: float) -> Array:
        """The rate of Z."""
        return -self.drift * np.sin(t + q[self.bend]) * (1.0 + qdot[self.bend])


def drawn_speeds(rng: np.random.Generator, nq: int, nu: int) -> Speeds:
    """Well-conditioned combinations."""
    A = np.eye(nu) + rng.uniform(-0.3, 0.3, (nu, nu)) * (rng.random((nu, nu)) < 2.0 / nu) / 2
    return Speeds(A, rng.uniform(-0.2, 0.2, (nu, nu)), rng.integers(nq, size=nu), float(rng.integers(2)) * 0.5)


def choose(model: Model, speeds: Speeds) -> None:
    """Tell a model."""
    variables = list(model.mechanism.motion_variables.values())
    coordinates = [c.symbol for c in model.mechanism.coordinate_records.values()]
    definitions = {}
    for r in range(len(variables)):
        bend = coordinates[int(speeds.bend[r])]
        total = speeds.drift * (model.mechanism.time + bend).cos()
        for j, variable in enumerate(variables):
            total = total + speeds.A[r, j].item() * (1.0 + speeds.B[r, j].item() * bend.sin()) * variable
        definitions[f"s{r}"] = total
    model.set_speeds(definitions)


def drawn_plan(rng: np.random.Generator) -> Plan:
    """Mostly small trees; one in twenty around the switch to recursion, which is at a chain of 24."""
    large = rng.random() < 0.05
    size = int(rng.integers(22, 32)) if large else int(rng.integers(1, 7))
    kinds = ["revolute", *(KINDS[int(k)] for k in rng.integers(len(KINDS), size=size - 1))]
    axes = [AXES[int(k)] for k in rng.integers(len(AXES), size=size)]
    mounts = [MOUNTS[int(k)] for k in rng.integers(len(MOUNTS), size=size)]
    pool = ALONG_JOINTS if large else LOADS
    loads = [pool[int(k)] for k in rng.integers(len(pool), size=int(rng.integers(0, 4)))]
    plan = planned(rng, kinds, axes, mounts, loads)
    bodies = []
    for k, b in enumerate(plan.bodies):
        options: dict[str, Any] = dict(b.options)
        if b.kind == "planar":
            options["velocity"] = ("body", "parent")[int(rng.integers(2))]
        if k and not large and b.kind in ("revolute", "prismatic", "cylindrical", "gimbal") and rng.random() < 0.15:
            options["prescribed"] = drawn_motion(b.kind, rng)
        bodies.append(replace(b, options=options, parent=k - 1 if large and rng.random() < 0.9 else b.parent))
    return replace(plan, bodies=tuple(bodies))


def drawn_motion(kind: str, rng: np.random.Generator) -> list[str]:
    """A function of time for each coordinate of a joint, as `newton.given_series` reads it."""
    numbers = np.round(rng.uniform(0.2, 1.5, (DOF[kind][0], 3)), 3).tolist()
    return [f"{a!r} + {c!r}*sin({w!r}*t)" for a, c, w in numbers]


def drawn_state(tree: Tree, rng: np.random.Generator) -> tuple[Array, Array, Array, float]:
    """(q, u, u̇, t): unit quaternions, angles away from every lock."""
    q = rng.uniform(0.2, 1.1, tree.nq)
    for k, b in enumerate(tree.plan.bodies):
        if b.kind in ("spherical", "free"):
            four = slice(tree.slots(k)[0].start, tree.slots(k)[0].start + 4)
            q[four] /= np.linalg.norm(q[four])
    u, udot = rng.normal(size=(2, tree.nu))
    return q, u, udot, float(rng.uniform(0, 2))


def load_function(tree: Tree, q: Array, speeds: Array, u: Array, t: float) -> Any:
    """What the loads of a plan do, as `laws.trees.add_load` describes them: (body, point, force, torque), efforts."""
    plan = tree.plan
    rates = {k: tree.slots(k)[1] for k, b in enumerate(plan.bodies) if tree.slots(k)[1].stop > tree.slots(k)[1].start}
    same = [k for k in rates if DOF[plan.bodies[k].kind][0] == DOF[plan.bodies[k].kind][1]]
    plain = [k for k in same if (plan.bodies[k].kind, plan.bodies[k].options.get("velocity")) != ("planar", "body")]
    swing = np.cos(2 * t) + 0.3 * q[0] - 0.2 * speeds[0]

    def acting(now: list[Moving]) -> tuple[list[tuple[int, Array, Array, Array]], Array]:
        wrenches: list[tuple[int, Array, Array, Array]] = []
        along, none = np.zeros(tree.nu), np.zeros(3)
        for load in plan.loads:
            first = now[load.first]
            second = GROUND if load.second < 0 else now[load.second]
            vector = first.R.c[0] @ load.vector if load.own else load.vector
            if load.kind == "force":
                wrenches.append((load.first, load.first_at, swing * vector, none))
            elif load.kind == "torque":
                wrenches.append((load.first, none, none, swing * vector))
            elif load.kind == "pair of forces":
                where = second.R.c[0].T @ (first.point(load.first_at).c[0] - second.p.c[0])
                wrenches += [(load.first, load.first_at, vector, none), (load.second, where, -vector, none)]
            elif load.kind == "pair of torques":
                wrenches += [(load.first, none, none, vector), (load.second, none, none, -vector)]
            elif load.kind == "spring" and load.first != load.second:
                line = first.point(load.first_at) - second.point(load.second_at)
                length = float(np.linalg.norm(line.c[0]))
                e = line.c[0] / length
                pull = (3.0 * (length - 0.4) + 0.7 * float(e @ line.rate)) * e
                wrenches += [(load.first, load.first_at, -pull, none), (load.second, load.second_at, pull, none)]
            elif load.kind == "joint spring" and plain:
                k = plain[load.first % len(plain)]
                i, j = tree.slots(k)
                along[j.stop - 1] += -2.0 * (q[i.stop - 1] - 0.1) - 0.3 * u[j.stop - 1]
            elif load.kind == "effort":
                k = list(rates)[load.first % len(rates)]
                along[rates[k].stop - 1] += np.sin(t) - 0.4 * speeds[-1]
        return wrenches, along

    return acting


def coordinate_rates(tree: Tree, q: Array, u: Array) -> Array:
    """q̇ by the oracle."""
    rates = np.zeros(tree.nq)
    for k, b in enumerate(tree.plan.bodies):
        i, j = tree.slots(k)
        if i.stop > i.start:
            rates[i] = [s.rate for s in coordinate_series(b.kind, b.options, q[i], u[j], np.zeros(j.stop - j.start))]
    return rates


def compare(what: str, found: Array, expected: Array, bound: Array | float) -> None:
    """Refuse a difference larger than its bound."""
    off = np.abs(found - expected)
    if not np.all(off <= bound):
        worst = int(np.argmax(off / np.maximum(bound, 1e-300)))
        raise Disagreement(f"{what}[{worst}]: {found[worst]} and {expected[worst]}, bound {np.max(bound):.3g}")


def judge_plan(plan: Plan, rng: np.random.Generator, chosen: bool) -> str:
    """Efforts, accelerations and rates of one mechanism at one state by all routes."""
    tree = Tree(plan)
    q, u, udot, t = drawn_state(tree, rng)
    speeds = drawn_speeds(rng, tree.nq, tree.nu) if chosen else None
    model = build(plan, speeds=None) if speeds is None else build_with(plan, speeds)
    qdot = coordinate_rates(tree, q, u)
    s, sdot, back = u, udot, np.eye(tree.nu)
    if speeds is not None:
        Y = speeds.matrix(q)
        s = Y @ u + speeds.offset(q, t)
        sdot = Y @ udot + speeds.matrix_rate(q, qdot) @ u + speeds.offset_rate(q, qdot, t)
        back = np.linalg.inv(Y).T
    compare("qdot", model.qdot(q, s, t=t), qdot, RATES * (1.0 + np.abs(qdot).max()))
    loads = load_function(tree, q, s, u, t)
    tau, scale = tree.efforts_and_scale(q, u, udot, t, loads)
    bound = EFFORTS * (np.abs(back) @ scale)
    compare("inverse_dynamics", model.inverse_dynamics(q, s, sdot, t=t), back @ tau, bound)
    compare("dense", dense_equations(model.mechanism).state(q, s, t).efforts(sdot), back @ tau, bound)
    M = back @ tree.mass_matrix(q, t) @ back.T
    compare("mass_matrix", model.mass_matrix(q, t=t).ravel(), M.ravel(), EFFORTS * np.abs(M).max())
    found = model.forward_dynamics(q, s, back @ tau, t=t)
    spread = np.abs(M) @ (np.abs(found) + np.abs(sdot))
    compare("forward_dynamics, residual", M @ (found - sdot), np.zeros(tree.nu), bound + EFFORTS * spread)
    size = "recursion" if by_recursion(model.mechanism) else "written out"
    return f"three routes agree, {size}{', chosen speeds' * chosen}"


def build_with(plan: Plan, speeds: Speeds) -> Model:
    """The model of a plan with these speeds, chosen before its loads are added, which speak of them."""
    model = build(replace(plan, loads=()))
    choose(model, speeds)
    for k, load in enumerate(plan.loads):
        add_load(model, f"load{k}", load, [f"b{i}" for i in range(len(plan.bodies))])
    return model


def search(number: int) -> str:
    """One mechanism."""
    rng = draws("mechanisms", number)
    plan = drawn_plan(rng)
    return judge_plan(plan, rng, chosen=bool(rng.random() < 0.3) and len(plan.bodies) < 10)
