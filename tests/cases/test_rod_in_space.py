"""Painlevé's rod free in space, at any heading: what is told of its states is what is known of the rod in a plane."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

STATES: dict[str, Any] = next(
    record
    for record in json.loads(
        (Path(__file__).parents[1] / "reference" / "changing_constraints.json").read_text(encoding="utf-8")
    )["records"]
    if record["id"] == "V03"
)
AT_REST = 1e-9  # m/s, rad/s, after an impact whose path is integrated
SLENDER = 1e-6  # kg m², about the rod's own axis, which does not turn


def rod_in_space(p: dict[str, float]) -> kane.Model:
    """A rod whose end slides on the floor z = 0, with its six freedoms."""
    m = kane.Model(gravity=(0, 0, -p["g"]))
    across = p["m"] * p["l"] ** 2 / 3
    m.body("rod", mass=p["m"], center=(p["l"], 0, 0), inertia={"xx": SLENDER, "yy": across, "zz": across})
    m.joint("free", "free", "ground", "rod", velocity="parent")
    m.contact("A", "rod", "ground", shape={"point": (0, 0, 0)}, friction=p["mu"])
    return m


def jointed_rod(p: dict[str, float]) -> kane.Model:
    """The same rod of two halves, whose hinge in the middle an equation locks at the start."""
    m = kane.Model(gravity=(0, 0, -p["g"]))
    half, length = p["m"] / 2, p["l"] / 2
    across = half * length**2 / 3
    for name in ("rod", "far"):
        m.body(name, mass=half, center=(length, 0, 0), inertia={"xx": SLENDER / 2, "yy": across, "zz": across})
    m.joint("free", "free", "ground", "rod", velocity="parent")
    m.joint("hinge", "revolute", "rod", "far", axis="y", at=(p["l"], 0, 0), speeds=["turns"])
    m.contact("A", "rod", "ground", shape={"point": (0, 0, 0)}, friction=p["mu"])
    m.constrain("lock", kane.MotionEquations("turns"), until="t - 1")
    return m


def state(theta: float, w: float, heading: float) -> tuple[list[float], list[float]]:
    """(q, u) of a rod at the angle theta over the floor that turns up at the rate w, its end sliding at 2 m/s away from
    where it leans to, all of it turned to a heading."""
    c, s, up, over = math.cos(heading / 2), math.sin(heading / 2), math.cos(theta / 2), -math.sin(theta / 2)
    turned = [c * up, -s * over, c * over, s * up]  # about z by the heading after about y by −theta
    slide = -2.0 * np.array([math.cos(heading), math.sin(heading), 0])
    return [*turned, 0, 0, 0], [0, -w, 0, *slide]  # angular velocities in the axes of the rod


def judge_impact(first: Any, p: dict[str, float], theta: float, w: float) -> None:
    """The impact without collision brings the end to rest, with an impulse within the cone that has no moment about it:
    what the rod turns with follows from its angular momentum about the end."""
    assert first.cause == "impact without collision" and first.law == "path-newton"
    normal, *along = first.impulse["A"]
    assert normal > 0.0 and math.hypot(*along) <= p["mu"] * normal * (1 + AT_REST)
    assert first.u_after[3:6] == pytest.approx(0.0, abs=AT_REST)
    turns = -w - 2.0 * math.sin(theta) / (p["l"] * 4 / 3)
    assert first.u_after[:3] == pytest.approx([0.0, turns, 0.0], abs=AT_REST)
    assert first.energy_change < 0.0
    falls = p["g"] * math.cos(theta) ** 2 * 3 / 4 + p["l"] * turns**2 * math.sin(theta)  # of the middle, were A held
    assert (first.mode["A"] == "open") == (falls > p["g"])


@pytest.mark.parametrize("heading", [0.0, 0.7, -2.3])
def test_states_of_a_rod_in_space_are_told_apart_as_in_a_plane(heading: float) -> None:
    m = rod_in_space(STATES["parameters"])
    for row in STATES["values"]["table"]:
        q, u = state(row["theta"], row["w"], heading)
        run = m.simulate(1e-6, q=q, u=u)
        (first, *_) = run.transitions
        if row["result"] == "inconsistent":
            judge_impact(first, STATES["parameters"], row["theta"], row["w"])
            continue
        told = {"slides": ("slips", 1), "leaves": ("open", 1), "indeterminate": (first.mode["A"], 2)}
        assert (first.mode["A"], first.possible) == told[row["result"]], row


def far_half_turned_by(p: dict[str, float], theta: float, change: np.ndarray[Any, Any]) -> float:
    """The impulse (N m s, about −y at heading 0) that a hinge in the middle gives to the far half of a rigid rod whose
    speeds change so: what its angular momentum about the middle changes by."""
    half, length = p["m"] / 2, p["l"] / 2
    turned = -change[1]  # up, that is about −y
    across = change[5] * math.cos(theta) - change[3] * math.sin(theta) + turned * 3 * length  # of its mass centre
    return half * length**2 / 3 * turned + half * length * across


def test_a_locked_hinge_holds_through_an_impact_without_collision() -> None:
    """Two halves with a locked hinge are struck as the rod that they are together, and the lock is told its impulse."""
    p = STATES["parameters"]
    m = jointed_rod(p)
    rows = [row for row in STATES["values"]["table"] if row["result"] == "inconsistent"]
    for row in rows:
        q, u = state(row["theta"], row["w"], 0.0)
        (first, *_) = m.simulate(1e-6, q=[*q, 0.0], u=[*u, 0.0]).transitions
        judge_impact(first, p, row["theta"], row["w"])
        assert first.u_after[6] == pytest.approx(0.0, abs=AT_REST)
        told = -first.impulse["lock"][0]  # about y of the rod, on the far half
        expected = far_half_turned_by(p, row["theta"], first.u_after - first.u_before)
        assert told == pytest.approx(expected, rel=1e-9)
    assert rows
