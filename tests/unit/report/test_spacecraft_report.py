"""The report of a spacecraft shows its attitude, its momentum about the mass centre, and the craft itself in orbit."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kane
from kane.report import write
from kane.viewer.shapes import center_view, is_followed


def test_the_report_shows_attitude_joints_and_changes(tmp_path: Path) -> None:
    model = kane.load("dual-spin")
    written = write(model, tmp_path / "craft.html", trajectory=model.simulate(np.linspace(0, 2, 21)), scene=False)
    page = written.path.read_text(encoding="utf-8")
    assert written.passed
    for figure in ("attitude of platform", "motion", "energy", "momentum", "change of momentum"):
        assert f'aria-label="{figure}"' in page


def test_a_craft_in_orbit_is_followed_and_others_stay_where_they_are() -> None:
    orbiting, floating = kane.load("satellite-with-panels"), kane.load("free-flying-robot")
    poses = orbiting.poses(orbiting.initial_state[0])
    seen = center_view(orbiting.mechanism, poses)
    assert is_followed(orbiting.mechanism, poses) and np.abs(seen[:, 9:]).max() < 10.0
    np.testing.assert_allclose(np.diff(seen[:, 9:], axis=0), np.diff(poses[:, 9:], axis=0), atol=1e-8)
    near = floating.poses(floating.initial_state[0])
    assert center_view(floating.mechanism, near) is near


def test_yaw_pitch_and_roll_are_those_of_the_sequence() -> None:
    from kane.viewer import plots

    model = kane.Model("turned")
    model.body("B", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    model.joint("j", "gimbal", "ground", "B", sequence="body 321")
    angles = np.radians([30.0, -20.0, 50.0])
    R = model.at("B").pose(np.array([angles, angles]))[0]
    figure = plots.attitude(np.array([0.0, 1.0]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), R, "B")
    shown = [float(np.asarray(line.get_ydata())[0]) for line in figure.axes[1].get_lines()]
    np.testing.assert_allclose(shown, [30.0, -20.0, 50.0], atol=1e-9)
