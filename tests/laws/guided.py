"""Mechanisms under one constraint each, of every kind, and the numbers that rows of constraints have at a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane.graph import Expr, evaluate
from kane.model import (
    Belt,
    BuiltConstraint,
    ConfigurationEquations,
    Constraint,
    Distance,
    Gear,
    KnifeEdge,
    Loop,
    Mechanism,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointVelocity,
    Rack,
    Rolling,
    RollingEllipsoid,
    RollingOnSphere,
    RollingSphere,
    Row,
)
from kane.model.attitude import QUATERNIONS
from kane.model.loads import Action, EffortAction, ForceAction, TorqueAction
from kane.space import Kinematics
from kane.space.algebra import dot

Array = NDArray[np.float64]
Build = Callable[[Mechanism, str], BuiltConstraint]

AT, OTHER = (0.1, -0.2, 0.3), (-0.3, 0.1, 0.2)
TILTED = (0.0, 0.6, 0.8)
FIRST = {"euler": "body 321", "angles": [0.1, 0.2, 0.3]}
SECOND = {"euler": "body 312", "angles": [0.4, -0.2, 0.5]}


def tree() -> Mechanism:
    """Two bodies that float, A and B, and on A a wheel W, a fork F that carries it, a slider S and a ball K."""
    m = Mechanism("guided")
    m.parameter("R", 0.4)
    for name in ("A", "B"):
        m.body(name, mass=1.0)
        m.joint(f"free {name}", "free", "ground", name, velocity="body" if name == "A" else "parent")
    m.body("F", mass=1.0)
    m.joint("fork", "revolute", "A", "F", axis="x", at=AT, rotation=FIRST, coordinates=["fork"])
    m.body("W", mass=1.0)
    m.joint("spin", "revolute", "F", "W", axis="y", at=OTHER, child_at=(0.0, 0.2, 0.0), coordinates=["spin"])
    m.body("S", mass=1.0)
    m.joint("slide", "prismatic", "A", "S", axis=TILTED, coordinates=["slide"])
    m.body("K", mass=1.0)
    m.joint("ball", "spherical", "B", "K", at=AT, child_at=OTHER)
    return m


@dataclass(frozen=True)
class Case:
    """A kind of constraint between a body and `on` (the ground or B)."""

    name: str
    build: Build


def _case(name: str, kind: Callable[..., Constraint], *args: Any, **options: Any) -> Case:
    """`on` among arguments and options stands for the other body."""

    def build(m: Mechanism, on: str) -> BuiltConstraint:
        given = {key: on if value == "on" else value for key, value in options.items()}
        return m.constrain("c", kind(*(on if a == "on" else a for a in args), **given))

    return Case(name, build)


MOVING: dict[str, Any] = {"first_at": (0.1, "sin(t)", 0.3), "second_at": ("cos(t)", 0.2, "R")}
PLANE: dict[str, Any] = {"on": "on", "at": AT, "normal": TILTED}
LOOPS = [
    _case(f"{kind}{' along first' * (options.get('along') == 'first')}", Loop, kind, "on", "W", **options, **MOVING)
    for kind, options in (
        ("weld", {"first_rotation": FIRST, "second_rotation": SECOND}),
        ("weld", {"first_rotation": FIRST, "along": "first"}),
        ("revolute", {"first_rotation": FIRST, "second_rotation": SECOND, "axis": "x"}),
        ("revolute", {"axis": TILTED, "along": "first"}),
        ("prismatic", {"first_rotation": FIRST, "axis": "y"}),
        ("cylindrical", {"second_rotation": SECOND, "axis": (0.0, 0.6, -0.8)}),
        ("universal", {"sequence": "space zx", "first_rotation": FIRST}),
        ("spherical", {}),
    )
]
GUIDES = [
    _case("distance", Distance, "W", "on", length="1 + 0.1*t", **MOVING),
    _case("point on plane", PointOnPlane, "on", "W", normal=TILTED, height="t**2", **MOVING),
    _case("point on line", PointOnLine, "on", "W", axis="y", **MOVING),
    _case("point on slanted line", PointOnLine, "on", "W", axis=TILTED, **MOVING),
    _case("point on curve", PointOnCurve, "on", "W", ["y = t*x**2 + R", "z - sin(x)"], second_at=AT),
]
WHEELS = [
    _case("wheel", Rolling, "W", radius="R", center=(0.0, 0.2, 0.0), **PLANE),
    _case("wheel off its axle", Rolling, "W", radius="R", center=(0.1, 0.2, 0.0), on="on"),
    _case("torus", Rolling, "W", radius="R", crown=0.1, axis="-y", center=(0.0, 0.2, 0.0), **PLANE),
    _case("disc of its own", Rolling, "K", radius="R", axis=TILTED, center=OTHER, crown=0.05, on="on", normal="-x"),
]
BALLS = [
    _case("ball", RollingSphere, "A", radius="R", center=AT, **PLANE),
    _case("ball, normal y", RollingSphere, "A", radius="R", on="on", normal="y"),
    _case("ball on ball", RollingOnSphere, "A", radius="R", on_radius=3, center=AT, **PLANE),
    _case("ball in ball", RollingOnSphere, "A", radius="R", on_radius=3, center=AT, on="on", at=OTHER, inside=True),
    _case("ellipsoid", RollingEllipsoid, "A", semi_axes=("R", 1, 2), center=AT, rotation=SECOND, **PLANE),
]
SPEEDS = [
    _case("velocity", PointVelocity, "W", (0, "sin(t)", "cos(t)"), at=AT, frame="A", relative_to="on"),
    _case("knife edge", KnifeEdge, "W", at=AT, direction="x", on="on"),
]
BETWEEN = [*LOOPS, *GUIDES, *WHEELS, *BALLS, *SPEEDS]
TIES = [
    _case("gear", Gear, "fork", "spin", ratio=-2, offset="sin(t)"),
    _case("belt", Belt, "fork", "spin", first_radius="R", second_radius=0.1, crossed=True),
    _case("rack", Rack, "fork", "slide", radius="R", offset="t"),
    _case("configuration", ConfigurationEquations, ["r.W.x = sin(t)*r.S.y", "fork - slide**2"]),
]


def state(m: Mechanism, rng: np.random.Generator) -> dict[str, float]:
    """Values of t, parameters, coordinates (quaternions of unit length) and motion variables."""
    values = {p.name: p.value for p in m.parameters.values()}
    values["t"] = float(rng.uniform(0.1, 2.0))
    values.update((name, float(rng.uniform(-1.2, 1.2))) for name in m.coordinates)
    for joint in m.joints.values():
        if joint.type.kind in QUATERNIONS:
            wxyz = rng.normal(size=4)
            wxyz /= np.linalg.norm(wxyz)
            values.update((c.name, float(e)) for c, e in zip(joint.coordinates[:4], wxyz, strict=True))
    values.update((name, float(rng.normal())) for name in m.motion_variables)
    return values


def kinematics(m: Mechanism) -> Kinematics:
    return Kinematics(m.graph, {**m.coordinate_rates, m.time: 1.0})


def power_of(kin: Kinematics, action: Action) -> Expr:
    if isinstance(action, ForceAction):
        return dot(kin.v(action.point), kin.turn(action.vector.xyz, action.vector.frame, action.point.home))
    if isinstance(action, TorqueAction):
        return dot(kin.w(action.frame), kin.turn(action.vector.xyz, action.vector.frame, action.frame))
    assert isinstance(action, EffortAction)
    return action.variable * action.value


def rate(m: Mechanism, row: Row) -> Expr:
    """Power of the actions + the rheonomic part."""
    kin = kinematics(m)
    total = row.rheonomic
    for action in row.actions:
        total = total + power_of(kin, action)
    return total


def moved(m: Mechanism, values: dict[str, float], dt: float) -> dict[str, float]:
    """The state a moment later, to first order."""
    rates = evaluate(list(m.coordinate_rates.values()), values)
    after = {**values, "t": values["t"] + dt}
    for q, qdot in zip(m.coordinate_rates, rates, strict=True):
        after[repr(q)] += dt * qdot
    return after


@dataclass(frozen=True)
class Pose:
    """Where a body is: orientation (components in the body become components in N) and origin in N."""

    R: Array
    p: Array

    def __call__(self, at: Array) -> Array:
        """The place in N of what is at `at` in the body."""
        return self.p + self.R @ at


def pose(m: Mechanism, body: str, values: dict[str, float]) -> Pose:
    kin = kinematics(m)
    record = m.find_body(body, "pose")
    assert record.frame is not None and record.origin is not None
    R = evaluate([e for row in kin.orientation(record.frame) for e in row], values)
    return Pose(np.array(R).reshape(3, 3), np.array(evaluate(kin.position(record.origin), values)))


@dataclass(frozen=True)
class Wrench:
    """Force, and moment about O, in N."""

    force: Array
    moment: Array


def wrench(m: Mechanism, row: Row, body: str, values: dict[str, float]) -> Wrench:
    """What a unit reaction does to a body."""
    kin = kinematics(m)
    force, moment = np.zeros(3), np.zeros(3)
    for action, on in zip(row.actions, row.on, strict=True):
        if on.name != body:
            continue
        assert isinstance(action, ForceAction | TorqueAction)
        vector = np.array(evaluate(kin.turn(action.vector.xyz, action.vector.frame, m.N), values))
        if isinstance(action, ForceAction):
            force += vector
            moment += np.cross(np.array(evaluate(kin.position(action.point), values)), vector)
        else:
            moment += vector
    return Wrench(force, moment)
