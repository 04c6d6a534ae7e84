"""What constraints are called, what they become when speeds are chosen, and what is refused, with where and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kane.errors import ModelError
from kane.graph import depends_on, evaluate
from kane.model import (
    Belt,
    BuiltConstraint,
    ConfigurationEquations,
    Distance,
    Gear,
    GivenRows,
    KnifeEdge,
    Loop,
    Mechanism,
    MotionEquations,
    PointOnCurve,
    PointVelocity,
    Rack,
    Rolling,
    RollingEllipsoid,
    RollingOnSphere,
    RollingSphere,
    Row,
)
from kane.model.loads import EffortAction, ForceAction, TorqueAction
from laws.guided import BETWEEN, TIES, Case, rate, state, tree
from seeds import generator

ROUND = 1e-12
Change = Callable[[Mechanism], object]


def sleigh() -> Mechanism:
    m = Mechanism("sleigh")
    m.body("S", mass=1.0)
    m.body("T", mass=1.0)
    m.joint("slide", "planar", "ground", "S", coordinates=["x", "y", "h"])
    m.joint("hinge", "revolute", "S", "T", coordinates=["q"])
    return m


# names and rows ------------------------------------------------------------------------------------------------------


def test_rows_are_named_by_their_constraint_and_label() -> None:
    m = sleigh()
    m.constrain("blade", KnifeEdge("S"))
    m.constrain("pin", Loop("revolute", "ground", "T", rows=["y", "x"]))
    m.constrain("two", MotionEquations(["x' - y'", "h' = q'"]))
    assert m.row_names == ("blade", "pin.x", "pin.y", "two.1", "two.2")
    assert "3 constraints with 5 rows" in repr(m) and list(m.constraints) == ["blade", "pin", "two"]


def test_two_rows_never_have_one_name() -> None:
    m = sleigh()
    m.constrain("pin", Loop("revolute", "ground", "T"))
    with pytest.raises(ModelError, match=r"constraint 'pin.x': there is a row 'pin.x' already"):
        m.constrain("pin.x", KnifeEdge("S"))
    assert list(m.constraints) == ["pin"]


def test_constraints_print_themselves_in_one_line() -> None:
    m = sleigh()
    pin = m.constrain("pin", Loop("revolute", "ground", "T", rows=("x", "y")))
    assert repr(pin) == "<Constraint 'pin': revolute of 'T' on 'ground', rows x, y>"
    assert repr(pin.rows[0]) == "<Row 'x': configuration of T>"
    assert repr(m.constrain("e", MotionEquations("x' = y'"))) == "<Constraint 'e': motion, rows 1>"


def test_numbers_and_arrays_of_numpy_are_numbers_and_lists() -> None:
    m = sleigh()
    plain = m.constrain("plain", Loop("revolute", "S", "T", first_at=(1.0, 0.0, 0.5), axis=(0.0, 0.6, 0.8)))
    place: Any = np.array([1.0, 0.0, 0.5])
    axis: Any = np.array([0.0, 0.6, 0.8])
    array = m.constrain("array", Loop("revolute", "S", "T", first_at=place, axis=axis))
    assert [r.residual for r in array.rows] == [r.residual for r in plain.rows]
    numbers: list[Any] = [np.float32(0.5), np.int64(2)]
    for number in numbers:
        record = m.constrain(f"ball of {number} m", RollingSphere("T", radius=number)).record
        assert isinstance(record, RollingSphere) and m.scalar(record.radius, "").number == number


def test_a_constraint_is_a_change_of_the_description() -> None:
    m = sleigh()
    before = m.revision
    m.constrain("blade", KnifeEdge("S"))
    assert m.revision > before


@pytest.mark.parametrize(
    ("kind", "options", "labels"),
    [
        ("weld", {}, "x y z rx ry rz"),
        ("revolute", {}, "x y z rx ry"),
        ("revolute", {"axis": "x"}, "x y z ry rz"),
        ("revolute", {"axis": "-y"}, "x y z rz rx"),
        ("revolute", {"axis": (0.6, 0, 0.8)}, "x y z r1 r2"),
        ("prismatic", {}, "x y rx ry rz"),
        ("cylindrical", {"axis": "y"}, "z x rz rx"),
        ("universal", {}, "x y z rz"),
        ("universal", {"sequence": "body zx"}, "x y z ry"),
        ("spherical", {}, "x y z"),
    ],
)
def test_joints_that_close_loops_have_the_rows_of_their_axis(kind: str, options: dict[str, Any], labels: str) -> None:
    made = sleigh().constrain("c", Loop(kind, "ground", "T", **options))
    assert [row.label for row in made.rows] == labels.split()
    assert [row.unit for row in made.rows] == ["N m" if row.label.startswith("r") else "N" for row in made.rows]


@pytest.mark.parametrize("turn", [0.0, 1e-3])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_of_orientation_are_small_angles_about_the_axes_of_their_labels(axis: int, turn: float) -> None:
    m = Mechanism()
    m.body("B", mass=1.0)
    m.joint("j", "gimbal", "ground", "B", sequence="body 123", coordinates=["a", "b", "c"])
    m.constrain("w", Loop("weld", "ground", "B"))
    m.constrain("r", Loop("revolute", "ground", "B", axis="z"))
    m.constrain("u", Loop("universal", "ground", "B", sequence="body yx"))
    values = {"a": 0.0, "b": 0.0, "c": 0.0, "t": 0.0, "abc"[axis]: turn}
    for made in m.constraints.values():
        for row in made.rows:
            if row.label.startswith("r"):
                assert row.residual is not None
                expected = turn if row.label == f"r{'xyz'[axis]}" else 0.0
                assert evaluate([row.residual], values)[0] == pytest.approx(expected, abs=1e-6)


def test_a_row_tells_the_body_of_each_action() -> None:
    m = sleigh()
    made = m.constrain("pin", Loop("revolute", "S", "T", along="first"))
    for row in made.rows:
        assert len(row.on) == len(row.actions) and {b.name for b in row.on} == {"S", "T"}
        for action, body in zip(row.actions, row.on, strict=True):
            home = (
                action.point.home
                if isinstance(action, ForceAction)
                else action.frame
                if isinstance(action, TorqueAction)
                else None
            )
            assert home is body.frame
    assert made.first is m.bodies["S"] and made.second is m.bodies["T"]


# equations -----------------------------------------------------------------------------------------------------------


def test_an_equation_has_two_sides_or_is_an_expression_that_is_zero() -> None:
    m = sleigh()
    one = m.constrain("one", MotionEquations("x'*sin(h) = y'*cos(h) + t"))
    two = m.constrain("two", MotionEquations("x'*sin(h) - (y'*cos(h) + t)"))
    values = state(m, generator(2))
    a, b = (evaluate([rate(m, c.rows[0])], values)[0] for c in (one, two))
    x, y, h, t = (values[k] for k in ("x'", "y'", "h", "t"))
    assert a == pytest.approx(b, abs=ROUND) and a == pytest.approx(x * np.sin(h) - y * np.cos(h) - t, abs=ROUND)
    assert {repr(e.variable) for e in one.rows[0].actions if isinstance(e, EffortAction)} == {"x'", "y'"}


def test_a_knife_edge_is_the_equation_that_chaplygin_writes() -> None:
    m = sleigh()
    edge = m.constrain("blade", KnifeEdge("S", direction="y"))
    written = m.constrain("written", MotionEquations("-x'*sin(h) + y'*cos(h)"))
    measured = m.constrain("measured", MotionEquations("v.S.y"))
    for seed in range(3):
        values = state(m, generator(seed))
        a, b, c = (evaluate([rate(m, k.rows[0])], values)[0] for k in (edge, written, measured))
        assert a == pytest.approx(b, abs=ROUND) and a == pytest.approx(c, abs=ROUND)


def test_a_velocity_constraint_is_the_component_of_a_velocity() -> None:
    m = sleigh()
    at = (0.3, -0.2, 0.0)
    made = m.constrain("v", PointVelocity("T", ("cos(h)", "sin(h)", 0), at=at, frame="N", value="0.5*t"))
    values = state(m, generator(4))
    angle, turning = values["h"] + values["q"], values["h'"] + values["q'"]
    arm = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ at[:2]
    v = np.array([values["x'"], values["y'"]]) + turning * np.array([-arm[1], arm[0]])
    expected = v @ [np.cos(values["h"]), np.sin(values["h"])] - 0.5 * values["t"]
    assert evaluate([rate(m, made.rows[0])], values)[0] == pytest.approx(expected, abs=ROUND)


def test_velocities_at_a_contact_are_the_rows_of_a_ball_that_rolls() -> None:
    """The contact is −R n from the middle of the ball, in the plane's frame: it moves in the ball."""
    m = tree()
    rolls = m.constrain("rolls", RollingSphere("A", radius="R", on="B", normal_row=False))
    place: dict[str, Any] = {"at": (0, 0, "-R"), "at_frame": "B", "frame": "B", "relative_to": "B"}
    written = [m.constrain(f"along {e}", PointVelocity("A", e, **place)) for e in "xy"]
    for seed in range(3):
        values = state(m, generator(seed))
        given = evaluate([rate(m, row) for row in rolls.rows], values)
        assert evaluate([rate(m, c.rows[0]) for c in written], values) == pytest.approx(given, abs=ROUND)


def test_positions_of_points_are_names_in_equations() -> None:
    m = sleigh()
    made = m.constrain("c", ConfigurationEquations("r.T.x**2 + r.T.y**2 = 4"))
    residual = made.rows[0].residual
    assert residual is not None
    values = {"x": 1.5, "y": -0.5, "h": 0.3, "q": 0.1, "t": 0.0}
    assert evaluate([residual], values)[0] == pytest.approx(1.5**2 + 0.5**2 - 4, abs=ROUND)


def test_equations_in_speeds_keep_their_meaning_when_other_speeds_are_chosen() -> None:
    m = sleigh()
    m.constrain("c", MotionEquations("u_slide_1 = 2*u_hinge"))
    before = [row.exprs() for row in m.constraints["c"].rows]
    m.set_speeds({"v1": "v.S.x", "v2": "v.S.y", "w": "h'", "n": "q' - h'"})
    assert [row.exprs() for row in m.constraints["c"].rows] == before
    assert {repr(e.variable) for e in m.constraints["c"].rows[0].actions if isinstance(e, EffortAction)} == {"x'", "q'"}
    later = m.constrain("later", MotionEquations("v2 = n"))
    values = state(m, generator(8))
    h = values["h"]
    expected = -values["x'"] * np.sin(h) + values["y'"] * np.cos(h) - (values["q'"] - values["h'"])
    assert evaluate([rate(m, later.rows[0])], values)[0] == pytest.approx(expected, abs=ROUND)


@pytest.mark.parametrize("case", [*BETWEEN, *TIES], ids=lambda c: c.name)
def test_no_row_is_written_in_speeds(case: Case) -> None:
    m = tree()
    made = case.build(m, "B")
    speeds = [s.symbol for s in m.speed_records.values()]
    rates = list(m.motion_variables.values())
    assert not depends_on([e for row in made.rows for e in row.exprs()], [*speeds, *rates])


def test_rows_of_your_own_that_are_written_in_speeds_keep_their_meaning() -> None:
    m = sleigh()
    hinge = m.speed_records["u_hinge"]
    m.constrain("own", GivenRows((Row("1", (), hinge.symbol),)))
    m.set_speeds({"a": "x'", "b": "y'", "c": "h'", "d": "2*q'"})
    assert m.constraints["own"].rows[0].rheonomic == hinge.definition


# what is tied by a ratio ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tie", "factor"),
    [
        (lambda m: m.constrain("c", Gear("a", "b", -2)), -2.0),
        (lambda m: m.constrain("c", Belt("a", "b", first_radius=0.3, second_radius=0.1)), 3.0),
        (lambda m: m.constrain("c", Belt("a", "b", first_radius=0.3, second_radius=0.1, crossed=True)), -3.0),
        (lambda m: m.constrain("c", Rack("a", "s", radius=0.3)), 0.3),
        (lambda m: m.constrain("c", Rack("a", "s", radius=0.3, opposite=True)), -0.3),
    ],
)
def test_the_second_joint_moves_by_the_ratio(tie: Callable[[Mechanism], BuiltConstraint], factor: float) -> None:
    m = shafts()
    made = tie(m)
    second = "qs" if made.kind == "rack" else "qb"
    on = {"qa": 0.7, "qb": 0.0, "qs": 0.0, "t": 0.0, second: factor * 0.7}
    residual = made.rows[0].residual
    assert residual is not None and evaluate([residual], on)[0] == pytest.approx(0.0, abs=ROUND)
    assert made.rows[0].unit == ("N" if made.kind == "rack" else "N m")
    moving = {"qa'": 1.1, "qb'": 0.0, "qs'": 0.0, f"{second}'": factor * 1.1}
    assert evaluate([rate(m, made.rows[0])], {**on, **moving})[0] == pytest.approx(0.0, abs=ROUND)


def shafts() -> Mechanism:
    m = Mechanism("shafts")
    for name in ("a", "b", "s", "k"):
        m.body(name.upper(), mass=1.0)
        kind = {"s": "prismatic", "k": "spherical"}.get(name, "revolute")
        coordinates = None if kind == "spherical" else [f"q{name}"]
        m.joint(name, kind, "ground", name.upper(), coordinates=coordinates)
    return m


# refusals ------------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[str, Change, str]] = [
    (
        "name taken",
        lambda m: (m.constrain("c", KnifeEdge("A")), m.constrain("c", KnifeEdge("A"))),
        "the name 'c' is already in use",
    ),
    ("no rows", lambda m: m.constrain("c", GivenRows(())), "it has no rows"),
    (
        "labels",
        lambda m: m.constrain("c", GivenRows((Row("1", (), m.graph.const(0.0)),) * 2)),
        "two rows are labelled '1'",
    ),
    ("nonlinear", lambda m: m.constrain("c", MotionEquations("fork'*spin' - 1")), "is not linear in"),
    ("squared", lambda m: m.constrain("c", MotionEquations("sin(fork') + spin'")), r"sin\(fork'\)"),
    ("no rate", lambda m: m.constrain("c", MotionEquations("fork - spin")), "use ConfigurationEquations"),
    ("no coordinate", lambda m: m.constrain("c", ConfigurationEquations("sin(t) - 1")), "there is no coordinate in"),
    ("rate", lambda m: m.constrain("c", ConfigurationEquations("fork - spin'")), "it depends on the rate spin'"),
    ("speed", lambda m: m.constrain("c", ConfigurationEquations("u_fork")), "use MotionEquations"),
    ("unknown symbol", lambda m: m.constrain("c", MotionEquations("fork' - spinn'")), "did you mean"),
    ("unknown measure", lambda m: m.constrain("c", MotionEquations("w.X.x")), "unknown body 'X'; known: "),
    (
        "misspelt measure",
        lambda m: m.constrain("c", MotionEquations("fork' = v.Fo.x")),
        "unknown point 'Fo'; did you mean 'F'",
    ),
    ("no axis", lambda m: m.constrain("c", MotionEquations("v.W")), "'v.W' has no axis; write v.POINT.x"),
    ("other letters", lambda m: m.constrain("c", MotionEquations("Fork' = spin'")), "did you mean 'fork''"),
    (
        "shown whole",
        lambda m: m.constrain("c", MotionEquations("fork' = 2*spinn'")),
        r"column 11(?s:.)*    fork' = 2\*spinn'",
    ),
    ("same sides", lambda m: m.constrain("c", MotionEquations("fork' = fork'")), "it says 0 = 0 in every state"),
    ("ground", lambda m: m.constrain("c", ConfigurationEquations("r.O.x = 1")), "it says -1 = 0 in every state"),
    ("comparison", lambda m: m.constrain("c", ConfigurationEquations("fork <= 1")), "'fork <= 1' is a comparison"),
    ("double equal", lambda m: m.constrain("c", PointOnCurve("A", "B", "z == x**2")), "write a single ="),
    ("two equal signs", lambda m: m.constrain("c", MotionEquations("fork' = spin' = 0")), "has 2 equal signs"),
    ("nothing", lambda m: m.constrain("c", MotionEquations([])), "no equation is given"),
    ("nan equation", lambda m: m.constrain("c", MotionEquations(float("nan"))), "not a finite number"),
    ("unknown body", lambda m: m.constrain("c", KnifeEdge("a")), "unknown body 'a'"),
    ("foreign body", lambda m: m.constrain("c", KnifeEdge(tree().bodies["A"])), "body 'A' belongs to another model"),
    ("foreign frame", lambda m: m.constrain("c", PointVelocity("A", "x", frame=tree().N)), "belongs to another model"),
    (
        "foreign joint",
        lambda m: m.constrain("c", Gear(tree().joints["fork"], "spin", 2)),
        "joint 'fork' belongs to another",
    ),
    (
        "rate of a length",
        lambda m: m.constrain("c", Distance("A", "B", length="1 + sqrt(t)")),
        "the rate of .* is inf at t = 0",
    ),
    (
        "imposed rate",
        lambda m: m.constrain("c", ConfigurationEquations("fork = sqrt(t)")),
        "its imposed rate .* is inf at t = 0",
    ),
    ("imposed speed", lambda m: m.constrain("c", MotionEquations("fork' = 1/t")), "is inf at t = 0"),
    ("loose body", lambda m: (m.body("loose"), m.constrain("c", KnifeEdge("loose"))), "'loose' is not attached yet"),
    ("same body", lambda m: m.constrain("c", Loop("revolute", "A", "A")), "body 'A' is named twice"),
    (
        "axis",
        lambda m: m.constrain("c", Loop("revolute", "A", "B", axis=(1, 1, 0))),
        r"(?s)has length 1.41421.*write \[0.707",
    ),
    ("type", lambda m: m.constrain("c", Loop("revolve", "A", "B")), "did you mean 'revolute'"),
    ("rows", lambda m: m.constrain("c", Loop("revolute", "A", "B", rows=["x", "w"])), "unknown row 'w'"),
    ("no row kept", lambda m: m.constrain("c", Loop("revolute", "A", "B", rows=[])), "each row is named once"),
    ("along", lambda m: m.constrain("c", Loop("revolute", "A", "B", along="second")), "say along: N or first"),
    (
        "sequence",
        lambda m: m.constrain("c", Loop("universal", "A", "B", sequence="body 3")),
        "two axes that are perpendicular",
    ),
    (
        "place moves",
        lambda m: m.constrain("c", Loop("weld", "A", "B", first_at=("spin", 0, 0))),
        "it depends on 'spin'",
    ),
    (
        "nan place",
        lambda m: m.constrain("c", Loop("weld", "A", "B", first_at=(float("nan"), 0, 0))),
        "not a finite number",
    ),
    ("pole", lambda m: m.constrain("c", Loop("weld", "A", "B", first_at=("1/t", 0, 0))), "is inf at t = 0"),
    ("length 0", lambda m: m.constrain("c", Distance("A", "B", length=0)), "close the loop by a spherical joint"),
    ("no rod, less", lambda m: m.constrain("c", Distance("A", "B", length=-1)), "give a length > 0"),
    ("length < 0", lambda m: m.constrain("c", Distance("A", "B", length="-1 + t")), "length -1 m"),
    (
        "length of q",
        lambda m: m.constrain("c", Distance("A", "B", length="spin")),
        "may depend on t and parameters only",
    ),
    ("radius", lambda m: m.constrain("c", Rolling("W", radius=-0.4)), "a radius is > 0"),
    ("radius 0", lambda m: m.constrain("c", RollingSphere("A", radius=0)), "a radius is > 0"),
    (
        "radius moves",
        lambda m: m.constrain("c", RollingSphere("A", radius="1 + 0.1*t")),
        "may depend on parameters only",
    ),
    ("crown", lambda m: m.constrain("c", Rolling("W", radius=0.4, crown=0.5)), "does not exceed its radius"),
    ("crown < 0", lambda m: m.constrain("c", Rolling("W", radius=0.4, crown=-0.1)), "a crown is ≥ 0"),
    ("flat", lambda m: m.constrain("c", Rolling("P", radius=0.4, axis="z")), "its axis is not along the normal"),
    (
        "same middle",
        lambda m: m.constrain("c", RollingOnSphere("P", radius=1, on_radius=2, at=(0, 0, 1))),
        "two balls is on",
    ),
    ("no rod", lambda m: m.constrain("c", Distance("ground", "P", first_at=(0, 0, 1), length=1)), "a rod has two ends"),
    ("ground rolls", lambda m: m.constrain("c", Rolling("ground", radius=0.4, on="A")), "the ground cannot roll"),
    (
        "hollow",
        lambda m: m.constrain("c", RollingOnSphere("A", radius=2, on_radius=1, inside=True)),
        "is the smaller one",
    ),
    ("semi-axes", lambda m: m.constrain("c", RollingEllipsoid("A", semi_axes=(1, 0, 2))), "a semi-axis is > 0"),
    ("normal", lambda m: m.constrain("c", Rolling("W", radius=0.4, normal=(0, 0, 2))), "an axis is a unit vector"),
    ("normal word", lambda m: m.constrain("c", Rolling("W", radius=0.4, normal="up")), "'up' is not an axis"),
    ("direction", lambda m: m.constrain("c", PointVelocity("A", (0, 0, 2))), "an axis is a unit vector"),
    ("value", lambda m: m.constrain("c", PointVelocity("A", "x", value="spin'")), "it depends on the rate spin'"),
    ("ratio 0", lambda m: m.constrain("c", Gear("fork", "spin", 0)), "the ratio is 0"),
    ("ratio of t", lambda m: m.constrain("c", Gear("fork", "spin", "t")), "may depend on parameters only"),
    ("same joint", lambda m: m.constrain("c", Gear("fork", "fork", 2)), "joint 'fork' is named twice"),
    ("ball", lambda m: m.constrain("c", Gear("fork", "ball", 2)), "joint 'ball' is of type spherical, with 3 degrees"),
    ("unknown joint", lambda m: m.constrain("c", Gear("fork", "spinn", 2)), "did you mean 'spin'"),
    ("rack", lambda m: m.constrain("c", Rack("fork", "spin", radius=1)), "a rack moves in a prismatic joint"),
    (
        "pulley",
        lambda m: m.constrain("c", Belt("fork", "slide", first_radius=1, second_radius=1)),
        "a pulley moves in a revolute",
    ),
    (
        "truth",
        lambda m: m.constrain("c", Belt("fork", "spin", first_radius=1, second_radius=1, crossed="no")),  # type: ignore[arg-type]
        "crossed is true or false",
    ),
    (
        "truth of a wheel",
        lambda m: m.constrain("c", Rolling("W", radius=1, normal_row="no")),  # type: ignore[arg-type]
        "normal_row is true or false",
    ),
    (
        "sequence",
        lambda m: m.constrain("c", Loop("universal", "A", "B", sequence=("x", "y"))),  # type: ignore[arg-type]
        "is not an Euler sequence",
    ),
    ("orientation", lambda m: m.constrain("c", Loop("weld", "A", "B", first_rotation=(0, 0, 1))), "is no orientation"),  # type: ignore[arg-type]
    (
        "row of another axis",
        lambda m: m.constrain("c", Loop("revolute", "A", "B", axis="y", rows="ry")),
        "known: x, y, z, rz, rx",
    ),
    (
        "place of a rate",
        lambda m: m.constrain("c", PointVelocity("A", "x", at=("spin'", 0, 0))),
        "it depends on the rate",
    ),
    (
        "place without value",
        lambda m: m.constrain("c", PointVelocity("A", "x", at=("1/(R - R*1)", 0, 0))),
        "not a finite",
    ),
    ("curves", lambda m: m.constrain("c", PointOnCurve("A", "B", ["x", "y", "z"])), "a curve two"),
    ("no x", lambda m: m.constrain("c", PointOnCurve("A", "B", "R - t")), "there is no x, y or z in"),
    ("curve of q", lambda m: m.constrain("c", PointOnCurve("A", "B", "x - spin")), "unknown symbol 'spin'"),
    (
        "curve of q, built",
        lambda m: m.constrain("c", PointOnCurve("A", "B", m.graph.input("x") - m.coordinate_records["spin"].symbol)),
        "it depends on 'spin'",
    ),
]


@pytest.mark.parametrize(("change", "why"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_cannot_be_is_refused_with_its_reason(change: Change, why: str) -> None:
    m = tree()
    m.body("P", mass=1.0)
    m.joint("turntable", "revolute", "ground", "P", at=(0, 0, 1))
    with pytest.raises(ModelError, match=why) as refused:
        change(m)
    assert "model 'guided' / constraint 'c'" in str(refused.value)
    assert list(m.constraints) in ([], ["c"])  # nothing half built is left: only what was added before


def test_redundant_rows_are_no_fault_of_the_description() -> None:
    m = sleigh()
    for k in range(4):
        m.constrain(f"c{k}", Loop("weld", "ground", "T"))
    m.validate()
    assert len(m.row_names) == 24 > len(m.speeds)
