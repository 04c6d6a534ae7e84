"""Models read from SymPy scripts against SymPy's own equations of motion, evaluated in numbers.

SymPy forms M x' = f over x = (q, u) by a route of its own (symbolic partial velocities and derivatives) and solves it
here numerically. The rolling disc is also held against the numbers published with SymPy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.physics import mechanics
from sympy.physics.mechanics import (
    Force,
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    Particle,
    PinJoint,
    Point,
    PrismaticJoint,
    ReferenceFrame,
    RigidBody,
    System,
    TorqueActuator,
    inertia,
)

import kane
from kane.api import symbolic
from kane.backends import compile

AGREEMENT = 1e-10  # relative to the largest rate: rounding of both routes at generic states
SAMPLES = 4
DISC = json.loads((Path(__file__).parents[1] / "reference" / "rolling_disc.json").read_text(encoding="utf-8"))
Array = np.ndarray[Any, np.dtype[np.float64]]
sp: Any = sympy  # its own annotations say less than is so
dynamicsymbols: Any = mechanics.dynamicsymbols
t = sp.Symbol("t")


@dataclass(frozen=True)
class Script:
    """A SymPy method object and the values of its symbols; `start` closes constraints near a state."""

    method: Any
    values: Mapping[Any, Any]
    start: Mapping[Any, float] | None = None


def rates(model: kane.Model, q: Array, u: Array, time: float = 0.0) -> Array:
    """(q̇, u̇) of a model without efforts."""
    kinematics = compile(model.equations().program("kinematics"))
    takes_time = kinematics.program.inputs[0].name == "t"
    qdot = kinematics(*([time] if takes_time else []), q, u)
    return np.concatenate([qdot, model.forward_dynamics(q, u, np.zeros_like(u), t=time)])


def by_sympy(method: Any, values: Mapping[Any, Any]) -> Callable[..., Array]:
    """(q̇, u̇) as a function of t, q and u by SymPy's own mass matrix and forcing."""
    (method.form_eoms if hasattr(method, "form_eoms") else method.kanes_equations)()
    given = {sp.Symbol(k) if isinstance(k, str) else k: v for k, v in values.items()}
    matrices = [m.doit().subs(given).doit().subs(given) for m in (method.mass_matrix_full, method.forcing_full)]
    states = [list(method.q), list(method.u)]
    evaluated = sp.lambdify([t, *states], matrices, cse=True)

    def solved(time: float, q: Array, u: Array) -> Array:
        M, f = evaluated(time, q, u)
        return np.linalg.solve(np.array(M, dtype=float), np.array(f, dtype=float).ravel())

    return solved


# scripts -------------------------------------------------------------------------------------------------------------


def double_pendulum() -> Script:
    """Two bobs on rods, angles from the vertical, a torque on the first rod."""
    (q1, q2), (u1, u2), torque = dynamicsymbols("q1:3"), dynamicsymbols("u1:3"), dynamicsymbols("T")
    m, l, g = sp.symbols("m l g")
    N = ReferenceFrame("N")
    A, B = N.orientnew("A", "Axis", [q1, N.z]), N.orientnew("B", "Axis", [q2, N.z])
    A.set_ang_vel(N, u1 * N.z)
    B.set_ang_vel(N, u2 * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", l * A.x)
    R = P.locatenew("R", l * B.x)
    P.v2pt_theory(O, N, A)
    R.v2pt_theory(P, N, B)
    loads = [(P, m * g * N.x), (R, m * g * N.x), (A, torque * N.z)]
    method = KanesMethod(
        N,
        [q1, q2],
        [u1, u2],
        [q1.diff(t) - u1, q2.diff(t) - u2],
        bodies=[Particle("first", P, m), Particle("second", R, m)],
        forcelist=loads,
    )
    return Script(method, {m: 1.3, l: 0.7, g: 9.81, torque: 0.4})


def rolling_disc() -> Script:
    """The disc of the published numbers: yaw, lean, spin, place of contact; u1:4 are ω in the disc."""
    q, u, (g, r, m) = dynamicsymbols("q1:6"), dynamicsymbols("u1:6"), sp.symbols("g r m")
    N, L, D = (ReferenceFrame(name) for name in "NLD")
    L.orient_body_fixed(N, (q[0], q[1], 0), "zxy")
    D.orient_axis(L, L.y, q[2])
    turning = D.ang_vel_in(N)
    spin = q[2].diff(t) * L.y
    D.set_ang_vel(N, u[0] * D.x + u[1] * D.y + u[2] * D.z)
    O, C, S = Point("O"), Point("C"), Point("S")
    O.set_vel(N, 0)
    C.set_pos(O, q[3] * N.x + q[4] * N.y)
    C.set_vel(N, u[3] * N.x + u[4] * N.y)
    S.set_pos(C, r * L.z)
    S.set_vel(N, D.ang_vel_in(N).cross(r * L.z))
    disc = RigidBody("disc", S, D, m, (m * r**2 / 4 * inertia(D, 1, 2, 1), S))
    kinematics = [turning.dot(e) - u[i] for i, e in enumerate((D.x, D.y, D.z))]
    kinematics += [q[3].diff(t) - u[3], q[4].diff(t) - u[4]]
    slip = C.vel(N) + spin.cross(-r * L.z)
    method = KanesMethod(
        N,
        q,
        u[:3],
        kinematics,
        u_dependent=u[3:],
        velocity_constraints=[slip.dot(N.x), slip.dot(N.y)],
        bodies=[disc],
        forcelist=[(S, -m * g * N.z)],
    )
    return Script(method, dict(zip((g, r, m), DISC["p"], strict=True)))


def disc_with_auxiliary_speeds() -> Script:
    """A disc without a place, inertia along axes that do not spin, contact forces brought into evidence."""
    (q1, q2, q3), u, contact = dynamicsymbols("q1:4"), dynamicsymbols("u1:7"), dynamicsymbols("f1:4")
    r, m, g = sp.symbols("r m g")
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, u[0] * L.x + u[1] * L.y + u[2] * L.z)
    axes = (L.x, Y.z.cross(L.x), Y.z)
    C = Point("C")
    C.set_vel(N, u[3] * axes[0] + u[4] * axes[1] + u[5] * axes[2])
    S = C.locatenew("S", r * L.z)
    S.v2pt_theory(C, N, R)
    disc = RigidBody("disc", S, R, m, (inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), S))
    force = contact[0] * axes[0] + contact[1] * axes[1] + contact[2] * axes[2]
    method = KanesMethod(
        N,
        [q1, q2, q3],
        u[:3],
        [turning.dot(e) - u[i] for i, e in enumerate((L.x, L.y, L.z))],
        u_auxiliary=u[3:],
        bodies=[disc],
        forcelist=[(S, -m * g * Y.z), (C, force)],
    )
    return Script(method, {r: 0.3, m: 2.0, g: 9.81})


def four_bar() -> Script:
    """Three rods in a chain whose end is held: two configuration constraints and their rates."""
    q, u, l = dynamicsymbols("q1:4"), dynamicsymbols("u1:4"), sp.symbols("l1:5")
    rho, g = sp.symbols("rho g")
    N = ReferenceFrame("N")
    first = Point("P0")
    first.set_vel(N, 0)
    frame, end, bodies, loads = N, first, [], []
    for i in range(3):
        inner, start = frame, end
        frame = ReferenceFrame(f"F{i}")
        frame.orient_axis(inner, inner.z, q[i])
        frame.set_ang_vel(inner, u[i] * N.z)
        end = start.locatenew(f"P{i + 1}", l[i] * frame.x)
        center = start.locatenew(f"S{i}", l[i] / 2 * frame.x)
        end.v2pt_theory(start, N, frame)
        center.v2pt_theory(start, N, frame)
        mass, about = rho * l[i], rho * l[i] ** 3 / 12
        bodies.append(RigidBody(f"rod {i}", center, frame, mass, (inertia(frame, 0, about, about), center)))
        loads.append((center, -mass * g * N.y))
    gap = end.pos_from(first) - l[3] * N.x
    closing = [gap.dot(N.x), gap.dot(N.y)]
    in_speeds = dict(zip([x.diff(t) for x in q], u, strict=True))
    method = KanesMethod(
        N,
        q[:1],
        u[:1],
        [x.diff(t) - w for x, w in zip(q, u, strict=True)],
        q_dependent=q[1:],
        configuration_constraints=closing,
        u_dependent=u[1:],
        velocity_constraints=[e.diff(t).xreplace(in_speeds) for e in closing],
        bodies=bodies,
        forcelist=loads,
    )
    return Script(method, {**dict(zip(l, (0.6, 1.3, 1.2, 2.0), strict=True)), rho: 5.0, g: 9.81}, {q[0]: 0.8})


def cart_pole() -> Script:
    """Joints of a System; the wall it starts from has a mass and inertias that nothing depends on."""
    wall, cart, pole = RigidBody("wall"), RigidBody("cart"), RigidBody("pole")
    system = System.from_newtonian(wall)
    x, angle, v, w = dynamicsymbols("x theta v w")
    l, g, F, b = sp.symbols("l g F b")
    system.add_joints(
        PrismaticJoint("rail", wall, cart, x, v, joint_axis=wall.x),
        PinJoint("hinge", cart, pole, angle, w, joint_axis=cart.z, child_point=l * pole.y),
    )
    system.apply_uniform_gravity(-g * wall.y)
    system.add_loads(Force(cart.masscenter, F * wall.x))
    system.add_actuators(TorqueActuator(-b * w, cart.z, pole, cart))
    values: dict[Any, float] = {"cart_mass": 1.2, "pole_mass": 0.4, l: 0.5, g: 9.81, F: 0.3, b: 0.02}
    for body in ("cart", "pole"):
        values.update({f"{body}_i{ij}": 0.03 if ij[0] == ij[1] else 0.0 for ij in ("xx", "yy", "zz", "xy", "yz", "zx")})
    return Script(system, values)


def moving_plane() -> Script:
    """A particle slides on an inclined plane that is shaken as told: h(t) is given as an expression of time."""
    x, v, h = dynamicsymbols("x v h")
    m, g, slope, a, w, c = sp.symbols("m g alpha a w c")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [slope, N.z])
    O = Point("O")
    O.set_vel(N, 0)
    W = O.locatenew("W", h * N.x)
    W.set_vel(N, h.diff(t) * N.x)
    P = W.locatenew("P", x * A.x)
    P.set_vel(A, v * A.x)
    P.v1pt_theory(W, N, A)
    drag = -c * sp.Piecewise((v, sp.Abs(v) < 2), (2 * sp.sign(v), True)) * A.x
    method = KanesMethod(
        N, [x], [v], [x.diff(t) - v], bodies=[Particle("P", P, m)], forcelist=[(P, -m * g * N.y), (P, drag)]
    )
    return Script(method, {m: 1.1, g: 9.8, slope: 0.3, c: 0.2, a: 0.2, w: 3.0, h: a * sp.sin(w * t)})


def gyro_pendulum() -> Script:
    """A pendulum that carries a wheel; the wheel's frame has an angular velocity and no orientation."""
    (q1,), (u1, u2) = dynamicsymbols("q1:2"), dynamicsymbols("u1:3")
    q3, u3 = dynamicsymbols("q3 u3")
    m, l, J, k, g = sp.symbols("m l J k g")
    N = ReferenceFrame("N")
    B = N.orientnew("B", "Axis", [q3, N.y])
    A = B.orientnew("A", "Axis", [q1, B.z])
    B.set_ang_vel(N, u3 * N.y)
    A.set_ang_vel(B, u1 * B.z)
    W = ReferenceFrame("W")
    W.set_ang_vel(A, u2 * A.x)
    O = Point("O")
    O.set_vel(N, 0)
    S = O.locatenew("S", -l * A.y)
    S.v2pt_theory(O, N, A)
    wheel = RigidBody("wheel", S, W, m, (inertia(A, 2 * J, J, J), S))
    q2 = dynamicsymbols("q2")
    method = KanesMethod(
        N,
        [q1, q2, q3],
        [u1, u2, u3],
        [q1.diff(t) - u1, q2.diff(t) - u2, q3.diff(t) - u3],
        bodies=[wheel],
        forcelist=[(S, -m * g * N.y), (W, -k * u2 * A.x), (A, k * u2 * A.x)],
    )
    return Script(method, {m: 1.5, l: 0.4, J: 0.02, k: 0.01, g: 9.81})


def free_top() -> Script:
    """A body with quaternion coordinates: four coordinates, three speeds along its axes, a force off its centre."""
    e, u = dynamicsymbols("e0:4"), dynamicsymbols("u1:4")
    J = sp.symbols("J1:4")
    m, l, g = sp.symbols("m l g")
    N, B = ReferenceFrame("N"), ReferenceFrame("B")
    B.orient_quaternion(N, e)
    turning = u[0] * B.x + u[1] * B.y + u[2] * B.z
    B.set_ang_vel(N, turning)
    O = Point("O")
    O.set_vel(N, 0)
    S = O.locatenew("S", l * B.z)
    S.v2pt_theory(O, N, B)
    top = RigidBody("top", S, B, m, (inertia(B, *J), S))
    w = (0, *u)
    product = (
        -e[1] * w[1] - e[2] * w[2] - e[3] * w[3],
        e[0] * w[1] + e[2] * w[3] - e[3] * w[2],
        e[0] * w[2] - e[1] * w[3] + e[3] * w[1],
        e[0] * w[3] + e[1] * w[2] - e[2] * w[1],
    )
    kinematics = [x.diff(t) - p / 2 for x, p in zip(e, product, strict=True)]
    method = KanesMethod(N, e, u, kinematics, bodies=[top], forcelist=[(S, -m * g * N.z)])
    return Script(method, {**dict(zip(J, (0.3, 0.25, 0.1), strict=True)), m: 1.2, l: 0.3, g: 9.81})


def sleigh(placed: bool = True) -> Script:
    """A blade under a body: speeds along its axes, the lateral one dependent; with or without coordinates of place."""
    (x, y, yaw), u, (m, J, a) = dynamicsymbols("x y psi"), dynamicsymbols("u1:4"), sp.symbols("m J a")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [yaw, N.z])
    A.set_ang_vel(N, u[0] * N.z)
    O, S = Point("O"), Point("S")
    O.set_vel(N, 0)
    S.set_vel(N, u[1] * A.x + u[2] * A.y)
    kinematics = [yaw.diff(t) - u[0]]
    if placed:
        S.set_pos(O, x * N.x + y * N.y)
        v = x.diff(t) * N.x + y.diff(t) * N.y
        kinematics += [v.dot(A.x) - u[1], v.dot(A.y) - u[2]]
    blade = S.locatenew("blade", -a * A.x)
    blade.v2pt_theory(S, N, A)
    method = KanesMethod(
        N,
        [yaw, x, y] if placed else [yaw],
        u[:2],
        kinematics,
        u_dependent=u[2:],
        velocity_constraints=[blade.vel(N).dot(A.y)],
        bodies=[RigidBody("sleigh", S, A, m, (inertia(A, J, J, J), S))],
    )
    return Script(method, {m: 1.2, J: 0.3, a: 0.4})


def sleigh_without_a_place() -> Script:
    """More speeds than coordinates: two of them have none."""
    return sleigh(placed=False)


SCRIPTS = (
    double_pendulum,
    rolling_disc,
    disc_with_auxiliary_speeds,
    four_bar,
    cart_pole,
    moving_plane,
    gyro_pendulum,
    free_top,
    sleigh,
    sleigh_without_a_place,
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.__name__)
def test_rates_of_coordinates_and_speeds_are_those_of_sympy(script: Callable[[], Script]) -> None:
    given = script()
    model = kane.from_sympy(given.method, values=given.values, initial=given.start)
    theirs = by_sympy(given.method, given.values)
    rng = np.random.default_rng(8)
    for _ in range(SAMPLES):
        time = float(rng.uniform(0.0, 2.0))
        q, u = rng.uniform(-1.0, 1.0, len(model.coordinates)), rng.uniform(-1.0, 1.0, len(model.speeds))
        if model.coordinates[0] == "e0":
            q /= np.linalg.norm(q)
        q, u = model.project(q, u) if model.constraints else (q, u)
        expected = theirs(time, q, u)
        assert np.abs(rates(model, q, u, time) - expected).max() <= AGREEMENT * max(1.0, np.abs(expected).max())


def test_the_rolling_disc_moves_as_published() -> None:
    """Independent speeds are given; dependent ones follow from rolling."""
    given = rolling_disc()
    model = kane.from_sympy(given.method, values=given.values, initial={"q2": 0.1, "q3": 1.0})
    q, u = np.array(DISC["q"]), np.array([*DISC["u"], 0.0, 0.0])
    _, u = model.project(q, u, hold=["u1", "u2", "u3"])
    assert np.allclose(rates(model, q, u), DISC["qdot_udot"], rtol=0, atol=AGREEMENT)


def test_order_names_and_gravity_are_those_of_the_script() -> None:
    given = four_bar()
    model = kane.from_sympy(given.method, values=given.values, initial=given.start, name="linkage")
    assert (model.name, model.route) == ("linkage", "bodies")
    assert model.coordinates == ("q1", "q2", "q3") and model.speeds == ("u1", "u2", "u3")
    assert list(model.parameters) == ["l1", "l2", "l3", "l4", "rho", "g"]
    assert list(model.bodies) == ["rod 0", "rod 1", "rod 2"] and not model.loads
    assert model.gravity == (0.0, -9.81, 0.0)
    assert len(model.row_names) == 2  # the rates of configuration constraints are not taken twice
    q, u = model.initial_state
    assert q[0] == 0.8 and np.abs(model.constraint_rows(q, u).phi).max() < AGREEMENT


@pytest.mark.parametrize("script", [double_pendulum, disc_with_auxiliary_speeds, four_bar, cart_pole, moving_plane])
def test_a_model_from_sympy_obeys_the_laws_by_a_second_route(script: Callable[[], Script]) -> None:
    given = script()
    report = kane.from_sympy(given.method, values=given.values, initial=given.start).check()
    assert report.passed, report


def test_a_script_that_the_second_route_cannot_follow_says_why() -> None:
    given = gyro_pendulum()
    report = kane.from_sympy(given.method, values=given.values).check()
    assert report.passed, report
    assert "how the frames W turn" in report.rows[0].note
    assert [row.name for row in report.rows if row.value is not None][:3] == ["symmetry", "mass", "circle"]


def test_a_script_with_speeds_that_move_no_body_is_checked_by_the_second_route() -> None:
    given = rolling_disc()
    report = kane.from_sympy(given.method, values=given.values).check()
    assert report.passed, report


def test_a_place_that_is_not_told_is_remarked_upon() -> None:
    given = sleigh_without_a_place()
    model = kane.from_sympy(given.method, values=given.values)
    assert [str(remark) for remark in model.mechanism.remarks] == [
        "model 'model' / point 'S': it has a velocity, and no position from a fixed point: its place is not known"
    ]


def test_a_motion_from_sympy_keeps_its_energy() -> None:
    given = four_bar()
    model = kane.from_sympy(given.method, values=given.values, initial=given.start)
    motion = model.simulate((0.0, 2.0), u={"u1": 2.0}, rtol=1e-10, atol=1e-12)
    assert motion.check().passed, motion.check()


# Lagrange ------------------------------------------------------------------------------------------------------------


def by_lagrange(method: Any, values: Mapping[Any, Any], q: Array, u: Array) -> Array:
    """q̈ by SymPy's own Lagrange equations, multipliers solved for too."""
    method.form_lagranges_equations()
    n, states = len(q), {**dict(zip(method.q, q, strict=True)), **values}
    speeds = dict(zip([x.diff(t) for x in method.q], u, strict=True))
    M, f = (m.subs(speeds).subs(states) for m in (method.mass_matrix_full, method.forcing_full))
    return np.linalg.solve(np.array(M, dtype=float), np.array(f, dtype=float).ravel())[n : 2 * n]


def test_a_lagrangian_with_loads_moves_as_in_sympy() -> None:
    x, angle = dynamicsymbols("x theta")
    M, m, l, k, c, g = sp.symbols("M m l k c g")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [angle, N.z])
    O = Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x)
    C.set_vel(N, x.diff(t) * N.x)
    P = C.locatenew("P", -l * A.y)
    P.v2pt_theory(C, N, A)
    cart, bob = Particle("cart", C, M), Particle("bob", P, m)
    cart.potential_energy, bob.potential_energy = k * x**2 / 2, m * g * P.pos_from(O).dot(N.y)
    method = LagrangesMethod(Lagrangian(N, cart, bob), [x, angle], forcelist=[(P, -c * P.vel(N))], frame=N)
    values = {M: 2.0, m: 0.5, l: 0.8, k: 3.0, c: 0.1, g: 9.81}
    model = kane.from_sympy(method, values=values)
    assert model.route == "lagrangian" and model.speeds == ("u_x", "u_theta")
    q, u = np.array([0.3, -0.7]), np.array([0.9, 1.4])
    expected = by_lagrange(method, values, q, u)
    assert np.allclose(model.forward_dynamics(q, u, [0, 0]), expected, rtol=0, atol=AGREEMENT)
    tau = model.inverse_dynamics(q, u, expected)
    assert np.allclose(tau, 0.0, rtol=0, atol=AGREEMENT)
    assert model.simulate((0.0, 3.0), q=q, u=u).check().passed
    with pytest.raises(kane.ModelError, match="does not say where bodies are"):
        model.momentum(q, u)
    report = model.check()
    assert report.passed, report
    assert [row.name for row in report.rows if row.value is None] == []


def test_a_wrong_derivative_of_a_lagrangian_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    angle = dynamicsymbols("theta")
    m, l, g = sp.symbols("m l g")
    L = m * l**2 * angle.diff(t) ** 2 / 2 + m * g * l * sp.cos(angle) + m * l * angle.diff(t) * sp.sin(3 * t)
    model = kane.from_sympy(LagrangesMethod(L, [angle]), values={m: 2.0, l: 0.5, g: 9.81})
    assert model.check().passed, model.check()
    right = symbolic.LagrangianEquations.bias.func
    monkeypatch.setattr(symbolic.LagrangianEquations, "bias", property(lambda self: [1.01 * e for e in right(self)]))
    wrong = kane.from_sympy(LagrangesMethod(L, [angle]), values={m: 2.0, l: 0.5, g: 9.81}).check()
    assert [row.name for row in wrong.rows if not row.passed] == ["efforts"]


def test_a_constrained_lagrangian_moves_as_in_sympy() -> None:
    x, y = dynamicsymbols("x y")
    m, g, l = sp.symbols("m g l")
    L = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 - m * g * y
    method = LagrangesMethod(L, [x, y], hol_coneqs=[x**2 + y**2 - l**2])
    values = {m: 1.5, g: 9.81, l: 2.0}
    model = kane.from_sympy(method, values=values, initial={x: 1.0})
    q, u = model.project(u={"u_x": 0.7})
    assert abs(q[0] - 1.0) < AGREEMENT and abs(np.hypot(*q) - 2.0) < AGREEMENT
    assert np.allclose(model.forward_dynamics(q, u, [0, 0]), by_lagrange(method, values, q, u), rtol=0, atol=AGREEMENT)


def test_a_system_whose_speeds_are_rates_is_read_as_a_lagrangian() -> None:
    wall = RigidBody("wall")
    system: Any = System.from_newtonian(wall)
    q, (m, k, b) = dynamicsymbols("q"), sp.symbols("m k b")
    bob = Particle("bob", mass=m)
    bob.potential_energy = k * q**2 / 2
    system.add_joints(PrismaticJoint("slide", wall, bob, q, q.diff(t)))
    system.add_loads(Force(bob.masscenter, -b * q.diff(t) * system.x))
    system.form_eoms(LagrangesMethod)
    model = kane.from_sympy(system, values={m: 2.0, k: 8.0, b: 0.5})
    assert np.allclose(model.forward_dynamics([0.3], [0.7], [0.0]), -(8.0 * 0.3 + 0.5 * 0.7) / 2.0, atol=AGREEMENT)


def test_a_lagrangian_of_another_form_is_refused() -> None:
    x, (m, c) = dynamicsymbols("x"), sp.symbols("m c")
    method = LagrangesMethod(-m * c**2 * sp.sqrt(1 - x.diff(t) ** 2 / c**2), [x])
    model = kane.from_sympy(method, values={m: 1.0, c: 3.0})
    with pytest.raises(kane.ModelError, match="second degree in the rates"):
        model.forward_dynamics([0.0], [0.1], [0.0])


# given back ----------------------------------------------------------------------------------------------------------


def test_the_mass_matrix_comes_back_in_the_symbols_of_the_script() -> None:
    given = double_pendulum()
    model = kane.from_sympy(given.method, values=given.values, free="all")
    given.method.kanes_equations()
    ours = sp.Matrix(model.equations().to_sympy("mass_matrix").inline()["M"].tolist())
    assert ours.free_symbols | ours.atoms(sp.Function) <= given.method.mass_matrix.atoms(sp.Symbol, sp.Function) | {t}
    difference = sp.nsimplify(ours - given.method.mass_matrix, rational=True)
    assert difference.applyfunc(lambda e: sp.trigsimp(sp.expand(e.expand(trig=True)))) == sp.zeros(2, 2)


def test_the_equations_come_back_with_accelerations_and_efforts() -> None:
    given = double_pendulum()
    model = kane.from_sympy(given.method, values=given.values, free="all")
    fr, frstar = given.method.kanes_equations()
    ours = sp.Matrix(model.equations().to_sympy("inverse_dynamics").inline()["tau"].tolist())
    states = [*given.method.q, *given.method.u, *(u.diff(t) for u in given.method.u)]
    rng = np.random.default_rng(2)
    numbers = {**dict(zip(states[::-1], rng.uniform(-1, 1, 6), strict=True)), **given.values}
    total = (ours + fr + frstar).subs(numbers).evalf()
    assert max(abs(float(e)) for e in total) < AGREEMENT


# values --------------------------------------------------------------------------------------------------------------


def test_free_symbols_stay_inputs() -> None:
    given = double_pendulum()
    model = kane.from_sympy(given.method, values=given.values, free=["l", given.method.forcelist[2][1].args[0][0][2]])
    assert [p.name for p in model.parameters.values() if p.free] == ["l", "T"]
    changed = {**given.values, sp.Symbol("l"): 1.1}
    model.set_parameters(l=1.1)
    q, u = np.array([0.3, 0.8]), np.array([-0.5, 0.2])
    expected = by_sympy(given.method, changed)(0.0, q, u)[2:]
    assert np.allclose(model.forward_dynamics(q, u, [0, 0]), expected, rtol=0, atol=AGREEMENT)


def test_a_value_may_be_a_law_in_coordinates_and_speeds() -> None:
    given = double_pendulum()
    torque = given.method.forcelist[2][1].args[0][0][2]
    q1, u1 = given.method.q[0], given.method.u[0]
    law = {**given.values, torque: -3 * q1 - sp.Rational(1, 2) * u1 + sp.tanh(u1)}
    model = kane.from_sympy(given.method, values=law)
    q, u = np.array([0.3, 0.8]), np.array([-0.5, 0.2])
    assert np.allclose(rates(model, q, u), by_sympy(given.method, law)(0.0, q, u), atol=AGREEMENT)


def test_symbols_without_a_value_are_named_all_at_once() -> None:
    given = double_pendulum()
    with pytest.raises(kane.ModelError, match=r"no value is given for T\(t\), g, l, m\n"):
        kane.from_sympy(given.method, values={})
    with pytest.raises(kane.ModelError, match=r"no value is given for T\(t\), l, m; the script has no 'mass', 'L'\n"):
        kane.from_sympy(given.method, values={"g": 9.81, "mass": 1.0, sp.Symbol("L"): 0.5})


def test_a_reaction_that_does_work_needs_a_value() -> None:
    given = disc_with_auxiliary_speeds()
    R, torque = given.method.bodies[0].frame, dynamicsymbols("drive")
    given.method.kanes_equations(given.method.bodies, [*given.method.forcelist, (R, torque * R.y)])
    with pytest.raises(kane.ModelError, match=r"no value is given for drive\(t\)\n"):
        kane.from_sympy(given.method, values=given.values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {"values": {**s.values, s.method.q[0]: 1.0}}, "give its start in `initial`"),
        (lambda s: {"initial": {"q9": 1.0}}, "`initial` names q9"),
        (lambda s: {"free": ["stiffness"]}, "`free` names stiffness, which is no symbol of the script"),
        (lambda s: {"free": "stiffness"}, "`free` names stiffness, which"),
        (lambda s: {"values": [1.0, 2.0]}, "give a mapping, symbol → value"),
        (lambda s: {"initial": {"q1": sp.Symbol("a")}}, "initial value of q1 is not a number"),
        (lambda s: {"values": {**s.values, sp.Symbol("m"): "1.3"}}, "neither a number nor a SymPy expression"),
        (lambda s: {"values": {**s.values, sp.Symbol("m"): 2 * sp.Symbol("m")}}, "is given by itself: m → m"),
        (lambda s: {"values": {**s.values, sp.Symbol("m"): sp.gamma(sp.Symbol("l"))}}, "'gamma' in gamma\\(l\\)"),
        (lambda s: {"values": {**s.values, sp.Symbol("m"): s.method.u[0].diff(t)}}, "only coordinates, their rates"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(change: Callable[[Script], dict[str, Any]], message: str) -> None:
    given = double_pendulum()
    with pytest.raises(kane.KaneError, match=message):
        kane.from_sympy(given.method, **{"values": given.values, **change(given)})


def test_only_method_objects_are_read() -> None:
    with pytest.raises(kane.InputError, match="cannot be read from Symbol"):
        kane.from_sympy(sp.Symbol("x"))
    q, u = dynamicsymbols("q u")
    empty = KanesMethod(ReferenceFrame("N"), [q], [u], [q.diff(t) - u])
    with pytest.raises(kane.InputError, match="has no bodies yet"):
        kane.from_sympy(empty)


def test_without_sympy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy.physics", None)
    with pytest.raises(kane.InputError, match=r"pip install 'kane\[sympy\]'"):
        kane.from_sympy(object())


def test_an_inertia_that_moves_in_its_body_is_refused() -> None:
    q, u, (m, J) = *dynamicsymbols("q u"), sp.symbols("m J")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    O = Point("O")
    O.set_vel(N, 0)
    body = RigidBody("B", O, A, m, (inertia(N, J, 2 * J, J), O))
    method = KanesMethod(N, [q], [u], [q.diff(t) - u], bodies=[body])
    with pytest.raises(kane.ModelError, match="constant in its frame"):
        kane.from_sympy(method, values={m: 1.0, J: 1.0})


def test_one_weight_at_a_point_that_two_bodies_share_is_no_gravity() -> None:
    """Two particles of one mass at one point, and the weight of one of them: they fall with g / 2."""
    x, v = dynamicsymbols("x v")
    m, g = sp.symbols("m g")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, -x * N.y)
    P.set_vel(N, -v * N.y)
    both = [Particle("one", P, m), Particle("other", P, m)]
    for weights, fall in ((1, 0.5), (2, 1.0)):
        loads = [(P, -m * g * N.y)] * weights
        method = KanesMethod(N, [x], [v], [x.diff() - v], bodies=both, forcelist=loads)
        model = kane.from_sympy(method, values={m: 2.0, g: 9.81})
        assert model.forward_dynamics([0.0], [0.0], [0.0]) == pytest.approx([fall * 9.81], rel=1e-14)


def test_a_start_is_closed_with_what_was_given_or_is_a_guess() -> None:
    """A bead on a circle of 0.5 m: x = 0.3 leaves y = ±0.4; both given off the circle are a guess, and said to be."""
    x, y = dynamicsymbols("x y")
    lagrangian = dynamicsymbols("x", 1) ** 2 / 2 + dynamicsymbols("y", 1) ** 2 / 2
    method = LagrangesMethod(lagrangian, [x, y], hol_coneqs=[x**2 + y**2 - 0.25])
    q, _ = kane.from_sympy(method).initial_state
    assert np.hypot(*q) == pytest.approx(0.5, rel=1e-12)
    q, _ = kane.from_sympy(method, initial={x: 0.3}).initial_state
    assert (q[0], abs(q[1])) == (0.3, pytest.approx(0.4, rel=1e-12))
    guess = kane.from_sympy(method, initial={x: 0.6, y: 0.8})
    assert [r.where for r in guess.mechanism.remarks] == ["model 'model' / initial"]
    assert guess.initial_state[0] == pytest.approx([0.6, 0.8])
    assert guess.project()[0] == pytest.approx([0.3, 0.4], rel=1e-9)


@pytest.mark.parametrize(("k", "critical"), [(0.5, 4.0), (0.25, 3.0)], ids=["hoop", "disc"])
def test_a_wheel_rolls_upright_above_its_critical_spin(k: float, critical: float) -> None:
    """Ω² > g / (4 r) for a hoop and g / (3 r) for a disc, of k m r² about a diameter: g / (2 r (2 k + 1)). Its
    angle stands in the script and matters to nothing."""
    q1, q2, q3, u1, u2, u3 = dynamicsymbols("q1:4 u1:4")
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    w = R.ang_vel_in(N)
    definitions = [w.dot(e) - u for e, u in zip(L, (u1, u2, u3), strict=True)]
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    contact = Point("C")
    contact.set_vel(N, 0)
    radius, mass = 0.5, 2.0
    center = contact.locatenew("D", radius * L.z)
    center.v2pt_theory(contact, N, R)
    I = k * mass * radius**2
    wheel = RigidBody("wheel", center, R, mass, (inertia(L, I, 2 * I, I), center))
    weight = [(center, -mass * 9.81 * N.z)]
    model = kane.from_sympy(KanesMethod(N, [q1, q2, q3], [u1, u2, u3], definitions, bodies=[wheel], forcelist=weight))
    for spin, stable in ((0.99, False), (1.01, True)):
        linear = model.linearize(u={"u2": spin * np.sqrt(9.81 / (critical * radius))}, ignore=True)
        assert linear.running == ()
        assert bool(linear.eigenvalues.real.max() < 1e-6) is stable
    turn = model.trim({"q1": 0.0, "q2": 0.3, "q3": 0.0}, {"u3": 1.0}, unknowns=["u1", "u2"])
    assert turn.converged and abs(turn["u2"]) > 1.0


def test_reactions_of_a_script_are_refused_with_the_body_that_no_joint_holds() -> None:
    given = double_pendulum()
    model = kane.from_sympy(given.method, values=given.values)
    with pytest.raises(kane.ModelError, match=r"body '.*': is attached to a frame and a point"):
        model.reactions([0.1, 0.2], [0.0, 0.0])


def test_weights_along_axes_parallel_to_gravity_are_gravity() -> None:
    """A crane that turns about the vertical: its z axis stays that of N, its x axis does not."""
    import sympy as sp
    from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    m, l, g, t = sp.symbols("m l g t")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q1, N.z])
    B = A.orientnew("B", "Axis", [q2, A.z])
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", l * B.x + q2 * A.z)
    P.set_vel(N, P.pos_from(O).dt(N).subs({q1.diff(t): u1, q2.diff(t): u2}))
    values = {m: 2.0, l: 0.5, g: 9.81}

    def model(weight: Any) -> kane.Model:
        rates = [q1.diff(t) - u1, q2.diff(t) - u2]
        method = KanesMethod(N, [q1, q2], [u1, u2], rates, bodies=[Particle("load", P, m)], forcelist=[(P, weight)])
        return kane.from_sympy(method, values=values)

    along_n = model(-m * g * N.z)
    for weight in (-m * g * A.z, -m * g * B.z, -m * g / 2 * N.z - m * g / 2 * B.z):
        found = model(weight)
        assert found.gravity == (0.0, 0.0, -9.81)
        assert not found.loads
        assert found.energy([0.3, 0.2], [0, 0]).potential == pytest.approx(2.0 * 9.81 * 0.2)
        state = [0.3, 0.2], [0.4, 0.5], [0.0, 0.0]
        np.testing.assert_allclose(found.forward_dynamics(*state), along_n.forward_dynamics(*state), rtol=1e-12)
    assert model(-m * g * A.x).loads  # turns with the crane: no gravity
