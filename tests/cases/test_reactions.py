"""Forces and moments in joints and of constraints against Newton's laws written out by hand, and against Pinocchio."""

# Pinocchio is a compiled module without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

import kane
from cases.test_peer_trees import KINDS, pinocchio_tree, to_pinocchio, tree
from kane import Model
from kane.analysis.check import random_states
from kane.formulation.dense import dense_equations
from kane.model import Distance, Gear, JointSpring, Loop, PointOnLine, Rolling, RollingSphere, Spring
from laws.trees import build
from seeds import generator

Array = NDArray[np.float64]

EXACT = 1e-12  # relative: rounding of two formulations
PEER = 1e-10  # relative to the largest force, two float64 codes
DIFFERENCED = 1e-7  # of an acceleration by differences of sixth order
G = 9.81
METHODS = ("auxiliary", "multipliers", "complement")
every_method = pytest.mark.parametrize("method", METHODS)


def near(found: Array, expected: object, size: float = 1.0) -> bool:
    return bool(np.abs(np.asarray(found) - np.asarray(expected, dtype=float)).max() <= EXACT * max(size, 1.0))


@every_method
def test_the_pin_of_a_pendulum_bears_weight_and_centripetal_force(method: str) -> None:
    """Along the rod m (g cos θ + l θ̇²), across it m (g sin θ + l θ̈), about the axis the effort."""
    m, l, I, q, u, tau = 1.7, 0.6, 0.05, 0.8, -2.3, 1.1
    model = Model("pendulum", gravity=[0, -G, 0])
    model.body("bob", mass=m, center=[0, -l, 0], inertia={"xx": I, "zz": I})
    model.joint("pin", "revolute", "ground", "bob", axis="z")
    udot = (tau - m * G * l * np.sin(q)) / (I + m * l**2)
    pin_ = model.reactions([q], [u], [tau], frame="bob", method=method)["pin"]
    assert near(pin_.force, [m * (G * np.sin(q) + l * udot), m * (G * np.cos(q) + l * u**2), 0], 40)
    assert near(pin_.moment, [0, 0, tau], 40)
    assert near(pin_.point, [0, 0, 0])
    back = model.reactions([q], [u], [tau], frame="bob", on="parent", method=method)["pin"]
    assert back.on == "ground" and near(back.force, -pin_.force) and near(back.moment, -pin_.moment)


@every_method
def test_the_joints_of_a_double_pendulum_bear_what_newton_says(method: str) -> None:
    """Two point masses: the outer pin accelerates the outer one, the inner pin both."""
    m1, m2, l1, l2 = 1.3, 0.7, 0.5, 0.8
    model = Model("double", gravity=[0, -G, 0])
    for name, mass, length in (("upper", m1, l1), ("lower", m2, l2)):
        model.body(name, mass=mass, center=[0, -length, 0])
    model.joint("shoulder", "revolute", "ground", "upper", axis="z")
    model.joint("elbow", "revolute", "upper", "lower", at=[0, -l1, 0], axis="z")
    q, u, udot = np.array([0.4, 0.9]), np.array([1.5, -2.0]), np.array([3.0, 2.5])

    def swung(length: float, angle: float, rate: float, second: float) -> Array:
        outward, across = np.array([np.sin(angle), -np.cos(angle), 0]), np.array([np.cos(angle), np.sin(angle), 0])
        return length * (second * across - rate**2 * outward)

    a1 = swung(l1, q[0], u[0], udot[0])
    a2 = a1 + swung(l2, q.sum(), u.sum(), udot.sum())
    up = np.array([0, G, 0])
    tau = model.inverse_dynamics(q, u, udot)
    found = model.reactions(q, u, tau, method=method)
    assert near(found["elbow"].force, m2 * (a2 + up), 40)
    assert near(found["shoulder"].force, m1 * (a1 + up) + m2 * (a2 + up), 40)
    assert near(found["elbow"].moment, [0, 0, tau[1]], 40)
    assert near(found["elbow"].point, [l1 * np.sin(q[0]), -l1 * np.cos(q[0]), 0])
    known = model.reactions(q, u, udot=udot, method=method)
    assert near(known["shoulder"].force, found["shoulder"].force, 40)


@every_method
def test_the_bearing_of_an_unbalanced_rotor_turns_with_it(method: str) -> None:
    """Steady spin ω: force −m e ω² along the eccentricity, moment ω × H about the mass centre."""
    m, e, h, w, Ixz, Iyz = 2.0, 0.01, 0.3, 150.0, 0.004, -0.002
    model = Model("rotor", gravity=[0, 0, 0])
    model.body("rotor", mass=m, center=[e, 0, h], inertia={"xx": 0.05, "yy": 0.05, "zz": 0.08, "xz": Ixz, "yz": Iyz})
    model.joint("bearing", "revolute", "ground", "rotor", axis="z")
    F = np.array([-m * e * w**2, 0, 0])
    M = np.array([-Iyz, Ixz, 0]) * w**2 + np.cross([e, 0, h], F)
    found = model.reactions([0.7], [w], frame="rotor", method=method)["bearing"]
    assert near(found.force, F, np.abs(F).max()) and near(found.moment, M, np.abs(F).max())


@every_method
def test_two_bearings_share_the_moment_of_an_unbalanced_rotor(method: str) -> None:
    """A ball joint at one end, a guide along the shaft at the other: its force times the length is the moment."""
    m, L, w, Ixz, angle = 2.0, 0.5, 40.0, 0.004, 0.6
    model = Model("rotor", gravity=[0, -G, 0])
    model.body("rotor", mass=m, center=[0, 0, L / 4], inertia={"xx": 0.05, "yy": 0.05, "zz": 0.08, "xz": Ixz})
    model.joint("near", "spherical", "ground", "rotor")
    model.constrain("far", PointOnLine("ground", "rotor", second_at=[0, 0, L], axis="z"))
    q, u = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)], [0, 0, w]
    found = model.reactions(q, u, method=method)
    turning = Ixz * w**2 * np.array([-np.sin(angle), np.cos(angle), 0])  # the moment that the rotor needs, in N
    far = np.array([turning[1] / L, -turning[0] / L + m * G / 4, 0])
    assert near(found["far"].force, far, 50) and near(found["far"].moment, [0, 0, 0], 50)
    assert near(found["near"].force, [-far[0], m * G - far[1], 0], 50)
    assert near(found["far"].point, [0, 0, L])


@every_method
def test_a_weld_bears_weight_and_its_moment(method: str) -> None:
    model = Model("crane", gravity=[0, 0, -G])
    model.body("post", mass=5.0, center=[0, 0, 1])
    model.body("arm", mass=3.0, center=[0.8, 0, 0])
    model.body("eye")
    model.body("load", mass=2.0)
    model.joint("foot", "weld", "ground", "post")
    model.joint("bracket", "weld", "post", "arm", at=[0, 0, 2])
    model.joint("tip", "weld", "arm", "eye", at=[1.6, 0, 0])
    model.joint("rope", "prismatic", "eye", "load", axis="z")
    found = model.reactions([-0.5], [0.0], [2.0 * G], method=method)
    assert near(found["bracket"].force, [0, 0, 5 * G], 100)
    assert near(found["bracket"].moment, [0, -(0.8 * 3 + 1.6 * 2) * G, 0], 100)
    assert near(found["foot"].force, [0, 0, 10 * G], 100)
    assert near(found["foot"].moment, found["bracket"].moment, 100)
    assert near(found["tip"].force, [0, 0, 2 * G], 100) and near(found["rope"].force, [0, 0, 2 * G], 100)


def disc() -> Model:
    m, r = 3.43, 0.26
    model = Model("disc", gravity=[0, 0, -G])
    model.body("disc", mass=m, inertia={"xx": m * r**2 / 4, "yy": m * r**2 / 2, "zz": m * r**2 / 4})
    model.joint("free", "free", "ground", "disc")
    model.constrain("road", Rolling("disc", radius=r, axis="y"))
    return model


@every_method
@pytest.mark.parametrize(("lean", "yaw_rate"), [(0.3, -2.0), (-0.5, 4.0), (1.2, 9.0)])
def test_the_road_carries_a_disc_in_a_steady_turn(lean: float, yaw_rate: float, method: str) -> None:
    """Normal force m g, friction m Ω × v of the centre; the spin is that of a steady turn [KL85]."""
    m, r, model = 3.43, 0.26, disc()
    s, c = np.sin(lean), np.cos(lean)
    spin = -(5 * yaw_rate**2 * s + 4 * G / r * s / c) / (6 * yaw_rate)
    w = [0, spin + yaw_rate * s, yaw_rate * c]
    q = [np.cos(lean / 2), np.sin(lean / 2), 0, 0, 0, 0, r * c]
    found = model.reactions(q, [*w, r * w[1], 0, 0], method=method)
    road = found["road"]
    assert near(road.force, [0, m * yaw_rate * r * w[1], m * G], 100)
    assert near(road.moment, [0, 0, 0]) and near(road.point, [0, r * s, 0])
    assert near(found["free"].force, [0, 0, 0], 100) and near(found["free"].moment, [0, 0, 0], 100)
    assert near(found.multiplier("road.normal"), m * G, 100)


@every_method
def test_a_ball_rolling_down_a_slope_needs_two_sevenths_of_the_pull(method: str) -> None:
    m, r, slope = 0.8, 0.1, 0.4
    model = Model("ball", gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
    model.body("ball", mass=m, inertia=dict.fromkeys(("xx", "yy", "zz"), 0.4 * m * r**2))
    model.joint("free", "free", "ground", "ball")
    model.constrain("floor", RollingSphere("ball", radius=r))
    found = model.reactions([1, 0, 0, 0, 0, 0, r], np.zeros(6), method=method)["floor"]
    assert near(found.force, [-2 / 7 * m * G * np.sin(slope), 0, m * G * np.cos(slope)], 10)


def axle() -> Model:
    """A wheel on an axle that a carrier holds, the carrier on a rail above the road."""
    model = Model("cart", gravity=[0, 0, -G])
    model.body("cart", mass=4.0, center=[0, 0, 0])
    model.body("wheel", mass=1.0, inertia={"xx": 0.01, "yy": 0.02, "zz": 0.01})
    model.joint("rail", "prismatic", "ground", "cart", axis="x", at=[0, 0, 0.2])
    model.joint("axle", "revolute", "cart", "wheel", axis="y")
    model.constrain("road", Rolling("wheel", radius=0.2, axis="y", normal_row=False))
    return model


@every_method
def test_the_axle_of_a_driven_wheel_pushes_the_cart(method: str) -> None:
    """Torque T on the wheel: a = (T/r) / (m + M + J/r²); the axle pushes the cart with M a, the road the whole."""
    T, r, J, M, m = 3.0, 0.2, 0.02, 4.0, 1.0
    a = T / r / (m + M + J / r**2)
    found = axle().reactions([0.3, 1.5], [0.4, 2.0], [0, T], method=method)
    assert near(found["road"].force, [(m + M) * a, 0, 0], 50)
    assert near(found["axle"].force, [-M * a, 0, m * G], 50)
    assert near(found["axle"].moment, [0, T, 0], 50)
    assert near(found["rail"].force, [0, 0, (m + M) * G], 50)
    assert near(found["rail"].moment, [0, r * (m + M) * a + J * a / r, 0], 50)
    assert found["rail"].undetermined == (
        "force y",
        "moment x",
    )  # rail and road both keep the wheel from going sideways


LENGTHS = (0.1, 0.26, 0.18, 0.23)  # m: crank, coupler, rocker, base


def four_bar(rows: tuple[str, ...] | None) -> Model:
    """Bars of 2 kg/m in a vertical plane; `rows` of the pin that closes the loop (None: all five)."""
    a, b, c, d = LENGTHS
    model = Model("four-bar", gravity=[0, -G, 0])
    for name, length in (("crank", a), ("coupler", b), ("rocker", c)):
        I = 2 * length**3 / 12
        model.body(name, mass=2 * length, center=[length / 2, 0, 0], inertia={"yy": I, "zz": I})
    model.joint("A", "revolute", "ground", "crank", axis="z", initial=[1.0])
    model.joint("B", "revolute", "crank", "coupler", axis="z", at=[a, 0, 0], initial=[-0.8])
    model.joint("D", "revolute", "ground", "rocker", axis="z", at=[d, 0, 0], initial=[1.3])
    model.constrain(
        "C", Loop("revolute", "coupler", "rocker", first_at=[b, 0, 0], second_at=[c, 0, 0], axis="z", rows=rows)
    )
    return model


@every_method
def test_a_four_bar_at_rest_is_in_equilibrium(method: str) -> None:
    """Nine equations of three bars for the forces of four pins and the torque that holds the crank."""
    a, b, c, d = LENGTHS
    model = four_bar(("x", "y"))
    q, _ = model.project()
    at = {"A": np.zeros(2), "D": np.array([d, 0])}
    at["B"] = a * np.array([np.cos(q[0]), np.sin(q[0])])
    at["C"] = at["D"] + c * np.array([np.cos(q[2]), np.sin(q[2])])
    pins, E, right = "ABCD", np.zeros((9, 9)), np.zeros(9)
    bars = [("A", "B", a, {"A": 1, "B": -1}), ("B", "C", b, {"B": 1, "C": -1}), ("D", "C", c, {"D": 1, "C": 1})]
    for k, (one, other, length, acting) in enumerate(bars):
        center = (at[one] + at[other]) / 2
        for name, sign in acting.items():
            i, arm = 2 * pins.index(name), at[name] - center
            E[3 * k, i] = E[3 * k + 1, i + 1] = sign
            E[3 * k + 2, i : i + 2] = sign * np.array([-arm[1], arm[0]])
        right[3 * k + 1] = 2 * length * G
    E[2, 8] = 1  # the torque on the crank
    expected = np.linalg.solve(E, right)
    found = model.reactions(q, np.zeros(3), [expected[8], 0, 0], method=method)
    for name in pins:
        i = 2 * pins.index(name)
        assert near(found[name].force, [*expected[i : i + 2], 0], 20)
        assert near(found[name].point[:2], at[name])
    assert near(found["A"].moment, [0, 0, expected[8]])
    assert not found.undetermined


@every_method
def test_a_spatial_four_bar_says_what_its_plane_leaves_open(method: str) -> None:
    """Forces across the plane and moments in it are not determined; all else is that of the planar linkage."""
    planar, spatial = four_bar(("x", "y")), four_bar(None)
    q, u = planar.project(u=[2.0, 0.0, 0.0])
    right = planar.reactions(q, u, [0.3, 0, 0], method=method)
    found = spatial.reactions(q, u, [0.3, 0, 0], method=method)
    loose = ("force z", "moment x", "moment y")
    assert found.undetermined == {"C.z": (), "C.rx": (), "C.ry": (), **dict.fromkeys("ABDC", loose)}
    for name in "ABCD":
        assert near(found[name].force, right[name].force, 40)
        assert near(found[name].moment, right[name].moment, 40)
    turned = spatial.reactions(q, u, [0.3, 0, 0], frame="crank", method=method)
    assert turned.undetermined["B"] == loose


@pytest.mark.parametrize("method", METHODS[:2])
def test_bars_in_one_line_push_each_other_by_any_force(method: str) -> None:
    """A parallelogram that lies flat: the force along the line is not determined, a moment before and after it is."""
    model = kane.load("parallelogram")
    flat = model.reactions(np.zeros(3), np.zeros(3), method=method)
    assert "pin.x" in flat.undetermined and "force x" in flat["crank"].undetermined
    assert "force y" not in flat["crank"].undetermined
    q, u = model.project()
    assert "pin.x" not in model.reactions(q, u, method=method).undetermined


@every_method
def test_gears_hand_over_what_turns_the_second_wheel(method: str) -> None:
    """T on the first: α1 = T / (I1 + k² I2); the gear turns the second by I2 k α1, the first back by k times that."""
    I1, I2, k, T = 0.3, 0.5, -1.5, 2.0
    model = Model("gears", gravity=[0, 0, -G])
    for name, inertia in (("first", I1), ("second", I2)):
        model.body(name, mass=1.0, inertia={"xx": inertia, "yy": inertia, "zz": inertia})
    model.joint("one", "revolute", "ground", "first", axis="z", speeds=["u1"])
    model.joint("two", "revolute", "ground", "second", axis="z", at=[1, 0, 0], speeds=["u2"])
    model.constrain("mesh", Gear("one", "two", ratio=k))
    found = model.reactions([0, 0], [0, 0], [T, 0], method=method)
    alpha = T / (I1 + k**2 * I2)
    names = list(model.mechanism.motion_variables)
    assert near(found["mesh"].efforts[names[1]], I2 * k * alpha)
    assert near(found["mesh"].efforts[names[0]], -k * I2 * k * alpha)
    assert near(found["two"].moment, [0, 0, I2 * k * alpha]) and near(found["one"].moment, [0, 0, I1 * alpha])
    assert near(found["one"].force, [0, 0, G], 10)


@every_method
def test_two_equal_rods_share_a_load_that_one_could_bear(method: str) -> None:
    """Which of them does is not determined; the least norm is half each."""
    m = 3.0
    model = Model("twins", gravity=[0, 0, -G])
    model.body("load", mass=m)
    model.joint("guide", "prismatic", "ground", "load", axis="z")
    for name in ("left", "right"):
        model.constrain(name, Distance("ground", "load", length=1.0, first_at=[0, 0, 2]))
    found = model.reactions([1.0], [0.0], method=method)
    assert near(found["left"].force, [0, 0, m * G / 2], 20) and near(found["right"].force, [0, 0, m * G / 2], 20)
    assert found.undetermined == {"left": ("force z",), "right": ("force z",)}
    assert near(found["guide"].force, [0, 0, 0], 20)


def test_springs_dampers_and_rotors_act_through_their_joint() -> None:
    """About its axis a joint has tau, what spring and damper give, less what its rotor takes."""
    model = Model("driven", gravity=[0, -G, 0])
    model.body("rod", mass=2.0, center=[0.4, 0.1, 0], inertia={"xx": 0.02, "yy": 0.1, "zz": 0.1})
    model.joint("hinge", "revolute", "ground", "rod", axis="z")
    model.load("spring", JointSpring("hinge", stiffness=3.0, damping=0.4, rest=0.2))
    model.mechanism.rotor("motor", "hinge", 0.01, ratio=5)
    model.load("rope", Spring("ground", "rod", first_at=[0, 1, 0], second_at=[0.5, 0, 0], stiffness=7.0))
    q, u, tau = 0.9, 1.2, 0.7
    udot = model.forward_dynamics([q], [u], [tau])[0]
    expected = tau - 3.0 * (q - 0.2) - 0.4 * u - 0.01 * 25 * udot
    for method in METHODS:
        assert near(model.reactions([q], [u], [tau], method=method)["hinge"].moment[2], expected, 10)


@pytest.mark.parametrize("name", ["ur5", "stanford-arm", "four-bar"])
def test_the_ground_accelerates_the_mass_centre(name: str) -> None:
    """Σ of all that the ground exerts = m (c̈ − g), with c̈ by differences along q(t) of the right rates."""
    model = four_bar(None) if name == "four-bar" else kane.load(name)
    rng = generator(5)
    q = rng.uniform(0.2, 0.9, len(model.coordinates))
    q, u = model.project(q, rng.uniform(-1, 1, len(model.speeds)))
    tau = rng.uniform(-1, 1, len(u))
    udot = model.forward_dynamics(q, u, tau)
    # the speeds of all three are rates of coordinates, so that q(t) has the rates u and udot
    h = 4e-3
    steps = np.arange(-3, 4) * h
    c = model.mass_center(q + steps[:, None] * model.qdot(q, u) + 0.5 * steps[:, None] ** 2 * model.qdot(q, udot))
    weights = np.array([2, -27, 270, -490, 270, -27, 2]) / 180 / h**2
    total = np.zeros(3)
    found = model.reactions(q, u, tau)
    for joint in model.joints.values():
        if joint.parent is model.mechanism.ground:
            total += found[joint.name].force
    gravity = np.array(model.gravity)
    expected = model.mass * (weights @ c - gravity)
    assert np.abs(total - expected).max() <= DIFFERENCED * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(3))
def test_joint_forces_are_those_of_pinocchio(seed: int) -> None:
    """Recursive Newton–Euler leaves the wrench of each joint on its child, in the joint's frame [FEA08]."""
    plan = tree(seed, KINDS)
    model, peer = build(plan), pinocchio_tree(plan)
    data = peer.createData()
    states = random_states(dense_equations(model.mechanism), 4, seed)
    tau = model.inverse_dynamics(states.q, states.u, states.udot)
    found = model.reactions(states.q, states.u, tau)
    for k in range(len(states)):
        q, u = to_pinocchio(plan, states.q[k], states.u[k])
        pin.rnea(peer, data, q, u, to_pinocchio(plan, states.q[k], states.udot[k])[1])
        pin.forwardKinematics(peer, data, q)
        forces = [np.array(data.f[i].linear) for i in range(1, peer.njoints)]
        size = max(np.linalg.norm(f) for f in forces)
        for i in range(1, peer.njoints):
            reaction, frame = found[f"j{i - 1}"], data.oMi[i]
            assert np.abs(frame.rotation @ data.f[i].linear - reaction.force[k]).max() <= PEER * size
            assert np.abs(frame.rotation @ data.f[i].angular - reaction.moment[k]).max() <= PEER * size
            assert np.abs(frame.translation - reaction.point[k]).max() <= PEER


# events --------------------------------------------------------------------------------------------------------------


def bead_on_sphere() -> Model:
    """A bead of 2 kg at the end of a rod of 3 m without mass, which pushes or pulls it, in a vertical plane."""
    model = Model("bead", gravity=(0, 0, -9.81))
    model.body("slider")
    model.body("bead", mass=2.0)
    model.joint("across", "prismatic", "ground", "slider", axis="x", coordinates=["x"], speeds=["vx"])
    model.joint("up", "prismatic", "slider", "bead", axis="z", coordinates=["z"], speeds=["vz"])
    model.constrain("rod", Distance("ground", "bead", length=3.0))
    return model


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_an_event_on_a_reaction_finds_where_a_bead_would_leave_a_sphere(embed: str) -> None:
    """m v²/R = m g cos θ − N with v² = v0² + 2 g R (1 − cos θ): N = 0 at cos θ = 2/3 + v0²/(3 g R)."""
    v0, g, R = 1.5, 9.81, 3.0
    run = bead_on_sphere().simulate(
        (0.0, 5.0),
        q={"x": 0.0, "z": R},
        u={"vx": v0},
        embed=embed,
        events={"lift": {"expression": "rod", "terminal": True}, "half": "abs(rod) - 9.81"},
    )
    assert run.outcome.reason == "event"
    lift, half = run.events
    assert lift.y[0, 1] == pytest.approx(R * (2 + v0**2 / (g * R)) / 3, abs=1e-7)
    # N = m g (3 cos θ − 2 − v0²/(g R)) is half the weight
    assert half.y[0, 1] == pytest.approx(R * (2.5 + v0**2 / (g * R)) / 3, abs=1e-7)
    assert np.abs(run.multipliers - run.reactions().multipliers).max() < 1e-9
    force = run.reactions(method="complement").constraints["rod"].force
    assert np.linalg.norm(force, axis=-1) == pytest.approx(np.abs(run.multipliers[:, 0]), abs=1e-8)


def test_an_event_may_combine_reactions_with_everything_else() -> None:
    model = kane.load("whipple-bicycle")
    watched = "front.lateral + 0.5*rear.lateral - 3 - roll"
    run = model.simulate((0.0, 3.0), u={"uroll": 0.5}, events={"slip": watched, "side": "front.lateral"})
    n, roll = len(model.coordinates), model.coordinates.index("roll")
    front, rear = (model.row_names.index(f"{wheel}.lateral") for wheel in ("front", "rear"))
    for crossings, share in zip(run.events, (1.0, 0.0), strict=True):
        assert len(crossings) >= 2
        q, u = crossings.y[:, :n], crossings.y[:, n : n + len(model.speeds)]
        values = model.reactions(q, u, method="complement").multipliers
        rest = 0.5 * values[:, rear] - 3 - q[:, roll]
        assert np.abs(values[:, front] + share * rest).max() < 1e-8


def test_an_unknown_reaction_in_an_event_is_refused_with_what_was_meant() -> None:
    with pytest.raises(kane.ModelError, match=r"front\.normal"):
        kane.load("whipple-bicycle").simulate((0.0, 1.0), events={"lift": "front.norml"})
