"""Linearizations, equilibria and steady motions against closed forms, energy, and differences of the motion itself.

Closed forms: pendulum, cart with a pole, rigid body spinning about a principal axis (Euler), disc rolling straight on
(stable where ω² > g/(3 r)) and in a steady turn: m g r sin β + (m r² + I_a) Ω ψ' cos β = I_t ψ'² sin β cos β, with lean
β, yaw rate ψ' and Ω = φ' + ψ' sin β along the axle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import kane
from kane import InputError, Model, ModelError
from kane.analysis import Linearization
from kane.api.answers import Answers, embedding_of
from kane.errors import SingularError
from kane.model import Loop, MotionEquations, Rolling
from kane.model.attitude import unit_quaternions
from laws.trees import Plan, build, plans, rotation
from seeds import FIXED, examples, generator

Array = NDArray[Any]

EXACT = 1e-12
SLOPE = 2e-6  # relative, of differences over STEP, extrapolated, of states on the constraints to 1e-12
STEP = 1e-4
G, MASS, L = 9.81, 0.7, 0.4
CART = 2.0
LOOPS = ("weld", "revolute", "cylindrical", "universal", "spherical")


def pendulum() -> Model:
    model = Model("pendulum", gravity=[0, -G, 0])
    model.parameter("l", L)
    model.particle("bob", MASS, center=[0, "-l", 0])
    model.joint("hinge", "revolute", "ground", "bob", axis="z", coordinates=["q"], speeds=["u"])
    return model


def test_pendulum_hangs_with_its_frequency_and_falls_from_the_top() -> None:
    model = pendulum()
    hanging, inverted = model.linearize([0.0], [0.0]), model.linearize([np.pi], [0.0])
    assert hanging.states == ("q", "u")
    assert np.allclose(hanging.A, [[0, 1], [-G / L, 0]], rtol=EXACT, atol=EXACT)
    assert np.allclose(hanging.B, [[0], [1 / (MASS * L**2)]], rtol=EXACT)
    assert np.allclose(hanging.eigenmodes[0].frequency, np.sqrt(G / L), rtol=EXACT)
    assert np.allclose(inverted.eigenvalues, [-np.sqrt(G / L), np.sqrt(G / L)], rtol=EXACT)
    assert inverted.eigenmodes[0].damping == 1.0 and inverted.eigenmodes[1].damping == -1.0
    assert not inverted.eigenmodes[1].stable


def test_cart_and_pole_on_paper() -> None:
    """x'' = (F + m g δ)/M, θ'' = (F + (M + m) g δ)/(l M) about θ = π."""
    model = Model("cart-pole", gravity=[0, -G, 0])
    model.particle("cart", CART)
    model.particle("bob", MASS, center=[0, -L, 0])
    model.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"], speeds=["v"])
    model.joint("hinge", "revolute", "cart", "bob", axis="z", coordinates=["angle"], speeds=["w"])
    linear = model.linearize(q={"angle": np.pi}, inputs=["v"])
    expected = np.zeros((4, 4))
    expected[:2, 2:] = np.eye(2)
    expected[2, 1], expected[3, 1] = MASS * G / CART, (CART + MASS) * G / (L * CART)
    assert linear.states == ("x", "angle", "v", "w")
    assert linear.ignorable == ("x",)
    assert np.allclose(linear.A, expected, rtol=EXACT, atol=EXACT)
    assert np.allclose(linear.B[:, 0], [0, 0, 1 / CART, 1 / (L * CART)], rtol=EXACT, atol=EXACT)
    shorter = linear.without(linear.ignorable)
    assert shorter.states == ("angle", "v", "w") and "x" not in shorter.outputs
    assert np.allclose(shorter.eigenvalues[[0, -1]], np.sqrt(expected[3, 1]) * np.array([-1, 1]), rtol=EXACT)


def test_outputs_are_names_accelerations_and_expressions() -> None:
    linear = pendulum().linearize([0.3], [2.0], outputs=["q", "l*sin(q)", "u**2", "u'", "l*cos(q)*q'"])
    C = [[1, 0], [L * np.cos(0.3), 0], [0, 4], linear.A[1], [-L * np.sin(0.3) * 2, L * np.cos(0.3)]]
    assert np.allclose(linear.C, C, rtol=EXACT, atol=EXACT)
    assert np.allclose(linear.D[:, 0], [0, 0, 0, linear.B[1, 0], 0], rtol=EXACT, atol=EXACT)


def test_efforts_that_hold_a_state_are_found() -> None:
    model = pendulum()
    held = model.linearize([0.5], [0.0], udot=[0.0])
    assert np.allclose(held.at.tau, MASS * G * L * np.sin(0.5), rtol=EXACT)
    assert np.allclose(held.A[1, 0], -G / L * np.cos(0.5), rtol=EXACT)
    with pytest.raises(InputError, match="efforts along nothing cannot produce this udot"):
        model.linearize([0.5], [0.0], udot=[0.0], inputs=[])


def test_free_parameters_take_effect_without_formulating_again() -> None:
    model = pendulum()
    model.keep_free(["l"])
    assert np.allclose(model.linearize([0.0], [0.0]).A[1, 0], -G / L, rtol=EXACT)
    model.set_parameters(l=2 * L)
    assert np.allclose(model.linearize([0.0], [0.0]).A[1, 0], -G / (2 * L), rtol=EXACT)


def test_the_angle_of_a_trailer_is_not_left_out_with_what_only_follows() -> None:
    """ψ' = −(v/d) ψ + …: no other state depends on ψ, but backwards it jack-knifes; x, y and yaw only follow."""
    axle, v = 3.0, 5.0
    model = Model("tractor")
    model.body("car", mass=9, inertia={"yy": 1, "zz": 1})
    model.joint(
        "place", "planar", "ground", "car", velocity="body", coordinates=["x", "y", "yaw"], speeds=["v", "s", "w"]
    )
    model.body("trailer", mass=4, center=[-axle, 0, 0], inertia={"yy": 1, "zz": 1})
    model.joint("hitch", "revolute", "car", "trailer", axis="z", coordinates=["psi"])
    for name, at in (("car", (0, 0, 0)), ("trailer", (-axle, 0, 0))):
        model.constrain(f"axle of the {name}", kane.KnifeEdge(name, at=at, direction="y"))
    backwards = model.linearize(u={"v": -v, "w": 0.0}, ignore=True)
    assert not {"x", "y", "yaw"} & set(backwards.states)
    assert np.isclose(backwards.eigenvalues.real.max(), v / axle, rtol=EXACT)
    both = model.linearize(u={"v": [v, -v], "w": [0.0, 0.0]}, ignore=True)
    assert both.states == backwards.states
    assert np.allclose(both.eigenvalues.real.max(axis=1), [0.0, v / axle], atol=EXACT)


def test_spinning_body_has_twelve_states_and_the_rates_of_euler() -> None:
    """δθ' = δω − ω × δθ; about axis 3, λ² = ω² (I2 − I3)(I3 − I1)/(I1 I2): unstable where I3 is between."""
    inertia, w = np.array([2.0, 4.0, 3.0]), 1.7
    model = Model("body")
    model.body("body", mass=5, inertia=dict(zip(("xx", "yy", "zz"), inertia.tolist(), strict=True)))
    model.joint("flight", "free", "ground", "body", speeds=["wx", "wy", "wz", "vx", "vy", "vz"])
    half = rotation(generator(3))  # any attitude
    start = np.sqrt(1 + np.trace(half)) / 2
    wxyz = [
        start,
        *(np.array([half[2, 1] - half[1, 2], half[0, 2] - half[2, 0], half[1, 0] - half[0, 1]]) / (4 * start)),
    ]
    linear = model.linearize([*wxyz, 0, 0, 0], [0, 0, w, 0, 0, 0])
    assert linear.states == ("flight.x", "flight.y", "flight.z", *model.coordinates[4:], *model.speeds)
    assert set(linear.ignorable) == set(linear.states[:6])
    cross = np.array([[0, -w, 0], [w, 0, 0], [0, 0, 0]])
    assert np.allclose(linear.A[:3, :3], -cross, atol=EXACT)
    assert np.allclose(linear.A[:3, 6:9], np.eye(3), atol=EXACT)
    squares = np.linalg.eigvals(linear.A[6:9, 6:9]) ** 2
    expected = w**2 * (inertia[1] - inertia[2]) * (inertia[2] - inertia[0]) / (inertia[0] * inertia[1])
    assert np.allclose(np.sort(squares.real), [0, expected, expected], rtol=1e-10, atol=1e-10)
    spun = model.trim(u={"wz": w}, q=[*wxyz, 0, 0, 0])
    assert np.abs(spun.u[:2]).max() <= EXACT and spun["wz"] == w


def test_spherical_pendulum_swings_in_both_planes() -> None:
    model = Model("ball", gravity=[0, 0, -G])
    model.particle("bob", MASS, center=[0, 0, -L])
    model.body("stub", inertia={"xx": 1e-3, "yy": 1e-3, "zz": 1e-3})
    model.joint("ball", "spherical", "ground", "stub")
    model.joint("rod", "weld", "stub", "bob")
    linear = model.linearize()
    assert linear.states[:3] == ("ball.x", "ball.y", "ball.z")
    frequency = np.sqrt(MASS * G * L / (MASS * L**2 + 1e-3))
    assert np.allclose(np.sort(linear.eigenvalues.imag)[[0, 1, -2, -1]] / frequency, [-1, -1, 1, 1], rtol=1e-10)


# the motion itself -------------------------------------------------------------------------------------------------


def slopes(model: Model, linear: Linearization, x: Array) -> tuple[Array, Array, float]:
    """Changes of u̇ and of the states' coordinate rates along states x, by differences of states on the constraints,
    and how far the largest step led off them."""
    at, embedding = linear.at, embedding_of(Answers(model.mechanism))

    def there(h: float) -> tuple[Array, Array, float]:
        moved = h * (linear.shape @ x)
        guess = at.q + moved[: len(at.q)], at.u + moved[len(at.q) :]
        q, u = model.project(unit_quaternions(model.mechanism, guess[0]), guess[1], t=at.t)
        off = max(np.abs(q - guess[0]).max(), np.abs(u - guess[1]).max())
        udot = embedding.accelerations([at.t], q, u, at.tau, model.mechanism.free_values()).udot[0]
        return udot, rates(q, model.qdot(q, u, t=at.t)), off

    def rates(q: Array, qdot: Array) -> Array:
        """Rates of the coordinates among the states; of a quaternion, 2 vec(q0* q) relative to where it was."""
        found, qdot0 = [], model.qdot(at.q, at.u, t=at.t)
        for name in linear.states[: linear.positions]:
            if name in model.coordinates:
                found.append(qdot[model.coordinates.index(name)])
                continue
            joint, _, letter = name.rpartition(".")
            place = [model.coordinates.index(c.name) for c in model.joints[joint].coordinates[:4]]
            turned = relative(qdot0[place], q[place]) + relative(at.q[place], qdot[place])
            found.append(2 * turned["xyz".index(letter)])
        return np.array(found)

    def slope(which: int) -> Array:
        """By central differences over one step and over two, extrapolated."""
        (far_back, back, ahead, far_ahead) = (np.asarray(at_step[which]) for at_step in around)
        return (8 * (ahead - back) - (far_ahead - far_back)) / (12 * STEP)

    around = [there(k * STEP) for k in (-2, -1, 1, 2)]
    return slope(0), slope(1), around[-1][2]


def relative(p: Array, q: Array) -> Array:
    """The vector part of p* q, quaternions wxyz."""
    return p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:])


def assert_slopes(model: Model, linear: Linearization, rng: np.random.Generator) -> None:
    """`linear` shows the accelerations of all speeds, in order."""
    for x in rng.normal(size=(2, len(linear.states))):
        udot, qdot, off = slopes(model, linear, x)
        size = 1.0 + np.abs(linear.C).max() + np.abs(linear.at.udot).max()
        assert np.abs(linear.C @ x - udot).max() <= SLOPE * size
        assert np.abs(linear.A[: linear.positions] @ x - qdot).max() <= SLOPE * size
        assert off <= 1e4 * STEP**2 * size, "directions along the constraints leave them by the square of a step only"


def accelerations(model: Model) -> list[str]:
    return [f"{s}'" for s in model.speeds]


@pytest.mark.parametrize("name", ["four-bar", "rolling-disc", "whipple-bicycle", "slider-crank", "stewart-platform"])
def test_linearization_is_the_slope_of_the_motion(name: str) -> None:
    model = kane.load(name)
    rng = generator(1)
    q0, u0 = model.initial_state
    q, u = model.project(q0 + 0.1 * rng.normal(size=len(q0)), u0 + rng.normal(size=len(u0)))
    linear = model.linearize(q, u, rng.normal(size=len(u)), outputs=accelerations(model))
    assert_slopes(model, linear, rng)


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=3), st.integers(0, 2**32 - 1), st.sampled_from(LOOPS), st.booleans())
def test_linearization_is_the_slope_of_the_motion_in_random_loops(
    plan: Plan, seed: int, kind: str, rolling: bool
) -> None:
    rng = np.random.default_rng(seed)
    model = build(plan)
    n = len(model.speeds)
    q = unit_quaternions(model.mechanism, model.initial_state[0] + rng.uniform(-0.6, 0.6, len(model.coordinates)))
    model.set_initial(dict(zip(model.coordinates, q.tolist(), strict=True)))
    body = str(rng.choice(list(model.bodies)))
    R, p = model.at(body).pose(q)
    place, turn = rng.normal(size=3), rotation(rng)
    model.constrain(
        "loop",
        Loop(
            kind,
            "ground",
            body,
            first_at=place.tolist(),
            second_at=(R.T @ (place - p)).tolist(),
            first_rotation={"matrix": turn.tolist()},
            second_rotation={"matrix": (R.T @ turn).tolist()},
        ),
    )
    if rolling:
        terms = [f"({rng.normal():.4f} + 0.2*sin({rng.choice(model.coordinates)}))*{u}" for u in model.speeds]
        model.constrain("row", MotionEquations(f"{' + '.join(terms)} = 0.3*cos(t)"))
    M = np.atleast_2d(model.mass_matrix(q))
    rows = model.constraint_rows(q, np.zeros(n)).A / np.sqrt(np.diag(M))
    share = np.linalg.svd(rows, compute_uv=False)
    share = share / (share[0] or 1.0)
    assume(np.linalg.cond(M) < 1e6 and not np.any((share > 1e-11) & (share < 1e-2)))
    assume(model.freedom().degrees > 0)
    q, u = model.project(q, 0.3 * rng.normal(size=n))
    assert_slopes(model, model.linearize(q, u, rng.normal(size=n), outputs=accelerations(model)), rng)


# equilibria --------------------------------------------------------------------------------------------------------


def height(model: Model, crank: float) -> float:
    """Potential energy with the crank held there."""
    start = model.equilibrium().q
    q, _ = model.project({**dict(zip(model.coordinates, start.tolist(), strict=True)), "crank": crank}, hold=["crank"])
    return model.energy(q, np.zeros(len(model.speeds))).potential


def test_linkage_rests_where_its_energy_is_stationary_and_swings_by_its_curvature() -> None:
    model = kane.load("four-bar")
    rest = model.equilibrium()
    crank, h = rest["crank"], 1e-3
    V = [height(model, crank + k * h) for k in (-2, -1, 0, 1, 2)]
    slope = (V[0] - 8 * V[1] + 8 * V[3] - V[4]) / (12 * h)
    curvature = (-V[0] + 16 * V[1] - 30 * V[2] + 16 * V[3] - V[4]) / (12 * h**2)
    assert rest.converged and abs(slope) <= 1e-9
    linear = model.linearize(rest.q, rest.u, independent=["crank", "w1"])
    u = linear.shape[len(model.coordinates) :, 1]  # all speeds at unit w1
    mass = 2 * model.energy(rest.q, u).kinetic
    assert linear.states == ("crank", "w1")
    assert np.allclose(linear.A[1, 0], -curvature / mass, rtol=1e-7)


def test_torque_that_holds_a_crank_is_the_slope_of_the_energy() -> None:
    model = kane.load("four-bar")
    held = model.equilibrium(q={"crank": 1.0}, efforts=["w1"])
    h = 1e-3
    V = [height(model, 1.0 + k * h) for k in (-2, -1, 1, 2)]
    assert np.allclose(held["tau_w1"], (V[0] - 8 * V[1] + 8 * V[2] - V[3]) / (12 * h), rtol=1e-9)
    assert np.abs(model.forward_dynamics(held.q, held.u, held.tau)).max() <= 1e-9


def test_no_equilibrium_is_refused_with_what_is_missing() -> None:
    model = kane.load("four-bar")
    with pytest.raises(ModelError, match=r"no steady motion found .* effort along w1"):
        model.equilibrium(q={"crank": 1.0})
    ended = model.equilibrium(q={"crank": 1.0}, strict=False)
    assert not ended.converged and ended["crank"] == 1.0


# the disc ----------------------------------------------------------------------------------------------------------

R, LEAN = 0.26, 0.3


def test_disc_turns_steadily_as_on_paper() -> None:
    model = kane.load("rolling-disc")
    for turning in (0.5, 1.5, -2.0):
        found = model.trim(
            {"lean": LEAN, "yaw": 0.0, "spin": 0.0, "x": 0.0, "y": 0.0},
            {"wz": turning * np.cos(LEAN)},
            steady=["lean", "yaw'", "spin'"],
        )
        yaw, lean, spin = model.qdot(found.q, found.u)[:3]
        along = spin + yaw * np.sin(LEAN)
        balance = G / R * np.sin(LEAN) + 1.5 * along * yaw * np.cos(LEAN)
        assert np.allclose(yaw, turning, rtol=EXACT) and abs(lean) <= EXACT
        assert np.allclose(balance, 0.25 * yaw**2 * np.sin(LEAN) * np.cos(LEAN), rtol=1e-10)
        run = model.simulate((0.0, 2.0), q=found.q, u=found.u, rtol=1e-11, atol=1e-13)
        assert np.abs(run.q[:, model.coordinates.index("lean")] - LEAN).max() <= 1e-7


@pytest.mark.parametrize("spin", [0.0, 2.0, 3.0, 4.0, 8.0])
def test_disc_rolls_upright_above_its_critical_spin(spin: float) -> None:
    """λ² = (g/r − 3 ω²)/(5/4), both lean and its rate; stable where ω² > g/(3 r). With speeds along axes that spin the
    same motion is steady to the eye only, and is said to be so."""
    model = Model("disc", gravity=[0, 0, -G])
    model.body("heading")
    model.body("plane")
    model.body("disc", mass=MASS, inertia={"xx": MASS * R**2 / 4, "yy": MASS * R**2 / 2, "zz": MASS * R**2 / 4})
    model.joint("place", "planar", "ground", "heading", velocity="body", coordinates=["x", "y", "yaw"])
    model.joint("lean", "revolute", "heading", "plane", axis="x", coordinates=["lean"], speeds=["ulean"])
    model.joint("spin", "revolute", "plane", "disc", axis="y", at=[0, 0, R], coordinates=["spin"], speeds=["uspin"])
    model.constrain("road", Rolling("disc", radius=R, axis="y", normal_row=False))
    linear = model.linearize(u={"uspin": spin}, independent=["lean", "ulean"], ignore=True)
    assert linear.running == ()
    spinning = kane.load("rolling-disc").linearize({"lean": 0.0}, {"wx": 0.0, "wz": 0.0, "wy": spin, "vx": spin * R})
    assert spinning.running == (("spin",) if spin else ())
    squares = linear.eigenvalues**2
    expected = (G / R - 3 * spin**2) / 1.25
    assert np.abs(squares - expected).min() <= 1e-9 * abs(expected)
    assert (linear.eigenvalues.real.max() < 1e-6) == (spin**2 > G / (3 * R))


# names -------------------------------------------------------------------------------------------------------------


def test_states_are_the_ones_that_are_named() -> None:
    """In equilibrium eigenvalues do not depend on the choice."""
    model = kane.load("four-bar")
    rest = model.equilibrium()
    usual = model.linearize(rest.q, rest.u).eigenvalues
    for coordinate, speed in zip(model.coordinates, model.speeds, strict=True):
        linear = model.linearize(rest.q, rest.u, independent=[coordinate, speed])
        assert linear.states == (coordinate, speed)
        assert np.allclose(linear.eigenvalues, usual, rtol=1e-9)


def test_names_that_cannot_be_states_are_refused() -> None:
    model = kane.load("four-bar")
    with pytest.raises(InputError, match="crank, rocker cannot be independent together"):
        model.linearize(independent=["crank", "rocker"])
    with pytest.raises(InputError, match="unknown coordinate or speed 'krank'"):
        model.linearize(independent=["krank"])
    with pytest.raises(InputError, match="unknown speed 'crank'"):
        model.linearize(inputs=["crank"])
    with pytest.raises(InputError, match="'crank' cannot be left out: the rates of w1 depend on it"):
        model.linearize(independent=["crank", "w1"], ignore=["crank"])
    with pytest.raises(InputError, match="give the efforts tau or the accelerations udot"):
        model.linearize(tau={"w1": 1.0}, udot={"w1": 0.0})


@pytest.mark.parametrize("crank", [0.0, 1e-6])
def test_singular_positions_are_refused(crank: float) -> None:
    """Where all bars of a parallelogram lie in line it may go on as one, or fold."""
    model = kane.load("parallelogram")
    with pytest.raises(SingularError, match="the constraints lose rank"):
        model.linearize([crank, -crank, crank], [1.0, -1.0, 1.0])


def test_every_mode_satisfies_its_equation_and_prints() -> None:
    linear = kane.load("double-pendulum").linearize()
    for eigenmode in linear.eigenmodes:
        v = np.array(list(eigenmode.states.values()))
        assert np.abs(linear.A @ v - eigenmode.eigenvalue * v).max() <= 1e-12 * np.abs(linear.A).max()
        assert max(abs(eigenmode.shape[name]) for name in linear.states[: linear.positions]) == pytest.approx(1.0)
    assert "2 inputs" in str(linear) and str(linear).count("±") == 2
