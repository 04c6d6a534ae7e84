"""The second route: dense Newton-Euler per body, in the order of the papers, to check the fast one.

Comes in: a mechanism. Goes out: `DenseEquations`, numbers at a state. Partial angular velocities and partial velocities
of mass centres are read off ω and v, accelerations come from differentiating velocities, and

    R* = −m a*,   T* = −(I α + ω × I ω),   F_r* = Σ (v_r · R* + ω_r · T*),   F_r = Σ (v_r · F + ω_r · T)

are summed body by body, each with its own central inertia and its own weight [KL83, Eqs. 44, 78, 90; STON08]. Nothing
is shared with the fast route but the description: velocities are derived here from orientations and positions (not from
what joints say of them), speeds are exchanged for motion variables by a numerical solve, parameters stay inputs, and
expressions are evaluated one by one without becoming a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..graph import Expr, Graph, evaluate, linear_coefficients, time_derivative
from ..model import Mechanism
from ..model.loads import Action, EffortAction, ForceAction
from ..space import Frame, Point
from ..space.algebra import Matrix, Triple, cross, plus, times, transpose_times
from ..space.rotations import from_matrix
from .system import Transfer

_ROUNDING = 64 * float(np.finfo(float).eps)  # of a velocity summed along a tree
Array = np.ndarray[Any, np.dtype[np.float64]]
Table = dict[str, tuple[tuple[int, ...], list[Expr]]]


def dense_equations(mechanism: Mechanism) -> DenseEquations:
    """The equations of motion of a mechanism by the dense route."""
    mechanism.validate()
    return DenseEquations(mechanism)


class DenseEquations:
    """Numbers at states of a mechanism. Arrays q, u, udot and tau are (n,) or (batch, n), in the model's order."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        layout = _Layout(mechanism)
        self._definitions = layout.definitions()
        self._quantities = layout.quantities()

    def state(self, q: Any, u: Any, t: float = 0.0) -> DenseState:
        """Everything the equations need, in numbers, at one state."""
        mechanism = self.mechanism
        # what has no value has no influence on the equations of motion: any number shows that
        values = {p.name: p.value if p.has_value else 1.0 for p in mechanism.parameters.values()}
        values.update(zip(mechanism.coordinates, np.asarray(q, dtype=float).tolist(), strict=True))
        values["t"] = float(t)
        speeds = np.asarray(u, dtype=float)
        defined = _numbers(self._definitions, {**values, **dict.fromkeys(mechanism.motion_variables, 0.0)})
        W = np.linalg.inv(defined["Y"]).astype(float)
        s = W @ (speeds - defined["Z"])
        values.update(zip(mechanism.motion_variables, s.tolist(), strict=True))
        return DenseState(W=W, u=speeds, s=s, **_numbers(self._quantities, values))

    def inverse_dynamics(self, q: Any, u: Any, udot: Any, t: Any = 0.0) -> Array:
        """Efforts tau (N m, N) along the speeds that produce udot: −(F_r + F_r*)."""
        return _over_batch(lambda q, u, x, t: self.state(q, u, t).efforts(x), q, u, udot, t)

    def forward_dynamics(self, q: Any, u: Any, tau: Any, t: Any = 0.0) -> Array:
        """udot that the efforts tau produce: the solution of M udot = tau − bias."""
        return _over_batch(lambda q, u, x, t: self.state(q, u, t).accelerations(x), q, u, tau, t)

    def mass_matrix(self, q: Any, t: Any = 0.0) -> Array:
        """M over the speeds, (n, n) or (batch, n, n)."""
        still = np.zeros(len(self.mechanism.speeds))
        return _over_batch(lambda q, u, x, t: self.state(q, u, t).mass_matrix, q, still, still, t)

    def __repr__(self) -> str:
        return f"<DenseEquations of '{self.mechanism.name}': {len(self.mechanism.speeds)} speeds>"


@dataclass(frozen=True)
class DenseState:
    """A mechanism at one state, in numbers. b bodies, n speeds; components of body vectors in the body's frame.

    `u` (n,) are the speeds, `s` (n,) the motion variables, `W` (n, n) the partials of s along u, `definition_rate` (n,)
    the rates of the definitions of u at ṡ = 0. `m` (b,), `I` (b, 3, 3) central, `R` (b, 3, 3) R_NB, `r` (b, 3) mass
    centres from O in N. `w`, `v` (b, 3): ω and v of mass centres, with partials `w_s`, `v_s` (b, 3, n) along the motion
    variables and remainders `alpha_t`, `a_t` (b, 3) at ṡ = 0. `gravity` (3,) in N. Loads as scalars: `force` (k,) along
    `velocity` (k,), with partials `velocity_s` (k, n). `rotor` (n,): inertia of rotors along motion variables.
    """

    W: Array
    u: Array
    s: Array
    definition_rate: Array
    m: Array
    I: Array
    R: Array
    r: Array
    w: Array
    v: Array
    w_s: Array
    v_s: Array
    alpha_t: Array
    a_t: Array
    gravity: Array
    force: Array
    velocity: Array
    velocity_s: Array
    rotor: Array

    @cached_property
    def partials(self) -> tuple[Array, Array]:
        """(ω_r, v_r): partial angular velocities and partial velocities of the mass centres, (b, 3, n)."""
        return self.w_s @ self.W, self.v_s @ self.W

    def variable_rates(self, udot: Any) -> Array:
        """ṡ, (n,)."""
        return self.W @ (np.asarray(udot, dtype=float) - self.definition_rate)

    def motion(self, udot: Any) -> tuple[Array, Array]:
        """(α, a*): angular accelerations, and accelerations of the mass centres, (b, 3), in the bodies' frames."""
        sdot = self.variable_rates(udot)
        return self.alpha_t + self.w_s @ sdot, self.a_t + self.v_s @ sdot

    def inertia_loads(self, udot: Any) -> tuple[Array, Array]:
        """(R*, T*): inertia forces and torques, (b, 3), in the bodies' frames."""
        alpha, a = self.motion(udot)
        R_star = -self.m[:, None] * a
        T_star = -(_multiply_each(self.I, alpha) + np.cross(self.w, _multiply_each(self.I, self.w)))
        return R_star, T_star

    @property
    def weights(self) -> Array:
        """Gravity forces on the mass centres, (b, 3), in the bodies' frames."""
        return self.m[:, None] * _multiply_each(self.R.transpose(0, 2, 1), np.broadcast_to(self.gravity, self.r.shape))

    def efforts(self, udot: Any) -> Array:
        """tau = −(F_r + F_r*), by explicit projection."""
        R_star, T_star = self.inertia_loads(udot)
        w_r, v_r = self.partials
        weights = self.weights
        tau = self.W.T @ (self.rotor * self.variable_rates(udot)) - self._load_partials.T @ self.force
        for k in range(len(self.m)):
            for r in range(len(tau)):
                tau[r] -= v_r[k, :, r] @ (R_star[k] + weights[k]) + w_r[k, :, r] @ T_star[k]
        return tau

    def effort_scale(self, udot: Any) -> Array:
        """Sum of the sizes of all terms of each effort, (n,): rounding errors are relative to this."""
        R_star, T_star = self.inertia_loads(udot)
        w_r, v_r = (np.linalg.norm(x, axis=1) for x in self.partials)
        sizes = np.linalg.norm(R_star, axis=1) + np.linalg.norm(self.weights, axis=1)
        loads = np.abs(self._load_partials).T @ np.abs(self.force)
        loads += np.abs(self.W).T @ np.abs(self.rotor * self.variable_rates(udot))
        return loads + sizes @ v_r + np.linalg.norm(T_star, axis=1) @ w_r

    @property
    def mass_matrix(self) -> Array:
        """M_rs = Σ (m v_r · v_s + ω_r · I ω_s), (n, n) [KL83, Eq. 44; STON08, COEF]."""
        w_r, v_r = self.partials
        M = self.W.T @ np.diag(self.rotor) @ self.W
        for m, I, w, v in zip(self.m, self.I, w_r, v_r, strict=True):
            M += m * v.T @ v + w.T @ I @ w
        return M

    def accelerations(self, tau: Any) -> Array:
        """udot that the efforts tau produce."""
        bias = self.efforts(np.zeros(len(self.s)))
        return np.linalg.solve(self.mass_matrix, np.asarray(tau, dtype=float) - bias).astype(float)

    @property
    def kinetic_energy(self) -> float:
        """T (J)."""
        spin = np.einsum("bi,bij,bj->", self.w, self.I, self.w)
        return 0.5 * float(self.m @ (self.v**2).sum(axis=1) + spin + self.rotor @ self.s**2)

    @property
    def momentum(self) -> tuple[Array, Array]:
        """(p, H): linear momentum, and angular momentum about O, in N."""
        p = _multiply_each(self.R, self.m[:, None] * self.v)
        return p.sum(axis=0), (np.cross(self.r, p) + _multiply_each(self.R, _multiply_each(self.I, self.w))).sum(axis=0)

    def momentum_rate(self, udot: Any) -> tuple[Array, Array]:
        """(ṗ, Ḣ) in N: minus the resultant of all inertia forces, and minus their moment about O."""
        R_star, T_star = (_multiply_each(self.R, x) for x in self.inertia_loads(udot))
        return -R_star.sum(axis=0), -(np.cross(self.r, R_star) + T_star).sum(axis=0)

    @property
    def gravity_power(self) -> float:
        """Power of the weights (W)."""
        return float((self.weights * self.v).sum())

    @property
    def load_power(self) -> float:
        """Power of all loads but gravity and tau (W)."""
        return float(self.force @ self.velocity)

    @property
    def speed_at_rest(self) -> float:
        """Largest of the velocities that are there when all speeds are zero (rad/s, m/s); zero where it is no more than
        the rounding errors of the velocities that are there now, those of an orbit say."""
        w_r, v_r = self.partials
        left = [self.w - w_r @ self.u, self.v - v_r @ self.u]
        found = max(float(np.abs(x).max(initial=0.0)) for x in left)
        size = max(float(np.abs(x).max(initial=0.0)) for x in (self.w, self.v))
        return found if found > _ROUNDING * size else 0.0

    @property
    def _load_partials(self) -> Array:
        return self.velocity_s @ self.W


def _multiply_each(matrices: Array, vectors: Array) -> Array:
    return np.einsum("bij,bj->bi", matrices, vectors)


def _numbers(table: Table, values: Mapping[str, float]) -> dict[str, Array]:
    """Every entry of `table` as an array of its shape."""
    flat = evaluate([e for _, exprs in table.values() for e in exprs], values)
    found, start = {}, 0
    for name, (shape, exprs) in table.items():
        found[name] = np.array(flat[start : start + len(exprs)], dtype=float).reshape(shape)
        start += len(exprs)
    return found


def _over_batch(function: Any, *arrays: Any) -> Array:
    """`function` of the rows of q, u, x and t, single ones shared by all."""
    q, u, x = (np.asarray(a, dtype=float) for a in arrays[:3])
    t = np.asarray(arrays[3], dtype=float)
    sizes = {a.shape[0] for a in (q, u, x) if a.ndim == 2} | ({t.shape[0]} if t.ndim else set())
    if not sizes:
        return function(q, u, x, float(t))
    if len(sizes) > 1:
        raise InputError(f"batches of different size: {sorted(sizes)}")
    size = sizes.pop()
    rows = [np.broadcast_to(a, (size, a.shape[-1])) for a in (q, u, x)]
    times_ = np.broadcast_to(t.reshape(-1) if t.ndim else t, (size,))
    return np.array([function(*row, float(when)) for *row, when in zip(*rows, times_, strict=True)])


class _Layout:
    """The expressions of the dense route in a graph of their own: over parameters, t, coordinates, motion variables."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.graph = Graph()
        bring = Transfer(mechanism.graph, self.graph, {})
        self.s = bring(list(mechanism.motion_variables.values()))
        coordinates = list(mechanism.coordinate_records.values())
        qdot = bring([mechanism.coordinate_rates[c.symbol] for c in coordinates])
        moving = {v.id for v in mechanism.motion_variables.values()}
        symbols: dict[Expr, Expr | float] = {
            c.rate: rate for c, rate in zip(coordinates, qdot, strict=True) if c.rate.id not in moving
        }
        speeds = list(mechanism.speed_records.values())
        defined = Transfer(mechanism.graph, self.graph, symbols)([s.definition for s in speeds])
        self._defined = defined
        symbols.update(zip((s.symbol for s in speeds), defined, strict=True))
        self.take = Transfer(mechanism.graph, self.graph, symbols)
        rates: dict[Expr, Expr | float] = {self.graph.input("t"): 1.0}
        rates.update(zip(bring([c.symbol for c in coordinates]), qdot, strict=True))
        self.motion = _Motion(self.graph, self.take, rates)

    def definitions(self) -> Table:
        """Y and Z of u = Y s + Z."""
        n = len(self.s)
        Y, Z = linear_coefficients(self._defined, self.s)
        return {"Y": ((n, n), _flat(Y)), "Z": ((n,), Z)}

    def quantities(self) -> Table:
        """All fields of `DenseState` but W, u and s."""
        b, n, take, motion = len(self.mechanism.bodies), len(self.s), self.take, self.motion
        rows: dict[str, list[Expr]] = {k: [] for k in ("m", "I", "R", "r", "w", "v", "alpha_t", "a_t")}
        for body in self.mechanism.bodies.values():
            assert body.frame is not None and body.origin is not None
            center = take.triple(body.center)
            w = motion.w(body.frame)
            v = plus(motion.v_in(body.origin, body.frame), cross(w, center))
            rows["m"].append(take.one(body.mass))
            rows["I"] += _flat(take.matrix(body.inertia))
            rows["R"] += _flat(motion.R_N(body.frame))
            rows["r"] += plus(motion.r(body.origin), times(motion.R_N(body.frame), center))
            rows["w"] += w
            rows["v"] += v
            rows["alpha_t"] += motion.rate(w)
            rows["a_t"] += plus(motion.rate(v), cross(w, v))
        partials, _ = linear_coefficients([*rows["w"], *rows["v"]], self.s)
        force, velocity = self._loads()
        along, _ = linear_coefficients(velocity, self.s)
        shapes = {"m": (b,), "I": (b, 3, 3), "R": (b, 3, 3)}
        table: Table = {name: (shapes.get(name, (b, 3)), exprs) for name, exprs in rows.items()}
        table["w_s"] = ((b, 3, n), _flat(partials[: 3 * b]))
        table["v_s"] = ((b, 3, n), _flat(partials[3 * b :]))
        table["definition_rate"] = ((n,), time_derivative(self._defined, motion.rates))
        table["gravity"] = ((3,), list(take.triple(self.mechanism.gravity)))
        table["force"] = ((len(force),), force)
        table["velocity"] = ((len(force),), velocity)
        table["velocity_s"] = ((len(force), n), _flat(along))
        table["rotor"] = ((n,), self._rotors())
        return table

    def _rotors(self) -> list[Expr]:
        """Inertia of rotors along each motion variable."""
        felt = [self.graph.const(0.0)] * len(self.s)
        place = {v: k for k, v in enumerate(self.s)}
        for rotor in self.mechanism.rotors.values():
            k = place[self.take.one(rotor.variable)]
            felt[k] = felt[k] + self.take.one(rotor.inertia)
        return felt

    def _loads(self) -> tuple[list[Expr], list[Expr]]:
        """(forces, velocities): every load as scalars that act along velocities."""
        force: list[Expr] = []
        velocity: list[Expr] = []
        for load in self.mechanism.loads.values():
            for action in load.actions():
                f, along = self._action(action)
                force += f
                velocity += along
        return force, velocity

    def _action(self, action: Action) -> tuple[Sequence[Expr], Sequence[Expr]]:
        take, motion = self.take, self.motion
        if isinstance(action, EffortAction):
            return [take.one(action.value)], [take.one(action.variable)]
        frame = action.vector.frame
        if isinstance(action, ForceAction):
            return take.triple(action.vector.xyz), motion.v_in(action.point, frame)
        return take.triple(action.vector.xyz), motion.turn(motion.w(action.frame), action.frame, frame)


class _Motion:
    """Velocities in N from orientations and positions alone, but for those that the analyst set."""

    def __init__(self, graph: Graph, take: Transfer, rates: Mapping[Expr, Expr | float]):
        self.take, self.rates = take, rates
        one, zero = graph.const(1.0), graph.const(0.0)
        self._zero: Triple = (zero, zero, zero)
        self._unit: Matrix = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
        self._R: dict[Frame, Matrix] = {}
        self._R_N: dict[Frame, Matrix] = {}
        self._w: dict[Frame, Triple] = {}
        self._r: dict[Point, Triple] = {}
        self._v: dict[Point, Triple] = {}

    def rate(self, xyz: Triple) -> Triple:
        x, y, z = time_derivative(xyz, self.rates)
        return (x, y, z)

    def R(self, frame: Frame) -> Matrix:
        """R_PF."""
        if frame not in self._R:
            self._R[frame] = self.take.matrix(frame.R_PF)
        return self._R[frame]

    def R_N(self, frame: Frame) -> Matrix:
        """R_NF, by columns turned into N."""
        if frame not in self._R_N:
            columns = [self.turn(e, frame, frame.root) for e in self._unit]
            x, y, z = ((columns[0][i], columns[1][i], columns[2][i]) for i in range(3))
            self._R_N[frame] = (x, y, z)
        return self._R_N[frame]

    def turn(self, xyz: Triple, frame: Frame, to: Frame) -> Triple:
        """Components in `frame` turned into components in `to`."""
        inward, outward = _path(frame), _path(to)
        while inward and outward and inward[-1] is outward[-1]:
            inward.pop()
            outward.pop()
        for f in inward:
            xyz = times(self.R(f), xyz)
        for f in reversed(outward):
            xyz = transpose_times(self.R(f), xyz)
        return xyz

    def w(self, frame: Frame) -> Triple:
        """ω of the frame in N, in the frame (rad/s)."""
        for f in reversed(_path(frame)):
            if f in self._w:
                continue
            if f.w_NF is not None:
                self._w[f] = self.take.triple(f.w_NF)
            elif f.parent is None:
                self._w[f] = self._zero
            else:
                R = self.R(f)
                x, y, z = (self.rate(row) for row in R)
                self._w[f] = plus(transpose_times(R, self._w[f.parent]), from_matrix((x, y, z), R))
        return self._w[frame]

    def r(self, point: Point) -> Triple:
        """Position from O, in N (m)."""
        for p in reversed(_points(point)):
            if p not in self._r:
                step = self.turn(self.take.triple(p.offset.xyz), p.offset.frame, p.offset.frame.root)
                self._r[p] = step if p.parent is None else plus(self._r[p.parent], step)
        return self._r[point]

    def v_in(self, point: Point, frame: Frame) -> Triple:
        """Velocity of the point in N, components in `frame` (m/s)."""
        for p in reversed(_points(point)):
            if p in self._v:
                continue
            if p.v_NP is not None:
                self._v[p] = self.take.triple(p.v_NP.xyz)
            elif p.parent is None:
                self._v[p] = self._zero
            else:
                offset, carrier = self.take.triple(p.offset.xyz), p.offset.frame
                carried = self.turn(self._v[p.parent], _velocity_frame(p.parent), carrier)
                moving = plus(cross(self.w(carrier), offset), self.rate(offset))
                self._v[p] = plus(carried, moving)
        return self.turn(self._v[point], _velocity_frame(point), frame)


def _velocity_frame(point: Point) -> Frame:
    """The frame in which the velocity of a point is written."""
    return point.offset.frame if point.v_NP is None else point.v_NP.frame


def _path(frame: Frame) -> list[Frame]:
    """The frame and those it is oriented in, up to the root."""
    path = [frame]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    return path


def _points(point: Point) -> list[Point]:
    """The point and those it is located from, up to the root."""
    path = [point]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    return path


def _flat(rows: Sequence[Sequence[Expr]]) -> list[Expr]:
    return [e for row in rows for e in row]


__all__ = ["DenseEquations", "DenseState", "dense_equations"]
