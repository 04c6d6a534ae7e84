"""The Whipple bicycle: from its name to its first accelerations against SymPy, and what its motion costs and keeps.

SymPy derives the same bicycle by its KanesMethod, each side in a fresh process, so that nothing is left from the last
repeat; both report the time between the end of their imports and their first accelerations, at the same state.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

import kane
from benchmarks.measure import REPEATS, Duel, Row, disagreement, exactly, runs_that_fill, seconds, spread
from benchmarks.operations import at_most
from benchmarks.startup import fresh_process
from kane.backends import compile

Array = np.ndarray[Any, np.dtype[np.float64]]

NAME = "whipple-bicycle"
STARTS = 9  # fresh processes of ours and of SymPy's
STATES, BATCH, MANY = 64, 4096, 9984  # different states; how many are asked for at once, for reactions
RUN_TIME = 0.02  # s for one figure of time per state
SPEED, DURATION = 4.6, 20.0  # m/s, at which it is stable; s
STEP = 1e-3  # s
SPEEDS = 1000  # forward speeds that are linearized about in one call
LENGTH = 5.0  # s of a motion at fixed steps
TURNING = ("yaw", "roll", "pitch", "steer", "rear", "front")  # SymPy's speeds, less the prefix u of ours

OURS = """
import json, time
import numpy as np
import kane.api, kane.backends.llvm
q, u = np.array({q}), np.array({u})
start = time.perf_counter()
udot = kane.load("whipple-bicycle").forward_dynamics(q, u, np.zeros(len(u)))
print(json.dumps([time.perf_counter() - start, [], list(udot)]))
"""
THEIRS = """
import json, time
import numpy as np
from peers.sympy_bicycle import sympy_bicycle
q, u = np.array({q}), np.array({u})
start = time.perf_counter()
udot = sympy_bicycle().forward_dynamics(q, u)
print(json.dumps([time.perf_counter() - start, [], list(udot)]))
"""


def states(model: kane.Model, count: int) -> tuple[Array, Array]:
    """q, u (count, 8) on the constraints: leaning and steering, within 1 rad/s, at 3 to 7 m/s."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(count):
        angles = dict(zip(("yaw", "roll", "steer"), rng.uniform(-0.4, 0.4, 3).tolist(), strict=True))
        rates = dict(zip(("uroll", "usteer"), rng.uniform(-1.0, 1.0, 2).tolist(), strict=True))
        speed = {"urear": -rng.uniform(3.0, 7.0) / model.parameters["rR"].value}
        found.append(model.project(angles, rates | speed, hold=[*angles, *rates, *speed]))
    q, u = (np.array(values) for values in zip(*found, strict=True))
    return q, u


def first_results() -> list[Row]:
    """Cold and from the disk cache, in turn with SymPy."""
    model = kane.load(NAME)
    q, u = (values[0] for values in states(model, 1))
    turning = [model.speeds.index(f"u{name}") for name in TURNING]
    angles = [model.coordinates.index(name) for name in TURNING[:4]]
    ours = OURS.format(q=q.tolist(), u=u.tolist())
    sympy = THEIRS.format(q=q[angles].tolist(), u=u[turning].tolist())
    cold, warm, theirs = [], [], []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(fresh_process(ours, cache))
            warm.append(fresh_process(ours, cache))
            theirs.append(fresh_process(sympy, cache))
    error = disagreement(np.array(cold[0].results)[turning], theirs[0].results)
    ready = [start.ready for start in theirs]
    peer, name = "SymPy KanesMethod, lambdify", f"{NAME}: load, formulate, compile, first accelerations"
    return [
        Duel(peer, [start.ready for start in cold], ready).row(f"{name}; cold", 50, error),
        Duel(peer, [start.ready for start in warm], ready).row(f"{name}; from the disk cache", None, error),
    ]


def operations() -> list[Row]:
    """All operations of the accelerations at a state, constraints embedded, numbers folded; a sign counts for nothing.

    Programs made by other tools took 1900 to 2400 after elimination of common subexpressions.
    """
    model = kane.load(NAME)
    count = model.equations().count("forward_dynamics")
    total = sum(number for kind, number in count.items() if kind != "neg")
    return [at_most(f"{NAME}: accelerations, numbers folded", "operations", total, 1900, interpreted(model))]


def batch() -> list[Row]:
    """Accelerations of many states in one call."""
    model = kane.load(NAME)
    q, u = (np.tile(values, (BATCH // STATES, 1)) for values in states(model, STATES))
    tau = np.zeros_like(u)
    model.forward_dynamics(q, u, tau)

    def task() -> None:
        model.forward_dynamics(q, u, tau)

    runs = runs_that_fill(RUN_TIME, task)
    times = [1e6 * seconds(task, runs) / BATCH for _ in range(REPEATS)]
    error = interpreted(model)
    name = f"{NAME}: accelerations in a batch"
    return [
        Row(name, spread(times), "µs each", 0.5, "at most", error=error),
        Row(f"{name}, difference from the interpreter", exactly(error), "of the largest", 1e-12, "at most"),
    ]


def reactions() -> list[Row]:
    """Reactions of all joints and constraints at many states in one call; the error is that of the multipliers against
    those of the kinetostatic equations of all bodies, at some of the states."""
    model = kane.load(NAME)
    q, u = (np.tile(values, (MANY // STATES, 1)) for values in states(model, STATES))
    found = model.reactions(q, u).multipliers

    def task() -> None:
        model.reactions(q, u)

    runs = runs_that_fill(RUN_TIME, task)
    times = [1e6 * seconds(task, runs) / MANY for _ in range(REPEATS)]
    error = disagreement(found[:STATES], model.reactions(q[:STATES], u[:STATES], method="complement").multipliers)
    return [Row(f"{NAME}: reactions in a batch", spread(times), "µs each", 3.0, "at most", error=error)]


def linearizations() -> list[Row]:
    """Linearizations over many forward speeds in one call, states moved onto the constraints; the error is that of the
    matrices against those of one speed at a time."""
    model = kane.load(NAME)
    v = np.linspace(0.5, 10.0, SPEEDS)
    named = {"urear": -v / model.parameters["rR"].value, "uroll": 0 * v, "usteer": 0 * v}
    keep = ["roll", "steer", "uroll", "usteer"]
    found = model.linearize(u=named, independent=keep)

    def task() -> None:
        model.linearize(u=named, independent=keep)

    times = [1e3 * seconds(task) for _ in range(REPEATS)]
    some = range(0, SPEEDS, SPEEDS // 10)
    alone = [model.linearize(u={n: float(x[i]) for n, x in named.items()}, independent=keep).A for i in some]
    error = disagreement(found.A[list(some)], np.array(alone))
    return [
        Row(f"{NAME}: linearized at {SPEEDS} speeds in one call", spread(times), "ms", 50.0, "at most", error=error)
    ]


def interpreted(model: kane.Model) -> float:
    """How far compiled accelerations are from those of the interpreter."""
    q, u = states(model, STATES)
    tau = np.random.default_rng(4).normal(size=u.shape)
    program = model.equations().program("forward_dynamics")
    groups = {"t": 0.0, "q": q, "u": u, "tau": tau}
    plain = compile(program, "interpret")(*(groups[group.name] for group in program.inputs))
    return disagreement(model.forward_dynamics(q, u, tau), plain)


def energy() -> list[Row]:
    """Energy over a ride without control, options as they come, both embeddings."""
    model = kane.load(NAME)
    rows = []
    for embed in ("run-time", "formulation"):
        run = model.simulate((0.0, DURATION), embed=embed)
        name = f"{NAME}: {DURATION:g} s from {SPEED:g} m/s, embedded at {embed}, {reached(run)}: drift of the energy"
        rows.append(Row(name, exactly(energy_span(run)), "of the total", 1e-8, "at most"))
    return rows


def steps() -> list[Row]:
    """What a step of classic Runge-Kutta costs, four evaluations and a projection onto the constraints."""
    model = kane.load(NAME)
    count = round(LENGTH / STEP)
    rows = []
    for embed in ("run-time", "formulation"):

        def task(embed: str = embed) -> kane.Trajectory:
            return model.simulate((0.0, LENGTH), method="rk4", step=STEP, embed=embed)

        error = energy_span(task())
        times = [1e6 * seconds(task) / count for _ in range(REPEATS)]
        name = f"{NAME}: one step of RK4 and projection, embedded at {embed}; error is the drift of the energy"
        rows.append(Row(name, spread(times), "µs", error=error))
    return rows


def energy_span(run: kane.Trajectory) -> float:
    """Span of kinetic and potential energy, relative to the largest total."""
    total = np.sum(run.energy(), axis=0)
    return float(np.ptp(total) / np.abs(total).max())


def reached(run: kane.Trajectory) -> str:
    """How far a motion came."""
    return "to the end" if run.outcome.success else f"ended at {run.t[-1]:.3g} s"
