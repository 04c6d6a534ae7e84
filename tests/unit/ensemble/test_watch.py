"""What is watched along members is what the same motion alone says: with the efforts of its control, and reactions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.ensemble import blocks
from kane.errors import InputError, ModelError

TIMES = np.linspace(0.0, 0.5, 6)
PARABOLA = 2e-3  # twenty looks in a swing, forty where it is wide, and an error of the fourth order
BETWEEN = 1e-2  # of the range of a quantity that has many more steps than looks, or many more looks than swings
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
        size = ROUNDING * np.abs(alpha).max()
        assert found.end["tip"][i] == pytest.approx(alpha[-1], abs=size)
        if found.t.size == 2:
            start = {"q": {"phi": 0.5}, "u": {"uq1": found.numbers["uq1"][i]}}
            alone = m.simulate(np.linspace(0, 0.5, 1001), **start, control=LAWS[law], tau=tau)
            alpha = alone.tipover().alpha
            size = np.abs(alpha[10:] - alpha[:-10]).max()  # from one look to the next: it has kinks
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


def test_events_that_no_member_could_have_are_refused_once_before_any_is_computed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    m = kane.load("pendulum")
    done: list[object] = []
    for events, said in (
        ({"up": "heigth"}, "event 'up'.*unknown symbol 'heigth'"),
        ({"up": {"expression": "q", "way": 1}}, "event 'up': cannot be made of"),
    ):
        with pytest.raises(ModelError, match=said):
            m.ensemble(1.0, n=5, events=events, progress=done.append)
    assert not done
    assert main(["sweep", "pendulum", "-n", "5", "--event", "up=heigth!"]) != 0
    printed = capsys.readouterr()
    assert printed.err.count("unknown symbol 'heigth'") == 1 and "nan" not in printed.out


def test_what_cannot_be_watched_is_named() -> None:
    with pytest.raises(ModelError, match="unknown symbol 'heigth'"):
        kane.load("pendulum").ensemble(1.0, n=2, watch={"h": "heigth"})
    with pytest.raises(InputError, match=r"watch = 'h'\n    fix: give a mapping"):
        kane.load("pendulum").ensemble(1.0, n=2, watch="h")  # pyright: ignore[reportArgumentType]
    ball = kane.load("bouncing-ball")
    row = next(iter(ball.mechanism.changing.values())).row_names()[0]
    with pytest.raises(InputError, match=r"(?s)comes and goes has reactions.*fix: watch it by events="):
        ball.ensemble(1.0, n=2, watch={"push": row})


def test_extremes_over_a_duration_are_those_of_the_swing() -> None:
    m = kane.load("pendulum", free="L")
    asked: Any = {"n": 64, "seed": 3, "q": {"q": "uniform(0.2, 2.4)"}, "parameters": {"L": "uniform(0.5, 1)"}}
    found = m.ensemble(10.0, watch={"angle": "q", "rate": "u"}, **asked)
    q0, L = found.numbers["q"], found.numbers["L"]
    rate = np.sqrt(2.0 * m.parameters["g"].value / L * (1.0 - np.cos(q0)))  # at the bottom, by the energy
    for name, size in (("angle", q0), ("rate", rate)):
        np.testing.assert_allclose(found.high[name], size, rtol=PARABOLA)
        np.testing.assert_allclose(found.low[name], -size, rtol=PARABOLA)
    for i in range(0, 64, 9):
        dense = m.simulate(np.linspace(0, 10, 5001), q={"q": q0[i]}, parameters={"L": L[i]})
        assert found.high["rate"][i] == pytest.approx(dense.u.max(), rel=PARABOLA)


DURATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "lanes": ("double-pendulum", {"q": {"q1": "uniform(1, 3)"}}),
    "implicit": ("double-pendulum", {"q": {"q1": "uniform(1, 3)"}, "method": "radau"}),
    "fixed steps": ("double-pendulum", {"q": {"q1": "uniform(1, 3)"}, "method": "rk4", "step": 0.013}),
    "constraints": ("whipple-bicycle", {"u": {"ux": "uniform(4, 6)"}}),
    "impacts": ("bouncing-ball", {"u": {"v": "uniform(-1, 1)"}}),
    "time steps": ("bouncing-ball", {"u": {"v": "uniform(-1, 1)"}, "contacts": "stepping", "step": 0.001}),
    "samples": ("cart-pole", {"q": {"q": "uniform(0.1, 1)"}, "control": lambda t, q, u: np.array([np.sin(3 * t), 0])}),
}


@pytest.mark.parametrize("kind", DURATIONS)
def test_looks_on_the_way_change_no_bit_of_the_end_and_find_the_extremes(kind: str) -> None:
    name, asked = DURATIONS[kind]
    m = kane.load(name)
    speed = m.speeds[-1]
    plain = m.ensemble(1.5, n=9, **asked)
    found = m.ensemble(1.5, n=9, watch={"speed": speed}, **asked)
    dense = m.ensemble(np.linspace(0, 1.5, 3001), n=9, keep="ends", **asked)
    assert found.success.all()
    for ends in ("end_t", "end_q", "end_u"):
        np.testing.assert_array_equal(getattr(found, ends), getattr(plain, ends))
    jump = 9.81 * 1.5 / blocks.LOOKS if name == "bouncing-ball" else 0.0  # what a ball has lost, or not yet gained
    size = BETWEEN * (dense.high[speed] - dense.low[speed]) + jump
    assert np.all(np.abs(found.high["speed"] - dense.high[speed]) <= size)
    assert np.all(np.abs(found.low["speed"] - dense.low[speed]) <= size)


def test_no_speed_is_found_that_a_ball_does_not_have_at_its_impact() -> None:
    m = kane.load("bouncing-ball")
    found = m.ensemble(1.5, n=32, parameters={"h": "uniform(0.5, 1.5)"}, watch={"v": "v"})
    down = np.sqrt(2.0 * m.parameters["g"].value * found.numbers["h"])
    assert np.all(found.low["v"] >= -down * (1 + ROUNDING))
    assert np.all(found.high["v"] <= m.parameters["e"].value * down * (1 + ROUNDING))


@pytest.mark.parametrize("keep", ["ends", "motions"])
def test_a_member_that_an_event_ends_is_watched_up_to_there(keep: str) -> None:
    m = kane.load("pendulum")
    events = {"bottom": {"expression": "q", "terminal": True}}
    found = m.ensemble(10.0, n=8, q={"q": "uniform(0.5, 2)"}, events=events, watch={"t": "t", "u": "u"}, keep=keep)
    assert (found.reasons == "event").all() and found.end_t is not None and found.end_u is not None
    np.testing.assert_array_equal(found.high["t"], found.end_t)
    np.testing.assert_allclose(found.low["u"], found.end_u[:, 0], rtol=ROUNDING)  # it has only gained speed
    assert (found.low["t"] == 0.0).all()


def test_extremes_do_not_depend_on_how_many_members_are_looked_at_together(monkeypatch: Any) -> None:
    m = kane.load("double-pendulum")
    asked: Any = {"n": 50, "q": {"q1": "uniform(1, 3)"}, "watch": {"u1": "u1"}}
    whole = m.ensemble(2.0, **asked)
    monkeypatch.setattr(blocks, "PORTION", 1)
    parts = m.ensemble(2.0, **asked)
    np.testing.assert_array_equal(whole.high["u1"], parts.high["u1"])
    np.testing.assert_array_equal(whole.low["u1"], parts.low["u1"])
