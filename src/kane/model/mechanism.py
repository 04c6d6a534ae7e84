"""The description of a mechanism: what the user says, nothing computed from it.

Two levels share one vocabulary and mix freely: bodies and joints, or coordinates, frames, points and velocities set
directly as Kane does. Every scalar may be a number, an expression in a string, or an expression built in Python.
Problems are refused where they are made; what can only be judged at the end (is everything attached?) by `validate`.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, Graph, evaluate
from ..space import Frame, Kinematics, Point, Vector, rotations
from ..space.algebra import Matrix, Triple, minus, scaled, shifted_square, transposed
from .describe import describe
from .expression import parse_expression
from .joints import Cylindrical, Free, Gimbal, JointType, Planar, Prismatic, Revolute, Screw, Spherical, Universal, Weld
from .loads import BodyTorque, JointEffort, JointSpring, Load, PointForce, PointSpring
from .records import Body, Control, Coordinate, Joint, Parameter, Shape, Speed

Quantity = Expr | float | str
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
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*$")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_RESERVED = {"t", "pi", "deg", "and", "or", "not"}
_UNIT_TOLERANCE = 1e-6  # an axis is a unit vector to the digits people write
_SHOWN, _LISTED, _COMPARED = 80, 30, 2000  # characters and names that an error shows; names that are compared
_INERTIA_TOLERANCE = 1e-9  # relative; triangle equality holds for a thin plate


def suggestion(name: str, known: Iterable[str]) -> str:
    """How to mend an unknown name: the closest known one, or the list of them."""
    names = list(known)
    close = difflib.get_close_matches(name[:_SHOWN], names, n=1) if len(names) <= _COMPARED else []
    if close:
        return f"did you mean '{close[0]}'?"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"known: {', '.join(names[:_LISTED]) or 'none'}{more}"


class Mechanism:
    """Bodies, joints, loads, parameters, speeds and controls of one mechanism. Gravity (m/s²) has components in N."""

    def __init__(self, name: str = "model", *, gravity: Sequence[Quantity] = (0.0, 0.0, 0.0), about: str = ""):
        self.name = name
        self.about = about
        self.revision = 0  # grows with every change of the description
        self.graph = Graph()
        self.time = self.graph.input("t")
        self.N = Frame("N", self.graph)
        self.O = Point("O", self.N)
        zero = self.graph.const(0.0)
        none = (zero, zero, zero)
        self.ground = Body("ground", zero, none, (none, none, none), frame=self.N, origin=self.O)
        self.parameters: dict[str, Parameter] = {}
        self.coordinate_records: dict[str, Coordinate] = {}
        self.speed_records: dict[str, Speed] = {}
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.loads: dict[str, Load] = {}
        self.controls: dict[str, Control] = {}
        self.frames: dict[str, Frame] = {"N": self.N, "ground": self.N}
        self.points: dict[str, Point] = {"O": self.O, "ground": self.O}
        self.motion_variables: dict[str, Expr] = {}
        self.default_speeds: dict[str, str] = {}  # motion variable → name of the speed that is equal to it by default
        self.coordinate_rates: dict[Expr, Expr] = {}  # coordinate symbol → its rate in motion variables
        self.declared_frames: dict[str, Frame] = {}  # by the analyst, not by joints
        self.declared_points: dict[str, Point] = {}
        self._names: dict[str, Expr] = {"t": self.time}
        self._parameter_values: dict[str, float] = {}
        self._waiting: dict[str, list[Joint]] = {}  # body not attached yet → joints that wait for it
        self._roots: dict[str, str] = {}  # unattached body → a body nearer to the root of its loose branch
        self._speeds_chosen = False
        self._gravity: Sequence[Quantity] = gravity
        self._gravity_taken: Triple | None = None

    # scalars -----------------------------------------------------------------------------------------------------

    @property
    def gravity(self) -> Triple:
        """Acceleration of gravity (m/s²), components in N."""
        if self._gravity_taken is None:
            self._gravity_taken = self._fixed_triple(self._gravity, "gravity")
        return self._gravity_taken

    def set_gravity(self, gravity: Sequence[Quantity]) -> None:
        """Set the acceleration of gravity (m/s²), components in N; numbers or expressions in parameters."""
        self._gravity, self._gravity_taken = gravity, self._fixed_triple(gravity, "gravity")

    def where(self, what: str) -> str:
        return f"model '{self.name}' / {what}"

    def names(self) -> dict[str, Expr]:
        """All names an expression may use: parameters, t, coordinates, their rates (q1'), speeds."""
        return dict(self._names)

    def scalar(self, value: Quantity, where: str, names: Mapping[str, Expr] | None = None) -> Expr:
        """`value` as an expression of this description."""
        if isinstance(value, Expr):
            return self.graph.lift(value)
        if isinstance(value, str):
            try:
                return parse_expression(value, self.graph, self._names if names is None else names)
            except ExpressionError as error:
                raise ModelError(Problem(self.where(where), str(error))) from None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ModelError(
                Problem(self.where(where), f"{value!r} is not a finite number", mend="give a number or an expression")
            )
        return self.graph.const(float(value))

    def triple(self, values: Sequence[Quantity], where: str, names: Mapping[str, Expr] | None = None) -> Triple:
        if isinstance(values, (str, Expr)) or not isinstance(values, Sequence) or len(values) != 3:
            raise ModelError(
                Problem(self.where(where), f"{values!r} is not a list of three components", mend="write [x, y, z]")
            )
        x, y, z = (self.scalar(v, where, names) for v in values)
        return (x, y, z)

    def number(self, expr: Expr, where: str) -> float:
        """The value of an expression at the parameters' defaults; refuses one that depends on the motion."""
        if expr.number is not None:
            return expr.number
        try:
            (value,) = evaluate([expr], self._parameter_values)
        except ExpressionError as error:
            raise ModelError(
                Problem(self.where(where), str(error), "this quantity may depend on parameters only")
            ) from None
        return value

    def constant(self, exprs: Sequence[Expr], where: str) -> None:
        """Refuse expressions that depend on more than parameters, or are not finite at the parameters' defaults."""
        for expr in exprs:
            if expr.number is None and not math.isfinite(value := self.number(expr, where)):
                raise ModelError(
                    Problem(
                        self.where(where), f"{expr!r} is {value:g} at the parameters' defaults", "values are finite"
                    )
                )

    def _fixed_triple(self, values: Sequence[Quantity], where: str) -> Triple:
        triple = self.triple(values, where)
        self.constant(triple, where)
        return triple

    def _fixed_rotation(self, spec: Mapping[str, Any] | None, where: str) -> Matrix:
        matrix = self.rotation(spec, where)
        if spec:
            self.constant([e for row in matrix for e in row], where)
        return matrix

    def _new_name(self, name: str, kind: str, taken: Mapping[str, Any], symbol: bool = False) -> str:
        self.revision += 1
        where = self.where(f"{kind} '{name}'")
        if not isinstance(name, str) or not (_SYMBOL if symbol else _NAME).match(name):
            raise ModelError(
                Problem(where, f"{name!r} is not a name", mend="start with a letter; use letters, digits and _")
            )
        if symbol and name in _RESERVED:
            raise ModelError(Problem(where, f"'{name}' is reserved for expressions", mend="choose another name"))
        if name in taken:
            raise ModelError(
                Problem(where, f"the name '{name}' is already in use", "names are unique", "rename one of the two")
            )
        return name

    def find(self, kind: str, name: str, table: Mapping[str, Any], where: str) -> Any:
        if name in table:
            return table[name]
        raise ModelError(Problem(self.where(where), f"unknown {kind} '{name}'", mend=suggestion(str(name), table)))

    def body_named(self, body: Body | str, where: str) -> Body:
        if isinstance(body, Body):
            return body
        return self.ground if body == "ground" else self.find("body", body, self.bodies, where)

    def parameter(self, name: str, value: float, *, free: bool = False) -> Expr:
        """Declare a parameter with its default value; returns its symbol."""
        self._new_name(name, "parameter", self._names, symbol=True)
        number = self.number(self.scalar(value, f"parameter '{name}'"), f"parameter '{name}'")
        if not math.isfinite(number):
            raise ModelError(Problem(self.where(f"parameter '{name}'"), f"{number:g} is not a finite number"))
        symbol = self.graph.input(name)
        self.parameters[name] = Parameter(name, number, symbol, free)
        self._names[name] = symbol
        self._parameter_values[name] = number
        return symbol

    # the analyst's level -----------------------------------------------------------------------------------------

    def coordinate(self, name: str, initial: Quantity = 0.0, *, speed: str | None = None) -> Expr:
        """Declare a generalized coordinate outside any joint; its rate is a motion variable with speed `u_NAME`."""
        record = self._coordinate(name, initial)
        self._motion_variable(record.rate, speed or f"u_{name}")
        self.coordinate_rates[record.symbol] = record.rate
        return record.symbol

    def _coordinate(self, name: str, initial: Quantity) -> Coordinate:
        self._new_name(name, "coordinate", self._names, symbol=True)
        start = self.number(self.scalar(initial, f"coordinate '{name}'"), f"coordinate '{name}'")
        record = Coordinate(name, self.graph.input(name), self.graph.input(f"{name}'"), start)
        self.coordinate_records[name] = record
        self._names[name] = record.symbol
        self._names[f"{name}'"] = record.rate
        return record

    def _motion_variable(self, symbol: Expr, speed: str) -> None:
        self._new_name(speed, "speed", self._names, symbol=True)
        self.motion_variables[repr(symbol)] = symbol
        self.speed_records[speed] = Speed(speed, self.graph.input(speed), symbol)
        self.default_speeds[repr(symbol)] = speed
        self._names[repr(symbol)] = symbol
        self._names[speed] = self.speed_records[speed].symbol

    def frame(self, name: str, parent: Frame | Body | str, R: Matrix | None = None, **orientation: Any) -> Frame:
        """Declare a frame oriented in another by `axis` and `angle`, `euler` and `angles`, or `quaternion`."""
        where = f"frame '{name}'"
        self._new_name(name, "frame", self.frames)
        if name in self.bodies and self.bodies[name].joint is not None:
            self._new_name(name, "frame", self.bodies)
        base = self.frame_named(parent, where)
        matrix = R if R is not None else self.rotation(orientation, where)
        self.frames[name] = self.declared_frames[name] = base.oriented(name, matrix)
        return self.frames[name]

    def frame_named(self, parent: Frame | Body | str, where: str) -> Frame:
        """The frame of that name, or the frame of a body."""
        if isinstance(parent, Frame):
            return parent
        if isinstance(parent, str) and parent in self.frames:
            return self.frames[parent]
        if isinstance(parent, str) and parent not in self.bodies:
            self.find("frame or body", parent, {"ground": None, **self.bodies, **self.frames}, where)
        body = self.body_named(parent, where)
        if body.frame is None:
            raise ModelError(
                Problem(
                    self.where(where), f"body '{body.name}' is not attached yet", mend="declare its joint before this"
                )
            )
        return body.frame

    def point(self, name: str, parent: Point | Body | str, offset: Vector) -> Point:
        """Declare a point at `offset` from another point or from a body's origin."""
        where = f"point '{name}'"
        self._new_name(name, "point", self.points)
        if name in self.bodies and self.bodies[name].joint is not None:
            self._new_name(name, "point", self.bodies)
        self.points[name] = self.declared_points[name] = self.point_named(parent, where).located(name, offset)
        return self.points[name]

    def point_named(self, parent: Point | Body | str, where: str) -> Point:
        """The point of that name, or the origin of a body."""
        if isinstance(parent, Point):
            return parent
        if isinstance(parent, str) and parent in self.points:
            return self.points[parent]
        if isinstance(parent, str) and parent not in self.bodies:
            self.find("point or body", parent, {"ground": None, **self.bodies, **self.points}, where)
        body = self.body_named(parent, where)
        if body.origin is None:
            raise ModelError(
                Problem(
                    self.where(where), f"body '{body.name}' is not attached yet", mend="declare its joint before this"
                )
            )
        return body.origin

    def rotation(self, spec: Mapping[str, Any] | None, where: str) -> Matrix:
        """The matrix of an orientation: {axis, angle}, {euler, angles}, {quaternion} (wxyz) or {matrix} (rows)."""
        if not spec:
            return rotations.identity(self.graph)
        spec = dict(spec)
        keys = frozenset(spec)
        try:
            if keys == {"axis", "angle"}:
                return rotations.about(self.axis(spec["axis"], where), self.scalar(spec["angle"], where))
            if keys == {"euler", "angles"}:
                return rotations.euler(spec["euler"], [self.scalar(a, where) for a in spec["angles"]])
            if keys == {"quaternion"} and len(spec["quaternion"]) == 4:
                wxyz = [self.scalar(e, where) for e in spec["quaternion"]]
                self._check_quaternion(wxyz, where)
                return rotations.quaternion(wxyz)
            if keys == {"matrix"}:
                rows = [self.triple(row, where) for row in spec["matrix"]]
                return self._checked_matrix(rows, where)
        except (ExpressionError, TypeError) as error:
            raise ModelError(Problem(self.where(where), str(error))) from None
        raise ModelError(
            Problem(
                self.where(where),
                f"an orientation cannot be made of {sorted(spec)}",
                mend="give {axis, angle}, {euler, angles}, {quaternion: [w, x, y, z]} or {matrix: three rows}",
            )
        )

    def _check_quaternion(self, wxyz: list[Expr], where: str) -> None:
        if all(e.number is not None for e in wxyz):
            norm = math.sqrt(sum((e.number or 0.0) ** 2 for e in wxyz))
            if abs(norm - 1.0) > _UNIT_TOLERANCE:
                raise ModelError(
                    Problem(self.where(where), f"quaternion of length {norm:g}", "a rotation is a unit quaternion")
                )

    def _checked_matrix(self, rows: list[Triple], where: str) -> Matrix:
        if len(rows) != 3:
            raise ModelError(Problem(self.where(where), f"a matrix of {len(rows)} rows", "a rotation has three"))
        matrix = (rows[0], rows[1], rows[2])
        if all(e.number is not None for row in matrix for e in row):
            numbers = [[e.number or 0.0 for e in row] for row in matrix]
            if not rotations.is_rotation(numbers, _UNIT_TOLERANCE):
                raise ModelError(
                    Problem(
                        self.where(where),
                        f"the axes {numbers} are not orthonormal and right-handed",
                        "a rotation matrix satisfies RᵀR = 1 and det R = 1",
                        "use axis and angle, or normalise the rows",
                    )
                )
        return matrix

    def axis(self, axis: str | Sequence[Quantity], where: str) -> Triple:
        """A unit vector: 'x', '-y', … or three components."""
        if isinstance(axis, str) and axis.lstrip("+-") in ("x", "y", "z"):
            e = rotations.unit(self.graph, rotations.AXES[axis.lstrip("+-")])
            return scaled(-1.0, e) if axis.startswith("-") else e
        if isinstance(axis, str):
            raise ModelError(
                Problem(self.where(where), f"'{axis}' is not an axis", mend="write x, y, z, -x, … or [x, y, z]")
            )
        e = self.triple(axis, where)
        numbers = [self.number(c, where) for c in e]
        length = math.sqrt(sum(c * c for c in numbers))
        if not abs(length - 1.0) <= _UNIT_TOLERANCE:
            shown = ", ".join(f"{c / length:.9g}" for c in numbers) if length > 0 else "1, 0, 0"
            raise ModelError(
                Problem(
                    self.where(where),
                    f"axis {[round(c, 9) for c in numbers]} has length {length:g}",
                    "an axis is a unit vector",
                    f"write [{shown}]",
                )
            )
        if all(c.number is not None for c in e):
            return rotations.triple(self.graph, [c / length for c in numbers])
        return e

    # bodies and joints -------------------------------------------------------------------------------------------

    def body(
        self,
        name: str,
        *,
        mass: Quantity = 0.0,
        center: Sequence[Quantity] = (0.0, 0.0, 0.0),
        inertia: Mapping[str, Quantity] | None = None,
        about: str = "center",
        shapes: Sequence[Shape] = (),
        frame: Frame | str | None = None,
        origin: Point | str | None = None,
    ) -> Body:
        """Declare a rigid body: mass (kg), mass centre (m, in the body's frame from its origin), inertia (kg m²).

        `inertia` has named entries xx, yy, zz, xy, xz, yz (products as matrix entries) about the mass centre or, with
        `about="origin"`, about the body's origin. At the analyst's level `frame` and `origin` attach it.
        """
        where = f"body '{name}'"
        self._new_name(name, "body", self.bodies)
        if name in ("ground", "N", "O"):
            raise ModelError(Problem(self.where(where), f"'{name}' is the ground", mend="choose another name"))
        m = self.scalar(mass, f"{where} / mass")
        c = self._fixed_triple(center, f"{where} / center")
        I = self._inertia(inertia or {}, f"{where} / inertia")
        if about not in ("center", "origin"):
            raise ModelError(Problem(self.where(where), f"inertia about '{about}'", mend="say about: center or origin"))
        if about == "origin":
            to_center = shifted_square(scaled(0.5 * m, c), c)
            I = tuple(minus(row, shift) for row, shift in zip(I, to_center, strict=True))
        record = Body(name, m, c, I, tuple(shapes))  # type: ignore[arg-type]
        self._check_mass(record)
        if (frame is None) != (origin is None):
            raise ModelError(
                Problem(self.where(where), "a frame needs an origin and an origin a frame", mend="give both")
            )
        self.bodies[name] = record
        if frame is not None and origin is not None:
            self.attach(record, frame, origin)
        return record

    def attach(self, body: Body | str, frame: Frame | str, origin: Point | str) -> None:
        """Attach a body to a frame and a point of the analyst: its frame and its origin."""
        record = self.body_named(body, "attachment")
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
        record.frame, record.origin = self.frame_named(frame, where), self.point_named(origin, where)
        self._attach_waiting(record)

    def particle(self, name: str, mass: Quantity, **attachment: Any) -> Body:
        """Declare a particle: a body with zero inertia."""
        return self.body(name, mass=mass, **attachment)

    def _inertia(self, entries: Mapping[str, Quantity], where: str) -> Matrix:
        for key in entries:
            if key not in INERTIA:
                raise ModelError(
                    Problem(self.where(where), f"unknown entry '{key}'", mend=f"entries are {', '.join(INERTIA)}")
                )
        e = {k: self.scalar(entries.get(k, 0.0), f"{where} / {k}") for k in INERTIA}
        return (
            (e["xx"], e["xy"], e["xz"]),
            (e["xy"], e["yy"], e["yz"]),
            (e["xz"], e["yz"], e["zz"]),
        )

    def _check_mass(self, body: Body) -> None:
        where = f"body '{body.name}'"
        mass = self.number(body.mass, f"{where} / mass")
        if not math.isfinite(mass) or mass < 0:
            raise ModelError(
                Problem(self.where(f"{where} / mass"), f"mass {mass:g} kg", "mass is not negative", "give a mass ≥ 0")
            )
        I = [[self.number(e, f"{where} / inertia") for e in row] for row in body.inertia]
        moments = _eigenvalues(I)
        largest = max(abs(p) for p in moments)
        slack = _INERTIA_TOLERANCE * largest
        if moments[0] < -slack or moments[2] > moments[0] + moments[1] + slack:
            shown = ", ".join(f"{p:g}" for p in moments)
            raise ModelError(
                Problem(
                    self.where(f"{where} / inertia"),
                    f"central principal moments {shown} kg m²",
                    "no moment of inertia is negative or exceeds the sum of the other two (triangle inequality)",
                    "check signs and units, and about which point the inertia is given (about: center | origin)",
                )
            )

    def joint(
        self,
        name: str,
        type: str | JointType,
        parent: Body | str,
        child: Body | str,
        *,
        at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        rotation: Mapping[str, Any] | None = None,
        child_at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        child_rotation: Mapping[str, Any] | None = None,
        coordinates: Sequence[str] | None = None,
        speeds: Sequence[str] | None = None,
        initial: Sequence[Quantity] | None = None,
        **options: Any,
    ) -> Joint:
        """Attach `child` to `parent`. The joint sits at `at` (m, in the parent's frame) turned by `rotation`, and at
        `child_at`, `child_rotation` in the child. Options of the type: axis, pitch, sequence, normal, velocity."""
        where = f"joint '{name}'"
        self._new_name(name, "joint", self.joints)
        kind = self.joint_type(type, options, where) if isinstance(type, str) else type
        outer = self.body_named(child, where)
        inner = self.body_named(parent, where)
        self._check_tree(outer, inner, where)
        placed = (
            self._fixed_triple(at, f"{where} / at"),
            self._fixed_rotation(rotation, f"{where} / rotation"),
            self._fixed_triple(child_at, f"{where} / child_at"),
            self._fixed_rotation(child_rotation, f"{where} / child_rotation"),
        )
        symbols = self._joint_symbols(name, kind, coordinates, speeds, initial, where)
        rates = tuple(self.graph.input(f"{s}'") for s in self._rate_names(kind, symbols[0], symbols[1]))
        records = tuple(self._coordinate(q, q0) for q, q0 in zip(symbols[0], symbols[2], strict=True))
        for rate, speed in zip(rates, symbols[1], strict=True):
            self._motion_variable(rate, speed)
        motion = kind.motion(self.graph, [c.symbol for c in records], list(rates))
        for c, rate in zip(records, motion.qdot, strict=True):
            self.coordinate_rates[c.symbol] = rate
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
        return coordinates if len(coordinates) == len(speeds) else speeds

    def _check_tree(self, outer: Body, inner: Body, where: str) -> None:
        if outer is self.ground:
            raise ModelError(Problem(self.where(where), "the ground cannot be a child", mend="swap parent and child"))
        if outer is inner:
            raise ModelError(
                Problem(self.where(where), f"body '{outer.name}' is joined to itself", mend="name another parent")
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

    def _joint_symbols(
        self,
        name: str,
        kind: JointType,
        coordinates: Sequence[str] | None,
        speeds: Sequence[str] | None,
        initial: Sequence[Quantity] | None,
        where: str,
    ) -> tuple[list[str], list[str], list[Quantity]]:
        stem = re.sub(r"\W", "_", name)

        def default(prefix: str, endings: Sequence[str]) -> list[str]:
            return [f"{prefix}_{stem}_{e}" if e else f"{prefix}_{stem}" for e in endings]

        chosen = []
        for what, given, usual in (
            ("coordinates", coordinates, default("q", kind.coordinates)),
            ("speeds", speeds, default("u", kind.speeds)),
            ("initial values", initial, list(kind.rest)),
        ):
            values = list(usual if given is None else given)
            if len(values) != len(usual):
                raise ModelError(
                    Problem(
                        self.where(where),
                        f"{len(values)} {what} given",
                        f"a {kind.kind} joint has {len(usual)}",
                        f"give {len(usual)} {what}, or none for the default",
                    )
                )
            chosen.append(values)
        return chosen[0], chosen[1], chosen[2]

    def joint_type(self, kind: str, options: Mapping[str, Any], where: str) -> JointType:
        """The joint type called `kind` with its options."""
        given = dict(options)

        def axis() -> Triple:
            return self.axis(given.pop("axis", "z"), f"{where} / axis")

        makers = {
            "weld": lambda: Weld(),
            "revolute": lambda: Revolute(axis()),
            "prismatic": lambda: Prismatic(axis()),
            "screw": lambda: Screw(axis(), self.scalar(given.pop("pitch", 0.0), f"{where} / pitch")),
            "cylindrical": lambda: Cylindrical(axis()),
            "universal": lambda: Universal(str(given.pop("sequence", "body xy"))),
            "gimbal": lambda: Gimbal(str(given.pop("sequence", "body 123"))),
            "spherical": lambda: Spherical(),
            "planar": lambda: Planar(str(given.pop("normal", "z"))),
            "free": lambda: Free(str(given.pop("velocity", "body"))),
        }
        maker = self.find("joint type", kind, makers, where)
        made: JointType = maker()
        if given:
            raise ModelError(
                Problem(self.where(where), f"a {kind} joint has no option {', '.join(map(repr, sorted(given)))}")
            )
        self._check_options(made, where)
        return made

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
        if isinstance(made, Free) and made.velocity not in ("body", "parent"):
            problem = f"velocity '{made.velocity}' is not body or parent"
        if problem:
            raise ModelError(Problem(self.where(where), problem))

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
        still = rotations.triple(self.graph, (0, 0, 0))
        if joint.mount != rotations.identity(self.graph):
            base = base.oriented(f"{joint.name}.P", joint.mount, still)
        moving = base.oriented(child.name, motion.R, motion.w)
        joint.frame = moving
        frame = moving
        if joint.child_mount != rotations.identity(self.graph):
            moving.name = f"{joint.name}.C"
            frame = moving.oriented(child.name, transposed(joint.child_mount), still)
        hinge = parent.origin.located(f"{joint.name}.P", Vector(parent.frame, joint.at), still)
        pin = hinge.located(f"{joint.name}.C", Vector(base, motion.p), motion.v, home=frame)
        child.frame = frame
        child.origin = pin.located(child.name, Vector(frame, scaled(-1.0, joint.child_at)), still)
        self.frames.setdefault(child.name, frame)
        self.points.setdefault(child.name, child.origin)

    # speeds ------------------------------------------------------------------------------------------------------

    def set_speeds(self, definitions: Mapping[str, Quantity]) -> None:
        """Choose the generalized speeds: name → definition, linear in the rates of the coordinates.

        A definition is an expression in rates (q1'), in measure numbers of angular velocities (w.D.x is ω^D · d_x) and
        of velocities of origins (v.D.x); Kane's u1 = ω^D · d1 is {"u1": "w.D.x"}.
        """
        if len(definitions) != len(self.motion_variables):
            raise ModelError(
                Problem(
                    self.where("speeds"),
                    f"{len(definitions)} speeds for {len(self.motion_variables)} degrees of freedom",
                    "there are as many generalized speeds as motion variables",
                    f"define {len(self.motion_variables)} speeds",
                )
            )
        if self.loads or self.controls:
            raise ModelError(
                Problem(
                    self.where("speeds"),
                    "loads or controls are declared already",
                    "they may be written in the speeds, so the speeds come first",
                    "call set_speeds before loads and controls are declared",
                )
            )
        others = {name: symbol for name, symbol in self._names.items() if name not in self.speed_records}
        measures = _MeasureNumbers(self, others)
        chosen: dict[str, Speed] = {}
        for name, definition in definitions.items():
            self._new_name(name, "speed", {**others, **chosen}, symbol=True)
            expr = self.scalar(definition, f"speed '{name}'", measures)
            chosen[name] = Speed(name, self.graph.input(name), expr)
        self.speed_records = chosen
        self._names = {**others, **{name: speed.symbol for name, speed in chosen.items()}}
        self._speeds_chosen = True

    def set_initial(self, values: Mapping[str, Quantity]) -> None:
        """Set initial values of coordinates and speeds by name; numbers or expressions in parameters."""
        for name, value in values.items():
            where = f"initial '{name}'"
            tables = (self.coordinate_records, self.speed_records)
            known = {**self.coordinate_records, **self.speed_records}
            self.find("coordinate or speed", name, known, where)
            expr = self.scalar(value, where)
            self.constant([expr], where)
            table = tables[name in self.speed_records]
            table[name] = replace(table[name], initial=self.number(expr, where))  # type: ignore[assignment]

    @property
    def speeds_chosen(self) -> bool:
        """Whether the user defined the speeds; otherwise they are the motion variables themselves."""
        return self._speeds_chosen

    def order_coordinates(self, names: Sequence[str]) -> None:
        """Fix the order of q, and of u unless speeds are chosen: rates as their coordinates, others as their joints."""
        self.revision += 1
        known = list(self.coordinate_records)
        if sorted(names) != sorted(known):
            raise ModelError(
                Problem(
                    self.where("coordinates"),
                    f"the order names {list(names)}",
                    f"the coordinates are {known}",
                    "name each coordinate once",
                )
            )
        self.coordinate_records = {n: self.coordinate_records[n] for n in names}
        if not self._speeds_chosen:
            place = self._places()
            ordered = sorted(self.speed_records.values(), key=lambda s: place[repr(s.definition)])
            self.speed_records = {s.name: s for s in ordered}

    def _places(self) -> dict[str, int]:
        """Motion variable → place of the coordinate whose rate it is, or of the first coordinate of its joint."""
        place = {repr(c.rate): i for i, c in enumerate(self.coordinate_records.values())}
        for joint in self.joints.values():
            first = min((place[repr(c.rate)] for c in joint.coordinates), default=0)
            for rate in joint.rates:
                place.setdefault(repr(rate), first)
        return place

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of q."""
        return tuple(self.coordinate_records)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the speeds, in the order of u."""
        return tuple(self.speed_records)

    # loads -------------------------------------------------------------------------------------------------------

    def load(self, load: Load) -> Load:
        """Add a load of any type."""
        self._new_name(load.name, "load", self.loads)
        self.loads[load.name] = load
        return load

    def force(
        self,
        name: str,
        body: Body | str,
        vector: Sequence[Quantity],
        *,
        at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        frame: Frame | Body | str = "N",
        reaction: Body | str | None = None,
    ) -> Load:
        """A force (N), components in `frame`, at the point `at` of `body`; the opposite on `reaction`, if given."""
        where = f"load '{name}'"
        back = None if reaction is None else self._attached(reaction, where)
        return self.load(
            PointForce(
                name,
                self._attached(body, where),
                self.triple(at, f"{where} / at"),
                self.triple(vector, f"{where} / vector"),
                self.frame_named(frame, where),
                back,
            )
        )

    def torque(
        self,
        name: str,
        body: Body | str,
        vector: Sequence[Quantity],
        *,
        frame: Frame | Body | str = "N",
        reaction: Body | str | None = None,
    ) -> Load:
        """A torque (N m), components in `frame`, on `body`; the opposite on `reaction`, if given."""
        where = f"load '{name}'"
        back = None if reaction is None else self._attached(reaction, where)
        vector_ = self.triple(vector, f"{where} / vector")
        return self.load(BodyTorque(name, self._attached(body, where), vector_, self.frame_named(frame, where), back))

    def spring(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        *,
        first_at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        second_at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        stiffness: Quantity = 0.0,
        damping: Quantity = 0.0,
        rest: Quantity = 0.0,
    ) -> Load:
        """A spring (N/m) and damper (N s/m) between points of two bodies, of natural length `rest` (m)."""
        where = f"load '{name}'"
        return self.load(
            PointSpring(
                name,
                self._attached(first, where),
                self.triple(first_at, f"{where} / first_at"),
                self._attached(second, where),
                self.triple(second_at, f"{where} / second_at"),
                self.scalar(stiffness, f"{where} / stiffness"),
                self.scalar(damping, f"{where} / damping"),
                self.scalar(rest, f"{where} / rest"),
                self.coordinate_rates,
            )
        )

    def joint_spring(
        self,
        name: str,
        joint: Joint | str,
        *,
        stiffness: Quantity = 0.0,
        damping: Quantity = 0.0,
        rest: Quantity = 0.0,
        index: int = 0,
    ) -> Load:
        """A spring and damper along one coordinate of a joint: effort −stiffness (q − rest) − damping q̇."""
        where = f"load '{name}'"
        record = self._joint_with_rates(joint, index, where)
        s = self.scalar(stiffness, f"{where} / stiffness")
        if not s.is_zero and len(record.coordinates) != len(record.rates):
            raise ModelError(
                Problem(
                    self.where(where),
                    f"a spring on the {record.type.kind} joint '{record.name}'",
                    "its coordinates are not angles whose rates are the speeds",
                    "use damping only, a torque, or a gimbal joint",
                )
            )
        d, r = self.scalar(damping, f"{where} / damping"), self.scalar(rest, f"{where} / rest")
        return self.load(JointSpring(name, record, index, s, d, r))

    def effort(self, name: str, joint: Joint | str, value: Quantity, *, index: int = 0) -> Load:
        """An effort (N m or N) along one motion variable of a joint, any expression in q, u, t and parameters."""
        where = f"load '{name}'"
        record = self._joint_with_rates(joint, index, where)
        return self.load(JointEffort(name, record, index, self.scalar(value, f"{where} / value")))

    def _joint_with_rates(self, joint: Joint | str, index: int, where: str) -> Joint:
        record = joint if isinstance(joint, Joint) else self.find("joint", joint, self.joints, where)
        if not 0 <= index < len(record.rates):
            raise ModelError(
                Problem(self.where(where), f"index {index}", f"joint '{record.name}' has {len(record.rates)} speeds")
            )
        return record

    def _attached(self, body: Body | str, where: str) -> Body:
        record = self.body_named(body, where)
        self.frame_named(record, where)
        return record

    def control(self, name: str, efforts: Mapping[str, Quantity]) -> Control:
        """A named control law: efforts (N m or N), expressions in q, u, t and parameters.

        Each acts along a speed, a rate (q1') or, by name, a joint of one degree of freedom. Joints and rates keep their
        meaning whatever speeds are chosen.
        """
        self._new_name(name, "control", self.controls)
        law: dict[Expr, Expr] = {}
        for target, value in efforts.items():
            where = f"control '{name}' / {target}"
            variable = self.effort_variable(target, where)
            if variable in law:
                raise ModelError(
                    Problem(self.where(where), f"two efforts along {variable!r}", mend="leave out one, or add them up")
                )
            law[variable] = self.scalar(value, where)
        self.controls[name] = Control(name, law)
        return self.controls[name]

    def effort_variable(self, target: str, where: str) -> Expr:
        """What an effort acts along: a speed, the rate of a coordinate, or the motion of a one-degree joint."""
        if target in self.speed_records:
            speed = self.speed_records[target]
            return speed.symbol if self._speeds_chosen else speed.definition
        if target in self.motion_variables:
            return self.motion_variables[target]
        known = {**self.speed_records, **self.motion_variables, **self.joints}
        joint = self.find("speed, rate or joint", target, known, where)
        if len(joint.rates) != 1:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"joint '{target}' has {len(joint.rates)} degrees of freedom",
                    "an effort acts along one motion variable",
                    f"name the rates: {', '.join(map(repr, joint.rates)) or 'there are none'}",
                )
            )
        return joint.rates[0]

    def description(self) -> dict[str, Any]:
        """This mechanism as plain data in the words of model files; equal for equal descriptions."""
        return describe(self)

    # judgement ---------------------------------------------------------------------------------------------------

    def validate(self) -> None:
        """Raise ModelError with everything that is wrong with the description as a whole."""
        problems = []
        for body in self.bodies.values():
            if body.frame is None:
                loose = body.joint.parent.name if body.joint else None
                what = f"hangs on '{loose}', which is not attached to the ground" if loose else "is attached to nothing"
                problems.append(
                    Problem(
                        self.where(f"body '{body.name}'"),
                        what,
                        "every body is connected to the ground by joints, without cycles",
                        "add a joint to the ground (type: free for a body that floats)",
                    )
                )
        if not self.speed_records and not problems:
            problems.append(
                Problem(self.where("joints"), "nothing can move", "equations of motion need a speed", "add a joint")
            )
        if problems:
            raise ModelError(problems)

    def __repr__(self) -> str:
        return (
            f"<Model '{self.name}': {len(self.bodies)} bodies, {len(self.joints)} joints, "
            f"{len(self.coordinates)} coordinates, {len(self.speeds)} speeds>"
        )


class _MeasureNumbers(Mapping[str, Expr]):
    """Names in the definition of a speed: all usual ones, w.BODY.x (ω · body axis), v.BODY.x (velocity of origin)."""

    def __init__(self, mechanism: Mechanism, names: Mapping[str, Expr]):
        self._names = names
        self._mechanism = mechanism
        rates: dict[Expr, Expr | float] = dict(mechanism.coordinate_rates)
        self._kinematics = Kinematics(mechanism.graph, {**rates, mechanism.time: 1.0})

    def __getitem__(self, name: str) -> Expr:
        if name in self._names:
            return self._names[name]
        kind, _, rest = name.partition(".")
        place, _, axis = rest.rpartition(".")
        if kind == "w" and axis in ("x", "y", "z") and place in self._mechanism.frames:
            return self._kinematics.w(self._mechanism.frames[place])["xyz".index(axis)]
        if kind == "v" and axis in ("x", "y", "z") and place in self._mechanism.points:
            return self._kinematics.v(self._mechanism.points[place])["xyz".index(axis)]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True


def _eigenvalues(m: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Eigenvalues of a symmetric 3×3 matrix, ascending."""
    import numpy as np

    low, middle, high = np.linalg.eigvalsh(np.array(m, dtype=float))
    return float(low), float(middle), float(high)


__all__ = ["INERTIA", "JOINT_TYPES", "Mechanism"]
