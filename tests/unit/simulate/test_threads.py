"""Runs at the same time, from threads, give the bits of runs one after another: every run owns its memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.answers import Answers, embedding_of

THREADS, RUNS = 4, 6


def bits(run: kane.Trajectory) -> bytes:
    """Everything that a motion computed."""
    crossings = b"".join(c.t.tobytes() + c.y.tobytes() for c in run.events)
    return run.t.tobytes() + run.q.tobytes() + run.u.tobytes() + run.work.tobytes() + crossings


def squeeze(model: kane.Model, k: int) -> kane.Trajectory:
    return model.simulate((0.0, 0.004 + 1e-4 * k))


def ride(model: kane.Model, k: int) -> kane.Trajectory:
    return model.simulate((0.0, 1.0 + 0.05 * k), control={"usteer": "-0.1*usteer"}, events={"up": "roll"})


def swing(model: kane.Model, k: int) -> kane.Trajectory:
    name = model.coordinates[0]
    return model.simulate((0.0, 3.0 + 0.1 * k), events={"side": f"sin(3*{name})"}, method="rk45")


def hold(model: kane.Model, k: int) -> kane.Trajectory:
    return model.simulate((0.0, 2.0), method="radau", drift=(1.0, 20.0), tau=np.full(len(model.speeds), 0.01 * k))


def steer(model: kane.Model, k: int) -> kane.Trajectory:
    return model.simulate((0.0, 0.5), control=lambda t, q, u: -(0.1 + 0.01 * k) * u, control_period=0.05)


CASES: list[tuple[str, Callable[[kane.Model, int], kane.Trajectory]]] = [
    ("andrews-squeezer", squeeze),
    ("whipple-bicycle", ride),
    ("parallelogram", hold),
    ("rolling-disc", steer),
    ("double-pendulum", swing),
]


def at_once(function: Callable[[int], Any], count: int) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(function, range(count)))


@pytest.mark.parametrize(("name", "motion"), CASES, ids=[name for name, _ in CASES])
def test_simulations_of_one_model_from_threads_are_those_one_after_another(
    name: str, motion: Callable[[kane.Model, int], kane.Trajectory]
) -> None:
    model = kane.load(name)
    together = at_once(lambda k: bits(motion(model, k)), THREADS * RUNS)  # the first of them also formulate and compile
    assert together == [bits(motion(model, k)) for k in range(THREADS * RUNS)]


@pytest.mark.parametrize(
    "name", ["andrews-squeezer", pytest.param("whipple-bicycle", marks=pytest.mark.long), "double-pendulum"]
)
def test_answers_of_one_model_from_threads_are_those_one_after_another(name: str) -> None:
    model = kane.load(name)
    run = kane.load(name).simulate(np.linspace(0.0, 0.003, 24))

    def ask(k: int) -> bytes:
        q, u, tau = run.q[k], run.u[k], run.tau[k]
        reactions = model.reactions(run.q, run.u, run.tau)
        found = [model.forward_dynamics(q, u, tau), model.mass_matrix(q), reactions.multipliers]
        if model.constraints:
            found.append(embedding_of(Answers(model.mechanism)).multipliers(run.t, run.q, run.u, run.tau))
        return b"".join(np.ascontiguousarray(x).tobytes() for x in found)

    assert at_once(ask, 24) == [ask(k) for k in range(24)]
