"""Pictures of vehicles: what they show is what the trajectory says, and each has its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

import kane
from kane.viewer import Arrows, plots, vehicle_arrows, vehicles


@pytest.fixture(scope="module")
def run() -> kane.Trajectory:
    """The paper's arm on its circle: it tips over from 1.1646 s to 2.4273 s."""
    return kane.load("tanner-mobile-manipulator").simulate(np.linspace(0, 3, 301), rtol=1e-11)


@pytest.fixture(scope="module")
def lifted() -> kane.Trajectory:
    """A robot that drives off so fast that its caster lifts, and is watched until it is about to lie on its back."""
    m = kane.Model("diff drive", gravity=(0, 0, -9.81))
    m.body("base", mass=25, center=(0.1, 0, 0.35), inertia={"xx": 0.7, "yy": 0.9, "zz": 1.3})
    wheels = {"type": "diff_drive", "wheel_radius": 0.12, "track_width": 0.5, "wheel_mass": 1.5}
    caster = {"at": (0.3, 0, -0.07), "radius": 0.05, "ball": True}
    m.vehicle("base", {"caster": caster}, drive=wheels, friction=0.8, root="free", contact="unilateral")
    torque = "6*(1 + sign(t - 0.1))"
    return m.simulate(0.4, control={"left": torque, "right": torque})


def test_unsafe_spans_lie_between_the_crossings_of_the_motion(run: kane.Trajectory) -> None:
    seen = vehicles.VehicleMotion.of(run)
    (span,) = seen.tip.spans
    assert span == pytest.approx([float(c) for c in run.tipover().crossings], abs=1e-4)


def test_the_shading_of_a_vehicle_that_lifts_does_not_flicker(lifted: kane.Trajectory) -> None:
    """Its caster is off the ground from one change of contacts to the next, and the measure is zero in between."""
    (up,) = [c for c in lifted.ground().crossings if c.what == "contact of caster" and c.to == "open"]
    ((start, end),) = vehicles.VehicleMotion.of(lifted).tip.spans
    assert start == pytest.approx(float(up), abs=1e-9) and end == lifted.t[-1]
    figure = vehicles.tip_over(lifted)
    assert len(figure.axes[0].patches) == 1
    assert vehicles.VehicleMotion.of(lifted).tip.verdict == "tips over"


@pytest.mark.parametrize("draw", [vehicles.overview, vehicles.tip_over])
def test_the_bar_of_a_vehicle_that_tips_is_named_and_hides_no_curve(draw: Any, lifted: kane.Trajectory) -> None:
    """The measure is zero while it tips: what is drawn there is the measure, and the bar lies on the axis of time."""
    ax = draw(lifted).axes[-1]
    (bar,) = [line for line in ax.lines if line.get_label() == "tips over"]
    assert "tips over" in [text.get_text() for text in ax.get_legend().get_texts()]
    height = ax.transAxes.inverted().transform(bar.get_transform().transform(bar.get_xydata()))[:, 1]
    assert np.abs(height).max() < 1e-9 and ax.get_ylim()[0] < 0.0
    assert bar.get_xdata() == pytest.approx(lifted.tipover().spans[0])


def test_lateral_forces_of_a_vehicle_that_drives_straight_are_drawn_as_zero(
    lifted: kane.Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By symmetry there are none, whatever integration leaves: here some, of 3e-6 of the normal forces."""
    ground = lifted.ground()
    largest = float(np.abs(ground.normal).max())
    left = replace(ground, lateral=np.outer(3e-6 * largest * np.sin(40 * ground.t), np.ones(len(ground.wheels))))
    monkeypatch.setattr(kane.Trajectory, "ground", lambda *_: left)
    low, high = vehicles.wheel_forces(lifted).axes[2].get_ylim()
    assert low < -0.9 * largest and high > 0.9 * largest


def test_the_platform_sees_its_wheels_where_they_are_mounted(run: kane.Trajectory) -> None:
    seen = vehicles.VehicleMotion.of(run)
    places = seen.in_platform(run.ground().contact)
    assert np.abs(places - [[0.3, 0.0], [-0.3, 0.3], [-0.3, -0.3]]).max() < 1e-9


@pytest.mark.parametrize("draw", [vehicles.overview, vehicles.from_above, vehicles.wheel_forces, vehicles.tip_over])
def test_pictures_are_drawn_and_shade_what_is_unsafe(draw, run: kane.Trajectory, tmp_path: Path) -> None:
    figure = draw(run, title="circle")
    plots.save(figure, tmp_path / "vehicle.png")
    assert (tmp_path / "vehicle.png").read_bytes().startswith(b"\x89PNG")
    times = [ax for ax in figure.axes if ax.get_xlabel() == "t  (s)" and ax.patches]
    assert bool(times) == (draw is not vehicles.from_above)
    for ax in times:
        low, high = ax.patches[0].get_extents().transformed(ax.transData.inverted()).intervalx
        assert (low, high) == pytest.approx([float(c) for c in run.tipover().crossings], abs=1e-3)


def test_arrows_are_the_forces_of_the_ground_at_the_wheels(run: kane.Trajectory) -> None:
    (arrows,) = vehicle_arrows(run)
    ground = run.ground()
    assert np.array_equal(arrows.at, ground.contact) and np.array_equal(arrows.vector, ground.force)
    at, vector = arrows.between(run.t[[3, 7]])
    assert np.allclose(at, ground.contact[[3, 7]]) and np.allclose(vector, ground.force[[3, 7]])
    assert [arrows.feet[i] for i in arrows.outline] == [first for first, _ in run.tipover().edges]
    assert vehicle_arrows(kane.load("pendulum").simulate([0, 0.1])) == ()
    with pytest.raises(ValueError, match="arrows 'wrong'"):
        Arrows("wrong", run.t, ground.contact, ground.force[1:], ground.wheels)


@pytest.mark.parametrize("draw", [vehicles.overview, vehicles.wheel_forces])
@pytest.mark.parametrize("torque", [200.0, -200.0], ids=["drives", "brakes"])
def test_drawn_forces_have_signs_which_their_axes_tell(draw: Any, torque: float) -> None:
    """Newton's law: longitudinal forces of a car that goes straight add up to its mass times its acceleration, which is
    negative while it brakes; in a curve to the left lateral forces add up to what its path takes, to the left."""
    m = kane.load("ackermann-car")
    wheels = ("rear_left", "rear_right")
    straight = m.simulate(np.linspace(0, 0.5, 11), q={"phi": 0.0}, control=dict.fromkeys(wheels, torque))
    ahead = drawn(draw(straight), "longitudinal forces  (N)", "ahead +, back −", straight)
    acceleration = straight.acceleration()[:, m.speeds.index("v")]
    assert np.sign(acceleration).tolist() == [np.sign(torque)] * 11
    assert ahead.sum(axis=1) == pytest.approx(m.mass * acceleration, rel=1e-9)
    curve = m.simulate(np.linspace(0, 0.5, 11), q={"phi": 0.1})
    left = drawn(draw(curve), "lateral forces  (N)", "left +, right −", curve)
    assert left.min() > 0.0


def drawn(figure: Any, title: str, label: str, run: kane.Trajectory) -> np.ndarray:
    """The curves (k, w) of wheels in the axes with that title, which have that label; each is put together of pieces
    that are solid or, on other curves, dashed."""
    (ax,) = [ax for ax in figure.axes if ax.get_title(loc="left") == title or ax.get_title() == title]
    assert ax.get_ylabel() == label
    lines = [line for line in ax.lines if line.get_linewidth() > 1.0 and len(line.get_xdata()) == len(run.t)]
    colors = dict.fromkeys(line.get_color() for line in lines)
    pieces = ([line.get_ydata() for line in lines if line.get_color() == color] for color in colors)
    return np.stack([np.nanmax(piece, axis=0) for piece in pieces], axis=1)


def test_curves_that_lie_on_each_other_are_all_seen() -> None:
    """Of a symmetric car that brakes, left and right wheels carry the same: in the picture each colour has its part of
    the line."""
    run = kane.load("braking-car").simulate(np.linspace(0.0, 2.0, 101))
    figure = vehicles.wheel_forces(run)
    wheels = list(dict.fromkeys(line.get_color() for line in figure.axes[0].get_lines()))
    assert np.allclose(run.ground().normal[:, 0], run.ground().normal[:, 1]) and len(wheels) == 4
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure.axes[0].get_window_extent()
    whole = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    high = whole.shape[0]
    inside = whole[high - int(box.y1) : high - int(box.y0), int(box.x0) : int(box.x1)].reshape(-1, 3)
    counted = [np.count_nonzero(np.abs(inside - 255 * np.array(to_rgb(c))).max(axis=1) < 25) for c in wheels]
    assert min(counted) > 0.4 * max(counted)
