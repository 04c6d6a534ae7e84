"""Which form a mechanism is computed in: written out as one program, or by recursion over its bodies."""

from __future__ import annotations

from ..errors import ModelError, Problem
from ..formulation.links import joints_outward
from ..model import Mechanism
from .tree import obstacles

BODIES, COUPLING = 100, 5_000
"""Up to here a mechanism is written out. `COUPLING` is the sum over all speeds of the square of how many speeds are
inboard, which the factors of M grow with; a chain of 24 is at the limit. Measured, forward dynamics from the
description to the first answer and then per body of a call: chains of 20 bodies 2.6 s and 177 ns, of 30 4.3 s and
276 ns, of 50 21 s and 505 ns, of 100 101 s and 5.8 µs; balanced trees of 60 5.5 s and 129 ns, of 120 9.2 s and 529 ns,
of 200 21 s and 401 ns; by recursion 0.2 s and 100 ns for any of them, and 10 µs for the call."""

MOST_BODIES, MOST_COUPLING = 2000, 1_000_000
"""What cannot be computed by recursion is written out up to here: minutes, and gigabytes, for a chain of 144."""

_LISTED = 10  # obstacles that an error lists


def coupling(mechanism: Mechanism) -> int:
    """The sum over all speeds of the square of how many speeds are inboard of it, itself included."""
    inboard: dict[int, int] = {}
    total = 0
    for joint in joints_outward(mechanism):
        start = inboard.get(id(joint.parent), 0)
        inboard[id(joint.child)] = start + len(joint.rates)
        total += sum((start + i + 1) ** 2 for i in range(len(joint.rates)))
    return total


def by_recursion(mechanism: Mechanism) -> bool:
    """Whether a mechanism is large and can be computed by recursion; one that is too large for both is refused."""
    size = coupling(mechanism)
    if len(mechanism.bodies) <= BODIES and size <= COUPLING:
        return False
    in_the_way = obstacles(mechanism)
    if in_the_way and (len(mechanism.bodies) > MOST_BODIES or size > MOST_COUPLING):
        raise ModelError([_too_large(mechanism), *in_the_way[:_LISTED]])
    return not in_the_way


def refuse_if_too_large(mechanism: Mechanism, what: str) -> None:
    """Refuse to write out what has no recursion, `what`, for a mechanism that is too large for it."""
    if len(mechanism.bodies) > MOST_BODIES or coupling(mechanism) > MOST_COUPLING:
        raise ModelError([_too_large(mechanism), Problem(mechanism.where(what), "is not computed by recursion")])


def _too_large(mechanism: Mechanism) -> Problem:
    return Problem(
        mechanism.where("bodies"),
        f"{len(mechanism.bodies)} bodies are too many for equations that are written out",
        "beyond that motion is computed by recursion over the bodies, which the following does not allow",
        "fix what follows",
    )


__all__ = ["by_recursion", "coupling", "refuse_if_too_large"]
