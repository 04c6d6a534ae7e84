"""Base parameters: the combinations of inertial parameters that efforts depend on, and no others.

Columns of the regressor Y at many random states are linearly dependent where a parameter has no influence of its own on
the efforts. Which columns are independent, and how the others are combinations of them, is read from an orthogonal
factorisation, bodies from the outermost inwards [GK90].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..constraints.thresholds import APART, FELT, REDUNDANT
from ..formulation import Equations
from ..formulation.regressor import PARAMETERS, parameter_names, parameter_values, regressor
from ..graph import evaluate
from ..model import Mechanism
from ..model.attitude import unit_quaternions
from .programs import Array, Programs, States, equations_of

_ORDER = ("Izz", "Ixx", "Ixy", "Ixz", "Iyz", "hx", "hy", "hz", "Iyy", "m")  # what is kept first where there is a choice
_DIGITS = 9  # coefficients are rounded for print


@dataclass(frozen=True, slots=True)
class BaseParameters:
    """`combination` (b, 10 bodies) gives the base parameters from all: β = C π; `names` says each in words."""

    names: tuple[str, ...]
    values: Array
    independent: tuple[int, ...]
    combination: Array

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        lines = [f"{len(self)} base parameters"]
        lines += [f"{value: .6e}  {name}" for name, value in zip(self.names, self.values, strict=True)]
        return "\n".join(lines)


def base_parameters(model: Mechanism | Equations, *, seed: int = 0) -> BaseParameters:
    """The base parameters of a model and how they combine its inertial parameters."""
    equations = equations_of(model)
    names = parameter_names(equations)
    rows = regressor(equations)
    states = _wide_states(equations, 4 + 20 * len(names) // len(rows), seed)
    flat = [e for row in rows for e in row]
    Y = Programs(equations, "numpy").of(
        "regressor", ("t", "q", "u", "udot"), {"Y": ((len(rows), len(names)), flat)}, states
    )
    Y = np.asarray(Y).reshape(-1, len(names))
    bodies = len(names) // len(PARAMETERS)
    order = [10 * b + PARAMETERS.index(p) for b in reversed(range(bodies)) for p in _ORDER]
    kept = _independent(_measure_by_kind(Y), order)
    combination = np.zeros((len(kept), len(names)))
    combination[np.arange(len(kept)), kept] = 1.0
    others = [k for k in range(len(names)) if k not in set(kept)]
    if others and kept:
        combination[:, others] = np.linalg.lstsq(Y[:, kept], Y[:, others], rcond=None)[0]
    combination = np.where(np.abs(combination) < 10.0**-_DIGITS, 0.0, combination)
    fixed = {p.name: p.value for p in equations.mechanism.parameters.values()}
    own = np.array(evaluate(parameter_values(equations), fixed))
    words = tuple(_words(row, k, names) for row, k in zip(combination, kept, strict=True))
    return BaseParameters(words, combination @ own, tuple(kept), combination)


def _wide_states(equations: Equations, samples: int, seed: int) -> States:
    """States over a wide range: parameters that cannot be distinguished there cannot be distinguished at all."""
    rng = np.random.default_rng(seed)
    mechanism = equations.mechanism
    q = unit_quaternions(mechanism, rng.uniform(-np.pi, np.pi, (samples, len(mechanism.coordinates))))
    u, udot, tau = rng.normal(size=(3, samples, len(mechanism.speeds)))
    return States(rng.uniform(0.0, 1.0, (samples, 1)), q, u, udot, tau)


def _measure_by_kind(Y: Array) -> Array:
    """Columns of masses, first moments and moments of inertia, each in units of the longest of its kind: a column that
    is nothing but the rounding of a right angle stays as small as it is."""
    lengths = np.linalg.norm(Y, axis=0)
    units = np.ones(Y.shape[1])
    for kind in ("m", "h", "I"):
        places = [k for k in range(Y.shape[1]) if PARAMETERS[k % len(PARAMETERS)].startswith(kind)]
        units[places] = max(lengths[places].max(initial=0.0), np.finfo(float).tiny)
    return Y / units


def _independent(Y: Array, order: list[int]) -> list[int]:
    """As many columns as Y has singular values that count, the first in `order` that are independent of those before.

    What is left of a column beside others must be more than `apart`, which is lowered until there are enough: a basis
    that begins with columns hardly apart has directions that are mostly rounding.
    """
    values = np.linalg.svd(Y, compute_uv=False)
    rank = int((values > FELT * values.max(initial=0.0)).sum())
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
    text = names[kept]
    for k, c in enumerate(row):
        if k != kept and c:
            size = "" if abs(abs(c) - 1.0) < 10.0**-_DIGITS else f"{abs(c):.6g} "
            text += f" {'-' if c < 0 else '+'} {size}{names[k]}"
    return text
