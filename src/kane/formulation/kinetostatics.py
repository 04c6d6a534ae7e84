"""Kinetostatic equations: Newton and Euler for every body, all wrenches of joints and constraints unknown.

The third route to reactions, from the numbers of the dense equations and the description alone. With the twists of all
bodies t = T s, columns of T being the natural orthogonal complement of what joints allow, and the equations
G W + H λ = r over all bodies (W: wrenches of joints; H: unit reactions; r: what the bodies need beyond their loads),
Tᵀ G W are the efforts along the motion variables. So Tᵀ H λ = Tᵀ r − efforts has the multipliers as its only unknowns,
and W follows from the equations of the bodies, solved together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.multipliers import Balance, multipliers_by_singular_values
from ..constraints.rank import count_above
from ..graph import Expr, Graph, evaluate, time_derivative
from ..model import Body, Mechanism
from ..model.loads import Action, EffortAction, ForceAction
from ..space import position
from .dense import DenseState, dense_equations
from .reactions import JointTree, all_rows, body_actions, body_of, joint_tree
from .sizes import row_sizes
from .transfer import Transfer

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Kinetostatics:
    """Reactions at one state. `wrench` (joints, 6) on the children about the joints' points, force before moment, in N;
    λ (rows,) with its null space (rows, k); unit reactions `acts` (rows, 6) on the second bodies about the constraints'
    points, and `row_efforts` (rows, variables) along motion variables."""

    wrench: Array
    point: Array
    multipliers: Array
    null: Array
    acts: Array
    constraint_point: Array
    row_efforts: Array


class KinetostaticEquations:
    """The equations of all bodies of a mechanism, in numbers at a state."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.held: JointTree = joint_tree(mechanism)
        self._dense = dense_equations(mechanism)
        self._sizes = row_sizes(mechanism, all_rows(mechanism))
        self._geometry = _Geometry(mechanism)
        order = {name: k for k, name in enumerate(mechanism.bodies)}
        self._child = [order[j.child.name] for j in mechanism.joints.values()]
        self._variables = list(mechanism.motion_variables.values())

    def solve(
        self, q: Any, u: Any, tau: Any, t: float = 0.0, udot: Any = None, stiffness: Array | None = None
    ) -> Kinetostatics:
        """Reactions at a state; accelerations that tau and the constraints produce are found too, where not given.
        `stiffness` (rows,) decides between reactions that rigid bodies leave open (see `constraints.multipliers`)."""
        state = self._dense.state(q, u, t)
        values = self._values(q, state, t)
        g = self._geometry.numbers(values)
        A = self._rows(state, g) @ state.W
        if udot is None:
            udot = self._accelerations(state, g, A, np.asarray(tau, dtype=float), values)
        sdot = state.variable_rates(udot)
        needs = self._needs(state, g, udot)
        rows = len(A)
        T = _complement(state)
        efforts = np.linalg.solve(state.W.T, np.asarray(tau, dtype=float)) - state.rotor * sdot + g.efforts
        rest = T.T @ needs.reshape(-1) - efforts
        mass = np.abs(np.diag(state.mass_matrix))
        found = multipliers_by_singular_values(
            Balance(A[None], (state.W.T @ rest)[None], mass[None], stiffness, self._sizes)
        )
        lam = found.values[0]
        left = needs.copy()
        for r in range(rows):
            for k, F, M in g.rows[r]:
                left[k] -= lam[r] * np.concatenate([F, M])
        wrench: Array = np.linalg.solve(self._incidence(state, g), left.reshape(-1)).reshape(-1, 6).astype(float)
        on_second = self._on_second(state, g)
        return Kinetostatics(wrench, g.pins, lam, found.null[0], on_second, g.points, g.row_efforts)

    def _values(self, q: Any, state: DenseState, t: float) -> dict[str, float]:
        mechanism = self.mechanism
        values = {p.name: p.value for p in mechanism.parameters.values()}
        values.update(zip(mechanism.coordinates, np.asarray(q, dtype=float).tolist(), strict=True))
        values.update(zip(mechanism.motion_variables, state.s.tolist(), strict=True))
        values["t"] = float(t)
        return values

    def _needs(self, state: DenseState, g: Numbers, udot: Any) -> Array:
        """What each body needs beyond gravity and loads, about its mass centre, in N: (bodies, 6)."""
        R_star, T_star = state.inertia_loads(udot)
        force = -np.einsum("bij,bj->bi", state.R, R_star + state.weights)
        needs = np.concatenate([force, -np.einsum("bij,bj->bi", state.R, T_star)], axis=1)
        for k, F, M in g.loads:
            needs[k] -= np.concatenate([F, M])
        return needs

    def _rows(self, state: DenseState, g: Numbers) -> Array:
        """A over the motion variables: power of unit reactions per unit of each."""
        A = g.row_efforts.copy()
        w_s, v_s = _partials_in_N(state)
        for r, row in enumerate(g.rows):
            for k, F, M in row:
                A[r] += F @ v_s[k] + M @ w_s[k]
        return A

    def _accelerations(self, state: DenseState, g: Numbers, A: Array, tau: Array, values: dict[str, float]) -> Array:
        """u̇ by the null space of A: M u̇ + bias = tau + Aᵀ λ and A u̇ = b."""
        M, bias = state.mass_matrix, state.efforts(np.zeros(len(state.s)))
        if not len(A):
            return np.linalg.solve(M, tau - bias).astype(float)
        rates = self._geometry.rates(values)
        b = np.zeros(len(A))
        v, w = (np.einsum("bij,bj->bi", state.R, x) for x in (state.v, state.w))
        a, alpha = (np.einsum("bij,bj->bi", state.R, x) for x in (state.a_t, state.alpha_t))
        for r, row in enumerate(g.rows):
            b[r] = -rates.rheonomic[r] - rates.row_efforts[r] @ state.s
            for (k, F, Mo), (_, F_dot, M_dot) in zip(row, rates.rows[r], strict=True):
                b[r] -= a[k] @ F + v[k] @ F_dot + alpha[k] @ Mo + w[k] @ M_dot
        b += A @ state.definition_rate
        U, s, Vt = np.linalg.svd(A)
        rank = count_above(s)
        start = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
        N = Vt[rank:].T
        return start + N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau - bias - M @ start))

    def _incidence(self, state: DenseState, g: Numbers) -> Array:
        """G: wrenches of joints on their children about the joints' points → resultants on bodies at mass centres."""
        G = np.zeros((6 * len(state.m), 6 * len(self._child)))
        for i, child in enumerate(self._child):
            G[6 * child : 6 * child + 6, 6 * i : 6 * i + 6] = _shift_matrix(g.pins[i] - state.r[child])
            if self.held.parents[i] >= 0:
                parent = self._child[self.held.parents[i]]
                G[6 * parent : 6 * parent + 6, 6 * i : 6 * i + 6] -= _shift_matrix(g.pins[i] - state.r[parent])
        return G

    def _on_second(self, state: DenseState, g: Numbers) -> Array:
        """Unit reactions on the second bodies about the constraints' points."""
        acts, r, order = np.zeros((len(g.rows), 6)), 0, list(self.mechanism.bodies)
        for c, constraint in enumerate(self.mechanism.constraints.values()):
            on_ground = constraint.second is self.mechanism.ground
            of = constraint.first if on_ground else constraint.second
            for _ in constraint.rows:
                for k, F, M in g.rows[r]:
                    if of is not None and order[k] == of.name:
                        sign = -1.0 if on_ground else 1.0
                        acts[r, :3] += sign * F
                        acts[r, 3:] += sign * (M + np.cross(state.r[k] - g.points[c], F))
                r += 1
        return acts


Acting = list[tuple[int, Array, Array]]
"""(body, force, moment about its mass centre), in N."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Loads and unit reactions on bodies, efforts of both along motion variables, and where joints and constraints sit,
    at one state; or the rates of the same at ṡ = 0."""

    loads: Acting
    rows: list[Acting]
    efforts: Array
    row_efforts: Array
    rheonomic: Array
    pins: Array
    points: Array


class _Geometry:
    """Loads, rows and points of a description as expressions over parameters, t, coordinates and motion variables."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism, graph = mechanism, Graph()
        bring = Transfer(mechanism.graph, graph, {})
        coordinates = list(mechanism.coordinate_records.values())
        qdot = bring([mechanism.coordinate_rates[c.symbol] for c in coordinates])
        moving = {v.id for v in mechanism.motion_variables.values()}
        symbols: dict[Expr, Expr | float] = {
            c.rate: rate for c, rate in zip(coordinates, qdot, strict=True) if c.rate.id not in moving
        }
        speeds = list(mechanism.speed_records.values())
        defined = Transfer(mechanism.graph, graph, symbols)([s.definition for s in speeds])
        symbols.update(zip((s.symbol for s in speeds), defined, strict=True))
        take = Transfer(mechanism.graph, graph, symbols)
        variables = list(mechanism.motion_variables.values())
        order = {name: k for k, name in enumerate(mechanism.bodies)}
        exprs: list[Expr] = []
        loads = [a for load in mechanism.loads.values() for a in load.actions()]
        on = [(body_of(mechanism, a), a) for a in loads]
        rows = all_rows(mechanism)
        self._loads = [order[b.name] for b, _ in on if b is not None]
        self._rows = [[order[b.name] for b, _ in body_actions(mechanism, row) if b.name in order] for row in rows]
        for body, action in [*on, *(pair for row in rows for pair in body_actions(mechanism, row))]:
            if body is not None and body.name in order:
                exprs += self._wrench(body, action)
        exprs += _efforts_along(mechanism, variables, loads)
        for row in rows:
            exprs += _efforts_along(mechanism, variables, row.actions)
        exprs += [row.rheonomic for row in rows]
        zero = mechanism.graph.const(0.0)
        for joint in mechanism.joints.values():
            assert joint.child.origin is not None and joint.child.origin.parent is not None
            exprs += position(joint.child.origin.parent, mechanism.O).express(mechanism.N).xyz
        for c in mechanism.constraints.values():
            exprs += [zero] * 3 if c.point is None else position(c.point, mechanism.O).express(mechanism.N).xyz
        self._exprs = take(exprs)
        clock: dict[Expr, Expr | float] = {graph.input("t"): 1.0}
        clock.update(zip(bring([c.symbol for c in coordinates]), qdot, strict=True))
        self._clock = clock
        self._changing: list[Expr] | None = None

    def _wrench(self, body: Body, action: Action) -> list[Expr]:
        """Force and moment about the body's mass centre, in N."""
        assert not isinstance(action, EffortAction) and body.origin is not None and body.frame is not None
        N = self.mechanism.N
        vector = action.vector.express(N)
        if not isinstance(action, ForceAction):
            return [*N.vector(0, 0, 0).xyz, *vector.xyz]
        center = body.origin.locate_new(f"{body.name}.center", body.frame.vector(*body.center))
        arm = position(action.point, center).express(N)
        return [*vector.xyz, *arm.cross(vector).xyz]

    def numbers(self, values: dict[str, float]) -> Numbers:
        return self._unpack(evaluate(self._exprs, values))

    def rates(self, values: dict[str, float]) -> Numbers:
        if self._changing is None:
            self._changing = time_derivative(self._exprs, self._clock)
        return self._unpack(evaluate(self._changing, values))

    def _unpack(self, flat: Sequence[float]) -> Numbers:
        x, at = np.array(flat, dtype=float), 0
        n, rows = len(self.mechanism.motion_variables), len(self._rows)

        def take_next(*shape: int) -> Array:
            nonlocal at
            size = int(np.prod(shape))
            at += size
            return x[at - size : at].reshape(shape)

        def wrenches(bodies: list[int]) -> Acting:
            return [(k, w[:3], w[3:]) for k, w in zip(bodies, take_next(len(bodies), 6), strict=True)]

        return Numbers(
            wrenches(self._loads),
            [wrenches(bodies) for bodies in self._rows],
            take_next(n),
            take_next(rows, n),
            take_next(rows),
            take_next(len(self.mechanism.joints), 3),
            take_next(len(self.mechanism.constraints), 3),
        )


def _efforts_along(mechanism: Mechanism, variables: Sequence[Expr], actions: Sequence[Action]) -> list[Expr]:
    """Efforts of actions along each motion variable."""
    total = [mechanism.graph.const(0.0)] * len(variables)
    place = {v: k for k, v in enumerate(variables)}
    for action in actions:
        if isinstance(action, EffortAction):
            total[place[action.variable]] = total[place[action.variable]] + action.value
    return total


def _partials_in_N(state: DenseState) -> tuple[Array, Array]:
    """(ω_s, v_s): partials along the motion variables of all bodies, components in N, (bodies, 3, n)."""
    return state.R @ state.w_s, state.R @ state.v_s


def _complement(state: DenseState) -> Array:
    """T: velocities of mass centres and angular velocities of all bodies per unit of each motion variable."""
    w_s, v_s = _partials_in_N(state)
    return np.concatenate([v_s, w_s], axis=1).reshape(-1, w_s.shape[-1])


def _shift_matrix(arm: Array) -> Array:
    """A wrench about a point as one about another from which that point lies at `arm`, (6, 6)."""
    x, y, z = arm
    out = np.eye(6)
    out[3:, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    return out


__all__ = ["KinetostaticEquations", "Kinetostatics"]
