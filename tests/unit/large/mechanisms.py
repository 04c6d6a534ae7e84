"""Trees for tests of recursions: chains and balanced trees of any size, and states off every singular position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane import Model

Array = NDArray[np.float64]


def tree(size: int, branches: int = 1, kind: str = "revolute", **options: Any) -> Model:
    """A chain, or a tree in which every body carries `branches` others, of equal rods joined at odd angles."""
    model = Model("tree", gravity=[0.3, 0.0, -9.81])
    turns = ("x", "y", "z")
    for k in range(size):
        model.body(f"b{k}", mass=1.5, center=[0.1, 0.02, 0.0], inertia={"xx": 0.002, "yy": 0.01, "zz": 0.011})
        inner = "ground" if k == 0 else f"b{(k - 1) // branches}"
        axis: dict[str, Any] = (
            {"axis": turns[k % 3]} if kind in ("revolute", "prismatic", "screw", "cylindrical") else {}
        )
        model.joint(f"j{k}", kind, inner, f"b{k}", at=[0.2, 0.0, 0.01 * (k % branches)], **axis, **options)
    return model


def states(model: Model, count: int, seed: int) -> tuple[Array, Array, Array]:
    """(q, u, x): random states with unit quaternions and angles away from every lock, and as many accelerations."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(0.2, 1.1, (count, len(model.coordinates)))
    index = {name: i for i, name in enumerate(model.coordinates)}
    for joint in model.joints.values():
        if joint.type.kind in ("spherical", "free"):
            four = [index[c.name] for c in joint.coordinates[:4]]
            q[:, four] /= np.linalg.norm(q[:, four], axis=1, keepdims=True)
    u, x = rng.normal(size=(2, count, len(model.speeds)))
    return q, u, x
