"""Forces that contribute to no generalized active force, and why: what Kane's method lets one leave out.

What joints and constraints transmit does no work on any motion that they allow, and of the other forces some act where
nothing moves, or across every way to move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ..model import BuiltConstraint, Joint, Mechanism
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


def find_dropped(mechanism: Mechanism, without_effect: Iterable[str], standing: Collection[str]) -> Iterator[Dropped]:
    """What drops out: reactions of joints and constraints, and the sources named in `without_effect`; bodies in
    `standing` have mass centres without partial velocities."""
    for joint in mechanism.joints.values():
        if (found := _reaction(joint)) is not None:
            yield found
    for source in without_effect:
        if source.startswith("inertia"):
            continue
        body = source.removeprefix("weight of ")
        if body in standing:
            yield Dropped(source, f"no speed moves the mass centre: every v_r({body}*) is zero")
        elif source.startswith("weight"):
            yield Dropped(source, f"every v_r({body}*) is zero or perpendicular to gravity")
        else:
            yield Dropped(source, "it acts where nothing moves, or across every way to move, or it is zero")
    for constraint in mechanism.constraints.values():
        yield _constraint_reaction(constraint)
    for reaction in () if mechanism.auxiliary is None else mechanism.auxiliary.reactions:
        why = "auxiliary speeds bring it into evidence, which are zero in the motion; on all others it does no work"
        yield Dropped(f"unknown load {reaction.name} on {reaction.on}", why)


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
