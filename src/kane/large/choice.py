"""Which form a mechanism is computed in: written out as one program, or by recursion over its bodies."""

from __future__ import annotations

from ..errors import ModelError, Problem
from ..formulation.links import joints_outward
from ..model import Mechanism
from .tree import obstacles

BODIES, COUPLING = 200, 10_000
"""Up to here a mechanism is written out. `COUPLING` is the sum over all speeds of the square of how many speeds are
inboard, which the factors of M grow with. Measured, forward dynamics of chains from the description to the first
answer: 20 bodies 2.6 s and then 177 ns per body, 50 bodies 21 s and 505 ns, 100 bodies 101 s and 5.8 µs; by recursion
0.2 s and 120 ns for any of them. A chain of 31 and a balanced tree of some hundred bodies are at the limit."""

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
        "mend what follows",
    )


__all__ = ["by_recursion", "coupling", "refuse_if_too_large"]
