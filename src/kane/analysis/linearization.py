"""Linearization about a state with the constraints embedded: ẋ = A x + B δtau, y = C x + D δtau, and its eigenmodes.

Perturbations stay on the constraints: those of configurations (phi_q δq = 0) and those of motions (δ(A u + c) = 0).
Independent ones are the states, by pivoted orthogonalization or as the user names them; all others follow. With
δF = δtau + Aᵀ δλ and δ(A u̇ − b) = 0 the accelerations are solved for along the motions that are left, δλ dropping out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..constraints.multipliers import least_multipliers
from ..constraints.rank import Elimination
from ..constraints.thresholds import INCONSISTENT, SINGULAR
from ..errors import InputError, SingularError, UnknownNameError
from .eigenmodes import Eigenmode, eigenmodes_of, table

Array = np.ndarray[Any, np.dtype[np.float64]]
Tangent = Callable[..., Sequence[Array]]
"""(t, q, u, udot, multipliers, dq, du, dudot) → values and changes of q̇, F and, with constraints, g, A u + c, phi."""

_QUANTITIES = ("qdot", "F", "g", "rate", "phi")
_NOTHING = 1e-10  # share of the largest element of row or column, or of 1, that counts as no influence
_NEUTRAL = 1e-5  # real part, as a share of the largest element, of an eigenvalue that has none: double ones err by √eps
_ROUNDING = 1e-15  # share of the largest element of row or column below which an element is an error of rounding
_SINGULAR = (
    "the constraints lose rank at this position, so no linear system describes the motions near it"
    "\n    fix: linearize a little off the singular position"
)


@dataclass(frozen=True, slots=True)
class Operating:
    """What is linearized about: time (s), q, u, efforts tau along the speeds, udot, and multipliers λ by row."""

    t: float
    q: Array
    u: Array
    tau: Array
    udot: Array
    multipliers: Array


@dataclass(frozen=True, slots=True)
class FirstOrder:
    """Values at a state and their Jacobians by q, u and udot, each by the name of the quantity.

    qdot; F = M udot + bias − Aᵀλ; and by row g = A udot − b, rate = A u + c, phi.
    """

    value: dict[str, Array]
    by_q: dict[str, Array]
    by_u: dict[str, Array]
    by_udot: dict[str, Array]
    sizes: Array | None = None
    """Sizes (m,) of rows without cancellation, which their rounding errors are compared with."""

    @property
    def M(self) -> Array:
        return self.by_udot["F"]

    @property
    def A(self) -> Array:
        return self.by_u["rate"]


def first_order(tangent: Tangent, at: Operating, sizes: Array | None = None) -> FirstOrder:
    """All Jacobians, from a batch of unit directions; `sizes` (m,) are those of the rows."""
    n_q, n = len(at.q), len(at.u)
    unit = np.eye(n_q + 2 * n)
    found = tangent(
        at.t, at.q, at.u, at.udot, at.multipliers, unit[:, :n_q], unit[:, n_q : n_q + n], unit[:, n_q + n :]
    )
    if not all(np.isfinite(x).all() for x in found):
        raise SingularError("the equations have no finite derivatives at this state: a joint or a speed is singular")
    half = len(found) // 2
    value = {k: np.asarray(x[0]) for k, x in zip(_QUANTITIES, found[:half], strict=False)}
    change = {k: np.asarray(x).T for k, x in zip(_QUANTITIES, found[half:], strict=False)}
    for k in _QUANTITIES[half:]:
        value[k], change[k] = np.zeros(0), np.zeros((0, n_q + 2 * n))
    return FirstOrder(
        value,
        {k: x[:, :n_q] for k, x in change.items()},
        {k: x[:, n_q : n_q + n] for k, x in change.items()},
        {k: x[:, n_q + n :] for k, x in change.items()},
        sizes,
    )


def weights(M: Array) -> Array:
    """The mass that each unknown moves, by which unknowns are compared."""
    return np.abs(np.diag(M))


def accelerations(first: FirstOrder, at: Operating) -> tuple[Array, Array]:
    """(udot, λ) that at.tau produces; `first` is of the same state at udot = 0 and λ = 0. λ is of least length."""
    freed = Elimination.of(first.A, weights(first.M), sizes=first.sizes)
    assert freed is not None
    held = freed.particular_solution(-first.value["g"][:, None])[:, 0]
    f = at.tau - first.value["F"]
    udot = held + freed.N @ _solve_reduced(freed, first.M, f - first.M @ held)
    return udot, least_multipliers(first.A, first.M @ udot - f, first.sizes)


def _solve_reduced(freed: Elimination, M: Array, f: Array) -> Array:
    """(NᵀMN)⁻¹ Nᵀ f."""
    try:
        return np.asarray(np.linalg.solve(freed.N.T @ M @ freed.N, freed.N.T @ f), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is singular at this state: some motion moves no mass") from None


@dataclass(frozen=True, slots=True)
class Positions:
    """Perturbations of the configuration: names, and δq = E δz; E (n_q, n) and its rate.

    They are the coordinates and, for attitudes by quaternions, small rotations (rad) about the axes of the moving
    frame of the joint, called joint.x, joint.y, joint.z.
    """

    names: tuple[str, ...]
    E: Array
    Edot: Array

    @staticmethod
    def of(
        coordinates: Sequence[str], attitudes: Sequence[tuple[str, Sequence[int]]], E: Array, Edot: Array
    ) -> Positions:
        """E, Edot (k, 4, 3): how the quaternion of each attitude (joint, places) follows rotations."""
        inside = {place: k for k, (_, places) in enumerate(attitudes) for place in places}
        names: list[str] = []
        columns: list[tuple[list[int], Array, Array]] = []
        for i, c in enumerate(coordinates):
            k = inside.get(i)
            if k is None:
                names.append(c)
                columns.append(([i], np.ones(1), np.zeros(1)))
            elif i == attitudes[k][1][0]:
                joint, places = attitudes[k]
                for axis, letter in enumerate("xyz"):
                    names.append(f"{joint}.{letter}")
                    columns.append((list(places), E[k, :, axis], Edot[k, :, axis]))
        whole, rate = np.zeros((2, len(coordinates), len(names)))
        for j, (places, column, slope) in enumerate(columns):
            whole[places, j], rate[places, j] = column, slope
        return Positions(tuple(names), whole, rate)


@dataclass(frozen=True, slots=True)
class FirstOrderMotion:
    """First order of the motion on the constraints, over the states x = (δz_I, δu_I).

    δq = Q x, δu = U x, δudot = Udot x + Tau δtau; the states' own rows in `A`, `B`; their present rates.
    """

    states: tuple[str, ...]
    A: Array
    B: Array
    Q: Array
    U: Array
    Udot: Array
    Tau: Array
    rates: Array


def linearize_independent(
    first: FirstOrder, positions: Positions, at: Operating, keep: Sequence[str], speeds: Sequence[str]
) -> FirstOrderMotion:
    """The linearization over independent perturbations; `keep` names those that are to be among them."""
    back = np.linalg.pinv(positions.E)
    z, u = choose_independent(first, positions, keep, speeds)
    z_I, u_I = list(z.choice.independent), list(u.choice.independent)
    k, p = len(z_I), len(u_I)
    Z = np.hstack([z.N, np.zeros((len(positions.names), p))])
    Q = positions.E @ Z
    moved = first.by_q["rate"] @ Q
    U = u.particular_solution(-moved) + np.hstack([np.zeros((len(speeds), k)), u.N])
    dg = first.by_q["g"] @ Q + first.by_u["g"] @ U
    held = u.particular_solution(-dg)
    for left, scale in ((moved + first.A @ U, moved), (dg + first.A @ held, dg)):
        if np.abs(left).max(initial=0.0) > INCONSISTENT * (1.0 + np.abs(scale).max(initial=0.0)):
            raise SingularError(_SINGULAR)
    dF = first.by_q["F"] @ Q + first.by_u["F"] @ U
    Udot = held - u.N @ _solve_reduced(u, first.M, dF + first.M @ held)
    Tau = u.N @ _solve_reduced(u, first.M, np.eye(len(speeds)))
    dz = back @ (first.by_q["qdot"] @ Q + first.by_u["qdot"] @ U - positions.Edot @ Z)
    return FirstOrderMotion(
        tuple(positions.names[i] for i in z_I) + tuple(speeds[i] for i in u_I),
        _zero_rounding(np.vstack([dz[z_I], Udot[u_I]])),
        np.vstack([np.zeros((k, len(speeds))), Tau[u_I]]),
        Q,
        U,
        Udot,
        Tau,
        np.concatenate([(back @ first.value["qdot"])[z_I], at.udot[u_I]]),
    )


def choose_independent(
    first: FirstOrder, positions: Positions, keep: Sequence[str], speeds: Sequence[str]
) -> tuple[Elimination, Elimination]:
    """Independent perturbations of positions and of speeds at a state; `keep` names some that are to be among them."""
    follows = np.linalg.pinv(np.linalg.pinv(positions.E) @ first.by_u["qdot"])  # δu by the rates of positions
    G_z, mass = first.by_q["phi"] @ positions.E, weights(follows.T @ first.M @ follows)
    z = _eliminate(G_z, mass, first.sizes, positions.names, keep, "coordinates")
    return z, _eliminate(first.A, weights(first.M), first.sizes, speeds, keep, "speeds")


def close_loop(motion: FirstOrderMotion, by_q: Array, by_u: Array) -> FirstOrderMotion:
    """The motion with δtau = by_q δq + by_u δu + what is put in from outside, (…, n, n_q) and (…, n, n)."""
    gain = by_q @ motion.Q + by_u @ motion.U
    return replace(motion, A=motion.A + motion.B @ gain, Udot=motion.Udot + motion.Tau @ gain)


def _zero_rounding(A: Array) -> Array:
    """A with elements that are rounding errors of their row or column made zero: they would mislead the balancing that
    comes before eigenvalues."""
    size = np.abs(A)
    rows, columns = size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0)
    return np.where(size > _ROUNDING * np.maximum(rows[:, None], columns[None, :]), A, 0.0)


def _eliminate(
    G: Array, mass: Array, sizes: Array | None, names: Sequence[str], keep: Sequence[str], what: str
) -> Elimination:
    wanted = [names.index(name) for name in keep if name in names]
    freed, usual = Elimination.of(G, mass, wanted, sizes), Elimination.of(G, mass, sizes=sizes)
    assert usual is not None
    if usual.condition(mass) > 1.0 / SINGULAR:
        raise SingularError(_SINGULAR)
    if freed is None or freed.condition(mass) > 1.0 / SINGULAR:
        rank = len(usual.choice.dependent)
        possible = ", ".join(names[i] for i in usual.choice.independent) or "none"
        raise InputError(
            f"{', '.join(names[i] for i in wanted)} cannot be independent together: the constraints leave "
            f"{len(names) - rank} of {len(names)} {what} free"
            f"\n    fix: name others; independent are, for example, {possible}"
        )
    return freed


def _dependence(A: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which state's rate depends on which state, rounding aside, at a sample or at each (…, n, n)."""
    size = np.abs(A)
    rows, columns = size.max(axis=-1, initial=0.0), size.max(axis=-2, initial=0.0)
    return size > _NOTHING * np.maximum(1.0, np.maximum(rows[..., :, None], columns[..., None, :]))


@dataclass(frozen=True, slots=True)
class Kept:
    """Places of the states and outputs that stay where others are left out."""

    states: list[int]
    outputs: list[int]

    @classmethod
    def without(cls, left_out: Sequence[str], states: Sequence[str], A: Array, C: Array) -> Kept:
        """What stays of samples A (k, n, n), C (k, outputs, n); refused where a state that stays depends on others at
        any of them. Outputs that show what is left out go with it."""
        places = [_place(name, states) for name in left_out]
        kept = [i for i in range(len(states)) if i not in places]
        felt = np.logical_or.reduce(_dependence(A), axis=0)
        for j in places:
            by = [states[i] for i in kept if felt[i, j]]
            if by:
                raise InputError(
                    f"'{states[j]}' cannot be left out: the rates of {', '.join(by)} depend on it"
                    f"\n    fix: leave those out too, or keep it"
                )
        size = np.abs(C)
        shows = size[:, :, places].max(axis=2, initial=0.0) > _NOTHING * (
            1.0 + size.max(axis=(1, 2), initial=0.0, keepdims=True)[:, :, 0]
        )
        return cls(kept, np.flatnonzero(~shows.any(axis=0)).tolist())


def _place(name: str, states: Sequence[str]) -> int:
    if name not in states:
        raise UnknownNameError("state", name, states)
    return list(states).index(name)


def ignorable_places(A: Array, positions: int) -> list[int]:
    """Which of the first states (coordinates) can be left out at all samples A (k, n, n) without losing an eigenmode.

    No state that stays depends on them, and what they do to each other (the angle of a trailer on its own rate)
    has eigenvalues without a real part: what grows or decays is never left out.
    """
    felt = _dependence(np.abs(A).max(axis=0, initial=0.0))
    ignored = set(range(positions))
    while True:
        others = [i for i in range(len(felt)) if i not in ignored]
        kept = {j for j in ignored if not felt[others, j].any()}
        kept -= {j for circle in _circles(felt, sorted(kept)) if _moves_by_itself(A, circle) for j in circle}
        if kept == ignored:
            return sorted(ignored)
        ignored = kept


def _circles(felt: np.ndarray[Any, np.dtype[np.bool_]], places: list[int]) -> list[list[int]]:
    """Groups of states that depend on each other, directly or through others of these, or on themselves."""
    reach = felt[np.ix_(places, places)].copy()
    for k in range(len(places)):
        reach |= reach[:, k, None] & reach[None, k]
    both = reach & reach.T
    groups = {tuple(np.flatnonzero(both[i])) for i in range(len(places)) if both[i, i]}
    return [[places[i] for i in group] for group in sorted(groups)]


def _moves_by_itself(A: Array, places: list[int]) -> bool:
    """Whether these states grow or decay without any other, at one of the samples."""
    own = A[:, places][:, :, places]
    size = np.abs(own).max(axis=(1, 2))
    return bool((np.abs(np.linalg.eigvals(own).real).max(axis=1) > _NEUTRAL * size).any())


@dataclass(frozen=True, slots=True, repr=False)
class Linearization:
    """ẋ = A x + B δtau, y = C x + D δtau about the state `at` of a model.

    `states` are perturbations of independent coordinates (small rotations joint.x, joint.y, joint.z for quaternions),
    then of independent speeds; `inputs` are speeds, the efforts act along; `outputs` names or expressions. `rates` are
    the states' own rates at the state, zero in equilibrium. `shape` (coordinates and speeds, states) gives the
    perturbations of all `names` from the states. The first `positions` states are of coordinates. `running` are
    coordinates in the equations of motion, and speeds, that change at the state: the linearization changes with them
    and its eigenvalues are of this instant; none in equilibrium and in steady motion. `dry_friction` are joints at rest
    whose smoothed dry friction is seen as the damping (N m s/rad, N s/m) that it has at rest. SI units and radians.

    >>> lin = kane.load("pendulum").linearize([0], [0])
    >>> lin.states, lin.A.round(6).tolist()
    (('q', 'u'), [[0.0, 1.0], [-9.81, 0.0]])
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
    running: tuple[str, ...] = ()
    dry_friction: tuple[tuple[str, float], ...] = ()

    @property
    def eigenvalues(self) -> Array:
        """Of A (1/s), complex, by rising real part, then imaginary part.

        >>> lin = kane.load("pendulum").linearize([0], [0])
        >>> lin.eigenvalues.imag.round(4).tolist()
        [-3.1321, 3.1321]
        """
        return np.array([eigenmode.eigenvalue for eigenmode in self.eigenmodes])

    @property
    def eigenmodes(self) -> tuple[Eigenmode, ...]:
        """Eigenvalues with their shapes, by rising real part.

        >>> lin = kane.load("pendulum").linearize([0], [0])
        >>> [round(eigenmode.frequency, 4) for eigenmode in lin.eigenmodes]
        [3.1321, 3.1321]
        """
        return eigenmodes_of(self.A, self.states, self.shape, self.names, self.shape_states)

    @property
    def shape_states(self) -> tuple[tuple[str, ...], ...]:
        """States that the shape of an eigenmode is measured by: coordinates that matter, or else all coordinates.

        >>> lin = kane.load("cart-pole").linearize([0, 0], [0, 0])
        >>> lin.shape_states
        (('q',), ('x', 'q'))
        """
        coordinates = self.states[: self.positions]
        ignorable = self.ignorable
        return tuple(name for name in coordinates if name not in ignorable), coordinates

    @property
    def ignorable(self) -> tuple[str, ...]:
        """Coordinates among the states that no other state depends on and that neither grow nor decay by themselves:
        they follow, and may be left out.

        >>> lin = kane.load("cart-pole").linearize([0, 0], [0, 0])
        >>> lin.ignorable
        ('x',)
        """
        return tuple(self.states[j] for j in ignorable_places(self.A[None], self.positions))

    def without(self, names: Iterable[str]) -> Linearization:
        """The same with states left out that no other state depends on, and with them the outputs that show them.

        >>> lin = kane.load("cart-pole").linearize([0, 0], [0, 0])
        >>> lin.without("x").states
        ('q', 'v', 'u')
        """
        listed = (names,) if isinstance(names, str) else tuple(names)
        stay = Kept.without(listed, self.states, self.A[None], self.C[None])
        kept, outputs = stay.states, stay.outputs
        return replace(
            self,
            states=tuple(self.states[i] for i in kept),
            outputs=tuple(self.outputs[i] for i in outputs),
            A=self.A[np.ix_(kept, kept)],
            B=self.B[kept],
            C=self.C[np.ix_(outputs, kept)],
            D=self.D[outputs],
            rates=self.rates[kept],
            shape=self.shape[:, kept],
            positions=sum(i < self.positions for i in kept),
        )

    def to_control(self) -> Any:
        """The same as a state space of python-control (`pip install control`), with names of states, inputs and
        outputs.

        >>> system = kane.load("pendulum").linearize([0], [0]).to_control()
        >>> system.nstates, system.state_labels
        (2, ['q', 'u'])
        """
        try:
            control = importlib.import_module("control")
        except ModuleNotFoundError:
            raise InputError(
                "to_control needs python-control, which is not installed\n    fix: pip install 'kane[control]'"
            ) from None
        inputs, outputs = ([_signal(n) for n in names] for names in (self.inputs, self.outputs))
        labels = {"states": [_signal(n) for n in self.states], "inputs": [f"tau_{n}" for n in inputs]}
        return control.ss(self.A, self.B, self.C, self.D, **labels, outputs=outputs, name=_signal(self.model))

    def __repr__(self) -> str:
        return table(self)


def _signal(name: str) -> str:
    """A name as python-control takes it, which gives dots a meaning of its own."""
    return name.replace(".", "_")


__all__ = [
    "FirstOrder",
    "FirstOrderMotion",
    "Kept",
    "Linearization",
    "Operating",
    "Positions",
    "accelerations",
    "choose_independent",
    "close_loop",
    "first_order",
    "ignorable_places",
    "linearize_independent",
    "weights",
]
