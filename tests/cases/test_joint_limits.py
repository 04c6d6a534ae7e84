"""Limits of a robot's joints: told where a motion leaves them, held by stops, and kept by control laws.

A pendulum of one link falls from rest; energy says how fast it is where it meets its limit.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.limits import exceed_speeds, leave_limits
from kane.cli import main
from kane.model.records import Limit
from kane.planning import ComputedTorque, Hold

G, LENGTH = 9.81, 0.5


def robot(folder: Path, lower: float = -0.4, upper: float = 0.4, **options: Any) -> kane.Model:
    """A point mass on a rod that swings about y."""
    path = folder / "pendulum.urdf"
    path.write_text(
        '<robot name="pendulum"><link name="base"/><link name="rod"><inertial>'
        f'<origin xyz="0 0 -{LENGTH}"/><mass value="1"/><inertia ixx="1e-9" iyy="1e-9" izz="1e-9"/></inertial></link>'
        '<joint name="swing" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>'
        f'<limit lower="{lower}" upper="{upper}" velocity="3" effort="2"/></joint></robot>'
    )
    return kane.load(path, **options)


def falling_time(start: float, end: float) -> float:
    """Time (s) of a pendulum from rest at `start` to `end` (rad), by quadrature of its energy."""
    from scipy.integrate import quad

    # q = start cos-like: with sin(q/2) = k sin φ the integrand has no pole
    k = math.sin(start / 2)
    φ = math.asin(math.sin(end / 2) / k)
    return math.sqrt(LENGTH / G) * quad(lambda x: 1 / math.sqrt(1 - (k * math.sin(x)) ** 2), φ, math.pi / 2)[0]


def test_an_outcome_says_where_and_when_a_motion_leaves_its_limits(tmp_path: Path) -> None:
    run = robot(tmp_path, lower=-0.4, upper=1.2).simulate(2.0, q={"q_swing": 1.0})
    assert "left its limits: q_swing at t = " in str(run.outcome) and "(-0.4 … 1.2)" in str(run.outcome)
    left = leave_limits(run.answers, run.t, run.q, run.u)
    expected = falling_time(1.0, 0.0) + (falling_time(1.0, 0.0) - falling_time(1.0, 0.4))
    assert left["q_swing"] == pytest.approx(expected, abs=2e-5)  # on a cubic between two steps
    inside = robot(tmp_path).simulate(2.0, q={"q_swing": 0.3})
    assert "limits" not in str(inside.outcome)


def test_an_outcome_says_which_joints_are_too_fast(tmp_path: Path) -> None:
    run = robot(tmp_path, lower=-4, upper=4).simulate(np.linspace(0.0, 2.0, 2001), q={"q_swing": 2.0})
    fastest = math.sqrt(2 * G / LENGTH * (1 - math.cos(2.0)))  # rad/s, at the bottom, by energy
    assert fastest > 3.0 and f"faster than allowed: q_swing ({fastest:.3g} of 3)" in str(run.outcome)


@pytest.mark.parametrize("times", [2.0, np.linspace(0.0, 2.0, 2001)], ids=["steps", "samples"])
def test_a_joint_is_too_fast_from_when_energy_says(times: Any, tmp_path: Path) -> None:
    run = robot(tmp_path, lower=-4, upper=4).simulate(times, q={"q_swing": 2.0})
    there = math.acos(math.cos(2.0) + 9.0 * LENGTH / (2 * G))  # rad: fallen so far that it turns at 3 rad/s
    expected = falling_time(2.0, there)
    assert exceed_speeds(run) == {"q_swing": pytest.approx(expected, abs=2e-5)}  # on a cubic between two steps
    assert f" of 3) from t = {expected:.3f}" in str(run.outcome)
    assert exceed_speeds(robot(tmp_path).simulate(2.0, q={"q_swing": 0.3})) == {}


def test_limits_that_are_judged_at_times_that_were_asked_for_are_told_as_that(tmp_path: Path) -> None:
    """It falls from 2 rad, which is beyond 1, and is fastest at the bottom, which none of 9 times need be."""
    m = robot(tmp_path, lower=-4, upper=1)
    few, steps = (str(m.simulate(t, q={"q_swing": 2.0}).outcome) for t in (np.linspace(0.0, 2.0, 9), 2.0))
    for what in ("left its limits: ", "faster than allowed: "):
        (line,) = [line for line in few.splitlines() if what in line]
        assert line.endswith(", as seen at 9 times") and what in steps
    assert "as seen at" not in steps


def test_a_start_beyond_a_stop_is_refused_in_words_of_stops(tmp_path: Path) -> None:
    with pytest.raises(kane.ModelError, match=r"'swing stop\.upper': the start is 0\.5 beyond it"):
        robot(tmp_path, limits="stop").simulate(0.1, q={"q_swing": 0.9})


def test_a_motion_that_starts_outside_has_left_its_limits_at_once(tmp_path: Path) -> None:
    run = robot(tmp_path).simulate(0.1, q={"q_swing": 0.9})
    assert "q_swing at t = 0 s" in str(run.outcome)


def test_efforts_of_a_motion_are_told_with_the_limits_that_it_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """60 rad in 1 s on a cycloid: fastest 120 rad/s in the middle, and 2π 60 rad/s² after a quarter of the time."""
    robot(tmp_path)
    line = ["inverse", str(tmp_path / "pendulum.urdf"), "-o", str(tmp_path / "e.csv"), "--duration", "1", "--to"]
    assert main([*line, "q_swing=60"]) == 0
    said = capsys.readouterr().err
    assert "left its limits: q_swing at t = " in said and "faster than allowed: q_swing (120 of 3)" in said
    strongest = re.search(r"efforts beyond their limits: q_swing \(([\d.]+) of 2\)\n", said)
    assert strongest and abs(float(strongest[1]) - 2 * math.pi * 60 * LENGTH**2) <= G * LENGTH
    assert main([*line, "q_swing=0.1"]) == 0
    assert "limits" not in capsys.readouterr().err


def test_stops_at_the_limits_hold_and_are_hit_as_energy_says(tmp_path: Path) -> None:
    run = robot(tmp_path, lower=-0.4, upper=1.2, limits="stop").simulate(2.0, q={"q_swing": 1.0})
    assert run.q.min() > -0.4 - 1e-9 and "limits" not in str(run.outcome)
    hit = run.transitions[1]
    rate = math.sqrt(2 * G / LENGTH * (math.cos(0.4) - math.cos(1.0)))
    assert hit.energy_change == pytest.approx(-0.5 * LENGTH**2 * rate**2, rel=1e-6)
    assert "swing stop" in str(hit)


@pytest.mark.parametrize(("lower", "upper", "start"), [(-1, 2, 0.0), (0.5, 1.5, 1.0), (-3, -1, -2.0), (0, 0, 0.0)])
def test_a_joint_starts_inside_its_limits(lower: float, upper: float, start: float, tmp_path: Path) -> None:
    q, _ = robot(tmp_path, lower, upper).initial_state
    assert q.tolist() == [start]


HOLD = ComputedTorque(Hold((1.0,)), stiffness=100.0, damping=20.0)
LAWS = [{"u_swing": "100*(1 - q_swing) - 5*u_swing"}, HOLD, lambda t, q, u: [100 * (1 - q[0]) - 5 * u[0]]]


@pytest.mark.parametrize("law", LAWS, ids=["expression", "computed torque", "function"])
def test_efforts_are_held_at_their_limits_where_asked(law: Any, tmp_path: Path) -> None:
    model = robot(tmp_path, lower=-2, upper=2)
    free, held = (model.simulate(1.0, control=law, saturate=saturate) for saturate in (False, True))
    assert np.abs(free.tau).max() > 2.5 and "efforts beyond their limits: q_swing" in str(free.outcome)
    assert np.abs(held.tau).max() == pytest.approx(2.0) and "efforts" not in str(held.outcome)
    # weight at 24° is all that 2 N m hold; a constant torque swings no further than energy allows
    assert held.q.max() < 1.0
    assert held.check().passed


def test_saturation_without_limits_of_efforts_warns_once() -> None:
    model = kane.load("cart-pole")
    assert not any(math.isfinite(limit.effort) for limit in model.mechanism.limits.values())
    with pytest.warns(UserWarning, match="saturate=True changes nothing: 'cart-pole' has no limits") as said:
        run = model.simulate(0.5, control="balance", saturate=True)
    assert len(said) == 1
    assert run.q[-1].tolist() == model.simulate(0.5, control="balance").q[-1].tolist()
    with pytest.warns(UserWarning, match="no limits of efforts") as said:
        model.ensemble(0.1, n=3, q={"q": "uniform(0, 0.1)"}, control="balance", saturate=True)
    assert len(said) == 1


def test_curves_show_where_a_limit_is_left(tmp_path: Path) -> None:
    run = robot(tmp_path).simulate(np.linspace(0, 2, 50), q={"q_swing": 0.9})
    axis = run.plot().axes[0]
    beyond = next(line for line in axis.lines if line.get_label() == "beyond its limits")
    whole, shown = (np.asarray(line.get_ydata(), dtype=float) for line in (axis.lines[0], beyond))
    assert np.array_equal(np.isfinite(shown), np.abs(whole) > 0.4)
    times = np.asarray(beyond.get_xdata(), dtype=float)
    assert np.array_equal(np.isfinite(shown[np.isin(times, run.t)]), np.abs(run.q[:, 0]) > 0.4)


def test_curves_of_speeds_and_efforts_show_their_limits_as_those_of_coordinates_do(tmp_path: Path) -> None:
    model = robot(tmp_path, lower=-4, upper=4)  # 3 rad/s, 2 N m
    fast = model.simulate(np.linspace(0, 2, 500), q={"q_swing": 2.0})
    law = {"u_swing": "100*(1 - q_swing) - 5*u_swing"}
    strong, held = (model.simulate(np.linspace(0, 1, 500), control=law, saturate=x) for x in (False, True))
    slow = model.simulate(1.0, q={"q_swing": 0.1})
    for run, what, most in ((fast, "speeds", 3.0), (strong, "efforts", 2.0)):
        (axis,) = run.plot(what=what).axes
        beyond = next(line for line in axis.lines if line.get_label() == "beyond its limits")
        whole, shown = (np.asarray(line.get_ydata(), dtype=float) for line in (axis.lines[0], beyond))
        assert np.array_equal(np.isfinite(shown), np.abs(whole) > most) and np.isfinite(shown).any()
        assert {x.get_ydata()[0] for x in axis.lines if x.get_linestyle() == ":"} <= {-most, most}
    (axis,) = held.plot(what="efforts").axes  # at its limit, and not beyond
    assert 2.0 in {x.get_ydata()[0] for x in axis.lines if x.get_linestyle() == ":"}
    assert "beyond its limits" not in [line.get_label() for line in axis.lines]
    assert len(slow.plot(what="speeds").axes[0].lines) == 1  # nothing near its limit: nothing more is drawn


# how long drives give all they can -----------------------------------------------------------------------------------

MASS, STIFFNESS, TARGET, MOST = 2.0, 50.0, 1.0, 3.0  # kg, N/m, m, N
SWITCHED = 2e-6  # s: of a motion at rtol 1e-8 over 4 s, where the effort reaches or leaves its limit
LONG = 4.0  # s


def cart() -> kane.Model:
    """A mass on a rail whose drive gives 3 N at most."""
    m = kane.Model("cart")
    m.body("cart", mass=MASS)
    m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"], speeds=["v"])
    m.limit("x", effort=MOST)
    return m


def switching_times() -> list[tuple[float, float]]:
    """When min(max(k (x0 − x), −F), F) is at a limit, from rest at x = 0: a constant force up to x0 − F/k, half of an
    ellipse about x0 in (x, v) between the limits, a throw that comes back to x0 + F/k as fast as it left, and so on."""
    a, band, w = MOST / MASS, MOST / STIFFNESS, math.sqrt(STIFFNESS / MASS)
    first = math.sqrt(2 * (TARGET - band) / a)
    speed = a * first
    through = 2 / w * math.asin(band / math.hypot(band, speed / w))
    back = first + through + 2 * speed / a
    return [(0.0, first), (first + through, back), (back + through, LONG)]


SPRING = f"{STIFFNESS}*({TARGET} - x)"


@pytest.mark.parametrize(
    ("options", "within"),
    [
        ({"t": LONG, "control": {"v": SPRING}}, SWITCHED),
        ({"t": LONG, "control": {"v": SPRING}, "method": "radau"}, SWITCHED),
        ({"t": np.linspace(0.0, LONG, 81), "control": {"v": SPRING}}, 5e-4),  # states 0.05 s apart, steps are cubics
    ],
    ids=["steps", "implicit", "few states"],
)
def test_how_long_a_drive_is_saturated_is_that_of_the_closed_form(options: dict[str, Any], within: float) -> None:
    run = cart().simulate(saturate=True, **options)
    (found,) = run.saturation
    expected = switching_times()
    assert (found.coordinate, found.limit, len(found.spans)) == ("x", MOST, 3)
    np.testing.assert_allclose(found.spans, expected, rtol=0, atol=within)
    seconds = sum(end - start for start, end in expected)
    assert found.seconds == pytest.approx(seconds, abs=6 * within)
    assert found.share == pytest.approx(seconds / LONG, abs=6 * within)
    assert found.first == 0.0
    told = f"saturated: x for {seconds:.4g} s ({100 * seconds / LONG:.3g} % of the time), first at t = 0 s"
    assert told in str(run.outcome)


def test_a_law_of_time_is_cut_off_for_the_share_that_its_amplitude_says() -> None:
    """2 F sin π t is beyond F for two thirds of each period, from 1/6 to 5/6 of a half one, whatever it moves."""
    run = cart().simulate(2.0, control={"v": f"{2 * MOST}*sin(pi*t)"}, saturate=True)
    (found,) = run.saturation
    np.testing.assert_allclose(found.spans, [(1 / 6, 5 / 6), (7 / 6, 11 / 6)], atol=1e-9)
    assert found.share == pytest.approx(2 / 3, abs=1e-9) and found.first == pytest.approx(1 / 6, abs=1e-9)
    back = cart().simulate(np.linspace(2.0, 0.0, 41), control={"v": f"{2 * MOST}*sin(pi*t)"}, saturate=True)
    (found,) = back.saturation
    np.testing.assert_allclose(found.spans, [(11 / 6, 7 / 6), (5 / 6, 1 / 6)], atol=1e-9)
    assert found.seconds == pytest.approx(4 / 3, abs=1e-9) and found.first == pytest.approx(11 / 6, abs=1e-9)


@pytest.mark.parametrize("beside", [0.0, 0.7])
def test_a_function_is_saturated_while_its_samples_are(beside: float) -> None:
    """It is held for 10 ms after each sample; a constant effort beside it is given by the same drive."""
    run = cart().simulate(2.0, tau=[beside], control=lambda t, q, u: [2 * MOST * math.sin(math.pi * t)], saturate=True)
    (found,) = run.saturation
    samples = [k for k in range(200) if abs(2 * MOST * math.sin(math.pi * 0.01 * k) + beside) >= MOST]
    assert found.seconds == pytest.approx(0.01 * len(samples), abs=1e-9)
    assert found.first == pytest.approx(0.01 * samples[0], abs=1e-12)
    assert np.abs(run.tau).max() == MOST


@pytest.mark.parametrize("law", [{"v": f"{2 * MOST}*sin(pi*t)"}, None], ids=["beside a law", "alone"])
def test_constant_efforts_are_cut_off_with_those_of_a_law(law: dict[str, str] | None) -> None:
    """The drive gives F at most: alone the cart goes F t²/2m; beside 2 F sin π t, F/2 more is cut off where the sum is
    beyond F, from asin(1/4)/π on."""
    tau = [2 * MOST] if law is None else [MOST / 2]
    run = cart().simulate(1.0, tau=tau, control=law, saturate=True)
    (found,) = run.saturation
    assert np.abs(run.tau).max() == pytest.approx(MOST, rel=1e-15) and "saturated: x for" in str(run.outcome)
    assert "beyond" not in str(run.outcome)
    if law is None:
        assert run.q[-1, 0] == pytest.approx(0.5 * MOST / MASS, rel=1e-9) and found.share == 1.0
    else:
        assert found.spans[0] == pytest.approx((math.asin(0.25) / math.pi, 1 - math.asin(0.25) / math.pi), abs=1e-9)


def test_efforts_that_are_limited_to_nothing_are_told() -> None:
    m = cart()
    m.limit("x", effort=0.0)
    with pytest.warns(UserWarning, match=r"no effort along x, whose limit is 0(.|\n)*effort: 10"):
        run = m.simulate(1.0, control={"v": "1"}, saturate=True)
    assert not np.any(run.q)


def test_limits_that_are_not_given_stay_as_they_were(tmp_path: Path) -> None:
    m = robot(tmp_path)
    m.limit("q_swing", lower=-0.2, upper=0.3)
    assert m.mechanism.limits["q_swing"] == Limit(-0.2, 0.3, 3.0, 2.0)
    m.limit("q_swing", velocity=math.inf)
    assert m.mechanism.limits["q_swing"] == Limit(-0.2, 0.3, math.inf, 2.0)
    with pytest.raises(kane.ModelError, match=r"from 0\.5 to 0\.3(.|\n)*give both"):
        m.limit("q_swing", lower=0.5)
    for file, under in (("own", "pendulum.urdf"), ("again", "own.yaml")):
        text = f"kane: 1\nextends: {under}\nname: {file}\nlimits: {{q_swing: {{lower: -0.1}}}}\n"
        (tmp_path / f"{file}.yaml").write_text(text)
    for file in ("own", "again"):
        assert kane.load(tmp_path / f"{file}.yaml").mechanism.limits["q_swing"] == Limit(-0.1, 0.4, 3.0, 2.0)


@pytest.mark.parametrize("value", [math.nan, "wide"])
def test_a_limit_that_is_no_number_is_refused_as_such(value: Any) -> None:
    with pytest.raises(kane.ModelError, match=r"limit of 'x' / lower: \S+ is not a finite number"):
        cart().limit("x", lower=value)


def test_computed_torque_tells_how_long_it_was_saturated(tmp_path: Path) -> None:
    """Held at 24° or more a rod of 0.5 m and 1 kg needs more than its 2 N m: at rest there for all of the time."""
    run = robot(tmp_path, lower=-2, upper=2).simulate(1.0, q={"q_swing": 0.0}, control=HOLD, saturate=True)
    (found,) = run.saturation
    at = np.abs(run.tau[:, 0]) == 2.0
    inside = [any(a <= t <= b for a, b in found.spans) for t in run.t]
    assert np.array_equal(at, inside) and found.first == 0.0


def test_nothing_is_saturated_that_has_no_limit_or_stays_below_it() -> None:
    weak = {"v": f"{0.9 * MOST}*sin(pi*t)"}
    below = cart().simulate(2.0, control=weak, saturate=True)
    assert below.saturation == () and str(below.outcome).endswith("\nno effort reached its limit")
    for alone in (cart().simulate(2.0, control=weak), cart().simulate(2.0, saturate=True)):  # not asked for; no control
        assert "its limit" not in str(alone.outcome)
    free = cart().simulate(2.0, control={"v": f"{2 * MOST}*sin(pi*t)"})
    assert free.saturation == () and "saturated:" not in str(free.outcome)
    unlimited = cart()
    unlimited.limit("x", lower=-100, effort=math.inf)
    with pytest.warns(UserWarning, match="saturate=True changes nothing"):
        run = unlimited.simulate(LONG, control={"v": SPRING}, saturate=True)
    assert run.saturation == () and "its limit" not in str(run.outcome)


def test_of_several_drives_the_longest_is_told_first_and_all_are_kept(tmp_path: Path) -> None:
    m = kane.Model("gantry")
    before = "ground"
    axes = "xyzab"
    for k, axis in enumerate(axes):
        m.body(axis, mass=1.0)
        m.joint(f"rail {axis}", "prismatic", before, axis, axis="x", coordinates=[axis], speeds=[f"v{axis}"])
        m.limit(axis, effort=float(k + 1))
        before = axis
    law = {f"v{axis}": "8*sin(pi*t)" for axis in axes}
    run = m.simulate(2.0, control=law, saturate=True)
    assert "".join(x.coordinate for x in run.saturation) == axes
    assert str(run.outcome).endswith(" and 2 more (all: run.saturation)")
    for k, found in enumerate(run.saturation):
        assert found.share == pytest.approx(1 - 2 / math.pi * math.asin((k + 1) / 8), abs=1e-9)
    again = kane.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert again.saturation == run.saturation and str(again.outcome) == str(run.outcome)
