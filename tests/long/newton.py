"""An oracle for trees of bodies that shares no code with the package: Newton–Euler equations in plain NumPy.

It knows a tree as numbers (`laws.trees.Plan`) and only positions: how a joint turns and moves its child. Velocities and
accelerations are the coefficients of power series in time: with q(s) = q + q̇ s + q̈ s²/2 every pose is a series in s,
multiplied out to second order without any differentiation by hand and exact to rounding. Kane's equations are then
sums over the bodies,

    tau_r = Σ m (a − g)·v_r + (I α + ω × I ω)·ω_r − F_r(loads).

Everything is in the ground's axes, SI units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DOF = {
    "weld": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "screw": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "gimbal": (3, 3),
    "spherical": (4, 3),
    "planar": (3, 3),
    "free": (7, 6),
}
"""Coordinates and motion variables of each kind of joint."""


@dataclass(frozen=True)
class Series:
    """x(s) = c[0] + c[1] s + c[2] s²: numbers, vectors or matrices."""

    c: tuple[Any, Any, Any]

    def __add__(self, other: Any) -> Series:
        b = series(other).c
        return Series((self.c[0] + b[0], self.c[1] + b[1], self.c[2] + b[2]))

    def __sub__(self, other: Any) -> Series:
        return self + series(other) * -1.0

    def __mul__(self, other: Any) -> Series:
        a, b = self.c, series(other).c
        return Series((a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[0] * b[2] + a[1] * b[1] + a[2] * b[0]))

    def __matmul__(self, other: Any) -> Series:
        a, b = self.c, series(other).c
        return Series((a[0] @ b[0], a[0] @ b[1] + a[1] @ b[0], a[0] @ b[2] + a[1] @ b[1] + a[2] @ b[0]))

    def sin(self) -> Series:
        x, v, a = self.c
        return Series((np.sin(x), np.cos(x) * v, np.cos(x) * a - np.sin(x) * v * v / 2))

    def cos(self) -> Series:
        x, v, a = self.c
        return Series((np.cos(x), -np.sin(x) * v, -np.sin(x) * a - np.cos(x) * v * v / 2))

    def sqrt(self) -> Series:
        x, v, a = self.c
        r = np.sqrt(x)
        return Series((r, v / (2 * r), a / (2 * r) - v * v / (8 * r**3)))

    def reciprocal(self) -> Series:
        x, v, a = self.c
        return Series((1 / x, -v / x**2, v * v / x**3 - a / x**2))

    @property
    def rate(self) -> Any:
        return self.c[1]

    @property
    def second(self) -> Any:
        """The second derivative."""
        return 2.0 * self.c[2]


def series(x: Any) -> Series:
    """A number or array as a series that does not change."""
    if isinstance(x, Series):
        return x
    x = np.asarray(x, float)
    return Series((x, np.zeros_like(x), np.zeros_like(x)))


def stacked(rows: Sequence[Any]) -> Series:
    """A vector of numbers, or a matrix of vectors."""
    given = [series(r) for r in rows]
    return Series(tuple(np.array([g.c[k] for g in given]) for k in range(3)))  # type: ignore[arg-type]


def cross(a: Any, b: Any) -> Series:
    """a × b."""
    x, y = series(a).c, series(b).c
    c = np.cross
    return Series((c(x[0], y[0]), c(x[0], y[1]) + c(x[1], y[0]), c(x[0], y[2]) + c(x[1], y[1]) + c(x[2], y[0])))


def dot(a: Series, b: Series) -> Series:
    """a · b."""
    return Series(
        (a.c[0] @ b.c[0], a.c[0] @ b.c[1] + a.c[1] @ b.c[0], a.c[0] @ b.c[2] + a.c[1] @ b.c[1] + a.c[2] @ b.c[0])
    )


def direction(a: Series) -> Series:
    """a / |a|."""
    return dot(a, a).sqrt().reciprocal() * a


def skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def unskew(S: Array) -> Array:
    """The vector of each matrix (…, 3, 3)."""
    return np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], -1) / 2


def turn_about(axis: Array, angle: Series) -> Series:
    """Rodrigues: 1 + sin θ [e] + (1 − cos θ) [e]²."""
    S = skew(axis)
    one = series(np.eye(3))
    return one + angle.sin() * S + (series(1.0) - angle.cos()) * (S @ S)


def turn_by_quaternion(w: Series, x: Series, y: Series, z: Series) -> Series:
    """R of a unit quaternion."""
    two = 2.0
    one = series(1.0)
    return stacked(
        [
            stacked([one - (y * y + z * z) * two, (x * y - w * z) * two, (x * z + w * y) * two]),
            stacked([(x * y + w * z) * two, one - (x * x + z * z) * two, (y * z - w * x) * two]),
            stacked([(x * z - w * y) * two, (y * z + w * x) * two, one - (x * x + y * y) * two]),
        ]
    )


def axis_of(options: dict[str, Any]) -> Array:
    """The axis that a joint's options name."""
    axis = options["axis"]
    if isinstance(axis, str):
        return np.eye(3)["xyz".index(axis[-1])] * (-1.0 if axis[0] == "-" else 1.0)
    return np.asarray(axis, float)


def turn_by_angles(sequence: str, angles: Sequence[Series]) -> Series:
    """Body sequences turn about the axes of the turned body, space sequences about those that stay."""
    kind, letters = sequence.split()
    R = series(np.eye(3))
    for letter, angle in zip(letters, angles, strict=True):
        one = turn_about(np.eye(3)["123xyz".index(letter) % 3], angle)
        R = R @ one if kind == "body" else one @ R
    return R


def pose_in_joint(kind: str, options: dict[str, Any], q: Sequence[Series]) -> tuple[Series, Series]:
    """(R_PC, p_PC) of a joint."""
    one, zero = series(np.eye(3)), series(np.zeros(3))
    if kind == "weld":
        return one, zero
    if kind in ("revolute", "prismatic", "screw", "cylindrical"):
        e = axis_of(options)
        R = one if kind == "prismatic" else turn_about(e, q[0])
        along = {"prismatic": q[0], "screw": q[0] * options.get("pitch", 0.0)}.get(kind, q[-1])
        return R, zero if kind == "revolute" else along * e
    if kind in ("gimbal", "universal"):
        return turn_by_angles(options["sequence"], q), zero
    if kind == "planar":
        k = "xyz".index(options["normal"])
        e = np.eye(3)
        return turn_about(e[k], q[2]), q[0] * e[(k + 1) % 3] + q[1] * e[(k + 2) % 3]
    R = turn_by_quaternion(*q[:4])
    return (R, zero) if kind == "spherical" else (R, stacked(q[4:]))


def _quaternion_rate(q: Array, w: Array) -> Array:
    """½ q ⊗ (0, ω), ω in the child's axes."""
    a, v = q[0], q[1:]
    return np.array([-v @ w, *(a * w + np.cross(v, w))]) / 2


def coordinate_series(kind: str, options: dict[str, Any], q: Array, u: Array, udot: Array) -> list[Series]:
    """q(s) of one joint from its motion variables and their rates."""
    if kind in ("spherical", "free"):
        first = _quaternion_rate(q[:4], u[:3])
        second = _quaternion_rate(first, u[:3]) + _quaternion_rate(q[:4], udot[:3])
        four = [Series((q[k], first[k], second[k] / 2)) for k in range(4)]
        if kind == "spherical":
            return four
        v, a = u[3:], udot[3:]
        if options["velocity"] == "body":
            R = turn_by_quaternion(*four)
            v, a = R.c[0] @ v, R.c[1] @ v + R.c[0] @ a
        return [*four, *(Series((q[4 + k], v[k], a[k] / 2)) for k in range(3))]
    if kind == "planar" and options.get("velocity") == "body":
        k = "xyz".index(options["normal"])
        R = turn_about(np.eye(3)[k], Series((q[2], u[2], udot[2] / 2)))
        i, j = (k + 1) % 3, (k + 2) % 3
        v, a = np.zeros(3), np.zeros(3)
        v[[i, j]], a[[i, j]] = u[:2], udot[:2]
        v, a = R.c[0] @ v, R.c[1] @ v + R.c[0] @ a
        u, udot = np.array([v[i], v[j], u[2]]), np.array([a[i], a[j], udot[2]])
    return [Series((q[k], u[k], udot[k] / 2)) for k in range(len(q))]


def given_series(text: str, t: float, moving: float) -> Series:
    """'a + b*sin(c*t)' at time t; `moving` 0 holds time still, as partial velocities ask."""
    found = re.fullmatch(r"(\S+) \+ (\S+)\*sin\((\S+)\*t\)", text)
    assert found
    a, b, c = (float(x) for x in found.groups())
    return series(a) + Series((np.asarray(c * t), np.asarray(c * moving), np.asarray(0.0))).sin() * b


@dataclass(frozen=True)
class Moving:
    """A body at a state: pose as series, ω and α in N."""

    R: Series
    p: Series

    @property
    def w(self) -> Array:
        return unskew(self.R.rate @ self.R.c[0].T)

    @property
    def alpha(self) -> Array:
        return unskew(self.R.second @ self.R.c[0].T + self.R.rate @ self.R.rate.T)

    def point(self, at: Array) -> Series:
        """Where a point of the body is."""
        return self.p + self.R @ np.asarray(at, float)


GROUND = Moving(series(np.eye(3)), series(np.zeros(3)))


@dataclass(frozen=True)
class UnitRates:
    """Rates at each unit speed: of R (bodies, speeds, 3, 3) and p (bodies, speeds, 3), and ω (bodies, speeds, 3)."""

    R: Array
    p: Array
    w: Array


class Tree:
    """The equations of a plan; q, u, udot are those of its joints, in their order."""

    def __init__(self, plan: Any):
        self.plan = plan
        self.moving = [b for b in plan.bodies if "prescribed" not in b.options]
        self.nq = sum(DOF[b.kind][0] for b in self.moving)
        self.nu = sum(DOF[b.kind][1] for b in self.moving)
        own = np.array([(0, 0), *((0, 0) if "prescribed" in b.options else DOF[b.kind] for b in plan.bodies)])
        self._ends = np.cumsum(own, axis=0).tolist()
        self._units: tuple[bytes, list[list[Moving]]] = (b"", [])  # the state of the last partials, and those

    def slots(self, k: int) -> tuple[slice, slice]:
        """Where the coordinates and motion variables of joint k are."""
        (i, j), (i_end, j_end) = self._ends[k], self._ends[k + 1]
        return slice(i, i_end), slice(j, j_end)

    def motion(self, q: Array, u: Array, udot: Array, t: float, moving: float = 1.0) -> list[Moving]:
        """All bodies at a state."""
        found: list[Moving] = []
        for k, b in enumerate(self.plan.bodies):
            i, j = self.slots(k)
            found.append(self._placed(k, GROUND if b.parent < 0 else found[b.parent], (q[i], u[j], udot[j]), t, moving))
        return found

    def _placed(self, k: int, parent: Moving, state: tuple[Array, Array, Array], t: float, moving: float) -> Moving:
        """Body k on its parent, its joint in a state of its own."""
        b = self.plan.bodies[k]
        if "prescribed" in b.options:
            own = [given_series(x, t, moving) for x in b.options["prescribed"]]
        else:
            own = coordinate_series(b.kind, b.options, *state)
        R_PC, p_PC = pose_in_joint(b.kind, b.options, own)
        R_N = parent.R @ b.R_P @ R_PC @ b.R_C.T
        at = parent.point(b.at) + parent.R @ b.R_P @ p_PC
        return Moving(R_N, at - R_N @ b.child_at)

    def partials(self, q: Array, t: float) -> list[list[Moving]]:
        """The bodies at unit speeds, one after another, time held still: those that a joint does not carry rest, those
        further out move with the one that it moves, as they stand on it."""
        state = np.append(q, t).tobytes()
        if self._units[0] == state:
            return self._units[1]
        still = np.zeros(self.nu)
        resting = self.motion(q, still, still, t, 0.0)
        units = []
        for k, b in enumerate(self.plan.bodies):
            i, j = self.slots(k)
            for e in np.eye(j.stop - j.start):
                parent = GROUND if b.parent < 0 else resting[b.parent]
                moved = {k: self._placed(k, parent, (q[i], e, 0.0 * e), t, 0.0)}
                for n, outer in enumerate(self.plan.bodies):
                    if n != k and outer.parent in moved:
                        moved[n] = _carried(resting[n], resting[outer.parent], moved[outer.parent])
                units.append([moved.get(n, body) for n, body in enumerate(resting)])
        self._units = state, units
        return units

    def unit_rates(self, q: Array, t: float) -> UnitRates:
        """The rates of all bodies at all unit speeds."""
        units = self.partials(q, t)
        bodies = range(len(self.plan.bodies))
        R = np.array([[unit[k].R.rate for unit in units] for k in bodies])
        p = np.array([[unit[k].p.rate for unit in units] for k in bodies])
        stand = np.array([units[0][k].R.c[0] for k in bodies])[:, None]
        return UnitRates(R, p, unskew(R @ stand.swapaxes(-1, -2)))

    def efforts(self, q: Array, u: Array, udot: Array, t: float, loads: Callable[..., Any] | None = None) -> Array:
        """Efforts along the motion variables of the joints."""
        return self.efforts_and_scale(q, u, udot, t, loads)[0]

    def efforts_and_scale(
        self, q: Array, u: Array, udot: Array, t: float, loads: Callable[..., Any] | None = None
    ) -> tuple[Array, Array]:
        """(efforts, the sum of the sizes of their terms), by which errors are judged."""
        now, units = self.motion(q, u, udot, t), self.unit_rates(q, t)
        wrenches: list[tuple[int, Array, Array, Array]] = []  # body, point in it, force, torque, minus what acts
        for k, b in enumerate(self.plan.bodies):
            body = now[k]
            a = body.point(b.center).second - self.plan.gravity
            I = body.R.c[0] @ b.inertia @ body.R.c[0].T
            wrenches.append((k, b.center, b.mass * a, I @ body.alpha + np.cross(body.w, I @ body.w)))
        acting, along = loads(now) if loads else ([], np.zeros(self.nu))
        wrenches += [(k, at, -F, -T) for k, at, F, T in acting if k >= 0]
        tau, scale = -along, np.abs(along)
        for k, at, F, T in wrenches:
            v, w = units.p[k] + units.R[k] @ at, units.w[k]
            tau += v @ F + w @ T
            scale += np.abs(v) @ np.abs(F) + np.abs(w) @ np.abs(T)
        return tau, scale

    def mass_matrix(self, q: Array, t: float) -> Array:
        """M by its definition, Σ m v_r·v_s + ω_r·I ω_s."""
        M, units = np.zeros((self.nu, self.nu)), self.unit_rates(q, t)
        for k, b in enumerate(self.plan.bodies):
            R = self.partials(q, t)[0][k].R.c[0]
            v, w = units.p[k] + units.R[k] @ b.center, units.w[k]
            M += b.mass * v @ v.T + w @ (R @ b.inertia @ R.T) @ w.T
        return M


def _carried(resting: Moving, inner: Moving, moved: Moving) -> Moving:
    """A body that stands on another as it does where both rest, when that one has moved."""
    back = inner.R.c[0].T
    R, p = back @ resting.R.c[0], back @ (resting.p.c[0] - inner.p.c[0])
    return Moving(moved.R @ R, moved.point(p))
