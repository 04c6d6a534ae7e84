"""How many operations the programs of the Stanford arm take, beside the counts that the papers give."""

from __future__ import annotations

import kane
from benchmarks.measure import Row, exactly


def at_most(name: str, unit: str, value: int, target: int) -> Row:
    """A counted figure with its upper bound."""
    return Row(name, exactly(value), unit, target, "at most")


def inverse_dynamics_operations() -> list[Row]:
    """Numbers folded; the paper has 646 multiplications and 394 additions with symbols [KL83, Sec. 3]."""
    count = kane.load("stanford-arm").equations().count("inverse_dynamics")
    name = "inverse dynamics, numbers folded"
    return [at_most(name, "multiplications", count["mul"], 130), at_most(name, "additions", count["add"], 90)]


def forward_dynamics_operations() -> list[Row]:
    """Numbers folded, the solution of M u̇ = f included."""
    count = kane.load("stanford-arm").equations().count("forward_dynamics")
    name = "forward dynamics, numbers folded"
    return [
        at_most(name, "multiplications and divisions", count["mul"] + count["div"], 300),
        at_most(name, "additions", count["add"], 190),
    ]


def free_inverse_dynamics_operations() -> list[Row]:
    """Every parameter an input, work on parameters alone left out: it is done once, not per evaluation."""
    count = kane.load("stanford-arm").equations(free="all").count("inverse_dynamics")
    name = "inverse dynamics, every parameter free"
    return [at_most(name, "multiplications", count["mul"], 180), at_most(name, "additions", count["add"], 135)]
