"""Linearizations about many states at once, over the same perturbations: the algebra of `linearization.py` on arrays
with a first axis of samples.

Independent perturbations are chosen at the first sample; where they are no good choice at another one, that is refused
with its number, since all samples share the names of their states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..constraints.metric import speed_units
from ..constraints.rank import Elimination
from ..constraints.thresholds import SINGULAR
from ..errors import InputError, SingularError
from .linearization import (
    Array,
    FirstOrder,
    FirstOrderMotion,
    Kept,
    Linearization,
    Operating,
    Positions,
    Tangent,
    ignorable_places,
)

_QUANTITIES = ("qdot", "F", "g", "rate", "phi")


def first_orders(tangent: Tangent, at: Operating, M: Array) -> FirstOrder:
    """All Jacobians at samples (k, …), from a batch of unit directions for each; the equations change by the mass
    matrices M (k, n, n) with the accelerations."""
    k, n_q, n = len(at.q), at.q.shape[1], at.u.shape[1]
    count = n_q + n

    def spread(x: Any) -> Array:
        return np.repeat(x, count, axis=0)

    directions = np.tile(np.eye(count), (k, 1))
    parts = directions[:, :n_q], directions[:, n_q:], np.zeros((k * count, n))
    t = np.broadcast_to(np.asarray(at.t, dtype=float).reshape(-1), (k,))
    found = tangent(spread(t)[:, None], *(spread(x) for x in (at.q, at.u, at.udot, at.multipliers)), *parts)
    if not all(np.isfinite(x).all() for x in found):
        raise SingularError(
            "the equations have no finite derivatives at one of the states: a joint or speed is singular"
        )
    half = len(found) // 2
    shaped = [np.asarray(x).reshape(k, count, -1) for x in found]
    value = {name: x[:, 0] for name, x in zip(_QUANTITIES, shaped[:half], strict=False)}
    change = {name: x.transpose(0, 2, 1) for name, x in zip(_QUANTITIES, shaped[half:], strict=False)}
    for name in _QUANTITIES[half:]:
        value[name], change[name] = np.zeros((k, 0)), np.zeros((k, 0, count))
    return FirstOrder(
        value,
        {name: x[:, :, :n_q] for name, x in change.items()},
        {name: x[:, :, n_q:] for name, x in change.items()},
        {"F": M},
    )


@dataclass(frozen=True, slots=True)
class _Elimination:
    """Rows G x = right (k, m, …) solved for the same unknowns at all samples, by the `inverse` of their block."""

    chosen: Elimination
    inverse: Array
    N: Array

    @classmethod
    def of(cls, chosen: Elimination, G: Array, mass: Array, what: str) -> _Elimination:
        k, n = len(G), G.shape[2]
        free, dependent = list(chosen.choice.independent), list(chosen.choice.dependent)
        rows, units = G[:, list(chosen.choice.rows)], speed_units(mass)
        solved = cls(chosen, _inverses(rows[:, :, dependent]), np.zeros((k, n, 0)))
        _refuse_bad(rows * units[:, None, :], solved.inverse / units[:, dependent, None], what)
        N = solved.particular_solution(-G[:, :, free])
        N[:, free, range(len(free))] = 1.0
        return replace(solved, N=N)

    def particular_solution(self, right: Array) -> Array:
        """x (k, n, c) with G x = right (k, m, c) whose independent part is zero."""
        choice = self.chosen.choice
        x = np.zeros((len(right), self.chosen.G.shape[1], right.shape[2]))
        x[:, list(choice.dependent)] = self.inverse @ right[:, list(choice.rows)]
        return x


def linearize_together(
    first: FirstOrder, positions: Positions, at: Operating, z: Elimination, u: Elimination, speeds: tuple[str, ...]
) -> FirstOrderMotion:
    """As `linearize_independent`, at samples (k, …); `positions` with E (k, n_q, n) and its rate, (1, …) where they are
    the same at all, z and u the choices at the first sample."""
    E, M = positions.E, first.M
    k, n = len(M), M.shape[1]
    back = _pseudo_inverse(E)
    follows = _pseudo_inverse(back @ first.by_u["qdot"])
    moved_mass = np.abs(np.sum(follows * (M @ follows), axis=1))
    on_z = _Elimination.of(z, first.by_q["phi"] @ E, moved_mass, "coordinates")
    on_u = _Elimination.of(u, first.A, np.abs(np.einsum("kii->ki", M)), "speeds")
    z_I, u_I = list(z.choice.independent), list(u.choice.independent)
    p = len(u_I)
    Z = np.concatenate([on_z.N, np.zeros((k, E.shape[2], p))], axis=2)
    Q = E @ Z
    moved = first.by_q["rate"] @ Q
    U = on_u.particular_solution(-moved) + np.concatenate([np.zeros((k, n, len(z_I))), on_u.N], axis=2)
    dg = first.by_q["g"] @ Q + first.by_u["g"] @ U
    held = on_u.particular_solution(-dg)
    dF = first.by_q["F"] @ Q + first.by_u["F"] @ U
    transposed = on_u.N.transpose(0, 2, 1)
    reduced = transposed @ M @ on_u.N
    try:
        right = np.concatenate([transposed @ (dF + M @ held), transposed], axis=2)
        solved = np.linalg.solve(reduced, right)
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is singular at one of the states: some motion moves no mass") from None
    width = dF.shape[2]
    Udot, Tau = held - on_u.N @ solved[:, :, :width], on_u.N @ solved[:, :, width:]
    back = back[:, z_I]
    dz = back @ (first.by_q["qdot"] @ Q + first.by_u["qdot"] @ U - positions.Edot @ Z)
    rates = (back @ first.value["qdot"][:, :, None])[:, :, 0]
    return FirstOrderMotion(
        tuple(positions.names[i] for i in z_I) + tuple(speeds[i] for i in u_I),
        np.concatenate([dz, Udot[:, u_I]], axis=1),
        np.concatenate([np.zeros((k, len(z_I), n)), Tau[:, u_I]], axis=1),
        Q,
        U,
        Udot,
        Tau,
        np.concatenate([rates, at.udot[:, u_I]], axis=1),
    )


def _refuse_bad(rows: Array, inverse: Array, what: str) -> None:
    """Refuse samples at which the unknowns that were chosen are badly determined: those whose change is large beside
    what changes the rows, all measured by mass."""
    sums = [np.abs(x).sum(axis=1).max(axis=1, initial=0.0) for x in (rows, inverse)]  # no singular values needed
    with np.errstate(invalid="ignore"):  # of rows that are zero
        bad = np.flatnonzero(~(sums[0] * sums[1] <= 1.0 / SINGULAR))
    if bad.size:
        raise SingularError(
            f"state {bad[0]}: the constraints do not determine the dependent {what} there, chosen at state 0"
            "\n    fix: name others in independent=..., or linearize that state alone"
        )


def _inverses(x: Array) -> Array:
    """Of square matrices (k, n, n); infinite where there is none."""
    try:
        return np.asarray(np.linalg.inv(x), dtype=np.float64)
    except np.linalg.LinAlgError:
        regular, found = np.linalg.slogdet(x)[0] != 0.0, np.full_like(x, np.inf)
        found[regular] = np.linalg.inv(x[regular])
        return found


def _pseudo_inverse(x: Array) -> Array:
    """Of matrices (k, m, n); the inverse where they are square, as all but those of attitudes are."""
    try:
        found = np.linalg.inv(x) if x.shape[1] == x.shape[2] else np.linalg.pinv(x)
    except np.linalg.LinAlgError:
        found = np.linalg.pinv(x)
    return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True, slots=True, repr=False)
class Linearizations:
    """ẋ = A x + B δtau, y = C x + D δtau about many states `at` of a model, (k, …) each, over the same `states`.

    `inputs` and `outputs` are as in `Linearization`; `rates` (k, s) are the states' own rates, `running` names for each
    state what changes there and matters, `dry_friction` joints at rest that it damps. The i-th is lins[i], with all
    that a `Linearization` has.

    >>> lins = kane.load("pendulum").linearize({"q": [0.0, 0.5]}, [0])
    >>> lins.A.shape, lins[0].eigenvalues.imag.round(4).tolist()
    ((2, 2, 2), [-3.1321, 3.1321])
    """

    model: str
    at: Operating
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Array
    B: Array
    C: Array
    D: Array
    rates: Array
    names: tuple[str, ...]
    shape: Array
    positions: int
    running: tuple[tuple[str, ...], ...] = ()
    dry_friction: tuple[tuple[tuple[str, float], ...], ...] = ()

    @property
    def eigenvalues(self) -> Array:
        """Of A (1/s), (k, s) complex, those of a state by rising real part, then imaginary part.

        >>> lins = kane.load("pendulum").linearize({"q": [0.0, 0.5]}, [0])
        >>> lins.eigenvalues.shape
        (2, 2)
        """
        return cast("Any", np.sort_complex(np.linalg.eigvals(self.A)))

    def to_control(self) -> list[Any]:
        """A `control.StateSpace` for each state, see `Linearization.to_control`."""
        return [linear.to_control() for linear in self]

    def __len__(self) -> int:
        return len(self.A)

    def __iter__(self) -> Iterator[Linearization]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> Linearization:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} states")
        at = self.at
        t = float(np.broadcast_to(np.asarray(at.t).reshape(-1), (len(self),))[i])
        there = Operating(t, at.q[i], at.u[i], at.tau[i], at.udot[i], at.multipliers[i])
        matrices = (self.A[i], self.B[i], self.C[i], self.D[i], self.rates[i])
        named = self.model, there, self.states, self.inputs, self.outputs
        running, rubbing = self.running[i] if self.running else (), self.dry_friction[i] if self.dry_friction else ()
        return Linearization(*named, *matrices, self.names, self.shape[i], self.positions, running, rubbing)

    def without(self, names: Iterable[str]) -> Linearizations:
        """The same with states left out that no other state depends on, at any of the samples.

        >>> lins = kane.load("cart-pole").linearize({"q": [0.0, 0.1]}, [0, 0])
        >>> lins.without("x").states
        ('q', 'v', 'u')
        """
        listed = (names,) if isinstance(names, str) else tuple(names)
        stay = Kept.without(listed, self.states, self.A, self.C)
        i, o = stay.states, stay.outputs
        return replace(
            self,
            states=tuple(self.states[j] for j in i),
            outputs=tuple(self.outputs[j] for j in o),
            A=self.A[:, i][:, :, i],
            B=self.B[:, i],
            C=self.C[:, o][:, :, i],
            D=self.D[:, o],
            rates=self.rates[:, i],
            shape=self.shape[:, :, i],
            positions=sum(j < self.positions for j in i),
        )

    @property
    def ignorable(self) -> tuple[str, ...]:
        """Coordinates among the states that no other state depends on and that neither grow nor decay by themselves,
        at any of the samples.

        >>> kane.load("cart-pole").linearize({"q": [0.0, 0.1]}, [0, 0]).ignorable
        ('x',)
        """
        return tuple(self.states[j] for j in ignorable_places(self.A, self.positions))

    def __repr__(self) -> str:
        changing = [i for i, names in enumerate(self.running) if names]
        said = f"; not steady at {len(changing)} of them: {', '.join(self.running[changing[0]])}" if changing else ""
        at_rest = [i for i, joints in enumerate(self.dry_friction) if joints]
        if at_rest:
            joints = dict.fromkeys(joint for i in at_rest for joint, _ in self.dry_friction[i])
            said += f"; dry friction of {', '.join(joints)} is seen as damping at {_list_places(at_rest, len(self))}"
        return f"<{len(self)} linearizations of '{self.model}', states {', '.join(self.states)}{said}>"


def _list_places(places: Sequence[int], count: int) -> str:
    """Which of so many states: all, or their numbers, runs of them as 3–7.

    >>> _list_places([0, 2, 3, 4, 9], 12)
    'states 0, 2–4, 9'
    """
    if len(places) == count:
        return "all of them"
    runs: list[list[int]] = []
    for i in places:
        if runs and i == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], i]
        else:
            runs.append([i])
    shown = [f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
    more = f" and {len(shown) - _LISTED} more runs" if len(shown) > _LISTED else ""
    return f"state{'' if len(places) == 1 else 's'} {', '.join(shown[:_LISTED])}{more}"


_LISTED = 12  # numbers of states, or runs of them, in a sentence


def require_one_shape(samples: dict[str, int]) -> int:
    """How many samples there are, from the numbers given for each quantity, 0 for one state."""
    counts = {name: count for name, count in samples.items() if count}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise InputError(f"linearize: samples do not agree: {said}\n    fix: give as many of each, or one for all")
    return next(iter(counts.values()), 0)


__all__ = ["Linearizations", "first_orders", "linearize_together", "require_one_shape"]
