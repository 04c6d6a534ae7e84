"""Speeds that `suggest_speeds` finds by itself: never worse than u = q̇, as good as those of textbooks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics import mechanics as me

import kane
from cases.test_gillespie import wrist
from kane.analysis.speeds import SpeedChoice, suggest_speeds, with_speeds
from kane.backends import compile
from kane.formulation import formulate, motion_program
from kane.graph import Expr, evaluate
from kane.model import Builder, Mechanism, read_mechanism, write_mechanism
from kane.model.fields import BodyName
from kane.model.loads import Action, ForceAction
from kane.model.speeds import describe_speeds
from laws.trees import AXES, build, planned
from seeds import generator
from style.source import ROOT

Array = np.ndarray[Any, np.dtype[np.float64]]
SAME = 1e-9  # of accelerations by two choices of speeds, relative
MOVED = 1e-7  # m, rad, of motions integrated to 1e-11 from speeds that meet constraints to 1e-9
KINDS = ("revolute", "prismatic", "gimbal", "spherical", "universal", "revolute", "revolute")


def top(free: bool = True) -> kane.Model:
    """A symmetric top on a fixed point, in three Euler angles."""
    m = kane.Model("top", gravity=(0, 0, "-g"))
    for name, value in {"g": 9.81, "m": 0.7, "h": 0.25, "It": 0.004, "Is": 0.002}.items():
        m.parameter(name, value, free=free)
    m.body("top", mass="m", center=(0, 0, "h"), inertia={"xx": "It", "yy": "It", "zz": "Is"})
    m.joint("tip", "gimbal", "ground", "top", sequence="body 313", coordinates=["q1", "q2", "q3"])
    return m


def tree_of_ten(seed: int) -> kane.Model:
    rng = generator(seed)
    kinds = [KINDS[int(k)] for k in rng.integers(len(KINDS), size=10)]
    return build(planned(rng, kinds, [AXES[int(rng.integers(6))] for _ in kinds], ["none"] * 10, []))


def operations(m: kane.Model, name: str) -> int:
    """Multiplications, divisions and additions of a program, counted here."""
    count = m.equations().count(name)
    return count["mul"] + count["div"] + count["add"]


MODELS = {
    "wrist": lambda: wrist(chosen=False),
    "top": top,
    "satellite": lambda: kane.load("satellite-with-panels"),
    "stanford-arm": lambda: kane.load("stanford-arm"),
    **{f"tree {seed}": (lambda seed=seed: tree_of_ten(seed)) for seed in (3, 11)},
    "shopping-cart": lambda: kane.load("shopping-cart"),
    "rolling-disc": lambda: kane.load("rolling-disc"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_best_choice_is_never_worse_than_the_rates(name: str) -> None:
    m = MODELS[name]()
    plain = copy.copy(m)
    found = m.suggest_speeds(apply=True)
    assert set(found.rates.definitions.values()) == set(m.mechanism.motion_variables)
    if plain.mechanism.speeds_chosen:
        plain.set_speeds(dict(found.rates.definitions))
    for programs in (("forward_dynamics",), ("forward_dynamics", "kinematics")):
        assert sum(operations(m, p) for p in programs) <= sum(operations(plain, p) for p in programs)
    assert found.best.cost == operations(m, "forward_dynamics") + operations(m, "kinematics")
    assert [c.cost for c in found.choices] == sorted(c.cost for c in found.choices)
    assert not found.obstacle and found.tried >= len(found.choices)


def test_the_figures_of_the_page_are_measured() -> None:
    """The table of docs/explain.md: u = q̇ and what is found, as mul + add of u̇."""
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in page.splitlines() if line.startswith("| ")]
    figures = {label: (plain, best) for label, plain, best in rows if "+" in best}
    assert len(figures) == 5
    for label, said in figures.items():
        key = next(name for name in MODELS if label.startswith(name))
        found = MODELS[key]().suggest_speeds()
        assert said == tuple(f"{c.forward[0]} + {c.forward[1]}" for c in (found.rates, found.best)), label


def test_the_speeds_of_the_wrist_are_found() -> None:
    found = wrist(chosen=False).suggest_speeds()
    assert found.present.forward[:2] == (52, 28)
    assert list(found.best.definitions.values()) == ["w.C.x", "w.C.y", "w.C.z"]
    assert found.best.forward[0] <= 18 and found.best.forward[1] <= 10


def test_the_speeds_of_the_top_are_found() -> None:
    found = top().suggest_speeds()
    assert list(found.best.definitions.values()) == ["w.top.x", "w.top.y", "w.top.z"]
    assert found.best.forward[0] <= 10 and found.best.forward[1] <= 4


def table_rows(m: kane.Model) -> dict[str, str]:
    """What the table of choices calls each row → what it says that the speeds are."""
    return {about: shown for about, shown, *_ in m.suggest_speeds(tries=12).rows()}


def test_speeds_of_the_model_are_not_called_rates_where_they_are_none() -> None:
    """Of the wrist and the arm in the speeds of their papers: both choices are measured, each under its own name."""
    for m, own in (
        (wrist(chosen=True), "u1 = w.C.x, u2 = w.C.y, u3 = w.C.z"),
        (kane.load("stanford-arm-kane"), "u1 = w.D.x"),
    ):
        rows = table_rows(m)
        assert rows["as described"].startswith(own) and rows["u = q'"] == ""
        found = m.suggest_speeds(tries=12)
        assert found.present.about == "as described" and found.rates.about == "u = q'"
        own_rows = [row for row in found.to_dict()["choices"] if row["present"]]  # type: ignore[attr-defined]
        assert [row["speeds"] for row in own_rows] == [found.present.definitions]


@pytest.mark.parametrize("definitions", [None, {"a": "q1'", "b": "q2'"}])
def test_a_model_in_rates_is_said_to_be_that_once(definitions: dict[str, str] | None) -> None:
    m = kane.load("double-pendulum")
    if definitions:
        m.set_speeds(definitions)
    assert [about for about in table_rows(m) if "u = q'" in about] == ["as described: u = q'"]
    found = m.suggest_speeds()
    assert found.rates is found.present
    assert m.explain(beside="rates").beside is None


OF_ALL_KINDS = (
    "pendulum",
    "free-body",
    "spinning-top",
    "chaplygin-sleigh",
    "shopping-cart",
    "whipple-bicycle",
    "woodpecker",
    "slider-crank-clearance",
    "stanford-arm-kane",
    "dual-spin",
)
"""Built-in models whose speeds are rates, are those of joints, or were chosen, as rates or otherwise."""


@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_only_choices_in_which_speeds_are_rates_of_coordinates_are_called_so(name: str) -> None:
    """By numbers: u = q̇ in any state, each speed the rate of one coordinate; and "as described" is one row."""
    m = kane.load(name)
    found = m.suggest_speeds(tries=4)
    assert len([c for c in found.choices if c.about.startswith("as described")]) == 1
    rng = generator(5)
    q, n = rng.uniform(0.3, 1.0, len(m.coordinates)), len(m.speeds)
    for choice in found.choices:
        twin = kane.Model.of(with_speeds(m.mechanism, choice.definitions))
        W = np.array([twin.qdot(q, e) - twin.qdot(q, np.zeros(n)) for e in np.eye(n)])
        one_each = W.shape == (n, n) and np.allclose(W @ W.T, np.eye(n)) and np.allclose(W, W.round())
        assert one_each == ("u = q'" in choice.about), choice


def test_speeds_of_a_sympy_script_are_told_by_what_they_measure() -> None:
    """The wrist with q̇ = W u given, u the components of ω: SymPy's own kinematics says what they are."""
    q, u = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    N, C, O = me.ReferenceFrame("N"), me.ReferenceFrame("C"), me.Point("O")
    C.orient_body_fixed(N, q, "323")
    rates = sp.solve([C.ang_vel_in(N).dot(e) - x for e, x in zip(C, u, strict=True)], [x.diff() for x in q])
    C.set_ang_vel(N, sum((x * e for e, x in zip(C, u, strict=True)), start=me.Vector(0)))
    O.set_vel(N, 0)
    hand = me.RigidBody("C", O, C, 1.3, (me.inertia(C, 0.02, 0.03, 0.01), O))
    equations = [sp.trigsimp(x.diff() - rates[x.diff()]) for x in q]
    m = kane.from_sympy(me.KanesMethod(N, q, u, equations, bodies=[hand]), initial={q[1]: 0.5})
    assert table_rows(m) == {"as described": "u1 = w.C.x, u2 = w.C.y, u3 = w.C.z"}
    assert describe_speeds(m.mechanism) == {"u1": "w.C.x", "u2": "w.C.y", "u3": "w.C.z"}
    x, v = me.dynamicsymbols("x v")
    P = O.locatenew("P", x * N.x)
    P.set_vel(N, v * N.x)
    slider = me.KanesMethod(N, [x], [v], [x.diff() - v], bodies=[me.Particle("bead", P, 2.0)])
    assert describe_speeds(kane.from_sympy(slider).mechanism) == {"v": "x'"}
    assert table_rows(kane.from_sympy(slider)) == {"as described: u = q'": ""}


@pytest.mark.parametrize("told", [False, True])
def test_speeds_that_a_sympy_script_calls_rates_are_explained_as_rates(told: bool) -> None:
    """A bob that turns about z by q1 and then about y by q2, u = q̇ by the kinematical equations, whether or not the
    angular velocities are told as well."""
    me = pytest.importorskip("sympy.physics.mechanics")
    q, u = me.dynamicsymbols("q1:3"), me.dynamicsymbols("u1:3")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    A = N.orientnew("A", "Axis", [q[0], N.z])
    B = A.orientnew("B", "Axis", [q[1], A.y])
    if told:
        A.set_ang_vel(N, u[0] * N.z)
        B.set_ang_vel(A, u[1] * A.y)
    O.set_vel(N, 0)
    P = O.locatenew("P", -0.7 * B.x)
    P.v2pt_theory(O, N, B)
    bob = me.RigidBody("bob", P, B, 1.3, (me.inertia(B, 0.02, 0.03, 0.01), P))
    m = kane.from_sympy(me.KanesMethod(N, q, u, [a.diff() - b for a, b in zip(q, u, strict=True)], bodies=[bob]))
    text = str(m.explain(beside=None))
    assert "Generalized speeds\n  u1 = q1'\n  u2 = q2'\n" in text


@pytest.mark.parametrize("name", ["top", "stanford-arm", "shopping-cart", "satellite"])
def test_applied_speeds_leave_start_and_motion_as_they_are(name: str) -> None:
    """Accelerations of a point of the last body, at the start, by both choices."""
    m = MODELS[name]()
    rng = generator(2)
    q = m.initial_state[0] if m.constraints or name == "satellite" else rng.uniform(0.3, 1.0, len(m.coordinates))
    start = dict(zip(m.coordinates, q.tolist(), strict=True))
    m.set_initial(start | dict(zip(m.speeds, rng.normal(size=len(m.speeds)).tolist(), strict=True)))
    q, u = m.project() if m.constraints else m.initial_state
    m.set_initial(dict(zip(m.speeds, u.tolist(), strict=True)) | dict(zip(m.coordinates, q.tolist(), strict=True)))
    other = copy.copy(m)
    found = other.suggest_speeds(apply=True)
    assert found.best is not found.present or name == "satellite"
    body = list(m.bodies)[-1]
    point = [0.1, 0.2, 0.3]
    seen = []
    for model in (m, other):
        q, u = model.initial_state
        udot = model.forward_dynamics(q, u, np.zeros(len(u)))
        place = model.at(body, point)
        seen.append(np.concatenate([place.velocity(q, u), place.acceleration(q, u, udot)]))
    assert np.abs(seen[0] - seen[1]).max() <= SAME * (1 + np.abs(seen[0]).max())


def test_control_laws_keep_their_meaning() -> None:
    m = kane.load("double-pendulum")
    m.control("damp", {"shoulder": "-0.3*u1", "elbow": "-0.2*u2 - q2"})
    other = copy.copy(m)
    other.suggest_speeds(apply=True)
    t = np.linspace(0, 1, 5)
    one, two = (x.simulate(t, q=[0.4, 0.9], control="damp", rtol=1e-11, atol=1e-13) for x in (m, other))
    assert other.mechanism.speeds_chosen
    assert np.abs(one.q - two.q).max() < 1e-9


def test_tries_and_progress() -> None:
    told: list[float] = []
    found = kane.load("stanford-arm").suggest_speeds(tries=5, progress=told.append)
    assert found.tried == 5 and told[-1] == 1.0 and told == sorted(told)
    with pytest.raises(kane.InputError, match="tries=0"):
        kane.load("pendulum").suggest_speeds(tries=0)


def test_definitions_can_be_given_back() -> None:
    """Every choice, typed into `set_speeds`, costs what the table says."""
    for choice in kane.load("stanford-arm").suggest_speeds().choices[:6]:
        assert isinstance(choice, SpeedChoice)
        m = kane.load("stanford-arm")
        m.set_speeds(dict(choice.definitions))
        assert operations(m, "forward_dynamics") == sum(choice.forward[:2])


# what is written in speeds -------------------------------------------------------------------------------------------

DRIFT = 1e-9  # of coordinates (m, rad) after 40 ms by two choices of speeds: errors of Runge–Kutta steps of 2 ms


def dragged_pendulum() -> Mechanism:
    """A double pendulum with friction, a force and a control law in its speeds; the law acts along a speed."""
    m = kane.load("double-pendulum").mechanism
    m.load("drag", kane.Effort("elbow", "-0.4*u2*abs(u2) - 0.2*u1"))
    m.load("wind", kane.Force("lower", ("0.5*u1 - u2", "u1*u2", 0)))
    m.control("law", {"u2": "-0.3*u1", "shoulder": "-0.1*u2"})
    m.set_initial({"q1": 0.4, "q2": 0.9, "u1": 1.5, "u2": -0.7})
    return m


def dragged_pendulum_in_absolute_rates() -> Mechanism:
    """The same speeds by name and other ones by definition, in which all of it is written."""
    m = kane.load("double-pendulum").mechanism
    m.set_speeds({"u1": "q1'", "u2": "w.lower.z"})
    m.load("drag", kane.Effort("elbow", "-0.4*u2*abs(u2) - 0.2*u1"))
    m.control("law", {"u2": "-0.3*u1", "u1": "-0.2*u2"})
    m.set_initial({"q1": 0.4, "q2": 0.9, "u1": 1.5, "u2": -0.7})
    return m


def top_with_friction() -> Mechanism:
    m = top(free=False).mechanism
    first, second, third = m.speeds
    m.load("air", kane.Torque("top", (f"-0.01*{first}", f"-0.02*{second}", f"-0.002*{third}*abs({third})")))
    m.set_initial({"q1": 0.1, "q2": 0.7, "q3": 0.2, first: 1.0, second: 0.5, third: 2.0})
    return m


def flying_body_in_air() -> Mechanism:
    m = kane.Model("flying", gravity=(0, 0, -9.81)).mechanism
    m.body("bird", mass=2, center=(0.1, 0, 0.05), inertia={"xx": 0.2, "yy": 0.3, "zz": 0.4})
    m.joint("free", "free", "ground", "bird", speeds=["p", "q", "r", "a", "b", "c"])
    m.load("drag", kane.Force("bird", ("-0.5*a*abs(a)", "-2*b", "-3*c")))
    m.load("damping", kane.Torque("bird", ("-0.1*p", "-0.2*q", "-0.1*r + 0.05*b")))
    m.set_initial({"p": 1.0, "q": -0.5, "r": 0.8, "a": 3.0, "b": 0.4, "c": -0.6})
    return m


def sleigh_with_a_row_in_speeds() -> Mechanism:
    """A body in the plane that does not slide across itself: the row is written in its speeds, and so is a damper."""
    m = kane.Model("sleigh").mechanism
    m.body("sleigh", mass=3, center=(0.2, 0, 0), inertia={"xx": 0.3, "yy": 0.3, "zz": 0.5})
    m.joint("plane", "planar", "ground", "sleigh", coordinates=["x", "y", "h"], speeds=["vx", "vy", "w"])
    m.constrain("runner", kane.MotionEquations("vy*cos(h) - vx*sin(h) = 0"))
    m.load("snow", kane.Effort("plane", "-0.7*vx - 0.1*w", index=0))
    m.set_initial({"h": 0.4, "vx": float(np.cos(0.4)), "vy": float(np.sin(0.4)), "w": 0.9})
    return m


WRITTEN_IN_SPEEDS = (
    dragged_pendulum,
    dragged_pendulum_in_absolute_rates,
    top_with_friction,
    flying_body_in_air,
    sleigh_with_a_row_in_speeds,
)


def follow(m: Mechanism) -> Array:
    """Coordinates after 40 ms, under the control law of the mechanism if it has one; steps of Runge and Kutta."""
    law = m.controls["law"].efforts if m.controls else None
    rates = compile(motion_program(formulate(m), law), "interpret")
    n, tau = len(m.coordinates), np.zeros(len(m.speeds))
    start = [c.initial for c in m.coordinate_records.values()], [s.initial for s in m.speed_records.values()]
    y, h = np.array([*start[0], *start[1], 0.0]), 0.002

    def f(t: float, y: Array) -> Array:
        return np.asarray(rates(t, y[:n], y[n:-1], y[-1:], tau))

    for k in range(20):
        t = k * h
        a = f(t, y)
        b = f(t + h / 2, y + h / 2 * a)
        c = f(t + h / 2, y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + f(t + h, y + h * c))
    return y[:n]


@pytest.mark.parametrize("describe", WRITTEN_IN_SPEEDS, ids=lambda d: d.__name__)
def test_what_is_written_in_speeds_keeps_its_meaning_with_every_choice_of_them(
    describe: Callable[[], Mechanism],
) -> None:
    m = describe()
    found = suggest_speeds(m)
    expected = follow(m)
    assert len(found.choices) > 1
    for choice in found.choices:
        assert np.abs(follow(with_speeds(m, choice.definitions)) - expected).max() < DRIFT


def test_speeds_that_trade_names_trade_nothing_else() -> None:
    m = dragged_pendulum()
    other = with_speeds(m, {"u1": "q2'", "u2": "q1'"})
    assert np.abs(follow(other) - follow(m)).max() < DRIFT
    assert np.abs(follow(with_speeds(other, {"u1": "q1'", "u2": "q2'"})) - follow(m)).max() < DRIFT


def test_speeds_chosen_by_hand_start_with_the_same_motion() -> None:
    m = dragged_pendulum()
    expected = follow(m)
    m.set_speeds({"w1": "q1' + t", "w2": "cos(q1)*q1' + w.lower.z"})
    assert m.speed_records["w2"].initial == pytest.approx(1.5 * np.cos(0.4) + 0.8)
    assert np.abs(follow(m) - expected).max() < DRIFT


def test_a_model_file_holds_what_was_written_in_other_speeds() -> None:
    for describe in (dragged_pendulum, flying_body_in_air, sleigh_with_a_row_in_speeds):
        m = describe()
        other = with_speeds(m, suggest_speeds(m).best.definitions)
        again = read_mechanism(write_mechanism(other), describe.__name__)
        assert np.abs(follow(again) - follow(m)).max() < DRIFT


def test_conditions_in_speeds_keep_their_meaning() -> None:
    """When a lock closes, and how strong a brake is, depend on the same rates whatever speeds are called u1 and u2."""
    m = kane.load("double-pendulum").mechanism
    m.constrain("lock", kane.ConfigurationEquations("q2 = 1"), when="2*u1 - u2", until="u2 - 9")
    m.constrain("brake", kane.Brake("shoulder", bound="1 + 0.1*u2*u2"))
    other = with_speeds(m, {"u1": "w.lower.z", "u2": "q1'"})
    rates = {"q1'": 0.3, "q2'": 1.1}
    for one in (m, other):
        laws = {name: part.law for name, part in one.changing.items()}
        values = rates | {s.name: evaluate([s.definition], rates)[0] for s in one.speed_records.values()}
        when, until, bound = laws["lock"].when, laws["lock"].until, laws["brake"].bound
        assert when is not None and until is not None and bound is not None
        assert evaluate([when, until, bound], values) == pytest.approx([-0.5, -7.9, 1.121])
    (lock,) = other.constrain("lock", until="t - 3")
    assert lock.law.until is not None and lock.law.until != laws["lock"].until


@dataclass(frozen=True)
class Breeze:
    """A load that makes its force of a speed only when equations are formulated."""

    body: BodyName
    kind = "breeze"

    def check(self, build: Builder) -> None:
        pass

    def actions(self, build: Builder) -> tuple[Action, ...]:
        body = build.body(self.body)
        assert body.origin is not None and body.frame is not None
        return (ForceAction(body.origin, body.frame.vector(build.scalar("u2", "force"), 0.0, 0.0)),)

    def potential(self, build: Builder) -> Expr | None:
        return None


def test_what_cannot_be_written_anew_is_told() -> None:
    m = kane.load("double-pendulum")
    m.load("breeze", Breeze("lower"))
    found = m.suggest_speeds(apply=True)
    assert "load 'breeze' is written in the speeds that would be replaced, and cannot be" in found.obstacle
    assert found.best is found.present and not m.mechanism.speeds_chosen
    assert "load 'breeze'" in str(found)
    with pytest.raises(kane.ModelError, match="load 'breeze' is written in the speeds"):
        m.explain(beside={"u1": "q1'", "u2": "w.lower.z"})


def test_velocities_that_were_set_in_speeds_are_not_taken_for_others() -> None:
    m = kane.Model("sled").mechanism
    x = m.coordinate("x", speed="v")
    P = m.point("P", m.O, m.N.vector(x, 0, 0))
    P.set_velocity(m.N.vector(m.speed_records["v"].symbol, 0, 0))
    m.body("bob", mass=2, frame=m.N, origin=P)
    with pytest.raises(kane.ModelError, match="the velocity of point 'P' is written in the speeds"):
        m.set_speeds({"v": "2*x'"})


ROLLING = """
kane: 1
name: disk
gravity: [0, 0, -g]
parameters: {g: 9.81, r: 0.3, m: 1}
bodies:
  fork: {}
  plane: {}
  disk: {mass: m, inertia: {xx: m*r**2/4, yy: m*r**2/2, zz: m*r**2/4}}
joints:
  place: {type: planar, parent: ground, child: fork, coordinates: [x, y, psi], speeds: [vx, vy, u1]}
  lean: {type: revolute, parent: fork, child: plane, axis: x, coordinate: theta, speed: u2}
  spin: {type: revolute, parent: plane, child: disk, axis: y, at: [0, 0, r], coordinate: phi, speed: u3}
constraints:
  road: {type: rolling, body: disk, radius: r, axis: y, normal_row: false}
"""


def test_speeds_that_do_not_determine_the_rates_at_the_start_are_not_suggested() -> None:
    """ω of the plane of an upright disk along its own y axis is ψ' sin θ = 0: it says nothing of ψ'."""
    m = read_mechanism(ROLLING, "disk.yaml")
    found = suggest_speeds(m)
    assert len(found.choices) > 5
    assert "w.plane.y" not in [text for choice in found.choices for text in choice.definitions.values()]
    for choice in found.choices:
        twin = kane.Model.of(with_speeds(m, choice.definitions))
        q, u = twin.project(u={"vx": 1.0} if "vx" in twin.speeds else None)
        assert np.all(np.isfinite(twin.forward_dynamics(q, u, np.zeros(5))))
    for beside in ("suggested", {"vx": "x'", "vy": "y'", "u1": "sin(theta)*psi'", "u2": "theta'", "u3": "phi'"}):
        assert "The same with other speeds" in kane.Model.of(m).explain(beside=beside).to_text()


def test_speeds_that_are_chosen_anew_leave_a_start_off_the_constraints_where_it_was() -> None:
    """The cart states its speed along, and leaves open how fast it turns while the wheel of its caster stands askew."""
    m = kane.load("shopping-cart")
    other = copy.copy(m)
    other.set_speeds({"u1": "v.basket.x", "v": "v.basket.y", "u2": "heading'", "uturn": "heading' + turn'"})
    t = np.linspace(0.0, 2.0, 9)
    one, two = (x.simulate(t, rtol=1e-11, atol=1e-13) for x in (m, other))
    assert np.abs(one.q - two.q).max() <= MOVED
    assert m.suggest_speeds(apply=True).best.definitions  # as the shell writes it to a file
    three = m.simulate(t, rtol=1e-11, atol=1e-13)
    assert np.abs(one.q - three.q).max() <= MOVED
