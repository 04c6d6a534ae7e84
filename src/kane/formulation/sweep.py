"""Generalized forces as a reverse-mode derivative of power.

With P = Σ_k (v_k · R_k + ω_k · T_k), the resultants held fixed, ∂P/∂u_r = Σ_k (v_r · R_k + ω_r · T_k): Kane's
generalized force, for any choice of speeds, by one sweep over the graph of the velocities [KL83, Eqs. 78 and 90].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..graph import Expr, Graph, reverse, time_derivative
from ..model.loads import Action, EffortAction, ForceAction, TorqueAction
from ..space import Frame, Kinematics, Point
from ..space.algebra import Triple, is_zero
from .inertia import Inertia
from .links import Link
from .system import System


@dataclass(frozen=True, slots=True)
class Mass:
    """An inertia attached to a frame, about a point whose home frame it is."""

    name: str
    frame: Frame
    ref: Point
    inertia: Inertia


def masses(system: System, links: Sequence[Link]) -> list[Mass]:
    """All bodies: the links as laid out, and those the analyst attached to frames and points."""
    found = []
    for link in links:
        if not link.inertia.is_nothing:
            name = link.body.name + ", regrouped" * link.regrouped
            found.append(Mass(name, link.frame, link.point, link.inertia))
    for body in system.mechanism.bodies.values():
        if body.joint is None and body.frame is not None and body.origin is not None:
            take = system.take
            about = Inertia.of(take.one(body.mass), take.triple(body.center), take.matrix(body.inertia))
            ref = Point(body.name, body.frame, body.origin, body.frame.vector(0, 0, 0))
            found.append(Mass(body.name, body.frame, ref, about))
    return found


class Power:
    """P, as a list of velocities and what they are multiplied with; `derivatives` differentiates it by the speeds."""

    def __init__(self) -> None:
        self._terms: dict[Expr, Expr] = {}

    def add(self, velocity: Iterable[Expr], factor: Iterable[Expr]) -> None:
        for x, y in zip(velocity, factor, strict=True):
            if x.number is None and not y.is_zero:
                self._terms[x] = self._terms[x] + y if x in self._terms else y

    def total(self, graph: Graph) -> Expr:
        """P itself."""
        total = graph.const(0.0)
        for x, y in self._terms.items():
            total = total + x * y
        return total

    def derivatives(self, speeds: Sequence[Expr]) -> list[Expr]:
        """∂P/∂u_r with the factors held fixed."""
        if not self._terms:
            zero = speeds[0].graph.const(0.0)
            return [zero] * len(speeds)
        return reverse(self._terms, speeds)


def add_inertia(power: Power, kin: Kinematics, bodies: Iterable[Mass]) -> None:
    """Add m a and I α + ω × I ω + h × a of every body: minus Kane's inertia force, and minus the moment of his inertia
    force and torque about the reference point of the body [KL83, Eq. 79]."""
    for body in bodies:
        w = kin.w(body.frame)
        F, N = body.inertia.loads(w, kin.alpha(body.frame), kin.U(body.frame), kin.a(body.ref))
        a = f"(a{kin.less_gravity})" if kin.less_gravity else "a"
        off_center = "" if is_zero(body.inertia.h) else f" + h x {a}"
        massive = f"m {a}" if not body.inertia.m.is_zero else "alpha x h + w x (w x h)"
        kin.graph.note(F, f"{massive}, {body.name}{kin.remark}")
        kin.graph.note(N, f"I alpha + w x I w{off_center}, {body.name}{kin.remark}")
        kin.graph.note(body.inertia.h, f"h, {body.name}")
        for row in body.inertia.I:
            kin.graph.note(row, f"I, {body.name}")
        power.add(kin.v(body.ref), F)
        power.add(w, N)


def rotors(system: System) -> list[tuple[Expr, Expr]]:
    """(s, inertia): rotors geared to joints, the motion variable each turns with and the inertia reflected to it."""
    take = system.take
    return [(take.one(r.variable), take.one(r.inertia)) for r in system.mechanism.rotors.values()]


def add_rotors(power: Power, system: System, kin: Kinematics) -> None:
    """Add inertia times ṡ of every rotor."""
    for s, inertia in rotors(system):
        power.add([s], [inertia * time_derivative([s], kin.rates)[0]])


def add_momentum(power: Power, kin: Kinematics, bodies: Iterable[Mass]) -> None:
    """Add linear and angular momentum: the sweep then gives ∂T/∂u_r."""
    for body in bodies:
        w, v = kin.w(body.frame), kin.v(body.ref)
        p, H = body.inertia.momentum(w, v)
        power.add(v, p)
        power.add(w, H)


def add_actions(power: Power, system: System, kin: Kinematics, sign: float, actions: Iterable[Action]) -> None:
    """Add forces at points, torques on frames and efforts along motion variables, times `sign`."""
    for action in actions:
        if isinstance(action, ForceAction):
            power.add(
                kin.v(action.point), _at(system, kin, sign, action.vector.xyz, action.vector.frame, action.point.home)
            )
        elif isinstance(action, TorqueAction):
            power.add(kin.w(action.frame), _at(system, kin, sign, action.vector.xyz, action.vector.frame, action.frame))
        elif isinstance(action, EffortAction):
            power.add([system.take.one(action.variable)], [sign * system.take.one(action.value)])


def _at(system: System, kin: Kinematics, sign: float, xyz: Triple, frame: Frame, to: Frame) -> Triple:
    x, y, z = kin.turn(system.take.triple(xyz), frame, to)
    return (sign * x, sign * y, sign * z)
