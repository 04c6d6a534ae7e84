"""Lines and circles with turning frames: geometry, twists as derivatives, limits, and the same in the graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from kane.errors import InputError
from kane.graph import Graph, evaluate
from kane.planning import LAWS, Circle, FrameLimits, Line, Trapezoid, Travel, Turn, slerp, travel

R0, R1 = Rotation.from_rotvec([0.2, -0.4, 0.9]), Rotation.from_rotvec([-1.0, 0.5, 0.3])
TURN = slerp(R0.as_matrix(), R1.as_matrix())
LINE = Line((1.0, 0.2, 0.3), (0.4, -0.5, 0.9), TURN)
CIRCLE = Circle((0.5, 0.0, 0.2), (0.1, 0.0, 0.2), (0.0, 0.0, 1.0), 4.0, TURN)
DIFFERENCE = 1e-6  # s; central differences are then good to about 1e-9


@pytest.mark.parametrize("path", [LINE, CIRCLE], ids=["line", "circle"])
@pytest.mark.parametrize("law", LAWS)
def test_the_twist_is_the_rate_of_the_pose(path: Any, law: str) -> None:
    motion = travel(path, law=law, duration=1.3)
    t = np.array([0.1, 0.3, 0.6, 0.9, 1.25])
    before, here, after = (motion.at(t + d) for d in (-DIFFERENCE, 0.0, DIFFERENCE))
    assert (after.p - before.p) / (2 * DIFFERENCE) == pytest.approx(here.twist[:, 3:], abs=1e-7)
    turned = Rotation.from_matrix(after.R @ np.swapaxes(before.R, 1, 2)).as_rotvec() / (2 * DIFFERENCE)
    assert turned == pytest.approx(here.twist[:, :3], abs=1e-7)
    assert (after.twist - before.twist) / (2 * DIFFERENCE) == pytest.approx(here.twist_rate, abs=1e-6)


def test_orientations_are_interpolated_as_quaternions_are() -> None:
    s = np.linspace(0.0, 1.0, 11)
    peer = Slerp([0.0, 1.0], Rotation.concatenate([R0, R1]))(s)
    assert TURN.at(s) == pytest.approx(peer.as_matrix(), abs=1e-12)


def test_a_line_is_straight_and_a_circle_is_round() -> None:
    p = travel(LINE, duration=1.0).at(np.linspace(0.0, 1.0, 21)).p
    along = p - LINE.start
    assert np.cross(along, np.subtract(LINE.end, LINE.start)) == pytest.approx(np.zeros((21, 3)), abs=1e-12)
    p = travel(CIRCLE, duration=1.0).at(np.linspace(0.0, 1.0, 21)).p
    assert np.linalg.norm(p - CIRCLE.center, axis=1) == pytest.approx(np.full(21, 0.4))
    assert p[-1] == pytest.approx([0.1 + 0.4 * math.cos(4.0), 0.4 * math.sin(4.0), 0.2])


@pytest.mark.parametrize("path", [LINE, CIRCLE], ids=["line", "circle"])
@pytest.mark.parametrize("law", LAWS)
def test_the_graph_gives_the_same_poses(path: Any, law: str) -> None:
    motion = travel(path, law=law, duration=1.3)
    graph = Graph()
    poses = motion.expressions(graph.input("t"))
    for t in (-1.0, 0.1, 0.7, 1.2, 3.0):
        assert evaluate(poses, {"t": t}) == pytest.approx(motion.at(t).poses, abs=1e-12)


def used(motion: Travel, bound: FrameLimits) -> float:
    """The largest part of a limit that the motion uses."""
    corner = motion.law.blend * motion.duration if isinstance(motion.law, Trapezoid) else 0.0
    here = motion.at(np.append(np.linspace(0.0, motion.duration, 20001), corner * (1 - 1e-12)))

    def peak(x: Any) -> float:
        return float(np.linalg.norm(x, axis=1).max())

    return max(
        peak(here.twist[:, 3:]) / bound.velocity,
        peak(here.twist_rate[:, 3:]) / bound.acceleration,
        peak(here.twist[:, :3]) / bound.angular_velocity,
        peak(here.twist_rate[:, :3]) / bound.angular_acceleration,
    )


@pytest.mark.parametrize("path", [LINE, CIRCLE], ids=["line", "circle"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "bound",
    [
        FrameLimits(velocity=0.5),
        FrameLimits(acceleration=2.0),
        FrameLimits(angular_velocity=1.0),
        FrameLimits(angular_acceleration=3.0),
        FrameLimits(1.0, 2.0, 1.0, 2.0),
    ],
)
def test_the_shortest_travel_touches_a_limit_and_exceeds_none(path: Any, law: str, bound: FrameLimits) -> None:
    most = used(travel(path, law=law, within=bound), bound)
    assert most == pytest.approx(1.0, abs=1e-5)
    assert most <= 1.0 + 1e-9


def test_a_frame_may_turn_with_the_circle() -> None:
    circle = Circle((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 2.0, Turn(axis=(0.0, 0.0, 1.0), angle=2.0))
    here = travel(circle, duration=1.0).at(np.linspace(0.0, 1.0, 5))
    assert here.R[:, :, 0] == pytest.approx(here.p)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: Turn(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0))), "no orientation"),
        (lambda: Turn(axis=(1.0, 1.0, 0.0)), "unit vector"),
        (lambda: Circle((1.0, 0.0, 0.5), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), "not in the plane"),
        (lambda: Line((0.0, 0.0), (1.0, 0.0)), "three finite numbers"),
        (lambda: travel(LINE), "nothing sets the duration"),
        (lambda: travel(LINE, duration=0.1, within=FrameLimits(velocity=0.1)), "too short"),
    ],
)
def test_what_is_no_path_is_refused(build: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        build()
