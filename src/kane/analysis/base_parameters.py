"""Base parameters: the combinations of inertial parameters that efforts depend on, and no others.

Columns of the regressor Y at many random states are linearly dependent where a parameter has no influence of its own on
the efforts. How many count is read from the gap between the singular values of Y; which columns are independent, and
how the others are combinations of them, from an orthogonal factorisation [GK90]. Bodies are taken from the ground
outwards, so that what cannot be told apart is regrouped towards the base, as is customary: of a link on a revolute
joint about z, Iyy, hz and m go to the link before. With friction each joint has two columns more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..constraints.thresholds import APART, FELT, GAP, REDUNDANT, WEAK
from ..formulation import Equations
from ..formulation.regressor import (
    friction_columns,
    friction_names,
    friction_values,
    parameter_names,
    parameter_values,
    regressor,
)
from ..graph import evaluate
from ..model import Mechanism
from ..model.attitude import unit_quaternions
from ..model.records import Body
from .programs import Array, Programs, States, equations_of

_ORDER = ("Izz", "Ixx", "Ixy", "Ixz", "Iyz", "hx", "hy", "hz", "Iyy", "m")
"""What is kept first where there is a choice, in axes of which z is that of the joint."""

_AXES = ("yzx", "zxy", "xyz")  # names of the axes of a body by the number of that of its joint, which comes last
_DIGITS = 9  # after the point, beyond which coefficients are rounding


@dataclass(frozen=True, slots=True)
class BaseParameters:
    """`combination` (b, p) gives the base parameters from all p parameters: β = C π, ten of each body, and of friction
    where it was asked for; `names` says each in words, without terms below 1e-6 of its largest, which right angles
    leave that are written with seven digits. `independent` are the columns of the regressor that β belong to,
    and `condition` is that of these at random states over all of the workspace, each column in units of its length:
    noise in efforts is felt in the worst combination as many times as in the best."""

    names: tuple[str, ...]
    values: Array
    independent: tuple[int, ...]
    combination: Array
    condition: float = 1.0

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        lines = [f"{len(self)} base parameters, condition of their regressor {self.condition:.3g}"]
        lines += [f"{value: .6e}  {name}" for name, value in zip(self.names, self.values, strict=True)]
        return "\n".join(lines)


def base_parameters(model: Mechanism | Equations, *, friction: bool = False, seed: int = 0) -> BaseParameters:
    """The base parameters of a model and how they combine its inertial parameters, and those of friction."""
    equations = equations_of(model)
    names = parameter_names(equations) + (friction_names(equations) if friction else [])
    rows = regressor(equations)
    if friction:
        rows = [[*row, *more] for row, more in zip(rows, friction_columns(equations), strict=True)]
    states = _wide_states(equations, 4 + 20 * len(names) // len(rows), seed)
    flat = [e for row in rows for e in row]
    Y = Programs(equations, "numpy").of(
        "regressor", ("t", "q", "u", "udot"), {"Y": ((len(rows), len(names)), flat)}, states
    )
    Y = np.asarray(Y).reshape(-1, len(names))
    felt, units = _felt_part(Y, names)
    kept = _independent(felt, _outward_order(equations.mechanism, names))
    combination = np.zeros((len(kept), len(names)))
    combination[np.arange(len(kept)), kept] = 1.0
    others = [k for k in range(len(names)) if k not in set(kept)]
    if others and kept:
        found = np.linalg.lstsq(felt[:, kept], felt[:, others], rcond=None)[0]
        combination[:, others] = found * units[others] / units[kept][:, None]
    combination = np.where(np.abs(combination) < 10.0**-_DIGITS, 0.0, combination)
    fixed = {p.name: p.value for p in equations.mechanism.parameters.values()}
    own = np.array([*evaluate(parameter_values(equations), fixed), *(friction_values(equations) if friction else ())])
    words = tuple(_words(row, k, names) for row, k in zip(combination, kept, strict=True))
    return BaseParameters(words, combination @ own, tuple(kept), combination, condition_of(Y[:, kept]))


def condition_of(Y: Array) -> float:
    """Condition of a regressor, (rows, columns), each column in units of its length; 1 without columns."""
    return float(np.linalg.cond(Y / np.linalg.norm(Y, axis=0))) if Y.shape[1] else 1.0


def _outward_order(mechanism: Mechanism, names: list[str]) -> list[int]:
    """Columns in the order in which they are kept: bodies from the ground outwards, friction last."""
    places = {name: k for k, name in enumerate(names)}
    found: list[int] = []
    for body in sorted(mechanism.bodies.values(), key=_depth):
        turned = dict(zip("xyz", _AXES[_axis_of(body)], strict=True))
        for kind in _ORDER:
            axes = "".join(sorted(turned[a] for a in kind[1:]))
            found.append(places[f"{kind[0]}{axes}.{body.name}"])
    return found + [k for k in range(len(names)) if k not in set(found)]


def _depth(body: Body) -> int:
    """How many joints lie between a body and the ground."""
    depth = 0
    while body.joint is not None:
        body, depth = body.joint.parent, depth + 1
    return depth


def _axis_of(body: Body) -> int:
    """The number of the axis of a body that its joint turns about or moves along, most nearly; z where it has none."""
    axis = None if body.joint is None else getattr(body.joint.type, "axis", None)
    numbers = [] if axis is None else [e.number for e in axis]
    return int(np.argmax(np.abs(np.array(numbers)))) if numbers and None not in numbers else 2


def _wide_states(equations: Equations, samples: int, seed: int) -> States:
    """States over a wide range: parameters that cannot be distinguished there cannot be distinguished at all."""
    rng = np.random.default_rng(seed)
    mechanism = equations.mechanism
    q = unit_quaternions(mechanism, rng.uniform(-np.pi, np.pi, (samples, len(mechanism.coordinates))))
    u, udot, tau = rng.normal(size=(3, samples, len(mechanism.speeds)))
    return States(rng.uniform(0.0, 1.0, (samples, 1)), q, u, udot, tau)


def _felt_part(Y: Array, names: list[str]) -> tuple[Array, Array]:
    """(what of Y is felt in efforts, (rank, columns), units of the columns): in an orthogonal basis of its rows.

    Columns of masses, first moments, moments of inertia and friction are in units of the longest of their kind, so that
    a column which is nothing but the rounding of a right angle stays as small as it is, and is left out.
    """
    lengths = np.linalg.norm(Y, axis=0)
    units = np.ones(Y.shape[1])
    for kind in ("m", "h", "I", "v", "C"):
        places = [k for k, name in enumerate(names) if name.startswith(kind)]
        units[places] = max(lengths[places].max(initial=0.0), np.finfo(float).tiny)
    _, values, rows = np.linalg.svd(Y / units, full_matrices=False)
    rank = _rank_by_gap(values)
    return values[:rank, None] * rows[:rank], units


def _rank_by_gap(values: Array) -> int:
    """How many singular values, the largest first, count."""
    felt = int((values > FELT * values.max(initial=0.0)).sum())
    for k in range(1, felt):
        if values[k] < WEAK * values[0] and values[k - 1] > GAP * values[k]:
            return k
    return felt


def _independent(Y: Array, order: list[int]) -> list[int]:
    """As many columns as Y has rows, the first in `order` that are independent of those before.

    What is left of a column beside others must be more than `apart`, which is lowered until there are enough: a basis
    that begins with columns hardly apart has directions that are mostly rounding.
    """
    rank = len(Y)
    kept: list[int] = []
    apart = APART
    while len(kept) < rank and apart >= REDUNDANT:
        kept = _columns_apart(Y, order, apart)
        apart /= 10.0
    return kept


def _columns_apart(Y: Array, order: list[int], apart: float) -> list[int]:
    """Columns of which more than `apart` is left beside those before them, by modified Gram–Schmidt, done twice."""
    basis: list[Array] = []
    kept = []
    for k in order:
        column = Y[:, k].copy()
        for _ in range(2):
            for e in basis:
                column -= (e @ column) * e
        rest = float(np.linalg.norm(column))
        if rest > apart:
            basis.append(column / rest)
            kept.append(k)
    return kept


def _words(row: Array, kept: int, names: list[str]) -> str:
    """A combination in words, without terms that are not felt beside its largest."""
    text, least = names[kept], FELT * float(np.abs(row).max())
    for k, c in enumerate(row):
        if k != kept and abs(c) > least:
            size = "" if abs(abs(c) - 1.0) < FELT else f"{abs(c):.6g} "
            text += f" {'-' if c < 0 else '+'} {size}{names[k]}"
    return text
