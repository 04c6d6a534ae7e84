"""Descriptions built in Python: order does not matter where it should not, and every fault says where, what and how."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kane
from kane.errors import ExpressionError, ModelError, closest
from kane.graph import Graph, evaluate
from kane.model import Mechanism, load_mechanism
from kane.space import Vector


def arm() -> Mechanism:
    """Two links on hinges about z."""
    m = Mechanism("arm")
    m.parameter("L", 0.5)
    for name in ("upper", "lower"):
        m.body(name, mass=1.0, center=[0, "-L", 0], inertia={"xx": 0.1, "zz": 0.1})
    m.joint("shoulder", "revolute", "ground", "upper", coordinates=["q1"], speeds=["u1"])
    m.joint("elbow", "revolute", "upper", "lower", at=[0, "-2*L", 0], coordinates=["q2"], speeds=["u2"])
    return m


# bodies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (
            {"mass": -1.0},
            r"body 'B' / mass: mass -1 kg\n    because mass is not negative\n    fix: give a mass ≥ 0",
        ),
        ({"mass": math.nan}, r"body 'B' / mass: nan is not a finite number"),
        ({"mass": math.inf}, r"body 'B' / mass: inf is not a finite number"),
        ({"mass": True}, r"body 'B' / mass: True is not a finite number"),
        ({"mass": "mas"}, r"body 'B' / mass: .*unknown symbol 'mas'; did you mean 'mass'\?"),
        ({"mass": "cosh(mass)"}, r"'cosh' is a call that is not in the grammar; did you mean 'cos'\?"),
        ({"mass": "t"}, r"body 'B' / mass: .*\n    because this quantity may depend on parameters only"),
        (
            {"inertia": {"xx": 1, "yy": 1, "zz": 2.1}},
            r"moments 1, 1, 2\.1 kg m²\n.*exceeds the sum.*triangle inequality",
        ),
        ({"inertia": {"xx": -1, "yy": 1, "zz": 1}}, r"moments -1, 1, 1 kg m²\n.*no moment of inertia is negative"),
        ({"inertia": {"xx": 1, "yy": 1, "zz": 1, "xy": 1.5}}, r"central principal moments -0\.5, 1, 2\.5"),
        ({"inertia": [1, 1, 1]}, r"body 'B' / inertia: .*names no entries\n.*inertia={'xx': 1, 'yy': 1, 'zz': 1}"),
        ({"inertia": {"zx": 1}}, r"body 'B' / inertia: unknown entry 'zx'\n.*entries are xx, yy, zz, xy, xz, yz"),
        (
            {"mass": 1, "center": [1, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}, "about": "origin"},
            r"moments 0, 0, 1",
        ),
        ({"about": "hinge"}, r"inertia about 'hinge'\n.*about: center or origin"),
        ({"center": [0, 0]}, r"body 'B' / center: \[0, 0\] is not a list of three components\n.*\[x, y, z\]"),
    ],
)
def test_a_body_that_cannot_be_is_refused(options: dict, what: str) -> None:
    m = Mechanism("arm")
    m.parameter("mass", 1.0)
    with pytest.raises(ModelError, match=r"^model 'arm' / body 'B'") as refused:
        m.body("B", **options)
    assert refused.match(what)
    assert not m.bodies


def test_a_thin_plate_and_a_particle_are_bodies() -> None:
    m = Mechanism()
    m.body("plate", mass=1.0, inertia={"xx": 1.0, "yy": 2.0, "zz": 3.0})
    m.particle("bob", 2.0)
    assert all(e.is_zero for row in m.bodies["bob"].inertia for e in row)


@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.floats(0.1, 5))
def test_inertia_about_the_origin_becomes_central_by_the_parallel_axis_theorem(c: list[float], mass: float) -> None:
    central = np.array([[2.0, 0.3, -0.1], [0.3, 1.8, 0.2], [-0.1, 0.2, 1.5]])
    x = np.array(c)
    about_origin = central + mass * (x @ x * np.eye(3) - np.outer(x, x))
    keys = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    entries = {k: float(about_origin[ij]) for k, ij in keys.items()}
    m = Mechanism()
    body = m.body("B", mass=mass, center=c, inertia=entries, about="origin")
    np.testing.assert_allclose([[m.number(e, "") for e in row] for row in body.inertia], central, atol=1e-13)


# names ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("again", "what"),
    [
        (
            lambda m: m.parameter("L", 1.0),
            r"parameter 'L': the name 'L' is already in use\n.*names are unique\n.*rename",
        ),
        (lambda m: m.parameter("q1", 1.0), r"parameter 'q1': the name 'q1' is already in use"),
        (lambda m: m.coordinate("u1"), r"coordinate 'u1': the name 'u1' is already in use"),
        (lambda m: m.body("upper"), r"body 'upper': the name 'upper' is already in use"),
        (lambda m: m.body("ground"), r"body 'ground': 'ground' is the ground"),
        (lambda m: m.frame("upper", "N"), r"frame 'upper': the name 'upper' is already in use"),
        (lambda m: m.parameter("t", 1.0), r"parameter 't': 't' is reserved for expressions"),
        (lambda m: m.parameter("a b", 1.0), r"parameter 'a b': 'a b' is not a name"),
        (lambda m: m.parameter("x'", 1.0), r"'x'' is not a name"),
        (lambda m: m.parameter("x", "1/0"), r"parameter 'x': .*div\(1, 0\) among constants is not a finite number"),
        (lambda m: m.parameter("x", math.nan), r"parameter 'x': nan is not a finite number"),
    ],
)
def test_names_are_unique_and_readable(again, what: str) -> None:
    with pytest.raises(ModelError, match=what):
        again(arm())


def test_a_velocity_of_other_books_is_a_speed() -> None:
    assert closest("vx", ["x", "ux", "uroll"]) == "ux" and closest("wroll", ["roll", "uroll"]) == "uroll"


def test_two_letters_exchanged_mean_the_name_rather_than_one_letter_left_out() -> None:
    assert closest("xu", ["x", "u", "ux", "q"]) == "ux"
    assert closest("xu", [f"q{k}" for k in range(200)] + ["ux"]) == "ux"


def test_a_beginning_means_the_only_name_that_begins_so() -> None:
    programs = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_center"]
    assert closest("inverse", programs) == "inverse_dynamics"
    assert closest("mass", programs) is None  # of two names neither was meant more than the other


def test_an_unknown_name_gets_the_closest_one_or_the_list() -> None:
    m = arm()
    with pytest.raises(ModelError, match=r"joint 'hand': unknown body 'lowr'\n    fix: did you mean 'lower'\?"):
        m.joint("hand", "weld", "lowr", "upper")
    with pytest.raises(ModelError, match=r"unknown body 'xyz'\n    fix: known: ground, upper, lower"):
        m.joint("hand", "weld", "xyz", "upper")


# the tree ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parent", "child", "what"),
    [
        ("upper", "upper", r"body 'upper' is joined to itself"),
        ("lower", "ground", r"the ground cannot be a child\n.*swap parent and child"),
        (
            "ground",
            "lower",
            r"body 'lower' is already attached by joint 'elbow'\n.*one inboard joint\n.*swap parent and child",
        ),
    ],
)
def test_joints_that_make_no_tree_are_refused(parent: str, child: str, what: str) -> None:
    with pytest.raises(ModelError, match=rf"model 'arm' / joint 'j': {what}"):
        arm().joint("j", "revolute", parent, child)


def test_a_cycle_of_joints_is_refused() -> None:
    m = Mechanism("ring")
    for name in "ABC":
        m.body(name)
    m.joint("a", "revolute", "A", "B")
    m.joint("b", "revolute", "B", "C")
    with pytest.raises(
        ModelError, match=r"joint 'c': 'C' hangs on 'A', which would hang on 'C'\n.*tree.*without cycles"
    ):
        m.joint("c", "revolute", "C", "A")


def test_what_is_not_attached_is_named() -> None:
    m = arm()
    m.body("stone")
    m.body("moss")
    m.joint("grip", "weld", "stone", "moss")
    with pytest.raises(ModelError) as refused:
        m.validate()
    stone, moss = list(refused.value.problems)
    assert "body 'stone': is attached to nothing" in str(stone) and "type: free" in stone.fix
    assert "body 'moss': hangs on 'stone', which is not attached to the ground" in str(moss)


def test_a_mechanism_that_cannot_move_is_refused() -> None:
    with pytest.raises(ModelError, match="nothing can move"):
        Mechanism().validate()


@given(st.permutations(range(6)))
def test_joints_may_be_declared_in_any_order(order: list[int]) -> None:
    m = Mechanism()
    for k in range(6):
        m.body(f"B{k}")
    for k in order:
        m.joint(f"j{k}", "revolute", f"B{k - 1}" if k else "ground", f"B{k}", coordinates=[f"q{k}"])
    m.order_coordinates([f"q{k}" for k in range(6)])
    m.validate()
    tip = m.bodies["B5"].frame
    assert tip is not None and tip.depth == 6
    assert m.coordinates == tuple(f"q{k}" for k in range(6))
    assert m.speeds == tuple(f"u_j{k}" for k in range(6))


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_whatever_joints_are_tried_the_accepted_ones_form_a_forest(pairs: list[tuple[int, int]]) -> None:
    m = Mechanism()
    for k in range(1, 8):
        m.body(f"B{k}")
    names = ["ground", *m.bodies]
    for k, (parent, child) in enumerate(pairs):
        try:
            m.joint(f"j{k}", "revolute", names[parent], names[child])
        except ModelError:
            continue
    for body in m.bodies.values():
        seen, above = set(), body
        while above.joint is not None:
            assert above.name not in seen, "a cycle was accepted"
            seen.add(above.name)
            above = above.joint.parent
        assert (body.frame is not None) == (above is m.ground)


def test_a_long_chain_is_built_from_either_end() -> None:
    length = 1200  # deeper than the stack of Python
    for order in (range(length), reversed(range(length))):
        m = Mechanism()
        for k in range(length):
            m.body(f"B{k}")
        for k in order:
            m.joint(f"j{k}", "revolute", f"B{k - 1}" if k else "ground", f"B{k}")
        m.validate()
        tip = m.bodies[f"B{length - 1}"].frame
        assert tip is not None and tip.depth == length


# the analyst's level -------------------------------------------------------------------------------------------------


def test_joints_and_the_analysts_frames_mix() -> None:
    m = Mechanism("mix")
    q = m.coordinate("q", initial="30*deg", speed="u")
    A = m.frame("A", "N", axis="z", angle="q")
    P = m.point("P", "O", Vector(A, m.triple([1, "q", 0], "offset")))
    m.body("carrier", mass=1.0, frame=A, origin="P")
    m.body("wheel", mass=1.0)
    m.joint("axle", "revolute", "carrier", "wheel", coordinates=["r"])
    tip = m.frame("tip", "wheel", euler="body 321", angles=[0.1, 0.2, 0.3])
    m.validate()
    assert tip.parent is m.bodies["wheel"].frame and m.bodies["carrier"].origin is P
    assert m.coordinates == ("q", "r") and m.coordinate_records["q"].initial == math.pi / 6
    assert m.coordinate_rates[q] == m.names()["q'"]


@pytest.mark.parametrize(
    ("orientation", "what"),
    [
        ({"axis": "x"}, r"an orientation cannot be made of \['axis'\]\n.*give \{axis, angle\}"),
        ({"axis": [1, 1, 0], "angle": 1}, r"axis \[1\.0, 1\.0, 0\.0\] has length 1\.41421\n.*unit vector"),
        ({"euler": "body 11", "angles": [1, 2]}, r"'body 11' is not an Euler sequence"),
        ({"euler": "body 12", "angles": [1]}, r"'body 12' takes 2 angles, 1 are given"),
        ({"quaternion": [1, 1, 0, 0]}, r"quaternion of length 1\.41421\n.*unit quaternion"),
        ({"quaternion": [0.5, 0.5, 0.5, 1e200]}, r"quaternion of length 1e\+200\n.*unit quaternion"),
        ({"matrix": [[1, 0, 0], [0, 1, 0], [0, 0.1, 1]]}, r"not orthonormal and right-handed\n.*RᵀR = 1 and det R = 1"),
        ({"matrix": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}, r"not orthonormal and right-handed"),
        ({"matrix": [[1, 0, 0], [0, 1, 0]]}, r"a matrix of 2 rows\n.*a rotation has three"),
        ({"euler": "body 12", "angles": 3}, r"not iterable"),
    ],
)
def test_an_orientation_that_is_none_is_refused(orientation: dict, what: str) -> None:
    m = Mechanism("mix")
    with pytest.raises(ModelError, match=r"model 'mix' / frame 'A'") as refused:
        m.frame("A", "N", **orientation)
    assert refused.match(what)


def test_a_body_has_one_attachment() -> None:
    m = arm()
    with pytest.raises(ModelError, match=r"body 'upper': is attached already\n.*one inboard joint, or a frame"):
        m.attach("upper", "N", "O")
    m.frame("A", "N")
    with pytest.raises(ModelError, match="a frame needs an origin and an origin a frame"):
        m.body("B", frame="A")


def test_positions_of_joints_do_not_depend_on_the_motion() -> None:
    m = arm()
    m.body("hand")
    with pytest.raises(
        ModelError, match=r"joint 'wrist' / at: .*\n    because this quantity may depend on parameters only"
    ):
        m.joint("wrist", "weld", "lower", "hand", at=["q1", 0, 0])


# speeds, order, initial values, controls -----------------------------------------------------------------------------


def test_speeds_may_be_measure_numbers_of_velocities() -> None:
    m = arm()
    m.set_speeds({"w": "w.lower.z", "v": "v.lower.x"})
    values = {"q1": 0.3, "q2": -0.4, "q1'": 1.5, "q2'": -0.7, "L": 0.5}
    w, v = evaluate([s.definition for s in m.speed_records.values()], values)
    assert abs(w - (1.5 - 0.7)) < 1e-15
    assert abs(v - 1.5 * math.cos(-0.4)) < 1e-15, "the elbow moves at 2 L q1' along upper.x"
    assert m.speeds == ("w", "v") and m.speeds_chosen


@pytest.mark.parametrize(
    ("definitions", "what"),
    [
        ({"a": "q1'"}, r"speeds: 1 speeds for 2 degrees of freedom\n.*as many generalized speeds as motion variables"),
        (
            {"a": "q1'", "b": "2*q1'"},
            r"speeds: a, b cannot be solved for the rates of the coordinates\n.*determine the rates\n.*none is",
        ),
        ({"a": "q1'", "b": "q1'*q2'"}, r"speed 'b': \(q1' \* q2'\) is not linear in q1', q2'\n.*linear in the rates"),
        ({"a": "q1'", "b": "w.lowr.z"}, r"speed 'b': .*unknown body 'lowr'; did you mean 'lower'"),
        ({"a": "q1'", "L": "q2'"}, r"speed 'L': the name 'L' is already in use"),
        ({"a": "q1'", "b": "q2"}, r"speeds: b cannot be solved for the rates"),
        (
            {"a": "q1'", "b": "v.upper.x"},
            r"b cannot be .*\n.*velocity of a point that does not move\n.*v\.BODY\.center\.x of its mass centre",
        ),
    ],
)
def test_speeds_that_cannot_be_solved_for_the_rates_are_refused(definitions: dict, what: str) -> None:
    m = arm()
    with pytest.raises(ModelError, match=what):
        m.set_speeds(definitions)
    assert m.speeds == ("u1", "u2") and not m.speeds_chosen, "nothing has changed"


def test_a_control_law_follows_the_power_of_its_speeds() -> None:
    """−u1 along u1, which becomes q1' + q2', is −(q1' + q2') along each of the two rates."""
    m = arm()
    m.set_speeds({"u1": "q1' + q2'", "u2": "q2'"})
    m.control("c", {"u1": "-u1"})
    m.set_speeds({"a": "q1'", "b": "q2'"})
    first, second = m.motion_variables.values()
    assert m.controls["c"].efforts == {first: -(first + second), second: -(first + second)}


def test_the_order_of_coordinates_is_the_users() -> None:
    m = arm()
    m.order_coordinates(["q2", "q1"])
    assert m.coordinates == ("q2", "q1") and m.speeds == ("u2", "u1")
    with pytest.raises(
        ModelError, match=r"the order names \['q1'\]\n.*the coordinates are \['q2', 'q1'\]\n.*each.*once"
    ):
        m.order_coordinates(["q1"])


def test_initial_values_of_coordinates_and_speeds() -> None:
    m = arm()
    m.set_initial({"q1": "90*deg", "u2": "2*L"})
    assert m.coordinate_records["q1"].initial == math.pi / 2 and m.speed_records["u2"].initial == 1.0
    with pytest.raises(ModelError, match=r"initial 'q3': unknown coordinate or speed 'q3'\n.*known: q1, q2, u1, u2"):
        m.set_initial({"q3": 0})
    with pytest.raises(ModelError, match=r"initial 'q1': .*\n.*may depend on parameters only"):
        m.set_initial({"q1": "q2"})
    with pytest.raises(ModelError, match=r"initial 'q1': nan is not a finite number"):
        m.set_initial({"q1": math.nan})


def test_efforts_act_along_speeds_rates_or_joints() -> None:
    m = arm()
    by_speed = m.control("speed", {"u1": "-L*q1'", "u2": 0.0})
    by_rate = m.control("rate", {"q1'": "-L*q1'", "q2'": 0.0})
    by_joint = m.control("joint", {"shoulder": "-L*q1'", "elbow": 0.0})
    assert by_speed.efforts == by_rate.efforts == by_joint.efforts
    n = arm()
    n.set_speeds({"a": "q1' + q2'", "b": "q2'"})
    assert list(n.control("joint", {"elbow": 1.0}).efforts) == [n.joints["elbow"].rates[0]]
    assert list(n.control("speed", {"b": 1.0}).efforts) == [n.speed_records["b"].symbol]


@pytest.mark.parametrize(
    ("efforts", "what"),
    [
        ({"u3": 1.0}, r"control 'c' / u3: unknown speed, rate or joint 'u3'\n.*known: u1, u2"),
        ({"u1": 1.0, "shoulder": 2.0}, r"control 'c' / shoulder: two efforts along q1'"),
        ({"ball": 1.0}, r"joint 'ball' has 3 degrees of freedom\n.*one motion variable\n.*name the rates: u_ball_wx'"),
        ({"u1": "k*q1"}, r"control 'c' / u1: .*unknown symbol 'k'"),
    ],
)
def test_a_control_that_cannot_act_is_refused(efforts: dict, what: str) -> None:
    m = arm()
    m.body("hand")
    m.joint("ball", "spherical", "lower", "hand")
    with pytest.raises(ModelError, match=what):
        m.control("c", efforts)


def test_gravity_depends_on_parameters_only() -> None:
    m = Mechanism("moon", gravity=[0, "-g", 0])
    m.parameter("g", 1.6)
    assert m.number(m.gravity[1], "") == -1.6
    with pytest.raises(ModelError, match=r"gravity: .*\n.*may depend on parameters only"):
        m.set_gravity([0, "t", 0])


def test_expressions_of_another_graph_are_refused() -> None:
    with pytest.raises(ExpressionError, match="an expression of another graph cannot be mixed in"):
        Mechanism().body("B", mass=Graph().input("m"))


def test_a_mechanism_prints_what_it_is_made_of() -> None:
    assert repr(load_mechanism("stanford-arm")) == (
        "<Model 'stanford-arm': 6 bodies, 6 joints, 6 coordinates, 6 speeds>"
    )


@pytest.mark.parametrize("center", [[0.1, 0.2, 0.3], [0.7, -0.3, 1.1], [1e-3, 1e3, 0.3]])
def test_a_point_mass_may_be_given_about_the_origin(center: list[float]) -> None:
    """m (c² 1 − c cᵀ) in floats, as another program writes it: what is left about the centre is rounding."""
    c, mass = np.array(center), 1.7
    I = mass * (c @ c * np.eye(3) - np.outer(c, c))
    entries = {"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]}
    m = kane.Model("point")
    m.body("p", mass=mass, center=center, inertia={k: float(v) for k, v in entries.items()}, about="origin")
    m.joint("j", "revolute", "ground", "p", axis="z")
    assert m.mass_matrix([0.3])[0, 0] == pytest.approx(mass * (center[0] ** 2 + center[1] ** 2), rel=1e-12)


def test_one_moment_of_inertia_alone_is_told_what_the_others_of_a_rod_are() -> None:
    m = kane.Model("plane")
    with pytest.raises(ModelError, match=r"triangle inequality.\n.*give xx and yy too: of a rod one of them is zz"):
        m.body("rod", mass=1, inertia={"zz": 0.1})
    m.body("rod", mass=1, inertia={"yy": 0.1, "zz": 0.1})


def test_a_mistyped_ground_is_told_as_bodies_are() -> None:
    m = kane.Model("arm")
    m.body("rod", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
    with pytest.raises(ModelError, match=r"unknown body 'groud'\n.*did you mean 'ground'\?"):
        m.joint("hinge", "revolute", "groud", "rod")
