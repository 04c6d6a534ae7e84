"""What comes and goes: the elements that records make, their rows and laws, and what is refused, with where and why."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import ModelError
from kane.graph import evaluate
from kane.model import (
    Backlash,
    Brake,
    BuiltChanging,
    Changing,
    Clutch,
    ConfigurationEquations,
    Constraint,
    Distance,
    Friction,
    HardStop,
    KnifeEdge,
    Latch,
    Loop,
    Mechanism,
    PointOnPlane,
    Ratchet,
    Rope,
    Stop,
)
from laws.guided import rate, state
from unit.model.test_writing import assert_round_trip

ROUND = 1e-12


def carts() -> Mechanism:
    """Two carts on a rail, and an arm on the second."""
    m = Mechanism("carts", gravity=(0, "-g", 0))
    m.parameter("g", 9.81)
    m.parameter("mu", 0.3)
    m.parameter("e", 0.5)
    for name in ("A", "B"):
        m.body(name, mass=1.0)
        m.joint(f"rail {name}", "prismatic", "ground", name, axis="x", coordinates=[f"x{name}"], speeds=[f"v{name}"])
    m.body("arm", mass=1.0, center=(0, -1, 0))
    m.joint("hinge", "revolute", "B", "arm", axis="z", coordinates=["q"], speeds=["w"])
    return m


def ball(gravity: Any = (0, 0, -9.81)) -> Mechanism:
    m = Mechanism("ball", gravity=gravity)
    m.parameter("mu", 0.3)
    m.parameter("r", 0.1)
    m.body("ball", mass=1.0, inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("free", "free", "ground", "ball")
    return m


# elements and rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "types", "rates"),
    [
        (HardStop("xB - xA", lower=0), {"c": "contact"}, ["vB - vA"]),
        (HardStop("xB - xA", upper="1 + t"), {"c": "contact"}, ["1 + vA - vB"]),
        (HardStop("xB*q", lower=-1, upper=1), {"c.lower": "contact", "c.upper": "contact"}, ["vB*q + xB*w"]),
        (Backlash("xB - xA", play=0.2), {"c.lower": "contact", "c.upper": "contact"}, ["vB - vA", "vA - vB"]),
        (Ratchet("w - 2*vA"), {"c": "one-way"}, ["w - 2*vA"]),
        (Latch("r.arm.x - 1"), {"c": "switched"}, ["vB"]),
        (Friction("vB - 0.3*t", bound=2), {"c": "friction"}, ["vB - 0.3*t"]),
        (Brake("hinge", bound=2), {"c": "friction"}, ["w"]),
        (Clutch("rail A", "rail B", bound=2), {"c": "friction"}, ["vB - vA"]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_rows_are_the_rates_of_what_a_record_names(record: Any, types: dict[str, str], rates: list[str]) -> None:
    m = carts()
    made = m.constrain("c", record)
    assert {part.name: part.type for part in made} == types == {n: c.type for n, c in m.changing.items()}
    values = state(m, np.random.default_rng(3))
    for part, text in zip(made, rates, strict=False):
        (row,) = part.rows
        expected = m.scalar(text, "expected")
        speeds = {s.name: evaluate([s.definition], values)[0] for s in m.speed_records.values()}
        assert rate_of(m, row, values) == pytest.approx(evaluate([expected], {**values, **speeds})[0], abs=ROUND)


def rate_of(m: Mechanism, row: Any, values: dict[str, float]) -> float:
    return evaluate([rate(m, row)], values)[0]


def gap(part: BuiltChanging, values: dict[str, float]) -> float:
    residual = part.rows[0].residual
    assert residual is not None
    return evaluate([residual], values)[0]


def test_a_gap_is_positive_between_the_ends_of_a_range() -> None:
    m = carts()
    low, high = m.constrain("c", HardStop("xA", lower=-1, upper=2))
    for x, inside in ((-1.5, (True, False)), (0.0, (False, False)), (2.5, (False, True))):
        assert tuple(gap(part, {"xA": x}) < 0 for part in (low, high)) == inside


def test_what_comes_and_goes_is_no_constraint_of_the_mechanism() -> None:
    m = kane.Model.of(carts())
    before = m.forward_dynamics([0, 1, 0.3], [0, 0, 0], [1, 0, 0]).tolist()
    m.constrain("end", HardStop("xA", lower=0))
    m.constrain("lock", ConfigurationEquations("q = 0"), held=True, until="t - 1")
    m.contact("floor", "arm", "ground", shape={"point": (0, -1, 0)}, at=(0, -2, 0), friction=0.2)
    assert not m.constraints and m.row_names == () and m.freedom().degrees == 3
    assert m.forward_dynamics([0, 1, 0.3], [0, 0, 0], [1, 0, 0]).tolist() == before


def test_all_rows_hold_in_a_twin_in_their_order() -> None:
    m = carts()
    m.constrain("end", HardStop("xA", lower=0, upper=1))
    m.constrain("tie", ConfigurationEquations("xA = xB"))
    m.contact("floor", "arm", "ground", shape={"point": (0, -1, 0)}, at=(0, -2, 0), friction=0.2)
    twin = m.all_rows_held()
    assert twin.row_names == ("tie", "end.lower", "end.upper", "floor.normal", "floor.x") == m.all_row_names
    assert list(twin.constraints) == ["tie", "end.lower", "end.upper", "floor"] and not twin.changing
    assert list(m.changing) == ["end.lower", "end.upper", "floor"] and list(m.constraints) == ["tie"]
    for name, built in twin.constraints.items():
        assert built.rows == (m.changing | m.constraints)[name].rows
    rows = kane.Model.of(twin).constraint_rows([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    assert rows.rate == pytest.approx([-1, 1, -1, 3 * np.sin(0.3), 2 + 3 * np.cos(0.3)], abs=ROUND)
    twin.set_parameters({"mu": 0.4})


def test_a_twin_takes_what_comes_and_goes_along() -> None:
    m = carts()
    m.constrain("end", HardStop("xA", lower=0))
    twin = m.twin()
    twin.constrain("other", HardStop("xB", lower=0))
    assert list(m.changing) == ["end"] and list(twin.changing) == ["end", "other"]
    again = pickle.loads(pickle.dumps(twin))
    assert again.description() == twin.description() and again.changing["end"].law.held


def test_names_of_elements_and_rows_are_unique() -> None:
    m = carts()
    m.constrain("end", HardStop("xA", lower=0, upper=1))
    for name in ("end", "end.lower"):
        with pytest.raises(ModelError, match="already in use"):
            m.constrain(name, KnifeEdge("arm"))
    m.constrain("pin", Loop("revolute", "ground", "arm"))
    with pytest.raises(ModelError, match=r"there is a row 'pin.x' already"):
        m.constrain("pin.x", Ratchet("w"))
    assert list(m.changing) == ["end.lower", "end.upper"]


# conditions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "held"),
    [
        ({"when": "t - 1"}, False),
        ({"until": "t - 1"}, True),
        ({"when": "t - 1", "until": "t - 2"}, False),
        ({"when": "t - 1", "held": True}, True),
        ({"held": True}, True),
        ({"duration": 2}, True),
    ],
)
def test_a_switched_constraint_holds_at_the_start_unless_it_waits(conditions: dict[str, Any], held: bool) -> None:
    m = carts()
    (part,) = m.constrain("c", ConfigurationEquations("xA = xB"), **conditions)
    assert part.type == "switched" and part.law.held is held and not m.constraints
    assert (part.law.when is not None, part.law.until is not None) == ("when" in conditions, "until" in conditions)


def test_conditions_may_name_reactions_of_rows() -> None:
    m = carts()
    m.constrain("pin", Loop("revolute", "ground", "arm", rows=("x", "y")))
    (hook,) = m.constrain("hook", Latch("q - 1"), until="abs(hook) - 10 + pin.x*w")
    assert hook.law.until is not None and set(m.inputs_of([hook.law.until])) == {"hook", "pin.x", "w"}
    assert hook.law.when == m.scalar("q - 1", "") and not hook.law.held
    with pytest.raises(ModelError, match=r"constraint 'c' / until: .*unknown symbol 'pin.z'"):
        m.constrain("c", KnifeEdge("A"), until="pin.z")


def test_a_condition_keeps_its_meaning_when_other_speeds_are_chosen() -> None:
    m = carts()
    m.constrain("c", ConfigurationEquations("xA = xB"), when="vA - 1")
    m.set_speeds({"s": "xA'", "r": "xB'", "p": "q'"})
    assert m.changing["c"].law.when == m.scalar("xA' - 1", "")


def test_a_constraint_of_one_row_can_be_unilateral() -> None:
    m = carts()
    (floor,) = m.constrain(
        "floor", PointOnPlane("ground", "arm", second_at=(0, -1, 0), normal="y"), unilateral=True, restitution="e"
    )
    assert floor.type == "contact" and floor.law.restitution == m.scalar("e", "") and floor.law.when is None
    assert gap(floor, {"q": 0.0, "xB": 2.0}) == pytest.approx(-1)


def test_a_rope_has_the_gap_of_a_rod_with_the_other_sign_and_pulls() -> None:
    m = carts()
    ends: dict[str, Any] = {"length": "1 + 0.1*t", "second_at": (0, -1, 0)}
    (rod,) = m.constrain("rod", Distance("ground", "arm", **ends), unilateral=True)
    (rope,) = m.constrain("rope", Rope("ground", "arm", **ends, restitution="e"))
    assert rope.type == "contact" and m.number(rope.law.restitution, "") == 0.5
    values = state(m, np.random.default_rng(5))
    assert gap(rope, values) == -gap(rod, values)
    assert rate_of(m, rope.rows[0], values) == -rate_of(m, rod.rows[0], values)
    stretched = {"q": 0.0, "xB": 3.0, "t": 0.0}
    assert gap(rope, stretched) < 0 < gap(rope, stretched | {"xB": 0.0, "q": 1.5, "t": 1.0})


# laws ----------------------------------------------------------------------------------------------------------------


def test_a_law_has_the_numbers_that_were_given() -> None:
    m = ball()
    (plain,) = m.contact("plain", "ball", "ground", shape={"sphere": "r"})
    (rough,) = m.contact("rough", "ball", "ground", shape={"sphere": "r"}, restitution=0.8, friction="mu", static=0.5)
    assert [e.number for e in (plain.law.restitution, plain.law.friction, plain.law.static)] == [0, 0, 0]
    assert [m.number(e, "") for e in (rough.law.restitution, rough.law.friction, rough.law.static)] == [0.8, 0.3, 0.5]
    assert rough.law.bound is None and plain.law.static == plain.law.friction
    (rub,) = carts().constrain("rub", Brake("hinge", bound="2 + t", static=1.5))
    assert (rub.law.friction.number, rub.law.static.number) == (1, 1.5) and repr(rub.law.bound) == "(t + 2)"


# the ground ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gravity", "normal"),
    [
        ((0, 0, -9.81), (0, 0, 1)),
        ((0, -9.81, 0), (0, 1, 0)),
        ((5, 0, 0), (-1, 0, 0)),
        ((0, 0, 0), (0, 0, 1)),
        ((3, -9, 0), (0, 0, 1)),
    ],
)
def test_the_ground_is_a_plane_against_gravity(gravity: Any, normal: tuple[float, ...]) -> None:
    m = ball(gravity)
    (floor,) = m.contact("floor", "ball", "ground", shape={"sphere": 0.1})
    (swapped,) = m.contact("swapped", "ground", "ball", surface={"sphere": 0.1})
    place = dict(zip(("q_free_px", "q_free_py", "q_free_pz"), (0.3, 0.5, 0.7), strict=True))
    for part in (floor, swapped):
        assert part.first is m.ground and part.second is m.bodies["ball"]
        height = gap(part, {**state(m, np.random.default_rng(1)), **place})
        assert height == pytest.approx(np.dot(normal, (0.3, 0.5, 0.7)) - 0.1, abs=ROUND)


def test_slip_rows_are_those_that_the_mechanism_can_move_along() -> None:
    flat = Mechanism("flat", gravity=(0, -9.81, 0))
    flat.parameter("phi", 0.0)
    flat.body("disc", mass=1.0, inertia={"zz": 1, "xx": 0.5, "yy": 0.5})
    flat.joint("plane", "planar", "ground", "disc")
    tilt: Any = ("-sin(phi)", "cos(phi)", 0)
    for name, normal in (("level", "y"), ("ramp", tilt), ("steep", (-0.6, 0.8, 0))):
        (part,) = flat.contact(name, "disc", "ground", shape={"sphere": 1}, normal=normal)
        assert len(part.rows) == 2, "the direction across the plane of motion is left out"
    lift = Mechanism("lift", gravity=(0, 0, -9.81))
    lift.body("car", mass=1.0)
    lift.joint("guide", "prismatic", "ground", "car", axis="z")
    (part,) = lift.contact("buffer", "car", "ground", friction=0.3)
    assert [row.label for row in part.rows] == ["normal"]


def test_places_that_move_alike_are_one_element() -> None:
    flat = Mechanism("flat", gravity=(0, -9.81, 0))
    flat.body("box", mass=1.0, inertia={"zz": 1, "xx": 0.5, "yy": 0.5})
    flat.joint("plane", "planar", "ground", "box")
    made = flat.contact("floor", "box", "ground", shape={"box": (1, 2, 3)}, friction=0.3)
    assert [part.name for part in made] == ["floor.1", "floor.2", "floor.3", "floor.4"]
    free = ball()
    assert len(free.contact("floor", "ball", "ground", shape={"box": (1, 2, 3)})) == 8


def test_a_body_touches_with_what_it_is_drawn_with() -> None:
    m = kane.load("free-body").mechanism.twin()
    m.body("hoop", mass=1.0, shapes=(kane.model.Shape("sphere", (0.25,), (0.0, 0.0, 0.1)),), inertia={"xx": 1, "yy": 1})
    m.joint("other", "free", "ground", "hoop")
    (floor,) = m.contact("floor", "hoop", "ground")
    upright = dict.fromkeys(m.coordinates, 0.0) | {"q_other_w": 1.0, "q_other_pz": 1.0}
    assert gap(floor, upright) == pytest.approx(1.0 + 0.1 - 0.25)
    particle = Mechanism("particle", gravity=(0, 0, -1))
    particle.particle("bob", 1.0, center=(0, 0, 0.5))
    particle.joint("free", "free", "ground", "bob")
    (touch,) = particle.contact("floor", "bob", "ground")
    upright = dict.fromkeys(particle.coordinates, 0.0) | {"q_free_w": 1.0, "q_free_pz": 1.0}
    assert gap(touch, upright) == pytest.approx(1.5)


# what is refused -----------------------------------------------------------------------------------------------------

REFUSED: list[tuple[Callable[[Mechanism], object], str]] = [
    (lambda m: m.constrain("c", HardStop("q")), "neither lower nor upper"),
    (lambda m: m.constrain("c", HardStop("q", lower=1, upper=1)), "from 1 to 1"),
    (lambda m: m.constrain("c", HardStop("w", lower=1)), "it depends on the rate"),
    (lambda m: m.constrain("c", HardStop("q", lower="xA")), "lower: it depends on 'xA'"),
    (lambda m: m.constrain("c", HardStop("q", lower=0, restitution=1.1)), "restitution: restitution 1.1"),
    (lambda m: m.constrain("c", HardStop("q", lower=0, restitution="-e")), "restitution: restitution -0.5"),
    (lambda m: m.constrain("c", Backlash("q", play=0)), "play 0"),
    (lambda m: m.constrain("c", Ratchet("q")), "there is no rate"),
    (lambda m: m.constrain("c", Ratchet("w**2")), "linear in the rates"),
    (lambda m: m.constrain("c", Latch("w")), "it depends on the rate"),
    (lambda m: m.constrain("c", Brake("hinge", bound=-1)), "bound: bound -1"),
    (lambda m: m.constrain("c", Brake("hinge", bound=1, static=0.9)), "static: static 0.9"),
    (lambda m: m.constrain("c", Brake("hinge", bound=1, index=1)), "index 1"),
    (lambda m: m.constrain("c", Clutch("hinge", "hinge", bound=1)), "named twice"),
    (lambda m: m.constrain("c", KnifeEdge("A"), held=False), "nothing ever imposes it"),
    (lambda m: m.constrain("c", KnifeEdge("A"), until="t", duration=0), "duration: duration 0 s"),
    (lambda m: m.constrain("c", KnifeEdge("A"), unilateral=True), "has one row, whose residual is a gap"),
    (lambda m: m.constrain("c", Loop("weld", "A", "B"), unilateral=True), "a weld with 6 rows"),
    (lambda m: m.constrain("c", Latch("q"), unilateral=True), "comes and goes by a law of its own"),
    (lambda m: m.constrain("c", Latch("q"), restitution=0.5), "restitution is given with a latch"),
    (lambda m: m.constrain("c", KnifeEdge("A"), until="t", restitution=0.5), "without a bounce"),
    (lambda m: m.constrain("c", _soft_stop()), "a Stop is no constraint.*\n.*\n.*HardStop"),
    (lambda m: m.contact("c", "arm", "ground", friction=-0.1), "contact 'c' / friction: friction -0.1"),
    (lambda m: m.contact("c", "arm", "ground", friction="mu", static="mu/2"), "contact 'c' / static: static 0.15"),
    (lambda m: m.contact("c", "arm", "arm"), "named twice"),
    (lambda m: m.contact("c", "arm", "ground", shape={"sphere": -1}), "shape: size of a sphere -1 m"),
    (lambda m: m.contact("c", "arm", "ground", shape={"sphere": "q"}), "shape: it depends on 'q'"),
    (lambda m: m.contact("c", "arm", "ground", shape={"ball": 1}), "a shape made of ball"),
    (lambda m: m.contact("c", "arm", "ground", shape={"sphere": 1, "crown": 1}), "a sphere has no 'crown'"),
    (lambda m: m.contact("c", "arm", "ground", shape={"disc": 1, "crown": 2}), "crown 2 m, radius 1 m"),
    (lambda m: m.contact("c", "arm", "ground", surface={"plane": "y"}, normal="x"), "besides a surface"),
    (lambda m: m.contact("c", "arm", "ground", normal="z"), "its gap is the same in every state"),
]


def _soft_stop() -> Any:
    return Stop("hinge", lower=0, stiffness=1)


@pytest.mark.parametrize(("change", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_faults_are_named(change: Callable[[Mechanism], object], message: str) -> None:
    m = carts()
    with pytest.raises(ModelError, match=message):
        change(m)
    assert not m.changing and not m.constraints


@pytest.mark.parametrize(
    ("shape", "surface", "message"),
    [
        ({"disc": 1}, {"sphere": 1}, "a disc against a sphere\n    because a disc can touch a plane"),
        ({"capsule": (1, 1)}, {"box": (1, 1, 1)}, "a capsule against a box\n    because a capsule can touch a capsule"),
        ({"sphere": 1}, {"surface": "z"}, "a sphere against a surface"),
        ({"sphere": 2}, {"sphere": 1, "inside": True}, "radius 2 m in a hollow of 1 m"),
        ({"sphere": 1, "inside": True}, {"sphere": 2, "inside": True}, "a hollow sphere against a hollow sphere"),
        ({"point": (0, 0, 0)}, {"surface": "t"}, "there is no x, y or z in t"),
        ({"point": (0, 0, 0)}, {"surface": "x*mu*q_free_px"}, "unknown symbol|depends on"),
        ({"point": (0, 0, 0)}, {"box": (1, 2)}, "surface: 2 sizes are given\n    because a box has three sizes"),
        ({"vertices": ()}, {"plane": "z"}, "shape: vertices"),
    ],
)
def test_pairs_without_a_closed_form_are_named(shape: Any, surface: Any, message: str) -> None:
    m = ball()
    with pytest.raises(ModelError, match=message):
        m.contact("c", "ball", "ground", shape=shape, surface=surface)
    assert not m.changing


@pytest.mark.parametrize(
    "options",
    [
        {"shape": {"disc": "r", "axis": "x", "crown": "r/2", "at": (0, 0, "r")}},
        {"shape": {"capsule": ("r", 1), "axis": (0, 0.6, 0.8)}, "normal": "x", "at": (0, 0, "-r")},
        {"shape": {"ellipsoid": (1, 2, "r"), "rotation": {"axis": "y", "angle": 0.3}}},
        {"shape": {"vertices": [(0, 0, 0), (1, "r", 0)]}, "static": 0.5, "friction": "mu"},
        {"shape": {"point": (0, 0, "r")}, "surface": {"surface": "z - mu*x**2 - 0.1*sin(t)"}},
        {"shape": {"sphere": 0.2}, "surface": {"cylinder": (1, 2), "inside": True, "axis": "y"}},
        {
            "shape": {"sphere": 0.2},
            "surface": {"box": (1, 2, 3), "at": (0, 0, 1), "rotation": {"axis": "y", "angle": 1}},
        },
        {"shape": {"cylinder": ("r", 1), "axis": "y"}, "restitution": 0.3},
    ],
    ids=lambda o: str([key for spec in o.values() if isinstance(spec, dict) for key in spec]),
)
def test_contacts_of_every_shape_load_back_and_survive_pickling(options: dict[str, Any]) -> None:
    m = ball()
    made = m.contact("c", "ball", "ground", **options)
    assert_round_trip(m)
    again = kane.model.read_mechanism(kane.model.write_mechanism(m), "again.yaml")
    copied = pickle.loads(pickle.dumps(m))
    values = state(m, np.random.default_rng(7)) | {"q_free_pz": 3.0}
    for part in made:
        for other in (again, copied):
            twin = other.changing[part.name]
            assert gap(twin, values) == pytest.approx(gap(part, values), abs=ROUND)
            mine, theirs = ([rate_of(x, row, values) for row in p.rows] for x, p in ((m, part), (other, twin)))
            assert mine == pytest.approx(theirs, abs=ROUND)
    copied.set_parameters({"mu": 0.4, "r": 0.15})


def test_a_body_without_a_shape_is_told_how_to_get_one() -> None:
    m = ball()
    with pytest.raises(ModelError, match=r"body 'ball' has no shape that can touch(.|\n)*give shape="):
        m.contact("c", "ball", "ground")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"e": 1.5}, "constraint 'end' / restitution: restitution 1.5"),
        ({"e": -0.5}, "constraint 'end' / restitution"),
        ({"mu": -0.2}, "contact 'floor' / friction: friction -0.2"),
        ({"mu": 0.6}, "contact 'rough' / static: static 0.5, friction 0.6"),
        ({"g": -1.0}, "constraint 'rub' / bound: bound -1"),
    ],
)
def test_new_values_of_parameters_are_judged(values: dict[str, float], message: str) -> None:
    m = carts()
    m.constrain("end", HardStop("q", lower=0, restitution="e"))
    m.constrain("rub", Brake("hinge", bound="g"))
    m.contact("floor", "arm", "ground", friction="mu")
    m.contact("rough", "arm", "ground", friction="mu", static=0.5)
    with pytest.raises(ModelError, match=message):
        m.set_parameters(values)
    assert {name: p.value for name, p in m.parameters.items()} == {"g": 9.81, "mu": 0.3, "e": 0.5}
    m.set_parameters({"mu": 0.4, "e": 1.0, "g": 1.62})


def test_new_conditions_take_the_place_of_old_ones() -> None:
    m = carts()
    m.constrain("c", Latch("q - 1"), until="t - 3")
    m.contact("floor", "arm", "ground", at=(0, -2, 0))
    order, revision = list(m.changing), m.revision
    (part,) = m.constrain("c", duration=2)
    assert m.changing["c"] is part and list(m.changing) == order and m.revision > revision
    assert part.law.until is None and part.law.duration == 2.0 and part.law.when is not None
    with pytest.raises(ModelError, match=r"constraint 'd': there is none of this name"):
        m.constrain("d", when="t - 1")


# files ---------------------------------------------------------------------------------------------------------------

RECORDS: list[tuple[Constraint | Changing, dict[str, Any]]] = [
    (HardStop("xB - xA", lower="-e", upper=1, restitution="e"), {}),
    (Backlash("r.arm.x - xA", play=0.1), {}),
    (Latch("q - 1"), {"until": "abs(c) - 10", "duration": "2*e"}),
    (Brake("hinge", bound=2), {"when": "t - 1", "until": "t - 2", "held": True}),
    (Distance("A", "arm", length=1), {"unilateral": True, "restitution": "e"}),
    (Loop("weld", "A", "arm", rows=("x", "y")), {"when": "w - 1", "until": "c.x - 10"}),
]


@pytest.mark.parametrize(("record", "conditions"), RECORDS, ids=lambda x: type(x).__name__)
def test_what_comes_and_goes_loads_back(record: Any, conditions: dict[str, Any]) -> None:
    m = carts()
    m.constrain("c", record, **conditions)
    m.contact("floor", "arm", "ground", at=(0, -2, 0), friction="mu", restitution=0.1)
    assert_round_trip(m)
    again = kane.model.read_mechanism(kane.model.write_mechanism(m), "again.yaml")
    assert set(again.all_row_names) == set(m.all_row_names)
    for name, part in m.changing.items():
        other = again.changing[name]
        assert (part.type, part.law.held) == (other.type, other.law.held)
        assert [repr(e) for e in part.law.exprs()] == [repr(e) for e in other.law.exprs()]
