"""Inverse and forward dynamics of the Stanford arm against Pinocchio, in batches and in single calls.

Pinocchio is called in the way it is used from Python: one call per sample, arrays already in its own joint order and
cut into rows, so that only calls and the storing of results are timed.
"""

# Pinocchio is a compiled module without type information, in a folder that its package adds at run time.
# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

import kane
from benchmarks.measure import Row, alternating, disagreement, duel
from peers.pinocchio_arm import pinocchio_arm
from peers.stanford import N_COORDINATES, TREE_ORDER, Array, random_samples

BATCH = 4096  # large enough for the call itself to cost nothing, small enough for the processor's cache
CALLS = 2000  # calls in a loop, so that the clock is read rarely

Ours = Callable[[Array, Array, Array], Array]
Inputs = tuple[Array, Array, Array]


def batch_inverse_dynamics() -> list[Row]:
    """One call with all samples against one call of rnea per sample."""
    s = random_samples(BATCH)
    ours = kane.load("stanford-arm").inverse_dynamics
    return batch_rows("inverse dynamics in a batch", 40, ours, pin.rnea, (s.q, s.u, s.udot))


def batch_forward_dynamics() -> list[Row]:
    """One call with all samples against one call of aba per sample."""
    s = random_samples(BATCH)
    ours = kane.load("stanford-arm").forward_dynamics
    return batch_rows("forward dynamics in a batch", 60, ours, pin.aba, (s.q, s.u, s.effort))


def single_inverse_dynamics() -> list[Row]:
    """One call with one sample on both sides."""
    s = random_samples(1)
    ours = kane.load("stanford-arm").inverse_dynamics
    return [call_row("inverse dynamics, one call", ours, pin.rnea, (s.q[0], s.u[0], s.udot[0]))]


def single_forward_dynamics() -> list[Row]:
    """One call with one sample on both sides."""
    s = random_samples(1)
    ours = kane.load("stanford-arm").forward_dynamics
    return [call_row("forward dynamics, one call", ours, pin.aba, (s.q[0], s.u[0], s.effort[0]))]


def batch_rows(name: str, target: float, ours: Ours, theirs: Callable[..., Array], inputs: Inputs) -> list[Row]:
    """Ours on whole arrays (batch, 6) against theirs on their rows, batch after batch and one batch at a time."""
    arm = pinocchio_arm()
    rows = list(zip(*(list(np.ascontiguousarray(array[:, TREE_ORDER])) for array in inputs), strict=True))
    results = np.empty((BATCH, N_COORDINATES))

    def loop() -> None:
        for i, (a, b, c) in enumerate(rows):
            results[i] = theirs(arm.model, arm.data, a, b, c)

    peer = f"Pinocchio {theirs.__name__} in a loop"
    steady, single = (measure(peer, lambda: ours(*inputs), loop) for measure in (duel, alternating))
    error = disagreement(ours(*inputs)[:, TREE_ORDER], results)
    return [
        steady.row(name, target, error, BATCH),
        single.row(f"{name}, one batch at a time, caches cold", None, error, BATCH),
    ]


def call_row(name: str, ours: Ours, theirs: Callable[..., Array], inputs: Inputs) -> Row:
    """Ours on three vectors (6,) against theirs; not slower is asked for."""
    arm = pinocchio_arm()
    a, b, c = inputs
    x, y, z = (array[TREE_ORDER] for array in inputs)

    def our_calls() -> None:
        for _ in range(CALLS):
            ours(a, b, c)

    def their_calls() -> None:
        for _ in range(CALLS):
            theirs(arm.model, arm.data, x, y, z)

    error = disagreement(ours(a, b, c)[TREE_ORDER], theirs(arm.model, arm.data, x, y, z))
    return duel(f"Pinocchio {theirs.__name__}", our_calls, their_calls).row(name, 1, error, CALLS)
