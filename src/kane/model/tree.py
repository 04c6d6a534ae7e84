"""Bodies, joints, frames and points: the tree of a description, in whatever order it is declared.

Two levels share one vocabulary and mix freely: bodies and joints, or frames, points and velocities set directly as
Kane does. A joint may name a parent that is attached later; frames and origins then follow down the branch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..boundary import describe_value
from ..errors import ExpressionError, ModelError, NamedTable, Problem, closest
from ..graph import Expr
from ..space import Frame, Kinematics, Point, Vector, rotations
from ..space.algebra import Matrix, Triple, minus, parallel_axis_term, scaled, transpose
from .attitude import start_of_attitude
from .drawn_shapes import DrawnShape, make_shapes
from .joints import (
    JOINT_OPTIONS,
    ORIGIN,
    PLACEMENT,
    Coupled,
    Cylindrical,
    Free,
    Gimbal,
    JointType,
    Motions,
    Planar,
    Prescribed,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    Weld,
    speeds_are_rates,
)
from .records import Body, Joint
from .symbols import KnownRotation, Quantity, Symbols

INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
JOINT_TYPES = (
    "weld",
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "gimbal",
    "spherical",
    "planar",
    "free",
    "coupled",
)
_NOT_IN_SYMBOLS = re.compile(r"[^A-Za-z0-9_]")
_INERTIA_TOLERANCE = 1e-9  # relative; triangle equality holds for a thin plate
_SHIFT_TOLERANCE = 1e-14  # of m c²: what rounding leaves of an inertia about the origin that is moved to the centre


def symbol_stem(name: str) -> str:
    """The name of a joint as part of the name of a symbol."""
    return name if name.isidentifier() and name.isascii() else _NOT_IN_SYMBOLS.sub("_", name)


class Tree(Symbols):
    """Bodies joined to each other, to the ground N, O, and to the frames and points of the analyst."""

    def __init__(self, name: str, about: str):
        super().__init__(name, about)
        self.N = Frame("N", self.graph)
        self.O = Point("O", self.N)
        zero = self.graph.const(0.0)
        none = (zero, zero, zero)
        self.ground = Body("ground", zero, none, (none, none, none), frame=self.N, origin=self.O)
        self.bodies: dict[str, Body] = NamedTable("body")
        self.joints: dict[str, Joint] = NamedTable("joint")
        self.frames: dict[str, Frame] = {"N": self.N, "ground": self.N}
        self.points: dict[str, Point] = {"O": self.O, "ground": self.O}
        self.declared_frames: dict[str, Frame] = {}  # by the analyst, not by joints
        self.declared_points: dict[str, Point] = {}
        self.remarks: list[Problem] = []  # what is doubtful about the description but was taken as it is
        self._waiting: dict[str, list[Joint]] = {}  # body not attached yet → joints that wait for it
        self._motions = Motions(self.graph)
        self._roots: dict[str, str] = {}  # unattached body → a body nearer to the root of its loose branch
        self._positions: Kinematics | None = None  # of points, made when they are asked for

    def __getstate__(self) -> dict[str, Any]:
        """Everything, bodies parents first in front: a body holds its joint and that its parent, so that from a body
        far out pickle and deepcopy would go down the whole tree, deeper than Python allows."""
        return {"bodies outward": self._bodies_outward(), **vars(self), "judged_with": None, "_positions": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update((name, value) for name, value in state.items() if name != "bodies outward")

    def position(self, point: Point) -> Triple:
        """Where a point is from O, in N (m); what was asked before is remembered: points stay where they were put."""
        if self._positions is None:
            self._positions = Kinematics(self.graph, {})
        return self._positions.position(point)

    def _bodies_outward(self) -> list[Body]:
        """All bodies, parents first, whether attached or not."""
        found: dict[int, Body] = {id(self.ground): self.ground}
        for body in self.bodies.values():
            chain: list[Body] = []
            inner: Body | None = body
            while inner is not None and id(inner) not in found:
                chain.append(inner)
                inner = None if inner.joint is None else inner.joint.parent
            found.update((id(b), b) for b in reversed(chain))
        return list(found.values())

    # frames and points -----------------------------------------------------------------------------------------------

    def frame(self, name: str, parent: Frame | Body | str, R: Matrix | None = None, **orientation: Any) -> Frame:
        """Declare a frame oriented in another by `axis` and `angle`, `euler` and `angles`, or `quaternion`.

        >>> m = kane.Model()
        >>> q = m.coordinate("q1")
        >>> m.frame("A", "N", axis="z", angle="q1")
        <Frame A>
        >>> sorted(m.mechanism.frames)
        ['A', 'N', 'ground']
        """
        where = f"frame '{name}'"
        self.new_name(name, "frame", self.frames)
        if name in self.bodies and self.bodies[name].joint is not None:
            self.new_name(name, "frame", self.bodies)
        base = self.find_frame(parent, where)
        matrix = R if R is not None else self.rotation(orientation, where)
        self.frames[name] = self.declared_frames[name] = base.orient_new(name, matrix)
        return self.frames[name]

    def find_frame(self, parent: Frame | Body | str, where: str) -> Frame:
        """The frame of that name, or the frame of a body."""
        if isinstance(parent, Frame):
            if parent.graph is not self.graph:
                raise self._foreign_part(f"frame '{parent.name}'", where)
            return parent
        if isinstance(parent, str) and parent in self.frames:
            return self.frames[parent]
        if isinstance(parent, str) and parent not in self.bodies:
            self.find("frame or body", parent, {"ground": None, **self.bodies, **self.frames}, where)
        body = self.find_body(parent, where)
        if body.frame is None:
            raise ModelError(
                Problem(
                    self.where(where), f"body '{body.name}' is not attached yet", fix="declare its joint before this"
                )
            )
        return body.frame

    def point(self, name: str, parent: Point | Body | str, offset: Vector) -> Point:
        """Declare a point at `offset` from another point or from a body's origin.

        >>> m = kane.Model()
        >>> A = m.frame("A", "N", axis="z", angle=m.coordinate("q1"))
        >>> P = m.point("P", "O", A.vector(0.5, 0, 0))
        >>> sorted(m.mechanism.points)
        ['O', 'P', 'ground']
        """
        where = f"point '{name}'"
        self.new_name(name, "point", self.points)
        if name in self.bodies and self.bodies[name].joint is not None:
            self.new_name(name, "point", self.bodies)
        self.points[name] = self.declared_points[name] = self.find_point(parent, where).locate_new(name, offset)
        return self.points[name]

    def find_point(self, parent: Point | Body | str, where: str) -> Point:
        """The point of that name, or the origin of a body."""
        if isinstance(parent, Point):
            if parent.home.graph is not self.graph:
                raise self._foreign_part(f"point '{parent.name}'", where)
            return parent
        if isinstance(parent, str) and parent in self.points:
            return self.points[parent]
        if isinstance(parent, str) and parent not in self.bodies:
            self.find("point or body", parent, {"ground": None, **self.bodies, **self.points}, where)
        body = self.find_body(parent, where)
        if body.origin is None:
            raise ModelError(
                Problem(
                    self.where(where), f"body '{body.name}' is not attached yet", fix="declare its joint before this"
                )
            )
        return body.origin

    # bodies ----------------------------------------------------------------------------------------------------------

    def body(
        self,
        name: str,
        *,
        mass: Quantity = 0.0,
        center: Sequence[Quantity] = ORIGIN,
        inertia: Mapping[str, Quantity] | None = None,
        about: str = "center",
        shapes: Sequence[DrawnShape] = (),
        checked: bool = True,
        frame: Frame | str | None = None,
        origin: Point | str | None = None,
    ) -> Body:
        """Declare a rigid body: mass (kg), mass centre (m, in the body's frame from its origin), inertia (kg m²).

        `inertia` has named entries xx, yy, zz, xy, xz, yz (products as matrix entries) about the mass centre or, with
        `about="origin"`, about the body's origin. With `checked=False` an inertia that no rigid body has is taken as it
        is and remarked upon. At the analyst's level `frame` and `origin` attach it.

        `shapes` are what it looks like and touches with, each a mapping as in a model file: box (lengths), cylinder
        (radius, length), sphere (radius), line (where it ends) or mesh (a file, with `scale`), in m or as expressions
        of parameters; with `at`, `axis` (x, y, z), `color` (a name or #rrggbb) and `quaternion` (wxyz). A record
        `kane.model.Shape` is taken as well.

        >>> m = kane.Model()
        >>> coin = m.body("coin", mass=0.01, shapes=[{"cylinder": [m.parameter("r", 0.02), 0.0015], "axis": "y"}])
        >>> coin.shapes[0].size
        (0.02, 0.0015)
        >>> m.body("rod", mass=2, center=(0.5, 0, 0), inertia={"yy": 0.17, "zz": 0.17})
        <Body 'rod', 2 kg>
        >>> m.mass
        2.01
        """
        where = f"body '{name}'"
        self.new_name(name, "body", self.bodies)
        if name in ("ground", "N", "O"):
            raise ModelError(Problem(self.where(where), f"'{name}' is the ground", fix="choose another name"))
        m = self.scalar(mass, f"{where} / mass")
        c = self.zeros if center is ORIGIN else self.fixed_triple(center, f"{where} / center")
        I = self._inertia(inertia or {}, f"{where} / inertia")
        if about not in ("center", "origin"):
            raise ModelError(Problem(self.where(where), f"inertia about '{about}'", fix="say about: center or origin"))
        if about == "origin":
            to_center = parallel_axis_term(scaled(0.5 * m, c), c)
            I = tuple(minus(row, shift) for row, shift in zip(I, to_center, strict=True))
        record = Body(name, m, c, I, make_shapes(self, shapes, where), checked)  # type: ignore[arg-type]
        self.check_mass(record)
        if (frame is None) != (origin is None):
            raise ModelError(
                Problem(self.where(where), "a frame needs an origin and an origin a frame", fix="give both")
            )
        self.bodies[name] = record
        if frame is not None and origin is not None:
            self.attach(record, frame, origin)
        return record

    def find_joint(self, joint: Joint | str, where: str) -> Joint:
        record = joint if isinstance(joint, Joint) else self.find("joint", joint, self.joints, where)
        if self.joints.get(record.name) is not record:
            raise self._foreign_part(f"joint '{record.name}'", where)
        return record

    def _foreign_part(self, what: str, where: str) -> ModelError:
        because, fix = "a model is made of its own parts", "give its name, or the part of this model"
        return ModelError(Problem(self.where(where), f"{what} belongs to another model", because, fix))

    def find_body(self, body: Body | str, where: str) -> Body:
        if isinstance(body, Body):
            if body is not self.ground and self.bodies.get(body.name) is not body:
                raise self._foreign_part(f"body '{body.name}'", where)
            return body
        if isinstance(body, str) and body == "ground":
            return self.ground
        known = self.bodies if isinstance(body, str) and body in self.bodies else {"ground": self.ground, **self.bodies}
        return self.find("body", body, known, where)

    def attach(self, body: Body | str, frame: Frame | str, origin: Point | str) -> None:
        """Attach a body to a frame and a point of the analyst: its frame and its origin.

        >>> m = kane.Model()
        >>> A = m.frame("A", "N", axis="z", angle=m.coordinate("q1"))
        >>> body = m.body("rod", mass=2)
        >>> m.mechanism.attach("rod", "A", "O")
        >>> m.bodies["rod"].frame
        <Frame A>
        """
        record = self.find_body(body, "attachment")
        where = f"body '{record.name}'"
        if record is self.ground or record.joint is not None or record.frame is not None:
            raise ModelError(
                Problem(
                    self.where(where),
                    "is attached already",
                    "a body has one inboard joint, or a frame and an origin",
                    "leave out the joint, or the frame and the origin",
                )
            )
        record.frame, record.origin = self.find_frame(frame, where), self.find_point(origin, where)
        self._attach_waiting(record)
        self.revision += 1

    def particle(self, name: str, mass: Quantity, **attachment: Any) -> Body:
        """Declare a particle: a body with zero inertia.

        >>> m = kane.Model()
        >>> bob = m.particle("bob", 0.2, center=(0, -1, 0))
        >>> m.mass
        0.2
        """
        return self.body(name, mass=mass, **attachment)

    def _inertia(self, entries: Mapping[str, Quantity], where: str) -> Matrix:
        if not isinstance(entries, Mapping):
            fix = f"name its entries about the mass centre, inertia={{'xx': 1, 'yy': 1, 'zz': 1}}: {', '.join(INERTIA)}"
            raise ModelError(Problem(self.where(where), f"{describe_value(entries)} names no entries", fix=fix))
        if not entries:
            return (self.zeros, self.zeros, self.zeros)
        for key in entries:
            if key not in INERTIA:
                raise ModelError(
                    Problem(self.where(where), f"unknown entry '{key}'", fix=f"entries are {', '.join(INERTIA)}")
                )
        e = {k: self.scalar(entries.get(k, 0.0), f"{where} / {k}") for k in INERTIA}
        return (
            (e["xx"], e["xy"], e["xz"]),
            (e["xy"], e["yy"], e["yz"]),
            (e["xz"], e["yz"], e["zz"]),
        )

    def check_mass(self, body: Body) -> None:
        where = f"body '{body.name}'"
        mass = self.number(body.mass, f"{where} / mass")
        if not math.isfinite(mass) or mass < 0:
            raise ModelError(
                Problem(self.where(f"{where} / mass"), f"mass {mass:g} kg", "mass is not negative", "give a mass ≥ 0")
            )
        entries = [e for row in body.inertia if row is not self.zeros for e in row]
        self.constant(entries, f"{where} / inertia")
        if all(e.is_zero for e in entries):
            return
        I = [[self.number(e, f"{where} / inertia") for e in row] for row in body.inertia]
        moments = [float(p) for p in np.linalg.eigvalsh(np.array(I))]
        largest = max(abs(p) for p in moments)
        arm = [self.number(x, f"{where} / center") for x in body.center]
        slack = _INERTIA_TOLERANCE * largest + _SHIFT_TOLERANCE * mass * sum(x * x for x in arm)
        if moments[0] < -slack or moments[2] > moments[0] + moments[1] + slack:
            shown = ", ".join(f"{p:g}" for p in moments)
            fix = "check signs and units, and about which point the inertia is given (about: center | origin)"
            given = [f"{axis}{axis}" for k, axis in enumerate("xyz") if I[k][k] > 0.0]
            if len(given) == 1 and np.count_nonzero(I) == 1:
                others = " and ".join(f"{axis}{axis}" for axis in "xyz" if axis != given[0][0])
                rod = f"of a rod one of them is {given[0]} and the other 0"
                fix = f"give {others} too: {rod}; in plane motion they do nothing"
            problem = Problem(
                self.where(f"{where} / inertia"),
                f"central principal moments {shown} kg m²",
                "no moment of inertia is negative or exceeds the sum of the other two (triangle inequality)",
                fix,
            )
            if body.checked:
                raise ModelError(problem)
            self.remarks.append(problem)

    # joints ----------------------------------------------------------------------------------------------------------

    def set_initial(self, values: Mapping[str, Any] | tuple[()] = (), /, **more: Any) -> None:
        """Set initial values of coordinates and speeds by name, in a mapping or as options: numbers or expressions in
        parameters, which they follow. Under the name of a spherical or free joint stands an orientation, from which its
        quaternion is made.

        >>> m = kane.load("pendulum")
        >>> m.set_initial({"q": "90*deg"}, u=2)
        >>> m.initial_state[1].tolist()
        [2.0]
        >>> craft = kane.load("free-body")
        >>> joint = next(iter(craft.joints))
        >>> craft.set_initial({joint: {"axis": "z", "angle": "180*deg"}})
        >>> craft.initial_state[0].round(6).tolist()[:4]
        [0.0, 0.0, 0.0, 1.0]
        """
        plain: dict[str, Any] = {}
        for name, value in dict(values, **more).items():
            turned = isinstance(value, (Mapping, KnownRotation)) and name not in self.coordinate_records
            plain |= start_of_attitude(self, name, value, f"initial '{name}'") if turned else {name: value}
        self.set_initial_values(plain)

    def joint(
        self,
        name: str,
        type: str | JointType,
        parent: Body | str,
        child: Body | str,
        *,
        at: Sequence[Quantity] = ORIGIN,
        rotation: Mapping[str, Any] | KnownRotation | None = None,
        child_at: Sequence[Quantity] = ORIGIN,
        child_rotation: Mapping[str, Any] | KnownRotation | None = None,
        coordinates: Sequence[str] | None = None,
        speeds: Sequence[str] | None = None,
        initial: Sequence[Quantity] | None = None,
        prescribed: Sequence[Quantity] | None = None,
        **options: Any,
    ) -> Joint:
        """Attach `child` to `parent`. The joint sits at `at` (m, in the parent's frame) turned by `rotation`, and at
        `child_at`, `child_rotation` in the child. Options of the type: axis, pitch, sequence, normal, velocity; of a
        coupled one: moves ("revolute" or "prismatic"), axis, follows (a joint), ratio, offset.

        `prescribed` gives the joint's coordinates as functions of t and parameters; it then has no speeds of its own
        and moves as they prescribe, or is locked where they are constant.

        >>> m = kane.Model()
        >>> rod = m.body("rod", mass=2, center=(0.5, 0, 0))
        >>> joint = m.joint("hinge", "revolute", "ground", "rod", axis="z", coordinates=["q"], speeds=["u"])
        >>> m.coordinates, m.speeds
        (('q',), ('u',))
        """
        where, new_from, graph = f"joint '{name}'", len(self.graph), self.graph
        self.new_name(name, "joint", self.joints)
        kind = self.joint_type(type, options, where) if isinstance(type, str) else type
        if prescribed is not None:
            kind = self._make_prescribed(kind, prescribed, f"{where} / prescribed")
        outer = self.find_body(child, where)
        inner = self.find_body(parent, where)
        self._check_tree(outer, inner, where)
        unturned = self.unturned
        placed = (
            self.zeros if at is ORIGIN else self.fixed_triple(at, f"{where} / at"),
            unturned if rotation is None else self.fixed_rotation(rotation, f"{where} / rotation"),
            self.zeros if child_at is ORIGIN else self.fixed_triple(child_at, f"{where} / child_at"),
            unturned if child_rotation is None else self.fixed_rotation(child_rotation, f"{where} / child_rotation"),
        )
        symbols = self._joint_symbols(name, kind, coordinates, speeds, initial, where)
        rates = tuple([graph.input(f"{s}'") for s in self._rate_names(kind, symbols[0], symbols[1])])
        initials = where if initial is None else f"{where} / initial"
        starts = [self._start(q0, initials) for q0 in symbols[2]]
        records = tuple([self._add_coordinate(q, q0) for q, q0 in zip(symbols[0], starts, strict=True)])
        for rate, speed in zip(rates, symbols[1], strict=True):
            self._add_motion_variable(rate, speed)
        motion = self._motions.make(kind, [c.symbol for c in records], rates, new_from)
        for c, rate in zip(records, motion.qdot, strict=True):
            self.coordinate_rates[c.symbol] = rate
            self._names[f"{c.name}'"] = rate
        joint = Joint(name, kind, inner, outer, *placed, records, rates, motion)
        outer.joint = joint
        self.joints[name] = joint
        if inner.frame is None:
            self._waiting.setdefault(inner.name, []).append(joint)
            self._roots[outer.name] = inner.name
        else:
            self._attach(joint)
            self._attach_waiting(outer)
        return joint

    @staticmethod
    def _rate_names(kind: JointType, coordinates: Sequence[str], speeds: Sequence[str]) -> Sequence[str]:
        """A motion variable that is the rate of a coordinate carries that rate's symbol; others their speed's name."""
        return coordinates if speeds_are_rates(kind) else speeds

    def _joint_symbols(
        self,
        name: str,
        kind: JointType,
        coordinates: Sequence[str] | None,
        speeds: Sequence[str] | None,
        initial: Sequence[Quantity] | None,
        where: str,
    ) -> tuple[Sequence[str], Sequence[str], Sequence[Quantity]]:
        stem = symbol_stem(name)
        usual_q, usual_u, usual_start = kind.coordinates, kind.speeds, kind.rest
        coordinates, speeds = ([x] if isinstance(x, str) else x for x in (coordinates, speeds))  # one name
        q = [f"q_{stem}_{e}" if e else f"q_{stem}" for e in usual_q] if coordinates is None else [*coordinates]
        u = [f"u_{stem}_{e}" if e else f"u_{stem}" for e in usual_u] if speeds is None else [*speeds]
        starts = usual_start if initial is None else [*initial]
        for what, given, usual in (
            ("coordinates", q, usual_q),
            ("speeds", u, usual_u),
            ("initial values", starts, usual_start),
        ):
            if len(given) != len(usual):
                raise ModelError(
                    Problem(
                        self.where(where),
                        f"{len(given)} {what} given",
                        f"a {kind.kind} joint has {len(usual)}",
                        f"give {len(usual)} {what}, or none for the default",
                    )
                )
        fresh: dict[str, None] = {}
        for kind_of, names in (("coordinate", q), ("speed", u)):
            for symbol in names:
                self.new_name(symbol, kind_of, self._names, symbol=True)
                if symbol in fresh:
                    self.new_name(symbol, kind_of, fresh)
                fresh[symbol] = None
        return q, u, starts

    def joint_type(self, kind: str, options: Mapping[str, Any], where: str) -> JointType:
        """The joint type called `kind` with its options."""
        given = dict(options)
        maker = self.find("joint type", kind, _MAKERS, where)
        made: JointType = maker(self, given, where)
        if given:
            wrong = sorted(given)
            near = [repr(found) for name in wrong if (found := closest(name, _OPTIONS)) is not None]
            what = f"a {kind} joint has no option {', '.join(map(repr, wrong))}"
            raise ModelError(
                Problem(self.where(where), what, fix=f"did you mean {' and '.join(near)}?" if near else "")
            )
        self._check_options(made, where)
        return made

    def _make_prescribed(self, moves: JointType, functions: Sequence[Quantity], where: str) -> Prescribed:
        """A joint with prescribed motion: one function of time per coordinate of the type."""
        if isinstance(functions, (str, Expr)) or len(functions) != len(moves.coordinates) or not moves.coordinates:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"{functions!r} is given",
                    f"a {moves.kind} joint has {len(moves.coordinates)} coordinates",
                    "give one number or expression in t and parameters for each",
                )
            )
        q = tuple(self.scalar(f, where) for f in functions)
        for name in self.inputs_of(q):
            if name != "t" and name not in self.parameters:
                what = f"it depends on '{name}'"
                raise ModelError(
                    Problem(self.where(where), what, "a prescribed motion is a function of t and parameters")
                )
        return Prescribed(moves, q, self.time)

    def make_coupled(self, options: dict[str, Any], where: str) -> Coupled:
        """A coupled joint from its options: moves, axis, follows, ratio, offset."""
        moves = self.find(
            "motion", str(options.pop("moves", "revolute")), {"revolute": Revolute, "prismatic": Prismatic}, where
        )
        leader = self.find("joint", str(options.pop("follows", "")), self.joints, f"{where} / follows")
        ratio = self.scalar(options.pop("ratio", 1.0), f"{where} / ratio")
        offset = self.scalar(options.pop("offset", 0.0), f"{where} / offset")
        self.constant([ratio, offset], where)
        axis = self.axis(options.pop("axis", "z"), f"{where} / axis")
        if isinstance(leader.type, Coupled):  # q = ratio (ratio' q' + offset') + offset
            first = leader.type
            ratio, offset = ratio * first.ratio, ratio * first.offset + offset
            return Coupled(moves(axis), first.follows, ratio, offset, first.q, first.rate)
        if len(leader.coordinates) != 1 or len(leader.rates) != 1:
            raise ModelError(
                Problem(
                    self.where(f"{where} / follows"),
                    f"joint '{leader.name}' is of type {leader.type.kind}",
                    "a coupled joint follows a joint with one coordinate",
                )
            )
        return Coupled(moves(axis), leader.name, ratio, offset, leader.coordinates[0].symbol, leader.rates[0])

    def _check_options(self, made: JointType, where: str) -> None:
        problem = None
        if isinstance(made, Gimbal):
            try:
                axes = rotations.parse_sequence(made.sequence)[1]
            except ExpressionError as error:
                raise ModelError(Problem(self.where(where), str(error))) from None
            if isinstance(made, Universal) and len(axes) != 2:
                problem = f"sequence '{made.sequence}' has {len(axes)} axes, a universal joint has two"
        if isinstance(made, Planar) and made.normal not in ("x", "y", "z"):
            problem = f"normal '{made.normal}' is not x, y or z"
        if isinstance(made, (Free, Planar)) and made.velocity not in ("body", "parent"):
            problem = f"velocity '{made.velocity}' is not body or parent"
        if problem:
            raise ModelError(Problem(self.where(where), problem))

    # attachment ------------------------------------------------------------------------------------------------------

    def _check_tree(self, outer: Body, inner: Body, where: str) -> None:
        if outer is self.ground:
            raise ModelError(Problem(self.where(where), "the ground cannot be a child", fix="swap parent and child"))
        if outer is inner:
            raise ModelError(
                Problem(self.where(where), f"body '{outer.name}' is joined to itself", fix="name another parent")
            )
        if outer.joint is not None or outer.frame is not None:
            by = f"by joint '{outer.joint.name}'" if outer.joint else "to a frame"
            raise ModelError(
                Problem(
                    self.where(where),
                    f"body '{outer.name}' is already attached {by}",
                    "in a tree every body has one inboard joint",
                    "swap parent and child if the joint was written from the outside in",
                )
            )
        if outer.name in self.frames or outer.name in self.points:
            kind = "frame" if outer.name in self.frames else "point"
            raise ModelError(
                Problem(
                    self.where(where), f"body '{outer.name}' has the name of a {kind}", "names are unique", "rename one"
                )
            )
        if inner.frame is None and self._root_of(inner.name) == outer.name:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"'{inner.name}' hangs on '{outer.name}', which would hang on '{inner.name}'",
                    "joints form a tree that starts at the ground, without cycles",
                    "attach one of the bodies to the ground",
                )
            )

    def _root_of(self, name: str) -> str:
        """The body at which the loose branch of an unattached body starts; paths are halved on the way."""
        roots = self._roots
        while name in roots:
            if roots[name] in roots:
                roots[name] = roots[roots[name]]
            name = roots[name]
        return name

    def _attach_waiting(self, body: Body) -> None:
        """Give frames and origins to all bodies that hang, near or far, on a body that has just got its own."""
        ready = [body]
        while ready:
            for joint in self._waiting.pop(ready.pop().name, ()):
                self._attach(joint)
                ready.append(joint.child)

    def _attach(self, joint: Joint) -> None:
        parent, child, motion = joint.parent, joint.child, joint.motion
        assert parent.frame is not None and parent.origin is not None
        base = parent.frame
        still = self.zeros
        if joint.mount is not self.unturned and joint.mount != self.unturned:
            base = base.orient_new(f"{joint.name}.P", joint.mount, still)
        moving = base.orient_new(child.name, motion.R, motion.w)
        joint.frame = moving
        frame = moving
        if joint.child_mount is not self.unturned and joint.child_mount != self.unturned:
            moving.name = f"{joint.name}.C"
            frame = moving.orient_new(child.name, transpose(joint.child_mount), still)
        rest = Vector(parent.frame, still)
        at = rest if joint.at is still else Vector(parent.frame, joint.at)
        hinge = Point(f"{joint.name}.P", parent.frame, parent.origin, at, rest)
        rate = Vector(base, motion.v) if motion.v_C is None else Vector(moving, motion.v_C)
        pin = Point(f"{joint.name}.C", frame, hinge, Vector(base, motion.p), rate)
        rest = Vector(frame, still)
        away = rest if joint.child_at is still else Vector(frame, scaled(-1.0, joint.child_at))
        child.frame = frame
        child.origin = Point(child.name, frame, pin, away, rest)
        self.frames.setdefault(child.name, frame)
        self.points.setdefault(child.name, child.origin)


def _axis(m: Tree, options: dict[str, Any], where: str) -> Triple:
    return m.axis(options.pop("axis", "z"), f"{where} / axis")


def _screw(m: Tree, options: dict[str, Any], where: str) -> JointType:
    return Screw(_axis(m, options, where), m.scalar(options.pop("pitch", 0.0), f"{where} / pitch"))


_OPTIONS = (*PLACEMENT, *JOINT_OPTIONS, "coordinates", "speeds", "initial", "prescribed")
"""What `joint` takes, whatever its type."""

_MAKERS: Mapping[str, Callable[[Tree, dict[str, Any], str], JointType]] = {
    "weld": lambda m, options, where: Weld(),
    "revolute": lambda m, options, where: Revolute(_axis(m, options, where)),
    "prismatic": lambda m, options, where: Prismatic(_axis(m, options, where)),
    "screw": _screw,
    "cylindrical": lambda m, options, where: Cylindrical(_axis(m, options, where)),
    "universal": lambda m, options, where: Universal(str(options.pop("sequence", "body xy"))),
    "gimbal": lambda m, options, where: Gimbal(str(options.pop("sequence", "body 123"))),
    "spherical": lambda m, options, where: Spherical(),
    "planar": lambda m, options, where: Planar(str(options.pop("normal", "z")), str(options.pop("velocity", "parent"))),
    "free": lambda m, options, where: Free(str(options.pop("velocity", "body"))),
    "coupled": lambda m, options, where: m.make_coupled(options, where),
}
"""Type of a joint → what makes it of its options, taking those that it knows."""
