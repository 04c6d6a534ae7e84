"""Large trees: time per body from 100 to 10 000 bodies, against Pinocchio and MuJoCo, and what grows with the size.

Pinocchio's data grow with the cube of the length of a chain (4 GB at 500 bodies), so it is timed at 250 and compared
per body. MuJoCo steps a chain of 1000 by its Euler method; ours is a step of classic Runge-Kutta, four evaluations. Its
accelerations of such a chain are some 1e-6 off: put into inverse dynamics, ours give the efforts back to 1e-15 of the
largest.
"""

# Both are compiled modules without type information.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import ctypes
import tracemalloc
from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin

import kane
from benchmarks.measure import Duel, Row, disagreement, duel, exactly, runs_that_fill, seconds, spread
from kane.backends.llvm.writer import Lanes
from kane.backends.looped.text import module
from kane.large import LargeAnswers, LargeTree

SIZES = (100, 1000, 10_000)
LONG, PEER_SIZE = 1000, 250  # bodies of a chain: ours, and what Pinocchio's data leave room for
STEP = 1e-4  # s
STEPS = 20  # of a simulation that is timed
FLAT = 1.5  # times, from the least to the largest time per body
REPEATS = 15
RUN_TIME = 0.02  # s for one figure of time per body
AXES = np.eye(3)
ROD = {"mass": 0.3, "length": 0.1, "slender": 2.5e-4, "thick": 1e-5}  # kg, m, kg m²


def rods(size: int, branches: int = 1) -> kane.Model:
    """Equal rods along x, joined at their ends about x, y and z in turn: a chain, or `branches` on each."""
    model = kane.Model("rods", gravity=[0.0, 0.0, -9.81])
    half, inertia = ROD["length"] / 2, {"xx": ROD["thick"], "yy": ROD["slender"], "zz": ROD["slender"]}
    for k in range(size):
        model.body(f"b{k}", mass=ROD["mass"], center=[half, 0.0, 0.0], inertia=inertia)
        inner = f"b{(k - 1) // branches}" if k else "ground"
        at = [ROD["length"] if k else 0.0, 0.0, 0.0]
        model.joint(f"j{k}", "revolute", inner, f"b{k}", at=at, axis="xyz"[k % 3])
    return model


def states(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, u and efforts of one sample."""
    q, u, tau = np.random.default_rng(2).uniform(-0.5, 0.5, (3, size))
    return q, u, tau


def pinocchio_rods(size: int) -> pin.Model:
    """The chain in Pinocchio."""
    model, joint = pin.Model(), 0
    kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    body = pin.Inertia(
        ROD["mass"], ROD["length"] / 2 * AXES[0], np.diag([ROD["thick"], ROD["slender"], ROD["slender"]])
    )
    for k in range(size):
        place = pin.SE3(np.eye(3), (ROD["length"] if k else 0.0) * AXES[0])
        joint = model.addJoint(joint, kinds[k % 3](), place, f"j{k}")
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model


def mujoco_rods(size: int) -> mujoco.MjModel:
    """The chain in MuJoCo, without contacts and constraints; its XML parser refuses elements nested this deep."""
    spec = mujoco.MjSpec()
    spec.option.timestep = STEP
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    body = spec.worldbody
    for k in range(size):
        body = body.add_body(
            pos=(ROD["length"] if k else 0.0) * AXES[0],
            mass=ROD["mass"],
            ipos=ROD["length"] / 2 * AXES[0],
            inertia=[ROD["thick"], ROD["slender"], ROD["slender"]],
            explicitinertial=True,
        )
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=AXES[k % 3])
    return spec.compile()


def forward_dynamics() -> list[Row]:
    """A chain of 1000 against Pinocchio's aba on one of 250, per body."""
    model, peer = rods(LONG), pinocchio_rods(PEER_SIZE)
    data, given, theirs = peer.createData(), states(LONG), states(PEER_SIZE)
    same = rods(PEER_SIZE)
    error = disagreement(same.forward_dynamics(*theirs), pin.aba(peer, data, *theirs))
    times = duel(
        f"Pinocchio aba, {PEER_SIZE} bodies",
        lambda: model.forward_dynamics(*given),
        lambda: pin.aba(peer, data, *theirs),
    )
    per_body = Duel(times.peer, [a / LONG for a in times.ours], [b / PEER_SIZE for b in times.theirs])
    return [per_body.row(f"forward dynamics of a chain of {LONG}, per body", 1, error)]


def steps() -> list[Row]:
    """A chain of 1000 against MuJoCo: one step."""
    model, peer = rods(LONG), mujoco_rods(LONG)
    data = mujoco.MjData(peer)
    q, u, _ = states(LONG)
    data.qpos[:], data.qvel[:] = q, u
    mujoco.mj_forward(peer, data)
    error = disagreement(model.forward_dynamics(q, u, np.zeros(LONG)), data.qacc)

    def ours() -> None:
        model.simulate((0.0, STEPS * STEP), q=q, u=u, method="rk4", step=STEP)

    def theirs() -> None:
        data.qpos[:], data.qvel[:] = q, u
        mujoco.mj_step(peer, data)

    times = duel("MuJoCo mj_step", ours, theirs, REPEATS)
    one = Duel(times.peer, [a / STEPS for a in times.ours], times.theirs)
    return [one.row(f"simulation of a chain of {LONG}, one step", 1, error)]


def time_per_body() -> list[Row]:
    """The largest over the least time per body, from 100 to 10 000 bodies, of calls by address as integrators make."""
    rows = []
    for name, branches in (("chain", 1), ("balanced tree", 2)):
        calls = [(size, by_address(rods(size, branches))) for size in SIZES]
        runs = [runs_that_fill(RUN_TIME, call) for _, call in calls]
        times = [
            [seconds(call, run) / size for (size, call), run in zip(calls, runs, strict=True)] for _ in range(REPEATS)
        ]
        ratios = spread([max(t) / min(t) for t in times])
        largest = spread([t[-1] for t in times])
        what = f"{name}, time per body from {SIZES[0]} to {SIZES[-1]} bodies"
        rows.append(Row(what, ratios, "times", FLAT, "at most", ours=largest))
    return rows


def by_address(model: kane.Model) -> Callable[[], object]:
    """Forward dynamics of one state by the kernel's address."""
    answers = LargeAnswers(model.mechanism)
    kernel = answers.dynamics("forward_dynamics")
    given, result = np.concatenate(states(len(model.bodies))), np.empty(len(model.bodies))
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)
    held = (answers, kernel, given, result)
    source, target = given.ctypes.data, result.ctypes.data
    return lambda: (function(source, target), held)


def growth() -> list[Row]:
    """What 10 000 bodies take over 1000: text that is compiled, memory per body, time per body to describe them."""
    small, large = SIZES[-2:]
    models = {size: rods(size) for size in (small, large)}
    described = {size: seconds(lambda size=size: [rods(size) for _ in range(large // size)]) for size in (small, large)}
    texts = [
        len(module(LargeAnswers(models[n].mechanism).recursion("motion"), 5, 1, Lanes(1, True))) for n in (small, large)
    ]
    memory = [allocated(lambda n=n: LargeTree(models[n].mechanism)) / n for n in (small, large)]
    over = f"{large} over {small} bodies"
    return [
        Row(f"text to compile, {over}", exactly(texts[1] / texts[0]), "times", 1.0, "at most"),
        Row(f"memory of the layout per body, {over}", exactly(memory[1] / memory[0]), "times", FLAT, "at most"),
        Row(f"time to describe a body, {over}", exactly(described[large] / described[small]), "times", FLAT, "at most"),
    ]


def allocated(task: Callable[[], object]) -> int:
    """Bytes at most in use during `task`."""
    tracemalloc.start()
    held = task()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del held
    return peak
