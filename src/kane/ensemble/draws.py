"""What differs between the members of an ensemble: numbers, distributions, functions of a member's own generator.

A member's numbers depend on the seed and on its index alone: its generator is that of
`SeedSequence(seed, spawn_key=(index,))`. A distribution is known by its quantiles, so that random numbers, Latin
hypercubes and Sobol's sequence all serve it: they are points of the unit cube.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .streams import uniform_numbers

Array = NDArray[np.float64]

SAMPLINGS = ("random", "latin", "sobol")
"""How points of the unit cube are chosen: each member by itself, one in every row and column of the cube, or Owen's
scrambled sequence of Sobol."""

MOST_MEMBERS = 10**12
"""Of an ensemble: at 50 µs each, a year and a half of one core. More are taken for a slip of the pen."""

LEAST = 2.0**-54
"""Where quantiles are asked for nothing below: zero belongs to minus infinity."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of a number, by its `kind` and the `numbers` that it takes; see `normal`, `uniform`, `choice`."""

    kind: str
    numbers: tuple[float, ...]

    def quantile(self, p: Array) -> Array:
        """The value that is not exceeded with probability p, 0 < p < 1, of the same shape."""
        if self.kind == "normal":
            from scipy.special import ndtri  # SciPy takes a while to import

            return self.numbers[0] + self.numbers[1] * ndtri(p)
        if self.kind == "uniform":
            return self.numbers[0] + (self.numbers[1] - self.numbers[0]) * p
        values = np.array(self.numbers)
        return values[np.minimum((p * len(values)).astype(np.int64), len(values) - 1)]

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{x:g}' for x in self.numbers)})"


def normal(mean: float, deviation: float) -> Distribution:
    """The normal distribution of this mean and standard deviation."""
    numbers = _numbers("normal", (mean, deviation))
    if numbers[1] < 0:
        raise InputError(f"normal({mean}, {deviation}): a standard deviation is not negative\n    fix: give one ≥ 0")
    return Distribution("normal", numbers)


def uniform(low: float, high: float) -> Distribution:
    """The uniform distribution between two numbers."""
    numbers = _numbers("uniform", (low, high))
    if numbers[1] < numbers[0]:
        raise InputError(f"uniform({low}, {high}): the bounds are in the wrong order\n    fix: uniform({high}, {low})")
    return Distribution("uniform", numbers)


def choice(*values: float | Sequence[float] | Array) -> Distribution:
    """One of some numbers, or of a sequence of them, each as likely as the others."""
    given: Any = values[0] if len(values) == 1 and not np.isscalar(values[0]) else values
    numbers = _numbers("choice", tuple(given))
    if not numbers:
        raise InputError("choice of no values\n    fix: give at least one")
    return Distribution("choice", numbers)


def _numbers(kind: str, values: Sequence[Any]) -> tuple[float, ...]:
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{kind}: {values!r} are not numbers\n    fix: give finite numbers") from None
    if not all(map(math.isfinite, found)):
        raise InputError(f"{kind}: {values!r} are not all finite\n    fix: give finite numbers")
    return found


KINDS: dict[str, Callable[..., Distribution]] = {"normal": normal, "uniform": uniform, "choice": choice}
"""What a text such as "normal(1.0, 0.05)" may name."""


@dataclass(frozen=True, slots=True)
class Component:
    """One of `count` numbers that a function of a generator gives together: a whole q, or u."""

    function: Callable[..., Any]
    place: int
    count: int

    def __str__(self) -> str:
        return f"number {self.place} of {self.function}"


Value = float | Array | Distribution | Component | Callable[..., float]
"""What a column holds: one number for all members, one for each, a distribution, a function of a generator or one of
the numbers that it gives."""


@dataclass(frozen=True, slots=True)
class Column:
    """What differs: q, u or a parameter, by its `name`, and where its values come from."""

    kind: str
    name: str
    value: Any

    @property
    def size(self) -> int | None:
        """For how many members there are values; None if for any number."""
        return len(self.value) if isinstance(self.value, np.ndarray) else None

    @property
    def calls(self) -> bool:
        """Whether a function gives the values."""
        return callable(self.value) or isinstance(self.value, Component)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Draws:
    """The columns of an ensemble of `count` members, the `seed` and how the unit cube is sampled."""

    columns: tuple[Column, ...]
    count: int
    seed: int = 0
    sampling: str = "random"

    def __post_init__(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise InputError(f"sampling = {self.sampling!r}: there are {', '.join(SAMPLINGS)}")
        if self.count < 1:
            raise InputError(f"n = {self.count}: an ensemble has one member at least")
        if self.count > MOST_MEMBERS:
            raise InputError(f"n: an ensemble has {MOST_MEMBERS} members at most\n    fix: ask for fewer")
        if self.seed < 0:
            raise InputError(f"seed = {self.seed}: a seed is not negative")
        for column in self.columns:
            if column.size not in (None, self.count):
                what = f"{column}: {column.size} values are given for {self.count} members"
                raise InputError(f"{what}\n    fix: give one per member")

    def numbers(self, first: int, last: int) -> Array:
        """Values of all columns for the members first … last − 1, (members, columns)."""
        rows = np.empty((last - first, len(self.columns)))
        drawn = [c for c, column in enumerate(self.columns) if isinstance(column.value, Distribution)]
        functions = [c for c, column in enumerate(self.columns) if column.calls]
        for c, column in enumerate(self.columns):
            if isinstance(column.value, np.ndarray):
                rows[:, c] = column.value[first:last]
            elif c not in drawn and c not in functions:
                rows[:, c] = column.value
        if not len(rows) or not (drawn or functions):
            return rows
        unit = None
        if self.sampling != "random":
            unit = self._points(len(drawn), first, last) if drawn else np.empty((last - first, 0))
        elif not functions:
            unit = uniform_numbers(self.seed, first, last, len(drawn))
        if functions or unit is None:
            own = self._call_functions(rows, functions, first, 0 if unit is not None else len(drawn))
            unit = own if unit is None else unit
        for k, c in enumerate(drawn):
            rows[:, c] = self.columns[c].value.quantile(np.maximum(unit[:, k], LEAST))
        return rows

    def _call_functions(self, rows: Array, functions: Sequence[int], first: int, count: int) -> Array:
        """The first `count` numbers in [0, 1) of each member's generator; then it is given to the functions, whose
        numbers go to their columns of `rows`."""
        unit = np.empty((len(rows), count))
        for i in range(len(rows)):
            generator = self.generator(first + i)
            unit[i] = generator.random(count)
            together: dict[str, Any] = {}
            for c in functions:
                column = self.columns[c]
                if not isinstance(column.value, Component):
                    rows[i, c] = _one_number(str(column), column.value, generator, first + i)
                    continue
                if column.kind not in together:
                    together[column.kind] = _numbers_together(column, generator, first + i)
                rows[i, c] = together[column.kind][column.value.place]
        return unit

    def generator(self, index: int) -> np.random.Generator:
        """The generator of a member."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index,)))

    def _points(self, dimensions: int, first: int, last: int) -> Array:
        """Points of the unit cube that belong together."""
        from scipy.stats import qmc  # SciPy takes a while to import

        if self.sampling == "latin":
            points = qmc.LatinHypercube(dimensions, rng=np.random.default_rng(self.seed)).random(self.count)
            return np.asarray(points[first:last])
        engine = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(self.seed))
        points = engine.random(1)  # asked for at once, numbers that are no power of two would be warned about
        if first:
            engine.fast_forward(first - 1)
            return np.asarray(engine.random(last - first))
        return np.concatenate([points, engine.random(last - 1)]) if last > 1 else np.asarray(points)


def _call(where: str, function: Callable[..., Any], generator: np.random.Generator, index: int) -> Any:
    try:
        return function(generator)
    except Exception as error:
        raise InputError(
            f"{where}: the function raised {type(error).__name__} for member {index}: {error}\n"
            f"    fix: let it give numbers for every generator"
        ) from error


def _one_number(where: str, function: Callable[..., Any], generator: np.random.Generator, index: int) -> float:
    value = _call(where, function, generator, index)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: the function gave {value!r} for member {index}\n    fix: give one number") from None


def _numbers_together(column: Column, generator: np.random.Generator, index: int) -> Array:
    """All numbers of a function that gives a whole q, or u."""
    source = column.value
    value = _call(column.kind, source.function, generator, index)
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0)
    if found.shape != (source.count,):
        raise InputError(
            f"{column.kind}: the function gave {value!r} for member {index}\n    fix: give an array ({source.count},)"
        )
    return found


__all__ = ["KINDS", "SAMPLINGS", "Column", "Component", "Distribution", "Draws", "choice", "normal", "uniform"]
