"""Ready-made drives: the kinematics that textbooks give for each, by wheelbase, track width and wheel radius."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

G, RADIUS, TRACK, LENGTH = 9.81, 0.1, 0.5, 0.8


def robot(kind: str, **options: Any) -> kane.Model:
    m = kane.Model(kind, gravity=(0, 0, -G))
    m.body("base", mass=30, inertia={"xx": 0.8, "yy": 1.2, "zz": 1.6})
    drive = {"type": kind, "wheel_radius": RADIUS, "track_width": TRACK, "wheel_mass": 1.0}
    drive |= {} if kind == "diff_drive" else {"wheelbase": LENGTH}
    casters = {n: {"at": (x, 0, 0), "radius": RADIUS, "ball": True} for n, x in (("nose", 0.4), ("tail", -0.4))}
    m.vehicle("base", casters if kind == "diff_drive" else None, drive=drive, **options)
    return m


def test_a_diff_drive_goes_by_the_mean_of_its_wheels_and_turns_by_their_difference() -> None:
    m = robot("diff_drive")
    run = m.simulate([0, 1e-3], u={"u_left": 3.0, "u_right": 5.0})
    v, lateral, yaw = run.u[0, :3]
    assert (v, lateral, yaw) == pytest.approx((RADIUS * 4.0, 0.0, RADIUS * 2.0 / TRACK), abs=1e-12)


def test_a_car_turns_about_a_point_on_its_rear_axle() -> None:
    m = robot("ackermann", steering_limit="40*deg")
    phi = 0.3
    run = m.simulate([0, 1e-3], q={"steering_angle": phi}, u={m.speeds[0]: 2.0})
    v, lateral, yaw = run.u[0, :3]
    assert (v, lateral, yaw) == pytest.approx((2.0, 0.0, 2.0 * np.tan(phi) / LENGTH), abs=1e-12)
    assert m.mechanism.limits["steering_angle"].upper == pytest.approx(np.radians(40))


@pytest.mark.parametrize("motion", [(0.4, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.5), (0.4, -0.2, 0.3)])
def test_mecanum_wheels_turn_as_the_platform_moves(motion: tuple[float, float, float]) -> None:
    """r ω = vx ∓ vy ∓ (l + w) yaw rate, l and w half the wheelbase and half the track width."""
    m = robot("mecanum")
    vx, vy, yaw = motion
    run = m.simulate([0, 1e-3], u=dict(zip(m.speeds[:3], motion, strict=True)))
    arm = (LENGTH + TRACK) / 2
    expected = {
        "front_left": vx - vy - arm * yaw,
        "front_right": vx + vy + arm * yaw,
        "rear_left": vx + vy - arm * yaw,
        "rear_right": vx - vy + arm * yaw,
    }
    for name, speed in expected.items():
        assert RADIUS * run.u[0, m.speeds.index(f"u_{name}")] == pytest.approx(speed, abs=1e-12)


def test_a_skid_steered_robot_turns_on_the_spot() -> None:
    m = robot("skid_steer")
    run = m.simulate([0, 1e-3], u={m.speeds[0]: 0.0, m.speeds[1]: 0.0, m.speeds[2]: 1.0})
    for name, side in (("front_left", -1), ("rear_left", -1), ("front_right", 1), ("rear_right", 1)):
        assert RADIUS * run.u[0, m.speeds.index(f"u_{name}")] == pytest.approx(side * TRACK / 2, abs=1e-12)


def test_a_file_has_a_drive_and_further_wheels(tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(
        "kane: 1\ngravity: [0, 0, -9.81]\nparameters: {r: 0.1}\n"
        "bodies:\n  base: {mass: 30, center: [0.05, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "vehicle:\n  platform: base\n  friction: 0.6\n"
        "  drive: {type: diff_drive, wheel_radius: r, track_width: 0.5, wheel_mass: 1}\n"
        "  wheels:\n    caster: {at: [0.3, 0, 0], radius: r, ball: true}\n",
        encoding="utf-8",
    )
    ground = kane.load(tmp_path / "robot.yaml").simulate([0, 0.1]).ground()
    assert ground.wheels == ("left", "right", "caster")
    assert ground.normal[0, 2] == pytest.approx(30 * G * 0.05 / 0.3, rel=1e-12)


@pytest.mark.parametrize(
    ("drive", "told"),
    [
        ({"type": "ackerman", "wheel_radius": 0.1, "track_width": 0.5}, "drive 'ackerman'"),
        ({"type": "ackermann", "wheel_radius": 0.1, "track_width": 0.5}, "without wheelbase"),
        ({"type": "diff_drive", "wheel_radius": 0.1, "track_width": 0.0}, "track width 0 m"),
        (
            {"type": "diff_drive", "wheel_radius": 0.1, "track_width": 0.5, "wheelbase": 1},
            "a diff_drive with a wheelbase",
        ),
        ({"type": "diff_drive", "track_width": 0.5}, "'wheel_radius' is missing"),
        ({"type": "diff_drive", "wheel_radius": 0.1, "trackwidth": 0.5}, "unknown key 'trackwidth'"),
    ],
)
def test_drives_that_cannot_be_are_named(drive: dict[str, Any], told: str) -> None:
    m = kane.Model("robot")
    m.body("base", mass=1)
    with pytest.raises(kane.ModelError) as caught:
        m.vehicle("base", drive=drive)
    assert told in str(caught.value)
