"""Forces that `explain` says drop out do: added as loads, they change no effort; what is left out of the list does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from seeds import generator

AGREE = 1e-12  # relative to efforts of the size of ten
ROUND = {"xx": 1.0, "yy": 1.2, "zz": 1.5}
X, Y, Z = np.eye(3)

TRANSMITTED = {  # kind of joint, its options → directions of force and of torque that it transmits, in the child
    "revolute": ({"axis": "z"}, [X, Y, Z], [X, Y]),
    "prismatic": ({"axis": "z"}, [X, Y], [X, Y, Z]),
    "cylindrical": ({"axis": "z"}, [X, Y], [X, Y]),
    "spherical": ({}, [X, Y, Z], []),
    "gimbal": ({"sequence": "body 123"}, [X, Y, Z], []),
    "universal": ({"sequence": "body xy"}, [X, Y, Z], []),
    "planar": ({"normal": "z"}, [Z], [X, Y]),
    "weld": ({}, [X, Y, Z], [X, Y, Z]),
}


def chain(kind: str, options: dict[str, Any]) -> kane.Model:
    m = kane.Model("chain", gravity=(0, 0, -9.81))
    m.joint("base", "revolute", "ground", m.body("a", mass=1.0, inertia=ROUND), axis="x")
    m.body("b", mass=2.0, center=(0.1, 0.2, 0.3), inertia=ROUND)
    m.joint("own", kind, "a", "b", at=(0.3, 0.1, 0.5), **options)
    return m


def efforts(m: kane.Model) -> np.ndarray:
    rng = generator(9)
    q, u, udot = rng.uniform(0.2, 0.8, len(m.coordinates)), *rng.normal(size=(2, len(m.speeds)))
    return m.inverse_dynamics(q, u, udot)


@pytest.mark.parametrize("kind", TRANSMITTED)
def test_what_a_joint_transmits_changes_no_effort(kind: str) -> None:
    options, forces, torques = TRANSMITTED[kind]
    plain = efforts(chain(kind, options))
    told = chain(kind, options).explain(beside=None).noncontributing_forces
    assert any(x.what.startswith("joint own, ") for x in told)
    for directions, record in ((forces, kane.Force), (torques, kane.Torque)):
        for e in np.eye(3):
            m = chain(kind, options)
            m.load("reaction", record("b", (7.0 * e).tolist(), frame="b", reaction="a"))
            changed = np.abs(efforts(m) - plain).max()
            if any(np.array_equal(e, d) for d in directions):
                assert changed <= AGREE * (1 + np.abs(plain).max()), (record.__name__, e)
            elif kind not in ("universal", "gimbal", "spherical"):
                assert changed > 0.1, (record.__name__, e)


def test_reactions_of_a_rolling_disc_change_no_acceleration() -> None:
    """A force at the point that touches, any way, does nothing to a disc that rolls; one at its centre does."""
    m = kane.load("rolling-disc")
    q, u = m.project()
    plain = m.forward_dynamics(q, u, np.zeros(len(u)))
    turned = dict(zip(m.bodies, (np.reshape(pose[:9], (3, 3)) for pose in m.poses(q)), strict=True))
    below = np.array([0.0, 0.0, -m.parameters["r"].value])  # in the plane of the disc, which does not spin
    touching = turned["disc"].T @ turned["plane of the disc"] @ below
    for at, drops in ((touching, True), (np.zeros(3), False)):
        for e in np.eye(3):
            other = kane.load("rolling-disc")
            other.load("push", kane.Force("disc", (5.0 * e).tolist(), frame="N", at=at.tolist()))
            changed = np.abs(other.forward_dynamics(q, u, np.zeros(len(u))) - plain).max()
            assert (changed <= 1e-9 * (1 + np.abs(plain).max())) == drops
