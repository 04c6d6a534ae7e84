"""Reactions that auxiliary speeds of SymPy scripts bring into evidence, against SymPy's own auxiliary equations, and
against closed forms.

SymPy forms the auxiliary equations symbolically by a route of its own; they are solved here in numbers, with the
accelerations that its own mass matrix and forcing give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.physics import mechanics
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, RigidBody, inertia

import kane

AGREEMENT = 1e-9  # relative to the largest reaction: rounding of both routes, with a solve each
STATES = 3
Array = np.ndarray[Any, np.dtype[np.float64]]
sp: Any = sympy
dynamicsymbols: Any = mechanics.dynamicsymbols
t = sp.Symbol("t")
g, m, l, r = sp.symbols("g m l r")


@dataclass(frozen=True)
class Script:
    """A method with auxiliary speeds, values of its symbols, and those of unknown reactions."""

    method: Any
    values: Mapping[Any, Any]
    unknown: Sequence[Any]


def pendulum() -> Script:
    """A bob on a string; T is its tension."""
    q, u, ua, T = *dynamicsymbols("q u ua"), sp.Symbol("T")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", -l * A.y)
    P.set_vel(N, l * u * A.x + ua * A.y)
    bob = Particle("bob", P, m)
    loads = [(P, -m * g * N.y), (P, T * A.y)]
    method = KanesMethod(N, [q], [u], [q.diff(t) - u], u_auxiliary=[ua], bodies=[bob], forcelist=loads)
    return Script(method, {m: 2.0, l: 0.5, g: 9.81}, [T])


def hoop() -> Script:
    """A bead on a hoop that turns about its vertical diameter by itself: the two forces of the hoop on it."""
    q, u, across, outward, f_across, f_outward, w = *dynamicsymbols("q u a b F G"), sp.Symbol("w")
    N = ReferenceFrame("N")
    H = N.orientnew("H", "Axis", [w * t, N.z])
    B = H.orientnew("B", "Axis", [q, H.y])
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", -r * B.z)
    P.set_vel(N, -r * u * B.x - r * w * sp.sin(q) * H.y + across * H.y + outward * B.z)
    loads = [(P, -m * g * N.z + f_across * H.y + f_outward * B.z)]
    bead = Particle("bead", P, m)
    method = KanesMethod(N, [q], [u], [q.diff(t) - u], u_auxiliary=[across, outward], bodies=[bead], forcelist=loads)
    return Script(method, {m: 0.3, r: 0.4, g: 9.81, w: 5.0}, [f_across, f_outward])


def disc() -> Script:
    """A rolling disc without a place, contact forces along axes that yaw with it."""
    (q1, q2, q3), u, contact = dynamicsymbols("q1:4"), dynamicsymbols("u1:7"), dynamicsymbols("f1:4")
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
    body = RigidBody("disc", S, R, m, (inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), S))
    force = contact[0] * axes[0] + contact[1] * axes[1] + contact[2] * axes[2]
    kinematics = [turning.dot(e) - u[i] for i, e in enumerate((L.x, L.y, L.z))]
    method = KanesMethod(
        N,
        [q1, q2, q3],
        u[:3],
        kinematics,
        u_auxiliary=u[3:],
        bodies=[body],
        forcelist=[(S, -m * g * Y.z), (C, force)],
    )
    return Script(method, {r: 0.3, m: 2.0, g: 9.81}, contact)


def disc_with_dependent_speeds() -> Script:
    """The disc of SymPy's `test_aux_dep`: its centre has speeds of its own, and auxiliary speeds of the point that
    touches stand in the velocity constraints, one of which is the rate of a configuration constraint."""
    q, u, ua, F, (I, J) = (
        dynamicsymbols("q:4"),
        dynamicsymbols("u:6"),
        dynamicsymbols("ua:3"),
        sp.symbols("Fx Fy Fz"),
        sp.symbols("I J"),
    )
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q[0], N.z])
    B = A.orientnew("B", "Axis", [q[1], A.x])
    C = B.orientnew("C", "Axis", [q[2], B.y])
    turning = C.ang_vel_in(N)
    C.set_ang_vel(N, u[0] * B.x + u[1] * B.y + u[2] * B.z)
    P = Point("P")
    P.set_vel(N, ua[0] * A.x + ua[1] * A.y + ua[2] * A.z)
    O = P.locatenew("O", q[3] * A.z + r * sp.sin(q[1]) * A.y)
    O.set_vel(N, u[3] * A.x + u[4] * A.y + u[5] * A.z)
    arm = O.pos_from(P)
    rolling = O.vel(N) - P.vel(N) - C.ang_vel_in(N).cross(arm)
    method = KanesMethod(
        N,
        q[:3],
        u[:3],
        [(turning - C.ang_vel_in(N)).dot(e) for e in B]
        + [(arm.dt(A) + A.ang_vel_in(N).cross(arm) - O.vel(N)).dot(A.z)],
        q_dependent=q[3:],
        configuration_constraints=[(-r * B.z).dot(A.z) - q[3]],
        u_dependent=u[3:],
        velocity_constraints=[rolling.dot(e) for e in A],
        u_auxiliary=ua,
        bodies=[RigidBody("disc", O, C, m, (inertia(B, I, J, I), O))],
        forcelist=[(O, m * g * A.z), (P, F[0] * A.x + F[1] * A.y + F[2] * A.z)],
    )
    return Script(method, {r: 0.3, m: 2.0, g: 9.81, I: 0.05, J: 0.09}, F)


def slider_crank() -> Script:
    """Two rods whose end slides along x; the first pin gives way by auxiliary speeds, and with it the row."""
    q, u, ua, X, Y = dynamicsymbols("q1:3"), dynamicsymbols("u1:3"), dynamicsymbols("ua1:3"), *sp.symbols("X Y")
    N = ReferenceFrame("N")
    base, start = Point("base"), Point("pin")
    base.set_vel(N, 0)
    start.set_pos(base, 0)
    start.set_vel(N, ua[0] * N.x + ua[1] * N.y)
    first, frame, bodies, loads = start, N, [], [(start, X * N.x + Y * N.y)]
    for i, length in enumerate((0.4, 1.0)):
        inner = frame
        frame = ReferenceFrame(f"F{i}")
        frame.orient_axis(inner, inner.z, q[i])
        frame.set_ang_vel(inner, u[i] * N.z)
        center = start.locatenew(f"S{i}", length / 2 * frame.x)
        end = start.locatenew(f"P{i + 1}", length * frame.x)
        center.v2pt_theory(start, N, frame)
        end.v2pt_theory(start, N, frame)
        bodies.append(RigidBody(f"rod {i}", center, frame, m, (inertia(frame, 0, 0, m * length**2 / 12), center)))
        loads.append((center, -m * g * N.y))
        start = end
    method = KanesMethod(
        N,
        q[:1],
        u[:1],
        [x.diff(t) - w for x, w in zip(q, u, strict=True)],
        q_dependent=q[1:],
        configuration_constraints=[start.pos_from(first).dot(N.y)],
        u_dependent=u[1:],
        velocity_constraints=[start.vel(N).dot(N.y)],
        u_auxiliary=ua,
        bodies=bodies,
        forcelist=loads,
    )
    return Script(method, {m: 1.5, g: 9.81}, [X, Y])


def crank_with_a_rate_in_evidence() -> Script:
    """A rod on a slider that an auxiliary speed moves by the kinematic differential equation of its place, x' = v."""
    (x, q), (u, v), F = dynamicsymbols("x q"), dynamicsymbols("u v"), sp.Symbol("F")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    O = Point("O")
    O.set_vel(N, 0)
    S = O.locatenew("S", x * N.x)
    S.set_vel(N, x.diff(t) * N.x)
    P = S.locatenew("P", l * A.x)
    P.v2pt_theory(S, N, A)
    method = KanesMethod(
        N,
        [q, x],
        [u],
        [q.diff(t) - u, x.diff(t) - v],
        u_auxiliary=[v],
        bodies=[Particle("bob", P, m), Particle("slider", S, 2 * m)],
        forcelist=[(P, -m * g * N.y), (S, F * N.x)],
    )
    return Script(method, {m: 1.5, g: 9.81, l: 0.6}, [F])


SCRIPTS = (pendulum, hoop, disc, disc_with_dependent_speeds, slider_crank, crank_with_a_rate_in_evidence)


def by_sympy(script: Script) -> Callable[[Array, Array], Array]:
    """Unknown reactions at a state by SymPy's auxiliary equations."""
    method = script.method
    method.kanes_equations(method.bodies, method.forcelist)
    speeds, rates = list(method.u), [x.diff(t) for x in method.u]
    still = dict.fromkeys([x for a in method._uaux for x in (a.diff(t), a)], 0)
    stand = {x: sp.Dummy() for x in (*rates, *speeds, *method.q)}

    def numbers_of(matrix: Any) -> Any:
        plain = sp.Matrix(matrix).subs(method._qdot_u_map).subs(still).subs(script.values)
        return plain.xreplace(stand)

    q, u, udot = ([stand[x] for x in part] for part in (method.q, speeds, rates))
    motion = sp.lambdify([t, q, u], [numbers_of(method.mass_matrix_full), numbers_of(method.forcing_full)])
    equations = numbers_of(method.auxiliary_eqs)
    evidence = sp.lambdify([t, q, u, udot], sp.linear_eq_to_matrix(equations, list(script.unknown)))

    def reactions(at_q: Array, at_u: Array) -> Array:
        M, f = motion(0.3, at_q, at_u)
        accelerations = np.linalg.solve(np.array(M, float), np.array(f, float).ravel())[len(q) :]
        C, b = evidence(0.3, at_q, at_u, accelerations)
        return np.linalg.solve(np.array(C, float), np.array(b, float).ravel())

    return reactions


@pytest.mark.parametrize("make", SCRIPTS, ids=lambda s: s.__name__)
def test_reactions_in_evidence_are_those_of_sympys_auxiliary_equations(make: Callable[[], Script]) -> None:
    script = make()
    model = kane.from_sympy(script.method, values=script.values)
    names = [str(s).removesuffix("(t)") for s in script.unknown]
    theirs, rng = by_sympy(script), np.random.default_rng(3)
    for _ in range(STATES):
        q, u = rng.uniform(0.3, 1.0, len(model.coordinates)), rng.uniform(-1.0, 1.0, len(model.speeds))
        q, u = model.project(q, u) if model.constraints else (q, u)
        expected = theirs(q, u)
        found = model.reactions(q, u, t=0.3)
        values = np.array([found[name].value for name in names])
        assert np.abs(values - expected).max() <= AGREEMENT * max(1.0, np.abs(expected).max())


def test_the_tension_of_a_string_is_that_of_the_closed_form() -> None:
    """T = m g cos q + m l u², at a state, in a batch, along a motion, and in the symbols of the script."""
    script = pendulum()
    model = kane.from_sympy(script.method, values=script.values, initial={"q": 1.2})
    q, u = np.array([[0.3], [-1.0]]), np.array([[1.2], [0.4]])
    assert model.reactions(q, u)["T"].value == pytest.approx(tension(q, u)[:, 0])
    run = model.simulate(np.linspace(0.0, 1.0, 11))
    assert run["T"] == pytest.approx(tension(run.q, run.u)[:, 0])
    assert run.reactions()["T"].value == pytest.approx(run["T"])
    assert run.evaluate("T**2/l") == pytest.approx(run["T"] ** 2 / 0.5)
    (T,), (angle,), (speed,) = script.unknown, script.method.q, script.method.u
    equations = kane.from_sympy(script.method, values=script.values, free="all").equations()
    back = equations.to_sympy("auxiliary_reactions").inline()[str(T)]
    assert sp.simplify(back - m * g * sp.cos(angle) - m * l * speed**2) == 0


def tension(q: Array, u: Array) -> Array:
    return 2.0 * 9.81 * np.cos(q) + 2.0 * 0.5 * u**2


def test_a_motion_ends_where_its_string_goes_slack() -> None:
    """Thrown upwards from below with u² = 4 g/l a bob would leave its circle at cos q = −2/3 [energy, T = 0]."""
    model = kane.from_sympy(
        pendulum().method, values=pendulum().values, initial={"q": 0.0, "u": np.sqrt(4 * 9.81 / 0.5)}
    )
    run = model.simulate((0.0, 5.0), events={"slack": {"expression": "T", "terminal": True}}, rtol=1e-10, atol=1e-10)
    assert np.cos(run.q[-1, 0]) == pytest.approx(-2.0 / 3.0, abs=1e-7)


def test_efforts_along_speeds_count_where_the_rows_give_way_too() -> None:
    """A torque on the crank and the force at its pin: the whole linkage's momentum along x changes by X alone."""
    script = slider_crank()
    model = kane.from_sympy(script.method, values=script.values)
    q, u = model.project([0.9, -1.2], [1.0, 0.5])
    tau = np.array([3.0, -0.7])
    udot = model.forward_dynamics(q, u, tau)
    h = 1e-5  # of a central difference of the momentum: errors of h² and of rounding/h are both below 1e-8
    p = [np.asarray(model.momentum(*_step(model, q, u, udot, s * h)).linear)[0] for s in (-1.0, 1.0)]
    assert model.reactions(q, u, tau)["X"].value == pytest.approx((p[1] - p[0]) / (2 * h), rel=1e-7)


def _step(model: kane.Model, q: Array, u: Array, udot: Array, h: float) -> tuple[Array, Array]:
    """The state h later, to the second order of q and the first of u."""
    return q + h * u + h * h / 2 * udot, u + h * udot


def test_more_unknowns_than_auxiliary_speeds_determine_are_told() -> None:
    """Two unknown forces along one auxiliary speed: given one of them, the other follows."""
    script = pendulum()
    (P, _), (T,), S = script.method.forcelist[0], script.unknown, sp.Symbol("S")
    axis = script.method.forcelist[1][1] / T
    script.method.kanes_equations(script.method.bodies, [*script.method.forcelist, (P, 3 * S * axis)])
    with pytest.warns(UserWarning, match="the auxiliary speeds do not determine S, T"):
        model = kane.from_sympy(script.method, values=script.values)
    assert model.forward_dynamics([0.3], [0.0], [0.0]) == pytest.approx([-9.81 / 0.5 * np.sin(0.3)])
    with pytest.raises(kane.ModelError):
        model.reactions([0.3], [1.2])
    model = kane.from_sympy(script.method, values={**script.values, S: 1.5})
    assert model.reactions([0.3], [1.2])["T"].value == pytest.approx(tension(np.array(0.3), np.array(1.2)) - 4.5)


def test_what_is_added_to_the_script_is_refused_where_its_reactions_are_asked_for() -> None:
    script = pendulum()
    model = kane.from_sympy(script.method, values=script.values)
    model.load("wind", kane.Force("bob", (1.0, 0.0, 0.0)))
    with pytest.raises(kane.ModelError, match="'wind' was added"):
        model.reactions([0.3], [1.2])


def test_speeds_chosen_later_are_not_taken_for_those_of_the_script() -> None:
    """Twice the rate under the name of the rate: the equations come back with a symbol of their own for it."""
    script = crank_with_a_rate_in_evidence()
    model = kane.from_sympy(script.method, values=script.values)
    (u,) = script.method.u
    assert u in model.equations().to_sympy("kinematics").inline()["qdot"].free_symbols | {model.sympy_symbols["u"]}
    model.set_speeds({"u": "2*u'"})
    assert "u" not in model.sympy_symbols
    with pytest.raises(kane.ModelError, match="other speeds were chosen"):
        model.reactions([0.3, 0.1], [1.2])


def test_reactions_of_a_script_are_drawn_and_printed_with_their_units() -> None:
    script = pendulum()
    run = kane.from_sympy(script.method, values=script.values, initial={"q": 1.2}).simulate(np.linspace(0.0, 1.0, 11))
    assert "T  on P: " in repr(run.reactions()) and repr(run.reactions()).endswith(" N")
    for what in ("T", "reactions"):
        (axes,) = run.plot(what=what).axes
        assert axes.get_title(loc="left") == "T  (N)"
        t, T = axes.lines[0].get_xdata(), axes.lines[0].get_ydata()
        assert np.interp(run.t, t, T) == pytest.approx(run["T"]), "a curve through the samples"
