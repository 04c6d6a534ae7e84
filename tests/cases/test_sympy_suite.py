"""Models from the method objects of SymPy's own test-suite, and from scripts that SymPy takes and that are easily
misread, against SymPy's equations in numbers or in closed form."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.physics import mechanics
from sympy.physics.biomechanics import FiberForceLengthPassiveDeGroote2016
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, RigidBody, System, inertia

import kane
from cases.sympy_suite import Numbers, methods_of, names_of_tests, numbers_of
from kane.backends import compile

AGREEMENT = 1e-9  # relative to the largest rate: rounding of both routes at generic states
STATES = 3
QUICK = (
    ("mechanics.tests.test_actuator", "TestForcedMassSpringDamperModel.test_force_acuator"),
    ("mechanics.tests.test_actuator", "TestForcedMassSpringDamperModel.test_linear_spring_linear_damper"),
    ("mechanics.tests.test_jointsmethod", "test_jointsmethod"),
    ("mechanics.tests.test_jointsmethod", "test_rigid_body_particle_compatibility"),
    ("mechanics.tests.test_jointsmethod", "test_two_dof_joints"),
    ("mechanics.tests.test_jointsmethod", "test_simple_pedulum"),
    ("mechanics.tests.test_kane", "test_one_dof"),
    ("mechanics.tests.test_kane", "test_two_dof"),
    ("mechanics.tests.test_kane", "test_pend"),
    ("mechanics.tests.test_kane", "test_parallel_axis"),
    ("mechanics.tests.test_kane", "test_input_format"),
    ("mechanics.tests.test_lagrange", "test_simp_pen"),
)
MODULES = (
    *("actuator", "jointsmethod", "kane", "kane2", "kane3", "kane4", "kane5", "lagrange", "lagrange2"),
    *("linearize", "models", "system_class"),
)
SET_OTHERWISE = {"test_kane.test_aux"}
"""The centre of a rolling disc is given the acceleration of a point that turns about one at rest, which is not the rate
of its velocity; accelerations are derived from velocities here, and the difference is told."""
Array = np.ndarray[Any, np.dtype[np.float64]]
sp: Any = sympy
dynamicsymbols: Any = mechanics.dynamicsymbols
t = sp.Symbol("t")


def model_of(method: Any, values: Mapping[Any, float], rng: np.random.Generator) -> kane.Model:
    """The model, with random values for symbols that SymPy's equations do not depend on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return kane.from_sympy(method, values=values)
        except kane.ModelError as error:
            _, known, more = str(error).partition("no value is given for ")
            if not known:
                raise
        names = more.splitlines()[0].replace("(t)", "").split(", ")
        return kane.from_sympy(method, values={**values, **{n: float(rng.uniform(0.5, 1.5)) for n in names}})


def rates(model: kane.Model, time: float, q: Array, u: Array) -> Array:
    kinematics = compile(model.equations().program("kinematics"))
    given = [time] if kinematics.program.inputs[0].name == "t" else []
    return np.concatenate([kinematics(*given, q, u), model.forward_dynamics(q, u, np.zeros_like(u), t=time)])


def agree(method: Any, seed: int = 5) -> None:
    rng = np.random.default_rng(seed)
    theirs: Numbers = numbers_of(method, rng)
    model = model_of(method, theirs.values, rng)
    for _ in range(STATES):
        q, u = rng.uniform(0.3, 1.0, len(theirs.q)), rng.uniform(-1.0, 1.0, len(theirs.u))
        if model.constraints:
            q, u = model.project(q, u, t=0.3)
        expected = theirs.rates(0.3, q, u)
        assert np.abs(rates(model, 0.3, q, u) - expected).max() <= AGREEMENT * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize(("module", "name"), QUICK, ids=[f"{m.split('_')[-1]}.{n}" for m, n in QUICK])
def test_an_object_of_sympys_tests_moves_as_in_sympy(module: str, name: str) -> None:
    found = methods_of(module, name)
    assert found
    for method in found:
        agree(method)


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES)
def test_all_objects_of_sympys_tests_move_as_in_sympy(module: str) -> None:
    home = f"mechanics.tests.test_{module}"
    for name in names_of_tests(home):
        if f"test_{module}.{name}" not in SET_OTHERWISE:
            for method in methods_of(home, name):
                agree(method)


# scripts that are easily misread -------------------------------------------------------------------------------------


def pendulum(kind: Any = None, name: str = "rod", turning: Any = None) -> tuple[KanesMethod, dict[Any, float]]:
    """A rod about a fixed point, its mass centre at l; by `kind`, or a RigidBody; ω = u, or as given."""
    q, u, (m, l, I, g) = *dynamicsymbols("q u"), sp.symbols("m l I g")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, (u if turning is None else turning(u)) * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", -l * A.y)
    P.set_vel(N, l * u * A.x)
    central = inertia(A, I, I, I)
    if kind is None:
        body = RigidBody(name, P, A, m, (central, P))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            body = kind(name, P, m, A, central)
    method = KanesMethod(N, [q], [u], [q.diff(t) - u], bodies=[body], forcelist=[(P, -m * g * N.y)])
    return method, {m: 3.0, l: 0.5, I: 0.7, g: 9.81}


@pytest.mark.parametrize("kind", [None, mechanics.Body], ids=["RigidBody", "Body"])
def test_a_body_of_either_class_has_its_inertia(kind: Any) -> None:
    """m l² + I = 1.45 kg m²; SymPy's Body is a Particle as well, which has none."""
    method, values = pendulum(kind)
    model = kane.from_sympy(method, values=values)
    assert model.mass_matrix([0.3]) == pytest.approx(np.array([[1.45]]), rel=1e-14)
    assert model.forward_dynamics([0.3], [0.0], [0.0]) == pytest.approx([-3.0 * 9.81 * 0.5 * np.sin(0.3) / 1.45])


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "x" * 400])
def test_a_body_of_any_name_is_read(name: str) -> None:
    method, values = pendulum(name=name)
    model = kane.from_sympy(method, values=values)
    assert len(model.bodies) == 1 and all(n.strip() == n and n for n in model.bodies)
    assert model.mass_matrix([0.3])[0, 0] == pytest.approx(1.45)


def test_an_angular_velocity_that_contradicts_the_orientation_is_told() -> None:
    method, values = pendulum(turning=lambda u: 2 * u)
    with pytest.warns(UserWarning, match="frame 'A': the angular velocity that was set is not the rate"):
        model = kane.from_sympy(method, values=values)
    assert model.mass_matrix([0.3])[0, 0] == pytest.approx(0.75 + 4 * 0.7)  # as SymPy takes it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kane.from_sympy(pendulum()[0], values=values).mechanism.remarks


@pytest.mark.parametrize(
    ("set_otherwise", "message"),
    [
        (lambda P, A, N: P.set_acc(N, 2 * A.y), "point 'P': the acceleration that was set is not the rate"),
        (lambda P, A, N: A.set_ang_acc(N, 2 * N.z), "frame 'A': the angular acceleration that was set is not the rate"),
    ],
    ids=["acceleration", "angular acceleration"],
)
def test_an_acceleration_that_contradicts_the_velocity_is_told(set_otherwise: Any, message: str) -> None:
    method, values = pendulum()
    bodies: Any = method.bodies
    set_otherwise(bodies[0].masscenter, bodies[0].frame, method._inertial)
    with pytest.warns(UserWarning, match=message):
        model = kane.from_sympy(method, values=values)
    assert model.forward_dynamics([0.3], [0.9], [0.0]) == pytest.approx([-3.0 * 9.81 * 0.5 * np.sin(0.3) / 1.45])


def test_an_acceleration_that_is_the_rate_of_the_velocity_is_no_contradiction() -> None:
    """Set by a theorem of SymPy's, or by hand with rates of the speeds."""
    for by_hand in (False, True):
        method, values = pendulum()
        bodies: Any = method.bodies
        P, A, N, u, l = bodies[0].masscenter, bodies[0].frame, method._inertial, dynamicsymbols("u"), sp.Symbol("l")
        if by_hand:
            P.set_acc(N, l * u.diff(t) * A.x + l * u**2 * A.y)
            A.set_ang_acc(N, u.diff(t) * A.z)
        else:
            (O,) = P._pos_dict
            P.a2pt_theory(O, N, A)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kane.from_sympy(method, values=values)


def test_rates_of_speeds_that_are_no_rates_of_coordinates_are_no_contradiction() -> None:
    """u = (2 + cos q) q̇: while u is constant q̇ is not, and the other way round."""
    q, u = dynamicsymbols("q u")
    N, O = ReferenceFrame("N"), Point("O")
    A = N.orientnew("A", "Axis", [q, N.z])
    turning = u / (2 + sp.cos(q))
    A.set_ang_vel(N, turning * N.z)
    A.set_ang_acc(N, turning.diff(t) * N.z)
    O.set_vel(N, 0)
    P = O.locatenew("P", A.x)
    P.set_vel(N, turning * A.y)
    P.set_acc(N, turning.diff(t) * A.y - turning**2 * A.x)
    body = RigidBody("body", P, A, sp.Integer(1), (inertia(A, 1, 1, 1), P))
    method = KanesMethod(N, [q], [u], [u - (2 + sp.cos(q)) * q.diff(t)], bodies=[body], forcelist=[])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kane.from_sympy(method)
    assert model.forward_dynamics([0.3], [0.9], [0.0]) == pytest.approx(
        [-np.sin(0.3) * (0.9 / (2 + np.cos(0.3))) ** 2],
        rel=1e-12,  # q̈ = 0: the kinetic energy is q̇²
    )


def test_the_acceleration_set_in_a_test_of_sympys_is_told() -> None:
    (method, *_) = methods_of("mechanics.tests.test_kane", "test_aux")
    with pytest.warns(UserWarning, match="the acceleration that was set is not the rate of its velocity"):
        kane.from_sympy(method, values=numbers_of(method, np.random.default_rng(5)).values)


def bead(u_aux: bool) -> tuple[KanesMethod, dict[str, Any]]:
    """A bead on a horizontal wire; with an auxiliary speed across it, which brings the reaction R into evidence."""
    x, v, w, (m, g, R) = *dynamicsymbols("x v w"), sp.symbols("m g R")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, x * N.x)
    P.set_vel(N, v * N.x + (w * N.y if u_aux else 0))
    loads = [(P, (R - m * g) * N.y + sp.sin(t) * N.x)]
    options: dict[str, Any] = {"u_auxiliary": [w]} if u_aux else {}
    method = KanesMethod(N, [x], [v], [x.diff(t) - v], bodies=[Particle("bead", P, m)], forcelist=loads, **options)
    return method, {"m": m, "g": g, "R": R}


def test_only_reactions_in_evidence_need_no_value() -> None:
    """Neither mass nor g is a reaction, though the weight does no work; R is one by its auxiliary speed only. Without
    it neither R nor g is in the equations."""
    method, s = bead(u_aux=True)
    with pytest.raises(kane.ModelError, match=r"no value is given for g, m\n"):
        kane.from_sympy(method, values={})
    model = kane.from_sympy(method, values={s["m"]: 2.0, s["g"]: 9.81})
    assert model.forward_dynamics([0.0], [0.0], [0.0], t=0.7) == pytest.approx([np.sin(0.7) / 2.0])
    assert model.reactions([0.0], [0.0], t=0.7)["R"].value == pytest.approx(2.0 * 9.81)
    with pytest.raises(kane.ModelError, match=r"no value is given for m\n"):
        kane.from_sympy(bead(u_aux=False)[0], values={})


def rod_in_a_plane(load: Any = None) -> KanesMethod:
    """A rod that turns about the vertical: of its inertia Izz counts; its weight, the height h, a pull S along the rod
    and a force W on the axis do no work. `load` makes another force of S and the angle, along x."""
    (q, u), (m, l, h, g, S, W) = dynamicsymbols("q u"), sp.symbols("m l h g S W")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", l * A.x + h * N.z)
    P.v2pt_theory(O, N, A)
    about = inertia(A, *sp.symbols("Ixx Iyy Izz Ixy Iyz Ixz"))
    loads = [(P, -m * g * N.z + S * A.x), (O, W * N.x)]
    loads += [] if load is None else [(P, load(S, q) * N.x)]
    rod = RigidBody("rod", P, A, m, (about, P))
    return KanesMethod(N, [q], [u], [q.diff(t) - u], bodies=[rod], forcelist=loads)


def test_only_symbols_in_the_equations_need_values() -> None:
    with pytest.raises(kane.ModelError, match=r"no value is given for Izz, l, m\n"):
        kane.from_sympy(rod_in_a_plane(), values={})
    model = kane.from_sympy(rod_in_a_plane(), values={"m": 2.0, "l": 0.5, "Izz": 1.0})
    assert model.forward_dynamics([0.3], [0.4], [3.0]) == pytest.approx([3.0 / 1.5])
    run = model.simulate(1.0, tau=[3.0])
    assert run.q[-1, 0] == pytest.approx(1.0) and run.work[-1] == pytest.approx(3.0)


def test_nothing_is_computed_from_a_symbol_without_a_value() -> None:
    """The moments of inertia about other axes are asked for by name, until they are known; and then they count."""
    model = kane.from_sympy(rod_in_a_plane(), values={"m": 2.0, "l": 0.5, "Izz": 1.0}, free="all")
    with pytest.raises(kane.KaneError, match=r"'inertia' depends on '.*', which is not among its inputs and has"):
        model.inertia([0.0])
    with pytest.raises(kane.KaneError, match=r"depends on '.*', which is not among its inputs and has no value"):
        model.mass_center([0.0])
    report = {row.name: row for row in model.check().rows}
    assert report["efforts"].value is not None and report["efforts"].passed
    assert report["momentum"].note == "no value is given for Ixz, Iyz, h" and report["momentum"].value is None
    model.set_parameters(h=0.2)
    assert model.mass_center([0.0]) == pytest.approx([0.5, 0.0, 0.2])
    model.set_parameters(Ixx=3.0, Iyy=4.0, Ixy=0.0, Iyz=0.0, Ixz=0.0)
    assert np.diag(model.inertia([0.0])) == pytest.approx([3.0, 4.0, 1.0])
    assert model.forward_dynamics([0.3], [0.4], [3.0]) == pytest.approx([3.0 / 1.5])


@pytest.mark.parametrize(
    "load",
    [
        lambda S, q: S * sp.sin(q),
        lambda S, q: S * sp.Max(0, q - 20),
        lambda S, q: sp.Heaviside(S - 100, 1),
        lambda S, q: 1e-12 * S,
        lambda S, q: 1 / S,
    ],
    ids=["plainly", "behind a threshold", "as a threshold", "a little", "as a divisor"],
)
def test_a_symbol_that_makes_a_difference_anywhere_needs_a_value(load: Any) -> None:
    with pytest.raises(kane.ModelError, match=r"no value is given for S\n"):
        kane.from_sympy(rod_in_a_plane(load), values={"m": 2.0, "l": 0.5, "Izz": 1.0})


def particle_in_a_plane(held: bool) -> KanesMethod:
    """A particle with y = x² as a configuration constraint; `held` by the velocity constraint too, or by y' = 0."""
    x, y, u, v = dynamicsymbols("x y u v")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    return KanesMethod(
        N,
        [x],
        [u],
        [x.diff(t) - u, y.diff(t) - v],
        q_dependent=[y],
        u_dependent=[v],
        configuration_constraints=[y - x**2],
        velocity_constraints=[v - 2 * x * u if held else v],
        bodies=[Particle("bead", P, sp.Integer(1))],
        forcelist=[(P, -9.81 * N.y)],
    )


def test_a_configuration_that_velocities_do_not_hold_is_told() -> None:
    with pytest.warns(UserWarning, match="the rates of 1 do not follow from the velocity constraints"):
        kane.from_sympy(particle_in_a_plane(held=False))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kane.from_sympy(particle_in_a_plane(held=True))
    assert not model.mechanism.remarks and len(model.row_names) == 1


def test_curves_of_muscles_are_read_unevaluated() -> None:
    """A mass pulled by the passive curve of a fibre; the curve is exp(4 (x − 1) / 0.6) − 1 over exp(4) − 1."""
    x, v = dynamicsymbols("x v")
    curve: Any = FiberForceLengthPassiveDeGroote2016
    for pull in (curve.with_defaults(x), sp.UnevaluatedExpr(curve.with_defaults(x)), curve(x, *sp.symbols("a b"))):
        N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
        O.set_vel(N, 0)
        P.set_pos(O, x * N.x)
        P.set_vel(N, v * N.x)
        bodies = [Particle("mass", P, sp.Integer(2))]
        method = KanesMethod(N, [x], [v], [x.diff(t) - v], bodies=bodies, forcelist=[(P, -pull * N.x)])
        model = kane.from_sympy(method, values={"a": 0.6, "b": 4.0} if pull.has(sp.Symbol("a")) else {})
        expected = (np.exp(4.0 * (1.2 - 1.0) / 0.6) - 1.0) / (np.exp(4.0) - 1.0)
        assert model.forward_dynamics([1.2], [0.0], [0.0]) == pytest.approx([-expected / 2.0], rel=1e-12)


def test_a_derivative_that_was_not_worked_out_is_read() -> None:
    """A damper whose force is written as the derivative of a length."""
    x, v = dynamicsymbols("x v")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, x * N.x)
    P.set_vel(N, v * N.x)
    rate = sp.Derivative(sp.sqrt(1 + x**2), t)
    method = KanesMethod(
        N, [x], [v], [x.diff(t) - v], bodies=[Particle("mass", P, sp.Integer(2))], forcelist=[(P, -rate * N.x)]
    )
    model = kane.from_sympy(method)
    assert model.forward_dynamics([0.75], [2.0], [0.0]) == pytest.approx([-0.75 * 2.0 / 1.25 / 2.0], rel=1e-14)


def incomplete(parts: str) -> System:
    q, u = dynamicsymbols("q u")
    system = System()
    if "q" in parts:
        system.add_coordinates(q)
    if "u" in parts:
        system.add_speeds(u)
    if "k" in parts:
        system.add_kdes(u - q.diff(t))
    if "b" in parts:
        system.add_bodies(RigidBody("b"))
    return system


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("", "no coordinates: .*; no bodies: add_bodies"),
        ("q", "no bodies: add_bodies"),
        ("qub", "no kinematic differential equations for its speeds: add_kdes"),
        ("quk", "no bodies"),
        ("qukb", "frame 'b_frame' is not oriented in the inertial frame"),
        ("qb", "does not say how all of its bodies move"),
    ],
)
def test_an_incomplete_system_is_refused_with_what_is_missing(parts: str, message: str) -> None:
    with pytest.raises(kane.InputError, match=message):
        kane.from_sympy(incomplete(parts))
