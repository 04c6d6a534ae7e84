"""Mechanisms that are moved in time: rates of constraints and pulls of dampers between bodies that joints drive,
against differences of places. A rate is Σ ∂/∂q q̇ + ∂/∂t, and it is the last term that is easily forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.graph import evaluate
from kane.model import Mechanism
from laws.guided import (
    AT,
    BALLS,
    FIRST,
    GUIDES,
    LOOPS,
    OTHER,
    SECOND,
    SPEEDS,
    TIES,
    TILTED,
    WHEELS,
    Case,
    kinematics,
    moved,
    pose,
    rate,
    state,
)
from seeds import generator

STEP = 1e-5  # of central differences: their error is about STEP² times third derivatives of order ten
DIFFERENCE = 2e-7  # relative to numbers of order one to ten
CASES = [*LOOPS, *GUIDES, *WHEELS, *BALLS, *TIES]


def driven_tree() -> Mechanism:
    """The tree of `laws.guided` on carriers that move as told: B and all that A carries are moved in time."""
    m = Mechanism("driven", gravity=(0.1, -0.2, -9.81))
    m.parameter("R", 0.4)
    m.body("carrier", mass=1.0)
    m.joint("turn", "revolute", "ground", "carrier", axis=TILTED, at=OTHER, prescribed=["0.3*sin(2*t) + 0.1*t"])
    m.body("B", mass=1.0)
    m.joint("drive", "prismatic", "carrier", "B", axis="x", rotation=FIRST, prescribed=["0.2*cos(3*t)"])
    m.body("A", mass=1.0, inertia={"xx": 0.3, "yy": 0.4, "zz": 0.5})
    m.joint("free A", "free", "carrier", "A", velocity="body")
    m.body("F", mass=1.0)
    m.joint("fork", "revolute", "A", "F", axis="x", at=AT, rotation=FIRST, coordinates=["fork"])
    m.body("motor", mass=0.2)
    m.joint("motor", "revolute", "F", "motor", axis="z", rotation=SECOND, prescribed=["sin(t)**2"])
    m.body("W", mass=1.0, inertia={"xx": 0.03, "yy": 0.05, "zz": 0.03})
    m.joint("spin", "revolute", "motor", "W", axis="y", at=OTHER, child_at=(0.0, 0.2, 0.0), coordinates=["spin"])
    m.body("S", mass=1.0)
    m.joint("slide", "prismatic", "A", "S", axis=TILTED, coordinates=["slide"])
    m.body("K", mass=1.0, inertia={"xx": 0.03, "yy": 0.05, "zz": 0.04})
    m.joint("ball", "spherical", "B", "K", at=AT, child_at=OTHER)
    x, y = m.scalar("4 + sin(t)", "star"), m.scalar("0.5*t", "star")
    m.point("star", "O", m.N.vector(x, y, 3.0))
    return m


def bodies(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", CASES, ids=bodies)
def test_a_row_between_driven_bodies_is_the_rate_of_its_residual(case: Case) -> None:
    m = driven_tree()
    rng = generator(23)
    for row in case.build(m, "B").rows:
        if row.residual is None:
            continue
        power = rate(m, row)
        for values in [state(m, rng) for _ in range(2)]:
            after, before = (evaluate([row.residual], moved(m, values, s * STEP))[0] for s in (1, -1))
            expected = (after - before) / (2 * STEP)
            assert evaluate([power], values)[0] == pytest.approx(expected, abs=DIFFERENCE, rel=DIFFERENCE), row.label


@pytest.mark.parametrize("case", [*CASES, *SPEEDS], ids=bodies)
def test_the_acceleration_of_a_row_between_driven_bodies_is_its_rate(case: Case) -> None:
    """A u̇ − b is d/dt (A u + c), with q, u and t carried on by a moment."""
    m = driven_tree()
    case.build(m, "B")
    model = kane.Model.of(m)
    rng = generator(29)
    values = state(m, rng)
    q, u = (np.array([values[name] for name in names]) for names in (m.coordinates, m.motion_variables))
    udot, t = rng.normal(size=len(u)), values["t"]
    here = model.constraint_rows(q, u, t=t)

    def row_rates(dt: float) -> Any:
        there = moved(m, values, dt)
        return model.constraint_rows([there[name] for name in m.coordinates], u + dt * udot, t=t + dt).rate

    expected = (row_rates(STEP) - row_rates(-STEP)) / (2 * STEP)
    found = here.A @ udot - here.b
    assert np.abs(found - expected).max() <= DIFFERENCE * 10 * (1.0 + np.abs(expected).max())


def test_a_damper_between_driven_bodies_feels_the_rate_of_its_length() -> None:
    """What the load adds to the efforts is the power of −c l̇ along the line, l̇ by differences of places."""
    damping, stiffness, rest = 1.7, 0.9, 0.3
    bare, sprung = driven_tree(), driven_tree()
    sprung.load(
        "strut", kane.Spring("B", "W", first_at=AT, second_at=OTHER, stiffness=stiffness, damping=damping, rest=rest)
    )
    rng = generator(31)
    models = [kane.Model.of(m) for m in (bare, sprung)]
    for _ in range(3):
        values = state(bare, rng)
        q, u = ([values[name] for name in names] for names in (bare.coordinates, bare.motion_variables))

        def length(there: dict[str, float]) -> float:
            return float(np.linalg.norm(pose(bare, "W", there)(np.array(OTHER)) - pose(bare, "B", there)(np.array(AT))))

        stretching = (length(moved(bare, values, STEP)) - length(moved(bare, values, -STEP))) / (2 * STEP)
        pull = stiffness * (length(values) - rest) + damping * stretching
        still = {**values, **dict.fromkeys(bare.motion_variables, 0.0)}
        rest_rate = (length(moved(bare, still, STEP)) - length(moved(bare, still, -STEP))) / (2 * STEP)
        slopes = []
        for name in bare.motion_variables:
            along = {**still, name: 1.0}
            slope = (length(moved(bare, along, STEP)) - length(moved(bare, along, -STEP))) / (2 * STEP)
            slopes.append(slope - rest_rate)
        without, with_it = (m.inverse_dynamics(q, u, np.zeros(len(u)), t=values["t"]) for m in models)
        assert with_it - without == pytest.approx(pull * np.array(slopes), abs=1e-6)


LOADS: dict[str, Any] = {
    "strut": kane.Spring("B", "W", first_at=AT, second_at=OTHER, stiffness=30.0, damping=0.4, rest=0.3),
    "return": kane.JointSpring("fork", stiffness=4.0, damping=0.1),
    "end": kane.Stop("slide", lower=-0.1, upper=0.1, stiffness=300.0, damping=2.0),
    "star": kane.PointGravity(30.0, center="star"),
}


@pytest.mark.parametrize("name", ["strut", *(pytest.param(name, marks=pytest.mark.long) for name in list(LOADS)[1:])])
def test_a_driven_motion_keeps_its_energy_balance(name: str) -> None:
    """What drives and loads put in is what kinetic and potential energy gain, over a simulated motion."""
    m = driven_tree()
    m.load(name, LOADS[name])
    m.set_initial({"slide": 0.05, "spin": 0.3})
    model = kane.Model.of(m)
    checked = model.check(samples=2)
    assert checked.passed, checked
    run = model.simulate((0.0, 1.0), rtol=1e-9, atol=1e-11)
    report = run.check()
    assert report.passed, report


def test_velocities_of_driven_bodies_are_rates_of_their_places() -> None:
    m = driven_tree()
    values = state(m, generator(37))
    kin = kinematics(m)
    for body in m.bodies.values():
        assert body.origin is not None and body.frame is not None
        v = np.array(evaluate(kin.turn(kin.v(body.origin), body.origin.home, m.N), values))
        after, before = (pose(m, body.name, moved(m, values, s * STEP)).p for s in (1, -1))
        assert v == pytest.approx((after - before) / (2 * STEP), abs=DIFFERENCE), body.name
