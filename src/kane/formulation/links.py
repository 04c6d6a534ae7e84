"""Links: the bodies of the tree on axes and reference points of our choice, which change no result and save operations.

Axes: see `gauge` and `turns`. Reference points slide along the axis of a revolute or prismatic joint to where offsets
vanish. Inertias without influence on a joint's effort move to the parent (regrouping), where only motion and efforts
are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..graph import Expr, Graph
from ..model import Body, Joint, Mechanism
from ..model.joints import Coupled, Prismatic, Revolute
from ..model.loads import Action, ForceAction, TorqueAction
from ..space import Frame, Kinematics, Point, Vector, rotations
from ..space.algebra import Matrix, Triple, dot, is_zero, minus, plus, product, scaled, times, transpose
from .gauge import Array, Hinge, Placement, places
from .inertia import Inertia, part_without_effect_on_revolute
from .transfer import Transfer
from .turns import cheapest_turn

_PARALLEL = 1e-12  # axes whose cosine is this close to 1 are parallel
_TINY = 1e-14  # a constant this small relative to its neighbours is a rounding error of turned axes


@dataclass(slots=True)
class Link:
    """A body of the tree with its inboard joint.

    All components are in the link's own axes, `frame`, turned by G against its body's frame. `offset` leads from the
    parent's reference point to the joint, in the parent's axes; `to_origin` from the link's reference point to its
    body's origin; `R_rest` turns components here into the parent's axes when the joint is at rest. `w` is the joint's
    angular velocity, here; `p` its displacement, in the axes of `base`, and `v` its velocity, there or here. A link
    is `regrouped` where it has a part of the inertia of the next bodies, or has left one to its parent.
    """

    body: Body
    joint: Joint
    parent: Link | None
    frame: Frame
    base: Frame
    G: Matrix
    R_rest: Matrix
    w: Triple
    p: Triple
    v: Vector
    offset: Triple
    to_origin: Triple
    axis: Triple | None
    inertia: Inertia
    children: list[Link] = field(default_factory=list)
    ref: Point | None = None
    regrouped: bool = False

    @property
    def kind(self) -> str:
        return self.joint.moves_as

    @property
    def point(self) -> Point:
        assert self.ref is not None, f"link '{self.body.name}' has no place yet"
        return self.ref

    def attach(self, kin: Kinematics) -> None:
        """Have the body's described frame and origin seen from this link."""
        body = self.body
        assert body.frame is not None and body.origin is not None
        if body.frame is not self.frame:
            kin.graft(body.frame, self.frame, transpose(self.G))
        kin.pin(body.origin, self.point, self.to_origin)

    def set_motion(self, kin: Kinematics, w: Triple, alpha: Triple) -> None:
        """Set ω and α, given in the body's frame."""
        inward = transpose(self.G)
        kin.set(self.frame, times(inward, w), times(inward, alpha))

    def move_reference(self, shift: Triple) -> None:
        """Move the reference point by `shift`, constant here and along the joint's axis."""
        self.offset = plus(self.offset, times(self.R_rest, shift))
        self.to_origin = minus(self.to_origin, shift)
        self.inertia = self.inertia.shift(scaled(-1.0, shift))
        for child in self.children:
            child.offset = minus(child.offset, shift)


Axes = Sequence[Placement] | None
"""Of the joints in outward order; None where an orientation depends on free parameters: axes as described."""


def lay_out_cheaply(mechanism: Mechanism, take: Transfer) -> tuple[Axes, list[Link]]:
    """The axes that cost least, and the links on them, regrouped.

    They are those of `gauge`, turned about z where less is left across it then (`turns`). Loads and constraints may be
    written in the axes of a body: those stay. So may chosen speeds, which keep axes that are right ones as described.
    """
    hinges = _hinges(joints_outward(mechanism), take)
    chosen = mechanism.speeds_chosen
    described = hinges is None or (chosen and all(h.is_aligned for h in hinges))
    axes = None if hinges is None or described else places(hinges)
    links = lay_out(mechanism, take, axes, regroup=True)
    if hinges is None or chosen:
        return axes, links
    spoken_of = _bodies_spoken_of(mechanism)
    for link, hinge in zip(links, hinges, strict=True):
        if link.kind == "revolute" and link.body.name not in spoken_of:
            hinge.turn = cheapest_turn(link)
    if any(hinge.turn for hinge in hinges):
        axes = places(hinges)
        links = lay_out(mechanism, take, axes, regroup=True)
    return axes, links


def lay_out(mechanism: Mechanism, take: Transfer, axes: Axes, *, regroup: bool) -> list[Link]:
    """The links of the tree, parents first. With `regroup` they serve motion and efforts only."""
    links = _on_axes(joints_outward(mechanism), take, axes)
    _slide(links)
    if regroup:
        for link in reversed(links):
            if link.parent is not None or link.joint.parent is mechanism.ground:
                _regroup(link)  # a body that the analyst attached is no link: what hangs on it keeps its inertia
        _stop_spinning(mechanism, links, described=axes is None)
    for link in links:
        _place(mechanism, link)
    return links


def joints_outward(mechanism: Mechanism) -> list[Joint]:
    """All joints, each after the joint of its parent."""
    children: dict[int, list[Joint]] = {}
    for joint in mechanism.joints.values():
        children.setdefault(id(joint.parent), []).append(joint)
    ordered: list[Joint] = []
    roots = [mechanism.ground, *(b for b in mechanism.bodies.values() if b.joint is None)]
    stack = [j for body in reversed(roots) for j in reversed(children.get(id(body), []))]
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack.extend(reversed(children.get(id(joint.child), [])))
    return ordered


# axes ----------------------------------------------------------------------------------------------------------------


def _on_axes(joints: Sequence[Joint], take: Transfer, axes: Axes) -> list[Link]:
    by_body: dict[int, Link] = {}
    links: list[Link] = []
    for k, joint in enumerate(joints):
        parent = by_body.get(id(joint.parent))
        if axes is None:
            link = _link_as_described(joint, parent, take)
        else:
            link = _link_on_turned_axes(joint, parent, take, axes[k])
        if parent is not None:
            parent.children.append(link)
        by_body[id(joint.child)] = link
        links.append(link)
    return links


def _link_as_described(joint: Joint, parent: Link | None, take: Transfer) -> Link:
    """A link on the axes of its body, as described."""
    body = joint.child
    assert body.frame is not None and joint.frame is not None and joint.frame.parent is not None
    mount, child_mount = take.matrix(joint.mount), take.matrix(joint.child_mount)
    axis, inside = _axis(joint), joint.motion.v_C
    v = Vector(joint.frame.parent, take.triple(joint.motion.v))
    return Link(
        body=body,
        joint=joint,
        parent=parent,
        frame=body.frame,
        base=joint.frame.parent,
        G=rotations.identity(take.target),
        R_rest=product(mount, transpose(child_mount)),
        w=times(child_mount, take.triple(joint.motion.w)),
        p=take.triple(joint.motion.p),
        v=v if inside is None else Vector(body.frame, times(child_mount, take.triple(inside))),
        offset=_offset(joint, parent, take, rotations.identity(take.target)),
        to_origin=scaled(-1.0, take.triple(joint.child_at)),
        axis=None if axis is None else times(child_mount, take.triple(axis)),
        inertia=_inertia(body, take, take.triple(joint.child_at)),
    )


def _link_on_turned_axes(joint: Joint, parent: Link | None, take: Transfer, place: Placement) -> Link:
    """A link on axes turned against its body's."""
    graph, name, kind = take.target, joint.child.name, joint.moves_as
    outer = parent.frame if parent is not None else joint.parent.frame
    assert outer is not None
    G, before = _numbers(graph, place.G), _numbers(graph, place.before)
    zero = graph.const(0.0)
    still: Triple = (zero, zero, zero)
    base = outer if before == rotations.identity(graph) else outer.orient_new(f"{joint.name}.P", before, still)
    to_joint = product(transpose(take.matrix(joint.child_mount)), G)  # from the link's axes to the joint's own
    axis, R_rest, w, p, v = None, before, still, still, still
    if kind == "revolute":
        angle, rate = joint.drive
        axis, w = (zero, zero, graph.const(place.sense)), (zero, zero, place.sense * take.one(rate))
        R = rotations.simple(2, place.sense * take.one(angle) + place.start)
        R_rest = product(before, rotations.simple(2, graph.const(place.start)))
    elif kind == "prismatic":
        described = _axis(joint)
        assert described is not None
        axis = _zero_rounding(times(transpose(to_joint), take.triple(described)))
        R = rotations.identity(graph)
        slide, rate = joint.drive
        p, v = scaled(take.one(slide), axis), scaled(take.one(rate), axis)
    elif kind == "weld":
        R = rotations.identity(graph)
    else:
        R, w = take.matrix(joint.motion.R), take.triple(joint.motion.w)
        p, v = take.triple(joint.motion.p), take.triple(joint.motion.v)
    frame = base.orient_new(name, R, w)
    inside = joint.motion.v_C
    child_at = take.triple(joint.child_at)
    return Link(
        body=joint.child,
        joint=joint,
        parent=parent,
        frame=frame,
        base=base,
        G=G,
        R_rest=R_rest,
        w=w,
        p=p,
        v=Vector(base, v) if inside is None else Vector(frame, take.triple(inside)),
        offset=_offset(joint, parent, take, parent.G if parent is not None else rotations.identity(graph)),
        to_origin=_zero_rounding(scaled(-1.0, times(transpose(G), child_at))),
        axis=axis,
        inertia=_tidy_inertia(_inertia(joint.child, take, child_at).rotate(transpose(G))),
    )


def _axis(joint: Joint) -> Triple | None:
    moves = joint.type.moves if isinstance(joint.type, Coupled) else joint.type
    return moves.axis if isinstance(moves, (Revolute, Prismatic)) else None


def _offset(joint: Joint, parent: Link | None, take: Transfer, G: Matrix) -> Triple:
    at = _zero_rounding(times(transpose(G), take.triple(joint.at)))
    return at if parent is None else _zero_rounding(plus(parent.to_origin, at))


def _inertia(body: Body, take: Transfer, child_at: Triple) -> Inertia:
    """Of the body about its joint, in its frame."""
    return Inertia.of(take.one(body.mass), minus(take.triple(body.center), child_at), take.matrix(body.inertia))


def _hinges(joints: Sequence[Joint], take: Transfer) -> list[Hinge] | None:
    """The joints in numbers, or None where an orientation depends on free parameters."""
    by_body: dict[int, Hinge] = {}
    hinges = []
    for joint in joints:
        mount, child_mount = _values(take.matrix(joint.mount)), _values(take.matrix(joint.child_mount))
        axis = _axis(joint)
        e = None if axis is None else _values((take.triple(axis),))
        if mount is None or child_mount is None or (axis is not None and e is None):
            return None
        parent = by_body.get(id(joint.parent))
        hinge = Hinge(joint.moves_as, parent, mount, child_mount, None if e is None else e[0])
        if parent is not None:
            parent.children.append(hinge)
        by_body[id(joint.child)] = hinge
        hinges.append(hinge)
    return hinges


def _values(rows: Sequence[Triple]) -> Array | None:
    numbers = [[e.number for e in row] for row in rows]
    if any(x is None for row in numbers for x in row):
        return None
    return np.array(numbers, dtype=float)


def _numbers(graph: Graph, m: Array) -> Matrix:
    a, b, c = (tuple(graph.const(float(x)) for x in row) for row in m)
    return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))


def _zero_rounding(xyz: Triple) -> Triple:
    """Constants that are rounding errors relative to the largest component made zero."""
    largest = max((abs(e.number) for e in xyz if e.number is not None), default=0.0)
    x, y, z = (e.graph.const(0.0) if e.number is not None and abs(e.number) <= _TINY * largest else e for e in xyz)
    return (x, y, z)


def _tidy_inertia(body: Inertia) -> Inertia:
    numbers = [abs(e.number) for row in body.I for e in row if e.number is not None]
    largest = max(numbers, default=0.0)
    zero = body.m.graph.const(0.0)

    def zero_rounding(e: Expr) -> Expr:
        return zero if e.number is not None and abs(e.number) <= _TINY * largest else e

    a, b, c = ((zero_rounding(r[0]), zero_rounding(r[1]), zero_rounding(r[2])) for r in body.I)
    return Inertia(body.m, _zero_rounding(body.h), (a, b, c))


# reference points ----------------------------------------------------------------------------------------------------


def _slide(links: list[Link]) -> None:
    """Slide reference points along the axes of their joints where that leaves fewer offsets that matter."""
    for link in reversed(links):
        if link.axis is None:
            continue
        if link.children:
            shift = scaled(dot(link.children[0].offset, link.axis), link.axis)
        elif link.kind == "prismatic" and not link.inertia.m.is_zero:
            shift = scaled(dot(link.inertia.h, link.axis) / link.inertia.m, link.axis)
        else:
            continue
        if not is_zero(shift) and _is_worth_sliding(link, shift):
            link.move_reference(shift)


def _is_worth_sliding(link: Link, shift: Triple) -> bool:
    if link.kind == "prismatic":
        return True  # its offset along the axis is there anyway
    before = sum(_nonzero(c.offset) for c in link.children)
    after = sum(_nonzero(minus(c.offset, shift)) for c in link.children)
    if link.parent is not None:
        before += _nonzero(link.offset)
        after += _nonzero(plus(link.offset, times(link.R_rest, shift)))
    return after < before or (after == before and _can_pass_offset(link))


def _can_pass_offset(link: Link) -> bool:
    """Whether the parent can take an offset along the link's axis further in: their axes are parallel."""
    parent = link.parent
    if parent is None or parent.axis is None or link.axis is None:
        return False
    along = dot(times(link.R_rest, link.axis), parent.axis).number
    return along is not None and abs(abs(along) - 1.0) < _PARALLEL


def _nonzero(xyz: Triple) -> int:
    return sum(not e.is_zero for e in xyz)


def _place(mechanism: Mechanism, link: Link) -> None:
    """Give the link's reference point its place in the tree of points."""
    joint, body, graph = link.joint, link.body, link.inertia.m.graph
    zero = graph.const(0.0)
    still: Triple = (zero, zero, zero)
    if link.parent is not None:
        inner, axes = link.parent.point, link.parent.frame
    else:
        assert joint.parent.origin is not None and joint.parent.frame is not None
        inner, axes = joint.parent.origin, joint.parent.frame
    if link.base is axes:
        link.ref = inner.locate_new(body.name, Vector(axes, plus(link.offset, link.p)), link.v, home=link.frame)
    elif is_zero(link.p):
        link.ref = inner.locate_new(body.name, Vector(axes, link.offset), still, home=link.frame)
    else:
        hinge = inner.locate_new(f"{joint.name}.P", Vector(axes, link.offset), still)
        link.ref = hinge.locate_new(body.name, Vector(link.base, link.p), link.v, home=link.frame)


# inertias ------------------------------------------------------------------------------------------------------------


def _regroup(link: Link) -> None:
    """Move to the parent what has no influence on the joint's effort."""
    rest = link.inertia
    none = Inertia.nothing(rest.m.graph)
    if link.kind == "revolute" and link.axis is not None:
        moved = part_without_effect_on_revolute(rest, link.axis, outermost=not link.children)
    elif link.kind == "weld":
        moved = rest
    elif link.kind == "prismatic":
        moved = Inertia(none.m, none.h, rest.I)
    elif link.kind in ("spherical", "gimbal", "universal"):
        moved = Inertia(rest.m, none.h, none.I)
    else:
        return
    link.inertia = rest - moved
    if link.parent is not None:
        turned = moved.rotate(link.R_rest)
        if link.kind != "prismatic":
            turned = turned.shift(link.offset)
        link.parent.inertia = _tidy_inertia(link.parent.inertia + turned)
        if not moved.is_nothing:
            link.regrouped = link.parent.regrouped = True


# wheels --------------------------------------------------------------------------------------------------------------


def _stop_spinning(mechanism: Mechanism, links: Sequence[Link], *, described: bool) -> None:
    """Give outermost links that look the same at every angle axes that do not turn with the joint.

    What is left of a wheel is J e eᵀ: constant in the parent's axes too. ω = ω_P + u e and α = α_P + u̇ e + ω_P × u e
    hold in any axes, so with axes that rest in the parent the angle appears nowhere. Speeds that the user chose, and
    loads on the wheel, may speak of its own axes: then it keeps them.
    """
    wheels = [k for k in links if k.kind == "revolute" and not k.children and _is_all_spin(k)]
    if not wheels or mechanism.speeds_chosen:
        return
    spoken_of = _ancestors(_frames_of_loads(mechanism))
    for link in wheels:
        outer = link.parent.frame if link.parent is not None else link.joint.parent.frame
        if outer is None or link.body.frame in spoken_of:
            continue
        if described:
            link.frame = outer.orient_new(link.body.name, link.R_rest, link.w)
        else:  # its z is there already, and any x will do
            link.frame = link.base.orient_new(link.body.name, rotations.identity(link.inertia.m.graph), link.w)


def _is_all_spin(link: Link) -> bool:
    """Whether nothing is left of its inertia but J e eᵀ about its axis."""
    if link.axis is None or not link.inertia.m.is_zero or not is_zero(link.inertia.h):
        return False
    e = link.axis
    J = dot(e, times(link.inertia.I, e))
    return all(is_zero(minus(row, scaled(J * e[i], e))) for i, row in enumerate(link.inertia.I))


def _bodies_spoken_of(mechanism: Mechanism) -> set[str]:
    """Names of the bodies in whose axes, or in frames on them, loads and constraints are written or act."""
    names = {body.frame: body.name for body in mechanism.bodies.values()}
    found: set[str] = set()
    for action in _actions(mechanism):
        if isinstance(action, (ForceAction, TorqueAction)):
            for frame in (action.vector.frame, action.point.home if isinstance(action, ForceAction) else action.frame):
                at: Frame | None = frame
                while at is not None and at not in names:
                    at = at.parent
                if at is not None:
                    found.add(names[at])
    return found


def _actions(mechanism: Mechanism) -> list[Action]:
    """Of all loads and constraints."""
    actions = [action for load in mechanism.loads.values() for action in load.actions()]
    for constraint in mechanism.constraints.values():
        actions += [action for row in (*constraint.rows, *constraint.span) for action in row.actions]
    return actions


def _frames_of_loads(mechanism: Mechanism) -> list[Frame | None]:
    """All frames in which loads and constraints are written and act at points, and those of bodies that the analyst
    attached."""
    frames: list[Frame | None] = [b.frame for b in mechanism.bodies.values() if b.joint is None]
    points: list[Point | None] = [b.origin for b in mechanism.bodies.values() if b.joint is None]
    for action in _actions(mechanism):
        if isinstance(action, ForceAction):
            frames.append(action.vector.frame)
            points.append(action.point)
        elif isinstance(action, TorqueAction):
            frames.append(action.vector.frame)  # ω · T is the same in any axes
    for point in points:
        while point is not None:
            frames += [point.home, point.offset.frame]
            point = point.parent
    return frames


def _ancestors(frames: Iterable[Frame | None]) -> set[Frame]:
    """The frames, and those that they are built on."""
    found: set[Frame] = set()
    for frame in frames:
        while frame is not None and frame not in found:
            found.add(frame)
            frame = frame.parent
    return found
