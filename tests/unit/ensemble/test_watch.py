"""What is watched along members is what the same motion alone says: with the efforts of its control, and reactions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import InputError, ModelError

TIMES = np.linspace(0.0, 0.5, 6)
ROUNDING = 1e-9  # of the largest value; the same programs, evaluated by other routes


def push(t: float, q: Any, u: Any) -> Any:
    """Efforts along all speeds of the mobile manipulator, as a function gives them."""
    tau = np.zeros(9)
    tau[4] = 3.0 * np.sin(5.0 * t) - 2.0 * u[4]
    return tau


LAWS: dict[str, Any] = {"expressions": {"uq1": "3*sin(5*t) - 2*uq1"}, "function": push, "none": None}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("t", [TIMES, 0.5], ids=["times", "end"])
def test_the_tip_over_measure_sees_the_efforts_of_the_control(law: str, t: Any) -> None:
    m = kane.load("tanner-mobile-manipulator")
    tau = {"uq2": 1.5}
    found = m.ensemble(
        t, n=4, q={"phi": 0.5}, u={"uq1": "uniform(0.5, 1)"}, watch={"tip": "tipover"}, control=LAWS[law], tau=tau
    )
    for i in range(4):
        alpha = found.member(i).tipover().alpha
        alpha = alpha if found.t.size > 2 else alpha[-1:]
        size = ROUNDING * np.abs(alpha).max()
        assert found.low["tip"][i] == pytest.approx(alpha.min(), abs=size)
        assert found.high["tip"][i] == pytest.approx(alpha.max(), abs=size)
    if law != "none":
        idle = m.ensemble(t, n=4, q={"phi": 0.5}, u={"uq1": "uniform(0.5, 1)"}, watch={"tip": "tipover"})
        assert not np.allclose(idle.high["tip"], found.high["tip"], rtol=1e-3)  # which would hide the efforts


def test_reactions_are_watched_by_the_names_of_their_rows() -> None:
    m = kane.load("four-bar")
    row = m.mechanism.row_names[0]
    speed = m.speeds[0]
    name = next(iter(m.parameters))
    value = m.parameters[name].value
    asked = {name: f"uniform({value}, {1.001 * value})"}
    found = m.ensemble(TIMES, n=3, parameters=asked, watch={"pull": row}, control={speed: "2 - 0.1*t"})
    assert found.success.all() and len(set(found.high["pull"].tolist())) == 3
    for i in range(3):
        alone = found.member(i)
        pull = alone.multipliers[:, 0]
        assert found.high["pull"][i] == pytest.approx(pull.max(), rel=ROUNDING, abs=ROUNDING)
        assert found.low["pull"][i] == pytest.approx(pull.min(), rel=ROUNDING, abs=ROUNDING)


def test_what_cannot_be_watched_is_named() -> None:
    with pytest.raises(ModelError, match="unknown symbol 'heigth'"):
        kane.load("pendulum").ensemble(1.0, n=2, watch={"h": "heigth"})
    with pytest.raises(InputError, match=r"watch = 'h'\n    fix: give a mapping"):
        kane.load("pendulum").ensemble(1.0, n=2, watch="h")  # pyright: ignore[reportArgumentType]
    ball = kane.load("bouncing-ball")
    row = next(iter(ball.mechanism.changing.values())).row_names()[0]
    with pytest.raises(InputError, match=r"(?s)comes and goes has reactions.*fix: watch it by events="):
        ball.ensemble(1.0, n=2, watch={"push": row})
