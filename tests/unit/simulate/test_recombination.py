"""Rows that hold as equations, in modes: the same motion as from the embedding of permanent constraints, by QR."""

from __future__ import annotations

import numpy as np
import pytest

import kane

SAME = 1e-9  # of states, with tolerances of 1e-11
BALANCED = 1e-9  # of energy, beside what moves
FRICTION = 0.3  # N m
INERTIA = {"xx": 0.01, "yy": 0.012, "zz": 0.005}  # kg m²


def chain(n: int, rows: list[str], *, changes: bool, friction: bool) -> kane.Model:
    """Rods one below the other, with constraints on their speeds; if it `changes`, the last of these ends at a time
    that is never reached, which leaves the motion alone but not the way it is computed."""
    m = kane.Model("chain", gravity=(0, 0, -9.81))
    for i in range(n):
        m.body(f"rod{i}", mass=1.0 + 0.1 * i, center=(0, 0.02 * i, -0.1), inertia=INERTIA)
        axis, at = "yx"[i % 2], (0, 0, -0.2 if i else 0.0)
        parent = f"rod{i - 1}" if i else "ground"
        m.joint(f"j{i}", "revolute", parent, f"rod{i}", axis=axis, at=at, coordinates=[f"q{i}"], speeds=[f"u{i}"])
    for k, row in enumerate(rows):
        last = {"until": "t - 100"} if changes and k == len(rows) - 1 else {}
        m.constrain(f"row{k}", kane.MotionEquations(row), **last)
    if friction and changes:
        m.constrain("rub", kane.Friction("u0", bound=FRICTION))
    elif friction:
        m.load("rub", kane.Effort("j0", -FRICTION))
    return m


@pytest.mark.parametrize("friction", [False, True])
@pytest.mark.parametrize(
    ("n", "rows"),
    [
        (2, ["u0 - 0.7*u1"]),
        (3, ["u1 + u2 - 0.5*cos(t)"]),
        (4, ["u3 - 0.4*u1", "u2 + 0.3*u0*cos(q1) - 0.2*sin(3*t)"]),
        (5, ["u4 - u0", "u3 + 0.1*u4", "u2 - 0.2*t"]),
        (7, ["u1 + u3 + u5", "u6 - 0.01*u0"]),
        (17, ["u3 - u4", "u8 + 0.5*u9"]),
    ],
)
def test_rows_that_may_end_hold_like_those_that_cannot(n: int, rows: list[str], friction: bool) -> None:
    changing, permanent = (chain(n, rows, changes=changes, friction=friction) for changes in (True, False))
    u = np.full(n, 0.5)
    u[0] = 3.0
    q, u = permanent.project(np.linspace(0.2, 0.6, n), u)
    changing, permanent = (
        m.simulate(0.05, q=q, u=u, rtol=1e-11, atol=1e-12, embed="run-time") for m in (changing, permanent)
    )
    assert changing.outcome.success and len(changing.transitions) == 1 and changing.u[:, 0].min() > 0.1
    assert changing.q[-1] == pytest.approx(permanent.q[-1], abs=SAME)
    assert changing.u[-1] == pytest.approx(permanent.u[-1], abs=SAME)


def test_rows_that_almost_say_the_same_are_left_to_the_metric_of_the_mass() -> None:
    """Both together say that nothing turns, one of them with a millionth of itself."""
    m = chain(3, ["u0 - u1", f"u0 - {1 + 1e-6}*u1"], changes=True, friction=False)
    run = m.simulate(0.5, q=[0.3, 0.0, 0.5], u=[0, 0, 1.0], rtol=1e-10, atol=1e-12)
    assert run.outcome.success
    assert np.abs(run.u[:, :2]).max() <= 1e-9
    assert run.u[-1, 2] != pytest.approx(1.0, abs=1e-3)


def test_speeds_across_an_axle_stay_exactly_zero() -> None:
    """v is the speed along the axle of the back wheels: the row says v = 0 and nothing else."""
    run = kane.load("shopping-cart").simulate(2.0, method="rk4", step=1e-3, u={"u1": 1.0}, embed="run-time")
    assert run.outcome.success and not run.u[:, 1].any()
    assert np.ptp(run.energy().kinetic) <= BALANCED
