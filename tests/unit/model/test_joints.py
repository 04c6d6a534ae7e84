"""Every joint: stated velocities are the rates of the stated positions, and at rest both frames coincide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kane.errors import ModelError
from kane.graph import Expr, Graph, depends_on, evaluate, linear_coefficients, reachable
from kane.model import JOINT_TYPES, Mechanism
from kane.model.joints import JointMotion, JointType
from kane.space import Kinematics, position, rotations
from kane.space.algebra import scaled
from unit.space.numeric import DIFFERENCE, Array, axial, matrix, rate, vector

TOLERANCE = 20 * DIFFERENCE  # rates of size 10
OPTIONS: dict[str, list[dict]] = {
    "weld": [{}],
    "revolute": [{"axis": "x"}, {"axis": "-y"}, {"axis": [0.48, -0.6, 0.64]}],
    "prismatic": [{"axis": "z"}, {"axis": [0.48, -0.6, 0.64]}],
    "screw": [{"axis": "y", "pitch": 0.3}, {"axis": [0.48, -0.6, 0.64], "pitch": "-0.1"}],
    "cylindrical": [{"axis": "x"}, {"axis": [0.0, 0.6, 0.8]}],
    "universal": [{}, {"sequence": "space zx"}],
    "gimbal": [{}, {"sequence": "body 313"}, {"sequence": "space 231"}, {"sequence": "body 2"}],
    "spherical": [{}],
    "planar": [{}, {"normal": "x"}, {"normal": "y"}],
    "free": [{}, {"velocity": "parent"}],
}
CASES = [(kind, options) for kind, variants in OPTIONS.items() for options in variants]


def case_name(case: object) -> str:
    return "-".join(str(v) for v in case.values()) if isinstance(case, dict) else str(case)


every_joint = pytest.mark.parametrize(("kind", "options"), CASES, ids=case_name)


class Case:
    """A joint in a random state; its quaternion, if any, is a unit one."""

    def __init__(self, kind: str, options: dict, seed: int = 3):
        m = Mechanism()
        m.body("B")
        self.joint = m.joint("j", kind, "ground", "B", **options)
        self.type: JointType = self.joint.type
        self.motion: JointMotion = self.joint.motion
        self.names = [c.name for c in self.joint.coordinates]
        rng = np.random.default_rng(seed)
        self.q = rng.uniform(-1.5, 1.5, len(self.names))
        if kind in ("spherical", "free"):
            self.q[:4] /= np.linalg.norm(self.q[:4])
        self.u = {repr(rate): float(rng.uniform(-2, 2)) for rate in self.joint.rates}
        self.qdot = np.array(evaluate(list(self.motion.qdot), self.values(0.0, still=True)))

    def values(self, t: float, still: bool = False) -> dict[str, float]:
        q = self.q if still else self.q + t * self.qdot
        return {**dict(zip(self.names, map(float, q), strict=True)), **self.u}


def test_every_joint_type_is_covered() -> None:
    assert {*OPTIONS, "coupled"} == set(JOINT_TYPES)


@every_joint
def test_angular_velocity_is_the_rate_of_the_orientation(kind: str, options: dict) -> None:
    case = Case(kind, options)
    R_rate = rate(lambda t: matrix(case.motion.R, case.values(t)))
    expected = axial(matrix(case.motion.R, case.values(0.0)), R_rate)
    np.testing.assert_allclose(vector(case.motion.w, case.values(0.0)), expected, atol=TOLERANCE)


@every_joint
def test_velocity_is_the_rate_of_the_position(kind: str, options: dict) -> None:
    case = Case(kind, options)
    expected = rate(lambda t: vector(case.motion.p, case.values(t)))
    np.testing.assert_allclose(vector(case.motion.v, case.values(0.0)), expected, atol=TOLERANCE)


@every_joint
def test_the_orientation_is_a_rotation(kind: str, options: dict) -> None:
    case = Case(kind, options)
    assert rotations.is_rotation(matrix(case.motion.R, case.values(0.0)).tolist())


@every_joint
def test_at_rest_the_frames_coincide(kind: str, options: dict) -> None:
    case = Case(kind, options)
    at_rest = {**dict(zip(case.names, case.type.rest, strict=True)), **case.u}
    np.testing.assert_allclose(matrix(case.motion.R, at_rest), np.eye(3), atol=1e-15)
    np.testing.assert_allclose(vector(case.motion.p, at_rest), np.zeros(3), atol=1e-15)
    assert [c.initial for c in case.joint.coordinates] == list(case.type.rest)


@every_joint
def test_velocities_are_linear_and_homogeneous_in_the_motion_variables(kind: str, options: dict) -> None:
    case = Case(kind, options)
    velocities: list[Expr] = [*case.motion.w, *case.motion.v, *case.motion.qdot]
    _, rest = linear_coefficients(velocities, case.joint.rates)
    assert all(e.is_zero for e in rest)
    if case.joint.rates:
        assert not depends_on([e for row in case.motion.R for e in row], case.joint.rates)


@every_joint
def test_every_motion_variable_moves_the_child(kind: str, options: dict) -> None:
    case = Case(kind, options)
    rows, _ = linear_coefficients([*case.motion.w, *case.motion.v], case.joint.rates)
    partial = np.array([evaluate(row, case.values(0.0)) for row in rows])
    assert np.linalg.matrix_rank(partial) == len(case.joint.rates)


def test_a_quaternion_keeps_its_length() -> None:
    case = Case("spherical", {})
    assert abs(case.q @ case.qdot) < 1e-15


@given(st.integers(0, 2**32 - 1))
def test_a_mounted_joint_moves_its_child_as_its_frames_do(seed: int) -> None:
    """Origin and frame of the child against differences in time, with the joint anywhere in both bodies."""
    rng = np.random.default_rng(seed)
    m = Mechanism()
    for name in "AB":
        m.body(name)
    kinds = [CASES[k] for k in rng.integers(0, len(CASES), 2)]
    for name, parent, child, (kind, options) in zip("ab", ("ground", "A"), "AB", kinds, strict=True):
        turn = {"euler": "body 321", "angles": rng.uniform(-2, 2, 3).tolist()}
        back = {"axis": "y", "angle": float(rng.uniform(-2, 2))}
        at, child_at = rng.uniform(-1, 1, (2, 3)).tolist()
        m.joint(name, kind, parent, child, at=at, rotation=turn, child_at=child_at, child_rotation=back, **options)
    q = {c.name: float(rng.uniform(-1, 1)) for c in m.coordinate_records.values()}
    for joint in m.joints.values():
        if joint.type.kind in ("spherical", "free"):
            names = [c.name for c in joint.coordinates[:4]]
            length = float(np.linalg.norm([q[n] for n in names]))
            q.update((n, q[n] / length) for n in names)
    u = {name: float(rng.uniform(-1, 1)) for name in m.motion_variables}
    rates: dict[str, float] = {}
    for c in m.coordinate_records.values():
        (rates[c.name],) = evaluate([m.coordinate_rates[c.symbol]], {**q, **u})

    def values(t: float) -> dict[str, float]:
        return {**{n: q[n] + t * rates[n] for n in q}, **u}

    kinematics = Kinematics(m.graph, {**m.coordinate_rates, m.time: 1.0})
    frame, origin = m.bodies["B"].frame, m.bodies["B"].origin
    assert frame is not None and origin is not None
    axes = [e.express(m.N).xyz for e in (frame.x, frame.y, frame.z)]
    arm = position(origin, m.O).express(m.N).xyz

    def orientation(t: float) -> Array:
        return np.column_stack([vector(e, values(t)) for e in axes])

    w = vector(kinematics.w(frame), values(0.0))
    v = orientation(0.0) @ vector(kinematics.turn(kinematics.v(origin), origin.home, frame), values(0.0))
    np.testing.assert_allclose(w, axial(orientation(0.0), rate(orientation)), atol=TOLERANCE)
    np.testing.assert_allclose(v, rate(lambda t: vector(arm, values(t))), atol=TOLERANCE)


@pytest.mark.parametrize("moves", ["revolute", "prismatic"])
def test_a_coupled_joint_moves_by_its_share_of_another_coordinate(moves: str) -> None:
    m = Mechanism()
    for name in "ABC":
        m.body(name)
    lead = m.joint("lead", "revolute", "ground", "A", axis="x", coordinates=["q"])
    first = m.joint("first", "coupled", "A", "B", moves=moves, axis="y", follows="lead", ratio=-2.0, offset=0.1)
    second = m.joint("second", "coupled", "B", "C", moves=moves, axis="z", follows="first", ratio=0.5)
    assert m.coordinates == ("q",) and lead.rates == first.moved_by == second.moved_by
    values = {"q": 0.7, "q'": -1.3}
    for joint, axis, share, start in ((first, [0, 1, 0], -2.0, 0.1), (second, [0, 0, 1], -1.0, 0.05)):
        amount, speed = share * 0.7 + start, share * -1.3
        turned = moves == "revolute"
        expected = Rotation.from_rotvec(amount * np.array(axis)).as_matrix() if turned else np.eye(3)
        np.testing.assert_allclose(matrix(joint.motion.R, values), expected, atol=1e-15)
        np.testing.assert_allclose(vector(joint.motion.p, values), 0 if turned else amount * np.array(axis), atol=1e-15)
        np.testing.assert_allclose(vector(joint.motion.w, values), speed * np.array(axis) if turned else 0, atol=1e-15)
        np.testing.assert_allclose(vector(joint.motion.v, values), 0 if turned else speed * np.array(axis), atol=1e-15)


@dataclass(frozen=True, slots=True)
class Rack:
    """A joint type of a user: a pinion of radius r that rolls along x; q is its angle."""

    radius: float
    kind = "rack"
    coordinates = ("",)
    speeds = ("",)
    rest = (0.0,)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        z, x = rotations.unit(graph, 2), rotations.unit(graph, 0)
        return JointMotion(
            rotations.about(z, q[0]),
            scaled(-self.radius * q[0], x),
            scaled(u[0], z),
            scaled(-self.radius * u[0], x),
            (u[0],),
        )


def test_a_user_adds_a_joint_type_in_one_class() -> None:
    m = Mechanism()
    m.body("wheel", mass=1.0)
    joint = m.joint("rolling", Rack(0.5), "ground", "wheel")
    assert m.coordinates == ("q_rolling",) and m.speeds == ("u_rolling",)
    assert joint.type.kind == "rack"
    m.validate()


@pytest.mark.parametrize(
    ("kind", "options", "what"),
    [
        ("revolut", {}, r"unknown joint type 'revolut'\n.*did you mean 'revolute'"),
        ("revolute", {"axis": "w"}, r"joint 'j' / axis: 'w' is not an axis\n.*write x, y, z, -x, … or \[x, y, z\]"),
        (
            "revolute",
            {"axis": [0, 3, 4]},
            r"axis \[0\.0, 3\.0, 4\.0\] has length 5\n.*unit vector\n.*\[0, 0\.6, 0\.8\]",
        ),
        ("revolute", {"axis": [0, 0, 0]}, r"has length 0\n.*unit vector"),
        ("revolute", {"axis": [0, 3e200, 4e200]}, r"has length 5e\+200\n.*unit vector\n.*\[0, 0\.6, 0\.8\]"),
        ("revolute", {"axis": [0, 3e-200, 4e-200]}, r"has length 5e-200\n.*unit vector\n.*\[0, 0\.6, 0\.8\]"),
        ("revolute", {"pitch": 1}, "a revolute joint has no option 'pitch'"),
        ("revolute", {"coordinate": "q"}, "(?s)has no option 'coordinate'.*fix: did you mean 'coordinates'?"),
        (
            "revolute",
            {"speed": "u", "coordinate": "q"},
            r"(?s)no option 'coordinate', 'speed'.*did you mean 'coordinates' and 'speeds'\?",
        ),
        ("gimbal", {"sequence": "body 331"}, "'body 331' is not an Euler sequence"),
        ("universal", {"sequence": "body 321"}, "'body 321' has 3 axes, a universal joint has two"),
        ("planar", {"normal": "up"}, "normal 'up' is not x, y or z"),
        ("free", {"velocity": "ground"}, "velocity 'ground' is not body or parent"),
        ("screw", {"pitch": "pith"}, "joint 'j' / pitch: .*unknown symbol 'pith'"),
        (
            "revolute",
            {"coordinates": ["a", "b"]},
            r"2 coordinates given\n.*revolute joint has 1\n.*give 1 coordinates",
        ),
        ("spherical", {"initial": [1, 0, 0]}, r"3 initial values given\n.*a spherical joint has 4"),
    ],
)
def test_a_joint_that_cannot_be_is_refused(kind: str, options: dict, what: str) -> None:
    m = Mechanism("arm")
    m.body("B")
    with pytest.raises(ModelError, match=r"^model 'arm' / joint 'j'") as refused:
        m.joint("j", kind, "ground", "B", **options)
    assert refused.match(what)
    assert not m.coordinates and not m.speeds, "nothing is left behind"


def prescribed_gimbal(m: Mechanism, name: str, motion: Sequence[str]) -> JointMotion:
    m.body(name, mass=1)
    return m.joint(name, "gimbal", "ground", name, prescribed=motion).motion


def test_the_nodes_of_a_prescribed_motion_are_made_once_for_all_joints_that_move_alike() -> None:
    m = Mechanism()
    first = prescribed_gimbal(m, "a", ["t", "2*t", "sin(t)"])
    nodes = len(m.graph)
    second = prescribed_gimbal(m, "b", ["t", "2*t", "sin(t)"])
    assert second is first and len(m.graph) == nodes
    assert prescribed_gimbal(m, "c", ["t", "3*t", "sin(t)"]) != first


def test_a_rotation_about_an_axis_in_parameters_has_every_product_of_its_components_once() -> None:
    g = Graph()
    axis = (g.input("x"), g.input("y"), g.input("z"))
    R = rotations.about(axis, g.input("q"))
    e, q = np.array([0.48, -0.6, 0.64]), 0.7
    flat = [entry for row in R for entry in row]
    numbers = evaluate(flat, {**dict(zip("xyz", e, strict=True)), "q": q})
    np.testing.assert_allclose(np.reshape(numbers, (3, 3)), Rotation.from_rotvec(q * e).as_matrix(), atol=1e-15)
    products = [node for node in reachable(g, [entry.id for entry in flat]) if g.ops[node] == "mul"]
    assert len(products) == 3 + 3 + 6  # (1 − c) e, s e, and the symmetric (1 − c) e eᵀ


def test_one_name_needs_no_list() -> None:
    m = Mechanism()
    m.body("rod", mass=1, center=(1, 0, 0))
    m.joint("hinge", "revolute", "ground", "rod", coordinates="theta", speeds="omega")
    assert (m.coordinates, m.speeds) == (("theta",), ("omega",))
