"""Inverse kinematics of the UR5 and the Panda: success on random reachable poses, a path, and roboticstoolbox's ik_LM.

Both sides start from poses of their own choice, respect the ranges of the joints and stop at the same residual. The
peer is called in the way it is used from Python, one call of its C++ solver per pose; it is left out where it is not
installed.
"""

# The peer is not a dependency of this project: it brings some forty packages along.
# pyright: reportMissingImports=false

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import kane
from benchmarks.measure import Row, duel, exactly, seconds, spread
from kane.planning import InverseKinematics, Line, SearchOptions, slerp, travel
from unit.planning.arms import PANDA, PANDA_FLANGE, PANDA_RANGES, TOOL, UR5, panda, ur5

POSES = 10_000  # random reachable poses for the success rate
COMPARED = 200  # poses in one repeat against the peer
REPEATS = 7
RESIDUAL = 1e-6  # rad and m together, at which both sides stop
PATH = 1000  # poses of the path
ARMS: dict[str, Callable[[], kane.Model]] = {"UR5": ur5, "Panda": panda}


def success() -> list[Row]:
    """How many of the random reachable poses are reached, to a residual of 1e-9, from starts of our own choice."""
    rows = []
    for name, arm in ARMS.items():
        search = searched(arm(), 1e-9)
        targets = search.pose(reachable(search, POSES))
        answers = search.solve(targets)
        error = float(np.abs(search.pose(answers.q) - targets)[answers.solved].max())
        reached = exactly(100.0 * answers.success)
        rows.append(Row(f"inverse kinematics, {name}, {POSES} random poses", reached, "% reached", 99.5, error=error))
    return rows


def path() -> list[Row]:
    """Following a straight line of poses while the tool turns."""
    rows = []
    for name, arm in ARMS.items():
        search = searched(arm(), 1e-9)
        start = np.array([0.4, -1.1, 1.4, -0.7, 1.2, 0.3] if name == "UR5" else [0.2, -0.3, 0.1, -2.0, 0.1, 1.9, 0.5])
        pose = search.pose(start)
        R, p = pose[:9].reshape(3, 3), pose[9:]
        turn = slerp(R, [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]] @ R)
        line = Line(tuple(p), tuple(np.add(p, [0.05, 0.1, -0.1])), turn)
        poses = travel(line, duration=1.0).at(np.linspace(0.0, 1.0, PATH)).poses
        followed = search.follow(poses, start)
        error = float(np.abs(search.pose(followed.q) - poses).max())
        times = [1e3 * seconds(lambda s=search, x=poses, q=start: s.follow(x, q)) for _ in range(31)]
        rows.append(
            Row(f"inverse kinematics, {name}, path of {PATH} poses", spread(times), "ms", 100, "at most", error=error)
        )
    return rows


def against_roboticstoolbox() -> list[Row]:
    """Solves per second on the same poses; nothing where the peer is not installed."""
    if importlib.util.find_spec("roboticstoolbox") is None:
        return []
    rows = []
    for name, arm in ARMS.items():
        search, peer = searched(arm(), RESIDUAL), peer_arm(name)
        targets = search.pose(reachable(search, COMPARED))
        matrices = [as_matrix(pose) for pose in targets]
        # The peer's tolerance is on half the square of the residual; of its methods this was the fastest here.
        tolerance = 0.5 * RESIDUAL**2

        def theirs(peer: Any = peer, matrices: list[Any] = matrices, tolerance: float = tolerance) -> list[Any]:
            return [peer.ik_LM(T, tol=tolerance, method="chan", k=0.1) for T in matrices]

        answers = search.solve(targets)
        error = float(np.abs(search.pose(answers.q) - targets)[answers.solved].max())
        times = duel("roboticstoolbox ik_LM", lambda s=search, x=targets: s.solve(x), theirs, REPEATS)
        reached = sum(bool(answer.success) for answer in theirs())
        ours = int(answers.solved.sum())
        title = f"inverse kinematics, {name}, one pose ({ours} of {COMPARED} reached; peer {reached})"
        rows.append(times.row(title, None, error, COMPARED))
    return rows


def searched(arm: kane.Model, tolerance: float) -> InverseKinematics:
    """The search for the tool of an arm, on one thread."""
    body, point = TOOL[arm.name]
    return InverseKinematics(arm, body, point, options=SearchOptions(tolerance=tolerance, workers=1))


def reachable(search: InverseKinematics, count: int) -> Any:
    """Coordinates from the ranges of the joints; of ranges beyond one turn, one turn."""
    whole = search.upper - search.lower >= 2 * np.pi
    low, high = np.where(whole, -np.pi, search.lower), np.where(whole, np.pi, search.upper)
    return np.random.default_rng(1).uniform(low, high, (count, len(low)))


def as_matrix(pose: Any) -> Any:
    """A pose (12,) as a matrix (4, 4)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
    return T


def peer_arm(name: str) -> Any:
    """The same table as the peer's elementary transforms, constant ones drawn together as it recommends for speed."""
    from roboticstoolbox import ET, ETS

    made = ETS()
    if name == "UR5":
        for a, alpha, d in UR5:
            made = made * ET.Rz(qlim=[-np.pi, np.pi]) * ET.tz(d) * ET.tx(a) * ET.Rx(alpha)
        return made.compile()
    for (a, alpha, d), span in zip(PANDA, PANDA_RANGES, strict=True):
        made = made * ET.tx(a) * ET.Rx(alpha) * ET.tz(d) * ET.Rz(qlim=list(span))
    return (made * ET.tz(PANDA_FLANGE)).compile()
