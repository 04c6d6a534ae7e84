"""One joint's step of the recursions over a tree, as programs: for trees too large to be written out.

A recursion is a few passes over the bodies, outward or inward. In every pass a body reads its own data, what it has
kept and what its parent or its children have left, and leaves something behind; which numbers those are depends on the
kind of its joint alone. So each step is traced once per kind, over the graph, and run for every body of that kind.

Groups of inputs and names of outputs say where numbers live:

  body        constants: R_rest (9), offset (3), m, h (3), I (6: xx xy xz yy yz zz), what the kind adds
  q, u, x     coordinates, speeds, and what is given and asked for: u̇ or efforts, then efforts or u̇
  here        kept by the body: ω (3) in its axes, sines and cosines of its joint
  inner       ω (3) of the parent, in the parent's axes
  kept        kept by the body from one pass to the next
  slot        left for the children: by outward passes
  inner_slot  left by the parent; inward passes leave their sum there
  outer       sum of what the children have left
  sum         what has been left for the parent so far
  totals      sums over all bodies
  place       the body's motion, as an answer

Accelerations are those of the link's reference point, at its joint; gravity acts through that of the ground. With
A, B, C the articulated inertia, N = A α + B a + n and F = Bᵀ α + C a + f are what the joint must give [FEA08, ch. 7].
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..graph import Expr, Graph, Inputs, Program, forward, linear_coefficients, lower
from ..model.joints import JointMotion
from ..space.algebra import (
    Matrix,
    Triple,
    cross,
    dot,
    minus,
    plus,
    product,
    rotate_tensor,
    scaled,
    sum_of,
    times,
    transpose,
    transpose_times,
)
from .inertia import Inertia
from .joint_kinds import JointKind, joint_of
from .mass import solve
from .transfer import Transfer

REST, OFFSET, MASS = slice(0, 9), slice(9, 12), slice(12, 22)
"""Where R_rest, offset and m, h, I stand in `body`; what the kind adds follows."""

ARTICULATED = 27
"""Numbers of an articulated inertia and its force: A (6), B (9), C (6), n (3), f (3)."""

STATE = 18
"""Numbers of a body's motion in N: R_NL (9), r (3), then ω and v (3 each) in its axes."""

TOTALS = 11
"""Kinetic energy, mass, m times the position of the mass centre (3), linear and angular momentum (3 each), in N."""

PASSES: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "forward_dynamics": (("velocities", False), ("articulate", True), ("accelerate", False)),
    "motion": (("velocities", False), ("articulate", True), ("accelerate_and_move", False)),
    "inverse_dynamics": (("inertia_forces", False), ("efforts", True)),
    "kinematics": (("rates", False),),
    "state": (("states", False),),
    "poses": (("places", False),),
}
"""The passes of each recursion, in order: name of the step, whether it runs inward."""


@dataclass(frozen=True, slots=True)
class _JointMotion:
    """A joint's motion, with the rates of w and v at u̇ = 0 and the places of its sines and cosines."""

    graph: Graph
    q: tuple[Expr, ...]
    u: tuple[Expr, ...]
    motion: JointMotion
    w_rate: tuple[Expr, ...]
    v_rate: tuple[Expr, ...]
    turns: tuple[Expr, ...]


@functools.cache
def _joint_motion(kind: JointKind) -> _JointMotion:
    graph = Graph()
    type = joint_of(kind, graph)
    q = tuple(graph.input(f"q{i}") for i in range(len(type.coordinates)))
    u = tuple(graph.input(f"u{i}") for i in range(len(type.speeds)))
    motion = type.motion(graph, q, u)
    rates = dict(zip(q, motion.qdot, strict=True))
    w_rate, v_rate = forward(motion.w, rates), forward(motion.v, rates)
    turns = tuple(graph.expr(n) for n in range(len(graph)) if graph.ops[n] in ("sin", "cos"))
    return _JointMotion(graph, q, u, motion, tuple(w_rate), tuple(v_rate), turns)


def here_size(kind: JointKind) -> int:
    """How many numbers `here` holds: ω and the sines and cosines."""
    return 3 + len(_joint_motion(kind).turns)


def kept_size(kind: JointKind) -> int:
    """How many numbers `kept` holds at most: gains and accelerations, or an inertia force."""
    return max(7 * len(_joint_motion(kind).u), 6)


class _Step:
    """A step being traced: inputs asked for by group, the joint's motion, the body's constants."""

    def __init__(self, kind: JointKind, *, turns: bool):
        """With `turns` sines and cosines are read from `here`; otherwise they are computed."""
        self.kind = kind
        self.graph = Graph()
        self.groups: dict[str, list[Expr]] = {}
        moves = _joint_motion(kind)
        self.q, self.u = self.group("q", len(moves.q)), self.group("u", len(moves.u))
        self.body = self.group("body", MASS.stop + kind.extra_constants)
        symbols: dict[Expr, Expr | float] = dict(zip((*moves.q, *moves.u), (*self.q, *self.u), strict=True))
        if kind.kind == "screw":
            symbols[moves.graph.input("pitch")] = self.body[MASS.stop]
        if turns:
            symbols.update(zip(moves.turns, self.group("here", here_size(kind))[3:], strict=True))
        self.take = Transfer(moves.graph, self.graph, symbols)
        m = moves.motion
        self.R_J, self.p_J = self.take.matrix(m.R), self.take.triple(m.p)
        self.w_J, self.v_J = self.take.triple(m.w), self.take.triple(m.v)
        self.w_rate, self.v_rate = self.take.triple(_triple(moves.w_rate)), self.take.triple(_triple(moves.v_rate))
        self.R_rest = _matrix(self.body[REST])
        self.R = product(self.R_rest, self.R_J)
        self.r = plus(_triple(self.body[OFFSET]), times(self.R_rest, self.p_J))
        mass = self.body[MASS]
        self.inertia = Inertia(mass[0], _triple(mass[1:4]), _symmetric(mass[4:]))
        self.rotors = self.body[len(self.body) - len(self.u) :] if kind.rotor else [self.graph.const(0.0)] * len(self.u)

    def group(self, name: str, size: int) -> list[Expr]:
        """The inputs of a group."""
        if name not in self.groups:
            self.groups[name] = [self.graph.input(f"{name}.{i}") for i in range(size)]
        return self.groups[name]

    def columns(self) -> list[list[Expr]]:
        """S: ω and v, in the link's axes, per unit of each speed."""
        if not self.u:
            return []
        A, _ = linear_coefficients([*self.w_J, *transpose_times(self.R_J, self.v_J)], self.u)
        return [[A[i][k] for i in range(6)] for k in range(len(self.u))]

    def to_parent(self, v: Triple) -> Triple:
        """A vector in the link's axes, in the parent's."""
        return times(self.R, v)

    def to_link(self, v: Triple) -> Triple:
        """A vector in the parent's axes, in the link's."""
        return transpose_times(self.R, v)

    def turn_rate(self, w: Triple) -> Triple:
        """What ω of the parent and the joint's own rates add to α, in the link's axes."""
        return plus(cross(minus(w, self.w_J), self.w_J), self.w_rate)

    def remainder(self, w_inner: Triple) -> Triple:
        """What velocities add to the acceleration of the reference point, in the parent's axes: ω × (ω × r) + 2 ω × v
        + the rate of v."""
        v, rate = times(self.R_rest, self.v_J), times(self.R_rest, self.v_rate)
        return plus(plus(cross(w_inner, cross(w_inner, self.r)), scaled(2.0, cross(w_inner, v))), rate)

    def program(self, name: str, outputs: Mapping[str, Sequence[Expr]]) -> Program:
        """The program of a step; groups without inputs are left out."""
        filled = {out: ((len(flat),), list(flat)) for out, flat in outputs.items() if flat}
        inputs = [Inputs(g, tuple(f"{g}.{i}" for i in range(len(e)))) for g, e in self.groups.items() if e]
        label = ", ".join(filter(None, (self.kind.kind, self.kind.option, "rotor" if self.kind.rotor else "")))
        return lower(f"{name} of {label}", inputs, filled)


def _triple(values: Sequence[Expr]) -> Triple:
    return (values[0], values[1], values[2])


def _matrix(rows: Sequence[Expr]) -> Matrix:
    return (_triple(rows[0:3]), _triple(rows[3:6]), _triple(rows[6:9]))


def _symmetric(six: Sequence[Expr]) -> Matrix:
    xx, xy, xz, yy, yz, zz = six
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _upper_triangle(m: Matrix) -> list[Expr]:
    return [m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2]]


def _skew(p: Triple) -> Matrix:
    zero = p[0].graph.const(0.0)
    return ((zero, -p[2], p[1]), (p[2], zero, -p[0]), (-p[1], p[0], zero))


def step(kind: JointKind, name: str) -> Program | None:
    """The program of one step of `PASSES`; None where a joint of this kind has nothing to do in it."""
    return _STEPS[name](kind)


# forward dynamics ----------------------------------------------------------------------------------------------------


def _velocities(kind: JointKind) -> Program:
    """ω of the body; sines and cosines of its joint are kept."""
    s = _Step(kind, turns=False)
    w = plus(s.to_link(_triple(s.group("inner", 3))), s.w_J)
    return s.program("velocities", {"here": [*w, *s.take(_joint_motion(kind).turns)]})


def _articulate(kind: JointKind) -> Program:
    """The articulated inertia of a body and all outboard of it, as seen by the parent through the joint.

    U = IA S, D = Sᵀ U + rotors, K = U D⁻¹, e = D⁻¹ (τ − Sᵀ p); then Ia = IA − K Uᵀ, pa = p + Ia c + U e.
    """
    s = _Step(kind, turns=True)
    w, w_inner = _triple(s.group("here", 3)), _triple(s.group("inner", 3))
    tau = s.group("x", len(s.u))
    sums = [a + b for a, b in zip(_rigid(s.inertia, w), s.group("outer", ARTICULATED), strict=True)]
    A, B, C = _symmetric(sums[0:6]), _matrix(sums[6:15]), _symmetric(sums[15:21])
    force = sums[21:27]
    S = s.columns()
    U = [_product(A, B, C, column) for column in S]
    n = len(S)
    D = [[_dot(S[i], U[j]) if i >= j else U[0][0] for j in range(n)] for i in range(n)]
    for i in range(n):
        D[i][i] = D[i][i] + s.rotors[i]
        for j in range(i):
            D[j][i] = D[i][j]
    e = solve(D, [t - _dot(column, force) for t, column in zip(tau, S, strict=True)], range(n))
    K = [solve(D, [U[i][a] for i in range(n)], range(n)) for a in range(6)]  # by rows: 6 × n
    entries = _downdate(A, B, C, U, K, set() if kind.rotor else _free_axes(S))
    A, B, C = _symmetric(entries[0:6]), _matrix(entries[6:15]), _symmetric(entries[15:21])
    c = s.turn_rate(w)
    torque = plus(_add_combination(_triple(force[:3]), U, e, 0), times(A, c))
    push = plus(_add_combination(_triple(force[3:]), U, e, 3), transpose_times(B, c))
    moved = _to_parent(s, (A, B, C), torque, push, s.remainder(w_inner))
    left = [a + b for a, b in zip(moved, s.group("sum", ARTICULATED), strict=True)]
    return s.program("articulate", {"inner_slot": left, "kept": [*(K[a][i] for i in range(n) for a in range(6)), *e]})


def _rigid(body: Inertia, w: Triple) -> list[Expr]:
    """The articulated inertia and force of a rigid body alone.

    N = I α + h × a + ω × I ω,   F = m a − h × α + ω × (ω × h)
    """
    zero = body.m.graph.const(0.0)
    B = _skew(body.h)
    n, f = cross(w, times(body.I, w)), cross(w, cross(w, body.h))
    return [*_upper_triangle(body.I), *B[0], *B[1], *B[2], body.m, zero, zero, body.m, zero, body.m, *n, *f]


def _product(A: Matrix, B: Matrix, C: Matrix, column: Sequence[Expr]) -> list[Expr]:
    w, v = _triple(column[:3]), _triple(column[3:])
    return [*plus(times(A, w), times(B, v)), *plus(transpose_times(B, w), times(C, v))]


def _dot(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    return dot(_triple(a[:3]), _triple(b[:3])) + dot(_triple(a[3:]), _triple(b[3:]))


def _add_combination(start: Triple, U: list[list[Expr]], e: list[Expr], row: int) -> Triple:
    total = start
    for column, factor in zip(U, e, strict=True):
        total = plus(total, scaled(factor, _triple(column[row : row + 3])))
    return total


def _free_axes(S: list[list[Expr]]) -> set[int]:
    """Axes (0 to 2 turning, 3 to 5 sliding) along which a joint moves freely: it transmits nothing along them."""
    if len(S) == 6:
        return set(range(6))
    units = [[a for a in range(6) if not column[a].is_zero] for column in S]
    return {axes[0] for column, axes in zip(S, units, strict=True) if len(axes) == 1 and column[axes[0]] == 1.0}


def _downdate(
    A: Matrix, B: Matrix, C: Matrix, U: list[list[Expr]], K: list[list[Expr]], unfelt: set[int]
) -> list[Expr]:
    """A, B, C less K Uᵀ; exactly zero along axes that the joint leaves free."""
    zero = A[0][0].graph.const(0.0)

    def entry(x: Expr, a: int, b: int) -> Expr:
        if a in unfelt or b in unfelt:
            return zero
        for i in range(len(U)):
            x = x - K[a][i] * U[i][b]
        return x

    upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    entries = [entry(A[i][j], i, j) for i, j in upper]
    entries += [entry(B[i][j], i, 3 + j) for i in range(3) for j in range(3)]
    return entries + [entry(C[i][j], 3 + i, 3 + j) for i, j in upper]


def _to_parent(
    s: _Step, inertia: tuple[Matrix, Matrix, Matrix], torque: Triple, push: Triple, remainder: Triple
) -> list[Expr]:
    """An articulated inertia and its force in the parent's axes, about the parent's reference point.

    With a_L = a + α × r + remainder: B' = B + r̃ C, A' = A − B r̃ + r̃ B'ᵀ.
    """
    A, C = rotate_tensor(s.R, inertia[0]), rotate_tensor(s.R, inertia[2])
    B = product(s.R, product(inertia[1], transpose(s.R)))
    torque = plus(s.to_parent(torque), times(B, remainder))
    push = plus(s.to_parent(push), times(C, remainder))
    skew = _skew(s.r)
    B_moved = sum_of(B, product(skew, C))
    half, other = product(B, skew), product(skew, transpose(B_moved))
    A_moved = tuple(plus(minus(A[i], half[i]), other[i]) for i in range(3))
    upper = [A_moved[i][j] for i in range(3) for j in range(i, 3)]
    moment = plus(torque, cross(s.r, push))
    return [*upper, *B_moved[0], *B_moved[1], *B_moved[2], *_upper_triangle(C), *moment, *push]


def _accelerate(kind: JointKind, move: bool = False) -> Program:
    """u̇ = e − Kᵀ (what the parent's acceleration gives the body), and the body's own acceleration; with `move` the
    rates of the coordinates too."""
    s = _Step(kind, turns=True)
    w, w_inner = _triple(s.group("here", 3)), _triple(s.group("inner", 3))
    given = s.group("inner_slot", 6)
    kept = s.group("kept", 7 * len(s.u))
    alpha_inner, a_inner = _triple(given[:3]), _triple(given[3:])
    alpha = plus(s.to_link(alpha_inner), s.turn_rate(w))
    a = s.to_link(plus(plus(a_inner, cross(alpha_inner, s.r)), s.remainder(w_inner)))
    udot = [kept[6 * len(s.u) + i] - _dot(kept[6 * i : 6 * i + 6], [*alpha, *a]) for i in range(len(s.u))]
    for column, rate in zip(s.columns(), udot, strict=True):
        alpha = plus(alpha, scaled(rate, _triple(column[:3])))
        a = plus(a, scaled(rate, _triple(column[3:])))
    outputs: dict[str, Sequence[Expr]] = {"slot": [*alpha, *a], "x": udot}
    if move:
        outputs["q"] = s.take(_joint_motion(kind).motion.qdot)
    return s.program("accelerate and move" if move else "accelerate", outputs)


# inverse dynamics ----------------------------------------------------------------------------------------------------


def _inertia_forces(kind: JointKind) -> Program:
    """ω, α and a of the body, and the force and moment that give it this motion."""
    s = _Step(kind, turns=False)
    w_inner, given = _triple(s.group("inner", 3)), s.group("inner_slot", 6)
    udot = s.group("x", len(s.u))
    w = plus(s.to_link(w_inner), s.w_J)
    alpha_inner, a_inner = _triple(given[:3]), _triple(given[3:])
    alpha = plus(s.to_link(alpha_inner), s.turn_rate(w))
    a = s.to_link(plus(plus(a_inner, cross(alpha_inner, s.r)), s.remainder(w_inner)))
    for column, rate in zip(s.columns(), udot, strict=True):
        alpha = plus(alpha, scaled(rate, _triple(column[:3])))
        a = plus(a, scaled(rate, _triple(column[3:])))
    skew = _skew(w)
    products = product(skew, skew)
    turning = tuple(plus(x, y) for x, y in zip(_skew(alpha), products, strict=True))
    F, N = s.inertia.loads(w, alpha, (turning[0], turning[1], turning[2]), a)
    here = [*w, *s.take(_joint_motion(kind).turns)]
    return s.program("inertia forces", {"here": here, "slot": [*alpha, *a], "kept": [*N, *F]})


def _efforts(kind: JointKind) -> Program:
    """Efforts along the joint's speeds, and what the parent must give."""
    s = _Step(kind, turns=True)
    udot = s.group("x", len(s.u))
    sums = [a + b for a, b in zip(s.group("kept", 6), s.group("outer", 6), strict=True)]
    N, F = _triple(sums[:3]), _triple(sums[3:])
    tau = [_dot(c, sums) + s.rotors[i] * udot[i] for i, c in enumerate(s.columns())]
    push = s.to_parent(F)
    left = [a + b for a, b in zip([*plus(s.to_parent(N), cross(s.r, push)), *push], s.group("sum", 6), strict=True)]
    return s.program("efforts", {"inner_slot": left, "x": tau})


# rates, energy, momentum, places -------------------------------------------------------------------------------------


def _rates(kind: JointKind) -> Program | None:
    """Rates of the coordinates, in their place."""
    s = _Step(kind, turns=False)
    return s.program("rates", {"q": s.take(_joint_motion(kind).motion.qdot)}) if s.q else None


def _body_motion(s: _Step) -> list[Expr]:
    """The body's motion in N, from that of its parent: see `STATE`."""
    given = s.group("inner_slot", STATE)
    R_inner, r_inner, w_inner, v_inner = _matrix(given[:9]), *(_triple(given[i : i + 3]) for i in (9, 12, 15))
    R, r = product(R_inner, s.R), plus(r_inner, times(R_inner, s.r))
    w = plus(s.to_link(w_inner), s.w_J)
    v = s.to_link(plus(plus(v_inner, cross(w_inner, s.r)), times(s.R_rest, s.v_J)))
    return [*R[0], *R[1], *R[2], *r, *w, *v]


def _states(kind: JointKind) -> Program:
    """The body's motion in N, and its part of `TOTALS`."""
    s = _Step(kind, turns=False)
    totals, moving = s.group("totals", TOTALS), _body_motion(s)
    R, r, w, v = _matrix(moving[:9]), *(_triple(moving[i : i + 3]) for i in (9, 12, 15))
    energy = s.inertia.kinetic_energy(w, v)
    for inertia, rate in zip(s.rotors, s.u, strict=True):
        energy = energy + 0.5 * inertia * rate * rate
    p, H = s.inertia.momentum(w, v)
    p_N = times(R, p)
    H_N = plus(times(R, H), cross(r, p_N))
    moment = plus(times(R, s.inertia.h), scaled(s.inertia.m, r))
    summed = [a + b for a, b in zip(totals, [energy, s.inertia.m, *moment, *p_N, *H_N], strict=True)]
    return s.program("states", {"slot": moving, "totals": summed})


def _places(kind: JointKind) -> Program:
    """The body's motion in N, for its children and as an answer."""
    s = _Step(kind, turns=False)
    moving = _body_motion(s)
    return s.program("places", {"slot": moving, "place": moving})


_STEPS = {
    "velocities": _velocities,
    "articulate": _articulate,
    "accelerate": _accelerate,
    "accelerate_and_move": lambda kind: _accelerate(kind, move=True),
    "inertia_forces": _inertia_forces,
    "efforts": _efforts,
    "rates": _rates,
    "states": _states,
    "places": _places,
}

__all__ = [
    "ARTICULATED",
    "MASS",
    "PASSES",
    "STATE",
    "TOTALS",
    "here_size",
    "kept_size",
    "step",
]
