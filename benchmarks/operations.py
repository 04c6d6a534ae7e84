"""How many operations the programs of the Stanford arm take.

A program that is short because it computes something else counts for nothing: each row is held against Pinocchio, and
the program with free parameters has to take every one of them as an input.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kane
from benchmarks.measure import Row, disagreement, exactly
from peers.pinocchio_arm import pinocchio_arm
from peers.stanford import Array, random_samples

Dynamics = Callable[[Array, Array, Array], Array]


def inverse_dynamics_operations() -> list[Row]:
    """Numbers folded; the paper has 646 multiplications and 394 additions with symbols [KL83, Sec. 3]."""
    model = kane.load("stanford-arm")
    count, error = model.equations().count("inverse_dynamics"), inverse_error(model)
    name = "inverse dynamics, numbers folded"
    return [
        at_most(name, "multiplications", count["mul"], 130, error),
        at_most(name, "additions", count["add"], 90, error),
    ]


def free_inverse_dynamics_operations() -> list[Row]:
    """Every parameter an input, work on parameters alone left out: it is done once, not per evaluation."""
    model = kane.load("stanford-arm", free="all")
    inputs = {group.name: group.labels for group in model.equations().program("inverse_dynamics").inputs}
    if missing := set(model.parameters) - set(inputs.get("parameters", ())):
        raise RuntimeError(f"not free in the program that is counted: {', '.join(sorted(missing))}")
    count, error = model.equations().count("inverse_dynamics"), inverse_error(model)
    name = "inverse dynamics, every parameter free"
    return [
        at_most(name, "multiplications", count["mul"], 180, error),
        at_most(name, "additions", count["add"], 135, error),
    ]


def forward_dynamics_operations() -> list[Row]:
    """Numbers folded, the solution of M u̇ = f included."""
    model, s = kane.load("stanford-arm"), random_samples(20)
    count = model.equations().count("forward_dynamics")
    theirs = sample_by_sample(pinocchio_arm().forward_dynamics, s.q, s.u, s.effort)
    error = disagreement(model.forward_dynamics(s.q, s.u, s.effort), theirs)
    name = "forward dynamics, numbers folded"
    return [
        at_most(name, "multiplications and divisions", count["mul"] + count["div"], 300, error),
        at_most(name, "additions", count["add"], 190, error),
    ]


def inverse_error(model: kane.Model) -> float:
    """How far the efforts of `model` are from Pinocchio's, relative to the largest."""
    s = random_samples(20)
    theirs = sample_by_sample(pinocchio_arm().inverse_dynamics, s.q, s.u, s.udot)
    return disagreement(model.inverse_dynamics(s.q, s.u, s.udot), theirs)


def sample_by_sample(dynamics: Dynamics, *arrays: Array) -> Array:
    """(batch, 6) results of a function that takes one sample at a time."""
    return np.array([dynamics(a, b, c) for a, b, c in zip(*arrays, strict=True)])


def at_most(name: str, unit: str, value: int, target: int, error: float) -> Row:
    """A counted figure with its upper bound."""
    return Row(name, exactly(value), unit, target, "at most", error=error)
