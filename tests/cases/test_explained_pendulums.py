"""Explanations of small systems, read back: a double pendulum against SymPy's Kane, a cart and a top against equations
worked by hand, constraints and symbols."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sympy as sp
import sympy.physics.mechanics as me

import kane
from kane import Model
from kane.cli import main
from kane.model import Mechanism, read_mechanism
from seeds import generator
from unit.explain.reading_back import equations, partial_velocities, read, section, with_Z

AGREE = 1e-12


def test_the_double_pendulum_is_that_of_sympy() -> None:
    """F_r and F_r* of two particles, by KanesMethod."""
    q1, q2, u1, u2 = me.dynamicsymbols("q1 q2 u1 u2")
    L1, L2, m1, m2, g = sp.symbols("L1 L2 m1 m2 g")
    N, A, B = me.ReferenceFrame("N"), me.ReferenceFrame("A"), me.ReferenceFrame("B")
    A.orient_axis(N, q1, N.z)
    B.orient_axis(A, q2, N.z)
    A.set_ang_vel(N, u1 * N.z)
    B.set_ang_vel(A, u2 * N.z)
    O, P, Q = me.Point("O"), me.Point("P"), me.Point("Q")
    O.set_vel(N, 0)
    P.set_pos(O, -L1 * A.y)
    Q.set_pos(P, -L2 * B.y)
    P.v2pt_theory(O, N, A)
    Q.v2pt_theory(P, N, B)
    method = me.KanesMethod(N, [q1, q2], [u1, u2], [q1.diff() - u1, q2.diff() - u2])
    particles = [me.Particle("P", P, m1), me.Particle("Q", Q, m2)]
    active, inertia = method.kanes_equations(particles, [(P, -m1 * g * N.y), (Q, -m2 * g * N.y)])
    text = kane.load("double-pendulum").explain(beside=None).to_text()
    rng = generator(4)
    assert active is not None and inertia is not None
    for _ in range(5):
        names: tuple[str, ...] = ("q1", "q2", "u1", "u2", "u1'", "u2'", "L1", "L2", "m1", "m2", "g")
        values: dict[str, float] = dict(zip(names, rng.uniform(0.3, 1.4, len(names)).tolist(), strict=True))
        symbols = {q1: "q1", q2: "q2", u1: "u1", u2: "u2", u1.diff(): "u1'", u2.diff(): "u2'"}
        symbols |= {s: s.name for s in (L1, L2, m1, m2, g)}
        at = {symbol: values[name] for symbol, name in symbols.items()}
        rates = {u1.diff(): values["u1'"], u2.diff(): values["u2'"]}  # before u1, in which they are written
        for title, expected in (("Generalized active", active), ("Generalized inertia", inertia)):
            printed = equations(section(text, title))
            for r, right in enumerate(printed.values()):
                found = read(right, values | {"τ_u1": 0.0, "τ_u2": 0.0})
                assert found == pytest.approx(float(expected[r].subs(rates).subs(at)), rel=1e-11)


def test_the_cart_with_a_pole_is_that_of_the_textbook() -> None:
    """(M + m) ẍ + m L cos q q̈ − m L sin q q̇² = F and 4/3 m L² q̈ + m L cos q ẍ − m g L sin q = τ."""
    told = kane.load("cart-pole").explain(beside=None)
    assert told.equations == (
        "-(M + m) v' - m L cos(q) u' + m L sin(q) u² + τ_v = 0",
        "-m L cos(q) v' - 4/3 m L² u' + m g L sin(q) + τ_u = 0",
    )
    assert partial_velocities(told.to_text()) == {
        "ω(cart)": {"v": "0", "u": "0"},
        "v(cart*)": {"v": "N.x", "u": "0"},
        "ω(pole)": {"v": "0", "u": "-pole.z"},
        "v(pole*)": {"v": "N.x", "u": "L pole.x"},
    }
    assert not told.Z


def test_the_top_has_the_equations_of_euler() -> None:
    """(I + m h²) ω̇x = (I + m h² − J) ωy ωz + weight, and J ω̇z = 0 for a symmetric top."""
    told = kane.load("spinning-top").explain(beside=None)
    values = dict(zip(("It", "Is", "h", "m", "g"), generator(1).uniform(0.2, 2.0, 5).tolist(), strict=True))
    values |= dict(zip(("wx", "wy", "wz", "wx'", "wy'", "wz'"), generator(2).normal(size=6).tolist(), strict=True))
    e = generator(3).normal(size=4)
    e0, e1, e2, e3 = (e / np.linalg.norm(e)).tolist()
    values |= {"e0": e0, "e1": e1, "e2": e2, "e3": e3, "τ_wx": 0.0, "τ_wy": 0.0, "τ_wz": 0.0}
    transverse = values["It"] + values["m"] * values["h"] ** 2
    weight = values["m"] * values["g"] * values["h"]
    up = np.array([2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1)])  # the vertical along the top's x and y
    spin = (transverse - values["Is"]) * values["wz"]
    expected = [
        -transverse * values["wx'"] + spin * values["wy"] + weight * up[1],
        -transverse * values["wy'"] - spin * values["wx"] - weight * up[0],
        -values["Is"] * values["wz'"],
    ]
    found = [read(line.removesuffix(" = 0"), values) for line in told.equations]
    assert found == pytest.approx(expected, rel=AGREE)


def test_the_same_stands_beside_it_with_other_speeds() -> None:
    text = kane.load("double-pendulum").explain().to_text()
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert "The same with other speeds" in titles and titles[-1].startswith("Operations with the speeds above")
    told = kane.load("double-pendulum").explain(beside={"w1": "q1'", "w2": "w.lower.z"})
    assert told.beside is not None
    assert [s.symbol.name for s in told.beside.speeds] == ["w1", "w2"]
    assert told.beside.counts["inverse_dynamics"]["add"] < told.derivation.counts["inverse_dynamics"]["add"]
    assert kane.load("double-pendulum").explain(beside=None).beside is None
    assert kane.load("stanford-arm-kane").explain(beside="rates").beside is not None
    with pytest.raises(kane.InputError, match="is no choice of speeds"):
        kane.load("pendulum").explain(beside="best")


def test_letters_powers_and_the_order_of_products() -> None:
    m = kane.Model("swing", gravity=(0, 0, "-g"))
    for name in ("g", "l", "m", "phi_0"):
        m.parameter(name, 1.5)
    m.particle("bob", "m", center=(0, 0, "-l"))
    m.joint("pin", "revolute", "ground", "bob", axis="y", coordinates=["phi"], speeds=["omega"])
    m.load("spring", kane.Effort("pin", "-l*m*l*(phi - phi_0)"))
    told = m.explain(beside=None)
    assert told.equations == ("-m l² ω' - m g l sin(φ) + m l² (φ_0 - φ) + τ_ω = 0",)
    text = told.to_text()
    assert "φ" in text and "phi" not in text and "l m l" not in text and "m l² ω'" in text
    assert r"\phi" in told.to_latex() and r"\dot{\omega}" in told.to_latex() and "φ" in told.to_html()


def test_forces_that_drop_out_are_named() -> None:
    found = {x.what: x.why for x in kane.load("cart-pole").explain(beside=None).noncontributing_forces}
    assert list(found) == [
        "joint rail, torque, and force across its axis",
        "joint hinge, force, and torque across its axis",
        "weight of cart",
        "weight of pole in F_1",
        "T* of cart",
    ]
    assert "perpendicular to gravity" in found["weight of cart"]
    disc = {x.what: x.why for x in kane.load("rolling-disc").explain(beside=None).noncontributing_forces}
    rolls = next(why for what, why in disc.items() if what.startswith("reaction of road"))
    assert "the point that touches has no velocity" in rolls
    arm = {x.what: x.why for x in kane.load("stanford-arm-kane").explain(beside=None).noncontributing_forces}
    assert "no speed moves its mass centre" in arm["weight of A"]


def test_constraint_rows_and_dependent_speeds_are_those_of_the_model() -> None:
    m = kane.load("four-bar")
    text = m.explain(beside=None).to_text(digits=17)
    q, _ = m.project()
    lines = section(text, "Constraints")
    values = {name: p.value for name, p in m.parameters.items()}
    values |= dict(zip(m.coordinates, q.tolist(), strict=True))
    rng = generator(6)
    speeds = rng.normal(size=len(m.speeds))
    rows = m.constraint_rows(q, speeds)
    for name, row in zip(m.row_names, rows.A, strict=True):
        line = next((x for x in lines if x.endswith(f"[{name}]")), "0 = 0")  # rows that say nothing are in words
        assert line != "0 = 0" or any(x.startswith("rows ") and name in x for x in lines)
        found = read(line.partition(" = 0")[0], values | dict(zip(m.speeds, speeds.tolist(), strict=True)))
        assert found == pytest.approx(float(row @ speeds), abs=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "shopping-cart", "chaplygin-sleigh", "slider-crank"])
def test_the_equations_of_independent_speeds_vanish_in_motion(name: str) -> None:
    """Read back, at the accelerations of the compiled equations with constraints embedded, for any efforts."""
    m = kane.load(name)
    text = m.explain(beside=None).to_text(digits=17)
    rng = generator(8)
    q, u = m.project(None, rng.normal(size=len(m.speeds)))
    tau = rng.normal(size=len(m.speeds))
    udot = m.forward_dynamics(q, u, tau)
    values = {p: record.value for p, record in m.parameters.items()} | dict(zip(m.coordinates, q.tolist(), strict=True))
    for names, numbers in (("{}", u), ("{}'", udot), ("τ_{}", tau)):
        values |= {names.format(s): x for s, x in zip(m.speeds, numbers.tolist(), strict=True)}
    values |= {letter: values[name] for name, letter in (("rho", "ρ"), ("phi", "φ"), ("theta", "θ")) if name in values}
    known = with_Z(text, values)
    lines = section(text, "Equations of motion, for the independent")
    assert len(lines) == m.freedom().degrees
    for line in lines:
        assert read(line.partition(" = 0    [")[0], known) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "name",
    ["cart-pole", "stanford-arm-kane", "rolling-disc", pytest.param("satellite-with-panels", marks=pytest.mark.long)],
)
def test_every_form_is_whole(name: str) -> None:
    """HTML whose elements close, LaTeX whose environments do; nothing of a model becomes markup."""
    told = kane.load(name).explain(beside=None)
    page = told.to_html()
    body = page[page.index("<body>") : page.index("</html>")].replace("&#x2062;", "").replace("&#x2061;", "")
    ET.fromstring(body)
    assert "v<sub>1</sub>(" in body and not re.search(r"\b[vωFD]_[0-9rid]", body), "indices are below the line"
    latex = told.to_latex()
    for environment in ("align*", "array"):
        assert latex.count(rf"\begin{{{environment}}}") == latex.count(rf"\end{{{environment}}}") > 0
    assert latex.count(r"\left(") == latex.count(r"\right)")
    assert told._repr_html_().count("overflow-x: auto") == 1
    assert told._repr_latex_().startswith("$$")
    assert repr(told).startswith("<Explanation of")


LADDER = """
kane: 1
name: ladder
gravity: [0, -g, 0]
parameters: {g: 9.81, m: 1.5, L: 2}
bodies: {rod: {mass: m, inertia: {yy: m*L**2/12, zz: m*L**2/12}}}
joints:
  place: {type: planar, parent: ground, child: rod, coordinates: [x, y, q], speeds: [vx, vy, w]}
constraints:
  floor: {type: point-on-plane, first: ground, second: rod, second_at: [L/2, 0, 0], normal: y}
  wall: {type: point-on-plane, first: ground, second: rod, second_at: [-L/2, 0, 0], normal: x}
initial: {x: 0.5, y: 0.8, q: -1}
"""


def test_a_ladder_has_the_equation_of_the_textbook() -> None:
    """m L² q''/3 = m g (L/2) cos q: dependent speeds and their rates do not occur, whichever was chosen."""
    m = kane.Model.of(read_mechanism(LADDER, "ladder.yaml"))
    lines = section(m.explain(beside=None).to_text(), "Equations of motion, for the independent")
    assert len(lines) == 1
    assert lines[0].strip().startswith("-1/3 m L² w' + 1/2 m g L cos(q) - ")
    assert "vx'" not in lines[0] and "vy'" not in lines[0]
    other = section(m.explain(beside=None, independent=["vx"]).to_text(), "Equations of motion, for the independent")
    assert "vx'" in other[0] and "w'" not in other[0] and "vy'" not in other[0]


@pytest.mark.parametrize("wrong", [["vx", "w"], ["speed"], []])
def test_independent_speeds_that_are_none_are_refused(wrong: list[str]) -> None:
    m = kane.Model.of(read_mechanism(LADDER, "ladder.yaml"))
    with pytest.raises(kane.InputError, match="1 of the speeds vx, vy, w are independent"):
        m.explain(beside=None, independent=wrong)


def test_independent_speeds_without_constraints_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """All speeds are independent then, and a choice among them would say nothing."""
    with pytest.raises(kane.InputError, match="no constraints, all its speeds are independent"):
        kane.load("cart-pole").explain(beside=None, independent=["v"])
    assert main(["explain", "cart-pole", "--independent", "v"]) != 0
    said = capsys.readouterr()
    assert "all its speeds are independent" in said.err and not said.out


def test_a_disk_rolls_by_the_equations_of_kane() -> None:
    """Lean q2, ω along the axes of the lean: 5 u1' = 6 u2 u3 − tan q2 u3² + 4 (g/R) sin q2, 3 u2' = −2 u1 u3 and
    u3' = −2 u1 u2 + tan q2 u1 u3, times mass and radius."""
    disc = Model("disk", gravity=(0, 0, "-g"))
    for name, value in {"g": 9.81, "m": 2.0, "R": 0.3}.items():
        disc.parameter(name, value)
    for name in ("heading", "lean"):
        disc.body(name)
    disc.body("disk", mass="m", inertia={"xx": "m*R**2/4", "yy": "m*R**2/2", "zz": "m*R**2/4"})
    disc.joint("place", "planar", "ground", "heading", coordinates=["x", "y", "q1"])
    disc.joint("leaning", "revolute", "heading", "lean", axis="x", coordinates=["q2"])
    disc.joint("spin", "revolute", "lean", "disk", axis="y", at=(0, 0, "R"), coordinates=["q3"])
    disc.set_speeds({"u1": "w.lean.x", "u2": "q3' + sin(q2)*q1'", "u3": "w.lean.z", "u4": "x'", "u5": "y'"})
    disc.constrain("road", kane.Rolling("disk", radius="R", normal_row=False))
    lines = section(disc.explain(beside=None).to_text(), "Equations of motion, for the independent")
    assert [line.strip().partition(" + τ")[0] for line in lines] == [
        "-5/4 m R² u1' + 3/2 m R² u2 u3 - 1/4 m R² sin(q2) u3²/cos(q2) + m g R sin(q2)",
        "-3/2 m R² u2' - m R² u1 u3",
        "-1/4 m R² u3' - 1/2 m R² u1 u2 + 1/4 m R² sin(q2) u1 u3/cos(q2)",
    ]


def test_letters_with_indices_in_words_are_mathematics_and_two_choices_are_told_apart() -> None:
    """In the sentence on dependent speeds of a linkage, and over the operations of two choices of speeds."""
    latex = kane.load("four-bar").explain(beside=None).to_latex()
    assert "$D_{di}$ being the coefficient of $u_{i}$ in $u_{d}$" in latex
    told = kane.load("double-pendulum").explain(beside={"u1": "q1'", "u2": "q1' + q2'"})
    assert r"\multicolumn{3}{c}{\text{with these}}" in told.to_latex()
    assert '<th colspan="3">with the speeds above</th><th colspan="3">with these</th>' in told.to_html()


def test_a_speed_is_told_both_by_rates_and_by_what_it_measures_however_short_its_definition() -> None:
    """A pendulum that swings by θ about -y of a fork that turns by φ about z: ω = φ' z - θ' y, and z of the fork is
    sin θ x + cos θ z of the pendulum."""
    m = Mechanism("fork")
    m.body("fork")
    m.body("bob", mass=1.0, center=[0, 0, -0.5], inertia={"xx": 0.2, "yy": 0.2, "zz": 0.1})
    m.joint("turn", "revolute", "ground", "fork", coordinates=["phi"], speeds=["a"])
    m.joint("swing", "revolute", "fork", "bob", axis=[0, -1, 0], coordinates=["theta"], speeds=["b"])
    m.set_speeds({"u1": "w.bob.x", "u2": "w.bob.y"})
    lines = section(str(Model.of(m).explain(beside=None)), "Generalized speeds")
    assert lines == ["u1 = sin(θ) φ'    [ω of bob along its x axis]", "u2 = -θ'    [ω of bob along its y axis]"]


def test_the_independent_speeds_of_a_disk_serve_at_every_heading() -> None:
    """x' follows from x' cos(yaw) + y' sin(yaw) = r wy … only: with x' for wy the disk could not head along y."""
    told = kane.load("rolling-disc").explain(beside=None).to_text()
    speeds = [line.partition("[")[2] for line in section(told, "Equations of motion, for the independent")]
    assert [x.strip("]") for x in speeds if x] == ["wx", "wy", "wz"]


def test_what_a_z_stands_for_says_where_after_the_whole_quantity() -> None:
    meanings = re.findall(r"\[(.*where u' = 0)\]", str(kane.load("rolling-disc").explain(beside=None)))
    assert "a(disc*)·P.x, where u' = 0" in meanings
    assert all(text == "where u' = 0" or text.endswith(", where u' = 0") for text in meanings)
