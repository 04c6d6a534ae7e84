"""Things that roll, or slide along a blade: against published numbers, closed forms and Newton–Euler written out here.

The disc: values of SymPy's test-suite (test_kane5), its steady turn and its wobble [KL85]. The rattleback has the
parameters of Kane and Levinson (1982), the snakeboard is that of Lewis, Ostrowski, Murray and Burdick (1994).
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

import kane
from kane import Model
from kane.model import Gear, Rolling, RollingOnSphere, RollingSphere, read_mechanism, write_mechanism

Array = NDArray[Any]

REFERENCE = Path(__file__).parents[1] / "reference" / "rolling_disc.json"
PUBLISHED = 1e-12  # digits that the reference gives
EXACT = 1e-11  # of accelerations, relative: rounding of two formulations
CLOSE = 1e-8  # of a motion over some seconds at the tolerances below
CONSERVED = 1e-10  # of the energy, relative, over ten seconds and thousands of steps
TOUCHING = 1e-12  # m or m/s, off the constraints
TIGHT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}
G = 9.81
GRAVITY = np.array([0.0, 0.0, -G])


@functools.cache
def loaded(name: str) -> Model:
    return kane.load(name)


def cross(a: Any) -> Array:
    """The matrix of a ×."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def off(model: Model, run: Any) -> float:
    """How far a motion strays from its constraints, in place and in velocity."""
    rows = model.constraint_rows(run.q, run.u, t=run.t[:, None])
    return max(np.abs(rows.phi).max(), np.abs(rows.rate).max())


def energy_span(run: Any) -> float:
    """By how much energy and work do not balance, as a share of the energy."""
    energy = sum(run.energy())
    return np.ptp(energy - run.work) / np.abs(energy).max()


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
@pytest.mark.parametrize("name", ["rolling-disc", "rattleback", "chaplygin-sleigh", "snakeboard"])
def test_what_rolls_keeps_its_energy_and_its_contact(name: str, embed: str) -> None:
    model = loaded(name)
    law = "drive" if name == "snakeboard" else None
    run = model.simulate(np.linspace(0, 4, 81), control=law, embed=embed, **TIGHT)
    assert run.outcome.success
    assert energy_span(run) <= CONSERVED
    assert off(model, run) <= TOUCHING


# the disc --------------------------------------------------------------------------------------------------------


def test_the_disc_accelerates_as_published() -> None:
    given = json.loads(REFERENCE.read_text(encoding="utf-8"))
    disc = loaded("rolling-disc")
    assert [disc.parameters[p].value for p in ("g", "r", "m")] == given["p"]
    q, u = disc.project(given["q"], [*given["u"], 0, 0], hold=["wx", "wy", "wz"])
    found = np.concatenate([disc.qdot(q, u), disc.forward_dynamics(q, u, np.zeros(5))])
    assert np.abs(found - given["qdot_udot"]).max() <= PUBLISHED


def steady_spin(lean: float, yaw_rate: float, r: float) -> float:
    """spin' at which a thin disc turns steadily: (6 spin' Ω + 5 Ω² sin θ) cos θ + (4 g / r) sin θ = 0."""
    s, c = np.sin(lean), np.cos(lean)
    return -(5 * yaw_rate**2 * s + 4 * G / r * s / c) / (6 * yaw_rate)


@pytest.mark.parametrize(("lean", "yaw_rate"), [(0.3, -2.0), (-0.5, 4.0), (1.2, 9.0), (0.02, -0.3)])
def test_a_leaning_disc_runs_on_a_circle(lean: float, yaw_rate: float) -> None:
    """Its radius is r spin' / Ω."""
    disc, r = loaded("rolling-disc"), 0.26
    spin = steady_spin(lean, yaw_rate, r)
    t = np.linspace(0, 2, 41)
    w = [0.0, spin + yaw_rate * np.sin(lean), yaw_rate * np.cos(lean)]
    q, u = disc.project([0, lean, 0, 0, 0], [*w, 0, 0], hold=["wx", "wy", "wz"])
    run = disc.simulate(t, q=q, u=u, **TIGHT)
    yaw, found, spun, x, y = run.q.T
    assert np.abs(found - lean).max() <= CLOSE
    assert np.abs(yaw - yaw_rate * t).max() <= CLOSE
    assert np.abs(spun - spin * t).max() <= CLOSE * max(1.0, abs(spin))
    radius = r * spin / yaw_rate
    assert np.abs(x - radius * np.sin(yaw_rate * t)).max() <= CLOSE
    assert np.abs(y - radius * (1 - np.cos(yaw_rate * t))).max() <= CLOSE


def test_an_upright_disc_rolls_straight_on() -> None:
    disc = loaded("rolling-disc")
    t = np.linspace(0, 3, 7)
    for embed in ("run-time", "formulation"):
        run = disc.simulate(t, q=np.zeros(5), u=[0, 8, 0, 8 * 0.26, 0], embed=embed, **TIGHT)
        assert np.abs(run.q - np.outer(t, [0, 0, 8, 8 * 0.26, 0])).max() <= CLOSE
    assert np.abs(disc.forward_dynamics(np.zeros(5), np.zeros(5), np.zeros(5))).max() == 0.0


@pytest.mark.parametrize("of_critical", [0.5, 0.98, 1.02, 2.0])
def test_an_upright_disc_stays_up_beyond_its_critical_speed(of_critical: float) -> None:
    """ω² = g / (3 r) is critical: a small lean grows like cosh below it and wobbles like cos above."""
    disc, r, small = loaded("rolling-disc"), 0.26, 1e-7
    spin = of_critical * np.sqrt(G / (3 * r))
    square = 12 / 5 * spin**2 - 4 / 5 * G / r
    t = np.linspace(0, 1.5, 16)
    run = disc.simulate(t, q={"lean": small}, u={"wy": spin, "wx": 0.0, "wz": 0.0}, rtol=1e-12, atol=1e-20)
    wobble = 1 - np.cos(np.sqrt(complex(square)) * t).real
    expected = small * (1 + 4 / 5 * G / r / square * wobble)
    np.testing.assert_allclose(run.q[:, 1], expected, rtol=1e-6)


def disc_with_a_height() -> Model:
    """The same disc, kept on the plane by a row: its centre is anywhere, its attitude a quaternion."""
    model = Model("disc", gravity=[0, 0, -G])
    r, m = 0.26, 3.43
    model.body("disc", mass=m, inertia={"xx": m * r**2 / 4, "yy": m * r**2 / 2, "zz": m * r**2 / 4})
    model.joint("flight", "free", "ground", "disc", velocity="parent")
    model.constrain("road", Rolling("disc", radius=r, axis="y"))
    return model


def test_the_height_may_be_kept_by_a_row_and_the_road_pushes() -> None:
    """The force of the road is what the mass centre needs; the two descriptions accelerate alike."""
    disc, free, m = loaded("rolling-disc"), disc_with_a_height(), 3.43
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, u = disc.project(rng.uniform(-1, 1, 5), rng.uniform(-2, 2, 5))
        udot = disc.forward_dynamics(q, u, np.zeros(5))
        middle = disc.at("disc")
        (R, p), twist, change = middle.pose(q), middle.velocity(q, u), middle.acceleration(q, u, udot)
        there = [*quaternion(R), *p]
        moving = [*R.T @ twist[:3], *twist[3:]]
        assert np.abs(np.concatenate(free.project(there, moving)) - [*there, *moving]).max() <= TOUCHING
        found = free.forward_dynamics(there, moving, np.zeros(6))
        np.testing.assert_allclose(found[:3], R.T @ change[:3], rtol=0, atol=EXACT * np.abs(change).max())
        np.testing.assert_allclose(found[3:], change[3:], rtol=0, atol=EXACT * np.abs(change).max())
        force = m * (change[3:] - GRAVITY)
        assert force[2] > 0
        rows = free.constraint_rows(there, moving)
        ahead = np.cross(R[:, 1], [0, 0, 1])
        ahead = ahead / np.linalg.norm(ahead)
        parts = [force @ ahead, force @ np.cross([0, 0, 1], ahead), force[2]]
        needed = free.mass_matrix(there) @ found + free.bias(there, moving)
        np.testing.assert_allclose(rows.A.T @ parts, needed, rtol=0, atol=EXACT * np.abs(needed).max())


def quaternion(R: Array) -> Array:
    """The unit quaternion (w, x, y, z) of a rotation by less than half a turn."""
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))])


# the rattleback --------------------------------------------------------------------------------------------------


def stone(n: Array, w: Array) -> tuple[Array, Array]:
    """(ω̇, contact force) of the rattleback in its own axes, n the vertical: Newton–Euler.

    From the mass centre G to the contact: ρ(n) = h − E n / √(n · E n), E the squared semi-axes. v_G = −ω × ρ,
    m (v̇ + ω × v) = F − m g n, I ω̇ + ω × I ω = ρ × F, ṅ = n × ω.
    """
    E, h, m = np.diag([0.2, 0.03, 0.02]) ** 2, np.array([0, 0, 0.01]), 1.0
    inertia = m * np.array([[2e-4, -2e-5, 0], [-2e-5, 16e-4, 0], [0, 0, 17e-4]])
    size = np.sqrt(n @ E @ n)
    rho = h - E @ n / size
    n_rate = np.cross(n, w)
    rho_rate = -E @ n_rate / size + E @ n * (n @ E @ n_rate) / size**3
    v = -np.cross(w, rho)
    rest = -np.cross(w, rho_rate) + np.cross(w, v) + G * n  # F / m at ω̇ = 0
    left = inertia - m * cross(rho) @ cross(rho)
    right = m * np.cross(rho, rest) - np.cross(w, inertia @ w)
    w_rate = np.linalg.solve(left, right)
    return w_rate, m * (rest - np.cross(w_rate, rho))


def test_the_rattleback_obeys_newton_and_euler() -> None:
    model = loaded("rattleback")
    rng = np.random.default_rng(5)
    for _ in range(20):
        e = np.array([1, 0, 0, 0]) + rng.uniform(-0.4, 0.4, 4)
        w = rng.uniform(-6, 6, 3)
        q, u = model.project([*e / np.linalg.norm(e), 0.3, -0.2, 0.02], [*w, 0, 0, 0], hold=["wx", "wy", "wz"])
        assert np.abs(u[:3] - w).max() <= TOUCHING
        R = model.at("stone").pose(q)[0]
        udot = model.forward_dynamics(q, u, np.zeros(6))
        expected, force = stone(R[2], w)
        assert np.abs(udot[:3] - expected).max() <= EXACT * np.abs(expected).max()
        needed = model.mass_matrix(q) @ udot + model.bias(q, u)
        rows = model.constraint_rows(q, u)
        assert np.abs(rows.A.T @ (R @ force) - needed).max() <= EXACT * np.abs(needed).max()


def test_the_rattleback_turns_round_when_spun_the_wrong_way() -> None:
    """In ten seconds −5 rad/s becomes +5, whereas +5 rad/s stays; the energy is the same all the time."""
    model = loaded("rattleback")
    t = np.linspace(0, 10, 201)
    wrong, right = (model.simulate(t, u={"wz": spin}, **TIGHT) for spin in (-5.0, 5.0))
    assert wrong.u[0, 2] == -5.0 and wrong.u[-1, 2] > 4.9
    assert right.u[:, 2].min() > 4.8
    for run in (wrong, right):
        assert energy_span(run) <= CONSERVED
        assert off(model, run) <= TOUCHING


# the sleigh ------------------------------------------------------------------------------------------------------


def test_the_sleigh_follows_its_closed_form() -> None:
    """v = V tanh s, ω = (V / k) sech s, yaw = (k / a) (gd s − gd s0), s = a V (t − t0) / k², k² = a² + I / m."""
    a, k = 0.3, np.sqrt(0.3**2 + 0.12 / 2)
    start, turning = -0.4, 1.5
    top = np.hypot(start, k * turning)
    t = np.linspace(0, 5, 51)
    s = a * top / k**2 * t + np.arctanh(start / top)
    for embed in ("run-time", "formulation"):
        run = loaded("chaplygin-sleigh").simulate(t, embed=embed, **TIGHT)
        assert np.abs(run.u - np.stack([top * np.tanh(s), 0 * s, top / k / np.cosh(s)], axis=1)).max() <= CLOSE
        gd = 2 * np.arctan(np.tanh(s / 2))
        assert np.abs(run.q[:, 2] - k / a * (gd - gd[0])).max() <= CLOSE


# the ball --------------------------------------------------------------------------------------------------------


def ball(**parameters: float) -> Model:
    model = kane.load("rolling-sphere")
    model.set_parameters(**parameters)
    return model


def turned(v: Array, angle: Array) -> Array:
    """v (2,) turned by each angle (k,)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[0] - s * v[1], s * v[0] + c * v[1]], axis=1)


def test_a_ball_rolls_straight_on_a_table_at_rest() -> None:
    model = ball(turn=0.0)
    t = np.linspace(0, 4, 9)
    run = model.simulate(t, q={"x": 0.1}, u={"vx": 0.3, "vy": -0.2, "wz": 3.0}, **TIGHT)
    assert np.abs(run.u[:, 3:] - [0.3, -0.2, 0]).max() <= CLOSE
    w = np.einsum("kij,kj->ki", model.at("ball").pose(run.q)[0], run.u[:, :3])
    assert np.abs(w - [0.2 / 0.05, 0.3 / 0.05, w[0, 2]]).max() <= CLOSE
    assert np.abs(run.q[:, 4:6] - np.stack([0.1 + 0.3 * t, -0.2 * t], axis=1)).max() <= CLOSE
    assert energy_span(run) <= CONSERVED


@pytest.mark.parametrize("turn", [2.0, -3.5])
def test_a_ball_circles_on_a_turntable_at_two_sevenths_of_its_rate(turn: float) -> None:
    """v turns at 2 Ω / 7, wherever the ball is; the circle has nothing to do with the axle."""
    model = ball(turn=turn)
    t = np.linspace(0, 8, 41)
    run = model.simulate(t, q={"x": 0.4, "y": -0.1}, u={"vx": 0.1, "vy": 0.3, "wz": 1.0}, **TIGHT)
    v, rate = np.array([0.1, 0.3]), 2 * turn / 7
    assert np.abs(run.u[:, 3:5] - turned(v, rate * t)).max() <= CLOSE
    middle = np.array([0.4, -0.1]) + np.array([-v[1], v[0]]) / rate
    orbit = middle + turned(np.array([0.4, -0.1]) - middle, rate * t)
    assert np.abs(run.q[:, 4:6] - orbit).max() <= CLOSE
    assert off(model, run) <= TOUCHING


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_on_a_tilted_turntable_the_ball_drifts_across_the_slope(embed: str) -> None:
    """v̇ = ω × v + (5/7) g sin α: a circle and a drift of (5/2) g sin α / Ω along y, never downhill for long."""
    turn, tilt = 2.0, 0.05
    model = ball(turn=turn, tilt=tilt)
    t = np.linspace(0, 11, 45)
    run = model.simulate(t, q={"x": 0.0}, u={"vx": 0.2, "vy": 0.1}, embed=embed, **TIGHT)
    drift = np.array([0.0, 2.5 * G * np.sin(tilt) / turn])
    assert np.abs(run.u[:, 3:5] - (drift + turned(np.array([0.2, 0.1]) - drift, 2 * turn / 7 * t))).max() <= CLOSE


def test_a_ball_rolls_down_a_slope_at_five_sevenths() -> None:
    model = ball(turn=0.0, tilt=0.3)
    t = np.linspace(0, 2, 11)
    run = model.simulate(t, q={"x": 0.0}, u={"vx": 0.0, "vy": 0.4}, **TIGHT)
    a = 5 / 7 * G * np.sin(0.3)
    assert np.abs(run.q[:, 4:6] - np.stack([a * t**2 / 2, 0.4 * t], axis=1)).max() <= CLOSE


def test_a_ball_on_a_tray_that_is_shaken_follows_with_two_sevenths() -> None:
    model = Model("tray", gravity=[0, 0, -G])
    model.body("tray")
    model.joint("shaker", "prismatic", "ground", "tray", axis="x", prescribed=["0.1*sin(3*t)"])
    model.body("ball", mass=0.5, inertia={"xx": 5e-4, "yy": 5e-4, "zz": 5e-4})
    model.joint("flight", "free", "ground", "ball", velocity="parent", initial=[1, 0, 0, 0, 0, 0, 0.05])
    model.constrain("tray", RollingSphere("ball", radius=0.05, on="tray"))
    t = np.linspace(0, 3, 16)
    run = model.simulate(t, u={name: 0.0 for name in model.speeds if not name.endswith("wy")}, **TIGHT)
    assert np.abs(run.q[:, 4] - 2 / 7 * (0.1 * np.sin(3 * t) - 0.3 * t)).max() <= CLOSE


def test_a_ball_swings_in_a_bowl_like_a_pendulum_with_seven_fifths_of_its_inertia() -> None:
    """θ'' = −(5/7) g sin θ / (R − r), with θ from the lowest point, in a bowl that may itself be lifted."""
    model = Model("bowl", gravity=[0, 0, -G])
    model.body("bowl")
    model.joint("lift", "prismatic", "ground", "bowl", axis="z", prescribed=["0.3*t**2"])
    model.body("ball", mass=0.5, inertia={"xx": 5e-4, "yy": 5e-4, "zz": 5e-4})
    model.joint("flight", "free", "ground", "ball", velocity="parent", initial=[1, 0, 0, 0, 0, 0, -0.35])
    model.constrain("bowl", RollingOnSphere("ball", radius=0.05, on_radius=0.4, on="bowl", inside=True))
    theta, length = 0.7, 0.35
    q = [1, 0, 0, 0, length * np.sin(theta), 0, -length * np.cos(theta)]
    udot = model.forward_dynamics(q, np.zeros(6), np.zeros(6))
    along = -5 / 7 * (G + 0.6) * np.sin(theta)
    expected = along * np.array([np.cos(theta), 0, np.sin(theta)]) + [0, 0, 0.6]
    assert np.abs(udot[3:] - expected).max() <= EXACT * G


IN_A_CYLINDER = """
kane: 1
name: ball in a cylinder
gravity: [0, 0, -9.81]
parameters: {a: 1.0, r: 0.2, m: 0.5, J: 0.4*m*r**2}
bodies: {arm: {}, cage: {}, ball: {mass: m, inertia: {xx: J, yy: J, zz: J}}}
joints:
  around: {type: revolute, parent: ground, child: arm, axis: z, coordinate: phi, speed: turn}
  height: {type: prismatic, parent: arm, child: cage, axis: z, at: [a - r, 0, 0], coordinate: z, speed: rise}
  ball: {type: spherical, parent: cage, child: ball}
constraints:
  along: {type: velocity, body: ball, at: [r, 0, 0], at_frame: cage, frame: cage, direction: y}
  up: {type: velocity, body: ball, at: [r, 0, 0], at_frame: cage, frame: cage, direction: z}
"""


def test_a_ball_in_an_upright_cylinder_does_not_sink_but_swings() -> None:
    """Round at a constant rate Ω, z" = −(2/7) Ω² z − (5/7) g: the golfer's grief, from v · e = 0 at the contact."""
    model = Model.of(read_mechanism(IN_A_CYLINDER, "cylinder.yaml"))
    turn = 3.0
    q, u = model.project(None, {"turn": turn}, hold=["turn", "rise", "u_ball_wx"])
    t = np.linspace(0, 8, 41)
    run = model.simulate(t, q=q, u=u, **TIGHT)
    w = np.sqrt(2 / 7) * turn
    assert np.abs(run.q[:, 1] - 5 / 7 * G / w**2 * (np.cos(w * t) - 1)).max() <= CLOSE
    assert np.abs(run.u[:, 0] - turn).max() <= CLOSE
    again = Model.of(read_mechanism(write_mechanism(model.mechanism), "again.yaml"))
    assert np.array_equal(again.forward_dynamics(q, u, np.zeros(5)), model.forward_dynamics(q, u, np.zeros(5)))


# the snakeboard --------------------------------------------------------------------------------------------------

M, L, J, JR, JW = 6.0, 0.2, 0.016, 0.072, 0.0013


def snakeboard(q: Array, u: Array, tau: Array) -> Array:
    """u̇ by Newton–Euler in the axes of the board, with the forces of both axles as unknowns."""
    v, across, w, _, front_rate, back_rate = u
    f, b = q[4:]
    left, right = np.zeros((8, 8)), np.zeros(8)
    ef, eb = np.array([-np.sin(f), np.cos(f)]), np.array([-np.sin(b), np.cos(b)])
    left[:3, 6:] = [[-ef[0], -eb[0]], [-ef[1], -eb[1]], [-L * ef[1], L * eb[1]]]
    left[0, 0] = left[1, 1] = M
    right[:2] = [M * w * across, -M * w * v]
    left[2, 2:6] = [J + JR + 2 * JW, JR, JW, JW]
    for k, inertia in ((3, JR), (4, JW), (5, JW)):  # what turns on the board feels its own effort
        left[k, [2, k]] = inertia
        right[k] = tau[k]
    left[6, :3], left[7, :3] = [*ef, L * ef[1]], [*eb, -L * eb[1]]
    right[:3] += tau[:3]
    for row, angle, rate, arm in ((6, f, front_rate, L), (7, b, back_rate, -L)):
        right[row] = rate * (np.cos(angle) * v + np.sin(angle) * (across + arm * w))
    return np.linalg.solve(left, right)[:6]


def test_the_snakeboard_obeys_newton_and_euler() -> None:
    board = loaded("snakeboard")
    rng = np.random.default_rng(7)
    for _ in range(20):
        q, u = board.project(rng.uniform(-1, 1, 6), rng.uniform(-2, 2, 6))
        tau = rng.uniform(-1, 1, 6)
        expected = snakeboard(q, u, tau)
        assert np.abs(board.forward_dynamics(q, u, tau) - expected).max() <= EXACT * np.abs(expected).max()


def test_the_snakeboard_s_momentum_changes_by_steering_alone() -> None:
    """Steered by ±φ, p = m v + (tan φ / l) h along the motion that the axles allow, h = J w + Jr ψ' of the whole about
    the vertical: ṗ = h φ' / (l cos² φ), whatever the rotor does."""
    model = kane.load("snakeboard")
    model.constrain("steering", Gear("front", "back", -1))
    t = np.linspace(0, 6, 601)
    run = model.simulate(t, control="drive", **TIGHT)
    phi, phi_rate = run.q[:, 4], run.u[:, 4]
    assert np.abs(run.q[:, 4] + run.q[:, 5]).max() <= TOUCHING
    about = (J + JR + 2 * JW) * run.u[:, 2] + JR * run.u[:, 3]
    p = M * run.u[:, 0] + np.tan(phi) / L * about
    rate = about * phi_rate / (L * np.cos(phi) ** 2)
    change = make_interp_spline(t, rate, k=5).antiderivative()(t)
    assert np.abs(p - p[0] - change).max() <= CLOSE
    assert run.q[-1, 0] > 0.1 and abs(run.q[-1, 1]) < 0.1 * run.q[-1, 0]


def test_a_snakeboard_that_is_not_steered_cannot_start() -> None:
    run = loaded("snakeboard").simulate((0.0, 5.0), control={"rotor": "sin(t)"}, **TIGHT)
    assert np.abs(run.q[:, :3]).max() <= TOUCHING
