"""Reactions by name in expressions: the same numbers as reactions have, in events and under constraints of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane

STARTS: dict[str, dict[str, Any]] = {
    "ur5": {"q": {"q2": -0.5}},
    "pendulum": {"q": {"q": 1.2}},
    "four-bar": {"u": {"w1": 5.0}},
    "rolling-disc": {},
    "whipple-bicycle": {},
    "four-bar-stop": {"tau": [-6.0, 0.0, 0.0]},
}
NEAR = 1e-8  # relative: multipliers and accelerations of two solves


def start_of(m: kane.Model, name: str) -> dict[str, Any]:
    known = {*m.coordinates, *m.speeds}
    given = STARTS[name]
    if not {x for group in ("q", "u") for x in given.get(group, {})} <= known:
        return {"u": {m.speeds[0]: 1.0}}
    return given


@pytest.mark.parametrize("name", STARTS)
def test_names_of_reactions_have_the_values_of_reactions(name: str) -> None:
    m = kane.load(name)
    run = m.simulate(np.linspace(0.0, 0.3, 7), **start_of(m, name))
    compared = 0
    for label, reaction in run.reactions().items():
        key = label.replace(" (", ".").replace(")", "")
        if reaction.force is None or not key.replace(".", "").isidentifier():
            continue
        for what, values in (("force", reaction.force), ("moment", reaction.moment)):
            largest = 1.0 + float(np.abs(values).max())
            for k, axis in enumerate("xyz"):
                assert run.evaluate(f"{what}.{key}.{axis}") == pytest.approx(values[:, k], abs=NEAR * largest)
            size = np.linalg.norm(values, axis=1)
            assert run[f"{what}.{key}"] == pytest.approx(size, abs=NEAR * largest)
            compared += 1
    assert compared


@pytest.mark.parametrize(
    ("name", "joint"),
    [("pendulum", "pivot"), ("four-bar", "crank"), ("four-bar-stop", "crank")],
)
def test_a_motion_ends_where_a_reaction_reaches_its_limit(name: str, joint: str) -> None:
    """Events have the multipliers of the constrained solve, reactions those by released rows."""
    m = kane.load(name)
    given = start_of(m, name)
    whole = np.linalg.norm(m.simulate(np.linspace(0.0, 0.3, 31), **given).reactions()[joint].force, axis=1)
    limit = float(0.5 * (whole.min() + whole.max()))
    ends = {"breaks": {"expression": f"force.{joint} - {limit!r}", "terminal": True}}
    run = m.simulate(0.3, events=ends, **given)
    assert run.outcome.reason == "event"
    last = np.linalg.norm(run.reactions()[joint].force[-1])
    assert last == pytest.approx(limit, abs=1e-6 * limit)


def test_the_largest_reactions_of_members_are_those_of_their_motions() -> None:
    m = kane.load("four-bar")
    times = np.linspace(0.0, 0.2, 101)
    found: Any = m.ensemble(times, n=2, u={m.speeds[0]: [4.0, 6.0]}, watch={"size": "force.pin"})
    for i, speed in enumerate((4.0, 6.0)):
        run = m.simulate(times, u={m.speeds[0]: speed})
        assert found.high["size"][i] == pytest.approx(run["force.pin"].max(), rel=1e-3)


def test_a_joint_that_there_is_not_is_told_with_the_name_that_was_meant() -> None:
    m = kane.load("pendulum")
    with pytest.raises(kane.ModelError, match=r"did you mean 'force\.pivot'"):
        m.simulate(1, events={"breaks": "force.pivt - 15"})
    with pytest.raises(kane.InputError, match=r"did you mean 'force\.pivot\.x'"):
        m.simulate([0.0, 0.1, 0.2])["force.pivo.x"]


def test_an_event_on_a_row_that_restricts_nothing_is_refused_and_one_that_is_shared_is_told() -> None:
    """A planar loop closed in space: its forces across the plane are nobody's."""
    m = kane.load("four-bar")
    with pytest.raises(kane.ModelError, match=r"'pin\.z', which restricts nothing.*\n.*\n.*pin\.x, pin\.y"):
        m.simulate(0.1, events={"across": "pin.z"})
    across, along = (m.simulate(0.1, events={"event": f"force.pin.{axis} - 1e6"}) for axis in "zx")
    assert "event 'event' watches force.pin.z, which rigid bodies leave undetermined" in str(across.outcome)
    assert "undetermined" not in str(along.outcome)


def test_time_steps_have_no_reactions_to_watch() -> None:
    m = kane.load("bouncing-ball")
    with pytest.raises(kane.InputError, match="no reactions that events could watch"):
        m.simulate(0.1, contacts="stepping", step=1e-3, events={"hard": "force.fall - 1"})
