"""Parts of spacecraft against what is known of them in closed form, and the built-in spacecraft against their laws."""

# Pinocchio is a compiled module without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from kane import Model, load
from kane.analysis.check import random_states
from kane.analysis.programs import Array
from kane.errors import ModelError
from kane.formulation.dense import dense_equations
from kane.graph import Expr
from kane.model import Effort, Force, JointSpring, MagneticTorque, PointGravity, Spring, Stop, Thruster, Torque
from kane.model.joints import Revolute

SAME = 1e-9  # two descriptions of one motion, relative, after some seconds at rtol 1e-11
PEER = 1e-10  # relative to the largest effort or acceleration, two float64 codes
DRIFT = 1e-11  # of momentum over 1000 s, relative
ENERGY_DRIFT = 1e-9  # of energy over 1000 s, relative
SPACECRAFT = ("stoneking-five-body", "satellite-with-panels", "free-flying-robot", "dual-spin")
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
AT = np.array([0.3, 0.2, -0.4])  # m, where the wheel is
WHEEL_MASS, ACROSS, SPIN = 12.0, 0.05, 0.09  # kg, kg m²


def entries(I: Array) -> dict[str, float]:
    places = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    return {key: float(I[place]) for key, place in places.items()}


def turned_to(axis: Array) -> Array:
    """A rotation matrix whose third column is `axis`."""
    first = np.cross(axis, [0.0, 0.0, 1.0]) if abs(axis[2]) < 0.9 else np.cross(axis, [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])


def shifted(mass: float, arm: Array) -> Array:
    return mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))


def carrier(model: Model, name: str, *, with_wheel: bool) -> None:
    """The body that carries the wheel: alone, or with the wheel's mass and its inertia across its axis."""
    mass, I = 90.0, np.array([[20.0, 1.0, -0.5], [1.0, 26.0, 0.7], [-0.5, 0.7, 24.0]])
    if not with_wheel:
        model.body(name, mass=mass, inertia=entries(I))
        return
    total = mass + WHEEL_MASS
    center = WHEEL_MASS * AT / total
    I = I + shifted(mass, center) + shifted(WHEEL_MASS, AT - center) + ACROSS * (np.eye(3) - np.outer(AXIS, AXIS))
    model.body(name, mass=total, center=center.tolist(), inertia=entries(I))


def mounted(model: Model, body: str, *, full: bool) -> None:
    if full:
        model.body("wheel", mass=WHEEL_MASS, inertia={"xx": ACROSS, "yy": ACROSS, "zz": SPIN})
        rotation = {"matrix": turned_to(AXIS).tolist()}
        model.joint("wheel", "revolute", body, "wheel", at=AT.tolist(), rotation=rotation, axis="z")
    else:
        model.reaction_wheel("wheel", body, AXIS.tolist(), SPIN, at=AT.tolist())


def craft(*, full: bool) -> Model:
    """A free craft with a reaction wheel."""
    model = Model("craft")
    carrier(model, "bus", with_wheel=not full)
    model.joint("flight", "free", "ground", "bus")
    mounted(model, "bus", full=full)
    return model


def gyro(*, full: bool) -> Model:
    """A free craft with a control-moment gyro: the wheel is on a gimbal."""
    model = Model("gyro")
    model.body("bus", mass=300.0, inertia={"xx": 90.0, "yy": 110.0, "zz": 100.0})
    model.joint("flight", "free", "ground", "bus")
    carrier(model, "gimbal", with_wheel=not full)
    model.joint("gimbal", "revolute", "bus", "gimbal", at=[0.5, 0.0, 0.0], axis="y")
    mounted(model, "gimbal", full=full)
    return model


@pytest.mark.parametrize("make", [craft, gyro])
def test_a_wheel_of_spin_alone_moves_its_craft_as_a_full_body_does(make: Callable[..., Model]) -> None:
    t = np.linspace(0.0, 5.0, 11)
    runs = []
    for full in (True, False):
        model = make(full=full)
        u = {s: 0.1 * (k - 2) for k, s in enumerate(model.speeds)} | {"u_wheel": 150.0}
        control = {"wheel": "0.5*sin(3*t)"} | ({"gimbal": "2*cos(t)"} if make is gyro else {})
        run = model.simulate(t, u=u, control=control, rtol=1e-11, atol=1e-11)
        momentum = model.momentum(run.q, run.u)
        runs.append((run.q, run.u, momentum.linear, momentum.angular, sum(model.energy(run.q, run.u))))
        assert model.check().passed
    for one, other in zip(*runs, strict=True):
        np.testing.assert_allclose(one, other, rtol=SAME, atol=SAME * float(np.abs(one).max()))


def test_the_angle_of_a_wheel_is_in_no_equation() -> None:
    rng = np.random.default_rng(5)
    for model in (craft(full=False), craft(full=True), gyro(full=False)):
        q, u = model.initial_state
        turned = q + np.where(np.array(model.coordinates) == "q_wheel", 2.3, 0.0)
        u, x = rng.normal(size=(2, len(u)))
        for answer in (model.inverse_dynamics, model.forward_dynamics):
            np.testing.assert_array_equal(answer(q, u, x), answer(turned, u, x))
        trig = {"craft": 0, "gyro": 2}[model.name]  # sine and cosine of the gimbal's angle
        assert model.equations().count("forward_dynamics")["trig"] == trig


def test_a_load_on_the_rim_of_a_wheel_feels_its_angle() -> None:
    model = craft(full=False)
    model.load("rub", Force("wheel", ["1 + 0.1*u_wheel", 0.0, 0.0], at=[0.0, 0.2, 0.0], frame="wheel"))
    assert model.check().passed
    assert model.equations().count("forward_dynamics")["trig"] > 0


def test_a_torque_on_a_wheel_in_the_axes_of_its_carrier_does_not_feel_its_angle() -> None:
    model = craft(full=False)
    model.load("motor", Torque("wheel", [*(0.3 * AXIS).tolist()], frame="bus", reaction="bus"))
    model.load("wind", Torque("wheel", [0.1, "0.2*t", 0.0]))
    assert model.check().passed
    assert model.equations().count("forward_dynamics")["trig"] == 0


def test_the_motor_s_torque_passes_momentum_between_wheel_and_craft() -> None:
    model = Model("spin-up")
    model.body("bus", mass=10.0, inertia={"xx": 3.0, "yy": 3.0, "zz": 5.0})
    model.joint("flight", "free", "ground", "bus")
    model.reaction_wheel("w", "bus", "z", 0.2)
    torque, T = 0.4, 3.0
    run = model.simulate((0.0, T), control={"w": torque})
    speed = dict(zip(model.speeds, run.u[-1], strict=True))
    bus = -torque * T / 5.0
    np.testing.assert_allclose(speed["u_flight_wz"], bus, rtol=1e-9)
    np.testing.assert_allclose(speed["u_w"], torque * T / 0.2 - bus, rtol=1e-9)


def test_a_gimballed_wheel_gives_the_torque_of_a_control_moment_gyro() -> None:
    """With the gimbal turning at σ the wheel's h asks for σ × h, here held by the ground."""
    model = Model("gyro")
    model.body("gimbal", mass=1.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    model.joint("hold", "spherical", "ground", "gimbal")
    model.reaction_wheel("w", "gimbal", "z", 0.05)
    sigma, spin = 0.3, 200.0
    tau = model.inverse_dynamics([1, 0, 0, 0, 0], [sigma, 0, 0, spin], [0, 0, 0, 0])
    np.testing.assert_allclose(tau, [0.0, -sigma * 0.05 * spin, 0.0, 0.0], atol=1e-12)


def test_a_pulse_of_a_thruster_changes_velocity_by_its_impulse() -> None:
    model = Model("pulse")
    model.body("bus", mass=20.0, inertia={"xx": 3.0, "yy": 3.0, "zz": 5.0})
    model.joint("flight", "free", "ground", "bus", velocity="parent")
    model.load("main", Thruster("bus", "x", "select(t < 2, 5, 0)", at=[-1.0, 0.0, 0.0]))
    run = model.simulate(np.linspace(0.0, 4.0, 9))
    np.testing.assert_allclose(run.u[-1], [0, 0, 0, 0.5, 0, 0], atol=1e-7)
    with pytest.raises(ModelError, match="unit vector"):
        model.load("bad", Thruster("bus", [0.0, 0.0, 0.0], 1.0))


def test_slosh_swings_with_the_frequency_of_its_pendulum() -> None:
    model = Model("tank")
    model.parameter("a", 0.5)
    model.body("bus", mass=1e6, inertia={"xx": 1e6, "yy": 1e6, "zz": 1e6})
    model.joint("flight", "free", "ground", "bus")
    model.mechanism.slosh("tank", "bus", 3.0, 0.8, at=[0.0, 0.0, 0.0], axis="x")
    model.load("main", Thruster("bus", "x", "a*(1e6 + 3)"))
    frequency = np.sqrt(0.5 / 0.8)
    t = np.linspace(0.0, 3 * 2 * np.pi / frequency, 61)
    run = model.simulate(t, q={"q_tank_1": 0.01}, rtol=1e-10)
    swing = run.q[:, model.coordinates.index("q_tank_1")]
    assert np.abs(swing - 0.01 * np.cos(frequency * t)).max() <= 0.01 * 3e-4


def test_a_stop_gives_back_what_it_takes_and_its_damper_never_pulls() -> None:
    def slider(damping: float) -> Model:
        model = Model("slider")
        model.body("B", mass=2.0)
        model.joint("j", "prismatic", "ground", "B", axis="x", coordinates=["q"], speeds=["u"])
        model.load("ends", Stop("j", lower=-0.5, upper=1.0, stiffness=800.0, damping=damping))
        return model

    t = np.linspace(0.0, 4.0, 401)
    elastic = slider(0.0)
    run = elastic.simulate(t, u=[3.0], rtol=1e-10, atol=1e-12)
    total = run.energy().kinetic + run.energy().potential
    assert np.abs(total - total[0]).max() <= 1e-6 * total[0]
    depth = 3.0 * np.sqrt(2.0 / 800.0)  # m: ½ m v² = ½ k p²
    assert run.q.max() <= 1.0 + depth + 1e-6 and run.q.min() >= -0.5 - depth - 1e-6
    damped = slider(60.0)
    for q, u in np.random.default_rng(3).uniform([-1.0, -9.0], [1.5, 9.0], (200, 2)):
        push = -float(damped.bias([q], [u])[0])
        expected = max(0.0, 800.0 * (-0.5 - q) - 60.0 * u) if q < -0.5 else 0.0
        expected -= max(0.0, 800.0 * (q - 1.0) + 60.0 * u) if q > 1.0 else 0.0
        assert push == pytest.approx(expected, abs=1e-9)
    run = damped.simulate(t, u=[3.0])
    assert np.all(np.diff(0.5 * 2.0 * run.u[:, 0] ** 2 + damped.energy(run.q, run.u).potential) <= 1e-6)
    assert run.check().passed


def test_a_dipole_swings_like_a_compass() -> None:
    moment, field, inertia = 8.0, 3e-5, 0.002  # A m², T, kg m²
    model = Model("compass")
    model.body("needle", inertia={"xx": 1e-4, "yy": inertia, "zz": inertia})
    model.joint("pin", "revolute", "ground", "needle", axis="z", coordinates=["q"], speeds=["u"])
    model.load("earth", MagneticTorque("needle", [moment, 0.0, 0.0], field=[field, 0.0, 0.0]))
    frequency = np.sqrt(moment * field / inertia)
    t = np.linspace(0.0, 2 * np.pi / frequency, 41)
    run = model.simulate(t, q=[0.01], rtol=1e-10)
    assert np.abs(run.q[:, 0] - 0.01 * np.cos(frequency * t)).max() <= 0.01 * 1e-4


def test_the_field_of_a_dipole_is_twice_as_strong_over_its_pole() -> None:
    model = Model("dipole")
    model.body("B", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    model.joint("flight", "free", "ground", "B")
    model.load("coil", MagneticTorque("B", [1.0, 0.0, 0.0], dipole=[0.0, 0.0, -8.0]))
    still = np.zeros(6)
    for place, B in (([2.0, 0.0, 0.0], [0.0, 0.0, 1.0]), ([0.0, 0.0, 2.0], [0.0, 0.0, -2.0])):
        torque = -model.bias([1.0, 0.0, 0.0, 0.0, *place], still)[:3]
        np.testing.assert_allclose(torque, np.cross([1.0, 0.0, 0.0], B), atol=1e-12)


@pytest.mark.parametrize("name", SPACECRAFT)
def test_the_built_in_spacecraft_obey_the_laws(name: str) -> None:
    model = load(name)
    assert model.check().passed
    for control in (None, *model.controls):
        run = model.simulate(np.linspace(0.0, 10.0, 41), control=control)
        assert run.outcome.success and run.check().passed


@pytest.mark.parametrize("loads", ["as described", "none"])
def test_the_five_bodies_keep_momentum_and_energy_for_a_thousand_seconds(loads: str) -> None:
    model = load("stoneking-five-body")
    if loads == "none":
        for name in list(model.loads):
            del model.mechanism.loads[name]
        model.mechanism.revision += 1
    run = model.simulate(np.linspace(0.0, 1000.0, 501), rtol=1e-13, atol=1e-13)
    assert run.outcome.success
    momentum, central = model.momentum(run.q, run.u), model.momentum(run.q, run.u, about="center")
    for vectors in (momentum.linear, momentum.angular, central.angular):
        assert np.linalg.norm(vectors - vectors[0], axis=1).max() <= DRIFT * np.linalg.norm(vectors[0])
    energy = run.energy().kinetic + run.energy().potential
    assert np.abs(energy - energy[0]).max() <= ENERGY_DRIFT * energy[0]


@pytest.mark.parametrize("name", SPACECRAFT)
def test_mass_centre_inertia_and_momentum_are_sums_over_the_bodies(name: str) -> None:
    model = load(name)
    rng = np.random.default_rng(1)
    q, u = model.initial_state
    u = u + rng.normal(size=len(u))
    place = {c: k for k, c in enumerate(model.coordinates)}
    q[[place[c] for c in "xyz"]] = [3.0, -2.0, 1.0]
    mass, moment, I_O = 0.0, np.zeros(3), np.zeros((3, 3))
    p, H_O = np.zeros(3), np.zeros(3)
    for body in model.bodies.values():
        R, origin = model.at(body.name).pose(q)
        m = model.mechanism.number(body.mass, "")
        center = origin + R @ [model.mechanism.number(e, "") for e in body.center]
        I = R @ np.array([[model.mechanism.number(e, "") for e in row] for row in body.inertia]) @ R.T
        twist = model.at(body.name, [model.mechanism.number(e, "") for e in body.center]).velocity(q, u)
        mass += m
        moment += m * center
        I_O += I + shifted(m, center)
        p += m * twist[3:]
        H_O += I @ twist[:3] + m * np.cross(center, twist[3:])
    assert model.mass == pytest.approx(mass)
    r = moment / mass
    np.testing.assert_allclose(model.mass_center(q), r, rtol=1e-12)
    size = float(np.abs(I_O).max())
    np.testing.assert_allclose(model.inertia(q, about=[0.0, 0.0, 0.0]), I_O, rtol=1e-11, atol=1e-12 * size)
    np.testing.assert_allclose(model.inertia(q), I_O - shifted(mass, r), rtol=1e-10, atol=1e-12 * size)
    np.testing.assert_allclose(model.momentum(q, u).angular, H_O, rtol=1e-9)
    central = model.momentum(q, u, about="center")
    np.testing.assert_allclose(central.linear, p, rtol=1e-10)
    np.testing.assert_allclose(central.angular, H_O - np.cross(r, p), rtol=1e-8)


def loaded_craft() -> Model:
    """A craft under loads of every kind, internal ones among them."""
    model = gyro(full=True)
    model.set_gravity([0.1, -0.2, 0.3])
    model.load("jet", Thruster("gimbal", "x", "2 + sin(t)", at=[0.1, 0.2, 0.3]))
    model.load("pull", Force("bus", [0.5, "0.1*u_flight_vx", 0.0], at=[0.0, 1.0, 0.0], reaction="ground"))
    model.load("motor", Torque("wheel", [0.0, 0.0, 0.2], frame="gimbal", reaction="gimbal"))
    model.load("rope", Spring("ground", "gimbal", first_at=[3.0, 0.0, 0.0], stiffness=2.0, damping=0.3, rest=1.0))
    model.load("hinge", JointSpring("gimbal", stiffness=4.0, damping=0.1))
    model.load("push", Effort("flight", "0.7*cos(t)", index=4))
    model.load("star", PointGravity(40.0, center=model.point("far", "O", model.mechanism.N.vector(5.0, 4.0, -6.0))))
    return model


def test_momentum_changes_by_the_impulse_of_the_loads_from_outside() -> None:
    model = loaded_craft()
    u = {s: 0.1 * (k - 3) for k, s in enumerate(model.speeds)}
    control = {"gimbal": "sin(t)", "u_flight_wy": "0.3*t", "u_flight_vz": 0.2}
    run = model.simulate(np.linspace(0.0, 5.0, 201), u=u, control=control, rtol=1e-11, atol=1e-11)
    momentum, impulse = model.momentum(run.q, run.u), run.impulse()
    for gained, given in zip(momentum, impulse, strict=True):
        size = float(np.abs(given).max())
        assert size > 1.0 and np.abs(gained - gained[0] - given).max() <= 1e-8 * size


def test_loads_between_bodies_give_no_resultant() -> None:
    for name in ("stoneking-five-body", "free-flying-robot"):
        model = load(name)
        force, moment = model.external_loads(*model.initial_state)
        assert not np.any(force) and not np.any(moment)
    with pytest.raises(ModelError, match="joints to the ground transmit reactions"):
        load("pendulum").external_loads([0.1], [0.0])


def in_pinocchio(model: Model) -> pin.Model:
    """A craft of free, spherical and revolute joints whose frames are parallel at rest, from the model's numbers."""
    peer = pin.Model()
    peer.gravity.linear = np.zeros(3)
    index = {"ground": 0}
    for joint in model.joints.values():
        kind = joint.type
        if isinstance(kind, Revolute):
            made = pin.JointModelRevoluteUnaligned(numbers(model, kind.axis))
        else:
            made = {"free": pin.JointModelFreeFlyer, "spherical": pin.JointModelSpherical}[kind.kind]()
        parent = joint.parent.joint
        at = numbers(model, joint.at) - (0.0 if parent is None else numbers(model, parent.child_at))
        body, name = joint.child, joint.name
        index[body.name] = peer.addJoint(index[joint.parent.name], made, pin.SE3(np.eye(3), at), name)
        I = np.array([numbers(model, row) for row in body.inertia])
        center = numbers(model, body.center) - numbers(model, joint.child_at)
        mass = model.mechanism.number(body.mass, "")
        peer.appendBodyToJoint(index[body.name], pin.Inertia(mass, center, I), pin.SE3.Identity())
    return peer


def numbers(model: Model, triple: tuple[Expr, Expr, Expr]) -> Array:
    return np.array([model.mechanism.number(e, "") for e in triple])


def reordered(model: Model, q: Array, u: Array) -> tuple[Array, Array]:
    """q and speeds (or efforts) in Pinocchio's order: quaternions xyzw, v before ω, position before attitude."""
    q_at = dict(zip(model.coordinates, q, strict=True))
    u_at = {repr(s.definition): x for s, x in zip(model.mechanism.speed_records.values(), u, strict=True)}
    places, speeds = [], []
    for joint in model.joints.values():
        mine = [q_at[c.name] for c in joint.coordinates]
        own = [u_at[repr(rate)] for rate in joint.rates]
        if len(mine) > len(own):
            mine, own = [*mine[4:], *mine[1:4], mine[0]], [*own[3:], *own[:3]]
        places += mine
        speeds += own
    return np.array(places), np.array(speeds)


def spherical_arm() -> Model:
    """A free base with an arm of two spherical joints and a hinge between them."""
    model = Model("spherical-arm")
    for k, name in enumerate(("base", "upper", "lower", "hand")):
        moments = {"xx": 2.0 / (k + 1), "yy": 2.5 / (k + 1), "zz": 1.5 / (k + 1), "xy": 0.1}
        model.body(name, mass=20.0 / (k + 1), center=[0.1, 0.05 * k, -0.1], inertia=moments)
    model.joint("flight", "free", "ground", "base")
    model.joint("shoulder", "spherical", "base", "upper", at=[0.3, 0.2, 0.1], child_at=[-0.4, 0.0, 0.1])
    model.joint("elbow", "revolute", "upper", "lower", at=[0.4, 0.0, 0.0], axis=[0.6, 0.0, 0.8])
    model.joint("wrist", "spherical", "lower", "hand", at=[0.5, -0.1, 0.0])
    return model


@pytest.mark.parametrize("name", ["free-flying-robot", "dual-spin", "spherical-arm"])
def test_dynamics_of_free_flyers_are_those_of_pinocchio(name: str) -> None:
    model = spherical_arm() if name == "spherical-arm" else load(name)
    model.loads.clear()
    model.mechanism.revision += 1
    peer = in_pinocchio(model)
    data = peer.createData()
    states = random_states(dense_equations(model.mechanism), 5, 11)
    tau = model.inverse_dynamics(states.q, states.u, states.udot)
    udot = model.forward_dynamics(states.q, states.u, states.tau)
    for k in range(len(states)):
        q, u = reordered(model, states.q[k], states.u[k])
        there = pin.rnea(peer, data, q, u, reordered(model, states.q[k], states.udot[k])[1])
        assert np.abs(reordered(model, q=states.q[k], u=tau[k])[1] - there).max() <= PEER * np.abs(there).max()
        there = pin.aba(peer, data, q, u, reordered(model, states.q[k], states.tau[k])[1])
        assert np.abs(reordered(model, q=states.q[k], u=udot[k])[1] - there).max() <= PEER * np.abs(there).max()


def test_a_motion_keeps_its_momentum_while_a_prescribed_antenna_swings() -> None:
    """Nothing acts from outside: momentum is constant."""
    m = Model("craft")
    m.body("bus", mass=100, inertia={"xx": 20, "yy": 26, "zz": 24})
    m.body("antenna", mass=5, center=(0, 0, 0.5), inertia={"xx": 1, "yy": 1, "zz": 0.1})
    m.joint("flight", "free", "ground", "bus")
    m.joint("gimbal", "revolute", "bus", "antenna", axis="x", at=(0, 0, 1), prescribed=["0.5*sin(t)"])
    run = m.simulate(np.linspace(0, 10, 41), u={"u_flight_wz": 0.1}, rtol=1e-11)
    whole = run.momentum(about="center")
    assert np.ptp(whole.angular, axis=0).max() < 1e-9 * np.linalg.norm(whole.angular[0])
    assert np.ptp(whole.linear, axis=0).max() < 1e-9 * m.mass
    of_the_origin = run.momentum((1.0, 2.0, 3.0))
    shift = np.cross(run.model.mass_center(run.q, t=run.t) - [1.0, 2.0, 3.0], whole.linear)
    np.testing.assert_allclose(of_the_origin.angular, whole.angular + shift, atol=1e-12)


def test_the_balance_of_a_motion_counts_springs_once_and_gravity_in_the_potential() -> None:
    m = Model("bob", gravity=(0, 0, -9.81))
    m.particle("bob", 2.0)
    m.joint("slide", "prismatic", "ground", "bob", axis="z", coordinates=["z"], speeds=["v"])
    m.load("spring", JointSpring("slide", stiffness=50.0, damping=0.3))
    run = m.simulate(np.linspace(0, 2, 41), q=[0.2], rtol=1e-11)
    kept = run.balance()
    np.testing.assert_allclose(kept.potential, 2.0 * 9.81 * run["z"], rtol=1e-13)
    np.testing.assert_allclose(kept.kinetic, run["v"] ** 2, rtol=1e-13)
    assert kept.error < 1e-9
    assert np.ptp(run.energy().total - run.work) > 0.1  # where the spring would be counted twice
