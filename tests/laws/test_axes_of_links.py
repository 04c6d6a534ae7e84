"""Which axes links are written in is a free choice: no result depends on it, and right angles cost no more than nearly
right ones.

Random arms and trees with mounts turned by multiples of 90°, once exactly and once with the digits that people write.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from kane import Model, load
from kane.backends import compile
from kane.formulation.dense import dense_equations
from seeds import generator

EXACT = {0: (1.0, 0.0), 1: (0.0, 1.0), 2: (-1.0, 0.0), 3: (0.0, -1.0)}  # cosine and sine of multiples of 90°
WRITTEN = {**EXACT, **{k: (math.cos(a), math.sin(a)) for k, a in ((1, 1.5707963), (3, -1.5707963))}}
WHAT = ("inverse_dynamics", "forward_dynamics")
EFFORTS = 1e-11  # relative to the sum of the sizes of all terms of an effort
AXES = ("x", "y", "z", "-x", "-y", "-z")
BEFORE = {  # operations of both programs while links with right angles had the axes of their description
    "panda": (595, 1176),
    "iiwa": (396, 813),
    "ur5": (257, 492),
    "puma-560": (302, 571),
    "thomas-tesar-arm": (307, 583),
    "stanford-arm": (201, 418),
    "whipple-bicycle": (268, 910),
    "satellite-with-panels": (782, 1181),
}


def operations(model: Model, what: str) -> int:
    count = model.equations().count(what)
    return sum(count[kind] for kind in ("mul", "div", "add", "neg"))


def mechanism(number: int, turns: dict[int, tuple[float, float]], *, tree: bool) -> Model:
    """The arm or tree of draw `number`, its mounts made of cosines and sines in `turns`."""
    rng = generator(number)
    model = Model("arm", gravity=(0.0, 0.0, -9.81))
    for k in range(int(rng.integers(3, 6))):
        points = rng.normal(size=(4, 3)) * 0.3
        second = np.cov(points.T) if rng.random() < 0.6 else np.diag(np.var(points, axis=0))
        I = np.trace(second) * np.eye(3) - second
        model.body(
            f"b{k}",
            mass=float(rng.uniform(0.5, 3.0)),
            center=(rng.normal(size=3) * 0.3 * rng.integers(0, 2, size=3)).tolist(),
            inertia={"xx": I[0, 0], "yy": I[1, 1], "zz": I[2, 2], "xy": I[0, 1], "xz": I[0, 2], "yz": I[1, 2]},
        )
        R = np.eye(3)
        for axis in range(3):
            c, s = turns[int(rng.choice([0, 0, 1, 2, 3]))]
            i, j = (axis + 1) % 3, (axis + 2) % 3
            turn = np.eye(3)
            turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
            R = R @ turn
        inner = int(rng.integers(max(-1, k - 2), k)) if tree and k else k - 1
        model.joint(
            f"j{k}",
            str(rng.choice(["revolute", "revolute", "revolute", "prismatic"])),
            "ground" if inner < 0 else f"b{inner}",
            f"b{k}",
            at=(rng.normal(size=3) * 0.4 * rng.integers(0, 2, size=3)).tolist(),
            rotation={"matrix": R.tolist()},
            axis=str(rng.choice(AXES)),
        )
    return model


@pytest.mark.parametrize("draw", [0, 14, 21, 24, 41, 48])
def test_right_angles_cost_no_more_than_nearly_right_ones(draw: int) -> None:
    exact, written = (mechanism(draw, turns, tree=draw > 40) for turns in (EXACT, WRITTEN))
    for what in WHAT:
        assert operations(exact, what) <= operations(written, what), what


@pytest.mark.parametrize("number", range(3))
def test_efforts_on_turned_axes_are_those_of_the_dense_route(number: int) -> None:
    for turns in (EXACT, WRITTEN):
        model = mechanism(number, turns, tree=bool(number % 2))
        q, u, udot = generator(number).uniform(-1.0, 1.0, (3, len(model.speeds)))
        ours = compile(model.equations().program("inverse_dynamics"), backend="interpret")(q, u, udot)
        state = dense_equations(model.mechanism).state(q, u)
        assert np.all(np.abs(ours - state.efforts(udot)) <= EFFORTS * state.effort_scale(udot))


def test_a_bent_link_between_parallel_joints_costs_what_a_straight_one_does() -> None:
    """Axes along the offset to the next joint leave one component of it, at an addition for each angle that then starts
    elsewhere."""
    found = []
    for bend in (0.0, 0.3):
        model = Model("arm", gravity=(0.0, -9.81, 0.0))
        names = ["ground", "upper", "middle", "lower"]
        for k, (inner, outer) in enumerate(pairwise(names)):
            model.body(outer, mass=1.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
            at = (0.0, 0.0, 0.0) if not k else (0.5 * math.cos(bend), 0.5 * math.sin(bend), 0.0)
            model.joint(f"to {outer}", "revolute", inner, outer, at=at, axis="z")
        found.append(operations(model, "forward_dynamics"))
    straight, bent = found
    assert bent <= straight + len(names)


@pytest.mark.parametrize("name", BEFORE)
def test_no_arm_costs_more_on_turned_axes_than_as_described(name: str) -> None:
    model = load(name)
    for what, most in zip(WHAT, BEFORE[name], strict=True):
        assert operations(model, what) <= most, what
