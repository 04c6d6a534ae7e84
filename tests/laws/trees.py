"""Random trees of bodies: a plan in plain numbers, and the model it describes, written in one frame or another.

A plan mixes every joint type with mounts and axes of all kinds, valid inertias and every kind of load. `reframed` and
`turned` describe the same mechanism otherwise: with other body frames, or in a world turned around.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from kane import Model
from kane.graph import Expr
from kane.model import Effort, Force, JointSpring, Spring, Torque
from kane.model.joints import speeds_are_rates

Array = NDArray[np.float64]

EULER = tuple(
    f"{kind} {a}{b}{c}" for kind in ("body", "space") for a in "123" for b in "123" for c in "123" if a != b != c
)
UNIVERSAL = ("body xy", "body zx", "space yz")
KINDS = (
    "weld",
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "gimbal",
    "spherical",
    "planar",
    "free",
)
AXES = ("x", "y", "z", "-x", "-y", "-z", None)  # None: any direction
MOUNTS = ("none", "quarter turn", "any")


@dataclass(frozen=True)
class BodyPlan:
    """A body and its inboard joint: R_P and R_C its frames in parent and child, at and child_at its places."""

    parent: int  # -1 is the ground
    kind: str
    options: dict[str, Any]
    at: Array
    R_P: Array
    child_at: Array
    R_C: Array
    mass: float
    center: Array
    inertia: Array


@dataclass(frozen=True)
class LoadPlan:
    """A load: kind, bodies it acts on, points of them, a vector with components in N or, with `own`, in the body."""

    kind: str
    first: int
    second: int
    first_at: Array
    second_at: Array
    vector: Array
    own: bool = False


@dataclass(frozen=True)
class Plan:
    """A whole mechanism in numbers."""

    bodies: tuple[BodyPlan, ...]
    loads: tuple[LoadPlan, ...]
    gravity: Array
    free: frozenset[str] = frozenset()  # parameters kept as inputs


def rotation(rng: np.random.Generator) -> Array:
    """A rotation matrix, any."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else -Q


def _mount(rng: np.random.Generator, kind: str) -> Array:
    if kind == "none":
        return np.eye(3)
    if kind == "quarter turn":
        return np.roll(np.eye(3), int(rng.integers(1, 3)), axis=0)
    return rotation(rng)


def _inertia(rng: np.random.Generator, mass: float) -> Array:
    """Central inertia of a cloud of points: satisfies every triangle inequality."""
    points = rng.normal(size=(4, 3)) * 0.3
    points -= points.mean(axis=0)
    second = mass / 4 * points.T @ points
    return np.trace(second) * np.eye(3) - second


def _options(rng: np.random.Generator, kind: str, axis: str | None) -> dict[str, Any]:
    if kind in ("revolute", "prismatic", "screw", "cylindrical"):
        direction = rng.normal(size=3)
        options: dict[str, Any] = {"axis": axis or (direction / np.linalg.norm(direction)).tolist()}
        if kind == "screw":
            options["pitch"] = float(rng.uniform(-0.3, 0.3))
        return options
    if kind == "gimbal":
        return {"sequence": EULER[int(rng.integers(len(EULER)))]}
    if kind == "universal":
        return {"sequence": UNIVERSAL[int(rng.integers(len(UNIVERSAL)))]}
    if kind == "planar":
        return {"normal": "xyz"[int(rng.integers(3))], "velocity": ("body", "parent")[int(rng.integers(2))]}
    return {"velocity": ("body", "parent")[int(rng.integers(2))]} if kind == "free" else {}


def planned(
    rng: np.random.Generator, kinds: list[str], axes: list[str | None], mounts: list[str], loads: list[str]
) -> Plan:
    """A plan with the given joints and loads, all numbers drawn from `rng`."""
    bodies = []
    for k, kind in enumerate(kinds):
        mass = float(rng.uniform(0.5, 3.0))
        plain = mounts[k] == "none"
        bodies.append(
            BodyPlan(
                parent=int(rng.integers(-1, k)) if k else -1,
                kind=kind,
                options=_options(rng, kind, axes[k]),
                at=rng.normal(size=3) * rng.integers(0, 2, size=3),
                R_P=_mount(rng, mounts[k]),
                child_at=np.zeros(3) if plain else rng.normal(size=3) * 0.5,
                R_C=_mount(rng, mounts[-1 - k]),
                mass=mass,
                center=rng.normal(size=3) * 0.4 * rng.integers(0, 2, size=3),
                inertia=_inertia(rng, mass),
            )
        )
    acting = []
    for kind in loads:
        first, second = int(rng.integers(len(kinds))), int(rng.integers(-1, len(kinds)))
        points = rng.normal(size=(3, 3))
        acting.append(LoadPlan(kind, first, second, points[0], points[1], points[2], bool(rng.integers(2))))
    free = frozenset(f"m{k}" for k in range(len(kinds)) if rng.random() < 0.3)
    return Plan(tuple(bodies), tuple(acting), rng.normal(size=3) * 5.0, free)


LOADS = ("force", "torque", "pair of forces", "pair of torques", "spring", "joint spring", "effort")


@st.composite
def plans(
    draw: st.DrawFn,
    *,
    kinds: tuple[str, ...] = KINDS,
    loads: tuple[str, ...] = LOADS,
    size: int = 8,
) -> Plan:
    """Plans of one to `size` bodies, at least one of which moves."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=size).filter(lambda k: set(k) != {"weld"}))
    axes = [draw(st.sampled_from(AXES)) for _ in chosen]
    mounts = [draw(st.sampled_from(MOUNTS)) for _ in chosen]
    acting = draw(st.lists(st.sampled_from(loads), max_size=4)) if loads else []
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return planned(rng, chosen, axes, mounts, acting)


def reframed(plan: Plan, rng: np.random.Generator) -> Plan:
    """The same mechanism with every body's frame turned and its origin moved; joints and points stay where they are."""
    turns = [rotation(rng) for _ in plan.bodies]
    shifts = [rng.normal(size=3) * 0.5 for _ in plan.bodies]

    def moved(k: int, point: Array) -> Array:
        return point if k < 0 else turns[k].T @ (point - shifts[k])

    bodies = [
        replace(
            b,
            at=moved(b.parent, b.at),
            R_P=b.R_P if b.parent < 0 else turns[b.parent].T @ b.R_P,
            child_at=moved(k, b.child_at),
            R_C=turns[k].T @ b.R_C,
            center=moved(k, b.center),
            inertia=turns[k].T @ b.inertia @ turns[k],
        )
        for k, b in enumerate(plan.bodies)
    ]
    loads = [
        replace(
            load,
            first_at=moved(load.first, load.first_at),
            second_at=moved(load.second, load.second_at),
            vector=turns[load.first].T @ load.vector if load.own else load.vector,
        )
        for load in plan.loads
    ]
    return replace(plan, bodies=tuple(bodies), loads=tuple(loads))


def turned(plan: Plan, R: Array) -> Plan:
    """The same mechanism in a world turned by R: what is fixed in N turns along, and so does gravity."""
    bodies = [replace(b, at=R @ b.at, R_P=R @ b.R_P) if b.parent < 0 else b for b in plan.bodies]
    loads = [
        replace(
            load,
            second_at=R @ load.second_at if load.second < 0 else load.second_at,
            vector=load.vector if load.own else R @ load.vector,
        )
        for load in plan.loads
    ]
    return replace(plan, bodies=tuple(bodies), loads=tuple(loads), gravity=R @ plan.gravity)


def build(plan: Plan, speeds: np.random.Generator | None = None) -> Model:
    """The model of a plan; with `speeds`, with random combinations of the motion variables as generalized speeds."""
    model = Model("tree", gravity=plan.gravity.tolist())
    names = [f"b{k}" for k in range(len(plan.bodies))]
    for k, b in enumerate(plan.bodies):
        model.parameter(f"m{k}", b.mass, free=f"m{k}" in plan.free)
        xx, yy, zz = np.diag(b.inertia).tolist()
        xy, xz, yz = b.inertia[0, 1].item(), b.inertia[0, 2].item(), b.inertia[1, 2].item()
        entries = {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz}
        model.body(names[k], mass=f"m{k}", center=b.center.tolist(), inertia=entries)
        model.joint(
            f"j{k}",
            b.kind,
            "ground" if b.parent < 0 else names[b.parent],
            names[k],
            at=b.at.tolist(),
            rotation={"matrix": b.R_P.tolist()},
            child_at=b.child_at.tolist(),
            child_rotation={"matrix": b.R_C.tolist()},
            **b.options,
        )
    if speeds is not None:
        choose_speeds(model, speeds)
    for k, load in enumerate(plan.loads):
        add_load(model, f"load{k}", load, names)
    return model


def choose_speeds(model: Model, rng: np.random.Generator, drift: bool = False) -> None:
    """Speeds u = Y(q) s, or Y(q) s + Z(q, t): well-conditioned combinations that change with the configuration."""
    variables = list(model.mechanism.motion_variables.values())
    coordinates = [c.symbol for c in model.mechanism.coordinate_records.values()]
    n = len(variables)
    A = np.eye(n) + rng.uniform(-0.3, 0.3, (n, n)) * (rng.random((n, n)) < 2.0 / n) / 2
    definitions: dict[str, Expr] = {}
    for r in range(n):
        total: Expr = model.mechanism.graph.const(0.0)
        for j in range(n):
            bend = coordinates[int(rng.integers(len(coordinates)))].sin()
            total = total + A[r, j].item() * (1.0 + (0.2 * bend if r != j else 0.1 * bend)) * variables[j]
        if drift:
            total = total + 0.5 * (model.mechanism.time + coordinates[r % len(coordinates)]).cos()
        definitions[f"s{r}"] = total
    model.set_speeds(definitions)


def add_load(model: Model, name: str, load: LoadPlan, bodies: list[str]) -> None:
    """Add one load of a plan; one that needs a joint with a motion variable takes the first that fits, if any."""
    first = bodies[load.first]
    second = "ground" if load.second < 0 else bodies[load.second]
    vector, frame = load.vector.tolist(), first if load.own else "N"
    swing = (
        f"(cos(2*t) + 0.3*{model.coordinates[0]} - 0.2*{model.speeds[0]})"  # one factor: the direction is the plan's
    )
    swinging = [f"{x!r}*{swing}" for x in vector]
    joints = [j for j in model.joints.values() if j.rates]
    plain = [j for j in joints if speeds_are_rates(j.type)]
    if load.kind == "force":
        model.load(name, Force(first, swinging, at=load.first_at.tolist(), frame=frame))
    elif load.kind == "torque":
        model.load(name, Torque(first, swinging, frame=frame))
    elif load.kind == "pair of forces":
        model.load(name, Force(first, vector, at=load.first_at.tolist(), frame=frame, reaction=second))
    elif load.kind == "pair of torques":
        model.load(name, Torque(first, vector, frame=frame, reaction=second))
    elif load.kind == "spring" and load.first != load.second:
        ends = {"first_at": load.first_at.tolist(), "second_at": load.second_at.tolist()}
        model.load(name, Spring(first, second, **ends, stiffness=3.0, damping=0.7, rest=0.4))
    elif load.kind == "joint spring" and plain:
        joint = plain[load.first % len(plain)]
        model.load(name, JointSpring(joint, stiffness=2.0, damping=0.3, rest=0.1, index=len(joint.rates) - 1))
    elif load.kind == "effort":
        joint = joints[load.first % len(joints)]
        model.load(name, Effort(joint, f"sin(t) - 0.4*{model.speeds[-1]}", index=len(joint.rates) - 1))
