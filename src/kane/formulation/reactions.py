"""Reactions: what the parent of a joint does to its child through the joint, and what constraints do to their bodies.

Two programs of the graph give them, with inertias as described. By Kane's auxiliary speeds: every joint gets six that
are zero in the motion, the angular velocity it would add to its child and the velocity it would add to the joint's
point; minus their generalized active and inertia forces are the moment and the force of the joint, found for all joints
by one reverse sweep of power [KL83, Eqs. 78 and 90]. By Newton and Euler: what each body needs beyond its loads, to be
summed in numbers from the leaves inward. Multipliers of constraints enter as numbers, see `constraints.multipliers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ModelError, Problem
from ..graph import Expr, Graph, Inputs, Program, lower
from ..model import Body, Mechanism
from ..model.constraints import BuiltConstraint, Row
from ..model.loads import Action, EffortAction, ForceAction
from ..space import Frame, Kinematics, Point, position
from ..space.algebra import Matrix, Triple, cross, minus, plus, scaled, times, transpose_times
from .links import Link
from .sweep import Power, add_actions
from .system import System

if TYPE_CHECKING:
    from .equations import Equations

Wrench = tuple[Triple, Triple]
"""Force, and moment about a point."""


@dataclass(frozen=True, slots=True)
class JointTree:
    """The joints of a mechanism in its order, and where the rows of its constraints act.

    `parents` are the indices of the joints that hold the parents, −1 for the ground; `outward` the indices with parents
    before children; `pairs` the (row, joint) such that a row acts on the body that the joint holds.
    """

    parents: tuple[int, ...]
    outward: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]


def joint_tree(mechanism: Mechanism) -> JointTree:
    """How the bodies of a mechanism hang on its joints; refuses bodies that hang on none."""
    _refuse_attached(mechanism)
    place = {id(j.child): i for i, j in enumerate(mechanism.joints.values())}
    parents = tuple(place.get(id(j.parent), -1) for j in mechanism.joints.values())
    outward, level = [], [i for i, p in enumerate(parents) if p < 0]
    while level:
        outward += level
        inner = set(level)
        level = [i for i, p in enumerate(parents) if p in inner]
    pairs = {
        (r, place[id(body)]): None
        for r, row in enumerate(all_rows(mechanism))
        for body, _ in body_actions(mechanism, row)
        if id(body) in place
    }
    return JointTree(parents, tuple(outward), tuple(pairs))


def _refuse_attached(mechanism: Mechanism) -> None:
    loose = [body for body in mechanism.bodies.values() if body.joint is None]
    if loose:
        raise ModelError(
            Problem(
                mechanism.where(f"body '{loose[0].name}'"),
                "is attached to a frame and a point, so no joint transmits its reaction",
                "a reaction is what a joint or a constraint exerts",
                "describe its motion by a joint, or ask for `constraint_rows` and `inverse_dynamics`",
            )
        )


def all_rows(mechanism: Mechanism) -> list[Row]:
    """The rows of all constraints, as `row_names` names them."""
    return [row for c in mechanism.constraints.values() for row in c.rows]


def body_actions(mechanism: Mechanism, row: Row) -> list[tuple[Body, Action]]:
    """The forces and torques of a unit reaction, each with its body; efforts and what acts on the ground left out."""
    told = row.on if len(row.on) == len(row.actions) else [body_of(mechanism, action) for action in row.actions]
    return [
        (body, action)
        for body, action in zip(told, row.actions, strict=True)
        if body is not None and not isinstance(action, EffortAction)
    ]


def body_of(mechanism: Mechanism, action: Action) -> Body | None:
    """The body whose point or frame an action names; None for the ground and for efforts."""
    if isinstance(action, EffortAction):
        return None
    if isinstance(action, ForceAction):
        points = {b.origin: b for b in mechanism.bodies.values() if b.origin is not None}
        at: Point | None = action.point
        while at is not None and at not in points:
            at = at.parent
        return None if at is None else points[at]
    frames = {b.frame: b for b in mechanism.bodies.values() if b.frame is not None}
    axes: Frame | None = action.frame
    while axes is not None and axes not in frames:
        axes = axes.parent
    return None if axes is None else frames[axes]


# auxiliary speeds ----------------------------------------------------------------------------------------------------


class Released(Kinematics):
    """Velocities of bodies whose joints give way: each adds an auxiliary ω to its link and v to its reference point."""

    def __init__(self, system: System, links: Sequence[Link], only: str | None = None):
        """All joints, or the one of that name."""
        rates: dict[Expr, Expr | float] = {system.t: 1.0, **dict(zip(system.q, system.qdot, strict=True))}
        super().__init__(system.graph, rates, system.take)
        self._turning: dict[Frame, Triple] = {}
        self._sliding: dict[Point, Triple] = {}
        for link in links:
            link.attach(self)
            if only is not None and link.joint.name != only:
                continue
            names = [f"{link.joint.name}.auxiliary.{k}" for k in range(6)]
            a, b, c, x, y, z = (system.graph.input(name) for name in names)
            self._turning[link.frame], self._sliding[link.point] = (a, b, c), (x, y, z)

    def speeds(self, link: Link) -> list[Expr]:
        """The six auxiliary speeds of a joint: ω and v along the link's axes."""
        return [*self._turning[link.frame], *self._sliding[link.point]]

    def _w_step(self, f: Frame) -> Triple:
        w = super()._w_step(f)
        return plus(w, self._turning[f]) if f in self._turning else w

    def _turn_in(self, frame: Frame) -> tuple[Frame, Matrix, Triple]:
        inner = self.parent(frame)  # turns are not merged: each may give way
        assert inner is not None
        return inner, self.R(frame), self.relative_w(frame)

    def _v_step(self, p: Point) -> Triple:
        v = super()._v_step(p)
        return plus(v, self._sliding[p]) if p in self._sliding else v


def reactions_program(equations: Equations) -> Program:
    """Wrenches of all joints on their children by auxiliary speeds, and the joints' points, from q, u, udot and the
    multipliers of all rows: `wrench` (joints, 6), force before moment, and `point` (joints, 3), in N."""
    system, links = equations.system, equations.original_links
    multipliers = _multipliers(equations)
    moving = system.kinematics(links)
    released = Released(system, links)
    power = _power_of_all(equations, moving, released, multipliers)
    flat = power.derivatives([u for link in links for u in released.speeds(link)])
    found = {}
    for k, link in enumerate(links):
        a, b, c, x, y, z = flat[6 * k : 6 * k + 6]
        F, M = (x, y, z), minus((a, b, c), cross(_to_pin(system, link), (x, y, z)))
        N = equations.mechanism.N
        found[link.joint.name] = [*moving.turn(F, link.frame, N), *moving.turn(M, link.frame, N)]
    wrench = [e for name in equations.mechanism.joints for e in found[name]]
    j = len(equations.mechanism.joints)
    outputs = {"wrench": ((j, 6), wrench), "point": ((j, 3), _flat(_pins(equations, moving)))}
    return _lower_reactions(equations, "reactions", ("q", "u", "udot"), outputs, multipliers)


def released_wrench(equations: Equations, joint: str, body: Body, multipliers: Sequence[Expr]) -> Wrench:
    """Force and moment of one joint on its child about the child's origin, along the child's axes, from q, u, udot and
    the multipliers of all rows."""
    moving, link, F, M = _release(equations, joint, multipliers)
    assert body.frame is not None
    M = minus(M, cross(link.to_origin, F))
    return moving.turn(F, link.frame, body.frame), moving.turn(M, link.frame, body.frame)


def reaction_of_joint(equations: Equations, joint: str, multipliers: Sequence[Expr]) -> Wrench:
    """The same about the joint's point, in N."""
    moving, link, F, M = _release(equations, joint, multipliers)
    M = minus(M, cross(_to_pin(equations.system, link), F))
    return moving.turn(F, link.frame, equations.mechanism.N), moving.turn(M, link.frame, equations.mechanism.N)


def _release(equations: Equations, joint: str, multipliers: Sequence[Expr]) -> tuple[Kinematics, Link, Triple, Triple]:
    """(velocities, link, force and moment of one joint on its child about the link's reference point, along the link's
    axes)."""
    system, links = equations.system, equations.original_links
    moving = system.kinematics(links)
    released = Released(system, links, joint)
    power = _power_of_all(equations, moving, released, multipliers)
    link = next(link for link in links if link.joint.name == joint)
    a, b, c, x, y, z = power.derivatives(released.speeds(link))
    return moving, link, (x, y, z), (a, b, c)


def constraint_wrench(equations: Equations, constraint: str, multipliers: Sequence[Expr]) -> Wrench:
    """Force and moment of a constraint on its second body about the constraint's point, in N, from q and the
    multipliers of all rows."""
    kin, r = equations.velocities, 0
    total: Wrench = (kin.zero, kin.zero)
    for c in equations.mechanism.constraints.values():
        for row in c.rows:
            if c.name == constraint:
                F, M = _on_second(equations, kin, c, row)
                total = _add_wrenches(total, (scaled(multipliers[r], F), scaled(multipliers[r], M)))
            r += 1
    return total


def _power_of_all(equations: Equations, moving: Kinematics, released: Released, multipliers: Sequence[Expr]) -> Power:
    """Power of inertia, less that of loads and reactions of constraints, in velocities of joints that give way."""
    system = equations.system
    power = Power()
    for body in equations.masses:
        w, v = released.w(body.frame), released.v(body.ref)
        F, N = body.inertia.loads(
            moving.w(body.frame), moving.alpha(body.frame), moving.U(body.frame), moving.a(body.ref)
        )
        power.add(v, F)
        power.add(w, N)
    for action in equations.actions():
        _add(power, equations, released, action, system.graph.const(-1.0))
    by_body = {id(link.body): link for link in equations.original_links}
    for factor, row in zip(multipliers, all_rows(equations.mechanism), strict=True):
        for body, action in body_actions(equations.mechanism, row):
            if body_of(equations.mechanism, action) is body:
                _add(power, equations, released, action, -factor)
            elif id(body) in by_body:
                _add_at_link(power, equations, released, by_body[id(body)], action, -factor)
    return power


def _add(power: Power, equations: Equations, kin: Kinematics, action: Action, factor: Expr) -> None:
    """Add an action times a factor, where the bodies of its point and frame are those it acts on."""
    if isinstance(action, EffortAction):
        return  # along motion variables, which give way nowhere
    to = action.point.home if isinstance(action, ForceAction) else action.frame
    velocity = kin.v(action.point) if isinstance(action, ForceAction) else kin.w(to)
    vector = kin.turn(equations.system.take.triple(action.vector.xyz), action.vector.frame, to)
    power.add(velocity, scaled(factor, vector))


def _add_at_link(power: Power, equations: Equations, kin: Kinematics, link: Link, action: Action, factor: Expr) -> None:
    """Add an action on a body that is written at a point or in a frame of another one, as on a wheel's carrier."""
    N, axes = equations.mechanism.N, link.frame
    F, M = (kin.turn(x, N, axes) for x in _wrench(equations, kin, action, _pin(link.body)))
    power.add(kin.v(link.point), scaled(factor, F))
    power.add(kin.w(axes), scaled(factor, plus(M, cross(_to_pin(equations.system, link), F))))


# Newton and Euler ----------------------------------------------------------------------------------------------------


def bodies_program(equations: Equations) -> Program:
    """What each body needs beyond its loads, from q, u and udot, components in N, force before moment.

    `needs` (joints, 6): inertia force reversed, less gravity and loads, about the point of the joint that holds the
    body; `acts` (pairs, 6): unit reactions of rows on bodies, about the same points; `point` (joints, 3) and `arm`
    (joints, 3), to it from the point of the joint that holds the parent (zero on the ground).
    """
    mechanism, system, N = equations.mechanism, equations.system, equations.mechanism.N
    kin = system.kinematics(equations.original_links)
    pins = [_pin(j.child) for j in mechanism.joints.values()]
    joints = {id(j.child): i for i, j in enumerate(mechanism.joints.values())}
    needs: list[Wrench] = [(kin.zero, kin.zero) for _ in joints]
    links = {link.body.name: link for link in equations.original_links}
    for body in equations.masses:
        link = links[body.name]
        F, M = body.inertia.loads(kin.w(body.frame), kin.alpha(body.frame), kin.U(body.frame), kin.a(body.ref))
        M = minus(M, cross(_to_pin(system, link), F))
        needs[joints[id(link.body)]] = (kin.turn(F, body.frame, N), kin.turn(M, body.frame, N))
    for action in equations.actions():
        body = body_of(mechanism, action)
        if body is not None:
            i = joints[id(body)]
            needs[i] = _subtract_wrenches(needs[i], _wrench(equations, kin, action, pins[i]))
    acts: dict[tuple[int, int], Wrench] = dict.fromkeys(joint_tree(mechanism).pairs, (kin.zero, kin.zero))
    for r, row in enumerate(all_rows(mechanism)):
        for body, action in body_actions(mechanism, row):
            if id(body) in joints:
                i = joints[id(body)]
                acts[r, i] = _add_wrenches(acts[r, i], _wrench(equations, kin, action, pins[i]))
    arms = [
        kin.zero if j.parent is mechanism.ground else _arm_between(equations, kin, _pin(j.child), _pin(j.parent))
        for j in mechanism.joints.values()
    ]
    outputs = {
        "needs": ((len(joints), 6), _flat_wrenches(needs)),
        "point": ((len(joints), 3), _flat(_pins(equations, kin))),
        "arm": ((len(joints), 3), _flat(arms)),
    }
    if acts:
        outputs["acts"] = ((len(acts), 6), _flat_wrenches(acts.values()))
    return _lower_reactions(equations, "bodies", ("q", "u", "udot"), outputs)


# rows of constraints -------------------------------------------------------------------------------------------------


def rows_program(equations: Equations) -> Program:
    """The rows of constraints from q, components in N: `A` (rows, n), `mass` (n,), the diagonal of M, `acts` (rows, 6),
    a unit reaction on the second body about the constraint's point, `point` (constraints, 3), zero where a constraint
    ties motion variables together, and `efforts` (rows, variables), those of a unit reaction along motion variables."""
    mechanism, system, kin = equations.mechanism, equations.system, equations.velocities
    A: list[Expr] = []
    efforts: list[Expr] = []
    acts: list[Wrench] = []
    points: list[Triple] = []
    for constraint in mechanism.constraints.values():
        points.append(kin.zero if constraint.point is None else kin.position(constraint.point))
        for row in constraint.rows:
            power = Power()
            add_actions(power, system, kin, 1.0, row.actions)
            A += power.derivatives(system.u)
            acts.append(_on_second(equations, kin, constraint, row))
            along = dict.fromkeys(system.variables, system.graph.const(0.0))
            for action in row.actions:
                if isinstance(action, EffortAction):
                    along[action.variable] = along[action.variable] + system.take.one(action.value)
            efforts += along.values()
    m, n = len(acts), len(system.u)
    mass = [equations.mass_matrix[i][i] for i in range(n)]
    outputs = {
        "A": ((m, n), A),
        "mass": ((n,), mass),
        "acts": ((m, 6), _flat_wrenches(acts)),
        "point": ((len(points), 3), _flat(points)),
        "efforts": ((m, len(system.variables)), efforts),
    }
    return _lower_reactions(equations, "reaction_rows", ("q",), outputs)


def unit_forces(equations: Equations) -> tuple[list[Triple], list[Triple]]:
    """(points of all constraints, forces of unit reactions of their rows on the second body there), in N; a point is
    zero where a constraint ties motion variables together."""
    kin, constraints = equations.velocities, equations.mechanism.constraints.values()
    points = [kin.zero if c.point is None else kin.position(c.point) for c in constraints]
    return points, [_on_second(equations, kin, c, row)[0] for c in constraints for row in c.rows]


def _on_second(equations: Equations, kin: Kinematics, constraint: BuiltConstraint, row: Row) -> Wrench:
    """A unit reaction of a row on the second body; on the ground it is the opposite of what acts on the first."""
    total, reversed_ = (kin.zero, kin.zero), constraint.second is equations.mechanism.ground
    of = constraint.first if reversed_ else constraint.second
    for body, action in body_actions(equations.mechanism, row):
        if body is of and constraint.point is not None:
            wrench = _wrench(equations, kin, action, constraint.point)
            total = _subtract_wrenches(total, wrench) if reversed_ else _add_wrenches(total, wrench)
    return total


def orientation_program(equations: Equations, frame: Frame) -> Program:
    """R_NF (3, 3) of a frame from q."""
    R = equations.velocities.orientation(frame)
    return _lower_reactions(equations, "orientation", ("q",), {"R": ((3, 3), _flat(R))})


# parts ---------------------------------------------------------------------------------------------------------------


def multiplier_symbols(graph: Graph, rows: int) -> list[Expr]:
    """The symbols of the multipliers of constraints, row by row, in the graph of a description or its equations."""
    return [graph.input(f"multiplier.{row}") for row in range(rows)]


def _multipliers(equations: Equations) -> list[Expr]:
    return multiplier_symbols(equations.graph, len(all_rows(equations.mechanism)))


def _lower_reactions(
    equations: Equations,
    name: str,
    groups: Sequence[str],
    outputs: dict[str, tuple[tuple[int, ...], list[Expr]]],
    multipliers: Sequence[Expr] = (),
) -> Program:
    inputs = equations.groups(["t", *groups])
    if multipliers:
        inputs.append(Inputs("multipliers", tuple(repr(e) for e in multipliers)))
    if equations.free:
        inputs += equations.groups(["parameters"])
    return lower(name, inputs, outputs, optional=("t",))


def _to_pin(system: System, link: Link) -> Triple:
    """From a link's reference point to the point of its joint, along the link's axes."""
    return plus(link.to_origin, transpose_times(link.G, system.take.triple(link.joint.child_at)))


def _pins(equations: Equations, kin: Kinematics) -> list[Triple]:
    """Positions in N of the joints' points, those that rest in the children, in the order of the joints."""
    links = {link.joint.name: link for link in equations.original_links}
    found = []
    for name in equations.mechanism.joints:
        link = links[name]
        arm = times(kin.orientation(link.frame), _to_pin(equations.system, link))
        found.append(plus(kin.position(link.point), arm))
    return found


def _pin(body: Body) -> Point:
    """The point of the joint that holds a body, which rests in the body."""
    assert body.origin is not None and body.origin.parent is not None
    return body.origin.parent


def _arm_between(equations: Equations, kin: Kinematics, point: Point, about: Point) -> Triple:
    """From one point to another, in N, without the way to the origin, which in orbit would leave no digits."""
    arm = position(point, about)
    return kin.turn(equations.system.take.triple(arm.xyz), arm.frame, equations.mechanism.N)


def _wrench(equations: Equations, kin: Kinematics, action: Action, about: Point) -> Wrench:
    """A force at a point or a torque, in N, about a point."""
    assert not isinstance(action, EffortAction)
    vector = kin.turn(equations.system.take.triple(action.vector.xyz), action.vector.frame, equations.mechanism.N)
    if isinstance(action, ForceAction):
        return vector, cross(_arm_between(equations, kin, action.point, about), vector)
    return kin.zero, vector


def _add_wrenches(a: Wrench, b: Wrench) -> Wrench:
    return plus(a[0], b[0]), plus(a[1], b[1])


def _subtract_wrenches(a: Wrench, b: Wrench) -> Wrench:
    return minus(a[0], b[0]), minus(a[1], b[1])


def _flat(triples: Sequence[Triple]) -> list[Expr]:
    return [e for triple in triples for e in triple]


def _flat_wrenches(wrenches: Iterable[Wrench]) -> list[Expr]:
    return [e for wrench in wrenches for triple in wrench for e in triple]


__all__ = [
    "JointTree",
    "all_rows",
    "bodies_program",
    "body_actions",
    "body_of",
    "constraint_wrench",
    "joint_tree",
    "multiplier_symbols",
    "orientation_program",
    "reaction_of_joint",
    "reactions_program",
    "released_wrench",
    "rows_program",
    "unit_forces",
]
