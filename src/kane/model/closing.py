"""Configuration constraints between two bodies: joints that close loops, distances, points on lines, planes, curves.

Positions are compared along axes of N, or along axes fixed in the first body, where the rate of a residual
e · (P2 − P1) is the velocity of P2 along e relative to the coinciding point of the first body. Orientations are
compared by the dot product of an axis of the first body with one of the second, whose rate is (ω2 − ω1) · (b2 × a1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, forward, reachable, substitute
from ..graph.graph import INPUT
from ..space import Vector, position, rotations
from ..space.algebra import Matrix, Triple, is_zero, scaled, transpose_times, transposed
from .constraints import Constraint, Row
from .gearing import Geared
from .guiding import ORIGIN, Equations, one_or_more
from .loads import Torque
from .pairs import Place, at_coincident, row
from .records import Body
from .symbols import Quantity, suggestion

CLOSING = ("weld", "revolute", "prismatic", "cylindrical", "universal", "spherical")
SLIDING = ("prismatic", "cylindrical")
CALLED = {
    **dict.fromkeys(("fixed", "rigid", "lock"), "weld"),
    **dict.fromkeys(("hinge", "pin"), "revolute"),
    **dict.fromkeys(("slider", "slide", "translational"), "prismatic"),
    **dict.fromkeys(("ball", "socket", "point"), "spherical"),
    **dict.fromkeys(("cardan", "hooke", "cross"), "universal"),
}
"""What other programs call these joints, so that an error can name ours."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Where a joint that closes a loop sits in both bodies: its places, and its axes x, y, z in the bodies' frames."""

    first: Place
    second: Place
    first_axes: Matrix  # three unit vectors, in the first body's frame
    second_axes: Matrix

    def along_first(self, e: Triple) -> Vector:
        """e, components along the joint's axes in the first body, as a vector."""
        return Vector(self.first.frame, _combined(self.first_axes, e))

    def along_second(self, e: Triple) -> Vector:
        return Vector(self.second.frame, _combined(self.second_axes, e))


class Closed(Geared):
    """A tree of bodies with further joints and guides that make loops of it."""

    def close(
        self,
        name: str,
        type: str,
        first: Body | str,
        second: Body | str,
        *,
        first_at: Sequence[Quantity] = ORIGIN,
        second_at: Sequence[Quantity] = ORIGIN,
        first_rotation: Mapping[str, Any] | None = None,
        second_rotation: Mapping[str, Any] | None = None,
        axis: str | Sequence[Quantity] = "z",
        sequence: str = "body xy",
        along: str = "N",
        rows: Sequence[str] | None = None,
    ) -> Constraint:
        """Close a loop by a joint of `type` weld, revolute, prismatic, cylindrical, universal or spherical.

        It sits at `first_at`, `first_rotation` in the first body and at `second_at`, `second_rotation` in the second
        (m; the places may depend on t). `axis` is that of the joint, in its frame; `sequence` tells the two axes of a
        universal joint. Rows x, y, z (m) are the components of the second place from the first, `along` the axes of N
        or, with "first" and always where the joint slides, the joint's axes in the first body. Rows rx, ry, rz are dot
        products of axes, small angles about the joint's x, y, z where the loop is nearly closed. `rows` keeps only some
        of them: ("x", "y") for a pin of a planar linkage, whose other rows are met by the rest of it.
        """
        where = self._new_constraint(name)
        if type not in CLOSING:
            what = f"unknown type '{type}' of a joint that closes a loop"
            raise ModelError(
                Problem(self.where(where), what, mend=suggestion(CALLED.get(str(type), str(type)), CLOSING))
            )
        a, b = self._two_bodies(first, second, where)
        closure = Closure(
            self._place(a, first_at, f"{where} / first_at", f"{name}.first"),
            self._place(b, second_at, f"{where} / second_at", f"{name}.second"),
            transposed(self.fixed_rotation(first_rotation, f"{where} / first_rotation")),
            transposed(self.fixed_rotation(second_rotation, f"{where} / second_rotation")),
        )
        e = self.axis(axis, f"{where} / axis")
        self.constant(e, f"{where} / axis")
        if along not in ("N", "first"):
            raise ModelError(Problem(self.where(where), f"along '{along}'", mend="say along: N or first"))
        made = [*self._gaps(type, closure, e, along, where), *self._turns(type, closure, e, sequence, where)]
        kept = self._kept(made, rows, where)
        given = {"type": type, **_ends(closure.first, closure.second)}
        given.update(first_rotation=transposed(closure.first_axes), second_rotation=transposed(closure.second_axes))
        given.update({"axis": e} if type in ("revolute", *SLIDING) else {})
        given.update({"sequence": sequence} if type == "universal" else {})
        given.update({"along": along} if along != "N" and type not in SLIDING else {})
        given.update({"rows": [r.label for r in kept]} if len(kept) < len(made) else {})
        return self.constraint(Constraint(name, type, tuple(kept), a, b, closure.second.point, given))

    def _gaps(self, type: str, closure: Closure, axis: Triple, along: str, where: str) -> list[Row]:
        """Rows of position: all three directions, or those across the axis where the joint slides along it."""
        first, second, none = closure.first, closure.second, self.graph.const(0.0)
        if type in SLIDING:
            directions = self._across(axis, where)
        else:
            directions = [(letter, rotations.unit(self.graph, k)) for k, letter in enumerate("xyz")]
            if along == "N":
                return [self._gap_in_N(label, first, second, Vector(self.N, d)) for label, d in directions]
        return [self._gap(label, first, second, closure.along_first(d), none) for label, d in directions]

    def _gap_in_N(self, label: str, first: Place, second: Place, e: Vector) -> Row:
        """e · (P2 − P1) = 0, with e fixed in N: a force at either place, the same one where the loop is closed."""
        drift = e.dot(second.rate()) - e.dot(first.rate())
        gap = e.dot(position(second.point, self.O)) - e.dot(position(first.point, self.O))
        return row(label, [*second.push(e), *first.push(-e)], drift, gap, ground=self.ground)

    def _gap(self, label: str, first: Place, second: Place, e: Vector, height: Expr) -> Row:
        """e · (P2 − P1) = height, with e fixed in the first body."""
        acting = second.push(e)
        if first.body is not self.ground:
            acting += at_coincident(first.body, second.point, -e, f"{second.point.name}.of {first.body.name}")
        (rising,) = forward([height], {self.time: 1.0})
        drift = e.dot(second.rate()) - e.dot(first.rate()) - rising
        gap = e.dot(position(second.point, first.point)) - height
        return row(label, acting, drift, gap, ground=self.ground)

    def _turns(self, type: str, closure: Closure, axis: Triple, sequence: str, where: str) -> list[Row]:
        """Rows of orientation, each a1 · b2 = 0."""
        x, y, z = (rotations.unit(self.graph, k) for k in range(3))
        if type in ("weld", "prismatic"):
            pairs = [("rx", z, y), ("ry", x, z), ("rz", y, x)]
        elif type in ("revolute", "cylindrical"):
            (c_label, c), (d_label, d) = self._across(axis, where)
            pairs = [(f"r{c_label}", scaled(-1.0, d), axis), (f"r{d_label}", c, axis)]
        elif type == "universal":
            pairs = [self._cross_piece(sequence, where)]
        else:
            pairs = []
        return [self._turn(label, closure, a, b) for label, a, b in pairs]

    def _turn(self, label: str, closure: Closure, a: Triple, b: Triple) -> Row:
        a1, b2 = closure.along_first(a), closure.along_second(b)
        torque = b2.cross(a1)
        first, second = closure.first, closure.second
        acting = [(second.body, Torque(second.frame, torque)), (first.body, Torque(first.frame, -torque))]
        return row(label, acting, self.graph.const(0.0), a1.dot(b2), "N m", self.ground)

    def _cross_piece(self, sequence: str, where: str) -> tuple[str, Triple, Triple]:
        """(label, axis in the first body, axis in the second body) of a universal joint: they stay perpendicular."""
        try:
            body_fixed, axes = rotations.parse_sequence(str(sequence))
        except ExpressionError as error:
            raise ModelError(Problem(self.where(f"{where} / sequence"), str(error))) from None
        if len(axes) != 2 or axes[0] == axes[1]:
            what, law = f"sequence '{sequence}'", "a universal joint has two axes that are perpendicular"
            raise ModelError(Problem(self.where(f"{where} / sequence"), what, law, "write 'body xy', say"))
        i, j = axes if body_fixed else axes[::-1]
        sign = -1.0 if (j - i) % 3 == 1 else 1.0
        unit = rotations.unit
        return f"r{'xyz'[3 - i - j]}", scaled(sign, unit(self.graph, i)), unit(self.graph, j)

    def _kept(self, made: Sequence[Row], labels: Sequence[str] | None, where: str) -> list[Row]:
        if labels is None:
            return list(made)
        table = {r.label: r for r in made}
        wanted = [labels] if isinstance(labels, str) else list(labels)
        if unknown := next((label for label in wanted if label not in table), None):
            what, mend = f"unknown row '{unknown}'", f"known: {', '.join(table)}"
            raise ModelError(Problem(self.where(f"{where} / rows"), what, mend=mend))
        if not wanted or len(set(wanted)) != len(wanted):
            what = f"rows {wanted}"
            raise ModelError(
                Problem(self.where(f"{where} / rows"), what, "each row is named once", f"out of {', '.join(table)}")
            )
        return [r for r in made if r.label in wanted]

    # distances and points on things ----------------------------------------------------------------------------------

    def distance(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        *,
        length: Quantity,
        first_at: Sequence[Quantity] = ORIGIN,
        second_at: Sequence[Quantity] = ORIGIN,
    ) -> Constraint:
        """A massless rod: the points `first_at` and `second_at` (m) of two bodies stay `length` (m) apart.

        `length` > 0 and the places may depend on t. The reaction is a force along the rod, positive where it pushes.
        The residual is (d² − length²) / (2 length) for points d apart: d − length where that is small, and smooth.
        """
        where = self._new_constraint(name)
        a, b = self._two_bodies(first, second, where)
        p1 = self._place(a, first_at, f"{where} / first_at", f"{name}.first")
        p2 = self._place(b, second_at, f"{where} / second_at", f"{name}.second")
        size = self.scalar(length, f"{where} / length")
        (number,) = self._timely([size], f"{where} / length")
        if number <= 0:
            mend = "close the loop by a spherical joint instead" if number == 0 else "give a length > 0"
            law = "a rod between two points has a length > 0"
            raise ModelError(Problem(self.where(where), f"length {number:g} m", law, mend))
        line = position(p2.point, p1.point)
        if is_zero(line.xyz):
            what, mend = "its two points coincide in every state", "check the places"
            raise ModelError(Problem(self.where(where), what, "a rod has two ends", mend))
        e, square = line * (1.0 / size), line.dot(line)
        (growing,) = forward([size], {self.time: 1.0})
        drift = e.dot(p2.rate()) - e.dot(p1.rate()) - 0.5 * growing * (square / (size * size) + 1.0)
        stretch = 0.5 * (square / size - size)
        rod = row("length", [*p2.push(e), *p1.push(-e)], drift, stretch, ground=self.ground)
        given = {"type": "distance", "first": a.name, "second": b.name, "length": size}
        given.update(first_at=p1.at, second_at=p2.at)
        return self.constraint(Constraint(name, "distance", (rod,), a, b, p2.point, given))

    def point_on_plane(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        *,
        first_at: Sequence[Quantity] = ORIGIN,
        second_at: Sequence[Quantity] = ORIGIN,
        normal: str | Sequence[Quantity] = "z",
        height: Quantity = 0.0,
    ) -> Constraint:
        """The point `second_at` of the second body stays at `height` (m) above a plane of the first body.

        The plane goes through `first_at`, across `normal`, a unit vector of the first body's frame. Places and height
        may depend on t. The reaction is a force along the normal.
        """
        where = self._new_constraint(name)
        p1, p2, n = self._guided(name, first, second, first_at, second_at, normal, "normal", where)
        above = self.scalar(height, f"{where} / height")
        self._timely([above], f"{where} / height")
        guide = self._gap("normal", p1, p2, Vector(p1.frame, n), above)
        given = {"type": "point-on-plane", **_ends(p1, p2), "normal": n, "height": above}
        return self.constraint(Constraint(name, "point-on-plane", (guide,), p1.body, p2.body, p2.point, given))

    def point_on_line(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        *,
        first_at: Sequence[Quantity] = ORIGIN,
        second_at: Sequence[Quantity] = ORIGIN,
        axis: str | Sequence[Quantity] = "x",
        rows: Sequence[str] | None = None,
    ) -> Constraint:
        """The point `second_at` of the second body stays on a line of the first, through `first_at` along `axis`.

        Two rows, along the directions across the axis: the other coordinate axes by their letters, 1 and 2 for any
        other direction. `rows` keeps only some of them. The reaction is a force across the line.
        """
        where = self._new_constraint(name)
        p1, p2, e = self._guided(name, first, second, first_at, second_at, axis, "axis", where)
        none = self.graph.const(0.0)
        made = [self._gap(label, p1, p2, Vector(p1.frame, d), none) for label, d in self._across(e, where)]
        kept = self._kept(made, rows, where)
        given: dict[str, Any] = {"type": "point-on-line", **_ends(p1, p2), "axis": e}
        if len(kept) < len(made):
            given["rows"] = [r.label for r in kept]
        return self.constraint(Constraint(name, "point-on-line", tuple(kept), p1.body, p2.body, p2.point, given))

    def point_on_curve(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        equations: Equations,
        *,
        second_at: Sequence[Quantity] = ORIGIN,
    ) -> Constraint:
        """The point `second_at` of the second body stays on a surface or curve of the first.

        One or two equations in x, y, z (m), the point's coordinates in the first body's frame: "y = 0.1*x**2", or an
        expression that is zero; t and parameters may occur. One row each, labelled 1 and 2. The unit reaction is the
        gradient of the expression, a force on the second body.
        """
        where = self._new_constraint(name)
        a, b = self._two_bodies(first, second, where)
        p2 = self._place(b, second_at, f"{where} / second_at", f"{name}.second")
        xyz = tuple(self.graph.input(letter) for letter in "xyz")
        forms = self._curve(equations, where)
        assert a.frame is not None and a.origin is not None
        here = position(p2.point, a.origin).express(a.frame).xyz
        rows = []
        for label, form in forms:
            slopes = [forward([form], {x: 1.0})[0] for x in xyz]
            if all(s.is_zero for s in slopes):
                what, law = f"there is no x, y or z in {form!r} = 0", "the equation of a curve is in x, y, z"
                raise ModelError(Problem(self.where(where), what, law))
            parts = [form, *slopes, *forward([form], {self.time: 1.0})]
            value, gx, gy, gz, rate = substitute(parts, dict(zip(xyz, here, strict=True)))
            gradient = Vector(a.frame, (gx, gy, gz))
            acting = p2.push(gradient)
            if a is not self.ground:
                acting += at_coincident(a, p2.point, -gradient, f"{name}.of {a.name}")
            rows.append(row(label, acting, gradient.dot(p2.rate()) + rate, value, "", self.ground))
        given = {"type": "point-on-curve", "first": a.name, "second": b.name, "second_at": p2.at}
        given["equations"] = [form for _, form in forms]
        return self.constraint(Constraint(name, "point-on-curve", tuple(rows), a, b, p2.point, given))

    def _curve(self, equations: Equations, where: str) -> list[tuple[str, Expr]]:
        """(label, expression in x, y, z, t and parameters) of each equation of a curve."""
        names = {"t": self.time, **{p.name: p.symbol for p in self.parameters.values()}}
        names.update((letter, self.graph.input(letter)) for letter in "xyz")
        given = one_or_more(equations)
        if len(given) not in (1, 2):
            law = "a surface has one equation, a curve two"
            raise ModelError(Problem(self.where(where), f"{len(given)} equations are given", law))
        forms = [self._sides(equation, where, names) for equation in given]
        known = {x.id for x in names.values()}
        for node in reachable(self.graph, (form.id for form in forms)):
            if self.graph.ops[node] == INPUT and node not in known:
                what, law = f"it depends on '{self.graph.args[node][0]}'", "a curve is fixed in its body"
                raise ModelError(Problem(self.where(where), what, law, "write it in x, y, z, t and parameters"))
        return [(str(k + 1), form) for k, form in enumerate(forms)]

    def _guided(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        first_at: Sequence[Quantity],
        second_at: Sequence[Quantity],
        axis: str | Sequence[Quantity],
        key: str,
        where: str,
    ) -> tuple[Place, Place, Triple]:
        """Both places, and a unit vector of the first body."""
        a, b = self._two_bodies(first, second, where)
        e = self.axis(axis, f"{where} / {key}")
        self.constant(e, f"{where} / {key}")
        return (
            self._place(a, first_at, f"{where} / first_at", f"{name}.first"),
            self._place(b, second_at, f"{where} / second_at", f"{name}.second"),
            e,
        )


def _combined(axes: Matrix, e: Triple) -> Triple:
    """The vector with components e along three axes."""
    return transpose_times(axes, e)


def _ends(first: Place, second: Place) -> dict[str, Any]:
    ends = {"first": first.body.name, "second": second.body.name}
    return {**ends, "first_at": first.at, "second_at": second.at}
