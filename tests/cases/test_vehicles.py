"""Vehicles: the example of Tanner & Kyriakopoulos against independent numbers; closed forms of slip and tip-over."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "tanner_mobile_manipulator.json").read_text("utf-8"))
MOTIONS: dict[str, Any] = REFERENCE["motions"]
LOCKED = "3b circular motion, passive arm, steering locked"
WHEELS = ("front", "left", "right")  # 0, 1, 2 of the reference
EDGES = {"0-1": ("front", "left"), "1-2": ("left", "right"), "2-0": ("right", "front")}
G = 9.81


@cache
def tanner(root: str, locked: bool = False) -> kane.Model:
    """The example, its platform on a planar or a free joint, the steering free or locked at half a radian."""
    m = kane.load("tanner-mobile-manipulator") if root == "planar" else free_tanner()
    if locked:
        m.constrain("lock", kane.ConfigurationEquations("phi = 0.5"))
    return m


def free_tanner() -> kane.Model:
    """The same described in Python, free to lift."""
    m = kane.Model("tanner", gravity=(0, 0, -G))
    m.body("platform", mass=40, inertia={"xx": 1.667, "yy": 1.667, "zz": 3.02})
    wheel = {"radius": 0.15, "mass": 2}
    m.vehicle(
        "platform",
        {
            "front": {"at": (0.3, 0, 0), "steering": "phi", "coordinate": "s0", **wheel},
            "left": kane.RoadWheel(at=(-0.3, 0.3, 0), coordinate="s1", radius=0.15, mass=2),
            "right": {"at": (-0.3, -0.3, 0), "coordinate": "s2", **wheel},
        },
        root="free",
    )
    m.body("base", mass=5, inertia={"xx": 0.08, "yy": 0.08, "zz": 0.156})
    m.joint("mount", "weld", "platform", "base")
    m.body("link1", mass=10, center=(0.25, 0, 0.1505), inertia={"xx": 1.759, "yy": 2.035, "zz": 2.073})
    m.joint("shoulder", "revolute", "base", "link1", axis="z", coordinates=["q1"])
    m.body("link2", mass=5, center=(0.4, 0, 0), inertia={"yy": 0.267, "zz": 0.267})
    m.joint("elbow", "revolute", "link1", "link2", axis="z", at=(1.05, 0, 0.1505), coordinates=["q2"])
    return m


def simulated(root: str, name: str) -> kane.Trajectory:
    motion, m = MOTIONS[name], tanner(root, name == LOCKED)
    q0 = dict(zip(motion["coordinates"], motion["q"][0], strict=True))
    u0 = dict(zip(motion["coordinates"], motion["u"][0], strict=True))
    own = [*m.coordinates]
    q = {c: q0[c] for c in own if c in q0}
    u = dict(zip(m.speeds[-6 if root == "free" else -9 :], [0.0] * 9, strict=False))
    rates = {"x": "ux", "y": "uy", "theta": "utheta"} if root == "planar" else ROOT_SPEEDS
    for c, value in u0.items():
        u[rates.get(c, _speed_of(m, c))] = value
    if root == "free":
        half = q0["theta"] / 2
        q |= {own[0]: np.cos(half), own[3]: np.sin(half), own[4]: q0["x"], own[5]: q0["y"], own[6]: 0.15}
    return m.simulate(np.array(motion["t"]), q=q, u={k: v for k, v in u.items() if k in m.speeds}, rtol=1e-12)


ROOT_SPEEDS = {"x": "u_root_vx", "y": "u_root_vy", "theta": "u_root_wz"}


def _speed_of(m: kane.Model, coordinate: str) -> str:
    joint = next((j for j in m.joints.values() if coordinate in [c.name for c in j.coordinates]), None)
    assert joint is not None or coordinate in ("x", "y", "theta")
    rates = [] if joint is None else [repr(rate) for rate in joint.rates]
    return m.mechanism.default_speeds[rates[0]] if len(rates) == 1 else ""


@pytest.mark.parametrize("root", ["planar", "free"])
@pytest.mark.parametrize("name", list(MOTIONS))
def test_the_seven_motions_of_the_reference(root: str, name: str) -> None:
    motion, run = MOTIONS[name], simulated(root, name)
    assert run.outcome.success
    own = {c: run.q[:, k] for k, c in enumerate(run.model.coordinates)}
    for c, expected in zip(motion["coordinates"], np.array(motion["q"]).T, strict=True):
        if c in own:
            assert np.abs(own[c] - expected).max() < 1e-10, c
    ground = run.ground()
    assert ground.wheels == WHEELS
    for k, wheel in enumerate("012"):
        forces = motion["ground_on_wheels"][wheel]
        assert np.abs(ground.longitudinal[:, k] - forces["longitudinal"]).max() < 1e-8
        assert np.abs(ground.lateral[:, k] - forces["lateral_min_norm"]).max() < 1e-8
        assert np.abs(ground.normal[:, k] - forces["normal"]).max() < 1e-8
        assert ground.friction[:, k] == pytest.approx(np.array(forces["friction_ratio"]), rel=1e-8, abs=1e-9)
    assert ground.undetermined == ("left.lateral", "right.lateral")
    axle = motion["lateral_sums"]["rear_axle (wheels 1 + 2)"]
    assert np.abs(ground.sums["left.lateral + right.lateral"] - axle).max() < 1e-8
    tip, expected = run.tipover(), motion["tip_over"]
    assert tip.edges == tuple(EDGES[e] for e in expected["edges"])
    assert np.abs(tip.alpha - expected["alpha"]).max() < 1e-7
    assert np.abs(tip.per_edge - expected["alpha_per_edge"]).max() < 1e-7
    assert np.abs(tip.angle - expected["theta"]).max() < 1e-9
    assert np.abs(tip.moment - expected["edge_moment"]).max() < 1e-8
    assert np.abs(tip.beta - expected["beta_per_edge"]).max() < 1e-7
    arm = run.interaction("mount")
    assert np.abs(arm.force - motion["interaction_on_platform"]["force"]).max() < 1e-8
    assert np.abs(arm.torque - motion["interaction_on_platform"]["torque"]).max() < 1e-8
    kinetic = run.energy().kinetic
    assert np.ptp(kinetic) < 1e-11 * kinetic[0]
    crossed = [c for c in ground.crossings if c.what.startswith("normal")]
    told = motion["zero_crossings"]
    assert len(crossed) == len(tip.crossings) == len(told)
    for own_time, edge, reference in zip(crossed, tip.crossings, told, strict=True):
        assert abs(own_time.t - reference["t"]) < 1e-9
        assert abs(float(edge) - reference["t"]) < 1e-9
        assert own_time.what == f"normal of {WHEELS[int(reference['what'][-1])]}"
        assert own_time.to == edge.to == reference["to"]
    assert ("would have to pull" in str(run.outcome)) == bool(told)
    if told:
        assert f"would have to pull from t = {told[0]['t']:.6g} s" in str(run.outcome)


def test_the_sign_of_the_measure_is_that_of_the_opposite_normal() -> None:
    """With three wheels, at every time: the moment about an edge is the opposite wheel's normal times its distance."""
    run = simulated("planar", "2d link 1 spins at 3 rad/s, links aligned")
    dense = run.model.simulate(np.linspace(0, 3, 301), q=run.q[0], u=run.u[0])
    ground, tip = dense.ground(), dense.tipover()
    for edge, opposite in ((0, 2), (1, 0), (2, 1)):
        assert np.all(np.sign(tip.per_edge[:, edge]) == np.sign(ground.normal[:, opposite]))
    assert np.all(np.sign(tip.alpha) == np.sign(ground.normal.min(axis=1)))
    assert (tip.alpha < 0).any() and (tip.alpha > 0).any()


# closed forms --------------------------------------------------------------------------------------------------------

MASS, HEIGHT, HALF, TRACK, RADIUS, WHEEL = 120.0, 0.7, 0.8, 0.5, 0.25, 4.0


def car(root: str = "planar", slope: float = 0.0, friction: float = 0.0, stiffness: float = 1.0) -> kane.Model:
    """Four wheels at ±HALF, ±TRACK under a mass at HEIGHT, on a slope that rises ahead."""
    m = kane.Model("car", gravity=(-G * np.sin(slope), 0, -G * np.cos(slope)))
    m.body("chassis", mass=MASS, center=(0, 0, HEIGHT - RADIUS), inertia={"xx": 6, "yy": 9, "zz": 11})
    wheel = {"radius": RADIUS, "mass": WHEEL}
    places = {"fl": (HALF, TRACK), "fr": (HALF, -TRACK), "rl": (-HALF, TRACK), "rr": (-HALF, -TRACK)}
    wheels = {name: {"at": (x, y, 0), **wheel} for name, (x, y) in places.items()}
    for name in ("fl", "fr"):
        wheels[name] |= {"steering": "ackermann", "stiffness": stiffness}
    m.vehicle("chassis", wheels, steering="phi", root=root, friction=friction)
    return m


def straight(m: kane.Model, drive: float) -> tuple[Any, Any, float]:
    """Ground forces and tip-over at the start, and the acceleration, with a torque on each rear wheel."""
    tau = {name: drive if name in ("u_rl", "u_rr") else 0.0 for name in m.speeds}
    run = m.simulate([0.0, 1e-3], tau=tau)
    return run.ground(), run.tipover(), float(run.acceleration()[0, 0])


@pytest.mark.parametrize("root", ["planar", "free"])
def test_load_moves_to_the_rear_axle_while_the_car_accelerates(root: str) -> None:
    """Moments about the ground below the middle: m a h + 4 (m_w a r + J a/r) = (N_r − N_f) HALF, wheels included."""
    m = car(root)
    index = 0 if root == "planar" else m.speeds.index("u_root_vx")
    tau = {name: 30.0 if name in ("u_rl", "u_rr") else 0.0 for name in m.speeds}
    run = m.simulate([0.0, 1e-3], tau=tau)
    a = run.acceleration()[0, index]
    spin = WHEEL * RADIUS**2 / 2
    assert a == pytest.approx(60.0 / RADIUS / (MASS + 4 * WHEEL + 4 * spin / RADIUS**2), rel=1e-12)
    normal = run.ground().normal[0]
    front, rear = normal[:2].sum(), normal[2:].sum()
    assert front + rear == pytest.approx((MASS + 4 * WHEEL) * G, rel=1e-12)
    moment = MASS * a * HEIGHT + 4 * (WHEEL * a * RADIUS + spin * a / RADIUS)
    assert (rear - front) * HALF == pytest.approx(moment, rel=1e-10)
    longitudinal = run.ground().longitudinal[0]
    assert longitudinal[:2] == pytest.approx([-spin * a / RADIUS**2] * 2, rel=1e-10)  # what turns the free wheels
    assert longitudinal[2:] == pytest.approx([(30.0 - spin * a / RADIUS) / RADIUS] * 2, rel=1e-10)


def test_the_least_normal_force_is_told_from_the_first_time_it_is_so() -> None:
    """A constant torque accelerates the car evenly: normal forces are constant, least from t = 0, whatever rounding
    adds to them. Where it begins at 1 s the front wheels carry less from then on."""
    m = car()
    tau = {name: 30.0 if name in ("u_rl", "u_rr") else 0.0 for name in m.speeds}
    ground = m.simulate(np.linspace(0.0, 5.0, 101), tau=tau).ground()
    normal = ground.normal * (1.0 - 1e-14 * np.random.default_rng(1).random(ground.normal.shape))
    assert len(set(np.argmin(normal, axis=0))) == 4  # rounding alone would say four times
    assert repr(replace(ground, normal=normal)).count("least at t = 0 s") == 4
    normal[ground.t < 1.0, :2] += 1e-3
    assert repr(replace(ground, normal=normal)).count("least at t = 1 s") == 2


def bisect(low: float, high: float, unstable: Any) -> float:
    for _ in range(34):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if unstable(middle) else (middle, high)
    return 0.5 * (low + high)


Threshold = tuple[float, float]
"""What bisection finds, and the closed form."""


def braking_threshold() -> Threshold:
    """About the front contacts: (m h + 4 (m_w r + J/r)) a = (m + 4 m_w) g HALF."""
    m, spin = car(), WHEEL * RADIUS**2 / 2
    total = MASS + 4 * WHEEL
    limit = total * G * HALF / (MASS * HEIGHT + 4 * (WHEEL * RADIUS + spin / RADIUS))
    drive_per_a = (total + 4 * spin / RADIUS**2) * RADIUS / 2
    return bisect(0.0, 3 * limit, lambda a: straight(m, -drive_per_a * a)[1].alpha[0] < 0), limit


def turning_threshold() -> Threshold:
    """On a circle of radius R about the rear axle's middle: the moment of all inertia forces about the outer side,
    spin momenta of the wheels turned by the yaw rate included."""
    m, phi = car(), 0.1
    R, spin = 2 * HALF / np.tan(phi), WHEEL * RADIUS**2 / 2

    def unstable(v: float) -> bool:
        run = _turning(m, phi, v)
        return bool(run.tipover().alpha[0] < 0)

    found = bisect(0.5, 40.0, unstable)
    w = found / R
    run = _turning(m, phi, found)
    acceleration = run.acceleration()
    assert np.abs(acceleration[0][: len(m.speeds)]).max() < 1e-9  # a steady turn
    # lateral accelerations of mass centres, along y: ω² times the distance of each from the centre of the turn
    moment = MASS * w**2 * R * HEIGHT
    for x, y in ((HALF, TRACK), (HALF, -TRACK), (-HALF, TRACK), (-HALF, -TRACK)):
        moment += WHEEL * w**2 * (R - y) * RADIUS
        d = np.array([R - y, x + HALF])  # across the heading of an unsteered wheel, and ahead
        rate = np.hypot(*d) * w / RADIUS
        heading = np.arctan2(d[1], d[0])
        moment += spin * rate * w * np.cos(heading)
    return moment, (MASS + 4 * WHEEL) * G * TRACK


def _turning(m: kane.Model, phi: float, v: float) -> kane.Trajectory:
    """A short motion on a circle, the rear axle's middle at v, the steering held."""
    angles = {f"{name}_fork": np.arctan2(2 * HALF * np.sin(phi), 2 * HALF * np.cos(phi) - y * np.sin(phi))
              for name, y in (("fl", TRACK), ("fr", -TRACK))}  # fmt: skip
    yaw = v * np.tan(phi) / (2 * HALF)
    q = {"phi": phi, **{f"q_{name}": angle for name, angle in angles.items()}}
    u = {m.speeds[0]: v, m.speeds[1]: yaw * HALF, m.speeds[2]: yaw}
    return m.simulate([0.0, 1e-4], q=q, u=u)


def slope_threshold() -> Threshold:
    """Where the mass centre passes the rear contacts."""
    total = MASS + 4 * WHEEL
    height = (MASS * HEIGHT + 4 * WHEEL * RADIUS) / total

    m = car()
    m.parameter("slope", 0.0)
    m.set_gravity((f"-{G}*sin(slope)", 0, f"-{G}*cos(slope)"))
    m.keep_free("slope")
    m.constrain("brake", kane.MotionEquations("u_rl = 0"))

    def unstable(slope: float) -> bool:
        return bool(m.simulate([0.0, 1e-4], parameters={"slope": slope}).tipover().alpha[0] < 0)

    return float(np.tan(bisect(0.2, 1.4, unstable))), HALF / height


def spin_threshold() -> Threshold:
    """On the spot about the middle of the axle, wheels at a and −b to the left: about the line of the left side,
    ω² (m c h + Σ y (m_w r + J/r)) = g (M a + m (a − c) + m_w (a + b)); spin momenta are turned by the yaw rate."""
    a, b, c, h, load, base, r, wheel, J = 0.3, 0.22, 0.1, 0.9, 12.0, 30.0, 0.15, 3.0, 0.09

    m = kane.Model("spinner", gravity=(0, 0, -G))
    m.body("base", mass=base, center=(0, 0, 0.1), inertia={"xx": 0.7, "yy": 0.9, "zz": 1.3})
    m.body("load", mass=load, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.2})
    m.joint("mast", "weld", "base", "load", at=(0, c, h - r))
    driven = {"radius": r, "mass": wheel, "inertia": J}
    wheels: dict[str, Any] = {"left": {"at": (0, a, 0), **driven}, "right": {"at": (0, -b, 0), **driven}}
    for name, (x, y) in {"fl": (0.4, a), "fr": (0.4, -b), "rl": (-0.4, a), "rr": (-0.4, -b)}.items():
        wheels[name] = {"at": (x, y, 0.05 - r), "radius": 0.05, "ball": True}
    m.vehicle("base", wheels)

    def spun(rate: float) -> kane.Trajectory:
        return m.simulate([0.0, 1e-4], u={"u_root_1": 0.0, "u_root_2": 0.0, "u_root_angle": rate})

    limit = np.sqrt(G * (base * a + load * (a - c) + wheel * (a + b)) / (load * c * h + (a - b) * (wheel * r + J / r)))
    found = bisect(0.5, 3 * limit, lambda rate: spun(rate).tipover().alpha[0] < 0)
    without = np.sqrt(G * (base * a + load * (a - c) + wheel * (a + b)) / (load * c * h))
    assert abs(found / without - 1) > 1e-3  # the wheels count
    assert np.abs(spun(found).acceleration()).max() < 1e-9
    return found, float(limit)


THRESHOLDS = {
    "braking": braking_threshold,
    "turning": turning_threshold,
    "slope": slope_threshold,
    "spin": spin_threshold,
}


@pytest.mark.parametrize("name", list(THRESHOLDS))
def test_the_measure_vanishes_at_the_closed_form_of_a_threshold(name: str) -> None:
    found, limit = THRESHOLDS[name]()
    assert found == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, -np.pi / 2, np.pi])
def test_spin_of_the_arm_tips_the_braked_car_at_its_closed_form(angle: float) -> None:
    """A link of mass m, its middle at d from the mast and h high, points across an edge at distance e:
    m d ω² h = (M + 4 m_w) g e + m g (e − d)."""
    link, d, h = 20.0, 0.9, 1.1
    m = car()
    m.body("link", mass=link, center=(d, 0, 0), inertia={"yy": 1.0, "zz": 1.0})
    m.joint(
        "mast", "revolute", "chassis", "link", axis="z", at=(0, 0, h - RADIUS), coordinates=["psi"], speeds=["spin"]
    )
    m.constrain("brake", kane.MotionEquations("u_rl = 0"))
    m.constrain("locked", kane.MotionEquations("uphi = 0"))
    edge = HALF if np.isclose(np.abs(np.cos(angle)), 1.0) else TRACK
    limit = np.sqrt(((MASS + 4 * WHEEL) * G * edge + link * G * (edge - d)) / (link * d * h))

    def spun(rate: float) -> kane.Trajectory:
        return m.simulate([0.0, 1e-6], q={"psi": angle}, u={"spin": rate})

    found = bisect(0.5, 2 * limit, lambda rate: spun(rate).tipover().alpha[0] < 0)
    assert found == pytest.approx(limit, rel=1e-9)


def test_what_rigid_bodies_leave_open_is_shared_by_the_stiffness_of_tyres() -> None:
    """Three equations for four normals: of all that satisfy them the one with least Σ N²/k, computed here anew."""
    m = car(stiffness=3.0)
    run = _turning(m, 0.1, 2.0)
    ground = run.ground()
    assert [name for name in ground.undetermined if name.endswith("normal")] == [f"{w}.normal" for w in ground.wheels]
    x, y = np.array([HALF, HALF, -HALF, -HALF]), np.array([TRACK, -TRACK, TRACK, -TRACK])
    A, K = np.stack([np.ones(4), x, y]), np.diag([3.0, 3.0, 1.0, 1.0])
    found = ground.normal[0]
    assert found == pytest.approx(K @ A.T @ np.linalg.solve(A @ K @ A.T, A @ found), rel=1e-10)
    assert not np.allclose(found, A.T @ np.linalg.solve(A @ A.T, A @ found), rtol=1e-3)


def test_planar_and_free_roots_share_four_wheels_alike() -> None:
    m = car("free")
    planar = _turning(car(), 0.1, 2.0).ground()
    phi, own = 0.1, m.coordinates
    angles = [np.arctan2(2 * HALF * np.sin(phi), 2 * HALF * np.cos(phi) - y * np.sin(phi)) for y in (TRACK, -TRACK)]
    q = {"phi": phi, "q_fl_fork": angles[0], "q_fr_fork": angles[1], own[6]: RADIUS}
    yaw = 2.0 * np.tan(phi) / (2 * HALF)
    free = m.simulate([0.0, 1e-4], q=q, u={"u_root_vx": 2.0, "u_root_vy": yaw * HALF, "u_root_wz": yaw}).ground()
    assert free.normal[0] == pytest.approx(planar.normal[0], rel=1e-9)
    assert free.lateral[0] == pytest.approx(planar.lateral[0], rel=1e-8)


def test_events_name_forces_of_the_ground_and_the_measure() -> None:
    m = tanner("planar")
    told = MOTIONS["3a circular motion, passive arm, steering free"]["zero_crossings"]
    events = {
        "lift": "normal.left",
        "tip": {"expression": "tipover", "terminal": True},
        "skid": "friction.front - 0.07",
    }
    run = m.simulate(10, events=events, rtol=1e-11)
    assert run.outcome.reason == "event"
    assert run.t[-1] == pytest.approx(told[0]["t"], abs=1e-8)
    names = {found.event.name: found.t for found in run.events}
    assert list(names) == ["lift", "tip", "skid"]
    again = m.simulate([0.0, *names["skid"]], rtol=1e-11).ground()
    assert again.friction[-1, 0] == pytest.approx(0.07, abs=1e-9)


def test_slip_is_told_unasked_where_there_is_friction() -> None:
    run = _turning(car(friction=0.3), 0.1, 2.0)
    assert "slip" not in str(run.outcome)
    needed = run.ground().friction.max()
    faster = _turning(car(friction=0.9 * needed), 0.1, 2.0)
    assert "would slip from t = 0 s" in str(faster.outcome)
    assert (faster.ground().margin[0] < 0).any() and (run.ground().margin[0] > 0).all()


def test_the_ground_is_right_at_every_heading_whatever_the_axes_of_the_speeds() -> None:
    """Along the ground's axes the forward speed has no x component at 90°; the forces do not care."""
    m = tanner("planar")
    forces = []
    for theta in (0.0, np.pi / 2, 2.3):
        c, s = np.cos(theta), np.sin(theta)
        run = m.simulate(
            [0.0, 1e-6], q={"theta": theta, "phi": 0.0}, u={"ux": 2 * c, "uy": 2 * s, "utheta": 0.0, "uq1": 3.0}
        )
        forces.append([getattr(run.ground(), what)[0] for what in ("longitudinal", "lateral", "normal")])
    assert np.abs(np.array(forces) - forces[0]).max() < 1e-9


def test_ground_forces_balance_everything_that_acts() -> None:
    """Σ F = m a_G − m g, by the momentum of the whole model."""
    run = tanner("planar").simulate(np.linspace(0, 1, 1001), rtol=1e-12)
    ground, m = run.ground(), run.model
    theta, phi = run.q[:, 2], run.q[:, 3]
    total = np.zeros((len(run.t), 2))
    for k, heading in enumerate((theta + phi, theta, theta)):
        x = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        y = np.stack([-np.sin(heading), np.cos(heading)], axis=1)
        total += ground.longitudinal[:, [k]] * x + ground.lateral[:, [k]] * y
    momentum = m.momentum(run.q, run.u).linear
    rate = np.gradient(momentum[:, :2], run.t, axis=0, edge_order=2)
    assert np.abs(rate[2:-2] - total[2:-2]).max() < 2e-4 * np.abs(total).max()
    assert ground.normal.sum(axis=1) == pytest.approx(m.mass * G, rel=1e-12)


# one evaluation of everything ----------------------------------------------------------------------------------------


def filtered(m: kane.Model, run: kane.Trajectory) -> None:
    """Hold the filter of a model to what is asked of a motion."""
    safety, ground, tip = m.safety_filter()(run.q, run.u, run.tau), run.ground(), run.tipover()
    for what in ("longitudinal", "lateral", "normal", "margin"):
        expected = getattr(ground, what)
        assert np.abs(getattr(safety, what) - expected).max() < 1e-9 * (1.0 + np.abs(expected).max()), what
    assert np.abs(safety.alpha - tip.alpha).max() < 1e-9 * np.abs(tip.alpha).max()
    assert np.abs(safety.per_edge - tip.per_edge).max() < 1e-9 * np.abs(tip.per_edge).max()


@pytest.mark.parametrize("root", ["planar", "free"])
def test_the_filter_of_safety_gives_what_a_motion_gives(root: str) -> None:
    """On a free root too it is a function of q, u and tau: multipliers by elimination against those at run time."""
    m = tanner(root)
    speed = "ux" if root == "planar" else "u_root_vx"
    tau = {"us1" if root == "planar" else "u_left": 1.5, "uphi": 0.2}
    filtered(m, m.simulate(np.linspace(0, 1, 11), q={"phi": 0.4}, u={speed: 1.0}, tau=tau))
    if root == "free":
        drives = {"u_rl": 20.0, "u_rr": 10.0}
        m = car("free", friction=0.8)
        filtered(m, m.simulate(np.linspace(0, 1, 11), q={"phi": 0.3}, u={"u_root_vx": 2.0}, tau=drives))


def test_the_filter_of_safety_is_the_same_in_c() -> None:
    from kane.backends import compile as compile_program

    for m in (kane.load("tanner-mobile-manipulator"), tanner("free")):
        forward = m.speeds.index("ux" if "ux" in m.speeds else "u_root_vx")
        run = m.simulate(np.linspace(0, 1, 5), q={"phi": 0.4}, u={m.speeds[forward]: 1.0})
        program = m.safety_filter().program
        ours, in_c = (compile_program(program, backend)(run.q, run.u, run.tau) for backend in ("llvm", "c"))
        for name, a, b in zip((o.name for o in program.outputs), ours, in_c, strict=True):
            assert np.abs(a - b).max() < 1e-11 * (1.0 + np.abs(b).max()), name
    assert "void safety(" in m.safety_filter().to_c()[0]


def test_constraints_of_a_free_car_are_embedded_where_it_stands_on_the_ground() -> None:
    """Four wheels leave three motions of twelve rows; a state off the ground, where no row is redundant, says more."""
    m = car("free")
    e = m.equations()
    assert np.abs(e.regular_state.best(e.constraints.phi)).max() < 1e-12
    assert e.rank == len(m.speeds) - m.freedom().degrees
    run = m.simulate(0.5, q={"phi": 0.3}, u={"u_root_vx": 2.0})
    assert np.abs(m.forward_dynamics(run.q, run.u, run.tau) - run.acceleration()).max() < 1e-9


def test_sums_that_are_named_do_not_depend_on_tyres() -> None:
    """In a turn the axles meet in a point, and only straight ahead an axle's lateral sum is determined by itself."""
    for build in (lambda k: car(stiffness=k), lambda k: tanner("planar")):
        grounds = [
            (_turning(m, 0.3, 2.0) if "phi" in m.coordinates and m.name == "car" else m.simulate([0.0, 1e-4])).ground()
            for m in (build(1.0), build(3.0))
        ]
        assert list(grounds[0].sums) == list(grounds[1].sums) and grounds[0].sums
        for name, values in grounds[0].sums.items():
            assert grounds[1].sums[name][0] == pytest.approx(values[0], rel=1e-10), name
    soft, stiff = (_turning(car(stiffness=k), 0.3, 2.0).ground().lateral[0] for k in (1.0, 3.0))
    assert abs(soft[:2].sum() - stiff[:2].sum()) > 1e-3 * abs(soft.sum())


# first violations ----------------------------------------------------------------------------------------------------


def test_every_condition_is_told_with_the_first_wheel_and_time_it_is_violated() -> None:
    """Of a car that speeds up on a circle; against the margins at the times that are told, and before them."""
    m = car(friction=0.25)
    m.constrain("held", kane.MotionEquations("uphi = 0"))
    start = _turning(m, 0.15, 1.0)
    q, u = dict(zip(m.coordinates, start.q[0], strict=True)), dict(zip(m.speeds, start.u[0], strict=True))
    run = m.simulate(np.linspace(0, 6, 121), q=q, u=u, tau={"u_rl": 22.0, "u_rr": 22.0}, rtol=1e-11)
    ground = run.ground()
    told = {c.what: float(c) for c in ground.violations}
    kinds = {what.split(" ")[0] for what in told}
    assert kinds == {"friction", "skid"}
    for what, t in told.items():
        kind, _, wheel = what.partition(" of ")
        k = ground.wheels.index(wheel)
        margin = (ground.margin if kind == "friction" else ground.skid_margin)[:, k]
        assert np.all(margin[ground.t < t] > 0)
        at = m.simulate([0.0, t], q=q, u=u, tau={"u_rl": 22.0, "u_rr": 22.0}, rtol=1e-11).ground()
        exact = (at.margin if kind == "friction" else at.skid_margin)[-1, k]
        assert abs(exact) < 1e-6
        assert f"wheel {wheel} would {'slip' if kind == 'friction' else 'skid'} from t = {t:.6g} s" in str(run.outcome)
    for wheel in ground.wheels:  # sideways alone is less than in all
        if f"skid of {wheel}" in told:
            assert told[f"friction of {wheel}"] <= told[f"skid of {wheel}"]


def test_what_is_violated_at_the_start_is_told_from_the_start() -> None:
    violations = _turning(car(friction=0.01), 0.1, 2.0).ground().violations
    assert violations and all(float(c) == 0.0 and c.to == "negative" for c in violations)
    assert not car().simulate([0.0, 0.1]).ground().violations


def test_each_of_several_arms_acts_on_the_platform_by_its_own_weight() -> None:
    """At rest, steering locked, drives braked: the force is the arm's weight, the torque its moment about the mount."""
    m = car()
    arms = {"front": ((0.5, 0.1, 0.3), 0.4, 6.0), "back": ((-0.6, -0.2, 0.2), 0.25, 9.0)}
    for name, (at, reach, mass) in arms.items():
        m.body(name, mass=mass, center=(reach, 0, 0), inertia={"yy": 0.1, "zz": 0.1})
        m.joint(f"{name}_mount", "revolute", "chassis", name, axis="z", at=at)
    run = m.simulate([0.0, 1e-3])
    for name, (_, reach, mass) in arms.items():
        found = run.interaction(f"{name}_mount")
        assert found.on == "chassis"
        assert found.force[0] == pytest.approx([0, 0, -mass * G], abs=1e-9)
        assert found.torque[0] == pytest.approx([0, mass * G * reach, 0], abs=1e-9)
    assert run.ground().normal[0].sum() == pytest.approx((MASS + 4 * WHEEL + 15.0) * G, rel=1e-12)


@pytest.mark.parametrize("root", ["planar", "free"])
def test_forces_and_their_places_carry_the_whole_vehicle(root: str) -> None:
    """Along a motion, Σ F = ṗ − m g and the moment of the forces about the origin is Ḣ − r × m g, by the momentum."""
    m = tanner(root)
    speed = "ux" if root == "planar" else "u_root_vx"
    run = m.simulate(np.linspace(0, 1, 1001), q={"phi": 0.4}, u={speed: 1.0}, rtol=1e-12)
    ground, momentum = run.ground(), m.momentum(run.q, run.u)
    weight = np.array([0.0, 0.0, -m.mass * G])
    center = m.mass_center(run.q)
    center = center if isinstance(center, np.ndarray) else center.position
    total = ground.force.sum(axis=1) + weight
    moment = np.cross(ground.contact, ground.force).sum(axis=1) + np.cross(center, weight)
    inner = slice(3, -3)
    for rate, expected in ((momentum.linear, total), (momentum.angular, moment)):
        slope = np.gradient(rate, run.t, axis=0, edge_order=2)[inner]
        assert np.abs(slope - expected[inner]).max() < 1e-4 * (1.0 + np.abs(ground.force).max())
    assert np.abs(ground.contact[..., 2]).max() < 1e-9


def test_the_load_point_is_in_the_support_polygon_where_no_wheel_would_pull() -> None:
    run = tanner("planar").simulate(np.linspace(0, 3, 301))
    ground, tip = run.ground(), run.tipover()
    corners = ground.contact[:, [ground.wheels.index(a) for a, _ in tip.edges], :2]
    ahead = np.roll(corners, -1, axis=1) - corners
    to = ground.load_point[:, None, :2] - corners
    inside = (ahead[..., 0] * to[..., 1] - ahead[..., 1] * to[..., 0]).min(axis=1) > 0
    assert np.array_equal(inside, tip.alpha > 0)
    assert inside.any() and not inside.all()


def test_there_is_no_load_point_while_no_wheel_presses() -> None:
    ground = kane.load("forklift").simulate([0.0, 0.05, 0.1]).ground()
    flown = replace(ground, normal=ground.normal * [[1.0], [1.0], [0.0]])
    assert np.array_equal(np.isnan(flown.load_point).any(axis=1), [False, False, True])


def test_a_ball_that_would_have_to_pull_is_not_said_to_slip() -> None:
    """A platform on two wheels and two balls that accelerates: the front is relieved by m a h / L, shared by equal
    stiffness, and its ball would have to pull where that exceeds its weight."""
    m = kane.Model("tray", gravity=(0, 0, -9.81))
    m.body("base", mass=20.0, center=(0, 0, 0.4), inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    wheels: dict[str, Any] = {side: {"at": (0, y, 0), "radius": 0.1} for side, y in (("left", 0.2), ("right", -0.2))}
    balls = {end: {"at": (x, 0, 0), "radius": 0.1, "ball": True} for end, x in (("front", 0.25), ("rear", -0.25))}
    m.vehicle("base", wheels | balls, friction=5.0)
    run = m.simulate(np.linspace(0, 1, 11), control={"left": "8*t", "right": "8*t"})
    # 2 · 8 t / 0.1 N along the ground at 0.5 m below the mass centre; of the moment, ± M / 0.5 m on each ball
    begins = 20.0 * 9.81 / 4 / (160.0 * 0.5 / 0.5)
    (first,) = run.ground().violations
    assert first.what == "normal of front" and float(first) == pytest.approx(begins, rel=1e-9)
    assert "wheel front would have to pull" in str(run.outcome) and "slip" not in str(run.outcome)


def test_the_friction_that_is_needed_has_a_bound_where_a_wheel_lifts() -> None:
    """The normal force of the left wheel falls through zero at 1.1646 s: |F_t| / F_n grows with nearer samples."""
    run, even = kane.load("tanner-mobile-manipulator").simulate(2.0), np.linspace(0.0, 2.0, 401)
    lift = float(run.ground().crossings[0])
    near = run.resample(np.sort(np.append(even, lift - 1e-6))).ground()
    left, pressed = near.wheels.index("left"), near.normal > 0.0
    assert near.friction[pressed[:, left], left].max() > 1e3
    assert near.needed_friction == pytest.approx(run.resample(even).ground().needed_friction)
    carried = near.normal[:, left] >= 0.05 * near.normal[:, left].max()
    along = np.hypot(near.longitudinal, near.lateral)[carried, left]
    assert near.needed_friction[left] == pytest.approx((along / near.normal[carried, left]).max())
    assert "left carries less than 5 %" in str(near)
    assert kane.load("ackermann-car").simulate(1.0).ground().remark == ""
