"""What an explanation consists of: small records, filled by `derivation` and written by `text`, `latex` and `page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .algebra import RATE, Sum, Symbol, add, symbol_sum
from .reading import Definition

AXES = "xyz"


@dataclass(frozen=True, slots=True)
class UnitVector:
    """A unit vector along an axis, x, y or z, of a body or of N."""

    frame: str
    axis: str


@dataclass(frozen=True, slots=True)
class VectorSum:
    """Measure numbers along unit vectors, zeros left out; the unit vectors may be those of several bodies."""

    parts: tuple[tuple[UnitVector, Sum], ...]

    @staticmethod
    def of(frame: str, xyz: tuple[Sum, Sum, Sum]) -> VectorSum:
        """A vector by its components along the axes of one frame."""
        return VectorSum(tuple((UnitVector(frame, AXES[k]), e) for k, e in enumerate(xyz) if not e.is_zero))

    def __str__(self) -> str:
        from .notation import TEXT, write_vector  # which reads these records

        return write_vector(self, TEXT)

    @property
    def size(self) -> int:
        """How long it is to the eye."""
        return sum(e.size for _, e in self.parts)

    @property
    def is_zero(self) -> bool:
        return not self.parts


def add_vectors(vectors: Iterator[tuple[VectorSum, Sum]]) -> VectorSum:
    """Vectors times factors, added up."""
    found: dict[UnitVector, Sum] = {}
    for vector, factor in vectors:
        for unit, e in vector.parts:
            found[unit] = found[unit] + e * factor if unit in found else e * factor
    order = {name: k for k, name in enumerate(dict.fromkeys(u.frame for u in found))}
    parts = sorted(found.items(), key=lambda item: (order[item[0].frame], item[0].axis))
    return VectorSum(tuple((u, e) for u, e in parts if not e.is_zero))


@dataclass(frozen=True, slots=True)
class SpeedDefinition:
    """A generalized speed, what it is by definition in rates of coordinates, and which measure number that is, such as
    (w, D, x), or ("", "", "") where it is none."""

    symbol: Symbol
    value: Sum
    measure: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class CoordinateRate:
    """A coordinate, and its rate in the speeds."""

    symbol: Symbol
    rate: Sum


@dataclass(frozen=True, slots=True)
class PartialVelocity:
    """A row of the table of partial velocities: ω of a body or v of its mass centre (`what`), one vector for each
    speed, and what is left of it when all speeds are zero."""

    what: str  # ω or v
    body: str
    entries: tuple[VectorSum, ...]
    rest: VectorSum
    total: VectorSum  # Σ entry · u + rest

    def __str__(self) -> str:
        star = "*" if self.what == "v" else ""
        entries = ", ".join(f"{self.what}_{r} = {entry}" for r, entry in enumerate(self.entries, 1))
        return f"{self.what}({self.body}{star}): {entries}"


@dataclass(frozen=True, slots=True)
class Acceleration:
    """What is left of α of a body and of a of its mass centre when all u̇ are zero."""

    body: str
    angular: VectorSum
    linear: VectorSum


@dataclass(frozen=True, slots=True)
class ForceTerm:
    """What one force, torque or effort (`source`, in words) contributes to F_r, or a body to F_r*, for each r: the
    formula in partial velocities (`how`), products with those that are zero left out, and its value."""

    source: str
    how: tuple[str, ...]
    values: tuple[Sum, ...]

    def __str__(self) -> str:
        values = ", ".join(f"{value} for r = {r}" for r, value in enumerate(self.values, 1) if not value.is_zero)
        return f"{self.source}: {values or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A force or torque that contributes to no F_r, or not to those that `what` names, and why."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True, slots=True)
class ConstraintLine:
    """A row of the constraints: its name and A u + c, which is zero."""

    name: str
    value: Sum


@dataclass(frozen=True, slots=True)
class DependentSpeeds:
    """Dependent speeds u_d = Σ D_di u_i + c_d and their rates u̇_d = Σ D_di u̇_i + b_d: indices of both kinds, D by rows
    of dependent speeds; `rest` is c and `rates` is b. `why` is a sentence on the choice of the independent ones."""

    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    D: tuple[tuple[Sum, ...], ...]
    rest: tuple[Sum, ...]
    rates: tuple[Sum, ...]
    why: str = ""

    def values(self, symbols: Sequence[Symbol]) -> Mapping[Symbol, Sum]:
        """Dependent speeds, or their rates where the `symbols` of all speeds are those of rates, by the others."""
        left = self.rates if symbols and symbols[0].kind == RATE else self.rest
        independent = [symbol_sum(symbols[i]) for i in self.independent]
        return {
            symbols[d]: add([*(x * y for x, y in zip(row, independent, strict=True)), rest])
            for d, row, rest in zip(self.dependent, self.D, left, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Derivation:
    """Kane's method on one mechanism with one choice of speeds, step by step.

    `active` and `inertia` are the terms of F_r and F_r*; `equations` are F_r + F_r*, r = 1 … n, which are zero where
    there are no constraints; with constraints `reduced` has (index, sum) of each independent speed, which are zero, and
    `rates` what the rates of dependent speeds are that occur in these sums or in Z's. `Z` are definitions in the order
    in which they are needed; empty for small systems. `counts` maps programs to multiplications, additions, divisions,
    sines and cosines, not those of parameters alone.
    """

    model: str
    about: str
    coordinates: tuple[CoordinateRate, ...]
    speeds: tuple[SpeedDefinition, ...]
    partials: tuple[PartialVelocity, ...]
    accelerations: tuple[Acceleration, ...]
    active: tuple[ForceTerm, ...]
    inertia: tuple[ForceTerm, ...]
    dropped: tuple[Dropped, ...]
    constraints: tuple[ConstraintLine, ...]
    embedding: DependentSpeeds | None
    equations: tuple[Sum, ...]
    reduced: tuple[tuple[int, Sum], ...]
    rates: tuple[tuple[Symbol, Sum], ...]
    Z: tuple[Definition, ...]
    counts: Mapping[str, Mapping[str, int]]

    def sums(self, terms: tuple[ForceTerm, ...]) -> tuple[Sum, ...]:
        """Terms added up, for each r."""
        return tuple(add(term.values[r] for term in terms) for r in range(len(self.speeds)))
