"""Reference motions of systems whose constraints change, and what the tests that compare with them share.

The records are in tests/reference/changing_constraints.json: computed at 40 digits from closed forms or by integration,
each with its definition, signs, tolerance and traps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kane

RECORDS: dict[str, dict[str, Any]] = {
    r["id"]: r
    for r in json.loads(
        (Path(__file__).parents[1] / "reference" / "changing_constraints.json").read_text(encoding="utf-8")
    )["records"]
}

CLOSE = 1e-10
"""Times and states, relative to their scale but at least absolute: the tolerance of most records."""

EXACT = 1e-13
"""Speeds that have to vanish, but for rounding."""


def record(name: str) -> SimpleNamespace:
    """`p` parameters, `events`, `values` and `initial` of a record."""
    found = RECORDS[name]
    return SimpleNamespace(
        p=SimpleNamespace(**found["parameters"]),
        events=found.get("events", []),
        values=found["values"],
        initial=found.get("initial", {}),
    )


def close(wanted: Any, tolerance: float = CLOSE) -> Any:
    """What numbers are compared with."""
    return pytest.approx(wanted, rel=tolerance, abs=tolerance)


def changes(run: kane.Trajectory, *causes: str) -> list[Any]:
    """Transitions after the first choice, those of the given causes or all."""
    assert run.outcome.success, run.outcome
    return [x for x in run.transitions[1:] if not causes or x.cause in causes]


def times(events: Sequence[Any]) -> list[float]:
    """Times (s) of transitions, or of events of a record."""
    return [e["t"] if isinstance(e, dict) else e.t for e in events]


def since(run: kane.Trajectory, t: float) -> slice:
    """The samples from a transition on; the last of several at one instant is the state after it."""
    return slice(int(np.flatnonzero(run.t <= t)[-1]), None)


def place(run: kane.Trajectory, t: float) -> np.ndarray[Any, Any]:
    """The coordinates at the instant of a transition."""
    return run.q[int(np.argmin(np.abs(run.t - t)))]


def reaction(run: kane.Trajectory, row: str) -> np.ndarray[Any, Any]:
    """The reaction of a row along a motion."""
    names = list(run.model.mechanism.all_row_names)
    return run.multipliers[:, names.index(row)]


def disk_in_plane(
    m: float,
    r: float,
    J: float,
    *,
    slope: float = 0.0,
    g: float = 9.81,
    friction: float = 0.0,
    restitution: float = 0.0,
) -> kane.Model:
    """A disk or ball that touches a ramp with its rim: x down the ramp, z off it, the angle positive where it rolls
    down. Coordinates and speeds are those of z (0 on the ramp), x and the angle; the free parameter mu is friction."""
    model = kane.Model("disk", gravity=(g * np.sin(slope), 0, -g * np.cos(slope)))
    model.parameter("mu", friction, free=True)
    model.body("disk", mass=m, inertia={"xx": J, "yy": J, "zz": J})
    names: dict[str, Any] = {"coordinates": ["z", "x", "angle"], "speeds": ["vz", "v", "w"]}
    model.joint("plane", "planar", "ground", "disk", normal="y", **names)
    given = {"shape": {"sphere": r}, "normal": "z", "at": (0, 0, -r)}
    model.contact("ramp", "disk", "ground", **given, friction="mu", restitution=restitution)
    return model
