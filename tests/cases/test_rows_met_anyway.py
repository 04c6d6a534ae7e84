"""Rows that a mechanism meets anyway vanish but for rounding errors, which must not act as constraints.

A planar linkage in a tilted plane, closed by a spatial joint, moves as the planar one does. A tree whose joints are
doubled by loops of the same kind moves as the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kane import Loop, Model
from seeds import in_long_runs

Array = np.ndarray[Any, np.dtype[np.float64]]
AGREEMENT = 1e-11  # relative, of answers in two orientations; of motions over 0.5 s at the default tolerances 1e-8
MOTION = 1e-8
LENGTHS = {"four-bar": (0.3, 0.8, 0.6), "slider-crank": (0.3, 0.8)}


def turn(rng: np.random.Generator) -> Array:
    """A random rotation matrix."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.sign(np.linalg.det(R))


def linkage(kind: str, R: Array, *, planar: bool = False) -> Model:
    """A linkage in the plane across R z, closed by a spatial joint or, `planar`, by the rows that it needs."""

    def vector(x: float, y: float, z: float) -> tuple[float, ...]:
        return tuple((R @ [x, y, z]).tolist())

    model = Model(kind, gravity=vector(0, -9.81, 0))
    inner, at = "ground", vector(0, 0, 0)
    for i, length in enumerate(LENGTHS[kind]):
        x = R @ np.diag([0.02, 0.02 + 0.01 * i, 0.03 + 0.01 * i]) @ R.T
        inertia = {a + b: x["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
        model.body(f"b{i}", mass=1 + 0.3 * i, center=vector(length / 2, 0, 0), inertia=inertia)
        model.joint(f"j{i}", "revolute", inner, f"b{i}", axis=vector(0, 0, 1), at=at, coordinates=[f"q{i}"])
        inner, at = f"b{i}", vector(length, 0, 0)
    if kind == "four-bar":
        rows = ("x", "y") if planar else None
        loop = Loop(
            "revolute", "ground", inner, first_at=vector(1, 0, 0), second_at=at, axis=vector(0, 0, 1), rows=rows
        )
    else:
        model.body("piston", mass=0.5, inertia={"xx": 0.01, "yy": 0.01, "zz": 0.01})
        model.joint("wrist", "revolute", inner, "piston", axis=vector(0, 0, 1), at=at, coordinates=["q2"])
        rows = ("y", "rz") if planar else None
        loop = Loop("prismatic", "ground", "piston", axis=vector(1, 0, 0), rows=rows)
    model.constrain("loop", loop)
    model.set_initial({"q0": 1.0, "q1": -0.6, "q2": -1.2} if kind == "four-bar" else {"q0": 1.0, "q1": -1.3, "q2": 0.3})
    return model


def off(found: Any, expected: Any) -> float:
    """The largest difference, relative to the largest number."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("seed", in_long_runs(range(4), (2, 3)))
@pytest.mark.parametrize("kind", LENGTHS)
def test_a_tilted_linkage_closed_by_a_spatial_joint_moves_as_the_planar_one(kind: str, seed: int) -> None:
    plane = linkage(kind, np.eye(3), planar=True)
    tilted = linkage(kind, turn(np.random.default_rng(seed)))
    first = plane.speeds[0]
    q, u = plane.project(u={first: 1.0}, hold=[first])
    there = tilted.project(u={first: 1.0}, hold=[first])
    assert off(there[0], q) <= AGREEMENT and off(there[1], u) <= AGREEMENT
    assert off(tilted.forward_dynamics(q, u, np.zeros(3)), plane.forward_dynamics(q, u, np.zeros(3))) <= AGREEMENT
    assert tilted.freedom(q).degrees == 1
    one, two = (m.simulate((0, 0.5), q=q, u=u) for m in (plane, tilted))
    assert two.outcome.success and off(two.q[-1], one.q[-1]) <= MOTION
    modes = [np.sort_complex(m.linearize(q, u).eigenvalues) for m in (plane, tilted)]
    assert off(modes[1], modes[0]) <= AGREEMENT


JOINTS = ("revolute", "prismatic", "spherical")


def chain(seed: int, *, doubled: bool) -> Model:
    """A random chain; with `doubled` loops that allow what its joints allow, at other places on their axes."""
    rng = np.random.default_rng(seed)
    model = Model("chain", gravity=(rng.normal(size=3) * 4).tolist())
    inner = "ground"
    for i in range(int(rng.integers(2, 5))):
        kind = JOINTS[int(rng.integers(3))]
        axis, at = rng.normal(size=3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        inertia: dict[str, Any] = dict(zip(("xx", "yy", "zz"), rng.uniform(0.3, 0.5, 3).tolist(), strict=True))
        model.body(f"b{i}", mass=rng.uniform(0.5, 2), center=rng.normal(size=3).tolist(), inertia=inertia)
        options: dict[str, Any] = {} if kind == "spherical" else {"axis": tuple(axis.tolist())}
        model.joint(f"j{i}", kind, inner, f"b{i}", at=tuple(at.tolist()), **options)
        if doubled:
            along = (0.0 if kind == "spherical" else rng.uniform(-2, 2)) * axis
            places: dict[str, Any] = {"first_at": tuple((at + along).tolist()), "second_at": tuple(along.tolist())}
            model.constrain(f"again{i}", Loop(kind, inner, f"b{i}", **places, **options))
        elif kind != "spherical":
            rng.uniform(-2, 2)
        inner = f"b{i}"
    return model


@pytest.mark.parametrize("seed", in_long_runs(range(10), range(3, 10)))
def test_a_tree_whose_joints_are_doubled_by_loops_moves_as_the_tree(seed: int) -> None:
    tree, doubled = chain(seed, doubled=False), chain(seed, doubled=True)
    rng = np.random.default_rng(seed)
    q = tree.initial_state[0] + rng.uniform(-1, 1, len(tree.coordinates))
    q = doubled.project(q)[0]  # makes quaternions unit, moves nothing else
    u, tau = rng.normal(size=(2, len(tree.speeds)))
    assert np.abs(doubled.project(q, u)[1] - u).max() <= AGREEMENT * np.abs(u).max()
    assert off(doubled.forward_dynamics(q, u, tau), tree.forward_dynamics(q, u, tau)) <= 1e-9  # conditions up to 1e4
    assert doubled.freedom(q).degrees == len(tree.speeds)
    one, two = (m.simulate((0, 0.2), q=q, u=u) for m in (tree, doubled))
    assert two.outcome.success and off(two.q[-1], one.q[-1]) <= 1e-6
