"""Twenty balls in a box, in steps: they fall freely, pass neither each other nor the walls, end in a heap.

To write out and compile 120 speeds and 870 rows takes a minute or two, so that motions are for the long tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import kane

BALLS = 20
PENETRATION = 1e-5  # m, of second order in the step
RISE = 1e-5  # of the energy, by a step of 10 ms
TOUCHING = 1e-4  # m, gap of balls that may press on each other
RESIDUAL = 1e-3  # of the weight of a ball, that forces may leave of it


def places(run: kane.Trajectory) -> np.ndarray:
    """(times, balls, 3): middles of the balls."""
    return run.q.reshape(len(run.t), BALLS, 7)[:, :, 4:]


def total_energy(run: kane.Trajectory) -> np.ndarray:
    energy = run.energy()
    return energy.kinetic + energy.potential


def assert_apart(run: kane.Trajectory, r: float, w: float) -> None:
    middles = places(run)
    first, second = np.triu_indices(BALLS, 1)
    apart = np.linalg.norm(middles[:, first] - middles[:, second], axis=-1)
    assert apart.min() > 2 * r - PENETRATION
    assert middles[..., 2].min() > r - PENETRATION and np.abs(middles[..., :2]).max() < w - r + PENETRATION


def test_every_pair_and_wall_may_touch_and_none_does_at_the_start() -> None:
    model = kane.load("spheres-in-box")
    r, w = (model.parameters[name].value for name in ("r", "w"))
    assert len(model.changing) == 5 * BALLS + BALLS * (BALLS - 1) // 2
    middles = np.array(model.initial_state[0]).reshape(BALLS, 7)[:, 4:]
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=-1) + 2 * r * np.eye(BALLS)
    assert apart.min() >= 2 * r and middles[:, 2].min() > r and np.abs(middles[:, :2]).max() < w - r


@pytest.mark.long
def test_balls_fall_freely_and_do_not_pass_each_other() -> None:
    model = kane.load("spheres-in-box")
    r, w, g = (model.parameters[name].value for name in ("r", "w", "g"))
    run = model.simulate(0.25, contacts="stepping", step=0.005)
    assert run.outcome.success
    assert_apart(run, r, w)
    assert np.diff(total_energy(run)).max() < RISE * total_energy(run)[0]
    top = places(run)[:, -1]
    flies = run.t < 0.1  # the uppermost is above all that was struck so far
    assert top[flies, 2] == pytest.approx(top[0, 2] - g * run.t[flies] ** 2 / 2, abs=1e-12)
    floor = [x for x in run.transitions if x.cause == "impact" and x.constraints[0].startswith("floor")]
    lowest = places(run)[0, :, 2].min() - r
    assert floor[0].t == pytest.approx(np.sqrt(2 * lowest / g), abs=0.005)


@pytest.mark.long
def test_the_heap_can_stand() -> None:
    """There are forces within cones of friction that hold every ball: a linear program with cones of eight sides."""
    model = kane.load("spheres-in-box")
    p = {name: parameter.value for name, parameter in model.parameters.items()}
    run = model.simulate(2.0, contacts="stepping", step=0.01)
    assert run.outcome.success and np.abs(run.u[-1]).max() < 1e-5
    assert_apart(run, p["r"], p["w"])
    middles = places(run)[-1]
    presses: list[
        tuple[int, int | None, np.ndarray]
    ] = []  # ball, other ball or wall, direction of the push on the ball
    for k in range(BALLS):
        gaps = {(0, 0, 1): middles[k, 2], (1, 0, 0): p["w"] + middles[k, 0], (-1, 0, 0): p["w"] - middles[k, 0]}
        gaps |= {(0, 1, 0): p["w"] + middles[k, 1], (0, -1, 0): p["w"] - middles[k, 1]}
        presses += [(k, None, np.array(n, float)) for n, gap in gaps.items() if gap - p["r"] < TOUCHING]
        for j in range(k):
            line = middles[k] - middles[j]
            if (length := float(np.linalg.norm(line))) < 2 * p["r"] + TOUCHING:
                presses.append((k, j, line / length))
    columns = []
    for k, j, n in presses:
        first = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.9 else [0.0, 1.0, 0.0])
        first /= np.linalg.norm(first)
        for angle in np.arange(8) * np.pi / 4:
            force = n + p["mu"] * (np.cos(angle) * first + np.sin(angle) * np.cross(n, first))
            column = np.zeros((BALLS, 6))
            column[k] = np.concatenate([force, np.cross(-n, force)])
            if j is not None:
                column[j] = np.concatenate([-force, np.cross(n, -force)])
            columns.append(column.ravel())
    needed = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], BALLS)
    size = len(needed)
    cost = np.concatenate([np.zeros(len(columns)), np.ones(2 * size)])
    found = linprog(cost, A_eq=np.hstack([np.array(columns).T, np.eye(size), -np.eye(size)]), b_eq=needed)
    assert found.status == 0 and found.fun < RESIDUAL * BALLS
    assert len(presses) > 3 * BALLS / 2
