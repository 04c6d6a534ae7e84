"""Members that turn stiff under the method "auto": the bits of their motions alone, from memory made once for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from unit.ensemble.alone import assert_motions_alone

TIMES = np.linspace(0.0, 3.0, 7)


def dragged(drag: str = "c*v") -> kane.Model:
    """A mass on a spring in a thick fluid."""
    m = kane.Model("dragged")
    m.parameter("k", 4.0)
    m.parameter("c", 1e4)
    m.particle("mass", 1.0)
    m.joint("slide", "prismatic", "ground", "mass", axis="x", coordinates=["x"], speeds=["v"])
    m.load("spring", kane.JointSpring("slide", stiffness="k"))
    m.load("drag", kane.Effort("slide", f"-({drag})"))
    return m


MOTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "to the end": ("c*v", {"t": 3.0}),
    "output": ("c*v", {"t": TIMES}),
    "events": ("c*v", {"t": TIMES, "events": {"slow": "v + 1e-3", "wave": "sin(60*x)"}}),
    "terminal": ("c*v", {"t": TIMES, "events": {"near": {"expression": "x - 0.4", "terminal": True}}}),
    "by turns": ("(1 + c*exp(-(3*(t - 1))**2))*v", {"t": TIMES}),
    "jump": ("c*v + select(t < 1, 0, k)", {"t": TIMES}),
}


@pytest.mark.parametrize("kind", MOTIONS)
def test_stiff_members_have_the_bits_of_motions_alone(kind: str, alone: list[int]) -> None:
    drag, options = MOTIONS[kind]
    c = np.geomspace(1.0, 1e4, 11)
    found = dragged(drag).ensemble(**options, parameters={"c": c, "k": c}, q={"x": 1.0}, rtol=1e-6)
    assert found.success.all()
    assert not alone
    assert sum("stiff" in str(found.member(i).outcome) for i in range(11)) > 1
    assert_motions_alone(found)


def test_stiff_members_follow_their_closed_form(alone: list[int]) -> None:
    c = np.linspace(500.0, 5000.0, 16)
    found = dragged().ensemble(TIMES, parameters={"c": c, "k": c}, q={"x": 1.0}, u={"v": 0.0})
    rates = 0.5 * (c[:, None] + np.sqrt(c * c - 4.0 * c)[:, None] * np.array([-1.0, 1.0]))
    slow, fast = rates[:, :1], rates[:, 1:]
    expected = (fast * np.exp(-slow * TIMES) - slow * np.exp(-fast * TIMES)) / (fast - slow)
    assert found.q is not None and not alone
    np.testing.assert_allclose(found.q[:, :, 0], expected, atol=1e-7)


def test_a_stiff_member_that_fails_keeps_its_reason_and_spoils_nobody() -> None:
    m = dragged("c*v - 1e-3*sqrt(x - 0.5)")  # nan beyond 0.5
    c = np.full(9, 1000.0)
    k = np.array([1.0, 1.0, 1.0, 1e3, 1.0, 1.0, 1.0, 1.0, 1.0])
    found = m.ensemble(2.0, parameters={"c": c, "k": k}, q={"x": 1.0}, max_steps=4000)
    assert np.array_equal(found.success, np.arange(9) != 3), found.messages
    assert_motions_alone(found)
