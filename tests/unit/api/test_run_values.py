"""Values along a motion: columns, expressions, other times, tables of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.run_values import SMOOTH, smooth, unit_of_text
from kane.errors import ModelError

AGREE = 1e-12  # of lengths and speeds of the size of one
FOURTH_ORDER = 12.0
"""Halving the distance of samples divides the error of a cubic by 16; less where terms of higher order are left."""


def test_columns_have_the_names_of_the_model() -> None:
    run = kane.load("double-pendulum").simulate(1, control={"u1": "2*t"})
    assert np.array_equal(run["q2"], run.q[:, 1])
    assert np.array_equal(run["u1"], run.u[:, 0])
    assert np.array_equal(run["tau_u1"], run.tau[:, 0])
    assert np.array_equal(run["u2'"], run.acceleration()[:, 1])
    assert np.array_equal(run["t"], run.t)
    chosen = kane.load("rolling-disc").simulate([0, 0.05, 0.1])  # whose speeds are no rates
    np.testing.assert_allclose(chosen["yaw'"], chosen.model.qdot(chosen.q, chosen.u)[:, 0], rtol=1e-13, atol=1e-14)
    assert np.array_equal(run["work"], run.work)
    bar = kane.load("four-bar").simulate([0, 0.05, 0.1])
    assert np.array_equal(bar["pin.x"], bar.multipliers[:, 0])


INERTIA = np.array([1.0, 2.0, 3.0])
TORQUE, FORCE = np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.5, 0.25])


def tumbling(kind: str, **options: Any) -> kane.Trajectory:
    """A body of 1 kg that turns under a constant torque along its own axes."""
    m = kane.Model("tumbling")
    m.body("b", mass=1, inertia=dict(zip(("xx", "yy", "zz"), INERTIA.tolist(), strict=True)))
    m.joint("j", kind, "ground", "b", **options)
    efforts = [*TORQUE, *FORCE] if kind == "free" else TORQUE
    return m.simulate(np.linspace(0, 1, 11), u=[0.3, 0.6, 0.9, *([0.2] * 3)][: len(efforts)], tau=efforts)


@pytest.mark.parametrize(("kind", "velocity"), [("spherical", None), ("free", "body"), ("free", "parent")])
def test_the_rate_of_a_speed_is_an_acceleration_in_columns_and_expressions(kind: str, velocity: str | None) -> None:
    run = tumbling(kind, **({} if velocity is None else {"velocity": velocity}))
    w, v = run.u[:, :3], run.u[:, 3:]
    euler = (TORQUE - np.cross(w, INERTIA * w)) / INERTIA
    expected = euler
    if kind == "free":
        newton = FORCE - (np.cross(w, v) if velocity == "body" else np.zeros_like(v))
        expected = np.hstack([euler, newton])
    for name, values in zip(run.model.speeds, expected.T, strict=True):
        np.testing.assert_allclose(run[f"{name}'"], values, atol=AGREE)
        np.testing.assert_allclose(run.evaluate(f"2*{name}' + {name}"), 2 * values + run[name], atol=2 * AGREE)


@pytest.mark.parametrize("kind", ["revolute", "spherical", "free"])
def test_accelerations_are_refused_where_efforts_decide_them(kind: str) -> None:
    m = kane.Model("held")
    m.body("b", mass=1, inertia={"xx": 1, "yy": 2, "zz": 3})
    m.joint("j", kind, "ground", "b")
    speed = m.speeds[0]
    asking: list[dict[str, Any]] = [{"events": {"e": text}} for text in (f"{speed}'", f"{speed}' - 1")]
    for asked in [*asking, dict[str, Any](control={speed: f"-{speed}'"})]:
        with pytest.raises(ModelError, match=rf"{speed}' is the acceleration along {speed}(.|\n)*run\.evaluate"):
            m.simulate(0.1, **asked)
    with pytest.raises(ModelError, match=rf"{speed}' is the acceleration along {speed}"):
        m.linearize(outputs=[f"2*{speed}'"])


def test_a_speed_may_still_be_defined_by_the_motion_variables_of_a_joint() -> None:
    m = kane.Model("defined")
    m.body("b", mass=1, inertia={"xx": 1, "yy": 2, "zz": 3})
    m.joint("j", "spherical", "ground", "b")
    m.mechanism.set_speeds({"a": "2*u_j_wx'", "b": "u_j_wy'", "c": "u_j_wz'"})
    run = m.simulate(0.1, u={"a": 1.0}, rtol=1e-12)
    np.testing.assert_allclose(run.evaluate("w.b.x"), run["a"] / 2, atol=AGREE)


def test_measure_numbers_of_a_free_body_have_the_units_of_velocities() -> None:
    answers = tumbling("free").answers
    units = {"w.b.x": "rad/s", "sqrt(v.b.x**2)": "m/s", "w.b.x + w.b.y": "rad/s"}
    units |= {"u_j_wx'": "rad/s²", "u_j_vx'": "m/s²"}
    assert {text: unit_of_text(answers, text) for text in units} == units


def test_controls_of_a_model_file_know_measure_numbers_and_keep_them_when_saved(tmp_path: Path) -> None:
    """Against their closed forms in the angles and rates of an arm."""
    text = """\
kane: 1
name: arm
parameters: {L: 0.8, d: 0.3}
bodies:
  upper: {mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  lower: {mass: 1, center: [0.5, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
joints:
  a: {type: revolute, parent: ground, child: upper, axis: z, coordinate: q1, speed: u1}
  b: {type: revolute, parent: upper, child: lower, axis: z, at: [L, 0, 0], coordinate: q2, speed: u2}
controls:
  measured: {a: -d*w.lower.z - r.lower.center.y, u2: v.lower.y}
  closed: {a: -d*(u1 + u2) - L*sin(q1) - 0.5*sin(q1 + q2), u2: L*u1*cos(q2)}
"""
    path = tmp_path / "arm.yaml"
    path.write_text(text)
    first = kane.load(path)
    first.save(tmp_path / "saved.yaml")
    for m in (first, kane.load(tmp_path / "saved.yaml")):
        start: Any = {"q": [0.4, -0.9], "u": [0.7, 1.3]}
        measured, closed = (m.simulate([0.0, 1.0], control=name, **start) for name in ("measured", "closed"))
        np.testing.assert_allclose(measured.tau[0], closed.tau[0], atol=1e-14)
        np.testing.assert_allclose(measured.q[-1], closed.q[-1], rtol=1e-7)
    path.write_text(text.replace("w.lower.z", "w.lowr.z"))
    with pytest.raises(kane.ModelError, match=r"arm.yaml:11: control 'measured' / a(.|\n)*did you mean 'lower'"):
        kane.load(path)


def test_laws_of_control_know_angular_velocities_of_bodies_as_events_do() -> None:
    m = kane.Model("damped")
    m.body("b", mass=1, inertia={"xx": 1, "yy": 2, "zz": 3})
    m.joint("j", "spherical", "ground", "b")
    run = m.simulate(1, u=[0.5, 0, 0], control={"u_j_wx": "-2*w.b.x"}, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(run["u_j_wx"], 0.5 * np.exp(-2 * run.t), rtol=1e-9)
    m.control("damp", {"u_j_wx": "-2*w.b.x"})
    named = m.simulate(1, u=[0.5, 0, 0], control="damp", rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(named["u_j_wx"], 0.5 * np.exp(-2 * named.t), rtol=1e-9)


@pytest.mark.parametrize("name", ["q3", "", 0, None, slice(0, 2)])
def test_an_unknown_column_is_refused_with_what_there_is(name: object) -> None:
    run = kane.load("double-pendulum").simulate(0.1)
    with pytest.raises(kane.InputError, match=r"no such column(.|\n)*run\.evaluate"):
        run[name]  # pyright: ignore[reportArgumentType]


def test_expressions_are_what_numpy_makes_of_the_columns() -> None:
    run = kane.load("double-pendulum").simulate(1, q={"q1": 1.0}, control={"u1": "-0.3*u1"})
    power = run["tau_u1"] * run["u1"] + run["tau_u2"] * run["u2"]
    np.testing.assert_allclose(run.evaluate("tau_u1*u1 + tau_u2*u2"), power, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(run.evaluate("u1' + 2*work + t"), run["u1'"] + 2 * run.work + run.t, rtol=1e-14)
    np.testing.assert_allclose(run.evaluate("q1' - u1"), 0.0, atol=0)
    assert run.evaluate("pi/2").tolist() == [np.pi / 2] * len(run)
    with pytest.raises(kane.ModelError, match="evaluate"):
        run.evaluate("q9 + 1")


@pytest.mark.parametrize("name", ["whipple-bicycle", "stanford-arm-kane", "satellite-with-panels"])
def test_places_and_velocities_of_bodies_have_names_in_expressions(name: str) -> None:
    """r along N, v and ω along the axes of the body, against the kinematics of its origin."""
    m = kane.load(name)
    run = m.simulate([0, 0.05, 0.1])
    body = [name for name in m.bodies if name.isidentifier()][-1]
    place = m.at(body)
    R, p = place.pose(run.q)
    twist = place.velocity(run.q, run.u)
    for k, axis in enumerate("xyz"):
        close = {"rtol": 1e-12, "atol": 1e-11 * (1.0 + np.abs(twist).max())}
        np.testing.assert_allclose(run.evaluate(f"r.{body}.{axis}"), p[:, k], **close)
        np.testing.assert_allclose(
            run.evaluate(f"w.{body}.{axis}"), np.einsum("ki,ki->k", R[:, :, k], twist[:, :3]), **close
        )
        np.testing.assert_allclose(
            run.evaluate(f"v.{body}.{axis}"), np.einsum("ki,ki->k", R[:, :, k], twist[:, 3:]), **close
        )


def test_mass_centres_have_names_in_expressions() -> None:
    """A double pendulum by hand: the lower bob is L2 (sin(q1 + q2), −cos(q1 + q2)) from L1 (sin q1, −cos q1), and the
    elbow moves with L1 u1 (cos q1, sin q1), which is L1 u1 (cos q2, −sin q2) along the axes of the lower rod."""
    run = kane.load("double-pendulum").simulate(np.linspace(0, 2, 41), q=[0.7, -0.4], rtol=1e-10)
    (L1, L2), (q1, q2), (u1, u2) = (run.model.parameters[n].value for n in ("L1", "L2")), run.q.T, run.u.T
    assert np.allclose(run.evaluate("r.upper.center.x"), L1 * np.sin(q1), atol=AGREE)
    assert np.allclose(run.evaluate("r.lower.center.y"), -L1 * np.cos(q1) - L2 * np.cos(q1 + q2), atol=AGREE)
    along, across = L1 * u1 * np.cos(q2) + L2 * (u1 + u2), -L1 * u1 * np.sin(q2)
    assert np.allclose(run.evaluate("v.lower.center.x"), along, atol=AGREE)
    assert np.allclose(run.evaluate("v.lower.center.y"), across, atol=AGREE)
    assert np.allclose(run.evaluate("v.upper.x"), 0.0, atol=AGREE), "its origin is on the hinge"


def test_mass_centres_have_names_in_events_and_in_definitions_of_speeds() -> None:
    """A pendulum of length L passes the lowest place with L u = √(2 g L (1 − cos q)), which may be its speed too."""
    m = kane.load("pendulum")
    L, g = m.parameters["L"].value, m.parameters["g"].value
    low = {"expression": "r.bob.center.x", "direction": 0, "terminal": True}
    run = m.simulate(3.0, q=[0.9], events={"low": low}, rtol=1e-10, atol=1e-12)
    fast = np.sqrt(2 * g * L * (1 - np.cos(0.9)))
    assert np.isclose(abs(run.evaluate("v.bob.center.x")[-1]), fast, rtol=1e-7)
    m.set_speeds({"v": "v.bob.center.x"})
    assert np.isclose(m.mass_matrix([0.9])[0, 0], m.parameters["m"].value, rtol=1e-12)  # ½ m v² has no L


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("v.cg.x", "v.BODY.center.x of its mass centre"),
        ("v.bob.centre.x", "v.BODY.center.x of its mass centre"),
        ("v.bob*.x", "the mass centre of a body is written BODY.center, as in v.BODY.center.x"),
    ],
)
def test_other_names_of_a_mass_centre_are_told_the_right_one(expression: str, said: str) -> None:
    run = kane.load("pendulum").simulate(0.1, q=[0.3])
    with pytest.raises(ModelError, match=said.replace(".", r"\.")):
        run.evaluate(expression)


def test_a_motion_ends_where_a_body_is_at_a_height() -> None:
    m = kane.load("double-pendulum")
    run = m.simulate(5, q={"q1": 1.0}, events={"low": {"expression": "r.lower.y + 0.9", "terminal": True}})
    assert run.outcome.reason == "event"
    assert m.at("lower").pose(run.q[-1])[1][1] == pytest.approx(-0.9, abs=1e-10)
    assert m.linearize([0, 0], [0, 0], outputs=["r.lower.x"]).C.tolist() == [[1, 0, 0, 0]], "the rod is 1 m long"


def test_reactions_and_forces_of_the_ground_have_names_in_expressions() -> None:
    bar = kane.load("four-bar").simulate([0, 0.05, 0.1])
    force = np.hypot(bar["pin.x"], bar["pin.y"])
    np.testing.assert_allclose(bar.evaluate("sqrt(pin.x**2 + pin.y**2)"), force, rtol=1e-14)
    car = kane.load("tanner-mobile-manipulator").simulate(np.linspace(0, 1, 5))
    np.testing.assert_allclose(car.evaluate("normal.front"), car.ground().normal[:, 0], rtol=1e-9)
    ball = kane.load("bouncing-ball").simulate(1)
    name = ball.model.mechanism.all_row_names[0]
    assert ball[name].max() == 0.0  # in the air
    assert np.array_equal(ball.evaluate(name), ball[name])


def test_the_total_energy_is_the_sum_and_stays() -> None:
    run = kane.load("double-pendulum").simulate(2, q={"q1": 1.0}, rtol=1e-11)
    energy = run.energy()
    assert np.array_equal(energy.total, energy.kinetic + energy.potential)
    assert np.ptp(energy.total) < 1e-8


def test_resampling_converges_with_the_fourth_power_and_keeps_the_samples() -> None:
    m, end = kane.load("double-pendulum"), 2.0
    start, law = {"q1": 1.0, "q2": 0.5}, {"u1": "-0.3*u1"}
    fine = np.linspace(0, end, 1601)
    exact = m.simulate(fine, q=start, control=law, rtol=1e-12)
    errors = []
    for count in (101, 201):
        run = m.simulate(np.linspace(0, end, count), q=start, control=law, rtol=1e-12)
        shown = run.resample(fine)
        assert np.array_equal(run.resample(run.t).q, run.q)
        errors.append([np.abs(getattr(shown, x) - getattr(exact, x)).max() for x in ("q", "u", "work")])
    coarse, half = np.array(errors)
    assert np.all(coarse / half > FOURTH_ORDER)
    assert shown.check(tolerance=1e-4).passed


def test_resampling_backward_and_by_number() -> None:
    m = kane.load("pendulum")
    back = m.simulate(np.linspace(1, 0, 101))
    shown = back.resample(11)
    assert shown.t[0] == 1.0
    assert shown.t[-1] == 0.0
    np.testing.assert_allclose(shown.q, back.q[::10], atol=1e-12)


def test_quaternions_stay_unit_between_samples() -> None:
    run = kane.load("free-body").simulate(np.linspace(0, 3, 31)).resample(100)
    places = [run.model.coordinates.index(c) for c in run.model.coordinates[:4]]
    np.testing.assert_allclose(np.linalg.norm(run.q[:, places], axis=1), 1.0, rtol=1e-15)


def test_no_curve_is_drawn_across_an_impact() -> None:
    m = kane.load("bouncing-ball")
    with pytest.raises(kane.InputError, match=r"a transition at (.|\n)*simulate with a span"):
        m.simulate(np.linspace(0, 2, 11)).resample(200)
    run = m.simulate((0, 2))
    shown = run.resample(2000)
    bounce = run.transitions[1].t
    late = np.flatnonzero(shown.t > bounce)[0]
    assert shown.u[late - 1].min() < 0 < shown.u[late].max()  # it falls until the impact, and rises after it
    assert shown.evaluate("t")[-1] == 2.0


def test_times_outside_the_motion_are_refused() -> None:
    run = kane.load("pendulum").simulate(1)
    for times in ([0, 2], [np.nan], [], [[0.0]], 1, "all"):
        with pytest.raises(kane.InputError):
            run.resample(times)


def test_pandas_and_xarray_have_columns_and_units() -> None:
    run = kane.load("cart-pole").simulate(1)
    table, data = run.to_pandas(), run.to_xarray()
    assert list(table.columns) == ["x", "q", "v", "u", "tau_v", "tau_u", "work"]
    assert table.index.name == "t"
    assert np.array_equal(table["x"].to_numpy(), run["x"])
    assert table.attrs["units"]["tau_v"] == "N"
    assert data["x"].attrs == {"units": "m"}
    assert data["q"].attrs == {"units": "rad"}
    assert data["tau_u"].attrs == {"units": "N m"}
    assert data["t"].attrs == {"units": "s"}
    assert np.array_equal(data["u"].values, run["u"])
    assert data.attrs["model"] == "cart-pole"


def test_an_extra_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    run = kane.load("pendulum").simulate(0.1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "xarray", None)
    for ask in (run.to_pandas, run.to_xarray):
        with pytest.raises(kane.InputError, match=r"kane\[ensemble\]"):
            ask()


def test_lines_that_are_drawn_are_curves_of_the_motion_between_its_steps() -> None:
    """The samples stay, and what lies between is nearer to the motion than lines are."""
    m = kane.load("double-pendulum")
    run = m.simulate(3.0)
    finer = smooth(run)
    assert finer is not None
    drawn = finer.run
    assert len(drawn.t) >= SMOOTH and np.isin(run.t, drawn.t).all()
    exact = m.simulate(drawn.t, rtol=1e-10, atol=1e-10)
    lines = np.array([np.interp(drawn.t, run.t, u) for u in run.u.T]).T
    assert np.abs(drawn.u - exact.u).max() < 0.05 * np.abs(lines - exact.u).max()


def test_what_jumps_is_drawn_as_a_jump() -> None:
    """A ball that bounces: parabolas between impacts, where both speeds are drawn at one time."""
    run = kane.load("bouncing-ball").simulate(1.0)
    finer = smooth(run)
    assert finer is not None
    drawn = finer.run
    impacts = [x for x in run.transitions if x.cause == "impact"]
    assert impacts
    for x in impacts:
        rows = np.flatnonzero(drawn.t == x.t)
        assert {tuple(u) for u in drawn.u[rows]} == {tuple(x.u_before), tuple(x.u_after)}
    falls = drawn.t < impacts[0].t
    expected = run.q[0] - 0.5 * 9.81 * drawn.t[falls, None] ** 2
    assert drawn.q[falls] == pytest.approx(expected, abs=1e-12)


def test_curves_stay_curves_beside_what_is_no_state() -> None:
    """A pendulum: energies and the pull at its pivot between few steps, drawn beside its angle."""
    m = kane.load("pendulum")
    run = m.simulate(2.0, q={"q": 2.5})
    figure = run.plot(None, ["q", "energy", "reactions"])
    q, energy, force = (figure.axes[i].get_lines() for i in range(3))
    t, angle = np.asarray(q[0].get_xydata()).T
    assert len(t) >= SMOOTH > len(run.t)
    kinetic, potential, total = (np.asarray(line.get_ydata()) for line in energy)
    assert potential == pytest.approx(-9.81 * np.cos(angle), abs=DRAWN)
    assert total == pytest.approx(-9.81 * np.cos(2.5), abs=DRAWN)
    pull = np.asarray(force[1].get_ydata()) * np.cos(angle) - np.asarray(force[0].get_ydata()) * np.sin(angle)
    assert pull == pytest.approx(9.81 * np.cos(angle) + 2.0 * kinetic, abs=DRAWN)


DRAWN = 0.02
"""J, N: a thousandth of the curves, the width of a line; cubics between steps of a tenth of a second are that near."""


def test_expressions_are_drawn_as_curves() -> None:
    """The height of a pendulum by its length and angle, between few steps; forces of the ground under a vehicle, nearer
    to those of a motion in small steps than straight lines are."""
    height = kane.load("pendulum").simulate(2.0, q={"q": 2.5})
    (line,) = height.plot(None, ["r.bob.center.y"]).axes[0].get_lines()
    (angle,) = height.plot(None, ["q"]).axes[0].get_lines()
    drawn = np.asarray(line.get_ydata())
    assert len(drawn) >= SMOOTH > len(height.t)
    np.testing.assert_allclose(drawn, -np.cos(np.asarray(angle.get_ydata())), atol=AGREE)  # 1 m long
    m = kane.load("tanner-mobile-manipulator")
    run = m.simulate(3.0)
    for name in ("normal.front", "tipover"):
        t, force = np.asarray(run.plot(None, [name]).axes[0].get_lines()[0].get_xydata()).T
        small = m.simulate(t, rtol=1e-10, atol=1e-12).evaluate(name)
        lines = np.interp(t, run.t, run.evaluate(name))
        assert np.abs(force - small).max() < 0.01 * np.abs(lines - small).max()


def test_expressions_have_the_titles_and_units_of_what_they_are_made_of() -> None:
    bob = kane.load("pendulum").simulate(1.0)
    car = kane.load("tanner-mobile-manipulator").simulate(0.2)
    expected = {
        "r.bob.center.x": "r.bob.center.x  (m)",
        "v.bob.center.x": "v.bob.center.x  (m/s)",
        "q'": "q'  (rad/s)",
        "-q - q": "−q − q  (rad)",
        "q + u": "q + u",
        "L*cos(q)": "L*cos(q)",
    }
    for text, title in expected.items():
        assert bob.plot(None, [text]).axes[0].get_title(loc="left") == title
    shown = [ax.get_title(loc="left") for ax in car.plot(None, ["normal.left", "friction.left", "tipover"]).axes]
    assert shown == ["normal.left  (N)", "friction.left", "tipover  (N rad)"]


def test_titles_of_a_row_stand_at_one_height() -> None:
    """Beside energy, whose names of curves need a line of their own."""
    figure = kane.load("double-pendulum").simulate(1.0).plot(None, ["q1", "q2", "energy", "u1"])
    first = figure.axes[:2]
    heights = {
        round(float(ax.title.get_transform().transform((0.0, ax.title.get_position()[1]))[1]), 6) for ax in first
    }
    assert len(heights) == 1
    pads = {ax.titleOffsetTrans.to_values()[5] for ax in figure.axes[2:4]}
    assert len(pads) == 1


def test_work_does_not_swing_about_an_impact() -> None:
    """Between samples it is never beyond those beside it."""
    run = kane.load("bouncing-ball").simulate(1.0)
    figure = run.plot(None, "energy")
    work = next(ax for ax in figure.axes if ax.get_title("left").startswith("work of all but gravity"))
    drawn = np.asarray(work.get_lines()[0].get_ydata())
    assert drawn.min() >= run.work.min() and drawn.max() <= run.work.max()


def test_multipliers_have_the_units_of_their_rows() -> None:
    m = kane.load("four-bar")
    figure = m.simulate(0.1).plot(None, ["pin.x", "pin.rx"])
    assert [ax.get_title("left").partition("  ")[2] for ax in figure.axes] == ["(N)", "(N m)"]
