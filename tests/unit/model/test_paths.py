"""Path tables and gimbal lock, as in the slides of [STON08]."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kane
from kane.model import body_path_table, joint_path_table, locks

TREE = {"B2": "B1", "B3": "B1", "B4": "B3", "B5": "B3"}
SLIDES = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 1]], dtype=bool)


def five_bodies(swapped: bool = False) -> kane.Model:
    m = kane.Model("five")
    for b in ("B1", *TREE):
        m.body(b, mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("root", "free", "ground", "B1")
    names = ["G1", "G2", "G4", "G3"] if swapped else ["G1", "G2", "G3", "G4"]
    for name, (child, parent) in sorted(zip(names, TREE.items(), strict=True)):
        m.joint(name, "gimbal", parent, child, sequence="body 213", initial=[0.1, 0.2, 0.3])
    return m


def test_the_path_tables_are_those_of_the_slides() -> None:
    m = five_bodies()
    assert np.array_equal(body_path_table(m.mechanism).entries, SLIDES)
    assert np.array_equal(joint_path_table(m.mechanism).entries, SLIDES)


def test_swapping_two_joints_tells_the_tables_apart() -> None:
    m = five_bodies(swapped=True)
    assert np.array_equal(body_path_table(m.mechanism).entries, SLIDES)
    assert np.array_equal(joint_path_table(m.mechanism).entries, SLIDES[:, [0, 1, 2, 4, 3]])


def test_a_path_table_reads_as_on_the_slide() -> None:
    text = str(body_path_table(five_bodies().mechanism))
    assert text.splitlines()[1].split() == ["B1", "B2", "B3", "B4", "B5"]
    assert text.splitlines()[5].split() == ["B4", "x", "x", "x"]


@pytest.mark.parametrize(
    ("sequence", "middle", "locked"),
    [
        ("body 123", 90.0, True),
        ("body 123", 0.0, False),
        ("body 313", 0.0, True),
        ("body 313", 180.0, True),
        ("body 313", 90.0, False),
        ("space 321", -90.0, True),
        ("body 12", 90.0, False),
    ],
)
def test_a_gimbal_locks_where_its_partials_are_singular(sequence: str, middle: float, locked: bool) -> None:
    m = kane.Model("gimbal")
    m.body("B", mass=1, inertia={"xx": 1, "yy": 1.2, "zz": 1.3})
    angles = [0.1, math.radians(middle), 0.2][: len(sequence.split()[1])]
    m.joint("g", "gimbal", "ground", "B", sequence=sequence, initial=angles)
    assert bool(locks(m.mechanism, angles, 1e-9)) == locked
    if locked:
        with pytest.raises(kane.ModelError, match=r"q_g_2 = -?\d+° is gimbal lock .*\n.*\n.*spherical joint"):
            m.simulate((0, 1))
    else:
        assert m.simulate((0, 0.1)).outcome.success


def test_a_motion_that_stops_near_lock_says_so() -> None:
    m = kane.Model("tumbling")
    m.body("B", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("g", "gimbal", "ground", "B", sequence="body 123", initial=[0.0, math.radians(89.99), 0.0])
    motion = m.simulate((0, 10), u=[1.0, 1e-6, 1.0], max_steps=3)
    assert not motion.outcome.success
    assert "joint 'g' is at gimbal lock: q_g_2 = 89.99" in str(motion.outcome)
    assert "a spherical joint has no lock" in str(motion.outcome)
