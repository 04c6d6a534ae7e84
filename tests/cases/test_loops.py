"""Closed loops: the built-in linkages against closed forms, published figures, conservation laws, Newton's equations.

A mechanism with one degree of freedom whose geometry is that of the closed form and whose energy is constant moves as
it must, so that the two together test its dynamics. Sources: problems A02 and A04 of the IFToMM library of benchmark
problems for multibody systems; Mazzia & Magherini, Test Set for Initial Value Problem Solvers, problem Andrews.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cases.planar import planar_accelerations
from kane import Model, Trajectory, load
from kane.analysis.programs import Array
from kane.errors import ModelError
from kane.model import ConfigurationEquations, Loop, read_mechanism
from kane.model.mechanisms import n_four_bar

ROUNDING = 1e-12  # closed forms compared with each other
PLACED = 1e-10  # rad, m, m/s: a configuration is closed to 1e-12 m, seen over links of 0.05 m and more
ACCELERATION = 1e-10  # two formulations of one motion, relative to the largest acceleration
MOTION = 1e-7  # a motion of several turns at rtol 1e-10, rad
PASSING = 2e-7  # the same through singular positions, where rounding is amplified
GAP = 1e-11  # m, of a loop along a motion
ENERGY = 1e-9  # span of the total energy, relative to its size
SINGULAR_ENERGY = 1e-8  # the same where many loops are flat at once
TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
G = 9.81


def at(model: Model, **q: float) -> tuple[Array, Array]:
    """The closed configuration with the given coordinates, at rest."""
    return model.project(q, np.zeros(len(model.speeds)), hold=q)


def moving(model: Model, q: Array, **u: float) -> Array:
    """The speeds at q with those given kept."""
    return model.project(q, dict.fromkeys(model.speeds, 0.0) | u, hold=u)[1]


def multipliers(model: Model, q: Array, u: Array, udot: Array, tau: Array, t: float = 0.0) -> dict[str, float]:
    """λ of every row by name, least in norm, from M udot + bias = tau + Aᵀ λ."""
    A = model.constraint_rows(q, u, t=t).A
    pull = model.mass_matrix(q, t=t) @ udot + model.bias(q, u, t=t) - tau
    values, *_ = np.linalg.lstsq(A.T, pull, rcond=1e-12)
    return dict(zip(model.row_names, values.tolist(), strict=True))


def gap(run: Trajectory) -> float:
    """Largest residual (m or none) of all constraints at the steps of a motion."""
    return float(np.abs(run.model.constraint_rows(run.q, run.u, t=run.t[:, None]).phi).max())


def energy_span(run: Trajectory) -> float:
    """Span of T + V, relative to its largest size."""
    total = run.energy().kinetic + run.energy().potential
    return float(np.ptp(total) / np.abs(total).max())


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "n-four-bar", "five-bar"])
def test_accelerations_are_newton_s_in_absolute_coordinates(name: str) -> None:
    model = load(name)
    rng = np.random.default_rng(5)
    start = model.initial_state[0]
    for _ in range(20):
        q, u = model.project(start + rng.uniform(-0.3, 0.3, len(start)), rng.normal(size=len(model.speeds)) * 4)
        tau = rng.normal(size=len(model.speeds))
        expected = planar_accelerations(model, q, u, tau)
        found = model.forward_dynamics(q, u, tau)
        assert np.abs(found - expected).max() <= ACCELERATION * (1.0 + np.abs(expected).max())


# four-bar ------------------------------------------------------------------------------------------------------------


def sizes(model: Model, *names: str) -> list[float]:
    return [model.parameters[name].value for name in names]


def follower(crank: float, a: float, b: float, c: float, d: float) -> float:
    """Angle of the rocker by Freudenstein's equation K1 cos ψ − K2 cos φ + K3 = cos(φ − ψ), the open branch."""
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    A = math.cos(crank) - k1 - k2 * math.cos(crank) + k3
    B = -2 * math.sin(crank)
    C = k1 - (k2 + 1) * math.cos(crank) + k3
    return 2 * math.atan2(-B - math.sqrt(B * B - 4 * A * C), 2 * A)


def test_the_rocker_follows_freudenstein_s_equation_all_around() -> None:
    model = load("four-bar")
    a, b, c, d = sizes(model, "a", "b", "c", "d")
    q = model.initial_state[0]
    for crank in np.linspace(q[0], q[0] + 2 * math.pi, 37):
        q = model.project({**dict(zip(model.coordinates, q, strict=True)), "crank": crank}, hold=["crank"])[0]
        rocker = follower(crank, a, b, c, d)
        assert abs(math.remainder(q[2] - rocker, 2 * math.pi)) <= PLACED
        over = q[0] + q[1]
        speeds = moving(model, q, w1=3.0)
        assert speeds[0] == pytest.approx(3.0, abs=PLACED)
        ratio = a / math.sin(rocker - over)
        assert speeds[2] == pytest.approx(3.0 * ratio * math.sin(crank - over) / c, abs=10 * PLACED)
        assert speeds[0] + speeds[1] == pytest.approx(3.0 * ratio * math.sin(crank - rocker) / b, abs=10 * PLACED)


def test_the_plane_alone_meets_three_rows_of_the_four_bar_s_pin() -> None:
    free = load("four-bar").freedom()
    assert (free.degrees, free.rank, free.redundant) == (1, 2, ("pin.z", "pin.rx", "pin.ry"))


def test_the_four_bar_keeps_its_energy() -> None:
    run = load("four-bar").simulate((0.0, 10.0), **TIGHT)
    assert run.outcome.success and energy_span(run) <= ENERGY and gap(run) <= GAP


def turning(inertia: float, weight: float, start: tuple[float, float], t: float) -> tuple[float, float]:
    """Angle and rate of an upright pendulum, inertia θ̈ = weight sin θ, after t."""
    rule = lambda _, y: [y[1], weight / inertia * math.sin(y[0])]  # noqa: E731
    y = solve_ivp(rule, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return float(y[0]), float(y[1])


def test_a_parallelogram_goes_through_its_flat_position_again_and_again() -> None:
    model = load("parallelogram")
    a, b, rho, w = sizes(model, "a", "b", "rho", "w")
    flat = {"flat": {"expression": "sin(crank)"}}
    run = model.simulate((0.0, 10.0), **TIGHT, events=flat)
    assert run.outcome.success and len(run.events[0].t) > 40
    assert gap(run) <= GAP and energy_span(run) <= ENERGY
    # all bars but the coupler turn with the crank, the coupler is carried along: one pendulum
    inertia = rho * (2 * a**3 / 3 + b * a**2)
    angle, rate = turning(inertia, G * rho * (a * a + b * a), (run.q[0, 0] - math.pi / 2, w), 10.0)
    assert run.q[-1, 0] - math.pi / 2 == pytest.approx(angle, abs=PASSING)
    assert run.u[-1, 0] == pytest.approx(rate, abs=10 * PASSING)
    np.testing.assert_allclose(run.q[:, 2], run.q[:, 0], atol=PASSING)
    np.testing.assert_allclose(run.q[:, 1], -run.q[:, 0], atol=PASSING)


# slider-crank --------------------------------------------------------------------------------------------------------


def piston(theta: Array, r: float, l: float) -> tuple[Array, Array, Array]:
    """Place s of the piston and its first and second derivatives with respect to the angle of the crank."""
    root = np.sqrt(l * l - (r * np.sin(theta)) ** 2)
    slope = -r * r * np.sin(theta) * np.cos(theta) / root
    bend = -r * r * np.cos(2 * theta) / root - slope**2 / root
    return r * np.cos(theta) + root, -r * np.sin(theta) + slope, -r * np.cos(theta) + bend


def test_the_piston_is_where_geometry_puts_it() -> None:
    model = load("slider-crank")
    r, l = sizes(model, "r", "l")
    for theta in np.linspace(-3.0, 3.0, 25):
        s, slope, _ = piston(np.array(theta), r, l)
        guess = {"theta": theta, "phi": -theta, "s": l}
        q, _ = model.project(guess, hold=["theta"])
        assert q[2] == pytest.approx(float(s), abs=PLACED)
        assert moving(model, q, w=7.0)[2] == pytest.approx(7.0 * float(slope), abs=10 * PLACED)


def crank_torque(model: Model, theta: Array, w: float) -> Array:
    """Torque on a crank that turns with constant rate w: the power of all masses, inertias and weights over w."""
    r, l, m1, m2, m3 = sizes(model, "r", "l", "m1", "m2", "m3")
    _, slope, bend = piston(theta, r, l)
    tilt = np.arcsin(r * np.sin(theta) / l)  # of the rod, below x
    tilting = r * np.cos(theta) / (l * np.cos(tilt))
    bending = (-r * np.sin(theta) + l * np.sin(tilt) * tilting**2) / (l * np.cos(tilt))
    x, y = -r * np.sin(theta) - l / 2 * np.sin(tilt) * tilting, r / 2 * np.cos(theta)
    ax = -r * np.cos(theta) - l / 2 * (np.cos(tilt) * tilting**2 + np.sin(tilt) * bending)
    ay = -r / 2 * np.sin(theta)
    inertia = m2 * (x * ax + y * ay) + m2 * l * l / 12 * tilting * bending + m3 * slope * bend
    return w * w * inertia + G * (m1 * r / 2 * np.cos(theta) + m2 * y)


def test_a_crank_driven_at_constant_speed_needs_the_torque_of_the_closed_form() -> None:
    w = 40.0
    model = load("slider-crank")
    r, l = sizes(model, "r", "l")
    model.constrain("drive", ConfigurationEquations(f"theta = {w}*t"))
    run = model.simulate(np.linspace(0.0, 0.5, 41), **TIGHT)
    assert run.outcome.success
    np.testing.assert_allclose(run.q[:, 0], w * run.t, atol=PLACED)
    np.testing.assert_allclose(run.q[:, 2], piston(w * run.t, r, l)[0], atol=1e-10)
    np.testing.assert_allclose(run.u[:, 2], w * piston(w * run.t, r, l)[1], atol=1e-8)
    expected = crank_torque(model, w * run.t, w)
    for t, q, u, torque in zip(run.t, run.q, run.u, expected, strict=True):
        udot = model.forward_dynamics(q, u, np.zeros(3), t=t)
        drive = multipliers(model, q, u, udot, np.zeros(3), t)["drive"]
        assert drive == pytest.approx(torque, abs=1e-8 * np.abs(expected).max())


def test_a_prescribed_crank_moves_the_piston_alike() -> None:
    r, l = sizes(load("slider-crank"), "r", "l")
    driven = Model("driven", gravity=[0, -G, 0])
    driven.body("crank", mass=0.6, center=(r / 2, 0, 0), inertia={"yy": 1e-4, "zz": 1e-4})
    driven.body("rod", mass=0.5, center=(l / 2, 0, 0), inertia={"yy": 1e-3, "zz": 1e-3})
    driven.body("piston", mass=0.4)
    driven.joint("crank", "revolute", "ground", "crank", prescribed=["40*t + 0.5*sin(9*t)"])
    driven.joint("rod", "revolute", "crank", "rod", at=(r, 0, 0), coordinates=["phi"])
    driven.joint("guide", "prismatic", "ground", "piston", axis="x", coordinates=["s"], initial=[r + l])
    driven.constrain("wrist", Loop("revolute", "rod", "piston", first_at=(l, 0, 0)))
    assert driven.freedom().degrees == 0
    run = driven.simulate(np.linspace(0.0, 0.5, 41), **TIGHT)
    theta, rate = 40 * run.t + 0.5 * np.sin(9 * run.t), 40 + 4.5 * np.cos(9 * run.t)
    np.testing.assert_allclose(run.q[:, 1], piston(theta, r, l)[0], atol=1e-10)
    np.testing.assert_allclose(run.u[:, 1], rate * piston(theta, r, l)[1], atol=1e-8)


# N four-bars ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 10, 40])
def test_n_four_bars_go_through_their_flat_position(n: int) -> None:
    model = Model.of(n_four_bar(n))
    run = model.simulate((0.0, 10.0), **TIGHT)
    assert run.outcome.success
    assert gap(run) <= GAP and energy_span(run) <= SINGULAR_ENERGY
    # bars turn together and carry the couplers: one pendulum of n + 1 bars and n couplers
    angle, rate = turning((n + 1) / 3 + n, G * ((n + 1) / 2 + n), (0.0, 1.0), 10.0)
    bars = [k for k, name in enumerate(model.coordinates) if name.startswith("q")]
    np.testing.assert_allclose(run.q[-1][bars], angle, atol=PASSING)
    np.testing.assert_allclose(run.u[-1][bars], rate, atol=10 * PASSING)
    flat = [s.degrees for s in run.singularities]
    assert flat == [n + 1] * round(angle / math.pi), (
        "every passage of the flat position is told, with what is free there"
    )


@pytest.mark.parametrize("n", [1, 3, 8])
def test_n_four_bars_have_one_degree_of_freedom_and_n_more_where_they_are_flat(n: int) -> None:
    model = Model.of(n_four_bar(n))
    assert model.freedom().degrees == 1
    flat = dict.fromkeys(model.coordinates, -math.pi / 2) | {f"q{k}": math.pi / 2 for k in range(n + 1)}
    assert model.freedom([flat[name] for name in model.coordinates]).degrees == n + 1


def test_the_file_and_the_builder_describe_the_same_two_four_bars() -> None:
    file, built = load("n-four-bar"), Model.of(n_four_bar(2))
    assert (file.coordinates, file.speeds, file.row_names) == (built.coordinates, built.speeds, built.row_names)
    np.testing.assert_array_equal(np.concatenate(file.initial_state), np.concatenate(built.initial_state))
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, u = file.project(rng.normal(size=5) * 0.3, rng.normal(size=5))
        tau = rng.normal(size=5)
        found, expected = built.forward_dynamics(q, u, tau), file.forward_dynamics(q, u, tau)
        np.testing.assert_allclose(found, expected, atol=ACCELERATION)


@pytest.mark.parametrize("n", [0, -3, 100_000])
def test_a_row_of_no_four_bars_or_too_many_is_refused(n: int) -> None:
    with pytest.raises(ModelError, match=f"n = {n}"):
        n_four_bar(n)


# Andrews' squeezing mechanism ----------------------------------------------------------------------------------------

SQUEEZER_END = (
    np.array(  # at t = 0.03 s: angles, rates and forces of the loops as published, computed with tolerance 1e-14
        [
            [0.1581077119629904e2, 0.1139920302151208e4],
            [-0.1575637105984298e2, -0.1424379294994111e4],
            [0.4082224013073101e-1, 0.1103291221937134e2],
            [-0.5347301163226948, 0.1929337464421385e2],
            [0.5244099658805304, 0.5735699284790808],
            [0.5347301163226948, -0.1929337464421385e2],
            [0.1048080741042263e1, 0.3231791658026955],
        ]
    )
)
SQUEEZER_FORCES = {  # N, in the pin that closes the loops, at the same time
    "E3.x": 0.1991753333731910e3,
    "E3.y": -0.2975531228015052e2,
    "E4.x": 0.2306654119098399e2,
    "E4.y": 0.3145271365475927e2,
    "E6.x": 0.2264249232082739e2,
    "E6.y": 0.1161740700019673e2,
}
DIGITS = 1e-8  # eight digits of every angle; rates vary by 1e5 times as much per second
FORCES = 1e-5  # they take the accelerations of angles that turn with 1000 rad/s


def test_andrews_squeezer_ends_where_the_test_set_says() -> None:
    model = load("andrews-squeezer")
    assert model.coordinates == ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
    run = model.simulate((0.0, 0.03), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.q[-1], SQUEEZER_END[:, 0], rtol=DIGITS)
    np.testing.assert_allclose(run.u[-1], SQUEEZER_END[:, 1], rtol=1e2 * DIGITS)
    udot = model.forward_dynamics(run.q[-1], run.u[-1], np.zeros(7))
    found = multipliers(model, run.q[-1], run.u[-1], udot, np.zeros(7))
    for name, force in SQUEEZER_FORCES.items():
        assert found[name] == pytest.approx(force, rel=FORCES)


def test_andrews_squeezer_starts_with_the_accelerations_and_forces_of_the_test_set() -> None:
    model = load("andrews-squeezer")
    q, u = model.initial_state
    udot = model.forward_dynamics(q, u, np.zeros(7))
    expected = [14222.4439199541138705911625887, -10666.8329399655854029433719415, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(udot, expected, rtol=1e-11, atol=1e-6)
    forces = multipliers(model, q, u, udot, np.zeros(7))
    assert forces["E3.x"] == pytest.approx(98.566870396241089605765, rel=1e-9)
    assert forces["E3.y"] == pytest.approx(-6.1226883442556626550311, rel=1e-9)


# five-bar robot ------------------------------------------------------------------------------------------------------


def arms(x: float, y: float, d: float, l: float, k: float) -> tuple[float, float]:
    """Angles of both motors for the tip at (x, y), elbows outward."""
    angles = []
    for base, side in ((-d, 1.0), (d, -1.0)):
        reach = math.hypot(x - base, y)
        angles.append(math.atan2(y, x - base) + side * math.acos((l * l + reach**2 - k * k) / (2 * l * reach)))
    return angles[0], angles[1]


def tip(a1: float, a2: float, d: float, l: float, k: float) -> tuple[Array, Array, Array]:
    """The tip, upper crossing of two circles about the elbows, and the elbows."""
    e1 = np.array([-d + l * math.cos(a1), l * math.sin(a1)])
    e2 = np.array([d + l * math.cos(a2), l * math.sin(a2)])
    line = e2 - e1
    half = math.hypot(*line) / 2
    up = np.array([-line[1], line[0]]) / (2 * half)
    return (e1 + e2) / 2 + math.sqrt(k * k - half * half) * up, e1, e2


def test_the_five_bar_s_tip_and_motors_are_those_of_geometry() -> None:
    model = load("five-bar")
    d, l, k = sizes(model, "d", "l", "k")
    for x, y in ((0.0, 0.4), (0.1, 0.35), (-0.12, 0.42), (0.15, 0.3)):
        a1, a2 = arms(x, y, d, l, k)
        place, e1, e2 = tip(a1, a2, d, l, k)
        np.testing.assert_allclose(place, [x, y], atol=ROUNDING)
        q, _ = at(model, a1=a1, a2=a2)
        outer = [math.atan2(*(place - e)[::-1]) for e in (e1, e2)]
        assert math.remainder(q[0] + q[2] - outer[0], 2 * math.pi) == pytest.approx(0.0, abs=PLACED)
        assert math.remainder(q[1] + q[3] - outer[1], 2 * math.pi) == pytest.approx(0.0, abs=PLACED)
        # the tip's velocity: its parts along the outer links are those of the elbows
        w1, w2 = 1.5, -0.7
        u = moving(model, q, w1=w1, w2=w2)
        along = np.array([place - e1, place - e2])
        elbows = np.array([w1 * np.array([-e1[1], e1[0] + d]), w2 * np.array([-e2[1], e2[0] - d])])
        velocity = np.linalg.solve(along, np.sum(along * elbows, axis=1))
        carried = elbows[0] + (u[0] + u[2]) * np.array([-along[0, 1], along[0, 0]])
        np.testing.assert_allclose(carried, velocity, atol=PLACED)


def test_the_five_bar_s_motors_hold_it_and_it_keeps_its_energy_without_them() -> None:
    model = load("five-bar")
    free = model.freedom()
    assert (free.degrees, free.independent, free.redundant) == (2, ("w1", "w2"), ("tip.z", "tip.rx", "tip.ry"))
    run = model.simulate((0.0, 3.0), **TIGHT)
    assert run.outcome.success and gap(run) <= GAP and energy_span(run) <= ENERGY
    held = model.simulate((0.0, 6.0), control="hold")
    assert np.abs(held.u[-1]).max() <= 1e-3
    balance = model.bias(held.q[-1], np.zeros(4))
    A = model.constraint_rows(held.q[-1], np.zeros(4)).A
    free_motion = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, 1e-9) :]
    np.testing.assert_allclose(free_motion @ (held.tau[-1] - balance), 0.0, atol=1e-2)


# Stewart platform ----------------------------------------------------------------------------------------------------


def legs(model: Model) -> tuple[Array, Array]:
    """Joints of the base and of the platform, (6, 3) each, in the frame of each."""
    base, platform = ([[*sizes(model, f"{x}{k}", f"{y}{k}"), 0.0] for k in range(1, 7)] for x, y in ("XY", "xy"))
    return np.array(base), np.array(platform)


def rotation(wxyz: Array) -> Array:
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def posed(model: Model, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A random pose near the start: its closed configuration, arms (6, 3) from the platform's middle to its joints and
    legs (6, 3) from base to platform, in N."""
    e = np.concatenate([[1.0], rng.uniform(-0.12, 0.12, 3)])
    e /= np.linalg.norm(e)
    place = np.array([0.0, 0.0, 0.7]) + rng.uniform(-0.08, 0.08, 3)
    pose = dict(zip(("e0", "e1", "e2", "e3", "x", "y", "z"), [*e, *place], strict=True))
    q, _ = at(model, **pose)
    base, platform = legs(model)
    arm = platform @ rotation(e).T
    return q, arm, place + arm - base


def test_the_legs_of_a_stewart_platform_have_the_lengths_of_its_pose() -> None:
    model = load("stewart-platform")
    assert model.freedom().degrees == 6 and not model.freedom().redundant
    rng = np.random.default_rng(8)
    slots = [model.coordinates.index(f"l{k}") for k in range(1, 7)]
    rates = [model.speeds.index(f"u{k}") for k in range(1, 7)]
    for _ in range(6):
        q, arm, leg = posed(model, rng)
        lengths = np.linalg.norm(leg, axis=1)
        np.testing.assert_allclose(q[slots], lengths, atol=PLACED)
        v, w = rng.normal(size=(2, 3))
        turn = rotation(q[:4]).T @ w  # speeds are ω in the platform's axes
        names = dict(zip(("wx", "wy", "wz", "vx", "vy", "vz"), [*turn, *v], strict=True))
        u = moving(model, q, **names)
        np.testing.assert_allclose(u[rates], np.sum(leg * (v + np.cross(w, arm)), axis=1) / lengths, atol=PLACED)


def test_the_legs_of_a_stewart_platform_hold_it_with_the_forces_of_statics() -> None:
    """f = J⁻ᵀ w: w the wrench that the platform needs, its own weight and what it carries of every leg.

    A leg's weight is carried by its universal joint and by the force at its end: along the leg by the drive, across it
    by the platform, with the lever of its mass centre over its length.
    """
    model = load("stewart-platform")
    mp, mc, mr, c = sizes(model, "mp", "mc", "mr", "c")
    rates = [model.speeds.index(f"u{k}") for k in range(1, 7)]
    rng = np.random.default_rng(9)
    down = np.array([0.0, 0.0, -G])
    for _ in range(4):
        q, arm, leg = posed(model, rng)
        lengths = np.linalg.norm(leg, axis=1)[:, None]
        e = leg / lengths
        across = down - np.sum(e * down, axis=1)[:, None] * e
        carried = across * (mc * c + mr * (lengths - c)) / lengths  # N, on the platform at the end of each leg
        wrench = np.concatenate([mp * down + carried.sum(axis=0), np.cross(arm, carried).sum(axis=0)])
        J = np.hstack([e, np.cross(arm, e)])
        drive = np.linalg.solve(J.T, -wrench)  # of the rod on the platform, along the leg
        drive -= mr * np.sum(e * down, axis=1)  # the drive carries the rod as well
        tau = np.zeros(len(model.speeds))
        tau[rates] = drive
        udot = model.forward_dynamics(q, np.zeros(len(tau)), tau)
        assert np.abs(udot).max() <= 1e-9 * G
        off = model.forward_dynamics(q, np.zeros(len(tau)), 1.01 * tau)
        assert np.abs(off).max() > 1e-3 * G


def test_an_unforced_stewart_platform_keeps_its_energy() -> None:
    model = load("stewart-platform")
    run = model.simulate((0.0, 0.4), u={"wx": 0.4, "wy": -0.3, "wz": 0.8, "vx": 0.2, "vy": 0.1, "vz": 1.5}, **TIGHT)
    assert run.outcome.success and gap(run) <= GAP and energy_span(run) <= ENERGY


def level_energy(model: Model, z: float) -> tuple[float, float]:
    """(J, V): 2 T / ż² (kg) and the potential energy (J) of a level platform at the height z that moves along z only.

    Each leg tilts in a vertical plane; what spin its universal joint gives it costs nothing where it is thin.
    """
    mp, mc, mr, c, Ic = sizes(model, "mp", "mc", "mr", "c", "Ic")
    base, platform = legs(model)
    J, V = mp, mp * G * z
    for x, y, _ in platform - base:
        l = math.sqrt(x * x + y * y + z * z)
        tilt = math.hypot(x, y) / l**2
        J += (mc * c**2 + mr * (l - c) ** 2 + 2 * Ic) * tilt**2 + mr * (z / l) ** 2
        V += G * (mc * c + mr * (l - c)) * z / l
    return J, V


def test_a_stewart_platform_released_level_falls_as_its_energy_says() -> None:
    thin = "kane: 1\nextends: stewart-platform\nname: thin legs\nparameters: {Ja: 0}\n"
    model = Model.of(read_mechanism(thin, "thin.yaml"))
    run = model.simulate((0.0, 0.3), **TIGHT)
    height, rate = model.coordinates.index("z"), model.speeds.index("vz")
    sideways = [model.coordinates.index(name) for name in ("e1", "e2", "e3", "x", "y")]
    np.testing.assert_allclose(run.q[:, sideways], 0.0, atol=PLACED)
    start = level_energy(model, run.q[0, height])[1]
    for z, v in zip(run.q[:, height], run.u[:, rate], strict=True):
        J, V = level_energy(model, z)
        assert 0.5 * J * v * v == pytest.approx(start - V, abs=ENERGY * start)
    assert run.q[-1, height] < 0.4, "it fell a good part of its height"


# Bricard's linkage ---------------------------------------------------------------------------------------------------


def closed_bricard(first: float) -> float:
    """The even angles for the odd ones: (1 + sin q1) (1 + sin q2) = 1, the law of the symmetric orthogonal linkage."""
    return math.asin(1.0 / (1.0 + math.sin(first)) - 1.0)


def bricard_bars(q: Array) -> tuple[Array, Array, list[Array]]:
    """Joints P1 … P5 (5, 3), axes (5, 3), and orientations of the five bars, in N; q = 0 along the edges of a cube."""
    steps = np.array([[0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 0, 1], [-1, 0, 0]], dtype=float)
    axes = np.eye(3)[[1, 2, 0, 1, 2]]
    R, p = np.eye(3), np.zeros(3)
    places, directions, orientations = [], [], []
    for step, axis, angle in zip(steps, axes, q, strict=True):
        p = p + R @ step
        e = R @ axis
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        R = R @ (np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K)
        places.append(p)
        directions.append(e)
        orientations.append(R)
    return np.array(places), np.array(directions), orientations


def bricard_energy(first: float) -> tuple[float, float]:
    """(J, V): 2 T / q1'² (kg m²) and the potential energy (J) where the odd angles are `first`."""
    second = closed_bricard(first)
    slope = -math.cos(first) * (1 + math.sin(second)) / (math.cos(second) * (1 + math.sin(first)))
    if abs(math.cos(second)) < 1e-12:
        raise ValueError("the even angles are at their end")
    q, rates = [first, second] * 2 + [first], np.array([1.0, slope, 1.0, slope, 1.0])
    places, axes, orientations = bricard_bars(np.array(q))
    centers = np.array([[0.5, 0, 0], [0, -0.5, 0], [0, 0, 0.5], [-0.5, 0, 0], [0, 0.5, 0]])
    J = V = 0.0
    for k, (c, R) in enumerate(zip(centers, orientations, strict=True)):
        middle = places[k] + R @ c
        w = sum((rates[i] * axes[i] for i in range(k + 1)), np.zeros(3))
        v = sum((rates[i] * np.cross(axes[i], middle - places[i]) for i in range(k + 1)), np.zeros(3))
        along = np.abs(2 * c)  # unit vector along the bar
        I = (1 + 0.01) / 12 * (np.eye(3) - np.outer(along, along)) + 0.01 / 6 * np.outer(along, along)
        J += float(v @ v + (R.T @ w) @ I @ (R.T @ w))
        V += G * float(middle[1])
    return J, V


def test_bricard_s_linkage_moves_although_its_joints_count_to_none() -> None:
    model = load("bricard")
    assert len(model.speeds) - len(model.row_names) == 0
    free = model.freedom()
    assert (free.degrees, free.rank) == (1, 4) and free.redundant
    assert set(free.redundant) <= set(model.row_names)


def test_bricard_s_linkage_keeps_its_closed_form_symmetry_and_energy() -> None:
    model = load("bricard")
    run = model.simulate((0.0, 10.0), **TIGHT)
    assert run.outcome.success and energy_span(run) <= ENERGY and gap(run) <= GAP
    q = run.q
    np.testing.assert_allclose(q[:, [2, 4]], q[:, [0, 0]], atol=MOTION)
    np.testing.assert_allclose(q[:, 3], q[:, 1], atol=MOTION)
    np.testing.assert_allclose((1 + np.sin(q[:, 0])) * (1 + np.sin(q[:, 1])), 1.0, atol=MOTION)
    for state, speed, potential in zip(q[::20], run.u[::20], run.energy().potential[::20], strict=True):
        J, V = bricard_energy(state[0])
        assert potential == pytest.approx(V, abs=MOTION)
        assert model.energy(state, speed).kinetic == pytest.approx(0.5 * J * speed[0] ** 2, abs=1e2 * MOTION)


def test_bricard_s_linkage_comes_to_rest_when_the_quadrature_of_its_energy_says() -> None:
    """Released at q1 = 0 it rests again at q1 = π, after ∫ √(J / 2 (V(0) − V)) dq1; with q1 = π sin²(s/2), 0 ≤ s ≤ π,
    the ends are regular."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    s = (nodes + 1) * math.pi / 2
    start = bricard_energy(0.0)[1]
    half = 0.0
    for x, weight in zip(s, weights, strict=True):
        J, V = bricard_energy(math.pi * math.sin(x / 2) ** 2)
        half += weight * math.pi / 2 * math.sqrt(J / (2 * (start - V))) * math.pi / 2 * math.sin(x)
    run = load("bricard").simulate((0.0, 10.0), **TIGHT, events={"rest": {"expression": "u1"}})
    np.testing.assert_allclose(run.events[0].t, half * np.arange(1, 5), atol=1e-9)
    mirrored = run.events[0].y[:, 0]
    np.testing.assert_allclose(mirrored, [math.pi, 0.0, math.pi, 0.0], atol=PASSING)
