"""Inverse kinematics: what is reachable is reached within the limits, what is not is said; paths are followed."""

from __future__ import annotations

import functools
import math
from typing import Any, cast

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kane
from kane.errors import InputError, ModelError
from kane.planning import ROWS, InverseKinematics, Line, SearchOptions, Travel, slerp, travel
from unit.planning.arms import TOOL, panda, table_pose, ur5

ARMS = ("ur5", "panda")
TOLERANCE = 1e-9  # of the search, rad and m together
REACHED = 4 * TOLERANCE  # of twelve entries of a pose
SUCCESS = 0.995  # asked for on random reachable poses
POSITION = ("x", "y", "z")


@functools.cache
def search(name: str, rows: tuple[str, ...] = ROWS, axes: Any = "ground") -> InverseKinematics:
    """The search for the tool of an arm, compiled once."""
    body, point = TOOL[name]
    return InverseKinematics({"ur5": ur5, "panda": panda}[name](), body, point, rows=rows, axes=axes)


def drawn(found: InverseKinematics, count: int, seed: int = 1) -> Any:
    """Coordinates from the ranges of the joints; of ranges beyond one turn, one turn."""
    whole = found.upper - found.lower >= 2 * math.pi
    low, high = np.where(whole, -math.pi, found.lower), np.where(whole, math.pi, found.upper)
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))


def reachable(name: str, count: int, seed: int = 1) -> Any:
    """Coordinates of one of the two arms, drawn from the ranges of its joints."""
    return drawn(search(name), count, seed)


@pytest.mark.parametrize("name", ARMS)
def test_poses_are_products_of_the_table(name: str) -> None:
    for q in reachable(name, 5):
        T = table_pose(name, q)
        assert search(name).pose(q) == pytest.approx([*T[:3, :3].ravel(), *T[:3, 3]], abs=1e-12)


@pytest.mark.parametrize("name", ARMS)
def test_random_reachable_poses_are_reached_within_the_limits(name: str) -> None:
    found = search(name)
    targets = found.pose(reachable(name, 10_000))
    answers = found.solve(targets)
    assert answers.success >= SUCCESS
    assert np.abs(found.pose(answers.q) - targets)[answers.solved].max() < REACHED
    assert np.all(answers.q >= found.lower)
    assert np.all(answers.q <= found.upper)


@pytest.mark.parametrize("name", ["ur5", "panda", "iiwa", "puma-560", "thomas-tesar-arm"])
def test_the_built_in_arms_reach_with_their_last_body(name: str) -> None:
    arm = kane.load(name)
    found = InverseKinematics(arm, list(arm.bodies)[-1])
    targets = found.pose(drawn(found, 2000))
    answers = found.solve(targets)
    assert answers.success >= SUCCESS
    assert np.abs(found.pose(answers.q) - targets)[answers.solved].max() < REACHED


@pytest.mark.parametrize("name", ARMS)
def test_near_an_answer_convergence_is_quadratic(name: str) -> None:
    q = reachable(name, 20, seed=3)
    q = np.clip(q, search(name).lower + 0.1, search(name).upper - 0.1)
    body, point = TOOL[name]
    errors = []
    for iterations in (1, 2, 3):
        options = SearchOptions(tolerance=1e-15, attempts=1, iterations=iterations)
        one = InverseKinematics(search(name).model, body, point, options=options)
        errors.append(one.solve(one.pose(q), start=q + 0.01).residual)
    first, second, third = errors
    # The constant is the bend of the arm over its smallest singular value; the median pose is far from singular.
    assert np.median(second / first**2) < 10
    assert np.median(third) < 1e-12


@pytest.mark.parametrize("name", ARMS)
def test_the_same_seed_gives_the_same_answers_for_any_number_of_threads(name: str) -> None:
    targets = search(name).pose(reachable(name, 300, seed=5))
    body, point = TOOL[name]
    one, three = (
        InverseKinematics(search(name).model, body, point, options=SearchOptions(workers=workers)).solve(targets).q
        for workers in (1, 3)
    )
    assert np.array_equal(one, three)


@pytest.mark.parametrize("name", ARMS)
def test_an_answer_near_the_start_is_kept(name: str) -> None:
    q = np.clip(reachable(name, 50, seed=6), search(name).lower + 0.1, search(name).upper - 0.1)
    values = np.linalg.svd(search(name).jacobian(q), compute_uv=False)[:, -1]
    q = q[values > 0.05]
    answers = search(name).solve(search(name).pose(q), start=q + 1e-3)
    assert np.all(answers.solved)
    assert np.abs(answers.q - q).max() < 0.1


def test_a_pose_out_of_reach_is_said_with_its_residual() -> None:
    found = search("ur5")
    target = np.array([*np.eye(3).ravel(), 2.0, 0.0, 0.5])
    answer = found.solve_one(target)
    assert not answer.solved
    assert answer.residual == pytest.approx(np.linalg.norm(_error(found, answer.q, target)), rel=1e-6)
    assert "not reached: the nearest of 100 attempts ended" in str(answer)
    positions = search("ur5", POSITION).solve_one(target[9:])
    # The nearest the wrist can get: stretched out, so what is left is the distance minus the reach.
    assert 0.9 < positions.residual < 1.2


def _error(found: InverseKinematics, q: Any, target: Any) -> Any:
    here = found.pose(q)
    turned = Rotation.from_matrix(target[:9].reshape(3, 3) @ here[:9].reshape(3, 3).T).as_rotvec()
    return np.concatenate([turned, target[9:] - here[9:]])


@pytest.mark.parametrize("name", ARMS)
def test_positions_alone_are_reached(name: str) -> None:
    found = search(name, POSITION)
    targets = found.pose(reachable(name, 500))[:, 9:]
    answers = found.solve(targets)
    assert answers.success >= SUCCESS
    assert np.abs(found.pose(answers.q)[:, 9:] - targets)[answers.solved].max() < REACHED


@pytest.mark.parametrize("name", ARMS)
def test_a_rotation_about_the_tool_may_be_left_free(name: str) -> None:
    found = search(name, ("rx", "ry", "x", "y", "z"), "target")
    targets = found.pose(reachable(name, 500))
    spun = targets.copy()
    turn = Rotation.from_rotvec([0.0, 0.0, 2.0]).as_matrix()
    spun[:, :9] = (targets[:, :9].reshape(-1, 3, 3) @ turn).reshape(-1, 9)
    answers = found.solve(spun)
    assert answers.success >= SUCCESS
    here = found.pose(answers.q)
    axis = [2, 5, 8]
    assert np.abs(here[:, axis] - targets[:, axis])[answers.solved].max() < REACHED
    assert np.abs(here[:, 9:] - targets[:, 9:])[answers.solved].max() < REACHED


def test_half_a_turn_is_found() -> None:
    found = search("ur5", ("rx", "ry", "rz"))
    start = np.array([0.3, -1.0, 1.2, 0.4, 1.0, 0.0])
    here = found.pose(start)
    for axis in np.eye(3):
        target = here.copy()
        target[:9] = (Rotation.from_rotvec(math.pi * axis).as_matrix() @ here[:9].reshape(3, 3)).ravel()
        assert found.solve_one(target, start=start).solved


def test_prismatic_joints_reach_too() -> None:
    arm = kane.load("stanford-arm")
    found = InverseKinematics(arm, "F", (0.0, 0.2, 0.0))
    q = np.random.default_rng(2).uniform(-1.0, 1.0, (200, 6)) * [3, 1.5, 3, 1.5, 3, 0.4]
    answers = found.solve(found.pose(q))
    assert answers.success >= SUCCESS
    assert np.abs(found.pose(answers.q) - found.pose(q))[answers.solved].max() < REACHED


def test_coordinates_that_do_not_move_the_place_stay() -> None:
    arm = kane.load("stanford-arm")
    found = InverseKinematics(arm, "B", rows=("rx", "ry", "rz"))
    start = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1])
    answer = found.solve_one(found.pose(np.array([0.9, -0.4, 0.0, 0.0, 0.0, 0.0])), start=start)
    assert answer.solved
    assert answer.q[2:].tolist() == start[2:].tolist()


def line(name: str) -> tuple[Travel, Any]:
    """A straight line along which the tool turns, and the coordinates it starts from."""
    q = np.array([0.4, -1.1, 1.4, -0.7, 1.2, 0.3] if name == "ur5" else [0.2, -0.3, 0.1, -2.0, 0.1, 1.9, 0.5])
    pose = search(name).pose(q)
    R = pose[:9].reshape(3, 3)
    turn = slerp(R, Rotation.from_rotvec([0.2, 0.1, -0.3]).as_matrix() @ R)
    path = Line(tuple(pose[9:]), tuple(np.add(pose[9:], [0.05, 0.2, -0.1])), turn)
    return travel(path, duration=1.0), q


@pytest.mark.parametrize("name", ARMS)
def test_a_path_is_followed_without_jumps(name: str) -> None:
    motion, q = line(name)
    poses = motion.at(np.linspace(0.0, 1.0, 1000)).poses
    path = search(name).follow(poses, start=q)
    assert path.continuous
    assert np.abs(search(name).pose(path.q) - poses).max() < REACHED
    assert np.abs(np.diff(path.q, axis=0)).max() < 0.01
    assert "without jumps or singularities" in str(path)


@pytest.mark.parametrize("name", ARMS)
def test_rates_along_a_path_are_the_rates_of_its_coordinates(name: str) -> None:
    motion, q = line(name)
    h = 1e-4
    t = np.array([0.3 - h, 0.3, 0.3 + h])
    here = motion.at(t)
    found = search(name)
    before, at, after = found.follow(here.poses, start=q).q
    qdot, qddot = found.rates(at, here.twist[1], here.twist_rate[1])
    twist = found.jacobian(at) @ qdot[0]
    assert twist == pytest.approx(here.twist[1], abs=1e-9)
    if name == "ur5":  # a redundant arm may move within itself as well
        assert qdot[0] == pytest.approx((after - before) / (2 * h), abs=1e-5)
        assert qddot[0] == pytest.approx((after - 2 * at + before) / h**2, abs=1e-2)


def test_a_jump_and_an_unreachable_stretch_are_located() -> None:
    found = search("ur5")
    q = np.array([0.4, -1.1, 1.4, -0.7, 1.2, 0.3])
    pose = found.pose(q)
    poses = np.tile(pose, (30, 1))
    poses[:, 9] += np.linspace(0.0, 0.1, 30)
    poses[10:, 10] += 0.5  # the path itself jumps here
    path = found.follow(poses, start=q, largest_step=0.2)
    assert path.jumps[0] == 10
    assert not path.continuous
    assert "the coordinates jump at pose 10" in str(path)
    poses[20:, 9] += 5.0
    path = found.follow(poses, start=q)
    assert np.array_equal(np.flatnonzero(~path.solved), np.arange(20, 30))
    assert "not pose 20 to 29" in str(path)


def test_a_singular_place_is_located() -> None:
    found = search("ur5")
    q = np.array([0.4, -1.1, 1.4, -0.7, 0.0, 0.3])  # the fifth joint at 0 lines up the wrist
    path = found.follow(found.pose(q)[None], start=q)
    assert path.singular == (0,)
    assert "nearly singular at pose 0" in str(path)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda s: s.solve(np.zeros((2, 3))), "orientation counts too"),
        (lambda s: s.solve(np.zeros((2, 5))), r"shape \(2, 5\)"),
        (lambda s: s.solve(np.ones((1, 12))), "target 0 is not a rotation"),
        (lambda s: s.solve(s.pose(np.zeros((1, 6))), start=[0.0]), "give finite coordinates"),
        (lambda s: InverseKinematics(s.model, "link6", rows=("x", "x")), "each once"),
        (lambda s: InverseKinematics(s.model, "link6", axes=cast(Any, "tool")), "'ground' or 'target'"),
        (lambda s: SearchOptions(tolerance=0.0), "positive"),
    ],
)
def test_what_cannot_be_asked_is_refused(ask: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        ask(search("ur5"))


def test_speeds_that_are_no_rates_are_refused_with_the_way_out() -> None:
    with pytest.raises(ModelError, match="joints of one degree of freedom"):
        InverseKinematics(kane.load("stanford-arm-kane"), "F")


def test_matrices_are_poses_too() -> None:
    q = reachable("ur5", 3)
    found = search("ur5")
    matrices = np.array([table_pose("ur5", x) for x in q])
    assert np.all(found.solve(matrices).solved)
