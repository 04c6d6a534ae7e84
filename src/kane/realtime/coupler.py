"""The virtual coupler: springs and dampers between a device and a model, and how stiff they may be.

A device that is sampled every T seconds and holds its force in between returns energy that nobody put in. With its own
damping b it is passive, whatever hand holds it, as long as

    b > K T / 2 + |B|                                                                                       [CS97]

A force that reaches the device only after a delay is so much older on the average: T / 2 becomes T / 2 + delay.
A coupler that were integrated explicitly would also need a mass to move, m > B T / 2 + K T² / 4 (Brown & Colgate were
the first to ask for one, [BC98]). Ours is taken at the end of the step and needs none. Where nothing touches, a step of
length h moves by h (v + v⁺) / 2, and a force K (φ + h v⁺) + B v⁺ is the same as

    K φ⁺ + B (v + v⁺) / 2 + (K h²/2 + B h/2) (v⁺ − v) / h

a spring taken at the end of the step, a damper in its middle, and a mass of the coupler's own: none of these gives
energy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..boundary import describe_value, refuse_odd
from ..errors import InputError

MARGIN = 0.8
"""Share of the stiffness at the limit of passivity that a tuned coupler takes."""

SHARE_OF_DAMPING = 0.25
"""Share of the device's damping that a tuned coupler's damper may use up."""


@dataclass(frozen=True, slots=True)
class Coupler:
    """What a device is coupled to, and how: one `axes` entry for each of its axes, an expression in coordinates
    ("heading", "r.tip.x"); stiffness (N/m, N m/rad) and damping (N s/m, N m s/rad) for all axes or each of them.
    Without a stiffness it is tuned to the device, see `tune`.

    >>> from kane.realtime import Coupler
    >>> Coupler(("x", "y"), stiffness=500).stiffnesses()
    (500.0, 500.0)
    """

    axes: tuple[str, ...]
    stiffness: float | tuple[float, ...] | None = None
    damping: float | tuple[float, ...] = 0.0

    @refuse_odd
    def __post_init__(self) -> None:
        axes = (self.axes,) if isinstance(self.axes, str) else tuple(self.axes)
        object.__setattr__(self, "axes", axes)
        if not 1 <= len(axes) <= 6 or not all(isinstance(a, str) and a.strip() for a in axes):
            raise InputError(
                f"axes = {self.axes!r}: a coupler has one to six axes, each an expression such as 'q1' or 'r.tip.x'"
                "\n    fix: name what each axis of the device moves"
            )
        for name, value in (("stiffness", self.stiffness), ("damping", self.damping)):
            if value is not None:
                per_axis(name, value, len(axes))

    def stiffnesses(self) -> tuple[float, ...]:
        """K of each axis (N/m, N m/rad)."""
        if self.stiffness is None:
            raise InputError("the coupler has no stiffness yet\n    fix: give one, or tune it to a device")
        return per_axis("stiffness", self.stiffness, len(self.axes))

    def dampings(self) -> tuple[float, ...]:
        """B of each axis (N s/m, N m s/rad)."""
        return per_axis("damping", self.damping, len(self.axes))


def per_axis(name: str, value: float | Sequence[float], axes: int, least: float = 0.0) -> tuple[float, ...]:
    """A number for each axis, from one for all or one for each; none below `least`, none that is not finite."""
    try:
        numbers = np.broadcast_to(np.asarray(value, dtype=float), (axes,)).tolist()
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {describe_value(value)}: give one number, or one for each of {axes} axes") from None
    for number in numbers:
        if not (math.isfinite(number) and number >= least):
            raise InputError(f"{name} = {number:g}\n    fix: give a finite number ≥ {least:g}")
    return tuple(numbers)


def stiffness_limit(device_damping: float, rate: float, damping: float = 0.0, delay: float = 0.0) -> float:
    """The largest stiffness (N/m) with which a device of this damping (N s/m) stays passive at a rate (Hz), beside a
    coupler's damping (N s/m): 2 (b − |B|) / T [CS97], with T + 2 delay in place of T where the force comes later by a
    delay (s). It does not matter how many ticks a step of the model has. Zero where the coupler's damping alone is too
    much.

    >>> from kane.realtime import stiffness_limit
    >>> stiffness_limit(0.5, 1000)
    1000.0
    """
    own, used, often, later = _finite(device_damping=device_damping, damping=damping, rate=rate, delay=delay)
    return max(0.0, 2.0 * (own - abs(used)) * often / (1.0 + 2.0 * later * often))


def explicit_mass(stiffness: float, damping: float, rate: float) -> float:
    """The mass (kg) below which this coupler, taken at the beginning of steps, would be unstable at a rate (Hz):
    B T / 2 + K T² / 4, where both roots of its difference equation leave the unit circle. Ours needs none.

    >>> from kane.realtime import explicit_mass
    >>> explicit_mass(1000, 0, 1000)
    0.00025
    """
    k, b, often = _finite(stiffness=stiffness, damping=damping, rate=rate)
    if often <= 0.0:
        raise InputError(f"rate = {often:g}\n    fix: give one > 0 Hz")
    period = 1.0 / often
    return 0.5 * b * period + 0.25 * k * period * period


def _finite(**values: float) -> list[float]:
    """Numbers that are finite, by their names."""
    return [per_axis(name, value, 1, -math.inf)[0] for name, value in values.items()]


def tune(
    coupler: Coupler, damping: Sequence[float], effective_mass: Sequence[float], rate: float, delay: float = 0.0
) -> Coupler:
    """The coupler with stiffness and damping for a device of this `damping` (N s/m) on each axis that is sampled at a
    `rate` (Hz), feels forces after a `delay` (s) and moves an `effective_mass` (kg) there: as stiff as passivity allows
    with a margin, and damped critically as far as a share of the device's damping goes."""
    stiffness: list[float] = []
    damper: list[float] = []
    for b, mass in zip(damping, effective_mass, strict=True):
        k = MARGIN * stiffness_limit((1.0 - SHARE_OF_DAMPING) * b, rate, 0.0, delay)
        stiffness.append(k)
        damper.append(min(SHARE_OF_DAMPING * b, 2.0 * math.sqrt(k * mass)))
    return Coupler(coupler.axes, tuple(stiffness), tuple(damper))


def refuse_active(coupler: Coupler, damping: Sequence[float], rate: float, delay: float = 0.0) -> None:
    """Refuse a coupler that could give a device more energy than it takes, with the figures."""
    for axis, k, b, own in zip(coupler.axes, coupler.stiffnesses(), coupler.dampings(), damping, strict=True):
        limit = stiffness_limit(own, rate, b, delay)
        if k > limit:
            later, time = (f", delay {delay:g} s", "(T + 2 delay)") if delay else ("", "T")
            raise InputError(
                f"coupler / '{axis}': stiffness {k:g}, damping {b:g}, on a device of damping {own:g}, {rate:g} Hz"
                f"{later}\n    because a sampled spring is passive up to 2 (b − B) / {time} = {limit:g} only\n"
                "    fix: lower the stiffness, raise the rate, leave the stiffness out to have it tuned, or pass "
                "active=True to run it all the same"
            )


__all__ = ["Coupler", "explicit_mass", "per_axis", "refuse_active", "stiffness_limit", "tune"]
