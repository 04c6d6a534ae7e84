"""Choices of generalized speeds that are worth trying, by the rules of [MK96].

Comes in: a mechanism. Goes out: `Rule`s, each of which replaces some motion variables (rates of coordinates, mostly) by
as many others: measure numbers of ω of a body along its own axes, along those of a body or gimbal that carries it, or
along N; absolute rates, ω · axis or v · axis, instead of relative ones; velocities of origins and mass centres of
bodies that fly. Whether a rule pays is not judged here but measured, in `speeds.py`. Velocities of mass centres instead
of rates of joints with one axis are no rule: in none of 25 models do they save an operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ..errors import ExpressionError
from ..graph import Expr
from ..model import Body, Joint, Mechanism
from ..model.expression import print_expression
from ..model.joints import Cylindrical, Free, Gimbal, Planar, Prismatic, Revolute, Screw, Spherical
from ..model.measures import AXES, measure_numbers
from ..space import Frame, Kinematics
from ..space.algebra import Triple, cross, dot, is_zero, plus, scaled, times, transpose_times
from ..space.rotations import parse_sequence, simple, unit


@dataclass(frozen=True, slots=True)
class Rule:
    """Motion variables, by name, and the definitions of the speeds that take their places, one for each; `about` says
    in a few words what they are."""

    about: str
    replaces: tuple[str, ...]
    definitions: tuple[str, ...]


def speed_rules(mechanism: Mechanism) -> list[Rule]:
    """All rules that a mechanism gives rise to, those of inner bodies first; the same choice is named once."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], Rule] = {}
    names = _Names(mechanism)
    for body in mechanism.bodies.values():
        if body.joint is not None:
            for rule in _rules_of(names, body):
                found.setdefault((rule.replaces, rule.definitions), rule)
    return list(found.values())


def write_definitions(mechanism: Mechanism) -> dict[str, str]:
    """Definitions of the speeds that a mechanism has, as texts."""
    written = _Names(mechanism).write([s.definition for s in mechanism.speed_records.values()])
    texts = written or [repr(s.definition) for s in mechanism.speed_records.values()]
    return dict(zip(mechanism.speed_records, texts, strict=True))


def _rules_of(names: _Names, body: Body) -> Iterator[Rule]:
    assert body.joint is not None
    for rule in (_absolute(names, body, body.joint), _angular(names, body), _linear(names, body, body.joint)):
        for about, replaces, exprs in rule:
            written = names.write(exprs)
            if written is not None and (made := _make(about, [repr(v) for v in replaces], list(written))) is not None:
                yield made


def _make(about: str, replaces: list[str], definitions: list[str]) -> Rule | None:
    """The rule, motion variables that stay left out; None where all do."""
    for variable in list(replaces):
        if variable in definitions:
            definitions.remove(variable)
            replaces.remove(variable)
    return Rule(about, tuple(replaces), tuple(definitions)) if replaces else None


Choice = tuple[str, Sequence[Expr], Sequence[Expr]]
"""What it is, the motion variables that are replaced, and what replaces them."""


class _Names:
    """Kinematics of a mechanism in its motion variables, and how measure numbers are written in definitions."""

    def __init__(self, mechanism: Mechanism):
        rates: dict[Expr, Expr | float] = dict(mechanism.coordinate_rates)
        self.mechanism = mechanism
        self.kin = Kinematics(mechanism.graph, {**rates, mechanism.time: 1.0})
        written = (body for body in mechanism.bodies.values() if body.name.isidentifier())
        self._known = {expr: ".".join(measured) for expr, measured in measure_numbers(mechanism, written).items()}
        for variable in mechanism.motion_variables.values():
            self._known[variable] = repr(variable)

    def write(self, exprs: Sequence[Expr]) -> tuple[str, ...] | None:
        """Definitions as texts: measure numbers by their names; None where one of them is too long to be written."""
        try:
            return tuple(self._write(e) for e in exprs)
        except ExpressionError:
            return None

    def _write(self, e: Expr) -> str:
        if e in self._known:
            return self._known[e]
        if -e in self._known:
            return f"-{self._known[-e]}"
        for variable in self.mechanism.motion_variables.values():
            if (rest := self._known.get(e - variable)) is not None:
                return f"{rest} + {variable!r}"
        return print_expression(e)

    def w_along(self, frame: Frame, axes: Frame) -> Triple:
        """ω of a frame along the axes of one that it is oriented in."""
        total, f = self.kin.w(axes), frame
        while f is not axes:
            total = plus(total, self.kin.turn(self.kin.relative_w(f), f, axes))
            outer = self.kin.parent(f)
            assert outer is not None
            f = outer
        return total


# absolute instead of relative ----------------------------------------------------------------------------------------


def _absolute(names: _Names, body: Body, joint: Joint) -> Iterator[Choice]:
    """ω · axis or v · axis in N instead of the rate of a joint with one axis, where its parent moves."""
    if not isinstance(joint.type, (Revolute, Prismatic, Screw, Cylindrical)) or joint.parent.joint is None:
        return
    assert body.frame is not None and body.origin is not None
    axis = times(joint.child_mount, joint.type.axis)
    if not isinstance(joint.type, Prismatic):
        yield f"absolute rate of {body.name}", joint.rates[:1], [dot(axis, names.kin.w(body.frame))]
    if isinstance(joint.type, (Prismatic, Cylindrical)):
        yield f"absolute speed of {body.name}", joint.rates[-1:], [dot(axis, names.kin.v(body.origin))]


# angular velocities --------------------------------------------------------------------------------------------------


def _turning(joint: Joint) -> tuple[Expr, ...]:
    """The motion variables that turn a joint."""
    kind = joint.type
    if isinstance(kind, (Revolute, Gimbal, Spherical, Screw)):
        return joint.rates
    if isinstance(kind, (Cylindrical, Free)):
        return joint.rates[:1] if isinstance(kind, Cylindrical) else joint.rates[:3]
    return joint.rates[2:] if isinstance(kind, Planar) else ()


def _inboard(body: Body) -> list[Joint]:
    """The joints between a body and the ground, its own first."""
    joints: list[Joint] = []
    while body.joint is not None:
        joints.append(body.joint)
        body = body.joint.parent
    return joints


def _angular(names: _Names, body: Body) -> Iterator[Choice]:
    """ω of a body instead of the last rates that turn it: three, or two of its measure numbers instead of two."""
    assert body.frame is not None
    joints, variables, carriers = _inboard(body), list[Expr](), list[Body]()
    for joint in joints:
        if not (turning := _turning(joint)):
            continue
        variables = [*turning, *variables]
        carriers.append(joint.parent)
        if len(variables) >= 3:
            break
    w = names.kin.w(body.frame)
    if len(variables) == 2:
        for pair in combinations(range(3), 2):
            yield f"ω of {body.name} along its own axes", variables, [w[k] for k in pair]
    if len(variables) != 3:
        return
    yield f"ω of {body.name} along its own axes", variables, w
    for carrier in carriers:
        if carrier.frame is not None:
            about = "N" if carrier.joint is None else carrier.name
            yield f"ω of {body.name} along the axes of {about}", variables, names.w_along(body.frame, carrier.frame)
    own = joints[0]
    if isinstance(own.type, Gimbal) and len(own.rates) == 3 and own.parent.joint is None:
        for about, exprs in _gimbal_axes(own, own.type):
            yield f"ω of {body.name} along {about}", variables, exprs


def _gimbal_axes(joint: Joint, kind: Gimbal) -> Iterator[tuple[str, Sequence[Expr]]]:
    """ω of the child of a gimbal on the ground along the axes that its first angle, and its first two, turn."""
    fixed_in_body, axes = parse_sequence(kind.sequence)
    if not fixed_in_body:
        return
    graph = joint.rates[0].graph
    angles = [c.symbol for c in joint.coordinates]
    e = [scaled(rate, unit(graph, axis)) for rate, axis in zip(joint.rates, axes, strict=True)]
    second = simple(axes[1], angles[1])
    yield "the axes that two angles turn", plus(plus(transpose_times(second, e[0]), e[1]), e[2])
    yield "the axes that one angle turns", plus(plus(e[0], e[1]), times(second, e[2]))


# velocities of points ------------------------------------------------------------------------------------------------


def _sliding(joint: Joint) -> tuple[Expr, ...]:
    """The motion variables that move the origin of a joint that leaves three or two directions free."""
    if isinstance(joint.type, Free):
        return joint.rates[3:]
    return joint.rates[:2] if isinstance(joint.type, Planar) else ()


def _linear(names: _Names, body: Body, joint: Joint) -> Iterator[Choice]:
    """Velocity of the origin or of the mass centre, along the body's own axes or along N, of a body that flies."""
    assert body.frame is not None and body.origin is not None
    variables = _sliding(joint)
    if not variables:
        return
    kin, N = names.kin, body.frame.root
    normal = AXES.index(joint.type.normal) if isinstance(joint.type, Planar) else None
    moving = [k for k in range(3) if k != normal]
    in_body, in_N = kin.turn(kin.v(body.origin), body.origin.home, body.frame), joint.motion.v
    arm = cross(kin.w(body.frame), body.center)
    own = f"of {body.name} along its own axes"
    yield f"velocity of the origin {own}", variables, [in_body[k] for k in moving]
    if not is_zero(arm):
        center = plus(in_body, arm)
        yield f"velocity of the mass centre {own}", variables, [center[k] for k in moving]
    if joint.parent.joint is None and body.frame.parent is not None and joint.mount == names.mechanism.unturned:
        yield f"velocity of the origin of {body.name} along N", variables, [in_N[k] for k in moving]
        if not is_zero(arm):
            center = plus(in_N, kin.turn(arm, body.frame, N))
            yield f"velocity of the mass centre of {body.name} along N", variables, [center[k] for k in moving]


__all__ = ["Rule", "speed_rules", "write_definitions"]
