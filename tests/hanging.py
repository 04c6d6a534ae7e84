"""A model that tests of touch pull at: its rest under a pull is known in closed form."""

from __future__ import annotations

import kane
from kane.model import Shape

WEIGHT, STIFFNESS = 2 * 9.81, 80.0
"""N, and N/m of the spring."""


def hanging_mass() -> kane.Model:
    """A ball of 2 kg on a spring along z, at rest."""
    m = kane.Model("hanging", gravity=(0, 0, -9.81))
    m.body("ball", mass=2, shapes=[Shape("sphere", (0.1,))])
    m.joint("guide", "prismatic", "ground", "ball", axis="z", coordinates=["z"], speeds=["w"])
    m.load("spring", kane.JointSpring("guide", stiffness=STIFFNESS))
    m.set_initial({"z": -WEIGHT / STIFFNESS})
    return m
