"""A mechanism brought into one graph, ready to be formulated: symbols, kinematics, links.

Parameters become numbers, or inputs where they are kept free. The motion variables s of the joints are expressed by
the generalized speeds, s = W u + X, after solving their definitions u = Y s + Z.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..constraints.thresholds import INVOLVED, REDUNDANT
from ..errors import ModelError, Problem
from ..graph import Expr, Graph, evaluate, linear_coefficients
from ..model import Mechanism
from ..space import Frame, Kinematics
from ..space.algebra import Triple, scaled
from .links import Link
from .polynomials import quotient
from .transfer import Transfer

_SAMPLE_SEED = 20  # of the generic state at which definitions of speeds are judged


@dataclass(frozen=True, slots=True)
class SpeedMap:
    """Between motion variables s and speeds u: u = Y s + Z, s = W u + X, over q, t and parameters."""

    Y: list[list[Expr]]
    Z: list[Expr]
    s: list[Expr]  # W u + X
    identity: bool


class System:
    """One mechanism in one graph. `udot` are symbols, or zeros where only the bias is wanted."""

    def __init__(self, mechanism: Mechanism, graph: Graph, free: Iterable[str] = (), *, joint_speeds: bool = False):
        """With `joint_speeds` the speeds are the motion variables of the joints, whatever the model chose."""
        self.mechanism = mechanism
        self.graph = graph
        free = set(free)
        self.t = graph.input("t")
        self.q = [graph.input(c) for c in mechanism.coordinates]
        self.variables = list(mechanism.motion_variables.values())
        self.joint_speeds = joint_speeds
        symbols: dict[Expr, Expr | float] = {mechanism.time: self.t}
        for p in mechanism.parameters.values():
            symbols[p.symbol] = graph.input(p.name) if p.name in free or not p.has_value else p.value
        for c, q in zip(mechanism.coordinate_records.values(), self.q, strict=True):
            symbols[c.symbol] = q
        if joint_speeds:
            self.u = [graph.input(repr(s)) for s in self.variables]
            self.udot = [graph.input(f"{s!r}'") for s in self.variables]
        else:
            self.u = [graph.input(s) for s in mechanism.speeds]
            self.udot = [graph.input(f"{s}'") for s in mechanism.speeds]
        self.map = self._speed_map(symbols)
        for s, expr in zip(self.variables, self.map.s, strict=True):
            symbols[s] = expr
        if not joint_speeds:
            for record, u in zip(mechanism.speed_records.values(), self.u, strict=True):
                symbols[record.symbol] = u
        else:
            self._speeds_in_variables(symbols)
        bring = Transfer(mechanism.graph, graph, symbols)
        self.qdot = bring([mechanism.coordinate_rates[c.symbol] for c in mechanism.coordinate_records.values()])
        for c, rate in zip(mechanism.coordinate_records.values(), self.qdot, strict=True):
            symbols.setdefault(c.rate, rate)
        self.take = Transfer(mechanism.graph, graph, symbols)
        self.gravity = self.take.triple(mechanism.gravity)

    # speeds ------------------------------------------------------------------------------------------------------

    def _speed_map(self, symbols: Mapping[Expr, Expr | float]) -> SpeedMap:
        """s = W u + X from the definitions u = Y s + Z."""
        mechanism, graph = self.mechanism, self.graph
        zero, one = graph.const(0.0), graph.const(1.0)
        place = {v: i for i, v in enumerate(self.variables)}
        n = len(self.variables)
        if self.joint_speeds:
            rows = [[one if i == j else zero for j in range(n)] for i in range(n)]
            return SpeedMap(rows, [zero] * n, list(self.u), True)
        definitions = [s.definition for s in mechanism.speed_records.values()]
        if all(d in place for d in definitions) and len(set(definitions)) == n:
            s = [zero] * n
            rows = [[zero] * n for _ in range(n)]
            for r, d in enumerate(definitions):
                s[place[d]] = self.u[r]
                rows[r][place[d]] = one
            return SpeedMap(rows, [zero] * n, s, True)
        here = Transfer(mechanism.graph, graph, {**symbols, **{v: graph.input(f"{v!r}*") for v in self.variables}})
        unknowns = here(self.variables)
        Y, Z = linear_coefficients(here(definitions), unknowns)
        self._check_solvable(Y)
        s = _solve_small(graph, Y, [u - z for u, z in zip(self.u, Z, strict=True)], self.generic_state())
        return SpeedMap(Y, Z, s, False)

    def _speeds_in_variables(self, symbols: dict[Expr, Expr | float]) -> None:
        """The user's speeds as expressions of the motion variables (loads may be written in speeds)."""
        bring = Transfer(self.mechanism.graph, self.graph, symbols)
        for record in self.mechanism.speed_records.values():
            symbols[record.symbol] = bring.one(record.definition)

    def generic_state(self) -> dict[str, float]:
        """Values for all inputs: the initial state, moved a little off special positions."""
        rng = random.Random(_SAMPLE_SEED)  # numpy's takes as long to import as a small mechanism to formulate
        values = {name: rng.uniform(0.3, 1.1) for name in self.graph.inputs}
        for c in self.mechanism.coordinate_records.values():
            values[c.name] = c.initial + rng.uniform(0.05, 0.3)
        return {**values, **self.parameter_values()}

    def parameter_values(self) -> dict[str, float]:
        """Name → value; 1 where there is none, to judge by: programs that depend on such a parameter are refused."""
        return {p.name: p.value if p.has_value else 1.0 for p in self.mechanism.parameters.values()}

    def initial_state(self) -> dict[str, float]:
        """Values for all inputs: the model's initial state, efforts zero."""
        values = dict.fromkeys(self.graph.inputs, 0.0)
        values.update((c.name, c.initial) for c in self.mechanism.coordinate_records.values())
        values.update((s.name, s.initial) for s in self.mechanism.speed_records.values())
        return {**values, **self.parameter_values()}

    def _check_solvable(self, Y: list[list[Expr]]) -> None:
        flat = evaluate([e for row in Y for e in row], self.generic_state())
        matrix = np.array(flat).reshape(len(Y), -1)
        rank = int(np.linalg.matrix_rank(matrix, tol=REDUNDANT * max(1.0, np.abs(matrix).max())))
        if rank < len(Y):
            names = list(self.mechanism.speeds)
            weights = np.linalg.svd(matrix.T)[2][-1]
            involved = [n for n, w in zip(names, weights, strict=True) if abs(w) > INVOLVED]
            raise ModelError(
                Problem(
                    self.mechanism.where("speeds"),
                    f"the speeds {', '.join(involved)} are not independent: rank {rank} of {len(Y)}",
                    "u = Y q̇ + Z must have a solution for q̇",
                    "define as many independent speeds as there are degrees of freedom",
                )
            )

    # kinematics --------------------------------------------------------------------------------------------------

    def kinematics(self, links: Iterable[Link] = (), *, accelerate: bool = True, gravity: bool = True) -> Kinematics:
        """Kinematics in N with u̇ as symbols or, with accelerate=False, zero; gravity acts through the base or not.

        Bodies are seen from the frames and reference points of their `links`.
        """
        zero = self.graph.const(0.0)
        udot = self.udot if accelerate else [zero] * len(self.u)
        rates: dict[Expr, Expr | float] = {self.t: 1.0}
        rates.update(zip(self.q, self.qdot, strict=True))
        rates.update(zip(self.u, udot, strict=True))
        base = scaled(-1.0, self.gravity) if gravity else None
        kin = Kinematics(self.graph, rates, self.take, base, remark="" if accelerate else ", u' = 0")
        links = list(links)
        for link in links:
            link.attach(kin)
        if not self.joint_speeds and not self.map.identity:
            self._set_measure_numbers(kin, udot, {link.body.frame: link for link in links})
        return kin

    def _set_measure_numbers(self, kin: Kinematics, udot: Sequence[Expr], links: Mapping[Frame | None, Link]) -> None:
        """Frames whose ω has speeds as its three measure numbers get them directly, as Kane does."""
        mechanism = self.mechanism
        rates: dict[Expr, Expr | float] = dict(mechanism.coordinate_rates)
        described = Kinematics(mechanism.graph, {**rates, mechanism.time: 1.0})
        defined = {s.definition: r for r, s in enumerate(mechanism.speed_records.values())}
        for frame in _all_frames(mechanism):
            if frame.w_NF is None and frame.parent is not None:
                which = [defined.get(c) for c in described.w(frame)]
                if None not in which:
                    x, y, z = (k for k in which if k is not None)
                    w: Triple = (self.u[x], self.u[y], self.u[z])
                    alpha: Triple = (udot[x], udot[y], udot[z])
                    if frame in links:
                        links[frame].set_motion(kin, w, alpha)
                    else:
                        kin.set(frame, w, alpha)


def _all_frames(mechanism: Mechanism) -> list[Frame]:
    frames = list(mechanism.frames.values())
    frames += [b.frame for b in mechanism.bodies.values() if b.frame is not None]
    return list({id(f): f for f in frames}.values())


def _solve_small(graph: Graph, Y: list[list[Expr]], rhs: list[Expr], at: Mapping[str, float]) -> list[Expr]:
    """Solution of Y s = rhs. Pivots that are numbers come first; what remains, up to three unknowns, is solved with
    cofactors so that only its determinant can vanish; larger remainders by elimination with the largest pivot."""
    n = len(Y)
    rows = [list(r) for r in Y]
    right = list(rhs)
    open_rows, open_columns = list(range(n)), list(range(n))
    steps: list[tuple[int, int]] = []

    def eliminate(i: int, j: int) -> None:
        open_rows.remove(i)
        open_columns.remove(j)
        pivot = rows[i][j]
        for k in open_rows:
            if not rows[k][j].is_zero:
                factor = rows[k][j] / pivot
                for c in open_columns:
                    rows[k][c] = rows[k][c] - factor * rows[i][c]
                right[k] = right[k] - factor * right[i]
        steps.append((i, j))

    def constant_pivot() -> tuple[int, int] | None:
        found = [(i, j) for i in open_rows for j in open_columns if rows[i][j].number]
        return min(found, key=lambda ij: sum(not rows[ij[0]][c].is_zero for c in open_columns), default=None)

    while (pivot := constant_pivot()) is not None:
        eliminate(*pivot)
    while len(open_rows) > 3:
        numbers = {(i, j): abs(evaluate([rows[i][j]], at)[0]) for i in open_rows for j in open_columns}
        eliminate(*max(numbers, key=lambda ij: numbers[ij]))
    s: list[Expr] = [graph.const(0.0)] * n
    _cofactors(rows, right, open_rows, open_columns, s)
    for i, j in reversed(steps):
        rest = right[i]
        for c in range(n):
            if c != j and c not in {cc for _, cc in steps[: steps.index((i, j))]} and not rows[i][c].is_zero:
                rest = rest - rows[i][c] * s[c]
        s[j] = rest / rows[i][j]
    return s


def _cofactors(rows: list[list[Expr]], right: list[Expr], r: list[int], c: list[int], s: list[Expr]) -> None:
    """Cramer's rule for up to three unknowns."""

    def det(m: list[list[Expr]]) -> Expr:
        if len(m) == 1:
            return m[0][0]
        if len(m) == 2:
            return m[0][0] * m[1][1] - m[0][1] * m[1][0]
        return (
            m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
        )

    if not r:
        return
    block = [[rows[i][j] for j in c] for i in r]
    whole = det(block)
    for k, j in enumerate(c):
        replaced = [[right[i] if m == k else block[a][m] for m in range(len(c))] for a, i in enumerate(r)]
        s[j] = quotient(det(replaced), whole)


__all__ = ["SpeedMap", "System"]
