"""Two arms from their makers' Denavit-Hartenberg tables, and their poses by plain matrix products as an oracle.

UR5: the standard table and ±360° joints of Universal Robots. Panda: the modified (Craig) table and joint ranges of
Franka.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import kane

QUARTER = math.pi / 2

UR5 = (  # a (m), alpha (rad), d (m): Rz(q) Tz(d) Tx(a) Rx(alpha)
    (0.0, QUARTER, 0.089159),
    (-0.425, 0.0, 0.0),
    (-0.39225, 0.0, 0.0),
    (0.0, QUARTER, 0.10915),
    (0.0, -QUARTER, 0.09465),
    (0.0, 0.0, 0.0823),
)
PANDA = (  # a (m), alpha (rad), d (m): Rx(alpha) Tx(a) Rz(q) Tz(d)
    (0.0, 0.0, 0.333),
    (0.0, -QUARTER, 0.0),
    (0.0, QUARTER, 0.316),
    (0.0825, QUARTER, 0.0),
    (-0.0825, -QUARTER, 0.384),
    (0.0, QUARTER, 0.0),
    (0.088, QUARTER, 0.0),
)
PANDA_FLANGE = 0.107  # m along the last axis
PANDA_RANGES = (
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)


def ur5() -> kane.Model:
    """The UR5 with unit masses; the tool's frame is that of `link6` at `TOOL["ur5"]`."""
    arm = kane.Model("ur5")
    a, alpha, d = 0.0, 0.0, 0.0
    for i, row in enumerate(UR5):
        link(arm, i, [a, 0.0, d], alpha, (-2 * math.pi, 2 * math.pi))
        a, alpha, d = row
    return arm


def panda() -> kane.Model:
    """The Panda with unit masses; the flange is that of `link7` at `TOOL["panda"]`."""
    arm = kane.Model("panda")
    for i, (a, alpha, d) in enumerate(PANDA):
        link(arm, i, [a, -math.sin(alpha) * d, math.cos(alpha) * d], alpha, PANDA_RANGES[i])
    return arm


TOOL = {"ur5": ("link6", (0.0, 0.0, UR5[5][2])), "panda": ("link7", (0.0, 0.0, PANDA_FLANGE))}
"""Body and point of the tool."""


def link(arm: kane.Model, i: int, at: list[float], alpha: float, span: tuple[float, float]) -> None:
    """Add link i + 1, turning about z of a mount at `at`, turned by alpha about x, in the link before."""
    name = f"link{i + 1}"
    arm.body(name, mass=1.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    arm.joint(
        f"joint{i + 1}",
        "revolute",
        f"link{i}" if i else "ground",
        name,
        axis="z",
        at=at,
        rotation={"matrix": turn_x(alpha)[:3, :3].tolist()},
        coordinates=[f"q{i + 1}"],
        speeds=[f"u{i + 1}"],
    )
    arm.limit(f"q{i + 1}", lower=span[0], upper=span[1])


def turn_x(angle: float) -> Any:
    """Rotation about x, (4, 4)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def turn_z(angle: float) -> Any:
    """Rotation about z, (4, 4)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def shift(x: float, z: float) -> Any:
    """Displacement along x and z, (4, 4)."""
    T = np.eye(4)
    T[0, 3], T[2, 3] = x, z
    return T


def table_pose(name: str, q: Any) -> Any:
    """Pose (4, 4) of the tool by the product of the table's matrices."""
    T = np.eye(4)
    if name == "ur5":
        for (a, alpha, d), angle in zip(UR5, q, strict=True):
            T = T @ turn_z(angle) @ shift(a, d) @ turn_x(alpha)
        return T
    for (a, alpha, d), angle in zip(PANDA, q, strict=True):
        T = T @ turn_x(alpha) @ shift(a, 0.0) @ turn_z(angle) @ shift(0.0, d)
    return T @ shift(0.0, PANDA_FLANGE)
