"""Forces that contribute nothing to generalized forces, or not to all of them, and why: what Kane's method lets one
leave out.

What joints and constraints transmit does no work on any motion that they allow, and of the other forces some act where
nothing moves, or across every way to move, or across one. Bodies that share a reason share a line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..model import Body, BuiltConstraint, Joint, Mechanism
from ..space.algebra import is_zero
from .records import Dropped

_JOINTS = {
    "revolute": ("force, and torque across its axis", "turns about the axis only"),
    "prismatic": ("torque, and force across its axis", "slides along the axis only"),
    "screw": ("force and torque, but for what drives it", "turns and slides along the axis together only"),
    "cylindrical": ("force and torque across its axis", "turns and slides along the axis only"),
    "universal": ("force, and torque across both axes", "turns about its two axes only"),
    "gimbal": ("force", "turns about one point"),
    "spherical": ("force", "turns about one point"),
    "planar": ("force along its normal, and torque across it", "moves in the plane only"),
    "weld": ("force and torque", "does not move against what it is welded to"),
    "coupled": ("force and torque, but for what couples it", "moves as the joint that it follows"),
    "prescribed": ("force and torque", "has a motion that is given, which no speed changes"),
}
"""Kind of joint → what it transmits, and how the child moves in the parent."""

_ROLLS = "the point that touches has no velocity where it rolls"
_CLOSES = "it acts on both bodies, opposite and equal, along what does not move there"
_GUIDES = "it acts across the guide, and the point moves along it only"
_CONSTRAINTS = {
    "rolling": _ROLLS,
    "rolling-sphere": _ROLLS,
    "rolling-ellipsoid": _ROLLS,
    "rolling-on-sphere": "both points that touch have the same velocity where it rolls",
    "wheel-contact": _ROLLS,
    "knife-edge": "it acts across the edge, and the point of contact moves along it only",
    "gear": "the teeth that touch have the same velocity",
    "belt": "the belt moves with both pulleys",
    "rack": "the teeth that touch have the same velocity",
    "distance": "it acts along the rod, whose ends do not approach each other",
    **dict.fromkeys(("revolute", "prismatic", "spherical", "cylindrical", "universal", "planar", "weld"), _CLOSES),
    **dict.fromkeys(("point-on-curve", "point-on-line", "point-on-plane"), _GUIDES),
}
"""Kind of constraint → why its reaction contributes nothing."""


def find_dropped(
    mechanism: Mechanism,
    without_effect: Iterable[str],
    standing: Collection[str],
    across: Mapping[str, Sequence[int]],
) -> Iterator[Dropped]:
    """What drops out: reactions of joints and constraints, the sources named in `without_effect`, weights across some
    v_r as in `drop_weights`, and what bodies without mass or inertia lack; bodies in `standing` have mass centres
    without partial velocities."""
    for joint in mechanism.joints.values():
        if (found := _reaction(joint)) is not None:
            yield found
    idle = list(without_effect)
    yield from _drop_whole_weights([x.removeprefix("weight of ") for x in idle if x.startswith("weight of ")], standing)
    for source in idle:
        if not source.startswith(("inertia of ", "weight of ")):
            yield Dropped(source, "it acts where nothing moves, or across every way to move, or it is zero")
    yield from drop_weights(across)
    yield from drop_inertia(mechanism.bodies.values(), gravity=not is_zero(mechanism.gravity))
    for constraint in mechanism.constraints.values():
        yield _constraint_reaction(constraint)
    for reaction in () if mechanism.auxiliary is None else mechanism.auxiliary.reactions:
        why = "auxiliary speeds bring it into evidence, which are zero in the motion; with all others its power is zero"
        yield Dropped(f"unknown load {reaction.name} on {reaction.on}", why)


def _drop_whole_weights(bodies: Sequence[str], standing: Collection[str]) -> Iterator[Dropped]:
    still = [name for name in bodies if name in standing]
    moving = [name for name in bodies if name not in standing]
    if still:
        yield Dropped(_weights(still), f"no speed moves {_mass_centre(still)}")
    if moving:
        yield Dropped(_weights(moving), f"every v_r of {_mass_centre(moving)} is zero or perpendicular to gravity")


def drop_weights(across: Mapping[str, Sequence[int]]) -> Iterator[Dropped]:
    """Weights that drop out of some F_r, speeds with the same bodies in one line: `across` maps bodies to the indices
    r, from zero, of the v_r of their mass centres that are perpendicular to gravity."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for r in sorted({r for speeds in across.values() for r in speeds}):
        groups.setdefault(tuple(body for body, speeds in across.items() if r in speeds), []).append(r)
    for bodies, speeds in groups.items():
        moving, force = (join_words([f"{letter}_{r + 1}" for r in speeds]) for letter in "vF")
        why = f"{moving} of {_mass_centre(bodies)} {'is' if len(speeds) == 1 else 'are'} perpendicular to gravity"
        yield Dropped(f"{_weights(bodies)} in {force}", why)


def _weights(bodies: Sequence[str]) -> str:
    return f"weight{'' if len(bodies) == 1 else 's'} of {join_words(bodies)}"


def _mass_centre(bodies: Sequence[str]) -> str:
    return "its mass centre" if len(bodies) == 1 else "their mass centres"


def drop_inertia(bodies: Iterable[Body], *, gravity: bool) -> Iterator[Dropped]:
    """Inertia forces and torques that bodies do not have: those without mass have no R*, nor a weight where there is
    `gravity`; those without central inertia, such as particles, no T*."""
    lacking = {body.name: (body.mass.is_zero, is_particle(body)) for body in bodies}
    for lacks, what, why in (
        ((True, True), "weight, R* and T*" if gravity else "R* and T*", "a body without mass has none"),
        ((True, False), "weight and R*" if gravity else "R*", "a body without mass has none"),
        ((False, True), "T*", "a particle has none"),
    ):
        if names := [name for name, found in lacking.items() if found == lacks]:
            yield Dropped(f"{what} of {join_words(names)}", why)


def is_particle(body: Body) -> bool:
    """Whether a body has no central inertia."""
    return all(is_zero(row) for row in body.inertia)


def join_words(words: Sequence[str]) -> str:
    """Words as they stand in a sentence: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _reaction(joint: Joint) -> Dropped | None:
    transmitted, moves = _JOINTS.get(joint.type.kind, ("", ""))
    if not transmitted:
        return None
    what = f"joint {joint.name}, {transmitted}"
    if joint.parent.joint is None and joint.parent.frame is not None and joint.parent.frame.depth <= 1:
        point = "the point where it acts is fixed in N" if joint.type.kind in _HOLD_A_POINT else "N does not move"
        return Dropped(what, f"{point}, and {joint.child.name} {moves}")
    pair = f"acts on {joint.parent.name} and on {joint.child.name}, opposite and equal"
    return Dropped(what, f"{pair}, and {joint.child.name} {moves}")


_HOLD_A_POINT = ("revolute", "universal", "gimbal", "spherical", "weld")


def _constraint_reaction(constraint: BuiltConstraint) -> Dropped:
    rows = ", ".join(constraint.row_names())
    why = _CONSTRAINTS.get(constraint.kind, "its power is the row that it enforces, A u + c")
    return Dropped(
        f"reaction of {constraint.name} ({constraint.kind}; rows {rows})",
        f"{why}: it drops out when F_d of dependent speeds is added to F_i, times D",
    )
