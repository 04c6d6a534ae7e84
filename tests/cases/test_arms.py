"""Arms of the literature: the recursion of Angeles, Ma & Rojas and Pinocchio give their efforts.

The recursion is written here in plain NumPy from Eqs. 7-49 of [AMR89], with the origin of frame i at −b along Z_i (Eq.
8), for which the partial velocity of a prismatic joint is −e_i.
"""

# Pinocchio is a compiled module without type information, in a folder that its package adds at run time.
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import kane
from kane.model import to_urdf

Array = np.ndarray[Any, np.dtype[np.float64]]

AGREEMENT = 1e-10  # relative; the same mechanics with differently rounded numbers
GRAVITY = np.array([0.0, 0.0, -9.81])


class HDLink(NamedTuple):
    """A row of a table in convention hd, with the joint's own parameter at zero coordinate, and the link's inertia."""

    alpha: float
    a: float
    b: float
    theta: float
    mass: float
    rho: Array
    inertia: Array
    prismatic: bool = False


def cross(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def recursive_efforts(links: Sequence[HDLink], q: Array, qd: Array, qdd: Array, g: Array) -> Array:
    """τ by the recursion outwards (Eqs. 12-18) and inwards (Eqs. 44-49)."""
    e, n = np.array([0.0, 0.0, 1.0]), len(links)
    w, wd, o = np.zeros(3), np.zeros(3), -g
    Q, arms, forces, moments = [], [], [], []
    for link, x, xd, xdd in zip(links, q, qd, qdd, strict=True):
        theta, b = link.theta + (0.0 if link.prismatic else x), link.b + (x if link.prismatic else 0.0)
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(link.alpha), np.sin(link.alpha)
        Qi = np.array([[ct, -st, 0], [ca * st, ca * ct, -sa], [sa * st, sa * ct, ca]])
        ai = np.array([link.a, b * sa, -b * ca])
        o = Qi.T @ (o + (cross(wd) + cross(w) @ cross(w)) @ ai)
        w, wd = Qi.T @ w, Qi.T @ wd
        if link.prismatic:
            o = o - 2 * cross(w) @ (xd * e) - xdd * e
        else:
            wd = wd + cross(w) @ (xd * e) + xdd * e
            w = w + xd * e
        p = o + (cross(wd) + cross(w) @ cross(w)) @ link.rho
        forces.append(link.mass * p)
        moments.append(link.inertia @ wd + cross(w) @ link.inertia @ w)
        Q.append(Qi)
        arms.append(ai)
    v, m, tau = np.zeros(3), np.zeros(3), np.zeros(n)
    for i in reversed(range(n)):
        if i + 1 < n:
            v = Q[i + 1] @ v
            m = Q[i + 1] @ m + cross(arms[i + 1]) @ v
        m = m + moments[i] + cross(links[i].rho) @ forces[i]
        v = v + forces[i]
        tau[i] = -e @ v if links[i].prismatic else e @ m
    return tau


def random_state(n: int) -> tuple[Array, Array, Array]:
    q, u, udot = np.random.default_rng(7).uniform(-1, 1, (3, n))
    return q, u, udot


def agree(ours: Array, theirs: Array) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=AGREEMENT, atol=AGREEMENT * float(np.abs(theirs).max()))


def link_of(model: kane.Model, name: str, row: tuple[float, float, float, float], prismatic: bool = False) -> HDLink:
    """The row (alpha, a, b, theta) with the inertia of a body that is described in its frame."""
    body = model.bodies[name]
    center = np.array([model.mechanism.number(c, name) for c in body.center])
    inertia = np.array([[model.mechanism.number(e, name) for e in line] for line in body.inertia])
    return HDLink(*row, model.mechanism.number(body.mass, name), center, inertia, prismatic)


# the Stanford arm by its table [AMR89, Sec. 7.1] ---------------------------------------------------------------------

# Frames from the geometry of [KL83]: axes X, Z of frame i in those of the bodies at rest (y up), origin in the body,
# alpha and b of its row. Z3 points down the boom, so that b3 grows outwards.
RIGHT = np.pi / 2
STANFORD = {
    "waist": ("A", (0, 0, -1), (0, 1, 0), (0, "L4", 0), 0.0, "-L4"),
    "shoulder": ("B", (0, 0, -1), (1, 0, 0), (0, 0, 0), RIGHT, "-L1"),
    "boom": ("C", (0, 0, -1), (0, -1, 0), (0, 0, 0), RIGHT, 0.0),
    "forearm": ("D", (0, 0, -1), (0, 1, 0), (0, "L2", 0), 2 * RIGHT, "-L2"),
    "wrist": ("E", (0, 0, -1), (1, 0, 0), (0, 0, 0), RIGHT, 0.0),
    "hand": ("F", (0, 0, -1), (0, 1, 0), (0, 0, 0), -RIGHT, 0.0),
}
CHAIN = [0, 1, 5, 2, 3, 4]  # places of the coordinates along the chain in q1…q6 of the paper


def stanford_by_table() -> tuple[kane.Model, kane.Model, list[HDLink]]:
    """(the built-in arm, the arm from its HD table, the rows of the recursion)."""
    arm = kane.load("stanford-arm")
    model = kane.Model("stanford-hd", gravity=(0.0, -9.81, 0.0))
    rows, links = {}, []
    for name, (body, x, z, origin, alpha, b) in STANFORD.items():
        R = np.column_stack([x, np.cross(z, x), z])
        record = arm.bodies[body]
        at = np.array([arm.mechanism.number(arm.mechanism.scalar(c, "origin"), "origin") for c in origin])
        center = R.T @ (np.array([arm.mechanism.number(c, "center") for c in record.center]) - at)
        I = R.T @ np.array([[arm.mechanism.number(e, "inertia") for e in row] for row in record.inertia]) @ R
        mass, length = (
            arm.mechanism.number(record.mass, "mass"),
            arm.mechanism.number(arm.mechanism.scalar(b, "b"), "b"),
        )
        entries = {"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]}
        kind = "prismatic" if name == "boom" else "revolute"
        rows[name] = {"type": kind, "a": 0.0, "alpha": alpha, "b": length, "theta": 0.0, "body": body, "mass": mass}
        rows[name].update(center=center.tolist(), inertia={k: float(v) for k, v in entries.items()})
        links.append(HDLink(alpha, 0.0, length, 0.0, mass, center, I, kind == "prismatic"))
    model.dh("hd", rows, rotation={"matrix": [[0, -1, 0], [0, 0, 1], [-1, 0, 0]]})
    return arm, model, links


def test_the_stanford_arm_by_its_table_is_the_built_in_one() -> None:
    arm, model, _ = stanford_by_table()
    state = random_state(6)
    along = [x[CHAIN] for x in state]
    agree(model.inverse_dynamics(*along), arm.inverse_dynamics(*state)[CHAIN])
    agree(model.mass_matrix(along[0]), arm.mass_matrix(state[0])[np.ix_(CHAIN, CHAIN)])
    agree(model.forward_dynamics(*along), arm.forward_dynamics(*state)[CHAIN])


def test_the_recursion_of_the_paper_gives_the_efforts_of_the_stanford_arm() -> None:
    _, model, links = stanford_by_table()
    state = random_state(6)
    agree(model.inverse_dynamics(*state), recursive_efforts(links, *state, g=GRAVITY))


# built-in arms -------------------------------------------------------------------------------------------------------

TABLE_3 = [(0.0, 0.0, -1.5), (90.0, 0.0, 0.0), (0.0, 1.02, 0.0), (0.0, 1.02, 0.0), (90.0, 0.2, 0.0), (90.0, 0.0, -0.41)]
PUMA = [(0, 0, 0), (-90, 0, 0.2435), (0, 0.4318, -0.0934), (90, -0.0203, 0.4331), (-90, 0, 0), (90, 0, 0)]
PANDA = [
    *[(0, 0, 0.333), (-90, 0, 0), (90, 0, 0.316), (90, 0.0825, 0)],
    *[(-90, -0.0825, 0.384), (90, 0, 0), (90, 0.088, 0)],
]


def by_recursion(model: kane.Model, table: Sequence[tuple[float, float, float]], sign: float) -> list[HDLink]:
    rows = [(np.deg2rad(alpha), a, sign * b, 0.0) for alpha, a, b in table]
    return [link_of(model, f"link{i + 1}", row) for i, row in enumerate(rows)]


@pytest.mark.parametrize(("name", "table", "sign"), [("thomas-tesar-arm", TABLE_3, 1.0), ("panda", PANDA, -1.0)])
def test_the_recursion_of_the_paper_gives_the_efforts_of_arms_with_a_table(name: str, table: Any, sign: float) -> None:
    model = kane.load(name)
    state = random_state(len(table))
    agree(model.inverse_dynamics(*state), recursive_efforts(by_recursion(model, table, sign), *state, g=GRAVITY))


def test_motors_add_their_inertia_to_the_puma() -> None:
    model = kane.load("puma-560")
    q, u, udot = random_state(6)
    motors = np.array([1.14, 4.71, 0.83, 0.200, 0.179, 0.193])
    expected = recursive_efforts(by_recursion(model, PUMA, -1.0), q, u, udot, g=GRAVITY) + motors * udot
    agree(model.inverse_dynamics(q, u, udot), expected)


def test_the_start_of_table_three_puts_the_last_origin_where_the_notes_say() -> None:
    model = kane.load("thomas-tesar-arm")
    x, y, z = model.poses(model.initial_state[0])[-1][9:]
    assert (x, y, z) == pytest.approx((1.325, 0.0, 1.238), abs=5e-4)


@pytest.mark.parametrize("name", ["thomas-tesar-arm", "puma-560", "ur5", "panda", "iiwa"])
def test_pinocchio_gives_the_dynamics_of_the_built_in_arms(name: str) -> None:
    model = kane.load(name)
    motors = np.zeros(len(model.speeds))
    for rotor in model.mechanism.rotors.values():
        motors[model.speeds.index(model.mechanism.default_speeds[repr(rotor.joint.rates[0])])] = model.mechanism.number(
            rotor.inertia, ""
        )
    model.mechanism.rotors.clear()
    peer = pin.buildModelFromXML(to_urdf(model.mechanism))
    model = kane.load(name)
    peer.armature = motors
    data = peer.createData()
    q, u, udot = random_state(len(model.speeds))
    theirs = np.concatenate(
        [[x] if j.nq == 1 else [np.cos(x), np.sin(x)] for j, x in zip(peer.joints[1:], q, strict=True)]
    )
    agree(model.inverse_dynamics(q, u, udot), pin.rnea(peer, data, theirs, u, udot))
    upper = np.triu(pin.crba(peer, data, theirs))
    agree(model.mass_matrix(q), upper + np.triu(upper, 1).T)
    agree(model.forward_dynamics(q, u, udot), pin.aba(peer, data, theirs, u, udot))
    last = data.oMi[peer.njoints - 1]
    tip = [joint.child.name for joint in model.joints.values() if joint.rates][-1]
    pose = model.poses(q)[list(model.bodies).index(tip)]
    pin.forwardKinematics(peer, data, theirs)
    agree(pose[9:], last.translation)


def test_the_arms_reach_where_their_makers_say() -> None:
    """Flange of the UR5 at zero (maker's DH table), of the upright iiwa 1306 mm, of the upright Panda 333 + 316 + 384 −
    107 mm above the base and 88 mm in front of it."""
    for name, expected in (
        ("ur5", (0.81725, 0.19145, -0.005491)),
        ("iiwa", (0.0, 0.0, 1.306)),
        ("panda", (0.088, 0.0, 0.926)),
    ):
        model = kane.load(name)
        pose = model.poses(np.zeros(len(model.coordinates)))[list(model.bodies).index("flange")]
        assert tuple(pose[9:]) == pytest.approx(expected, abs=1e-9)
