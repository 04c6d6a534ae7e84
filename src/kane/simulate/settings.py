"""How to integrate: the methods there are, tolerances and bounds of the step, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError
from .tableaux import DOP853, TABLEAUX, Tableau

AUTO, IMPLICIT = "auto", "radau"
METHODS = (AUTO, *TABLEAUX, IMPLICIT)
"""The methods: dop853, rk45, rk23 adapt an explicit step, rk4 keeps it, radau is implicit, for stiff motions; auto is
dop853, and radau where the motion is stiff."""

STEPPING = "stepping"
"""Time stepping, in place of a method: the second engine for constraints that come and go."""

SMALLEST_RTOL = 100 * np.finfo(float).eps
"""Below this the rounding of the arithmetic, not the step, decides the error."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to integrate, checked: see `integrate` for the meaning of each."""

    method: str
    rtol: float
    atol: Any
    step: float | None
    max_step: float
    first_step: float | None
    max_steps: int | None
    chunk: int | None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in (*METHODS, STEPPING):
            raise InputError(f"method {self.method!r} is not known; choose one of {', '.join(METHODS)}")
        fixed = self.method == STEPPING or (self.tableau is not None and not self.tableau.adaptive)
        if fixed and self.step is None:
            raise InputError(f"method '{self.method}' has a fixed step: give step=..., in seconds")
        if not fixed and self.step is not None:
            raise InputError(
                f"method '{self.method}' chooses its own step: leave out step={self.step!r},"
                f" or bound it by max_step=..., or choose method='rk4'"
            )
        for name in ("step", "first_step", "max_step"):
            value = getattr(self, name)
            size = _real(value)
            if value is not None and not (size > 0 and (name == "max_step" or math.isfinite(size))):
                raise InputError(f"{name} = {value!r} is not a positive number of seconds")
            if value is not None:
                object.__setattr__(self, name, size)
        if not SMALLEST_RTOL <= _real(self.rtol) < 1:
            raise InputError(
                f"rtol = {self.rtol!r} is outside [{SMALLEST_RTOL:.1e}, 1): a relative error below rounding cannot be"
                f" reached, one above 1 means nothing; 1e-6 to 1e-11 are usual"
            )
        for name in ("max_steps", "chunk"):
            value = getattr(self, name)
            if value is not None and not (_real(value) >= 1 and isinstance(value, int | np.integer)):
                raise InputError(f"{name} = {value!r} is not a positive whole number")

    @property
    def tableau(self) -> Tableau | None:
        """The explicit method that a motion begins with; None for others."""
        return DOP853 if self.method == AUTO else TABLEAUX.get(self.method)

    def tolerances(self, n: int) -> Any:
        """The absolute tolerance of each of n states."""
        try:
            atol = np.array(self.atol, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"atol = {self.atol!r} is not a number; give one, or one per state, ({n},)") from None
        if atol.ndim > 1 or (atol.ndim == 1 and atol.size != n):
            raise InputError(f"atol has shape {atol.shape}; give one number or one per state, ({n},)")
        if not (np.all(np.isfinite(atol)) and np.all(atol > 0)):
            raise InputError(
                f"atol = {self.atol!r} must be positive: without it a state that passes through zero"
                f" can never be accurate enough; 1e-10 times the size of the state is usual"
            )
        return np.ascontiguousarray(np.broadcast_to(atol, (n,)))


def _real(value: Any) -> float:
    """A number as a float, nan for what is none."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return math.nan
