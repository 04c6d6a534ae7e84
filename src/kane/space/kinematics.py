"""Angular velocities, velocities and accelerations in the root frame N, by the vector theorems.

Across a frame   ω_F = R ᵀ ω_P + w            α_F = Rᵀ α_P + ẇ + (Rᵀ ω_P) × w
Across a point   v_P = v_O + ω × p + ṗ        a_P = a_O + U p + 2 ω × ṗ + p̈,   U = α̃ + ω̃ ω̃

with p and its rates in the carrier frame; ṗ may be written in another frame C, where 2 ω × ṗ + p̈ is (ω + ω_C) × ṗ + the
rates of its components. A velocity that the analyst set is differentiated instead: the general
fallback. Rates of the inputs (q̇ of q, u̇ of u, 1 of t) are given once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ..graph import Expr, Graph, time_derivative
from . import rotations
from .algebra import Matrix, Triple, cross, is_zero, plus, product, scaled, times, transpose_times
from .frames import Frame, Point, not_connected_error

T = TypeVar("T")


class Kinematics:
    """Motion of frames and points in the root frame; every result is computed once.

    `take` brings expressions of the description into the graph of the result (parameters become numbers or inputs);
    `base_acceleration` is that of the root point (−g, to let gravity act through inertia forces). A frame or point can
    be seen as fixed to another one than it was described with: `graft` and `pin`. Comments on accelerations end with
    the `remark`.
    """

    def __init__(
        self,
        graph: Graph,
        rates: Mapping[Expr, Expr | float],
        take: Callable[[Sequence[Expr]], list[Expr]] | None = None,
        base_acceleration: Triple | None = None,
        *,
        remark: str = "",
    ):
        self.graph = graph
        self.rates = rates
        self._take = take
        self.remark = remark
        zero = graph.const(0.0)
        self.zero: Triple = (zero, zero, zero)
        self._base = self.zero if base_acceleration is None else base_acceleration
        self._grafts: dict[Frame, Frame] = {}
        self._pins: dict[Point, Point] = {}
        self._depth: dict[Frame, int] = {}
        self._R: dict[Frame, Matrix] = {}
        self._w: dict[Frame, Triple] = {}
        self._alpha: dict[Frame, Triple] = {}
        self._U: dict[Frame, Matrix] = {}
        self._v: dict[Point, Triple] = {}
        self._a: dict[Point, Triple] = {}
        self._r: dict[Point, Triple] = {}
        self._R_N: dict[Frame, Matrix] = {}
        self._r_N: dict[Point, Triple] = {}
        self._local: dict[Point, tuple[Triple, Triple, Frame]] = {}
        self._set: dict[Frame, tuple[Triple, Triple]] = {}

    # what was described, and what takes its place -----------------------------------------------------------------

    def graft(self, frame: Frame, onto: Frame, R: Matrix) -> None:
        """See `frame` as fixed in `onto`, turned by the constant R there."""
        self._grafts[frame] = onto
        self._R[frame] = R

    def pin(self, point: Point, onto: Point, offset: Triple) -> None:
        """See `point` as fixed in the home frame of `onto`, at a constant `offset` from it."""
        self._pins[point] = onto
        self._local[point] = (offset, self.zero, onto.home)

    def set(self, frame: Frame, w: Triple, alpha: Triple) -> None:
        """Set ω and α of a frame in N, in the frame, where they are known beforehand."""
        self._set[frame] = (w, alpha)

    def parent(self, frame: Frame) -> Frame | None:
        return self._grafts.get(frame, frame.parent)

    def carrier(self, point: Point) -> Frame:
        """The frame in which a point's offset is written."""
        onto = self._pins.get(point)
        return point.offset.frame if onto is None else onto.home

    def depth(self, frame: Frame) -> int:
        path = self._walk(frame, self._depth, self.parent)
        for f in path:
            above = self.parent(f)
            self._depth[f] = 0 if above is None else self._depth[above] + 1
        return self._depth[frame]

    def take(self, xyz: Triple) -> Triple:
        """Three scalars in the graph of the result; those that are there already stay as they are."""
        if self._take is None or xyz[0].graph is self.graph:
            return xyz
        x, y, z = self._take(xyz)
        return (x, y, z)

    def rate(self, xyz: Triple) -> Triple:
        """The rates of three scalars."""
        x, y, z = time_derivative(xyz, self.rates)
        return (x, y, z)

    def R(self, frame: Frame) -> Matrix:
        """R_PF of a frame, in the graph of the result."""
        known = self._R.get(frame)
        if known is None:
            a, b, c = frame.R_PF
            known = self._R[frame] = (self.take(a), self.take(b), self.take(c))
        return known

    def turn(self, xyz: Triple, frame: Frame, to: Frame) -> Triple:
        """Components in `frame` turned into components in `to`."""
        if frame is to:
            return xyz
        down: list[Frame] = []
        a, b = frame, to
        while a is not b:
            above = self.parent(a)
            if above is not None and self.depth(a) >= self.depth(b):
                xyz = times(self.R(a), xyz)
                a = above
            else:
                down.append(b)
                below = self.parent(b)
                if below is None:
                    raise not_connected_error(frame, to)
                b = below
        for f in reversed(down):
            xyz = transpose_times(self.R(f), xyz)
        return xyz

    def orientation(self, frame: Frame) -> Matrix:
        """R_NF: components in the frame become components in N."""
        for f in self._walk(frame, self._R_N, self.parent):
            above = self.parent(f)
            self._R_N[f] = self.R(f) if above is None else product(self._R_N[above], self.R(f))
        return self._R_N[frame]

    def position(self, point: Point) -> Triple:
        """Position of the point from the root point, in N (m)."""
        for p in self._walk(point, self._r_N, self.inner):
            inner = self.inner(p)
            if inner is None:
                self._r_N[p] = self.zero
            else:
                out = times(self.orientation(self.carrier(p)), self.offset(p)[0])
                self._r_N[p] = plus(self._r_N[inner], out)
        return self._r_N[point]

    @staticmethod
    def _walk(start: T, known: Mapping[T, object], parent: Callable[[T], T | None]) -> list[T]:
        """The path to `start` from the nearest ancestor that is known, that one excluded."""
        path = []
        at: T | None = start
        while at is not None and at not in known:
            path.append(at)
            at = parent(at)
        return path[::-1]

    # frames ------------------------------------------------------------------------------------------------------

    def relative_w(self, frame: Frame) -> Triple:
        """ω of the frame in its parent, in the frame."""
        if frame in self._grafts:
            return self.zero
        if frame.w_PF is not None:
            return self.take(frame.w_PF)
        R = self.R(frame)
        flat = time_derivative([e for row in R for e in row], self.rates)
        rates = ((flat[0], flat[1], flat[2]), (flat[3], flat[4], flat[5]), (flat[6], flat[7], flat[8]))
        return rotations.from_matrix(rates, R)

    def w(self, frame: Frame) -> Triple:
        """ω of the frame in N, in the frame (rad/s)."""
        for f in self._walk(frame, self._w, self.parent):
            self._w[f] = self._w_step(f)
        return self._w[frame]

    def _w_step(self, f: Frame) -> Triple:
        if f in self._set:
            return self._set[f][0]
        if f.w_NF is not None and f not in self._grafts:
            return self.take(f.w_NF)
        if self.parent(f) is None:
            return self.zero
        inner, R, turning = self._turn_in(f)
        w = plus(transpose_times(R, self._w[inner]), turning)
        self.graph.note(w, f"w_N{f.name}")
        return w

    def _turn_in(self, frame: Frame) -> tuple[Frame, Matrix, Triple]:
        """(inner, R, w): orientation and angular velocity of a frame in one further in, about parallel axes.

        Turns about the same coordinate axis one after the other are one turn by the sum of their angles. ω and α take
        it at once where ω of the inner frame has a component of zero across the axis, which turns one by one would
        fill; elsewhere `inner` is the parent.
        """
        inner = self.parent(frame)
        assert inner is not None
        found = (inner, self.R(frame), self.relative_w(frame))
        turn, w = self._simple_turn(frame), found[2]
        while turn is not None:
            more, further = self._simple_turn(inner), self.parent(inner)
            if more is None or more[0] != turn[0] or further is None:
                break
            turn, w = (turn[0], turn[1] + more[1]), plus(w, self.relative_w(inner))
            inner = further
            if any(self.w(inner)[k].is_zero for k in range(3) if k != turn[0]):
                found = (inner, rotations.simple(*turn), w)
        return found

    def _simple_turn(self, frame: Frame) -> tuple[int, Expr] | None:
        """(axis, angle) of a frame that turns about a coordinate axis of its parent, as rotations.simple makes it."""
        if frame in self._grafts or frame in self._set or frame.w_NF is not None or frame.w_PF is None:
            return None
        R, w, graph = self.R(frame), self.relative_w(frame), self.graph
        for axis in range(3):
            i, j = (axis + 1) % 3, (axis + 2) % 3
            c = R[i][i]
            if graph.ops[c.id] == "cos" and w[i].is_zero and w[j].is_zero:
                size = Expr(graph, graph.args[c.id][0])  # the cosine is the same for both senses
                for angle in (size, -size):
                    if rotations.simple(axis, angle) == R:
                        return axis, angle
        return None

    def alpha(self, frame: Frame) -> Triple:
        """Angular acceleration of the frame in N, in the frame (rad/s²)."""
        self.w(frame)
        for f in self._walk(frame, self._alpha, self.parent):
            self._alpha[f] = self._alpha_step(f)
        return self._alpha[frame]

    def _alpha_step(self, f: Frame) -> Triple:
        if f in self._set:
            return self._set[f][1]
        if f.w_NF is not None and f not in self._grafts:
            return self.rate(self._w[f])
        if self.parent(f) is None:
            return self.zero
        inner, R, w = self._turn_in(f)
        alpha = transpose_times(R, self._alpha[inner])
        if not is_zero(w):
            turning = transpose_times(R, self._w[inner])
            alpha = plus(alpha, plus(self.rate(w), cross(turning, w)))
        self.graph.note(alpha, f"alpha_N{f.name}{self.remark}")
        return alpha

    def U(self, frame: Frame) -> Matrix:
        """U = α̃ + ω̃ ω̃ of the frame, in the frame: acceleration per offset (1/s²)."""
        known = self._U.get(frame)
        if known is None:
            (wx, wy, wz), (ax, ay, az) = self.w(frame), self.alpha(frame)
            xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
            across = self._square_across(frame)
            yy, across = (yy, xx + yy) if across is None else (across - xx, across)
            known = self._U[frame] = (
                (-(yy + zz), xy - az, xz + ay),
                (xy + az, -(xx + zz), yz - ax),
                (xz - ay, yz + ax, -across),
            )
        return known

    def _square_across(self, frame: Frame) -> Expr | None:
        """ωx² + ωy² of a frame that turns about z: that of the frame it turns in, whose squares are there already."""
        turn = self._simple_turn(frame)
        if turn is None or turn[0] != 2:
            return None
        wx, wy, _ = self.w(self._turn_in(frame)[0])
        return wx * wx + wy * wy

    # points ------------------------------------------------------------------------------------------------------

    def inner(self, point: Point) -> Point | None:
        """The point that a point's offset starts from."""
        return self._pins.get(point, point.parent)

    def offset(self, point: Point) -> tuple[Triple, Triple, Frame]:
        """(p, ṗ, C): offset of the point from its parent in the carrier frame; its rate there, in the axes of C."""
        known = self._local.get(point)
        if known is None:
            p, slide = self.take(point.offset.xyz), point.offset_rate
            rate, axes = (self.rate(p), point.offset.frame) if slide is None else (self.take(slide.xyz), slide.frame)
            known = self._local[point] = (p, rate, axes)
        return known

    def r(self, point: Point) -> Triple:
        """Position of the point from the root point, in its home frame (m)."""
        for p in self._walk(point, self._r, self.inner):
            inner = self.inner(p)
            if inner is None:
                self._r[p] = self.zero
                continue
            carrier = self.carrier(p)
            carried = self.turn(self._r[inner], inner.home, carrier)
            self._r[p] = self.turn(plus(carried, self.offset(p)[0]), carrier, p.home)
        return self._r[point]

    def v(self, point: Point) -> Triple:
        """Velocity of the point in N, in its home frame (m/s)."""
        for p in self._walk(point, self._v, self.inner):
            self._v[p] = self._v_step(p)
        return self._v[point]

    def _v_step(self, p: Point) -> Triple:
        if p.v_NP is not None and p not in self._pins:
            return self.turn(self.take(p.v_NP.xyz), p.v_NP.frame, p.home)
        inner = self.inner(p)
        if inner is None:
            return self.zero
        carrier = self.carrier(p)
        offset, rate, axes = self.offset(p)
        v = plus(self.turn(self._v[inner], inner.home, carrier), cross(self.w(carrier), offset))
        v = self._and(v, carrier, rate, axes, p.home)
        self.graph.note(v, f"v_N{p.name}")
        return v

    def _and(self, one: Triple, frame: Frame, more: Triple, axes: Frame, to: Frame) -> Triple:
        """The sum of two vectors, in the axes of `to`."""
        if axes is frame:
            return self.turn(plus(one, more), frame, to)
        return plus(self.turn(one, frame, to), self.turn(more, axes, to))

    @property
    def less_gravity(self) -> str:
        """What accelerations here are less, in a comment."""
        return "" if is_zero(self._base) else " - g"

    def a(self, point: Point) -> Triple:
        """Acceleration of the point in N, less gravity where the base carries it, in its home frame (m/s²)."""
        for p in self._walk(point, self._a, self.inner):
            self._a[p] = self._a_step(p)
        return self._a[point]

    def _a_step(self, p: Point) -> Triple:
        if p.v_NP is not None and p not in self._pins:
            frame = p.v_NP.frame
            v = self.take(p.v_NP.xyz)
            a = plus(self.rate(v), cross(self.w(frame), v))
            a = plus(a, self.turn(self._base, frame.root, frame))
            return self.turn(a, frame, p.home)
        inner = self.inner(p)
        if inner is None:
            return self._base
        carrier = self.carrier(p)
        offset, rate, axes = self.offset(p)
        a = self.turn(self._a[inner], inner.home, carrier)
        if not is_zero(offset):
            a = plus(a, times(self.U(carrier), offset))
        sliding = rate
        if not is_zero(rate):
            if axes is carrier:
                turning = cross(self.w(carrier), scaled(2.0, rate))
            else:
                turning = cross(plus(self.turn(self.w(carrier), carrier, axes), self.w(axes)), rate)
            sliding = plus(turning, self.rate(rate))
        a = self._and(a, carrier, sliding, axes, p.home)
        self.graph.note(a, f"a_N{p.name}{self.less_gravity}{self.remark}")
        return a
