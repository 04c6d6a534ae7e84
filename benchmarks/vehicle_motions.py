"""Motion 3a of the mobile manipulator of Tanner & Kyriakopoulos: a circle, the arm swinging freely.

MuJoCo's contacts are soft: its step, and with it the time constant of its contacts, is halved until the platform is
within 1e-4 m of where it belongs. It is compared before the left wheel would have to pull, at 1.16 s, where it lifts
in MuJoCo.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import kane
from benchmarks.measure import Row, duel, spread
from peers.mujoco_vehicle import MujocoVehicle

DURATION = 10.0  # s
COMPARED = 1.1  # s
CLOSE = 1e-4  # m
RTOL = 1e-10
REPEATS = 11
TARGET = 0.010  # s, for ten seconds of motion


def circle() -> list[Row]:
    """Ten seconds of the motion, and its first second beside MuJoCo."""
    model = kane.load("tanner-mobile-manipulator")
    exact = model.simulate([0.0, COMPARED], rtol=1e-13)
    q = dict(zip(model.coordinates, exact.q[0].tolist(), strict=True))
    rates = dict(zip(model.coordinates, exact.u[0].tolist(), strict=True))  # speeds are the rates, in the same order
    ends = exact.q[-1, :2]

    def ours(duration: float = COMPARED) -> kane.Trajectory:
        return model.simulate((0.0, duration), rtol=RTOL)

    ours(DURATION)
    taken = spread([_processor_time(lambda: ours(DURATION)) for _ in range(REPEATS)])
    title = f"tanner-mobile-manipulator, motion 3a, {DURATION:g} s at rtol {RTOL:g}, processor time"
    rows = [Row(title, taken, "ms", 1e3 * TARGET, "at most")]
    step = 1e-3
    while (error := _distance(MujocoVehicle.with_step(step).run(q, rates, COMPARED), ends)) > CLOSE:
        step /= 2
    peer = MujocoVehicle.with_step(step)
    times = duel("MuJoCo", ours, lambda: peer.run(q, rates, COMPARED), REPEATS)
    own = _distance(tuple(ours().q[-1, :2]), ends)
    title = f"the same, {COMPARED:g} s, to {own:.0e} m, against steps of {step:.2g} s, which end within {error:.0e} m"
    return [*rows, times.row(title, None, error)]


def _processor_time(task: Callable[[], object]) -> float:
    """Milliseconds of the processor that one run takes: others on the machine do not count."""
    start = time.process_time()
    task()
    return 1e3 * (time.process_time() - start)


def _distance(place: tuple[float, ...], other: np.ndarray) -> float:
    """How far (m) a place is from where it belongs."""
    return float(np.hypot(*(np.array(place) - other)))
