"""Angular velocities, velocities and accelerations in the root frame N, by the vector theorems.

Across a frame   ω_F = R ᵀ ω_P + w            α_F = Rᵀ α_P + ẇ + (Rᵀ ω_P) × w
Across a point   v_P = v_O + ω × p + ṗ        a_P = a_O + U p + 2 ω × ṗ + p̈,   U = α̃ + ω̃ ω̃

with p and its rates in the carrier frame. A velocity that the analyst set is differentiated instead: the general
fallback. Rates of the inputs (q̇ of q, u̇ of u, 1 of t) are given once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..graph import Expr, Graph, time_derivative
from . import rotations
from .algebra import Matrix, Triple, cross, is_zero, plus, scaled, times, transpose_times
from .frames import Frame, Point, not_connected


class Kinematics:
    """Motion of frames and points in the root frame; every result is computed once.

    `take` brings expressions of the description into the graph of the result (parameters become numbers or inputs);
    `base_acceleration` is that of the root point (−g, to let gravity act through inertia forces).
    """

    def __init__(
        self,
        graph: Graph,
        rates: Mapping[Expr, Expr | float],
        take: Callable[[Sequence[Expr]], list[Expr]] | None = None,
        base_acceleration: Triple | None = None,
    ):
        self.graph = graph
        self.rates = dict(rates)
        self._take = take
        zero = graph.const(0.0)
        self.zero: Triple = (zero, zero, zero)
        self._base = self.zero if base_acceleration is None else base_acceleration
        self._R: dict[int, Matrix] = {}
        self._w: dict[int, Triple] = {}
        self._alpha: dict[int, Triple] = {}
        self._U: dict[int, Matrix] = {}
        self._v: dict[int, Triple] = {}
        self._a: dict[int, Triple] = {}
        self._r: dict[int, Triple] = {}
        self._local: dict[int, tuple[Triple, Triple]] = {}
        self.set_w: dict[int, Triple] = {}
        self.set_alpha: dict[int, Triple] = {}

    # bringing descriptions in ------------------------------------------------------------------------------------

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
        known = self._R.get(id(frame))
        if known is None:
            known = self._R[id(frame)] = tuple(self.take(row) for row in frame.R_PF)  # type: ignore[assignment]
        return known  # type: ignore[return-value]

    def turn(self, xyz: Triple, frame: Frame, to: Frame) -> Triple:
        """Components in `frame` turned into components in `to`."""
        down: list[Frame] = []
        a, b = frame, to
        while a is not b:
            if a.depth >= b.depth and a.parent is not None:
                xyz = times(self.R(a), xyz)
                a = a.parent
            elif b.parent is not None:
                down.append(b)
                b = b.parent
            else:
                raise not_connected(frame, to)
        for f in reversed(down):
            xyz = transpose_times(self.R(f), xyz)
        return xyz

    # frames ------------------------------------------------------------------------------------------------------

    def relative_w(self, frame: Frame) -> Triple:
        """ω of the frame in its parent, in the frame."""
        if frame.w_PF is not None:
            return self.take(frame.w_PF)
        R = self.R(frame)
        flat = time_derivative([e for row in R for e in row], self.rates)
        return rotations.from_matrix((tuple(flat[0:3]), tuple(flat[3:6]), tuple(flat[6:9])), R)  # type: ignore[arg-type]

    def _walk_frames(self, frame: Frame, known: Mapping[int, Triple]) -> list[Frame]:
        path = []
        f: Frame | None = frame
        while f is not None and id(f) not in known:
            path.append(f)
            f = f.parent
        return path[::-1]

    def w(self, frame: Frame) -> Triple:
        """ω of the frame in N, in the frame (rad/s)."""
        for f in self._walk_frames(frame, self._w):
            self._w[id(f)] = self._w_step(f)
        return self._w[id(frame)]

    def _w_step(self, f: Frame) -> Triple:
        if id(f) in self.set_w:
            return self.set_w[id(f)]
        if f.w_NF is not None:
            return self.take(f.w_NF)
        if f.parent is None:
            return self.zero
        carried = transpose_times(self.R(f), self._w[id(f.parent)])
        w = plus(carried, self.relative_w(f))
        self.graph.note(w, f"w_N{f.name}")
        return w

    def alpha(self, frame: Frame) -> Triple:
        """Angular acceleration of the frame in N, in the frame (rad/s²)."""
        self.w(frame)
        for f in self._walk_frames(frame, self._alpha):
            self._alpha[id(f)] = self._alpha_step(f)
        return self._alpha[id(frame)]

    def _alpha_step(self, f: Frame) -> Triple:
        if id(f) in self.set_alpha:
            return self.set_alpha[id(f)]
        if f.w_NF is not None or id(f) in self.set_w:
            return self.rate(self._w[id(f)])
        if f.parent is None:
            return self.zero
        R, w = self.R(f), self.relative_w(f)
        carried = transpose_times(R, self._alpha[id(f.parent)])
        turning = transpose_times(R, self._w[id(f.parent)])
        alpha = plus(carried, plus(self.rate(w), cross(turning, w)))
        self.graph.note(alpha, f"alpha_N{f.name}")
        return alpha

    def U(self, frame: Frame) -> Matrix:
        """U = α̃ + ω̃ ω̃ of the frame, in the frame: acceleration per offset (1/s²)."""
        known = self._U.get(id(frame))
        if known is None:
            (wx, wy, wz), (ax, ay, az) = self.w(frame), self.alpha(frame)
            xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
            known = self._U[id(frame)] = (
                (-(yy + zz), xy - az, xz + ay),
                (xy + az, -(xx + zz), yz - ax),
                (xz - ay, yz + ax, -(xx + yy)),
            )
        return known

    # points ------------------------------------------------------------------------------------------------------

    def offset(self, point: Point) -> tuple[Triple, Triple]:
        """(p, ṗ): offset of the point from its parent and its rate, both in the carrier frame."""
        known = self._local.get(id(point))
        if known is None:
            p = self.take(point.offset.xyz)
            rate = self.rate(p) if point.offset_rate is None else self.take(point.offset_rate)
            known = self._local[id(point)] = (p, rate)
        return known

    def _walk_points(self, point: Point, known: Mapping[int, Triple]) -> list[Point]:
        path = []
        p: Point | None = point
        while p is not None and id(p) not in known:
            path.append(p)
            p = p.parent
        return path[::-1]

    def r(self, point: Point) -> Triple:
        """Position of the point from the root point, in its home frame (m)."""
        for p in self._walk_points(point, self._r):
            if p.parent is None:
                self._r[id(p)] = self.zero
                continue
            carrier = p.offset.frame
            carried = self.turn(self._r[id(p.parent)], p.parent.home, carrier)
            self._r[id(p)] = self.turn(plus(carried, self.offset(p)[0]), carrier, p.home)
        return self._r[id(point)]

    def v(self, point: Point) -> Triple:
        """Velocity of the point in N, in its home frame (m/s)."""
        for p in self._walk_points(point, self._v):
            self._v[id(p)] = self._v_step(p)
        return self._v[id(point)]

    def _v_step(self, p: Point) -> Triple:
        if p.v_NP is not None:
            return self.turn(self.take(p.v_NP.xyz), p.v_NP.frame, p.home)
        if p.parent is None:
            return self.zero
        carrier = p.offset.frame
        offset, rate = self.offset(p)
        carried = self.turn(self._v[id(p.parent)], p.parent.home, carrier)
        v = plus(plus(carried, cross(self.w(carrier), offset)), rate)
        v = self.turn(v, carrier, p.home)
        self.graph.note(v, f"v_N{p.name}")
        return v

    def a(self, point: Point) -> Triple:
        """Acceleration of the point in N, less gravity where the base carries it, in its home frame (m/s²)."""
        for p in self._walk_points(point, self._a):
            self._a[id(p)] = self._a_step(p)
        return self._a[id(point)]

    def _a_step(self, p: Point) -> Triple:
        if p.v_NP is not None:
            frame = p.v_NP.frame
            v = self.take(p.v_NP.xyz)
            a = plus(self.rate(v), cross(self.w(frame), v))
            a = plus(a, self.turn(self._base, frame.root, frame))
            return self.turn(a, frame, p.home)
        if p.parent is None:
            return self._base
        carrier = p.offset.frame
        offset, rate = self.offset(p)
        carried = self.turn(self._a[id(p.parent)], p.parent.home, carrier)
        a = carried if is_zero(offset) else plus(carried, times(self.U(carrier), offset))
        if not is_zero(rate):
            a = plus(a, plus(cross(self.w(carrier), scaled(2.0, rate)), self.rate(rate)))
        a = self.turn(a, carrier, p.home)
        self.graph.note(a, f"a_N{p.name}")
        return a
