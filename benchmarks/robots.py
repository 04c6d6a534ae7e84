"""Inverse and forward dynamics of six robots, 6 to 38 speeds, against Pinocchio and MuJoCo; and the largest, cold.

Arms come from the built-in models and go to the peers as the URDF that is written of them; the legged robots come from
files of example-robot-data, which each side reads by itself. The peers are called in the way they are used from Python:
one call per sample, arrays already in their own order and cut into rows. Losses, limits and contacts are switched off.
"""

# Pinocchio and MuJoCo are compiled modules without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

import kane
from benchmarks.measure import Row, disagreement, duel, spread
from kane.model import to_urdf

Array = np.ndarray[Any, np.dtype[np.float64]]

BATCH = 1024
REPEATS = 15  # of a duel; there are two dozen of them
COLD_REPEATS = 5
FILES = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
ARMS = ("stanford-arm", "ur5", "panda", "iiwa")
LEGGED = {"solo12": "solo_description/robots/solo12.urdf", "talos": "talos_data/robots/talos_reduced.urdf"}
LOSSLESS: dict[str, Any] = {"damping": False, "friction": "none", "right_angle": 0.0}
AMPLE = 1e6  # SI, more than any arm can
ARM_TARGET = 20  # times faster, on fixed-base arms
BARE = '<mujoco><compiler fusestatic="false"/></mujoco>'  # every link stays a body; by itself MuJoCo merges some


@dataclass(frozen=True, slots=True)
class Robot:
    """A robot in our words, and its URDF for the others; a flying one has six speeds more."""

    name: str
    model: kane.Model
    urdf: str
    flying: bool

    @property
    def target(self) -> float:
        return 1 if self.flying else ARM_TARGET

    @property
    def gravity(self) -> list[float]:
        return list(self.model.gravity)

    @property
    def title(self) -> str:
        return f"{self.name}, {len(self.model.speeds)} speeds"


def robots() -> Iterator[Robot]:
    """The six, smallest first."""
    for name in ARMS:
        model = kane.load(name)
        for joint in model.joints.values():
            if joint.type.kind == "prismatic":  # urdfdom wants finite limits of a sliding joint; they do not act
                model.limit(joint.coordinates[0].name, lower=-AMPLE, upper=AMPLE, velocity=AMPLE, effort=AMPLE)
        yield Robot(name, model, to_urdf(model.mechanism), False)
    for name, file in LEGGED.items():
        path = FILES / file
        yield Robot(name, kane.load(path, base="floating", **LOSSLESS), path.read_text(encoding="utf-8"), True)


@dataclass(frozen=True, slots=True)
class States:
    """Random states (k, …) of a robot: q, u, udot and efforts in our order."""

    q: Array
    u: Array
    udot: Array
    tau: Array


def random_states(robot: Robot, count: int = BATCH) -> States:
    """Angles of at most 2 rad; quaternions of a flying base are unit."""
    rng = np.random.default_rng(1)
    q = rng.uniform(-2, 2, (count, len(robot.model.coordinates)))
    if robot.flying:
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    u, udot = rng.uniform(-1, 1, (2, count, len(robot.model.speeds)))
    return States(q, u, udot, robot.model.inverse_dynamics(q, u, udot))


# Pinocchio -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PinocchioRobot:
    """The robot in Pinocchio: a continuous joint has (cos, sin), a flying base p and quaternion xyzw, v before ω."""

    robot: Robot
    model: Any

    @staticmethod
    def of(robot: Robot) -> PinocchioRobot:
        root = (pin.JointModelFreeFlyer(),) if robot.flying else ()
        model = pin.buildModelFromXML(robot.urdf, *root)
        model.gravity.linear = np.array(robot.gravity)
        return PinocchioRobot(robot, model)

    def joints(self) -> Iterator[tuple[Any, int, int]]:
        """Its joint, our coordinate, our speed; without the base."""
        ours = self.robot.model
        for joint in ours.joints.values():
            if joint.type.kind in ("weld", "free"):
                continue
            twin = self.model.joints[self.model.getJointId(joint.name)]
            speed = ours.mechanism.default_speeds[repr(joint.moved_by[0])]
            yield twin, ours.coordinates.index(joint.coordinates[0].name), ours.speeds.index(speed)

    def configurations(self, q: Array) -> Array:
        """Its configurations (k, nq)."""
        theirs = np.zeros((len(q), self.model.nq))
        if self.robot.flying:
            theirs[:, :3], theirs[:, 3:6], theirs[:, 6] = q[:, 4:7], q[:, 1:4], q[:, 0]
        for twin, i, _ in self.joints():
            columns = [q[:, i]] if twin.nq == 1 else [np.cos(q[:, i]), np.sin(q[:, i])]
            theirs[:, twin.idx_q : twin.idx_q + twin.nq] = np.column_stack(columns)
        return theirs

    def order(self) -> list[int]:
        """For each of its speeds, ours."""
        order = [3, 4, 5, 0, 1, 2] if self.robot.flying else []
        order += [0] * (self.model.nv - len(order))
        for twin, _, speed in self.joints():
            order[twin.idx_v] = speed
        return order

    def loop(self, algorithm: Callable[..., Array], q: Array, u: Array, third: Array) -> tuple[Any, Array]:
        """(task, results): one call per sample, results (k, n) in its order."""
        order, data = self.order(), self.model.createData()
        arrays = (self.configurations(q), u[:, order], third[:, order])
        rows = list(zip(*(list(np.ascontiguousarray(a)) for a in arrays), strict=True))
        results = np.empty((len(rows), self.model.nv))

        def task() -> None:
            for i, (a, b, c) in enumerate(rows):
                results[i] = algorithm(self.model, data, a, b, c)

        return task, results


# MuJoCo --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MujocoRobot:
    """The robot in MuJoCo: a flying base has p and quaternion wxyz, v in N before ω in the base."""

    robot: Robot
    model: Any

    @staticmethod
    def of(robot: Robot) -> MujocoRobot:
        text = re.sub(r"<(visual|collision)\b[^>]*?(/>|>.*?</\1>)", "", robot.urdf, flags=re.S)
        start = text.index(">", text.index("<robot")) + 1
        specification = mujoco.MjSpec.from_string(text[:start] + BARE + text[start:])
        if robot.flying:
            specification.worldbody.first_body().add_freejoint()
        model = specification.compile()
        model.opt.gravity[:] = robot.gravity
        off = mujoco.mjtDisableBit
        for flag in (off.mjDSBL_CONTACT, off.mjDSBL_CONSTRAINT, off.mjDSBL_SENSOR):
            model.opt.disableflags |= flag
        model.dof_damping[:] = 0.0
        return MujocoRobot(robot, model)

    def order(self) -> tuple[list[int], list[int]]:
        """For each of its coordinates and speeds, ours."""
        ours, six = self.robot.model, 6 if self.robot.flying else 0
        coordinates, speeds = ([4, 5, 6, 0, 1, 2, 3], [3, 4, 5, 0, 1, 2]) if six else ([], [])
        for k in range(1 if six else 0, self.model.njnt):
            joint = ours.joints[self.model.joint(k).name]
            coordinates.append(ours.coordinates.index(joint.coordinates[0].name))
            speeds.append(ours.speeds.index(ours.mechanism.default_speeds[repr(joint.moved_by[0])]))
        return coordinates, speeds

    def loop(self, inverse: bool, q: Array, u: Array, third: Array) -> tuple[Any, Array]:
        """(task, results): one call per sample, results (k, n) along its speeds."""
        coordinates, speeds = self.order()
        data = mujoco.MjData(self.model)
        arrays = [q[:, coordinates], u[:, speeds], third[:, speeds]]
        if self.robot.flying:
            R = rotations(q[:, :4])
            w, v = u[:, :3], u[:, 3:6]
            arrays[1][:, :3] = turned(R, v)
            arrays[2][:, :3] = turned(R, third[:, 3:6] + np.cross(w, v) if inverse else third[:, 3:6])
        rows = list(zip(*(list(np.ascontiguousarray(a)) for a in arrays), strict=True))
        results = np.empty((len(rows), self.model.nv))
        given, found = (data.qacc, data.qfrc_inverse) if inverse else (data.qfrc_applied, data.qacc)
        qpos, qvel, model = data.qpos, data.qvel, self.model
        call = mujoco.mj_inverse if inverse else mujoco.mj_forward

        def task() -> None:
            for i, (a, b, c) in enumerate(rows):
                qpos[:], qvel[:], given[:] = a, b, c
                call(model, data)
                results[i] = found

        return task, results

    def in_its_terms(self, inverse: bool, states: States, ours: Array) -> Array:
        """Our answers along its speeds: those of a flying base are turned into N, accelerations of its origin too."""
        answer = ours[:, self.order()[1]]
        if self.robot.flying:
            w, v = states.u[:, :3], states.u[:, 3:6]
            answer[:, :3] = turned(rotations(states.q[:, :4]), ours[:, 3:6] + (0.0 if inverse else np.cross(w, v)))
        return answer


def rotations(wxyz: Array) -> Array:
    """R_NB (k, 3, 3) of unit quaternions (k, 4)."""
    w, x, y, z = wxyz.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def turned(R: Array, v: Array) -> Array:
    """Vectors (k, 3) in the axes that R (k, 3, 3) leads to."""
    return np.einsum("kij,kj->ki", R, v)


# rows ----------------------------------------------------------------------------------------------------------------


def inverse_dynamics() -> Iterator[Row]:
    """Efforts in a batch of each robot."""
    for robot in robots():
        yield from dynamics_rows(robot, inverse=True)


def forward_dynamics() -> Iterator[Row]:
    """Accelerations in a batch of each robot."""
    for robot in robots():
        yield from dynamics_rows(robot, inverse=False)


def dynamics_rows(robot: Robot, *, inverse: bool) -> Iterator[Row]:
    """One robot against both peers."""
    states = random_states(robot)
    third = states.udot if inverse else states.tau
    compute = robot.model.inverse_dynamics if inverse else robot.model.forward_dynamics
    name = f"{'inverse' if inverse else 'forward'} dynamics of {robot.title}"
    ours = compute(states.q, states.u, third)

    def task() -> None:
        compute(states.q, states.u, third)

    pinocchio = PinocchioRobot.of(robot)
    algorithm = pin.rnea if inverse else pin.aba
    loop, results = pinocchio.loop(algorithm, states.q, states.u, third)
    measured = duel(f"Pinocchio {algorithm.__name__} in a loop", task, loop, REPEATS)
    yield measured.row(name, robot.target, disagreement(ours[:, pinocchio.order()], results), BATCH)
    peer = MujocoRobot.of(robot)
    loop, results = peer.loop(inverse, states.q, states.u, third)
    measured = duel(f"MuJoCo mj_{'inverse' if inverse else 'forward'} in a loop", task, loop, REPEATS)
    yield measured.row(name, robot.target, disagreement(peer.in_its_terms(inverse, states, ours), results), BATCH)


COLD = """
import json, sys, time
import numpy as np
import kane.api, kane.backends.llvm
start = time.perf_counter()
robot = kane.load(sys.argv[1], base="floating")
q, u = robot.initial_state
getattr(robot, sys.argv[2])(q, u, np.zeros_like(u))
print(json.dumps(time.perf_counter() - start))
"""
COLD_TARGET = 3  # s, for the largest robot


def first_results() -> Iterator[Row]:
    """From the largest robot's URDF to its first efforts, or accelerations, in a fresh process without a cache.

    Wall time: it is what a user waits. A busy machine slows it, and there is no other side that it would slow as well.
    """
    for what in ("inverse_dynamics", "forward_dynamics"):
        times = []
        for _ in range(COLD_REPEATS):
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, "-c", COLD, str(FILES / LEGGED["talos"]), what]
                environment = os.environ | {"KANE_CACHE_DIR": cache}
                done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
                times.append(float(json.loads(done.stdout)))
        name = f"talos, 38 speeds: load, formulate, compile, first {what.replace('_', ' ')}; cold"
        yield Row(name, spread(times), "s", target=COLD_TARGET, sense="at most")
